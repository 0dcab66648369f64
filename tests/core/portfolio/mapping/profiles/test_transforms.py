"""Every operation against its meaning value by value, with blanks, extremes and text that does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells import text_cells
from core.portfolio.cells.string_pool import Cells
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn, day_number, read_dates, read_numbers
from core.portfolio.mapping.normalise import cells_from_values
from core.portfolio.mapping.profiles import transforms
from core.portfolio.mapping.profiles.parameters import DECIMALS_MAX
from core.portfolio.mapping.profiles.transforms import OPERATIONS, apply_operation, looked_up, round_values
from core.portfolio.model.fields import FieldType

NO_VALUES = np.zeros(0)


def words(*strings: str | None) -> NormalColumn:
    codes, text = text_cells.pool_of(strings)
    return NormalColumn("string", NO_VALUES, TextColumn(codes, text))


def figures(*values: float | None) -> NormalColumn:
    return NormalColumn("number", np.array([math.nan if value is None else value for value in values]))


def values(column: NormalColumn) -> list[Any]:
    return column.python(slice(None))


def changed(operation: str, column: NormalColumn, **parameters: Any) -> list[Any]:
    return values(apply_operation(operation, column, parameters).column)


def failed(operation: str, column: NormalColumn, **parameters: Any) -> list[bool]:
    rows = apply_operation(operation, column, parameters).failed
    return [False] * len(column) if rows is None else rows.tolist()


TEXTS = st.lists(
    st.one_of(st.none(), st.text(st.sampled_from("aBcZ {~é ßI\u00a0"), min_size=1, max_size=6)), max_size=8
)


def test_arithmetic() -> None:
    assert changed("multiply", figures(1.5, None, -2), factor=1000) == [1500, None, -2000]
    assert changed("divide", figures(1.5, None, -2), divisor=4) == [0.375, None, -0.5]


def test_what_is_not_finite_any_more_is_an_error_of_its_row() -> None:
    column = figures(1e300, 2.0, None)
    assert changed("multiply", column, factor=1e15) == [None, 2e15, None]
    assert failed("multiply", column, factor=1e15) == [True, False, False]
    assert failed("divide", column, divisor=1e-300) == [True, False, False]


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(2.5, 0, 3), (-2.5, 0, -3), (0.5, 0, 1), (1.005, 2, 1.01), (2.675, 2, 2.68), (-1.115, 2, -1.12), (0.285, 2, 0.29),
     (1.4999999, 0, 1), (1e300, 2, 1e300), (-1e308, 2, -1e308), (1.7e308, 12, 1.7e308),
     (9007199254740993.0, 0, 9007199254740992.0), (0.0, 3, 0.0), (-0.2, 0, 0.0)],
)  # fmt: skip
def test_rounding_as_excel_has_it(value: float, decimals: int, expected: float) -> None:
    (result,) = round_values(np.array([value]), decimals).tolist()
    assert result == expected
    assert math.copysign(1, result) == 1 or result != 0


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.integers(0, DECIMALS_MAX))
def test_rounding_is_decimal_rounding_of_what_is_written(digits: int, places: int, decimals: int) -> None:
    written = Decimal(digits).scaleb(-places)
    expected = float(written.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))
    assert round_values(np.array([float(written), np.nan]), decimals)[0] == pytest.approx(expected, rel=1e-15, abs=0)
    assert np.isnan(round_values(np.array([np.nan]), decimals)[0])


@given(TEXTS)
def test_case_and_trimming(texts: list[str | None]) -> None:
    column = words(*texts)
    assert changed("uppercase", column) == [None if text is None else text.upper() for text in texts]
    assert changed("lowercase", column) == [None if text is None else text.lower() for text in texts]
    assert changed("trim", column) == [None if text is None else text.strip() or None for text in texts]


@given(TEXTS)
def test_replacing(texts: list[str | None]) -> None:
    expected = [None if text is None else text.replace("a", "").strip() or None for text in texts]
    assert changed("replace", words(*texts), pattern="a", replacement="") == expected


def test_a_text_that_grows_too_long_is_an_error_of_its_rows() -> None:
    column = words("aaaaaa", "b", None, "aaaaaa")
    parameters = {"pattern": "a", "replacement": "x" * 200}
    assert failed("replace", column, **parameters) == [True, False, False, True]
    assert changed("replace", column, **parameters) == [None, "b", None, None]


def test_a_text_that_failed_is_not_kept() -> None:
    """Ten replacements would otherwise go on lengthening what nobody sees."""
    column = words(*(f"{at:04}" + "a" * 300 for at in range(1_000)), "b")
    result = apply_operation("replace", column, {"pattern": "a", "replacement": "\\0" * 9}).column
    assert values(result) == [None] * 1_000 + ["b"]
    assert result.text.text.strings() == ["b"]


def test_dates_as_text() -> None:
    column = words("05/09/2031", "2031-09-05", None, "31/02/2031")
    parameters = {"input_format": "DD/MM/YYYY", "output_format": "%d-%b-%Y"}
    assert changed("date_format", column, **parameters) == ["05-Sep-2031", "2031-09-05", None, "31/02/2031"]
    assert failed("date_format", column, **parameters) == [False, True, False, True]
    assert changed("date_format", column, input_format="DD/MM/YYYY")[0] == "2031-09-05"


def test_a_date_field_is_read_by_the_input_format_and_written_by_the_output_format() -> None:
    cells = cells_from_values(["05/09/31", "9/25/31", None, "2031-09-05"])
    read = read_dates(cells, "MM/DD/YY")
    assert read.unreadable is not None
    assert read.unreadable.tolist() == [False, False, False, True]
    assert changed("date_format", read.column, output_format="DD MMM YYYY") == [
        "09 May 2031",
        "25 Sep 2031",
        None,
        None,
    ]
    assert values(read.column) == ["2031-05-09", "2031-09-25", None, None]


def test_lookups_of_text_compare_without_case() -> None:
    column = words("USA", "france", None, "Chile", "drop")
    parameters = {"mapping": {"usa": "US", "France ": "FR", "Drop": None}}
    assert changed("lookup", column, **parameters) == ["US", "FR", None, "Chile", None]
    assert failed("lookup", column, **parameters) == [False, False, False, True, False]
    assert OPERATIONS["lookup"].is_warning


@pytest.mark.parametrize(
    ("kind", "mapping", "expected"),
    [
        ("number", {"call": 100, "n.q.": None, "7": 70}, [100.0, None, 70.0, 5.5, 1.0, None]),
        ("boolean", {"call": True, "n.q.": False, "7": True}, [True, False, True, 5.5, True, None]),
        ("date", {"call": "2031-09-05"}, ["2031-09-05", "n.q.", 7.0, 5.5, True, None]),
    ],
)
def test_lookups_of_cells(kind: FieldType, mapping: dict[str, Any], expected: Sequence[Any]) -> None:
    from core.portfolio.mapping.pipeline import cell_value

    cells = looked_up(cells_from_values(["Call", "n.q.", 7, 5.5, True, None]), kind, {"mapping": mapping})
    assert [cell_value(cells, row) for row in range(6)] == list(expected)


def test_lookups_of_dates_in_a_book_of_the_1904_system(make_cells: Callable[..., Cells]) -> None:
    cells = make_cells(["maturity tbd", date(2031, 9, 5)], date_1904=True)
    cells = looked_up(cells, "date", {"mapping": {"Maturity TBD": "2099-12-31"}})
    assert read_dates(cells, None).column.values.tolist() == [day_number("2099-12-31"), day_number("2031-09-05")]


def test_a_looked_up_number_has_no_format_of_its_own(make_cells: Callable[..., Cells], shown: Any) -> None:
    cells = make_cells([shown(0.5, "0.0%"), "half", shown(0.25, "0.0%")])
    cells = looked_up(cells, "number", {"mapping": {"0.5": 7, "half": 8}})
    assert read_numbers(cells)[0].values.tolist() == [7.0, 8.0, 25.0]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_takes_empty_and_blank_columns(name: str) -> None:
    operation = OPERATIONS[name]
    parameters = {
        "factor": 2, "divisor": 2, "decimals": 1, "pattern": "a", "replacement": "b", "input_format": "YYYY-MM-DD",
        "output_format": "YYYY", "mapping": {"a": None},
    }  # fmt: skip
    given_ones = {parameter.name: parameters[parameter.name] for parameter in operation.parameters}
    for kind in operation.types:
        for column in (words(), words(None, None)) if kind == "string" else (figures(), figures(None, None)):
            typed = NormalColumn(kind, column.values, column.text)
            result = transforms.apply_operation(name, typed, given_ones)
            assert result.failed is None or not result.failed.any()
            assert values(result.column) == [None] * len(column)
