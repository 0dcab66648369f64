"""Which of two columns of par counts by what their headings say of their basis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]

FIRST = [100.0, 200.0, 300.0]
OTHER = [100.0, 180.0, 330.0]


def of(make_book: MakeBook, headers: tuple[str, str], currencies: tuple[str, ...] = ("USD",) * 3) -> Portfolio:
    """Return three loans with two columns of par."""
    loans = [[f"LX10000{at}", f"Name {at}", FIRST[at], OTHER[at], currencies[at], "2031-01-31"] for at in range(3)]
    return Portfolio.from_workbook(
        make_book({"Loans": [["LoanX ID", "Issuer", *headers, "Currency", "Maturity"], *loans]})
    )


@every(
    "headers, is_other",
    [
        (("Settled Par", "Traded Par"), True),
        (("ParAmountNativeCcy", "ParAmountDealCcy"), True),
        (("Outstanding Balance (Local Currency)", "Outstanding Balance (USD)"), True),
        (("Outstanding Balance (USD)", "Outstanding Balance (Local Currency)"), False),
        (("Par Amount", "Principal Balance"), False),
    ],
)
def test_the_better_basis(make_book: MakeBook, headers: tuple[str, str], is_other: bool) -> None:
    portfolio = of(make_book, headers)
    assert portfolio.numbers["par_value"].tolist() == (OTHER if is_other else FIRST)


def column(portfolio: Portfolio) -> Any:
    return portfolio.numbers["par_value"].tolist()


@every(
    "headers",
    [
        ("ParAmountNativeCcy", "ParAmountDealCcy"),
        ("PAR_NATIVE", "PAR_USD"),
        ("Par (Local Currency)", "Par (USD)"),
        ("Par Amount", "Par Amount USD"),
    ],
)
def test_par_in_the_deals_currency_is_not_converted_again(make_book: MakeBook, headers: tuple[str, str]) -> None:
    """The column in dollars stands beside one in the loans' own currencies.

    No page has rates.
    """
    portfolio = of(make_book, headers, ("USD", "EUR", "USD"))
    assert column(portfolio)[:2] == OTHER[:2]
    assert "other_currency" not in {warning.code for warning in portfolio.notes.warnings}
