"""Columns that number the rows name no borrower and identify no loan."""

from __future__ import annotations

from collections.abc import Callable

from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]


@every("heading", ["#", "No.", "Row", "Line Item No"[:4], None, "Index #", "S. No."])
def test_a_column_of_row_numbers_feeds_nothing(map_rows: MapRows, heading: str | None) -> None:
    rows = [[at, f"Borrower {at} Inc", "TL", 5.0 + at, "2030-01-31"] for at in range(1, 9)]
    portfolio = map_rows([[heading, "Issuer", "Facility", "Par", "Maturity"], *rows, [9, "Total", None, 76.0]])
    assert portfolio.numbers["par_value"].tolist() == [row[3] for row in rows]
    assert not {"cusip", "isin", "loanx_id", "issuer_id"} & portfolio.names.keys()
    assert portfolio.names["borrower_name"].values[0] == "Borrower 1 Inc"


def test_numbers_that_count_no_rows_identify_loans(map_rows: MapRows) -> None:
    rows = [[1000 + 7 * at, f"Borrower {at} Inc", 5.0] for at in range(1, 9)]
    assert "isin" in map_rows([["Asset Identifier", "Issuer", "Par"], *rows]).names
