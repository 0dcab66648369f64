"""The few loans that trades touch, as a small portfolio before and one after them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Amortization, Names
from core.scenario.base import Base
from core.scenario.changed import changed
from core.scenario.holdings import Holdings, TradeEffect

ALIGNED: Final = frozenset(("industry", "industry_a", "industry_b", "industry_c", "country", "payment_frequency"))
"""Columns of names with the codes of the whole portfolio, new names after them: their sums are added up by code, or
their other texts tell what a bare figure means."""

ROWS_MAX: Final = 100_000
"""Loans that trades may touch, those of the same obligors with them; of more a full pass is faster."""

PART_MAX: Final = 0.25
"""The same as a part of the portfolio."""


@dataclass
class TouchedLoans:
    """What trades change of a portfolio.

    Every loan of each obligor of which one loan is bought or sold.
    """

    holdings: Holdings
    change: TradeEffect
    rows: NDArray[np.intp]
    """Rows of the portfolio, in their order."""
    before: Portfolio
    """These rows."""
    after: Portfolio
    """What trades leave of them, and what they add."""

    @cached_property
    def whole(self) -> Portfolio:
        """The whole portfolio after the trades."""
        return changed(self.holdings, self.change)

    @property
    def deal(self) -> Any:
        return self.after.deal

    @property
    def row_count(self) -> int:
        """Loans of the whole portfolio after the trades."""
        return self.holdings.portfolio.row_count - self.before.row_count + self.after.row_count


def touched(
    holdings: Holdings, base: Base, change: TradeEffect, also: frozenset[int] = frozenset()
) -> TouchedLoans | None:
    """Return the loans that a change touches, and those of some further obligors (by code); None where they are too
    many."""
    portfolio = holdings.portfolio
    rows = {*change.par, *(lot.twin for lot in change.bought if lot.twin is not None)}
    names = {lot.loan.texts["obligor"] for lot in change.bought if "obligor" in lot.loan.texts}
    limit = min(ROWS_MAX, PART_MAX * portfolio.row_count)
    index = base.by_obligor
    if index is not None:
        codes = {int(code) for code in index.names.codes[list(rows)]} | {
            code for code in map(index.code, names) if code >= 0
        }
        codes |= also
        for code in codes:
            if code >= 0:
                rows |= set(index.rows(code))
            if len(rows) > limit:
                return None
    chosen = np.array(sorted(rows), np.intp)
    before = taken(holdings, chosen)
    place = {row: at for at, row in enumerate(chosen.tolist())}
    small = TradeEffect(
        {place[row]: left for row, left in change.par.items()},
        [replace(lot, twin=None if lot.twin is None else place[lot.twin]) for lot in change.bought],
        change.cash,
    )
    return TouchedLoans(holdings, change, chosen, before, changed(Holdings(before), small))


def taken(holdings: Holdings, rows: NDArray[np.intp]) -> Portfolio:
    """Return some rows of a portfolio, with names of their own but in the aligned columns."""
    portfolio = holdings.portfolio
    return replace(
        portfolio,
        row_count=len(rows),
        numbers={name: column[rows] for name, column in portfolio.numbers.items()},
        names={
            name: Names(column.codes[rows], column.values) if name in ALIGNED else _rename(column, rows)
            for name, column in portfolio.names.items()
        },
        flags={name: column[rows] for name, column in portfolio.flags.items()},
        ranks={name: column[rows] for name, column in portfolio.ranks.items()},
        lien=None if portfolio.lien is None else portfolio.lien[rows],
        amortization=None if holdings.schedule is None else _scheduled(holdings.schedule, rows),
        lots=None,
        conflicting=None,
        sheet_rows=None,
    )


def _rename(column: Names, rows: NDArray[np.intp]) -> Names:
    codes = column.codes[rows].tolist()
    place: dict[int, int] = {}
    for code in codes:
        if code >= 0:
            place.setdefault(code, len(place))
    local = [place[code] if code >= 0 else -1 for code in codes]
    return Names(np.array(local, np.int32), tuple(column.values[code] for code in place))


def _scheduled(amortization: Amortization, rows: NDArray[np.intp]) -> Amortization:
    """Return the payments of some rows, out of payments in the order of theirs."""
    first, last = (np.searchsorted(amortization.row, rows, side) for side in ("left", "right"))
    spans = [np.arange(start, end) for start, end in zip(first.tolist(), last.tolist(), strict=True)]
    own = np.concatenate(spans) if spans else np.zeros(0, np.intp)
    place = np.repeat(np.arange(len(rows)), last - first)
    return Amortization(row=place.astype(np.int64), days=amortization.days[own], amount=amortization.amount[own])
