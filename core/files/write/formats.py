"""The formats that a workbook is exported to.

What a list of them tells, and what names a file of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.files.write.delimited import ENCODINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One format."""

    format: str
    name: str
    description: str
    mime_type: str
    extension: str
    """Of the file's name, with its dot."""
    multi_sheet: bool
    """Whether one file holds several sheets."""
    notes: str | None = None


XLSX: Final = ExportFormat(
    format="xlsx",
    name="Excel workbook",
    description="Values and formulas with their number formats, and a manifest by which changes are found.",
    mime_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    extension=".xlsx",
    multi_sheet=True,
)
CSV: Final = ExportFormat(
    format="csv",
    name="Comma-separated values",
    description="One sheet as delimited text (RFC 4180): values as they were last calculated, dates in ISO 8601.",
    mime_type="text/csv",
    extension=".csv",
    multi_sheet=False,
    notes=f"Fields are parted by one of , ; | ~ or a tab; encodings are {', '.join(ENCODINGS)}. Several sheets come as "
    "a ZIP archive with a file for each. Text that a spreadsheet would calculate gets an apostrophe in front, and is "
    "counted in the export's summary.",
)
JSON: Final = ExportFormat(
    format="json",
    name="JSON",
    description="All cells as arrays of values, row by row, with the formulas of each sheet beside them.",
    mime_type="application/json",
    extension=".json",
    multi_sheet=True,
)
PDF: Final = ExportFormat(
    format="pdf",
    name="PDF document",
    description="The sheets as tables on pages, to be read and filed.",
    mime_type="application/pdf",
    extension=".pdf",
    multi_sheet=True,
)
ZIP_MIME_TYPE: Final = "application/zip"

FORMATS: Final = {each.format: each for each in (XLSX, CSV, JSON, PDF)}
