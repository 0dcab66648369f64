"""Workbooks: uploaded spreadsheets, parsed into stored columns, and the reading of them."""
