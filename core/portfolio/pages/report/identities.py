"""Sums that a file's figures must make, and which figures make them, to the cent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from operator import mul
from typing import Final

from core.portfolio.model.facts import Identity
from core.portfolio.pages.report.adding import LINE_TOLERANCE

CANDIDATES_MAX: Final = 12
"""Figures that are tried as one part of a sum."""

ADJUSTMENTS_MAX: Final = 24
"""Figures of which any set may be part of a numerator."""

SETS_MAX: Final = 30_000
"""Sets of figures that are tried for one numerator."""

BASES_MAX: Final = 8
"""Amounts of the first part of a numerator that are tried."""

SIGNED_LINES_MAX: Final = 9
"""Lines of a block of which each may be added, taken off or left out."""

TELLING_AMOUNT: Final = 10_000.0
"""Currency units that an amount has at least which proves something by being met to the cent."""


@dataclass(frozen=True, slots=True)
class Item:
    """A figure that may be part of a sum."""

    role: str
    """As in `Subject.measure`."""
    amount: float
    """Currency units; what it adds, below zero what it takes off, where `is_signed`."""
    places: tuple[str, ...] = ()
    decimals: int | None = 2
    """Digits behind the point that the page shows; None: not known."""

    @property
    def slack(self) -> float:
        """Return by how much it may be rounded."""
        return LINE_TOLERANCE if self.decimals is None or self.decimals >= 2 else 0.5 * 10.0**-self.decimals

    @property
    def as_deduction(self) -> Item:
        """Return the item as a deduction, whatever its printed sign is."""
        return replace(self, amount=-abs(self.amount))

    @property
    def as_addition(self) -> Item:
        """Return the item as an addition, whatever its printed sign is."""
        return replace(self, amount=abs(self.amount))


@dataclass(frozen=True, slots=True)
class Solution:
    """A set of items that makes a total."""

    total: Item
    parts: tuple[Item, ...]
    is_proved: bool = False
    """No other set of the file's figures makes it."""

    def identity(self, name: str) -> Identity:
        """Return the solution as a fact."""
        return _identity(name, self.total, self.parts, holds=True, is_proved=self.is_proved)


def _identity(name: str, total: Item, parts: Sequence[Item], *, holds: bool, is_proved: bool) -> Identity:
    return Identity(
        name=name,  # type: ignore[arg-type]
        total=total.amount,
        parts=tuple((part.role, part.amount) for part in parts),
        holds=holds,
        is_proved=is_proved,
        places=tuple(place for item in (total, *parts) for place in item.places[:1]),
    )


def unlike(items: Iterable[Item]) -> tuple[Item, ...]:
    """Merge items of equal role and amount, with the places of all."""
    items_by_key: dict[tuple[str, float], Item] = {}
    for item in items:
        key = item.role, round(item.amount, 2)
        known = items_by_key.get(key)
        items_by_key[key] = (
            item if known is None else replace(known, places=tuple(dict.fromkeys(known.places + item.places)))
        )
    return tuple(items_by_key.values())


def makes(total: Item, parts: Sequence[Item]) -> bool:
    """Return whether parts make a total to half a unit of the last digits."""
    slack = total.slack + sum(part.slack for part in parts)
    return abs(total.amount - sum(part.amount for part in parts)) <= slack


# ---- the collateral principal amount -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CollateralFigures:
    """What may be part of the collateral principal amount, the likeliest first."""

    totals: tuple[Item, ...] = ()
    """Role cpa: printed collateral principal amounts and denominators of shares."""
    sums: tuple[Item, ...] = ()
    """Role cpa: totals of a par and a cash, by adding up alone."""
    par: tuple[Item, ...] = ()
    """Role par, defaulted loans within, and role perf, without them."""
    defaulted: tuple[Item, ...] = ()
    """Role defpar."""
    carried: tuple[Item, ...] = ()
    """Role defcarry."""
    cash: tuple[Item, ...] = ()
    others: tuple[Item, ...] = ()
    """Every other amount: one of them may be the cash though no word says so."""


def collateral_principal_amount(figures: CollateralFigures) -> tuple[Solution | None, Identity | None]:
    """Return the parts of the collateral principal amount, and the identity.

    The identity stands there whether it holds or not.

    Par [- defaulted par] [+ what defaulted loans are carried at] + cash, fewest parts first; then a total of par and
    cash; then the missing amount among all. It is proved where one amount of cash makes it at the best level.
    """
    by_amount = sorted(figures.cash, key=_amount), sorted(figures.others, key=_amount)
    for totals in (figures.totals, figures.sums):
        for cash in by_amount:
            solution = _first_level(totals, figures, cash)
            if solution is not None:
                return solution, solution.identity("collateral_principal_amount")
    total, par, cash_item = (next(iter(some), None) for some in (figures.totals, figures.par, figures.cash))
    if total is None or par is None:
        return None, None
    parts = [par] if cash_item is None else [par, cash_item]
    holds = makes(total, parts)
    return None, _identity("collateral_principal_amount", total, parts, holds=holds, is_proved=False)


def _first_level(totals: Sequence[Item], figures: CollateralFigures, cash: Sequence[Item]) -> Solution | None:
    par = figures.par[:CANDIDATES_MAX]
    gross = [item for item in par if item.role == "par"]
    defaulted = [item.as_deduction for item in figures.defaulted[:CANDIDATES_MAX] if item.amount]
    carried = [item.as_addition for item in figures.carried[:CANDIDATES_MAX] if item.amount]
    levels: tuple[tuple[Sequence[Item], ...], ...] = (
        (par,),
        (gross, defaulted),
        ([item for item in par if item.role == "perf"], carried),
        (gross, defaulted, carried),
    )
    for level in levels:
        solutions = [
            (total, (*parts, cash_item))
            for total in totals[:CANDIDATES_MAX]
            for parts in product(*level)
            for cash_item in _missing(total, parts, cash)
            if total.places[:1] != parts[0].places[:1]
        ]
        # A collateral principal amount under the name of par, with no cash: that says nothing, and a zero never beats
        # a balance that is printed.
        telling = [pair for pair in solutions if pair[1][-1].amount]
        if not telling and not any(item.amount for item in figures.cash):
            telling = solutions
        if telling:
            amounts = {round(parts[-1].amount, 2) for _, parts in telling}
            total, best = telling[0]
            return Solution(total, best, len(amounts) == 1)
    return None


def _amount(item: Item) -> float:
    return item.amount


def _missing(total: Item, parts: Sequence[Item], cash: Sequence[Item]) -> Iterator[Item]:
    """Yield the cash that is missing in a total, of amounts in their order."""
    left = total.amount - sum(part.amount for part in parts)
    for item in cash[bisect_left(cash, left - 1.0, key=_amount) : bisect_right(cash, left + 1.0, key=_amount)]:
        if makes(total, (*parts, item)):
            yield replace(item, role="cash")


# ---- numerators ----------------------------------------------------------------------------------------------------


def numerator(
    total: Item, bases: Sequence[Item], adjustments: Sequence[Item], *, needs: frozenset[str] = frozenset()
) -> Solution | None:
    """Return the smallest set of a base and adjustments that makes a total.

    Args:
        needs: roles of which an item must be among the adjustments, where there are any of them.
    """
    pool = unlike(item for item in adjustments if item.amount)
    if any(item.role in needs for item in pool):
        pool = tuple(sorted(pool, key=lambda item: item.role not in needs))
    else:
        needs = frozenset()
    starts = unlike(bases)[:BASES_MAX]
    left = SETS_MAX // max(1, len(starts))
    is_whole = len(pool) <= ADJUSTMENTS_MAX
    items: list[tuple[Item, ...]] = []
    for count in range(min(len(pool), ADJUSTMENTS_MAX) + 1):
        for some in islice(combinations(pool[:ADJUSTMENTS_MAX], count), left):
            left -= 1
            if needs and not any(item.role in needs for item in some):
                continue
            items += [(base, *some) for base in starts if makes(total, (base, *some))]
        if items or not left:
            break
    if not items:
        return None
    sets = {tuple(sorted(round(item.amount, 2) for item in parts)) for parts in items}
    is_only = len(sets) == 1 and is_whole and left > 0
    return Solution(total, items[0], is_only and abs(total.amount) >= TELLING_AMOUNT)


def solve_signs(total: Item, lines: Sequence[Item]) -> Solution | None:
    """Return the only set of lines, each added or taken off, that makes a total."""
    lines = [item for item in lines if item.amount]
    if not 0 < len(lines) <= SIGNED_LINES_MAX:
        return None
    items: list[tuple[Item, ...]] = []
    amounts, slack = [item.amount for item in lines], total.slack + sum(item.slack for item in lines)
    for signs in product((1.0, 0.0, -1.0), repeat=len(lines)):
        if abs(total.amount - sum(map(mul, signs, amounts))) > slack:
            continue
        parts = tuple(replace(line, amount=line.amount * sign) for line, sign in zip(lines, signs, strict=True) if sign)
        if len(parts) > 1 and makes(total, parts):
            items.append(parts)
            if len(items) > 1:
                return None
    return Solution(total, items[0], abs(total.amount) >= TELLING_AMOUNT) if items else None


def check_table(name: str, total: Item, parts: Sequence[Item]) -> Identity:
    """Return whether the rows of a table add up to the total that it prints."""
    return _identity(name, total, parts, holds=makes(total, parts), is_proved=False)
