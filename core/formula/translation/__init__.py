"""Formulas as Python, pandas and SQL source."""
