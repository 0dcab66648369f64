"""Choose the column of par by its basis, and find a second one to add."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells.parsing import key
from core.portfolio.pages.currency import CAMEL
from core.portfolio.sheets.header import HeaderMatch

Values = NDArray[np.float64]

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
    best, avoided = places[0], list[re.Pattern[str]]()
    for worse, better in ((_LOCAL, _DEALS), (_SETTLED, _TRADED)):
        if worse.search(words[best]):
            unfit = [*avoided, worse]
            fitting = (at for at in places if better.search(words[at]))
            best = next((at for at in fitting if not any(bad.search(words[at]) for bad in unfit)), best)
        if not worse.search(words[best]):
            avoided.append(worse)
    return best if best != places[0] else None


_PARTS: Final = (re.compile(r"\bassign(?:ed|ments?)?\b"), re.compile(r"\bparticipat(?:ed|ions?)\b"))

_WHOLE: Final = re.compile(r"\b(?:total|incl|including|includes|inclusive|and|gross|plus|with|w|all)\b")
"""Words of a heading whose column has both parts."""


def part_place(header: HeaderMatch, place: int) -> int | None:
    """Find the column of participations beside par of assignments, or vice versa.

    Args:
        place: the column that par is read from.
    """
    texts = {at: key(CAMEL.sub(" ", header.texts.get(at, ""))) for at in header.columns.get("par_value", [])}
    if _WHOLE.search(texts.get(place, "")):
        return None
    for part, rest in (_PARTS, _PARTS[::-1]):
        if part.search(texts.get(place, "")) and not rest.search(texts.get(place, "")):
            others = [at for at, text in texts.items() if rest.search(text) and not part.search(text)]
            return others[0] if len(others) == 1 and not _WHOLE.search(texts[others[0]]) else None
    return None


def is_whole(header: HeaderMatch, places: tuple[int, int], values: tuple[Values, Values]) -> bool:
    """Return whether the column of participations has the assignments, too.

    It is nowhere less than these.

    Args:
        places: columns of par of either kind.
        values: what they have.
    """
    first, second = map(np.nan_to_num, values)
    if _PARTS[1].search(key(CAMEL.sub(" ", header.texts.get(places[0], "")))):
        first, second = second, first
    return bool((second >= first).all())
