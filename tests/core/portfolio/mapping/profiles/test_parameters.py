"""Values of parameters: finite, bounded, and of the field's type."""

from __future__ import annotations

import math
from typing import Any

import pytest

from core.portfolio.mapping.profiles.parameters import (
    ENTRIES_MAX,
    NUMBER_MAX,
    TEXT_LENGTH_MAX,
    entries_fault,
    is_number,
    iso_day,
    literal_fault,
    ordered_fault,
    value_fault,
    values_fault,
)
from core.portfolio.model.fields import FieldType


@pytest.mark.parametrize("value", [0, -1.5, NUMBER_MAX, 10**15])
def test_numbers(value: Any) -> None:
    assert is_number(value)
    assert literal_fault(value, "number") is None


@pytest.mark.parametrize("value", [True, "1", None, math.nan, math.inf, 10**400, 2 * NUMBER_MAX, [1]])
def test_what_is_no_number(value: Any) -> None:
    assert literal_fault(value, "number")


@pytest.mark.parametrize(
    "text", ["2030-1-01", "20300101", "2030-02-30", "2030-W01-1", "２０３０-01-01", "", "x" * 9_999]
)
def test_what_is_no_day(text: str) -> None:
    assert iso_day(text) is None
    assert literal_fault(text, "date")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [("string", "a", 1), ("number", 1, "a"), ("date", "2030-01-31", "31.01.2030"), ("boolean", False, 0)],
)
def test_lists_and_lookups_hold_values_of_the_field(kind: FieldType, good: Any, bad: Any) -> None:
    assert values_fault([good], kind) is None
    assert "value 1" in str(values_fault([good, bad], kind))
    assert values_fault([good] * (ENTRIES_MAX + 1), kind)
    assert entries_fault({"x": good, "y": None}, kind) is None
    assert "entry 'y'" in str(entries_fault({"x": good, "y": bad}, kind))
    assert entries_fault({"x" * (TEXT_LENGTH_MAX + 1): good}, kind)


@pytest.mark.parametrize(("value", "says"), [("12", "is not a number"), (-2e15, "is beyond 1,000,000,000,000,000")])
def test_what_is_said_of_a_number(value: Any, says: str) -> None:
    assert str(literal_fault(value, "number")).startswith(says)


def test_a_date_that_a_sheet_has_as_blank_is_no_value() -> None:
    """Still it can bound a range."""
    assert value_fault("1901-01-01", "date") is None
    assert "1901" in str(value_fault("1900-12-31", "date"))
    assert "1901" in str(entries_fault({"old": "0001-01-01"}, "date"))
    assert value_fault("1900", "string") is None
    assert literal_fault("1900-01-01", "date") is None


def test_a_lookup_has_one_meaning_for_what_compares_equal() -> None:
    assert entries_fault({"Straße": "x", "STRASSE ": "x"}, "string") is None
    assert entries_fault({"Straße": "x", "STRASSE ": "y"}, "string")


def test_bounds_are_in_order() -> None:
    assert ordered_fault({"min": 1, "max": 1}) is None
    assert ordered_fault({"max": 1}) is None
    assert ordered_fault({"min": 2, "max": 1})
    assert ordered_fault({})
