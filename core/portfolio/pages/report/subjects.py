"""What a figure's label is about: measure, class, agency, rank and the rest."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from core.portfolio.model.classes import class_keys
from core.portfolio.model.facts import Agency, FactSubject
from core.portfolio.pages.report import words

MEMORY_MAX: Final = 4_096
"""Labels whose subjects are remembered."""

SINGLE_OBLIGOR_LIMIT_MAX: Final = 4.0
"""Percent: the limit up to which a concentration of obligors without a rank is one obligor's."""

WRONG_SIDE: Final = 3.0
"""Weight that a measure loses where the printed limit is on the other side than its own."""

SHARE_MAX: Final = 100.0
"""Percent: no share has a limit above it."""

CLASS_FIRST: Final = 3.0
"""Weight that coverage gains where a label begins with a class."""

_NARROW: Final = (("eod", 6.0), ("reinvestment", 4.0))
"""Weight from which words for an event of default, or for reinvestment and diversion, make a coverage test one of
these."""

SUBSET_SCORE_MIN: Final = 1.6
"""Weight from which another measure among an obligor's words is the subset in which it is measured: a side clause's
words count `words.SIDE_SHARE`."""

COVERAGE: Final = frozenset(("oc", "ic"))
"""Measures of classes."""

RANKED: Final = frozenset(("obligor", "industry", "country"))
"""Measures of which there are a largest and a second largest."""

_NO_SHARES: Final = frozenset((
    "oc", "ic", "reinvestment", "eod", "warf", "diversity", "wal", "price", "retention", "sale", "cdo_monitor",
))  # fmt: skip
"""Measures whose limits may be above 100."""

_CLAUSE: Final = re.compile(
    r"^\s*(?:\(\s*[a-z]{1,3}\s*\)|\(\s*[ivx]{1,6}\s*\)|\(\s*\d{1,2}\s*\)|[a-z]{1,2}[.)]\s)+\s*", re.I
)
"""The letters of a clause before a label: "(c)(i) "."""

_NUMBERS: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "fifteen": 15, "twenty": 20, "twenty five": 25,
}  # fmt: skip
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_COUNT: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_LARGE: Final = r"(?:top|largest|highest|biggest|greatest)"
_AGGREGATES: Final = (
    re.compile(rf"\b{_LARGE} {_COUNT}\b(?!(?:st|nd|rd|th)\b)"),
    re.compile(rf"\b{_COUNT} {_LARGE}\b"),
)
_UP_TO: Final = re.compile(rf"\bup to {_COUNT} obligor\b")
_BUT_LARGEST: Final = re.compile(
    rf"\b(?:other than|excluding|excl|except(?: for)?|outside(?: of)?|not in|after)(?: \()?(?: the)? "
    rf"(?:{_LARGE} {_COUNT}|{_COUNT.replace('?P<n>', '?:')} {_LARGE})\b"
)
"""That the largest ones are left out: what remains is no aggregate of these."""

_OTHER: Final = re.compile(r"\b(?:any|all|each|every) other\b")
_ORDINAL: Final = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_ORDINALS)})(?! (?:period|part(?:y|ies)))|(?P<n>\d{{1,2}})(?:st|nd|rd|th))\b"
)
_FIRST: Final = re.compile(
    r"\b(?:largest|highest|biggest|greatest|single|any one|individual|top(?= (?:obligor|industry)))\b"
)
_TOGETHER: Final = re.compile(r"\b(?:combined|together|in aggregate|aggregate of|sum of)\b")
_CASH: Final = re.compile(r"\b(?:cash|eligible investments?|principal proceeds)\b")
_INCLUDING_CASH: Final = re.compile(r"\b(?:incl|including|plus|with) (?:\w+ )?cash\b")
_NOT: Final = re.compile(r"\b(?:not|non|other than|excluding|outside)\b")
_ABROAD: Final = re.compile(r"\b(?:outside|other than|not|non|foreign|excluding)\b")
_LIMIT_WORDS: Final = re.compile(r"\b(?:trigger|required|requirement|threshold|reference|target|adjustment|selected)\b")
_LIMIT_FIRST: Final = re.compile(r" (?:the )?(?:minimum|maximum)\b(?!.* test )")
_CODE: Final = r"[a-hx]-?\d?"
_BARE_CLASS: Final = re.compile(
    rf"^ (?:class )?{_CODE}(?: ?[/&,+] ?(?:class )?{_CODE})* (?:note )?(?:coverage )?(?:ratio )?(?:test )?(?:ratio )?$"
)
"""A label that is the name of classes and no more, in its normal form."""

_CLASS_BEHIND: Final = re.compile(
    rf"\b(?:oc|ic|par value|par coverage)(?: ratio| test)*(?: -)? ({_CODE}(?: / {_CODE})*)(?: test| ratio| note)* $"
)
_CLASS_BEFORE: Final = re.compile(rf"^ (?:class )?({_CODE}(?: / {_CODE})*) (?:oc|ic|par)\b")
_AGENCIES: Final[tuple[tuple[str, Agency], ...]] = ((" moodys ", "a"), (" sp ", "b"), (" fitch ", "c"))

Side = Literal["min", "max"]


class Label(NamedTuple):
    """What the words of a label say, and how surely."""

    subject: FactSubject | None
    lead: float
    """Of the measure over the next one: below 1.5 it is hard to tell."""


_NOTHING: Final = Label(None, 0.0)


def clause_of(label: str) -> str:
    """Return the letters of a label's clause without brackets: "c i"; "" for none."""
    match = _CLAUSE.match(label)
    return " ".join(re.findall(r"[A-Za-z0-9]+", match[0])).lower() if match else ""


@lru_cache(MEMORY_MAX)
def subject_of(
    label: str, *, title: str = "", side: Side | None = None, limit: float | None = None, is_line: bool = False
) -> Label:
    """Return what a label is about.

    Args:
        title: of its section, table and page: tells coverage of what for a bare class.
        side: of the printed limit.
        limit: in percent.
        is_line: it stands in a line and not among tests: "Minimum Weighted Average Spread" is the limit itself.
    """
    text = words.normal(_CLAUSE.sub("", label))
    scores = dict(words.scores_of_normal("test", text))
    bare = _BARE_CLASS.match(text) is not None
    if bare:
        role = coverage_of(title)
        scores = {} if role is None else {role: words.scores("test", title)[role]}
    classes = _classes(label, text)
    begins_with_class = bool(classes) and not bare and text.startswith((" class ", " classes "))
    scores = {role: _weigh(role, score, side, limit, begins_with_class) for role, score in scores.items()}
    _prefer_foreign(text, scores)
    rank, aggregate = _rank(text)
    is_ranked = rank is not None or aggregate is not None
    guess = words.guess_of({role: score for role, score in scores.items() if score > 0})
    measure = guess.role
    if is_ranked and scores.get("obligor", 0.0) >= words.SCORE_MIN and "counterparty" not in scores:
        measure = "obligor"
    if measure in COVERAGE:
        measure = next((role for role, least in _NARROW if scores.get(role, 0.0) >= least), measure)
    if measure is None or (measure in COVERAGE and not classes and not bare and guess.lead < 0):
        return _NOTHING
    return Label(_subject(measure, text, classes, rank, aggregate, limit, scores, is_line), guess.lead)


def _weigh(role: str, score: float, side: Side | None, limit: float | None, begins_with_class: bool) -> float:
    """Weigh what class, side and limit say for a role with the score of its words."""
    if begins_with_class and role in COVERAGE and score >= words.SCORE_MIN:
        score += CLASS_FIRST
    if side is not None and role != "cdo_monitor" and words.direction_of(role) != side:
        score -= WRONG_SIDE
    if limit is not None and limit > SHARE_MAX and role not in _NO_SHARES:
        score -= 2 * WRONG_SIDE
    return score


@lru_cache(MEMORY_MAX)
def is_bare_class(text: str) -> bool:
    """Return whether a label is the name of classes and no more: "Class A/B"."""
    return _BARE_CLASS.match(words.normal(text)) is not None


@lru_cache(MEMORY_MAX)
def is_test_name(text: str, title: str) -> bool:
    """Return whether a text is a test's name, by words or as a class under a title."""
    name = words.normal(_CLAUSE.sub("", text))
    if _BARE_CLASS.match(name) is not None:
        return coverage_of(title) is not None
    return words.guess_of(words.scores_of_normal("test", name)).role is not None


@lru_cache(MEMORY_MAX)
def coverage_of(title: str) -> str | None:
    """Return which coverage a title is of, "oc" or "ic"; None for neither or both."""
    by_role = {role: score for role, score in words.scores("test", title).items() if role in COVERAGE}
    guess = words.guess_of(by_role)
    return guess.role if guess.lead > 0 else None


def _subject(
    measure: str,
    text: str,
    classes: tuple[str, ...],
    rank: int | None,
    aggregate: int | None,
    limit: float | None,
    scores: dict[str, float],
    is_line: bool,
) -> FactSubject:
    if measure not in RANKED:
        rank = aggregate = None
    elif measure == "obligor" and rank is None and aggregate is None:
        # Without a rank, only a small limit says that one obligor is meant.
        rank, aggregate = (1, None) if limit is not None and limit <= SINGLE_OBLIGOR_LIMIT_MAX else (None, 0)
    elif _is_other(text):
        rank = None
    elif measure == "industry" and rank is None and aggregate is None:
        rank = 1
    return FactSubject(
        measure=measure,
        classes=classes if measure in COVERAGE else (),
        agency=agency_of(text),
        rank=rank,
        aggregate=aggregate,
        with_cash=(_CASH if measure == "senior_secured" else _INCLUDING_CASH).search(text) is not None,
        subset=_subset(text, scores) if measure == "obligor" else None,
        is_complement=measure in ("foreign", "country") and _ABROAD.search(text) is not None,
        detail="two agencies" if sum(word in text for word, _ in _AGENCIES) > 1 else _detail(measure, text, is_line),
    )


def agency_of(text: str) -> Agency | None:
    """Return the agency that a normal label names; None for none or two."""
    named = [agency for word, agency in _AGENCIES if word in text]
    if not named and " ccc" not in text and re.search(r"\bcaa\b", text) is not None:
        return "a"  # a rating of Moody's alone
    return named[0] if len(named) == 1 else None


def _classes(label: str, text: str) -> tuple[str, ...]:
    """Return the classes that a label names, as `class_keys` spells them."""
    keys = class_keys(label) or class_keys(text)
    if keys:
        return keys
    match = _CLASS_BEHIND.search(text) or _CLASS_BEFORE.search(text)
    if match is None:
        return ()
    return tuple(dict.fromkeys(part.strip().replace("-", "").upper() for part in match[1].split("/")))


def _rank(text: str) -> tuple[int | None, int | None]:
    """Return (rank by size, how many together) of a label; None for neither."""
    text = _BUT_LARGEST.sub(" ", text)
    for pattern in _AGGREGATES:
        if (match := pattern.search(text)) is not None:
            count = _NUMBERS.get(match["n"]) or int(match["n"])
            return (1, None) if count == 1 else (None, count)
    if _UP_TO.search(text) is not None:
        return None, 0
    ordinal = _ORDINAL.search(text)
    if ordinal is not None:
        rank = _ORDINALS[ordinal["word"]] if ordinal["word"] else int(ordinal["n"])
        return (None, rank) if _TOGETHER.search(text) and rank > 1 else (rank, None)
    if _TOGETHER.search(text) is not None and " obligor " in text:
        return None, 0
    return (1, None) if _FIRST.search(text) is not None else (None, None)


def _prefer_foreign(text: str, scores: dict[str, float]) -> None:
    """Let the words for outside decide between abroad and a country's own limit."""
    if {"foreign", "country"} <= scores.keys() and "ceiling" not in text:
        is_one = re.search(r"\b(?:any|each|single|individual|largest)(?: one)? country\b", text) is not None
        scores["foreign" if _ABROAD.search(text) is not None and not is_one else "country"] += 1.0


_SUBSETS: Final = (
    "non_senior", "senior_secured", "cov_lite", "fixed", "dip", "current_pay", "discount", "bridge", "participation",
    "pik", "unfunded", "ccc", "long_dated", "defaulted", "bond",
)  # fmt: skip
"""Measures that may be the loans among which an obligor is measured."""


def _subset(text: str, scores: dict[str, float]) -> str | None:
    """Return the loans among which an obligor is measured; None for all."""
    if " senior secured " in text or " secured senior " in text or " firstlien " in text:
        return "non_senior" if _NOT.search(text) is not None else "senior_secured"
    named = [role for role in _SUBSETS if scores.get(role, 0.0) >= SUBSET_SCORE_MIN]
    excluded = [role for role in named if role == "defaulted" and " excluding " in text]
    return next((role for role in named if role not in excluded), None)


# ---- what else tells figures of one measure apart -----------------------------------------------------------------


def _detail(measure: str, text: str, is_line: bool) -> str | None:
    match = (_LIMIT_WORDS.search(text) or _LIMIT_FIRST.match(text)) if is_line else None
    if match is not None:
        return match[0].strip()
    finder = _DETAILS.get(measure)
    detail = finder(text) if finder is not None else None
    if measure in ("industry", "obligor") and _is_other(text):
        return "other"
    if measure == "industry" and _FIRST.search(text) is None and _ORDINAL.search(text) is None and _names_one(text):
        return "named"
    if measure in _OF_LOANS and _DEFAULTED.search(_NOT_DEFAULTED.sub(" ", text)) is not None:
        return " ".join(filter(None, (detail, "defaulted")))
    return detail


def _names_one(text: str) -> bool:
    """Return whether a label about industries names one of them."""
    return _NAMED_INDUSTRY.search(text) is not None


_NAMED_INDUSTRY: Final = re.compile(
    r"(?:\bindustry(?: classification)?(?: group)? [-:] ?(?:\d+ )?(?!class|largest|top|max|limit|total|test)[a-z]{3,}"
    r"|\bin the (?!same|any|single|largest|moodys|sp |fitch|collateral)(?:[a-z&,]+ ){1,4}industry\b)"
)
"""A name behind "Industry - ", or "in the banking industry"."""


def _is_other(text: str) -> bool:
    """Return whether a label is about what is beside the largest ones."""
    return _OTHER.search(text) is not None or _BUT_LARGEST.search(text) is not None


_OF_LOANS: Final = frozenset((
    "senior_secured", "non_senior", "cov_lite", "fixed", "floating", "dip", "current_pay", "discount", "bridge",
    "participation", "pik", "unfunded", "foreign", "country", "small", "long_dated", "bond",
))  # fmt: skip
"""Measures of kinds of loans, of which the defaulted ones are a part."""

_DEFAULTED: Final = re.compile(r"\bdefaulted\b")
_NOT_DEFAULTED: Final = re.compile(
    r"\b(?:excluding|excl|other than|except(?: for)?|net of|less|not|non|without|neither|performing|and)\b.*?"
    r"\bdefaulted\b"
)


def _of_kind(text: str) -> str | None:
    """Return loans alone, or bonds alone."""
    has_loan, has_bond = " loan " in text, " bond " in text or " note " in text
    return "loan" if has_loan and not has_bond else "bond" if has_bond and not has_loan else None


def _of_part(text: str) -> str | None:
    """Return the one kind that is not senior secured; None for several or all."""
    parts = [part for part in ("secondlien", "unsecured", "mezzanine", "high yield") if f" {part} " in text]
    return None if len(parts) != 1 or _NOT.search(text) is not None else parts[0]


def _of_word(text: str) -> str | None:
    """Return which of the kinds that a measure has under one name."""
    match = re.search(r"\b(?:partial|synthetic|step up|step down|structured finance)\b", text)
    return None if match is None else match[0]


def _of_period(text: str) -> str | None:
    match = re.search(r"\b(than )?(semi ?annual|annual)", text)
    if match is None:
        return None
    period = match[2].replace("semiannual", "semi annual")
    return f"less than {period}" if match[1] else period


def _of_exclusion(text: str) -> str | None:
    """Return what an average leaves out or takes in, by its words.

    The excess coupon that a test takes in by its terms is no such thing.
    """
    match = re.search(r"\b(?:excluding|including) (?!(?:the )?default\w*(?: obligation| loan)? (?:\) )?$)(.+?) $", text)
    return None if match is None else " ".join(match[0].replace("( ", "").replace(" )", "").split())[:80]


def _of_place(text: str) -> str | None:
    for pattern, place in (
        (r"\b(?:us|usa|u s|united states)\b", "us"),
        (r"\bqualifying\b", "qualifying"),
        (r"\beligible\b", "eligible"),
        (r"\bspecified\b", "specified"),
        (r"\bapproved\b", "approved"),
        (r"\beea\b", "eea"),
        (r"\b(?:europe|european|eu|euro ?zone|european union)\b", "europe"),
        (r"\bemerging markets?\b", "emerging"),
    ):
        if re.search(pattern, text) is not None:
            return " ".join([place, *_countries(text)])
    return None


def _countries(text: str) -> list[str]:
    """Return the countries and groups of countries that a label names."""
    named = re.findall(
        r"\b(?:canada|united kingdom|uk|france|germany|spain|italy|netherlands|luxembourg|ireland|portugal|greece|"
        r"australia|japan|group (?:iv|i{1,3}|[1-4])|tax|emerging markets?)\b",
        text,
    )
    return list(dict.fromkeys(named))


def _of_country(text: str) -> str | None:
    ceiling = re.search(r"\bceiling\b.*?(below|above|of|at least) ([a-z]{1,3}\d?(?: ?[+-](?= |$))?)(?= |$)", text)
    if ceiling is not None:
        return f"ceiling {ceiling[1]} {ceiling[2].replace(' ', '')}"
    return " ".join(_countries(text)) or None


def _of_counterparty(text: str) -> str | None:
    match = re.search(r"\b(aggregate|individual)\b", text)
    rated = re.search(r"\brated ([a-z]{1,3}\d?(?: ?[+-](?= |$))?(?: or (?:lower|below))?)", text)
    parts = [part for part in (match and match[1], rated and rated[1].replace(" +", "+")) if part]
    return " ".join(parts) or None


def _of_monitor(text: str) -> str | None:
    parts = [word for word in ("sdr", "bdr", "adjusted", "break even", "scenario") if f" {word} " in text]
    return None if " monitor " in text and not parts else " ".join(parts) or None


def _of_ccc(text: str) -> str | None:
    """Return what is excluded, or that only a part of CCC counts."""
    part = re.search(r"\bbelow (?:caa|ccc)\b|\b(?:caa|ccc) deep\b", text)
    return _of_exclusion(text) or (None if part is None else part[0])


def _of_rate(text: str) -> str | None:
    """Return a part of what pays a fixed or a floating rate."""
    match = re.search(r"\b(?:note|bond|hedged|swapped|floors?)\b", text)
    return None if match is None else match[0]


def _of_amount(text: str) -> str | None:
    figures = re.findall(r"[<>]?=? ?\d[\d,.]*(?: ?(?:m|mm|million|bn))?\b", text)
    return " ".join(" ".join(figures).split()) or None


def _of_seniority(text: str) -> str | None:
    """Return the detail of a coverage test that names no class."""
    match = re.search(r"\b(?:senior|mezzanine|junior|subordinated)\b", text)
    return None if match is None or re.search(r"\bclass(?:es)? [a-hx]\b", text) else match[0]


_DETAILS: Final = {
    "oc": _of_seniority, "ic": _of_seniority,
    "senior_secured": _of_kind, "non_senior": _of_part, "pik": _of_word, "structured": _of_word,
    "infrequent": _of_period,
    "was": _of_exclusion, "wac": _of_exclusion, "warf": _of_exclusion, "wal": _of_exclusion, "warr": _of_exclusion,
    "ccc": _of_ccc, "fixed": _of_rate, "floating": _of_rate,
    "foreign": _of_place, "country": _of_country, "counterparty": _of_counterparty, "cdo_monitor": _of_monitor,
    "small": _of_amount,
}  # fmt: skip
"""Measure -> what else its label says."""
