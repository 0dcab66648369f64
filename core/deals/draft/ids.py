"""Ids and names of the tests of a draft: those of the suites and the market's standard where they measure the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from core.compliance.matching import said_of, suite_said
from core.definition import READY
from core.definition.terms import SUITE_TESTS
from core.portfolio.model.facts import Fact

ID_MAX: Final = 60
"""Characters of an id that is made of words."""

AGENCY_SLUGS: Final = {"a": "moodys", "b": "sp", "c": "fitch"}

_ORDINALS: Final = ("", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_NAMES: Final = {"warf": "rating_factor", "warr": "recovery_rate", "diversity": "diversity_score"}
"""What ids call a measure where that is not its own name."""


def id_of(test: Mapping[str, Any], fact: Fact, market: str, industries: str | None) -> str:
    """The id of a test by what it measures.

    Args:
        test: measure, share or value, with their parameters.
        fact: the printed figure, whose subject names a share.
        market: the ready-made definition that the draft is based on.
        industries: the agency by whose industries the tests go where nothing else is said.
    """
    measure = test.get("measure")
    if measure in ("oc", "ic"):
        return f"{measure}_class_{_slug(test['class'].replace('/', ''))}"
    usual = _usual(market).get(_plain(test, industries))
    if usual is not None:
        return usual
    if measure is None:
        subject = fact.subject
        return f"{_slug(' '.join(filter(None, (subject.measure, subject.detail))) if subject else 'share')}_share"
    if measure == "top_obligors":
        return f"top_{test['nth']}_concentration"
    agency = AGENCY_SLUGS.get(test.get("agency") or test.get("classification") or "", "")
    kind = "concentration" if measure in ("obligor", "industry", "country", "ccc") else ""
    return "_".join(filter(None, (_ordinal(test.get("nth", 1)), agency, _NAMES.get(measure, measure), kind)))


def unique(wanted: str, taken: set[str]) -> str:
    """The id, numbered where it is taken."""
    wanted = wanted[:ID_MAX].rstrip("_")
    found, number = wanted, 2
    while found in taken:
        found, number = f"{wanted}_{number}", number + 1
    taken.add(found)
    return found


def _ordinal(nth: int) -> str:
    return _ORDINALS[nth - 1] if nth <= len(_ORDINALS) else f"number_{nth}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "other"


def _plain(test: Mapping[str, Any], industries: str | None) -> tuple[tuple[str, Any], ...]:
    """What a test measures, without what is understood."""
    measure = test.get("measure")
    understood: set[tuple[str, Any]] = {("classification", industries), ("classification", "any")}
    if measure in ("obligor", "industry", "country"):
        understood.add(("nth", 1))
    if measure in ("warf", "warr"):
        understood.add(("agency", "a"))
    return tuple(sorted((name, value) for name, value in test.items() if (name, value) not in understood))


def _usual(market: str) -> dict[tuple[tuple[str, Any], ...], str]:
    """Id by what is measured, of the market's standard and the suites; the former's come first."""
    suites = {_plain(said, None): test_id for test_id in SUITE_TESTS if (said := suite_said(test_id)) is not None}
    own = {_plain(said_of(test), None): test.id for test in READY[market].tests}
    return suites | own
