"""Thresholds, status and cushion at their boundaries, what is skipped and why, and the words of a result."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from math import inf, nan
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compliance.judging import cushion_of, status_of
from core.compliance.limits import InvalidThreshold, ResolvedThreshold, UnknownTest, check_threshold
from core.compliance.result import Direction, Results, TestResult, Threshold
from core.compliance.run import UnknownSuite, run_suite
from core.compliance.suites import CATALOGUE
from core.definition import READY, UnknownDefinition, parse
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import UnknownMapping
from core.portfolio.model.notes import DataWarning, Notes
from core.portfolio.model.portfolio import Deal
from core.scenario.simulate import Simulator
from tests.core.compliance.conftest import A, g1_columns, portfolio_of, tranches_of

Build = Callable[..., Portfolio]

RATING = "rating or rating_agency_a or rating_agency_b or rating_agency_c"


def reasons(results: Results) -> dict[str, str]:
    return {skip.test_id: skip.reason for skip in results.skipped}


def largest(par: float, **options: Any) -> Any:
    """The largest-obligor result where one obligor has `par` of 100."""
    portfolio = portfolio_of({"par_value": [par], "obligor": ["Acme"]}, deal=Deal(principal_cash=100.0 - par))
    return run_suite(portfolio, test_ids=["single_obligor_concentration"], **options)[0]


BOUNDARIES: list[tuple[Direction, float, float, float | None, float, float | None, str]] = [
    # direction, value, limit, warning, cushion, cushion_pct, status
    ("max", 7.5, 7.5, 6.75, 0.0, 0.0, "warning"),
    ("max", 7.500001, 7.5, 6.75, -0.000001, -0.000013, "fail"),
    ("max", 6.75, 7.5, 6.75, 0.75, 10.0, "warning"),
    ("max", 6.7499, 7.5, 6.75, 0.7501, 10.001333, "pass"),
    ("min", 121.5, 121.5, 122.5, 0.0, 0.0, "warning"),
    ("min", 121.49, 121.5, 122.5, -0.01, -0.00823, "fail"),
    ("min", 122.5, 121.5, 122.5, 1.0, 0.823045, "warning"),
    ("min", 122.51, 121.5, 122.5, 1.01, 0.831276, "pass"),
    ("exact", 100.0, 100.0, None, 0.0, 0.0, "pass"),
    ("exact", 99.0, 100.0, None, -1.0, -1.0, "fail"),
    ("max", 0.0, 0.0, None, 0.0, None, "pass"),
    ("max", 0.1, 0.0, None, -0.1, None, "fail"),
]


@pytest.mark.parametrize(("direction", "value", "limit", "warning", "cushion", "cushion_pct", "status"), BOUNDARIES)
def test_g8_status_boundaries(
    direction: Direction, value: float, limit: float, warning: float | None, cushion: float, cushion_pct: float | None,
    status: str,
) -> None:  # fmt: skip
    """A figure on its limit passes, one beyond it by more than the tolerance fails, and the band warns."""
    threshold = Threshold(
        test_id="single_obligor_concentration",
        threshold_value=limit,
        threshold_type=direction,
        warning_threshold=warning,
    )
    result = largest(value, workbook_thresholds={threshold.test_id: threshold}) if value else None
    held_to = ResolvedThreshold(limit, direction, warning, "workbook")
    assert status_of(value, cushion_of(value, held_to), held_to) == status
    if result is not None:
        assert (result.status, result.cushion, result.cushion_pct) == (status, cushion, cushion_pct)
        assert str(result.cushion) != "-0.0"
        assert (result.threshold_value, result.threshold_type) == (limit, direction)


def test_a_rounding_error_is_no_breach() -> None:
    """Within a billionth of the limit a figure stands on it."""
    limit = ResolvedThreshold(7.5, "max", None, "suite")
    assert status_of(7.5 + 5e-10, -5e-10, limit) == "pass"
    assert status_of(7.5 + 5e-9, -5e-9, limit) == "fail"


# Thresholds


def test_who_sets_the_threshold(g1: Build) -> None:
    """Workbook before the sheet's trigger, which is the contract's figure, before tenant before the default."""
    test_ids = ["oc_ratio"]

    def threshold(value: float, **more: Any) -> dict[str, Threshold]:
        return {"oc_ratio": Threshold(test_id="oc_ratio", threshold_value=value, **more)}

    def held_to(portfolio: Portfolio, **layers: Any) -> tuple[float, Any]:
        result = run_suite(portfolio, test_ids=test_ids, **layers)[0]
        assert result.details is not None
        return result.threshold_value, result.details.breakdown["threshold_source"]

    assert held_to(g1(), workbook_thresholds=threshold(101.0), tenant_thresholds=threshold(102.0)) == (
        101.0,
        "workbook",
    )
    assert held_to(g1(), tenant_thresholds=threshold(102.0)) == (104.2, "sheet")
    off = run_suite(g1(), test_ids=test_ids, tenant_thresholds=threshold(102.0, enabled=False))
    assert [skip.reason for skip in off.skipped] == ["disabled by the tenant's threshold"]
    notes = tranches_of((("A", 250e6), ("B", 115e6)), oc={"B": 103.0})
    assert held_to(replace(g1(), tranches=notes)) == (103.0, "sheet")
    assert held_to(replace(g1(), tranches=tranches_of((("A", 250e6), ("B", 115e6))))) == (104.2, "suite")
    assert held_to(
        g1(), workbook_thresholds=threshold(101.0, enabled=True), tenant_thresholds=threshold(9.0, enabled=False)
    ) == (101.0, "workbook")


def test_the_sheets_triggers_reach_their_tests(g1: Build) -> None:
    """Junior and senior, OC and IC; interest diversion stands half a point above the junior OC trigger."""
    ran = {result.test_id: result.threshold_value for result in run_suite(g1(), "enhanced")}
    assert ran["oc_ratio"] == 104.2
    assert ran["oc_ratio_senior"] == 121.5
    assert ran["ic_ratio"] == 110.0
    assert ran["ic_ratio_senior"] == 120.0
    assert ran["interest_diversion_ratio"] == pytest.approx(104.7, abs=1e-9)


def test_a_disabled_test_is_skipped() -> None:
    """It is counted and says who disabled it."""
    off = Threshold(test_id="wal", threshold_value=6.0, enabled=False)
    portfolio = portfolio_of({"par_value": [1.0], "average_life": [3.0]})
    ran = run_suite(portfolio, test_ids=["wal"], tenant_thresholds={"wal": off})
    assert reasons(ran) == {"wal": "disabled by the tenant's threshold"}
    assert ran.summary.total == ran.summary.skipped == 1


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({}, 4.5),  # 2.25 / 2.5 of 5
        ({"warning_threshold": 4.0}, 4.0),
        ({"threshold_type": "min"}, None),
        ({"threshold_type": "exact", "warning_threshold": 4.0}, None),
    ],
)
def test_the_warning_of_a_changed_limit(more: dict[str, Any], warning: float | None) -> None:
    """It keeps the default's relative distance, unless the direction changes."""
    threshold = Threshold(test_id="single_obligor_concentration", threshold_value=5.0, **more)
    result = largest(1.0, workbook_thresholds={threshold.test_id: threshold})
    assert result.details.breakdown["warning_threshold"] == pytest.approx(warning)


@pytest.mark.parametrize("limit", [0.0, -5.0])
def test_a_limit_that_has_no_relative_distance_has_no_warning(limit: float) -> None:
    """Nine tenths of nothing is nothing, and of less than nothing is the wrong side."""
    threshold = Threshold(test_id="single_obligor_concentration", threshold_value=limit)
    result = largest(1.0, workbook_thresholds={threshold.test_id: threshold})
    assert result.details.breakdown["warning_threshold"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wal", 6.0, None, 6.5), "warning_threshold 6.5 must not be above its maximum 6"),
        (("oc_ratio", 104.0, None, 103.0), "warning_threshold 103 must not be below its minimum 104"),
        (("oc_ratio", 104.0, "max", 105.0), "warning_threshold 105 must not be above its maximum 104"),
        (("wal", 6.0, "exact", 5.0), "an exact threshold has no warning band: leave warning_threshold out"),
        (("wal", nan), "a threshold must be a finite number"),
        (("wal", 6.0, None, inf), "a threshold must be a finite number"),
    ],
)
def test_thresholds_that_are_refused(arguments: Any, message: str) -> None:
    """On the wrong side of its limit a warning could never come first."""
    with pytest.raises(InvalidThreshold) as refused:
        check_threshold(*arguments)
    assert str(refused.value) == message
    assert isinstance(refused.value, ValueError)


def test_thresholds_that_are_accepted() -> None:
    """On the right side, on the limit itself, and none at all."""
    check_threshold("wal", 6.0)
    check_threshold("wal", 6.0, None, 6.0)
    check_threshold("wal", 6.0, "min", 7.0)
    with pytest.raises(UnknownTest, match="Unknown test 'walrus'"):
        check_threshold("walrus", 1.0)


# What runs


def test_unknown_names_are_refused(g1: Build) -> None:
    """A suite or a test that is not there, an enhanced test in the standard suite."""
    with pytest.raises(UnknownSuite, match="Unknown suite 'strict': there are standard and enhanced"):
        run_suite(g1(), "strict")
    with pytest.raises(UnknownTest, match="Unknown test in suite standard: price_below_80_pct, walrus"):
        run_suite(g1(), test_ids=["wal", "walrus", "price_below_80_pct"])
    assert issubclass(UnknownSuite, ValueError)
    assert issubclass(UnknownTest, ValueError)


def test_chosen_tests_come_in_catalogue_order(g1: Build) -> None:
    """Asked for twice and backwards, once and forwards they run; none asked for is all."""
    ran = run_suite(g1(), test_ids=["was", "average_rating_factor", "was"])
    assert [result.test_id for result in ran] == ["average_rating_factor", "was"]
    assert run_suite(g1(), test_ids=[]).summary.total == 15
    assert run_suite(g1(), "enhanced").summary.total == 25


def test_fail_fast_stops_after_the_first_failure(g1: Build) -> None:
    """Obligors of 10 % fail at once; the rest is counted as skipped."""
    ran = run_suite(g1(), fail_fast=True)
    assert [(result.test_id, result.status) for result in ran] == [("single_obligor_concentration", "fail")]
    assert ran.summary == type(ran.summary)(total=15, passed=0, failed=1, warnings=0, skipped=14)
    assert set(reasons(ran).values()) == {"not run: an earlier test failed and the run stops at the first failure"}


def test_the_summary_adds_up(g1: Build) -> None:
    """total = passed + failed + warnings + skipped."""
    summary = run_suite(g1(), "enhanced").summary
    assert summary.total == 25 == summary.passed + summary.failed + summary.warnings + summary.skipped
    assert min(summary.passed, summary.failed, summary.skipped) > 0


def test_parallel_changes_nothing(g1: Build) -> None:
    """To the last bit."""
    ran = [run_suite(g1(), "enhanced", parallel=parallel) for parallel in (True, False)]
    assert ran[0] == ran[1]
    assert ran[0].skipped == ran[1].skipped


def test_without_cushion_or_details(g1: Build) -> None:
    """Both are left out of the result and of its message; status and figure stay."""
    bare = run_suite(g1(), include_cushion=False, details=False)
    full = run_suite(g1())
    for item, second in zip(bare, full, strict=True):
        assert (item.cushion, item.cushion_pct, item.details) == (None, None, None)
        assert (item.status, item.current_value) == (second.status, second.current_value)
        assert "cushion" not in item.message


# Messages


@pytest.mark.parametrize(
    ("par", "message"),
    [
        (2.0, "Largest obligor 2.00 % is within the 2.50 % limit (cushion 0.50)"),
        (
            2.3,
            "Largest obligor 2.30 % is within the 2.50 % limit but at or above the 2.25 % warning level (cushion 0.20)",
        ),
        (2.6, "Largest obligor 2.60 % is above the 2.50 % limit (cushion -0.10)"),
        (2.500001, "Largest obligor 2.500001 % is above the 2.500000 % limit (cushion -0.000001)"),
    ],
)
def test_messages_of_a_maximum(par: float, message: str) -> None:
    """A breach that two decimals hide is written with six."""
    assert largest(par).message == message


def test_messages_of_a_minimum(g1: Build) -> None:
    """Coverage reads the other way; a figure without a unit has none."""
    by_test_id = {result.test_id: result.message for result in run_suite(g1())}
    near = Threshold(test_id="oc_ratio", threshold_value=106.5, warning_threshold=107.0)
    warned = run_suite(g1(), test_ids=["oc_ratio"], workbook_thresholds={"oc_ratio": near})[0].message
    assert warned.endswith("meets the 106.50 % minimum but at or below the 107.00 % warning level (cushion 0.25)")
    assert by_test_id["oc_ratio"] == "Junior overcollateralisation 106.75 % meets the 104.20 % minimum (cushion 2.55)"
    assert by_test_id["diversity_score"] == "Moody's diversity score 10.30 is below the 55.00 minimum (cushion -44.70)"
    assert by_test_id["average_rating_factor"] == "WARF 3041.37 is above the 3000.00 limit (cushion -41.37)"


def test_messages_of_an_exact_level() -> None:
    """Both ways."""
    by_value = {
        value: Threshold(test_id="single_obligor_concentration", threshold_value=value, threshold_type="exact")
        for value in (2.0, 3.0)
    }
    messages = [
        largest(2.0, workbook_thresholds={"single_obligor_concentration": by_value[value]}).message
        for value in by_value
    ]
    assert messages == [
        "Largest obligor 2.00 % is at the required 2.00 % level (cushion 0.00)",
        "Largest obligor 2.00 % differs from the required 3.00 % level (cushion -1.00)",
    ]


def test_a_figure_from_few_loans_says_so() -> None:
    """Below 80 % of par the message ends with the coverage; at 80 % it does not."""
    columns = {"par_value": [71.2, 28.8], "industry": ["Steel", None]}
    assert run_suite(portfolio_of(columns), test_ids=["industry_concentration"])[0].message.endswith(
        "(cushion -56.20) (covers 71.20% of par)"
    )
    columns["par_value"] = [80.0, 20.0]
    assert "covers" not in run_suite(portfolio_of(columns), test_ids=["industry_concentration"])[0].message


# What is skipped


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
    """A column that is blank on every performing row skips its test; a blank flag means no."""
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
    """Principal cash may eat the collateral up; shares of it are then skipped, averages over par are not."""
    columns = {"par_value": [100.0], "obligor": ["Acme"], "rating_agency_a": [15]}
    ran = run_suite(portfolio_of(columns, deal=Deal(principal_cash=cash)))
    assert [result.test_id for result in ran] == ["average_rating_factor"]
    for test_id in ("single_obligor_concentration", "ccc_bucket_pct"):
        assert reasons(ran)[test_id] == "collateral principal amount is zero or negative"


def test_long_and_short_cancel() -> None:
    """Performing par of exactly nothing beside cash: shares are of the cash, averages have nothing to stand on."""
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


# Details


def test_details_explain_the_figure(g1: Build) -> None:
    """Formula, cells, unit, numerator and denominator, coverage, what became of the rows, the names."""
    cells = {"par_value": "Holdings!C5:C17", "borrower_name": "Holdings!A5:A17", "price": "Holdings!D5:D17"}
    portfolio = replace(g1(), source_cells=cells, notes=Notes(ignored_blank_par=2, error_cells=1))
    details = run_suite(portfolio, test_ids=["single_obligor_concentration"])[0].details
    assert details is not None
    assert details.formula == "largest obligor's par / CPA x 100"
    assert details.cell_refs == ["Holdings!C5:C17", "Holdings!A5:A17"]
    breakdown = details.breakdown
    assert (breakdown["unit"], breakdown["numerator"], breakdown["denominator"]) == ("percent", 40e6, 400e6)
    assert breakdown["coverage_pct"] == 100.0
    assert breakdown["rows"] == {
        "loans": 13, "performing": 12, "defaulted": 1, "ignored_blank_par": 2, "negative_par_rows": 0, "error_cells": 1,
    }  # fmt: skip
    assert breakdown["obligors"][0] == {"name": "Alpha", "par": 40e6, "share_pct": 10.0}
    assert "principal_cash" not in breakdown


def test_absent_cash_is_told() -> None:
    """The collateral principal amount then is par alone, and the breakdown says so."""
    details = run_suite(portfolio_of({"par_value": [1.0], "cov_lite": [1]}), test_ids=["cov_lite_concentration"])[
        0
    ].details
    assert details is not None
    assert details.breakdown["principal_cash"] == "not given: counted as 0"


def test_details_of_coverage(g1: Build) -> None:
    """Every tested class with what would cure it."""
    portfolio = replace(g1(), tranches=tranches_of((("A", 350e6), ("B", 30e6)), oc={"A": 105.0, "B": 104.2}))
    details = run_suite(portfolio, test_ids=["oc_ratio"])[0].details
    assert details is not None
    assert details.breakdown["classes"] == [
        {
            "class": "A", "numerator": 389.65e6, "denominator": 350e6, "trigger": 105.0, "ratio": 111.328571,
            "cushion": 6.328571, "status": "pass", "cure_amount": 0.0,
        },
        {
            "class": "B", "numerator": 389.65e6, "denominator": 380e6, "trigger": 104.2, "ratio": 102.539474,
            "cushion": -1.660526, "status": "fail", "cure_amount": pytest.approx(6_310_000, abs=1e-6),
        },
    ]  # fmt: skip
    assert details.breakdown["adjustments"]["ccc_haircut"] == 6e6


def test_a_class_is_judged_as_its_test_is(g1: Build) -> None:
    """Trigger, status and cushion of the class that a test looks at are the result's, whoever set it;
    in the details of the other tests, too. ACPA 389.65 over 300 down to B, 365 down to E.
    """

    def at(test_id: str, value: float, **more: Any) -> dict[str, Threshold]:
        return {test_id: Threshold(test_id=test_id, threshold_value=value, **more)}

    limits = at("oc_ratio", 107.0) | at("oc_ratio_senior", 120.0, warning_threshold=130.0) | at("ic_ratio", 130.0)
    ran = {item.test_id: item for item in run_suite(g1(), "enhanced", workbook_thresholds=limits)}
    by_name = {
        name: item.details.breakdown for name, item in ran.items() if item.details and item.category == "coverage"
    }
    assert len(by_name) == 5
    for name, breakdown in by_name.items():
        (row,) = [row for row in breakdown["classes"] if row["class"] == breakdown["tested_class"]]
        item = ran[name]
        assert (row["trigger"], row["status"], row["cushion"]) == (item.threshold_value, item.status, item.cushion), (
            name
        )
    shown = {
        row["class"]: (row["trigger"], row["status"], row["cure_amount"]) for row in by_name["oc_ratio"]["classes"]
    }
    assert shown == {
        "B": (120.0, "warning", 0.0),
        "C": (114.0, "pass", 0.0),
        "D": (106.5, "pass", 0.0),
        "E": (107.0, "fail", pytest.approx(1.07 * 365e6 - 389.65e6)),
    }
    assert by_name["oc_ratio_senior"]["classes"] == by_name["oc_ratio"]["classes"]
    assert by_name["interest_diversion_ratio"]["classes"][-1]["trigger"] == 104.7
    assert by_name["interest_diversion_ratio"]["classes"][:-1] == by_name["oc_ratio"]["classes"][:-1]


def test_a_class_without_a_trigger_is_judged_by_the_suites_limit(g1: Build) -> None:
    """Not by the usual one of its letter, which is 106.40 for D."""
    portfolio = replace(g1(), tranches=tranches_of((("A", 250e6), ("B", 50e6), ("D", 70e6))))
    details = run_suite(portfolio, test_ids=["oc_ratio"])[0].details
    assert details is not None
    assert [(row["class"], row["trigger"]) for row in details.breakdown["classes"]] == [("A/B", 121.6), ("D", 104.2)]
    exact = {"oc_ratio": Threshold(test_id="oc_ratio", threshold_value=104.2, threshold_type="exact")}
    details = run_suite(portfolio, test_ids=["oc_ratio"], request_thresholds=exact)[0].details
    assert details is not None
    assert details.breakdown["classes"][-1]["status"] == "fail"
    assert "cure_amount" not in details.breakdown["classes"][-1]


def test_a_class_is_rounded_as_its_test_is(g1: Build) -> None:
    """106.753425 is 106.8 to one decimal: it meets 106.8, and nothing is to be cured."""
    rules = parse({"conventions": {"decimals": {"percent": 1}}})
    limits = {"oc_ratio": Threshold(test_id="oc_ratio", threshold_value=106.8)}
    result = run_suite(g1(), test_ids=["oc_ratio"], definition=rules, request_thresholds=limits)[0]
    assert result.details is not None
    row = result.details.breakdown["classes"][-1]
    assert (result.status, row["status"], row["cushion"], row["cure_amount"]) == ("warning", "warning", 0.0, 0.0)


def test_every_result_can_be_written_as_json(g1: Build) -> None:
    """Nothing in a breakdown is a NumPy value or a number that JSON has no word for."""
    for result in run_suite(g1(), "enhanced"):
        text = msgspec.json.encode(result).replace(b'"published":null', b"")
        assert b"null" not in text.replace(b'"warning_threshold":null', b"").replace(b'_pct":null', b""), text


def test_the_catalogue_says_its_defaults() -> None:
    """A default's own warning stands on the right side of it."""
    for test in CATALOGUE:
        check_threshold(test.test_id, test.limit, test.threshold_type, test.warning)


def test_a_run_says_its_day_and_what_to_know_before_trusting_it() -> None:
    warning = DataWarning("as_of_stands_in", "the day of the upload")
    portfolio = portfolio_of(
        g1_columns(), deal=Deal(as_of=20073.0, as_of_source="upload"), notes=Notes(warnings=[warning])
    )
    ran = run_suite(portfolio)
    assert (ran.as_of, ran.as_of_source, ran.warnings) == (date(2024, 12, 16), "upload", [warning])
    assert run_suite(portfolio_of(g1_columns(), deal=Deal(as_of=1e12))).as_of is None


def test_fields_that_are_made_when_read_are_those_of_a_run_that_makes_them_at_once(
    g1: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way a result is read first: by a field, as a whole, compared, copied, pickled or encoded."""
    portfolio = g1()
    limits = {"wal": Threshold(test_id="wal", threshold_value=9.0)}

    def run() -> Results:
        return run_suite(portfolio, "enhanced", request_thresholds=limits)

    with monkeypatch.context() as at_once:
        at_once.setattr("core.compliance.run.DEFERRED_ROWS_MAX", 0)
        result = run()
    assert result
    assert all(item.details is not None and item.message for item in result)
    assert list(run()) == list(result)
    assert pickle.loads(pickle.dumps(list(run()))) == list(result)
    assert copy.deepcopy(run()[0]) == result[0]
    assert msgspec.json.encode(run()) == msgspec.json.encode(result)
    assert msgspec.json.decode(msgspec.json.encode(run()), type=list[TestResult])[0].message == result[0].message
    assert dataclasses.replace(run()[0], details=None) == dataclasses.replace(result[0], details=None)
    for field in dataclasses.fields(TestResult):
        assert [getattr(item, field.name) for item in run()] == [getattr(item, field.name) for item in result]
    late = run()
    limits.clear()  # the caller's own, and no longer the run's
    assert [item.details for item in late] == [item.details for item in result]
    with pytest.raises(dataclasses.FrozenInstanceError):
        late[0].status = "fail"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="no attribute 'margin'"):
        late[0].margin  # type: ignore[attr-defined]  # noqa: B018


def test_a_definition_and_a_mapping_go_by_their_names() -> None:
    portfolio = portfolio_of(g1_columns())
    for name in READY:
        assert list(run_suite(portfolio, "deal", definition=name)) == list(
            run_suite(portfolio, "deal", definition=READY[name])
        )
        assert Simulator(portfolio, "deal", definition=name).before == run_suite(
            portfolio, "deal", definition=READY[name]
        )
    with pytest.raises(UnknownDefinition, match="did you mean euro"):
        run_suite(portfolio, definition="eruo")
    with pytest.raises(UnknownTest, match=r"Unknown test 'wall'; did you mean wal\?"):
        check_threshold("wall", 5.0)
    book = Workbook(())
    assert Portfolio.from_workbook(book, "standard_servicer").row_count == 0
    with pytest.raises(UnknownMapping, match=r"'standard_cl0'; did you mean standard_clo\? There are: standard_clo,"):
        Portfolio.from_workbook(book, "standard_cl0")


def test_only_the_recovery_test_needs_rates_of_its_limits_agency() -> None:
    """S&P's rates are not held to the suites' limit, which is Moody's; all else runs as it does without them."""
    columns = {"par_value": [60.0, 40.0], "cov_lite": [0, 1], "rating_agency_a": [A["B2"], A["B3"]]}
    ids = ["cov_lite_concentration", "average_rating_factor", "weighted_average_recovery_rate"]
    plain = run_suite(portfolio_of(columns), "enhanced", test_ids=ids)
    rated = run_suite(portfolio_of(columns | {"recovery_rate_b": [40.0, 30.0]}), "enhanced", test_ids=ids)
    assert [result.test_id for result in rated] == [result.test_id for result in plain] == ids[:2]
    assert [(skipped.test_id, "S&P's and the limit" in skipped.reason) for skipped in rated.skipped] == [(ids[2], True)]
