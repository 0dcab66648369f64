"""A deal across its files: why a test moved between two of them, and what its trustee published beside our figures."""
