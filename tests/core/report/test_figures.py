"""Figures as they are printed."""

from __future__ import annotations

from datetime import date

from core.report.figures import day, figure, with_sign
from tests.rows import every


@every(
    "value, decimals, shown, signed",
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
def test_a_figure(value: float | None, decimals: int, shown: str, signed: str) -> None:
    assert (figure(value, decimals), with_sign(value, decimals)) == (shown, signed)


def test_a_day() -> None:
    assert (day(date(2024, 12, 6)), day(None)) == ("6 December 2024", "day not known")
