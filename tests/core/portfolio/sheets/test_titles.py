"""What titles say: flags of lists, pages that are left out, headings of no collateral, words for an empty list."""

from __future__ import annotations

import pytest

from core.portfolio.cells.string_pool import key
from core.portfolio.sheets import titles
from tests.rows import every


@every(
    "lines, flag",
    [
        (["Defaulted Obligations"], "is_defaulted"),
        (["Defaulted Obligation Detail"], "is_defaulted"),
        (["Deferring Obligations"], "is_deferring"),
        (["Deferred Interest Securities"], "is_deferring"),
        (["PIK Securities"], "is_pik"),
        (["Current Pay Obligations"], "is_current_pay"),
        (["Cov-Lite Loans"], "cov_lite"),
        (["Covenant Lite"], "cov_lite"),
        (["DIP Loans"], "is_dip"),
        (["Debtor-in-Possession Loans"], "is_dip"),
        (["Long-Dated Obligations"], "is_long_dated"),
        # Lists without a flag, and titles of something else.
        (["Discount Obligations"], ""),
        (["Non-Discount Obligations"], ""),
        (["CCC Obligations"], ""),
        (["Obligations with a Moody's Rating of Caa1 or below"], ""),
        (["Schedule of Investments"], ""),
        (["Deferred Interest on the Notes"], ""),
        # The opposite, and words that are about something else than the loans.
        (["Non-Defaulted Obligations"], ""),
        (["Obligations other than Defaulted Obligations"], ""),
        (["Performing and Defaulted Loans"], ""),
        (["Moody's Default Probability Ratings"], ""),
        (["No Defaulted Obligations"], ""),
        # Several kinds say nothing of each loan; the nearest line that names one decides.
        (["Defaulted and Discount Obligations"], ""),
        (["Defaulted Obligations", "Defaulted Caa Discount"], "is_defaulted"),
        (["CCC Obligations", "Defaulted Caa Discount"], ""),
        (["Part II", "Defaulted"], "is_defaulted"),
    ],
)
def test_the_title_of_a_list_says_what_is_true_of_its_loans(lines: list[str], flag: str) -> None:
    assert titles.flag_of(map(key, lines)) == flag


@every(
    "title, words",
    [
        ("Purchases and Sales", "trades or payments"),
        ("Unsettled Trades", "trades or payments"),
        ("Pending", "trades or payments"),
        ("Trading Activity", "trades or payments"),
        ("Rating Upgrades and Downgrades", "changed ratings"),
        ("Rating Changes", "changed ratings"),
        ("Changes in Ratings", "changed ratings"),
        ("Watchlist", "changed ratings"),
        ("Assets on Watch", "changed ratings"),
        ("Equity Securities", "cash, shares or contracts"),
        ("Non-Collateral Assets", "cash, shares or contracts"),
        ("Collateral Enhancement Obligations", "cash, shares or contracts"),
        ("Holdings Prior", "another day"),
        # None of these.
        ("Asset Schedule | Purchase Price", ""),
        ("Holdings | including unsettled", ""),
        ("Ratings and Watch", ""),
        ("Collateral Detail | Prior Month", ""),
        ("Rating Detail And Recovery", ""),
        ("Defaulted Obligations", ""),
    ],
)
def test_why_a_page_is_left_out(title: str, words: str) -> None:
    why = titles.left_out(" | ".join(map(key, title.split(" | "))))
    assert words in why if words else why == ""


@every(
    "heading, is_none",
    [
        ("Equity Securities (not Collateral Obligations)", True),
        ("Assets that are not collateral", True),
        ("Non-Collateral Assets", True),
        ("Excluded from the Collateral Principal Amount", True),
        ("EQUITY", True),
        ("Warrants", True),
        ("Common Stock and Warrants", True),
        ("Assets sold but not yet settled", True),
        ("Pending Purchases", True),
        ("Unsettled Trades", True),
        ("Assets Sold During the Period", True),
        ("Investments repaid in full this quarter", True),
        ("Disposals", True),
        # Names of companies and headings of loans.
        ("Equity Office Holdings LLC", False),
        ("Warrant Group plc", False),
        ("Senior Secured Loans", False),
        ("Sales", False),
        ("Full Period Loans", False),
        ("Disposals Group Ltd", False),
        ("Interest", False),
        ("Not Collateral Manager", False),
        ("Collateral Obligations", False),
        ("", False),
        ("x" * 10_000, False),
    ],
)
def test_headings_of_what_is_no_collateral(heading: str, is_none: bool) -> None:
    assert titles.is_no_collateral(heading) is is_none


@every(
    "text, is_empty",
    [
        ("No data available for this request", True),
        ("No Data", True),
        ("None", True),
        ("(None)", True),
        ("None.", True),
        ("Nil", True),
        ("N/A", True),
        ("Nothing to report", True),
        ("There are no Defaulted Obligations.", True),
        ("No Defaulted Obligations", True),
        ("No current pay obligations held", True),
        ("No such obligations in the portfolio", True),
        ("Nonesuch Holdings", False),
        ("No. of Assets", False),
        ("Nokia", False),
        ("Total", False),
        ("None of the loans is defaulted, and " + "so on " * 40, False),
    ],
)
def test_words_for_an_empty_list(text: str, is_empty: bool) -> None:
    assert titles.is_empty(text) is is_empty


@every(
    "line, flags",
    [
        ("There are no Defaulted Obligations.", {"is_defaulted"}),
        ("No current pay or deferring obligations", {"is_current_pay", "is_deferring"}),
        ("No discount obligations", set()),
        ("No Non-Defaulted Obligations", set()),
        ("Defaulted Obligations", set()),
        ("No default of the manager has occurred", set()),
    ],
)
def test_what_a_sentence_says_to_be_empty(line: str, flags: set[str]) -> None:
    assert titles.empty_list_flags(key(line)) == flags


def test_a_kind_stands_once_in_the_table() -> None:
    kinds = [title.kind for title in titles.TITLES]
    assert len(kinds) == len(set(kinds))
    assert titles.is_of_another_day(key("Holdings Prior"))
    assert not titles.is_of_another_day(key("Holdings"))
    with pytest.raises(AttributeError):
        titles.TITLES[0].flag = "is_dip"  # type: ignore[misc]
