"""The columns of a table, and which words are its cells."""

from __future__ import annotations

import pytest

from core.files.pdf.columns import Grid, PrintedCell, PrintedRow, merged_grid
from core.files.pdf.words import Word
from tests.typed_pages import drawn, tables_of, typed

GRID = Grid.of([(100.0, 110.0), (200.0, 220.0)])


def test_columns_of_places() -> None:
    assert GRID.count == 3
    assert [GRID.column(place) for place in (0.0, 104.0, 106.0, 209.0, 211.0)] == [0, 0, 1, 1, 2]
    assert [GRID.first(left) for left in (40.0, 99.0, 110.0, 230.0)] == [0, 0, 1, 2]
    assert [GRID.last(right) for right in (99.0, 110.0, 199.0, 221.0)] == [0, 0, 1, 2]
    assert Grid.of(()).count == 1


@pytest.mark.parametrize(
    ("left", "right", "crossed"), [(90, 115, True), (90, 105, False), (105, 205, False), (110, 230, True)]
)
def test_a_word_over_a_whole_gutter(left: float, right: float, crossed: bool) -> None:
    assert GRID.crossed(Word(left, right, "Alder")) is crossed


def test_blanks_are_blanks() -> None:
    page = """
        Borrower        Rating   Par       Price
        Alder Holdings  B2       1,000.00  99.50
        Birch Media                250.00
        Cedar Hotels    B3                 98.25
    """
    assert tables_of(typed(page)) == [
        [
            ["Borrower", "Rating", "Par", "Price"],
            ["Alder Holdings", "B2", 1_000.0, 99.5],
            ["Birch Media", None, 250.0, None],
            ["Cedar Hotels", "B3", None, 98.25],
        ]
    ]


def test_a_heading_may_stand_beside_its_figures() -> None:
    """At the left edge of its column, and the figures at the right one."""
    page = """
        Borrower        Par                Price
        Alder Holdings            1,000.00   99.50
        Birch Media                 250.00   98.25
    """
    assert tables_of(typed(page)) == [
        [["Borrower", "Par", "Price"], ["Alder Holdings", 1_000.0, 99.5], ["Birch Media", 250.0, 98.25]]
    ]


def test_amounts_a_space_apart_are_two_cells() -> None:
    """On nine of ten lines, headings among them."""
    figures = [(at * 137.5, 90 + at / 4) for at in range(8, 20)]
    lines = [f"Alder {at:<8} {par:>8,.2f} {price:5.2f}" for at, (par, price) in enumerate(figures, 100)]
    (cells,) = tables_of(typed("\n".join([f"{'Borrower':<14} {'Par':>8} Price", *lines])))
    assert cells[1:] == [[f"Alder {at}", *pair] for at, pair in enumerate(figures, 100)]


def test_a_year_or_a_number_ends_a_name() -> None:
    page = """
        Loan              Par
        Term Loan 1       1,000.00
        Term Loan 2         250.00
        Term Loan 3         500.00
        Term Loan 4         750.00
    """
    assert [row[0] for row in tables_of(typed(page))[0]] == ["Loan", *(f"Term Loan {at}" for at in range(1, 5))]


def test_texts_that_begin_on_one_place_are_a_column() -> None:
    """Behind names of six lengths that end a space before, at the most."""
    names = ("Alder", "Birch Foods", "Cedar Inns", "Dahlia", "Elm Software", "Fir Media", "Gorse")
    lines = [[(40.0, "Issuer"), (108.0, "Type"), (200.0, "Par")]]
    lines += [[(40.0, name), (108.0, "Term Loan"), (-240.0, f"{at},000.00")] for at, name in enumerate(names, 1)]
    assert tables_of(drawn(lines))[0] == [
        ["Issuer", "Type", "Par"],
        *([name, "Term Loan", at * 1_000.0] for at, name in enumerate(names, 1)),
    ]


def test_spaces_in_a_column_are_no_gutters() -> None:
    """Words that stand above each other by chance part nothing: as few columns as the wide gaps want."""
    page = """
        Issuer Name  Par
        Alder Media  1,000.00
        Birch Foods    250.00
        Cedar Hotel    500.00
    """
    assert tables_of(typed(page)) == [
        [["Issuer Name", "Par"], ["Alder Media", 1_000.0], ["Birch Foods", 250.0], ["Cedar Hotel", 500.0]]
    ]


def test_a_label_has_its_value_beside_it() -> None:
    page = """
        Deal:   Alder CLO
        Date: 9/30/2024
        Cost: 1,000.00
    """
    assert tables_of(typed(page)) == [[["Deal:", "Alder CLO"], ["Date:", "9/30/2024"], ["Cost:", 1_000.0]]]


def test_a_sentence_over_several_columns_is_one_cell() -> None:
    page = """
        Borrower        Rating   Par       Price
        Alder Holdings  B2       1,000.00  99.50
        Loans that the manager bought after the day of closing
        Birch Media     B3         250.00  98.25
        Cedar Hotels    B1         500.00  97.25
    """
    (cells,) = tables_of(typed(page))
    assert cells[2] == ["Loans that the manager bought after the day of closing", None, None, None]
    assert len(cells) == 5


@pytest.mark.parametrize("pieces", ["words", "cells", "lines"])
def test_what_is_printed_at_once_changes_nothing(pieces: str) -> None:
    page = """
        Borrower           Rating       Par    Price
        Alder Holdings     B2      1,000.00    99.50
        Birch Media        B3        250.00    98.25
        Cedar Hotels Inc.  B1        500.00    97.25
    """
    assert tables_of(typed(page, pieces=pieces)) == [
        [
            ["Borrower", "Rating", "Par", "Price"],
            ["Alder Holdings", "B2", 1_000.0, 99.5],
            ["Birch Media", "B3", 250.0, 98.25],
            ["Cedar Hotels Inc.", "B1", 500.0, 97.25],
        ]
    ]


def test_a_column_without_a_heading_beside_one_without_figures_is_none() -> None:
    """The heading ends left of its figures, and no row has both."""
    rows = [
        PrintedRow(1, at, 700.0, 8.0, 700.0, {column: PrintedCell(0.0, 9.0, text, column) for column, text in cells})
        for at, cells in enumerate(
            (
                [(0, "Borrower"), (1, "Par"), (3, "Price")],
                [(0, "Alder"), (2, "1,000.00"), (3, "99.50")],
                [(0, "Birch"), (2, "250.00"), (3, "98.25")],
            )
        )
    ]
    grid = Grid.of([(100.0, 110.0), (130.0, 140.0), (200.0, 220.0)])
    assert merged_grid(grid, rows).starts == [100.0, 200.0]
    full = [PrintedRow(1, 9, 600.0, 8.0, 600.0, {at: PrintedCell(0.0, 9.0, "5.00", at) for at in range(4)})]
    assert merged_grid(grid, rows + full) is grid
