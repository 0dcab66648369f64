"""Whether an answer says what the oracle says: right, said to be open, or wrong without a word."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, Final, Literal

from core.questions.answer import Answer
from core.questions.answer import Figure as Given

Verdict = Literal["right", "said", "wrong"]
"""`said`: not answered, or answered with words that tell what is open; `wrong` is silently so."""

EPOCH: Final = date(1970, 1, 1)
UNITS: Final = {
    "percent": ("percent", "points", "number"),
    "points": ("points", "percent", "price"),
    "currency": ("amount", "number"),
    "percent of par": ("price", "percent", "points"),
    "count": ("count", "number"),
    "factor": ("factor", "number"),
    "score": ("score", "number"),
    "years": ("years", "number"),
    "bps": ("bps", "number"),
    "days": ("days", "count", "number"),
    "date": ("date",),
}
"""The oracle's unit -> those that an answer may call it by."""

LEADING_MAX: Final = 6
"""A single figure that is asked for stands among the first so many of an answer; among many it is not said to be it."""

_NUMERAL: Final = re.compile(r"[-\u2212]?\d[\d,]*(?:\.\d+)?")


def judge(row: dict[str, Any], answer: Answer) -> tuple[Verdict, str]:
    """The verdict, and why it is not right."""
    if row.get("refuse"):
        if not answer.answered:
            return ("right", "") if len(answer.suggestions) == 3 else ("wrong", "refused without three suggestions")
        if _is_nothing(answer):
            return "right", ""
        return ("said" if _tells(row, answer) else "wrong"), f"answered: {answer.text[:200]}"
    if not answer.answered:
        return ("said" if len(answer.suggestions) == 3 else "wrong"), "not answered"
    faults = [_fault(row, reading, answer) for reading in row["expected"]]
    if "" in faults:
        return "right", ""
    return ("said" if _tells(row, answer) else "wrong"), faults[0]


def _tells(row: dict[str, Any], answer: Answer) -> bool:
    """A warning names words of the question that the answer leaves out."""
    quoted = " ".join(re.findall(r"[\"\u201c\u2018'](.+?)[\"\u201d\u2019']", " ".join(answer.warnings)))
    words = set(re.findall(r"\w{3,}", row["question"].casefold()))
    return bool(words & set(re.findall(r"\w{3,}", quoted.casefold())))


def _is_nothing(answer: Answer) -> bool:
    """It says that there is none, with no figure but zeros."""
    values = [one.value for one in answer.figures if isinstance(one.value, int | float)]
    return not any(values) and re.search(r"\b(no|none|not|nothing|zero|0)\b", answer.text, re.I) is not None


def _fault(row: dict[str, Any], reading: dict[str, Any], answer: Answer) -> str:
    if not answer.text.strip() or not answer.understood.strip():
        return "no text, or nothing understood"
    wanted, names = reading["figures"], reading["names"]
    listed = {(one.of, one.identifier) for one in answer.figures if one.identifier}
    owners = {of for of, _ in listed}
    if owners & set(names) and (others := owners - set(names)):
        return f"{others} are listed, too"
    if names and len(wanted) == 1 and wanted[0][0][1] == "count" and len(listed) in [value for value, _ in wanted[0]]:
        wanted = []  # so many loans are named one by one
    given = answer.figures if len(wanted) > 2 or names else answer.figures[:LEADING_MAX]
    for readings in wanted:
        found = [one for one in given if any(_is(one, value, unit) for value, unit in readings)]
        if not found:
            return f"no figure {readings[0]} among {[(one.value, one.unit) for one in given][:12]}"
        if not any(_printed(one, answer.text) for one in found):
            return f"{found[0].value} is in the figures and not in the text"
    spoken = " ".join([answer.text, *answer.names]).casefold()
    places = []
    for name in names:
        at = [found.start() for word in name.split("|") if (found := _whole(word).search(spoken))]
        if not at:
            return f"{name!r} is not said"
        places.append(min(at))
    if row.get("ranked") and places != sorted(places):
        return f"not in the order {names}"
    return ""


def _whole(name: str) -> re.Pattern[str]:
    """A name by itself: B is not in B3 or B-, nor US in CUSIP; a word may have an ending (fails, passing)."""
    ending = r"(?:(?:s|es|ed|ing)\b)?" if name.isalpha() and name.islower() else ""
    return re.compile(rf"(?<![\w+-]){re.escape(name.casefold())}{ending}(?![\w+])(?!-(?!\w))")


def _is(one: Given, value: float, unit: str) -> bool:
    if unit == "date":
        day = EPOCH + timedelta(days=value)
        return one.value in (day, day.isoformat())
    if one.unit not in UNITS[unit] or isinstance(one.value, str | date) or one.value is None:
        return False
    given = float(one.value)
    # The sign of a change or a shortfall may stand in a word.
    return any(abs(sign * given - value) <= max(1e-4 * abs(value), 1e-6) for sign in (1, -1) if sign > 0 or value < 0)


def _printed(one: Given, text: str) -> bool:
    """The figure as it is printed stands in the text, and is it."""
    if one.text not in text and not (one.of and one.of in text):
        return False
    if isinstance(one.value, str | date) or one.value is None:
        return True
    numeral = _NUMERAL.search(one.text)
    if numeral is None:
        return False
    shown = abs(float(numeral.group().replace(",", "").replace("\u2212", "-")))
    value = abs(float(one.value))
    return any(abs(shown * scale - value) <= 0.006 * max(scale, abs(value) * 0.02) for scale in (1.0, 1e3, 1e6, 1e9))
