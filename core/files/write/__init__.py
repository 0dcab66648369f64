"""Sheets of columns, and rows of plain values, to files."""

from core.files.write.package import Properties
from core.files.write.rows import Formats, Formula, Shown, Writable, sheet_of, write_workbook_rows
from core.files.write.xlsx import Page, Written, write_xlsx

__all__ = [
    "Formats",
    "Formula",
    "Page",
    "Properties",
    "Shown",
    "Writable",
    "Written",
    "sheet_of",
    "write_workbook_rows",
    "write_xlsx",
]
