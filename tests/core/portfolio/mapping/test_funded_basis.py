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


@every("headers", [("Assigned Par", "Participated Par"), ("Par - Participation", "Par - Assignment")])
def test_assignments_and_participations_add_up_to_par(make_book: MakeBook, headers: tuple[str, str]) -> None:
    portfolio = of(make_book, headers)
    assert column(portfolio) == [sum(parts) for parts in zip(FIRST, OTHER, strict=True)]
    assert [warning.fields for warning in portfolio.notes.warnings if warning.code == "par_is_sum"] == [("par_value",)]
    assert "ambiguous_column" not in {warning.code for warning in portfolio.notes.warnings}
    assert "participation" not in portfolio.flags


def test_a_par_of_both_is_not_added_to(make_book: MakeBook) -> None:
    portfolio = of(make_book, ("Par Amount", "Participated Par"))
    assert column(portfolio) == FIRST


@every(
    "headers",
    [
        ("Par - Assignment", "Par incl. Participations"),
        ("Par incl. Participations", "Par - Assignment"),
        ("Assigned Par", "Total Par incl. Participations"),
        ("Assigned Par", "Gross Participated Par"),
    ],
)
def test_a_total_with_participations_is_not_added(make_book: MakeBook, headers: tuple[str, str]) -> None:
    portfolio = of(make_book, headers)
    assert column(portfolio) in (FIRST, OTHER)
    assert "par_is_sum" not in {warning.code for warning in portfolio.notes.warnings}


@every("headers", [("Assigned Par", "Participated Par"), ("Participated Par", "Assigned Par")])
def test_participations_nowhere_less_than_assignments_are_a_total(
    make_book: MakeBook, headers: tuple[str, str]
) -> None:
    assigned, total = [100.0, 180.0, 300.0], [100.0, 200.0, 330.0]
    parts = [assigned, total] if headers[0] == "Assigned Par" else [total, assigned]
    loans = [[f"LX10000{at}", f"Name {at}", parts[0][at], parts[1][at], "2031-01-31"] for at in range(3)]
    rows = [["LoanX ID", "Issuer", *headers, "Maturity"], *loans]
    assert column(Portfolio.from_workbook(make_book({"Loans": rows}))) in parts


def test_traded_alone_goes_before_settled(make_book: MakeBook) -> None:
    loans = [[f"LX1000{at:02}", f"Name {at}", 1e6 + at, 5e5, 1.5e6 + at, "2031-01-31"] for at in range(14)]
    heads = ["LoanX ID", "Issuer", "Settled", "Unsettled", "Traded", "Maturity"]
    assert column(Portfolio.from_workbook(make_book({"Loans": [heads, *loans]}))) == [loan[4] for loan in loans]
