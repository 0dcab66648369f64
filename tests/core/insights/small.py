"""Deals of a few loans, whose figures are worked out in the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.definition import parse
from core.insights.analyst import analyse
from core.insights.insight import Insight, Stakeholder
from core.insights.study import Study
from core.insights.subject import Subject
from core.portfolio.model.portfolio import Deal, Tranches
from tests.core.compliance.conftest import portfolio_of

AS_OF = 20_454.0
"""1 January 2026, in days since 1970."""


def small(
    columns: Mapping[str, Sequence[Any]], *, tranches: Tranches | None = None, tests: Any = None, **deal: Any
) -> Subject:
    """Return a subject of these loans.

    With `tests`, those of a definition are the whole suite.
    """
    portfolio = portfolio_of(columns, tranches=tranches, deal=Deal(as_of=AS_OF, **deal))
    if tests is None:
        return Subject(name="Small", portfolio=portfolio)
    rules = {"definition": parse({"base": "us_bsl", "tests": tests})}
    return Subject(name="Small", portfolio=portfolio, suite="deal", rules=rules)


def study_of(subject: Subject) -> Study:
    assert subject.pool is not None
    return Study(subject, subject.pool)


def insights_of(*subjects: Subject, stakeholder: Stakeholder = "analyst") -> dict[str, Insight]:
    """Return all that there is to say, by key."""
    return {insight.key: insight for insight in analyse(subjects, stakeholder=stakeholder, most=300)}


def figures_of(insight: Insight) -> dict[str, Any]:
    return {figure.name: figure.value for figure in insight.figures}
