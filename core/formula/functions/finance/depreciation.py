"""What assets lose in value.

Straight, by the sum of digits, declining, and the two of French accounting.
"""

from __future__ import annotations

import math
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.value import DIV0, NUM, Failure

_COST: Final = Argument("cost", Takes.NUMBER, "What the asset cost.")
_SALVAGE: Final = Argument("salvage", Takes.NUMBER, "What it is worth at the end.")
_LIFE: Final = Argument("life", Takes.NUMBER, "Over how many periods it is written down.")
_FACTOR: Final = Argument("factor", Takes.NUMBER, "How many times the straight rate; 2 unless given.", required=False)

PERIODS_MAX: Final = 100_000
"""Periods that a calculation walks over."""


@function(
    "SLN", "financial", "What an asset loses in each period when it loses the same in all.", _COST, _SALVAGE, _LIFE,
    examples=(("=SLN(30000,7500,10)", 2250.0), ("=SLN(1,0,0)", DIV0)),
)  # fmt: skip
def sln(cost: float, salvage: float, life: float) -> float:
    if life == 0:
        raise Failure(DIV0)
    return (cost - salvage) / life


@function(
    "SYD", "financial", "What an asset loses in a period, by the sum of the years' digits.",
    _COST, _SALVAGE, _LIFE, Argument("per", Takes.NUMBER, "The period, counted from 1."),
    examples=(("=ROUND(SYD(30000,7500,10,1),2)", 4090.91), ("=SYD(1,0,1,2)", NUM)),
)  # fmt: skip
def syd(cost: float, salvage: float, life: float, per: float) -> float:
    toolpak.need(salvage >= 0, life > 0, 0 < per <= life)
    return (cost - salvage) * (life - per + 1) * 2 / (life * (life + 1))


@function(
    "DB", "financial", "What an asset loses in a period at a fixed rate of what is left.",
    _COST, _SALVAGE, _LIFE, Argument("period", Takes.NUMBER, "The period, counted from 1."),
    Argument("month", Takes.NUMBER, "Months of the first year; 12 unless given.", required=False),
    examples=(("=ROUND(DB(1000000,100000,6,1,7),2)", 186_083.33), ("=ROUND(DB(1000000,100000,6,7,7),2)", 15_845.1)),
)  # fmt: skip
def db(cost: float, salvage: float, life: float, period: float, month: float = 12.0) -> float:
    months, last = int(month), int(period)
    toolpak.need(cost >= 0, salvage >= 0, life > 0, 1 <= months <= 12, period >= 1)
    toolpak.need(last <= life or (months < 12 and last <= life + 1), last <= PERIODS_MAX)
    if cost == 0:
        return 0.0
    rate = round(1 - (salvage / cost) ** (1 / life), 3)
    first = cost * rate * months / 12
    if last == 1:
        return float(first)
    left = (cost - first) * (1 - rate) ** (last - 2)
    return float(left * rate * (12 - months) / 12 if last > life else left * rate)


@function(
    "DDB", "financial", "What an asset loses in a period at a multiple of the straight rate.",
    _COST, _SALVAGE, _LIFE, Argument("period", Takes.NUMBER, "The period, counted from 1."), _FACTOR,
    examples=(("=ROUND(DDB(2400,300,3650,1),2)", 1.32), ("=ROUND(DDB(2400,300,10,10),2)", 22.12)),
)  # fmt: skip
def ddb(cost: float, salvage: float, life: float, period: float, factor: float = 2.0) -> float:
    toolpak.need(cost >= 0, salvage >= 0, life > 0, 0 < period <= life, factor > 0)
    if period < 1:
        return max(min(cost * factor / life, cost - salvage), 0.0)
    kept = max(1 - factor / life, 0.0)
    worth = float(cost * kept ** (period - 1))
    return max(worth - max(worth * kept, salvage), 0.0)


def _declined(cost: float, salvage: float, life: float, period: float, factor: float) -> float:
    """Return what is lost from the beginning to a period, its fraction in proportion."""
    full = math.floor(period)
    before = sum_of_declines(cost, salvage, life, full, factor)
    return before + (period - full) * (sum_of_declines(cost, salvage, life, full + 1, factor) - before)


def sum_of_declines(cost: float, salvage: float, life: float, periods: int, factor: float) -> float:
    """Return what is lost in whole periods: never below the salvage value."""
    left = cost * max(1 - factor / life, 0.0) ** periods if periods else cost
    return max(cost - max(left, salvage), 0.0)


@function(
    "VDB", "financial", "What an asset loses between two moments, declining, then straight where that is more.",
    _COST, _SALVAGE, _LIFE,
    Argument("start_period", Takes.NUMBER, "The moment from which, in periods."),
    Argument("end_period", Takes.NUMBER, "The moment until which."),
    _FACTOR,
    Argument("no_switch", Takes.LOGICAL, "TRUE to stay declining.", required=False),
    examples=(("=ROUND(VDB(2400,300,120,6,18),2)", 396.31), ("=ROUND(VDB(2400,300,10,0,0.875,1.5),2)", 315.0)),
)  # fmt: skip
def vdb(
    cost: float, salvage: float, life: float, start: float, end: float, factor: float = 2.0, no_switch: bool = False
) -> float:
    toolpak.need(cost >= 0, salvage >= 0, life > 0, 0 <= start <= end <= life, factor > 0, end <= PERIODS_MAX)
    if no_switch:
        return _declined(cost, salvage, life, end, factor) - _declined(cost, salvage, life, start, factor)
    if start == life:
        raise Failure(DIV0)
    # Excel's periods end a whole number of them from the start, so (0, 0.5) and (0.5, 1) add up to less than (0, 1).
    part = start % 1
    left = cost - _switched(cost, salvage, life, life, part, factor)
    left -= _switched(left, salvage, life, life - part, start - part, factor)
    return _switched(left, salvage, life, life - start, end - start, factor)


def _switched(cost: float, salvage: float, life: float, remaining: float, period: float, factor: float) -> float:
    """Return what is lost over some periods at the declining rate, or from the first at which it is more, straight."""
    total, worth, straight = 0.0, cost - salvage, 0.0
    left, rate = cost, min(factor / life, 1.0)
    count = math.ceil(period)
    for index in range(count):
        if not straight:
            declined = max(left - max(left * (1 - rate), salvage), 0.0)
            even = worth / (remaining - index) if remaining > index else 0.0
            if even > declined:
                straight = even
            left, worth = left - declined, worth - declined
        term = straight or declined
        total += term * (period + 1 - count) if index == count - 1 else term
    return total


# French accounting: the first period runs from the day of purchase to the end of the accounting year

_FRENCH: Final = (
    toolpak.required("cost", "What the asset cost."),
    toolpak.required("date_purchased", "The day of purchase."),
    toolpak.required("first_period", "The day on which the first period ends."),
    toolpak.required("salvage", "What it is worth at the end."),
    toolpak.required("period", "The period, counted from 0."),
    toolpak.required("rate", "The rate of depreciation."),
    toolpak.BASIS,
)


class _Asset:
    """The checked arguments of AMORLINC and AMORDEGRC."""

    def __init__(
        self,
        environment: Environment,
        cost: Any,
        purchased: Any,
        first: Any,
        salvage: Any,
        period: Any,
        rate: Any,
        basis: Any = 0.0,
    ) -> None:
        self.cost, self.salvage, self.rate = toolpak.numbers(cost, salvage, rate)
        self.purchased, self.first = toolpak.day(environment, purchased), toolpak.day(environment, first)
        self.period, self.basis = toolpak.number(period), toolpak.basis_of(basis)
        toolpak.need(self.basis != 2, self.purchased <= self.first, self.cost > 0)
        toolpak.need(0 <= self.salvage <= self.cost, self.period >= 0, self.rate > 0)
        toolpak.need(1 / self.rate <= PERIODS_MAX)
        self.life = math.ceil(1 / self.rate)

    def first_loss(self, rate: float) -> tuple[float, int]:
        """Return the loss of the first period at a rate, and the periods of the asset's life."""
        year = 365.0 if self.basis == 3 else 360.0
        if self.basis == 1:
            year = days.year_length(self.purchased, self.purchased, 1)
        start, end = self._without_29_february(self.purchased), self._without_29_february(self.first)
        loss = days.days_between(start, end, self.basis) / year * rate * self.cost
        if loss == 0:
            return min(self.cost * rate, self.cost - self.salvage), self.life
        return min(loss, self.cost - self.salvage), self.life + 1

    def _without_29_february(self, serial: int) -> int:
        return serial - 1 if self.basis in (1, 3) and days.split(serial)[1:] == (2, 29) else serial


@function(
    "AMORLINC", "financial", "What an asset loses in a period, straight, by French accounting.", *_FRENCH,
    environment=True,
    examples=(("=AMORLINC(2400,39679,39813,300,1,0.15,1)", 360.0), ("=AMORLINC(2400,39679,39813,300,1,0.15,2)", NUM)),
)  # fmt: skip
def amorlinc(environment: Environment, *arguments: Any) -> float:
    asset = _Asset(environment, *arguments)
    if asset.cost == asset.salvage or asset.period > asset.life:
        return 0.0
    loss, _ = asset.first_loss(asset.rate)
    if asset.period == 0:
        return loss
    yearly = asset.rate * asset.cost
    left = asset.cost - asset.salvage - loss - max(math.floor(asset.period) - 1, 0) * yearly
    return max(min(yearly, left), 0.0)


@function(
    "AMORDEGRC", "financial", "What an asset loses in a period, declining, by French accounting.", *_FRENCH,
    environment=True,
    examples=(("=AMORDEGRC(2400,39679,39813,300,1,0.15,1)", 776.0), ("=AMORDEGRC(2400,39679,39813,300,1,0.5,1)", NUM)),
)  # fmt: skip
def amordegrc(environment: Environment, *arguments: Any) -> float:
    asset = _Asset(environment, *arguments)
    years = 1 / asset.rate
    toolpak.need(years > 2, not 4 <= years <= 5)  # the help says 3
    if asset.cost == asset.salvage or asset.period > asset.life:
        return 0.0
    coefficient = 1.5 if asset.life <= 4 else 2.0 if asset.life <= 6 else 2.5
    declining = asset.rate * coefficient
    first_loss, life = asset.first_loss(declining)
    if asset.period == 0:
        return _to_unit(first_loss)
    left, loss = asset.cost - _to_unit(first_loss), 0.0
    for counted in range(2, math.floor(asset.period) + 2):
        if left < asset.salvage:
            exact = 0.0
        elif life - counted == 2:  # the last but one takes half, the last all
            exact, declining = left * 0.5, 1.0
        else:
            exact = declining * left
        left -= exact
        loss = _to_unit(exact)
    return loss


def _to_unit(amount: float) -> float:
    """Return the nearest whole amount, a half up, as 13 decimals read."""
    return math.floor(round(amount, 13) + 0.5)
