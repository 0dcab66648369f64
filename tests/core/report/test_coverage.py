"""Coverage step by step.

The worked pool's numerators, sums that add up, and triggers that somebody set.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.compliance.result import Threshold
from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio import Portfolio
from core.report.content import Coverage
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.core.report.conftest import reported

Build = Callable[..., Portfolio]


def adds_up(coverage: Coverage) -> None:
    above = 0.0
    for step in coverage.ladder.steps:
        above = step.amount if step.is_total and step.amount == pytest.approx(above, abs=0.01) else above + step.amount
        assert not step.is_total or above == step.amount, step
    assert coverage.ladder.steps[-1].is_total


def test_the_worked_pool_step_by_step(g1: Build) -> None:
    """By hand: 395 of par and 5 of cash.

    15 of Caa too much cost 6; 30 bought at 78 cost 6.6; a default counts 2.25.
    """
    oc, ic = reported(g1()).coverage
    for item in (oc, ic):
        adds_up(item)
    steps = {step.label: step.amount for step in oc.ladder.steps}
    assert steps == pytest.approx(
        {
            "Performing par": 395e6,
            "Principal cash": 5e6,
            "Collateral principal amount": 400e6,
            "CCC/Caa excess carried at market value": -6e6,
            "Discount obligations carried at purchase price": -6.6e6,
            "Deferring loans carried below par": 0.0,
            "Defaulted loans at their carrying value": 2.25e6,
            "Adjusted collateral principal amount": 389.65e6,
        }
    )
    assert [
        (note_class.name, note_class.ratio, note_class.trigger, note_class.status) for note_class in oc.classes
    ] == [
        ("B", 129.883333, 121.5, "pass"),
        ("C", 119.892308, 114.0, "pass"),
        ("D", 112.291066, 106.5, "pass"),
        ("E", 106.753425, 104.2, "pass"),
    ]
    assert [(step.label, round(step.amount, 2)) for step in ic.ladder.steps] == [
        ("Interest estimated", 8_190_000.0),
        ("Senior fees and expenses", -200_000.0),
        ("Interest available", 7_990_000.0),
    ]
    assert [(note_class.name, note_class.ratio) for note_class in ic.classes] == [
        ("B", 161.822785),
        ("C", 147.621247),
        ("D", 135.000422),
    ]


def test_a_class_stands_as_its_test_was_judged(g1: Build) -> None:
    """A limit from elsewhere than the file shows in the class's line.

    107 for E is a breach, and says what cures it.
    """
    limits = {"oc_ratio": Threshold(test_id="oc_ratio", threshold_value=107.0)}
    results = run_suite(g1(), "enhanced", request_thresholds=limits)
    oc = reported(g1(), results, suite="enhanced").coverage[0]
    junior, diversion = oc.classes[-2:]
    assert (junior.name, junior.trigger, junior.status, junior.cushion) == ("E", 107.0, "fail", -0.246575)
    assert junior.cure_amount == pytest.approx(1.07 * 365e6 - 389.65e6)
    assert (diversion.name, diversion.trigger, diversion.status) == (
        "Interest diversion (reinvestment OC)", 104.7, "pass",
    )  # fmt: skip


def test_the_diversions_mark_is_not_the_classes(g1: Build) -> None:
    results = run_suite(g1(), "enhanced", test_ids=["interest_diversion_ratio"])
    oc = reported(g1(), results, suite="enhanced").coverage[0]
    assert [(note_class.name, note_class.trigger) for note_class in oc.classes[-2:]] == [
        ("E", None), ("Interest diversion (reinvestment OC)", 104.7),
    ]  # fmt: skip


def test_a_trigger_that_nobody_set_is_not_shown() -> None:
    """Without triggers in the file the two tests have the suite's.

    The classes between them have none.
    """
    portfolio = portfolio_of(g1_columns(), tranches=tranches_of(G1_NOTES))
    oc = reported(portfolio).coverage[0]
    by_name = {
        note_class.name: (note_class.trigger, note_class.status, note_class.cure_amount) for note_class in oc.classes
    }
    assert by_name.pop("A/B") == (121.6, "pass", 0.0)
    assert by_name.pop("E") == (104.2, "pass", 0.0)
    assert by_name == {"C": (None, None, None), "D": (None, None, None)}


def test_two_tests_of_one_class_are_two_lines() -> None:
    """Of 395 without cash.

    Caa above 29.625 costs 6.1125; 395 - 6.1125 - 6.6 + 2.25 over 250.
    """
    portfolio = portfolio_of(g1_columns(), tranches=tranches_of([("A", 250e6)]))
    oc = reported(portfolio).coverage[0]
    assert sorted((note_class.trigger, note_class.ratio) for note_class in oc.classes) == [
        (104.2, 153.815),
        (121.6, 153.815),
    ]


def test_a_deal_has_a_line_for_each_of_its_tests(g1: Build) -> None:
    tests = [{"id": f"oc_own_{item.lower()}", "name": f"OC {item}", "measure": "oc", "class": item, "min": 100.0}
             for item in "CE"]  # fmt: skip
    rules = parse({"tests": tests})
    oc = reported(g1(), definition=rules, suite="deal").coverage[0]
    adds_up(oc)
    assert [(note_class.name, note_class.ratio, note_class.denominator) for note_class in oc.classes] == [
        ("OC C", 119.892308, 325e6),
        ("OC E", 106.753425, 365e6),
    ]


def test_a_run_without_details_has_no_steps(g1: Build) -> None:
    assert reported(g1(), run_suite(g1(), details=False)).coverage == []


def test_the_notes_as_the_file_has_them() -> None:
    notes = tranches_of([("A", 300e6), ("B", 100e6), ("Sub", 100e6)], coupon=[5.5, None, None])
    actual_notes = reported(portfolio_of(g1_columns(), tranches=notes)).notes
    assert [
        (actual_note.name, actual_note.current_balance, actual_note.share_pct, actual_note.coupon, actual_note.spread)
        for actual_note in actual_notes
    ] == [("A", 300e6, 60.0, 5.5, None), ("B", 100e6, 20.0, None, None), ("Sub", 100e6, 20.0, None, None)]
