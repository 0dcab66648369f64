"""Runs and reports of small pools."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from core.compliance.result import Details, Doubt, PublishedFigure, Results, Skipped, TestResult
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.report.compliance import compliance_content
from core.report.content import ComplianceReport, Origin
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of

WHEN = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)


@pytest.fixture
def g1() -> Callable[..., Portfolio]:
    """The pool worked by hand, with changes to its columns."""

    def build(**columns: list[Any]) -> Portfolio:
        triggers = {"B": 121.5, "C": 114.0, "D": 106.5, "E": 104.2}
        tranches = tranches_of(
            G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc=triggers, ic={"B": 120.0, "C": 115.0, "D": 110.0}
        )
        deal = Deal(principal_cash=5e6, base_rate=4.30, as_of=20_543.0, as_of_source="file", currency="USD")
        return portfolio_of(g1_columns() | columns, tranches=tranches, deal=deal)

    return build


def reported(portfolio: Portfolio | None, results: Results | None = None, **more: Any) -> ComplianceReport:
    """The report on a run of the standard suite, or on the results given."""
    if results is None:
        assert portfolio is not None
        results = run_suite(portfolio, more.get("suite", "standard"), definition=more.get("definition"))
    return compliance_content(results, portfolio, origin=Origin(name="A deal"), generated_at=WHEN, **more)


def result_of(test_id: str, status: Any, value: float, threshold: float, **more: Any) -> TestResult:
    """A test's result in percent, by a maximum if nothing else is said."""
    direction = more.pop("direction", "max")
    cushion = threshold - value if direction == "max" else value - threshold
    answer = more.pop("details", Details("a formula", [], {"unit": "percent"}))
    input_value = {
        "test_id": test_id, "test_name": test_id, "category": "concentration", "message": "told",
        "cushion": cushion, "cushion_pct": cushion / threshold * 100 if threshold else None,
    }  # fmt: skip
    return TestResult(
        **{**input_value, **more},
        status=status,
        current_value=value,
        threshold_value=threshold,
        threshold_type=direction,
        details=answer,
    )


def skipped_of(count: int) -> list[Skipped]:
    """Tests without a result."""
    return [Skipped(f"absent_{at}", f"Absent {at}", "Skipped: no column") for at in range(count)]


def doubted(test_id: str, status: Any, value: float, threshold: float, printed: Any = None, **more: Any) -> TestResult:
    """A test whose status is doubtful.

    `printed` is the figure and the status that the file prints, if any.
    """
    published = None if printed is None else published_of(value, *printed)
    doubt = [Doubt("differs", f"the file prints another figure of {test_id}", ["'Tests'!C7"])]
    input_value = {"published": published, "doubt": doubt, "doubtful": True}
    return result_of(test_id, status, value, threshold, **(input_value | more))


def published_of(ours: float, value: float | None, status: Any, *, agrees: bool | None = False) -> PublishedFigure:
    """What a file prints for a test, beside a figure of ours."""
    return PublishedFigure(
        name="Senior IC", value=value, numerator=None, denominator=None, trigger=120.0, status=status,
        place="'Tests'!C7", difference=None if value is None else ours - value, agrees=agrees,
    )  # fmt: skip
