"""Bonds: coupon days, accrued interest, prices, yields and durations.

What the help of Excel leaves open (month ends, which days a basis counts where, the odd periods) follows the facts
that the ExcelFinancialFunctions project found by comparing with Excel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.functions.toolpak import (
    BASIS,
    FREQUENCY,
    MATURITY,
    SETTLEMENT,
    basis_of,
    day,
    frequency_of,
    need,
    number,
    numbers,
    required,
    single,
)
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.value import NUM, Date, Failure

ISSUE: Final = required("issue", "The day of issue.")
RATE: Final = required("rate", "The yearly coupon rate.")
YIELD: Final = required("yld", "The yearly yield.")
PRICE: Final = required("pr", "The price per 100 of face value.")
REDEMPTION: Final = required("redemption", "What is paid back per 100 of face value.")
_PAR: Final = required("par", "The face value; 1000 where left empty.")
_DISCOUNT: Final = required("discount", "The discount rate.")
_INVESTMENT: Final = required("investment", "What is invested.")


# The calendar of coupons, counted back from the maturity; all fall on month ends if the maturity does


class Schedule:
    """The coupon days on either side of a settlement, and the days that a basis counts between them."""

    __slots__ = ("basis", "count", "following", "frequency", "previous", "settlement")

    def __init__(self, settlement: int, maturity: int, frequency: int, basis: int) -> None:
        """Settlement before maturity, else NUM."""
        need(settlement < maturity)
        step, month_end = 12 // frequency, days.is_month_end(maturity)
        year, month, _ = days.split(settlement)
        last_year, last_month, _ = days.split(maturity)
        # The coupon of the settlement's own month or just before it is at most one step off.
        count = max(((last_year - year) * 12 + last_month - month) // step, 0)
        while coupon_day(maturity, -count * step, month_end) > settlement:
            count += 1
        self.settlement, self.frequency, self.basis, self.count = settlement, frequency, basis, count
        self.previous = coupon_day(maturity, -count * step, month_end)
        self.following = coupon_day(maturity, -(count - 1) * step, month_end)

    @property
    def length(self) -> float:
        """Days of the period that holds the settlement."""
        if self.basis == 1:
            return float(self.following - self.previous)
        return (365 if self.basis == 3 else 360) / self.frequency

    @property
    def accrued(self) -> int:
        """Days from the coupon before to the settlement."""
        return days.days_between(self.previous, self.settlement, self.basis)

    @property
    def left(self) -> int:
        """Days from the settlement to the next coupon."""
        if self.basis == 0:
            return days.days_360(self.previous, self.following, both=True) - self.accrued
        return days.days_between(self.settlement, self.following, self.basis)


def coupon_day(anchor: int, months: int, month_end: bool) -> int:
    return days.add_months(anchor, months, month_end=month_end)


def _schedule(environment: Environment, settlement: Any, maturity: Any, frequency: Any, basis: Any = 0.0) -> Schedule:
    start, end = day(environment, settlement), day(environment, maturity)
    return Schedule(start, end, frequency_of(frequency), basis_of(basis))


def _enter(name: str, description: str, result: float, compute: Callable[[Schedule, bool], Any]) -> None:
    """A row for one of the COUP functions.

    The same arguments, another figure of the schedule.
    """

    @function(
        name, "financial", description, SETTLEMENT, MATURITY, FREQUENCY, BASIS,
        environment=True,
        examples=((f"={name}(DATE(2011,1,25),DATE(2011,11,15),2,1)", result), (f"={name}(2,1,2)", NUM)),
    )  # fmt: skip
    def body(environment: Environment, settlement: Any, maturity: Any, frequency: Any, basis: Any = 0.0) -> Any:
        return compute(_schedule(environment, settlement, maturity, frequency, basis), environment.date_1904)


_enter("COUPDAYBS", "Days from the last coupon to the settlement.", 71.0, lambda schedule, _: schedule.accrued)
_enter("COUPDAYS", "Days of the coupon period of the settlement.", 181.0, lambda schedule, _: schedule.length)
_enter("COUPDAYSNC", "Days from the settlement to the next coupon.", 110.0, lambda schedule, _: schedule.left)
_enter(
    "COUPNCD", "The next coupon day.", 40_678.0,
    lambda schedule, date_1904: Date(days.back(schedule.following, date_1904)),
)  # fmt: skip
_enter("COUPNUM", "How many coupons are still to come.", 2.0, lambda schedule, _: schedule.count)
_enter(
    "COUPPCD", "The last coupon day.", 40_497.0,
    lambda schedule, date_1904: Date(days.back(schedule.previous, date_1904)),
)  # fmt: skip


# Bonds with coupons


def _price(schedule: Schedule, rate: float, yld: float, redemption: float) -> float:
    """Return the price without accrued interest.

    The last period discounts without interest on interest.
    """
    coupon = 100 * rate / schedule.frequency
    length, accrued = schedule.length, schedule.accrued
    part = (length - accrued) / length
    if schedule.count == 1:
        return (redemption + coupon) / (1 + part * yld / schedule.frequency) - coupon * accrued / length
    growth = 1 + yld / schedule.frequency
    if growth <= 0:
        raise Failure(NUM)
    value = redemption
    for _ in range(schedule.count - 1):
        value = (value + coupon) / growth
    return float((value + coupon) / growth**part - coupon * accrued / length)


@function(
    "PRICE", "financial", "The price of a bond per 100 of face value.",
    SETTLEMENT, MATURITY, RATE, YIELD, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(("=ROUND(PRICE(DATE(2008,2,15),DATE(2017,11,15),0.0575,0.065,100,2,0),5)", 94.63436),),
)  # fmt: skip
def price(environment: Environment, settlement: Any, maturity: Any, *arguments: Any) -> float:
    rate, yld, redemption = numbers(*arguments[:3])
    schedule = _schedule(environment, settlement, maturity, *arguments[3:])
    need(rate >= 0, yld >= 0, redemption > 0)
    return _price(schedule, rate, yld, redemption)


@function(
    "YIELD", "financial", "The yield of a bond.",
    SETTLEMENT, MATURITY, RATE, PRICE, REDEMPTION, FREQUENCY, BASIS,
    environment=True,
    examples=(("=ROUND(YIELD(DATE(2008,2,15),DATE(2016,11,15),0.0575,95.04287,100,2,0),6)", 0.065),),
)  # fmt: skip
def yield_(environment: Environment, settlement: Any, maturity: Any, *arguments: Any) -> float:
    rate, pr, redemption = numbers(*arguments[:3])
    schedule = _schedule(environment, settlement, maturity, *arguments[3:])
    need(rate >= 0, pr > 0, redemption > 0)
    if schedule.count > 1:
        return root(lambda yld: _price(schedule, rate, yld, redemption) - pr, 0.05, float(-schedule.frequency))
    coupon, length, accrued = rate / schedule.frequency, schedule.length, schedule.accrued
    paid = pr / 100 + accrued / length * coupon
    return float((redemption / 100 + coupon - paid) / paid * schedule.frequency * length / (length - accrued))


def root(value: Callable[[float], float], guess: float, floor: float) -> float:
    """Return the yield above a floor where a falling function is 0.

    Secants, kept inside a bracket that halves.

    Raises:
        Failure: NUM where there is none.
    """
    low, high = floor, max(guess * 2, 1.0)
    try:
        while value(high) > 0:
            low, high = high, high * 2
            need(high < 1e9)
        at = guess if low < guess < high else (low + high) / 2
        level = value(at)
        step = max(abs(at) * 1e-4, 1e-7)
        slope = (value(at + step) - level) / step
        for _ in range(200):
            if level == 0 or high - low <= 1e-15 * max(abs(at), 1e-3):
                break
            low, high = (at, high) if level > 0 else (low, at)
            following = at - level / slope if slope else low
            if not low < following < high:
                following = (low + high) / 2
            if abs(following - at) <= 1e-15 * max(abs(at), 1e-3):
                return following
            before, at, previous = level, following, at
            level = value(at)
            slope = (level - before) / (at - previous)
        return at
    except (OverflowError, ZeroDivisionError):
        raise Failure(NUM) from None


def _duration(schedule: Schedule, coupon: float, yld: float) -> float:
    """Macaulay's: the mean time of the payments in years, weighted by what they are worth."""
    growth = 1 + yld / schedule.frequency
    first = 1 - schedule.accrued / schedule.length
    paid = 100 * coupon / schedule.frequency
    total = weighted = 0.0
    for index in range(schedule.count):
        amount = paid if index < schedule.count - 1 else paid + 100
        worth = amount / growth ** (index + first)
        total += worth
        weighted += worth * (index + first)
    return weighted / total / schedule.frequency


@function(
    "DURATION", "financial", "The mean time, in years, until a bond's payments come in (Macaulay).",
    SETTLEMENT, MATURITY, required("coupon", "The yearly coupon rate."), YIELD, FREQUENCY, BASIS,
    environment=True,
    examples=(("=ROUND(DURATION(DATE(2018,7,1),DATE(2048,1,1),0.08,0.09,2,1),7)", 10.9191453),),
)  # fmt: skip
def duration(environment: Environment, settlement: Any, maturity: Any, *arguments: Any) -> float:
    coupon, yld = numbers(*arguments[:2])
    schedule = _schedule(environment, settlement, maturity, *arguments[2:])
    need(coupon >= 0, yld >= 0)
    return _duration(schedule, coupon, yld)


@function(
    "MDURATION", "financial", "How far a bond's price moves with its yield (the modified duration).",
    SETTLEMENT, MATURITY, required("coupon", "The yearly coupon rate."), YIELD, FREQUENCY, BASIS,
    environment=True,
    examples=(("=ROUND(MDURATION(DATE(2008,1,1),DATE(2016,1,1),0.08,0.09,2,1),5)", 5.73567),),
)  # fmt: skip
def mduration(environment: Environment, settlement: Any, maturity: Any, *arguments: Any) -> float:
    coupon, yld = numbers(*arguments[:2])
    schedule = _schedule(environment, settlement, maturity, *arguments[2:])
    need(coupon >= 0, yld >= 0)
    return float(_duration(schedule, coupon, yld) / (1 + yld / schedule.frequency))


# Accrued interest


def _par(value: Any) -> float:
    return 1000.0 if value is OMITTED else number(value)


@function(
    "ACCRINT", "financial", "The interest that a bond with coupons has accrued.",
    ISSUE, required("first_interest", "The day of the first coupon."), SETTLEMENT, RATE, _PAR, FREQUENCY, BASIS,
    single("calc_method", "TRUE for interest since issue, FALSE since the first coupon.",
           kind=Takes.LOGICAL, optional=True),
    environment=True,
    examples=(
        ("=ROUND(ACCRINT(39508,39691,39569,0.1,1000,2,0),6)", 16.666667),
        ("=ROUND(ACCRINT(DATE(2008,4,5),39691,39569,0.1,1000,2,0,TRUE),6)", 7.222222),
    ),
)  # fmt: skip
def accrint(  # noqa: PLR0913 - Excel's own signature
    environment: Environment,
    issue: Any,
    first_interest: Any,
    settlement: Any,
    rate: Any,
    par: Any,
    frequency: Any,
    basis: Any = 0.0,
    calc_method: bool = True,
) -> float:
    start, first, end = day(environment, issue), day(environment, first_interest), day(environment, settlement)
    rate, par = number(rate), _par(par)
    times, count = frequency_of(frequency), basis_of(basis)
    need(rate > 0, par > 0, start < end)
    return float(par * rate / times * _coupons_accrued(start, first, end, times, count, calc_method))


def _coupons_accrued(issue: int, first: int, settlement: int, frequency: int, basis: int, since_issue: bool) -> float:
    """Return coupons earned from issue to settlement.

    The full periods before the last count only with `since_issue`.
    """
    step, month_end = 12 // frequency, days.is_month_end(first)
    place = -1
    if settlement > first and since_issue:
        place = 0
        while coupon_day(first, (place + 1) * step, month_end) < settlement:
            place += 1
    before_first = coupon_day(first, -step, month_end)
    length = _period(before_first, first, frequency, basis)
    previous = coupon_day(first, place * step, month_end)
    total = days.days_between(max(issue, previous), settlement, basis) / length
    while previous > issue:
        following, place = previous, place - 1
        previous = coupon_day(first, place * step, month_end)
        if issue <= previous:
            total += since_issue
        else:
            total += days.days_between(issue, following, basis) / _true_period(previous, following, frequency, basis)
    return total


def _period(start: int, end: int, frequency: int, basis: int) -> float:
    """Return days of a coupon period."""
    if basis == 1:
        return float(end - start)
    return (365 if basis == 3 else 360) / frequency


def _true_period(start: int, end: int, frequency: int, basis: int) -> float:
    """Return days of the period that holds the issue: counted, not the year's share."""
    if basis in (1, 3):
        return _period(start, end, frequency, basis)
    return days.days_360_european(start, end) if basis == 4 else days.days_360(start, end, both=basis == 0)


@function(
    "ACCRINTM", "financial", "The interest that a security paying at maturity has accrued.",
    ISSUE, SETTLEMENT, RATE, _PAR, BASIS,
    environment=True,
    examples=(("=ROUND(ACCRINTM(39539,39614,0.1,1000,3),5)", 20.54795), ("=ACCRINTM(2,1,0.1,1000)", NUM)),
)  # fmt: skip
def accrintm(environment: Environment, issue: Any, settlement: Any, rate: Any, par: Any, basis: Any = 0.0) -> float:
    start, end = day(environment, issue), day(environment, settlement)
    rate, par, count = number(rate), _par(par), basis_of(basis)
    need(rate > 0, par > 0, start < end)
    return float(par * rate * days.year_fraction(start, end, count))


# Securities without coupons: sold below their value, or paying interest at maturity


def _years(environment: Environment, settlement: Any, maturity: Any, basis: Any) -> float:
    start, end, count = day(environment, settlement), day(environment, maturity), basis_of(basis)
    need(start < end)
    years = days.year_fraction(start, end, count)
    need(years > 0)
    return years


def _discounted(
    name: str,
    description: str,
    terms: tuple[Argument, Argument],
    compute: Callable[[float, float, float], float],
    *examples: tuple[str, Any],
) -> None:
    """Add a function of two positive numbers and the years to maturity."""

    @function(
        name, "financial", description, SETTLEMENT, MATURITY, *terms, BASIS,
        environment=True, examples=examples,
    )  # fmt: skip
    def body(
        environment: Environment, settlement: Any, maturity: Any, first: Any, second: Any, basis: Any = 0.0
    ) -> float:
        first, second = numbers(first, second)
        years = _years(environment, settlement, maturity, basis)
        need(first > 0, second > 0)
        return float(compute(first, second, years))


def _received(investment: float, discount: float, years: float) -> float:
    need(discount * years < 1)
    return investment / (1 - discount * years)


_discounted(
    "DISC", "The discount rate of a security.", (PRICE, REDEMPTION),
    lambda price, redemption, years: (1 - price / redemption) / years,
    ("=ROUND(DISC(DATE(2018,7,1),DATE(2048,1,1),97.975,100,1),6)", 0.000686), ("=DISC(2,1,1,1)", NUM),
)  # fmt: skip
_discounted(
    "PRICEDISC", "The price of a discounted security.", (_DISCOUNT, REDEMPTION),
    lambda discount, redemption, years: redemption * (1 - discount * years),
    ("=ROUND(PRICEDISC(DATE(2008,2,16),DATE(2008,3,1),0.0525,100,2),6)", 99.795833),
)  # fmt: skip
_discounted(
    "YIELDDISC", "The yearly yield of a discounted security.", (PRICE, REDEMPTION),
    lambda price, redemption, years: (redemption / price - 1) / years,
    ("=ROUND(YIELDDISC(DATE(2008,2,16),DATE(2008,3,1),99.795,100,2),6)", 0.052823),
)  # fmt: skip
_discounted(
    "INTRATE", "The interest rate of a fully invested security.",
    (_INVESTMENT, required("redemption", "What comes back.")),
    lambda investment, redemption, years: (redemption / investment - 1) / years,
    ("=ROUND(INTRATE(DATE(2008,2,15),DATE(2008,5,15),1000000,1014420,2),5)", 0.05768),
)  # fmt: skip
_discounted(
    "RECEIVED", "What comes back at maturity for a fully invested security.", (_INVESTMENT, _DISCOUNT),
    _received,
    ("=ROUND(RECEIVED(DATE(2008,2,15),DATE(2008,5,15),1000000,0.0575,2),2)", 1_014_584.65),
)  # fmt: skip


def _to_maturity(
    environment: Environment, settlement: Any, maturity: Any, issue: Any, basis: Any
) -> tuple[float, float, float]:
    """Return years from issue to settlement, settlement to maturity, issue to maturity, all in the year of the
    first."""
    start, end, issued = day(environment, settlement), day(environment, maturity), day(environment, issue)
    count = basis_of(basis)
    need(issued <= start < end)
    year = days.year_length(issued, start, count)
    accrued, full = days.days_between(issued, start, count), days.days_between(issued, end, count)
    need(full > accrued)
    return accrued / year, (full - accrued) / year, full / year


@function(
    "PRICEMAT", "financial", "The price of a security that pays interest at maturity.",
    SETTLEMENT, MATURITY, ISSUE, RATE, YIELD, BASIS,
    environment=True,
    examples=(("=ROUND(PRICEMAT(DATE(2008,2,15),DATE(2008,4,13),DATE(2007,11,11),0.061,0.061,0),5)", 99.98450),),
)  # fmt: skip
def pricemat(
    environment: Environment, settlement: Any, maturity: Any, issue: Any, rate: Any, yld: Any, basis: Any = 0.0
) -> float:
    rate, yld = numbers(rate, yld)
    accrued, left, full = _to_maturity(environment, settlement, maturity, issue, basis)
    need(rate >= 0, yld >= 0)
    return float((100 + full * rate * 100) / (1 + left * yld) - accrued * rate * 100)


@function(
    "YIELDMAT", "financial", "The yearly yield of a security that pays interest at maturity.",
    SETTLEMENT, MATURITY, ISSUE, RATE, PRICE, BASIS,
    environment=True,
    examples=(("=ROUND(YIELDMAT(DATE(2008,3,15),DATE(2008,11,3),DATE(2007,11,8),0.0625,100.0123,0),6)", 0.060954),),
)  # fmt: skip
def yieldmat(
    environment: Environment, settlement: Any, maturity: Any, issue: Any, rate: Any, pr: Any, basis: Any = 0.0
) -> float:
    rate, pr = numbers(rate, pr)
    accrued, left, full = _to_maturity(environment, settlement, maturity, issue, basis)
    need(rate >= 0, pr > 0)
    paid = pr / 100 + accrued * rate
    return float((1 + full * rate - paid) / paid / left)
