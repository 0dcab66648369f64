"""Sheets of columns, and rows of plain values, to files."""

from core.files.write.package import Properties
from core.files.write.rows import Formats, FormattedValue, Formula, Writable, sheet_of, write_workbook_rows
from core.files.write.xlsx import BookSettings, SheetPage, XlsxResult, write_xlsx

__all__ = [
    "BookSettings",
    "Formats",
    "FormattedValue",
    "Formula",
    "Properties",
    "SheetPage",
    "Writable",
    "XlsxResult",
    "sheet_of",
    "write_workbook_rows",
    "write_xlsx",
]
