"""Par in several currencies.

By a rate beside the loan or on a page, by a column of its own, or not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.cells.string_pool import Cells
from core.portfolio.pages.currency import currencies, currency_of, shown_currency
from tests.rows import every

MakeBook = Callable[..., Workbook]
HEADER = ["LoanX ID", "Issuer", "Par", "Currency", "Price", "Maturity"]
LOANS: list[list[Any]] = [
    ["LX100001", "Alpha", 900.0, "Euro", 99.0, "2030-01-31"],
    ["LX100002", "Beta", 100.0, "USD", 98.0, "2030-01-31"],
    ["LX100003", "Gamma", 50.0, "GBP", 97.0, "2030-01-31"],
    ["LX100004", "Delta", 10.0, None, 96.0, "2030-01-31"],
]  # fmt: skip


def of(make_book: MakeBook, more: dict[str, list[Any]] | None = None, *, par: str = "Par", **sheets: Any) -> Portfolio:
    """Return the loans with more columns, header -> cells, beside other sheets."""
    more = more or {}
    rows = [[*row, *(cells[at] for cells in more.values())] for at, row in enumerate(LOANS)]
    header = [par if name == "Par" else name for name in HEADER]
    return Portfolio.from_workbook(make_book({"Loans": [[*header, *more], *rows], **sheets}))


@every(
    "rates, par",
    [
        ([1.0, 0.8, 1.25, None], [900.0, 80.0, 62.5, 10.0]),  # what one unit is worth
        ([1.0, 1.25, 0.8, None], [900.0, 80.0, 62.5, 10.0]),  # what a euro costs
        ([1.0, 1.0, 1.25, None], [900.0, np.nan, 62.5, 10.0]),  # no rate, or one that tells no direction
        ([1.0, "n/a", -1.25, None], [900.0, np.nan, np.nan, 10.0]),
    ],
)
def test_a_rate_beside_the_loan(make_book: MakeBook, rates: list[Any], par: list[float]) -> None:
    portfolio = of(make_book, {"FX Rate": rates})
    assert np.array_equal(portfolio.numbers["par_value"], par, equal_nan=True)
    messages = {warning.code: warning.message for warning in portfolio.notes.warnings}
    refused = sum(value != value for value in par)
    assert ("other_currency" in messages) == (refused > 0)
    assert ("currency_converted" in messages) == (refused < 2)
    if refused:
        assert (
            "100.00 is not counted" in messages["other_currency"]
            or "50.00 is not counted" in messages["other_currency"]
        )


@every(
    "page, par",
    [
        ([["EUR/USD", 1.25], ["EUR/GBP", 0.8]], [80.0, 62.5]),
        ([["Currency", "Rate"], ["US Dollar", 0.8], ["GBP", 1.25]], [80.0, 62.5]),
        ([["GBP/USD", 1.25]], [np.nan, np.nan]),  # a pair without the deal's currency says nothing of it
        ([["USD", 0.8], ["USD", 0.7], ["GBP", 1.25]], [np.nan, 62.5]),
        ([["GBPUSD", "soon"], ["x" * 500, 1.25], ["GBP", True]], [np.nan, np.nan]),
    ],
)
def test_a_page_of_rates(make_book: MakeBook, page: list[Any], par: list[float]) -> None:
    portfolio = of(make_book, **{"FX Rates": page})
    assert np.array_equal(portfolio.numbers["par_value"][1:3], par, equal_nan=True)


def test_par_in_the_deal_s_currency(make_book: MakeBook) -> None:
    as_it_is = [900.0, 100.0, 50.0, 10.0]
    stated = of(make_book, par="Par Amount (EUR)")
    assert (stated.numbers["par_value"].tolist(), stated.notes.warnings) == (as_it_is, [])
    beside = of(make_book, {"Par Amount (Deal Currency)": [900.0, 85.0, 60.0, 10.0]})
    assert beside.numbers["par_value"].tolist() == [900.0, 85.0, 60.0, 10.0]


@every(
    "stated, header, rates, par, code",
    [
        ("USD", "Par", [], [900.0, 100.0, 50.0, 10.0], None),
        (None, "Par", [], [900.0, 100.0, 50.0, 10.0], None),
        ("EUR", "Par Amount (EUR)", [], [900.0, 100.0, 50.0, 10.0], None),
        ("Euro", "Par", [["EUR/USD", 1.25]], [720.0, 80.0, 40.0, 8.0], "currency_converted"),
        ("EUR", "Par", [], [np.nan] * 4, "other_currency"),
    ],
)
def test_all_loans_in_another_currency_than_the_deal(
    make_book: MakeBook, stated: str | None, header: str, rates: list[Any], par: list[float], code: str | None
) -> None:
    """Its notes, cash and limits are in the deal's currency.

    Dollars need a rate, though all loans agree.
    """
    names = [header if name == "Par" else name for name in HEADER]
    rows = [names, *([*row[:3], "USD", *row[4:]] for row in LOANS)]
    deal = [["Deal Currency", stated], ["Principal Cash", 1.0]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": rows, "Deal": deal, "FX Rates": rates or [["None", None]]}))
    assert np.array_equal(portfolio.numbers["par_value"], par, equal_nan=True)
    warnings = [(warning.code, warning.rows) for warning in portfolio.notes.warnings if "currency" in warning.code]
    assert warnings == ([] if code is None else [(code, 4)])


@every(
    "first, second, column, par",
    [
        ("Par (EUR)", "Par (GBP)", True, [900.0, 62.5]),
        ("Par (EUR)", "Par (GBP)", False, [900.0, 62.5]),
        ("Par (EUR)", "Par (EUR)", True, [900.0, 50.0]),  # converted by whoever wrote it
        ("Par (EUR)", "Par", True, [900.0, 62.5]),
        ("Par Amount (Deal Currency)", "Par (GBP)", False, [900.0, 62.5]),
        ("Par (EUR)", "Par (CHF)", False, [900.0, np.nan]),
    ],
)
def test_a_second_sheet_whose_header_names_another_currency(
    make_book: MakeBook, first: str, second: str, column: bool, par: list[float]
) -> None:
    """Its par is converted, or not counted and told; never added up as it is."""
    sheets = {}
    for name, header, row in (("Loans", first, LOANS[0]), ("More", second, LOANS[2])):
        names = [header if name == "Par" else name for name in HEADER]
        keep = [at for at, title in enumerate(names) if column or title != "Currency"]
        sheets[name] = [[cells[at] for at in keep] for cells in (names, row)]
    deal = [["Deal Currency", "EUR"]]
    portfolio = Portfolio.from_workbook(make_book(sheets | {"FX Rates": [["GBP", 1.25]], "Deal": deal}))
    assert np.array_equal(portfolio.numbers["par_value"], par, equal_nan=True)
    assert "par_currency" not in portfolio.names
    assert any(warning.code == "other_currency" for warning in portfolio.notes.warnings) == np.isnan(par[1])


def test_a_currency_that_only_an_account_names_converts_nothing(make_book: MakeBook) -> None:
    rows = [HEADER, *([*row[:3], "USD", *row[4:]] for row in LOANS)]
    accounts = [["Account", "Balance"], ["EUR Principal Account", 5.0], ["EUR Interest Account", 1.0]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": rows, "Accounts": accounts}))
    assert (portfolio.deal.currency, np.nansum(portfolio.numbers["par_value"])) == ("EUR", 1060.0)


def test_what_has_no_rate_is_not_counted_and_named(make_book: MakeBook) -> None:
    portfolio = of(make_book)
    assert np.nansum(portfolio.numbers["par_value"]) == pytest.approx(910.0)
    assert portfolio.row_count == 4
    assert [(warning.code, warning.rows) for warning in portfolio.notes.warnings] == [("other_currency", 1)] * 2
    assert "(Beta)" in portfolio.notes.warnings[0].message


def test_a_second_par_without_a_currency_is_no_par_of_the_deal(make_book: MakeBook) -> None:
    """Nothing of the file names the deal's currency, and a commitment beside par is in the loans' own."""
    commitment = {"Commitment": [900.0, 100.0, 50.0, 10.0]}
    portfolio = of(make_book, commitment, **{"Exchange Rates": [["USD", 0.8], ["GBP", 1.25], ["EUR", 1.0]]})
    assert portfolio.numbers["par_value"].tolist() == [900.0, 80.0, 62.5, 10.0]


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("EUR 1,234.00", "EUR"), ("1,234.00 EUR", "EUR"), ("\u20ac1,234", "EUR"), ("(\u20ac 1,234)", "EUR"),
        ("1.234,00 \u20ac", "EUR"), ("$1,234", "USD"), ("US$ 1,234", "USD"), ("C$1,234", "CAD"), ("\u00a38.8", "GBP"),
        ("usd 5", "USD"), ("USD5mm", "USD"), ("1,234", ""), ("3,464 Mio.", ""), ("12 BPS", ""), ("Acme", ""),
    ],
)  # fmt: skip
def test_currency_of_an_amount(text: str, currency: str) -> None:
    assert currency_of(text) == currency


@pytest.mark.parametrize(
    ("number_format", "currency"),
    [
        ("[$$-409]#,##0.00", "USD"), ("[$\u20ac-2] #,##0.00", "EUR"), ('#,##0.00 "EUR"', "EUR"), ("[$USD] 0", "USD"),
        ('_("$"* #,##0.00_);_("$"* (#,##0.00)', "USD"), ("\\\u00a3#,##0", "GBP"), ("[$-409]d-mmm-yy", ""),
        ("#,##0.00", ""), ("General", ""), ('0.0"x"', ""),
    ],
)  # fmt: skip
def test_currency_of_a_number_format(number_format: str, currency: str) -> None:
    assert shown_currency(number_format) == currency


def test_currencies_of_a_column(make_cells: Callable[..., Cells], shown: Callable[[float, str], Any]) -> None:
    values = ["$1,000.00", "\u20ac2,345.50", "  GBP 7", None, "9", 5.0, shown(8.0, "[$\u20ac-2] 0"), "\u20ac9,999.99"]
    column = currencies(make_cells(values))
    names = [column.text[int(code)] if code >= 0 else "" for code in column.codes]
    assert names == ["USD", "EUR", "GBP", "", "", "", "EUR", "EUR"]


def _portfolio(map_rows: Callable[..., Portfolio], pars: list[Any], *more: list[Any]) -> Portfolio:
    header = ["LoanX ID", "Issuer", "Par", *(column[0] for column in more)]
    rows = [[f"LX10000{at}", f"Issuer {at}", par, *(column[at + 1] for column in more)] for at, par in enumerate(pars)]
    return map_rows([header, *rows])


def test_amounts_in_several_currencies_are_not_added(
    map_rows: Callable[..., Portfolio], shown: Callable[[float, str], Any]
) -> None:
    for pars in (
        ["$2,000,000.00", "$1,500,000.00", "\u20ac1,000,000.00"],
        ["2,000,000.00 USD", "1,500,000.00 USD", "1,000,000.00 EUR"],
        [shown(2e6, "[$$-409]#,##0"), shown(1.5e6, "[$$-409]#,##0"), shown(1e6, "[$\u20ac-2] #,##0")],
    ):
        portfolio = _portfolio(map_rows, pars)
        assert portfolio.numbers["par_value"].tolist()[:2] == [2e6, 1.5e6]
        assert portfolio.numbers["par_value"][2] != 1e6
        assert "other_currency" in {warning.code for warning in portfolio.notes.warnings}


def test_a_rate_of_the_loan_converts_its_amount(map_rows: Callable[..., Portfolio]) -> None:
    pars = ["$2,000,000", "$1,500,000", "\u20ac1,000,000"]
    portfolio = _portfolio(map_rows, pars, ["FX Rate", 1.0, 1.0, 1.1])
    assert portfolio.numbers["par_value"].tolist() == [2e6, 1.5e6, 1.1e6]


def test_a_column_of_currencies_goes_before_signs(map_rows: Callable[..., Portfolio]) -> None:
    portfolio = _portfolio(map_rows, ["$2,000,000", "\u20ac1,000,000"], ["Currency", "USD", "USD"])
    assert portfolio.numbers["par_value"].tolist() == [2e6, 1e6]


@pytest.mark.parametrize(
    ("pars", "is_warned"),
    [
        ([1e6, 2e6, "\u20ac1,000,000", "\u20ac3,000,000"], True),
        (["$1,000,000", 2e6, 3e6, "\u20ac1,000,000"], True),
        (["$1,000,000", "$2,000,000", 3e6, 4e6], False),  # a table may show dollars in some rows alone
        (["\u20ac1,000,000", 2e6, 3e6, 4e6], False),
        (["\u20ac1,000,000", "\u20ac2,000,000"], False),
    ],
)
def test_some_amounts_with_another_currency_are_told(
    map_rows: Callable[..., Portfolio], pars: list[Any], is_warned: bool
) -> None:
    portfolio = _portfolio(map_rows, pars)
    assert not portfolio.numbers["par_value"].tolist().count(float("nan"))
    assert ("signs_differ" in {warning.code for warning in portfolio.notes.warnings}) == is_warned
