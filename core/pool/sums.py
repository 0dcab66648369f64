"""What the loans of a part of a pool add up to, and the sum of two parts.

Parts are added in the order of their loans, so that a sum does not depend on who worked out which part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.tallied import AMOUNTS, TABLES
from core.pool._obligors import Obligors
from core.portfolio.assemble.assemble import CouponColumns
from core.portfolio.assemble.plausibility import LoanCounts

Floats = NDArray[np.float64]

CCC_ROWS_MAX: Final = 16_000_000
"""Loans of the CCC buckets of a pool, or different prices of them, that are kept for the CCC excess."""

NO_COUPONS: Final = CouponColumns(spread=False, base_rate=False, coupon_type=False)

AMOUNT_COUNT: Final = len(AMOUNTS) + sum(size for _, size in TABLES)


class Total:
    """A sum of arrays with what its additions lost, exact to twice the digits."""

    __slots__ = ("_lost", "_sum")

    def __init__(self, size: int) -> None:
        self._sum, self._lost = np.zeros(size), np.zeros(size)

    def add(self, values: Floats) -> None:
        """Add an array."""
        total = self._sum + values
        is_larger = np.abs(self._sum) >= np.abs(values)
        with np.errstate(invalid="ignore"):
            self._lost += np.where(is_larger, (self._sum - total) + values, (values - total) + self._sum)
        self._sum = total

    def add_total(self, more: Total) -> None:
        """Add another sum."""
        self.add(more._sum)
        self.add(more._lost)

    def value(self) -> Floats:
        """Return the sum."""
        with np.errstate(invalid="ignore"):
            value: Floats = self._sum + self._lost
        return np.where(np.isfinite(self._sum), value, self._sum)


class ByName:
    """Sums by name, the names in the order in which they first come."""

    __slots__ = ("blank", "of")

    def __init__(self) -> None:
        self.of: dict[str, float] = {}
        self.blank = 0.0

    def add(self, names: Any, sums: Floats) -> None:
        """Add sums by the code of a name, the last for a blank."""
        *named, blank = sums.tolist()
        for name, amount in zip(names, named, strict=True):
            self.of[name] = self.of.get(name, 0.0) + amount
        self.blank += blank

    def add_all(self, more: ByName) -> None:
        """Add other sums by name."""
        self.add(more.of, np.array([*more.of.values(), more.blank]))

    def array(self, names: Any) -> Floats:
        """Return the sums of names, then that of blanks."""
        return np.array([*(self.of.get(name, 0.0) for name in names), self.blank])


@dataclass(slots=True)
class CccRows:
    """The loans of the CCC buckets, as `kernels.all_candidates` gives them.

    Price, par, value, buckets, whether unpriced.
    """

    parts: list[tuple[Any, ...]] = field(default_factory=list)
    count: int = 0
    is_over: bool = False
    """Whether there were more than `CCC_ROWS_MAX`: none are kept then."""

    def add(self, columns: tuple[Any, ...]) -> None:
        """Add the rows of some loans."""
        if len(columns[0]) and not self.is_over:
            self.parts.append(columns)
            self.count += len(columns[0])
            self._compact()

    def add_all(self, more: CccRows) -> None:
        """Add the rows of later loans."""
        self.is_over |= more.is_over
        self.parts += more.parts
        self.count += more.count
        self._compact()

    def _compact(self) -> None:
        """Join rows of one price and value where there are too many.

        Drop them where there still are.
        """
        if self.is_over:
            self.parts, self.count = [], 0
        if self.count <= CCC_ROWS_MAX:
            return
        price, par, value, buckets, unpriced = self.columns()
        self.parts = []
        order = np.lexsort((unpriced > 0, buckets, value, price))
        keys = [column[order] for column in (price, value, buckets, unpriced > 0)]
        starts = np.flatnonzero(np.concatenate(([True], np.any([key[1:] != key[:-1] for key in keys], axis=0))))
        self.count = len(starts)
        if self.count > CCC_ROWS_MAX // 2:
            self.is_over, self.count = True, 0
            return
        self.parts = [
            (
                keys[0][starts], np.add.reduceat(par[order], starts), keys[1][starts], keys[2][starts],
                np.add.reduceat(unpriced[order].astype(np.int64), starts),
            )
        ]  # fmt: skip

    def columns(self) -> tuple[Any, ...]:
        """Return the five columns of all rows."""
        if not self.parts:
            return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, np.uint8), np.zeros(0, np.int64)
        if len(self.parts) > 1:
            self.parts = [tuple(np.concatenate(columns) for columns in zip(*self.parts, strict=True))]
        return self.parts[0]


@dataclass(slots=True)
class ViewSums:
    """What the loans add up to as one view of masked ratings has them."""

    counts: Counter[str] = field(default_factory=Counter)
    amounts: Total = field(default_factory=lambda: Total(AMOUNT_COUNT))
    industries: ByName = field(default_factory=ByName)
    ccc: CccRows = field(default_factory=CccRows)
    asked: dict[Hashable, Any] = field(default_factory=dict)
    """Of `Pool.summed` by key: a `Total`, a `ByName`, or the reason why there is none."""
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    """The names of each column of few, in the order in which they first come."""
    seen: dict[str, dict[str, None]] = field(default_factory=dict)
    """Columns of the view by their kind, in their order."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the view says of all loans alike."""
    has_bounds: bool = False
    unrated_rows: int = 0

    def add(self, more: ViewSums) -> None:
        """Add the sums of later loans."""
        self.counts.update(more.counts)
        self.amounts.add_total(more.amounts)
        self.industries.add_all(more.industries)
        self.ccc.add_all(more.ccc)
        for key, amount in more.asked.items():
            self.asked[key] = added(self.asked.get(key), amount)
        for name, values in more.names.items():
            self.names.setdefault(name, {}).update(values)
        for kind, columns in more.seen.items():
            self.seen.setdefault(kind, {}).update(columns)
        self.facts = self.facts or more.facts
        self.has_bounds |= more.has_bounds
        self.unrated_rows += more.unrated_rows


def added(first: Any, second: Any) -> Any:
    """Return the sum of what two parts add up to for one key."""
    if first is None or isinstance(second, str):
        return second
    if isinstance(first, Total):
        first.add_total(second)
    elif isinstance(first, ByName):
        first.add_all(second)
    return first


@dataclass(slots=True)
class PoolSums:
    """What the loans of a part of a pool add up to."""

    obligors: Obligors
    row_count: int = 0
    """Loans with a par."""
    views: dict[str, ViewSums] = field(default_factory=dict)
    """By what masked ratings are taken for."""
    obligor_industries: dict[str, int] = field(default_factory=dict)
    """Industry -> its code in `obligors`."""
    loan_counts: LoanCounts = field(default_factory=LoanCounts)
    notes: Counter[str] = field(default_factory=Counter)
    words: dict[str, dict[str, int]] = field(default_factory=dict)
    """By column of ratings the rows of each word, in the order in which they first come."""
    currencies: Counter[str] = field(default_factory=Counter)
    industries: dict[str, None] = field(default_factory=dict)
    """As the loans have them."""
    coupons: CouponColumns = NO_COUPONS
    as_of: float | None = None
    equal_recoveries: dict[str, bool] = field(default_factory=dict)
    """By agency whether its recovery rates are the general ones."""

    def add(self, more: PoolSums) -> None:
        """Add the sums of later loans."""
        table = industry_codes(self.obligor_industries, list(more.obligor_industries))
        self.obligors.add_table(more.obligors, table, order_of(self.obligor_industries))
        self.row_count += more.row_count
        for name, view in more.views.items():
            if name in self.views:
                self.views[name].add(view)
            else:
                self.views[name] = view
        self.loan_counts.add(more.loan_counts)
        self.notes.update(more.notes)
        for target, counts in more.words.items():
            add_counts(self.words.setdefault(target, {}), counts)
        self.currencies.update(more.currencies)
        self.industries.update(more.industries)
        self.coupons = either(self.coupons, more.coupons)
        self.as_of = latest(self.as_of, more.as_of)
        for agency, is_equal in more.equal_recoveries.items():
            self.equal_recoveries[agency] = self.equal_recoveries.get(agency, True) and is_equal


def add_counts(counts: dict[str, int], more: dict[str, int]) -> None:
    """Add the rows of words to those before."""
    for word, rows in more.items():
        counts[word] = counts.get(word, 0) + rows


def either(first: CouponColumns, second: CouponColumns) -> CouponColumns:
    """Return the columns that have a value in one part or the other."""
    return CouponColumns(*(early or late for early, late in zip(first, second, strict=True)))


def latest(first: float | None, second: float | None) -> float | None:
    """Return the later of two days."""
    return second if first is None else first if second is None else max(first, second)


def industry_codes(codes: dict[str, int], names: list[str]) -> NDArray[np.int32]:
    """Return the codes of some industries, those of new ones after the others."""
    return np.array([codes.setdefault(name, len(codes)) for name in names], np.int32)


def order_of(codes: dict[str, int]) -> NDArray[np.int32]:
    """Return the place of each industry among all by name."""
    order = np.zeros(len(codes), np.int32)
    for place, name in enumerate(sorted(codes)):
        order[codes[name]] = place
    return order
