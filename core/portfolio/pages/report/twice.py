"""One fact of several places: the same figure on two pages is one, another figure of the same subject is a conflict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from core.portfolio.model.facts import Fact, Subject, tolerance_of
from core.portfolio.pages.report import words

FACTS_MAX: Final = 2_000
"""Tests and figures that are read from one file."""

ALIKE_MAX: Final = 40
"""Facts of one subject that are compared each with each; of more, each is compared with the first."""

_Key = tuple[Subject | str, bool]
"""The subject, else the words of the label; and whether it is of the month before."""


def merged(facts: Iterable[Fact], before: Iterable[Fact] = ()) -> list[Fact]:
    """Facts in their order below those found before, each once, with what tells of conflicts.

    `before` stands on pages that come first: of the same subject it counts, and is filled where it is blank.
    """
    found = list(before)
    first = len(found)
    places: dict[_Key, list[int]] = {}
    for at, fact in enumerate(found):
        places.setdefault(_key(fact), []).append(at)
    for fact in facts:
        key = _key(fact)
        known = places.get(key, [])
        same = next(
            (at for at in known[:ALIKE_MAX] if agree(found[at], fact) and not _are_neighbours(found[at], fact)), None
        )
        if same is not None:
            found[same] = _joined(found[same], fact)
        elif any(at < first for at in known):
            continue
        elif len(found) < FACTS_MAX:
            places.setdefault(key, []).append(len(found))
            found.append(fact)
    for key, known in places.items():
        if isinstance(key[0], Subject) and not key[1]:
            _tell_conflicts(found, [at for at in known if at >= first])
    return found


def _key(fact: Fact) -> _Key:
    if fact.subject is not None:
        return fact.subject, fact.is_prior
    return f"{fact.group} . {words.normal(fact.label)} . {fact.trigger}", fact.is_prior


def agree(one: Fact, other: Fact) -> bool:
    """Whether two facts of a subject say the same, as far as both say it: value and limit, within what is printed."""
    return _near(one.value, other.value, max(one.tolerance, other.tolerance)) and _near(
        one.trigger, other.trigger, max(_of_limit(one), _of_limit(other))
    )


def _are_neighbours(one: Fact, other: Fact) -> bool:
    """Whether two tests are rows of one page under different names: each counts, though their words say the same."""
    return (
        one.kind == other.kind == "test"
        and one.place.rpartition("!")[0] == other.place.rpartition("!")[0]
        and words.normal(one.label) != words.normal(other.label)
    )


def _of_limit(fact: Fact) -> float:
    return 0.0 if fact.trigger is None else tolerance_of(fact.trigger)


def _near(one: float | None, other: float | None, tolerance: float) -> bool:
    return one is None or other is None or abs(one - other) <= tolerance


def _joined(one: Fact, other: Fact) -> Fact:
    """The fact of two that say the same: a test rather than a figure, blanks filled, the other's place beside it."""
    if one.kind == "figure" and other.kind == "test":
        one, other = other, one
    place = one.place
    if one.value is None and other.value is not None:
        one = replace(
            one, value=other.value, unit=other.unit or one.unit, place=other.place, decimals=other.decimals,
        )  # fmt: skip
    places = [at for at in (place, *one.also, other.place, *other.also) if at != one.place]
    has_both = one.numerator is not None or one.denominator is not None
    return replace(
        one,
        numerator=one.numerator if has_both else other.numerator,
        denominator=one.denominator if has_both else other.denominator,
        trigger=other.trigger if one.trigger is None else one.trigger,
        direction=one.direction or other.direction,
        status=one.status or other.status,
        unit=one.unit or other.unit,
        also=tuple(dict.fromkeys(places)),
        by="relation" if "relation" in (one.by, other.by) else one.by,
        is_guessed=one.is_guessed and other.is_guessed,
    )


def _tell_conflicts(found: list[Fact], places: list[int]) -> None:
    """Write into each of several facts of one subject where another says otherwise; a mere figure spoils no test."""
    if len(places) < 2:
        return
    if len(places) > ALIKE_MAX:
        _tell_many(found, places)
        return
    tests = [at for at in places if found[at].kind == "test"]
    for at in places:
        others = [
            other for other in (tests if at in tests else places)
            if other != at and not agree(found[at], found[other])
        ]  # fmt: skip
        if others:
            texts = [_shown(found[other]) for other in others]
            found[at] = replace(found[at], conflict="; ".join(texts))


def _tell_many(found: list[Fact], places: list[int]) -> None:
    """Write one conflict into all of many facts of a subject, where they are not all one."""
    first, last = found[places[0]], found[places[-1]]
    if all(agree(first, found[at]) for at in places):
        return
    text = f"{len(places):,} figures have its words and are not all alike, from {first.place} to {last.place}"
    for at in places:
        found[at] = replace(found[at], conflict=text)


def _shown(fact: Fact) -> str:
    limit = "" if fact.trigger is None else f" with a limit of {fact.trigger:,.10g}"
    value = "no value" if fact.value is None else f"{fact.value:,.10g}"
    return f"{fact.label!r} is {value}{limit} in {fact.place}"
