"""Figures that cannot be measured, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compliance.run import run_suite
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import g1_columns, portfolio_of, reasons, tranches_of

RATING = "rating or rating_agency_a or rating_agency_b or rating_agency_c"


def test_missing_columns_are_named() -> None:
    """With par alone every test but those of par says what it misses."""
    ran = run_suite(portfolio_of({"par_value": [1.0]}), "enhanced")
    assert list(ran) == []
    missing = {
        "single_obligor_concentration": "borrower_name or issuer_id",
        "industry_concentration": "industry",
        "non_senior_secured_concentration": "lien_type",
        "cov_lite_concentration": "cov_lite",
        "ccc_bucket_pct": RATING,
        "weighted_average_recovery_rate": "recovery_rate or lien_type",
        "wal": "maturity_date or average_life",
        "was": "spread or all_in_rate",
        "diversity_score": "borrower_name or issuer_id, industry",
        "fixed_rate_concentration": "coupon_type",
        "small_facility_concentration": "facility_size, country",
        "delinquency_pct": "days_past_due or is_defaulted",
        "quoted_depth_pct": "quote_depth",
    }
    for test_id, columns in missing.items():
        assert reasons(ran)[test_id] == f"Skipped: required column(s) {columns} not found in sheet 'Holdings'"
    assert reasons(ran)["oc_ratio"] == "no tranche data: add a Tranches or Liabilities sheet"
    assert ran.summary.skipped == 25


def test_empty_columns_have_no_values() -> None:
    """A column that is blank on every performing row skips its test.

    A blank flag means no.
    """
    blank: list[Any] = [None, None, 5.0]
    columns: dict[str, list[Any]] = {
        "par_value": [1.0, 2.0, 3.0],
        "is_defaulted": [0, 0, 1],
        "obligor": [None, None, "Acme"],
        "industry": [None, None, "Steel"],
        "country": [None, None, "US"],
        "rating_agency_a": [0, 0, 5],
        "cov_lite": [0, 0, 0],
        **dict.fromkeys(
            ("recovery_rate", "maturity_date", "spread", "price", "facility_size", "quote_depth", "days_past_due"),
            blank,
        ),
    }
    portfolio = portfolio_of(columns, tranches=tranches_of((("A", 1.0),), oc={"A": 101.0}), deal=Deal(as_of=0.0))
    ran = run_suite(portfolio, "enhanced")
    assert {result.test_id for result in ran} == {
        "cov_lite_concentration", "oc_ratio", "oc_ratio_senior", "delinquency_pct", "interest_diversion_ratio",
    }  # fmt: skip
    for test_id, column in {
        "single_obligor_concentration": "borrower_name or issuer_id",
        "top_5_concentration": "borrower_name or issuer_id",
        "industry_concentration": "industry",
        "ccc_bucket_pct": "rating",
        "average_rating_factor": "rating",
        "weighted_average_recovery_rate": "recovery_rate",
        "ic_ratio": "all_in_rate or spread",
        "wal": "maturity_date or average_life",
        "was": "spread or all_in_rate",
        "diversity_score": "borrower_name or issuer_id",
        "foreign_country_concentration": "country",
        "price_below_80_pct": "price",
        "small_facility_concentration": "facility_size",
        "quoted_depth_pct": "quote_depth",
    }.items():
        assert reasons(ran)[test_id] == f"Skipped: required column(s) {column} has no values", test_id


def test_spreads_without_a_base_rate_earn_nothing_that_is_known() -> None:
    columns = {"par_value": [1.0], "spread": [400.0]}
    ran = run_suite(portfolio_of(columns, tranches=tranches_of((("A", 1.0),))), "enhanced", test_ids=["ic_ratio"])
    assert "no base rate is known" in reasons(ran)["ic_ratio"]


def test_days_past_due_without_values() -> None:
    """Where no flag tells the defaulted loans, blank days past due tell nothing."""
    ran = run_suite(
        portfolio_of({"par_value": [1.0], "days_past_due": [None]}), "enhanced", test_ids=["delinquency_pct"]
    )
    assert reasons(ran) == {"delinquency_pct": "Skipped: required column(s) days_past_due has no values"}


@pytest.mark.parametrize("cash", [-100.0, -250.0])
def test_nothing_to_divide_by(cash: float) -> None:
    """Principal cash may eat the collateral up.

    Shares of it are then skipped, averages over par are not.
    """
    columns = {"par_value": [100.0], "obligor": ["Acme"], "rating_agency_a": [15]}
    ran = run_suite(portfolio_of(columns, deal=Deal(principal_cash=cash)))
    assert [result.test_id for result in ran] == ["average_rating_factor"]
    for test_id in ("single_obligor_concentration", "ccc_bucket_pct"):
        assert reasons(ran)[test_id] == "collateral principal amount is zero or negative"


def test_long_and_short_cancel() -> None:
    """Performing par of exactly nothing beside cash.

    Shares are of the cash, averages have nothing to stand on.
    """
    columns = {
        "par_value": [5.0, -5.0],
        "obligor": ["Acme", "Beta"],
        "rating_agency_a": [15, 17],
        "price": [90.0, 90.0],
    }
    ran = run_suite(portfolio_of(columns, deal=Deal(principal_cash=100.0)), "enhanced")
    assert {result.test_id: result.current_value for result in ran} == {
        "single_obligor_concentration": 5.0, "top_5_concentration": 5.0, "ccc_bucket_pct": 0.0,
    }  # fmt: skip
    assert reasons(ran)["price_below_80_pct"] == "collateral principal amount is zero or negative"


def test_everything_defaulted() -> None:
    """No performing par: the averages are skipped, and all of it counts as defaulted."""
    columns = {
        "par_value": [100.0],
        "rating_agency_a": [15],
        "is_defaulted": [1],
        "days_past_due": [0],
        "price": [50.0],
    }
    ran = run_suite(portfolio_of(columns), "enhanced")
    assert [(result.test_id, result.current_value) for result in ran] == [("delinquency_pct", 100.0)]
    assert reasons(ran)["average_rating_factor"] == "collateral principal amount is zero or negative"
    assert reasons(ran)["weighted_average_price"] == "collateral principal amount is zero or negative"


def test_no_loans_at_all() -> None:
    """A sheet without a loan, and one without a par, skip everything."""
    empty = portfolio_of({**{name: [] for name in g1_columns()}}, tranches=tranches_of((("A", 1.0),)))
    ran = run_suite(empty, "enhanced")
    assert ran.summary.skipped == 25
    assert reasons(ran)["average_rating_factor"] == "no loans in sheet 'Holdings'"
    ran = run_suite(portfolio_of({"par_value": [None, inf], "rating_agency_a": [15, 15]}), "enhanced")
    assert reasons(ran)["average_rating_factor"] == "Skipped: required column(s) par_value has no values"
    ran = run_suite(replace(empty, numbers={}, names={}, flags={}, ranks={}, tranches=None), "enhanced")
    assert ran.summary.skipped == 25


def test_a_life_from_too_few_loans_is_skipped() -> None:
    """Below 80 % of par, exactly 80 runs; without a date to count from there is none."""
    columns = {"par_value": [79.0, 21.0], "maturity_date": [4000.0, None]}
    ran = run_suite(portfolio_of(columns, deal=Deal(as_of=3000.0)), test_ids=["wal"])
    assert reasons(ran) == {"wal": "maturity_date or average_life covers 79.00% of par, less than 80%"}
    columns["par_value"] = [80.0, 20.0]
    assert run_suite(portfolio_of(columns, deal=Deal(as_of=3000.0)), test_ids=["wal"])[0].current_value == 2.737851
    ran = run_suite(portfolio_of(columns), test_ids=["wal"])
    assert reasons(ran) == {"wal": "no as-of date: add one to the Deal sheet"}


def test_no_floating_par() -> None:
    """A pool of fixed-rate loans has no spread."""
    columns = {"par_value": [1.0], "spread": [None], "all_in_rate": [8.0], "is_fixed": [1]}
    assert reasons(run_suite(portfolio_of(columns), test_ids=["was"])) == {"was": "no floating-rate par"}


def test_figures_too_large() -> None:
    """A sum that overflows is no figure, and no crash."""
    columns = {"par_value": [1.5e308, 1.5e308], "rating_agency_a": [15, 15]}
    ran = run_suite(portfolio_of(columns))
    assert reasons(ran)["average_rating_factor"] == "the figures are too large to compute with"
    columns["par_value"] = [1e306, 1e306]
    ran = run_suite(portfolio_of(columns))
    assert reasons(ran)["average_rating_factor"] == "the figures are too large to compute with"


@given(st.lists(st.floats(width=64), min_size=1, max_size=6), st.floats(), st.floats())
def test_no_number_is_too_wild(par: list[float], cash: float, rate: float) -> None:
    """Whatever stands in the sheet, a run ends with finite figures or a reason, and can be written as JSON."""
    columns = g1_columns()
    for at, value in enumerate(par):
        for field in ("par_value", "price", "spread", "recovery_rate", "purchase_price"):
            columns[field][at] = value
    notes = tranches_of((("A", 1e6), ("B", cash)), coupon=[rate, 5.0], oc={"A": 110.0, "B": rate})
    portfolio = portfolio_of(columns, tranches=notes, deal=Deal(principal_cash=cash, base_rate=rate, as_of=rate))
    ran = run_suite(portfolio, "enhanced")
    assert ran.summary.total == 25
    for result in ran:
        assert np.isfinite([result.current_value, result.threshold_value, result.cushion]).all()
    json.loads(msgspec.json.encode(list(ran)))
