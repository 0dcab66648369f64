"""The Bessel functions give the digits that Excel shows, where those are wrong too."""

from __future__ import annotations

import math

import pytest

from core.formula.functions.mathematics.bessel import bessel_i, bessel_j, bessel_k, bessel_y

# x, order, and what a sheet of Excel shows for BESSELI, BESSELJ, BESSELK, BESSELY
SHOWN = """
0.5 1 0.257894303 0.242268458 1.656441128 -1.471472392
1 1 0.565159098 0.440050586 0.601907232 -0.781212821
1.5 1 0.981666428 0.557936508 0.277387804 -0.412308627
4 1 9.759465157 -0.066043328 0.012483499 0.397925709
7.5 1 249.5843679 0.135248424 0.000265297 -0.25912852
8 1 399.8731348 0.234628387 0.000155369 -0.158060462
8.5 1 641.6198938 0.273115291 9.11973E-05 -0.02616868
9.5 1 1658.453068 0.161262274 3.1602E-05 0.203179899
10 1 2670.988321 0.04347225 1.86488E-05 0.249015424
0.5 2 0.031906148 0.030604023 7.550183547 -5.441370834
2 2 0.688948449 0.352834208 0.25375976 -0.617408098
2.5 2 1.276466159 0.446059058 0.121460207 -0.381335848
7 2 124.01131 -0.301417224 0.000554562 -0.0605266
10 2 2281.518997 0.254630214 2.15098E-05 -0.005868083
0.5 3 0.002645112 0.00256373 62.0579095 -42.05949428
3 3 0.959753625 0.309062865 0.122170376 -0.538541623
5.5 3 17.7426483 0.256117865 0.00449602 0.264370052
8 3 236.0752263 -0.291125242 0.000248026 0.026542159
10 3 1758.380739 0.058379836 2.72527E-05 -0.251362657
"""
FUNCTIONS = (bessel_i, bessel_j, bessel_k, bessel_y)


def shown_like(value: float, shown: str) -> str:
    """A value with as many decimals as a shown one has."""
    mantissa, _, exponent = shown.partition("E")
    decimals = len(mantissa.partition(".")[2])
    return f"{value:.{decimals}{'E' if exponent else 'f'}}"


@pytest.mark.parametrize("line", SHOWN.split("\n")[1:-1])
def test_values_are_those_that_excel_shows(line: str) -> None:
    x, order, *shown = line.split()
    for function, expected in zip(FUNCTIONS, shown, strict=True):
        assert shown_like(function(float(x), int(order)), expected) == expected


@pytest.mark.parametrize(
    ("x", "order", "expected"),
    [
        (7.99999952316284, 0, 0.17165091838403), (7.99999952316284, 1, 0.2346362739686),
        (7.99999952316284, 2, -0.112991846395527), (8.0, 1, 0.234628386507074), (8.00000095367431, 1,
        0.234628522235498),
    ],
)  # fmt: skip
def test_the_step_at_eight_is_excels(x: float, order: int, expected: float) -> None:
    assert math.isclose(bessel_j(x, order), expected, rel_tol=5e-14)


def test_odd_orders_change_sign_below_zero() -> None:
    for function in (bessel_i, bessel_j):
        assert function(-2.5, 3) == -function(2.5, 3)
        assert function(-2.5, 2) == function(2.5, 2)
        assert function(0.0, 0) == pytest.approx(1.0, abs=1e-8)
        assert function(0.0, 5) == 0.0


def test_high_orders_neither_overflow_nor_stall() -> None:
    assert bessel_j(1.0, 400) == 0.0
    assert bessel_i(1.0, 400) == 0.0
    assert math.isclose(bessel_j(50.0, 60), 0.00104851959953142, rel_tol=1e-9)  # the true value
