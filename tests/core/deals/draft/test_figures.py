"""Which printed figures become tests of a draft, and what of them stays open."""

from __future__ import annotations

from typing import Any

from core.compliance.matching import Terms
from core.deals.draft.figures import DraftTest, UnmeasuredTest, sort_figures
from core.portfolio.model.facts import Fact
from core.portfolio.pages.report.subjects import subject_of
from tests.rows import every

US = Terms(("US",))


def printed(label: str, value: float | None = 3.0, trigger: float | None = 10.0, at: int = 2, **more: Any) -> Fact:
    options: dict[str, Any] = {"kind": "test", "direction": "max", "unit": "percent", **more}
    return Fact(
        label=label, subject=subject_of(label).subject, value=value, trigger=trigger, place=f"'Tests'!B{at}", **options
    )


def sorted_of(*facts: Fact) -> tuple[list[DraftTest], list[UnmeasuredTest]]:
    return sort_figures(facts, US)


def test_a_printed_test_is_measured_with_its_side() -> None:
    (item,), left = sorted_of(printed("Cov-Lite Loans"))
    assert left == []
    assert (item.measured, item.side, item.open_limit) == ({"measure": "cov_lite"}, "max", "")


@every("label, more, why", [
    ("Cov-Lite Loans", {"is_guessed": True}, "a guess"),
    ("Cov-Lite Loans", {"direction": None}, "maximum or a minimum"),
    ("Cov-Lite Loans", {"unit": "amount"}, "another unit"),
    ("Cov-Lite Loans", {"unit": None, "trigger": 0.3}, "no unit"),
    ("Cov-Lite Loans", {"status": "pass", "value": 12.0}, "printed outcome"),
    ("Cov-Lite Loans", {"trigger": -3.0}, "outside"),
    ("Class C Par Value Test", {"trigger": 1e20, "direction": "min"}, "outside"),
    ("Minimum Cov-Lite Loans", {}, "speaks against"),
])  # fmt: skip
def test_an_uncertain_limit_stays_open(label: str, more: dict[str, Any], why: str) -> None:
    (item,), _ = sorted_of(printed(label, **more))
    assert why in item.open_limit


@every("more", [{"unit": None}, {"trigger": None}, {"status": "pass"}, {"status": "fail", "value": 12.0},
                {"status": "pass", "value": 10.0}, {"value": None}])  # fmt: skip
def test_a_certain_limit_does_not(more: dict[str, Any]) -> None:
    (item,), _ = sorted_of(printed("Cov-Lite Loans", **more))
    assert item.open_limit == ""


def test_two_rows_of_one_thing_are_one_test_with_two_names() -> None:
    drafted, left = sorted_of(printed("Cov-Lite Loans"), printed("Covenant-Lite Obligations", trigger=None, at=3))
    assert [item.fact.place for item in drafted] == ["'Tests'!B2"]
    assert drafted[0].aliases == ["Covenant-Lite Obligations"]
    assert left == []


def test_two_rows_that_contradict_each_other_are_none() -> None:
    drafted, left = sorted_of(printed("Cov-Lite Loans"), printed("Cov-Lite Loans", trigger=12.0, at=3))
    assert drafted == []
    assert [item.fact.trigger for item in left] == [10.0, 12.0]
    assert all("printed again" in item.why for item in left)


@every("fact", [
    printed("Weighted Average Colour"),
    printed("Maximum Obligor Concentration Test", 12.0, 20.0),
    printed("Top 3 Industries Combined", 25.0, 40.0),
    printed("Weighted Average Rating Factor", 25.0, 26.0, unit="factor"),
    printed("Unhedged Obligations", 0.0, None, status="pass"),
])  # fmt: skip
def test_what_words_leave_open_is_listed_with_its_limit(fact: Fact) -> None:
    drafted, (left,) = sorted_of(fact)
    assert (drafted, left.fact) == ([], fact)
    assert left.why


def test_a_figure_that_nothing_measures_is_no_test() -> None:
    assert sorted_of(printed("Weighted Average Colour", 3.0, None, kind="figure")) == ([], [])
    (item,), _ = sorted_of(printed("Weighted Average Coupon", 5.0, None, kind="figure"))
    assert item.measured == {"measure": "wac"}
