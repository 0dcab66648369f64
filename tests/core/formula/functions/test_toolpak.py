"""Functions of the Analysis ToolPak.

Where they take one value, cells are one cell. The names are Microsoft's list.
"""

from __future__ import annotations

from typing import Any, Final

from core.formula.functions.families import FUNCTIONS
from core.formula.values.value import VALUE
from tests.core.formula.places import value
from tests.rows import every

TOOLPAK: Final = frozenset((
    "ACCRINT", "ACCRINTM", "AMORDEGRC", "AMORLINC", "BESSELI", "BESSELJ", "BESSELK", "BESSELY", "BIN2DEC", "BIN2HEX",
    "BIN2OCT", "COMPLEX", "CONVERT", "COUPDAYBS", "COUPDAYS", "COUPDAYSNC", "COUPNCD", "COUPNUM", "COUPPCD", "CUMIPMT",
    "CUMPRINC", "DEC2BIN", "DEC2HEX", "DEC2OCT", "DELTA", "DISC", "DOLLARDE", "DOLLARFR", "DURATION", "EDATE", "EFFECT",
    "EOMONTH", "ERF", "ERF.PRECISE", "ERFC", "ERFC.PRECISE", "FACTDOUBLE", "FVSCHEDULE", "GESTEP", "HEX2BIN", "HEX2DEC",
    "HEX2OCT", "IMABS", "IMAGINARY", "IMARGUMENT", "IMCONJUGATE", "IMCOS", "IMCOSH", "IMCOT", "IMCSC", "IMCSCH",
    "IMDIV", "IMEXP", "IMLN", "IMLOG10", "IMLOG2", "IMPOWER", "IMREAL", "IMSEC", "IMSECH", "IMSIN", "IMSINH", "IMSQRT",
    "IMSUB", "IMTAN", "INTRATE", "ISEVEN", "ISODD", "MDURATION", "MROUND", "NETWORKDAYS", "NETWORKDAYS.INTL", "NOMINAL",
    "OCT2BIN", "OCT2DEC", "OCT2HEX", "ODDFPRICE", "ODDFYIELD", "ODDLPRICE", "ODDLYIELD", "PRICE", "PRICEDISC",
    "PRICEMAT", "QUOTIENT", "RANDBETWEEN", "RECEIVED", "SERIESSUM", "SQRTPI", "TBILLEQ", "TBILLPRICE", "TBILLYIELD",
    "WEEKNUM", "WORKDAY", "WORKDAY.INTL", "XIRR", "XNPV", "YEARFRAC", "YIELD", "YIELDDISC", "YIELDMAT",
))  # fmt: skip

SEVERAL: Final = {
    ("FVSCHEDULE", "schedule"), ("NETWORKDAYS", "holidays"), ("NETWORKDAYS.INTL", "holidays"),
    ("SERIESSUM", "coefficients"), ("WORKDAY", "holidays"), ("WORKDAY.INTL", "holidays"), ("XIRR", "values"),
    ("XIRR", "dates"), ("XNPV", "values"), ("XNPV", "dates"),
}  # fmt: skip
"""Arguments that are meant for ranges."""

CASES: tuple[tuple[str, Any], ...] = (
    ("=SUM(ERF(+A1:A3))", 3.0),
    ("=SUMPRODUCT(EOMONTH(A1:A3+0,0))", 31.0 + 31 + 31),
    ("=SUMPRODUCT(EOMONTH(A1:A3,0))", VALUE),
    ("=SUMPRODUCT(--ISEVEN(A1:A3))", VALUE),
    ("=SUM(EDATE(IFERROR(C1:C3,0),1))", 32.0 + 33 + 34),
    ("=SUM(EDATE({1;2},1))", 32.0 + 33),
    ("=SUM(LET(x,C1:C3+0,EDATE(x,1)))", 32.0 + 33 + 34),
    ("=LET(x,C1:C3,EDATE(x,1))", VALUE),
    ("=EDATE(IF(TRUE,C1:C3),1)", VALUE),
    ("=EDATE(OFFSET(C1,0,0,3),1)", VALUE),
    ("=EDATE(OFFSET(C1,0,0,1),1)", 32.0),
    ("=EDATE(C:C,1)", VALUE),
    ("=EDATE((C1,C2),1)", VALUE),
    ("=EDATE(C1#,1)", VALUE),
    ("=EDATE(several,1)", VALUE),
    ("=EDATE(one,1)", 32.0),
    ("=EDATE(C1:C1,1)", 32.0),
    ("=EDATE(C1:C2 C2:C3,1)", 33.0),
    ("=EDATE(INDEX(C1:C3,2),1)", 33.0),
    ("=EDATE(C9:C9,1)", 31.0),
    ("=SUM(MAP(C1:C2,LAMBDA(each,EDATE(each,1))))", 32.0 + 33),
    ("=WEEKNUM(-1,C1:C2)", "#NUM!"),
    ("=WORKDAY(A1,5,A2:A3)", 17.0),
    ("=IMSUM(A1:A3)", "60"),
    ("=GCD(A1:A3)", 10.0),
    ("=LCM(A1:A3)", 60.0),
    ("=MULTINOMIAL(C1:C2)", 3.0),
    ("=SUM(ISOWEEKNUM(A1:A2))", 2.0 + 3),
    ("=SERIESSUM(1,1,1,A1:A3)", 60.0),
)
NAMES: Final = {"several": "=Sheet1!$C$1:$C$3", "one": "=Sheet1!$C$1"}


def test_the_rule_is_that_of_the_toolpak() -> None:
    having = {name for name, row in FUNCTIONS.items() if any(argument.single_cell for argument in row.arguments)}
    assert having == TOOLPAK


@every(
    "name, basis, place, arrays",
    [
        (name, index, place, arrays)
        for name in sorted(TOOLPAK)
        for index in range(1, len(FUNCTIONS[name].arguments) + 1)
        for place in range(index)
        for arrays in (True, False)
        if index >= FUNCTIONS[name].minimum and (name, FUNCTIONS[name].arguments[place].name) not in SEVERAL
    ],
)
def test_several_cells_are_no_value(name: str, basis: int, place: int, arrays: bool) -> None:
    arguments = ["C1"] * basis
    arguments[place] = "C1:C3"
    assert value(f"={name}({','.join(arguments)})", arrays=arrays, at="F2") is VALUE


@every("text, expected", CASES)
def test_what_is_no_range_of_cells_is_lifted(text: str, expected: Any) -> None:
    assert value(text, names=NAMES) == expected or str(value(text, names=NAMES)) == expected


def test_a_plain_formula_does_not_cut_them() -> None:
    assert [
        value(f"=EDATE({input_value},1)", arrays=False, at="F2") for input_value in ("C1:C3", "@C1:C3", "+C1:C3")
    ] == [VALUE, 33.0, 33.0]
