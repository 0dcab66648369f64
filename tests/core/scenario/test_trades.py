"""Trades that cannot be made, each refused with its reason, and how what a trade says of a loan is read."""

from __future__ import annotations

from datetime import date
from math import inf, nan
from typing import Any

import pytest

from core.scenario.simulate import Simulator
from core.scenario.trades import TRADES_MAX, Trade, TradeError, loan_of
from tests.core.compliance.conftest import g1_columns, portfolio_of
from tests.rows import every

GOOD = Trade(trade_type="sell", par_value=1e6, borrower_name="Alpha")


def of(**fields: Any) -> Trade:
    return Trade(**{"trade_type": "sell", "par_value": 1e6, "borrower_name": "Alpha"} | fields)


REFUSED: list[tuple[Trade, str]] = [
    (of(par_value=None), "no par_value"),
    (of(par_value=0), "par_value must be above 0"),
    (of(par_value=-1.0), "par_value must be above 0"),
    (of(par_value=nan), "not nan"),
    (of(par_value=inf), "not inf"),
    (of(par_value=True), "not True"),
    (of(par_value=1e16), "at most 1e+15"),
    (of(par_value="1m"), "not '1m'"),
    (of(trade_type="swap"), "buy or sell"),
    (of(borrower_name=None), "nothing names its loan"),
    (of(borrower_name="  ", cusip="N/A"), "nothing names its loan"),
    (of(borrower_name="x" * 501), "longer than 500"),
    (of(borrower_name="\ud800"), "no valid text"),
    (of(borrower_name=7), "must be a text"),
    (of(price=nan), "price must be a finite number"),
    (of(price=-1), "price must be between 0 and 1000"),
    (of(price=1001), "price must be between 0 and 1000"),
    (of(spread=inf), "spread must be a finite number"),
    (of(rating_agency_a="BB+"), "rating_agency_a is no rating of its agency"),
    (of(rating_agency_b="Baa1"), "rating_agency_b is no rating of its agency"),
    (of(maturity_date="soon"), "maturity_date must be a day"),
    (of(loan_data={"recovery_rate": 101}), "recovery_rate must be between 0 and 100"),
    (of(loan_data={"floor": "low"}), "floor must be a finite number"),
    (of(loan_data={"is_defaulted": "perhaps"}), "is_defaulted must be true or false"),
    (of(loan_data={"is_defaulted": [0]}), "is_defaulted must be true or false"),
    (of(loan_data={"coupon_type": "strange"}), "coupon_type must be fixed or floating"),
    (of(loanx_id="LX1", loan_data={"loanx_id": "LX2"}), "loanx_id is 'LX1' and in loan_data 'LX2'"),
    (of(borrower_name="Nobody"), "sells Nobody, of which nothing is held"),
    (of(borrower_name=None, cusip="12345ABC9"), "sells CUSIP 12345ABC9, of which nothing is held"),
    (of(par_value=39e6 + 0.02), "sells 39,000,000.02 of Alpha, of which 39,000,000.00 is held"),
    (of(trade_type="buy", price=0), "at a price of 0"),
]


@every("refused, reason", REFUSED)
def test_a_trade_that_cannot_be_is_named_with_its_reason(refused: Trade, reason: str) -> None:
    simulator = Simulator(portfolio_of(g1_columns()), test_ids=["ccc_bucket_pct"])
    with pytest.raises(TradeError) as answer:
        simulator.simulate([GOOD, refused])
    assert answer.value.trade == 1
    assert reason in answer.value.reason
    assert str(answer.value) == f"trade 2: {answer.value.reason}"


def test_a_scenario_has_so_many_trades_at_most() -> None:
    with pytest.raises(TradeError, match="at most 1,000 trades"):
        Simulator(portfolio_of(g1_columns())).simulate([GOOD] * (TRADES_MAX + 1))


def test_what_a_trade_says_of_its_loan_is_read_as_a_file_is() -> None:
    loan = loan_of(
        Trade(
            trade_type="buy", cusip=" 12345abc9 ", borrower_name="Acme Corp.", industry="aerospace and defense",
            rating_agency_a="B2 *-", rating_agency_b="NR", maturity_date=date(2030, 1, 2), spread=375,
            loan_data={
                "loanx_id": "lx123456", "country": "United States", "lien_type": "2nd Lien", "cov_lite": "Yes",
                "is_dip": 0, "base_rate": "3M SOFR", "default_date": "2026-01-01", "isin": None, "coupon_type": "Fixed",
            },
        ),
        0,
    )  # fmt: skip
    assert loan.key == "ACME"
    assert loan.texts == {
        "cusip": "12345ABC9", "loanx_id": "LX123456", "borrower_name": "Acme Corp.", "base_rate": "SOFR-3M",
        "industry": "Aerospace & Defense", "country": "US", "rating_agency_a": "B2 *-", "rating_agency_b": "NR",
    }  # fmt: skip
    assert loan.numbers == {"maturity_date": 21916.0, "spread": 375.0, "default_date": 20454.0}
    assert loan.flags == {"cov_lite": True, "is_dip": False, "is_fixed": True}
    assert loan.ranks == {"rating_agency_a": 15, "rating_agency_b": 0}
    assert loan.lien == 2
