"""Words of a column of flags: what says yes and what says no."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from core.portfolio.cells.category_cells import CATEGORY_LENGTH_MAX
from core.portfolio.cells.string_pool import key, spread_out
from core.portfolio.cells.text.footnotes import without_marks
from core.portfolio.cells.text_cells import TextColumn, pool_of

YES: Final = frozenset(
    ("y", "yes", "true", "t", "1", "1.0", "-1", "x", "\u2713", "\u2714", "\u221a", "\u2611", "\u25cf", "\u2022",
     "\u25a0", "\u00d7", "ja", "oui", "si", "s\u00ed")
)  # fmt: skip
NO: Final = frozenset(
    (
        "n",
        "no",
        "false",
        "f",
        "0",
        "0.0",
        "none",
        "nein",
        "non",
        "\u2717",
        "\u2718",
        "\u2610",
        "\u2612",
        "not applicable",
        "performing",
    )
)
"""What says yes and what says no in a column of flags, in lower case."""

_DEFERS: Final = (
    "deferring", "deferring interest", "deferring obligation", "deferrable", "currently deferring", "deferred",
    "deferred interest", "interest deferral", "pik", "piking", "pik ing", "partial pik", "partially pik",
    "partially piking", "accruing pik", "pik accruing", "pik accrual", "capitalizing", "capitalising",
    "capitalizing interest", "capitalising interest", "capitalize interest", "capitalised interest",
    "paying in kind", "paid in kind", "payment in kind", "pay in kind",
    "cash pik", "cash and pik", "pik obligation", "pik security",
)  # fmt: skip

FLAG_WORDS: Final = {
    "is_defaulted": frozenset(
        ("default", "defaulted", "in default", "defaulted obligation", "d", "def", "df", "dflt", "payment default",
         "non accrual", "nonaccrual", "nonperforming", "non performing", "npl", "bankruptcy", "bankrupt")
    ),
    "cov_lite": frozenset(
        ("cov lite", "covlite", "covenant lite", "covenantlite", "covenant light", "cov light", "cov lt", "lite",
         "light", "cl", "cvl", "covl")
    ),
    "is_dip": frozenset(("dip", "dip loan", "dip collateral obligation", "debtor in possession")),
    "is_current_pay": frozenset(("current pay", "current pay obligation", "currentpay")),
    "is_pik": frozenset((*_DEFERS, "pik toggle", "toggle", "pikable", "pik able", "may pik", "option to pik")),
    "is_deferring": frozenset(_DEFERS),
    "is_bond": frozenset(("bond", "bonds", "notes")),
    "is_revolving": frozenset(("revolving", "revolver", "revolving loan", "revolving credit facility", "rcf")),
    "is_delayed_draw": frozenset(("delayed draw", "delayed drawdown", "ddtl", "dd", "delayed draw term loan")),
    "is_bridge": frozenset(("bridge", "bridge loan")),
    "participation": frozenset(("participation", "participation interest", "sub participation", "subparticipation")),
    "is_long_dated": frozenset(("long dated", "long dated obligation")),
    "is_second_lien": frozenset(("second lien", "2nd lien", "second lien loan", "2l")),
}  # fmt: skip
"""Words that say yes in the column of one flag, as `key` gives them."""

FLAG_DENIALS: Final = {
    "is_defaulted": frozenset(
        ("p", "pf", "perf", "performing", "current", "accrual", "accruing", "collateral obligation",
         "collateral debt obligation")
    ),
    "cov_lite": frozenset(
        ("full", "full cov", "full covenant", "full covenants", "fm", "maintenance", "maint", "maintenance covenant",
         "maintenance covenants", "financial maintenance", "covenant", "covenants", "covenanted", "cov heavy",
         "covenant heavy")
    ),
}  # fmt: skip
"""Words that say no in the column of one flag, as `key` gives them."""

_LOCAL_YES: Final = frozenset(("j", "o", "s"))
"""Ja, oui and s\u00ed by their first letters, where another cell says N."""

_DENIALS: Final = frozenset(
    ("no", "n", "not", "non", "none", "never", "without", "excluding", "ex", "former", "formerly", "false", "toggle",
     "able", "may", "option", "optional", "if")
)  # fmt: skip
"""Words that turn a flag's own word into a no, unless they are part of it (non accrual, PIK toggle)."""

_FIRST_YES, _FIRST_NO = frozenset(("yes", "y", "true")), frozenset(("no", "n", "false"))
"""Words that say it for a whole text that begins with them: "Yes (partial)"."""

OWN_WORD_MIN: Final = 3
"""Characters of a flag's own word that counts among other words of a cell."""


def says_yes(text: str, own: frozenset[str]) -> bool:
    """Return whether a word says yes in any column, or in one with words of its own."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return False
    if text.strip().lower() in YES:
        return True
    words = key(without_marks(text))
    first = words.partition(" ")[0]
    return words in own or first in _FIRST_YES or (bool(own) and first not in _FIRST_NO and _says_own(words, own))


def says_no(text: str, target: str = "") -> bool:
    """Return whether a word says no in any column of flags, or in that of one field."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return False
    words = key(without_marks(text))
    if text.strip().lower() in NO or words.partition(" ")[0] in _FIRST_NO:
        return True
    return words in FLAG_DENIALS.get(target, ()) or _denies_own(words, FLAG_WORDS.get(target, frozenset()))


def is_plain(text: str) -> bool:
    """Return whether a text says yes or no, and not by a word of one flag."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return False
    words = text.strip().lower()
    first = key(without_marks(text)).partition(" ")[0]
    return words != "performing" and (words in YES or words in NO or first in _FIRST_YES or first in _FIRST_NO)


def local_yes(texts: Iterable[str]) -> frozenset[str]:
    """Return the letter that says yes beside N in a column: J/N, O/N, S/N."""
    words = frozenset(text.strip().lower() for text in texts if len(text) <= CATEGORY_LENGTH_MAX)
    letters = words & _LOCAL_YES
    return letters if "n" in words and len(letters) == 1 else frozenset()


def _says_own(words: str, own: frozenset[str]) -> bool:
    """Return whether a flag's own word stands among others that do not deny it.

    For example "PIK toggle note", "covenant-lite loan".
    """
    beside = _beside_own(words, own)
    return beside is not None and _DENIALS.isdisjoint(beside)


def _denies_own(words: str, own: frozenset[str]) -> bool:
    """Return whether others beside a flag's own word deny it: "not in default"."""
    beside = _beside_own(words, own)
    return beside is not None and not _DENIALS.isdisjoint(beside)


def _beside_own(words: str, own: frozenset[str]) -> list[str] | None:
    """Return the words beside a flag's own one; None where it does not stand there."""
    padded = f" {words} "
    own_words = [word for word in own if len(word) >= OWN_WORD_MIN and f" {word} " in padded]
    return padded.replace(f" {max(own_words, key=len)} ", " ", 1).split() if own_words else None


_ASKS: Final = r"(?: loans?)?(?: (?:flag|indicator|ind|y n|yn|yes no|t f|true false))?"
_LIEN_FLAGS: Final = (
    (re.compile(rf"(?:is )?(?:second|2nd) (?:lein|lien){_ASKS}"), "Second Lien", "First Lien"),
    (
        re.compile(rf"(?:is )?(?:first|1st) (?:lein|lien)(?: (?:and |or )?(?:senior |sr )?secured)?{_ASKS}"),
        "First Lien",
        "Other",
    ),
    (re.compile(rf"(?:is )?(?:senior|sr) secured(?: first lien)?{_ASKS}"), "Senior Secured", "Other"),
)
"""Headings of a lien column that may answer yes or no, and what a yes and a no in it mean."""


def liens_of_flag(column: TextColumn, header: str) -> TextColumn | None:
    """Read a column of yes and no as liens; any other word says it itself.

    Where only a yes stands in it, a blank is a no. None under a heading that asks for no lien.
    """
    words = next((names for asks, *names in _LIEN_FLAGS if asks.fullmatch(key(header))), None)
    if words is None:
        return None
    strings = [
        words[0] if says_yes(string, frozenset()) else words[1] if says_no(string) else string
        for string in column.text.strings()
    ]
    is_mark = bool(strings) and len(column.text) == 1 and strings[0] == words[0]
    codes, text = pool_of([*strings, words[1]])
    return TextColumn(spread_out(codes[:-1], int(codes[-1]) if is_mark else -1, column.codes), text)
