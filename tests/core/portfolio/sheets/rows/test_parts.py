"""Rows with a name and a par that are no loans: sums, lots, parts, contracts; and what is left is doubted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]

HEADER = ["Issuer", "Facility", "Par", "Spread", "Maturity", "Moody's Rating", "Price"]
PARS = [1234.5, 2345.25, 987.75, 4321.5, 1111.25, 3210.5]
LOANS: list[list[Any]] = [
    [f"{name} Inc", "Term Loan B", par, 325.0, "2031-01-31", "B2", 98.5]
    for name, par in zip(["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"], PARS, strict=True)
]


def pars(portfolio: Portfolio) -> list[float]:
    return portfolio.numbers["par_value"].tolist()


def codes(portfolio: Portfolio) -> set[str]:
    return {warning.code for warning in portfolio.notes.warnings}


@every(
    "first, second, figures",
    [
        ("Software", "3 loans", ()),
        ("Software", "3 assets", (325.0, None, None, 98.5)),  # averages beside the sum
        ("Software", 3.0, ()),
        ("Total Group A", 3.0, ()),
        (None, "Software", ()),
    ],
)
def test_sums_with_a_text_for_a_facility_count_nothing(
    map_rows: MapRows, first: str | None, second: Any, figures: tuple[Any, ...]
) -> None:
    sums = [[first, second, sum(PARS[low : low + 3]), *figures] for low in (0, 3)]
    portfolio = map_rows([HEADER, *LOANS[:3], sums[0], *LOANS[3:], sums[1]])
    assert pars(portfolio) == PARS
    assert "bare_loans" not in codes(portfolio)


@every("first, second", [(None, "Lot {}"), ("Lot {}", None), ("{name}", "Lot {}"), (None, "traded {}.3.26")])
def test_rows_that_add_up_to_the_loan_above_are_its_lots(
    map_rows: MapRows, first: str | None, second: str | None
) -> None:
    rows: list[list[Any]] = []
    for loan in LOANS:
        texts = [[text and text.format(at, name=loan[0]) for text in (first, second)] for at in (1, 2)]
        rows += [loan, [*texts[0], 500.25], [*texts[1], loan[2] - 500.25]]
    assert pars(map_rows([HEADER, *rows[:9], *LOANS[3:]])) == PARS
    if first is None:
        assert pars(map_rows([HEADER, *rows])) == PARS


def test_facilities_under_a_merged_issuer_are_loans(map_rows: MapRows) -> None:
    """Though two of them add up to the first by chance, in round figures."""
    facilities = [["Gum AG", "Term Loan B", 3000.0, 325.0, "2031-01-31", "B2", 98.5], [None, "Revolver", 1000.0],
                  [None, "Delayed Draw", 2000.0]]  # fmt: skip
    assert pars(map_rows([HEADER, *LOANS, *facilities])) == [*PARS, 3000, 1000, 2000]


@every(
    "text",
    [
        "  of which unsettled", "thereof undrawn", "davon nicht gezogen", "  of which: unfunded", "Prior month",
        "PIK accrued", "Unfunded commitment", "Adjustment: haircut", "Less: unsettled sales", "Contract 1 (SOFR 4.3 %)",
    ],
)  # fmt: skip
def test_what_is_said_of_the_loan_above_is_none(map_rows: MapRows, text: str) -> None:
    portfolio = map_rows([HEADER, LOANS[0], [text, None, 500.0], *LOANS[1:]])
    assert pars(portfolio) == PARS
    assert "bare_loans" not in codes(portfolio)
    assert [warning.message for warning in portfolio.notes.warnings if warning.code == "no_collateral"] == [
        "1 row of sheet 'Holdings' with a par of 500.00 is no loan: its name says something of the loan above."
    ]


@every(
    "name",
    [
        "Lot 18 Wines LLC", "Lots 4 Less Inc", "Contract 2 Health", "Adjustments Software Inc", "Thereof Labs",
        "Accrued Interest Partners", "Prior Year Vintage", "Lot 18",
    ],
)  # fmt: skip
@every("cells", [("Term Loan B", 777.0, 400.0), (None, 777.0, 400.0), (None, 777.0, None, None, None, 98.5)])
def test_unrated_companies_with_such_words_are_loans(map_rows: MapRows, name: str, cells: tuple[Any, ...]) -> None:
    assert pars(map_rows([HEADER, *LOANS, [name, *cells]])) == [*PARS, 777]


@every("name", ["Lot 18 Wines LLC", "Contract 2 Health", "Adjustments Software Inc", "Thereof Labs"])
def test_such_a_company_without_more_is_doubted(map_rows: MapRows, name: str) -> None:
    portfolio = map_rows([HEADER, *LOANS, [name, None, 777.0]])
    assert pars(portfolio) == [*PARS, 777]
    assert "bare_loans" in codes(portfolio)


@every(
    "name",
    [
        "Treasury Portfolio Services", "Asset Swap LLC", "T Bill Holdings", "Government Obligations Software",
        "Liquidity Fund Services, Inc.",
    ],
)  # fmt: skip
def test_a_company_with_the_words_of_a_fund_is_a_loan(map_rows: MapRows, name: str) -> None:
    rows = [[row[0], *row[2:]] for row in LOANS]
    header = [HEADER[0], *HEADER[2:]]
    assert pars(map_rows([header, *rows, [name, 777.0, 400.0, None, None, 97.0]])) == [*PARS, 777]
    bank = map_rows([header, *rows, ["Interest Rate Swap - Birch Bank LLC", 777.0]])
    assert pars(bank) == PARS


@every(
    "row",
    [
        ["Interest Rate Swap - Bank", "Swap", 9000.0, None, "2031-01-31"],
        ["FX Forward EUR/USD", "FX Forward", 9000.0, None, "2027-01-31"],
        ["United States Treasury Bill", "T-Bill", 9000.0, None, "2027-01-31", "Aaa", 99.1],
        ["Liquidity Funds T-Fund", None, 9000.0],
        ["Institutional Govt Portfolio", None, 9000.0],
        ["Gum Corp. (Warrants)", None, 9000.0],
    ],
)
def test_contracts_and_cash_are_no_loans(map_rows: MapRows, row: list[Any]) -> None:
    portfolio = map_rows([HEADER, *LOANS, row])
    assert pars(portfolio) == PARS
    assert (portfolio.notes.no_collateral_rows, portfolio.notes.no_collateral_par) == (1, 9000)
    assert "no_collateral" in codes(portfolio)


@every("name", ["Treasury Wine Estates", "Swap Media Group", "Portfolio Recovery Inc", "Moneygram", "Future plc"])
def test_companies_with_such_words_are_loans(map_rows: MapRows, name: str) -> None:
    assert pars(map_rows([HEADER, *LOANS, [name, *LOANS[0][1:]]])) == [*PARS, PARS[0]]
    assert pars(map_rows([HEADER, *LOANS, [name, "Term Loan B", 777.0]])) == [*PARS, 777]


@pytest.mark.parametrize("heading", ["Pending trades (not included above)", "Unsettled purchases (not in total)"])
def test_trades_that_are_not_included_are_left_out(map_rows: MapRows, heading: str) -> None:
    assert pars(map_rows([HEADER, *LOANS, [heading], ["Gum AG", *LOANS[0][1:]]])) == PARS


def test_a_name_and_a_par_alone_are_doubted(map_rows: MapRows) -> None:
    portfolio = map_rows([HEADER, *LOANS, ["Gum AG", "Term Loan B", 500.0]])
    assert pars(portfolio) == [*PARS, 500]
    assert [warning.message for warning in portfolio.notes.warnings if warning.code == "bare_loans"] == [
        "1 loan of sheet 'Holdings' has only a name and a par: 500.00 of 13,710.75."
    ]
    assert any(doubt.code == "implausible" for result in run_suite(portfolio) for doubt in result.doubt)
    few = map_rows([HEADER[:3], *(row[:3] for row in LOANS)])
    assert "bare_loans" not in codes(few)


@every("first, second", [("Software", None), (None, None), ("Software", "3 loans")])
@every("thin", [("Revolver", 375.0, 97.5), (None, 375.0, 97.5), ("Revolver", 375.0, None)])
def test_unrated_loans_are_parts_of_a_sum(
    map_rows: MapRows, first: str | None, second: str | None, thin: tuple[Any, ...]
) -> None:
    """They lack a maturity and an identifier, too, as the sum does."""
    facility, spread, price = thin
    rows = [*LOANS[:5], ["Fir Inc", facility, PARS[5], spread, None, None, price]]
    sums = [[first, second, sum(PARS[low : low + 3])] for low in (0, 3)]
    portfolio = map_rows([HEADER, *rows[:3], sums[0], *rows[3:], sums[1]])
    assert pars(portfolio) == PARS
    assert portfolio.notes.unidentified_rows == 0
    assert "bare_loans" not in codes(portfolio)


def test_an_unrated_loan_as_large_as_its_borrowers_first_stays(map_rows: MapRows) -> None:
    rows = [["Fir Inc", "Revolver", PARS[5], 375.0, None, None, 97.5]]
    assert pars(map_rows([HEADER, *LOANS, *rows])) == [*PARS, PARS[5]]
