"""Which printed figures become tests of a draft, which limits stay open, and which figures no test of ours measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from core.compliance.matching import Terms, UnmatchedFigure, pair_figures
from core.definition.names import SubjectMeaning, meaning_of_fact
from core.definition.terms import MEASURES
from core.portfolio.cells.string_pool import key
from core.portfolio.model.facts import Direction, Fact

LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "percent": (1.0, 1_000.0), "years": (0.5, 20.0), "factor": (5.0, 10_000.0), "score": (5.0, 300.0),
    "number": (1.0, 10_000.0), "amount": (0.0, 1e15),
}  # fmt: skip
"""Limits that are in a unit beyond doubt where the page prints none: what lies outside may be a fraction."""

LIMIT_MAX: Final = 100_000.0
"""Of a limit that is no amount: in percent that of a ratio."""

UNITS: Final[Mapping[str, tuple[str | None, ...]]] = {
    "percent": ("percent", None), "years": ("years", None), "factor": ("factor", None), "score": ("factor", None),
    "number": ("factor", "count", None), "amount": ("amount",),
}  # fmt: skip
"""Units of a printed figure that are the unit of a test of ours; None: its page says none."""

SCALE_LEAST: Final = 200.0
"""A rating factor from here on is on Moody's scale where its name says no agency: Fitch's ends at 100."""

_AGAINST: Final = {"max": frozenset(("minimum", "min")), "min": frozenset(("maximum", "max"))}


@dataclass(frozen=True, slots=True)
class DraftTest:
    """A printed figure and the test that measures it."""

    fact: Fact
    measured: dict[str, Any]
    """Measure, share or value, with their parameters, as a definition's document has them."""
    side: Direction
    open_limit: str = ""
    """Why its limit has to be decided; "" where it is certain, or none is printed."""
    aliases: list[str] = field(default_factory=list)
    """Other names of the same figure."""


@dataclass(frozen=True, slots=True)
class UnmeasuredTest:
    """A printed test that no test of ours measures, or not certainly."""

    fact: Fact
    why: str
    nearest: dict[str, Any] = field(default_factory=dict)
    """What comes nearest, as a definition's document has it."""


def sort_figures(figures: Iterable[Fact], terms: Terms) -> tuple[list[DraftTest], list[UnmeasuredTest]]:
    """Return the figures that are measured, each thing once, and the tests that are not, in the file's order."""
    facts = tuple(figures)
    listed = {id(unmatched.published): unmatched for unmatched in pair_figures((), {}, terms, facts).listed}
    drafted: list[DraftTest] = []
    unmeasured: list[UnmeasuredTest] = []
    by_measure: dict[tuple[tuple[str, str], ...], DraftTest] = {}
    repeated: list[Fact] = []
    for fact in facts:
        each, meaning = listed[id(fact)], meaning_of_fact(fact)
        if each.is_measurable and isinstance(meaning, SubjectMeaning):
            if (why := _unclear(fact, meaning)) is not None:
                unmeasured.append(UnmeasuredTest(fact, why, meaning.test))
                continue
            drafted.append(DraftTest(fact, meaning.test, meaning.side, _open_limit(fact, meaning)))
            by_measure[_items(meaning.test)] = drafted[-1]
        elif each.is_repeated:
            repeated.append(fact)
        elif _is_test(fact):
            unmeasured.append(_unmeasured(each))
    for fact in repeated:
        meaning = meaning_of_fact(fact)
        first = by_measure.get(_items(meaning.test)) if isinstance(meaning, SubjectMeaning) else None
        if first is not None and key(fact.label) not in {key(name) for name in (first.fact.label, *first.aliases)}:
            first.aliases.append(fact.label)
    return drafted, unmeasured


def _is_test(fact: Fact) -> bool:
    return fact.kind == "test" and (fact.trigger is not None or fact.status is not None)


def _items(test: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in test.items()))


def _unmeasured(unmatched: UnmatchedFigure) -> UnmeasuredTest:
    meaning = meaning_of_fact(unmatched.published)
    return UnmeasuredTest(
        unmatched.published, unmatched.why, meaning.test if isinstance(meaning, SubjectMeaning) else meaning.nearest
    )


def _unclear(fact: Fact, meaning: SubjectMeaning) -> str | None:
    """Why the words of a figure leave open what is measured; None: they do not."""
    if meaning.test.get("measure") != "warf" or "agency" in meaning.test:
        return None
    if max(fact.value or 0.0, fact.trigger or 0.0) >= SCALE_LEAST:
        return None
    return "its words do not say by whose ratings the factor is, and it is not on Moody's scale"


def unit_of(test: Mapping[str, Any]) -> str:
    """Return the unit of a test of a document."""
    measure = test.get("measure")
    return str(test.get("unit") or (MEASURES[measure].unit if measure is not None else "percent"))


def _open_limit(fact: Fact, meaning: SubjectMeaning) -> str:
    """Why the printed limit of a figure is not certain; "" where it is."""
    limit, unit = fact.trigger, unit_of(meaning.test)
    if limit is None:
        return ""
    if fact.is_guessed:
        return "its column is a guess"
    if fact.direction is None:
        return "the page does not print whether it is a maximum or a minimum"
    if fact.unit not in UNITS[unit]:
        return f"it is printed in another unit ({fact.unit or 'none'}) than what is measured ({unit})"
    if unit != "amount" and not 0.0 <= limit <= LIMIT_MAX:
        return "it is outside of what such a limit may be"
    low, high = LIMITS[unit]
    if fact.unit is None and not low <= limit <= high:
        return f"the page prints no unit, and it may be another than {unit}"
    if not _AGAINST[meaning.side].isdisjoint(key(fact.label).split()):
        return f"its name speaks against a {meaning.side}imum"
    return "" if _keeps(fact, limit, meaning.side) else "with it the printed figure would not have the printed outcome"


def _keeps(fact: Fact, limit: float, side: Direction) -> bool:
    """Return whether the printed outcome is that of the printed figure under the limit; the digits printed may hide
    it."""
    if fact.value is None or fact.status is None or abs(fact.value - limit) <= fact.tolerance:
        return True
    passes = fact.value <= limit if side == "max" else fact.value >= limit
    return passes == (fact.status == "pass")
