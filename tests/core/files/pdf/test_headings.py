"""Headings that stand one column before their figures."""

from __future__ import annotations

from core.files.pdf.columns import PrintedCell, PrintedRow
from core.files.pdf.headings import set_right, with_whole_headings

Cells = dict[int, tuple[float, float, str]]


def rows_of(*rows: Cells) -> list[PrintedRow]:
    return [
        PrintedRow(
            1, at, 700.0 - 10 * at, 8.0, 700.0 - 10 * at,
            {column: PrintedCell(left, right, text, column) for column, (left, right, text) in cells.items()},
        )
        for at, cells in enumerate(rows)
    ]  # fmt: skip


def texts(rows: list[PrintedRow]) -> list[dict[int, str]]:
    return [{column: cell.text for column, cell in row.cells.items()} for row in rows]


NAME = (10.0, 60.0, "Alder Inc.")


def test_figures_go_to_the_heading_on_their_left() -> None:
    """The size has no figures, the floor stands right of the sizes, and the floors have no heading."""
    rows = rows_of(
        {0: (10.0, 40.0, "Issuer"), 1: (100.0, 115.0, "Size"), 2: (181.0, 195.0, "Floor"), 4: (240.0, 260.0, "Rating")},
        {0: NAME, 2: (130.0, 180.0, "831,000,000.00"), 3: (200.0, 215.0, "0.50"), 4: (240.0, 250.0, "B2")},
        {0: NAME, 2: (130.0, 180.0, "431,000,000.00"), 3: (200.0, 215.0, "1.00"), 4: (240.0, 250.0, "B3")},
    )
    set_right(rows)
    assert texts(rows) == [
        {0: "Issuer", 1: "Size", 2: "Floor", 3: "Rating"},
        {0: "Alder Inc.", 1: "831,000,000.00", 2: "0.50", 3: "B2"},
        {0: "Alder Inc.", 1: "431,000,000.00", 2: "1.00", 3: "B3"},
    ]


def test_a_column_that_is_blank_keeps_its_heading() -> None:
    """The margin is blank, and its heading stands beside the rates."""
    rows = rows_of(
        {0: (10.0, 40.0, "Issuer"), 1: (100.0, 130.0, "Rate"), 2: (181.0, 195.0, "Margin")},
        {0: NAME, 2: (160.0, 180.0, "45.00")},
        {0: NAME, 2: (160.0, 180.0, "50.00")},
    )
    set_right(rows)
    assert texts(rows)[1:] == [{0: "Alder Inc.", 1: "45.00"}, {0: "Alder Inc.", 1: "50.00"}]
    assert texts(rows)[0] == {0: "Issuer", 1: "Rate", 2: "Margin"}


def test_columns_that_are_right_stay() -> None:
    """A blank column beside one whose heading stands above its figures, and a table without headings."""
    blank = rows_of(
        {0: (10.0, 40.0, "Issuer"), 1: (100.0, 130.0, "Watch"), 2: (150.0, 175.0, "Price")},
        {0: NAME, 2: (160.0, 180.0, "98.50")},
        {0: NAME, 2: (160.0, 180.0, "97.25")},
    )
    bare = rows_of({0: NAME, 2: (160.0, 180.0, "98.50")}, {0: NAME, 1: (100.0, 120.0, "B2")})
    for rows in (blank, bare, []):
        before = texts(rows)
        set_right(rows)
        assert texts(rows) == before


def test_the_first_word_of_a_heading_is_no_title() -> None:
    rows = rows_of(
        {0: (10.0, 90.0, "March 5, 2024")},
        {0: (10.0, 40.0, "Loans")},
        {1: (100.0, 130.0, "Loan")},
        {1: (100.0, 130.0, "Spread")},
        {1: (100.0, 130.0, "Above"), 2: (150.0, 175.0, "Maturity")},
        {0: (10.0, 40.0, "Issuer"), 1: (100.0, 130.0, "Index"), 2: (150.0, 175.0, "Date")},
        {0: NAME, 1: (100.0, 130.0, "SF+525"), 2: (150.0, 175.0, "3/5/2029")},
        {0: NAME, 1: (100.0, 130.0, "5.25%"), 2: (150.0, 175.0, "3/5/2029")},
    )
    whole = with_whole_headings(rows)
    assert texts(whole)[:4] == [
        {0: "March 5, 2024"},
        {0: "Loans"},
        {1: "Loan Spread Above", 2: "Maturity"},
        {0: "Issuer", 1: "Index", 2: "Date"},
    ]
    assert with_whole_headings([]) == []
