"""Columns in memory: addresses, columns, sheets, and their bytes."""
