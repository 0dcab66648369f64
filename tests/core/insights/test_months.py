"""Where a history points: a straight line drawn by hand, and what is no trend."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from core.insights.analyst import analyse
from core.insights.insight import Insight
from core.insights.subject import HistoryPoint, Subject

START = date(2025, 1, 1)
CCC = "ccc_bucket_pct"


def trend(subject: Subject, *values: float, test_id: str = CCC, every: int = 30) -> Insight | None:
    history = [HistoryPoint(day=START + timedelta(days=every * at), value=value) for at, value in enumerate(values)]
    insights = analyse([replace(subject, history={test_id: history}, previous=None)], most=200)
    return next((insight for insight in insights if insight.key == f"trend:{test_id}"), None)


def test_a_line_meets_the_limit_where_arithmetic_says(demo: Subject) -> None:
    """A fifth of a point each 30 days.

    The cushion of today is used up in so many times 150 days as it has points.
    """
    (own,) = (result for result in demo.results if result.test_id == CCC)
    assert own.cushion is not None
    answer = trend(demo, *(own.current_value - 0.2 * at for at in range(5, -1, -1)))
    assert answer is not None
    figures = {figure.name: figure.value for figure in answer.figures}
    assert figures["meets"] == START + timedelta(days=150 + int(own.cushion * 150 + 1e-6))
    assert figures["pace"] == pytest.approx(0.2 * 30.4375 / 30)
    assert figures["runs"] == 5
    assert answer.confidence <= 0.5


def test_what_is_no_trend(demo: Subject) -> None:
    for values in (
        (3.0, 3.1, 3.2),  # too few
        (3.4, 3.3, 3.2, 3.1),  # away from a maximum
        (3.0, 3.1, 3.2, 3.3, 3.2),  # the last step leads away
        (3.0, 3.0, 3.0, 3.0),
    ):
        assert trend(demo, *values) is None, values
    same_day = [HistoryPoint(day=START, value=3.0 + at / 10) for at in range(6)]
    assert not [
        item for item in analyse([replace(demo, history={CCC: same_day}, previous=None)], most=200)
        if item.key.startswith("trend:")
    ]  # fmt: skip


def test_without_another_month_nothing_is_said_of_one(demo: Subject) -> None:
    keys = {item.key.partition(":")[0] for item in analyse([replace(demo, previous=None)], most=200)}
    assert keys.isdisjoint({"moved", "turnover", "migration", "prices", "drift", "stale"})


def test_two_equal_months_have_no_movement(demo: Subject) -> None:
    same = replace(demo, previous=replace(demo, previous=None))
    by_key = {item.key: item for item in analyse([same], most=200)}
    assert not [key for key in by_key if key.startswith(("moved", "drift"))]
    assert {figure.name: figure.value for figure in by_key["turnover"].figures}["net"] == 0
    assert {figure.name: figure.value for figure in by_key["stale"].figures}["share"] == pytest.approx(100.0)
