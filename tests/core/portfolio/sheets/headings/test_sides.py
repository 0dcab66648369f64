"""Tables beside the loans: a list that goes on, another list, and sums of par by industry or country."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.locate import locate
from tests.rows import every

MakeBook = Callable[..., Workbook]
MapRows = Callable[..., Portfolio]

HEADER = ["Issuer", "Facility", "Par", "Spread", "Maturity", "Ind."]
GROUPS = ["Chemicals", "Retail", "Media", "Utilities", "Banking", "Automotive", "Telecom", "Energy"]
LOANS = [
    [f"{name} Inc", "Term Loan B", 1000.0 + at, 325.0, "2031-01-31", GROUPS[at]]
    for at, name in enumerate(["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gum", "Hazel"])
]


def beside(*tables: list[list[Any]]) -> list[list[Any]]:
    """Return tables beside each other, with a blank column between."""
    widths = [max(map(len, table)) for table in tables]
    rows: list[list[Any]] = [[] for _ in range(max(map(len, tables)))]
    for table, width in zip(tables, widths, strict=True):
        for at, row in enumerate(rows):
            cells = table[at] if at < len(table) else []
            row += [*cells, *[None] * (width - len(cells) + 1)]
    return rows


def industries(portfolio: Portfolio) -> list[str | None]:
    names = portfolio.names["industry"]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


@every("length", [8, 7, 5, 2])
def test_a_list_goes_on_to_the_side(map_rows: MapRows, length: int) -> None:
    """However short it is there."""
    more = [[f"{row[0]} II", *row[1:]] for row in LOANS[:length]]
    portfolio = map_rows(beside([HEADER, *LOANS], [HEADER, *more]))
    assert len(portfolio) == 8 + length
    assert portfolio.numbers["par_value"].sum() == sum(row[2] for row in [*LOANS, *more])
    assert industries(portfolio) == [*GROUPS, *GROUPS[:length]]
    assert "second_loan_sheet" in [warning.code for warning in portfolio.notes.warnings]


def test_parts_beside_each_other_keep_their_cells(make_book: MakeBook) -> None:
    more = [[f"{row[0]} II", *row[1:]] for row in LOANS]
    rows = [["Portfolio"], *beside([HEADER, *LOANS], [HEADER, *more], [HEADER, *more[:3]])]
    parts = locate(make_book({"Assets": rows}), PROFILES["standard_clo"]).book.sheets
    assert [sheet.name for sheet in parts] == ["Assets"] * 3
    assert [sheet.index for sheet in parts] == [0, 1, 2]
    assert [sheet.value(2, 7) for sheet in parts] == [None, "Alder Inc II", None]
    assert [sheet.value(0, 0) for sheet in parts] == ["Portfolio", None, None]


@every("first, last", [("Industry", "%"), ("Moody's Industry", "Share"), ("Country", "%"), ("Rating", "Count")])
@pytest.mark.parametrize("length", [8, 7, 5])
def test_sums_beside_the_loans_say_nothing_of_them(map_rows: MapRows, first: str, last: str, length: int) -> None:
    values = {"Country": ["US", "GB", "FR", "DE", "NL", "LU", "IT", "ES"], "Rating": ["B1", "B2", "B3", "Ba1", "Ba2",
              "Ba3", "Caa1", "Caa2"]}.get(first, sorted(GROUPS))  # fmt: skip
    sums = [[value, 500.0 + at, 5.0] for at, value in enumerate(values[:length])]
    portfolio = map_rows(beside([HEADER, *LOANS], [[first, "Par", last], *sums]))
    assert industries(portfolio) == GROUPS
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in LOANS]
    assert not {"country", "rating"} & portfolio.names.keys()
    without = map_rows(beside([HEADER[:5], *(row[:5] for row in LOANS)], [[first, "Par", last], *sums]))
    assert "industry" not in without.names
    assert not any(ranks.any() for ranks in without.ranks.values())


def test_a_second_column_of_the_loans_stays(map_rows: MapRows) -> None:
    """Blank columns within a table are common: of its columns one may have few values."""
    codes = [["Country", "Par (EUR)", "Defaulted"], *(["US" if at % 2 else "GB", row[2] / 2, "Y" if at == 0 else None]
             for at, row in enumerate(LOANS))]  # fmt: skip
    portfolio = map_rows(beside([HEADER, *LOANS], codes))
    assert portfolio["country"].tolist() == ["GB", "US"] * 4
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in LOANS]
    assert portfolio.flags["is_defaulted"].tolist() == [1] + [0] * 7


@every(
    "heading, value, field",
    [("Defaulted", "Yes", "is_defaulted"), ("Cov-Lite", "Y", "cov_lite"), ("PIK", "Y", "is_pik")],
)
@pytest.mark.parametrize("length", [3, 5])
def test_a_flag_of_the_first_loans_alone_stays(
    map_rows: MapRows, heading: str, value: str, field: str, length: int
) -> None:
    portfolio = map_rows(beside([HEADER, *LOANS], [[heading], *[[value]] * length]))
    assert np.flatnonzero(portfolio.flags[field] == 1).tolist() == list(range(length))


def test_attributes_of_the_first_loans_stay(map_rows: MapRows) -> None:
    dates = [["Default Date", "Recovery Rate"], *[["2026-05-05", 45.0]] * 4]
    portfolio = map_rows(beside([HEADER, *LOANS], dates))
    assert np.isfinite(portfolio.numbers["recovery_rate"]).tolist() == [True] * 4 + [False] * 4


def test_another_list_beside_the_loans_is_doubted(map_rows: MapRows) -> None:
    second = [["Borrower", "Commitment", "Par Amount"], *([f"{row[0]} II", 1.0, row[2]] for row in LOANS)]
    portfolio = map_rows(beside([HEADER, *LOANS], second))
    assert len(portfolio) == 8
    assert [warning.message for warning in portfolio.notes.warnings if warning.code == "list_left_out"] == [
        "A list beside the loans of sheet 'Holdings' (from column H) is not read: 8 borrowers of it have no loan there."
    ]
    largest = [["Top Obligors", "Par Amount"], *([row[0], row[2]] for row in LOANS[:4])]
    assert "list_left_out" not in [w.code for w in map_rows(beside([HEADER, *LOANS], largest)).notes.warnings]
