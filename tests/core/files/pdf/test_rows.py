"""Wrapped cells are whole, and rows stay rows."""

from __future__ import annotations

from core.files.pdf.columns import PrintedCell, PrintedRow
from core.files.pdf.rows import joined_rows
from tests.typed_pages import drawn, tables_of

FAR = 12.0
"""Distance of two rows in a font of eight points,"""
CLOSE = 9.0
"""and of two lines of a cell."""

Cells = dict[int, tuple[float, float, str]]


def rows_of(*rows: tuple[float, Cells], page: int = 1) -> list[PrintedRow]:
    """Rows by their distance from the one above."""
    baseline, every = 700.0, []
    for at, (distance, cells) in enumerate(rows, 1):
        baseline -= distance
        own = {
            column: PrintedCell(left, right, text, column, first_width=4.5 * len(text.split()[0]))
            for column, (left, right, text) in cells.items()
        }
        every.append(PrintedRow(page, at, baseline, 8.0, baseline, own))
    return every


def texts(rows: list[PrintedRow]) -> list[dict[int, str]]:
    return [{column: cell.text for column, cell in row.cells.items()} for row in joined_rows(rows)]


HEADS: tuple[float, Cells] = (0.0, {0: (10, 40, "Borrower"), 1: (120, 140, "Par")})
ALDER: tuple[float, Cells] = (FAR, {0: (10, 110, "Alder Holdings International"), 1: (120, 150, "1,000.00")})
BIRCH: tuple[float, Cells] = (FAR, {0: (10, 60, "Birch Media"), 1: (120, 150, "250.00")})
CEDAR: tuple[float, Cells] = (FAR, {0: (10, 60, "Cedar Inns"), 1: (120, 150, "500.00")})


def test_a_cell_goes_on_below() -> None:
    rows = rows_of(HEADS, BIRCH, ALDER, (CLOSE, {0: (10, 50, "Finance")}), BIRCH, CEDAR)
    assert texts(rows)[1:4] == [
        {0: "Birch Media", 1: "250.00"},
        {0: "Alder Holdings International Finance", 1: "1,000.00"},
        {0: "Birch Media", 1: "250.00"},
    ]


def test_a_name_with_room_beside_the_one_above_is_a_heading() -> None:
    rows = rows_of(HEADS, ALDER, BIRCH, (CLOSE, {0: (10, 40, "Media")}), CEDAR, BIRCH)
    assert {0: "Media"} in texts(rows)


def test_a_name_far_below_is_a_heading() -> None:
    rows = rows_of(HEADS, BIRCH, ALDER, (FAR, {0: (10, 50, "Finance")}), BIRCH, CEDAR)
    assert {0: "Finance"} in texts(rows)


def test_a_cell_begins_above_its_row() -> None:
    rows = rows_of(HEADS, BIRCH, CEDAR, (FAR, {0: (10, 105, "Alder Holdings")}),
        (CLOSE, {0: (10, 70, "International"), 1: (120, 150, "1,000.00")}), BIRCH)  # fmt: skip
    assert {0: "Alder Holdings International", 1: "1,000.00"} in texts(rows)


def test_a_hyphen_holds_on_to_the_next_line() -> None:
    rows = rows_of(HEADS, BIRCH, (FAR, {0: (10, 110, "Alder Holdings Inter-"), 1: (120, 150, "5.00")}),
        (CLOSE, {0: (10, 60, "national")}), BIRCH, CEDAR)  # fmt: skip
    assert {0: "Alder Holdings Inter-national", 1: "5.00"} in texts(rows)


def test_cells_in_the_middle_of_taller_ones_are_of_their_row() -> None:
    """Two lines of a name, and figures on the height between them."""
    rows = rows_of(HEADS, BIRCH, (FAR, {0: (10, 110, "Alder Holdings")}), (4.5, {1: (120, 150, "1,000.00")}),
        (4.5, {0: (10, 60, "International")}), BIRCH)  # fmt: skip
    assert {0: "Alder Holdings International", 1: "1,000.00"} in texts(rows)


def test_two_figures_of_a_column_are_two_rows() -> None:
    rows = rows_of(HEADS, BIRCH, (6.0, {0: (10, 60, "Cedar Inns"), 1: (120, 150, "500.00")}))
    assert texts(rows)[1:] == [{0: "Birch Media", 1: "250.00"}, {0: "Cedar Inns", 1: "500.00"}]


def test_nothing_goes_on_from_page_to_page() -> None:
    first, second = rows_of(HEADS, BIRCH, ALDER), rows_of((0, {0: (10, 50, "Finance")}), BIRCH, page=2)
    assert {0: "Finance"} in texts(first + second)


def test_an_identifier_does_not_go_on() -> None:
    rows = rows_of(HEADS, BIRCH, (FAR, {0: (10, 110, "LX1234567"), 1: (120, 150, "5.00")}),
        (CLOSE, {0: (10, 60, "Finance")}), BIRCH)  # fmt: skip
    assert {0: "Finance"} in texts(rows)


def test_headings_stay_as_they_stand() -> None:
    rows = rows_of(HEADS, (CLOSE, {0: (10, 40, "Name"), 1: (120, 140, "USD")}), ALDER, BIRCH)
    assert texts(rows)[:2] == [{0: "Borrower", 1: "Par"}, {0: "Name", 1: "USD"}]
    assert joined_rows([]) == []


def test_wrapped_cells_of_a_page() -> None:
    lines = [[(40.0, "Borrower"), (200.0, "Industry"), (-340.0, "Par")], []]
    for at, name in enumerate(("Alder Holdings", "Birch Media", "Cedar Inns")):
        lines.append([(40.0, f"{name} International"), (200.0, "Hotels, Inns and"), (-340.0, f"{at + 1},000.00")])
        lines += [[(40.0, "Finance Company LLC"), (200.0, "Restaurants")], []]
    (cells,) = tables_of(drawn(lines, step=10))
    assert [row for row in cells if any(row)] == [
        ["Borrower", "Industry", "Par"],
        *(
            [f"{name} International Finance Company LLC", "Hotels, Inns and Restaurants", at * 1_000.0]
            for at, name in enumerate(("Alder Holdings", "Birch Media", "Cedar Inns"), 1)
        ),
    ]
