"""Loans, cash flows, interest rates and treasury bills."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import Argument, Takes, Work, function
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.value import DIV0, NUM, VALUE, Array, Error, Failure

_RATE: Final = Argument("rate", Takes.NUMBER, "Interest of one period.")
_PER: Final = Argument("per", Takes.NUMBER, "The period, counted from 1.")
_NPER: Final = Argument("nper", Takes.NUMBER, "How many periods there are.")
_PMT: Final = Argument("pmt", Takes.NUMBER, "What is paid in each period.")
_PV: Final = Argument("pv", Takes.NUMBER, "The present value.")
_FV: Final = Argument("fv", Takes.NUMBER, "What is left after the last payment.", required=False)
_TYPE: Final = Argument("type", Takes.NUMBER, "0 when paid at the end of a period, 1 at its beginning.", required=False)


def _power(base: float, exponent: float) -> float:
    """Return a real power.

    Raises:
        Failure: NUM where it is none, or too large; DIV0 for 0 to a negative power.
    """
    try:
        power = base**exponent
    except ZeroDivisionError:
        raise Failure(DIV0) from None
    except OverflowError:
        raise Failure(NUM) from None
    if isinstance(power, complex):
        raise Failure(NUM)
    return float(power)


# Annuities: pv (1 + r)^n + pmt (1 + r type) ((1 + r)^n - 1) / r + fv = 0


def _annuity(rate: float, nper: float, due: float) -> tuple[float, float]:
    """Return growth of 1 over all periods, and what payments of 1 have grown to."""
    if rate == 0:
        return 1.0, nper
    growth = _power(1 + rate, nper)
    grown = math.expm1(nper * math.log1p(rate)) if -0.5 < rate < 0.5 and growth < 10 else growth - 1
    return growth, (1 + rate * (due != 0)) * grown / rate


def _payment(rate: float, nper: float, pv: float, fv: float, due: float) -> float:
    if rate <= -1:
        raise Failure(NUM)
    growth, payments = _annuity(rate, nper, due)
    if payments == 0:
        raise Failure(NUM)
    return -(pv * growth + fv) / payments


def _future(rate: float, nper: float, pmt: float, pv: float, due: float) -> float:
    growth, payments = _annuity(rate, nper, due)
    return -(pv * growth + pmt * payments)


def _interest(rate: float, per: float, nper: float, pv: float, fv: float, due: float) -> float:
    if per < 1 or per >= nper + 1:
        raise Failure(NUM)
    payment = _payment(rate, nper, pv, fv, due)
    if due == 0:
        return _future(rate, per - 1, payment, pv, 0) * rate
    if per == 1:
        return 0.0
    return (_future(rate, per - 2, payment, pv, 1) - payment) * rate


@function(
    "PMT", "financial", "The payment of each period of a loan.", _RATE, _NPER, _PV, _FV, _TYPE,
    work=Work(call=3_000),
    examples=(("=ROUND(PMT(0.08/12,10,10000),2)", -1037.03), ("=PMT(0,10,1000)", -100.0)),
)  # fmt: skip
def pmt(rate: float, nper: float, pv: float, fv: float = 0.0, due: float = 0.0) -> float:
    return _payment(rate, nper, pv, fv, due)


@function(
    "PV", "financial", "What future payments are worth today.", _RATE, _NPER, _PMT, _FV, _TYPE,
    work=Work(call=3_000),
    examples=(("=ROUND(PV(0.08/12,12*20,500,,0),2)", -59_777.15), ("=PV(0,10,-100)", 1000.0)),
)  # fmt: skip
def pv(rate: float, nper: float, pmt: float, fv: float = 0.0, due: float = 0.0) -> float:
    growth, payments = _annuity(rate, nper, due)
    if growth == 0:
        raise Failure(DIV0)
    return -(fv + pmt * payments) / growth


@function(
    "FV", "financial", "What payments grow to.", _RATE, _NPER, _PMT,
    Argument("pv", Takes.NUMBER, "What is there at the beginning.", required=False), _TYPE,
    work=Work(call=3_000),
    examples=(("=ROUND(FV(0.06/12,10,-200,-500,1),2)", 2581.4), ("=FV(0,10,-100)", 1000.0)),
)  # fmt: skip
def fv(rate: float, nper: float, pmt: float, pv: float = 0.0, due: float = 0.0) -> float:
    return _future(rate, nper, pmt, pv, due)


@function(
    "IPMT", "financial", "The interest in the payment of one period.", _RATE, _PER, _NPER, _PV, _FV, _TYPE,
    examples=(("=ROUND(IPMT(0.1/12,1,36,8000),2)", -66.67), ("=IPMT(0.1,4,3,8000)", NUM)),
)  # fmt: skip
def ipmt(rate: float, per: float, nper: float, pv: float, fv: float = 0.0, due: float = 0.0) -> float:
    return _interest(rate, per, nper, pv, fv, due)


@function(
    "PPMT", "financial", "The repayment in the payment of one period.", _RATE, _PER, _NPER, _PV, _FV, _TYPE,
    examples=(("=ROUND(PPMT(0.1/12,1,24,2000),2)", -75.62),),
)  # fmt: skip
def ppmt(rate: float, per: float, nper: float, pv: float, fv: float = 0.0, due: float = 0.0) -> float:
    return _payment(rate, nper, pv, fv, due) - _interest(rate, per, nper, pv, fv, due)


@function(
    "ISPMT", "financial", "The interest of one period of a loan repaid in equal parts.",
    _RATE, Argument("per", Takes.NUMBER, "The period, counted from 0."), _NPER, _PV,
    examples=(("=ISPMT(0.1,0,4,4000)", -400.0), ("=ISPMT(0.1,1,0,1)", DIV0)),
)  # fmt: skip
def ispmt(rate: float, per: float, nper: float, pv: float) -> float:
    if nper == 0:
        raise Failure(DIV0)
    return pv * rate * (per / nper - 1)


@function(
    "NPER", "financial", "How many periods a loan takes.", _RATE, _PMT, _PV, _FV, _TYPE,
    work=Work(call=3_000),
    examples=(("=ROUND(NPER(0.12/12,-100,-1000,10000,1),4)", 59.6739), ("=NPER(0,-100,1000)", 10.0)),
)  # fmt: skip
def nper(rate: float, pmt: float, pv: float, fv: float = 0.0, due: float = 0.0) -> float:
    if rate == 0:
        if pmt == 0:
            raise Failure(NUM)
        return -(pv + fv) / pmt
    level = pmt * (1 + rate * (due != 0)) / rate
    if rate <= -1 or pv + level == 0 or (level - fv) / (pv + level) <= 0:
        raise Failure(NUM)
    return math.log((level - fv) / (pv + level)) / math.log1p(rate)


@function(
    "RATE", "financial", "The interest of one period of a loan.", _NPER, _PMT, _PV, _FV, _TYPE,
    Argument("guess", Takes.NUMBER, "Where the search begins; 10 % unless given.", required=False),
    examples=(("=ROUND(RATE(4*12,-200,8000),6)", 0.007701), ("=RATE(10,100,100)", NUM)),
)  # fmt: skip
def rate(nper: float, pmt: float, pv: float, fv: float = 0.0, due: float = 0.0, guess: float = 0.1) -> float:
    if nper <= 0 or guess <= -1:
        raise Failure(NUM)

    def rest(rate: float) -> float:
        growth, payments = _annuity(rate, nper, due)
        return pv * growth + pmt * payments + fv

    def slope(rate: float) -> float:
        if abs(rate) < 1e-6:  # the closed form loses its digits here: a difference instead
            return (rest(rate + 1e-5) - rest(rate - 1e-5)) / 2e-5
        growth = _power(1 + rate, nper)
        grown = nper * growth / (1 + rate)
        first = 1 + rate * (due != 0)
        return pv * grown + pmt * ((due != 0) * (growth - 1) / rate + first * (grown / rate - (growth - 1) / rate**2))

    return _newton(rest, slope, guess, steps=RATE_STEPS, tolerance=1e-7)


RATE_STEPS: Final = 50
"""Excel's help says 20; it finds rates that take Newton's way more."""


def _newton(
    value: Callable[[float], float], slope: Callable[[float], float], guess: float, *, steps: int, tolerance: float
) -> float:
    """Return a rate above -1 where a value is 0.

    Raises:
        Failure: NUM where the steps do not settle.
    """
    at = guess
    for _ in range(steps):
        steepness = slope(at)
        if steepness == 0:
            break
        following = at - value(at) / steepness
        if not following > -1:
            break
        if abs(following - at) < tolerance:
            return following
        at = following
    raise Failure(NUM)


def _cumulated(rate: Any, nper: Any, pv: Any, start: Any, end: Any, due: Any) -> tuple[float, float]:
    """Return interest and repayment summed over periods, as the Analysis ToolPak's functions check them."""
    rate, nper, pv = toolpak.numbers(rate, nper, pv)
    first, last = math.ceil(toolpak.number(start)), int(toolpak.number(end))
    kind = toolpak.number(due)
    toolpak.need(rate > 0, nper > 0, pv > 0, first >= 1, last >= 1, first <= last, last <= nper, kind in (0, 1))
    payment = _payment(rate, nper, pv, 0, kind)
    paid, repaid = payment * (last - first + 1), 0.0
    if kind == 1 and first == 1:  # a payment made at once bears no interest
        repaid, first = payment, 2
    if first <= last:  # repayments grow by the rate, so their sum needs no walk over the periods
        share = _grown(rate, last - first + 1) / _grown(rate, nper)
        repaid -= pv * _power(1 + rate, first - 1 - kind) * share
    return paid - repaid, repaid


def _grown(rate: float, periods: float) -> float:
    """Return the interest that 1 has borne after some periods."""
    try:
        return math.expm1(periods * math.log1p(rate))
    except OverflowError:
        raise Failure(NUM) from None


_CUMULATED: Final = (
    toolpak.required("rate", "Interest of one period."),
    toolpak.required("nper", "How many periods there are."),
    toolpak.required("pv", "The loan."),
    toolpak.required("start_period", "The first period summed, counted from 1."),
    toolpak.required("end_period", "The last period summed."),
    toolpak.required("type", "0 when paid at the end of a period, 1 at its beginning."),
)


@function(
    "CUMIPMT", "financial", "The interest paid over some periods of a loan.", *_CUMULATED,
    examples=(("=ROUND(CUMIPMT(0.09/12,30*12,125000,13,24,0),2)", -11_135.23), ("=CUMIPMT(0,1,1,1,1,0)", NUM)),
)  # fmt: skip
def cumipmt(rate: Any, nper: Any, pv: Any, start: Any, end: Any, due: Any) -> float:
    return _cumulated(rate, nper, pv, start, end, due)[0]


@function(
    "CUMPRINC", "financial", "What is repaid over some periods of a loan.", *_CUMULATED,
    examples=(("=ROUND(CUMPRINC(0.09/12,30*12,125000,13,24,0),2)", -934.11),),
)  # fmt: skip
def cumprinc(rate: Any, nper: Any, pv: Any, start: Any, end: Any, due: Any) -> float:
    return _cumulated(rate, nper, pv, start, end, due)[1]


# Cash flows

_VALUES: Final = Argument("values", Takes.ARRAY, "The cash flows, in order.")
_GUESS: Final = Argument("guess", Takes.NUMBER, "Where the search begins; 10 % unless given.", required=False)


def _flows(values: Any) -> list[float]:
    """Return the numbers among cells; text, booleans and blanks are passed over."""
    return [cell for cell in toolpak.every(values) if isinstance(cell, float)]


def _present(rate: float, flows: list[float]) -> float:
    """Return the value of flows at the time of the first."""
    factor, total = 1 / (1 + rate), 0.0
    for flow in reversed(flows):
        total = total * factor + flow
    return total


@function(
    "NPV", "financial", "What cash flows at the ends of periods are worth today.", _RATE,
    Argument("value1", Takes.RANGE, "A cash flow, or cells of them."),
    Argument("value2", Takes.RANGE, "Further ones.", required=False, repeats=True),
    work=Work(call=3_000, cell=1_500),
    examples=(("=ROUND(NPV(0.1,-10000,3000,4200,6800),2)", 1188.44), ("=NPV(-1,1)", DIV0)),
)  # fmt: skip
def npv(rate: float, *values: Any) -> float:
    if rate == -1:
        raise Failure(DIV0)
    flows: list[float] = []
    for value in values:
        if isinstance(value, Array):
            flows += _flows(value)
        elif isinstance(value, Error):
            raise Failure(value)
        elif value is not None:
            flows.append(float(value) if isinstance(value, bool) else toolpak.number(value))
    try:
        return _present(rate, flows) / (1 + rate)
    except OverflowError:
        raise Failure(NUM) from None


@function(
    "IRR", "financial", "The rate at which cash flows are worth nothing today.", _VALUES, _GUESS,
    examples=(("=ROUND(IRR({-70000,12000,15000,18000,21000}),6)", -0.021245), ("=IRR({1,2})", NUM)),
)  # fmt: skip
def irr(values: Any, guess: float = 0.1) -> float:
    try:
        flows = _flows(values)
    except Failure:
        raise Failure(VALUE) from None  # whatever the error is
    if guess <= -1:
        raise Failure(VALUE)
    if not any(flow > 0 for flow in flows) or not any(flow < 0 for flow in flows):
        raise Failure(NUM)
    weighted = [index * flow for index, flow in enumerate(flows)]

    def value(rate: float) -> float:
        return _present(rate, flows)

    def slope(rate: float) -> float:
        return -_present(rate, weighted) / (1 + rate)

    try:
        return _newton(value, slope, guess, steps=50, tolerance=1e-9)
    except (Failure, OverflowError, ZeroDivisionError):
        return _bisect(value, *_bracket(value))


_PLACES: Final = (
    -0.99, -0.9, -0.75, -0.5, -0.3, -0.15, -0.05, 0.0, 0.05, 0.15, 0.3, 0.6, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0,
)  # fmt: skip
"""Rates between which a change of sign is looked for where Newton's way fails, the middle ones first."""


def _bracket(value: Callable[[float], float]) -> tuple[float, float]:
    """Return two rates where a value has unlike signs.

    Raises:
        Failure: NUM where there are none.
    """
    levels = [value(place) for place in _PLACES]
    indexes = [index for index in range(len(levels) - 1) if (levels[index] > 0) != (levels[index + 1] > 0)]
    if not indexes:
        raise Failure(NUM)
    nearest = min(indexes, key=lambda index: abs(_PLACES[index]))
    return _PLACES[nearest], _PLACES[nearest + 1]


def _bisect(
    value: Callable[[float], float], low: float, high: float, width: float = 0.0, level: float = math.inf
) -> float:
    """Return the middle of what is left of a bracket when it is narrower than a width and the value there less than a
    level, or cannot be halved any more.

    Where the ends have like signs it runs to the low end, as Excel's XIRR does.
    """
    sign = value(high) > 0
    while True:
        middle = (low + high) / 2
        residue = value(middle)
        if (high - low < width and abs(residue) < level) or not low < middle < high:
            return middle
        if (residue > 0) == sign:
            high = middle
        else:
            low = middle


def _dated(environment: Environment, values: list[Any], dates: Any) -> tuple[list[float], list[float]]:
    """Return cash flows and their distances from the first in years of 365 days."""
    flows = [toolpak.number(cell) for cell in values]
    serials = [toolpak.day(environment, cell) for cell in toolpak.every(dates)]
    if len(flows) != len(serials) or min(serials) < serials[0]:
        raise Failure(NUM)
    return flows, [(serial - serials[0]) / 365 for serial in serials]


def _present_dated(rate: float, flows: list[float], years: list[float]) -> float:
    if rate <= -1:
        return math.inf if flows[-1] > 0 else -math.inf
    return float(sum(flow / (1 + rate) ** year for flow, year in zip(flows, years, strict=True)))


_DATES: Final = Argument("dates", Takes.RANGE, "The days of the cash flows, none before the first.")


@function(
    "XNPV", "financial", "What cash flows on given days are worth on the first.",
    toolpak.required("rate", "Interest of one year, above 0."), _VALUES, _DATES,
    environment=True,
    examples=(("=ROUND(XNPV(0.09,{-10000,2750,4250,3250,2750},{39448,39508,39751,39859,39904}),2)", 2086.65),),
)  # fmt: skip
def xnpv(environment: Environment, rate: Any, values: Any, dates: Any) -> float:
    rate = toolpak.number(rate)
    flows, years = _dated(environment, _flows(values), dates)  # other cells than numbers are missing, hence #NUM!
    toolpak.need(rate > 0)
    try:
        return _present_dated(rate, flows, years)
    except OverflowError:
        raise Failure(NUM) from None


@function(
    "XIRR", "financial", "The yearly rate at which cash flows on given days are worth nothing.",
    _VALUES, _DATES,
    toolpak.optional("guess", "Where the search begins; 10 % unless given."),
    environment=True,
    examples=(("=ROUND(XIRR({-10000,2750,4250,3250,2750},{39448,39508,39751,39859,39904}),6)", 0.373363),),
)  # fmt: skip
def xirr(environment: Environment, values: Any, dates: Any, guess: Any = 0.1) -> float:
    """Halves a bracket as Excel does, whose answers are off by some 1e-9 and so are these.

    From values of Excel that ExcelFinancialFunctions' and IronCalc's tests carry: between 0 and a guess that is too
    high; doubled guesses where it is too low; else between -1 and the guess below 0.
    """
    flows, years = _dated(environment, toolpak.every(values), dates)
    start = toolpak.number(guess)
    toolpak.need(start > -1, any(flow > 0 for flow in flows), any(flow < 0 for flow in flows))

    def value(rate: float) -> float:
        return _present_dated(rate, flows, years)

    try:
        return _halved(value, start or XIRR_LEAST_GUESS, sum(map(abs, flows)))
    except OverflowError:
        raise Failure(NUM) from None


XIRR_LEAST_GUESS: Final = 1e-5
"""What Excel takes for a guess of 0."""


def _halved(value: Callable[[float], float], guess: float, flowing: float) -> float:
    """Return a rate where a value is 0, of flows that sum up to so much without their signs."""
    low, high = -1.0, -abs(guess)
    if guess < 0:
        while (value(low) > 0) == (value(high) > 0):
            low, high = high, (high + 1) * 2 - 1
            if high > 1e9:
                raise Failure(NUM)
        return _bisect(value, low, high, 1.4e-8, 2e-8 * flowing)
    if value(0.0) * value(guess) <= 0:
        return _bisect(value, 0.0, guess, 1e-8)
    above = guess
    while above < 1e9:
        above *= 2
        if (value(above / 2) > 0) != (value(above) > 0):
            return _bisect(value, above / 2, above, 1.2e-8 * (1 + above))
    if (value(low) > 0) != (value(high) > 0):
        rate = _bisect(value, low, high, 1.4e-8, 2e-8 * flowing)
        toolpak.need(rate > low)
        return rate
    return _bisect(value, *_bracket(value))


@function(
    "MIRR", "financial", "The rate of cash flows financed at one rate and reinvested at another.",
    _VALUES,
    Argument("finance_rate", Takes.NUMBER, "Interest paid on what is spent."),
    Argument("reinvest_rate", Takes.NUMBER, "Interest earned on what comes in."),
    examples=(
        ("=ROUND(MIRR({-120000,39000,30000,21000,37000,46000},0.1,0.12),6)", 0.126094),
        ("=MIRR({1,2},0.1,0.1)", DIV0),
    ),
)  # fmt: skip
def mirr(values: Any, finance_rate: float, reinvest_rate: float) -> float:
    flows = _flows(values)
    paid, earned = [min(flow, 0.0) for flow in flows], [max(flow, 0.0) for flow in flows]
    if not any(paid) or len(flows) < 2:
        raise Failure(DIV0)
    grown = 0.0
    for flow in earned:
        grown = grown * (1 + reinvest_rate) + flow
    if finance_rate == -1 and any(paid[1:]):
        return -1.0  # the later payments are worth infinitely much
    financed = paid[0] if finance_rate == -1 else _present(finance_rate, paid)
    return _power(-grown / financed, 1 / (len(flows) - 1)) - 1


# Rates


@function(
    "EFFECT",
    "financial",
    "The yearly rate that a nominal one with interest on interest comes to.",
    toolpak.required("nominal_rate", "The nominal rate."),
    toolpak.required("npery", "How often a year interest is added."),
    examples=(("=ROUND(EFFECT(0.0525,4),7)", 0.0535427), ("=EFFECT(0,4)", NUM)),
)
def effect(nominal_rate: Any, npery: Any) -> float:
    rate, times = toolpak.number(nominal_rate), toolpak.whole(npery)
    toolpak.need(rate > 0, times >= 1)
    return _power(1 + rate / times, times) - 1


@function(
    "NOMINAL",
    "financial",
    "The nominal rate that comes to a yearly one.",
    toolpak.required("effect_rate", "The yearly rate."),
    toolpak.required("npery", "How often a year interest is added."),
    examples=(("=ROUND(NOMINAL(0.053543,4),6)", 0.0525), ("=NOMINAL(0.05,0)", NUM)),
)
def nominal(effect_rate: Any, npery: Any) -> float:
    rate, times = toolpak.number(effect_rate), toolpak.whole(npery)
    toolpak.need(rate > 0, times >= 1)
    return (_power(rate + 1, 1 / times) - 1) * times


@function(
    "FVSCHEDULE", "financial", "What a sum grows to at rates that change.",
    toolpak.required("principal", "The sum."), Argument("schedule", Takes.RANGE, "The rates, in order."),
    examples=(("=ROUND(FVSCHEDULE(1,{0.09,0.11,0.1}),5)", 1.33089), ('=FVSCHEDULE(1,"x")', VALUE)),
)  # fmt: skip
def fvschedule(principal: Any, schedule: Any) -> float:
    return toolpak.number(principal) * math.prod(1 + toolpak.number(rate) for rate in toolpak.every(schedule))


@function(
    "PDURATION", "financial", "How many periods a sum takes to grow to another.",
    Argument("rate", Takes.NUMBER, "Interest of one period."), _PV, Argument("fv", Takes.NUMBER, "The value to reach."),
    examples=(("=ROUND(PDURATION(0.025,2000,2200),2)", 3.86), ("=PDURATION(0,1,2)", NUM)),
)  # fmt: skip
def pduration(rate: float, pv: float, fv: float) -> float:
    toolpak.need(rate > 0, pv > 0, fv > 0)
    return (math.log(fv) - math.log(pv)) / math.log(1 + rate)


@function(
    "RRI", "financial", "The rate at which a sum grows to another.",
    _NPER, _PV, Argument("fv", Takes.NUMBER, "The value to reach."),
    examples=(("=ROUND(RRI(96,10000,11000),10)", 0.0009933074), ("=RRI(0,1,2)", NUM)),
)  # fmt: skip
def rri(nper: float, pv: float, fv: float) -> float:
    toolpak.need(nper > 0, pv != 0, fv / (pv or 1.0) >= 0)
    return _power(fv / pv, 1 / nper) - 1


@function(
    "DOLLARDE",
    "financial",
    "The decimal number of a price quoted in fractions: 1.02 in 16ths is 1.125.",
    toolpak.required("fractional_dollar", "The quoted price."),
    toolpak.required("fraction", "The fraction's denominator."),
    examples=(("=DOLLARDE(1.02,16)", 1.125), ("=DOLLARDE(1.1,0)", DIV0), ("=DOLLARDE(1.1,-1)", NUM)),
)
def dollarde(fractional_dollar: Any, fraction: Any) -> float:
    price, parts, scale = _quote(fractional_dollar, fraction)
    full = math.trunc(price)
    return full + (price - full) * scale / parts


@function(
    "DOLLARFR", "financial", "A decimal price quoted in fractions: 1.125 in 16ths is 1.02.",
    toolpak.required("decimal_dollar", "The price."), toolpak.required("fraction", "The fraction's denominator."),
    examples=(("=DOLLARFR(1.125,16)", 1.02), ("=DOLLARFR(1.125,32)", 1.04)),
)  # fmt: skip
def dollarfr(decimal_dollar: Any, fraction: Any) -> float:
    price, parts, scale = _quote(decimal_dollar, fraction)
    full = math.trunc(price)
    return full + (price - full) * parts / scale


def _quote(price: Any, fraction: Any) -> tuple[float, int, float]:
    """Return the price, the parts of a unit, and the power of ten that their digits take up."""
    amount, denominator = toolpak.numbers(price, fraction)
    if denominator < 0:
        raise Failure(NUM)
    if denominator < 1:
        raise Failure(DIV0)
    parts = int(denominator)
    return amount, parts, 10.0 ** math.ceil(math.log10(parts))


# Treasury bills: prices per 100 of face value, at most a year to run


def _bill(environment: Environment, settlement: Any, maturity: Any, figure: Any) -> tuple[int, float]:
    start, end = toolpak.day(environment, settlement), toolpak.day(environment, maturity)
    figure = toolpak.number(figure)
    toolpak.need(start < end, end <= days.add_months(start, 12), figure > 0)
    return end - start, figure


_DISCOUNT: Final = toolpak.required("discount", "The discount rate.")


@function(
    "TBILLEQ", "financial", "The bond-like yield of a treasury bill.", toolpak.SETTLEMENT, toolpak.MATURITY, _DISCOUNT,
    environment=True,
    examples=(("=ROUND(TBILLEQ(DATE(2008,3,31),DATE(2008,6,1),0.0914),6)", 0.094151), ("=TBILLEQ(2,1,0.1)", NUM)),
)  # fmt: skip
def tbilleq(environment: Environment, settlement: Any, maturity: Any, discount: Any) -> float:
    term, rate = _bill(environment, settlement, maturity, discount)
    if term <= 182:
        toolpak.need(rate * term < 360)
        return 365 * rate / (360 - rate * term)
    price = 1 - rate * term / 360
    years = term / (366 if term == 366 else 365)
    toolpak.need(price > 0)
    return 2 * (math.sqrt(years**2 - (2 * years - 1) * (1 - 1 / price)) - years) / (2 * years - 1)


@function(
    "TBILLPRICE", "financial", "The price of a treasury bill.", toolpak.SETTLEMENT, toolpak.MATURITY, _DISCOUNT,
    environment=True,
    examples=(("=TBILLPRICE(DATE(2008,3,31),DATE(2008,6,1),0.09)", 98.45),),
)  # fmt: skip
def tbillprice(environment: Environment, settlement: Any, maturity: Any, discount: Any) -> float:
    term, rate = _bill(environment, settlement, maturity, discount)
    price = 100 * (1 - rate * term / 360)
    toolpak.need(price > 0)
    return price


@function(
    "TBILLYIELD", "financial", "The yield of a treasury bill.", toolpak.SETTLEMENT, toolpak.MATURITY,
    toolpak.required("pr", "The price."),
    environment=True,
    examples=(("=ROUND(TBILLYIELD(DATE(2008,3,31),DATE(2008,6,1),98.45),6)", 0.091417),),
)  # fmt: skip
def tbillyield(environment: Environment, settlement: Any, maturity: Any, pr: Any) -> float:
    term, price = _bill(environment, settlement, maturity, pr)
    return (100 - price) / price * 360 / term
