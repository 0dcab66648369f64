"""The only column of amounts is par, in doubt, where its heading says nothing against it."""

from __future__ import annotations

from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.core.portfolio.conftest import MakeBook
from tests.rows import every

PAR = [1_250_000.0 + 125_310.55 * at for at in range(12)]


def book_of(make_book: MakeBook, heading: str, **more: list[Any]) -> Workbook:
    """Return twelve loans with a column of amounts, and further ones."""
    head = ["Issuer", "Facility", heading, *more, "Spread", "Maturity", "Price"]
    rows = [
        [f"Name {at} Inc", "Term Loan B", PAR[at], *(cells[at] for cells in more.values()), 350, "2031-01-20", 98.5]
        for at in range(len(PAR))
    ]
    return make_book({"Loans": [head, *rows]})


@every("heading", ["Size", "Kredit", "Finale", "Original Face"])
def test_a_lone_amount_is_par_in_doubt(make_book: MakeBook, heading: str) -> None:
    portfolio = Portfolio.from_workbook(book_of(make_book, heading))
    assert portfolio.numbers["par_value"].tolist() == PAR
    (doubt,) = (warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column")
    assert "it is the only column of amounts" in doubt.message


@every(
    "heading",
    [
        "Facility Size", "Global Amount", "Global Commitment", "Book Value", "EBITDA", "Market Cap", "Account Number",
        "Principal Paid", "Sold Amount", "Capitalized PIK", "Unsettled", "Comment",
    ],
)  # fmt: skip
def test_an_amount_of_another_kind_is_no_par(make_book: MakeBook, heading: str) -> None:
    assert "par_value" not in Portfolio.from_workbook(book_of(make_book, heading)).numbers


def test_of_two_amounts_neither_is_par(make_book: MakeBook) -> None:
    portfolio = Portfolio.from_workbook(book_of(make_book, "Size", Kredit=[par * 2 for par in PAR]))
    assert "par_value" not in portfolio.numbers


def test_a_sheet_with_par_goes_before(make_book: MakeBook) -> None:
    head, *rows = [["Issuer", "Facility", "Size", "Maturity", "Price"]] + [
        [f"Name {at} Inc", "Term Loan B", PAR[at] * 9, "2031-01-20", 98.5] for at in range(len(PAR))
    ]
    loans = [["Issuer", "Facility", "Par"], *([row[0], row[1], PAR[at]] for at, row in enumerate(rows))]
    portfolio = Portfolio.from_workbook(make_book({"Details": [head, *rows], "Loans": loans}))
    assert portfolio.numbers["par_value"].tolist() == PAR


def test_a_page_of_such_a_list_needs_no_identifier(make_book: MakeBook) -> None:
    loans = [["Issuer", "Facility", "Size", "Spread", "Maturity", "Price"]]
    loans += [[f"Name {at} Inc", "Term Loan B", PAR[at], 350, "2031-01-20", 98.5] for at in range(len(PAR))]
    page = [["Issuer", "Moody's Rating", "S&P Rating", "Country"]]
    page += [[f"Name {at} Inc", *([None] * 3 if at == 5 else ["B2", "B", "US"])] for at in range(len(PAR))]
    book = make_book({"Loans": loans, "Ratings": page})
    portfolio = Portfolio.from_workbook(book)
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert portfolio.names["country"].values == ("US",)
