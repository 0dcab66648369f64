"""Bases, units and Bessel functions.

Documented values, definitions of the units, and the refusals.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.functions.mathematics.engineering import UNITS
from tests.core.formula.calculated import calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    # Bases
    ("=BIN2DEC(1100100)", 100), ("=BIN2DEC(1111111111)", -1), ('=BIN2DEC("0")', 0), ("=BIN2DEC(2)", "#NUM!"),
    ("=BIN2DEC(11111111111)", "#NUM!"),
    ("=BIN2DEC(TRUE)", "#VALUE!"), ("=BIN2DEC(-1)", "#NUM!"), ("=BIN2DEC(1.1)", "#NUM!"), ('=BIN2DEC("")', 0),
    ("=BIN2DEC(A1)", 0),
    ("=BIN2OCT(1001,3)", "011"), ("=BIN2OCT(1100100)", "144"), ("=BIN2OCT(1111111111)", "7777777777"),
    ("=BIN2HEX(11111011,4)", "00FB"), ("=BIN2HEX(1110)", "E"), ("=BIN2HEX(1111111111)", "FFFFFFFFFF"),
    ("=BIN2HEX(1110,0)", "#NUM!"),
    ("=BIN2HEX(1110,-1)", "#NUM!"), ("=BIN2HEX(1110,1.9)", "E"), ("=BIN2HEX(11110,1)", "#NUM!"),
    ('=BIN2HEX(1,"x")', "#VALUE!"),
    ("=OCT2BIN(3,3)", "011"), ('=OCT2BIN("7777777000")', "1000000000"), ("=OCT2BIN(1000)", "#NUM!"),
    ("=OCT2DEC(54)", 44),
    ('=OCT2DEC("7777777533")', -165), ("=OCT2DEC(8)", "#NUM!"), ("=OCT2HEX(100,4)", "0040"),
    ('=OCT2HEX("7777777533")', "FFFFFFFF5B"),
    ('=HEX2BIN("F",8)', "00001111"), ('=HEX2BIN("B7")', "10110111"), ('=HEX2BIN("FFFFFFFFFF")', "1111111111"),
    ('=HEX2BIN("200")', "#NUM!"),
    ('=HEX2DEC("A5")', 165), ('=HEX2DEC("FFFFFFFF5B")', -165), ('=HEX2DEC("3da408b9")', 1_034_160_313),
    ('=HEX2DEC("G")', "#NUM!"),
    ('=HEX2OCT("F",3)', "017"), ('=HEX2OCT("3B4E")', "35516"), ('=HEX2OCT("FFFFFFFF00")', "7777777400"),
    ('=HEX2OCT("20000000")', "#NUM!"),
    ("=DEC2BIN(9,4)", "1001"), ("=DEC2BIN(-100)", "1110011100"), ("=DEC2BIN(511)", "111111111"),
    ("=DEC2BIN(512)", "#NUM!"),
    ("=DEC2BIN(-512)", "1000000000"), ("=DEC2BIN(-513)", "#NUM!"), ("=DEC2BIN(-1,3)", "1111111111"),
    ("=DEC2BIN(-1,11)", "#NUM!"),
    ("=DEC2BIN(5.9)", "101"), ("=DEC2BIN(0)", "0"), ('=DEC2BIN("x")', "#VALUE!"), ("=DEC2BIN(FALSE)", "#VALUE!"),
    ("=DEC2BIN(1E300)", "#NUM!"),
    ("=DEC2OCT(58,3)", "072"), ("=DEC2OCT(-100)", "7777777634"), ("=DEC2OCT(536870911)", "3777777777"),
    ("=DEC2OCT(536870912)", "#NUM!"),
    ("=DEC2HEX(100,4)", "0064"), ("=DEC2HEX(-54)", "FFFFFFFFCA"), ("=DEC2HEX(28)", "1C"), ("=DEC2HEX(64,1)", "#NUM!"),
    ("=DEC2HEX(549755813887)", "7FFFFFFFFF"), ("=DEC2HEX(549755813888)", "#NUM!"),
    ("=DEC2HEX(-549755813888)", "8000000000"),
    # Units
    ('=CONVERT(1,"lbm","kg")', 0.45359237), ('=CONVERT(68,"F","C")', 20), ('=CONVERT(2.5,"ft","sec")', "#N/A"),
    ('=CONVERT(CONVERT(100,"ft","m"),"ft","m")', 9.290304), ('=CONVERT(1,"kibyte","bit")', 8192),
    ('=CONVERT(1,"Yibit","bit")', 2**80),
    ('=CONVERT(1,"kim","m")', "#N/A"), ('=CONVERT(1,"M","m")', "#N/A"), ('=CONVERT(1,"x","m")', "#N/A"),
    ('=CONVERT(TRUE,"m","m")', "#VALUE!"),
    ('=CONVERT("a","m","m")', "#VALUE!"), ('=CONVERT(1,"km2","m2")', 1e6), ('=CONVERT(1,"cm^3","l")', 0.001),
    ('=CONVERT(1,"dam","m")', 10),
    ('=CONVERT(1,"em","m")', 10), ('=CONVERT(1,"pc","ly")', 30856775812815500 / 9460730472580800),
    ('=CONVERT(1,"pm","m")', 1e-12),
    ('=CONVERT(1,"kft","m")', "#N/A"), ('=CONVERT(1,"ms","sec")', 0.001), ('=CONVERT(1,"day","hr")', 24),
    ('=CONVERT(1,"yr","day")', 365.25),
    ('=CONVERT(0,"C","K")', 273.15), ('=CONVERT(0,"K","F")', -459.67), ('=CONVERT(100,"C","Reau")', 80),
    ('=CONVERT(80,"Reau","F")', 212),
    ('=CONVERT(491.67,"Rank","C")', 0), ('=CONVERT(1,"kK","K")', 1000), ('=CONVERT(1,"kC","K")', "#N/A"),
    ('=CONVERT(37,"cel","fah")', 98.6),
    ('=CONVERT(1,"HP","W")', 745.69987158227), ('=CONVERT(1,"cal","J")', 4.1868), ('=CONVERT(1,"c","J")', 4.184),
    ('=CONVERT(1,"Wh","J")', 3600),
    ('=CONVERT(1,"atm","mmHg")', 101325 / 133.322), ('=CONVERT(1,"T","ga")', 10_000),
    ('=CONVERT(1,"GRT","m3")', 2.8316846592),
    ('=CONVERT(6,"tsp","tbs")', 2), ('=CONVERT(1,"Picapt","in")', 1 / 72), ('=CONVERT(1,"pica","in")', 1 / 6),
    ('=CONVERT(1,"ha","m2")', 10_000),
    # Bessel functions
    ("=ROUND(BESSELJ(1.9,2),9)", 0.329925829), ("=ROUND(BESSELY(2.5,1),9)", 0.145918138),
    ("=ROUND(BESSELI(1.5,1),9)", 0.981666428),
    ("=ROUND(BESSELK(1.5,1),9)", 0.277387804), ("=BESSELJ(1,-1)", "#NUM!"), ("=BESSELK(0,1)", "#NUM!"),
    ("=BESSELY(-1,1)", "#NUM!"),
    ('=BESSELI("x",1)', "#VALUE!"), ("=BESSELI(1,TRUE)", "#VALUE!"), ("=BESSELI(1000,1)", "#NUM!"),
    ("=BESSELJ(1,1E9)", "#NUM!"),
    ("=BESSELI(1.5,1.9)-BESSELI(1.5,1)", 0),
)  # fmt: skip

FOOT, INCH, POUND, GALLON = Fraction("0.3048"), Fraction("0.0254"), Fraction("453.59237"), 231 * Fraction("0.0254") ** 3
DEFINITIONS: tuple[tuple[str, str, Fraction | float], ...] = (
    ("mi", "m", 5280 * FOOT), ("survey_mi", "m", 5280 * Fraction(1200, 3937)), ("ell", "in", 45), ("yd", "ft", 3),
    ("Nmi", "m", 1852),
    ("us_acre", "m2", 43_560 * Fraction(1200, 3937) ** 2), ("uk_acre", "yd2", 4840), ("Morgen", "m2", 2500),
    ("ar", "m2", 100),
    ("ozm", "g", POUND / 16), ("stone", "lbm", 14), ("grain", "lbm", Fraction(1, 7000)), ("ton", "lbm", 2000),
    ("uk_ton", "lbm", 2240),
    ("cwt", "lbm", 100), ("uk_cwt", "lbm", 112), ("sg", "lbm", float(Fraction("9.80665") / FOOT)),
    ("lbf", "N", POUND / 1000 * Fraction("9.80665")),
    ("gal", "l", GALLON * 1000), ("qt", "gal", Fraction(1, 4)), ("pt", "gal", Fraction(1, 8)),
    ("cup", "gal", Fraction(1, 16)),
    ("oz", "gal", Fraction(1, 128)), ("tbs", "oz", Fraction(1, 2)), ("barrel", "gal", 42),
    ("uk_pt", "uk_gal", Fraction(1, 8)),
    ("bushel", "in3", Fraction("2150.42")), ("MTON", "ft3", 40), ("regton", "ft3", 100),
    ("flb", "J", float(POUND / 1000 * Fraction("9.80665") * FOOT)),
    ("HP", "W", float(550 * POUND / 1000 * Fraction("9.80665") * FOOT)), ("PS", "W", Fraction("9.80665") * 75),
    ("HPh", "J", float(1_980_000 * POUND / 1000 * Fraction("9.80665") * FOOT)),
    ("psi", "Pa", float(POUND / 1000 * Fraction("9.80665") / INCH**2)), ("Torr", "atm", Fraction(1, 760)),
    ("pond", "N", Fraction("0.00980665")),
    ("kn", "m/s", Fraction(1852, 3600)), ("mph", "m/s", 5280 * FOOT / 3600), ("admkn", "m/h", 6080 * FOOT),
)  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    result = calculated(formula)
    assert same(result, expected, 1e-12) or (expected == 0 and isinstance(result, float) and abs(result) < 1e-12)


@every("unit, second_number, size", DEFINITIONS)
def test_units_are_as_they_are_defined(unit: str, second_number: str, size: Fraction | float) -> None:
    assert same(calculated(f'=CONVERT(1,"{unit}","{second_number}")'), float(size), 1e-12)


@pytest.mark.parametrize("kind", UNITS)
def test_every_unit_converts_back(kind: str) -> None:
    for unit in UNITS[kind]:
        first = next(iter(UNITS[kind]))
        assert same(calculated(f'=CONVERT(CONVERT(12.5,"{unit}","{first}"),"{first}","{unit}")'), 12.5, 1e-9)


@given(st.integers(-512, 511), st.sampled_from(["BIN", "OCT", "HEX"]), st.sampled_from(["BIN", "OCT", "HEX"]))
def test_numbers_in_one_base_come_back_from_another(number: int, first: str, second: str) -> None:
    digits = calculated(f"=DEC2{first}({number})")
    if first != second:
        digits = calculated(f'={first}2{second}("{digits}")')
    assert calculated(f'={second}2DEC("{digits}")') == number
