"""Workbooks to portfolios.

The sheet that is chosen, units of whole columns, and the quirks of three trustees.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.files.read import read
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.assemble.read import missing_columns
from core.portfolio.mapping.normalise import normalise_rows
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.model.fields import PROFILES, Field, Lien, Mapping
from tests.rows import every

MapRows = Callable[..., Portfolio]
MakeBook = Callable[..., Workbook]
HEADER = ["LoanX ID", "Issuer", "Par", "Price"]


def days(*when: int) -> float:
    return float((date(*when) - date(1970, 1, 1)).days)


def named(portfolio: Portfolio, target: str) -> list[str | None]:
    names = portfolio.names[target]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


def test_the_sheet_with_the_best_header_is_chosen_then_the_first(make_book: MakeBook) -> None:
    few = [["Issuer", "Par", "Price"], ["Few", 1.0, 2.0]]
    many = [[*HEADER, "Spread"], ["LX100001", "Many", 1.0, 99.0, 300.0]]
    book = make_book({"Deal": [["Principal Cash", 5.0]], "First": few, "Second": many, "Third": many})
    portfolio = Portfolio.from_workbook(book)
    assert portfolio.sheet_name == "Second"
    assert portfolio.source_cells["par_value"] == "'Second'!C2"


def test_a_sheet_of_notes_is_not_taken_for_holdings(make_book: MakeBook) -> None:
    tranches = [["Class", "CUSIP", "Current Balance", "Spread", "Rating", "Coupon"], ["A", "x", 5.0, 130, "AAA", 6.0]]
    book = make_book({"Tranches": tranches, "Loans": [["Issuer", "Par", "Price"], ["A", 1.0, 2.0]]})
    portfolio = Portfolio.from_workbook(book)
    assert portfolio.sheet_name == "Loans"
    assert portfolio.tranches is not None
    assert Portfolio.from_workbook(make_book({"Tranches": tranches})).row_count == 0
    # Holdings may stand in a sheet named like one for accounts, too.
    assert Portfolio.from_workbook(make_book({"Summary": [["Issuer", "Par", "Price"], ["A", 1.0, 2.0]]})).row_count == 1


def test_a_workbook_without_holdings_is_a_portfolio_of_no_rows(make_book: MakeBook) -> None:
    for sheets in ({}, {"Sheet1": []}, {"Sheet1": [["hello"], ["world"]]}):
        portfolio = Portfolio.from_workbook(make_book(sheets), as_of=7.0)
        assert portfolio.row_count == 0
        assert portfolio.notes.holdings_found is False
        assert portfolio.notes.message == (
            "no sheet has a header that names 3 fields of Standard CLO holdings, one of them par_value, cusip, "
            "loanx_id, isin"
        )
        assert portfolio.deal.as_of == 7.0


def test_what_a_mapping_of_ones_own_looks_for_is_told_within_bounds(make_book: MakeBook) -> None:
    columns = {f"C{at}": {"target": f"f{at}", "type": "string"} for at in range(300)}
    mapping = configure_mapping({"source_type": "custom", "mappings": columns}, id="own", name="Own")
    message = Portfolio.from_workbook(make_book({"Sheet1": [["hello"]]}), mapping).notes.message
    assert (
        message == "no sheet has a header that names 3 fields of Own, one of them f0, f1, f2, f3, f4, f5, f6, f7, ..."
    )


def test_a_missing_required_column_is_told(map_rows: MapRows) -> None:
    portfolio = map_rows([["LoanX ID", "Issuer", "Price"], ["LX100001", "A", 99.0]])
    assert portfolio.notes.missing_required == ["par_value"]
    assert portfolio.row_count == 1
    assert "par_value" not in portfolio.numbers


def test_columns_land_in_their_units(map_rows: MapRows, shown: Callable[..., Any]) -> None:
    header = [
        "CUSIP",
        "Issuer",
        "Par",
        "Price",
        "Purchase Price",
        "Coupon Spread",
        "SOFR Floor",
        "All In Rate",
        "Recovery Rate",
        "Index",
        "Facility Size",
        "DPD",
        "# Quotes",
        "WAL",
        "Maturity",
        "Date of Defaulted",
        "Currency",
    ]
    row = [
        "037833100",
        "A",
        "1.5MM",
        0.99,
        0.98,
        0.0375,
        0.0075,
        0.085,
        0.45,
        "3M SOFR",
        "900,000,000",
        0,
        3,
        4.5,
        "29-Sep-2032",
        None,
        "usd",
    ]
    second_row = [
        "594918104",
        "B",
        "(2,000)",
        1.01,
        1.0,
        0.04,
        0.0,
        0.09,
        0.3,
        0.043,
        1e9,
        "45",
        "-",
        "5.5",
        48_000.0,
        "01-Jan-2026",
        "US Dollars",
    ]
    portfolio = map_rows([header, row, second_row])
    expected = {
        "par_value": [1_500_000, -2_000],
        "price": [99, 101],
        "purchase_price": [98, 100],
        "spread": [375, 400],
        "floor": [0.75, 0],
        "all_in_rate": [8.5, 9],
        "recovery_rate": [45, 30],
        "facility_size": [9e8, 1e9],
        "days_past_due": [0, 45],
        "average_life": [4.5, 5.5],
        "quote_depth": [3, np.nan],
        "base_rate_level": [np.nan, 4.3],
        "maturity_date": [days(2032, 9, 29), days(2031, 6, 1)],
        "default_date": [np.nan, days(2026, 1, 1)],
    }
    assert portfolio.numbers.keys() == expected.keys()
    for target, values in expected.items():
        assert np.allclose(portfolio.numbers[target], values, rtol=0, atol=1e-9, equal_nan=True), target
    assert named(portfolio, "base_rate") == ["SOFR-3M", None]
    assert named(portfolio, "currency") == ["USD", "USD"]
    assert portfolio.notes.negative_par_rows == 1


def test_a_header_says_the_unit(map_rows: MapRows) -> None:
    assert map_rows([["Issuer", "Par", "Spread (bps)"], ["A", 1.0, 12.5]]).numbers["spread"].tolist() == [12.5]
    assert map_rows([["Issuer", "Par", "Spread (%)"], ["A", 1.0, 30.0]]).numbers["spread"].tolist() == [3000]
    assert map_rows([["Issuer", "Par", "Spread"], ["A", 1.0, 12.5]]).numbers["spread"].tolist() == [1250]


def test_market_values_in_currency_become_prices(map_rows: MapRows) -> None:
    rows = [["Issuer", "Par", "Market Value"], ["A", 1_000.0, 990.0], ["B", 2_000.0, 1_000.0], ["C", 0.0, 500.0]]
    assert np.array_equal(map_rows(rows).numbers["price"], [99, 50, np.nan], equal_nan=True)
    # A column of prices, when there is one, is better.
    rows = [["Issuer", "Par", "Market Value", "Price"], ["A", 1_000.0, 990.0, 98.0]]
    assert map_rows(rows).numbers["price"].tolist() == [98]
    rows = [["Issuer", "Par", "Market Value", "Price"], ["A", 1_000.0, 99.0, 98.0]]
    assert map_rows(rows).numbers["price"].tolist() == [99]


def test_market_values_in_the_unit_of_par_become_prices(map_rows: MapRows) -> None:
    """Par and fair value in millions, without a word for it.

    Prices beside par in millions stay prices.
    """
    rows = [["Issuer", "Par", "Fair Value"], ["A", 8.8, 8.8], ["B", 90.5, 89.9], ["C", 4.0, 2.0]]
    assert np.allclose(map_rows(rows).numbers["price"], [100, 99.337, 50], atol=0.001)
    rows = [["Issuer", "Par", "Price"], ["A", 8.8, 99.0], ["B", 90.5, 98.0], ["C", 4.0, 55.0]]
    assert map_rows(rows).numbers["price"].tolist() == [99, 98, 55]


def test_a_price_of_zero_is_none_unless_defaulted(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            ["Issuer", "Par", "Price", "Default Status"],
            ["A", 1.0, 0.0, "No"],
            ["B", 1.0, 0.0, "Yes"],
            ["C", 1.0, 95.0, ""],
        ]
    )
    assert np.array_equal(portfolio.numbers["price"], [np.nan, 0, 95], equal_nan=True)
    assert portfolio.flags["is_defaulted"].tolist() == [0, 1, 0]
    assert portfolio.notes.zero_prices == 1


def test_error_cells_are_blank_and_counted(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [HEADER, ["LX100001", "A", 1.0, "#N/A"], ["LX100002", "#REF!", 2.0, 99.0], ["LX100003", "C", "#VALUE!", 99.0]]
    )
    assert portfolio.numbers["par_value"].tolist() == [1, 2]
    assert portfolio.notes.error_cells == 2
    assert portfolio.notes.ignored_blank_par == 1


def test_ratings_flags_and_liens(map_rows: MapRows) -> None:
    header = [
        "Issuer",
        "Par",
        "Rating",
        "Moody's Rating WARF",
        "S&P Rating",
        "Fitch Rating",
        "Lien Type",
        "Cov-Lite",
        "DIP",
        "Moody Facility Rating",
    ]
    rows = [
        ["A", 1.0, "BB-", "B2 *-", "SD", "RD", "First Lien", "Y", 1, "B1"],
        ["B", 1.0, "Caa1", "***", "NR", None, None, "-", 0, None],
        ["C", 1.0, "what", "B4", "CCC+", "B", "2nd Lien", "", None, "Ba3"],
    ]
    portfolio = map_rows([header, *rows])
    assert {name: ranks.tolist() for name, ranks in portfolio.ranks.items()} == {
        "rating": [13, 17, 0],
        "rating_agency_a": [15, 0, 0],
        "rating_agency_b": [22, 0, 17],
        "rating_agency_c": [22, 0, 15],
        "facility_rating_agency_a": [14, 0, 13],
        "rating_agency_a_facility": [14, 0, 13],
        "rating_agency_a_derived": [15, 0, 0],
    }
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == [Lien.FIRST_LIEN, Lien.BLANK, Lien.SECOND_LIEN]
    assert portfolio.notes.lien_blank_rows == 1
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 0]
    assert portfolio.flags["is_dip"].tolist() == [1, 0, 0]
    assert portfolio.notes.unreadable_cells == {"rating": 1, "rating_agency_a": 1}
    assert portfolio.defaulted().tolist() == [True, False, False]


def test_a_second_lien_flag(map_rows: MapRows) -> None:
    portfolio = map_rows([["Issuer", "Par", "Is_Second_Lein"], ["A", 1.0, "Y"], ["B", 1.0, "N"], ["C", 1.0, 1]])
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == [Lien.SECOND_LIEN, Lien.FIRST_LIEN, Lien.SECOND_LIEN]


@pytest.mark.parametrize(
    ("header", "rows", "fixed"),
    [
        (["Coupon Type"], [["Fixed"], ["FLOAT"], ["Floating"], [None]], [1, 0, 0, 0]),
        (["Index"], [["Fixed"], ["SOFR"], [None]], [1, 0, 0]),
        (["Spread", "Coupon"], [[300.0, 8.0], [None, 8.0], [None, None]], [0, 1, 0]),
        (["Spread", "Coupon", "Index"], [[None, 8.0, "SOFR"], [None, 8.0, None]], [0, 1]),
        (["Coupon Type", "Index"], [["Float", "Fixed"], [None, "Fixed"]], [0, 1]),
        (["Price"], [[99.0]], None),
        (["Coupon"], [[8.0]], None),
    ],
)
def test_fixed_coupons(map_rows: MapRows, header: list[str], rows: list[list[Any]], fixed: list[int] | None) -> None:
    portfolio = map_rows(
        [
            ["CUSIP", "Issuer", "Par", *header],
            *(["x", "A", 1.0, *row] if at < 0 else [None, f"A{at}", 1.0, *row] for at, row in enumerate(rows)),
        ]
    )
    assert (portfolio.flags["is_fixed"].tolist() if "is_fixed" in portfolio.flags else None) == fixed


def test_text_dates_and_the_1904_system(make_book: MakeBook) -> None:
    rows = [
        ["Issuer", "Par", "Maturity", "As Of Date"],
        ["A", 1.0, date(2030, 6, 30), date(2026, 3, 31)],
        ["B", 1.0, "31.12.2031", None],
    ]
    for is_1904 in (False, True):
        portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}, date_1904=is_1904), as_of=1.0)
        assert portfolio.numbers["maturity_date"].tolist() == [days(2030, 6, 30), days(2031, 12, 31)]
        assert portfolio.deal.as_of == days(2026, 3, 31)


def test_trustee_a_monthly_report(map_rows: MapRows) -> None:
    """Titles, a header in two lines, identifiers of several kinds in one column, page footers, a total."""
    rows = [
        ["Monthly Report"],
        ["Deal XV"],
        ["31-Mar-2026"],
        [],
        ["Issuer", "Issue/Facility", "Principal", "Moody's DP", "Stated", "Default", "Cov"],
        ["Name", "Identifier", "Balance", "Rating - WARF", "Maturity", "Status", "Lite"],
        ["Alpha S.à r.l.", "LX28443T7", "1,000,000.00", "B2 *-", "29-Sep-2032", "-", "Yes"],
        ["Beta AG", "US0378331005", "2,000,000.00", "***", "30-Sep-2031", "-", "-"],
        ["© 2026 Trustee", None, None, None, None, None, None],
        ["Alpha S.a.r.l.", "594918104", "500,000.00", "B2", "29-Sep-2032", "-", "-"],
        ["Total Balance", None, "3,500,000.00", None, None, None, None],
    ]
    portfolio = map_rows(rows)
    assert portfolio.numbers["par_value"].tolist() == [1e6, 2e6, 5e5]
    assert named(portfolio, "loanx_id") == ["LX28443T7", None, None]
    assert named(portfolio, "isin") == [None, "US0378331005", None]
    assert named(portfolio, "cusip") == [None, None, "594918104"]
    assert named(portfolio, "obligor") == ["ALPHA", "BETA", "ALPHA"]
    assert portfolio.ranks["rating_agency_a"].tolist() == [15, 0, 15]
    assert portfolio.numbers["maturity_date"].tolist() == [days(2032, 9, 29), days(2031, 9, 30), days(2032, 9, 29)]
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 0]


def test_trustee_b_flat_file(map_rows: MapRows) -> None:
    """Underscores, padded text, funded balances of zero for bonds, several slices of a facility, two date styles."""
    header = [
        "Deal_Name",
        "Issuer_Name",
        "LoanX_ID",
        "CUSIP",
        "Principal_Funded_Balance",
        "Commitment",
        "Current_Spread",
        "Security_Level",
        "Moodys_Rating_Final",
        "Maturity_Date",
        "Is_Default",
    ]
    rows = [
        ["XV", "Alpha  ", "LX131555  ", None, 600.0, 0, 3.75, "Senior Secured", "B2   ", "30.09.2031", "N"],
        ["XV", "Alpha", "LX131555", None, 400.0, 0, 3.5, "Senior Secured", "B3", "30-SEP-2031", "N"],
        ["XV", "Beta ", None, "037833100", 0.0, 700.0, None, "Senior Secured Bond", "NR", "15.01.2030", "N"],
        ["XV", "Gamma", "LX131556", None, 0.0, 900.0, 4.0, "Senior Secured", "B1", "15.01.2030", "False"],
    ]
    portfolio = map_rows([header, *rows])
    assert portfolio.numbers["par_value"].tolist() == [1000, 700, 0]
    assert portfolio.numbers["spread"][0] == pytest.approx((600 * 375 + 400 * 350) / 1000)
    assert portfolio.ranks["rating_agency_a"].tolist() == [15, 0, 14]
    assert (portfolio.notes.lots, portfolio.notes.conflicting_lots) == (2, 1)


def test_trustee_c_portal_export(map_rows: MapRows) -> None:
    """Very long headers, deal currency before issue currency, 1/0 flags, American dates."""
    header = [
        "Issuer/Borrower Name",
        "LoanX ID",
        "CUSIP",
        "Current Par Amount (Issue Currency) - Settled",
        "Par Amount (Deal Currency)",
        "Deal Issue (Derived) Rating - Moody's",
        "Deal Issue (Derived) Rating - S&P",
        "Is Cov-Lite",
        "Maturity Date",
        "Country of Domicile",
    ]
    rows = [
        ["Alpha", "LX131555", None, 90.0, 100.0, "B2", "B", 1, "12/31/2031", "United States of America"],
        ["Beta", "LX131556", None, 80.0, 200.0, "B3", "B-", 0, "01/02/2030", "UK"],
    ]
    portfolio = map_rows([header, *rows])
    assert portfolio.numbers["par_value"].tolist() == [100, 200]
    assert named(portfolio, "country") == ["US", "GB"]
    assert portfolio.flags["cov_lite"].tolist() == [1, 0]
    assert portfolio.numbers["maturity_date"].tolist() == [days(2031, 12, 31), days(2030, 1, 2)]


def test_a_mapping_of_ones_own(make_book: MakeBook) -> None:
    mapping = Mapping(
        "own",
        "Own",
        "custom",
        (
            Field("par_value", "number", True, ("Betrag",)),
            Field("borrower_name", "string", True, ("Schuldner",)),
            Field("price", "number", False, ("Kurs",)),
        ),
    )
    book = make_book(
        {"Bestand": [["Schuldner", "Betrag", "Kurs"], ["Müller GmbH", "1.000,50", 99.0], ["MULLER", 2.0, 98.0]]}
    )
    portfolio = Portfolio.from_workbook(book, mapping)
    assert portfolio.numbers["par_value"].tolist() == [1000.5, 2]
    assert named(portfolio, "obligor") == ["MULLER", "MULLER"]
    assert Portfolio.from_workbook(book).row_count == 0


BOOK_HEADER = [
    "LoanX ID",
    "Issuer Name",
    "Par Amount",
    "Price",
    "Spread",
    "Moody's Rating",
    "Industry",
    "Maturity",
    "Cov-Lite",
    "Country",
]


def loan_rows(draw: Callable[..., Any]) -> list[list[Any]]:
    count = draw(st.integers(1, 12))
    return [
        [
            f"LX{100_000 + draw(st.integers(0, 7))}",
            draw(st.sampled_from(["Acme Corp.", "ACME CORP", "Beta LLC", "Gämma S.A."])),
            float(draw(st.integers(1, 10_000))) + at / 128,
            draw(st.sampled_from([None, 99.5, "98.25", 101.0])),
            draw(st.sampled_from([350.0, 425.0, None])),
            draw(st.sampled_from(["B2", "B3 *-", "NR", None])),
            draw(st.sampled_from(["Retail", "RETAIL", "Space Mining", None])),
            draw(st.sampled_from([date(2030, 1, 31), "31-Jan-2031", None])),
            draw(st.sampled_from(["Y", "N", None])),
            draw(st.sampled_from(["USA", "U.S.", "France"])),
        ]
        for at in range(count)
    ]


def summary(portfolio: Portfolio) -> dict[str, Any]:
    """Return what does not depend on the order of rows: positions by identifier."""
    cells_by_id: dict[str, Any] = {}
    for row, identifier in enumerate(named(portfolio, "loanx_id")):
        cells_by_id[str(identifier)] = (
            {name: repr(round(float(values[row]), 6)) for name, values in portfolio.numbers.items()},
            {
                name: named(portfolio, name)[row]
                for name in ("obligor", "industry", "country")
                if name in portfolio.names
            },
            {name: int(ranks[row]) for name, ranks in portfolio.ranks.items()},
            {name: int(flags[row]) for name, flags in portfolio.flags.items()},
        )
    return cells_by_id


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_order_of_rows_and_of_the_text_pool_does_not_matter(make_book: MakeBook, data: st.DataObject) -> None:
    rows = loan_rows(data.draw)
    seed = data.draw(st.integers(0, 99))
    shuffled = random.Random(seed).sample(rows, len(rows))
    straight = Portfolio.from_workbook(make_book({"Holdings": [BOOK_HEADER, *rows]}))
    turned = Portfolio.from_workbook(
        make_book({"Holdings": [BOOK_HEADER, *shuffled]}, order=lambda pool: sorted(pool, reverse=True))
    )
    assert summary(straight) == summary(turned)
    assert straight.notes.conflicting_lots == turned.notes.conflicting_lots


CLEAN = [
    [f"LX{100_001 + at}", f"Company {at // 2} Inc", 1_000.0 + at, 99.0, 350.0 + 25 * (at % 3), "B2", date(2031, 1, 31)]
    for at in range(12)
]
CLEAN_HEADER = ["LoanX ID", "Issuer Name", "Par Amount", "Price", "Coupon Spread", "Moody's Rating", "Maturity"]
TWO_ROWS = [
    ["LoanX", "Issuer", "Par", None, "Coupon", "Moody's", None],
    ["ID", "Name", "Amount", "Price", "Spread", "Rating", "Maturity"],
]
BROKEN = ["LX200000", "Broken", "#N/A", 99.0, 350.0, "B2", None]
MESS: dict[str, list[list[Any]]] = {
    "titles": [["Deal"], ["As of today"], [], CLEAN_HEADER, *CLEAN],
    "two rows": [*TWO_ROWS, *CLEAN],
    "total": [CLEAN_HEADER, *CLEAN, ["Total", None, sum(row[2] for row in CLEAN)], [], ["Source: desk"]],
    "merged": [CLEAN_HEADER, *([row[0], None if at % 2 else row[1], *row[2:]] for at, row in enumerate(CLEAN))],
    "errors": [CLEAN_HEADER, *CLEAN[:4], BROKEN, *CLEAN[4:]],
    "text": [
        CLEAN_HEADER,
        *([*row[:2], f"{row[2]:,.2f}", f" {row[3]} ", f"S+{row[4]:.0f}", *row[5:]] for row in CLEAN),
    ],
    "percent": [CLEAN_HEADER, *([*row[:3], row[3] / 100, row[4] / 10_000, *row[5:]] for row in CLEAN)],
    "trailing": [[f"{name}  " for name in CLEAN_HEADER], *CLEAN],
    "lots": [CLEAN_HEADER, *([*row[:2], row[2] * share, *row[3:]] for row in CLEAN for share in (0.25, 0.75))],
    "negative": [CLEAN_HEADER, *([*row[:2], par, *row[3:]] for row in CLEAN for par in (row[2] + 50, -50.0))],
}


@pytest.mark.parametrize("mess", MESS)
def test_each_kind_of_mess_gives_the_clean_answer(make_book: MakeBook, mess: str) -> None:
    expected = Portfolio.from_workbook(make_book({"Holdings": [CLEAN_HEADER, *CLEAN]}))
    portfolio = Portfolio.from_workbook(make_book({"Holdings": MESS[mess]}))
    if mess == "text":  # "S+350" says the index, too: the loan floats
        assert portfolio.flags.pop("is_fixed").tolist() == [0] * len(CLEAN)
    assert summary(portfolio).keys() == summary(expected).keys()
    assert summary(portfolio) == summary(expected)


MAG17 = Path(__file__).parents[4] / "../shared/data/mag17.xlsx"


@pytest.mark.parametrize("path", [MAG17] if MAG17.exists() else [])
def test_a_real_deal(path: Path) -> None:
    """The figures that the deal itself reported, from its columns by the default mapping."""
    portfolio = Portfolio.from_workbook(read(path))
    par = portfolio.numbers["par_value"]
    assert portfolio.row_count == 195
    assert par.sum() == pytest.approx(431_157_604.92, abs=0.005)
    assert portfolio.deal.principal_cash == pytest.approx(68_842_395.08471012)
    assert portfolio.deal.base_rate == 0.542
    assert portfolio.deal.as_of == days(2016, 3, 23)
    cpa = par.sum() + portfolio.deal.principal_cash

    def share(rows: Any) -> float:
        return float(par[rows].sum() / cpa * 100)

    from core.portfolio.model import ratings

    assert (par * ratings.FACTOR[portfolio.ranks["rating_agency_a"]]).sum() / par.sum() == pytest.approx(
        2575.698435, abs=1e-6
    )
    assert (par * portfolio.numbers["recovery_rate"]).sum() / par.sum() == pytest.approx(50.137, abs=5e-4)
    assert (par * portfolio.numbers["average_life"]).sum() / par.sum() == pytest.approx(5.05, abs=5e-3)
    credit = np.maximum(0, portfolio.numbers["floor"] - 0.542) * 100
    assert (par * (portfolio.numbers["spread"] + credit)).sum() / par.sum() / 100 == pytest.approx(4.024, abs=5e-4)
    obligors = np.bincount(portfolio.names["obligor"].codes, par)
    assert obligors.max() / cpa * 100 == pytest.approx(1.796, abs=5e-4)
    assert np.sort(obligors)[-5:].sum() / cpa * 100 == pytest.approx(8.0235703, abs=1e-6)
    industries = np.sort(np.bincount(portfolio.names["industry"].codes, par)) / cpa * 100
    assert industries[-2:].tolist() == pytest.approx([11.923, 12.796], abs=5e-4)
    assert share(portfolio.flags["cov_lite"] == 1) == pytest.approx(20.466, abs=5e-4)
    assert share(portfolio.flags["is_dip"] == 1) == pytest.approx(2.5, abs=5e-4)
    country = portfolio.names["country"]
    assert share(country.codes != list(country.values).index("US")) == pytest.approx(10.925, abs=5e-4)
    assert share(portfolio.lien != Lien.FIRST_LIEN) == pytest.approx(2.836, abs=5e-4)
    assert share(portfolio.ranks["rating_agency_b"] >= ratings.CCC) == pytest.approx(3.236, abs=5e-4)
    assert share(portfolio.flags["is_fixed"] == 1) == 0
    assert portfolio.tranches is not None
    assert portfolio.tranches.classes[0] == "Class X"
    assert portfolio.tranches.current_balance[~portfolio.tranches.is_income].sum() == 462_400_000
    assert np.array_equal(portfolio.tranches.oc_trigger[3:7], [124.3, 115.2, 108.9, 104.2])
    assert portfolio.notes.total_rows == 1
    assert portfolio.notes.header_row == 4


def test_a_header_without_loans_gives_way_to_a_sheet_with_some(make_book: MakeBook) -> None:
    loans = [HEADER, ["LX100001", "Alpha", 1.0, 99.0]]
    template = [[*HEADER, "Spread", "Rating"]]
    assert Portfolio.from_workbook(make_book({"Template": template, "Loans": loans})).sheet_name == "Loans"
    assert Portfolio.from_workbook(make_book({"Template": template})).sheet_name == "Template"


def test_of_equal_sheets_a_visible_one_is_taken(make_book: MakeBook) -> None:
    loans = [HEADER, ["LX100001", "Alpha", 1.0, 99.0]]
    book = make_book({"Copy": loans, "Loans": loans})
    hidden = replace(book, sheets=(replace(book.sheets[0], state="hidden"), book.sheets[1]))
    assert Portfolio.from_workbook(book).sheet_name == "Copy"
    named = replace(book, sheets=(replace(book.sheets[0], name="Last month"), book.sheets[1]))
    assert Portfolio.from_workbook(named).sheet_name == "Loans"
    assert Portfolio.from_workbook(hidden).sheet_name == "Loans"


@pytest.mark.parametrize(
    ("header", "target"),
    [("Floor (bps)", "floor"), ("Coupon bps", "all_in_rate"), ("Base Rate (bps)", "base_rate_level")],
)
def test_rates_under_a_header_in_basis_points(map_rows: MapRows, header: str, target: str) -> None:
    rows = [[*HEADER, header], ["LX100001", "A", 1.0, 99.0, 50], ["LX100002", "B", 1.0, 99.0, 100]]
    assert map_rows(rows).numbers[target].tolist() == [0.5, 1.0]


def test_a_commitment_is_the_par_of_a_bond_without_a_loan_id(map_rows: MapRows) -> None:
    header = ["Issuer_Name", "LoanX_ID", "ISIN", "Principal_Funded_Balance", "Commitment", "Security_Level"]
    portfolio = map_rows(
        [
            header,
            ["Alpha", "LX111111", None, 4.0, 5.0, "Senior Secured"],
            ["Beta Bond", None, "US0378331005", 0, 2.0, "Senior Secured"],
            ["Gamma Revolver", "LX111112", None, 0, 3.0, "Senior Secured"],
        ]
    )
    assert portfolio.numbers["par_value"].tolist() == [4.0, 2.0, 0.0]


def test_a_decimal_comma_before_three_digits_follows_the_rest_of_the_sheet(map_rows: MapRows) -> None:
    european = [HEADER, ["LX100001", "A", "5.000.000,00", "98,375"], ["LX100002", "B", "1.500.000,00", "101,125"]]
    assert map_rows(european).numbers["price"].tolist() == [98.375, 101.125]
    american = [HEADER, ["LX100001", "A", "5,000", "98.5"], ["LX100002", "B", "1,500", "101.25"]]
    assert map_rows(american).numbers["par_value"].tolist() == [5_000, 1_500]
    # Where the sheet writes both, three digits are thousands.
    mixed = [HEADER, ["LX100001", "A", "5,000", "98,5"], ["LX100002", "B", "1,500", "101.25"]]
    assert map_rows(mixed).numbers["par_value"].tolist() == [5_000, 1_500]


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        (["88,754", "95,612"], [88.754, 95.612]),
        (["88,754", 95.5], [88.754, 95.5]),
        (["1,088,754", "995,612"], [108.8754, 99.5612]),  # market values
        (["940,000", "995,612"], [94.0, 99.5612]),
    ],
)
def test_the_role_tells_the_decimal_sign_that_no_text_tells(
    map_rows: MapRows, prices: list[Any], expected: list[float]
) -> None:
    rows = [HEADER, *(["LX100001", "A", 1e6, price] for price in prices)]
    rows[2][0] = "LX100002"
    portfolio = map_rows(rows)
    assert portfolio.numbers["price"] == pytest.approx(expected)
    assert portfolio.numbers["par_value"].tolist() == [1e6, 1e6]


@pytest.mark.parametrize(
    ("heading", "texts", "target", "expected"),
    [
        ("Spread (bps)", ["325,000", "412,500"], "spread", [325.0, 412.5]),
        ("Margin (%)", ["3,250", "4,125"], "spread", [325.0, 412.5]),
        ("Spread (bps)", ["1,025", "1,150"], "spread", [1_025.0, 1_150.0]),
        ("All In Rate", ["8,625", "9,125"], "all_in_rate", [8.625, 9.125]),
        ("Floor", ["1,000", "0"], "floor", [1.0, 0.0]),
        ("Par (EUR)", ["88,754", "95,612"], "par_value", [88_754.0, 95_612.0]),
        ("Par (TEUR)", ["3.464", "4.238"], "par_value", [3_464_000.0, 4_238_000.0]),
        ("Par (EUR)", ["3,464 Mio.", "4,238 Mio."], "par_value", [3_464_000.0, 4_238_000.0]),
    ],
)
def test_other_roles_tell_the_decimal_sign_too(
    map_rows: MapRows, heading: str, texts: list[str], target: str, expected: list[float]
) -> None:
    rows = [["LoanX ID", "Issuer", heading], ["LX100001", "A", texts[0]], ["LX100002", "B", texts[1]]]
    if target != "par_value":
        rows = [[*row, par] for row, par in zip(rows, ["Par", 1e6, 1e6], strict=True)]
    assert map_rows(rows).numbers[target] == pytest.approx(expected)


def test_the_sheet_tells_the_decimal_sign_of_millions(map_rows: MapRows) -> None:
    rows = [HEADER, ["LX100001", "A", "3,464 Mio.", "88,75"], ["LX100002", "B", "4,238 Mio.", "95,61"]]
    assert map_rows(rows).numbers["par_value"].tolist() == [3_464_000.0, 4_238_000.0]


def test_market_values_that_are_next_to_nothing_of_par_are_doubtful(map_rows: MapRows) -> None:
    rows = [["LoanX ID", "Issuer", "Par", "Market Value"], *([f"LX10000{at}", "A", 1e6, 40e3 + at] for at in range(5))]
    warnings = map_rows(rows).notes.warnings
    assert [(warning.code, warning.fields) for warning in warnings if warning.code == "unit_doubtful"] == [
        ("unit_doubtful", ("price",))
    ]


def test_a_price_of_zero_on_one_lot_does_not_lower_the_others(map_rows: MapRows) -> None:
    rows = [HEADER, ["LX100001", "A", 1.0, 98.0], ["LX100001", "A", 1.0, 0], ["LX100002", "B", 1.0, 90.0]]
    portfolio = map_rows(rows)
    assert portfolio.numbers["price"].tolist() == [98.0, 90.0]
    assert portfolio.notes.zero_prices == 1


def test_a_purchase_price_of_zero_is_none(map_rows: MapRows) -> None:
    rows = [[*HEADER, "Purchase Price"], ["LX100001", "A", 1.0, 98.0, 0], ["LX100002", "B", 1.0, 90.0, 70]]
    assert np.array_equal(map_rows(rows).numbers["purchase_price"], [np.nan, 70.0], equal_nan=True)


def test_columns_without_a_value_say_nothing_of_fixed_coupons(map_rows: MapRows) -> None:
    empty = [[*HEADER, "Coupon Type"], ["LX100001", "A", 1.0, 98.0, None]]
    assert "is_fixed" not in map_rows(empty).flags
    for heading in ("Index", "Spread"):
        rows = [[*HEADER, "Coupon", heading], ["LX100001", "A", 1.0, 98.0, 7.5, None]]
        assert "is_fixed" not in map_rows(rows).flags


def test_a_loan_that_may_defer_is_not_deferring(map_rows: MapRows) -> None:
    assert "is_pik" not in map_rows([[*HEADER, "Deferrable"], ["LX100001", "A", 1.0, 98.0, "Y"]]).flags


@pytest.mark.parametrize("order", [("Index", "Base Rate"), ("Base Rate", "Index")])
def test_an_index_and_its_level_in_two_columns(map_rows: MapRows, order: tuple[str, str]) -> None:
    cells = {"Index": "3M SOFR", "Base Rate": 4.3}
    portfolio = map_rows([[*HEADER, *order], ["LX100001", "A", 1.0, 99.0, *(cells[name] for name in order)]])
    assert portfolio.numbers["base_rate_level"].tolist() == [4.3]
    assert named(portfolio, "base_rate") == ["SOFR-3M"]


def test_an_index_named_like_millions_is_a_name(map_rows: MapRows) -> None:
    header = ["Issuer", "Par", "CUSIP", "Index"]
    rows = [["Alpha", 1.0, "x", "US0003M"], ["Beta", 2.0, "y", "EUR003M"], ["Gamma", 3.0, "z", 4.3]]
    portfolio = map_rows([header, *rows])
    assert named(portfolio, "base_rate") == ["LIBOR-3M", "EURIBOR-3M", None]
    assert portfolio.numbers["base_rate_level"].tolist()[2] == 4.3


def test_a_current_pay_loan_is_performing(map_rows: MapRows) -> None:
    header = [*HEADER, "Defaulted", "Current Pay", "S&P Rating"]
    rows = [["LX100001", "A", 1.0, 0, "Y", "Y", "D"], ["LX100002", "B", 1.0, 0, "Y", None, None]]
    portfolio = map_rows([header, *rows])
    assert portfolio.defaulted().tolist() == [False, True]
    assert np.array_equal(portfolio.numbers["price"], [np.nan, 0.0], equal_nan=True)


def own_mapping(**document: Any) -> Mapping:
    return configure_mapping(
        {"source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}, **document}, id="own", name="Own"
    )


def change(field: str, operation: str, **parameters: Any) -> dict[str, Any]:
    return {"field": field, "operation": operation, "parameters": parameters}


def test_a_mapping_s_transforms_are_made_before_anything_is_read(make_book: MakeBook) -> None:
    own = own_mapping(
        transforms=[
            change("par_value", "multiply", factor=1000),
            change("spread", "multiply", factor=2),
            change("price", "round", decimals=0),
            change("borrower_name", "replace", pattern=" - .*$", replacement=""),
            change("loanx_id", "uppercase"),
            change("industry", "lookup", mapping={"17": "Retail"}),
            change("maturity_date", "date_format", input_format="DD/MM/YYYY"),
            change("rating_agency_a", "lookup", mapping={"fifteen": "B2"}),
            change("cov_lite", "lookup", mapping={"cl": True}),
        ]
    )
    header = ["LoanX ID", "Issuer", "Par", "Price", "Spread", "Industry", "Maturity", "Moody's Rating", "Cov-Lite"]
    rows = [
        ["lx100001", "Alpha - TLB", 1.5, 0.985, 0.02, 17, "05/09/2031", "fifteen", "CL"],
        ["lx100002", "Beta - RCF", 2.5, 99.5, 0.03, "Chemicals", "06/09/2031", "B3", "N"],
        header,
        ["lx100003", "Gamma", 3.5, 98.4, 0.03, "Chemicals", date(2031, 9, 7), "B3", None],
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": [header, *rows]}), own)
    assert portfolio.numbers["par_value"].tolist() == [1500, 2500, 3500]
    # Said to be in the field's unit, so nothing is guessed: no fractions, no percent.
    assert portfolio.numbers["spread"].tolist() == [0.04, 0.06, 0.06]
    assert portfolio.numbers["price"].tolist() == [1, 100, 98]
    assert named(portfolio, "borrower_name") == ["Alpha", "Beta", "Gamma"]
    assert named(portfolio, "loanx_id") == ["LX100001", "LX100002", "LX100003"]
    assert named(portfolio, "industry")[0] == "Retail"
    assert portfolio.numbers["maturity_date"].tolist() == [days(2031, 9, 5), days(2031, 9, 6), days(2031, 9, 7)]
    assert portfolio.ranks["rating_agency_a"].tolist() == [15, 16, 16]
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 0]
    assert portfolio.notes.repeated_headers == 1
    assert not portfolio.notes.rule_failures


def test_a_lookup_alone_leaves_the_unit_to_be_told_by_the_column(make_book: MakeBook) -> None:
    own = own_mapping(transforms=[change("spread", "lookup", mapping={"call desk": None, "wide": 0.08})])
    rows = [[*HEADER, "Spread"], *([f"LX10000{at}", "A", 1.0, 99.0, 0.035] for at in range(3))]
    rows += [["LX100008", "B", 1.0, 99.0, "Call Desk"], ["LX100009", "C", 1.0, 99.0, "wide"]]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}), own)
    assert np.array_equal(portfolio.numbers["spread"], [350, 350, 350, np.nan, 800], equal_nan=True)
    assert not portfolio.notes.unreadable_cells


def test_defaults_stand_in_for_blanks_in_the_field_s_unit(make_book: MakeBook) -> None:
    own = own_mapping(
        mappings={
            "Spread": {"target": "spread", "type": "number", "default": 400},
            "Nation": {"target": "country", "type": "string", "default": "France"},
            "Ends": {"target": "maturity_date", "type": "date", "default": "2031-09-05"},
            "Lite": {"target": "cov_lite", "type": "boolean", "default": True},
            "Par": {"target": "par_value", "type": "number", "default": 7},
        }
    )
    header = [*HEADER, "Spread", "Nation", "Ends", "Lite"]
    rows = [
        header,
        ["LX100001", "A", 1.0, 99.0, 0.035, "USA", date(2030, 1, 1), False],
        ["LX100002", "B", None, 99.0, None, None, "n/a", None],
        ["LX100003", "C", 3.0, 99.0, 0.045, "n/a", None, "N"],
        ["Total", None, 4.0],
        ["Prices as of yesterday", None, None, "see note"],
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}), own)
    assert portfolio.numbers["par_value"].tolist() == [1, 7, 3]
    assert portfolio.numbers["spread"].tolist() == [350, 400, 450]
    assert named(portfolio, "country") == ["US", "FR", "FR"]
    assert portfolio.numbers["maturity_date"].tolist() == [days(2030, 1, 1), days(2031, 9, 5), days(2031, 9, 5)]
    assert portfolio.flags["cov_lite"].tolist() == [0, 1, 0]


def test_transforms_are_about_the_columns_that_the_mapping_names(make_book: MakeBook) -> None:
    """A million in thousands is as it is where the file has the profile's own column.

    Nothing multiplies it.
    """
    own = own_mapping(
        mappings={"Par (k)": {"target": "par_value", "type": "number", "required": True}},
        transforms=[change("par_value", "multiply", factor=1000), change("borrower_name", "uppercase")],
    )
    header = ["LoanX ID", "Issuer", "Price", "Maturity Date"]
    for column, figure in (("Par (k)", 1_000.0), ("Par Amount", 1_000_000.0)):
        rows = [[*header, column], ["LX100001", "Alpha", 99.0, "2031-06-30", figure]]
        portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}), own)
        assert portfolio.numbers["par_value"].tolist() == [1_000_000.0]
        assert named(portfolio, "borrower_name") == ["ALPHA"], (
            "of a field without columns of its own it is whatever feeds it"
        )
        codes = [warning.code for warning in portfolio.notes.warnings]
        assert codes == ([] if column == "Par (k)" else ["column_stands_in"])
        (row,) = normalise_rows(own, [dict(zip(*rows, strict=True))]).rows()
        assert row["par_value"] == 1_000_000.0
    mixed = [{"Issuer": "A", "Par (k)": 1_000.0}, {"Issuer": "B", "Par Amount": 1_000_000.0}, {"Issuer": "C"}]
    normalised = normalise_rows(own, mixed)
    assert [row["par_value"] for row in normalised.rows()] == [1_000_000.0, 1_000_000.0, None]
    assert [(fault.row, fault.rule) for fault in normalised.errors] == [(3, "required")]


def test_what_a_mapping_requires_and_no_column_feeds(make_book: MakeBook) -> None:
    own = own_mapping(mappings={"Size": {"target": "facility_size", "type": "number", "required": True}})
    rows = [HEADER, ["LX100001", "Alpha", 1.0, 99.0]]
    book = make_book({"Holdings": rows})
    assert missing_columns(Portfolio.from_workbook(book, own), own) == ["facility_size ('Size')"]
    assert missing_columns(Portfolio.from_workbook(book), PROFILES["standard_clo"]) == []
    with_size = make_book({"Holdings": rows, "Sizes": [["LoanX ID", "Size"], ["LX100001", 5e8]]})
    assert missing_columns(Portfolio.from_workbook(with_size, own), own) == [], "a page feeds it"


def test_broken_rules_and_lost_cells_are_counted_in_the_notes(make_book: MakeBook) -> None:
    own = own_mapping(
        source_type="custom",
        mappings={"Desk": {"target": "desk", "type": "string"}},
        transforms=[change("maturity_date", "date_format", input_format="DD/MM/YYYY")],
        validation_rules=[
            {"field": "par_value", "rule": "range", "parameters": {"max": 2}},
            {"field": "spread", "rule": "range", "parameters": {"min": 300, "max": 400}},
            {"field": "loanx_id", "rule": "unique"},
            {"field": "desk", "rule": "required"},
            {"field": "desk", "rule": "enum", "parameters": {"values": ["east"]}},
            {"field": "price", "rule": "positive"},
            {"field": "cov_lite", "rule": "required"},
        ],
    )
    header = [*HEADER, "Spread", "Maturity", "Desk"]
    rows = [
        header,
        ["LX100001", "A", 1.0, 99.0, 0.035, "05/09/2031", "east"],
        ["LX100001", "A", 3.0, 99.0, 0.035, "2031-09-05", "west"],
        ["LX100003", "C", 3.0, 99.0, 0.045, None, None],
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}), own)
    assert portfolio.notes.rule_failures == {
        "par_value": {"range": 2},
        "spread": {"range": 1},
        "loanx_id": {"unique": 1},
        "desk": {"required": 1, "enum": 1},
        "cov_lite": {"required": 3},
    }
    assert portfolio.notes.unreadable_cells == {"maturity_date": 1}
    assert named(portfolio, "desk")[-1] is None
    broken = [warning for warning in portfolio.notes.warnings if warning.code == "rule_broken"]
    assert [warning.rows for warning in broken] == [1, 2, 1, 3, 1, 1]
    assert broken[1].message == "2 rows break the rule 'range' of the mapping for par_value."


def test_a_loan_whose_par_cannot_be_read_is_left_out_and_told(make_book: MakeBook) -> None:
    """Also where a transform makes no number of it; its default is for blanks."""
    rows = [HEADER, *([f"LX10000{at}", "A", par, 99.0] for at, par in enumerate([1.0, "oops", None, 1e300]))]
    book = make_book({"Holdings": rows})
    own = own_mapping(
        mappings={"Par Amount": {"target": "par_value", "default": 7, "aliases": ["Par"]}},
        transforms=[change("par_value", "multiply", factor=1e12)],
    )
    for mapping, par, unread in ((None, [1.0, 1e300], 1), (own, [1e12, 7.0], 2)):
        portfolio = Portfolio.from_workbook(book, mapping)
        assert portfolio.numbers["par_value"].tolist() == par
        assert [warning.rows for warning in portfolio.notes.warnings if warning.code == "unreadable_cells"] == [unread]


def test_a_masked_rating_stays_one_whatever_a_mapping_does_with_its_column(make_book: MakeBook) -> None:
    """Rated, and not shown.

    Neither unrated after a transform nor what the default says.
    """
    rows = [
        [*HEADER, "S&P Rating"],
        *([f"LX10000{at}", "A", 1.0, 99.0, rating] for at, rating in enumerate(["***", "b", None])),
    ]
    book = make_book({"Holdings": rows})
    for own in (
        own_mapping(transforms=[change("rating_agency_b", "uppercase")]),
        own_mapping(mappings={"S&P Rating": {"target": "rating_agency_b", "default": "B"}}),
    ):
        portfolio = Portfolio.from_workbook(book, own)
        assert named(portfolio, "rating_agency_b")[0] == "***"
        assert portfolio.ranks["rating_agency_b"].tolist()[:2] == [0, 15]


def test_rules_are_asked_of_the_loans_as_joined(make_book: MakeBook) -> None:
    """What a page fills is no blank, what it says beside the first sheet counts for nothing, a loan that it does not
    speak of has a blank. A cell that is no value takes no default.
    """
    own = own_mapping(
        mappings={
            "Nation": {"target": "country", "default": "France"},
            "Size": {"target": "facility_size", "required": True, "default": 7},
            "Ends": {"target": "maturity_date", "default": "2031-09-05"},
        },
        validation_rules=[
            {"field": "price", "rule": "range", "parameters": {"min": 90}},
            {"field": "price", "rule": "required"},
            {"field": "industry", "rule": "required"},
        ],
    )
    first = [
        [*HEADER, "Ends"],
        *([f"LX10000{at}", f"B{at}", 1.0, [99.0, None, 98.0][at], [None, "soon", None][at]] for at in range(3)),
    ]
    page = [["LoanX ID", "Price", "Industry"], ["LX100000", 10.0, "Retail"], ["LX100001", 50.0, None]]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": first, "Prices": page}), own)
    assert portfolio.numbers["price"].tolist() == [99.0, 50.0, 98.0]
    assert portfolio.notes.rule_failures == {"price": {"range": 1}, "industry": {"required": 2}}
    assert [warning.rows for warning in portfolio.notes.warnings if warning.code == "rule_broken"] == [1, 2]
    assert named(portfolio, "country") == ["FR"] * 3
    assert portfolio.numbers["facility_size"].tolist() == [7.0] * 3
    assert "facility_size" not in portfolio.notes.missing_required
    assert np.array_equal(
        portfolio.numbers["maturity_date"], [days(2031, 9, 5), np.nan, days(2031, 9, 5)], equal_nan=True
    )
    assert portfolio.notes.unreadable_cells == {"maturity_date": 1}


@pytest.mark.parametrize(
    ("values", "liens"),
    [
        (["Y", "N", None], [Lien.SECOND_LIEN, Lien.FIRST_LIEN, Lien.BLANK]),
        ([True, False, -1.0], [Lien.SECOND_LIEN, Lien.FIRST_LIEN, Lien.SECOND_LIEN]),
        (["Second Lien", "1st Lien", "Unsecured"], [Lien.SECOND_LIEN, Lien.FIRST_LIEN, Lien.UNSECURED]),
    ],
)
def test_a_column_that_asks_for_second_liens(map_rows: MapRows, values: list[Any], liens: list[Lien]) -> None:
    rows = [[f"LX10000{at}", "A", 1.0, 99.0, value] for at, value in enumerate(values)]
    portfolio = map_rows([[*HEADER, "Second_Lien_Loan"], *rows])
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == liens


FIRST, SECOND, OTHER = Lien.FIRST_LIEN, Lien.SECOND_LIEN, Lien.OTHER


@every(
    "header, values, liens",
    [
        ("First Lien?", ["Y", "N", "Y"], [FIRST, SECOND, FIRST]),
        ("1st Lien", [1, 0, 0], [FIRST, SECOND, OTHER]),
        ("First Lien Flag", [True, False, False], [FIRST, SECOND, OTHER]),
        ("First Lien", ["x", None, "x"], [FIRST, SECOND, FIRST]),
        ("First Lien / Senior Secured?", ["true", "false", "true"], [FIRST, SECOND, FIRST]),
        ("Senior Secured?", ["Yes", "Yes", "No"], [FIRST, SECOND, OTHER]),
        ("Senior Secured (Y/N)", ["Y", "N", "Y"], [FIRST, SECOND, FIRST]),
    ],
)
def test_a_column_that_asks_for_a_lien(map_rows: MapRows, header: str, values: list[Any], liens: list[Lien]) -> None:
    names = ["Term Loan B", "Second Lien Term Loan", "Bond"]
    rows = [[f"LX10000{at}", "A", 1.0, 99.0, names[at], value] for at, value in enumerate(values)]
    portfolio = map_rows([[*HEADER, "Facility", header], *rows])
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == liens
    assert ("lien_unrecognised" in [warning.code for warning in portfolio.notes.warnings]) == (OTHER in liens)


def test_a_companys_name_says_no_lien_of_its_own(map_rows: MapRows) -> None:
    names = ["Mezzanine Floors Ltd", "Acme Inc Second Lien TL", "Bolt Inc"]
    rows = [[f"LX10000{at}", name, 1.0, 99.0, "Y"] for at, name in enumerate(names)]
    portfolio = map_rows([[*HEADER, "First Lien"], *rows])
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == [FIRST, SECOND, FIRST]


def test_of_a_bid_and_an_ask_in_one_cell_the_bid_counts(map_rows: MapRows) -> None:
    prices = ["98.25/99.00", "97.5 - 98.5", "101.125 / 100.5", 96.0]
    rows = [[f"LX10000{at}", f"Name {at}", 1e6, price] for at, price in enumerate(prices)]
    portfolio = map_rows([HEADER, *rows])
    assert portfolio.numbers["price"].tolist() == [98.25, 97.5, 100.5, 96.0]
    (doubt,) = (warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column")
    assert (doubt.rows, doubt.fields) == (3, ("price",))


def test_a_price_with_a_transform_of_its_own_is_not_passed_over(make_book: MakeBook) -> None:
    header = ["LoanX ID", "Issuer", "Par", "Market Value", "Price"]
    rows = [header, *([f"LX10000{at}", "A", 1_000.0, 985.0, 97.0] for at in range(3))]
    book = make_book({"Holdings": rows})
    assert Portfolio.from_workbook(book).numbers["price"].tolist() == [97.0] * 3
    own = own_mapping(transforms=[change("price", "divide", divisor=10)])
    assert Portfolio.from_workbook(book, own).numbers["price"].tolist() == [98.5] * 3


@pytest.mark.parametrize(("kind", "default"), [("date", "2031-01-01"), ("string", "much"), ("boolean", True)])
def test_a_par_that_is_no_number_to_its_mapping_has_no_default(make_book: MakeBook, kind: str, default: Any) -> None:
    """A mapping of one's own may give any target any type."""
    columns = {"Size": {"target": "par_value", "type": kind, "default": default}, "Name": {"target": "borrower_name"}}
    own = own_mapping(source_type="custom", profile_id=None, mappings={**columns, "LXID": {"target": "loanx_id"}})
    rows = [["Size", "Name", "LXID"], [5.0, "Alpha", "LX100001"], [None, "Beta", "LX100002"]]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}), own)
    assert portfolio.notes.holdings_found
    assert portfolio.numbers["par_value"].tolist() == [5.0]


def with_par(amounts: list[str | float], *above: list[str], heading: str = "Principal") -> list[list[Any]]:
    """Loans below a header, with these amounts under a heading of a general word."""
    header = ["Issuer", "Asset", heading, "Margin (bps)", "Maturity"]
    rows = [[f"Acme {at} Inc.", "Term Loan", amount, 350.0 + at, "2030-01-31"] for at, amount in enumerate(amounts)]
    return [*above, header, *rows]


@pytest.mark.parametrize("space", ["\u00a0", "\u2009", "\u202f", "\u2019", "'"])
def test_thousands_are_parted_by_any_narrow_space_or_apostrophe(map_rows: MapRows, space: str) -> None:
    written: list[str | float] = [f"{1 + at}{space}604{space}123,22" for at in range(6)]
    portfolio = map_rows(with_par(written, heading="Nominal"))
    assert portfolio["par_value"].tolist() == [float(f"{1 + at}604123.22") for at in range(6)]


def test_small_amounts_of_a_page_in_thousands_are_par(map_rows: MapRows) -> None:
    amounts: list[str | float] = [1604.0, 926.0, 2420.0, 739.0, 1190.0, 1281.0, 942.0, 1532.0, 1811.0, 1493.0, 1200.0]
    portfolio = map_rows(with_par(amounts, ["(in thousands)"]))
    assert portfolio["par_value"].tolist() == [1e3 * float(amount) for amount in amounts]


def test_figures_that_count_the_rows_are_no_par(map_rows: MapRows) -> None:
    portfolio = map_rows(with_par([float(at) for at in range(1, 13)], heading="Position"))
    assert "par_value" not in portfolio


@pytest.mark.parametrize(
    ("days", "open_dates"),
    [
        (["03/04/2030", "05/06/2031", "07/07/2031"], 2),  # the same day both ways is open in none
        (["03/04/2030", "05/16/2031", "07/08/2031"], 0),
        (["16/04/2030", "05/06/2031", "07/08/2031"], 0),
        (["03/01/2030", "05/01/2031", "07/01/2031"], 0),  # the first of a month, as people agree
        (["2030-03-04", "2031-05-06", "2031-07-08"], 0),
    ],
)
def test_dates_that_nothing_tells_the_order_of_make_lives_doubtful(
    map_rows: MapRows, days: list[str], open_dates: int
) -> None:
    rows = with_par([1e6, 2e6, 3e6])
    for row, day in zip(rows[1:], days, strict=True):
        row[4] = day
    warnings = {warning.code: warning.rows for warning in map_rows(rows).notes.warnings}
    assert warnings.get("ambiguous_date", 0) == open_dates


@pytest.mark.parametrize(
    ("traded", "settled"),
    [
        ("Qty Trade Dt", "Qty Settle Dt"),
        ("Trade Date Quantity", "Settle Date Quantity"),
        ("Traded Global Amount", "Settled Global Amount"),
    ],
)
def test_amounts_by_the_day_of_their_basis_are_par_and_no_days(map_rows: MapRows, traded: str, settled: str) -> None:
    header = ["Security", "Obligor", settled, traded, "Mkt Px", "Cpn Sprd", "Mat Dt"]
    rows = [["Term Loan", f"Acme {at} Inc.", 9e5 + at, 1e6 + at, 99.0, 350.0, "2030-01-31"] for at in range(12)]
    assert map_rows([header, *rows])["par_value"].tolist() == [1e6 + at for at in range(12)]


@pytest.mark.parametrize(
    ("heading", "figures", "spreads", "coupons"),
    [
        ("Spread / Coupon", [8.5, 3.25, 4.75], [None, 325.0, 475.0], [8.5, None, None]),
        ("Margin or Coupon (%)", [8.5, 3.25, 4.75], [None, 325.0, 475.0], [8.5, None, None]),
        ("Coupon/Spread", [8.5, 325.0, 475.0], [None, 325.0, 475.0], [8.5, None, None]),
        ("Spread", [8.5, 3.25, 4.75], [850.0, 325.0, 475.0], None),
    ],
)
def test_a_fixed_loan_has_its_coupon_in_a_column_for_both(
    map_rows: MapRows, heading: str, figures: list[float], spreads: list[float | None], coupons: list[float | None]
) -> None:
    rows = [["LoanX ID", "Issuer", "Par", "Rate Type", heading]]
    kinds = ["Fixed", "Floating", "Floating"]
    rows += [[f"LX10000{at}", f"Issuer {at}", 1e6, kinds[at], figures[at]] for at in range(3)]
    numbers = map_rows(rows).numbers
    blank = [np.nan if figure is None else figure for figure in spreads]
    assert numbers["spread"] == pytest.approx(blank, nan_ok=True)
    assert ("all_in_rate" in numbers) == (coupons is not None)
    if coupons is not None:
        of_fixed = [np.nan if figure is None else figure for figure in coupons]
        assert numbers["all_in_rate"] == pytest.approx(of_fixed, nan_ok=True)
