"""LibreOffice as a second witness.

It recalculates a generated workbook, and a book of ours gives the same values.

Where Excel and LibreOffice part, tests/core/formula/cases/libreoffice-differs.json says so: a pattern of formulas, why,
and one of them with both values. Of errors only that there is one is compared: LibreOffice's own kinds are not Excel's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from openpyxl import Workbook as Written

from core.files.read import read as read_values
from core.recalc.book import read
from tests.programs.test_libreoffice import convert

DIFFERS = Path(__file__).parents[1] / "core" / "formula" / "cases" / "libreoffice-differs.json"
SHEET = "S"
COLUMN = 12
"""Of the formulas (1-based)."""

CELLS: dict[str, list[Any]] = {
    "A": [3, 7, 1, 12, 5, 9, 2, 8, 4, 6],
    "B": [2.5, 3, 3, 7, 1.5, 8, 2, 6, 5, 4],
    "C": [1, "apple", None, "banana", "3", 5, None, "a", -2, "pear"],
    "D": [39448, 39507, 43890, 43921, 44255, 44286, 44561, 36585, 36950, 41000],
    "F": [1, 2, 3, 5, 8, 13],
    "G": ["one", "two", "three", "five", "eight", "thirteen"],
}  # fmt: skip

NUMBERS = ("0", "1", "-1", "2.5", "-2.5", "0.5", "-0.5", "10", "1E-10", "150.7", "-7", '"x"', "$H$1")
FRACTIONS = ("0.001", "0.1", "0.5", "0.9", "0.999", "0", "1", "-0.1", "1.1")
RANGES = ("$A$1:$A$10", "$B$1:$B$10", "$C$1:$C$10", "$H$1:$H$9")
DAYS = tuple(f"$D${row}" for row in range(1, 8))
TEXTS = ('"Hello World"', '""', '"a"', "123.5", "$H$1")

FAMILIES: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("ABS SIGN SQRT SQRTPI EXP LN LOG LOG10 INT TRUNC EVEN ODD FACT FACTDOUBLE SIN COS TAN ASIN ACOS ATAN SINH COSH "
     "TANH ASINH ACOSH ATANH COT SEC CSC COTH SECH CSCH ACOT ACOTH DEGREES RADIANS ROMAN GAMMA GAMMALN GAUSS PHI "
     "FISHER FISHERINV ERF ERFC NORMSDIST N T ISNUMBER ISTEXT ISBLANK ISERROR ISLOGICAL ISNONTEXT CEILING.MATH "
     "FLOOR.MATH CEILING.PRECISE FLOOR.PRECISE FIXED", (NUMBERS,)),
    ("CEILING FLOOR CEILING.MATH FLOOR.MATH ISO.CEILING MROUND ROUND ROUNDUP ROUNDDOWN TRUNC MOD QUOTIENT POWER LOG "
     "ATAN2",
     (("4.3", "-4.3", "0", "7.5", "-7.5", "1E-7"), ("1", "2", "-2", "0.1", "-0.3", "3"))),
    ("CEILING.MATH FLOOR.MATH", (("4.3", "-4.3", "-7.5"), ("1", "2", "-2"), ("0", "1", "-1"))),
    ("COMBIN COMBINA PERMUT PERMUTATIONA GCD LCM BITAND BITOR BITXOR BITLSHIFT BITRSHIFT DELTA GESTEP",
     (("0", "3", "8", "12"), ("0", "1", "2", "5"))),
    ("NORM.DIST", (("-1", "0", "42"), ("0", "40"), ("1.5", "0"), ("TRUE", "FALSE"))),
    ("NORM.INV LOGNORM.INV", (FRACTIONS, ("0", "40"), ("1.5", "0.2"))),
    ("NORM.S.INV", (FRACTIONS,)),
    ("GAMMA.DIST WEIBULL.DIST", (("10", "0.5", "3"), ("9", "1", "0.5"), ("2", "1"), ("TRUE", "FALSE"))),
    ("GAMMA.INV", (FRACTIONS, ("9", "0.5"), ("2", "1"))),
    ("BETA.DIST", (("2", "1.5"), ("8", "0.5"), ("10", "1"), ("TRUE", "FALSE"), ("1",), ("3",))),
    ("CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT T.INV T.INV.2T T.DIST.2T T.DIST.RT", (FRACTIONS, ("1", "10"))),
    ("F.DIST.RT F.INV.RT", (FRACTIONS, ("6", "1"), ("4", "2"))),
    ("BINOM.DIST", (("6", "0", "11"), ("10",), ("0.5", "0.1", "1.1"), ("TRUE", "FALSE"))),
    ("POISSON.DIST EXPON.DIST", (("2", "0", "7"), ("5", "0.5"), ("TRUE", "FALSE"))),
    ("CONFIDENCE.NORM CONFIDENCE.T", (("0.05", "0.5"), ("2.5",), ("50", "2"))),
    ("SUM AVERAGE COUNT COUNTA COUNTBLANK MAX MIN MEDIAN STDEV STDEV.P VAR VAR.P AVEDEV DEVSQ GEOMEAN HARMEAN KURT "
     "SKEW SKEW.P SUMSQ PRODUCT AVERAGEA MAXA MINA STDEVA VARA", (RANGES,)),
    ("LARGE SMALL", (RANGES, ("1", "2", "10", "11", "0"))),
    ("PERCENTILE PERCENTILE.EXC", (RANGES[:3], ("0", "0.25", "0.5", "0.333", "1"))),
    ("QUARTILE QUARTILE.EXC", (RANGES[:3], ("0", "1", "2", "3", "4", "5"))),
    ("CORREL COVAR COVARIANCE.S PEARSON RSQ SLOPE INTERCEPT STEYX SUMX2MY2 SUMX2PY2 SUMPRODUCT F.TEST",
     (RANGES[:3], RANGES[:3])),
    ("T.TEST", (RANGES[:2], RANGES[:2], ("1", "2"), ("1", "2", "3"))),
    ("COUNTIF", (RANGES[:3], ('">3"', '"<=5"', '"<>3"', "3", '"a*"', '""', '"="', '"<>"', '">a"', '"=apple"'))),
    ("SUMIF AVERAGEIF", (RANGES[:3], ('">3"', '"<=5"', '"a*"', '"<>"', '"=apple"'), RANGES[:1])),
    ("VLOOKUP", (("3", "4", "0", "99", '"two"'), ("$F$1:$G$6",), ("1", "2"), ("TRUE", "FALSE"))),
    ("MATCH", (("3", "4", "0", "99"), ("$F$1:$F$6",), ("0", "1"))),
    ("MATCH", (('"two"', '"t*"', '"zzz"', '"TWO"'), ("$G$1:$G$6",), ("0",))),
    ("LOOKUP", (("3", "4", "0", "99"), ("$F$1:$F$6",), ("$G$1:$G$6",))),
    ("INDEX", (("$A$1:$C$10",), ("1", "10", "11"), ("1", "3", "4"))),
    ("YEAR MONTH DAY ISOWEEKNUM", (DAYS,)),
    ("WEEKDAY WEEKNUM", (DAYS, ("1", "2", "11", "13", "17"))),
    ("EDATE EOMONTH WORKDAY", (DAYS, ("0", "1", "-1", "13"))),
    ("DAYS360", (DAYS, DAYS, ("FALSE", "TRUE"))),
    ("YEARFRAC", (DAYS, DAYS, ("0", "1", "2", "3", "4"))),
    ("NETWORKDAYS", (DAYS, DAYS)),
    ("DATE", (("1950", "2020", "9999"), ("1", "0", "-3", "13"), ("1", "0", "-15", "31"))),
    ("PV FV PMT", (("0.08/12", "0"), ("240", "10"), ("500", "-500"), ("0", "1000"), ("0", "1"))),
    ("IPMT PPMT", (("0.1/12", "0"), ("1", "3", "36"), ("36",), ("8000",), ("0", "100"), ("0", "1"))),
    ("CUMIPMT CUMPRINC", (("0.09/12",), ("360",), ("125000",), ("1", "13"), ("24",), ("0", "1"))),
    ("DDB", (("2400",), ("300",), ("10", "3650"), ("1", "2", "10"), ("2", "1.5"))),
    ("PRICE", (("39493",), ("43054",), ("0.0575",), ("0.065",), ("100",), ("1", "2", "4"), ("0", "1", "4"))),
    ("COUPDAYBS COUPDAYS COUPDAYSNC COUPNCD COUPPCD COUPNUM",
     (("40568",), ("40862",), ("1", "2", "4"), ("0", "1", "4"))),
    ("LEFT RIGHT REPT", (TEXTS, ("0", "1", "3", "99", "-1"))),
    ("MID", (TEXTS, ("1", "3", "99"), ("1", "0", "99"))),
    ("DEC2BIN DEC2OCT DEC2HEX", (("9", "-100", "511", "512"), ("4", "10", "11"))),
    ("HEX2DEC HEX2BIN HEX2OCT", (('"F"', '"B7"', '"FFFFFFFFFF"', '"G"'),)),
    ("IMABS IMREAL IMAGINARY IMARGUMENT IMCONJUGATE IMEXP IMLN IMSIN IMCOS",
     (('"3+4i"', '"-1.5-2.5i"', '"i"', '"2"', '"x"'),)),
    ("IMSUM IMSUB IMPRODUCT", (('"3+4i"', '"i"', '"2"'), ('"-1.5-2.5i"', '"5-3i"'))),
    ("BESSELI BESSELJ BESSELK BESSELY", (("1.5", "2.5"), ("0", "1", "3"))),
    ("TEXT", (("0", "1", "-1", "1234.567", "-1234.567", "0.5", "43890.75"),
              ('"0"', '"0.00"', '"#,##0"', '"#,##0.00"', '"0%"', '"0.00E+00"', '"000"', '"0.0#"', '"0;(0)"', '"0,"',
               '"hh:mm:ss"', '"[h]:mm"', '"h:mm AM/PM"'))),
    ("ADDRESS", (("1", "100"), ("1", "27"), ("1", "2", "3", "4"), ("TRUE", "FALSE"))),
)  # fmt: skip
OPERANDS = (
    ("1", "0", "-2", '"3"', '"x"', "$H$1", "0.5"),
    ("+", "-", "*", "/", "^", "&", "=", "<", ">=", "<>"),
    ("2", "0", '"X"', "$H$1"),
)

NEWER = frozenset(
    re.findall(
        r"\S+",
        """
    ACOT ACOTH BETA.DIST BINOM.DIST BITAND BITLSHIFT BITOR BITRSHIFT BITXOR CEILING.MATH CEILING.PRECISE
    CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT COMBINA CONFIDENCE.NORM CONFIDENCE.T COT COTH COVARIANCE.S CSC CSCH
    EXPON.DIST F.DIST.RT F.INV.RT F.TEST FLOOR.MATH FLOOR.PRECISE GAMMA GAMMA.DIST GAMMA.INV GAUSS ISOWEEKNUM
    LOGNORM.INV NORM.DIST NORM.INV NORM.S.INV PERCENTILE.EXC PERMUTATIONA PHI POISSON.DIST QUARTILE.EXC SEC SECH
    SKEW.P STDEV.P T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST VAR.P WEIBULL.DIST
        """,
    )
)
"""Functions that a file names with a prefix."""


class Difference(msgspec.Struct):
    formulas: str
    """A pattern of all of them."""
    why: str
    example: str
    excel: Any
    libreoffice: Any


def formulas() -> Iterator[str]:
    for names, pools in FAMILIES:
        for name in names.split():
            for arguments in product(*pools):
                yield f"={name}({','.join(arguments)})"
    for left, operator, right in product(*OPERANDS):
        yield f"={left}{operator}{right}"


def prefixed(formula: str) -> str:
    """As a file has it."""
    return re.sub(r"^=([A-Z0-9.]+)\(", lambda call: f"=_xlfn.{call[1]}(" if call[1] in NEWER else call[0], formula)


def error(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("#")


def same(ours: Any, theirs: Any) -> bool:
    if error(ours) or error(theirs):
        return error(ours) and error(theirs)
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return (ours or "") == (theirs or "") if ours in (None, "") else ours == theirs


@pytest.fixture(scope="module")
def witnessed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any, Any]]:
    """(formula, our value, LibreOffice's) for every one."""
    folder = tmp_path_factory.mktemp("witness")
    path, texts = folder / "formulas.xlsx", list(dict.fromkeys(formulas()))
    written = Written()
    sheet = written.active
    assert sheet is not None
    sheet.title = SHEET
    for letters, values in CELLS.items():
        for row, value in enumerate(values, 1):
            sheet[f"{letters}{row}"] = value
    for row, text in enumerate(texts, 1):
        sheet.cell(row, COLUMN).value = prefixed(text)
    written.save(path)
    book = read(path)
    book.recalculate(now=datetime(2026, 11, 20))  # noqa: DTZ001 - a spreadsheet has no zone
    (folder / "out").mkdir()
    theirs = read_values(convert(path, "xlsx", folder / "out")).sheets[0]
    ours = book.sheets[0]
    return [(text, ours.value(row, COLUMN - 1), theirs.value(row, COLUMN - 1)) for row, text in enumerate(texts)]


@pytest.fixture(scope="module")
def differences() -> list[Difference]:
    return msgspec.json.decode(DIFFERS.read_bytes(), type=list[Difference])


def test_same_values_as_libreoffice(witnessed: list[tuple[str, Any, Any]], differences: list[Difference]) -> None:
    known = re.compile("|".join(f"(?:{difference.formulas})" for difference in differences))
    assert len(witnessed) > 3000
    assert [line for line in witnessed if not same(line[1], line[2]) and not known.fullmatch(line[0])] == []


def test_known_differences_are_excels(witnessed: list[tuple[str, Any, Any]], differences: list[Difference]) -> None:
    values = {text: ours for text, ours, _ in witnessed}
    assert [line for line in differences if not same(values[line.example], line.excel)] == []
