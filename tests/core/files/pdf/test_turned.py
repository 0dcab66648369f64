"""Headings that run up or down the page."""

from __future__ import annotations

from core.files.pdf import read_pdf
from tests.raw_pdf import document
from tests.typed_pages import cells_of, tables_of

COLUMNS = (200, 260, 320)
ROWS = (("Alder Holdings", "5.00", "6.50", "1"), ("Birch Media", "7.25", "8.75", "2"), ("Cedar", "9.00", "4.50", "3"))
HEADINGS = ("Current Spread", "Facility Floor", "Number")
CELLS = [["Alder Holdings", 5.0, 6.5, 1.0], ["Birch Media", 7.25, 8.75, 2.0], ["Cedar", 9.0, 4.5, 3.0]]


def shown(left: float, baseline: float, text: str, *, matrix: bytes = b"1 0 0 1") -> bytes:
    return b"%b %g %g Tm (%b) Tj " % (matrix, left, baseline, text.encode())


def body(*, first: str = "Borrower") -> bytes:
    lines = shown(40, 600, first) if first else b""
    for at, (name, *figures) in enumerate(ROWS):
        lines += shown(40, 585 - 14 * at, name)
        lines += b"".join(shown(x, 585 - 14 * at, text) for x, text in zip(COLUMNS, figures, strict=True))
    return lines


def page(headings: bytes, *, first: str = "Borrower") -> bytes:
    return document([b"BT /F1 10 Tf " + headings + body(first=first) + b"ET"])


UP, DOWN = b"0 1 -1 0", b"0 -1 1 0"


def test_headings_that_run_up() -> None:
    headings = b"".join(shown(x + 10, 600, text, matrix=UP) for x, text in zip(COLUMNS, HEADINGS, strict=True))
    assert tables_of(page(headings)) == [[["Borrower", *HEADINGS], *CELLS]]


def test_headings_that_run_down() -> None:
    """Each ends on the height of the heading beside it: Helvetica's widths are 70, 58 and 37 points."""
    tops = (669.5, 658.4, 637.2)
    headings = b"".join(
        shown(x + 3, top, text, matrix=DOWN) for x, top, text in zip(COLUMNS, tops, HEADINGS, strict=True)
    )
    assert tables_of(page(headings)) == [[["Borrower", *HEADINGS], *CELLS]]


def test_the_lines_of_a_heading_are_one() -> None:
    two = [text.split(" ") for text in ("Current Spread", "Facility Floor", "Loan Number")]
    headings = b"".join(
        shown(x + 4, 600, first, matrix=UP) + shown(x + 14, 600, second, matrix=UP)
        for x, (first, second) in zip(COLUMNS, two, strict=True)
    )
    (cells,) = tables_of(page(headings))
    assert cells[0] == ["Borrower", "Current Spread", "Facility Floor", "Loan Number"]


def test_headings_without_an_upright_one_are_a_line_of_their_own() -> None:
    headings = b"".join(shown(x + 10, 600, text, matrix=UP) for x, text in zip(COLUMNS, HEADINGS, strict=True))
    sheet = read_pdf(page(headings, first="")).sheets[0]
    assert cells_of(sheet)[0] == [None, *HEADINGS]
    assert [sheet.page_line(row) for row in range(sheet.row_count)] == [(1, 1), (1, 2), (1, 3), (1, 4)]


def test_turned_text_beside_the_table_is_none_of_it() -> None:
    number = shown(590, 100, "Page 7 of 12", matrix=UP)
    assert tables_of(page(number)) == [[["Borrower", None, None, None], *CELLS]]
