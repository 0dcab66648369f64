"""Number formats: digits, sections, fractions, powers, dates; what is refused; the way back."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.formats import format_value, general_display
from core.formula.numerals import read_date, read_number
from core.formula.values import VALUE

NUMBERS = (
    (1234.567, "0", "1235"), (0.5, "0", "1"), (2.5, "0", "3"), (-2.5, "0", "-3"), (1.005, "0.00", "1.01"),
    (1234652.685, "#,##0.00", "1,234,652.69"), (0, "0", "0"), (0, "#", ""), (0, "#.##", "."), (5, "0.", "5."),
    (1, "#.##", "1."), (0.05, "#.0", ".1"), (1234, ".0", "1234.0"), (1234, "x.0", "x1234.0"),
    (1234, "0000000", "0001234"), (12, "?????", "   12"), (5, "0,000", "0,005"), (12, "?,???", "   12"),
    (1, "0??", "0 1"), (1, "0##", "01"), (12345, "#0#######", "012345"), (1, "0,???", "0,  1"), (1, "0,????", "0    1"),
    (1234.5678, "#,##0.00", "1,234.57"), (1e20, "#,##0", "100" + ",000" * 6), (12345.678, "0.0#", "12345.68"),
    (15, "##.??", "15.  "), (-10.29, "#.##0", "-10.290"), (-10.29, "#.####0", "-10.290"), (1, "#.?00", "1. 00"),
    (0.1, "0.00000000000000000000", "0.10000000000000000000"), (1e300, "0", "1" + "0" * 300),
    (1234567, "#,##0,", "1,235"), (1234567, "0.0,,", "1.2"), (123456789012, "#.0000,,,", "123.4568"),
    (6_000_000, '#,,"M"', "6M"), (12345, "00,000.00,", "00,012.35"), (0.285, "0.0%", "28.5%"), (0.0295, "0.0%", "3.0%"),
    (0.5, "0%%", "5000%%"), (1234567890, "000-00-0000", "1234-56-7890"), (12345.6789, "00000-0000", "00001-2346"),
    (10100, r"###\###\##0.00", "1#01#00.00"), (3.14159, '"This is a ".00"test"000', "This is a 3.14test159"),
    (12, "##0° 00' 00''", "0° 00' 12''"), (1234.5, "$#,##0.00", "$1,234.50"), (-1234.5, "$#,##0.00", "-$1,234.50"),
    (5, "[$€-407] 0.00", "€ 5.00"), (2000000, '"Rs."#,##0.00', "Rs.2,000,000.00"), (5, "[Red]0", "5"),
    (5, "[Color 12]0", "5"), (123.456, "[Black]", "123.456"), (5, '0 "units"', "5 units"), (1, "_($* #,##0_)", " $1 "),
    (1.2345, "** #,###,#00,000.00,**", " 00,000.00"), (5, "", ""), (5, "%", "%"), (-1, "r", "-r"), (7, "123", "123"),
    (-0.01, "0.0", "0.0"), (-0.01, "0.0;-0.0", "-0.0"), (-0.4, "0%", "-40%"), (-1, "-0", "--1"),
)  # fmt: skip

SECTIONS = (
    (-5, "0;(0)", "(5)"), (0, "0;(0)", "0"), (0, '0;(0);"zero"', "zero"), (5, ";;", ""), (-5, ";;", ""),
    (-1.1, "0;0", "1"), ("abc", '0;0;0;"t:"@', "t:abc"), ("abc", "0.00", "abc"), ("abc", "@@", "abcabc"),
    ("abc", '0;@" !"', "abc !"), (3, "0;@", "3"), (-3, "0;@", "-3"), ("abc", ";;;", ""), (5, "@", "5"),
    (0.1, "@", "0.1"), (True, "0", "TRUE"), (None, "0.0", "0.0"),
    (8675309, "[<=9999999]###-####;(###) ###-####", "867-5309"),
    (2813308004, "[<=9999999]###-####;(###) ###-####", "(281) 330-8004"),
    (50, "[Red][<-25]General;[Blue][>25]General;[Green]General;[Yellow]General", "50"),
    (100, '[>100]"big";[>50]"mid";"low"', "mid"), (20, '[>100]"big";[>50]"mid";"low"', "low"),
    (-6.3, '[>=100]"A"0;[<=-100]"B"0;"C"0', "-C6"), (-6.3, '[>=100]"A"0;[<=0]"B"0;"C"0', "-B6"),
    (-6.3, '[<=-100]"B"0;"C"0', "C6"), (6.3, '[<=0]"B"0', "6.3"), (-5, r"[<-4]\A0", "A5"), (-5, r"[>-6]\A0", "-A5"),
    (-5, r"[<>-5]\A0;\B0", "B5"), (-5, r"[=-6]\A0;\B0", "-B5"), (-10, '"A-"0;[=-10]"B-"0;"C-"0', "B-10"),
    (0, '"A-"0;[=-10]"B-"0;"C-"0', "C-0"),
)  # fmt: skip

POWERS = (
    (12200000, "0.00E+00", "1.22E+07"), (0, "0.00E+00", "0.00E+00"), (0.00012, "0.0E+0", "1.2E-4"),
    (9.99, "0.0E+0", "1.0E+1"), (1e10, "00.0E-0", "01.0E10"), (123456, "##0.0E+0", "123.5E+3"),
    (1234567, "##0.0E+0", "1.2E+6"), (949.999, "00.E+00", "09.E+02"), (959.999, "00.E+00", "10.E+02"),
    (99999, "000.00E+00", "100.00E+03"), (123456789, "0.00E+0x0", "1.23E+0x8"), (123456789, "0.00E+?x?", "1.23E+ x8"),
    (2.33e-32, "0.000E+000", "2.330E-032"), (-12345.6789, "0.00E+00", "-1.23E+04"), (1, "0E-0", "1E0"),
)  # fmt: skip

FRACTIONS = (
    (4.34, "# ?/?", "4 1/3"), (0.5, "# ?/?", " 1/2"), (5, "# ?/?", "5    "), (0, "# ?/?", "0    "),
    (-0.01, "# ?/?", "-0    "), (1.5, "?/?", "3/2"), (12.3456789, "??/??", "1000/81"),
    (12.3456789, "# ??/??", "12 28/81"), (-1.2, "# ??/??", "-1  1/5 "), (-12345.67891, "# ???/???", "-12345 573/844"),
    (0.3, "# ?/?", " 2/7"), (1.3, "# ?/?", "1 1/3"), (123.456, "# ?/?", "123 1/2"), (0.3, "# ?/8", " 2/8"),
    (123.456, "# ??/100", "123 46/100"), (1, "# ?/10", "1     "), (12.345, "0 0/0", "12 1/3"), (0, "0 0/0", "0 0/1"),
    (1, "# #/#", "1"), (0.00001, "??/??", " 0/1 "),
)  # fmt: skip

DATES = (
    (43_832.52, "m/d/yy h:mm", "1/2/20 12:28"), (43_832.520833, "mm/dd/yyyy", "01/02/2020"),
    (43_832, "dddd, mmmm d, yyyy", "Thursday, January 2, 2020"), (43_832, "ddd d-mmm-yy", "Thu 2-Jan-20"),
    (43_832, "mmmmm", "J"), (43_832, "e", "2020"), (43_832, "bbbb", "2563"),
    (43_832, "[$-F800]", "Thursday, January 2, 2020"), (43_832, "yyyy\\-mm\\-dd", "2020-01-02"),
    (0.7, "h:mm AM/PM", "4:48 PM"), (0.7, "hh:mm a/p", "04:48 p"), (0.5, "hh:mm:ss am/pm", "12:00:00 PM"),
    (0, "h AM/PM", "12 AM"), (0.7, "hhh:mmm:sss", "16:Jan:00"), (0.999999999, "h:mm:ss", "0:00:00"),
    (0.5123456, "h:mm:ss.000", "12:17:46.660"), (12345.67876, "mmss.0", "1724.9"),
    (0.70707, "hh .00 .000", "16 .84 .848"), (1.5, "[h]:mm:ss", "36:00:00"),
    (2.9999999999999996, "[h]:mm:ss", "72:00:00"), (123.456, "[mm]", "177776"), (1, "[hhh]", "024"),
    (123.456, "[s]", "10666598"), (0, "yyyy-mm-dd", "1900-01-00"), (1, "ddd", "Sun"),
    (36_526.999999, "d h:mm", "2 0:00"), (36_526.999999, "yyyy-mm-dd", "2000-01-01"), (60, "d mmm yyyy", "29 Feb 1900"),
    (61, "d mmm yyyy", "1 Mar 1900"), (2_958_465, "m/d/yyyy", "12/31/9999"),
)  # fmt: skip

REFUSED = (
    "0 units", "y 0", "[h] 0", "d #", "d .#", "mm%", "mm@", "@;@", "0@", "0e+0", "E", "0/", "/0", "/", "n", '"', "\\",
    "_", "*", "[", "[orange]", "[FOO]", "a;b;c;d;e", "0;0;0;0", "[<-2]a;[<-1]b;[>2]c", "General 0", "0" * 256,
)  # fmt: skip


@pytest.mark.parametrize(("value", "code", "text"), NUMBERS + SECTIONS + POWERS + FRACTIONS + DATES)
def test_shows_values_as_excel_does(value: Any, code: str, text: str) -> None:
    value = float(value) if type(value) is int else value
    assert format_value(value, code) == text


@pytest.mark.parametrize("code", REFUSED)
def test_refuses_codes_that_are_none(code: str) -> None:
    assert format_value(1.0, code) is VALUE


def test_refuses_numbers_that_no_date_or_section_can_show() -> None:
    assert format_value(-1.0, "yyyy") is VALUE
    assert format_value(2_958_466.0, "yyyy") is VALUE
    assert format_value(6.3, '[>=100]"A"0;[<=-100]"B"0') is VALUE


def test_a_text_too_long_for_a_cell_is_an_error() -> None:
    assert format_value("x" * 20_000, "@@") is VALUE


def test_the_1904_system_has_other_days_and_negative_ones() -> None:
    assert format_value(0.0, "yyyy-mm-dd ddd", date_1904=True) == "1904-01-01 Fri"
    assert format_value(-1.0, "d", date_1904=True) == "-2"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1 / 3, "0.333333333"), (-1 / 3, "-0.333333333"), (1234567.891234, "1234567.891"),
        (12345678901.0, "12345678901"), (4403928373.5, "4403928374"), (99999999999.6, "1E+11"),
        (123456789012.0, "1.23457E+11"), (0.0001234567, "0.000123457"), (0.00001234, "0.00001234"),
        (0.0000123456, "1.23456E-05"), (1e-9, "0.000000001"), (1.2e-9, "1.2E-09"), (1e-10, "1E-10"), (0.0, "0"),
        (1e300, "1E+300"), (12.333333333333343, "12.33333333"),
    ],
)  # fmt: skip
def test_general_has_eleven_places(number: float, text: str) -> None:
    assert general_display(number) == text
    assert format_value(number, "General") == text


@given(st.floats(-1e14, 1e14), st.integers(0, 12))
def test_decimals_round_half_away_at_fifteen_digits(number: float, decimals: int) -> None:
    rounded = Decimal(f"{number:.14e}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    expected = f"{rounded or abs(rounded):,.{decimals}f}"
    assert format_value(number, "#,##0." + "0" * decimals if decimals else "#,##0") == expected


@given(st.integers(1, 2_958_465))
def test_a_date_that_is_shown_reads_back(serial: int) -> None:
    for code in ("yyyy-mm-dd", "m/d/yyyy", "d-mmm-yyyy", "mmmm d, yyyy"):
        assert read_date(str(format_value(float(serial), code))) == serial


@given(st.integers(0, 86_399), st.integers(1, 50_000))
def test_a_time_that_is_shown_reads_back(second: int, day: int) -> None:
    shown = str(format_value(day + second / 86_400, "yyyy/mm/dd h:mm:ss AM/PM"))
    assert read_number(shown) == pytest.approx(day + second / 86_400, abs=1e-9)


@given(
    st.floats(allow_nan=False, allow_infinity=False), st.text('0#?.,%E+-/ dmyhs[]"@;\\_*GenralAMP$<>=1', max_size=24)
)
def test_any_code_gives_text_or_an_error(number: float, code: str) -> None:
    shown = format_value(number, code)
    assert shown is VALUE or isinstance(shown, str)
