"""Portfolios from plain columns.

The same answer as from a sheet, and clear refusals.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.portfolio import Portfolio
from core.portfolio.assemble import columns as columns_module
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Deal

PLAIN: dict[str, Any] = {"par_value": [1.0, 2.0, 3.0], "borrower_name": ["Acme Corp.", None, "ACME"]}


def test_every_way_to_give_a_column() -> None:
    names = (np.array([0, -1, 1]), ["Acme Corp.", "ACME"])
    portfolio = Portfolio.from_columns(
        {
            "par_value": np.array([1, 2, 3]),
            "borrower_name": names,
            "spread": [350, None, float("nan")],
            "maturity_date": np.array(["2030-01-31", "NaT", "2031-01-31"], "datetime64[D]"),
            "default_date": [date(2026, 1, 1), "2026-01-02", None],
            "rating_agency_a": ["B2 *-", None, "NR"],
            "rating_agency_b": np.array([22, 0, 17]),
            "lien_type": [Lien.SECOND_LIEN, Lien.BOND, Lien.FIRST_LIEN],
            "cov_lite": np.array([True, False, True]),
            "is_dip": [1, None, 0],
            "industry": ["Beverage, Food, & Tobacco", "beverage food and tobacco", None],
            "country": ["USA", "U.S.", "Canada"],
            "base_rate": [4.3, 4.3, None],
            "cusip": ["037833100 ", None, None],
        }
    )
    assert portfolio.row_count == 3
    assert portfolio.names["obligor"].codes.tolist() == [0, -1, 0]
    assert np.array_equal(portfolio.numbers["spread"], [350, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(portfolio.numbers["maturity_date"], [21945, np.nan, 22310], equal_nan=True)
    assert np.array_equal(portfolio.numbers["default_date"], [20454, 20455, np.nan], equal_nan=True)
    assert np.array_equal(portfolio.numbers["base_rate_level"], [4.3, 4.3, np.nan], equal_nan=True)
    assert portfolio.ranks["rating_agency_a"].tolist() == [15, 0, 0]
    assert portfolio.ranks["rating_agency_b"].tolist() == [22, 0, 17]
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == [2, 4, 1]
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 1]
    assert portfolio.flags["is_dip"].tolist() == [1, 0, 0]
    assert portfolio.names["industry"].values == ("Beverage, Food & Tobacco",)
    assert portfolio.names["country"].values == ("CA", "US")
    assert portfolio.names["cusip"].values[0] == "037833100"


def test_units_are_taken_as_given() -> None:
    portfolio = Portfolio.from_columns(
        {**PLAIN, "spread": [0.1, 0.2, 0.2], "price": [1.0, 0.0, 2.0], "floor": [0.01, 0.0, 0.0]}
    )
    assert portfolio.numbers["spread"].tolist() == [0.1, 0.2, 0.2]
    assert np.array_equal(portfolio.numbers["price"], [1, np.nan, 2], equal_nan=True)
    assert portfolio.numbers["floor"].tolist() == [0.01, 0, 0]


def test_lots_are_added_up_and_blank_par_left_out() -> None:
    portfolio = Portfolio.from_columns(
        {"par_value": [1.0, np.nan, 3.0], "borrower_name": ["A", "B", "A"], "loanx_id": ["LX100001"] * 3}
    )
    assert portfolio.numbers["par_value"].tolist() == [4]
    assert portfolio.notes.ignored_blank_par == 1


def test_the_callers_arrays_are_not_written() -> None:
    par = np.array([1.0, 2.0])
    par.setflags(write=False)
    portfolio = Portfolio.from_columns({"par_value": par, "borrower_name": ["A", "A"], "isin": ["US0378331005"] * 2})
    assert portfolio.numbers["par_value"].tolist() == [3]
    assert par.tolist() == [1, 2]


def test_notes_and_deal() -> None:
    portfolio = Portfolio.from_columns(
        PLAIN,
        tranches={
            "classes": ["B", "A", "Sub"],
            "current_balance": [5, 10, 3],
            "oc_trigger": [1.216, None, None],
            "rank": [2, 1, 3],
        },
        deal={"principal_cash": 5, "as_of": date(2026, 3, 31), "base_rate": None},
    )
    assert portfolio.tranches is not None
    assert portfolio.tranches.classes == ("A", "B", "Sub")
    assert portfolio.tranches.oc_trigger[1] == 121.6
    assert portfolio.tranches.is_income.tolist() == [False, False, True]
    assert portfolio.deal == Deal(principal_cash=5.0, as_of=20543.0)
    again = Portfolio.from_columns(PLAIN, tranches=portfolio.tranches, deal=portfolio.deal)
    assert again.tranches is portfolio.tranches


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"borrower_name": ["A"]}, r"required column\(s\) par_value missing"),
        ({"par_value": [1.0]}, r"required column\(s\) borrower_name missing"),
        ({}, r"required column\(s\) borrower_name, par_value missing"),
        ({**PLAIN, "spraed": [1, 2, 3]}, r"unknown column\(s\) spraed"),
        ({**PLAIN, "price": [1.0]}, "column price has 1 values, par_value has 3"),
        ({**PLAIN, "price": ["a", "b", "c"]}, "column price holds text, not numbers"),
        ({**PLAIN, "price": [1.0, float("inf"), 2.0]}, "column price holds an infinite value"),
        ({**PLAIN, "price": np.zeros((3, 2))}, "column price has 2 dimensions"),
        ({**PLAIN, "price": [object()] * 3}, "column price does not hold numbers"),
        ({**PLAIN, "industry": [1, 2, 3]}, "column industry holds a int, not text"),
        ({**PLAIN, "industry": (np.array([0, 1, 2]), ["x", "y"])}, "column industry has a code outside -1 to 1"),
        ({**PLAIN, "industry": (np.array([0, -2, 1]), ["x", "y"])}, "column industry has a code outside -1 to 1"),
        ({**PLAIN, "industry": ["\ud800", "x", "y"]}, "column industry holds text that is not valid Unicode"),
        ({**PLAIN, "industry": ["x" * 40_000, "x", "y"]}, "column industry holds a text longer than 32767 bytes"),
        ({**PLAIN, "maturity_date": ["soon", None, None]}, "column maturity_date holds 'soon', which is no date"),
        ({**PLAIN, "maturity_date": [[], None, None]}, "column maturity_date holds a list, which is no date"),
        ({**PLAIN, "cov_lite": [0, 1, 2]}, "column cov_lite holds a flag that is neither 0 nor 1"),
        ({**PLAIN, "cov_lite": ["Y", "N", "Y"]}, "column cov_lite does not hold flags"),
        ({**PLAIN, "rating": np.array([1, 2, 23])}, "column rating has a rank outside 0 to 22"),
        ({**PLAIN, "lien_type": np.array([1, 2, 9])}, "column lien_type has a lien outside 0 to 5"),
    ],
)
def test_refusals(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(MappingError, match=message):
        Portfolio.from_columns(columns)


@pytest.mark.parametrize(
    ("tranches", "deal", "message"),
    [
        ({"current_balance": [1]}, {}, "tranches: classes missing"),
        ({"classes": ["A"], "x": [1]}, {}, r"tranches: unknown column\(s\) x"),
        (
            {"classes": ["A"], "current_balance": [1, 2]},
            {},
            "tranches: column current_balance has 2 values for 1 class",
        ),
        ({"classes": ["A"]}, {}, "tranches: current_balance missing"),
        (None, {"cash": 1}, r"deal: unknown field\(s\) cash"),
        (None, {"principal_cash": "5"}, "column deal.principal_cash holds text"),
    ],
)
def test_refusals_of_notes_and_deal(tranches: Any, deal: Any, message: str) -> None:
    with pytest.raises(MappingError, match=message):
        Portfolio.from_columns(PLAIN, tranches=tranches, deal=deal)


def test_too_many_loans_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "ROWS_MAX", 2)
    with pytest.raises(MappingError, match="3 loans are more than 2"):
        Portfolio.from_columns(PLAIN)


def test_no_loans_at_all() -> None:
    portfolio = Portfolio.from_columns(
        {"par_value": [], "borrower_name": [], "rating": [], "cov_lite": [], "lien_type": [], "maturity_date": []}
    )
    assert portfolio.row_count == 0


def test_a_sheet_and_its_columns_agree(map_rows: Callable[..., Portfolio]) -> None:
    header = ["LoanX ID", "Issuer", "Par", "Price", "Spread", "Rating", "Industry"]
    rows = [
        ["LX100001", "A Inc", 5.0, 99.0, 350.0, "B2", "Retail"],
        ["LX100002", "A", 6.0, 98.0, 400.0, "B3", "RETAIL"],
    ]
    sheet = map_rows([header, *rows])
    names = ["loanx_id", "borrower_name", "par_value", "price", "spread", "rating", "industry"]
    plain = Portfolio.from_columns({name: [row[at] for row in rows] for at, name in enumerate(names)})
    assert sheet.numbers.keys() == plain.numbers.keys()
    assert all(np.array_equal(sheet.numbers[name], plain.numbers[name]) for name in sheet.numbers)
    assert sheet.ranks["rating"].tolist() == plain.ranks["rating"].tolist()
    assert all(list(sheet.names[name].values) == list(plain.names[name].values) for name in plain.names)


@pytest.mark.parametrize(
    ("deal_fields", "day", "source"), [({}, 20_544.0, "column"), ({"as_of": 20_000.0}, 20_000.0, None)]
)
def test_a_column_of_days_says_the_deal_s_where_nothing_else_does(
    deal_fields: dict[str, Any], day: float, source: str | None
) -> None:
    columns = PLAIN | {"as_of": ["2026-03-31", None, "2026-04-01"]}
    deal = Portfolio.from_columns(columns, deal=deal_fields).deal
    assert (deal.as_of, deal.as_of_source) == (day, source)
