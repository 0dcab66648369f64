"""What counts of an excess coupon in the spread, and of an excess spread in the coupon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.compliance.pool_sums import Unmeasurable
from core.compliance.result import Threshold
from core.compliance.run import run_suite
from core.compliance.spreads import NO_LIMIT, counted_excess
from core.definition import DefinitionError, parse, to_document
from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal, Names
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade
from tests.core.compliance.conftest import portfolio_of
from tests.rows import every

SPREAD = (60 * 350 + 30 * 450) / 90 / 100
"""3.8333 %, of 90 floating."""


def loans(coupon: float = 8.5) -> Portfolio:
    """G4b: 10 of 100 fixed at the coupon, against 7 %: the excess is (coupon - 7) x 10 / 90."""
    return portfolio_of(
        {"par_value": [60e6, 30e6, 10e6], "spread": [350, 450, None], "all_in_rate": [None, None, coupon],
         "is_fixed": [0, 0, 1]}
    )  # fmt: skip


def deal(limit: float | None = 3.0, coupon_limit: float | None = None, **conventions: Any) -> Definition:
    tests = [
        {"id": "spread", "name": "S", "measure": "was"} | ({} if limit is None else {"min": limit}),
        {"id": "coupon", "name": "C", "measure": "wac"} | ({} if coupon_limit is None else {"min": coupon_limit}),
        {"id": "both", "name": "B", "value": "=spread*1000+coupon", "min": 0},
    ]
    return parse({"conventions": {"reference_coupon": 7.0, **conventions}, "tests": tests})


def figures(portfolio: Portfolio, definition: Definition) -> dict[str, float]:
    actual_figures = run_suite(portfolio, "deal", definition=definition).figures
    assert actual_figures is not None
    return actual_figures


@every(
    "rule, coupon, limit, more",
    [
        ("always", 8.5, 3.0, 1 / 6),
        ("always", 4.3, 3.0, -0.3),
        ("floored", 8.5, 3.0, 1 / 6),
        ("floored", 4.3, 3.0, 0.0),
        ("while_spread_fails", 8.5, 3.0, 0.0),
        ("while_spread_fails", 8.5, SPREAD, 0.0),
        ("while_spread_fails", 8.5, 3.9, 1 / 6),
        ("while_spread_fails", 4.3, 3.9, 0.0),
        ("none", 8.5, 3.9, 0.0),
    ],
)
def test_an_excess_coupon_counts_as_the_conventions_say(rule: str, coupon: float, limit: float, more: float) -> None:
    """G4b: the spread of 3.833333 is 4.000000 with the excess."""
    definition = deal(limit, excess_coupon=rule)
    assert parse(to_document(definition)) == definition
    assert figures(loans(coupon), definition)["spread"] == pytest.approx(SPREAD + more, abs=1e-6)
    shown = next(item for item in run_suite(loans(coupon), "deal", definition=definition) if item.test_id == "spread")
    assert shown.details is not None
    assert shown.details.breakdown["excess_coupon_counted"] == (more != 0)
    assert shown.details.breakdown["excess_coupon_pct"] == pytest.approx((coupon - 7) / 9, abs=1e-6)


def test_the_limit_that_a_run_has_decides() -> None:
    """Of the suites, of a request, or of the definition.

    Where there is none, the minimum of the conventions.
    """
    definition = deal(None, excess_coupon="while_spread_fails")
    ran = run_suite(loans(), definition=definition, test_ids=["was"])
    assert (ran[0].current_value, ran[0].threshold_value) == (3.833333, 3.25)
    higher = {"was": Threshold(test_id="was", threshold_value=3.9, warning_threshold=3.95)}
    ran = run_suite(loans(), definition=definition, test_ids=["was"], request_thresholds=higher)
    assert (ran[0].current_value, ran[0].status) == (4.0, "pass")
    skipped = {item.test_id: item.reason for item in run_suite(loans(), "deal", definition=definition).skipped}
    assert skipped == {"spread": NO_LIMIT, "both": "spread has no figure"}
    stated = deal(None, excess_coupon="while_spread_fails", minimum_spread=3.9)
    assert figures(loans(), stated)["spread"] == pytest.approx(4.0)


@every(
    "rule, minimum, limit, more",
    [
        ("none", 3.5, 8.0, 0.0),
        ("always", 3.5, 8.0, (SPREAD - 3.5) * 9),
        ("always", 4.5, 8.0, (SPREAD - 4.5) * 9),
        ("floored", 4.5, 8.0, 0.0),
        ("while_coupon_fails", 3.5, 8.0, 0.0),
        ("while_coupon_fails", 3.5, 9.0, (SPREAD - 3.5) * 9),
    ],
)
def test_an_excess_spread_counts_as_the_conventions_say(rule: str, minimum: float, limit: float, more: float) -> None:
    """90 floating over 10 fixed: each hundredth of spread is nine of coupon."""
    by_key = deal(4.9, limit, excess_spread=rule, minimum_spread=minimum, excess_coupon="none")
    by_test = deal(minimum, limit, excess_spread=rule, excess_coupon="none")
    for definition in (by_key, by_test):
        result = figures(loans(), definition)
        assert result["coupon"] == pytest.approx(8.5 + more, abs=1e-6)
        assert result["spread"] == pytest.approx(SPREAD, abs=1e-6)


def test_an_excess_spread_is_above_the_limit_of_its_day() -> None:
    """The spread test stands behind the coupon's, and its limit has stepped to 3.5 by the day."""
    document = to_document(deal(3.0, 8.0, excess_spread="always", excess_coupon="none"))
    spread, coupon, _ = document["tests"]
    spread["steps"] = [{"from": "2025-01-01", "limit": 3.5}]
    stepped = parse({**document, "tests": [coupon, spread]})
    seen = replace(loans(), deal=Deal(as_of=20544.0))
    assert figures(seen, stepped)["coupon"] == pytest.approx(8.5 + (SPREAD - 3.5) * 9, abs=1e-6)
    circle = {
        "matrices": [{"id": "m_m", "rows": [1], "columns": [1], "values": [[1]], "row": "=coupon", "column": "=par"}]
    }
    spread = {"id": "spread", "name": "S", "measure": "was", "matrix": "m_m", "matrix_limit": "min"}
    with pytest.raises(DefinitionError, match="in a circle"):
        parse({**document, "quality": circle, "tests": [coupon, spread]})


def test_a_rule_that_nothing_decides_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"conventions.excess_spread: needs minimum_spread"):
        deal(None, excess_spread="floored")
    with pytest.raises(Unmeasurable):
        counted_excess("while_spread_fails", 0.1, 3.0, None)


@every(
    "printed, rules, value",
    [
        (None, {}, SPREAD - 0.3),
        (3.83, {}, SPREAD),
        (3.53, {}, SPREAD - 0.3),
        (4.10, {}, SPREAD - 0.3),
        (3.83, {"excess_coupon": "always"}, SPREAD - 0.3),
    ],
)
def test_the_file_says_whether_coupons_below_their_reference_take_off(
    printed: float | None, rules: dict[str, Any], value: float
) -> None:
    """Of what the definition says nothing.

    A percentage that is ours both ways, or neither way, decides nothing.
    """
    facts = () if printed is None else (
        Fact(
            kind="test", label="Spread", subject=FactSubject(measure="was"), value=printed, place="'T'!B2", decimals=2
        ),
    )  # fmt: skip
    ran = run_suite(
        replace(loans(4.3), facts=Facts(all=facts)), "enhanced", definition=deal(**rules), test_ids=["was"]
    )  # fmt: skip
    assert ran[0].current_value == pytest.approx(value, abs=1e-6)
    is_floored = value == SPREAD
    assert ("excess_coupon_floored" in [warning.code for warning in ran.warnings]) == is_floored
    assert ("counts as none" in " ".join(doubt.message for doubt in ran[0].doubt)) == is_floored


@every("subject", [None, FactSubject(measure="wac"), FactSubject(measure="was", detail="excl floors")])
def test_figures_of_something_else_say_nothing_of_the_spread(subject: FactSubject | None) -> None:
    """Even where their value is the spread without what coupons take off."""
    printed = Fact(kind="test", label="X", subject=subject, value=3.83, place="'T'!B2", decimals=2)
    portfolio = replace(loans(4.3), facts=Facts(all=(printed,)))
    ran = run_suite(portfolio, "enhanced", definition=deal(), test_ids=["was"])
    assert ran[0].current_value == pytest.approx(SPREAD - 0.3, abs=1e-6)
    assert "excess_coupon_floored" not in [warning.code for warning in ran.warnings]


def test_what_the_file_said_of_the_spread_stays_when_loans_change() -> None:
    """A printed average is that of the loans before.

    After a sale it ties with nothing, and no rule turns for that.
    """
    printed = Fact(kind="test", label="S", subject=FactSubject(measure="was"), value=3.83, place="'T'!B2", decimals=2)
    named = replace(loans(4.3), names={"borrower_name": Names(np.arange(3, dtype=np.int32), ("Ash", "Birch", "Cedar"))})
    floored = replace(named, facts=Facts(all=(printed,)))
    sale = Trade(trade_type="sell", borrower_name="Ash", par_value=30e6, price=100.0)
    simulator = Simulator(floored, "deal", definition=deal())
    after = simulator.run(simulator.holdings.traded([sale]))
    assert after.figures is not None
    assert after.figures["spread"] == pytest.approx((30 * 350 + 30 * 450) / 60 / 100)
    added = replace(printed, value=4.83)
    more = replace(named, facts=Facts(all=(added,)), deal=Deal(excess_spread=0.9e6))
    simulator = Simulator(more, "deal", definition=deal(excess_coupon="none"))
    assert simulator.before.figures is not None
    assert simulator.before.figures["spread"] == pytest.approx(SPREAD + 1.0)
    after = simulator.run(simulator.holdings.traded([sale]))
    assert after.figures is not None
    assert after.figures["spread"] == pytest.approx((30 * 350 + 30 * 450) / 60 / 100 + 0.9 / 60 * 100)
