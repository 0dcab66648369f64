"""Rows that look like tests and are none, rows that are, and how their figures and limits are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.portfolio.pages.report.subjects import subject_of
from tests.core.portfolio.conftest import Shown
from tests.core.portfolio.pages.report.test_tests import current, facts
from tests.rows import every


def test_loans_without_a_heading_are_no_tests() -> None:
    """The end of a long list whose heading stands far above.

    A flag, a rate and a floor, and names like tests.
    """
    names = [
        "Piolin Bidco - Term Loan",
        "Polaris Newco - First Lien Term Loan",
        "Redhalo (UK) Limited",
        "Ray Financing",
    ]
    rows = [
        [name, f"LX1000{at}0", "Semi-Annual", 2_000_000.0 + at, "EURIBOR (6 months)", "Yes", 0.0, 0.045, 0.045]
        for at, name in enumerate(names * 3)
    ]
    assert current(rows, "Interest Accrual Detail") == []


def test_loans_with_a_flag_and_a_floor_are_no_tests() -> None:
    heading = ["Description", "Security ID", "Principal Balance", "Floored", "Index Floor", "Spread"]
    rows: list[Sequence[Any]] = [
        [name, f"LX1000{at}0", 2_000_000.0, "Yes", Shown(0.0, "0.00%"), Shown(0.04, "0.00%")]
        for at, name in enumerate(["Polaris - First Lien Loan", "Alder", "Birch", "Cedar", "Elder"])
    ]
    assert [fact for fact in facts([heading, *rows], "Interest Accrual") if fact.kind == "test"] == []


def test_a_calculation_below_the_tests_is_lines() -> None:
    """Under the column of limits, after a gap.

    The parts of the numerator are no limits.
    """
    rows = [
        ["Test Description", "Threshold", "Current", "Result"],
        ["Class A/B Par Value Test", "130.00%", "139.37%", "Passed"],
        ["Class C Par Value Test", "121.00%", "128.85%", "Passed"],
        ["Class D Par Value Test", "112.00%", "118.72%", "Passed"],
        [],
        ["Par Value Numerator"],
        ["Aggregate Principal Balance", 407_181_748.22],
        ["Principal Proceeds", -5_747_614.46],
        ["Discount Obligation Haircut", 0.0],
        ["Adjusted Collateral Principal Amount", 401_434_133.76],
    ]
    assert [fact.label for fact in current(rows)] == [str(row[0]) for row in rows[1:4]]
    assert {fact.label for fact in facts(rows) if fact.kind == "component"} >= {"Principal Proceeds"}


def test_a_comma_for_decimals_makes_points_thousands() -> None:
    rows = [
        ["Test", "Current", "Limit", "Result"],
        ["Moody's Maximum Weighted Average Rating Factor Test", "2.869", "2.993", "Pass"],
        ["Minimum Weighted Average Spread Test", "4,03%", "3,90%", "Pass"],
        ["Weighted Average Life Test", "4,30", "5,44", "Pass"],
    ]
    facts_read = current(rows)
    assert [(fact.value, fact.trigger, fact.decimals) for fact in facts_read] == [
        (2869.0, 2993.0, 0),
        (4.03, 3.9, 2),
        (4.3, 5.44, 2),
    ]
    plain = [[str(cell).replace(",", ".") for cell in row] for row in rows]
    assert current(plain)[0].value == 2.869


@every("name", ["Obligations with an S&P Rating of CCC+ or lower", "S&P CCC+ and lower"])
def test_or_lower_is_no_side_of_a_limit(name: str) -> None:
    rows = [
        ["Test", "Current", "Limit", "Result"],
        [name, "2.55%", "7.50%", "Pass"],
        ["Cov-Lite Loans", "47.98%", "55.00%", "Pass"],
        ["Fixed Rate Obligations", "2.65%", "5.00%", "Pass"],
    ]
    (fact,) = [row_fact for row_fact in current(rows) if row_fact.label == name]
    assert (fact.direction, fact.subject and fact.subject.measure) == ("max", "ccc")


@every("label, measure", [
    ("Collateral Obligations that are not Senior Secured Loans", "non_senior"),
    ("Loans that are not Senior Secured", "non_senior"),
    ("Collateral Obligations that are Participation Interests", "participation"),
    ("Collateral Obligations that are Bridge Loans", "bridge"),
    # A clause behind a subject stays one.
    ("Corporate Rescue Loans and any Uptier Priming Debt that is a Defaulted Obligation", "dip"),
])  # fmt: skip
def test_a_clause_alone_is_the_subject(label: str, measure: str) -> None:
    subject = subject_of(label).subject
    assert subject is not None
    assert subject.measure == measure


def test_whole_scores_are_printed_whole() -> None:
    """A score of 58 without a format ties with 57.89.

    A factor of Fitch's has decimals.
    """
    rows = [
        ["Test", "Current", "Limit", "Result"],
        ["Diversity Score Test", 58.0, 51.0, "Pass"],
        ["Maximum Moody's Rating Factor Test", 3156.0, 3267.0, "Pass"],
        ["Fitch Maximum Weighted Average Rating Factor Test", 24.0, 26.0, "Pass"],
    ]
    assert [fact.tolerance > 0.1 for fact in current(rows)] == [True, True, False]


def test_a_test_below_its_calculation_has_limit_status_and_both_amounts() -> None:
    page: list[list[Any]] = [
        ["Class A/B Par Value Test"],
        ["Aggregate Principal Balance", 280_000_000.0],
        ["Plus: Principal Proceeds", 5_000_000.0],
        ["Less: Excess CCC Adjustment Amount", -1_000_000.0],
        ["Adjusted Collateral Principal Amount", 284_000_000.0],
        ["Class A-1 Notes", 160_000_000.0],
        ["Class B Notes", 40_000_000.0],
        ["Total", 200_000_000.0],
        ["Class A/B Par Value Ratio (A/B)", "142.00%"],
        ["Required Ratio", "122.07%"],
        ["Test Result", "PASS"],
    ]
    (fact,) = [read_fact for read_fact in current(page) if read_fact.unit == "percent"]
    assert (fact.value, fact.trigger, fact.status) == (142.0, 122.07, "pass")
    assert (fact.numerator, fact.denominator) == (284_000_000.0, 200_000_000.0)
    page[4][1] = 285_000_000.0
    (fact,) = [read_fact for read_fact in current(page) if read_fact.unit == "percent"]
    assert (fact.numerator, fact.denominator) == (None, None)
