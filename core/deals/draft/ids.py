"""Ids and names of the tests of a draft.

Those of the suites and the market's standard where they measure the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from core.compliance.matching import suite_terms, terms_of_test
from core.definition import READY
from core.definition.terms import FORMULAS, SUITE_TESTS
from core.portfolio.model.facts import Fact

ID_MAX: Final = 60
"""Characters of an id that is made of words."""

AGENCY_SLUGS: Final = {"a": "moodys", "b": "sp", "c": "fitch"}

_ORDINALS: Final = ("", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_NAMES: Final = {"warf": "rating_factor", "warr": "recovery_rate", "diversity": "diversity_score"}
"""What ids call a measure where that is not its own name."""


def id_of(test: Mapping[str, Any], fact: Fact, market: str, industries: str | None) -> str:
    """Return the id of a test by what it measures.

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
    return usual if usual is not None else "_".join((_id_by_meaning(test, fact, industries), *_parts(test, fact)))


def _parts(test: Mapping[str, Any], fact: Fact) -> list[str]:
    """Return what an id says of the loans among which a test measures, and of the amounts inside its share."""
    subset = (fact.subject.subset if fact.subject is not None else None) or "some"
    return [
        *([f"among_{_slug(subset)}"] if "among" in test else []),
        *(f"with_{_slug(each)}" for each in test.get("adds", ())),
    ]


def _id_by_meaning(test: Mapping[str, Any], fact: Fact, industries: str | None) -> str:
    """Return an id by the measure and its parameters."""
    measure = test.get("measure")
    if measure is None:
        subject = fact.subject
        return f"{_slug(' '.join(filter(None, (subject.measure, subject.detail))) if subject else 'share')}_share"
    if measure == "top_obligors":
        return f"top_{test['nth']}_concentration"
    classification = test.get("classification")
    agency = AGENCY_SLUGS.get(test.get("agency") or (classification if classification != industries else "") or "", "")
    kind = "concentration" if measure in FORMULAS or measure in ("obligor", "industry", "country", "ccc") else ""
    return "_".join(filter(None, (_ordinal(test.get("nth", 1)), agency, _NAMES.get(measure, measure), kind)))


def unique(wanted: str, taken: set[str]) -> str:
    """Return the id, numbered where it is taken."""
    wanted = wanted[:ID_MAX].rstrip("_")
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name


def _ordinal(nth: int) -> str:
    return _ORDINALS[nth - 1] if nth <= len(_ORDINALS) else f"number_{nth}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "other"


def _plain(test: Mapping[str, Any], industries: str | None) -> tuple[tuple[str, str], ...]:
    """Return what a test measures, without what is understood."""
    if (share := test.get("share")) in _MEASURES:
        test = {**test, "share": None, "measure": _MEASURES[share]}
    measure = test.get("measure")
    understood: list[tuple[str, Any]] = [("classification", industries), ("classification", "any")]
    if measure in ("obligor", "industry", "country"):
        understood.append(("nth", 1))
    if measure in ("warf", "warr"):
        understood.append(("agency", "a"))
    return tuple(
        sorted(
            (name, repr(value)) for name, value in test.items() if value is not None and (name, value) not in understood
        )
    )


_MEASURES: Final = {formula: measure for measure, formula in FORMULAS.items()}
"""The measure that a share's formula is."""


def _usual(market: str) -> dict[tuple[tuple[str, str], ...], str]:
    """Id by what is measured, of the market's standard and the suites.

    The former's come first.
    """
    suites = {_plain(terms, None): test_id for test_id in SUITE_TESTS if (terms := suite_terms(test_id)) is not None}
    own = {_plain(terms_of_test(test), None): test.id for test in READY[market].tests}
    return suites | own
