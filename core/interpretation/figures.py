"""Which test of ours measures each figure that a file prints.

The definition's, or one that is made for the figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.compliance.conventions import printed_agency
from core.compliance.coverage import letter_of
from core.compliance.deal_suite import tests_of, with_coverage
from core.compliance.matching import (
    Pairs,
    Terms,
    UnmatchedFigure,
    pair_figures,
    suite_terms,
    terms_of,
    with_counted_decimals,
)
from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.definition import Definition, DefinitionError, parse_changed
from core.definition.names import NoMeaning, SubjectMeaning, meaning_of_fact
from core.definition.terms import SUITE_TESTS
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact

PUBLISHED_MAX: Final = 500
"""Figures of a file that are set beside ours."""

TRIGGER_MAX: Final = 100_000.0
"""Percent of a ratio's trigger; what is above is an amount."""

NAME_MAX: Final = 200
"""Characters of a label that name the test which is made for it."""


@dataclass(frozen=True, slots=True)
class FigureTest:
    """A published figure and the test that measures it."""

    published: Fact
    test: dict[str, Any] | None
    """As in a definition's document."""
    unmatched: UnmatchedFigure | None = None
    """Why there is no test."""


def figure_tests(portfolio: Portfolio, base: dict[str, Any], rules: Definition) -> list[FigureTest]:
    """Return the file's figures with the tests that measure them.

    The definition's where one is about the same, else a test that is made for the figure.
    """
    figures = with_counted_decimals(portfolio.facts.figures)[:PUBLISHED_MAX]
    pairs, industries = _pairs(portfolio, parse_changed(base, rules), figures)
    matched: dict[int, str] = {}
    for match in pairs.matches:
        if not _is_of_every_agency(match.published, own_test(base, match.test.test_id)):
            matched.setdefault(id(match.published), match.test.test_id)
    left = {id(unmatched.published): unmatched for unmatched in pairs.listed if not unmatched.is_measurable}
    taken = {test["id"] for test in base.get("tests", ())} | set(matched.values())
    rows = []
    for at, fact in enumerate(figures):
        if id(fact) in left:
            rows.append(FigureTest(fact, None, left[id(fact)]))
            continue
        meaning, test_id = meaning_of_fact(fact), matched.get(id(fact))
        own = None if test_id is None else own_test(base, test_id)
        if own is not None:
            rows.append(FigureTest(fact, _with_trigger(own, fact) if base.get("standard") else _with_limit(own, fact)))
            continue
        if isinstance(meaning, NoMeaning):
            rows.append(FigureTest(fact, None, UnmatchedFigure(fact, None, meaning.why)))
            continue
        by_name = {
            name: value for name, value in meaning.test.items() if (name, value) != ("classification", industries)
        }
        test_id = test_id or _new_id(by_name, taken, at)
        taken.add(test_id)
        limit = 0.0 if fact.trigger is None else fact.trigger
        rows.append(FigureTest(fact, {"id": test_id, "name": _name(fact.label), **by_name, meaning.side: limit}))
    return rows


def _pairs(portfolio: Portfolio, rules: Definition, figures: Sequence[Fact]) -> tuple[Pairs, str | None]:
    """Return the figures beside the definition's tests, and those of a ready-made one for the classes of the file; the
    agency whose industries the loans have where nothing else is said."""
    terms, pool = terms_by(portfolio, rules)
    if rules.standard:
        rules, _ = with_coverage(rules, pool)
    own = {test.id: test for test in rules.tests}
    return pair_figures(tests_of(rules), own, terms, figures), terms.industry_agency


def terms_by(portfolio: Portfolio, rules: Definition) -> tuple[Terms, Pool | None]:
    """Return what labels mean by the rules of a deal where they say no more.

    The sums of its loans, None where it has none.
    """
    pool = next(iter(pools_of(portfolio, rules)), None)
    if pool is not None:
        return terms_of(pool), pool
    home = rules.conventions.home_countries
    return Terms(home, printed_agency(portfolio, "warr"), printed_agency(portfolio, "industry")), None


def own_test(base: Mapping[str, Any], test_id: str) -> dict[str, Any] | None:
    """Return the test of a document with this id."""
    return next((test for test in base.get("tests", ()) if test["id"] == test_id), None)


def _is_of_every_agency(fact: Fact, own: dict[str, Any] | None) -> bool:
    """Return whether one agency's bucket stands beside the greatest of all.

    It is measured by that agency alone.
    """
    subject = fact.subject
    return bool(own and own.get("measure") == "ccc" and "agency" not in own and subject and subject.agency)


def _new_id(terms: Mapping[str, Any], taken: set[str], at: int) -> str:
    """Return the id of a test that is made for a figure.

    That of a run's test which measures the same.
    """
    if terms.get("measure") in ("oc", "ic"):
        usual = f"{terms['measure']}_class_{terms['class'].replace('/', '').lower()}"
    else:
        is_moodys = terms.get("agency") == "a" and terms.get("measure") in ("warf", "warr")
        plain = {name: value for name, value in terms.items() if name != "agency" or not is_moodys}
        usual = next((test_id for test_id in SUITE_TESTS if suite_terms(test_id) == plain), "")
    return f"published_{at + 1}" if not usual or usual in taken else usual


def _name(label: str) -> str:
    """Return a label as the name of a test."""
    return label[:NAME_MAX].strip() or "Test"


def _with_trigger(test: dict[str, Any], published: Fact) -> dict[str, Any]:
    """Return a market's test with the limit of the deal: what the file says."""
    side = next((side for side in ("max", "min") if side in test), None)
    if side is None or published.trigger is None:
        return test
    return {name: test[name] for name in test if name not in ("warning", "steps")} | {side: published.trigger}


def _with_limit(test: dict[str, Any], published: Fact) -> dict[str, Any]:
    """Return a definition's test.

    One without a limit with the printed one, since a run has no result of it otherwise.
    """
    if any(name in test for name in ("max", "min", "matrix")):
        return test
    meaning = meaning_of_fact(published)
    side = meaning.side if isinstance(meaning, SubjectMeaning) else "max"
    return {**test, side: 0.0 if published.trigger is None else published.trigger}


def with_tests(base: dict[str, Any], rules: Definition, tests: dict[str, Any]) -> tuple[Definition, dict[str, str]]:
    """Return the definition with these tests, and why some are taken out of them.

    It lacks something that they need.
    """
    refused: dict[str, str] = {}
    while True:  # what the tests lack among themselves is told only where each of them is a test
        ids = list(tests)
        try:
            return parse_changed({**base, "tests": list(tests.values())}, rules), refused
        except DefinitionError as error:
            faults = [(_PLACE.match(place), message) for place, message in error.faults]
            if not all(place for place, _ in faults):
                raise
            for place, message in faults:
                assert place is not None
                test_id = ids[int(place[1])]
                refused.setdefault(test_id, f"the definition does not say how: {message}")
                tests.pop(test_id, None)


_PLACE: Final = re.compile(r"tests\[(\d+)\]")


def with_ratio_classes(base: dict[str, Any], portfolio: Portfolio) -> dict[str, Any]:
    """Return the document with the class of the reinvestment test, which is the most junior one with an OC trigger."""
    notes = portfolio.tranches
    if notes is None or "reinvestment_oc" in base:
        return base
    tested = np.flatnonzero(~np.isnan(notes.oc_trigger) & ~notes.is_income)
    limited = (fact for fact in portfolio.facts.of("test", "reinvestment") if fact.trigger is not None)
    published = next((fact for fact in limited if 0.0 <= (fact.trigger or 0.0) <= TRIGGER_MAX), None)
    if not len(tested) or published is None:
        return base
    name = notes.classes[int(tested[-1])]
    junior, classes = letter_of(name) or name, [each["name"] for each in base.get("classes", ())]
    if classes and not any(junior == note_class or junior in note_class.split("/") for note_class in classes):
        return base  # the definition's own classes do not have it
    return {**base, "reinvestment_oc": {"class": junior, "trigger": published.trigger}}
