"""Every rule against its meaning value by value: blanks break only `required`."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells import text_cells
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn, day_number
from core.portfolio.mapping.profiles.rules import RULES, broken, message

NO_VALUES = np.zeros(0)


def words(*strings: str | None) -> NormalColumn:
    codes, text = text_cells.pool_of(strings)
    return NormalColumn("string", NO_VALUES, TextColumn(codes, text))


def figures(*values: float | None) -> NormalColumn:
    return NormalColumn("number", np.array([math.nan if value is None else value for value in values]))


def days(*texts: str | None) -> NormalColumn:
    return NormalColumn("date", np.array([math.nan if text is None else day_number(text) for text in texts]))


def flags(*values: bool | None) -> NormalColumn:
    return NormalColumn("boolean", np.array([math.nan if value is None else float(value) for value in values]))


def asked(rule: str, column: NormalColumn, **parameters: Any) -> list[bool]:
    return broken(rule, column, parameters).tolist()


NUMBERS = st.lists(st.one_of(st.none(), st.integers(-3, 3), st.floats(-3, 3)), max_size=10)
TEXTS = st.lists(st.one_of(st.none(), st.text("abé1", min_size=1, max_size=4)), max_size=10)


@given(NUMBERS)
def test_numbers(values: list[float | None]) -> None:
    column = figures(*values)
    assert asked("required", column) == [value is None for value in values]
    assert asked("positive", column) == [value is not None and not value > 0 for value in values]
    assert asked("non_negative", column) == [value is not None and value < 0 for value in values]
    for low, high in ((-1, 1), (None, 0.5), (0, None), (1, 1)):
        expected = [
            value is not None and ((low is not None and value < low) or (high is not None and value > high))
            for value in values
        ]
        bounds = {name: bound for name, bound in (("min", low), ("max", high)) if bound is not None}
        assert asked("range", column, **bounds) == expected
    assert asked("enum", column, values=[0, 1, 2.5]) == [
        value is not None and value not in (0, 1, 2.5) for value in values
    ]
    seen: set[float] = set()
    repeats = [value is not None and (value in seen or bool(seen.add(value))) for value in values]  # type: ignore[func-returns-value]
    assert asked("unique", column) == repeats


@given(TEXTS)
def test_texts(values: list[str | None]) -> None:
    column = words(*values)
    assert asked("required", column) == [value is None for value in values]
    assert asked("length", column, min=2, max=3) == [value is not None and not 2 <= len(value) <= 3 for value in values]
    assert asked("length", column, min=2) == [value is not None and len(value) < 2 for value in values]
    assert asked("length", column, max=2) == [value is not None and len(value) > 2 for value in values]
    assert asked("regex", column, pattern="b") == [value is not None and "b" not in value for value in values]
    whole = re.compile(r"[ab]+")
    assert asked("regex", column, pattern="^[ab]+$") == [
        value is not None and whole.fullmatch(value) is None for value in values
    ]
    assert asked("enum", column, values=["a", "b1"]) == [
        value is not None and value not in ("a", "b1") for value in values
    ]
    seen: set[str] = set()
    repeats = [value is not None and (value in seen or bool(seen.add(value))) for value in values]  # type: ignore[func-returns-value]
    assert asked("unique", column) == repeats


def test_dates() -> None:
    column = days("2030-01-01", None, "2031-01-01", "2030-01-01")
    assert asked("range", column, min="2030-06-30") == [True, False, False, True]
    assert asked("range", column, min="2030-01-01", max="2030-12-31") == [False, False, True, False]
    assert asked("enum", column, values=["2030-01-01"]) == [False, False, True, False]
    assert asked("unique", column) == [False, False, False, True]
    assert asked("required", column) == [False, True, False, False]


def test_flags() -> None:
    column = flags(True, None, False)
    assert asked("required", column) == [False, True, False]
    assert asked("enum", column, values=[True]) == [False, False, True]


def test_strings_that_only_became_equal_are_repeats_too() -> None:
    codes, text = text_cells.pool_of(["x", "Y"])
    from core.portfolio.mapping.profiles.transforms import apply_operation

    column = NormalColumn("string", NO_VALUES, TextColumn(np.array([0, 1, 0, 1, -1], np.int32), text))
    assert asked("unique", apply_operation("uppercase", column, {}).column) == [False, False, True, True, False]
    both = words("y", "Y", "x")
    assert asked("unique", apply_operation("uppercase", both, {}).column) == [False, True, False]
    assert codes.tolist() == [0, 1]


@pytest.mark.parametrize("name", RULES)
def test_every_rule_takes_an_empty_column(name: str) -> None:
    parameters = {"min": 1, "max": 2, "pattern": "a", "values": []}
    check = RULES[name]
    for kind in check.types:
        low = {"min": "2030-01-01", "max": "2030-01-02"} if kind == "date" else {}
        own = {parameter.name: (parameters | low)[parameter.name] for parameter in check.parameters}
        column = words() if kind == "string" else NormalColumn(kind, NO_VALUES)
        assert broken(name, column, own).tolist() == []
        blank = words(None) if kind == "string" else NormalColumn(kind, np.array([math.nan]))
        assert broken(name, blank, own).tolist() == [name == "required"]


@pytest.mark.parametrize(
    ("rule", "parameters", "expected"),
    [
        ("required", {}, "par is required"),
        ("positive", {}, "par must be greater than 0"),
        ("range", {"min": 1}, "par must be at least 1"),
        ("range", {"max": 2.5}, "par must be at most 2.5"),
        ("range", {"min": 1, "max": 2}, "par must be between 1 and 2"),
        ("length", {"max": 9}, "par must be at most 9 characters"),
        ("enum", {"values": list(range(12))}, "par must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..."),
        ("enum", {"values": [True, 2.5]}, "par must be one of true, 2.5"),
        ("regex", {"pattern": "^a$"}, "par must match ^a$"),
    ],
)
def test_what_a_rule_says(rule: str, parameters: dict[str, Any], expected: str) -> None:
    assert message(rule, "par", parameters) == expected
