"""What a result says: its message, and its details."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.compliance.result import Threshold
from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio.model.notes import Notes
from tests.core.compliance.conftest import Build, largest, portfolio_of, tranches_of


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
