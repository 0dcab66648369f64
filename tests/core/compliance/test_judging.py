"""The cushion and the status of a figure at the edges of its limit."""

from __future__ import annotations

import pytest

from core.compliance.limits import ResolvedThreshold
from core.compliance.result import Direction, Threshold
from core.compliance.run import run_suite
from core.compliance.verdicts import cushion_of, status_of
from tests.core.compliance.conftest import A, largest, portfolio_of

BOUNDARIES: list[tuple[Direction, float, float, float | None, float, float | None, str]] = [
    # direction, value, limit, warning, cushion, cushion_pct, status
    ("max", 7.5, 7.5, 6.75, 0.0, 0.0, "warning"),
    ("max", 7.500001, 7.5, 6.75, -0.000001, -0.000013, "fail"),
    ("max", 6.75, 7.5, 6.75, 0.75, 10.0, "warning"),
    ("max", 6.7499, 7.5, 6.75, 0.7501, 10.001333, "pass"),
    ("min", 121.5, 121.5, 122.5, 0.0, 0.0, "warning"),
    ("min", 121.49, 121.5, 122.5, -0.01, -0.00823, "fail"),
    ("min", 122.5, 121.5, 122.5, 1.0, 0.823045, "warning"),
    ("min", 122.51, 121.5, 122.5, 1.01, 0.831276, "pass"),
    ("exact", 100.0, 100.0, None, 0.0, 0.0, "pass"),
    ("exact", 99.0, 100.0, None, -1.0, -1.0, "fail"),
    ("max", 0.0, 0.0, None, 0.0, None, "pass"),
    ("max", 0.1, 0.0, None, -0.1, None, "fail"),
]


@pytest.mark.parametrize(("direction", "value", "limit", "warning", "cushion", "cushion_pct", "status"), BOUNDARIES)
def test_g8_status_boundaries(
    direction: Direction, value: float, limit: float, warning: float | None, cushion: float, cushion_pct: float | None,
    status: str,
) -> None:  # fmt: skip
    """A figure on its limit passes, one beyond it by more than the tolerance fails, and the band warns."""
    threshold = Threshold(
        test_id="single_obligor_concentration",
        threshold_value=limit,
        threshold_type=direction,
        warning_threshold=warning,
    )
    result = largest(value, workbook_thresholds={threshold.test_id: threshold}) if value else None
    held_to = ResolvedThreshold(limit, direction, warning, "workbook")
    assert status_of(value, cushion_of(value, held_to), held_to) == status
    if result is not None:
        assert (result.status, result.cushion, result.cushion_pct) == (status, cushion, cushion_pct)
        assert str(result.cushion) != "-0.0"
        assert (result.threshold_value, result.threshold_type) == (limit, direction)


def test_a_rounding_error_is_no_breach() -> None:
    """Within a billionth of the limit a figure stands on it."""
    limit = ResolvedThreshold(7.5, "max", None, "suite")
    assert status_of(7.5 + 5e-10, -5e-10, limit) == "pass"
    assert status_of(7.5 + 5e-9, -5e-9, limit) == "fail"


def test_only_the_recovery_test_needs_rates_of_its_limits_agency() -> None:
    """S&P's rates are not held to the suites' limit, which is Moody's.

    All else runs as it does without them.
    """
    columns = {"par_value": [60.0, 40.0], "cov_lite": [0, 1], "rating_agency_a": [A["B2"], A["B3"]]}
    ids = ["cov_lite_concentration", "average_rating_factor", "weighted_average_recovery_rate"]
    plain = run_suite(portfolio_of(columns), "enhanced", test_ids=ids)
    rated = run_suite(portfolio_of(columns | {"recovery_rate_b": [40.0, 30.0]}), "enhanced", test_ids=ids)
    assert [result.test_id for result in rated] == [result.test_id for result in plain] == ids[:2]
    assert [(skipped.test_id, "S&P's and the limit" in skipped.reason) for skipped in rated.skipped] == [(ids[2], True)]
