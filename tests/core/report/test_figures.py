"""Figures as they are printed."""

from __future__ import annotations

from datetime import date

from core.report.figures import day, decimals_apart, figure, signed
from tests.rows import every


@every(
    "value, decimals, shown, with_sign",
    [
        (0.0, 2, "0.00", "0.00"),
        (-0.0, 2, "0.00", "0.00"),
        (-0.004, 2, "0.00", "0.00"),
        (0.004, 2, "0.00", "0.00"),
        (0.01, 2, "0.01", "+0.01"),
        (-1234.5, 2, "\N{MINUS SIGN}1,234.50", "\N{MINUS SIGN}1,234.50"),
        (406_181_748.22, 0, "406,181,748", "+406,181,748"),
        (None, 2, "\N{EN DASH}", "\N{EN DASH}"),
        (1e15, 2, "1.00e+15", "+1.00e+15"),
        (-1e308, 2, "\N{MINUS SIGN}1.00e+308", "\N{MINUS SIGN}1.00e+308"),
    ],
)
def test_a_figure(value: float | None, decimals: int, shown: str, with_sign: str) -> None:
    assert (figure(value, decimals), signed(value, decimals)) == (shown, with_sign)


@every(
    "value, other, decimals",
    [(7.5, 7.5, 2), (7.500001, 7.5, 6), (7.504, 7.5, 3), (7.51, 7.5, 2), (7.5, 7.50000000001, 6), (104.2, 104.196, 3)],
)
def test_a_difference_is_seen(value: float, other: float, decimals: int) -> None:
    """A breach of 0.000001 is printed as one: with two decimals it would look like a pass that is called a failure."""
    assert decimals_apart(value, other) == decimals


def test_a_day() -> None:
    assert (day(date(2024, 12, 6)), day(None)) == ("6 December 2024", "day not known")
