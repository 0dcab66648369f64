"""Which rows are no loans, by words: shares, swaps, money funds, sold assets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import Cells, key, spread_out
from core.portfolio.sheets.rows.odd import OddRows
from core.portfolio.sheets.rows.vocabulary import is_contract, is_equity, is_fund
from core.portfolio.sheets.rows.words import COMPANY, places_of, start_of
from core.portfolio.sheets.titles import is_no_collateral
from core.remembered import remembered

TEXTS_MAX: Final = 20_000
"""Distinct texts of a column up to which each is looked at; of more, those that have the letters."""

MEMORY_MAX: Final = 16_384
"""Names of which is remembered whether they are shares."""

_WORDS: Final = ("equit", "stock", "share", "warrant", "unit", "interest")
"""Letters that the name of a share has."""

_ANY_WORD: Final = re.compile("|".join(_WORDS))

_CONTRACT_WORDS: Final = (
    "swap", "forward", "hedg", "derivativ", "future", "treasur", "bill", "money", "fund", "paper", "repo", "repurchase",
    "mmf", "cds", "irs", "fx", "swaption",
)  # fmt: skip
"""Letters that the type of a contract or of cash has."""

_FUND_WORDS: Final = ("swap", "forward", "treasur", "bill", "fund", "money", "portfolio", "cash management")
"""Letters that the name of one has."""

_IN_BRACKETS: Final = re.compile(r"\(([^()]{1,60})\)\s*$")
"""What stands in brackets behind a company's name."""

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
    return _rows_named(types, height, _WORDS, _is_equity)


def contract_rows(types: Iterable[Cells], height: int) -> NDArray[np.bool_] | None:
    """Return rows of swaps, forwards, Treasury bills or money funds; None for none."""
    return _rows_named(types, height, _CONTRACT_WORDS, _is_contract)


def share_rows(names: Iterable[Cells], height: int) -> NDArray[np.bool_] | None:
    """Return rows of borrowers with a name of shares behind theirs; None for none."""
    return _rows_named(names, height, _WORDS, _is_share)


def fund_rows(names: Iterable[Cells], height: int) -> NDArray[np.bool_] | None:
    """Return rows with the name of such a thing, or of a fund; None for none."""
    return _rows_named(names, height, _FUND_WORDS, _is_fund)


def _rows_named(
    columns: Iterable[Cells], height: int, words: Sequence[str], is_named: Callable[[str], bool]
) -> NDArray[np.bool_] | None:
    """Return rows with a text that names something; None where no row has one.

    Args:
        words: letters of which such a text has some.
    """
    named: NDArray[np.bool_] | None = None
    for cells in columns:
        local, used = _parse.distinct(cells.codes, len(cells.pool.text))
        says = np.zeros(len(used), np.bool_)
        for place in _candidates(cells.pool.text, used, words).tolist():
            says[place] = is_named(start_of(cells.pool.text, int(used[place])))
        if says.any():
            named = np.zeros(height, np.bool_) if named is None else named
            named |= spread_out(says, False, local)
    return named


def _candidates(text: Text, used: NDArray[np.int32], words: Sequence[str]) -> NDArray[np.int64]:
    """Return places among some codes of those whose strings are worth reading."""
    if len(used) <= TEXTS_MAX:
        return np.arange(len(used), dtype=np.int64)
    data = text.data.tobytes().lower()
    places = np.array([place for word in words for place in places_of(data, word.encode())], np.int64)
    codes = np.searchsorted(text.offsets, places, side="right") - 1
    return np.flatnonzero(np.isin(used, codes))


@remembered(MEMORY_MAX)
def _is_contract(text: str) -> bool:
    """Return whether a type names a swap, a forward, a Treasury bill or cash."""
    return is_contract(key(text))


@remembered(MEMORY_MAX)
def _is_fund(text: str) -> bool:
    """Return whether a name is that of a money fund, a Treasury bill or a contract.

    That of a company is not; behind a sign may be the bank of a contract.
    """
    first = min((text.split(sign)[0] for sign in _SEPARATORS), key=len)
    return is_fund(key(text)) and COMPANY.fullmatch(first) is None


@remembered(MEMORY_MAX)
def _is_share(text: str) -> bool:
    """Return whether a name ends with that of shares: "Acme (Warrants)"."""
    inner = _IN_BRACKETS.search(text)
    return _is_equity(text) or (inner is not None and is_equity(key(inner[1])))


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
