"""The real deal, where its file is at hand.

What the standard profile makes of MAG17.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.compliance.run import run_suite
from core.files.read import read
from core.portfolio import Portfolio
from tests.real_reports.lists import MAG17

FILE = Path(__file__).parents[3] / "../shared/data/mag17.xlsx"


@pytest.mark.parametrize("file", [FILE] if FILE.exists() else [])
def test_mag17(file: Path) -> None:
    """Read from the workbook, through the mapping, to the published figures."""
    portfolio = Portfolio.from_workbook(read(file))
    ran = run_suite(portfolio, "enhanced")
    by_test_id = {result.test_id: result.current_value for result in ran}
    for test_id, published in MAG17.items():
        digits = len(str(published).partition(".")[2])
        assert by_test_id[test_id] == pytest.approx(published, abs=max(0.6 * 10**-digits, 1e-6)), test_id
    held_to = {result.test_id: result.threshold_value for result in ran}
    assert (held_to["oc_ratio"], held_to["oc_ratio_senior"]) == (104.2, 124.3)
    assert (held_to["ic_ratio"], held_to["ic_ratio_senior"]) == (105.0, 115.0)
    assert [skip.test_id for skip in ran.skipped] == ["quoted_depth_pct"]


@pytest.mark.parametrize("file", [FILE] if FILE.exists() else [])
def test_mag17_publishes_nothing(file: Path) -> None:
    """Limits stand beside its classes, but no result of the trustee's.

    No row has a figure to stand beside.
    """
    portfolio = Portfolio.from_workbook(read(file))
    assert portfolio.facts.figures == ()
    ran = run_suite(portfolio, "enhanced")
    assert [result.test_id for result in ran if result.published is not None] == []
    assert [doubt for result in ran for doubt in result.doubt if doubt.code == "differs"] == []
