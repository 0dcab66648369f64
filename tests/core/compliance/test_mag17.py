"""The real deal, where its file is at hand: what the standard profile makes of MAG17."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.compliance.run import run_suite
from core.files.read import read
from core.portfolio import Portfolio

FILE = Path(__file__).parents[3] / "../shared/data/mag17.xlsx"

FIGURES = {
    "average_rating_factor": 2575.698435,
    "single_obligor_concentration": 1.796,
    "top_5_concentration": 8.0235703,
    "industry_concentration": 12.796,
    "second_industry_concentration": 11.923,
    "non_senior_secured_concentration": 2.836,
    "ccc_bucket_pct": 3.236,
    "diversity_score": 59.4399,
    "cov_lite_concentration": 20.466,
    "foreign_country_concentration": 10.925,
    "oc_ratio": 108.131,
    # With the deal's own recovery, average life and spread columns.
    "weighted_average_recovery_rate": 50.137,
    "wal": 5.05,
    "was": 4.024,
    "fixed_rate_concentration": 0.0,
}
"""Percent, but for factor, score and years; to the digits that are published."""


@pytest.mark.parametrize("file", [FILE] if FILE.exists() else [])
def test_mag17(file: Path) -> None:
    """Read from the workbook, through the mapping, to the published figures."""
    portfolio = Portfolio.from_workbook(read(file))
    ran = run_suite(portfolio, "enhanced")
    found = {result.test_id: result.current_value for result in ran}
    for test_id, published in FIGURES.items():
        digits = len(str(published).partition(".")[2])
        assert found[test_id] == pytest.approx(published, abs=max(0.6 * 10**-digits, 1e-6)), test_id
    held_to = {result.test_id: result.threshold_value for result in ran}
    assert (held_to["oc_ratio"], held_to["oc_ratio_senior"]) == (104.2, 124.3)
    assert (held_to["ic_ratio"], held_to["ic_ratio_senior"]) == (105.0, 115.0)
    assert [skip.test_id for skip in ran.skipped] == ["quoted_depth_pct"]


@pytest.mark.parametrize("file", [FILE] if FILE.exists() else [])
def test_mag17_publishes_nothing(file: Path) -> None:
    """Limits stand beside its classes, but no result of the trustee's: no row has a figure to stand beside."""
    portfolio = Portfolio.from_workbook(read(file))
    assert portfolio.facts.figures == ()
    ran = run_suite(portfolio, "enhanced")
    assert [result.test_id for result in ran if result.published is not None] == []
    assert [doubt for result in ran for doubt in result.doubt if doubt.code == "differs"] == []
