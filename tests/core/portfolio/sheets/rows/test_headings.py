"""What headings above the loans, and names of sheets, say of them: default, currency, lien and country."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import Lien
from core.portfolio.sheets.rows.headings import SAYS, values_of
from tests.rows import every

MakeBook = Callable[..., Workbook]
MapRows = Callable[..., Portfolio]

HEADER = ["Issuer", "Facility", "Par", "Spread", "Maturity"]
LOANS: list[list[Any]] = [
    [f"{name} Inc", "Term Loan B", 1000.0 + at, 325.0, "2031-01-31"]
    for at, name in enumerate(["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"])
]


def names(portfolio: Portfolio, field: str) -> list[str | None]:
    column = portfolio.names[field]
    return [column.values[code] if code >= 0 else None for code in column.codes.tolist()]


def warned(portfolio: Portfolio) -> list[str]:
    return [warning.message for warning in portfolio.notes.warnings if warning.code == "values_of_headings"]


@every("heading", ["Defaulted Loans", "Defaulted Obligations", "Non-Performing", "In Default", "Defaulted (2)"])
def test_loans_below_a_heading_are_defaulted(map_rows: MapRows, heading: str) -> None:
    expected = [0, 0, 0, 0, 1, 1]
    for rows in (
        [HEADER, *LOANS[:4], [heading], *LOANS[4:]],
        [HEADER, ["Performing Loans"], *LOANS[:4], [None], [heading], *LOANS[4:]],
        [HEADER, *LOANS[:4], [heading], HEADER, *LOANS[4:]],
    ):
        portfolio = map_rows(rows)
        assert portfolio.flags["is_defaulted"].tolist() == expected
        assert len(warned(portfolio)) == 1
    again = map_rows([HEADER, [heading], *LOANS[:2], ["Performing"], *LOANS[2:]])
    assert again.flags["is_defaulted"].tolist() == [1, 1, 0, 0, 0, 0]


@every(
    "ends",
    [
        [["Software"]], [["Term Loans"]], [["CCC Obligations"]], [["Other Loans"]], [[None], ["Retail"]],
        [["Total", None, 2001.0]], [["Total Defaulted", None, None, 2001.0], [None]], [["Subtotal", None, 2001.0]],
    ],
)  # fmt: skip
def test_the_next_heading_or_total_ends_a_group(map_rows: MapRows, ends: list[list[Any]]) -> None:
    first = map_rows([HEADER, ["Defaulted Loans"], *LOANS[:2], *ends, *LOANS[2:]])
    assert first.flags["is_defaulted"].tolist() == [1, 1, 0, 0, 0, 0]
    second = map_rows([HEADER, ["Term Loans"], *LOANS[:2], ["EUR Loans"], *LOANS[2:4], ["Term Loans"], *LOANS[4:]])
    assert names(second, "currency") == [None, None, "EUR", "EUR", None, None]


def test_companies_end_no_group(map_rows: MapRows) -> None:
    def company(row: list[Any]) -> list[list[Any]]:
        return [[row[0]], [None, *row[1:]], [None, "Revolver", *row[2:]], [f"Total {row[0]}", None, 2 * row[2]]]

    first, rest = ([row for loan in loans for row in company(loan)] for loans in (LOANS[:2], LOANS[2:]))
    portfolio = map_rows([HEADER, ["Euro Loans"], *first, ["Other Loans"], *rest])
    assert names(portfolio, "currency") == ["EUR"] * 4 + [None] * 8


def test_groups_within_groups_end_none(map_rows: MapRows) -> None:
    """Where each heading has another one right below it."""
    eur = [["EUR Loans"], ["Software"], LOANS[0], ["Retail"], LOANS[1]]
    usd = [["USD Loans"], ["Software"], LOANS[2], ["Retail"], LOANS[3]]
    portfolio = map_rows([HEADER, *eur, *usd, ["Other Loans"], ["Software"], *LOANS[4:]])
    assert names(portfolio, "currency") == ["EUR"] * 2 + ["USD"] * 2 + [None] * 2


def test_a_column_says_more_than_a_heading(map_rows: MapRows) -> None:
    rows = [[*HEADER, "Defaulted"], ["Defaulted Loans"], *([*row, "N"] for row in LOANS)]
    portfolio = map_rows(rows)
    assert portfolio.flags["is_defaulted"].tolist() == [0] * 6
    assert warned(portfolio) == []


def test_headings_name_currencies(map_rows: MapRows) -> None:
    portfolio = map_rows([HEADER, ["USD Loans"], *LOANS[:4], ["Euro denominated"], *LOANS[4:]])
    assert names(portfolio, "currency") == ["USD"] * 4 + ["EUR"] * 2
    assert "other_currency" in [warning.code for warning in portfolio.notes.warnings]


def test_headings_name_liens_and_countries(map_rows: MapRows) -> None:
    liens = map_rows([HEADER, ["First Lien Loans"], *LOANS[:4], ["2nd Lien"], LOANS[4], ["Unsecured Debt"], LOANS[5]])
    assert liens.lien is not None
    assert liens.lien.tolist() == [Lien.FIRST_LIEN] * 4 + [Lien.SECOND_LIEN, Lien.UNSECURED]
    countries = map_rows([HEADER, ["Germany"], *LOANS[:2], ["United States"], *LOANS[2:]])
    assert names(countries, "country") == ["DE"] * 2 + ["US"] * 4


@every("name", ["First Data Corp", "Performing Arts Group", "Euro Garages", "Default Energy LLC", "Dollar General"])
def test_names_of_companies_say_nothing(name: str) -> None:
    assert [value for says in SAYS.values() if (value := says(name))] == []


def test_names_of_sheets_say_it_of_their_loans(make_book: MakeBook) -> None:
    def read(first: str, second: str) -> Portfolio:
        return Portfolio.from_workbook(make_book({first: [HEADER, *LOANS[:4]], second: [HEADER, *LOANS[4:]]}))

    assert names(read("USD Loans", "EUR Loans"), "currency") == ["USD"] * 4 + ["EUR"] * 2
    liens = read("First Lien", "Second Lien").lien
    assert liens is not None
    assert liens.tolist() == [Lien.FIRST_LIEN] * 4 + [Lien.SECOND_LIEN] * 2
    assert values_of("Holdings") == values_of("Secured Party") == {}


@every(
    "name, facility, expected",
    [
        ("Senior Secured Loans", "Second Lien Term Loan", Lien.SECOND_LIEN),
        ("Unsecured", "First Lien Term Loan", Lien.FIRST_LIEN),
        ("Second Lien", "1L Term Loan", Lien.FIRST_LIEN),
        ("Second Lien", "Senior Secured Term Loan", Lien.SECOND_LIEN),
    ],
)
def test_names_of_facilities_say_their_lien_before_headings(
    make_book: MakeBook, name: str, facility: str, expected: Lien
) -> None:
    loans = [*LOANS[:4], *([row[0], facility, *row[2:]] for row in LOANS[4:])]
    lien = Portfolio.from_workbook(make_book({name: [HEADER, *LOANS]})).lien
    assert lien is not None
    usual = int(lien[0])
    for sheets in ({name: [HEADER, *loans]}, {"Holdings": [HEADER, [name], *loans]}):
        portfolio = Portfolio.from_workbook(make_book(sheets))
        assert portfolio.lien is not None
        assert portfolio.lien.tolist() == [usual] * 4 + [expected] * 2
        assert len(warned(portfolio)) == 1
    every_name = Portfolio.from_workbook(make_book({name: [HEADER, *loans[4:]]}))
    assert every_name.lien is not None
    assert every_name.lien.tolist() == [expected] * 2


def test_defaulted_loans_of_a_sheet_of_their_own_are_added(make_book: MakeBook) -> None:
    book = make_book({"Holdings": [HEADER, *LOANS[:4]], "Defaulted Loans": [HEADER, *LOANS[4:]]})
    portfolio = Portfolio.from_workbook(book)
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in LOANS]
    assert portfolio.flags["is_defaulted"].tolist() == [0, 0, 0, 0, 1, 1]
    few = make_book({"Holdings": [HEADER, *LOANS], "Defaulted Loans": [HEADER, *LOANS[4:]]})
    assert Portfolio.from_workbook(few).flags["is_defaulted"].tolist() == [0, 0, 0, 0, 1, 1]
    apart = make_book({"Holdings": [HEADER, *LOANS], "Defaulted Loans": [["Issuer", "Par", "Recovery"],
                       ["Gum AG", 5.0, 40.0]]})  # fmt: skip
    assert len(Portfolio.from_workbook(apart)) == 6
