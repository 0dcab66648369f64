"""Every row of the table of rules.

Boundaries of the tolerances, severities, and what is no difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from stdnum import isin as stdnum_isin

from core.portfolio import Portfolio
from core.reconciliation import Issue, _compare, reconcile
from tests.core.reconciliation.oracle import day, portfolio_of
from tests.rows import every

CUSIP, OTHER = "037833100", "594918104"
US, OTHER_US = (f"US{cusip}{stdnum_isin.calc_check_digit('US' + cusip)}" for cusip in (CUSIP, OTHER))


def issues(tape: dict[str, Any], book: dict[str, Any]) -> list[Issue]:
    """What one loan of each side, matched by its CUSIP, differs in."""
    sides = ({"cusip": CUSIP, "borrower_name": "Acme"} | side for side in (tape, book))
    return list(reconcile(*(portfolio_of(**{name: [value] for name, value in side.items()}) for side in sides)).issues)


def severity(field: str, theirs: Any, ours: Any) -> str | None:
    """Of the one issue that there may be."""
    if field == "base_rate":  # of nothing but None, the column would be one of levels
        theirs, ours = theirs or "", ours or ""
    result = issues({field: theirs}, {field: ours})
    assert [(item.field_name, item.issue_type) for item in result] in ([], [(field, "value_mismatch")])
    return result[0].severity if result else None


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (1_000_000.01, None),
        (999_999.99, None),
        (1_000_000.02, "info"),
        (1_009_999.0, "info"),
        (1_010_000.0, "error"),
        (990_000.0, "error"),
        (990_001.0, "info"),
        (950_000.0, "error"),
        (1_050_000.0, "error"),
        (949_999.0, "critical"),
        (1_050_001.0, "critical"),
        (0.0, "critical"),
        (-1_000_000.0, "critical"),
    ],
)
def test_par(ours: float, expected: str | None) -> None:
    assert severity("par_value", 1_000_000.0, ours) == expected


def test_par_is_a_percentage_of_the_trustees_figure() -> None:
    assert severity("par_value", 1_000_000.0, 1_050_000.0) == "error"
    assert severity("par_value", 1_050_000.0, 1_000_000.0) == "error"
    assert severity("par_value", 950_000.0, 1_000_000.0) == "critical"
    assert severity("par_value", 0.0, 0.02) == "critical"
    assert severity("par_value", 0.0, 0.01) is None
    assert severity("par_value", 100_000_000.0, 100_000_000.01) is None
    assert severity("par_value", -1_000_000.0, -1_010_000.0) == "error"


@pytest.mark.parametrize(("percent", "within", "beyond"), [(1, "error", "info"), (5, "error", "critical")])
def test_par_apart_by_exactly_a_bound(percent: int, within: str, beyond: str) -> None:
    """In cents, where the percentage is no binary number.

    A cent more or less is on the other side of the bound.
    """
    cents = [100_000_000 + 1_234_500 * number for number in range(500)]
    away = 1 if percent == 5 else -1
    for extra, expected in ((0, within), (away, beyond)):
        tape = portfolio_of(loanx_id=[f"LOAN {par}" for par in cents], par_value=[par / 100 for par in cents])
        ours = [(par + par * percent // 100 + extra) / 100 for par in cents]
        book = portfolio_of(loanx_id=[f"LOAN {par}" for par in cents], par_value=ours)
        assert [issue.severity for issue in reconcile(tape, book).issues] == [expected] * 500


@every(
    "field, theirs, ours, expected",
    [
        ("price", 99.0, 99.125, None),
        ("price", 99.0, 99.13, "warning"),
        ("price", 99.0, 98.875, None),
        ("price", 99.0, None, "warning"),
        ("price", None, 99.0, "warning"),
        ("price", None, None, None),
        ("spread", 350.0, 360.0, None),
        ("spread", 350.0, 340.0, None),
        ("spread", 350.0, 360.5, "warning"),
        ("spread", 350.0, 360.000001, "warning"),
        ("spread", 350.0, None, "warning"),
        ("all_in_rate", 8.0, 8.05, None),
        ("all_in_rate", 8.05, 8.0, None),
        ("all_in_rate", 8.0, 8.06, "warning"),
        ("all_in_rate", None, 8.0, "warning"),
        ("maturity_date", day("2030-06-30"), day("2030-06-30"), None),
        ("maturity_date", day("2030-06-30"), day("2030-07-01"), "warning"),
        ("maturity_date", day("2030-06-30"), day("2030-06-30") + 0.5, None),
        ("maturity_date", day("2030-06-30"), None, "warning"),
        ("rating_agency_a", "B2", "B2 *-", None),
        ("rating_agency_a", "B2", "(P)b2", None),
        ("rating_agency_a", "B2", "B3", "warning"),
        ("rating_agency_a", "B2", None, "warning"),
        ("rating_agency_a", "B2", "NR", "warning"),
        ("rating_agency_a", "WR", "B2", "warning"),
        ("rating_agency_a", "WR", "NR", "info"),
        ("rating_agency_a", None, "wr", "info"),
        ("rating_agency_a", "WR", "WD", None),
        ("rating_agency_a", " withdrawn", "NR", "info"),
        ("rating_agency_a", "NR", None, None),
        ("rating_agency_a", "***", "-", None),
        ("rating_agency_a", "see note", "NR", "info"),
        ("rating_agency_a", "see note", "B2", "warning"),
        ("rating_agency_b", "SD", "D", None),
        ("rating_agency_b", "B1", "B+", None),
        ("rating_agency_a", "BBB-", "Baa3", None),
        ("rating_agency_c", "Caa1 *-", "CCC+", None),
        ("rating_agency_b", "B2", "B3", "warning"),
        ("rating_agency_b", "B2", "NR", "warning"),
        ("rating_agency_b", "see note", "call desk", None),
        ("rating", "see note", "WR", "info"),
        ("rating_agency_b", "B", "B-", "warning"),
        ("rating_agency_c", "BBB-", "BBB-", None),
        ("rating", "Baa3", "BBB-", None),
        ("rating", "Baa3", "BB+", "warning"),
        ("base_rate", "TSFR3M", "3M SOFR", None),
        ("base_rate", "Term SOFR 3M", "SOFR-3M", None),
        ("base_rate", "SOFR", "TSFR3M", "info"),
        ("base_rate", "1M SOFR", "SOFR", "info"),
        ("base_rate", "1M SOFR", "3M SOFR", "warning"),
        ("base_rate", "3M SOFR", "3M EURIBOR", "warning"),
        ("base_rate", "SOFR", "EURIBOR", "warning"),
        ("base_rate", "USD LIBOR", "3M Libor", "info"),
        ("base_rate", "GBP LIBOR", "3M Libor", "warning"),
        ("base_rate", "3M SOFR", None, "warning"),
        ("base_rate", None, "SOFR", "warning"),
        ("base_rate", None, None, None),
        ("base_rate", "Own Cost of Funds", "OWN COST OF FUNDS", None),
        ("industry", "Beverage, Food, & Tobacco", "Beverage, Food and Tobacco", None),
        ("industry", "CORP - Retail", "Retail", None),
        ("industry", "Retail", "Automotive", "warning"),
        ("industry", "Space Mining", "SPACE-MINING", "info"),
        ("industry", "Rockets & Moons", "Rockets and Moons", "info"),
        ("industry", "Space Mining", "Moon Mining", "warning"),
        ("industry", "Retail", None, "warning"),
        ("borrower_name", "Acme Corp.", "ACME CORPORATION", "info"),
        ("borrower_name", "Acme Corp.", "Nova LLC", "info"),
        ("borrower_name", "Acme Corp.", "Acme Corp.", None),
        ("borrower_name", "Acme Corp.", None, "info"),
        ("loanx_id", "LX131555", "LX131556", "warning"),
        ("loanx_id", "LX131555", "OUR LOAN", "info"),
        ("loanx_id", "LX131555", None, None),
        ("isin", "XS0104440986", "GB0002634946", "warning"),
        ("isin", "XS0104440986", "GB0002634947", "info"),
    ],
)
def test_each_field(field: str, theirs: Any, ours: Any, expected: str | None) -> None:
    assert severity(field, theirs, ours) == expected


def test_what_an_issue_says() -> None:
    (issue,) = issues({"rating_agency_a": "B2 *-"}, {"rating_agency_a": "B3"})
    assert issue == Issue(
        loan_key=CUSIP, primary_identifier=CUSIP, cusip=CUSIP, identifier_type="cusip", borrower_name="Acme",
        issue_type="value_mismatch", severity="warning", category="rating", field_name="rating_agency_a", rule="rating",
        trustee_value="B2 *-", internal_value="B3",
    )  # fmt: skip


def test_three_ratings_may_give_three_issues_and_the_deals_own_is_not_told_again() -> None:
    tape = {"rating_agency_a": "B2", "rating_agency_b": "B", "rating_agency_c": "B", "rating": "B2"}
    book = {"rating_agency_a": "B3", "rating_agency_b": "B-", "rating_agency_c": "B-", "rating": "B3"}
    assert [issue.field_name for issue in issues(tape, book)] == [
        "rating_agency_a",
        "rating_agency_b",
        "rating_agency_c",
    ]


def test_ranks_without_symbols_are_shown_on_the_scale() -> None:
    tape, book = (portfolio_of(cusip=[CUSIP] * 1, rating_agency_a=np.array([rank], np.uint8)) for rank in (15, 16))
    (issue,) = reconcile(tape, book).issues
    assert (issue.trustee_value, issue.internal_value) == ("B2", "B3")


@pytest.mark.parametrize("of_tape", [True, False])
@pytest.mark.parametrize(
    ("par", "expected"),
    [
        (99_999.99, "warning"),
        (100_000.0, "error"),
        (1_000_000.0, "error"),
        (1_000_000.01, "critical"),
        (0.0, "warning"),
        (-2_000_000.0, "critical"),
    ],
)
def test_missing_loans(par: float, expected: str, of_tape: bool) -> None:
    portfolio = portfolio_of(cusip=[CUSIP], par_value=[par])
    none = portfolio_of(cusip=[], par_value=[])
    (issue,) = reconcile(portfolio, none).issues if of_tape else reconcile(none, portfolio).issues
    assert (issue.severity, issue.category, issue.field_name, issue.rule) == (
        expected,
        "missing",
        "missing_loan",
        "missing_loan",
    )
    assert issue.issue_type == ("missing_in_internal" if of_tape else "missing_in_trustee")
    assert issue.identifier_type == "cusip"
    values = (issue.trustee_value, issue.internal_value)
    assert [float(value) if value else value for value in values] == ([par, ""] if of_tape else ["", par])


def test_a_missing_loan_of_several_lots_is_as_large_as_their_sum_in_decimals() -> None:
    par = [33_333.1, 33_333.2, 33_333.7]
    assert sum(par) < 100_000
    (issue,) = reconcile(
        portfolio_of(cusip=[CUSIP] * 3, borrower_name=["Acme"] * 3, par_value=par), portfolio_of(cusip=[], par_value=[])
    ).issues
    assert (issue.severity, issue.trustee_value) == ("error", "100000")


def test_cusips_that_differ_on_a_loan_matched_otherwise() -> None:
    same = {"loanx_id": "LX131555"}
    (issue,) = issues(same, same | {"cusip": OTHER})
    assert (issue.field_name, issue.severity, issue.category, issue.identifier_type) == (
        "cusip",
        "warning",
        "identity",
        "loanx_id",
    )
    assert (issue.trustee_value, issue.internal_value, issue.loan_key) == (CUSIP, OTHER, CUSIP)
    (issue,) = issues(same, same | {"cusip": "PRIVATE01"})
    assert (issue.field_name, issue.severity) == ("cusip", "info")
    assert issues(same | {"cusip": None}, same) == []


def test_an_isin_that_only_repeats_the_cusip_is_not_told_again() -> None:
    same = {"loanx_id": "LX131555"}
    answer = issues(same | {"isin": US}, same | {"cusip": OTHER, "isin": OTHER_US})
    assert [item.field_name for item in answer] == ["cusip"]
    answer = issues(same | {"isin": "XS0104440986"}, same | {"cusip": OTHER, "isin": OTHER_US})
    assert [item.field_name for item in answer] == ["cusip", "isin"]


# ---- lots ----------------------------------------------------------------------------------------------------------


def lots(ratings: list[str], par: float = 3e6) -> Portfolio:
    """One position in lots of equal par."""
    count = len(ratings)
    return portfolio_of(
        cusip=[CUSIP] * count, borrower_name=["Acme"] * count, par_value=[par / count] * count, rating_agency_a=ratings
    )


def test_a_position_split_in_lots_is_the_same_position() -> None:
    assert list(reconcile(lots(["B2"] * 3), lots(["B2"])).issues) == []
    assert list(reconcile(lots(["B2"]), lots(["B2"] * 3)).issues) == []


@pytest.mark.parametrize("of_tape", [True, False])
def test_lots_that_conflict_are_told_once(of_tape: bool) -> None:
    conflict, clean = lots(["B2", "B3", "B3"]), lots(["B2"])
    actual_issues = list(reconcile(conflict, clean).issues if of_tape else reconcile(clean, conflict).issues)
    (issue,) = [actual_issue for actual_issue in actual_issues if actual_issue.issue_type == "duplicate_position"]
    assert (issue.field_name, issue.severity, issue.category, issue.rule) == (
        "lots",
        "warning",
        "duplicate",
        "duplicate",
    )
    assert (issue.trustee_value, issue.internal_value) == (("3", "1") if of_tape else ("1", "3"))


def test_lots_that_conflict_alike_on_both_sides_hide_nothing() -> None:
    assert list(reconcile(lots(["B2", "B3"]), lots(["B2", "B3"])).issues) == []
    actual_issues = reconcile(lots(["B2", "B3", "B3"]), lots(["B2", "B3"])).issues
    assert [
        (actual_issue.field_name, actual_issue.trustee_value, actual_issue.internal_value)
        for actual_issue in actual_issues
    ] == [("lots", "3", "2")]


def test_lots_that_conflict_on_both_sides_and_differ_are_told() -> None:
    """As many on either side, and another rating of the largest."""
    actual_issues = reconcile(lots(["B2", "B3"]), lots(["B1", "B3"])).issues
    assert [
        (actual_issue.field_name, actual_issue.trustee_value, actual_issue.internal_value)
        for actual_issue in actual_issues
    ] == [("rating_agency_a", "B2", "B1"), ("lots", "2", "2")]


def test_conflicting_lots_of_a_missing_loan() -> None:
    none = replace(portfolio_of(cusip=[], par_value=[]))
    actual_issues = reconcile(lots(["B2", "B3"]), none).issues
    assert [
        (actual_issue.field_name, actual_issue.trustee_value, actual_issue.internal_value)
        for actual_issue in actual_issues
    ] == [("missing_loan", "3000000", ""), ("lots", "2", "")]


# ---- the kernels refuse --------------------------------------------------------------------------------------------

POOL = np.array([0, 1]), np.zeros(1, np.uint8)
"""One text of one byte: offsets and data."""


@pytest.mark.parametrize(("rows", "partners"), [([1], [0]), ([0], [1]), ([-1], [0]), ([0], [-1]), ([0], [])])
def test_rows_outside_their_columns_are_refused(rows: list[int], partners: list[int]) -> None:
    at, second = np.array(rows, np.int32), np.array(partners, np.int32)
    nothing, table = np.zeros(0, np.uint8), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="rows leave"):
        _compare.number_severities(np.zeros(1), np.zeros(1), at, second, 0.0, False, 1, np.zeros(0), nothing, nothing)
    with pytest.raises(ValueError, match="rows leave"):
        _compare.state_severities(np.zeros(1, np.uint8), np.zeros(1, np.uint8), at, second, 1, 22, 3, 4)
    codes = np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="rows leave"):
        _compare.name_severities(
            codes, codes, at, second, table, table, table, table, np.zeros(2, np.uint8), np.zeros(2, np.uint8), 3, 4
        )
    with pytest.raises(ValueError, match="rows leave"):
        _compare.text_differs(codes, *POOL, codes, *POOL, at, second, True)


def test_codes_outside_their_tables_are_refused() -> None:
    codes, row, table, flags = (
        np.array([1], np.int32),
        np.zeros(1, np.int32),
        np.zeros(2, np.int32),
        np.zeros(2, np.uint8),
    )
    with pytest.raises(ValueError, match="text code"):
        _compare.name_severities(codes, codes, row, row, table, table, table, table, flags, flags, 3, 4)
    with pytest.raises(ValueError, match="differ in length"):
        _compare.name_severities(row, row, row, row, table, table, table[:1], table, flags, flags, 3, 4)
    for tape, book in ((codes, row), (row, codes)):
        with pytest.raises(ValueError, match="text code"):
            _compare.text_differs(tape, *POOL, book, *POOL, row, row, True)
    for offsets in ([0, 2], [-1, 1], [1, 0], [0]):
        pool = np.array(offsets, np.int64), POOL[1]
        for pools in ((pool, POOL), (POOL, pool)):
            with pytest.raises(ValueError, match="text code"):
                _compare.text_differs(row, *pools[0], row, *pools[1], row, row, True)
