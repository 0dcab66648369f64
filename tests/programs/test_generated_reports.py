"""Hundreds of reports in four manners are read back without loss, whatever habits their seed gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.generate.test_reports import all_lost


@pytest.mark.parametrize(
    ("manner", "seeds"),
    [("pages", range(80)), ("flat", range(1000, 1120)), ("sheet", range(25)), ("months", range(15))],
)
def test_hundreds_of_variants_are_read_without_loss(manner: str, seeds: range, tmp_path: Path) -> None:
    assert all_lost(manner, seeds, tmp_path) == {}
