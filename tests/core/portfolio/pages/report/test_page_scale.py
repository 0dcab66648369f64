"""Pages whose first lines say that amounts are in thousands.

Loans, notes, accounts and tests alike.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]


def of(make_book: MakeBook, line: str, factor: float = 1.0) -> Portfolio:
    """Return a deal with a line at the top of each page, two lines above its tables."""
    top = [["Acme CLO"], [line], [None]]
    loans = [[f"LX10000{at}", f"Name {at}", (1_000.0 + at) * factor, "2031-01-31"] for at in range(6)]
    notes = [["Class A", 4_000.0 * factor, 4_000.0 * factor, 0.015], ["Class B", 500.0 * factor, 500.0 * factor, 0.025]]
    tests = [["Largest Obligor", 1_005.0 * factor, 6_065.0 * factor, "16.57%", "20.00%", "PASS"]]
    return Portfolio.from_workbook(
        make_book(
            {
                "Loans": [*top, ["Holdings"], ["LoanX ID", "Issuer", "Par Amount", "Maturity Date"], *loans],
                "Notes": [*top, ["Liabilities"], ["Class", "Original Balance", "Current Balance", "Spread"], *notes],
                "Accounts": [*top, ["Balances"], ["Account", "Balance"], ["Principal Account", 50.0 * factor]],
                "Limits": [
                    *top,
                    ["Concentration Limitations"],
                    ["Test", "Numerator", "Denominator", "Current", "Limit", "Result"],
                    *tests,
                ],
            }
        )
    )


@every("line", ["($ in thousands)", "Amounts in thousands", "USD 000s, except percentages"])
def test_all_pages_are_in_thousands(make_book: MakeBook, line: str) -> None:
    portfolio = of(make_book, line)
    assert portfolio["par_value"].sum() == pytest.approx(6_015_000.0)
    assert portfolio.deal.principal_cash == pytest.approx(50_000.0)
    assert portfolio.tranches is not None
    assert portfolio.tranches.current_balance.tolist() == [4_000_000.0, 500_000.0]
    (test,) = portfolio.facts.tests
    assert (test.numerator, test.denominator, test.value, test.trigger) == (1_005_000.0, 6_065_000.0, 16.57, 20.0)


def test_amounts_that_would_be_more_than_any_pool_has(make_book: MakeBook) -> None:
    """A line that came along from another layout, above amounts in full."""
    portfolio = of(make_book, "($ in millions)", 1_000.0)
    assert portfolio.deal.principal_cash == 50_000.0
    assert portfolio["par_value"].sum() == pytest.approx(6_015_000.0)


def test_pages_without_such_a_line(make_book: MakeBook) -> None:
    portfolio = of(make_book, "Thousands of loans are looked at every month", 1_000.0)
    assert portfolio.deal.principal_cash == 50_000.0
    assert portfolio["par_value"].sum() == pytest.approx(6_015_000.0)
