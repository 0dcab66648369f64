"""Which rows are no loans: shares, warrants, sold assets, by words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse
from core.portfolio.cells.parsing import Cells, key, spread_out
from core.portfolio.sheets.rows.odd import OddRows
from core.portfolio.sheets.rows.vocabulary import is_equity
from core.portfolio.sheets.rows.words import places_of, start_of
from core.portfolio.sheets.titles import is_no_collateral
from core.remembered import remembered

TEXTS_MAX: Final = 20_000
"""Distinct texts of a column up to which each is looked at; of more, those that have the letters."""

MEMORY_MAX: Final = 16_384
"""Names of which is remembered whether they are shares."""

_WORDS: Final = ("equit", "stock", "share", "warrant", "unit", "interest")
"""Letters that the name of a share has."""

_ANY_WORD: Final = re.compile("|".join(_WORDS))

_SEPARATORS: Final = (" - ", " \u2013 ", " \u2014 ", ": ")
"""What stands between a company's name and its instrument."""


def under_no_collateral(
    odd: OddRows, label: NDArray[np.bool_], again: NDArray[np.int64], height: int
) -> NDArray[np.bool_]:
    """Return rows below a heading of no collateral, down to the next heading.

    Args:
        again: rows of titles above a header that stands again, but for those that name loans.
    """
    under = np.zeros(height, np.bool_)
    at = np.flatnonzero(label)
    local, used = _parse.distinct(odd.first_text[at], len(odd.text))
    says = [is_no_collateral(start_of(odd.text, code)) for code in used.tolist()]
    if not any(says):
        return under
    is_no = spread_out(np.array(says, np.bool_), False, local)
    places = odd.rows[at]
    is_heading = is_no | new_headings(odd, at, again)
    begins, kinds = places[is_heading], is_no[is_heading]
    for begin, end, no in zip(begins.tolist(), [*begins[1:].tolist(), height], kinds.tolist(), strict=True):
        under[begin:end] = no
    return under


def new_headings(odd: OddRows, at: NDArray[np.int64], again: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which labels end the group above.

    A title of the page, which stands above its first row of loans too or above the header again, is no heading.
    """
    codes = odd.first_text[at]
    _, first = np.unique(codes, return_index=True)
    is_new = np.zeros(len(at), np.bool_)
    is_new[first] = True
    return np.asarray(is_new & ~np.isin(codes, odd.texts_above()) & ~np.isin(odd.rows[at], again), np.bool_)


def equity_rows(types: Iterable[Cells], height: int) -> NDArray[np.bool_] | None:
    """Return rows of shares, warrants or units; None where no row's are."""
    is_equity: NDArray[np.bool_] | None = None
    for cells in types:
        local, used = _parse.distinct(cells.codes, len(cells.pool.text))
        says = np.zeros(len(used), np.bool_)
        for place in _candidates(cells.pool.text, used).tolist():
            says[place] = _is_equity(start_of(cells.pool.text, int(used[place])))
        if says.any():
            is_equity = np.zeros(height, np.bool_) if is_equity is None else is_equity
            is_equity |= spread_out(says, False, local)
    return is_equity


def _candidates(text: Text, used: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return places among some codes of those whose strings are worth reading."""
    if len(used) <= TEXTS_MAX:
        return np.arange(len(used), dtype=np.int64)
    data = text.data.tobytes().lower()
    places = np.array([place for word in _WORDS for place in places_of(data, word.encode())], np.int64)
    codes = np.searchsorted(text.offsets, places, side="right") - 1
    return np.flatnonzero(np.isin(used, codes))


@remembered(MEMORY_MAX)
def _is_equity(text: str) -> bool:
    """Return whether a text names shares, alone or behind its company's name."""
    lower = text.lower()
    if _ANY_WORD.search(lower) is None:
        return False
    if is_equity(key(text)):
        return True
    cuts = [text.rfind(sign) + len(sign) for sign in _SEPARATORS if sign in text]
    return bool(cuts) and is_equity(key(text[max(cuts) :]))
