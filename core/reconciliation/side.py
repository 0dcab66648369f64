"""One side of a comparison: a portfolio's columns as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio import Portfolio
from core.portfolio.cells import string_pool, text_cells
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model import ratings
from core.portfolio.model.facts import Agency
from core.portfolio.model.portfolio import Names, Strings
from core.reconciliation.rules import ReconcileError

LOANS_MAX: Final = 10_000_000
"""Loans of one side, as many as a portfolio from columns may have."""

WITHDRAWN_STATE, UNREAD_STATE = 23, 24
"""States of a rating beyond its ranks: withdrawn, and a text that says neither a rating nor that there is none."""

WITHDRAWN: Final = frozenset(("WR", "WD", "WITHDRAWN"))
"""Symbols of a rating that was given once, in upper case."""


class Side:
    """A portfolio with each text column as codes into its own bytes, made when it is first asked for."""

    __slots__ = ("_columns", "_states", "_subsets", "factor", "name", "portfolio", "row_count")

    def __init__(self, portfolio: Portfolio, name: str) -> None:
        """Raises:
        ReconcileError: more than LOANS_MAX loans.
        """
        if portfolio.row_count > LOANS_MAX:
            raise ReconcileError(f"{portfolio.row_count:,} loans on the {name} are more than {LOANS_MAX:,}")
        self.portfolio = portfolio
        self.name = name
        """What a reader calls this side."""
        self.row_count = portfolio.row_count
        self.factor = 1.0
        """What par is multiplied by to be in units of the currency."""
        self._columns: dict[str, TextColumn | None] = {}
        self._states: dict[str, NDArray[np.uint8]] = {}
        self._subsets: dict[str, tuple[NDArray[np.int32], TextColumn]] = {}

    def column(self, field: str) -> TextColumn | None:
        """Return a text column; None without it."""
        if field not in self._columns:
            names = self.portfolio.names.get(field)
            self._columns[field] = None if names is None else _text_column(names)
        return self._columns[field]

    def numbers(self, field: str) -> NDArray[np.float64] | None:
        """Return a number column; par in units of the currency."""
        values = self.portfolio.numbers.get(field)
        if values is None:
            return None
        if field == "par_value" and self.factor != 1.0:
            return np.round(values * self.factor, 6)
        return np.ascontiguousarray(values, np.float64)

    def states(self, field: str) -> NDArray[np.uint8] | None:
        """Return ranks 1 to 22, 0, WITHDRAWN_STATE or UNREAD_STATE; None if absent."""
        if field not in self._states:
            ranks = self.portfolio.ranks.get(field)
            if ranks is None:
                return None
            self._states[field] = self._with_symbols(field, ranks)
        return self._states[field]

    def _with_symbols(self, field: str, ranks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        names = self.portfolio.names.get(field)
        if names is None:
            return np.ascontiguousarray(ranks)
        agency = ratings.AGENCY_OF[field]
        table = np.array([*(_state(symbol, agency) for symbol in names.values), 0], np.uint8)
        if not table.any():
            return np.ascontiguousarray(ranks)
        return np.where(ranks == 0, table[names.codes], ranks)

    def codes(self, field: str, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of some rows in a text column.

        -1 for the row -1, and everywhere without the column.
        """
        column = self.column(field)
        if column is None or not self.row_count:
            return np.full(len(rows), -1, np.int32)
        return np.where(rows >= 0, column.codes[rows], np.int32(-1))

    def texts(self, field: str, rows: NDArray[np.int32]) -> list[str]:
        """Return the text of some rows, "" for blank and for the row -1."""
        column = self.column(field)
        if column is None:
            return [""] * len(rows)
        codes = self.codes(field, rows)
        texts = [""] * len(rows)
        places = np.flatnonzero(codes >= 0)
        for place, text in zip(places.tolist(), string_pool.decode(column.text, codes[places]), strict=True):
            texts[place] = text
        return texts

    def subset(self, field: str, rows: NDArray[np.int32]) -> TextColumn | None:
        """Return a text column's rows with a pool of their own, of just the strings that they use."""
        column = self.column(field)
        if column is None:
            return None
        known = self._subsets.get(field)
        if known is None or known[0] is not rows:  # stages that pair nothing ask for the same rows
            self._subsets[field] = known = rows, text_cells.subset(column, rows)
        return known[1]


def _text_column(names: Names) -> TextColumn:
    codes = np.ascontiguousarray(names.codes, np.int32)
    if isinstance(names.values, Strings):
        return TextColumn(codes, names.values.text)
    written, text = text_cells.pool_of(list(names.values))
    if len(text) == len(names.values):  # as names are: distinct, and in this order
        return TextColumn(codes, text)
    return TextColumn(string_pool.spread_out(written, -1, codes), text)


def _state(symbol: str, agency: Agency | None) -> int:
    """Return the state of a symbol that has no rank in its column.

    0 for one that has, and for what says that there is none.

    A symbol of another agency's scale has the rank that it has there: no symbol has two.
    """
    if " ".join(symbol.upper().split()) in WITHDRAWN:
        return WITHDRAWN_STATE
    if ratings.rank(symbol, agency) or ratings.is_not_rated(symbol):
        return 0
    return ratings.rank(symbol) or UNREAD_STATE


def content_order(side: Side, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a number for each row by what it holds, par first.

    The same whatever the order of the rows.

    Rows that hold the same throughout get numbers in any order. The row -1 has the number -1.
    """
    numbered = np.full(len(rows), -1, np.int64)
    filled = np.flatnonzero(rows >= 0)
    rows = rows[filled]
    keys: list[NDArray[np.generic]] = [np.zeros(len(rows), np.uint8)]
    portfolio = side.portfolio
    numbers = portfolio.numbers
    fields = [name for name in ("par_value", *sorted(set(numbers) - {"par_value"})) if name in numbers]
    keys += [np.nan_to_num(numbers[name][rows], nan=-np.inf) for name in fields]
    for small in (portfolio.ranks, portfolio.flags):
        keys += [small[field][rows] for field in sorted(small)]
    for field in sorted(portfolio.names):
        keys.append(_text_order(side.texts(field, rows)))
    if portfolio.lots is not None:
        keys.append(portfolio.lots[rows])
    numbered[filled[np.lexsort(keys[::-1])]] = np.arange(len(rows))
    return numbered


def _text_order(texts: Sequence[str]) -> NDArray[np.int64]:
    place = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts], np.int64)
