"""Columns that number the rows name no borrower and identify no loan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Sheet
from core.portfolio import Portfolio
from core.portfolio.sheets.headings.counters import counts_rows
from tests.rows import every


@every("heading", ["#", "No.", "Row", "Line", None, "Index #", "S. No."])
def test_a_column_of_row_numbers_feeds_nothing(map_rows: Callable[..., Portfolio], heading: str | None) -> None:
    rows = [[at, f"Borrower {at} Inc", "TL", 5.0 + at, "2030-01-31"] for at in range(1, 9)]
    portfolio = map_rows([[heading, "Issuer", "Facility", "Par", "Maturity"], *rows, [9, "Total", None, 76.0]])
    assert portfolio.numbers["par_value"].tolist() == [row[3] for row in rows]
    assert not {"cusip", "isin", "loanx_id", "issuer_id"} & portfolio.names.keys()
    assert portfolio.names["borrower_name"].values[0] == "Borrower 1 Inc"


@every(
    "heading, cells, counts",
    [
        ("#", [1, 2, 3, 4], True),
        ("No", [1, None, 2, None, 3], True),
        ("", [*range(1, 30), *range(1, 5)], True),
        ("#", [*range(1, 20), "Total"], True),
        ("#", [1, 2], False),
        ("No.", [4, 2, 1, 3, 6], True),
        ("#", [1, 3, 5, 7], False),
        ("#", [3, 3, 1, 3], False),
        ("#", [1.5, 2.5, 3.5], False),
        ("#", ["1", "2", "3"], True),
        ("#", ["1", "LX2", "LX3", "4"], False),
        ("#", ["Aerospace", 4, 1, "Retail", 2, 3, 5], True),
        ("#", ["9000001", "9000002", "9000003"], False),
        ("Loan Number", [1, 2, 3, 4], False),
    ],
)
def test_what_counts_rows(make_sheet: Callable[..., Sheet], heading: str, cells: list[Any], counts: bool) -> None:
    sheet = make_sheet([[heading], *([cell] for cell in cells)])
    assert counts_rows(sheet, 0, heading, 1) is counts


def test_a_column_without_cells_counts_nothing(make_sheet: Callable[..., Sheet]) -> None:
    sheet = make_sheet([[None, "Issuer"], [None, "A"], [None, "B"]])
    assert not counts_rows(sheet, 0, "#", 1)
