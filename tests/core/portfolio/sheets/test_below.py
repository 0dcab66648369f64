"""Rows that hold nothing cost nothing, and are as if they were there.

The same loans, the same row numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.grid.sheet import Sheet, Workbook
from core.portfolio import Portfolio
from core.portfolio.cells.string_pool import StringPool
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets import below
from core.portfolio.sheets.below import HEIGHT_LEAST, RowsBelow

HEADER = ["LoanX ID", "Issuer Name", "Maturity Date", "Par Amount", "Rating", "Industry"]
FAR = 3 * HEIGHT_LEAST
MakeSheet = Callable[..., Sheet]
MakeBook = Callable[..., Workbook]


def loan(at: int) -> list[Any]:
    return [f"LX{at:06d}", f"Issuer {at}", "2031-06-15", 1_000.0 + at, "B2", "Retail"]


def far(*rows: tuple[int, list[Any]]) -> list[list[Any]]:
    """Return a header, and some rows at their places below it."""
    sheet_rows: list[list[Any]] = [[] for _ in range(max(place for place, _ in rows) + 1)]
    for place, row in rows:
        sheet_rows[place] = row
    return [HEADER, *sheet_rows]


SHEETS = {
    "a cell far below": [*((at, loan(at)) for at in range(20)), (FAR, ["", "", "", "", "", "", "stray"])],
    "a loan far below": [*((at, loan(at)) for at in range(20)), (FAR, loan(99))],
    "a total, a note, an empty header": [
        (0, []),
        (1, loan(1)),
        (2, []),
        (3, []),
        (4, loan(4)),
        (5, ["Total", None, None, 2_005.0]),
        (FAR - 1, HEADER),
        (FAR, loan(7)),
    ],
    "loans far apart": [(at, loan(at)) for at in range(0, FAR, 50)],
    "the first far below": [(FAR, loan(1)), (FAR + 1, loan(2)), (FAR + 2, ["", "", "", 3.0])],
}


@pytest.mark.parametrize("name", SHEETS)
def test_leaving_out_blank_rows_changes_nothing(
    make_book: MakeBook, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    book = make_book({"Holdings": far(*SHEETS[name])})

    def read_all() -> Any:
        portfolio = Portfolio.from_workbook(book)
        rows = validate(book, PROFILES["standard_clo"])
        assert rows is not None
        return (
            [values.tolist() for values in portfolio.numbers.values()],
            {field: [names.values[code] if code >= 0 else None for code in names.codes] for field, names in
             portfolio.names.items()},
            portfolio.notes,
            portfolio.source_cells,
            rows.row_numbers.tolist(),
            rows.errors,
            rows.rows(),
            detect_columns(book),
        )  # fmt: skip

    with_few = read_all()
    monkeypatch.setattr(below, "HEIGHT_LEAST", 10_000_000)
    np.testing.assert_equal(with_few, read_all())


def test_of_a_tall_sheet_only_what_it_holds_is_looked_at(make_sheet: MakeSheet) -> None:
    sheet = make_sheet(far(*((at, loan(at)) for at in range(20)), (FAR, ["x"])))
    rows = RowsBelow(sheet, StringPool(sheet.text), 1, sheet.row_count)
    assert rows.height == 24
    assert rows.row(23) == 1 + FAR
    assert rows.cells(0).kinds.tolist() == [2] * 20 + [0] * 3 + [2]
    assert rows.rows(slice(22, 24)).tolist() == [23, FAR + 1]


def test_a_portfolio_keeps_no_longer_columns_than_its_own(make_book: MakeBook) -> None:
    notes = [["", "", "", "", "", "", float(at)] for at in range(30_000)]
    rows = [HEADER, *([*loan(at)] for at in range(20)), [], [], [], *notes]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}))
    assert portfolio.row_count == 20

    def owner(array: NDArray[Any]) -> NDArray[Any]:
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array

    columns = [
        *portfolio.numbers.values(),
        *portfolio.ranks.values(),
        *(names.codes for names in portfolio.names.values()),
    ]
    assert max(owner(column).nbytes for column in columns) < 1_000


def test_many_lots_of_one_position_leave_the_texts_of_one(make_book: MakeBook) -> None:
    rows = [HEADER, *(["LX000001", f"Issuer {at}", "2031-06-15", 1.0, "B2", "Retail"] for at in range(3_000))]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}))
    assert (portfolio.row_count, portfolio.numbers["par_value"].tolist()) == (1, [3_000.0])
    assert list(portfolio.names["borrower_name"].values) == ["Issuer 0"]
