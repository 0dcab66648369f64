"""A portfolio by its columns.

What a reader gets of each, against what it was made of; and as frames.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from tests.rows import every

GIVEN: dict[str, Any] = {
    "par_value": [1.0, 2.5, 3.0],
    "borrower_name": ["Acme", None, "Ümlaut <b>"],
    "spread": [350.0, None, 475.0],
    "maturity_date": [date(2030, 1, 31), None, date(9999, 12, 31)],
    "rating_agency_a": ["B2", None, "Caa1"],
    "rating_agency_b": np.array([22, 0, 17]),
    "cov_lite": [True, False, True],
    "lien_type": [1, 0, 2],
    "recovery_rate": [45.0, None, 5.0],
    "cusip": ["037833100", None, None],
}
EXPECTED: dict[str, list[Any]] = {
    **{name: GIVEN[name] for name in ("par_value", "borrower_name", "spread", "maturity_date", "rating_agency_a")},
    **{name: GIVEN[name] for name in ("cov_lite", "recovery_rate", "cusip")},
    "rating_agency_b": ["D", None, "CCC+"],
    "rating_agency_a_rank": [15, None, 17],
    "rating_agency_b_rank": [22, None, 17],
    "lien_type": ["first_lien", None, "second_lien"],
    "defaulted": [True, False, False],
}


@pytest.fixture
def portfolio() -> Portfolio:
    return Portfolio.from_columns(GIVEN, deal=Deal(as_of=20_696.0, currency="EUR", principal_cash=12.5))


def test_frames_hold_what_was_given(portfolio: Portfolio) -> None:
    data_frame = pl.DataFrame(portfolio)
    assert {name: data_frame[name].to_list() for name in EXPECTED} == EXPECTED
    assert set(data_frame.columns) - set(EXPECTED) == {"obligor"}
    assert (data_frame["maturity_date"].dtype, data_frame["rating_agency_a_rank"].dtype) == (pl.Date, pl.UInt8)
    assert tuple(data_frame.columns) == portfolio.columns == (*portfolio,)
    deal = {"as_of": "2026-08-31", "currency": "EUR", "principal_cash": 12.5}
    assert portfolio.to_pandas().attrs["deal"] == deal
    assert portfolio.to_arrow().num_rows == len(portfolio) == 3


def test_columns_without_the_derived_ones_make_the_portfolio_again(portfolio: Portfolio) -> None:
    frame = portfolio.frame(derived=False)
    assert [*frame] == [name for name in portfolio.columns if name in GIVEN]
    for table in (frame, frame.to_polars(), frame.to_pandas(), frame.to_arrow()):
        again = Portfolio.from_columns(table, deal=portfolio.deal)
        assert pl.DataFrame(again).equals(pl.DataFrame(portfolio)), type(table)


@every("name", [*EXPECTED])
def test_a_column_is_an_array(name: str) -> None:
    column = Portfolio.from_columns(GIVEN)[name]
    values = [None if value != value or value is None else value for value in column.tolist()]
    assert values == EXPECTED[name]
    kind = {"par_value": "f", "maturity_date": "M", "cov_lite": "b", "cusip": "O", "rating_agency_a_rank": "f"}
    assert column.dtype.kind == kind.get(name, column.dtype.kind)


def test_names_of_columns(portfolio: Portfolio) -> None:
    assert ("par_value" in portfolio, "par" in portfolio, 3 in portfolio) == (True, False, False)
    with pytest.raises(KeyError, match=r"^there is no column 'par'; near: 'par_value'$"):
        portfolio["par"]
    with pytest.raises(KeyError, match=r"^there is no column 'spred'; near: 'spread'"):
        portfolio["spred"]
    with pytest.raises(KeyError, match=r"^there is no column 0; there are: 'borrower_name', "):
        portfolio[0]  # type: ignore[index]


def test_lots_have_columns() -> None:
    twice = Portfolio.from_columns(
        {
            "par_value": [1.0, 2.0],
            "borrower_name": ["A", "A"],
            "cusip": ["037833100"] * 2,
            "rating_agency_a": ["B1", "B2"],
        }
    )
    assert (len(twice), twice["lots"].tolist(), twice["conflicting"].tolist()) == (1, [2], [True])
    assert twice.to_polars()["lots"].to_list() == [2]


def test_in_a_notebook(portfolio: Portfolio) -> None:
    html = portfolio._repr_html_()
    assert "<b>" not in html
    assert "Ümlaut &lt;b&gt;" in html
    assert ">2030-01-31<" in html
    assert repr(portfolio) == "Portfolio(3 loans, par 6.50 EUR, as of 2026-08-31)"
    assert repr(portfolio.deal) == "Deal(principal_cash=12.5, as_of=2026-08-31, currency='EUR')"


def test_notes_as_a_frame() -> None:
    tranches = Portfolio.from_columns(
        {"par_value": [1.0], "borrower_name": ["A"]},
        tranches={"classes": ["A", "Sub"], "current_balance": [10.0, 5.0], "coupon": [None, 7.5], "rank": [1, 2]},
    ).tranches
    assert tranches is not None
    frame = tranches.to_polars().select("class", "current_balance", "coupon", "rank")
    assert frame.rows() == [
        ("A", 10.0, None, 1),
        ("Sub", 5.0, 7.5, 2),
    ]
    assert repr(tranches) == "Tranches(2 classes: 'A', 'Sub')"
