"""Figures as people are shown them.

Two decimals, more where two hide a difference.
"""

from __future__ import annotations

from core.frames.figures import change_shown, decimals_apart, decimals_of, figure_shown
from tests.rows import every


@every(
    "value, second, decimals",
    [(7.5, 7.5, 2), (7.500001, 7.5, 6), (7.504, 7.5, 3), (7.51, 7.5, 2), (7.5, 7.50000000001, 6), (104.2, 104.196, 3)],
)
def test_a_difference_is_seen(value: float, second: float, decimals: int) -> None:
    """A breach of 0.000001 is printed as one.

    With two decimals it would look like a pass that is called a failure.
    """
    assert decimals_apart(value, second) == decimals


@every(
    "unit, value, limit, decimals",
    [
        ("percent", 1.5, 2.5, 2), ("percent", 48.0, 0.001, 3), ("percent", 7.5004, 7.5, 4), ("percent", 0.0, 0.0, 2),
        ("percent", 5.0, 0.0, 2), ("percent", 104.5, 104.125, 3), ("percent", 104.5, 104.1234567, 2),
        ("years", 4.1, 6.0, 2),
        ("factor", 2909.37, 3000.0, 0), ("factor", 3000.4, 3000.0, 1), ("factor", 2909.37, 3000.5, 1),
        ("factor", 24.31, 26.0, 2), ("score", 59.44, 55.0, 2), ("number", 31.0, 40.0, 0), ("number", 31.5, 40.0, 2),
        ("amount", 499_999_999.5, 5e8, 2), ("", 1.5, 2.5, 2),
    ],
)  # fmt: skip
def test_decimals_of_a_test(unit: str, value: float, limit: float, decimals: int) -> None:
    """Those of the unit or of the printed limit, or as many as tell the two apart."""
    assert decimals_of(unit, value, limit) == decimals


@every(
    "unit, value, limit, rounding, decimals",
    [("percent", 104.196, 104.2, 2, 2), ("percent", 104.196, 104.2, 1, 1), ("percent", 104.2, 104.125, 1, 3),
     ("factor", 2909.37, 3000.0, 2, 2), ("factor", 2909.37, 3000.0, 12, 6)],
)  # fmt: skip
def test_decimals_of_a_test_that_rounds(unit: str, value: float, limit: float, rounding: int, decimals: int) -> None:
    """A figure that is rounded before it is compared is shown as it is compared."""
    assert decimals_of(unit, value, limit, rounding) == decimals


@every(
    "change, decimals, text",
    [
        (0.0, 2, "-"), (0.004, 2, "+<0.01"), (-0.0001, 2, "-<0.01"), (0.005, 2, "+0.01"), (-0.02, 2, "-0.02"),
        (1234.5, 2, "+1,234.50"), (0.0004, 3, "+<0.001"), (0.0006, 3, "+0.001"), (1e20, 2, "+1e+20"),
    ],
)  # fmt: skip
def test_a_change(change: float, decimals: int, text: str) -> None:
    assert change_shown(change, decimals) == text


def test_a_figure() -> None:
    assert (figure_shown(1234.5), figure_shown(1.0, "+"), figure_shown(7.5004, decimals=4)) == (
        "1,234.50", "+1.00", "7.5004",
    )  # fmt: skip
    assert figure_shown(1e15) == "1e+15"
