"""One fact of several places; other figures of the subject are a conflict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from core.grid.places import sheet_part
from core.portfolio.model.facts import Fact, FactSubject, tolerance_of
from core.portfolio.pages.report import words

FACTS_MAX: Final = 2_000
"""Tests and figures that are read from one file."""

ALIKE_MAX: Final = 40
"""Facts of one subject that are compared each with each; of more, each is compared with the first."""

_Key = tuple[FactSubject | str, bool]
"""The subject, else the words of the label; and whether it is of the month before."""


def merge_facts(facts: Iterable[Fact], before: Iterable[Fact] = ()) -> list[Fact]:
    """Merge facts with those before, each once, and note conflicts.

    `before` stands on pages that come first: of the same subject it counts, and is filled where it is blank.
    """
    facts_so_far = list(before)
    first = len(facts_so_far)
    places: dict[_Key, list[int]] = {}
    for at, fact in enumerate(facts_so_far):
        places.setdefault(_key(fact), []).append(at)
    for fact in facts:
        key = _key(fact)
        known = places.get(key, [])
        same = next(
            (
                at
                for at in known[:ALIKE_MAX]
                if agree(facts_so_far[at], fact) and not _are_neighbours(facts_so_far[at], fact)
            ),
            None,
        )
        if same is not None:
            facts_so_far[same] = _join_facts(facts_so_far[same], fact)
        elif any(at < first for at in known):
            continue
        elif len(facts_so_far) < FACTS_MAX:
            places.setdefault(key, []).append(len(facts_so_far))
            facts_so_far.append(fact)
    for key, known in places.items():
        if isinstance(key[0], FactSubject) and not key[1]:
            _tell_conflicts(facts_so_far, [at for at in known if at >= first])
    return facts_so_far


def _key(fact: Fact) -> _Key:
    if fact.subject is not None:
        return fact.subject, fact.is_prior
    return f"{fact.group} . {words.normal(fact.label)} . {fact.trigger}", fact.is_prior


def agree(fact: Fact, other_fact: Fact) -> bool:
    """Return whether two facts of a subject agree in value and limit."""
    return _near(fact.value, other_fact.value, max(fact.tolerance, other_fact.tolerance)) and _near(
        fact.trigger, other_fact.trigger, max(_of_limit(fact), _of_limit(other_fact))
    )


def _are_neighbours(fact: Fact, other_fact: Fact) -> bool:
    """Return whether two tests are rows of one page under different names.

    Each counts, though their words say the same.
    """
    return (
        fact.kind == other_fact.kind == "test"
        and sheet_part(fact.place) == sheet_part(other_fact.place)
        and words.normal(fact.label) != words.normal(other_fact.label)
    )


def _of_limit(fact: Fact) -> float:
    return 0.0 if fact.trigger is None else tolerance_of(fact.trigger)


def _near(first: float | None, second: float | None, tolerance: float) -> bool:
    return first is None or second is None or abs(first - second) <= tolerance


def _join_facts(fact: Fact, other_fact: Fact) -> Fact:
    """Join two facts that say the same: a test first, blanks filled, both places."""
    if fact.kind == "figure" and other_fact.kind == "test":
        fact, other_fact = other_fact, fact
    place = fact.place
    if fact.value is None and other_fact.value is not None:
        fact = replace(
            fact,
            value=other_fact.value,
            unit=other_fact.unit or fact.unit,
            place=other_fact.place,
            decimals=other_fact.decimals,
        )
    places = [at for at in (place, *fact.also, other_fact.place, *other_fact.also) if at != fact.place]
    has_both = fact.numerator is not None or fact.denominator is not None
    return replace(
        fact,
        numerator=fact.numerator if has_both else other_fact.numerator,
        denominator=fact.denominator if has_both else other_fact.denominator,
        trigger=other_fact.trigger if fact.trigger is None else fact.trigger,
        direction=fact.direction or other_fact.direction,
        status=fact.status or other_fact.status,
        unit=fact.unit or other_fact.unit,
        also=tuple(dict.fromkeys(places)),
        by="relation" if "relation" in (fact.by, other_fact.by) else fact.by,
        is_guessed=fact.is_guessed and other_fact.is_guessed,
    )


def _tell_conflicts(facts: list[Fact], places: list[int]) -> None:
    """Write conflicts into facts of one subject; a mere figure spoils no test."""
    if len(places) < 2:
        return
    if len(places) > ALIKE_MAX:
        _tell_many(facts, places)
        return
    tests = [at for at in places if facts[at].kind == "test"]
    for at in places:
        others = [
            rival for rival in (tests if at in tests else places) if rival != at and not agree(facts[at], facts[rival])
        ]
        if others:
            texts = [_show_fact(facts[rival]) for rival in others]
            facts[at] = replace(facts[at], conflict="; ".join(texts))


def _tell_many(facts: list[Fact], places: list[int]) -> None:
    """Write one conflict into all of many facts of a subject that differ."""
    first, last = facts[places[0]], facts[places[-1]]
    if all(agree(first, facts[at]) for at in places):
        return
    text = f"{len(places):,} figures have its words and are not all alike, from {first.place} to {last.place}"
    for at in places:
        facts[at] = replace(facts[at], conflict=text)


def _show_fact(fact: Fact) -> str:
    limit = "" if fact.trigger is None else f" with a limit of {fact.trigger:,.10g}"
    value = "no value" if fact.value is None else f"{fact.value:,.10g}"
    return f"{fact.label!r} is {value}{limit} in {fact.place}"
