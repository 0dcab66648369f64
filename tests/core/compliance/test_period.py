"""The interest period by its days and the day count."""

from __future__ import annotations

from core.compliance.period import period_years
from tests.rows import every


@every(
    "days, day_count, years",
    [
        (None, "actual/360", 0.25), (0.0, "actual/360", 0.25), (float("nan"), "30/360", 0.25),
        (90.0, "actual/360", 0.25), (92.0, "actual/360", 92 / 360), (92.0, "actual/365", 92 / 365),
        (92.0, "30/360", 0.25), (184.0, "30/360", 0.5),
    ],
)  # fmt: skip
def test_a_period_is_a_part_of_a_year(days: float | None, day_count: str, years: float) -> None:
    assert period_years(days, day_count) == years
