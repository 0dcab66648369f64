"""What the titles of pages and of the lists on them say, as one table of words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import key
from core.remembered import remembered

LENGTH_MAX: Final = 100
"""Characters of a title; a longer text is prose."""

MEMORY_MAX: Final = 4_096
"""Lines whose kinds are remembered."""

Kind = Literal[
    "defaulted", "deferring", "pik", "current_pay", "cov_lite", "dip", "long_dated", "discount", "ccc", "obligors",
    "trades", "changes", "noncollateral", "another_day",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Title:
    """A kind of title. Words are compared by `cells.string_pool.key`."""

    kind: Kind
    words: re.Pattern[str]
    flag: str = ""
    """The flag that is true of all loans below it; "" where there is none."""
    left_out: str = ""
    """Why nothing is taken from below it; "" where something may be."""

    @property
    def is_list(self) -> bool:
        """Return whether it is the title of a list of some of the loans."""
        return not self.left_out


def _title(kind: Kind, words: str, flag: str = "", left_out: str = "") -> Title:
    return Title(kind, re.compile(words), flag, left_out)


TRADES: Final = "its title is that of a list of trades or payments"

_THINGS: Final = r"(?:obligations?|loans?|assets?|securities)"

TITLES: Final = (
    _title("defaulted", r"\bdefault(?:ed|s)?\b", "is_defaulted"),
    _title("deferring", rf"\bdeferring\b|\bdeferred interest {_THINGS}\b", "is_deferring"),
    _title("pik", rf"\bpik(?:ing)? {_THINGS}\b", "is_pik"),
    _title("current_pay", r"\bcurrent pay\b", "is_current_pay"),
    _title("cov_lite", r"\bcov(?:enant)? lite\b", "cov_lite"),
    _title("dip", r"\bdip\b|\bdebtors? in possession\b", "is_dip"),
    _title("long_dated", r"\blong dated\b", "is_long_dated"),
    _title("discount", r"\bdiscount(?:ed)?\b"),
    _title("ccc", r"\b(?:ccc|caa|cccaa)\d?\b"),
    _title("obligors", r"\b(?:top|largest|highest|ten|\d+)\b.*\bobligors?\b|\bobligor concentrations?\b"),
    _title(
        "trades",
        r"\b(?:purchases?(?! (?:price|date|lots?\b))|sales?|sold|bought|trades?(?! date)|trading|pay ?downs?"
        r"|prepayments?|repayments?|transactions?|activity|(?<!^)blotter|buys|sells|acquisitions|dispositions|disposals|redemptions"
        r"|pipeline|proposed|hypothetical|pro forma|(?<!incl )(?<!including )(?:unsettled|pending))\b",
        "", TRADES,
    ),
    _title(
        "changes",
        r"\b(?:upgrades?|downgrades?|rating (?:changes?|actions?|migrations?|movements?|watch)"
        r"|changes? (?:in|of) ratings?|watch ?list|credit ?watch|(?:on|under) (?:watch|review))\b",
        "", "its title is that of a list of changed ratings",
    ),
    _title(
        "noncollateral",
        r"\b(?:eligible investments?|cash equivalents?|money market|temporary investments?|equity securit(?:y|ies)"
        r"|equities|equity (?:holdings|positions|interests?|shares|assets)|warrants?|hedges?|hedging|swaps?|derivatives"
        rf"|fx forwards?|(?:not|non) collateral|collateral enhancement {_THINGS})\b",
        "", "its title is that of cash, shares or contracts, not of loans",
    ),
    _title(
        "another_day",
        r"^[^|]*\b(?:prior|previous|last month|old|archived?|historical|history|backup|template|superseded)\b",
        "", "its name is that of a page of another day",
    ),
)  # fmt: skip
"""The kinds of titles. Words of public trustee reports and of the market's general vocabulary."""

_EXCEPT: Final = re.compile(
    r"\b(?:non|not|no|excluding|excl|ex|except|other than|performing|summary|probability|rating|ratings)\b"
)
"""Words by which a title is that of everything but the named loans, or of something else about them."""


@remembered(MEMORY_MAX)
def kinds(line: str) -> tuple[Title, ...]:
    """Return the kinds of lists that a line's key names, in the table's order."""
    return tuple(title for title in TITLES if title.is_list and title.words.search(line))


def flag_of(lines: Iterable[str]) -> str:
    """Return the flag that is true of all loans below some lines.

    The lines are keys, the nearest first: the first line that names a kind of list decides. "" where none does, or it
    names several kinds or their opposite.
    """
    for line in lines:
        if named := kinds(line):
            return named[0].flag if len(named) == 1 and not _EXCEPT.search(line) else ""
    return ""


@remembered(MEMORY_MAX)
def left_out(title: str) -> str:
    """Return why nothing is taken from a list of this title; "" where it may be.

    Args:
        title: keys of its lines, the sheet's name first, with " | " between them.
    """
    return next(
        (title_kind.left_out for title_kind in TITLES if title_kind.left_out and title_kind.words.search(title)), ""
    )


def is_of_another_day(name: str) -> bool:
    """Return whether the name of a sheet, a key, is that of a page of another day."""
    return TITLES[-1].words.search(name) is not None


# ---- headings of groups --------------------------------------------------------------------------------------------

_NO_COLLATERAL: Final = re.compile(
    r"\b(?:not|non|no) (?:a )?(?:part of (?:the )?)?collateral\b(?! (?:manager|quality|administrator|agent))"
    r"|\bexcluded from (?:the )?(?:collateral|par|pool|portfolio|principal)\b"
)
_NO_LOAN: Final = frozenset(
    ("equity", "equities", "warrant", "warrants", "stock", "stocks", "sold", "pending", "unsettled", "unsold",
     "disposals", "disposed", "redeemed", "repaid", "prepaid")
)  # fmt: skip
_HEADING_WORDS: Final = _NO_LOAN | frozenset(
    (
        "and", "or", "of", "the", "other", "common", "preferred", "shares", "share", "securities", "security",
        "interests", "interest", "positions", "position", "assets", "asset", "loans", "loan", "bonds", "bond",
        "obligations", "obligation", "holdings", "items", "purchases", "purchase", "purchased", "sales", "sale",
        "trades", "trade", "traded", "settlement", "settlements", "but", "not", "yet", "settled", "owned", "held",
        "received", "to", "be", "during", "since", "in", "this", "last", "month", "period", "quarter", "year", "report",
        "reporting", "collection", "due", "list", "fully", "full", "investments", "investment", "included", "above",
        "below", "total", "totals", "par",
    )
)  # fmt: skip
"""Words of which the heading of a group without collateral is made; the name of a company has others."""


def is_no_collateral(heading: str) -> bool:
    """Return whether a group's heading says that its rows are no collateral.

    "Equity (not collateral)", "Warrants", "Assets sold but not yet settled"; not the name of a company with such a
    word.
    """
    line = key(heading[:LENGTH_MAX])
    if _NO_COLLATERAL.search(line):
        return True
    words = line.split()
    return not _NO_LOAN.isdisjoint(words) and _HEADING_WORDS.issuperset(words)


_LIST_WORDS: Final = frozenset(
    (
        "a", "and", "of", "or", "the", "list", "detail", "details", "obligation", "obligations", "loan", "loans",
        "asset", "assets", "security", "securities", "collateral", "portfolio", "rated", "below", "default",
        "defaulted", "defaults", "deferring", "deferred", "interest", "pik", "piking", "current", "pay", "cov",
        "covenant", "lite", "dip", "debtor", "debtors", "in", "possession", "long", "dated", "discount", "discounted",
        "ccc", "caa", "caa1", "non", "not", "performing", "moody", "moodys", "s", "p", "fitch", "other", "issues",
        "issuers", "positions", "holdings",
    )
)  # fmt: skip
"""Words of which the heading of a group of some loans is made."""


def is_group(line: str) -> bool:
    """Return whether a key heads a list of some loans, and is no company's name."""
    return bool(kinds(line)) and _LIST_WORDS.issuperset(line.split())


# ---- empty lists ---------------------------------------------------------------------------------------------------

_EMPTY: Final = re.compile(
    r"no data(?: (?:available|found|to display|to report))?(?: for this request)?"
    r"|none(?: (?:to report|at this time|reported|held|outstanding))?|nil|not applicable|n a"
    r"|nothing to report|no (?:records?|rows?|items?|entries|results?|holdings|positions|assets|loans|obligations"
    r"|securities|activity|transactions)(?: (?:found|available|reported|held|outstanding|to report|to display))?"
    r"|no (?:such )?\w+(?: \w+){0,6} (?:to report|in (?:the|this) (?:period|portfolio)|outstanding|held|found)"
    r"|(?:the issuer (?:has|holds)|there (?:are|were)(?: currently)?) no \w+(?: \w+){0,12}"
)
_NO_KIND: Final = re.compile(r"(?:there (?:are|were) (?:currently )?)?no (?!non\b).*")


def is_empty(text: str) -> bool:
    """Return whether a text stands for an empty list: "None", "There are no ..."."""
    if len(text) > LENGTH_MAX:
        return False
    line = key(text)
    return _EMPTY.fullmatch(line) is not None or bool(empty_list_flags(line))


def empty_list_flags(line: str) -> set[str]:
    """Return the flags of lists that a line's key says to be empty."""
    if _NO_KIND.fullmatch(line) is None or not _LIST_WORDS.issuperset(set(line.split()) - _DENIAL):
        return set()
    return {kind.flag for kind in kinds(line) if kind.flag}


_DENIAL: Final = frozenset(
    ("there", "are", "were", "no", "currently", "this", "period", "at", "time", "as", "date", "held", "outstanding",
     "to", "report")
)  # fmt: skip


def first_row(sheet: Sheet) -> int:
    """Return the first row with a cell: a parted table keeps its place."""
    return min((column.start for column in sheet.columns if column is not None), default=0)


def first_line(sheet: Sheet) -> str:
    """Return the lone text of a sheet's first row, as of a title; "" for none."""
    row = first_row(sheet)
    texts = [value for column in range(sheet.column_count) if (value := sheet.value(row, column)) is not None]
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) and len(texts[0]) <= LENGTH_MAX else ""
