"""Tables that stand beside each other are read one after the other."""

from __future__ import annotations

import pytest

from tests.typed_pages import tables_of, typed

LEFT = [("Industry", "Par"), ("Media", "5.00"), ("Retail", "7.00"), ("Hotels", "9.00"), ("Energy", "4.00")]
RIGHT = [("Rating", "Balance"), ("Aaa", "15.50"), ("Baa1", "17.50"), ("Caa2", "19.50"), ("Ba3", "14.50")]
LEFT_CELLS = [["Industry", "Par"], ["Media", 5.0], ["Retail", 7.0], ["Hotels", 9.0], ["Energy", 4.0]]
RIGHT_CELLS = [["Rating", "Balance"], ["Aaa", 15.5], ["Baa1", 17.5], ["Caa2", 19.5], ["Ba3", 14.5]]


def beside(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> str:
    """Two tables from the same line on, with a wide strip between them."""
    sides = [[f"{name:<12}{figure:>8}" for name, figure in side] for side in (left, right)]
    count = max(map(len, sides))
    first, second = ([*side, *[""] * (count - len(side))] for side in sides)
    return "\n".join(f"{own:<40}{other_side}".rstrip() for own, other_side in zip(first, second, strict=True))


def rows_of(page: str) -> list[list[object]]:
    (cells,) = tables_of(typed(page))
    return [row for row in cells if any(row)]


def test_tables_below_titles_of_their_own() -> None:
    left, right = [("Industries", ""), *LEFT], [("Ratings", ""), *RIGHT]
    assert rows_of(beside(left, right)) == [["Industries", None], *LEFT_CELLS, ["Ratings", None], *RIGHT_CELLS]


def test_tables_with_a_total_each() -> None:
    left, right = [*LEFT, ("Total", "25.00")], [*RIGHT, ("Total", "67.00")]
    assert rows_of(beside(left, right)) == [*LEFT_CELLS, ["Total", 25.0], *RIGHT_CELLS, ["Total", 67.0]]


def test_a_table_that_ends_three_rows_below_the_first() -> None:
    more = [("B1", "1.25"), ("B2", "2.25"), ("B3", "3.25")]
    cells = [["B1", 1.25], ["B2", 2.25], ["B3", 3.25]]
    assert rows_of(beside(LEFT, [*RIGHT, *more])) == [*LEFT_CELLS, *RIGHT_CELLS, *cells]


def test_lists_of_labels_and_values() -> None:
    left = [("Fund:", "Alder"), ("Manager:", "Birch"), ("Trustee:", "Cedar")]
    right = [("Closed:", "2021"), ("Matures:", "2034"), ("Callable:", "2026")]
    rows = rows_of(beside(left, right))
    assert [row[:2] for row in rows[:3]] == [list(pair) for pair in left]
    assert [row[0] for row in rows[3:]] == [label for label, _ in right]
    assert all(len(row) == 2 for row in rows)


@pytest.mark.parametrize("count", [1, 2])
def test_what_stands_above_and_below_keeps_its_place(count: int) -> None:
    title = "\n".join(["Report of the Month"] * count)
    left, right = [*LEFT, ("Total", "25.00")], [*RIGHT, ("Total", "67.00")]
    rows = rows_of(f"{title}\n\n\n{beside(left, right)}\n\n\n\nThe figures are in millions.")
    assert [row[0] for row in rows[:count]] == ["Report of the Month"] * count
    assert rows[count:-1] == [*LEFT_CELLS, ["Total", 25.0], *RIGHT_CELLS, ["Total", 67.0]]
    assert rows[-1][0] == "The figures are in millions."


def test_one_wide_table_is_one() -> None:
    """Its rows have no labels of their own on the right."""
    page = beside(LEFT, [("Cost", "Price"), *(("6.00", figure) for _, figure in RIGHT[1:])])
    assert rows_of(page) == [
        ["Industry", "Par", "Cost", "Price"],
        *([*row, 6.0, right[1]] for row, right in zip(LEFT_CELLS[1:], RIGHT_CELLS[1:], strict=True)),
    ]


def test_a_wide_table_with_texts_on_the_right_is_one() -> None:
    """Neither titles nor totals nor other heights speak for two."""
    assert rows_of(beside(LEFT, RIGHT)) == [[*own, *right] for own, right in zip(LEFT_CELLS, RIGHT_CELLS, strict=True)]
