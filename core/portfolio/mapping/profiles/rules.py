"""The rules of a mapping, as rows: parameters, types, and which rows break them.

Only `required` looks at blanks; every other rule is about the values that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, checkpoint, text_cells
from core.portfolio.cells.patterns import matching, pattern_fault
from core.portfolio.cells.string_pool import spread_out
from core.portfolio.cells.typed import NormalColumn, day_number
from core.portfolio.mapping.profiles.parameters import (
    Parameter,
    length_fault,
    literal_fault,
    ordered_fault,
    values_fault,
)
from core.portfolio.model.fields import FieldType

Parameters = Dict[str, Any]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table."""

    types: tuple[FieldType, ...]
    broken: Callable[[NormalColumn, Parameters], Rows]
    """The rows that break the rule."""
    says: Callable[[Parameters], str]
    """What a value must be, to follow the field's name."""
    parameters: tuple[Parameter, ...] = ()
    fault: Callable[[dict[str, Any]], str | None] = lambda _parameters: None
    """What is wrong with parameters that are sound one by one."""


def broken(rule: str, column: NormalColumn, parameters: Parameters) -> Rows:
    """Return the rows of a column that break one rule of `RULES`."""
    checkpoint.checkpoint()
    return RULES[rule].broken(column, parameters)


def message(rule: str, field: str, parameters: Parameters) -> str:
    """Return what to say of a value that breaks a rule without its own message."""
    return f"{field} {RULES[rule].says(parameters)}"


def _blank_rows(column: NormalColumn, _parameters: Parameters) -> Rows:
    return column.blank()


def _positive(column: NormalColumn, _parameters: Parameters) -> Rows:
    return np.asarray(column.values <= 0.0, np.bool_)


def _non_negative(column: NormalColumn, _parameters: Parameters) -> Rows:
    return np.asarray(column.values < 0.0, np.bool_)


def _range(column: NormalColumn, parameters: Parameters) -> Rows:
    low, high = (_figure(parameters.get(name), column.type) for name in ("min", "max"))
    rows = np.zeros(len(column), np.bool_)
    if low is not None:
        rows |= column.values < low
    if high is not None:
        rows |= column.values > high
    return rows


def _figure(value: Any, kind: FieldType) -> float | None:
    return None if value is None else day_number(value) if kind == "date" else float(value)


def _regex(column: NormalColumn, parameters: Parameters) -> Rows:
    return _where(column, ~matching(parameters["pattern"], column.text.text))


def _length(column: NormalColumn, parameters: Parameters) -> Rows:
    lengths = _characters(column.text.text)
    bad = lengths < parameters.get("min", 0)
    if "max" in parameters:
        bad |= lengths > parameters["max"]
    return _where(column, bad)


def _characters(text: Text) -> NDArray[np.int64]:
    """Return the length of each string: its bytes that do not go on with a character."""
    if (text.data < 0x80).all():
        return np.diff(text.offsets)
    starts = np.zeros(len(text.data) + 1, np.int64)
    np.cumsum((text.data & 0xC0) != 0x80, out=starts[1:])
    return np.diff(starts[text.offsets])


def _enum(column: NormalColumn, parameters: Parameters) -> Rows:
    values = parameters["values"]
    if column.type == "string":
        known = frozenset(values)
        return _where(column, np.array([string not in known for string in column.text.text.strings()], np.bool_))
    figures = np.array([_figure(value, column.type) for value in values], np.float64)
    return ~np.isin(column.values, figures) & ~np.isnan(column.values)


def _unique(column: NormalColumn, _parameters: Parameters) -> Rows:
    """Return all rows but the first of those that have the same value."""
    codes = _distinct_codes(column)
    rows = codes >= 0
    present = np.flatnonzero(rows)[::-1]
    first = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    first[codes[present]] = present  # of several the last one written, which is the first
    rows[first[first >= 0]] = False
    return rows


def _distinct_codes(column: NormalColumn) -> NDArray[np.int64]:
    """Return a code for each distinct value, -1 for blank."""
    if column.type == "string":
        text = column.text.text
        used = np.arange(len(text), dtype=np.int32)
        table, _, _ = _parse.clean(text.offsets, text.data, used, False, text_cells.is_distinct(text))
        return spread_out(table, -1, column.text.codes).astype(np.int64)
    _, codes = np.unique(column.values, return_inverse=True)
    return np.where(np.isnan(column.values), -1, codes)


def _where(column: NormalColumn, bad: Rows) -> Rows:
    """Return rows by the strings of the pool that are bad."""
    if not bad.any():
        return np.zeros(len(column), np.bool_)
    return spread_out(bad, False, column.text.codes)


def _between(unit: str) -> Callable[[Parameters], str]:
    def says(parameters: Parameters) -> str:
        low, high = parameters.get("min"), parameters.get("max")
        if low is None or high is None:
            return f"must be at most {high}{unit}" if low is None else f"must be at least {low}{unit}"
        return f"must be between {low} and {high}{unit}"

    return says


def _one_of(parameters: Parameters) -> str:
    """Return names the values when they are few."""
    values = parameters["values"]
    first_values = ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values[:10])
    return f"must be one of {first_values}{', ...' if len(values) > 10 else ''}"


_ALL: Final[tuple[FieldType, ...]] = ("string", "number", "date", "boolean")
_TEXT: Final[tuple[FieldType, ...]] = ("string",)
_NUMBER: Final[tuple[FieldType, ...]] = ("number",)
_BOUNDS: Final = (Parameter("min", literal_fault, required=False), Parameter("max", literal_fault, required=False))
_LENGTHS: Final = (Parameter("min", length_fault, required=False), Parameter("max", length_fault, required=False))

RULES: Final = {
    "required": Check(_ALL, _blank_rows, lambda _parameters: "is required"),
    "positive": Check(_NUMBER, _positive, lambda _parameters: "must be greater than 0"),
    "non_negative": Check(_NUMBER, _non_negative, lambda _parameters: "must not be negative"),
    "range": Check(("number", "date"), _range, _between(""), _BOUNDS, ordered_fault),
    "regex": Check(
        _TEXT,
        _regex,
        lambda parameters: f"must match {parameters['pattern']}",
        (Parameter("pattern", pattern_fault),),
    ),
    "length": Check(_TEXT, _length, _between(" characters"), _LENGTHS, ordered_fault),
    "enum": Check(_ALL, _enum, _one_of, (Parameter("values", values_fault),)),
    "unique": Check(("string", "number", "date"), _unique, lambda _parameters: "must be unique"),
}
"""Every rule by its name. A regex may match anywhere in the text: anchor it with ^ and $ for the whole."""
