"""What is kept of a portfolio's sums, so that those after trades are worked out of the few rows that these touch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.pool_sums import Pool, Sums
from core.compliance.tallied import amounts_of
from core.scenario.holdings import Index

Floats = NDArray[np.float64]

LARGEST_KEPT: Final = 4_096
"""Obligors, the largest first, that are kept in their order; trades that touch nearly as many take a full pass."""


class CccBucket(NamedTuple):
    """The rows of an agency's CCC bucket by their price, with the running sums up to each."""

    row: NDArray[np.intp]
    price: Floats
    par: Floats
    value: Floats
    """Percent of par at which a row is carried before the CCC rule."""
    par_below: Floats
    """One more than there are rows: of none, of the first, of the first two, ..."""
    haircut_below: Floats
    unpriced: int


class Units(NamedTuple):
    """The obligors by industry and par, with the running sums of their par within each industry."""

    par: Floats
    par_below: Floats
    """One more than there are obligors, over all industries."""
    start: NDArray[np.intp]
    """The first obligor of each industry, and the end."""


class SmallObligors(NamedTuple):
    """By industry the obligors below an average par, and for which averages they are just these."""

    above: Floats
    """The largest of them: the average is above it."""
    up_to: Floats
    """The smallest of the others: the average is at most that."""
    par: Floats
    """What they have together."""
    others: Floats
    """How many obligors are none of them."""


class Base:
    """A portfolio's sums. Each kind is worked out when it is first asked for."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._sums: dict[Hashable, Any] = {}
        self._buckets: dict[int, CccBucket] = {}

    def summed(self, key: Hashable, of: Callable[[Pool], Sums]) -> Sums:
        """Return a sum over all loans, see `Pool.summed`."""
        if key not in self._sums:
            self._sums[key] = of(self.pool)
        return self._sums[key]  # type: ignore[no-any-return]

    @cached_property
    def amounts(self) -> Floats:
        """The amounts of the tally in one array."""
        return amounts_of(self.pool.tally)

    @cached_property
    def obligors(self) -> tuple[Floats, NDArray[np.int32]]:
        """Par and industry of each obligor."""
        return kernels.obligors(self.pool.tally)

    @cached_property
    def by_obligor(self) -> Index | None:
        """The rows of each obligor; None where the file names none."""
        names = self.pool.view.names.get("obligor")
        return None if names is None else Index(names)

    @cached_property
    def largest(self) -> list[int]:
        """Codes of the largest obligors with par, largest first, of equals the first."""
        par = self.obligors[0]
        most = np.argpartition(par, -LARGEST_KEPT)[-LARGEST_KEPT:] if len(par) > LARGEST_KEPT else np.arange(len(par))
        most = most[par[most] > 0]
        return most[np.lexsort((most, -par[most]))].tolist()  # type: ignore[no-any-return]

    @cached_property
    def units(self) -> Units:
        """The obligors with par, as the diversity score adds them up."""
        par, industry = self.obligors
        positive = np.flatnonzero(par > 0)
        positive = positive[np.argsort(par[positive])]  # of equals any may be first: only their par is read
        count = len(self.pool.tally.industry_par)
        short = industry[positive].astype(np.min_scalar_type(count))  # numbers of two bytes are sorted by their digits
        positive = positive[np.argsort(short, kind="stable")]
        start = np.searchsorted(industry[positive], np.arange(count + 1))
        return Units(par[positive], np.concatenate(([0.0], np.cumsum(par[positive]))), start)

    @cached_property
    def _small(self) -> SmallObligors:
        """The obligors below the average par before any trade."""
        count = self.pool.tally.obligor_count
        return self._below(self.pool.par / count if count else 0.0, range(len(self.units.start) - 1))

    def _below(self, average: float, industries: Iterable[int]) -> SmallObligors:
        """Return the obligors of some industries whose par is below an average."""
        par, below, start = self.units
        rows = []
        for first, last in ((int(start[name]), int(start[name + 1])) for name in industries):
            end = first + int(par[first:last].searchsorted(average))
            more, most = par[end - 1] if end > first else -inf, par[end] if end < last else inf
            rows.append((more, most, below[end] - below[first], last - end))
        return SmallObligors(*np.array(rows, np.float64).reshape(-1, 4).T.copy())

    def units_at(self, average: float) -> Floats:
        """Equivalent units of the diversity score by industry, the last for a blank, at an average par of obligors."""
        small = self._small
        moved = np.flatnonzero((average <= small.above) | (average > small.up_to))
        par, others = small.par, small.others
        if len(moved):  # few: trades hardly change the average
            par, others = par.copy(), others.copy()
            now = self._below(average, moved.tolist())
            par[moved], others[moved] = now.par, now.others
        return par / average + others

    def bucket(self, agency: int) -> CccBucket:
        """Return the CCC bucket of an agency, 0 to 2."""
        if agency not in self._buckets:
            row, price, par, value, unpriced = kernels.candidates(self.pool.tally, agency)
            order = np.argsort(price, kind="stable")
            row, price, par, value = row[order], price[order], par[order], value[order]
            haircut = haircut_of(price, par, value)
            self._buckets[agency] = CccBucket(
                row.astype(np.intp), price, par, value, _running(par), _running(haircut), int(unpriced.sum())
            )
        return self._buckets[agency]


def haircut_of(price: Floats, par: Floats, value: Floats) -> Floats:
    """Return what the CCC rule takes off whole rows.

    Down to their price from percent of par at which they are carried.
    """
    return par * np.maximum(0.0, value - np.maximum(0.0, price)) / 100


def _running(values: Floats) -> Floats:
    return np.concatenate(([0.0], np.cumsum(values)))
