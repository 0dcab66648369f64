"""Sums, rounding, counting and angles.

Excel's documented values, and its behaviour at the edges.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    # Multiples: signs, zero, the 15 digits.
    ("=CEILING(2.5,1)", 3), ("=CEILING(-2.5,-2)", -4), ("=CEILING(-2.5,2)", -2), ("=CEILING(2.5,-2)", "#NUM!"),
    ("=CEILING(1.5,0.1)", 1.5), ("=CEILING(0.234,0.01)", 0.24), ("=CEILING(5,0)", 0), ("=CEILING(1.6,0.7+0.1)", 1.6),
    ("=FLOOR(3.7,2)", 2), ("=FLOOR(-2.5,-2)", -2), ("=FLOOR(2.5,-2)", "#NUM!"), ("=FLOOR(1.58,0.1)", 1.5),
    ("=FLOOR(0.234,0.01)", 0.23), ("=FLOOR(7.1,0.1)", 7.1), ("=FLOOR(5,0)", "#DIV/0!"), ("=FLOOR(0,0)", 0),
    ("=FLOOR(0.9,0.1*3)", 0.9), ("=CEILING.MATH(24.3,5)", 25), ("=CEILING.MATH(6.7)", 7),
    ("=CEILING.MATH(-8.1,2)", -8), ("=CEILING.MATH(-5.5,2,-1)", -6), ("=CEILING.MATH(-8.1,,1)", -9),
    ("=CEILING.MATH(5,0)", 0), ("=CEILING.MATH(-11,-2,1)", -12), ("=FLOOR.MATH(24.3,5)", 20), ("=FLOOR.MATH(6.7)", 6),
    ("=FLOOR.MATH(-8.1,2)", -10), ("=FLOOR.MATH(-5.5,2,-1)", -4), ("=FLOOR.MATH(7.1,-0.1)", 7.1),
    ("=ISO.CEILING(-4.3,-2)", -4), ("=CEILING.PRECISE(4.3,-2)", 6), ("=FLOOR.PRECISE(-3.2,1)", -4),
    ("=MROUND(10,3)", 9), ("=MROUND(1.3,0.2)", 1.4), ("=MROUND(5,-2)", "#NUM!"), ("=MROUND(0,-2)", 0),
    ("=MROUND(0.45,0.1*3)", 0.6), ("=MROUND(TRUE,2)", "#VALUE!"), ("=MROUND(,2)", "#N/A"), ('=MROUND(" 10 ",3)', 9),
    ("=EVEN(1.5)", 2), ("=EVEN(-1)", -2), ("=EVEN(2)", 2), ("=ODD(1.5)", 3), ("=ODD(3)", 3), ("=ODD(-1)", -1),
    ("=ODD(-2)", -3), ("=ODD(0)", 1), ("=EVEN(0)", 0),
    ("=ROUND(2.149,1)", 2.1), ("=ROUND(-1.475,2)", -1.48), ("=ROUND(21.5,-1)", 20), ("=ROUND(626.3,-3)", 1000),
    ("=ROUND(1.98,-1)", 0), ("=ROUND(-50.55,-2)", -100), ("=ROUNDUP(76.9,0)", 77), ("=ROUNDUP(31415.92654,-2)", 31500),
    ("=ROUNDDOWN(-3.14159,1)", -3.1), ("=TRUNC(-8.9)", -8), ("=TRUNC(0.45)", 0), ("=INT(-8.9)", -9),
    ("=INT(880000000*0.00849/3)", 2490400), ("=QUOTIENT(880000000*0.00849,3)", 2490400), ("=QUOTIENT(-10,3)", -3),
    ("=QUOTIENT(1,TRUE)", "#VALUE!"), ("=QUOTIENT(1,0)", "#DIV/0!"),
    ("=MOD(3,2)", 1), ("=MOD(-3,2)", 1), ("=MOD(3,-2)", -1), ("=MOD(-3,-2)", -1), ("=MOD(3,0)", "#DIV/0!"),
    ("=MOD(0.3,0.1)", 0.1), ("=MOD(10,0.1)", 0.1), ("=MOD(281.44,0.02)", 0.02),
    ("=MOD(0.9,0.3)", 5.551115123125783e-17),
    ("=MOD(1E15,1)", "#NUM!"), ("=MOD(5.5,-2)", -0.5),
    # Powers.
    ("=POWER(5,2)", 25), ("=POWER(98.6,3.2)", 2401077.2220695773),
    ("=POWER(0,0)", "#NUM!"), ("=POWER(0,-1)", "#DIV/0!"),
    ("=POWER(-8,1/3)", -2), ("=POWER(-8,0.5)", "#NUM!"), ("=POWER(10,400)", "#NUM!"), ("=SQRT(-1)", "#NUM!"),
    ("=EXP(709)", math.exp(709)), ("=EXP(710)", "#NUM!"), ("=LN(0)", "#NUM!"), ("=LOG(86,2.7182818)", 4.4543473),
    ("=LOG(10,1)", "#DIV/0!"), ("=LOG(10,0)", "#NUM!"), ("=LOG10(100000)", 5), ("=SQRTPI(2)", 2.5066282746310002),
    ("=SQRTPI(TRUE)", "#VALUE!"), ("=SIGN(-0.00001)", -1),
    # Sums.
    ("=SUM(A1:A5)", 150), ('=SUM("5",15,TRUE)', 21), ("=SUM({\"5\",TRUE,3})", 3),
    ("=SUM(B1)", 0), ("=SUM(B1:C1,B3)", 1),
    ("=SUMSQ(3,4)", 25), ("=SUMPRODUCT(A1:A3,C1:C3)", 140), ("=SUMPRODUCT(A1:A3,C1:C2)", "#VALUE!"),
    ("=SUMPRODUCT((B1:B5=\"apple\")*A1:A5)", 50), ("=SUMX2MY2({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", -55),
    ("=SUMX2PY2({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", 521), ("=SUMXMY2({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", 79),
    ("=SUMXMY2({1,2},{1,2,3})", "#N/A"),
    ("=SERIESSUM(PI()/4,0,2,{1,-0.5,0.0416666666666667,-0.00138888888888889})", 0.707103),
    ("=PERCENTOF(A1:A2,A1:A5)", 0.2), ("=PERCENTOF(1,0)", "#DIV/0!"),
    # Counting.
    ("=FACT(0)", 1), ("=FACT(5)", 120), ("=FACT(1.9)", 1), ("=FACT(-1)", "#NUM!"), ("=FACT(171)", "#NUM!"),
    ("=FACT(5-9E-16)", 120), ("=FACTDOUBLE(6)", 48), ("=FACTDOUBLE(7)", 105), ("=FACTDOUBLE(-1)", 1),
    ("=FACTDOUBLE(TRUE)", "#VALUE!"), ("=COMBIN(8,2)", 28), ("=COMBIN(5,0)", 1), ("=COMBIN(2,3)", "#NUM!"),
    ("=COMBIN(200,100)", 9.0548514656103281e58), ("=COMBIN(1E9,5E8)", "#NUM!"), ("=COMBINA(4,3)", 20),
    ("=COMBINA(10,3)", 220), ("=COMBINA(0,1)", "#NUM!"), ("=PERMUT(100,3)", 970200), ("=PERMUT(3,2)", 6),
    ("=PERMUT(0,0)", "#NUM!"), ("=PERMUTATIONA(3,2)", 9), ("=PERMUTATIONA(2,2)", 4), ("=MULTINOMIAL(2,3,4)", 1260),
    ("=MULTINOMIAL(-1)", "#NUM!"), ("=GCD(24,36)", 12), ("=GCD(7,1)", 1), ("=GCD(5,0)", 5), ("=GCD(TRUE,5)", "#VALUE!"),
    ("=GCD(,5)", "#N/A"), ('=GCD("a")', "#VALUE!"), ("=GCD(D5,5)", 5), ("=GCD(-0.00037,0.0001)", "#NUM!"),
    ("=LCM(5,2)", 10), ("=LCM(24,36)", 72), ("=LCM(2,0)", 0), ("=LCM(2^52,3)", "#NUM!"),
    # Numerals and bits.
    ("=ROMAN(499,0)", "CDXCIX"), ("=ROMAN(499,1)", "LDVLIV"), ("=ROMAN(499,2)", "XDIX"), ("=ROMAN(499,3)", "VDIV"),
    ("=ROMAN(499,4)", "ID"), ("=ROMAN(499,TRUE)", "CDXCIX"), ("=ROMAN(499,FALSE)", "ID"), ("=ROMAN(0)", ""),
    ("=ROMAN(-1)", "#VALUE!"), ("=ROMAN(4000)", "#VALUE!"), ("=ROMAN(1,5)", "#VALUE!"), ("=ROMAN(999,1)", "LMVLIV"),
    ('=ARABIC("LVII")', 57), ('=ARABIC("mcmxii")', 1912), ('=ARABIC("")', 0), ('=ARABIC("IIIIMIXVC")', 1080),
    ('=ARABIC("-X")', -10), ('=ARABIC("ABC")', "#VALUE!"), ("=BASE(7,2)", "111"), ("=BASE(100,16)", "64"),
    ("=BASE(15,2,10)", "0000001111"), ("=BASE(1,1)", "#NUM!"), ("=BASE(2^53,2)", "#NUM!"), ('=DECIMAL("FF",16)', 255),
    ('=DECIMAL("zap",36)', 45745), ('=DECIMAL("3",2)', "#NUM!"), ("=BITAND(13,25)", 9), ("=BITAND(-1,2)", "#NUM!"),
    ("=BITAND(2^48,1)", "#NUM!"), ("=BITAND(1.5,1)", "#NUM!"), ("=BITOR(23,10)", 31), ("=BITXOR(5,3)", 6),
    ("=BITLSHIFT(4,2)", 16), ("=BITLSHIFT(4,-1)", 2), ("=BITRSHIFT(13,2)", 3), ("=BITLSHIFT(1,48)", "#NUM!"),
    ("=BITRSHIFT(1,54)", "#NUM!"),
    # Angles: the processor's pi of 66 bits, the bound of 2^27, errors.
    ("=SIN(PI())", 1.22514845490862e-16), ("=COS(PI()/2)", 6.1257422745431e-17), ("=TAN(PI()/2)", 1.63245522776191e16),
    ("=CSC(PI())", 8.162276138809536e15), ("=CSC(2*PI())", -4.081138069404768e15), ("=SIN(2^27)", "#NUM!"),
    ("=COT(9999999999999)", "#NUM!"), ("=COT(0)", "#DIV/0!"), ("=CSC(0)", "#DIV/0!"), ("=CSCH(0)", "#DIV/0!"),
    ("=COTH(0)", "#DIV/0!"), ("=SEC(0)", 1), ("=COTH(9999999999999)", 1), ("=SECH(1000)", 0), ("=SINH(1000)", "#NUM!"),
    ("=ACOT(-1)", 2.356194490192345), ("=ACOT(-10)", 3.0419240010986313), ("=ACOT(0)", math.pi / 2),
    ("=ACOTH(1)", "#NUM!"), ("=ACOTH(6)", 0.16823611831060645), ("=ASIN(1.1)", "#NUM!"), ("=ACOSH(0.5)", "#NUM!"),
    ("=ATANH(1)", "#NUM!"), ("=ATAN2(1,1)", math.pi / 4), ("=ATAN2(-1,-1)", -3 * math.pi / 4),
    ("=ATAN2(0,0)", "#DIV/0!"), ("=DEGREES(PI())", 180), ("=RADIANS(270)", 4.71238898038469),
    ("=COTH(1)*CSCH(1)", math.cosh(1) / math.sinh(1) ** 2),
    # Errors and text among the arguments.
    ("=SUM(1,NA())", "#N/A"), ('=ABS("x")', "#VALUE!"), ('=ABS("-2")', 2), ("=ABS(TRUE)", 1), ("=ABS(D5)", 0),
    ("=ROUND({1.25,2.35},1)", [[1.3, 2.4]]), ("=RANDBETWEEN(1.5,1.6)", "#NUM!"), ("=RANDARRAY(0,1)", "#VALUE!"),
)  # fmt: skip

CELLS = {
    "A1": 10, "A2": 20, "A3": 30, "A4": 40, "A5": 50, "B1": "apple", "B2": "7", "B3": True, "B4": "apple", "B5": "x",
    "C1": 1, "C2": 2, "C3": 3, "D5": None,
}  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    result = calculated(formula, CELLS)
    tolerance = 1e-6 if formula.startswith(("=SERIESSUM", "=LOG(86")) else 1e-12  # their documentation gives six digits
    assert same(result, expected, tolerance), result


@given(st.integers(1, 3999), st.integers(0, 4))
def test_roman_numerals_come_back(number: int, form: int) -> None:
    assert calculated(f"=ARABIC(ROMAN({number},{form}))") == number


@given(st.integers(0, 2**53 - 1), st.integers(2, 36))
def test_numbers_in_other_bases_come_back(number: int, radix: int) -> None:
    assert calculated(f"=DECIMAL(BASE({number},{radix}),{radix})") == number


@given(st.integers(-1000, 1000), st.integers(-50, 50).filter(bool))
def test_remainders_take_the_divisors_sign(number: int, divisor: int) -> None:
    assert calculated(f"=MOD({number},{divisor})") == number % divisor


@given(st.integers(0, 60), st.integers(0, 60))
def test_choices_are_exact(total: int, chosen: int) -> None:
    expected = math.comb(total, chosen) if chosen <= total else "#NUM!"
    assert same(calculated(f"=COMBIN({total},{chosen})"), expected, 1e-15)


@given(st.floats(0, 1, exclude_max=True), st.integers(-5, 5), st.integers(0, 9))
def test_chance_stays_within_its_bounds(chance: float, low: int, width: int) -> None:
    cells = Cells({}, chance=lambda: chance)
    result = calculated(f"=RANDBETWEEN({low},{low + width})", cells)
    assert result == int(result)
    assert low <= result <= low + width
    assert calculated(f"=RANDARRAY(2,3,{low},{low + width},TRUE)", cells) == [[result] * 3] * 2
