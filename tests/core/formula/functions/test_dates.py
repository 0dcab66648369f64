"""Days, times and distances.

Excel's documented values, values that Excel computed, and its edges.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.formula.values.value import Date
from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    # Days and their parts
    ("=DATE(2008,1,-15)", 39_432), ("=DATE(2008,14,2)", 39_846), ("=DATE(2008,-3,2)", 39_327),
    ("=DATE(2008,1,35)", 39_482), ("=DATE(108,1,2)", 39_449), ("=DATE(1900,2,29)", 60), ("=DATE(1900,3,1)", 61),
    ("=DATE(1900,1,0)", 0), ("=DATE(1900,1,-1)", "#NUM!"), ("=DATE(9999,12,31)", 2_958_465),
    ("=DATE(9999,12,32)", "#NUM!"), ("=DATE(10000,1,1)", "#NUM!"), ("=DATE(-1,1,1)", "#NUM!"),
    ("=DATE(2020.9,2.9,3.9)", 43_864), ('=DATE("x",1,1)', "#VALUE!"), ("=DATE(2000,1E300,1)", "#NUM!"),
    ("=YEAR(0)", 1900), ("=MONTH(0)", 1), ("=DAY(0)", 0), ("=DAY(60)", 29), ("=MONTH(60)", 2), ("=YEAR(2958465)", 9999),
    ("=YEAR(2958466)", "#NUM!"), ("=YEAR(-1)", "#NUM!"), ('=YEAR("2011-05-23")', 2011),
    ("=DAY(41484.9999942130)", 30), ("=DAY(41484.9999942129)", 29),
    ('=DATEVALUE("8/22/2011")', 40_777), ('=DATEVALUE("22-MAY-2011")', 40_685), ('=DATEVALUE("2011/02/23")', 40_597),
    ('=DATEVALUE("2011-02-23 14:00")', 40_597), ('=DATEVALUE("soon")', "#VALUE!"), ("=DATEVALUE(40777)", "#VALUE!"),
    # Times
    ("=TIME(12,0,0)", 0.5), ("=TIME(27,0,0)", 0.125), ("=TIME(0,750,0)", 750 / 1440 % 1),
    ("=TIME(0,0,2000)", 2000 / 86_400),
    ("=TIME(0,-1,0)", "#NUM!"), ("=TIME(32768,0,0)", "#NUM!"), ("=TIME(1,-30,0)", 0.5 / 24),
    ("=HOUR(0.75)", 18), ('=HOUR("7/18/2011 7:45")', 7), ("=MINUTE(0.532)", 46), ('=SECOND("4:48:18 PM")', 18),
    ("=HOUR(41484.9999942130)", 0), ("=SECOND(41484.9999942130)", 0), ("=SECOND(41484.9999942129)", 59),
    ("=HOUR(-0.5)", "#NUM!"), ("=HOUR(0.70833333)", 17),
    ('=TIMEVALUE("2:24 AM")', 0.1), ('=ROUND(TIMEVALUE("22-Aug-2011 6:35 AM"),9)', 0.274305556),
    ('=TIMEVALUE("x")', "#VALUE!"),
    # Weeks: 14 February 2008 was a Thursday, 9 March 2012 a Friday
    ("=WEEKDAY(DATE(2008,2,14))", 5), ("=WEEKDAY(DATE(2008,2,14),2)", 4), ("=WEEKDAY(DATE(2008,2,14),3)", 3),
    ("=WEEKDAY(DATE(2008,2,14),11)", 4), ("=WEEKDAY(DATE(2008,2,14),14)", 1), ("=WEEKDAY(DATE(2008,2,14),17)", 5),
    ("=WEEKDAY(1)", 1), ("=WEEKDAY(0)", 7), ("=WEEKDAY(1,0)", "#NUM!"), ("=WEEKDAY(1,4)", "#NUM!"),
    ("=WEEKDAY(1,18)", "#NUM!"), ("=WEEKDAY(-1)", "#NUM!"),
    ("=WEEKNUM(DATE(2012,3,9))", 10), ("=WEEKNUM(DATE(2012,3,9),2)", 11), ("=WEEKNUM(DATE(2012,1,1),21)", 52),
    ("=WEEKNUM(DATE(2012,1,1),17)", 1), ("=WEEKNUM(DATE(2012,1,2),11)", 2), ("=WEEKNUM(1,5)", "#NUM!"),
    ("=ISOWEEKNUM(DATE(2012,3,9))", 10), ("=ISOWEEKNUM(DATE(2005,1,1))", 53), ("=ISOWEEKNUM(DATE(2008,12,29))", 1),
    # Months on
    ("=EDATE(DATE(2011,1,15),1)", 40_589), ("=EDATE(DATE(2011,1,15),-1)", 40_527),
    ("=EDATE(DATE(2012,1,31),1)", 40_968),
    ("=EDATE(DATE(2011,1,15),1.9)", 40_589), ("=EDATE(0,1)", 31), ("=EDATE(31,-1)", "#NUM!"), ("=EDATE(-1,1)", "#NUM!"),
    ("=EDATE(TRUE,1)", "#VALUE!"), ("=EDATE(45000,1E10)", "#NUM!"), ("=EDATE(45000,)", "#N/A"),
    ("=EOMONTH(DATE(2011,1,1),1)", 40_602), ("=EOMONTH(DATE(2011,1,1),-3)", 40_482),
    ("=EOMONTH(45000,FALSE)", "#VALUE!"),
    # Distances
    ("=DAYS(DATE(2021,3,15),DATE(2021,2,1))", 42), ('=DAYS("31-DEC-2021","1-JAN-2021")', 364), ("=DAYS(-1,1)", "#NUM!"),
    ("=DAYS360(DATE(2011,1,30),DATE(2011,2,1))", 1), ("=DAYS360(DATE(2011,1,1),DATE(2011,12,31))", 360),
    ("=DAYS360(DATE(2011,1,1),DATE(2011,12,31),TRUE)", 359), ("=DAYS360(DATE(2024,2,29),DATE(2025,2,28))", 358),
    ("=DAYS360(45992.000001,46000.999999)", 9), ("=DAYS360(DATE(2011,2,28),DATE(2011,3,31))", 30),
    ("=DAYS360(DATE(2011,3,31),DATE(2011,2,28))", -32), ("=DAYS360(DATE(2011,1,31),DATE(2011,3,31))", 60),
    ('=DATEDIF(DATE(2001,1,1),DATE(2003,1,1),"Y")', 2), ('=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"D")', 440),
    ('=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"YD")', 75), ('=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"md")', 14),
    ('=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"YM")', 2), ('=DATEDIF(DATE(2001,6,20),DATE(2002,8,15),"M")', 13),
    ('=DATEDIF(DATE(1988,6,22),DATE(2012,5,11),"YD")', 323), ('=DATEDIF(DATE(2012,1,28),DATE(2012,3,1),"MD")', 2),
    ('=DATEDIF(DATE(2011,1,29),DATE(2011,3,1),"MD")', 0), ('=DATEDIF(DATE(2011,1,31),DATE(2011,3,1),"MD")', -2),
    ('=DATEDIF(2,1,"D")', "#NUM!"), ('=DATEDIF(1,2,"W")', "#NUM!"),
    ("=ROUND(YEARFRAC(DATE(2012,1,1),DATE(2012,7,30)),8)", 0.58055556),
    ("=YEARFRAC(DATE(2012,7,30),DATE(2012,1,1),3)", 211 / 365), ("=YEARFRAC(1,1)", 0),
    ("=YEARFRAC(1,2,5)", "#NUM!"), ("=YEARFRAC(1,2,-0.5)", 1 / 360), ("=YEARFRAC(TRUE,2)", "#VALUE!"),
    ("=YEARFRAC(DATE(2001,1,1),DATE(2004,1,1),1)", 1095 / 365.25),
    # Working days
    ("=NETWORKDAYS(DATE(2012,10,1),DATE(2013,3,1))", 110),
    ("=NETWORKDAYS(DATE(2012,10,1),DATE(2013,3,1),DATE(2012,11,22))", 109),
    ('=NETWORKDAYS(DATE(2012,10,1),DATE(2013,3,1),{"2012-11-22","2012-12-04","2013-01-21"})', 107),
    ("=NETWORKDAYS(DATE(2013,3,1),DATE(2012,10,1))", -110), ("=NETWORKDAYS(1,2,TRUE)", "#VALUE!"),
    ("=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,1,31))", 22),
    ("=NETWORKDAYS.INTL(DATE(2006,2,28),DATE(2006,1,31))", -21),
    ('=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,2,1),7,{"2006/1/2","2006/1/16"})', 22),
    ('=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,2,1),"0010001",{"2006/1/2","2006/1/16"})', 20),
    ('=NETWORKDAYS.INTL(1,100,"1111111")', 0), ("=NETWORKDAYS.INTL(1,2,8)", "#NUM!"),
    ('=NETWORKDAYS.INTL(1,2,"01")', "#VALUE!"),
    ("=WORKDAY(DATE(2008,10,1),151)", 39_933),
    ('=WORKDAY(DATE(2008,10,1),151,{"2008-11-26","2008-12-04","2009-01-21"})', 39_938),
    ("=WORKDAY(DATE(2008,10,4),0)", 39_725), ("=WORKDAY(DATE(2024,1,8),-1)", 45_296),
    ("=WORKDAY(DATE(2024,1,8),-1,45296)", 45_295),
    ("=WORKDAY(1,-1)", "#NUM!"), ("=WORKDAY(1,1E9)", "#NUM!"),
    ("=WORKDAY.INTL(DATE(2012,1,1),90,11)", 41_013), ("=WORKDAY.INTL(DATE(2012,1,1),30,17)", 40_944),
    ("=WORKDAY.INTL(DATE(2012,1,1),30,0)", "#NUM!"), ('=WORKDAY.INTL(1,1,"1111111")', "#VALUE!"),
)  # fmt: skip

# From, to, and what Excel 2010 computed for bases 0 to 4
YEAR_FRACTIONS = (
    ("1980,3,4", "1980,3,5", (0.002777777777778, 0.002732240437158, 0.002777777777778, 0.002739726027397,
    0.002777777777778)),
    ("1980,3,4", "1994,1,1", (13.825, 13.8282533309, 14.03055555556, 13.83835616438, 13.825)),
    ("1980,3,4", "1981,4,1", (1.075, 1.075239398085, 1.091666666667, 1.076712328767, 1.075)),
    ("1980,3,4", "1996,3,31", (16.075, 16.07198067633, 16.30833333333, 16.08493150685, 16.07222222222)),
    ("1980,3,4", "2000,2,29", (19.98611111111, 19.98709425108, 20.28055555556, 20.00273972603, 19.98611111111)),
    ("1993,12,31", "1995,3,2", (1.172222222222, 1.167123287671, 1.183333333333, 1.167123287671, 1.172222222222)),
    ("1993,12,31", "1996,3,31", (2.25, 2.247775496235, 2.280555555556, 2.249315068493, 2.25)),
    ("2003,2,14", "2004,7,3", (1.386111111111, 1.381668946648, 1.402777777778, 1.383561643836, 1.386111111111)),
)  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    assert same(calculated(formula), expected)


@pytest.mark.parametrize(("start", "end", "fractions"), YEAR_FRACTIONS)
def test_year_fractions_are_excels(start: str, end: str, fractions: tuple[float, ...]) -> None:
    for basis, expected in enumerate(fractions):
        assert same(calculated(f"=YEARFRAC(DATE({start}),DATE({end}),{basis})"), expected, 1e-12)


@pytest.mark.parametrize(
    "formula",
    ["=DATE(2020,1,1)", "=EDATE(45000,1)", "=EOMONTH(45000,1)", "=WORKDAY(45000,1)", '=DATEVALUE("2020-1-1")'],
)
def test_functions_of_days_give_dates(formula: str) -> None:
    assert type(calculated(formula)) is Date


def test_dates_of_the_1904_system() -> None:
    later = Cells({})
    later.date_1904 = True
    for formula, expected in (
        ("=DATE(1904,1,1)", 0), ("=DATE(2008,1,1)", 37_986), ("=YEAR(0)", 1904), ("=WEEKDAY(0)", 6), ("=DAY(37986)", 1),
        ("=EDATE(0,1)", 31), ("=EOMONTH(0,0)", 30), ("=DATE(1903,12,31)", "#NUM!"), ("=WORKDAY(0,1)", 3),
        ("=NETWORKDAYS(0,6)", 5), ("=WEEKNUM(0)", 1), ("=YEARFRAC(0,366,1)", 1), ("=DAYS360(58,60)", 3),
    ):  # fmt: skip
        assert same(calculated(formula, later), expected), formula


def test_a_year_of_working_days_is_counted_as_it_is_walked() -> None:
    cells = {"A1": 45_292.0, "A2": 45_657.0, "B1": 45_293.0, "B2": 45_297.0, "B3": None}
    walked = sum((serial + 5) % 7 < 5 for serial in range(45_292, 45_658)) - 1  # 6 January is a Saturday
    assert calculated("=NETWORKDAYS(A1,A2,B1:B3)", cells) == walked
    assert calculated(f"=WORKDAY(A1-1,{walked},B1:B3)", cells) == 45_657.0


def test_day_functions_lift_over_arrays() -> None:
    assert same(calculated("=YEAR({0,45000;-1,1})"), [[1900, 2023], ["#NUM!", 1900]])
    assert same(calculated("=EDATE({45000;45001},1)"), [[45_031], [45_032]])
