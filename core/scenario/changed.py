"""A portfolio after trades.

Less par on some rows, none of those that were sold, and new rows at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio import Portfolio
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Amortization, Deal, Names, extended
from core.portfolio.pages.identify import SUMMED
from core.scenario.holdings import BoughtLoan, Holdings, TradeEffect

_NOT_COPIED: Final = frozenset((*SUMMED, "purchase_price"))
"""Amounts of a lot, which another lot of the loan does not share."""


def changed(holdings: Holdings, change: TradeEffect) -> Portfolio:
    """Return the portfolio after trades; the given one stays as it is.

    Columns that only a bought loan has are blank above.
    """
    portfolio = holdings.portfolio
    rows = np.fromiter(change.par, np.intp, len(change.par))
    after = np.fromiter(change.par.values(), np.float64, len(change.par))
    before = portfolio.numbers["par_value"][rows]
    build = _Build(holdings, rows[after == 0.0], change.bought)
    numbers = build.numbers()
    kept = after > 0.0
    place = rows[kept] - np.searchsorted(np.sort(rows[~kept]), rows[kept])
    for name in SUMMED:
        if name in numbers:
            numbers[name][place] *= after[kept] / before[kept]
    numbers["par_value"][place] = after[kept]
    return replace(
        portfolio,
        row_count=build.height + len(change.bought),
        numbers=numbers,
        names=build.names(),
        flags=build.flags(),
        ranks=build.ranks(),
        lien=build.lien(),
        deal=with_cash(portfolio.deal, change),
        amortization=_schedule(portfolio, change, build),
        lots=None if portfolio.lots is None else build.column(portfolio.lots, [1] * len(change.bought)),
        conflicting=None
        if portfolio.conflicting is None
        else build.column(portfolio.conflicting, [False] * len(change.bought)),
        sheet_rows=None
        if portfolio.sheet_rows is None
        else build.column(portfolio.sheet_rows, [0] * len(change.bought)),
    )


def with_cash(deal: Deal, change: TradeEffect) -> Deal:
    """Return the deal with what trades pay and bring.

    Principal cash that is not known counts as none before.
    """
    known = deal.principal_cash
    return replace(deal, principal_cash=(known if known is not None and np.isfinite(known) else 0.0) + change.cash)


class _Build:
    """Columns without the sold rows and with the bought ones."""

    def __init__(self, holdings: Holdings, gone: NDArray[np.intp], bought: Sequence[BoughtLoan]) -> None:
        self.holdings = holdings
        self.portfolio = portfolio = holdings.portfolio
        self.bought = bought
        self.keep: NDArray[np.bool_] | None = None
        if len(gone):
            self.keep = np.ones(portfolio.row_count, np.bool_)
            self.keep[gone] = False
        self.height = portfolio.row_count - len(gone)

    def column(self, values: NDArray[Any], more: Sequence[Any]) -> NDArray[Any]:
        """Return a column's rows that stay, and those that come."""
        stay = values if self.keep is None else values[self.keep]
        return np.concatenate((stay, np.array(more, values.dtype))) if len(more) else stay.copy()

    def numbers(self) -> dict[str, NDArray[np.float64]]:
        own_numbers = self.portfolio.numbers
        strange = {name for lot in self.bought for name in lot.loan.numbers} - own_numbers.keys()
        columns = own_numbers | {name: np.full(self.portfolio.row_count, nan) for name in sorted(strange)}

        def own(name: str, lot: BoughtLoan) -> float:
            if name == "par_value":
                return lot.par
            number = lot.loan.numbers.get(name)
            if number is not None:
                return number
            return (
                nan
                if lot.twin is None or name in _NOT_COPIED or name in strange
                else float(own_numbers[name][lot.twin])
            )

        return {name: self.column(values, [own(name, lot) for lot in self.bought]) for name, values in columns.items()}

    def names(self) -> dict[str, Names]:
        own_names = self.portfolio.names
        strange = {name for lot in self.bought for name in lot.loan.texts} - own_names.keys()
        blank = np.full(self.portfolio.row_count, -1, np.int32)
        columns = {}
        for name, column in (own_names | {name: Names(blank, ()) for name in sorted(strange)}).items():
            if not self.bought:
                columns[name] = Names(self.column(column.codes, ()), column.values)
                continue
            new: dict[str, int] = {}
            codes = [self._code(name, column, lot, new) for lot in self.bought]
            columns[name] = Names(self.column(column.codes, codes), extended(column.values, [*new]))
        return columns

    def _code(self, name: str, column: Names, lot: BoughtLoan, new: dict[str, int]) -> int:
        text = lot.loan.texts.get(name)
        if text is None:
            return -1 if lot.twin is None else int(column.codes[lot.twin])
        known = self.holdings.index(name).code(text) if name in self.portfolio.names else -1
        return new.setdefault(text, len(column.values) + len(new)) if known < 0 else known

    def flags(self) -> dict[str, NDArray[np.uint8]]:
        return self._bytes(self.portfolio.flags, [lot.loan.flags for lot in self.bought])

    def ranks(self) -> dict[str, NDArray[np.uint8]]:
        return self._bytes(self.portfolio.ranks, [lot.loan.ranks for lot in self.bought])

    def _bytes(
        self, own_columns: dict[str, NDArray[np.uint8]], bought_values: Sequence[dict[str, Any]]
    ) -> dict[str, NDArray[np.uint8]]:
        strange = {name for each in bought_values for name in each if each[name]} - own_columns.keys()
        columns = own_columns | {name: np.zeros(self.portfolio.row_count, np.uint8) for name in sorted(strange)}
        return {
            name: self.column(
                values,
                [
                    own[name] if name in own else 0 if lot.twin is None else values[lot.twin]
                    for lot, own in zip(self.bought, bought_values, strict=True)
                ],
            )
            for name, values in columns.items()
        }

    def lien(self) -> NDArray[np.uint8] | None:
        own_lien = self.portfolio.lien
        if own_lien is None and all(lot.loan.lien is None for lot in self.bought):
            return None
        values = np.full(self.portfolio.row_count, Lien.BLANK, np.uint8) if own_lien is None else own_lien
        return self.column(
            values,
            [
                lot.loan.lien if lot.loan.lien is not None else Lien.BLANK if lot.twin is None else values[lot.twin]
                for lot in self.bought
            ],
        )


def _schedule(portfolio: Portfolio, change: TradeEffect, build: _Build) -> Amortization | None:
    """Return the scheduled payments, in the proportion of each loan's par.

    A lot of a held loan pays like the loan.
    """
    amortization = portfolio.amortization
    if amortization is None:
        return None
    par = portfolio.numbers["par_value"]
    place = np.arange(portfolio.row_count) if build.keep is None else np.cumsum(build.keep) - 1
    part = np.ones(portfolio.row_count)
    for row, left in change.par.items():
        part[row] = left / par[row]
    stays = part[amortization.row] > 0
    rows, days = [place[amortization.row[stays]]], [amortization.days[stays]]
    amounts = [amortization.amount[stays] * part[amortization.row[stays]]]
    for at, lot in enumerate(change.bought):
        if lot.twin is None or "average_life" in lot.loan.numbers or "maturity_date" in lot.loan.numbers:
            continue
        if not par[lot.twin] > 0.0:  # payments of nothing have no proportion
            continue
        own = amortization.row == lot.twin
        rows.append(np.full(int(own.sum()), build.height + at))
        days.append(amortization.days[own])
        amounts.append(amortization.amount[own] * (lot.par / par[lot.twin]))
    return Amortization(
        row=np.concatenate(rows).astype(np.int64), days=np.concatenate(days), amount=np.concatenate(amounts)
    )
