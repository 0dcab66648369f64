"""A run as the content of a report.

What stands first, what changed, what is left out and said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pytest

from core.compliance.result import Results, TestResult, Threshold
from core.compliance.run import run_suite
from core.deals.movements import movements
from core.definition import parse
from core.portfolio import Portfolio
from core.report.compliance import KEY_FIGURES_SHOWN
from core.report.content import ComplianceReport, Series, SeriesPoint
from tests.core.report.conftest import reported, result_of, skipped_of
from tests.rows import every

Build = Callable[..., Portfolio]

OK = ("ok", "pass", 1.0, 10.0)
WARNED = ("warned", "warning", 7.0, 7.5)
BROKEN = ("broken", "fail", 8.0, 7.5)
HAIR = ("hair", "fail", 7.500001, 7.5)
OF_ZERO = ("of_zero", "fail", 0.5, 0.0)


@every(
    "rows, skipped, outcome, headline, sentence",
    [
        ([], 0, "none", "No test has a result", "No test was run."),
        ([], 3, "none", "No test has a result", "3 tests have no result."),
        ([OK], 0, "pass", "The one test passes", "None is close to its limit."),
        ([OK, OK], 1, "pass", "All 2 measured tests pass", "None is close to its limit. 1 test has no result."),
        ([OK, WARNED], 0, "warning", "All 2 tests pass, 1 with a warning",
         "Close to the limit: warned 7.00 against at most 7.50."),
        ([OK, BROKEN], 0, "fail", "1 of 2 tests fails", "Failed: broken 8.00 against at most 7.50."),
        ([HAIR, WARNED], 2, "fail", "1 of 2 measured tests fails",
         "Failed: hair 7.500001 against at most 7.500000. Close to the limit: warned 7.00 against at most 7.50. "
         "2 tests have no result."),
        ([BROKEN, HAIR, OF_ZERO, BROKEN, BROKEN], 0, "fail", "5 of 5 tests fail",
         "Failed: of_zero 0.50 against at most 0.00; broken 8.00 against at most 7.50; broken 8.00 against at most "
         "7.50; and 2 more."),
    ],
)  # fmt: skip
def test_the_verdict(rows: Sequence[tuple[Any, ...]], skipped: int, outcome: str, headline: str, sentence: str) -> None:
    """It never says that all tests pass where some have no result."""
    results = Results([result_of(*row) for row in rows], skipped_of(skipped))
    verdict = reported(None, results).verdict
    assert (verdict.outcome, verdict.headline, verdict.sentence) == (outcome, headline, sentence)


def test_the_thinnest_come_first_by_part_of_the_limit() -> None:
    rows = [OK, WARNED, BROKEN, OF_ZERO, ("zero_passed", "pass", 0.0, 0.0), HAIR, ("wide", "pass", 99.0, 100.0), OK]
    thinnest = reported(None, Results([result_of(*row) for row in rows], [])).thinnest
    assert [item.test_id for item in thinnest] == ["of_zero", "broken", "hair", "wide", "warned"]


def test_categories_have_the_order_of_the_report_and_every_test_once(g1: Build) -> None:
    report = reported(g1(), run_suite(g1(), "enhanced"), suite="enhanced")
    assert [category.name for category in report.categories] == [
        "Coverage", "Collateral quality", "Portfolio profile", "Concentration limits", "Liquidity",
    ]  # fmt: skip
    answer = [line.test_id for category in report.categories for line in category.tests] + [
        item.test_id for item in report.skipped
    ]
    assert len(answer) == len(set(answer)) == report.summary.total == 25
    odd = Results([result_of("own", "pass", 1.0, 2.0, category="house"), result_of(*OK)], [])
    assert [category.name for category in reported(None, odd).categories] == ["Concentration limits", "house"]


def test_figures_are_those_of_the_run(g1: Build) -> None:
    """Of every test of the report each figure is the result's, with the unit that its details say."""
    results = run_suite(g1(), "enhanced")
    report = reported(g1(), results, suite="enhanced")
    by_test_id = {line.test_id: line for category in report.categories for line in category.tests}
    for result in results:
        line = by_test_id[result.test_id]
        assert (line.value, line.threshold, line.cushion, line.status) == (
            result.current_value, result.threshold_value, result.cushion, result.status,
        )  # fmt: skip
        assert result.details is not None
        assert line.unit == result.details.breakdown["unit"]
    figures = {key_figure.label: key_figure.value for key_figure in report.key_figures}
    assert figures["Performing par"] == 395e6
    assert figures["Collateral principal amount"] == 400e6
    assert figures["WARF"] == pytest.approx(3041.367089)
    assert (figures["Performing loans"], figures["Obligors"]) == (12, 12)
    assert len(report.key_figures) <= KEY_FIGURES_SHOWN
    assert (report.as_of, report.as_of_source, report.currency) == (date(2026, 3, 31), "stated by the file", "USD")


def test_days_of_the_deal_are_those_of_its_rules_and_its_file(g1: Build) -> None:
    rules = parse({"conventions": {"closing_date": date(2023, 9, 20)}})
    deal = replace(g1().deal, stated_maturity=24_399.0)
    deal_days = reported(replace(g1(), deal=deal), definition=rules).deal_days
    assert [(deal_day.label, deal_day.value) for deal_day in deal_days] == [
        ("Closing", "20 September 2023"),
        ("Stated maturity", "20 October 2036"),
    ]


def test_units_without_details_are_those_of_the_suites(g1: Build) -> None:
    report = reported(g1(), run_suite(g1(), details=False))
    by_test_id = {line.test_id: line.unit for category in report.categories for line in category.tests}
    assert (by_test_id["oc_ratio"], by_test_id["average_rating_factor"]) == ("percent", "factor")


def test_a_run_whose_loans_cannot_be_read_shows_its_tests_alone(g1: Build) -> None:
    report = reported(None, run_suite(g1()))
    assert report.categories
    assert report.coverage, "its steps are in the results"
    assert (report.concentrations, report.distributions, report.key_figures, report.lineage.rows) == ([], [], [], [])


def test_content_is_plain_data(g1: Build) -> None:
    """It goes to a child as JSON and comes out the same, whatever kind of numbers the deal's accounts are."""
    portfolio = g1(maturity_date=[22_000.0] * 13, lien_type=[1] * 13, country=["US"] * 13)
    deal = replace(portfolio.deal, principal_cash=np.float64(5e6), base_rate=np.float64(4.3))
    report = reported(replace(portfolio, deal=deal))
    assert msgspec.json.decode(msgspec.json.encode(report), type=ComplianceReport) == report


def test_changes_with_a_new_status_come_first() -> None:
    """Then the greatest part of the limit.

    What did not move is counted, and a test without a figure has no change.
    """
    then = {"same": 5.0, "small": 5.0, "large": 5.0, "newly": 9.8, "gone": 1.0, "healed": 10.1}
    now = {"same": 5.0, "small": 5.1, "large": 4.0, "newly": 10.1, "healed": 9.9, "fresh": 2.0}
    before, after = (
        [result_of(name, "fail" if value > 10.0 else "pass", value, 10.0) for name, value in day.items()]
        for day in (then, now)
    )
    earlier = Results(before, skipped_of(2), as_of=date(2026, 2, 28))
    changes = reported(None, Results(after, skipped_of(3)), earlier=earlier).changes
    assert changes is not None
    assert (changes.since, changes.unmoved) == (date(2026, 2, 28), 1)
    answer = [(test.test_id, test.status_before, test.status_after, test.better) for test in changes.tests]
    assert answer[0] == ("newly", "pass", "fail", False)
    assert set(answer[1:4]) == {
        ("healed", "fail", "pass", True), ("fresh", None, "pass", None), ("gone", "pass", None, None),
    }  # fmt: skip
    assert answer[4:] == [("large", "pass", "pass", True), ("small", "pass", "pass", False)]


def test_why_a_test_moved_is_what_the_movements_say(g1: Build) -> None:
    columns = {"cusip": [f"00000{at:02}XX" for at in range(13)]}
    earlier = later = g1(**columns)
    later = replace(later, numbers={**later.numbers, "price": later.numbers["price"] - 5.0})
    run = partial(run_suite, suite="standard")
    moved = movements(earlier, later, run)
    changes = reported(later, earlier=run(earlier), moved=moved).changes
    assert changes is not None
    junior = next(test for test in changes.tests if test.test_id == "oc_ratio")
    assert junior.change is not None
    assert sum(part.change for part in junior.parts) == pytest.approx(junior.change)
    assert [part.part for part in junior.parts] == ["prices"]
    assert junior.parts[0].loans
    assert junior.better is False
    alone = reported(later, moved=moved).changes
    assert alone is not None
    assert [test.test_id for test in alone.tests] == [test.test_id for test in changes.tests]
    assert {test.status_before for test in alone.tests} == {None}


def test_histories_of_one_day_are_left_out_and_the_others_in_the_order_of_the_tests() -> None:
    results = Results([result_of(f"test_{at}", "pass", 1.0, 2.0) for at in range(15)], [])

    def series(test: TestResult, count: int) -> Series:
        points = [
            SeriesPoint(as_of=date(2026, 1, day + 1), value=1.0, threshold=2.0, status="pass") for day in range(count)
        ]
        return Series(
            test_id=test.test_id, name=test.test_name, unit="percent", direction="max", points=points
        )  # fmt: skip

    history = [series(result, 1 if at == 0 else 2) for at, result in enumerate(results)]
    report = reported(None, results, history=history[::-1])
    assert [item.test_id for item in report.history] == [f"test_{at}" for at in range(1, 15)]


def test_limits_of_a_request_show_as_such(g1: Build) -> None:
    limits = {"wal": Threshold(test_id="wal", threshold_value=2.0)}
    columns = {"average_life": [4.0] * 13}
    report = reported(g1(**columns), run_suite(g1(**columns), request_thresholds=limits))
    assert next(method.source for method in report.methods if method.test_id == "wal") == "request"
