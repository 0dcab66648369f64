"""A deal across its files.

Why a test moved between two of them, and what its trustee published beside our figures.
"""
