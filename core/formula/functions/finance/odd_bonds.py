"""Bonds whose first or last period is longer or shorter than the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from core.formula.functions.catalogue import function
from core.formula.functions.finance.bonds import ISSUE, PRICE, RATE, REDEMPTION, YIELD, Schedule, coupon_day, root
from core.formula.functions.toolpak import (
    BASIS,
    FREQUENCY,
    MATURITY,
    SETTLEMENT,
    basis_of,
    day,
    frequency_of,
    need,
    numbers,
    required,
)
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.value import NUM, Failure

_FIRST_COUPON: Final = required("first_coupon", "The day of the first coupon.")
_LAST_INTEREST: Final = required("last_interest", "The last coupon day before settlement.")


# Odd first periods


class _OddFirst:
    """The checked arguments of ODDFPRICE and ODDFYIELD; `asked` is yield or price."""

    def __init__(  # noqa: PLR0913 - Excel's own signature
        self,
        environment: Environment,
        settlement: Any,
        maturity: Any,
        issue: Any,
        first_coupon: Any,
        rate: Any,
        asked: Any,
        redemption: Any,
        frequency: Any,
        basis: Any = 0.0,
    ) -> None:
        self.rate, self.asked, self.redemption = numbers(rate, asked, redemption)
        self.settlement, self.maturity = day(environment, settlement), day(environment, maturity)
        self.issue, self.first = day(environment, issue), day(environment, first_coupon)
        self.frequency, self.basis = frequency_of(frequency), basis_of(basis)
        need(self.issue < self.settlement < self.first < self.maturity)

    def on_schedule(self) -> bool:
        """Return whether the first coupon falls on the maturity's calendar, as Excel asks of it for a price."""
        return Schedule(self.first, self.maturity, self.frequency, self.basis).previous == self.first

    def pricing(self, rate: float, redemption: float) -> Callable[[float], float]:
        """Return the price as a function of the yield."""
        length = Schedule(self.settlement, self.first, self.frequency, self.basis).length
        if self._days(self.issue, self.first) < length:
            return self._short(rate, redemption, length)
        return self._long(rate, redemption, length)

    def _days(self, start: int, end: int) -> int:
        return max(days.days_between(start, end, self.basis), 0)

    def _short(self, rate: float, redemption: float, length: float) -> Callable[[float], float]:
        coupon = 100 * rate / self.frequency
        count = Schedule(self.settlement, self.maturity, self.frequency, self.basis).count
        part = self._days(self.settlement, self.first) / length
        first = coupon * self._days(self.issue, self.first) / length
        accrued = coupon * self._days(self.issue, self.settlement) / length
        return lambda yld: _discounted(first, coupon, redemption, count, part, 1 + yld / self.frequency) - accrued

    def _long(self, rate: float, redemption: float, length: float) -> Callable[[float], float]:
        coupon, step = 100 * rate / self.frequency, 12 // self.frequency
        earned = accrued = 0.0
        late, periods = self.first, Schedule(self.issue, self.first, self.frequency, self.basis).count
        for index in range(periods):
            early = coupon_day(self.first, -(index + 1) * step, False)
            normal = self._days(early, late) if self.basis == 1 else length
            earned += (normal if index < periods - 1 else self._days(self.issue, late)) / normal
            accrued += self._days(max(self.issue, early), min(self.settlement, late)) / normal
            late = early
        schedule = Schedule(self.settlement, self.first, self.frequency, self.basis)
        if self.basis in (2, 3):
            part = self._days(self.settlement, schedule.following) / length
        else:
            part = (length - schedule.accrued) / length
        wait = part + self._full_periods()
        count = Schedule(self.first, self.maturity, self.frequency, self.basis).count + 1
        return lambda yld: (
            _discounted(coupon * earned, coupon, redemption, count, wait, 1 + yld / self.frequency) - coupon * accrued
        )

    def _full_periods(self) -> int:
        """Whole coupon periods between settlement and first coupon, counted on from the settlement."""
        step, month_end = 12 // self.frequency, days.is_month_end(self.first)
        _, month, last_day = days.split(self.first)
        if not month_end and month != 2 and last_day > 28:
            month_end = days.is_month_end(self.settlement)
        start = coupon_day(self.settlement, 0, month_end)
        count = int(self.settlement < start)
        place = 1
        while coupon_day(start, place * step, month_end) < self.first:
            place += 1
        return count + place - 1


def _discounted(first: float, coupon: float, redemption: float, count: int, wait: float, growth: float) -> float:
    """Return what a first coupon after some periods, the coupons after it and the redemption with the last are
    worth."""
    if growth <= 0:
        raise Failure(NUM)
    value = redemption
    for _ in range(count - 1):
        value = (value + coupon) / growth
    return float((value + first) / growth**wait)


@function(
    "ODDFPRICE", "financial", "The price of a bond with an odd first period.",
    SETTLEMENT, MATURITY, ISSUE, _FIRST_COUPON, RATE, YIELD, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(
        (
            "=ROUND(ODDFPRICE(DATE(2008,11,11),DATE(2021,3,1),DATE(2008,10,15),DATE(2009,3,1),0.0785,0.0625,100,2,1),5)",
            113.59772,
        ),
    ),
)  # fmt: skip
def oddfprice(environment: Environment, *arguments: Any) -> float:
    odd = _OddFirst(environment, *arguments)
    need(odd.rate >= 0, odd.asked >= 0, odd.redemption > 0, odd.on_schedule())
    return odd.pricing(odd.rate, odd.redemption)(odd.asked)


@function(
    "ODDFYIELD", "financial", "The yield of a bond with an odd first period.",
    SETTLEMENT, MATURITY, ISSUE, _FIRST_COUPON, RATE, PRICE, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(
        (
            "=ROUND(ODDFYIELD(DATE(2008,11,11),DATE(2021,3,1),DATE(2008,10,15),DATE(2009,3,1),0.0575,84.5,100,2,0),6)",
            0.077246,
        ),
    ),
)  # fmt: skip
def oddfyield(environment: Environment, *arguments: Any) -> float:
    odd = _OddFirst(environment, *arguments)
    need(odd.rate >= 0, odd.asked > 0, odd.redemption > 0)
    pricing = odd.pricing(odd.rate, odd.redemption)
    return root(lambda yld: pricing(yld) - odd.asked, 0.05, float(-odd.frequency))


# Odd last periods


class _OddLast:
    """The checked arguments of ODDLPRICE and ODDLYIELD, and their periods in coupons.

    All, those accrued at settlement, those after it.
    """

    def __init__(  # noqa: PLR0913 - Excel's own signature
        self,
        environment: Environment,
        settlement: Any,
        maturity: Any,
        last_interest: Any,
        rate: Any,
        asked: Any,
        redemption: Any,
        frequency: Any,
        basis: Any = 0.0,
    ) -> None:
        self.rate, self.asked, self.redemption = numbers(rate, asked, redemption)
        self.settlement, self.maturity = day(environment, settlement), day(environment, maturity)
        last = day(environment, last_interest)
        self.frequency, self.basis = frequency_of(frequency), basis_of(basis)
        need(last < self.settlement < self.maturity)
        self.total = self.accrued = self.left = 0.0
        periods, early = Schedule(last, self.maturity, self.frequency, self.basis).count, last
        for index in range(periods):
            late = coupon_day(last, (index + 1) * 12 // self.frequency, False)
            self._add(early, late, last_one=index == periods - 1)
            early = late

    def _add(self, early: int, late: int, *, last_one: bool) -> None:
        normal = self._rounded(early, late)
        counted = self._rounded(early, self.maturity) if last_one else normal
        self.total += counted / normal
        if late < self.settlement:
            self.accrued += counted / normal
        elif early < self.settlement:
            self.accrued += max(days.days_between(early, self.settlement, self.basis), 0) / normal
        start, end = max(self.settlement, early), min(self.maturity, late)
        self.left += max(days.days_between(start, end, self.basis), 0) / normal

    def _rounded(self, start: int, end: int) -> int:
        """Return days from start to end, month ends as the 30th in the US count whatever the start is."""
        if self.basis == 0:
            return max(days.days_360(start, end, both=True), 0)
        return max(days.days_between(start, end, self.basis), 0)


@function(
    "ODDLPRICE", "financial", "The price of a bond with an odd last period.",
    SETTLEMENT, MATURITY, _LAST_INTEREST, RATE, YIELD, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(
        ("=ROUND(ODDLPRICE(DATE(2008,2,7),DATE(2008,6,15),DATE(2007,10,15),0.0375,0.0405,100,2,0),5)", 99.87829),
    ),
)  # fmt: skip
def oddlprice(environment: Environment, *arguments: Any) -> float:
    odd = _OddLast(environment, *arguments)
    need(odd.rate >= 0, odd.asked >= 0, odd.redemption > 0)
    coupon = 100 * odd.rate / odd.frequency
    growth = odd.left * odd.asked / odd.frequency + 1
    return float((odd.total * coupon + odd.redemption) / growth - odd.accrued * coupon)


@function(
    "ODDLYIELD", "financial", "The yield of a bond with an odd last period.",
    SETTLEMENT, MATURITY, _LAST_INTEREST, RATE, PRICE, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(
        ("=ROUND(ODDLYIELD(DATE(2008,4,20),DATE(2008,6,15),DATE(2007,12,24),0.0375,99.875,100,2,0),6)", 0.045192),
    ),
)  # fmt: skip
def oddlyield(environment: Environment, *arguments: Any) -> float:
    odd = _OddLast(environment, *arguments)
    need(odd.rate >= 0, odd.asked > 0, odd.redemption > 0)
    coupon = 100 * odd.rate / odd.frequency
    paid = odd.accrued * coupon + odd.asked
    return float((odd.total * coupon + odd.redemption - paid) / paid * odd.frequency / odd.left)
