"""Finding header rows: titles above, two rows, merged groups, repeats, and sheets that are no holdings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.grid.sheet import Sheet
from core.portfolio import header
from core.portfolio.fields import PROFILES

CLO = PROFILES["standard_clo"]
MakeSheet = Callable[..., Sheet]


def test_the_best_row_wins_then_the_topmost(make_sheet: MakeSheet) -> None:
    best = ["Issuer Name", "Par Amount", "Price", "CUSIP"]
    sheet = make_sheet(
        [["ARES BR Mtge"], ["Issuer", "Par", "Price"], [], best, ["A", 1, 2, "x"], best, ["B", 1, 2, "y"]]
    )
    found = header.find(sheet, CLO)
    assert found is not None
    assert (found.row, found.score) == (3, 4)
    assert found.columns == {"borrower_name": [0], "par_value": [1], "price": [2], "cusip": [3]}


@pytest.mark.parametrize(
    "row",
    [
        ["Issuer", "Par"],
        ["Issuer", "Price", "Spread"],
        ["Price", "Spread", "Rating", "Country"],
        ["Par", "Par", "Par", "Par Amount"],
    ],
)
def test_a_header_names_three_targets_and_par_or_an_identifier(make_sheet: MakeSheet, row: list[str]) -> None:
    assert header.find(make_sheet([row, ["x"] * len(row)]), CLO) is None


def test_an_identifier_serves_in_place_of_par(make_sheet: MakeSheet) -> None:
    found = header.find(make_sheet([["LoanX ID", "Issuer", "Spread"]]), CLO)
    assert found is not None
    assert found.score == 3


def test_a_header_below_the_first_40_rows_is_not_looked_for(make_sheet: MakeSheet) -> None:
    row = ["Issuer", "Par", "Price"]
    assert header.find(make_sheet([[]] * 39 + [row]), CLO) is not None
    assert header.find(make_sheet([[]] * 40 + [row]), CLO) is None


def test_wrapped_words_in_two_rows(make_sheet: MakeSheet) -> None:
    sheet = make_sheet(
        [
            ["Issuer", "Par", "Coupon", "Maturity", "Moody's"],
            ["Name", "Amount", "Spread", "Date", "Industry"],
            ["A", 1, 2, 3, "x"],
        ]
    )
    found = header.find(sheet, CLO)
    assert found is not None
    assert (found.row, found.top) == (1, 0)
    assert found.columns.keys() == {"borrower_name", "par_value", "spread", "maturity_date", "industry"}
    assert header.detect(sheet).names == [
        "Issuer Name",
        "Par Amount",
        "Coupon Spread",
        "Maturity Date",
        "Moody's Industry",
    ]
    assert header.detect(sheet).first_row == 2


def test_groups_over_fields_fill_their_merged_cells(make_sheet: MakeSheet) -> None:
    rows = [
        ["Position", None, "Moody's", None, "S&P"],
        ["Issuer", "Par", "Rating", "Industry", "Rating"],
        ["A", 1.0, "B2", "Retail", "B"],
    ]
    found = header.find(make_sheet(rows, merged=[(0, 0, 0, 1), (0, 2, 0, 3)]), CLO)
    assert found is not None
    assert found.columns == {
        "borrower_name": [0],
        "par_value": [1],
        "rating_agency_a": [2],
        "industry": [3],
        "rating_agency_b": [4],
    }
    # Without the merge the second word has no group, and still names its field alone.
    found = header.find(make_sheet(rows), CLO)
    assert found is not None
    assert found.columns["industry"] == [3]


def test_a_lower_row_with_numbers_is_data(make_sheet: MakeSheet) -> None:
    found = header.find(make_sheet([["Issuer", "Par", "Coupon", "LXID"], ["Name", 5.0, "Spread", "Date"]]), CLO)
    assert found is not None
    assert (found.row, found.top) == (0, 0)


def test_alias_order_is_preference_order(make_sheet: MakeSheet) -> None:
    names = [
        "Issuer",
        "Par",
        "Moody's Rating",
        "Moody's DP Rating - WARF",
        "Moody's CFR",
        "Current Balance",
        "Par Amount",
    ]
    found = header.find(make_sheet([names]), CLO)
    assert found is not None
    assert found.columns["rating_agency_a"] == [3, 4, 2]
    assert found.columns["par_value"] == [6, 1, 5]


def test_one_column_feeds_one_target(make_sheet: MakeSheet) -> None:
    found = header.find(make_sheet([["Issuer", "Par", "CUSIP", "Moody's Rating-21"]]), CLO)
    assert found is not None
    assert found.columns["rating_agency_a"] == [3]
    assert "facility_rating_agency_a" not in found.columns
    found = header.find(make_sheet([["Issuer", "Par", "CUSIP", "Moody's Rating-21", "Moody's Rating WARF"]]), CLO)
    assert found is not None
    assert (found.columns["rating_agency_a"][0], found.columns["facility_rating_agency_a"]) == (4, [3])


def test_names_of_any_sheet(make_sheet: MakeSheet) -> None:
    detected = header.detect(make_sheet([[], ["A", None, "A", " B\n c ", "A", "A (2)"], [1, 2, 3, 4, 5, 6]]))
    assert (detected.row, detected.first_row, detected.last_row) == (1, 2, 3)
    assert detected.names == ["A", "Column 2", "A (2)", "B c", "A (3)", "A (2) (2)"]


def test_a_first_row_with_a_number_is_no_header(make_sheet: MakeSheet) -> None:
    detected = header.detect(make_sheet([["A", 1], ["B", 2]]))
    assert detected == header.Header(None, ["A", "B"], 0, 2)
    assert header.detect(make_sheet([])) == header.Header(None, [], 0, 0)


def test_the_holdings_header_wins_over_the_first_row(make_sheet: MakeSheet) -> None:
    detected = header.detect(
        make_sheet([["Some title"], ["Issuer", "Par", "Price", 2026], ["A", 1, 2, 3], ["Total", 1]])
    )
    assert (detected.row, detected.first_row, detected.last_row) == (1, 2, 4)
    assert detected.names == ["Issuer", "Par", "Price", "2026"]


def test_many_equal_names_stay_distinct_and_cheap(make_sheet: MakeSheet) -> None:
    names = header.detect(make_sheet([["x"] * 16_384])).names
    assert len(set(names)) == 16_384
    assert names[-1] == "x (16384)"


def test_other_mappings_have_their_own_anchors(make_sheet: MakeSheet) -> None:
    rows: list[list[Any]] = [["Loan ID", "Principal Balance", "Interest Rate", "Days Open"], ["1", 2, 3, 4]]
    found = header.find(make_sheet(rows), PROFILES["standard_servicer"])
    assert found is not None
    assert found.columns.keys() == {"loan_id", "principal_balance", "interest_rate", "days_open"}


@pytest.mark.parametrize(
    ("text", "unit"),
    [("Spread (bps)", "bps"), ("Spread BP", "bps"), ("Spread %", "%"), ("Spread pct", "%"), ("Spread", "")],
)
def test_units_in_headers(text: str, unit: str) -> None:
    assert header.unit(text) == unit
