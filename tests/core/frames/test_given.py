"""Whatever frame a user has comes to the same columns, and what no cell can hold is refused with the column's name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from core.formula.evaluate import compile, evaluate  # noqa: A004
from core.formula.language.errors import FormulaError
from core.frames.given import cell_value, column_of, columns_of, listed
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.recalc.book import Book
from core.recalc.errors import BookError
from core.reconciliation.run import reconcile
from tests.rows import every

BASE: dict[str, list[Any]] = {
    "borrower_name": ["Acme", "Beta", None],
    "cusip": ["12345ABC9", "98765XYZ1", None],
    "par_value": [1e6, 2e6, 3e6],
    "spread": [350.0, None, 400.0],
    "maturity_date": [dt.date(2028, 1, 2), None, dt.date(2030, 5, 6)],
}


def _pandas() -> Any:
    frame = pd.DataFrame(BASE)
    return frame.assign(maturity_date=pd.to_datetime(frame["maturity_date"]))


def _objects() -> Any:
    frame = pd.DataFrame(BASE, dtype=object)
    frame.loc[1, "spread"] = pd.NA
    frame.loc[1, "maturity_date"] = pd.NaT
    frame.loc[2, "borrower_name"] = float("nan")
    frame["par_value"] = frame["par_value"].map(Decimal)
    return frame


class Capsule:
    def __arrow_c_stream__(self, asked: object = None) -> object:
        return pl.DataFrame(BASE).__arrow_c_stream__(asked)


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": _pandas,
    "objects": _objects,
    "pandas' own nulls": lambda: _pandas().convert_dtypes(),
    "pandas on Arrow": lambda: _pandas().convert_dtypes(dtype_backend="pyarrow"),
    "zone": lambda: _pandas().assign(maturity_date=_pandas()["maturity_date"].dt.tz_localize("Europe/Berlin")),
    "categories": lambda: _pandas().assign(borrower_name=_pandas()["borrower_name"].astype("category")),
    "polars": lambda: pl.DataFrame(BASE),
    "lazy": lambda: pl.LazyFrame(BASE),
    "polars categories": lambda: pl.DataFrame(BASE).with_columns(pl.col("cusip").cast(pl.Categorical)),
    "decimal": lambda: pl.DataFrame(BASE).with_columns(pl.col("par_value").cast(pl.Decimal(12, 2))),
    "arrow": lambda: pa.table(BASE),
    "batch": lambda: pa.table(BASE).to_batches()[0],
    "duckdb": lambda: duckdb.from_arrow(pa.table(BASE)),
    "capsule": Capsule,
    "narwhals": lambda: nw.from_native(pl.DataFrame(BASE)),
}


@every("name", FRAMES)
def test_any_frame_gives_the_same_columns(name: str) -> None:
    columns = columns_of(FRAMES[name]())
    assert list(columns) == list(BASE)
    assert columns["par_value"].tolist() == [1e6, 2e6, 3e6]
    np.testing.assert_array_equal(columns["spread"].astype(float), [350.0, np.nan, 400.0])
    assert columns["borrower_name"].tolist() == BASE["borrower_name"]
    assert columns["maturity_date"].astype("datetime64[D]").tolist() == BASE["maturity_date"]


@every("name", ["objects", "duckdb", "lazy"])
def test_a_frame_goes_wherever_a_table_does(name: str) -> None:
    plain = Portfolio.from_columns(BASE)
    frame = FRAMES[name]()
    for result in (Portfolio.from_columns(frame), Portfolio.from_workbook(frame)):
        np.testing.assert_array_equal(result.numbers["maturity_date"], plain.numbers["maturity_date"])
        assert list(result.names["borrower_name"].values) == ["Acme", "Beta"]
    assert reconcile(frame, BASE).summary.matched == 2
    assert reconcile(frame, BASE).summary.issues_found == reconcile(plain, plain).summary.issues_found
    assert compile("=par_value*2").map(frame).tolist() == [2e6, 4e6, 6e6]
    book = Book.from_columns({"Loans": frame})
    assert (book.value("Loans", "A1"), book.value("Loans", "C3")) == ("borrower_name", 2e6)
    assert book.value("Loans", "D3") is None


FAR = np.array(["300000-01-01", "2024-01-02"], "datetime64[s]")
"""Microseconds would wrap the first: -9.04e18 where no one looks."""


class Junk:
    def __arrow_c_stream__(self, asked: object = None) -> object:
        return 5


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: pl.DataFrame({"x": [[1]]}), "column 'x': .* not list"),
    (lambda: pa.table({"x": [b"a"]}), "column 'x': .* not bytes"),
    (lambda: pa.table({"x": [{"a": 1}]}), "column 'x': .* not dict"),
    (lambda: pd.DataFrame({"x": pd.to_timedelta([1])}), "column 'x'"),
    (lambda: duckdb.sql("select interval 1 day as x"), "column 'x' holds timedelta"),
    (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns of the frame are called 'a'"),
    (lambda: pd.DataFrame({"x": FAR}), "column 'x': a moment is in a year from 1 to 9999"),
    (lambda: Junk(), "the Arrow stream of a Junk cannot be read"),
]


@every("frame,why", REFUSED)
def test_what_no_cell_holds_is_refused_by_its_column(frame: Callable[[], Any], why: str) -> None:
    with pytest.raises((TypeError, ValueError), match=why):
        columns_of(frame())


VALUES: list[tuple[Any, Any]] = [
    (np.float32(1.5), 1.5),
    (np.int64(3), 3.0),
    (np.bool_(True), True),
    (np.str_("x"), "x"),
    (np.longdouble(2), 2.0),
    (Decimal("0.1"), 0.1),
    (dt.date(2024, 1, 2), "2024-01-02"),
    (dt.datetime(2024, 1, 2, 12), "2024-01-02T12:00:00"),  # noqa: DTZ001
    (pd.Timestamp("2024-01-02 06:00", tz="Europe/Berlin"), "2024-01-02T06:00:00"),
    (np.datetime64("2024-01-02", "ns"), "2024-01-02"),
    *((blank, None) for blank in (None, float("nan"), np.nan, pd.NaT, pd.NA, Decimal("NaN"), np.datetime64("NaT"))),
    (np.ma.masked, None),
]


@every("source,shown", VALUES)
def test_a_context_takes_values_of_numpy_pandas_and_the_calendar(source: Any, shown: Any) -> None:
    for key in ("A1", "x"):
        result = evaluate(f"={key}", {key: source})
        assert (result.value, result.type == "blank") == (shown, shown is None)


@every(
    "formula,context,value",
    [
        ("=SUM(A1:A3)", {"A1:A3": np.arange(3)}, 3.0),
        ("=SUM(A1:B2)", {"A1:B2": np.ones((2, 2))}, 4.0),
        ("=COUNT(x)", {"x": np.array([1, np.nan, 3])}, 2.0),
        ("=SUM(x)", {"x": pd.Series([1, 2, pd.NA])}, 3.0),
        ("=SUM(x)", {"x": pl.Series([1, 2, None])}, 3.0),
        ("=COUNTA(x)", {"x": np.ma.masked_array([1.0, 2.0], [True, False])}, 1.0),
        ("=SUM(x)", {"x": pd.DataFrame({"a": [1, 2], "b": [3, 4]})}, 10.0),
        ("=x", {"x": np.array(5)}, 5.0),
    ],
)
def test_a_context_takes_arrays(formula: str, context: dict[str, Any], value: float) -> None:
    assert evaluate(formula, context).value == value


def test_values_and_columns_by_themselves() -> None:
    assert listed(np.array(["2024-01-02"], "datetime64[ns]")) == [dt.datetime(2024, 1, 2)]  # noqa: DTZ001
    assert column_of("x", pd.Series([1, pd.NA], dtype="Int64")).tolist()[0] == 1.0
    assert compile('=A&"x"').map({"A": np.ma.masked_array([1.0, 2.0], [True, False])}).tolist() == ["x", "2x"]
    with pytest.raises(TypeError, match="not object"):
        cell_value(object())
    assert column_of("x", pd.Categorical(["a", None])).tolist() == ["a", None]
    assert column_of("x", pd.array([1, None], dtype="Int64")).tolist()[0] == 1.0
    with pytest.raises(TypeError, match="column 'x' is an array, a list or a Series of values, not int"):
        column_of("x", 5)


def test_a_moment_that_microseconds_would_wrap_is_refused_by_all_that_take_one() -> None:
    """numpy casts it without a word, and a figure would come of it."""
    book = Book.from_columns({"S": {"A": [1.0, 2.0]}})
    takers: list[Callable[[], Any]] = [
        lambda: cell_value(FAR[0]),
        lambda: listed(FAR),
        lambda: evaluate("=SUM(x)", {"x": FAR}),
        lambda: evaluate("=A1", {"A1": FAR[0]}),
        lambda: compile("=A+0").map({"A": FAR}),
        lambda: book.set("S", "A1", FAR[0]),
        lambda: Portfolio.from_columns({**BASE, "maturity_date": np.append(FAR, FAR[1])}),
    ]
    for take in takers:
        with pytest.raises((ValueError, FormulaError, BookError), match="a year from 1 to 9999"):
            take()


def test_texts_of_numpy_are_texts() -> None:
    value = np.array(["x", "y"])
    assert type(evaluate("=A1", {"A1": value[0]}).value) is str
    book = Book.from_columns({"S": {"A": [1.0, *value]}})
    book.set("S", "B1", value[1])
    assert [book.value("S", ref) for ref in ("A2", "A3", "B1")] == ["x", "y", "y"]


def test_blanks_of_any_make_are_blank_in_a_book() -> None:
    book = Book.from_columns({"S": {"A": [pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan"), float("nan"), "x"]}})
    assert [book.value("S", f"A{row}") for row in range(1, 7)] == [None] * 5 + ["x"]


def test_a_deal_takes_days_of_the_calendar() -> None:
    deal = Deal(as_of=dt.date(2024, 1, 2))  # type: ignore[arg-type]
    assert repr(deal) == "Deal(as_of=2024-01-02)"
    assert Portfolio.from_columns(BASE, deal=deal).deal.as_of == 19_724
