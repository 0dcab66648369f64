"""Figures with footnote marks and words that change nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core.portfolio.cells import _parse, number_cells
from core.portfolio.cells.string_pool import Cells

MakeCells = Callable[..., Cells]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.56(1)", 1_234.56),
        ("1,234.56 (1)(2)", 1_234.56),
        ("(1,234)(2)", -1_234),
        ("1,000,000\u00b9", 1_000_000),
        ("98.5*", 98.5),
        ("98.5 \u2020", 98.5),
        ("5.25%(3)", 5.25),
        ("5.25 percent", 5.25),
        ("5.25% per annum", 5.25),
        ("5.25% p.a.", 5.25),
        ("525 basis points", 525),
        ("12.5x", 12.5),
        ("12.5 X", 12.5),
        ("4.1\u00d7", 4.1),
        ("3.5 years", 3.5),
        ("4,5 Mio.", 4_500_000),
        ("1.2 billion", 1_200_000_000),
        ("250 thousand", 250_000),
        ("1,000,-", 1_000),
        ("C$ 1,500", 1_500),
        ("A$1,500.5", 1_500.5),
        ("1 500 kr", 1_500),
        ("\uff11\uff12\uff13", 123),
        ("98 1/2", 98.5),
        ("98 3/8", 98.375),
        ("98-16/32", 98.5),
        ("98\u00bd", 98.5),
        ("98 \u215b", 98.125),
    ],
)
def test_a_figure_is_read_without_what_is_no_part_of_it(make_cells: MakeCells, text: str, number: float) -> None:
    read = number_cells.read_numbers(make_cells([text, 2.0]))
    assert read.values[0] == pytest.approx(number, rel=1e-15)
    assert read.unreadable == 0


def test_a_unit_behind_a_word_is_kept(make_cells: MakeCells) -> None:
    read = number_cells.read_numbers(make_cells(["525 basis points", "5.25 per cent", "3.5"]))
    assert read.marks is not None
    assert read.marks.tolist() == [_parse.BASIS_POINTS, _parse.PERCENT, 0]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1,000 DR", "2,500 DR"], [1_000, 2_500]),
        (["1,000 CR", "2,500 Cr."], [1_000, 2_500]),
        # Of two sides one is negative, and nothing says which.
        (["1,000 DR", "2,500 CR"], [np.nan, np.nan]),
        (["1,000", "2,500 CR"], [1_000, np.nan]),
    ],
)
def test_sides_are_left_out_where_all_are_alike(make_cells: MakeCells, texts: list[str], expected: list[float]) -> None:
    read = number_cells.read_numbers(make_cells(texts))
    assert np.array_equal(read.values, expected, equal_nan=True)
    assert read.unreadable == int(np.isnan(expected).sum())
