"""Bonds: Excel's documented values, what Excel 2010 computed for hard dates on every basis, and the refusals."""

from __future__ import annotations

from typing import Any

import pytest

from core.formula.values.value import Date
from tests.core.formula.calculated import calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    ("=COUPDAYBS(DATE(2011,1,25),DATE(2011,11,15),2,1)", 71), ("=COUPDAYS(DATE(2011,1,25),DATE(2011,11,15),2,1)", 181),
    ("=COUPDAYSNC(DATE(2011,1,25),DATE(2011,11,15),2,1)", 110),
    ("=COUPNCD(DATE(2011,1,25),DATE(2011,11,15),2,1)", 40_678),
    ("=COUPPCD(DATE(2011,1,25),DATE(2011,11,15),2,1)", 40_497), ("=COUPNUM(DATE(2007,1,25),DATE(2008,11,15),2,1)", 4),
    ("=COUPNCD(DATE(2016,10,18),DATE(2019,9,30),2,4)", 42_825), ("=COUPDAYBS(DATE(2011,11,15),DATE(2012,11,15),1)", 0),
    ("=COUPNUM(2,1,2)", "#NUM!"), ("=COUPNUM(1,100,3)", "#NUM!"), ("=COUPNUM(1,100,2,5)", "#NUM!"),
    ("=COUPNUM(40000,40100,2.9,4.9)", 1),
    ("=COUPNUM(TRUE,100,2)", "#VALUE!"), ('=COUPNUM("2011-01-25","2011-11-15",2)', 2),
    ("=COUPPCD(40000,40000,1)", "#NUM!"),
    ("=ROUND(PRICE(DATE(2008,2,15),DATE(2017,11,15),0.0575,0.065,100,2,0),8)", 94.63436162),
    ("=PRICE(1,1000,-0.1,0.1,100,2)", "#NUM!"), ("=PRICE(1,1000,0.1,0.1,0,2)", "#NUM!"),
    ("=PRICE(1,1000,,0.1,100,2)", "#N/A"),
    ("=ROUND(YIELD(DATE(2008,2,15),DATE(2016,11,15),0.0575,95.04287,100,2,0),7)", 0.065),
    ("=YIELD(1,1000,0.1,0,100,2)", "#NUM!"),
    ("=ROUND(DURATION(DATE(2018,7,1),DATE(2048,1,1),0.08,0.09,2,1),7)", 10.9191453),
    ("=ROUND(MDURATION(DATE(2008,1,1),DATE(2016,1,1),0.08,0.09,2,1),5)", 5.73567),
    ("=DURATION(1,1000,-1,0.1,2)", "#NUM!"),
    ("=ROUND(ACCRINT(39508,39691,39569,0.1,1000,2,0),6)", 16.666667),
    ("=ROUND(ACCRINT(DATE(2008,3,5),39691,39569,0.1,1000,2,0,FALSE),6)", 15.555556),
    ("=ROUND(ACCRINT(DATE(2008,4,5),39691,39569,0.1,1000,2,0,TRUE),6)", 7.222222),
    ("=ROUND(ACCRINT(39508,39691,39569,0.1,,2),6)", 16.666667),
    ("=ACCRINT(39569,39691,39569,0.1,1000,2)", "#NUM!"), ("=ACCRINT(39508,39691,39569,0,1000,2)", "#NUM!"),
    ("=ACCRINT(39508,39691,39569,0.1,1000,6)", "#NUM!"),
    ("=ROUND(ACCRINTM(39539,39614,0.1,1000,3),8)", 20.54794521),
    ("=ACCRINTM(39539,39614,0.1,,3)", 1000 * 0.1 * 75 / 365), ("=ACCRINTM(2,1,0.1,1)", "#NUM!"),
    ("=ROUND(DISC(DATE(2018,7,1),DATE(2048,1,1),97.975,100,1),9)", 0.000686384), ("=DISC(1,2,0,100)", "#NUM!"),
    ("=DISC(1,2,100,100,TRUE)", "#VALUE!"),
    ("=ROUND(PRICEDISC(DATE(2008,2,16),DATE(2008,3,1),0.0525,100,2),8)", 99.79583333),
    ("=ROUND(YIELDDISC(DATE(2008,2,16),DATE(2008,3,1),99.795,100,2),8)", 0.05282257),
    ("=ROUND(INTRATE(DATE(2008,2,15),DATE(2008,5,15),1000000,1014420,2),8)", 0.05768),
    ("=ROUND(RECEIVED(DATE(2008,2,15),DATE(2008,5,15),1000000,0.0575,2),4)", 1_014_584.6544),
    ("=RECEIVED(1,1000,100,0.9)", "#NUM!"), ("=INTRATE(1,1,1,1)", "#NUM!"),
    ("=ROUND(PRICEMAT(DATE(2008,2,15),DATE(2008,4,13),DATE(2007,11,11),0.061,0.061,0),8)", 99.98449888),
    ("=ROUND(YIELDMAT(DATE(2008,3,15),DATE(2008,11,3),DATE(2007,11,8),0.0625,100.0123,0),8)", 0.06095433),
    ("=PRICEMAT(3,2,1,0.1,0.1)", "#NUM!"),
    ("=ROUND(ODDFPRICE(39763,44256,39736,39873,0.0785,0.0625,100,2,1),8)", 113.59771747),
    ("=ROUND(ODDFYIELD(39763,44256,39736,39873,0.0575,84.5,100,2,0),8)", 0.07724554),
    ("=ODDFPRICE(DATE(2008,11,11),DATE(2021,3,1),DATE(2008,10,15),DATE(2009,2,1),0.0785,0.0625,100,2,1)", "#NUM!"),
    ("=ODDFPRICE(4,3,2,1,0.1,0.1,100,2)", "#NUM!"),
    ("=ROUND(ODDLPRICE(DATE(2008,2,7),DATE(2008,6,15),DATE(2007,10,15),0.0375,0.0405,100,2,0),8)", 99.87828601),
    ("=ROUND(ODDLYIELD(DATE(2008,4,20),DATE(2008,6,15),DATE(2007,12,24),0.0375,99.875,100,2,0),8)", 0.04519224),
    ("=ODDLPRICE(1,2,3,0.1,0.1,100,2)", "#NUM!"),
)  # fmt: skip

# What Excel 2010 computed, by (frequency, basis)
ODD_FIRST_PRICES = {
    (1, 2): 127.9031273745, (1, 3): 127.9949332833, (1, 1): 127.9949332833, (1, 4): 128.0003495968,
    (1, 0): 128.0105899192,
    (2, 2): 127.6193871525, (2, 3): 127.711344726, (2, 1): 127.7049586143, (2, 4): 127.7166093747,
    (2, 0): 127.7269143198,
    (4, 2): 127.4582533515, (4, 3): 127.5543521757, (4, 1): 127.5554755738, (4, 4): 127.5728561289,
    (4, 0): 127.5831938096,
}  # fmt: skip
ODD_LAST_PRICES = {
    (1, 1): 129.5723699806, (1, 4): 129.5797185271, (1, 0): 129.5872780001, (2, 0): 129.6844713675,
    (2, 1): 129.5747926399,
    (4, 0): 129.6832227957, (4, 3): 129.5797185271,
}  # fmt: skip
PRICES = {
    (1, 2): 237.7764089662, (1, 3): 237.8060148608, (1, 1): 237.8118419212, (1, 4): 237.8068491926,
    (1, 0): 237.8068491926,
    (2, 2): 238.4437927715, (2, 1): 238.4567477958, (2, 0): 238.451616552, (4, 2): 238.777147098,
    (4, 1): 238.7788712385,
}  # fmt: skip
INTEREST = {
    "DATE(1993,3,31),DATE(1992,3,4)": {
        (1, 2): 1400, (1, 3): 1400, (1, 0): 1401.944444444, (2, 2): 1394.166666667, (2, 3): 1399.04109589,
        (2, 1): 1398.076923077, (2, 4): 1400, (4, 2): 1390.277777778, (4, 3): 1397.602739726, (4, 0): 1401.944444444,
    },
    "DATE(2010,7,5),DATE(1992,3,4)": {
        (1, 2): 1226.944444444, (1, 3): 1392.328767123, (1, 0): 1400, (2, 2): 1219.166666667, (2, 1): 1287.845303867,
        (4, 2): 1217.222222222, (4, 1): 1358.376068376,
    },
    "DATE(2010,7,5),DATE(1995,3,1)": {
        (1, 2): 3350.277777778, (1, 4): 3494.166666667, (2, 2): 3342.5, (2, 1): 3399.447513812, (4, 1): 3458.376068376,
    },
}  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    assert same(calculated(formula), expected)


@pytest.mark.parametrize(("kind", "expected"), ODD_FIRST_PRICES.items())
def test_long_first_periods_are_excels(kind: tuple[int, int], expected: float) -> None:
    dates = "DATE(1999,2,28),DATE(2010,6,30),DATE(1998,2,28),DATE(2009,6,30)"
    assert same(calculated(f"=ODDFPRICE({dates},0.07,0.03,100,{kind[0]},{kind[1]})"), expected, 1e-12)
    assert same(calculated(f"=ODDFYIELD({dates},0.07,{expected},100,{kind[0]},{kind[1]})"), 0.03, 1e-9)


@pytest.mark.parametrize(("kind", "expected"), ODD_LAST_PRICES.items())
def test_long_last_periods_are_excels(kind: tuple[int, int], expected: float) -> None:
    dates = "DATE(1999,2,28),DATE(2004,3,31),DATE(1998,2,28)"
    assert same(calculated(f"=ODDLPRICE({dates},0.1,0.03,100,{kind[0]},{kind[1]})"), expected, 1e-12)
    assert same(calculated(f"=ODDLYIELD({dates},0.1,{expected},100,{kind[0]},{kind[1]})"), 0.03, 1e-9)


@pytest.mark.parametrize(("kind", "expected"), PRICES.items())
def test_prices_are_excels_and_yields_come_back(kind: tuple[int, int], expected: float) -> None:
    dates = "DATE(1980,3,15),DATE(2010,6,5)"
    assert same(calculated(f"=PRICE({dates},0.1,0.03,100,{kind[0]},{kind[1]})"), expected, 1e-12)
    assert same(calculated(f"=YIELD({dates},0.1,{expected},100,{kind[0]},{kind[1]})"), 0.03, 1e-9)


@pytest.mark.parametrize("dates", INTEREST)
def test_accrued_interest_is_excels(dates: str) -> None:
    for (frequency, basis), expected in INTEREST[dates].items():
        formula = f"=ACCRINT(DATE(1990,3,4),{dates},0.07,10000,{frequency},{basis})"
        assert same(calculated(formula), expected, 1e-11), formula


def test_days_of_coupons_are_dates() -> None:
    assert type(calculated("=COUPNCD(40000,41000,2)")) is Date
    assert type(calculated("=COUPPCD(40000,41000,2)")) is Date


@pytest.mark.parametrize("yld", [-0.5, -0.01, 0.0001, 0.2, 3.0])
def test_yields_are_found_far_from_the_guess(yld: float) -> None:
    years, growth = 10, 1 + yld
    worth = sum(5 / growth**year for year in range(1, years + 1)) + 100 / growth**years
    assert same(calculated(f"=YIELD(DATE(2010,1,1),DATE(2020,1,1),0.05,{worth!r},100,1,0)"), yld, 1e-9)
