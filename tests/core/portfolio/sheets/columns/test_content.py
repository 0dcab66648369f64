"""What the texts and cells of a column are, and for which roles that speaks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.grid.sheet import Sheet
from core.portfolio.sheets.columns import content

MakeSheet = Callable[..., Sheet]


def look(make_sheet: MakeSheet, cells: list[Any]) -> content.Features:
    sheet = make_sheet([["heading"], *([cell] for cell in cells)])
    return content.features(sheet, sheet.columns[0], 1, sheet.row_count)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("US38259P5089", "isin"), ("037833100", "cusip"), ("LX123456", "loanx"), ("AB-1203", "code"),
        ("1,250,000.00", "figures"), ("12-Mar-2029", "date"), ("B2", "moodys"), ("BB+", "letters"), ("EUR", "currency"),
        ("Luxembourg", "country"), ("Yes", "flag"), ("Ardley Foods GmbH", "legal"), ("Term Loan B", "facility"),
        ("First Lien", "lien"), ("Senior Secured", "lien alone"), ("3 Month EURIBOR", "index"), ("Floating", "coupon"),
        ("Quarterly", "frequency"), ("Chemicals", "industry"), ("Specialty Retail", "industry_b"),
        ("Negative", "watch"), ("SOFR + 4.50%", "rate"),
    ],
)  # fmt: skip
def test_a_text_has_its_mark_and_a_comment_has_none(text: str, mark: str) -> None:
    assert mark in content.marks(text)
    assert mark not in content.marks("see page 3 for the terms")


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        (["LX100001", "LX100002", "LX100003"] * 5, "loanx_id"),
        (["EUR", "USD", "GBP"] * 5, "currency"),
        (["Fixed", "Floating", "Floating"] * 5, "coupon_type"),
        (["SOFR 3M", "SOFR 1M", "EURIBOR 3M"] * 5, "base_rate"),
        (["Quarterly", "Monthly", "Semi-Annual"] * 5, "payment_frequency"),
        (["B2", "B3", "Caa1"] * 5, "rating_a"),
        (["BB-", "B+", "CCC"] * 5, "rating_b"),
        ([1_000_000.0, 2_500_000.0, 3_125_000.5] * 5, "par_value"),
        ([99.25, 97.5, 100.125] * 5, "price"),
        ([3.25, 4.5, 5.125] * 5, "spread"),
    ],
)
def test_cells_speak_for_their_role_and_against_another(make_sheet: MakeSheet, cells: list[Any], role: str) -> None:
    features = look(make_sheet, cells)
    assert content.evidence(role, features)[0] >= 1.5
    assert content.evidence("maturity_date", features)[0] < 0


def test_a_date_has_its_day_and_a_text_its_month(make_sheet: MakeSheet) -> None:
    features = look(make_sheet, [date(2029, 3, 12), "12-Mar-2029", "n/a"])
    assert features.days[0] == 47_189.0
    assert features.days[1] == pytest.approx(47_189.0, abs=31)
    assert np.isnan(features.days[2])


@pytest.mark.parametrize(
    ("line", "year"),
    [("As of April 09, 2025", 2025), ("Determination Date: 18-Dec-2024", 2024), ("Tamar Creek CLO 2021-1", None),
     ("As of the last report", None)],
)  # fmt: skip
def test_the_day_of_a_report_stands_in_a_line_that_says_so(line: str, year: int | None) -> None:
    day = content.day_in(line)
    assert (None if day is None else int(1900 + day / 365.25)) == year


def test_blank_cells_say_nothing(make_sheet: MakeSheet) -> None:
    features = look(make_sheet, ["", "n/a", None])
    assert features.filled == 0
    assert content.evidence("price", features) == (0.0, "")
