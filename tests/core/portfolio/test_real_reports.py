"""Real files and layouts as delivered, without a definition.

How many printed figures and columns are right.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.real_reports.board import NAMES, Score, printed, scores
from tests.real_reports.columns import column_scores, summary, truth
from tests.real_reports.lists import PRESENT, list_scores

OPEN = {
    # On no page: interest still to be received, seniority, the reference coupon; masked ratings; the test's own life.
    "cairn-xvii": {
        "ic_ab", "ic_c_class", "ic_d_class", "unsecured_and_junior", "fitch_ccc_concentration", "was", "wal",
    },
    # Masked ratings and recovery rates; no page of Moody's.
    "contego-xi": {"s_p_warf", "s_p_warr", "moody_s_diversity"},
}  # fmt: skip
"""File -> figures that its pages do not lead to: ours may differ, and then they are doubted."""

FALSE_MOST = 5
"""Columns that carry no field and are read as one, of all files."""


def score_lines(listed: list[Score]) -> str:
    return "\n".join(map(str, listed))


@pytest.mark.parametrize("name", NAMES)
def test_printed_figures_come_out(name: str) -> None:
    wrong = [score for score in scores(name) if score.verdict != "right" and score.id not in OPEN.get(name, ())]
    assert len(scores(name)) == len(printed(name))
    assert not wrong, score_lines(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_no_figure_is_wrong_without_a_doubt(name: str) -> None:
    silent = [score for score in scores(name) if score.verdict == "silent"]
    assert not silent, score_lines(silent)


@pytest.mark.parametrize("name", PRESENT)
def test_lists_add_up_to_what_their_cells_do(name: str) -> None:
    """And each expected field comes from its column."""
    listed = list_scores(name)
    wrong = [score for score in listed if score.verdict != "right"]
    assert not wrong, score_lines(wrong)


@pytest.mark.parametrize("file", truth())
def test_columns_have_their_roles(file: str) -> None:
    listed = [column_score for column_score in column_scores(file) if column_score.carries]
    wrong = [score for score in listed if score.kind != "right"]
    assert len(wrong) <= 1, "\n".join(map(str, wrong))


@pytest.mark.parametrize("of_all", [summary] if truth() else [])
def test_all_columns_together(of_all: Callable[[], dict[str, int]]) -> None:
    counts = of_all()
    carrying = counts["right"] + counts["wrong"] + counts["left out"]
    assert counts["right"] >= 0.98 * carrying
    assert counts["false"] <= FALSE_MOST
