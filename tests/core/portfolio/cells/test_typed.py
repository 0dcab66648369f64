"""Typed columns: read from cells, told in Python and as text, put together row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells import category_cells, text_cells, typed
from core.portfolio.cells.string_pool import Cells
from core.portfolio.cells.typed import NormalColumn, blank_column, day_number, either, text_column
from core.portfolio.model.fields import FieldType

MakeCells = Callable[..., Cells]


def read(cells: Cells, kind: FieldType) -> NormalColumn:
    if kind == "string":
        return typed.read_text(cells).column
    if kind == "date":
        return typed.read_dates(cells, None).column
    if kind == "boolean":
        return typed.read_booleans(cells, "own").column
    return NormalColumn("number", typed.read_numbers(cells)[0].values)


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        ("string", ["a", None, "b", "a"], ["a", None, "b", "a"]),
        ("number", [1.5, None, 0.0, -2.0], ["1.5", None, "0", "-2"]),
        ("date", ["2031-09-05", None, "1999-12-31"], ["2031-09-05", None, "1999-12-31"]),
        ("boolean", [True, None, False], ["TRUE", None, "FALSE"]),
    ],
)
def test_rows_are_told_taken_and_put_together(kind: FieldType, values: list[Any], texts: list[Any]) -> None:
    if kind == "string":
        codes, text = text_cells.pool_of(values)
        column = blank_column(kind, len(values)).with_text(codes, text)
    else:
        figures = [
            math.nan if value is None else day_number(value) if kind == "date" else float(value) for value in values
        ]
        column = blank_column(kind, len(values)).with_values(np.array(figures))
    assert column.python(slice(None)) == values
    assert column.blank().tolist() == [value is None for value in values]
    assert text_column(column.as_text()).python(slice(None)) == texts
    assert column.take(np.array([2, -1, 0])).python(slice(None)) == [values[2], None, values[0]]
    assert column.take(slice(1, 3)).python(slice(None)) == values[1:3]
    assert column.take(slice(0, 0)).take(np.array([-1, -1])).python(slice(None)) == [None, None]
    reversed_rows = column.take(np.arange(len(values))[::-1].copy())
    joined = either(~column.blank(), column, reversed_rows)
    expected = [
        own if own is not None else other_value for own, other_value in zip(values, reversed(values), strict=True)
    ]
    assert joined.python(slice(None)) == expected


@given(st.dates(date(1902, 1, 1), date(2199, 12, 31)))
def test_days_are_told_as_dates(day: date) -> None:
    column = blank_column("date", 1).with_values(np.array([day_number(day.isoformat())]))
    assert column.python(slice(None)) == [day.isoformat()]


@pytest.mark.parametrize("date_1904", [False, True])
def test_a_date_in_a_column_of_text_is_written(make_cells: MakeCells, *, date_1904: bool) -> None:
    cells = make_cells(["x", date(2031, 9, 5), None, 5.0, True], date_1904=date_1904)
    assert read(cells, "string").python(slice(None)) == ["x", "2031-09-05", None, "5", "TRUE"]


FLAGS = {
    "cov_lite": (
        ["Y", "yes", "TRUE", "X", " x ", "1", 1, True, "T", "Cov-Lite", "Covenant-Lite Loan", "Cov Lite (springing)"],
        ["N", "no", "FALSE", "-", "", None, 0, "0", False, "#N/A", "perhaps", "Maintenance", "Non Cov-Lite", "Norway"],
    ),
    "is_defaulted": (
        ["Defaulted", "In Default", "D", "Non-Accrual", "Payment Default", "Yes (1)", "Y*", "Yes \u00b9", "\u2713"],
        ["Current", "Performing", "Not Defaulted", "Non-Default", "No default", "No (2)", "Default: No", "\u2717"],
    ),
    "is_pik": (
        [
            "PIK",
            "PIK Toggle",
            "Partial PIK",
            "Cash/PIK",
            "Accruing PIK",
            "PIK-able",
            "Capitalising interest",
            "Yes, toggle",
        ],
        ["Cash", "Non-PIK", "No PIK", "Not deferring", "No, cash only"],
    ),
    "is_deferring": (
        ["Deferring", "Currently Deferring", "PIKing", "Partial PIK", "Deferred Interest", "Deferring Obligation"],
        ["PIK Toggle", "May PIK", "Not Deferring", "Cash"],
    ),
    "is_revolving": (["Revolver", "Revolving Credit Facility"], ["Term Loan", "Non-revolving"]),
    "is_second_lien": (["Second Lien", "2nd Lien Term Loan"], ["First Lien"]),
}


@pytest.mark.parametrize("target", FLAGS)
def test_a_flag_says_yes_in_words_of_its_own_too(make_cells: MakeCells, target: str) -> None:
    yes, no = FLAGS[target]
    column = typed.read_booleans(make_cells([*yes, *no]), target).column
    assert (column.values == 1).tolist() == [True] * len(yes) + [False] * len(no)


def test_flags(make_cells: MakeCells) -> None:
    cells = make_cells(["Y", "no", "X", "maybe", 1.0, 0.0, 2.0, True, None, "n/a", "#N/A"])
    own = typed.read_booleans(cells, "own")
    assert own.column.python(slice(None)) == [True, False, True, None, True, False, None, True, None, None, None]
    assert own.unreadable is not None
    assert np.flatnonzero(own.unreadable).tolist() == [3, 6]
    standard = typed.read_booleans(make_cells(["Defaulted", "maybe", "N", 2.0, -1.0, "-1"]), "is_defaulted")
    assert standard.column.python(slice(None)) == [True, False, False, True, True, True]
    assert standard.doubtful is not None
    assert np.flatnonzero(standard.doubtful).tolist() == [1]


def test_norway_is_a_country_and_no_flag(make_cells: MakeCells) -> None:
    cells = make_cells(["NO", "SE", "Norway"])
    assert [
        category_cells.country(text) for text in typed.read_text(cells, target="country").column.python(slice(None))
    ] == [
        "NO",
        "SE",
        "NO",
    ]
    own = typed.read_booleans(cells, "own")
    assert own.column.python(slice(None)) == [False, None, None]
    assert own.unreadable is not None
    assert own.unreadable.tolist() == [False, True, True]


def test_identifiers_have_no_footnote_marks(make_cells: MakeCells) -> None:
    cells = make_cells(["LX100001(1)", "LX100001\u00b2", "LX100001", "LX100001 (a)(aa)"])
    assert typed.read_text(cells, target="loanx_id").column.python(slice(None)) == ["LX100001"] * 4
