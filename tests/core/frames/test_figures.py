"""Figures as people are shown them: two decimals, more where two hide a difference."""

from __future__ import annotations

from core.frames.figures import change_shown, decimals_apart, decimals_of, figure_shown
from tests.rows import every


@every(
    "value, other, decimals",
    [(7.5, 7.5, 2), (7.500001, 7.5, 6), (7.504, 7.5, 3), (7.51, 7.5, 2), (7.5, 7.50000000001, 6), (104.2, 104.196, 3)],
)
def test_a_difference_is_seen(value: float, other: float, decimals: int) -> None:
    """A breach of 0.000001 is printed as one: with two decimals it would look like a pass that is called a failure."""
    assert decimals_apart(value, other) == decimals


@every("value, limit, decimals", [(1.5, 2.5, 2), (48.0, 0.001, 3), (7.5004, 7.5, 4), (0.0, 0.0, 2), (5.0, 0.0, 2)])
def test_decimals_of_a_test(value: float, limit: float, decimals: int) -> None:
    assert decimals_of(value, limit) == decimals


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
