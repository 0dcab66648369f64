"""What the ratios of all classes together leave open of one numerator that is not printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.compliance.pool_sums import Pool
from core.portfolio.model.facts import Fact
from core.portfolio.model.interpretation import Part

RATIOS_LEAST: Final = 3
"""Printed ratios that an interval rests on at least."""

WIDTH_MOST: Final = 1e-4
"""Width of an interval, as a part of the numerator, that chance does not fill: ratios of two decimals leave some four
hundred-thousandths."""

CHANCE_MOST: Final = 0.01
"""Numerators that lie inside an interval by chance, on average, where one inside still says something."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The numerators that all printed ratios allow. Money in the deal's currency."""

    low: float
    high: float
    name: str
    place: str

    @property
    def middle(self) -> float:
        """The amount between both ends."""
        return (self.low + self.high) / 2

    def has(self, pool: Pool) -> bool:
        """Return whether our numerator is one of them."""
        return self.low <= pool.adjustments["adjusted"] <= self.high

    def ties(self, pool: Pool) -> frozenset[Part]:
        """Return the numerator, where ours is one of them."""
        return frozenset(("numerator",)) if self.has(pool) else frozenset()


def interval_of(ratios: Iterable[tuple[Fact, float]]) -> Interval | None:
    """Return what the ratios, each with the balance that it divides by, leave open.

    None where they are too few, contradict each other or leave too much.
    """
    known = [
        ((fact.value - fact.tolerance) / 100 * balance, (fact.value + fact.tolerance) / 100 * balance, fact)
        for fact, balance in ratios
        if fact.value and balance > 0 and fact.numerator is None
    ]
    if len({round(fact.value or 0.0, 9) for _, _, fact in known}) < RATIOS_LEAST:
        return None
    low, high = max(value[0] for value in known), min(each[1] for each in known)
    if not 0.0 <= high - low <= WIDTH_MOST * high:
        return None
    names = f"{len(known)} OC ratios together"
    return Interval(low, high, names, known[0][2].place)


def is_telling(interval: Interval, changes: Mapping[float, int]) -> bool:
    """Return whether exactly one numerator lies inside, where chance alone would hardly put one.

    A numerator of one change is one of a dozen, that of three one of a thousand: of so many, one in seven intervals at
    random has exactly one inside. So those of as many changes count, spread over the range of all.

    Args:
        changes: by numerator, how many choices are read in another way than the market's.
    """
    inside = [numerator for numerator in changes if interval.low <= numerator <= interval.high]
    if len(inside) != 1:
        return False
    tried = sum(count <= changes[inside[0]] for count in changes.values())
    width, spread = interval.high - interval.low, max(changes) - min(changes)
    return len(changes) == 1 or tried * width <= CHANCE_MOST * spread
