"""Choose the column of par by its basis: traded first, the deal's currency first."""

from __future__ import annotations

import re
from typing import Final

from core.portfolio.cells.parsing import key
from core.portfolio.pages.currency import CAMEL
from core.portfolio.sheets.header import HeaderMatch

_SETTLED: Final = re.compile(r"\b(?:settled?|settlement|stld?)\b")
_TRADED: Final = re.compile(r"\b(?:traded?|trd)\b")
_LOCAL: Final = re.compile(r"\b(?:native|local)\b|\b(?:issue|asset|loan|original|security) (?:currency|ccy|curr)\b")
_DEALS: Final = re.compile(
    r"\b(?:deal|base|reporting|fund|portfolio) (?:currency|ccy|curr|par|amt|amount|bal|balance|principal)\b"
    r"|\b(?:usd|eur|gbp|us dollars?|euros?)\b"
)


def basis_place(header: HeaderMatch, own: int) -> int | None:
    """Find the column whose heading names a better basis than the first one's.

    None where the first one says nothing of its basis, or no other one says the better one.

    Args:
        own: the columns for par that a mapping names itself: these stand.
    """
    places = header.columns.get("par_value", [])
    if len(places) < 2 or header.preferences.get(("par_value", places[0]), 0) < own:
        return None
    words = {place: key(CAMEL.sub(" ", header.texts.get(place, ""))) for place in places}
    first = words[places[0]]
    for worse, better in ((_LOCAL, _DEALS), (_SETTLED, _TRADED)):
        if not worse.search(first):
            continue
        for place in places[1:]:
            if better.search(words[place]) and not worse.search(words[place]):
                return place
    return None
