"""Whether an answer says what the oracle says.

Right, open (refused, or a warning of what is left out), or wrong.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, Final, Literal

from core.questions.answer import Answer, Figure
from tests.core.questions.books import EPOCH

Verdict = Literal["right", "open", "wrong"]
"""`wrong` is silently so."""

UNITS: Final = {
    "percent": ("percent", "points", "number"),
    "points": ("points", "percent", "price"),
    "currency": ("amount", "number"),
    "percent of par": ("price", "percent", "points"),
    "count": ("count", "number"),
    "factor": ("factor", "number"),
    "score": ("score", "number"),
    "years": ("years", "number"),
    "months": ("months", "number"),
    "bps": ("bps", "number"),
    "days": ("days", "count", "number"),
    "date": ("date",),
}
"""The oracle's unit -> those that an answer may call it by."""

SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9,
}  # fmt: skip

LEADING_MAX: Final = 6
"""A single figure that is asked for stands among the first so many of an answer; among many it is not said to be it."""

SUGGESTIONS: Final = 3

_NUMERAL: Final = re.compile(r"\d[\d,]*(?:\.(\d+))?(?:\s*([a-z]+))?", re.I)
_VERDICT: Final = re.compile(r"(?:^|[.:\n]\s*)(yes|no)\b(?=[\s,.;:\u2013\u2014-])", re.I)


def judge(row: dict[str, Any], answer: Answer) -> tuple[Verdict, str]:
    """Return the verdict, and why it is not right."""
    if row.get("refuse"):
        return _judge_refusal(row, answer)
    if not answer.answered:
        if len(answer.suggestions) != SUGGESTIONS:
            return "wrong", f"refused with {len(answer.suggestions)} suggestions"
        return "open", "refused"
    faults = [_fault(row, reading, answer) for reading in row["expected"]]
    if "" in faults:
        return "right", ""
    return ("open" if _warns(row, answer) else "wrong"), faults[0]


def _judge_refusal(row: dict[str, Any], answer: Answer) -> tuple[Verdict, str]:
    """Judge a refusal, which must name one of the words of `refuse`.

    Where the row has `none`, to answer that there is none is right, too.
    """
    phrases = row["refuse"].split("|")
    if answer.answered:
        if row.get("none") and _is_nothing(answer):
            return "right", ""
        return ("open" if _warns(row, answer) else "wrong"), f"answered: {answer.text[:200]}"
    if len(answer.suggestions) != SUGGESTIONS:
        return "wrong", f"refused with {len(answer.suggestions)} suggestions"
    reason = answer.text
    for suggestion in answer.suggestions:
        reason = reason.replace(suggestion, "")
    if not any(_whole(phrase).search(reason.casefold()) for phrase in phrases):
        return "open", f"refused without naming {row['refuse']!r}"
    return "right", ""


def _warns(row: dict[str, Any], answer: Answer) -> bool:
    """Return whether a warning names words of the question."""
    quoted = " ".join(re.findall(r"[\"\u201c\u2018'](.+?)[\"\u201d\u2019']", " ".join(answer.warnings)))
    words = set(re.findall(r"\w{3,}", row["question"].casefold()))
    return bool(words & set(re.findall(r"\w{3,}", quoted.casefold())))


def _is_nothing(answer: Answer) -> bool:
    """Return whether it says that there is none, with no figure but zeros."""
    values = [figure.value for figure in answer.figures if isinstance(figure.value, int | float)]
    return not any(values) and re.search(r"\b(no|none|not|nothing|zero|0)\b", answer.text, re.I) is not None


def _fault(row: dict[str, Any], reading: dict[str, Any], answer: Answer) -> str:
    if not answer.text.strip() or not answer.understood.strip():
        return "no text, or nothing understood"
    return (
        _fault_of_verdict(reading, answer)
        or _fault_of_owners(row, reading, answer)
        or _fault_of_figures(reading, answer)
        or _fault_of_names(row, reading, answer)
    )


def _fault_of_verdict(reading: dict[str, Any], answer: Answer) -> str:
    """Compare yes or no, which must stand at the head of a sentence."""
    expected = reading.get("verdict")
    if not expected:
        return ""
    heads = _VERDICT.findall(answer.text)
    return "" if heads and heads[0].casefold() == expected else f"says {heads[:1]}, not {expected}"


def _fault_of_owners(row: dict[str, Any], reading: dict[str, Any], answer: Answer) -> str:
    """Find loans or groups that are listed and not expected.

    Where the row has `more`, the question does not say how many it wants.
    """
    if row.get("more"):
        return ""
    names = {word for name in reading["names"] for word in name.split("|")}
    owners = {figure.of for figure in answer.figures if figure.of and figure.support.loans is not None}
    if owners & names and (others := owners - names):
        return f"{others} are listed, too"
    return ""


def _fault_of_figures(reading: dict[str, Any], answer: Answer) -> str:
    expected_figures, names = reading["figures"], reading["names"]
    rows = {(figure.of, figure.identifier) for figure in answer.figures if figure.identifier}
    if (
        names
        and len(expected_figures) == 1
        and expected_figures[0][0][1] == "count"
        and len(rows) in [value for value, _ in expected_figures[0]]
    ):
        return ""  # so many loans are named, each by itself
    among = answer.figures if len(expected_figures) > 2 or names else answer.figures[:LEADING_MAX]
    for readings in expected_figures:
        same = [figure for figure in among if any(_is(figure, value, unit) for value, unit in readings)]
        if not same:
            return f"no figure {readings[0]} among {[(figure.value, figure.unit) for figure in among][:12]}"
        if not any(_is_printed(figure, answer.text) for figure in same):
            return f"{same[0].value} is in the figures and not in the text, or not as precise as it is printed"
    return ""


def _fault_of_names(row: dict[str, Any], reading: dict[str, Any], answer: Answer) -> str:
    text = " ".join([answer.text, *answer.names]).casefold()
    places = []
    for name in reading["names"]:
        at = [match.start() for word in name.split("|") if (match := _whole(word).search(text))]
        if not at:
            return f"{name!r} is not said"
        places.append(min(at))
    if row.get("ranked") and places != sorted(places):
        return f"not in the order {reading['names']}"
    return ""


def _whole(name: str) -> re.Pattern[str]:
    """Match a name by itself: B is not in B3 or B-, nor US in CUSIP."""
    ending = r"(?:(?:s|es|ed|ing)\b)?" if name.isalpha() and name.islower() else ""
    return re.compile(rf"(?<![\w+-]){re.escape(name.casefold())}{ending}(?![\w+])(?!-(?!\w))")


def _is(figure: Figure, value: float, unit: str) -> bool:
    if unit == "date":
        day = EPOCH + timedelta(days=value)
        return figure.value in (day, day.isoformat())
    if figure.unit not in UNITS[unit] or isinstance(figure.value, str | date) or figure.value is None:
        return False
    # The sign of a change or a shortfall may stand in a word.
    signs = (1, -1) if value < 0 else (1,)
    return any(abs(sign * float(figure.value) - value) <= 2e-6 * max(1.0, abs(value)) for sign in signs)


def _is_printed(figure: Figure, text: str) -> bool:
    """Return whether the text has the figure, right to its last digit."""
    if figure.value == 0 and re.search(r"\b(no|none)\b", text, re.I):
        return True
    if figure.text not in text and not (figure.of and figure.of in text):
        return False
    if isinstance(figure.value, str | date) or figure.value is None:
        return True
    numeral = _NUMERAL.search(figure.text)
    if numeral is None:
        return False
    scale = SCALES.get((numeral[2] or "").casefold(), 1.0)
    shown = float(re.sub(r"[^\d.]", "", numeral[0])) * scale
    half_a_digit = 0.5 * 10.0 ** -len(numeral[1] or "") * scale
    return abs(shown - abs(float(figure.value))) <= half_a_digit * (1 + 1e-6) + 1e-9 * shown
