"""Coercions: each row is what Excel shows for the value (its documentation, and well-known cells)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.values.coerce import compare, equal, general, order_key, to_logical, to_number, to_text
from core.formula.values.value import NA, NUM, VALUE, Array, Date, fold
from tests.rows import every

GENERAL: tuple[tuple[float, str], ...] = (
    (0.0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (-2.5, "-2.5"),
    (0.1 + 0.2, "0.3"),
    (1 / 3, "0.333333333333333"),
    (2 / 3, "0.666666666666667"),
    (1e15, "1000000000000000"),
    (1e19, "10000000000000000000"),
    (1e20, "1E+20"),
    (1e21, "1E+21"),
    (1.5e300, "1.5E+300"),
    (-1e21, "-1E+21"),
    (123456789012345678.0, "123456789012346000"),
    (0.0001, "0.0001"),
    (0.00001, "0.00001"),
    (1e-10, "0.0000000001"),
    (-1e-18, "-0.000000000000000001"),
    (-1e-19, "-1E-19"),
    (7.123456e-09, "0.000000007123456"),
    (1 / 30000, "3.33333333333333E-05"),
    (1 / 3000, "0.000333333333333333"),
    (1e-300, "1E-300"),
    (999999999999999.9, "1000000000000000"),
    (123456.789, "123456.789"),
)


@every("number, text", GENERAL)
def test_general_format(number: float, text: str) -> None:
    assert general(number) == text


RENDERED = """\
123.4567890123455 123.456789012345
123.45678901234598 123.456789012346
1234567.8901234567 1234567.89012346
0.001234567890123455 0.00123456789012345
0.0012345678901234552 0.00123456789012346
0.0012345678901234639 0.00123456789012346
0.001234567890123465 0.00123456789012346
0.0012345678901234652 0.00123456789012347
0.001234567890123475 0.00123456789012347
0.0012345678901234751 0.00123456789012348
1.2345678901234549e+98 1.23456789012345E+98
1.234567890123455e+98 1.23456789012346E+98
1.2345678901234649e+98 1.23456789012346E+98
1.234567890123465e+98 1.23456789012347E+98
1.234567890123475e+98 1.23456789012347E+98
1.2345678901234751e+98 1.23456789012348E+98
1.23456789012355e+99 1.2345678901236E+99
1.2345678901236498e+99 1.2345678901237E+99
1.2345678901237498e+99 1.2345678901238E+99
9.999999999999995e+98 9.99999999999999E+98
9.999999999999996e+98 1E+99
1.0000000000000449e+99 1E+99
1.000000000000045e+99 1.0000000000001E+99
9.999999999999944e+99 9.9999999999999E+99
9.999999999999946e+99 1E+100
1.000000000000025e-98 1.00000000000002E-98
1.0000000000000251e-98 1.00000000000003E-98
9.999999999999946e-99 1E-98
9.999999999999944e-99 9.9999999999999E-99
1.0000000000000453e-99 1.0000000000001E-99
1.2345678901234568e-05 1.23456789012346E-05
0.00012345678901234567 0.000123456789012346
1.23456789e-05 0.0000123456789
5.6789012345e-08 0.000000056789012345
5.67890123456e-08 5.67890123456E-08
5.678902e-08 0.00000005678902
9.999999999999123e-98 9.99999999999912E-98
1.0000000000001235e-99 1.0000000000001E-99
1.2345678901234578e-307 1.2345678901235E-307
2e-50 2E-50
123456789012345.67 123456789012346
1234567890123456.8 1234567890123460
1.2345678901234567e+19 12345678901234600000
1.2345678901234568e+20 1.23456789012346E+20
-1.2345678901234567e+19 -12345678901234600000
1.2345678901234577e+99 1.2345678901235E+99
1.7976931348623157e+308 1.7976931348623E+308
2.2250738585072014e-308 2.2250738585072E-308
1.234999999999999e+20 1.235E+20
123499.9999999999 123500
1.234999999999999e-08 0.00000001235
1.234999999999999e-20 1.235E-20
9.999999999999999e+20 1E+21
9.999999999999999e-09 0.00000001
9.999999999999999e-19 0.000000000000000001
9.999999999999999e-20 1E-19
-9.999999999999999e-19 -0.000000000000000001
"""
"""Numbers and how Excel writes them, as Apache POI has observed it."""


@every("line", RENDERED.splitlines())
def test_general_is_what_excel_was_seen_to_write(line: str) -> None:
    number, text = line.split()
    assert general(float(number)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_general_keeps_15_digits(number: float) -> None:
    """What is read back differs by at most half a unit in the fifteenth digit, 14 far from 1."""
    tolerance = 5.1e-15 if 1e-98 <= abs(number) < 1e98 else 5.6e-14
    assert math.isclose(float(general(number)), number, rel_tol=tolerance, abs_tol=1e-322)


NUMBERS: tuple[tuple[Any, Any], ...] = (
    (None, 0.0),
    (True, 1.0),
    (False, 0.0),
    (2.5, 2.5),
    (7, 7.0),
    (Date(3.0), 3.0),
    ("3", 3.0),
    (" 3 ", 3.0),
    ("1e3", 1000.0),
    ("-.5", -0.5),
    ("+4", 4.0),
    ("1E400", VALUE),
    ("", VALUE),
    (" ", VALUE),
    (".", VALUE),
    ("-", VALUE),
    ("abc", VALUE),
    ("1_000", VALUE),
    ("nan", VALUE),
    ("inf", VALUE),
    ("0x10", VALUE),
    ("TRUE", VALUE),
    ("1,234.5", 1234.5),
    ("$5", 5.0),
    ("(3)", -3.0),
    ("12%", 0.12),
    ("1/2/2020", 43832.0),
    (NA, NA),
    (10**400, NUM),
    (Array(1, 1, ["2"]), 2.0),
    (Array(1, 2, [1.0, 2.0]), VALUE),
)


@every("value, expected", NUMBERS)
def test_to_number(value: Any, expected: Any) -> None:
    assert to_number(value) == expected
    assert type(to_number(value)) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (True, "TRUE"),
        (False, "FALSE"),
        (1.5, "1.5"),
        ("a", "a"),
        (NA, NA),
        (3, "3"),
        (Date(43831.0), "43831"),
    ],
)
def test_to_text(value: Any, expected: Any) -> None:
    assert to_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, False),
        (0.0, False),
        (-0.1, True),
        ("true", True),
        ("FALSE", False),
        ("1", VALUE),
        ("", VALUE),
        (True, True),
        (NA, NA),
    ],
)
def test_to_logical(value: Any, expected: Any) -> None:
    assert to_logical(value) is expected


ASCENDING: tuple[Any, ...] = (
    -1e300,
    -1.0,
    0.0,
    1e-300,
    1.0,
    1.00000000000001,
    2.0,
    "",
    " ",
    "_a",
    "-a",
    "'a",
    "1",
    "9",
    "a",
    "A b",
    "aa",
    "áa",
    "b",
    "Z",
    False,
    True,
)
"""Values in Excel's order."""


def test_the_order_of_values() -> None:
    for place, low in enumerate(ASCENDING):
        assert compare(low, low) == 0
        for high in ASCENDING[place + 1 :]:
            assert compare(low, high) == -1, (low, high)
            assert compare(high, low) == 1, (high, low)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (None, 0.0, True),
        (None, "", True),
        (None, False, True),
        (None, None, True),
        (None, 1.0, False),
        ("a", "A", True),
        ("ß", "SS", False),
        (1.0, "1", False),
        (1.0, True, False),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.00000000000001, False),
        (1e300, 1.0000000000000001e300, True),
        (9.99999999999999e14, 1e15, False),
        (0.0, 1e-320, False),
    ],
)
def test_equality(a: Any, b: Any, expected: bool) -> None:
    assert equal(a, b) is expected
    assert equal(b, a) is expected


values = st.none() | st.floats(allow_nan=False) | st.text(max_size=4) | st.booleans()


@given(values, values)
def test_comparison_is_antisymmetric(a: Any, b: Any) -> None:
    assert compare(a, b) == -compare(b, a)


@given(st.text(max_size=6), st.text(max_size=6))
def test_order_keys_order_as_compare_does(a: str, b: str) -> None:
    if fold(a) != fold(b):
        assert (order_key(a) < order_key(b)) == (compare(a, b) < 0)
