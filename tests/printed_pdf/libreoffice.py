"""Sheets printed by LibreOffice: columns as wide as their longest text, each sheet one page wide."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

import xlsxwriter
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from tests.printed_pdf.cells import PrintedCell
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import PrintedSheet

FONT: Final = "DejaVu Sans"
FONT_FILES: Final = Path("/usr/share/fonts/truetype/dejavu")
SIZE: Final = 10
_CHARACTER: Final = 5.25
"""Points of one character of a column's width."""
COLUMNS_OF_SMALL_PAPER: Final = 24
ROWS_OF_WIDE_PAGE: Final = 75
"""Rows between breaks of pages, where small print would put hundreds on one."""
PAPERS: Final = {"letter": 1, "legal": 5, "A3": 8, "A4": 9}


@dataclass(frozen=True, slots=True)
class Paper:
    """How LibreOffice sets the pages of a report."""

    size: str = "A4"
    is_landscape: bool = True
    repeats_head: bool = False
    """Titles and headings stand on each page."""
    has_grid: bool = False
    has_running: bool = False
    """A header with the sheet's name, and a footer with page numbers."""
    is_wide: bool = True
    """Columns are as wide as titles; otherwise titles run over the columns beside them."""
    heads_bold: bool = True
    padding: float = 8.0
    """Points of a column beside its longest text."""

    def __str__(self) -> str:
        flags = ("repeats_head", "has_grid", "has_running", "is_wide", "heads_bold")
        words = [flag for flag in flags if getattr(self, flag)]
        return " ".join([self.size, "landscape" if self.is_landscape else "portrait", f"gap {self.padding:g}", *words])


def draw_paper(rng: Random, sheets: Sequence[PrintedSheet] = ()) -> Paper:
    """Draw the set of pages of a report; a wide one gets wide paper."""
    flags = {flag: rng.random() < share for flag, share in _SHARES.items()}
    if max((sheet.width for sheet in sheets), default=0) > COLUMNS_OF_SMALL_PAPER:
        flags["is_landscape"] = True
        return Paper("A3", padding=rng.choice((5.0, 8.0, 12.0)), **flags)
    return Paper(rng.choice(("A4", "A4", "letter", "legal", "A3")), padding=rng.choice((5.0, 8.0, 12.0)), **flags)


_SHARES: Final = {
    "is_landscape": 0.7, "repeats_head": 0.5, "has_grid": 0.3, "has_running": 0.5, "is_wide": 0.5, "heads_bold": 0.5,
}  # fmt: skip


def write_book(path: Path, sheets: Sequence[PrintedSheet], paper: Paper) -> None:
    """Write the workbook that LibreOffice prints."""
    options = {"default_format_properties": {"font_name": FONT, "font_size": SIZE}}
    with xlsxwriter.Workbook(str(path), options) as book:
        book.set_properties({"created": datetime(2026, 1, 1, tzinfo=UTC)})  # the same bytes each time
        formats: dict[tuple[str, bool, bool], Any] = {}

        def format_of(code: str, *, bold: bool, centred: bool = False) -> Any:
            key = code, bold, centred
            if key not in formats:
                style = {"font_name": FONT, "font_size": SIZE, "num_format": code, "bold": bold}
                style |= {"text_wrap": True, "valign": "bottom"} if code == _LINES else {}
                formats[key] = book.add_format(style | ({"align": "center"} if centred else {}))
            return formats[key]

        for sheet in sheets:
            _write_sheet(book.add_worksheet(_sheet_name(sheet.name)), sheet, paper, format_of)


def _sheet_name(name: str) -> str:
    return re.sub(r"[\[\]:*?/\\]", "-", name)[:31]


def _write_sheet(page: Any, sheet: PrintedSheet, paper: Paper, format_of: Any) -> None:
    page.set_paper(PAPERS[paper.size])
    if paper.is_landscape:
        page.set_landscape()
    page.set_margins(0.5, 0.5, 0.75, 0.75)
    page.fit_to_pages(1, 0)
    page.hide_gridlines(0 if paper.has_grid else 2)
    if paper.has_running:
        page.set_header("&L&A&RTrustee services")
        page.set_footer("&CPage &P of &N")
    if sheet.width > COLUMNS_OF_SMALL_PAPER:
        page.set_h_pagebreaks(list(range(ROWS_OF_WIDE_PAGE, len(sheet.rows), ROWS_OF_WIDE_PAGE)))
    head = last_of_head(sheet)
    if paper.repeats_head and head is not None:
        page.repeat_rows(0, head)
    for at, width in enumerate(widths(sheet, paper)):
        page.set_column(at, at, width)
    merged = {(row, column): (row, column, last, right) for row, column, last, right in sheet.merged}
    for at, row in enumerate(sheet.rows):
        bold = paper.heads_bold and row.kind in ("title", "group", "head", "total")
        lines = max((cell.text.count("\n") + 1 for cell in row.cells if cell is not None), default=1)
        if lines > 1:
            page.set_row(at, lines * 1.4 * SIZE)
        for column, cell in enumerate(row.cells):
            if cell is None:
                continue
            if place := merged.get((at, column)):
                page.merge_range(*place, cell.text, format_of("General", bold=bold, centred=True))
            else:
                _write(page, at, column, cell, format_of(_code(cell), bold=bold))


_LINES: Final = "@"
"""The format of texts of several lines."""


def _code(cell: PrintedCell) -> str:
    """A format for booleans too: LibreOffice prints them as 1 and 0 where a cell has a style."""
    if "\n" in cell.text:
        return _LINES
    return '"TRUE";"TRUE";"FALSE"' if isinstance(cell.value, bool) else cell.code


def _write(page: Any, row: int, column: int, cell: PrintedCell, style: Any) -> None:
    match cell.value:
        case bool():
            page.write_boolean(row, column, cell.value, style)
        case str():
            page.write_string(row, column, cell.value, style)
        case date():
            page.write_datetime(row, column, cell.value, style)
        case _:
            page.write_number(row, column, cell.value, style)


def last_of_head(sheet: PrintedSheet) -> int | None:
    """Return the last row of a sheet's first head; None where it has none."""
    rows = [at for at, row in enumerate(sheet.rows) if row.kind in ("group", "head")]
    return next((at for at in rows if at + 1 not in rows), None)


def widths(sheet: PrintedSheet, paper: Paper) -> list[float]:
    """Return the width of each column in characters."""
    register_fonts()
    points = [0.0] * sheet.width
    for at, row in enumerate(sheet.rows):
        spills = not paper.is_wide and row.kind in ("title", "foot", "section") and sum(map(bool, row.cells)) == 1
        for column, cell in enumerate(row.cells):
            if cell is None or spills or any((at, column) == place[:2] for place in sheet.merged):
                continue
            lengths = [pdfmetrics.stringWidth(line, "DejaVuSans-Bold", SIZE) for line in cell.text.split("\n")]
            points[column] = max(points[column], *lengths)
    return [(width + paper.padding) / _CHARACTER if width else 2.0 for width in points]


def register_fonts() -> None:
    """Let reportlab measure and draw the fonts of this package."""
    for name in ("DejaVuSans", "DejaVuSans-Bold"):
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, FONT_FILES / f"{name}.ttf"))


def convert(paths: Iterable[Path], folder: Path) -> None:
    """Print workbooks to PDF files beside each other in a folder.

    One start of the program for all of them.
    """
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "printing wants LibreOffice Calc"
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", "pdf", "--outdir", folder, *paths]
    subprocess.run(command, check=True, capture_output=True, timeout=900)


def print_books(reports: dict[str, tuple[list[PrintedSheet], Paper]], folder: Path) -> list[Printed]:
    """Print reports by name; what the folder has already is not printed again."""
    (folder / "books").mkdir(parents=True, exist_ok=True)
    wanted = []
    for name, (sheets, paper) in reports.items():
        book, printed = folder / "books" / f"{name}.xlsx", folder / f"{name}.pdf"
        before = book.read_bytes() if book.exists() and printed.exists() else b""
        write_book(book, sheets, paper)
        if book.read_bytes() != before:
            wanted.append(book)
    if wanted:
        convert(wanted, folder)
    return [
        printed_by_libreoffice(name, folder / f"{name}.pdf", sheets, paper) for name, (sheets, paper) in reports.items()
    ]


def printed_by_libreoffice(name: str, path: Path, sheets: list[PrintedSheet], paper: Paper) -> Printed:
    """Return a printed report with the page of each row, as poppler finds it."""
    lines = page_lines(path)
    running = ["Page # of #", *(f"{_sheet_name(sheet.name)} Trustee services" for sheet in sheets)]
    places = find_rows(sheets, lines, set(map(squeezed, running)) if paper.has_running else set())
    data = path.read_bytes()
    return Printed(name, data, sheets, places, len(lines), running if paper.has_running else [], f"LibreOffice {paper}")


def page_lines(path: Path) -> list[list[str]]:
    """Return the lines of each page that poppler reads, without any white space."""
    ran = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, text=True)
    pages = ran.stdout.split("\f")[:-1]
    return [[line for text in page.split("\n") if (line := squeezed(text))] for page in pages]


def squeezed(text: str) -> str:
    """Return a text without white space, with # for the digits of page numbers."""
    line = re.sub(r"\s+", "", text)
    return re.sub(r"\d+", "#", line) if re.fullmatch(r"Page\d+of\d+", line) else line


def find_rows(sheets: list[PrintedSheet], pages: list[list[str]], running: set[str]) -> list[list[int]]:
    """Return the page of each row: rows stand in their order, each sheet begins a page."""
    lines = [(at, line) for at, page in enumerate(pages, 1) for line in page if line not in running]
    at, result = count(), []
    place = next(at)
    for sheet in sheets:
        heads = {_row_text(row) for row in sheet.rows[: (last_of_head(sheet) or 0) + 1]}
        own: list[int] = []
        seen = 0
        for row in sheet.rows:
            text = _row_text(row)
            if not text:
                own.append(0)
                continue
            while place < len(lines) and lines[place][1] != text and seen and lines[place][1] in heads:
                place = next(at)
            assert place < len(lines), f"{text} is on no page"
            own.append(lines[place][0])
            seen += 1
            printed = lines[place][1]
            place = next(at)
            while len(printed) < len(text) and place < len(lines):  # cells of several lines
                printed += lines[place][1]
                place = next(at)
            assert sorted(printed) == sorted(text), f"{text} is printed as {printed} on page {own[-1]}"
        result.append(own)
    assert place == len(lines), f"{lines[place][1]} is printed and not expected"
    return result


def _row_text(row: Any) -> str:
    return squeezed("".join(cell.text for cell in row.cells if cell is not None))
