"""How near a few loans are to their limits, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.insights.subject import Subject
from core.portfolio.model.facts import Fact, Facts
from tests.core.compliance.conftest import tranches_of
from tests.core.insights.conftest import COV_LITE
from tests.core.insights.small import figures_of, insights_of, small

LOANS = {"par_value": [60e6, 40e6], "cov_lite": [0, 1], "price": [99.0, 95.0]}
SHARE = {"id": "cov_lite", "name": "Cov-lite", "measure": "cov_lite"}


def deal(maximum: float, **more: float) -> Subject:
    return small(LOANS, tests=[SHARE | {"max": maximum}], **more)


def test_a_deal_with_limits_of_its_own_is_held_to_no_usual_one() -> None:
    insight = insights_of(deal(50))["verdict"]
    assert (figures_of(insight)["tests: pass"], figures_of(insight)["tests: all"]) == (1, 1)
    assert "usual limit" not in insight.summary
    assert "none is in its warning band" in insight.summary
    suite = insights_of(small(LOANS))["verdict"]
    assert "held to a usual limit of the market" in suite.summary


def test_a_failing_limit_and_what_it_comes_to_in_money() -> None:
    """40 of 100 is 5 above 35 percent: 5m."""
    insights = insights_of(deal(35), stakeholder="finance")
    assert figures_of(insights["verdict"])["tests: fail beyond doubt"] == 1
    insight = insights["failing:cov_lite"]
    assert "It would pass with 5.00m less of such par at the same total." in insight.summary
    assert figures_of(insight)["Cov-lite, cushion"] == pytest.approx(-5.0)
    thin = [insights_of(deal(limit), stakeholder="finance")["thin:cov_lite"] for limit in (40.5, 41.0, 60.0)]
    assert "Another 1.00m of such par, at the same total, would use it up." in thin[1].summary
    assert [insight.priority for insight in thin] == [2, 3, 4]


@pytest.mark.parametrize("value", [None, 37.25])
def test_a_status_that_the_file_prints_otherwise_is_doubtful(value: float | None) -> None:
    """With its figure, or by its word alone."""
    printed = Fact(
        kind="test", label="Cov-Lite Loans", subject=COV_LITE, value=value, trigger=35.0, unit="percent",
        status="pass", place="'Tests'!B2", decimals=2,
    )  # fmt: skip
    subject = deal(35)
    subject = replace(subject, portfolio=replace(subject.portfolio, facts=Facts(all=(printed,))))
    (result,) = subject.results
    assert result.doubtful
    insights = insights_of(subject)
    words = "the file itself calls it passed" if value is None else "the file itself prints 37.25 % and calls it passed"
    assert words in insights["failing:cov_lite"].summary
    assert words in insights["verdict"].summary
    figures = figures_of(insights["verdict"])
    assert [figures[f"tests: {name}"] for name in ("fail", "fail beyond doubt", "doubtful")] == [1, 0, 1]


def test_a_coverage_test_tells_what_its_numerator_may_lose() -> None:
    """100m over 80m is 125 percent; 120 percent asks for 96m."""
    oc = {"id": "oc_a", "name": "OC of A", "measure": "oc", "class": "A"}
    notes = tranches_of([("A", 80e6)])
    columns = {"par_value": [60e6, 40e6]}
    thin = insights_of(small(columns, tranches=notes, tests=[oc | {"min": 120}]), stakeholder="finance")["thin:oc_a"]
    assert "Its numerator may lose 4.00m before it fails." in thin.summary
    assert thin.category == "financial_health"
    fails = insights_of(small(columns, tranches=notes, tests=[oc | {"min": 130}]), stakeholder="finance")
    assert "It is 4.00m short of what the minimum asks of its numerator." in fails["failing:oc_a"].summary
    assert "turns interest away from the junior classes" in insights_of(
        small(columns, tranches=notes, tests=[oc | {"min": 130}]), stakeholder="executive"
    )["verdict"].summary  # fmt: skip


def test_an_average_has_no_money_to_tell() -> None:
    price = {"id": "price", "name": "Price", "measure": "average_price", "min": 95}
    insight = insights_of(small(LOANS, tests=[price]), stakeholder="finance")["thin:price"]
    assert "would use it up" not in insight.summary
    assert "may lose" not in insight.summary
    assert figures_of(insight)["Price, value"] == pytest.approx(97.4)


def test_what_loans_are_worth_beside_the_notes() -> None:
    notes = tranches_of([("A", 80e6), ("Sub", 20e6)])
    insight = insights_of(small(LOANS, tranches=notes, principal_cash=2e6))["worth"]
    figures = figures_of(insight)
    assert figures["balance of rated notes"] == 80e6
    assert figures["loans at their prices"] == pytest.approx(97.4e6)
    assert figures["assets"] == pytest.approx(99.4e6)
    assert "worth" not in insights_of(small(LOANS, tranches=tranches_of([("Sub", 20e6)])))
    assert "worth" not in insights_of(small(LOANS))


@pytest.mark.parametrize(
    ("cash", "title"), [(-3e6, "Principal cash is overdrawn by 3.00m"), (None, None), (float("nan"), None)]
)
def test_cash(cash: float | None, title: str | None) -> None:
    insights = insights_of(deal(50, **({} if cash is None else {"principal_cash": cash})))
    assert (insights["cash"].title if "cash" in insights else None) == title
    if title is not None:
        assert figures_of(insights["cash"])["cash"] == cash
        assert figures_of(insights["cash"])["share"] == pytest.approx(-3 / 97 * 100)
