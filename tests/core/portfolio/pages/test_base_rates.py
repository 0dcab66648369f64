"""The level of the loans' index by a page of rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]
HEADER = ["LoanX ID", "Issuer", "Par", "Index", "Spread", "Coupon", "Maturity"]


def of(make_book: MakeBook, pages: dict[str, list[Any]], *, index: str = "LIBOR", coupon: float = 7.06) -> Portfolio:
    """Return three loans of one index beside pages of rates."""
    loans = [[f"LX10000{at}", f"Name {at}", 100.0, index, 475.0, coupon, "2030-01-31"] for at in range(3)]
    return Portfolio.from_workbook(make_book({"Loans": [HEADER, *loans], **pages}))


@every(
    "name, rows, rate",
    [
        ("BaseRates", [["Index", "Tenor", "Rate"], ["LIBOR", "3M", 0.0231]], 2.31),
        ("Base Rates", [["LIBOR 3M", "2.31%"]], 2.31),
        ("Reference Rate", [["1M LIBOR", 1.98], ["3M LIBOR", 2.31], ["6M LIBOR", 2.5]], 2.31),
        ("Index Rates", [["Deal", "LIBOR", 2.31], ["Deal", "EURIBOR", 0.1]], 2.31),
        ("Index Rates", [["1M LIBOR", 1.98], ["6M LIBOR", 2.5]], None),
        ("Index Rates", [["Deal", "EURIBOR", 2.31]], None),
        ("Index Rates", [["LIBOR", 43_250.0]], None),
        ("Rates of tests", [["Deal", "LIBOR", 2.31]], None),
        ("Prior Base Rates", [["Deal", "LIBOR", 2.31]], None),
    ],
)
def test_the_level_of_the_loans_index(make_book: MakeBook, name: str, rows: list[Any], rate: float | None) -> None:
    portfolio = of(make_book, {name: rows})
    assert portfolio.deal.base_rate == (None if rate is None else pytest.approx(rate))
    assert ("base_rate_by_page" in {warning.code for warning in portfolio.notes.warnings}) == (rate is not None)
    if rate is not None:
        assert portfolio.source_cells["deal.base_rate"].startswith(f"'{name}'!")


def test_a_tenor_is_no_level(make_book: MakeBook) -> None:
    """A label of the deal's rate beside "3M", which could be three million."""
    assert of(make_book, {"Notes to the report": [["LIBOR", "3M"]]}).deal.base_rate is None


@every("written, coupon, rate", [(0.053, 10.05, 5.3), (0.053, 4.803, 0.053), (5.3, 10.05, 5.3), (0.6, 5.35, 0.6)])
def test_what_all_in_rates_are_above_spreads_decides_the_unit(
    make_book: MakeBook, written: float, coupon: float, rate: float
) -> None:
    portfolio = of(make_book, {"Base Rates": [["SOFR", written]]}, index="SOFR", coupon=coupon)
    assert portfolio.deal.base_rate == pytest.approx(rate)


def test_a_label_of_the_deal_counts_first(make_book: MakeBook) -> None:
    pages = {"Base Rates": [["LIBOR", 2.31]], "Deal": [["Base Rate", 2.5]]}
    assert of(make_book, pages).deal.base_rate == 2.5
