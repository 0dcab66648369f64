"""Columns of yes and no: headings that deny a flag, and those of something else."""

from __future__ import annotations

import pytest

from core.portfolio import Portfolio
from tests.core.portfolio.conftest import MapRows

NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dogwood Ltd", "Elm GmbH", "Fir S.A."]


def read(map_rows: MapRows, heading: str, cells: list[object]) -> Portfolio:
    body = [[name, 1_000_000.0 + at, 95.0 + at, cells[at]] for at, name in enumerate(NAMES)]
    return map_rows([["Borrower", "Par Amount", "Price", heading], *body])


def flag(portfolio: Portfolio, name: str) -> list[int] | None:
    values = portfolio.flags.get(name)
    return None if values is None else values.tolist()


@pytest.mark.parametrize(
    "heading",
    ["Non-Defaulted (Y/N)", "Not Defaulted", "Non-Default", "Not in Default", "Performing (Y/N)", "Performing",
     "Is Performing", "Performing Status"],
)  # fmt: skip
def test_a_heading_that_denies_the_default_turns_yes_and_no(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["Y", "N", "Y", "Yes", "y", "Y"]
    assert flag(read(map_rows, heading, cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("values", [[True, False, True, True, True, True], [1, 0, 1, 1, 1, 1]])
def test_it_turns_true_and_false_and_figures(map_rows: MapRows, values: list[object]) -> None:
    assert flag(read(map_rows, "Non-Defaulted (Y/N)", values), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(("good", "bad"), [("Performing", "Non-Performing"), ("P", "D"), ("PERF", "DEF")])
def test_words_of_the_default_say_it_under_any_heading(map_rows: MapRows, good: str, bad: str) -> None:
    cells: list[object] = [good, bad, good, good, good, good]
    assert flag(read(map_rows, "Performing Status", cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("heading", "good", "bad"),
    [("Loan Status", "P", "D"), ("Status", "PERF", "DEF"), ("Payment Status", "Current", "Payment Default"),
     ("Obligation Category", "Collateral Obligation", "Defaulted Obligation"), ("Ausfall (J/N)", "N", "J"),
     ("En mora (S/N)", "N", "S")],
)  # fmt: skip
def test_a_status_tells_the_default_by_its_cells(map_rows: MapRows, heading: str, good: str, bad: str) -> None:
    cells: list[object] = [good, bad, good, good, good, good]
    assert flag(read(map_rows, heading, cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "heading",
    ["Maintenance Covenants (Y/N)", "Non Cov-Lite", "Has Covenants?", "Not Covenant Lite", "Financial Covenants (Y/N)"],
)
def test_a_heading_of_covenants_denies_that_a_loan_is_covenant_lite(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["N", "Y", "N", "N", "Y", "N"]
    assert flag(read(map_rows, heading, cells), "cov_lite") == [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("heading", ["Covenants", "Covenant Package", "Cov. Type", "Cov-Lite"])
def test_words_of_covenants_say_it_under_any_heading(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["Cov-Lite", "Full", "CL", "Lite", "Maintenance", "Cov-Lite"]
    assert flag(read(map_rows, heading, cells), "cov_lite") == [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "heading",
    ["Cross-Default", "Former Default", "Cured Default", "Default Interest (Y/N)", "Default History", "Excl. Defaulted",
     "Defaulting Lender", "Covenant Relief", "Covenant Waiver", "Covenant Compliance", "Springing Covenant",
     "Covenant Breach (Y/N)"],
)  # fmt: skip
def test_a_heading_of_something_else_feeds_no_flag(map_rows: MapRows, heading: str) -> None:
    portfolio = read(map_rows, heading, ["N", "Y", "N", "N", "Y", "N"])
    assert flag(portfolio, "is_defaulted") is None
    assert flag(portfolio, "cov_lite") is None


def test_names_of_covenants_are_no_answer_whether_there_are_any(map_rows: MapRows) -> None:
    cells: list[object] = ["Leverage", "Interest Cover", "Leverage", "Leverage", "Leverage", "Leverage"]
    assert flag(read(map_rows, "Financial Covenant", cells), "cov_lite") is None


SPREADS: list[object] = [325, 400, 375, 450, 500, 350]
PRICES: list[object] = [95.5, 98.25, 88.75, 99.125, 91.0, 97.5]


@pytest.mark.parametrize(
    ("heading", "cells", "field"),
    [
        ("Default Margin", SPREADS, "spread"), ("Spread at Closing", SPREADS, "spread"),
        ("Hedge Spread", SPREADS, "spread"), ("Yield Spread", SPREADS, "spread"),
        ("Spread at Issue", SPREADS, "spread"),
        ("Margin Ratchet (bps)", SPREADS, "spread"), ("Hedge Maturity", ["2029-06-30"] * 6, "maturity_date"),
        ("Springing Maturity", ["2029-06-30"] * 6, "maturity_date"), ("Agent Country", ["Japan"] * 6, "country"),
        ("Sponsor Country", ["Japan"] * 6, "country"), ("Parent Country", ["Japan"] * 6, "country"),
        ("Governing Law Country", ["Japan"] * 6, "country"), ("Min Moody's", ["B3"] * 6, "rating_agency_a"),
        ("Moody's Rating at Closing", ["B3"] * 6, "rating_agency_a"),
        ("Initial S&P Rating", ["B"] * 6, "rating_agency_b"),
        ("Moody's Rating at Trade Date", ["B3"] * 6, "rating_agency_a"), ("S&P (Entry)", ["B"] * 6, "rating_agency_b"),
    ],
)  # fmt: skip
def test_a_heading_of_another_day_or_owner_feeds_no_field(
    map_rows: MapRows, heading: str, cells: list[object], field: str
) -> None:
    assert field not in read(map_rows, heading, cells).notes.matched_columns


@pytest.mark.parametrize(
    ("heading", "is_purchase"),
    [("52w High Price", False), ("Call Price", False), ("Conversion Price", False), ("Redemption Px", False),
     ("Trade Price", True), ("Settle Price", True)],
)  # fmt: skip
def test_a_price_that_no_market_makes_today_is_no_price(map_rows: MapRows, heading: str, is_purchase: bool) -> None:
    body = [[name, 1_000_000.0 + at, PRICES[at], "B2"] for at, name in enumerate(NAMES)]
    columns = map_rows([["Borrower", "Par Amount", heading, "Moody's Rating"], *body]).notes.matched_columns
    assert heading not in {columns.get("price"), columns.get("floor")}
    assert (columns.get("purchase_price") == heading) == is_purchase


@pytest.mark.parametrize(
    ("field", "old", "now", "cells", "today"),
    [
        ("rating_agency_a", "Moody's Rating at Closing", "Current Rating Moody's", ["Ba1"] * 6, ["B2"] * 6),
        ("rating_agency_b", "Initial S&P Rating", "Latest S&P Rating", ["BB+"] * 6, ["B"] * 6),
        ("rating_agency_a", "Moody's (Entry)", "Moody's (Today)", ["Ba1"] * 6, ["B2"] * 6),
        ("spread", "Spread at Issue", "Spread Now", SPREADS, SPREADS),
        ("maturity_date", "Original Maturity", "Extended To", ["2027-06-30"] * 6, ["2029-06-30"] * 6),
        ("par_value", "BOP Par", "EOP Par", [1e6, 2e6, 3e6, 1e6, 2e6, 3e6], [9e5, 2e6, 3e6, 9e5, 2e6, 3e6]),
    ],
)
def test_what_is_so_today_goes_before_what_was_so(
    map_rows: MapRows, field: str, old: str, now: str, cells: list[object], today: list[object]
) -> None:
    par = [] if field == "par_value" else [1_000_000.0]
    body = [[name, *par, 95.0 + at, cells[at], today[at]] for at, name in enumerate(NAMES)]
    rows = [["Borrower", *(["Par Amount"] if par else []), "Price", old, now], *body]
    assert map_rows(rows).notes.matched_columns[field] == now


def test_an_original_maturity_that_alone_is_there_is_in_doubt(map_rows: MapRows) -> None:
    portfolio = read(map_rows, "Original Maturity", ["2029-06-30"] * 6)
    (warning,) = [warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]
    assert warning.fields == ("maturity_date",)
    assert "its heading says 'original'" in warning.message


@pytest.mark.parametrize("heading", ["Amt O/S", "Our Share"])
def test_par_is_known_by_the_words_of_managers(map_rows: MapRows, heading: str) -> None:
    body = [[name, 1_250_000.5 + at, 95.0 + at, "B2"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Borrower", heading, "Price", "Moody's Rating"], *body])
    assert portfolio.notes.matched_columns["par_value"] == heading


@pytest.mark.parametrize(("cells", "field"), [(["S+325", "S+400"] * 3, "spread"), ([95.5, 97.25] * 3, "price")])
def test_pricing_is_a_spread_or_a_price_by_its_cells(map_rows: MapRows, cells: list[object], field: str) -> None:
    body = [[name, 1_250_000.5 + at, cells[at], "B2"] for at, name in enumerate(NAMES)]
    columns = map_rows([["Borrower", "Par Amount", "Pricing", "Moody's Rating"], *body]).notes.matched_columns
    assert columns[field] == "Pricing"


@pytest.mark.parametrize(("heading", "is_doubtful"), [("Cov", True), ("Covenants", True), ("Has Covenants?", False)])
def test_a_short_heading_that_denies_a_flag_is_in_doubt(map_rows: MapRows, heading: str, is_doubtful: bool) -> None:
    portfolio = read(map_rows, heading, ["N", "Y", "N", "N", "Y", "N"])
    assert flag(portfolio, "cov_lite") == [1, 0, 1, 1, 0, 1]
    doubts = [warning.fields for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]
    assert doubts == ([("cov_lite",)] if is_doubtful else [])
