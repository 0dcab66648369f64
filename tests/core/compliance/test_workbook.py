"""From the cells of a workbook to results.

What the mapping reads, loses and assumes must show in what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from core.compliance.result import TestResult
from core.compliance.run import run_suite
from core.files.read import read
from core.portfolio import Portfolio

Run = Callable[[Sequence[Sequence[Any]], str], TestResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """One test over a workbook whose only sheet has these rows."""

    def run(rows: Sequence[Sequence[Any]], test_id: str) -> TestResult:
        path = tmp_path / "holdings.xlsx"
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("Holdings")
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
        return run_suite(Portfolio.from_workbook(read(path)), "enhanced", test_ids=[test_id])[0]

    return run


def breakdown(result: TestResult) -> dict[str, Any]:
    assert result.details is not None
    return result.details.breakdown


def test_a_facility_rating_beside_the_default_probability_rating(run: Run) -> None:
    """B2 and a facility at Ba3, two notches better.

    60 for a first lien; without the second column 45.
    """
    rows = [
        ["Issuer", "Par Amount", "Moody's Rating", "Moody's Facility Rating", "Lien Type"],
        ["Acme", 1e6, "B2", "Ba3", "First Lien"],
    ]
    assert run(rows, "weighted_average_recovery_rate").current_value == 60.0
    without = [[*row[:3], row[4]] for row in rows]
    assert run(without, "weighted_average_recovery_rate").current_value == 45.0


def test_blank_liens_are_told(run: Run) -> None:
    """They count as first liens.

    10 of 40 performing is second lien, and 25 % of par did not say; a default is none.
    """
    rows = [
        ["Issuer", "Par Amount", "Lien Type", "Default Obligation"],
        ["Acme", 20e6, "First Lien", "N"],
        ["Bolt", 10e6, "Second Lien", "N"],
        ["Cord", 10e6, None, "N"],
        ["Dent", 90e6, None, "Y"],
    ]
    junior = run(rows, "non_senior_secured_concentration")
    assert (junior.current_value, breakdown(junior)["lien_blank_pct"]) == (25.0, 25.0)
    recovery = run(rows, "weighted_average_recovery_rate")
    assert recovery.current_value == (45 * 30 + 35 * 10) / 40
    assert breakdown(recovery)["lien_blank_pct"] == 25.0


def test_blanks_of_a_second_lien_flag_are_told(run: Run) -> None:
    rows = [["Issuer", "Par Amount", "Is_Second_Lein"], ["Acme", 3e6, "Y"], ["Bolt", 1e6, None], ["Cord", 4e6, "N"]]
    junior = run(rows, "non_senior_secured_concentration")
    assert (junior.current_value, breakdown(junior)["lien_blank_pct"]) == (37.5, 12.5)


def test_what_the_mapping_lost_is_told(run: Run) -> None:
    """Rows under the end of the table, rows that may be anything, identifiers and cells that say nothing, lots."""
    rows = [
        ["CUSIP", "Issuer", "Par Amount", "Spread", "Maturity"],
        ["037833100", "Acme", 20e6, 350, "2030-01-31"],
        ["037833100", "Acme", 10e6, 350, "2030-01-31"],
        ["1.23E+08", "Bolt", 10e6, "see below", "2030-01-31"],
        ["PRIVATE", "Cord", 10e6, 350, "2030-01-31"],
        ["PRIVATE", "Dent", 10e6, 350, "2030-01-31"],
        [None, None, 7e6, 350, None],
        ["Total", None, 67e6],
        [],
        [],
        [],
        ["594918104", "Echo", 5e6, 350, "2030-01-31"],
    ]
    actual_rows = breakdown(run(rows, "single_obligor_concentration"))["rows"]
    assert actual_rows == {
        "loans": 4, "performing": 4, "defaulted": 0, "ignored_blank_par": 0, "negative_par_rows": 0,
        "rows_after_end": 1, "unidentified_rows": 1, "placeholder_identifiers": 2, "destroyed_identifiers": 1,
        "unreadable_cells": {"spread": 1}, "lots": 2,
    }  # fmt: skip


def test_nothing_lost_is_not_told(run: Run) -> None:
    rows = [["CUSIP", "Issuer", "Par Amount", "Spread"], ["037833100", "Acme", 20e6, 350]]
    assert breakdown(run(rows, "single_obligor_concentration"))["rows"] == {
        "loans": 1, "performing": 1, "defaulted": 0, "ignored_blank_par": 0, "negative_par_rows": 0,
    }  # fmt: skip


def test_loans_without_quotes_count_as_unquoted(run: Run) -> None:
    """A blank depth is a depth of 0 where the column stands.

    50 % of par is quoted, all of it is covered.
    """
    rows = [
        ["Issuer", "Par Amount", "Price", "Quote Depth"], ["Acme", 10e6, 99, 2], ["Bolt", 10e6, 99, None]
    ]  # fmt: skip
    quoted = run(rows, "quoted_depth_pct")
    assert quoted.current_value == 50.0
    assert quoted.message == "Two or more dealer quotes 50.00 % is below the 80.00 % minimum (cushion -30.00)"
    assert (breakdown(quoted)["coverage_pct"], breakdown(quoted)["given_pct"]) == (100.0, 50.0)


def test_a_small_facility_of_a_blank_country(run: Run) -> None:
    """It is held to the line of the US.

    200m is large there, and small in France; the breakdown says so.
    """
    rows = [
        ["Issuer", "Par Amount", "Facility Size", "Country"],
        ["Acme", 10e6, 200e6, "USA"],
        ["Bolt", 10e6, 200e6, "France"],
        ["Cord", 20e6, 200e6, None],
    ]
    small = run(rows, "small_facility_concentration")
    assert small.current_value == 25.0
    assert breakdown(small)["country_blank_pct"] == 50.0
    assert breakdown(small)["country_blank"] == "held to the line for the US"
    words = breakdown(run(rows[:-1], "small_facility_concentration"))
    assert words["country_blank_pct"] == 0.0
    assert "country_blank" not in words


def test_cash_is_told_where_it_counts(run: Run) -> None:
    """Only where the collateral principal amount has a part in the figure."""
    rows = [["Issuer", "Par Amount", "Days Past Due", "Quote Depth", "Cov-Lite"], ["Acme", 10e6, 40, 3, "Y"]]
    assert "principal_cash" not in breakdown(run(rows, "delinquency_pct"))
    assert "principal_cash" not in breakdown(run(rows, "quoted_depth_pct"))
    assert breakdown(run(rows, "cov_lite_concentration"))["principal_cash"] == "not given: counted as 0"
