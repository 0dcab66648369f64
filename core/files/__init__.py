"""Spreadsheet files in and out: the only reading and writing of files in core."""
