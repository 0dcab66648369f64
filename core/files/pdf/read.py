"""The bytes of a PDF to a workbook."""

from __future__ import annotations

from core.files.errors import ParseFailed
from core.files.pdf.blocks import Ruler
from core.files.pdf.characters import read_pages
from core.files.pdf.damage import has_damaged_part
from core.files.pdf.phrases import mark_pieces, tidy
from core.files.pdf.sections import sections_of
from core.files.pdf.sheets import sheets_of, table_of, within_limit
from core.files.pdf.totals import total_remarks
from core.files.pdf.turned import with_headings
from core.files.pdf.values import PrintedFormats, has_comma
from core.files.pdf.words import PageLines, lines_of
from core.grid.sheet import ReadingRemark, Workbook

_SCAN = (
    "The PDF has no text: {pages}. Ask for the report as a spreadsheet or as a PDF that its program wrote, or let a "
    "program recognise the text first."
)


_DAMAGED = "a part of the PDF is damaged, so rows may be missing; ask for the report again"


def read_pdf(data: bytes, name: str) -> Workbook:
    """Return the tables of a document as sheets.

    Raises:
        ParseFailed: damaged, protected, a scan, without text, in a font that says nothing, or past a limit.
    """
    pages = [with_headings(lines_of(page)) for page in read_pages(data)]
    mark_pieces(line for page in pages for line in page.lines)
    for page in pages:
        for line in page.lines:
            tidy(line)
        page.lines[:] = [line for line in page.lines if line.words]
    remarks = _remarks(pages)
    with_text = [page for page in pages if page.lines]
    ruler = Ruler.across(line for page in with_text for line in page.lines)
    tables = within_limit([table_of(section, ruler) for section in sections_of(with_text, ruler)])
    comma = has_comma(cell.text for table in tables for row in table.rows if row for cell in row.cells.values())
    formats = PrintedFormats()
    sheets = sheets_of(tables, formats, comma=comma)
    remarks += total_remarks(sheets, formats.codes)
    if has_damaged_part(data):
        remarks.append(ReadingRemark("page_not_read", _DAMAGED))
    return Workbook(sheets, number_formats=formats.codes, remarks=tuple(remarks))


def _remarks(pages: list[PageLines]) -> list[ReadingRemark]:
    """Return remarks about pages that are pictures.

    Raises:
        ParseFailed: no page has text.
    """
    pictures = [page.number for page in pages if not page.lines and page.has_pictures]
    if not any(page.lines for page in pages):
        raise ParseFailed(_SCAN.format(pages="its pages are pictures (a scan)" if pictures else "its pages are empty"))
    return [
        ReadingRemark("page_not_read", f"page {number} is a picture without text (a scan) and was not read")
        for number in pictures
    ]
