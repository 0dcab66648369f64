"""A sheet of columns to evaluate formulas on, and the rules of lookups and criteria as plain loops over values."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.language.parser import parse
from core.formula.machine import machine
from core.formula.ranges.environment import Environment
from core.formula.values.value import ALL_ERRORS, DIV0, NA, Array, Date, Error, Reference, Span, TextPool
from core.values import Kind

HOME = 500
"""The row of the formulas under test, below all data."""


def span_of(values: list[Any], pool: TextPool) -> Span:
    """Values as one column."""
    kinds, numbers, codes = np.zeros(len(values), np.uint8), np.zeros(len(values)), np.full(len(values), -1, np.int32)
    for at, value in enumerate(values):
        if isinstance(value, str):
            kinds[at], codes[at] = Kind.TEXT, pool.intern(value)
        elif isinstance(value, bool):
            kinds[at], numbers[at] = Kind.BOOLEAN, value
        elif isinstance(value, float):
            kinds[at], numbers[at] = Kind.DATE if isinstance(value, Date) else Kind.NUMBER, value
        elif isinstance(value, Error):
            kinds[at], numbers[at] = Kind.ERROR, value.code
    return Span(kinds, numbers, codes)


def values_of(span: Span, pool: TextPool) -> list[Any]:
    """One column as values."""
    return Array(len(span.kinds), 1, spans=(span,), pool=pool).cells()


class Sheet(Environment):
    """Columns A, B, C ... given as lists.

    Arrays come as spans, or as lists of cells where `listed`.
    """

    def __init__(
        self, *columns: list[Any], listed: bool = False, formulas: dict[tuple[int, int], str] | None = None
    ) -> None:
        super().__init__()
        self.columns, self.listed, self.formulas = columns, listed, formulas or {}
        self.pool = TextPool()
        self.indexes = {}
        self.row = HOME

    def cell(self, sheet: str | None, row: int, column: int) -> Any:
        cells = self.columns[column] if column < len(self.columns) else []
        return cells[row] if row < len(cells) else None

    def formula(self, sheet: str | None, row: int, column: int) -> str | None:
        return self.formulas.get((row, column))

    def array(self, reference: Reference) -> Array:
        used = max(len(column) for column in self.columns)
        bottom = reference.bottom if reference.bottom < 1_048_575 else max(used - 1, reference.top)
        rows, columns = range(reference.top, bottom + 1), range(reference.left, reference.right + 1)
        if self.listed:
            cells = [self.cell(None, row, column) for row in rows for column in columns]
            return Array(len(rows), len(columns), cells, reference=reference)
        spans = tuple(span_of([self.cell(None, row, column) for row in rows], self.pool) for column in columns)
        return Array(len(rows), len(columns), spans=spans, pool=self.pool, reference=reference)

    def value(self, formula: str, *, arrays: bool = True) -> Any:
        """The value of a formula, an array as a list of rows."""
        result = machine.compile(parse(formula, HOME, 0), arrays=arrays, text=formula).run(self)
        return result.grid() if isinstance(result, Array) else result


def same_type(a: Any, b: Any) -> bool:
    """Whether two values are both numbers, both text or both booleans."""
    return any(isinstance(a, kind) and isinstance(b, kind) for kind in (float, str, bool))


def equal(a: Any, b: Any) -> bool:
    """Whether a lookup finds b for a: the same type, text without case."""
    if isinstance(a, str) and isinstance(b, str):
        return a.casefold() == b.casefold()
    return a is b if isinstance(a, Error) or isinstance(b, Error) else same_type(a, b) and a == b


def first_equal(key: Any, cells: list[Any], last: bool = False) -> int:
    """The place of the first (last) equal cell; -1 for none."""
    places = [place for place, cell in enumerate(cells) if equal(key, cell)]
    return (places[-1] if last else places[0]) if places else -1


def fits(text: str, pattern: str) -> bool:
    """Wildcards by trying every way: fine for short patterns."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return fits(text, pattern[1:]) or (bool(text) and fits(text[1:], pattern))
    if pattern[0] == "?":
        return bool(text) and fits(text[1:], pattern[1:])
    if pattern[0] == "~":
        return fits(text, pattern[1:]) if len(pattern) == 1 else text[:1] == pattern[1] and fits(text[1:], pattern[2:])
    return text[:1] == pattern[0] and fits(text[1:], pattern[1:])


TEXTS = ["", "a", "A", "b", "ab", "Ab", "abc", "a*", "~", "1", "2.0", "x1", "zz"]
CELLS = st.one_of(
    st.sampled_from([None, True, False, DIV0, NA, ALL_ERRORS[0]]),
    st.integers(-3, 6).map(float),
    st.sampled_from([0.5, 2.25, -1.5, 1e300]),
    st.integers(1, 4).map(lambda day: Date(float(day))),
    st.sampled_from(TEXTS),
)
"""Cells of all types, with many equals among them."""
