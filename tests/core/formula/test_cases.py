"""Formulas and the values that Excel gives them, table by table (cases/*.json).

Computed over a book, and in its cells.

A table is a list of groups: where the values come from, the cells that the formulas read (rows of values by the place
of their first), and formula -> value. `decimals` says how far the source shows its numbers. A table is named by family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.formula.values.value import Array
from core.grid.address import cell_name, parse_cell
from core.recalc.book import Book

TABLES = Path(__file__).parent / "cases"
SHEET = "Sheet1"
NOW = datetime(2026, 11, 20, 12)  # noqa: DTZ001 - a spreadsheet has no zone
ROWS_APART = 64
"""Between two formulas of the second test, so that what they fill does not meet."""


class Group(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    cases: dict[str, Any]
    cells: dict[str, Any] = {}
    names: dict[str, str] = {}
    date_1904: bool = False
    decimals: int | None = None

    def book(self) -> Book:
        book = Book.from_columns({SHEET: {}}, names=self.names, date_1904=self.date_1904)
        for first, rows in self.cells.items():
            top, left = parse_cell(first)
            for row, values in enumerate(rows):
                for column, value in enumerate(values):
                    book.set(SHEET, cell_name(top + row, left + column), value)
        book.recalculate(now=NOW, random=lambda: 0.5)
        return book


GROUPS = [
    pytest.param(group, id=f"{path.stem}-{place}")
    for path in sorted(TABLES.glob("*.json"))
    if not path.stem.startswith("libreoffice")
    for place, group in enumerate(msgspec.json.decode(path.read_bytes(), type=list[Group]))
]


def same(result: Any, expected: Any, decimals: int | None) -> bool:
    """Equal as the check of a workbook has it; an empty text is a blank."""
    if isinstance(expected, list):
        if not isinstance(result, list) or len(result) != len(expected):
            return False
        return all(same(item, second, decimals) for item, second in zip(result, expected, strict=True))
    if isinstance(expected, bool) or isinstance(result, bool):
        return result is expected
    if isinstance(expected, int | float):
        if not isinstance(result, float):
            return False
        shown = 0.0 if decimals is None else 0.51 * 10.0**-decimals
        return math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-12 + shown)
    return (result or "") == (expected or "") if result is None or expected is None else str(result) == expected


def differing(
    result: Mapping[str, Any], expected: Mapping[str, Any], decimals: int | None
) -> dict[str, tuple[Any, Any]]:
    return {text: (result[text], value) for text, value in expected.items() if not same(result[text], value, decimals)}


@pytest.mark.parametrize("group", GROUPS)
def test_value(group: Group) -> None:
    book = group.book()
    result = {}
    for text in group.cases:
        value = book.evaluate(text, now=NOW)
        if isinstance(value, Array):
            value = value.grid() if value.rows * value.columns > 1 else value.at(0, 0)
        result[text] = value
    assert differing(result, group.cases, group.decimals) == {}


@pytest.mark.parametrize("group", GROUPS)
def test_value_in_a_cell(group: Group) -> None:
    """As formulas of cells (the first of those that they fill).

    Through shapes, plans and the order of calculation.
    """
    book = group.book()
    places = {text: cell_name(ROWS_APART * (at + 2), 60) for at, text in enumerate(group.cases)}
    for text, place in places.items():
        book.set(SHEET, place, text)
    book.recalculate(now=NOW, random=lambda: 0.5)
    by_text = {text: book.value(SHEET, place) for text, place in places.items()}
    first = {text: value[0][0] if isinstance(value, list) else value for text, value in group.cases.items()}
    assert differing(by_text, first, group.decimals) == {}
