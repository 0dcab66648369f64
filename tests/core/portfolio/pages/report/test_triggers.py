"""What limits of printed tests say beside the tests themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]
HEADER = ["LoanX ID", "Issuer", "Par", "Coupon Type", "Spread", "Coupon", "Maturity", "Currency"]
WITH = "Minimum Floating Spread Test (with Excess Weighted Average Coupon)"
PLAIN = "Minimum Floating Spread Test"


def of(make_book: MakeBook, *tests: list[Any]) -> Portfolio:
    """Three floating loans at 4 % and a fixed one at 9 %, beside a page of tests."""
    loans: list[list[Any]] = [
        [f"LX10000{at}", f"Name {at}", 100.0, "Floating", 400.0, 6.5, "2030-01-31", "USD"] for at in range(3)
    ]
    loans.append(["LX100009", "Name 9", 100.0, "Fixed", None, 9.0, "2030-01-31", "USD"])
    page = [["Test", "Current", "Limit", "Result"], *tests]
    return Portfolio.from_workbook(make_book({"Loans": [HEADER, *loans], "Collateral Quality Tests": page}))


COUPON = ["Minimum Weighted Average Coupon Test", "9.00%", "7.00%", "PASS"]


@every(
    "label, tests, coupon",
    [
        (WITH, [COUPON], 7.0),
        ("Weighted Average Spread Test incl. Excess WAC", [COUPON], 7.0),
        (PLAIN, [COUPON], None),
        ("Weighted Average Spread excluding Excess WAC", [COUPON], None),
        (WITH, [], None),
    ],
)
def test_the_limit_of_the_coupon_test_is_the_reference_coupon(
    make_book: MakeBook, label: str, tests: list[Any], coupon: float | None
) -> None:
    portfolio = of(make_book, [label, "4.67%", "3.90%", "PASS"], *tests)
    assert portfolio.deal.reference_coupon == coupon
    row = next(result for result in run_suite(portfolio, "enhanced") if result.test_id == "was")
    assert row.current_value == pytest.approx(4.0 if coupon is None else 4.0 + (9.0 - coupon) / 3)
    assert ("stand_in" in {doubt.code for doubt in row.doubt}) == (coupon is not None)


@every(
    "printed, amount, spread",
    [
        ("4.10%", 0.3, 4.1),  # with it, and not without it
        ("4.00%", 0.3, 4.0),
        ("4.25%", 0.3, 4.0),
        ("4.10%", None, 4.0),
    ],
)
def test_an_excess_spread_counts_where_the_printed_average_has_it(
    make_book: MakeBook, printed: str, amount: float | None, spread: float
) -> None:
    page = [[PLAIN, printed, "3.90%", "PASS"]]
    portfolio = of(make_book, *page, *([] if amount is None else [["Aggregate Excess Funded Spread", amount]]))
    assert portfolio.deal.excess_spread == amount
    ran = run_suite(portfolio, "enhanced")
    row = next(result for result in ran if result.test_id == "was")
    assert row.current_value == pytest.approx(spread)
    is_as_printed = "excess_spread_as_printed" in {warning.code for warning in ran.warnings}
    assert is_as_printed == (spread != 4.0)
    assert ("stand_in" in {doubt.code for doubt in row.doubt}) == is_as_printed
