"""Which rows are loans.

Totals, subtotals, labels, repeated headers, merged issuers, the end of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.cells.number_cells import read_numbers
from core.portfolio.cells.string_pool import StringPool
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets import table
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.rows import words
from tests.rows import every

MapRows = Callable[..., Portfolio]
HEADER = ["LoanX ID", "Issuer", "Facility", "Par", "Price", "Maturity"]
A = ["LX100001", "Alpha Inc", "TL", 1_000.0, 99.0, "2030-01-31"]
B = ["LX100002", "Beta Inc", "TL", 2_000.0, 98.0, "2031-01-31"]
C = ["LX100003", "Gamma Inc", "TL", 3_000.0, 97.0, "2032-01-31"]


def pars(portfolio: Portfolio) -> list[float]:
    return portfolio.numbers["par_value"].tolist()


def borrowers(portfolio: Portfolio) -> list[str | None]:
    names = portfolio.names["borrower_name"]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


@pytest.mark.parametrize(
    "word",
    [
        "Total",
        "TOTAL",
        "Grand Total",
        "Totals:",
        "Total Par",
        "Sum",
        "Count: 3",
        "Average",
        "Weighted Average",
        "Wtd Avg",
        "WTD. AVG.",
        "Subtotal",
    ],
)
@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_total_ends_the_table(map_rows: MapRows, word: str, column: int) -> None:
    total: list[Any] = [None, None, None, 6_000.0, 98.0, None]
    total[column] = word
    portfolio = map_rows([HEADER, A, B, C, total, [None, None, None, 77.0], ["Prepared by"]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.total_rows == 1


@pytest.mark.parametrize(
    "footer", ["Footnote 1", "Notes: as reported", "* estimate", "Source: trustee", "© 2026 Trustee", "weighted by par"]
)
def test_footers_are_no_loans(map_rows: MapRows, footer: str) -> None:
    assert pars(map_rows([HEADER, A, B, [], [footer], ["continued"]])) == [1_000, 2_000]


def test_three_blank_rows_end_the_table_and_two_do_not(map_rows: MapRows) -> None:
    assert pars(map_rows([HEADER, A, [], [None, " "], B, [], [], [], C])) == [1_000, 2_000]
    assert map_rows([HEADER, A, [], [], [], C]).notes.rows_after_end == 1


def test_blank_rows_above_the_header_on_a_new_page_end_nothing(map_rows: MapRows) -> None:
    gap: list[list[Any]] = [[]] * 4
    portfolio = map_rows(
        [HEADER, A, *gap, HEADER, B, *gap, ["Page 2"], ["Bonds"], HEADER, C, *gap, ["Sales"], HEADER, A]
    )
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.repeated_headers == 2
    assert portfolio.notes.rows_after_end == 1


def test_a_company_named_like_a_total_is_a_loan(map_rows: MapRows) -> None:
    rows = [
        ["LX100004", "Total Safety US, Inc.", "TL", 5.0, 99.0, "2030-01-31"],
        ["LX100005", "Source Photonics", "TL", 6.0, 99.0, "2030-01-31"],
        [None, "Average Joe's Gym", "Term Loan", 7.0, 99.0, "2030-01-31"],
        ["LX100006", "Summit Partners", "TL", 8.0, 99.0, "2030-01-31"],
        ["LX100007", "Country Fresh", "Total Term Loan", 9.0, 99.0, "2030-01-31"],
    ]
    assert pars(map_rows([HEADER, *rows, A])) == [5, 6, 7, 8, 9, 1_000]


def test_subtotals_between_loans_are_skipped(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            HEADER,
            ["First lien"],
            A,
            B,
            [None, "Subtotal first lien", None, 3_000.0],
            [],
            ["Second lien"],
            C,
            ["Total second lien", None, None, 3_000.0],
            ["Total", None, None, 6_000.0],
        ]
    )
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.section_rows == 2
    assert portfolio.notes.total_rows == 2  # the last of the two at the end is past it


def test_a_total_without_the_word_is_known_by_its_sum(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [HEADER, A, B, [None, None, None, 3_000.01], C, [None, None, None, 3_000.0], [None, None, None, 6_000.0]]
    )
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.total_rows == 3
    # Another figure alone is no total, and no loan either.
    nameless = map_rows([HEADER, A, B, [None, None, None, 2_500.0], C])
    assert pars(nameless) == [1_000, 2_000, 3_000]
    assert nameless.notes.unidentified_rows == 1


@every(
    "name, par",
    [
        ("Total / Wtd Avg", 6_000.0),
        ("WA / Total", 6_000.0),
        ("*** Total ***", 6_000.0),
        ("Total Principal Balance", 6_000.0),
        ("Portfolio", 6_000.55),
        ("ABC CLO VII", 6_000.55),
        ("Total Performing", 6_000.55),
    ],
)
def test_the_sum_of_the_pool_beside_its_averages_is_no_loan(map_rows: MapRows, name: str, par: float) -> None:
    loans = [A, B, [*C[:3], par - 3_000.0, *C[4:]]]
    portfolio = map_rows([HEADER, *loans, [None, name, None, par, 98.1, "2031-02-15"]])
    assert pars(portfolio) == [1_000.0, 2_000.0, par - 3_000.0]
    # A loan has an identifier, or a par that is no sum.
    portfolio = map_rows([HEADER, *loans, ["LX100009", "Delta Inc", "TL", par, 98.1, "2031-02-15"]])
    assert portfolio.row_count == 4
    assert map_rows([HEADER, *loans, [None, "Delta Inc", "TL", 999.55, 98.1, "2031-02-15"]]).row_count == 4


def test_company_subtotals_with_a_blank_investment_type(map_rows: MapRows) -> None:
    header = ["Company", "Facility", "Par", "Spread"]
    portfolio = map_rows(
        [
            header,
            ["Alpha", "First lien", 10.0, 500],
            ["Alpha", "Second lien", 5.0, 800],
            ["Alpha", None, 15.0, None],
            ["Beta", None, 7.0, None],
            ["Beta", "Revolver", 7.0, 500],
            ["Delta", None, 3.0, 400],
            ["Epsilon", "TL", 4.0, 1],
        ]
    )
    assert list(zip(borrowers(portfolio), pars(portfolio), strict=True)) == [
        ("Alpha", 10),
        ("Alpha", 5),
        ("Beta", 7),
        ("Delta", 3),
        ("Epsilon", 4),
    ]
    assert portfolio.notes.subtotal_rows == 2


def test_merged_issuer_cells_are_filled_downwards(map_rows: MapRows) -> None:
    rows = [
        HEADER,
        A,
        ["LX100008", None, "TL B", 5.0, 99.0, "2030-01-31"],
        [None, None, "Revolver", 6.0, 99.0, None],
        C,
    ]
    portfolio = map_rows(rows)
    assert borrowers(portfolio) == ["Alpha Inc", "Alpha Inc", "Alpha Inc", "Gamma Inc"]
    assert portfolio.notes.filled_borrowers == 2


def test_a_company_label_above_its_facilities_names_them(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            ["Company", "Facility", "Par", "Spread"],
            ["Alpha"],
            [None, "TL", 5.0, 300],
            [None, "RCF", 6.0, 300],
            ["Beta"],
            [None, "TL", 7.0, 300],
        ]
    )
    assert borrowers(portfolio) == ["Alpha", "Alpha", "Beta"]


def test_a_header_repeated_after_a_page_break_is_skipped(map_rows: MapRows) -> None:
    portfolio = map_rows([HEADER, A, B, HEADER, C, ["Total", None, None, 6_000.0]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.repeated_headers == 1
    # With page totals and titles about it, too.
    portfolio = map_rows(
        [
            HEADER,
            A,
            B,
            ["Total", None, None, 3_000.0],
            ["Trustee report"],
            [],
            HEADER,
            C,
            ["Total", None, None, 3_000.0],
        ]
    )
    assert pars(portfolio) == [1_000, 2_000, 3_000]


def test_blank_and_broken_par_is_ignored_and_counted(map_rows: MapRows) -> None:
    blank = ["LX100009", "Delta", "TL", None, 99.0, "2030-01-31"]
    broken = ["LX100010", "Epsilon", "TL", "#REF!", 99.0, "2030-01-31"]
    words = ["LX100011", "Zeta", "TL", "N/A", 99.0, "2030-01-31"]
    portfolio = map_rows([HEADER, A, blank, broken, words, B])
    assert pars(portfolio) == [1_000, 2_000]
    assert portfolio.notes.ignored_blank_par == 3


def test_names_and_par_alone_are_enough(map_rows: MapRows) -> None:
    rows = [
        ["Borrower", "Par", "Price"],
        ["Alpha", 5.0, 99.0],
        ["Alpha", 5.0, 98.0],
        ["Total Wine", 7.0, 99.0],
        ["Total", 17.0, None],
        ["Cash", 3.0],
    ]
    assert pars(map_rows(rows)) == [5, 5, 7]


def test_a_sheet_of_a_header_alone(map_rows: MapRows) -> None:
    portfolio = map_rows([HEADER])
    assert portfolio.row_count == 0
    assert portfolio.notes.holdings_found is True


def test_a_header_after_a_page_total_goes_on_with_the_table_whatever_stands_between(map_rows: MapRows) -> None:
    total = [None, "Total for page", None, 3_000.0]
    title = ["Deal: Example CLO", None, "As of 31-Mar-2026"]
    portfolio = map_rows([HEADER, A, B, total, ["Page 2 of 2"], title, HEADER, C, total])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert not portfolio.notes.rows_after_end
    # Without its header again, what follows a total is another table.
    assert pars(map_rows([HEADER, A, B, total, title, C])) == [1_000, 2_000]


@pytest.mark.parametrize("name", [3, "3", "Example CLO Ltd"])
def test_a_total_with_a_count_or_the_deal_in_the_name_is_no_loan(map_rows: MapRows, name: Any) -> None:
    portfolio = map_rows([HEADER, A, B, C, [None, name, None, 6_000.0, 98.0]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.total_rows == 1
    # A figure that is no sum may be a loan, and two loans of one size are no total.
    assert pars(map_rows([HEADER, A, B, C, [None, "Delta", None, 5_999.0, 98.0]])) == [1_000, 2_000, 3_000, 5_999]
    assert pars(map_rows([HEADER, A, [None, "Delta", None, 1_000.0, 98.0]])) == [1_000, 1_000]


@pytest.mark.parametrize(
    ("name", "facility"),
    [
        ("Principal Cash", None), ("CASH", None), ("Cash - USD", None), ("Interest Collection Account", None),
        (None, "Payment Account"), ("Example CLO 2026-1 Ltd", "Principal Collection Account"), ("Account 12345", None),
        ("Cash and Cash Equivalents", "USD"), ("Expense Reserve Account Balance", None), ("Unused Proceeds Acct", None),
        ("USD", None), (None, "EUR"), ("Dreyfus Treasury Cash Management", None), ("Money Market Fund", None),
    ],
)  # fmt: skip
def test_cash_and_accounts_are_no_loans(map_rows: MapRows, name: str | None, facility: str | None) -> None:
    portfolio = map_rows([HEADER, A, [None, name, facility, 500.0], B])
    assert pars(portfolio) == [1_000, 2_000]
    assert portfolio.notes.cash_rows == 1


def test_cash_with_a_word_for_an_identifier(map_rows: MapRows) -> None:
    portfolio = map_rows([HEADER, A, ["CASH", "Cash", "Cash", 500.0, 100.0], B])
    assert pars(portfolio) == [1_000, 2_000]
    assert portfolio.notes.cash_rows == 1


@pytest.mark.parametrize(
    "row",
    [
        [None, "Cash America International", "TL", 500.0],
        [None, "Account Discovery Systems", "TL", 500.0],
        [None, "Cash", "TL", 500.0, 99.0, "2030-01-31"],
        ["LX100009", "Cash", "TL", 500.0],
        [None, "Bankruptcy Cashmere Fund", "TL", 500.0],
        [None, "USD Partners", "TL", 500.0],
        [None, "Money Market Technologies", "TL", 500.0],
    ],
)
def test_a_company_with_cash_in_its_name_is_a_loan(map_rows: MapRows, row: list[Any]) -> None:
    portfolio = map_rows([HEADER, A, row, B])
    assert pars(portfolio) == [1_000, 500, 2_000]
    assert not portfolio.notes.cash_rows


def test_cash_is_found_in_a_long_sheet_without_maturities(map_rows: MapRows) -> None:
    rows = [[f"LX{row:06d}", f"Borrower {row} Accessories", "TL", 1.0] for row in range(words.CASH_ROWS)]
    portfolio = map_rows(
        [
            HEADER[:4],
            *rows,
            [None, "Principal CASH", None, 5.0],
            [None, "Payment account", None, 6.0],
            A[:4],
            [None, "Money Market Fund", None, 7.0],
            [None, "USD", None, 8.0],
        ]
    )
    assert portfolio.row_count == words.CASH_ROWS + 1
    assert portfolio.notes.cash_rows == 4


def test_another_table_below_ends_this_one(map_rows: MapRows) -> None:
    trades = ["Issuer", "Trade Date", "Par Amount", "Price", "CUSIP", "Settled"]
    sold = ["Delta", "2026-01-01", 50.0, 99.0, "x", "2026-01-05"]
    portfolio = map_rows([HEADER, A, B, [], ["Trades"], trades, sold])
    assert pars(portfolio) == [1_000, 2_000]
    assert portfolio.notes.rows_after_end == 1
    # The same columns in other words are the header again.
    again = ["LXID", "Obligor", "Asset", "Par Amount", "Bid", "Maturity Date"]
    portfolio = map_rows([HEADER, A, B, again, C])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.repeated_headers == 1


@pytest.mark.parametrize(
    ("again", "row"),
    [
        # The same first columns, then others; fewer of them; others that name no field.
        (["LoanX ID", "Issuer", "Par", "Price", "Trade Date"], ["LX100001", "Alpha Inc", 500.0, 99.0, "2026-01-01"]),
        (["LoanX ID", "Issuer"], ["LX100001", "Alpha Inc", "TL", 500.0, 99.0, "2030-01-31"]),
        (
            ["LoanX ID", "Issuer", "Facility", "Par", "Broker", "Trader"],
            ["LX100001", "Alpha Inc", "TL", 500.0, 99.0, "2030-01-31"],
        ),
    ],
)
def test_another_table_with_the_same_first_columns_ends_this_one(
    map_rows: MapRows, again: list[Any], row: list[Any]
) -> None:
    portfolio = map_rows([HEADER, A, B, C, [], ["Purchases"], again, row, ["Total", None, None, 500.0]])
    if len(again) > header.SCORE_MIN:
        assert pars(portfolio) == [1_000, 2_000, 3_000]
        assert not portfolio.notes.repeated_headers
    else:  # two words are no header
        assert portfolio.notes.ignored_blank_par == 1


def test_a_repeated_header_may_have_a_word_of_its_own(map_rows: MapRows) -> None:
    again = [*HEADER[:5], "Page 2"]
    assert pars(map_rows([HEADER, A, B, again, C])) == [1_000, 2_000, 3_000]


def test_lines_drawn_with_signs_and_words_without_a_loan_are_no_rows(map_rows: MapRows) -> None:
    line, double = ["---------"] * 6, ["=========", "====", None, "=====", None, None]
    rest = [None, None, None, "Traded", "Bid", None]
    portfolio = map_rows([HEADER, rest, line, A, B, C, double, [None, None, None, 6_000.0]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.section_rows == 3
    assert portfolio.notes.ignored_blank_par == 0


def test_all_rows_of_a_header_are_repeated_after_a_page_break(map_rows: MapRows) -> None:
    groups = ["Moody's", None, "S&P", None, None, None]
    names = ["Rating", "Industry", "Rating", "Issuer", "Par", "CUSIP"]
    units = ["text", None, "text", None, "(USD)", "#"]
    alpha, beta, gamma = (["B2", "Retail", "B", name, 1.0, name] for name in ("Alpha", "Beta", "Gamma"))
    portfolio = map_rows([groups, names, units, alpha, beta, groups, names, units, gamma])
    assert pars(portfolio) == [1, 1, 1]
    assert portfolio.notes.repeated_headers == 3
    assert portfolio.notes.ignored_blank_par == 0
    assert not portfolio.notes.unreadable_cells


def test_group_sums_under_a_name_are_subtotals(map_rows: MapRows) -> None:
    below = [HEADER, A, B, [None, "Healthcare", None, 3_000.0], C, [None, "Retail", None, 3_000.0]]
    above = [HEADER, [None, "Healthcare", None, 3_000.0], A, B, [None, "Retail", None, 3_000.0], C]
    for rows in (below, above, [*below, [None, "All loans", None, 6_000.0]]):
        portfolio = map_rows(rows)
        assert pars(portfolio) == [1_000, 2_000, 3_000]
        assert portfolio.notes.subtotal_rows == 2
    # One that is no sum, and all of them may be loans.
    odd = [HEADER, A, B, [None, "Delta", None, 3_000.0], C, [None, "Epsilon", None, 3_001.0]]
    assert pars(map_rows(odd)) == [1_000, 2_000, 3_000, 3_000, 3_001]


@pytest.mark.parametrize("name_first", [True, False])
def test_group_sums_are_subtotals_when_the_first_is_the_sum_of_all_loans_so_far(
    map_rows: MapRows, name_first: bool
) -> None:
    more = [["LX100004", "Delta Inc", "TL", 4_000.0, 99.0, "2030-01-31"], ["LX100005", "Epsilon", "TL", 5_000.0]]

    def group(name: str, par: float) -> list[Any]:
        return [None, name, None, par] if name_first else [f"{name}: some assets", None, None, par]

    portfolio = map_rows([HEADER, A, B, C, group("Retail", 6_000.0), *more, group("Software", 9_000.0)])
    assert pars(portfolio) == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert portfolio.notes.total_rows + portfolio.notes.subtotal_rows == 2


def test_group_sums_above_their_loans_under_another_column(map_rows: MapRows) -> None:
    header = ["Industry", *HEADER]
    rows = [["Retail", None, None, None, 3_000.0], [None, *A], [None, *B], ["Software", None, None, None, 3_000.0]]
    portfolio = map_rows([header, *rows, [None, *C]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.total_rows + portfolio.notes.subtotal_rows == 2  # one is the sum of all above, too


def test_an_identifier_of_several_words_is_one_unless_it_stands_over_a_sum(map_rows: MapRows) -> None:
    assert pars(map_rows([HEADER, A, B, C, ["LX 100 009", None, None, 50.0]])) == [1_000, 2_000, 3_000, 50]


def test_a_total_is_known_behind_columns_of_the_deal(map_rows: MapRows) -> None:
    deal = ["Example CLO", "2026-03-31"]
    rows = [["Deal", "As Of", *HEADER], *([*deal, *loan] for loan in (A, B, C))]
    portfolio = map_rows([*rows, [*deal, None, "Total", None, 6_100.0]])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.total_rows == 1


def test_a_total_with_a_count_among_the_identifiers(map_rows: MapRows) -> None:
    assert pars(map_rows([HEADER, A, B, C, [3, "Total", None, 6_000.0, 98.0]])) == [1_000, 2_000, 3_000]
    # A company may be called so.
    assert pars(map_rows([HEADER, A, B, C, ["LX100009", "Total", "TL", 50.0]])) == [1_000, 2_000, 3_000, 50]


def test_group_sums_with_the_number_of_loans_for_an_identifier(map_rows: MapRows) -> None:
    """ "Total B2" over a count.

    A subtotal where all of them are sums, and a loan where one is not.
    """
    d = ["LX100004", "Delta Inc", "TL", 4_000.0, 96.0, "2032-01-31"]
    groups = [HEADER, A, B, [2.0, "Total B2", None, 3_000.0], C, d, [2.0, "Total B3", None, 7_000.0]]
    assert pars(map_rows([*groups, [4.0, "Total", None, 10_000.0]])) == [1_000, 2_000, 3_000, 4_000]
    groups[3] = [2.0, "Total Safety", None, 500.0]
    assert 500.0 in pars(map_rows(groups))


@pytest.mark.parametrize(
    "footer",
    [
        ["U.S. Bank Trust Company", None, None, None, None, "Page 3 of 41"],
        ["\u00a9 Copyright 2024, Some Trustee", None, "Asset Information", None, "Page 15 of 41"],
        ["Some Trustee", "Confidential", "Page 7"],
    ],
)
def test_a_footer_of_several_cells_is_no_loan(map_rows: MapRows, footer: list[Any]) -> None:
    """Between two pages and at the end, on a page of ratings as well."""
    portfolio = map_rows([HEADER, A, B, footer, HEADER, C, footer])
    assert pars(portfolio) == [1_000, 2_000, 3_000]
    assert portfolio.notes.rows_after_end == 0


def test_the_rows_left_out_are_told_by_their_places(make_book: Callable[..., Workbook]) -> None:
    rows = [
        HEADER,
        ["First lien"],
        A,
        [None, "Cash", None, 5.0],
        B,
        ["LX100009", "Delta"],
        ["Total", None, None, 3_000.0],
        [],
        C,
    ]
    book = make_book({"Holdings": rows})
    sheet, mapping = book.sheets[0], PROFILES["standard_clo"]
    header_match = header.find(sheet, mapping)
    assert header_match is not None
    below = RowsBelow(sheet, StringPool(sheet.text), 1, sheet.row_count)
    picked = table.pick(below, header_match, mapping, read_numbers(below.cells(3)).values)
    assert {reason: offsets.tolist() for reason, offsets in picked.left_out.items()} == {
        "ignored_blank_par": [4],
        "section_rows": [0],
        "total_rows": [5],
        "cash_rows": [2],
    }
    assert picked.counts == {"ignored_blank_par": 1, "section_rows": 1, "total_rows": 1, "cash_rows": 1}
    assert np.asarray(picked.rows).tolist() == [1, 3, 7]


def test_a_list_of_another_kind_has_its_rows_by_its_own_fields(make_book: Callable[..., Workbook]) -> None:
    mapping = PROFILES["standard_servicer"]
    rows = [
        ["Loan ID", "Principal Balance", "Days Open"],
        ["1", 5.0, 3],
        [2, 6.0, 4],
        ["Total", 11.0, None],
        ["Notes: none"],
    ]
    book = make_book({"Loans": rows})
    sheet = book.sheets[0]
    header_match = header.find(sheet, mapping)
    assert header_match is not None
    picked = table.pick(RowsBelow(sheet, StringPool(sheet.text), 1, sheet.row_count), header_match, mapping)
    assert picked.rows == slice(0, 2)
    assert picked.counts == {"total_rows": 1}


HELD = ["Issuer", "Facility", "LoanX ID", "Par"]
LISTED = [["Alder Inc", "TL", "LX100001", 100e6], ["Birch Inc", "TL", "LX100002", 200e6],
          ["Cedar Inc", "TL", "LX100003", 300e6]]  # fmt: skip
NO_LOANS = [["Dorn Holdings", "Common Shares", None, 5e6], ["Elm Corp", "Warrants", "LX100009", 7e6]]


@every(
    "rows, rows_left_out, par",
    [
        # Down to the end, to the total, to the next heading; also above the loans.
        ([*LISTED, ["Equity Securities (not Collateral Obligations)"], *NO_LOANS], 2, 12e6),
        ([*LISTED, ["Total", None, None, 600e6], ["Warrants"], *NO_LOANS, ["Total", None, None, 12e6]], 2, 12e6),
        ([["Equity"], *NO_LOANS, ["First Lien"], *LISTED], 2, 12e6),
        ([LISTED[0], ["Sold"], NO_LOANS[0], ["Second Lien"], *LISTED[1:], ["Pending Purchases"], NO_LOANS[1]], 2, 12e6),
        ([*LISTED[:1], ["Equity"], NO_LOANS[0], ["Unsettled Trades"], NO_LOANS[1], ["Bonds"], *LISTED[1:]], 2, 12e6),
        # Over a page break, whose titles are no headings.
        ([*LISTED, ["Equity"], NO_LOANS[0], ["Example CLO"], HELD, NO_LOANS[1]], 2, 12e6),
        ([*LISTED[:2], ["Equity"], *NO_LOANS, ["Senior Loans"], HELD, LISTED[2]], 2, 12e6),
        # No heading: a company's name, and a word in a loan's row.
        ([LISTED[0], ["Equity Office Holdings"], *LISTED[1:]], 0, 0.0),
        ([*LISTED, ["Sold", "TL", "LX100008", 1e6]], 0, 0.0),
    ],
)
def test_rows_below_a_heading_that_says_no_collateral(
    map_rows: MapRows, rows: list[list[Any]], rows_left_out: int, par: float
) -> None:
    portfolio = map_rows([["Example CLO"], HELD, *rows])
    kept = [value for value in portfolio.numbers["par_value"].tolist() if value != 1e6]
    assert kept == [100e6, 200e6, 300e6]
    notes = portfolio.notes
    assert (notes.no_collateral_rows, notes.no_collateral_par) == (rows_left_out, par)
    messages = [warning.message for warning in notes.warnings if warning.code == "no_collateral"]
    assert messages == (
        [
            "2 rows of sheet 'Holdings' with a par of 12,000,000.00 are no loans: their heading says that it is no "
            "collateral."
        ]
        if rows_left_out
        else []
    )


def test_figures_of_par_doubt_what_is_no_collateral(map_rows: MapRows) -> None:
    ran = run_suite(map_rows([HELD, *LISTED, ["Equity"], *NO_LOANS]), test_ids=["single_obligor_concentration"])
    assert "left_out" in [doubt.code for doubt in ran[0].doubt]


def test_the_title_of_a_page_of_loans_takes_none_of_them_out(map_rows: MapRows) -> None:
    portfolio = map_rows([HELD, ["Unsettled Loans"], *LISTED])
    assert portfolio.numbers["par_value"].tolist() == [100e6, 200e6, 300e6]
    assert not portfolio.notes.no_collateral_rows
