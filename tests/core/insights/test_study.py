"""What finders ask for.

The other month, what a test measures, figures that loans do not give.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.insights.insight import FigureCondition, FigureRecipe, PortfolioChange
from core.insights.limits import headroom_of
from core.insights.study import FindingDraft, NotKnown
from core.insights.subject import Subject
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import A, portfolio_of, tranches_of
from tests.core.insights.small import AS_OF, figures_of, insights_of, small, study_of

LOANS = {"par_value": [60.0, 40.0], "cusip": ["111111AA1", "222222BB2"], "price": [90.0, 80.0]}
PRICES = {"id": "price", "name": "Price", "measure": "average_price", "min": 80}


def draft_of(subject: Subject) -> FindingDraft:
    return study_of(subject).draft("draft")


def test_a_figure_that_is_no_number_is_not_said() -> None:
    draft = draft_of(small(LOANS))
    for value in (nan, inf, -inf):
        with pytest.raises(NotKnown):
            draft.put("figure", value, "amount", FigureRecipe(operation="given"))
    with pytest.raises(NotKnown):
        draft["figure"]
    draft.quote("none", 0.0, "amount", "a place")
    draft.quote("some", 3.0, "amount", "a place")
    with pytest.raises(NotKnown):
        draft.combined("part", "quotient", "percent", "some", "none", times=100.0)
    assert draft.combined("part", "quotient", "percent", "none", "some", times=100.0) == 0.0
    assert draft.combined("gap", "difference", "amount", "some", "none") == 3.0
    with pytest.raises(NotKnown):
        draft.finding("data_quality", "context", "{some} of {missing}", "{some}", methodology="By hand.")


def test_loans_that_give_no_figure_have_none() -> None:
    draft = draft_of(small({"par_value": [60.0, 40.0], "price": [None, None]}))
    assert draft.loans("price", "average", "price", column="price") is None
    assert draft.loans("least", "least", "price", column="price") is None
    assert draft.loans("notes", "sum", "amount", column="current_balance", loans="notes") is None
    assert draft.figures == {}


def test_what_a_test_measures() -> None:
    tests = [
        {"id": "own", "name": "Own", "measure": "wal", "max": 7},
        {"id": "formula", "name": "Formula", "value": "=par", "max": 7},
    ]
    study = study_of(small(LOANS, tests=tests))
    assert study.measure("own") == "wal"
    assert study.measure("formula") == ""
    assert study.measure("oc_ratio") == "oc"
    assert study.measure("oc_class_b") == "oc"
    assert study.measure("ic_class_b") == "ic"
    assert study.measure("occlusion") == ""


def test_a_purchase_is_one_of_the_changes() -> None:
    study = study_of(small(LOANS, tests=[{"id": "how_many", "name": "Loans", "value": "=loans", "max": 7}]))
    trades = [{"trade_type": "buy", "par_value": 10.0, "borrower_name": f"New {at}"} for at in range(3)]
    change = PortfolioChange(kind="buy", trades=trades)
    assert [result.current_value for result in study.after(change)] == [5.0]
    assert study.after(change) is study.after(change)
    draft = study.draft("draft")
    assert draft.test("after", "how_many", change=change) == 5.0
    assert draft.test("none", "moon_phase") is None


def test_a_month_before_without_a_day_has_no_date() -> None:
    before = Subject(name="Small", portfolio=portfolio_of(LOANS, deal=Deal()))
    subject = replace(small(LOANS, tests=[PRICES]), previous=before)
    insights = insights_of(subject)
    assert (
        "By the figures of the month before, under the same rules, it was the same." in insights["thin:price"].summary
    )
    assert draft_of(replace(subject, previous=None)).since() == "the month before"
    dated = replace(before, portfolio=portfolio_of(LOANS, deal=Deal(as_of=AS_OF - 31)))
    draft = draft_of(replace(subject, previous=dated))
    assert (draft.since(), draft.figures["since"].text) == ("{since}", "1 December 2025")


def test_a_month_before_without_loans_is_none() -> None:
    empty = Subject(name="Small", portfolio=portfolio_of({"par_value": np.zeros(0)}))
    subject = replace(small(LOANS), previous=empty)
    assert study_of(subject).earlier is None
    keys = {key.partition(":")[0] for key in insights_of(subject)}
    assert keys.isdisjoint({"turnover", "migration", "prices", "drift", "stale"})


def test_the_other_month_may_lack_a_column() -> None:
    ranks = {"rating_agency_a": [A["B2"], A["B3"]]}
    before = Subject(name="Small", portfolio=portfolio_of(LOANS, deal=Deal(as_of=AS_OF - 31)))
    subject = replace(small(LOANS | ranks), previous=before)
    insights = insights_of(subject)
    assert "migration" not in insights
    assert "turnover" in insights
    columns = study_of(subject)
    assert columns.earlier is not None
    assert np.isnan(columns.columns.paired("rating_agency_a")).all()
    assert columns.columns.paired("price").tolist() == [90.0, 80.0]


def test_loans_are_named_by_what_they_have() -> None:
    columns = {
        "par_value": [60.0, 30.0, 10.0],
        "borrower_name": ["Ash", None, None],
        "cusip": [None, "222222BB2", None],
    }
    study = study_of(small(columns))
    assert [study.borrower(row) for row in range(3)] == ["Ash", "222222BB2", "loan 3"]
    assert study.covered("par_value") == 100.0


def test_figures_of_columns() -> None:
    notes = tranches_of([("A", 50.0), ("Sub", 20.0)], coupon=[5.0, None])
    columns = study_of(small(LOANS | {"spread": [300.0, None]}, tranches=notes)).columns
    assert columns.figure(FigureRecipe(operation="sum")) == 100.0
    assert columns.figure(FigureRecipe(operation="count", where=[FigureCondition("spread", "blank")])) == 1.0
    assert columns.figure(FigureRecipe(operation="count", where=[FigureCondition("price", "at_most", 80.0)])) == 1.0
    assert columns.figure(FigureRecipe(operation="share", where=[FigureCondition("price", "below", 90.0)])) == 40.0
    assert columns.figure(FigureRecipe(operation="average", column="price")) == 86.0
    assert columns.figure(FigureRecipe(operation="average", column="spread")) == 300.0
    assert columns.figure(FigureRecipe(operation="weighted", column="price", times=0.01)) == pytest.approx(86.0)
    assert columns.figure(FigureRecipe(operation="least", column="price")) == 80.0
    assert columns.figure(FigureRecipe(operation="most", column="price")) == 90.0
    assert columns.figure(FigureRecipe(operation="sum", column="current_balance", loans="notes")) == 50.0
    assert columns.figure(FigureRecipe(operation="average", column="coupon", loans="notes")) == 5.0


def test_a_failing_test_without_a_cushion_has_the_least_headroom() -> None:
    """Of a limit of nothing there is no percentage."""
    cov_lite = {"id": "cov_lite", "name": "Cov-lite", "measure": "cov_lite", "max": 0}

    def headroom(flags: list[int], **limit: float) -> float:
        (result,) = small(LOANS | {"cov_lite": flags}, tests=[cov_lite | limit]).results
        return headroom_of(result)

    assert headroom([0, 1]) == -inf
    assert headroom([0, 0]) == inf
    assert headroom([0, 1], max=50) == pytest.approx(20.0)
    assert headroom([0, 1], max=32) == pytest.approx(-25.0)


def test_an_insight_shows_itself() -> None:
    insight = insights_of(small(LOANS))["verdict"]
    assert repr(insight) == f"Insight({insight.title!r}, priority={insight.priority})"
    html = insight._repr_html_()
    assert insight.figures[0].text in html
    assert figures_of(insight)["tests: all"] == len(small(LOANS).results)


@given(
    st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([80.0, 90.0]), st.booleans()), min_size=1),
    st.integers(1, 9),
)
def test_the_first_of_some_loans(loans: list[tuple[float, float, bool]], most: int) -> None:
    par, price, chosen = zip(*loans, strict=True)
    columns = study_of(small({"par_value": par, "price": price})).columns
    rows = sorted(np.flatnonzero(chosen).tolist(), key=lambda row: -par[row])
    assert columns.largest(np.array(chosen), most).tolist() == rows[:most]
    rows.sort(key=lambda row: price[row])
    assert columns.lowest("price", np.array(chosen), most).tolist() == rows[:most]
