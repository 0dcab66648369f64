"""Names in the headings of groups.

Companies above their investments, industries above their loans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.compliance.run import run_suite
from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]
Rows = list[list[Any]]


def named(portfolio: Portfolio, target: str) -> list[str | None]:
    names = portfolio.names[target]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


def codes(portfolio: Portfolio) -> list[str]:
    return [warning.code for warning in portfolio.notes.warnings]


STACKED = ["Portfolio Company", "Maturity Date", "Spread", "Principal Amount"]
TL, RCF, DDTL = "First lien senior secured term loan", "First lien revolver", "Delayed Draw Term Loan"
ACME: Rows = [["Acme Holdings, LLC"], [TL, "2029-01-31", 575, 1000.0], [RCF, "2028-01-31", 575, 200.0]]
BETA: Rows = [["Beta Software Inc"], [TL, "2030-06-30", 600, 3000.0], [DDTL, "2030-06-30", 600, 500.0]]
SUM_A, SUM_B = [None, None, None, 1200.0], [None, None, None, 3500.0]
NAMES = ["Acme Holdings, LLC"] * 2 + ["Beta Software Inc"] * 2


@every(
    "rows",
    [
        [STACKED, *ACME, *BETA],
        [STACKED, *ACME, SUM_A, *BETA, SUM_B],
        [STACKED, *ACME, SUM_A, [], *BETA, SUM_B, ["Total", None, None, 4700.0]],
        # The company's sum beside its name, above or below its loans.
        [STACKED, ["Acme Holdings, LLC", None, None, 1200.0], *ACME[1:], ["Beta Software Inc", None, None, 3500.0],
         *BETA[1:]],
        [STACKED, *ACME, ["Total Acme Holdings, LLC", None, None, 1200.0], *BETA,
         ["Total Beta Software Inc", None, None, 3500.0], ["Total investments", None, None, 4700.0]],
        # A share of net assets beside the company's name.
        [[*STACKED, "% of Net Assets"], [*ACME[0], None, None, None, 0.12], *ACME[1:],
         [*BETA[0], None, None, None, 0.35], *BETA[1:]],
        # Industries above the companies.
        [STACKED, ["Business Services"], *ACME, ["Total Business Services", None, None, 1200.0], ["Software"], *BETA,
         ["Total Software", None, None, 3500.0]],
        # A column of row numbers.
        [["#", *STACKED], *([at, *(row or [None])] for at, row in enumerate([*ACME, *BETA], 1))],
        # The next page, with the company's name and the header again.
        [STACKED, *ACME[:2], ["Page 1"], STACKED, ["Acme Holdings, LLC (continued)"], ACME[2], *BETA[:2],
         ["Beta Software Inc - Cont'd"], BETA[2]],
        # The next page goes on with the company's loans below its titles.
        [["Schedule of Investments"], ["Example Lending Corp"], STACKED, *ACME[:2], [], ["Schedule of Investments"],
         ["Example Lending Corp"], STACKED, ACME[2], BETA[0], [], ["Schedule of Investments"],
         ["Example Lending Corp"], [], STACKED, *BETA[1:]],
        # Facilities in a column of their own.
        [["Company", "Investment", "Spread", "Par"], ["Acme Holdings, LLC"], [None, TL, 575, 1000.0],
         [None, RCF, 575, 200.0], ["Beta Software Inc"], [None, TL, 600, 3000.0], [None, DDTL, 600, 500.0]],
        [["Company", "Investment", "Spread", "Par"], ["Acme Holdings, LLC"], [None, TL, 575, 1000.0],
         [None, RCF, 575, 200.0], [None, None, None, 1200.0], ["Beta Software Inc"], [None, TL, 600, 3000.0],
         [None, DDTL, 600, 500.0], [None, None, None, 3500.0], ["Total", None, None, 4700.0]],
    ],
)  # fmt: skip
def test_a_company_above_its_investments_names_them(map_rows: MapRows, rows: Rows) -> None:
    portfolio = map_rows(rows)
    assert portfolio.numbers["par_value"].tolist() == [1000, 200, 3000, 500]
    assert named(portfolio, "borrower_name") == NAMES
    assert named(portfolio, "facility_name") == [TL, RCF, TL, DDTL]
    assert not {"rows_without_par", "unidentified_rows", "rows_after_end", "names_above"} & set(codes(portfolio))


def test_an_instrument_above_the_first_company_has_no_borrower(map_rows: MapRows) -> None:
    portfolio = map_rows([STACKED, *ACME, *BETA, ["Gamma Ltd"]])
    assert "names_above" not in codes(portfolio)
    rows = [STACKED, ["Delta Ltd"], [], *ACME[1:], *BETA]
    assert named(map_rows(rows), "borrower_name")[0] == "Delta Ltd"


def test_a_column_of_facilities_alone_has_no_companies(map_rows: MapRows) -> None:
    rows = [["LoanX ID", "Facility", "Par", "Maturity"], *([f"LX10000{at}", TL, 5.0, "2030-01-31"] for at in range(6))]
    assert "borrower_name" not in map_rows(rows).names


def test_what_a_row_says_of_a_company_counts_for_its_loans(map_rows: MapRows) -> None:
    rows = [
        ["Company", "Industry", "Country", "Investment", "Spread", "Par"],
        ["Acme Holdings, LLC", "Software", "France"],
        [None, None, None, TL, 575, 1000.0],
        [None, None, None, RCF, 575, 200.0],
        ["Beta Software Inc", "Retail", "Germany", TL, 600, 3000.0],
        [None, None, "Spain", DDTL, 600, 500.0],
    ]
    portfolio = map_rows(rows)
    assert named(portfolio, "borrower_name") == NAMES
    assert named(portfolio, "industry") == ["Software", "Software", "Retail", "Retail"]
    assert named(portfolio, "country") == ["FR", "FR", "DE", "ES"]
    assert portfolio.notes.loans_without_par == 0


GROUPED = ["Issuer", "Facility", "Par", "Maturity Date"]
LOANS: Rows = [["Alder Inc", "TLB", 1000.0, "2030-01-31"], ["Birch Inc", "TLB", 2000.0, "2030-01-31"],
               ["Cedar Inc", "TLB", 3000.0, "2030-01-31"], ["Dorn Inc", "TLB", 4000.0, "2030-01-31"]]  # fmt: skip


@every(
    "rows",
    [
        [["Software"], *LOANS[:2], ["Health Care Providers & Services"], *LOANS[2:]],
        [["Software - 12.3%"], *LOANS[:2], ["Health Care Providers & Services (continued)"], *LOANS[2:]],
        [["Software", None, None, None, 0.123], *LOANS[:2], ["Health Care Providers & Services", None, None, None, 0.2],
         *LOANS[2:]],
        [["Software"], *LOANS[:2], ["Total Software", None, 3000.0], ["Health Care Providers & Services"], *LOANS[2:],
         ["Total Health Care", None, 7000.0], ["Total", None, 10000.0]],
        # Under the heading of industries itself.
        [[None, None, None, None, None, "Software"], *LOANS[:2],
         [None, None, None, None, None, "Health Care Providers & Services"], *LOANS[2:]],
        # The group's sum above its loans, or below.
        [["Software", None, 3000.0], *LOANS[:2], ["Health Care Providers & Services", None, 7000.0], *LOANS[2:]],
        [*LOANS[:2], ["Software", None, 3000.0], *LOANS[2:], ["Health Care Providers & Services", None, 7000.0]],
    ],
)  # fmt: skip
def test_industries_above_loans_are_no_borrowers(map_rows: MapRows, rows: Rows) -> None:
    portfolio = map_rows([[*GROUPED, "% of NAV", "Industry"], *rows])
    assert portfolio.numbers["par_value"].tolist() == [1000, 2000, 3000, 4000]
    assert named(portfolio, "borrower_name") == [loan[0] for loan in LOANS]
    industries = named(portfolio, "industry")
    assert industries == ["Software"] * 2 + ["Health Care Providers & Services"] * 2
    assert "industry_of_headings" in codes(portfolio)
    assert "rows_without_par" not in codes(portfolio)


def test_figures_of_industries_doubt_headings(map_rows: MapRows) -> None:
    portfolio = map_rows([GROUPED, ["Software"], *LOANS[:2], ["Retail"], *LOANS[2:]])
    ran = run_suite(portfolio, test_ids=["industry_concentration"])
    assert "stand_in" in [doubt.code for doubt in ran[0].doubt]


@every(
    "header, heads",
    [
        ([*GROUPED, "Industry"], ["Software", "Retail"]),  # a column names industries
        (GROUPED, ["First Lien", "Second Lien"]),
        (GROUPED, ["Software Holdings Inc", "Retail Bidco Limited"]),
    ],
)
def test_no_industry_is_taken_from_other_headings(map_rows: MapRows, header: list[str], heads: list[str]) -> None:
    loans = [[*loan, "Chemicals"][: len(header)] for loan in LOANS]
    portfolio = map_rows([header, [heads[0]], *loans[:2], [heads[1]], *loans[2:]])
    assert "industry_of_headings" not in codes(portfolio)
    assert portfolio.numbers["par_value"].tolist() == [1000, 2000, 3000, 4000]
