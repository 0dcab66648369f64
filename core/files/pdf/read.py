"""The bytes of a PDF to a workbook."""

from __future__ import annotations

from typing import Final

from core.files.errors import ParseFailed
from core.files.pdf.blocks import Ruler
from core.files.pdf.characters import read_pages
from core.files.pdf.choice import chosen_tables
from core.files.pdf.damage import has_damaged_part
from core.files.pdf.phrases import mark_pieces, tidy
from core.files.pdf.sections import sections_of
from core.files.pdf.sheets import sheets_of, within_limit
from core.files.pdf.totals import total_remarks
from core.files.pdf.turned import with_headings
from core.files.pdf.values import PrintedFormats, has_comma
from core.files.pdf.words import PageLines, lines_of
from core.grid.sheet import ReadingRemark, Workbook
from core.words import counted

_SCAN: Final = (
    "The PDF has no text: {pages}. Ask for the report as a spreadsheet or as a PDF that its program wrote. Text that a "
    "program recognised in a picture is not read, since its figures may be wrong."
)
_DAMAGED: Final = "a part of the PDF is damaged, so rows may be missing; ask for the report again"
STAMP_LINES: Final = 2
"""Lines that a scanned page may have: what a scanner or a court stamps on it."""
PAGES_NAMED: Final = 10
"""Pages that a remark names."""


def read_pdf(data: bytes) -> Workbook:
    """Return the tables of a document as sheets.

    Raises:
        ParseFailed: damaged, protected, a scan, without text, in a font that says nothing, or past a limit.
    """
    unreadable: dict[str, dict[int, int]] = {}
    pages = []
    for page_characters in read_pages(data):
        pages.append(with_headings(lines_of(page_characters)))
        for font, count in page_characters.unreadable.items():
            unreadable.setdefault(font, {})[page_characters.number] = count
    mark_pieces(line for page in pages for line in page.lines)
    for page in pages:
        for line in page.lines:
            tidy(line)
        page.lines[:] = [line for line in page.lines if line.words]
    remarks = _remarks(pages)
    with_text = [page for page in pages if page.lines]
    ruler = Ruler.across(line for page in with_text for line in page.lines)
    comma = has_comma(word.text for page in with_text for line in page.lines for word in line.words)
    tables, guesses = chosen_tables(sections_of(with_text, ruler), ruler, comma=comma)
    tables, remarks = within_limit(tables), remarks + guesses
    formats = PrintedFormats()
    sheets = sheets_of(tables, formats, comma=comma)
    if not sheets:
        raise ParseFailed("The PDF has text, but nothing beside the numbers of its pages.")
    remarks += total_remarks(sheets, formats.codes)
    remarks += [ReadingRemark("page_not_read", _left_out(font, counts)) for font, counts in unreadable.items()]
    if has_damaged_part(data):
        remarks.append(ReadingRemark("page_not_read", _DAMAGED))
    return Workbook(sheets, number_formats=formats.codes, remarks=tuple(remarks))


def _remarks(pages: list[PageLines]) -> list[ReadingRemark]:
    """Return remarks about pages that are pictures.

    Raises:
        ParseFailed: no page has text.
    """
    pictures = [page.number for page in pages if page.has_pictures and _is_bare(page)]
    if not any(page.lines for page in pages):
        raise ParseFailed(_SCAN.format(pages="its pages are pictures (a scan)" if pictures else "its pages are empty"))
    if len(pictures) == len(pages):
        raise ParseFailed(_SCAN.format(pages="its pages are pictures (a scan)"))
    return [
        ReadingRemark("page_not_read", f"page {number} is a picture without text (a scan) and was not read")
        for number in pictures
    ]


def _is_bare(page: PageLines) -> bool:
    """Return whether a page has no text but a stamp or a page's number."""
    return len(page.lines) <= STAMP_LINES


def _left_out(font: str, counts: dict[int, int]) -> str:
    """Return what is said of a font's characters that say nothing, by page."""
    pages = "pages " if len(counts) > 1 else "page "
    pages += ", ".join(map(str, list(counts)[:PAGES_NAMED])) + (", ..." if len(counts) > PAGES_NAMED else "")
    return (
        f"{counted(sum(counts.values()), 'character')} in the font {font!r} on {pages} were left out: the font "
        "does not say what its characters mean"
    )
