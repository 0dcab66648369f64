"""What is kept of a portfolio's sums, so that those after trades are worked out of the few rows that these touch."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.measures import Pool, Sums
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
        positive = positive[np.lexsort((par[positive], industry[positive]))]
        count = len(self.pool.tally.industry_par)
        start = np.searchsorted(industry[positive], np.arange(count + 1))
        return Units(par[positive], np.concatenate(([0.0], np.cumsum(par[positive]))), start)

    def units_at(self, average: float) -> Floats:
        """Equivalent units of the diversity score by industry, the last for a blank, at an average par of obligors."""
        par, below, start = self.units
        sums = np.zeros(len(start) - 1)
        bounds = start.tolist()
        for name, (first, last) in enumerate(pairwise(bounds)):
            if first < last:
                small = first + int(np.searchsorted(par[first:last], average))
                sums[name] = (below[small] - below[first]) / average + (last - small)
        return sums

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
