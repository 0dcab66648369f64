"""Each doubt on a portfolio that gives cause for it, and none on one that does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import doubts, with_days
from core.portfolio.model.notes import Notes
from tests.rows import every

COLUMNS: dict[str, Any] = {
    "borrower_name": ["Acme", "Bolt", "Core"],
    "par_value": [100e6, 100e6, 100e6],
    "price": [99.0, 98.0, 97.0],
    "maturity_date": np.array([22_000.0, 22_500.0, 23_000.0]),
    "rating_agency_b": ["B", "B-", "B+"],
}
NOTES = {"classes": ["A", "B", "Sub"], "current_balance": [200e6, 60e6, 40e6]}
LIFE = {"as_of": 20_000.0, "closing_date": 19_000.0, "stated_maturity": 24_000.0, "principal_cash": 1e6}


def codes(
    columns: dict[str, Any] | None = None, notes: dict[str, Any] | None = None, **deal: Any
) -> list[tuple[str, int | None]]:
    portfolio = Portfolio.from_columns(COLUMNS | (columns or {}), tranches=notes or NOTES, deal=LIFE | deal)
    return [(doubt.code, doubt.rows) for doubt in doubts(portfolio)]


@every(
    "columns, notes, deal, expected",
    [
        ({}, {}, {}, []),
        ({"par_value": [100e3, 100e3, 100e3]}, {}, {"principal_cash": 0.0}, [("par_scale", None)]),
        ({}, NOTES | {"current_balance": [200.0, 60.0, 40.0]}, {}, [("par_scale", None)]),
        ({"par_value": [10e6, 100e6, 10e6]}, {}, {}, [("par_unlike_notes", None)]),
        ({"par_value": [400e6, 400e6, 400e6]}, {}, {}, [("par_unlike_notes", None)]),
        ({}, {}, {"as_of": 18_000.0}, [("as_of_outside_life", None)]),
        ({}, {}, {"as_of": 24_001.0}, [("as_of_outside_life", None), ("past_maturity", 3)]),
        ({}, {}, {"as_of": 22_100.0}, [("past_maturity", 1)]),
        ({}, {}, {"stated_maturity": 22_100.0}, [("matures_after_deal", 2)]),
        (
            {"maturity_date": np.array([22_000.0, 25_478.0, 25_479.0])},
            {},
            {"stated_maturity": None},
            [("far_maturity", 1)],
        ),
        ({"spread": [350.0, 400.0, 3.5]}, {}, {}, [("unit_doubtful", 1)]),
        (
            {"spread": [35_000.0, 40_000.0, 36_000.0], "all_in_rate": [850.0, 8.5, 0.0]},
            {},
            {},
            [("unit_doubtful", 3), ("unit_doubtful", 1)],
        ),
        (
            {"spread": [0.0, None, 325.0], "all_in_rate": [8.5, 7.5, 0.0], "recovery_rate": [45.0, 0.0, None]},
            {},
            {},
            [],
        ),
        (
            {"price": [0.99, 98.0, 97.0], "recovery_rate": [45.0, 0.45, 0.0]},
            {},
            {},
            [("unit_doubtful", 1), ("unit_doubtful", 1)],
        ),
        (
            {"spread": [3.5] + [350.0] * 20}
            | {name: [*values, *[values[-1]] * 18] for name, values in COLUMNS.items()}
            | {"par_value": [15e6] * 21},
            {},
            {},
            [("unit_doubtful", 1)],  # one of many is marked, too
        ),
        ({"par_value": [320e6, -20e6, 10e6]}, {}, {}, [("negative_par", 1)]),
        ({"par_value": [200e6, None, 100e6]}, {}, {}, [("rows_without_par", 1)]),
        ({"lien_type": ["First Lien", None, "Second Lien"]}, {}, {}, [("no_lien", 1)]),
        ({"rating_agency_b": ["B", "NR", "*"]}, {}, {}, [("no_rating", 1)]),
        ({"price": [99.0, None, None]}, {}, {}, [("no_price", 2)]),
        ({"maturity_date": np.array([22_000.0, np.nan, 23_000.0])}, {}, {}, [("no_maturity", 1)]),
    ],
)
def test_doubts(
    columns: dict[str, Any], notes: dict[str, Any], deal: dict[str, Any], expected: list[tuple[str, int | None]]
) -> None:
    assert codes(columns, notes, **deal) == expected


@every(
    "par, notes, expected",
    [
        ([3_464.0] * 10, {}, [("unit_doubtful", 10)]),
        ([3.464] * 9 + [2e6], {}, [("unit_doubtful", 9)]),
        ([3_464.0] * 9, {}, []),  # a few loans tell nothing
        ([3_464.0] * 5 + [50_000.0] * 5, {}, []),
        ([4_136_169.0e6] * 3, {}, [("unit_doubtful", 3)]),
        ([3_464.0] * 10, {"classes": ["A", "Sub"], "current_balance": [20_000.0, 14_000.0]}, []),
    ],
)
def test_a_small_or_large_par_is_doubtful_where_no_notes_are_alike(
    par: list[float], notes: dict[str, Any], expected: list[tuple[str, int | None]]
) -> None:
    columns = {name: [values[0]] * len(par) for name, values in COLUMNS.items()} | {"par_value": par}
    portfolio = Portfolio.from_columns(columns, tranches=notes or None, deal={"principal_cash": 0.0})
    assert [(doubt.code, doubt.rows) for doubt in doubts(portfolio)] == expected


def test_what_the_reader_counted_is_told() -> None:
    notes = Notes(
        missing_required=["borrower_name"],
        rows_after_end=2,
        error_cells=1,
        unreadable_cells={"price": 4},
        lien_unrecognised_rows=3,
    )
    portfolio = replace(Portfolio.from_columns(COLUMNS, deal=LIFE), notes=notes)
    assert [(doubt.code, doubt.rows) for doubt in doubts(portfolio)] == [
        ("required_missing", None),
        ("lien_unrecognised", 3),
        ("rows_after_end", 2),
        ("error_cells", 1),
        ("unreadable_cells", 4),
    ]


@every("header, is_doubted", [("Commitment", True), ("Commitment Amount", True), ("Par", False)])
def test_par_that_is_a_commitment(header: str, is_doubted: bool) -> None:
    columns = COLUMNS | {"unfunded": [0.0, 1e6, None]}
    notes = Notes(matched_columns={"par_value": header})
    portfolio = replace(Portfolio.from_columns(columns, deal=LIFE), notes=notes)
    assert [(doubt.code, doubt.rows) for doubt in doubts(portfolio)] == [("par_is_commitment", 1)] * is_doubted


def test_an_empty_portfolio_is_no_doubt() -> None:
    assert doubts(Portfolio(0, {}, {}, {}, {})) == []


def test_a_record_fills_what_the_file_leaves_open_and_a_definition_goes_before_it() -> None:
    """Days of 2022 to 2035; the file closes on 2022-01-08 and says no maturity."""
    of_file = Portfolio.from_columns(COLUMNS, deal={"as_of": 20_000.0, "closing_date": 19_000.0})

    def fill(first: bool, **days: date) -> tuple[float | None, float | None, list[str]]:
        dated = with_days(of_file, days, "somebody", first=first)
        assert of_file.notes.warnings == [], "the file's own are left as they are"
        return dated.deal.closing_date, dated.deal.stated_maturity, [warning.code for warning in dated.notes.warnings]

    after, early = date(2025, 1, 1), date(2030, 8, 1)
    assert with_days(of_file, {"closing_date": None}, "somebody", first=True) is of_file
    assert with_days(of_file, {"closing_date": date(2022, 1, 8)}, "somebody", first=False) is of_file
    assert fill(False, closing_date=after) == (19_000.0, None, ["deal_days_differ"])
    assert fill(True, closing_date=after) == (20_089.0, None, ["deal_days_differ", "as_of_outside_life"])
    for first in (False, True):
        assert fill(first, stated_maturity=early) == (19_000.0, 22_127.0, ["matures_after_deal"])
    doubted = with_days(of_file, {"stated_maturity": early}, "the record", first=False)
    mended = with_days(doubted, {"stated_maturity": date(2035, 1, 1)}, "the definition", first=True)
    assert [warning.code for warning in mended.notes.warnings] == ["deal_days_differ"], (
        "what the other day made doubtful is gone"
    )
