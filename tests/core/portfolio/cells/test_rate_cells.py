"""Cells that state a rate in words, to index, margin, floor, PIK and coupon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells._parse import BASIS_POINTS, PERCENT
from core.portfolio.cells.rate_cells import LENGTH_MAX, index_name, rate_cell, rate_column, states_spreads
from core.portfolio.cells.string_pool import Cells
from core.portfolio.cells.typed import read_numbers

MakeCells = Callable[..., Cells]


def stated(text: str) -> dict[str, Any] | None:
    """Return what a cell states, without what it does not."""
    rate = rate_cell(text)
    return None if rate is None else {name: value for name, value in asdict(rate).items() if value == value and value}


def sofr(margin: float, mark: int = PERCENT, **more: Any) -> dict[str, Any]:
    return {"index": "SOFR", "margin": margin} | ({"mark": mark} if mark else {}) | more


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SF+525", sofr(525, BASIS_POINTS)),
        ("S+ 5.75% (1.00% Floor)", sofr(5.75, floor=1.0)),
        ("SOFR + 550 bps", sofr(550, BASIS_POINTS)),
        ("S+5,75%", sofr(5.75)),
        ("S + 5.75", sofr(5.75, 0)),
        ("CME Term SOFR 3M + 425bps", sofr(425, BASIS_POINTS, index="SOFR-3M")),
        ("1M Term SOFR + 5.25% , 0.75% Floor", sofr(5.25, index="SOFR-1M", floor=0.75)),
        ("3-Month SOFR + 5.00% (Floor: 0.50%)", sofr(5, index="SOFR-3M", floor=0.5)),
        ("TSFR3M + 4.75", sofr(4.75, 0, index="SOFR-3M")),
        ("1 year LIBOR + 3%", {"index": "LIBOR-12M", "margin": 3, "mark": PERCENT}),
        ("3M E + 3.75%", {"index": "EURIBOR-3M", "margin": 3.75, "mark": PERCENT}),
        ("EUR003M+350", {"index": "EURIBOR-3M", "margin": 350, "mark": BASIS_POINTS}),
        ("EURIBOR+4.00%/0.00% floor", {"index": "EURIBOR", "margin": 4, "mark": PERCENT, "floor": 0.0}),
        ("L+4.25%", {"index": "LIBOR", "margin": 4.25, "mark": PERCENT}),
        ("P + 3.00%", {"index": "PRIME", "margin": 3, "mark": PERCENT}),
        ("Base Rate plus 3.00%", {"index": "PRIME", "margin": 3, "mark": PERCENT}),
        ("SA+525", {"index": "SONIA", "margin": 525, "mark": BASIS_POINTS}),
        ("C + 6.25%", {"index": "CORRA", "margin": 6.25, "mark": PERCENT}),
        ("SF+525, 0.75% floor", sofr(525, BASIS_POINTS, floor=0.75)),
        ("SF+525, 75 bps floor", sofr(525, BASIS_POINTS, floor=0.75)),
        ("SF+525 Floor 0.75%", sofr(525, BASIS_POINTS, floor=0.75)),
        ("S+575/1.00%", sofr(575, BASIS_POINTS, floor=1.0)),
        ("S+5.75%; 1% SOFR floor", sofr(5.75, floor=1.0)),
        ("LIBOR (1.00% Floor) + 5.50%", {"index": "LIBOR", "margin": 5.5, "mark": PERCENT, "floor": 1.0}),
        ("5.25% + SOFR, floor 0.5%", sofr(5.25, floor=0.5)),
        ("5.75% over SOFR", sofr(5.75)),
        ("10.83% (S + 5.50%)", sofr(5.5, all_in=10.83)),
        ("SOFR+5.50%, 1.00% Floor, 10.83% all-in", sofr(5.5, floor=1.0, all_in=10.83)),
        ("SOFR + 0.11448% CSA + 4.5%", sofr(4.5)),
        ("SOFR + 0.10% + 5.00%", sofr(5)),
        ("3M SOFR+ CSA +5.00%", sofr(5, index="SOFR-3M")),
        ("SOFR (Q) + 5.75%", sofr(5.75, index="SOFR-3M")),
        ("3mL+575", {"index": "LIBOR-3M", "margin": 575, "mark": BASIS_POINTS}),
        ("SOFR + 5\u00be%", sofr(5.75)),
        ("SOFR plus 5.75 per cent", sofr(5.75)),
        ("S + 5.50% (0.75% Floor) (11.06%)", sofr(5.5, floor=0.75, all_in=11.06)),
        ("S+5.75% / 11.05%", sofr(5.75, all_in=11.05)),
        ("SOFR + 5.75%, 10.3% Cash", sofr(5.75, all_in=10.3)),
        ("Prime + 4.45%, Floor rate 11.20%", {"index": "PRIME", "margin": 4.45, "mark": PERCENT}),
        ("12.00% (10.00% Cash, 2.00% PIK)", {"coupon": 12, "pik": 2, "is_pik": True}),
        ("S + 6.00% PIK", sofr(6, pik=6, is_pik=True)),
        ("S + 5.75% (incl. 2.00% PIK)", sofr(5.75, pik=2, is_pik=True)),
        ("S + 2.00% Cash + 3.75% PIK", sofr(2, pik=3.75, is_pik=True)),
        ("SF+525, 0.0% PIK (1.8% Max PIK)", sofr(525, BASIS_POINTS, pik=0.0)),
        ("11.2% Cash + 5.3% PIK", {"coupon": 11.2, "pik": 5.3, "is_pik": True}),
        ("Cash 11.2% PIK 5.3%", {"coupon": 11.2, "pik": 5.3, "is_pik": True}),
        ("10.0%, 3.0% PIK (3.0% Max PIK)", {"coupon": 10, "pik": 3, "is_pik": True}),
        ("12.0% PIK", {"coupon": 12, "pik": 12, "is_pik": True}),
        ("10.50%", {"coupon": 10.5}),
        ("Fixed 10.5", {"coupon": 10.5}),
        ("S + 5.75%(1)", sofr(5.75)),
        ("SOFR+575\u00b9", sofr(575, BASIS_POINTS)),
    ],
)
def test_a_cell_states_its_parts(text: str, expected: dict[str, Any]) -> None:
    assert stated(text) == {name: value for name, value in expected.items() if value}


@pytest.mark.parametrize(
    "text",
    ["", "SOFR", "350", "10.5", "acme 5.5%", "E - 0.5%", "SONIA + 6.25% (0.50%)", "S + 5% + 6%", "S + 575 - 600",
     "S+5.75%-6.25%", "Sold 5.5%",
     "S + 5% floor", "12/31/2029", "S" * (LENGTH_MAX + 1)],
)  # fmt: skip
def test_what_is_not_understood_whole_is_no_rate(text: str) -> None:
    assert rate_cell(text) is None


@given(st.text("SOFLIBEPK+-0123456789.,%()/ \u00b9", max_size=LENGTH_MAX))
def test_any_text_is_read_or_refused(text: str) -> None:
    rate = rate_cell(text)
    assert rate is None or rate.margin == rate.margin or rate.coupon == rate.coupon


def test_margins_of_a_column_are_numbers_of_its_spread(make_cells: MakeCells) -> None:
    cells = make_cells(["S+ 5.75% (1.00% Floor)", "SF+525", "11.2% Cash + 5.3% PIK", 450.0, "soon", "L+350", None])
    numbers, lost = read_numbers(cells, is_spread=True)
    assert np.array_equal(numbers.values, [5.75, 525, np.nan, 450, np.nan, 350, np.nan], equal_nan=True)
    assert numbers.marks is not None
    assert numbers.marks.tolist()[:4] == [PERCENT, BASIS_POINTS, 0, 0]
    # A fixed coupon is no spread, and no unreadable cell.
    assert lost is not None
    assert lost.tolist() == [False, False, False, False, True, False, False]


def test_a_sum_that_is_not_understood_is_no_margin(make_cells: MakeCells) -> None:
    numbers, lost = read_numbers(make_cells(["S+525", "S + 5% + 6%"]), is_spread=True)
    assert np.array_equal(numbers.values, [525, np.nan], equal_nan=True)
    assert lost is not None
    assert lost.tolist() == [False, True]


def test_parts_of_a_column_stand_row_by_row(make_cells: MakeCells) -> None:
    rates = rate_column(make_cells(["SF+525, 0.75% floor", "12.0% PIK", 450.0, "SF+525, 0.75% floor"]))
    assert rates is not None
    index = rates.index()
    assert [index.text[code] if code >= 0 else None for code in index.codes.tolist()] == ["SOFR", None, None, "SOFR"]
    assert np.array_equal(rates.percents("floor"), [0.75, np.nan, np.nan, 0.75], equal_nan=True)
    assert rates.pays_in_kind().tolist() == [False, True, False, False]
    assert rates.is_fixed().tolist() == [False, True, False, False]
    assert rates.floats().tolist() == [True, False, False, True]


def test_a_column_of_numbers_states_nothing_in_words(make_cells: MakeCells) -> None:
    assert rate_column(make_cells([350.0, 400.0])) is None
    assert rate_column(make_cells(["350", "4.00%"])) is None


@pytest.mark.parametrize(
    ("values", "is_spreads"),
    [(["S+575", "L+400", "10.5%"], True), (["SOFR", "EURIBOR"], False), (["5.5%", "6%"], False), ([5.5], False)],
)
def test_a_column_of_spreads_is_told_by_its_texts(make_cells: MakeCells, values: list[Any], is_spreads: bool) -> None:
    assert states_spreads(make_cells(values)) is is_spreads


@pytest.mark.parametrize(
    ("text", "name"),
    [("SF", "SOFR"), ("P", "PRIME"), ("E + 3.75%", "EURIBOR"), ("3M Term SOFR", "SOFR-3M"), ("EUR", "EUR"), ("B", "B")],
)
def test_an_index_is_named_with_its_margin_too(text: str, name: str) -> None:
    assert index_name(text) == name
