"""Columns without a heading.

What they are by their cells, the columns beside them and the day of the report.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from core.grid.sheet import Sheet
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings import header

MakeSheet = Callable[..., Sheet]
ROWS = 40
NAMES = [f"Ardley{chr(65 + at % 26)}{chr(65 + at // 26)} Foods GmbH" for at in range(ROWS)]
PAR = [1_000_000.0 + 37_211.5 * (at * 7 % 40) for at in range(ROWS)]
PRICES = [95.0 + (at * 13 % 40) / 8 for at in range(ROWS)]
MATURITIES = [date(2026, 6, 1) + timedelta(days=67 * (at * 11 % 40)) for at in range(ROWS)]
LIVES = [round((day - date(2025, 4, 9)).days / 400, 2) for day in MATURITIES]
MOODYS = [("B1", "B2", "B3", "Caa1")[at % 4] for at in range(ROWS)]
OTHERS = [("Ba3", "B1", "B3")[at * 5 % 3] for at in range(ROWS)]
SP = [("BB-", "B+", "B", "CCC+")[at % 4] for at in range(ROWS)]
UNDRAWN = [0.0 if at % 9 else 250_000.0 for at in range(ROWS)]
SIZES = [1e8 * (3 + at % 17) for at in range(ROWS)]
RECOVERIES = [(30.0, 35.0, 45.0, 60.0)[at % 4] for at in range(ROWS)]
LEVELS = [(4.3188, 4.3263)[at % 2] for at in range(ROWS)]
PAID = [96.0 + (at * 29 % 40) / 9 for at in range(ROWS)]
COUPONS = [4.3188 + (3.0, 3.5, 4.25, 5.0)[at % 4] for at in range(ROWS)]
SPREADS = [(3.0, 3.5, 4.25, 5.0)[at % 4] for at in range(ROWS)]
BASE = {"Issuer": NAMES, "Par Amount": PAR, "Price": PRICES}


def roles(make_sheet: MakeSheet, columns: dict[str, list[Any]], title: str = "As of April 09, 2025") -> dict[int, str]:
    """Return the roles of a table's columns; headings of one blank or more are blank."""
    rows = [
        [title],
        [],
        [heading.strip() or None for heading in columns],
        *map(list, zip(*columns.values(), strict=True)),
    ]
    header_match = header.find(make_sheet(rows), PROFILES["standard_clo"])
    assert header_match is not None
    return {at: evidence.role for at, evidence in header_match.evidence.items()}


@pytest.mark.parametrize(
    ("beside", "cells", "role"),
    [
        ({}, MATURITIES, "maturity_date"),
        ({}, [f"{day:%d-%b-%Y}" for day in MATURITIES], "maturity_date"),
        ({}, UNDRAWN, "unfunded"),
        ({}, SIZES, "facility_size"),
        ({}, LEVELS, "base_rate_level"),
        ({}, PAID, "purchase_price"),
        ({"Maturity Date": MATURITIES}, LIVES, "average_life"),
        ({"Spread": SPREADS}, COUPONS, "all_in_rate"),
        ({"Moody's CFR": MOODYS}, MOODYS, "rating_derived_a"),
        ({"Moody's CFR": MOODYS}, OTHERS, "rating_facility_a"),
        ({"S&P Issuer Rating": SP}, SP, "rating_facility_b"),
        ({"S&P Issuer Rating": SP, "S&P Facility Rating": SP}, SP, "rating_issuer_c"),
        ({"Moody's CFR": MOODYS}, RECOVERIES, "recovery_a"),
        ({"S&P Issuer Rating": SP}, RECOVERIES, "recovery_b"),
        ({}, [f"{name} - Term Loan B" for name in NAMES], "description"),
    ],
)
def test_a_column_without_a_heading_has_the_role_that_cells_and_neighbours_tell(
    make_sheet: MakeSheet, beside: dict[str, list[Any]], cells: list[Any], role: str
) -> None:
    columns = BASE | beside | {" ": cells}
    assert roles(make_sheet, columns)[len(columns) - 1] == role


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        ([date(2025, 5, 4) + timedelta(days=at % 60) for at in range(ROWS)], "maturity_date"),
        ([date(2021, 5, 4) + timedelta(days=30 * at) for at in range(ROWS)], "maturity_date"),
        (UNDRAWN, "par_value"),
        (SIZES, "par_value"),
        (RECOVERIES, "price"),
        ([price + 0.25 * (at % 3) for at, price in enumerate(PRICES)], "purchase_price"),
        ([("Barclays Holdings", "Antares Capital LP")[at % 2] for at in range(ROWS)], "borrower_name"),
        (["Y" if at % 3 else "N" for at in range(ROWS)], "cov_lite"),
    ],
)
def test_cells_of_another_meaning_do_not_have_the_role(make_sheet: MakeSheet, cells: list[Any], role: str) -> None:
    assert roles(make_sheet, BASE | {" ": cells}).get(3) != role


def test_dates_years_apart_are_maturities_where_the_day_of_the_report_is_not_known(make_sheet: MakeSheet) -> None:
    assert roles(make_sheet, BASE | {" ": MATURITIES}, title="Holdings")[3] == "maturity_date"


def test_few_cells_tell_nothing(make_sheet: MakeSheet) -> None:
    assert 3 not in roles(make_sheet, BASE | {" ": [*MATURITIES[:4], *[None] * (ROWS - 4)]})
