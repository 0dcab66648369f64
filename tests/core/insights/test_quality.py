"""What is doubted: a figure that the file prints otherwise, breaks, blanks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.insights.analyst import analyse
from core.insights.insight import Insight
from core.insights.ranking import DISPUTED
from core.insights.subject import Breaks, Subject
from core.insights.words import plain
from core.portfolio.model.facts import Fact, Facts
from tests.core.insights.conftest import COV_LITE, story


def insights_by_key(subject: Subject, **more: object) -> dict[str, Insight]:
    return {item.key: item for item in analyse([subject], most=200, **more)}  # type: ignore[arg-type]


def printed(subject: Subject, name: str, value: float, trigger: float, status: str) -> Subject:
    own = Fact(
        kind="test", label=name, subject=COV_LITE, value=value, trigger=trigger, unit="percent",
        status=status, place="'Tests'!C4", decimals=2,  # type: ignore[arg-type]
    )  # fmt: skip
    return replace(subject, portfolio=replace(subject.portfolio, facts=Facts(all=(own,))))


def test_a_failure_that_the_file_calls_a_pass_is_told_as_disputed(demo: Subject) -> None:
    (own,) = (result for result in demo.results if result.test_id == "cov_lite_concentration")
    limit = round(own.current_value - 5, 2)
    subject = printed(demo, "Cov-Lite Loans", round(own.current_value - 7, 2), limit, "pass")
    outcome = insights_by_key(subject)
    failing, differs = outcome["failing:cov_lite_concentration"], outcome["differs"]
    assert "calls it passed" in failing.summary
    assert "fails by our figures, which is doubtful" in failing.title
    assert "This is doubtful: the file itself prints" in failing.summary
    assert f"{own.current_value - 7:.2f} %" in failing.summary
    assert failing.confidence == pytest.approx(0.95 * DISPUTED, abs=0.006)
    assert differs.priority == 2
    cells = {figure.recipe.place for figure in differs.figures}
    assert "'Tests'!C4" in cells
    verdict = outcome["verdict"]
    every = {figure.name: figure.value for figure in verdict.figures}
    assert every["tests: doubtful"] >= 1
    assert every["tests: fail beyond doubt"] == every["tests: fail"] - sum(
        result.doubtful and result.status == "fail" for result in subject.results
    )
    assert "Doubtful" in verdict.summary
    assert plain(own.test_name) in verdict.summary.partition("Doubtful")[2], "every doubtful test is named"
    same = printed(demo, "Cov-Lite Loans", round(own.current_value, 2), 60.0, "pass")
    assert "differs" not in insights_by_key(same)


def test_breaks_by_their_gravity(demo: Subject) -> None:
    none = Breaks(tape="March", compared=10, matched=10, by_severity={}, by_field={})
    assert insights_by_key(replace(demo, breaks=none))["breaks"].priority == 5
    assert "breaks" not in insights_by_key(replace(demo, breaks=None))
    assert insights_by_key(demo)["breaks"].priority == 1
    small = replace(none, by_severity={"info": 2}, by_field={"borrower_name": 2})
    assert insights_by_key(replace(demo, breaks=small))["breaks"].priority == 3


def test_blanks_and_remarks_are_told(demo: Subject) -> None:
    result = insights_by_key(
        replace(demo, remarks=("No stored run is behind these figures.",)), stakeholder="operations"
    )
    assert {figure.name: figure.value for figure in result["gaps"].figures}["loans without prices"] == 1
    assert "spreads" not in result["gaps"].summary  # the loans without one are fixed-rate ones
    assert result["gaps"].remarks[0] == "No stored run is behind these figures."
    assert result["warned"].remarks[1:]


def test_coverage_lowers_confidence() -> None:
    subject = story()
    price = subject.portfolio.numbers["price"].copy()
    price[: len(price) // 2] = float("nan")
    half = replace(subject, portfolio=replace(subject.portfolio, numbers={**subject.portfolio.numbers, "price": price}))
    assert insights_by_key(half)["distressed"].confidence < 0.6 < insights_by_key(subject)["distressed"].confidence
    assert "worth" not in insights_by_key(half)
