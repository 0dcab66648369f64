"""A row that is wrong beside good ones is marked with its number, and good rows are not."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from core.compliance.run import run_suite
from core.portfolio.cells.identifiers import is_sound
from tests.core.portfolio.conftest import MapRows, Rows
from tests.rows import every

LOANS: Final = 24
BAD: Final = 12
"""The place of the loan that is wrong."""
ROW: Final = f"row {BAD + 4})"
"""Its row, as a message ends with it: below the day, a blank row and the header."""


def cusip(at: int) -> str:
    """Return a CUSIP with its check digit."""
    return next(each for digit in range(10) if is_sound("cusip", each := f"10AB{at:04}{digit}"))


def sheet(bad: dict[str, Any]) -> Rows:
    """Return a list of loans of which one has other cells."""
    columns: dict[str, list[Any]] = {
        "Issuer": [f"Name {at} Inc" for at in range(LOANS)],
        "CUSIP": [cusip(at) for at in range(LOANS)],
        "Par Amount": [1_250_000.0 + 125_310.55 * at for at in range(LOANS)],
        "Price": [98.0 + at / 10 for at in range(LOANS)],
        "Spread": [325.0 + 25 * (at % 5) for at in range(LOANS)],
        "Floor": [0.75 + 0.25 * (at % 2) for at in range(LOANS)],
        "All In Rate": [7.5 + 0.25 * (at % 5) for at in range(LOANS)],
        "Recovery Rate": [45.0] * LOANS,
        "Country": ["US", "United States", "FR"] * (LOANS // 3),
        "Maturity": [date(2029, 5, 1 + at) for at in range(LOANS)],
        "S&P Rating": ["B", "B-", "B+", "BB-"] * (LOANS // 4),
        "Lien": ["First Lien"] * LOANS,
        "Cov-Lite": ["Y", "N"] * (LOANS // 2),
        "Defaulted": ["N"] * LOANS,
    }
    for name, cell in bad.items():
        columns.setdefault(name, ["N" if isinstance(cell, str) else 0.0] * LOANS)[BAD] = cell
    return [["As of", date(2024, 5, 31)], [], list(columns), *zip(*columns.values(), strict=True)]


@every(
    "bad, code",
    [
        ({"Price": 0.99}, "unit_doubtful"),
        ({"Price": -99.0}, "unit_doubtful"),
        ({"Price": 1000.0}, "unit_doubtful"),
        ({"Spread": 3.5}, "unit_doubtful"),
        ({"Spread": 35_000.0}, "unit_doubtful"),
        ({"Spread": -350.0}, "unit_doubtful"),
        ({"Spread": 1_150.0}, "rates_differ"),  # a coupon of 11.5 %
        ({"Floor": 15.0}, "unit_doubtful"),
        ({"Floor": -0.5}, "unit_doubtful"),
        ({"Floor": 9.5}, "rates_differ"),
        ({"All In Rate": 0.075}, "unit_doubtful"),
        ({"Recovery Rate": 150.0}, "unit_doubtful"),
        ({"Par Amount": 2_753.7266}, "unit_doubtful"),
        ({"Par Amount": 2_753_726_600.0}, "unit_doubtful"),
        ({"Par Amount": -2_753_726.6}, "negative_par"),
        ({"Country": "Untied States"}, "country_unrecognised"),
        ({"CUSIP": cusip(BAD)[:-1] + str((int(cusip(BAD)[-1]) + 1) % 10)}, "check_digit"),
        ({"Maturity": date(2009, 5, 31)}, "past_maturity"),
        ({"Maturity": date(2099, 5, 31)}, "far_maturity"),
        ({"S&P Rating": "BB?"}, "unreadable_cells"),
        ({"Maturity": "see note 3"}, "unreadable_cells"),
        ({"Lien": "Frist"}, "lien_unrecognised"),
        ({"Cov-Lite": "maybe"}, "flag_unrecognised"),
        ({"Spread": "#N/A"}, "error_cells"),
        ({"Par Amount": "1.25O.000"}, "rows_without_par"),
    ],
)
def test_a_bad_row_is_named(map_rows: MapRows, bad: dict[str, Any], code: str) -> None:
    portfolio = map_rows(sheet(bad))
    named = {each.code for each in portfolio.notes.warnings if ROW in each.message}
    assert code in named


@every(
    "bad",
    [
        ({}),
        ({"Price": 0.5, "Defaulted": "Y"}),
        ({"Price": 99.5, "S&P Rating": "BB", "Defaulted": "Y"}),
        ({"Spread": 0.0, "Recovery Rate": 0.0, "Floor": 0.0}),
        ({"Par Amount": 0.0}),
        ({"Par Amount": 12_500.0}),
        ({"All In Rate": 3.4}),  # a base rate below zero
        ({"Country": "Germany"}),
        ({"Country": "Thailand"}),
        ({"Country": "UA"}),
        ({"CUSIP": "PRIVATE01"}),
        ({"CUSIP": "BL0512342"}),
        ({"All In Rate": 2.0, "PIK": "Y"}),
        ({"All In Rate": 0.5, "Unfunded": 2_750_000.0}),  # the fee of a commitment
        ({"Par Amount": 3_000.0, "Unfunded": 2_750_000.0}),
        ({"Price": -1.25, "Unfunded": 2_750_000.0}),
    ],
)
def test_a_good_row_is_not(map_rows: MapRows, bad: dict[str, Any]) -> None:
    portfolio = map_rows(sheet(bad))
    assert [each.message for each in portfolio.notes.warnings if "row" in each.message] == []


def test_a_figure_that_reads_it_is_doubtful(map_rows: MapRows) -> None:
    result = next(each for each in run_suite(map_rows(sheet({"Spread": 3.5})), "enhanced") if each.test_id == "was")
    assert any(ROW in doubt.message for doubt in result.doubt)


def test_most_rows_are_counted_and_not_listed(map_rows: MapRows) -> None:
    rows = [list(row) for row in sheet({})]
    at = rows[2].index("Price")
    for row in rows[3:]:
        row[at] = -row[at]
    (message,) = [each.message for each in map_rows(rows).notes.warnings if each.code == "unit_doubtful"]
    assert message.startswith("price of 24 of 24 loans is not within")
    assert "'Holdings'" not in message


def test_one_bad_floor_leaves_the_unit_of_the_others(map_rows: MapRows) -> None:
    rows = [list(row) for row in sheet({})]
    at = rows[2].index("Floor")
    for row in rows[3:]:
        row[at] /= 100
    rows[BAD + 3][at] = 15.0
    floors = map_rows(rows).numbers["floor"]
    assert (floors[0], floors[1], floors[BAD]) == (0.75, 1.0, 1500.0)


def test_a_row_that_stands_twice_is_named(map_rows: MapRows) -> None:
    rows = [list(row) for row in sheet({})]
    portfolio = map_rows([*rows, rows[BAD + 3]])
    (message,) = [each.message for each in portfolio.notes.warnings if each.code == "equal_rows"]
    assert message.endswith("('Holdings', rows 16, 28).")
    for name, cell in (("Par Amount", 1_000_000.0), ("Defaulted", "No")):
        lot = list(rows[BAD + 3])
        lot[rows[2].index(name)] = cell
        assert not [each for each in map_rows([*rows, lot]).notes.warnings if each.code == "equal_rows"]


@every("country, is_named", [("US", True), ("FR", False), ("France", False), (None, False)])
def test_a_name_from_above_that_does_not_fit_is_told(map_rows: MapRows, country: str | None, *, is_named: bool) -> None:
    portfolio = map_rows(sheet({"Issuer": None, "Country": country}))
    named = [each.code for each in portfolio.notes.warnings if ROW in each.message]
    assert ("borrower_of_above" in named) == is_named
