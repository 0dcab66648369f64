"""The names that trustees give to tests, to a row of the catalogue of measures or a formula over the loans.

The words are those of monthly reports and indentures of US and European deals; a definition adds its own as aliases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.portfolio.cells.parsing import key
from core.remembered import remembered

NAME_MAX: Final = 200
"""Characters of a name that are read."""

TOP_TEN_LEAST_PCT: Final = 8.0
"""An obligor test with a limit from here on is about the ten largest together: one obligor's is 1.5 to 3 percent."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A kind of test: what its name says, in lower case without punctuation, and what measures it."""

    words: re.Pattern[str]
    test: dict[str, Any]
    """Fields of a definition's test."""
    limit: Literal["max", "min"]
    takes: frozenset[str]
    """What else the name says: agency, class, nth."""


def _row(words: str, limit: Literal["max", "min"], takes: str = "", **test: Any) -> _Row:
    return _Row(re.compile(rf"\b(?:{words})"), test, limit, frozenset(takes.split()))


def _largest(count: str) -> str:
    return rf"(?:top|largest) (?:{count}) obligors?|(?:{count}) (?:largest )?obligors?"


_ROWS: Final = (
    _row(r"event of default", "min", measure="event_of_default"),
    _row(r"reinvestment (?:over ?collaterali[sz]ation|oc|par)|interest diversion|interest reinvestment|"
         r"reinvestment diversion", "min", measure="reinvestment_oc"),
    _row(r"over ?collaterali[sz]ation|par value|par coverage|principal coverage|oc (?:ratio|test)|oc$",
         "min", "class", measure="oc"),
    _row(r"interest coverage|ic (?:ratio|test)|ic$", "min", "class", measure="ic"),
    _row(r"cdo monitor|scenario default rate|sdr\b", "max", measure="sdr"),
    _row(r"break ?even default|bdr\b", "min", measure="bdr"),
    _row(r"default rate dispersion", "max", measure="default_rate_dispersion"),
    _row(r"obligor diversity", "min", measure="obligor_diversity"),
    _row(r"industry diversity", "min", measure="industry_diversity"),
    _row(r"region(?:al)? diversity", "min", measure="regional_diversity"),
    _row(r"spwarf|s and p (?:global ratings )?(?:weighted average|wa) rating factor", "max", measure="spwarf"),
    _row(r"(?:weighted average|average|wa) (?:\w+ )?rating factor|warf\b|rating factor", "max", "agency",
         measure="warf"),
    _row(r"recovery rate|recovery test|warr\b|(?:weighted average|wa) recovery", "min", "agency", measure="warr"),
    _row(r"diversity", "min", measure="diversity"),
    _row(r"(?:weighted average|wa|average) life|wal\b", "max", measure="wal"),
    _row(r"(?:weighted average|wa) (?:\w+ ){0,2}spread|was\b|floating spread", "min", measure="was"),
    _row(r"(?:weighted average|wa) (?:\w+ )?coupon|wac\b|fixed coupon", "min", measure="wac"),
    _row(r"(?:weighted average|wa) price", "min", measure="average_price"),
    _row(r"caa|ccc", "max", "agency", measure="ccc"),
    _row(_largest("ten|10"), "max", measure="top_obligors", nth=10),
    _row(_largest("five|5"), "max", measure="top_obligors", nth=5),
    _row(r"obligor|issuer concentration|single (?:name|issuer)|largest issuer", "max", "nth", measure="obligor"),
    _row(r"industry|sector", "max", "nth agency", measure="industry"),
    _row(r"cov(?:enant)? lite", "max", measure="cov_lite"),
    _row(r"(?:non|not) senior secured", "max", measure="non_senior_secured"),
    _row(r"senior secured", "min", share='=OR(lien="first_lien",lien="bond")'),
    _row(r"second lien|unsecured|mezzanine|high yield|non senior", "max", measure="non_senior_secured"),
    _row(r"fixed rate|fixed coupon|fixed interest", "max", measure="fixed_rate"),
    _row(r"small facilit|facility size|small loans", "max", measure="small_facilities"),
    _row(r"current pay", "max", share="=is_current_pay"),
    _row(r"dip\b|debtor in possession", "max", share="=is_dip"),
    _row(r"deferr|deferab|pik\b|payment in kind", "max", share="=OR(is_pik,is_deferring)"),
    _row(r"participation", "max", share="=participation"),
    _row(r"bridge", "max", share="=is_bridge"),
    _row(r"revolv|delayed draw|unfunded|future advance", "max", share="=OR(is_revolving,is_delayed_draw)"),
    _row(r"(?<!non )discount", "max", share="=is_discount"),
    _row(r"long dated", "max", share="=is_long_dated"),
    _row(r"defaulted", "max", measure="delinquency"),
)  # fmt: skip
"""In the order in which they are tried: the narrower words first."""

_HOME: Final = r"(?:of )?(?:the )?(?:united states(?: of america)?|usa?|u s a?|europe|eu|european union)"
_ABROAD: Final = re.compile(
    r"\bnon (?:us|u s|domestic|european?)\b|\bforeign (?:obligor|countr|loan|asset|issuer)"
    rf"|\b(?:outside|other th[ae]n|not (?:domiciled |organi[sz]ed |located |incorporated )?in) {_HOME}\b"
    r"(?! (?:and|or|nor|canada|uk|united)\b)"
)
"""Everything that is not at home, and not a part of it."""

_PART: Final = re.compile(
    r"\b(?:other|except|exclud\w+|each|every|individual|swapped|acquired|purchased?|adjust\w*|excess|first period|after"
    r"|eligible investments?|counterpart\w+|indebtedness|ebitda|emerging|group (?:i+|[1-3]|countr\w+)|jurisdictions?"
    r"|domicile\w*|countries|bivariate)\b"
)
"""Words by which a test is about a part of what its other words say, or about something beside it."""

_SUBJECT: Final = re.compile(
    r"\b(?:dip|debtor in possession|senior|secured|unsecured|second lien|rescue|cov(?:enant)? lite|discount|deferr\w+"
    r"|current pay|participations?|fixed|bridge|ccc|caa|defaulted|loans)\b"
)
"""Words by which a test of obligors is about some of their loans."""

_AGENCIES: Final = ((re.compile(r"moody"), "a"), (re.compile(r"s and p|standard and poor"), "b"),
                    (re.compile(r"fitch"), "c"))  # fmt: skip

_CLASS: Final = re.compile(
    r"\bclass(?:es)?\s+([a-z](?:-?\d+)?\b(?:\s*(?:/|&|,|-|and|to|through)\s*(?:class(?:es)?\s+)?[a-z](?:-?\d+)?\b)*)",
    re.I,
)
_BARE_CLASS: Final = re.compile(r"^\s*([a-z](?:\s*/\s*[a-z])*)\s+(?:oc|ic|par|over|interest)\b", re.I)
_LETTER: Final = re.compile(r"\b([A-Z])(?:-?\d+)?\b")

_ORDINALS: Final = {
    "largest": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
    "sixth": 6, "6th": 6,
}  # fmt: skip


@remembered(2_048)
def recognised(name: str, trigger: float | None) -> tuple[dict[str, Any], Literal["max", "min"]] | None:
    """The test that a published name means, as fields of a definition's test, and the side of its limit.

    None where no row knows it, where it is about a part of what a row means, or where it lacks what its measure needs.
    """
    name = name[:NAME_MAX]
    words = key(name)
    if _ABROAD.search(words):
        return {"measure": "foreign_country"}, "max"
    row = next((row for row in _ROWS if row.words.search(words)), None)
    if row is None or _PART.search(words):
        return None
    test = dict(row.test)
    if test.get("measure") in ("obligor", "top_obligors") and _SUBJECT.search(words):
        return None
    if "class" in row.takes:
        found = class_of(name)
        if found is None:
            return None
        test["class"] = found
    agency = next((agency for pattern, agency in _AGENCIES if pattern.search(words)), None)
    if "agency" in row.takes and agency is not None:
        test["classification" if test["measure"] == "industry" else "agency"] = agency
    if "nth" in row.takes:
        test["nth"] = max((_ORDINALS[word] for word in words.split() if word in _ORDINALS), default=1)
        if test["measure"] == "obligor" and test["nth"] == 1 and trigger is not None and trigger >= TOP_TEN_LEAST_PCT:
            test |= {"measure": "top_obligors", "nth": 10}
    return test, row.limit


def class_of(name: str) -> str | None:
    """The classes that a name speaks of, such as A/B or C: letters, senior first; None where it names none."""
    found = _CLASS.search(name) or _BARE_CLASS.search(name)
    if found is None:
        return None
    letters = list(dict.fromkeys(letter for letter in _LETTER.findall(found[1].upper())))
    return "/".join(letters) or None
