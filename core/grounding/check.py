"""Whether what a text says is known.

Its figures by value, unit, rounding and day, its verdicts on tests by word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.grounding.claims import NOT, SENTENCE, Claims
from core.grounding.fact import KnownFact
from core.grounding.figures import FigureReading, counted, figures, plain, reading_of

MARK: Final = " [not in the data]"
"""What follows a figure of a checked text that no fact has."""
ROUNDING_MAX: Final = 0.05
"""By what part of itself a figure may be rounded: 0.4 is not 0."""
ROUNDING_LEAST: Final = 0.005
"""By how much it may be in any case: 0.022 is 0.02."""
CLAIM_CHARACTERS: Final = 80
"""What is reported of a sentence whose claim no fact supports."""
FIGURES_MAX: Final = 200
"""Figures of a text that are looked up; those behind them count as unknown."""

_EXACT: Final = 1e-9
_FALLS: Final = re.compile(
    r"(?i)\b(?:-|negative|short(?:fall)?|minus|below|under|fell|fall(?:s|en|ing)?|declin\w+|decreas\w+|drop\w*|down|lower"
    r"|lost|loss(?:es)?|los(?:es|ing)|shr[aiu]nk\w*|narrow\w*|reduc\w+|less|fewer|breach\w*|fail\w*|worse\w*|deteriorat\w+"
    r"|tighten\w*|exceed\w*|over|above|beyond|behind|deficit)\b"
)
"""Words by which a negative figure is said without its sign."""
_OPPOSITES: Final = (
    (
        re.compile(
            r"(?i)\b(?:rose|ris(?:es?|en|ing)|increas\w+|grew|grow(?:s|n|ing)|gain\w*|climb\w*|widen\w*|up by)\b"
        ),
        re.compile(
            r"(?i)\b(?:fell|fall(?:s|en|ing)|declin\w+|decreas\w+|dropp\w+|drops|shr[aiu]nk\w*|narrow\w*|down by)\b"
        ),
    ),
    (
        re.compile(r"(?i)\b(?:pass(?:es|ed|ing)?|satisf\w+|meets?|met|compl(?:y|ies|iant)|in compliance)\b"),
        re.compile(r"(?i)\b(?:fail(?:s|ed|ing|ure)?|breach\w*|violat\w+|non-?compliant)\b"),
    ),
)
"""Words that say of a figure, and the last ones of a test, the one thing, and the other."""
_LIMIT: Final = re.compile(r"(?i)\b(?:limit|threshold|trigger|maximum|minimum)(?: is| of| at)?:? ?$")
"""What says of the figure behind it that it is a limit."""
_LIMIT_OF_A_FACT: Final = re.compile(
    r"(?i)\b(?:limit|threshold|trigger|maximum|minimum|at most|at least|of at most|of at least)(?: is| of| at)?:? ?$"
)
_A_LIMIT: Final = re.compile(r"(?i)\b(?:limit|threshold|trigger|maximum|minimum|line)\b")
_LIMIT_BEHIND: Final = re.compile(r"(?i) (?:is |are )?(?:the limit|limit|required|allowed)\b")
_HEDGE: Final = re.compile(
    r"(?i)(?:\b(?:about|around|roughly|approximately|approx\.?|circa|nearly|almost|close to|"
    r"(?P<over>more than|over|above|exceeding|at least)|(?P<under>less than|under|below|at most|up to))|~)\s*$"
)
"""A round figure follows: near it, from it upwards, up to it."""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text whose unknown figures, and sentences with claims that no fact supports, are followed by `MARK`."""

    text: str
    unsupported: tuple[str, ...]
    """The figures without a fact as they were written, and the beginnings of these sentences."""


@dataclass(frozen=True, slots=True)
class _FactReading:
    """A reading of a fact, and what the fact says of it."""

    reading: FigureReading
    sentence: str
    nouns: frozenset[str]
    things: frozenset[str]
    """Whom it is said of."""
    is_limit: bool


class KnownFacts:
    """What is known, looked up by figure."""

    def __init__(self, facts: Sequence[KnownFact]) -> None:
        facts = list(facts)
        self._known: dict[str, list[_FactReading]] = {}
        self._names: set[str] = set()
        things = {thing.lower() for fact in facts for thing in (fact.about, *fact.names) if len(thing) > 1}
        named = "|".join(map(re.escape, sorted(things, key=len, reverse=True)))
        self._thing = re.compile(rf"(?<!\w)(?:{named})(?!\w)" if things else "(?!)")
        self.claims = Claims(facts, self._thing)
        for fact in facts:
            for name in re.findall(r"\w+(?:[-/&.,:]\w+)*", plain(fact.text).lower()):
                self._names.update((name, *re.split("[/&,:]", name)))
            for sentence in SENTENCE.split(fact.text):
                for figure in figures(sentence):
                    is_limit = bool(
                        _LIMIT_OF_A_FACT.search(sentence, 0, figure.start) or _LIMIT_BEHIND.match(sentence, figure.end)
                    )
                    for reading in figure.readings:
                        self._add(reading, sentence, is_limit=is_limit)
            if fact.value is None:
                continue
            known = (
                reading_of(float(fact.value), fact.unit)
                if isinstance(fact.value, float | int)
                else FigureReading("day", what=fact.value.isoformat()[:10])
            )
            self._add(known, f"{fact.text} {fact.about}", is_limit=bool(_A_LIMIT.search(fact.text)))

    def _add(self, reading: FigureReading, sentence: str, *, is_limit: bool) -> None:
        if reading.kind == "name":
            self._names.add(reading.what)
        known = _FactReading(reading, sentence, counted(sentence), self.things_in(sentence), is_limit)
        self._known.setdefault(reading.kind, []).append(known)

    def things_in(self, text: str) -> frozenset[str]:
        """Whom a text names, of those that facts are about."""
        return frozenset(self._thing.findall(text.lower()))

    def bear(self, reading: FigureReading, sentence: str, before: str, things: frozenset[str]) -> bool:
        """Return whether a fact says this figure of a sentence that names some things.

        `before` stands in front of it.
        """
        if reading.kind == "name":
            parts = [part for part in re.split("[/&]", reading.what) if re.search(r"\d", part)]
            return reading.what in self._names or (bool(parts) and self._names.issuperset(parts))
        kinds = _KINDS.get(reading.kind, (reading.kind,))
        return any(
            not (things and known.things and things.isdisjoint(known.things))
            and (known.is_limit or not _LIMIT.search(before))
            and _agree(reading, known, before, sentence)
            and not _contradicts(sentence, known.sentence)
            for kind in kinds
            for known in self._known.get(kind, ())
        )


_KINDS: Final = {
    "number": ("number", "count", "points"),
    "count": ("count", "number"),
    "percent": ("percent", "points", "factor"),
    "points": ("points", "percent", "number"),
    "factor": ("factor", "percent"),
}
"""The kinds of facts that a kind of figure may be."""


def check(text: str, facts: Sequence[KnownFact]) -> CheckedText:
    """Hold the figures of a text against the facts, and mark those that none of them has.

    What is said of a figure is checked as far as this: its unit, what it counts, whether it rose or fell, passed or
    failed, and that its sentence names whom the fact is about where it names anybody. A sentence that asserts a
    status, a direction, a rating or a currency, with figures or without, needs a fact that says so (`Claims`).
    """
    known = KnownFacts(facts)
    pieces: list[str] = []
    unsupported: list[str] = []
    looked_at, before_it = 0, ""
    for sentence, gap in _sentences(text):
        at, things, marked = 0, known.things_in(sentence), False
        for figure in figures(sentence):
            looked_at += 1
            before = sentence[max(0, figure.start - 24) : figure.start]
            if looked_at <= FIGURES_MAX and any(
                known.bear(reading, sentence, before, things) for reading in figure.readings
            ):
                continue
            marked = True
            unsupported.append(sentence[figure.start : figure.end])
            pieces += (sentence[at : figure.end], MARK)
            at = figure.end
        pieces.append(sentence[at:])
        if not marked and known.claims.unsupported(sentence, before_it):
            unsupported.append(sentence.strip()[:CLAIM_CHARACTERS])
            pieces.append(MARK)
        pieces.append(gap)
        before_it = sentence
    return CheckedText("".join(pieces), tuple(unsupported))


def _sentences(text: str) -> list[tuple[str, str]]:
    """Return each sentence and what stands behind it."""
    cuts = [(match.start(), match.end()) for match in SENTENCE.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    nexts = [*(end for _, end in cuts), len(text)]
    return [(text[start:end], text[end:following]) for start, end, following in zip(starts, ends, nexts, strict=True)]


def _agree(reading: FigureReading, known: _FactReading, before: str, sentence: str) -> bool:
    fact = known.reading
    if reading.kind == "day":
        return _same_day(reading.what, fact.what)
    if reading.kind == "count" and not (fact.what == reading.what or (not fact.what and _may_count(reading, known))):
        return False
    if reading.kind == "money" and fact.what and reading.what and fact.what != reading.what:
        return False  # a currency that no fact names is a claim of its own
    value = fact.value * (100.0 if fact.kind == "factor" and reading.kind != "factor" else 1.0)
    value /= 100.0 if reading.kind == "factor" and fact.kind != "factor" else 1.0
    if reading.value < 0 < value:
        if not _FALLS.search(known.sentence):
            return False
        value = -value
    elif value < 0 < reading.value:
        if not _FALLS.search(sentence):
            return False
        value = -value
    return _near(reading, value, fact.step, before)


def _may_count(reading: FigureReading, known: _FactReading) -> bool:
    return known.reading.kind == "count" or reading.what in known.nouns


def _near(reading: FigureReading, value: float, known_step: float, before: str) -> bool:
    gap = value - reading.value
    most = max(ROUNDING_MAX * abs(value), ROUNDING_LEAST)
    exact = _EXACT * max(abs(value), 1.0)
    if (hedge := _HEDGE.search(before)) is not None:
        upwards, downwards = hedge["over"], hedge["under"]
        room = min(reading.zeros if upwards or downwards else reading.zeros / 2, most) + exact
        if (-room if not upwards else -exact) <= gap <= (room if not downwards else exact):
            return True
    allowed = min(reading.step / 2, most) if reading.step >= known_step * (1 - _EXACT) else 0.0
    return abs(gap) <= allowed + exact


def _same_day(text: str, known: str) -> bool:
    if text == known or known.startswith(f"{text}-") or (text.startswith("-") and known.endswith(text)):
        return True
    year, _, quarter = text.partition("-Q")
    return bool(quarter) and any(
        known.startswith(f"{year}-{month:02}") for month in range(3 * int(quarter) - 2, 3 * int(quarter) + 1)
    )


def _contradicts(sentence: str, known: str) -> bool:
    """Return whether one of two sentences says only the one thing and the other only its opposite."""
    return any(
        ours in ((True, False), (False, True)) and _says(pair, known) == ours[::-1]
        for pair in _OPPOSITES
        for ours in (_says(pair, sentence),)
    )


def _says(pair: tuple[re.Pattern[str], re.Pattern[str]], sentence: str) -> tuple[bool, bool]:
    """Return whether a sentence says the one thing, and whether it says the other."""
    sides = {
        place ^ bool(NOT.search(sentence, 0, match.start()))
        for place, pattern in enumerate(pair)
        for match in pattern.finditer(sentence)
    }
    return 0 in sides, 1 in sides
