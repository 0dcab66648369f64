"""Which limit applies, and which thresholds are refused."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from core.compliance.limits import InvalidThreshold, UnknownTest, check_threshold
from core.compliance.result import Threshold
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from tests.core.compliance.conftest import Build, largest, portfolio_of, reasons, tranches_of


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
    """Junior and senior, OC and IC.

    Interest diversion stands half a point above the junior OC trigger.
    """
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
