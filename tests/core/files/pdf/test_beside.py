"""Tables that stand beside each other on a page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from reportlab.lib.pagesizes import landscape, letter
from reportlab.pdfgen import canvas

from core.files.pdf import read_pdf
from tests.typed_pages import tables_of, typed

NAMES = ["Aldera Foods", "Birch Media", "Corvo Steel", "Dunmore Care", "Elsted Retail", "Farrow Air"]
LINE = 12.0


def printed(lines: Sequence[Sequence[tuple[float, str]]]) -> bytes:
    """A page of lines. Texts at a place below zero end there, without its sign."""
    stream = io.BytesIO()
    page = canvas.Canvas(stream, pagesize=landscape(letter), invariant=1)
    page.setFont("Helvetica", 8)
    for at, line in enumerate(lines):
        for place, text in line:
            (page.drawRightString if place < 0 else page.drawString)(abs(place), 560.0 - LINE * at, text)
    page.save()
    return stream.getvalue()


def beside(tables: Sequence[Sequence[Sequence[str]]], places: Sequence[float], width: float) -> bytes:
    """Tables beside each other, each `width` further right, with the same places of columns."""
    count = max(map(len, tables))
    lines: list[list[tuple[float, str]]] = [[] for _ in range(count)]
    for shift, table in enumerate(tables):
        for line, row in zip(lines, table, strict=False):
            line += [
                (place + shift * width * (1 if place > 0 else -1), text)
                for place, text in zip(places, row, strict=False)
            ]
    return printed(lines)


def rows_of(data: bytes) -> list[list[Any]]:
    """The rows of all sheets that are not blank, without blanks at their ends."""
    rows = []
    for sheet in read_pdf(data).sheets:
        for row in range(sheet.row_count):
            values = [sheet.value(row, column) for column in range(sheet.column_count)]
            while values and values[-1] is None:
                values.pop()
            if values:
                rows.append(values)
    return rows


HEADINGS = ["Issuer", "Par Amount", "Price"]


@pytest.mark.parametrize("count", [2, 3])
def test_the_same_headings_again_in_a_line(count: int) -> None:
    """A list in newspaper columns, the last of which ends above the others."""
    loans = [[name, f"{1_000_000 + 1_000 * at:,}.00", f"{99.5 - at:.3f}"] for at, name in enumerate(NAMES * count)][:-1]
    tables = [[HEADINGS, *loans[6 * at : 6 * at + 6]] for at in range(count)]
    rows = rows_of(beside(tables, [40, -170, -210], 230))
    right = [[name, float(par.replace(",", "")), float(price)] for name, par, price in loans]
    assert [row for row in rows if row != HEADINGS] == right


def strats(count: int) -> list[list[list[str]]]:
    labels = [["Aaa", "Aa1", "B1", "B2", "B3", "Caa1"], NAMES, ["USA", "UK", "France", "Spain", "Italy", "Peru"]]
    tables = []
    for at, first in enumerate(["Rating", "Industry", "Country"][:count]):
        rows = [[label, f"{1_000_000 * (at + own + 1):,}", "10.0%"] for own, label in enumerate(labels[at])]
        tables.append([[f"By {first}"], [first, "Par", "%"], *rows])
    return tables


@pytest.mark.parametrize("count", [2, 3])
def test_tables_of_the_same_height(count: int) -> None:
    """The strips between a label and its figures are wider than those between the tables."""
    tables = strats(count)
    rows = rows_of(beside(tables, [40, -170, -220], 240))
    right: list[list[Any]] = []
    for table in tables:
        right += table[:2]
        right += [[label, float(par.replace(",", "")), 0.1] for label, par, _ in table[2:]]
    assert rows == right


def test_tables_of_the_same_height_with_headings_of_their_own() -> None:
    """Strips of the same width, the widest of the page, with a title on each side of each."""
    tables = strats(3)
    for table, headings in zip(tables, (["Par", "%"], ["Value", "Loans %"], ["Amount", "Share"]), strict=True):
        table[1][1:] = headings
    rows = rows_of(beside(tables, [40, -140, -180], 240))
    assert [len(row) for row in rows] == [1, *[3] * 7] * 3


def test_one_table_whose_headings_stand_twice_for_figures() -> None:
    """Par and price before and now: the figures right of the strip have no labels of their own."""
    head = [(40.0, "Issuer"), (-170.0, "Par"), (-220.0, "Price"), (-330.0, "Par"), (-380.0, "Price")]
    body = [
        [(40.0, name), (-170.0, "1,000.00"), (-220.0, "99.50"), (-330.0, "2,000.00"), (-380.0, "98.50")]
        for name in NAMES
    ]
    assert rows_of(printed([head, *body])) == [
        ["Issuer", "Par", "Price", "Par", "Price"],
        *([name, 1_000.0, 99.5, 2_000.0, 98.5] for name in NAMES),
    ]


def test_one_table_with_other_headings_behind_a_strip() -> None:
    """A seller and a buyer of each loan, with an amount and a price each."""
    head = [(40.0, "Issuer"), (-170.0, "Par"), (-220.0, "Price"), (300.0, "Buyer"), (-430.0, "Fee"), (-480.0, "Paid")]
    body = [
        [(40.0, name), (-170.0, "1,000.00"), (-220.0, "99.50"), (300.0, "Ostrava"), (-430.0, "5.00"), (-480.0, "4.00")]
        for name in NAMES
    ]
    assert len(rows_of(printed([head, *body]))[0]) == 6


LEFT = [("Industry", "Par"), ("Media", "5.00"), ("Retail", "7.00"), ("Hotels", "9.00"), ("Energy", "4.00")]
RIGHT = [("Rating", "Balance"), ("Aaa", "15.50"), ("Baa1", "17.50"), ("Caa2", "19.50"), ("Ba3", "14.50")]
LEFT_CELLS = [["Industry", "Par"], ["Media", 5.0], ["Retail", 7.0], ["Hotels", 9.0], ["Energy", 4.0]]
RIGHT_CELLS = [["Rating", "Balance"], ["Aaa", 15.5], ["Baa1", 17.5], ["Caa2", 19.5], ["Ba3", 14.5]]


def typed_beside(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> str:
    """Two tables from the same line on, with a wide strip between them."""
    sides = [[f"{name:<12}{figure:>8}" for name, figure in side] for side in (left, right)]
    count = max(map(len, sides))
    first, second = ([*side, *[""] * (count - len(side))] for side in sides)
    return "\n".join(f"{own:<40}{other_side}".rstrip() for own, other_side in zip(first, second, strict=True))


def typed_rows(page: str) -> list[list[object]]:
    (cells,) = tables_of(typed(page))
    return [row for row in cells if any(row)]


def test_tables_below_titles_of_their_own() -> None:
    left, right = [("Industries", ""), *LEFT], [("Ratings", ""), *RIGHT]
    assert typed_rows(typed_beside(left, right)) == [["Industries", None], *LEFT_CELLS, ["Ratings", None], *RIGHT_CELLS]


def test_tables_with_a_total_each() -> None:
    left, right = [*LEFT, ("Total", "25.00")], [*RIGHT, ("Total", "67.00")]
    assert typed_rows(typed_beside(left, right)) == [*LEFT_CELLS, ["Total", 25.0], *RIGHT_CELLS, ["Total", 67.0]]


def test_a_table_that_ends_three_rows_below_the_first() -> None:
    more = [("B1", "1.25"), ("B2", "2.25"), ("B3", "3.25")]
    cells = [["B1", 1.25], ["B2", 2.25], ["B3", 3.25]]
    assert typed_rows(typed_beside(LEFT, [*RIGHT, *more])) == [*LEFT_CELLS, *RIGHT_CELLS, *cells]


def test_lists_of_labels_and_values() -> None:
    left = [("Fund:", "Alder"), ("Manager:", "Birch"), ("Trustee:", "Cedar")]
    right = [("Closed:", "2021"), ("Matures:", "2034"), ("Callable:", "2026")]
    rows = typed_rows(typed_beside(left, right))
    assert [row[:2] for row in rows[:3]] == [list(pair) for pair in left]
    assert [row[0] for row in rows[3:]] == [label for label, _ in right]
    assert all(len(row) == 2 for row in rows)


@pytest.mark.parametrize("count", [1, 2])
def test_what_stands_above_and_below_keeps_its_place(count: int) -> None:
    title = "\n".join(["Report of the Month"] * count)
    left, right = [*LEFT, ("Total", "25.00")], [*RIGHT, ("Total", "67.00")]
    rows = typed_rows(f"{title}\n\n\n{typed_beside(left, right)}\n\n\n\nThe figures are in millions.")
    assert [row[0] for row in rows[:count]] == ["Report of the Month"] * count
    assert rows[count:-1] == [*LEFT_CELLS, ["Total", 25.0], *RIGHT_CELLS, ["Total", 67.0]]
    assert rows[-1][0] == "The figures are in millions."


def test_one_wide_table_is_one() -> None:
    """Its rows have no labels of their own on the right."""
    page = typed_beside(LEFT, [("Cost", "Price"), *(("6.00", figure) for _, figure in RIGHT[1:])])
    assert typed_rows(page) == [
        ["Industry", "Par", "Cost", "Price"],
        *([*row, 6.0, right[1]] for row, right in zip(LEFT_CELLS[1:], RIGHT_CELLS[1:], strict=True)),
    ]


def test_a_wide_table_with_texts_on_the_right_is_one() -> None:
    """Neither titles nor totals nor other heights speak for two."""
    assert typed_rows(typed_beside(LEFT, RIGHT)) == [
        [*own, *right] for own, right in zip(LEFT_CELLS, RIGHT_CELLS, strict=True)
    ]
