"""A stored portfolio comes back as it was.

Every number, string, flag, rank and lot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generate import generate
from core.grid.codec import open_sheet, write_sheet
from core.grid.sheet import Sheet, Workbook
from core.portfolio import Portfolio
from core.portfolio.assemble.stored import LOANS_MAX, SHEET_ROW, StoredError, from_sheet, loans_at, to_sheet
from core.portfolio.model.notes import Notes
from core.portfolio.model.portfolio import Names
from tests.core.paged import paged_book
from tests.core.portfolio.conftest import sheet_from_rows

LOANS: dict[str, Any] = {
    "borrower_name": ["Acme Corp.", "Borealis", "Naïve & Söhne\t\\N", None],
    "cusip": ["00206RGQ9", None, "30231GAV4", None],
    "isin": ["US00206RGQ92", None, None, None],
    "loanx_id": ["LX131555", "LX28443T7", None, None],
    "par_value": [1_000_000.01, -2.5e-7, 0.0, 1e15],
    "price": [99.125, None, None, None],
    "spread": [None, None, None, None],
    "rating_agency_a": ["B2 *-", "Baa3", "WR", None],
    "rating_agency_b": ["BB+", "not a rating", "NR", "D"],
    "rating": np.array([3, 0, 22, 12]),
    "maturity_date": ["2030-06-30", None, "2031-01-01", None],
    "is_defaulted": [0, 0, 1, 0],
    "cov_lite": [0, 0, 0, 0],
    "lien_type": ["First Lien", None, "Second Lien", None],
    "industry": ["Retail", None, "Other", "Retail"],
    "country": ["United States", "FR", None, None],
}


@pytest.fixture(scope="module")
def loans() -> Portfolio:
    return Portfolio.from_columns(LOANS)


def same(portfolio: Portfolio, other_portfolio: Portfolio) -> None:
    """Equal loans, by what each row says."""
    assert portfolio.row_count == other_portfolio.row_count
    assert portfolio.sheet_name == other_portfolio.sheet_name
    assert portfolio.numbers.keys() == other_portfolio.numbers.keys()
    for name, numbers in portfolio.numbers.items():
        assert numbers.tobytes() == other_portfolio.numbers[name].tobytes(), name
    assert {name: texts(names) for name, names in portfolio.names.items()} == {
        name: texts(names) for name, names in other_portfolio.names.items()
    }
    for mine, theirs in ((portfolio.flags, other_portfolio.flags), (portfolio.ranks, other_portfolio.ranks)):
        assert {name: values.tolist() for name, values in mine.items()} == {
            name: values.tolist() for name, values in theirs.items()
        }
        assert all(values.dtype == np.uint8 for values in theirs.values())
    for a, b in (
        (portfolio.lien, other_portfolio.lien),
        (portfolio.lots, other_portfolio.lots),
        (portfolio.conflicting, other_portfolio.conflicting),
    ):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            assert (a.tolist(), a.dtype) == (b.tolist(), b.dtype)


def texts(names: Names) -> list[str | None]:
    return [None if code < 0 else names.values[code] for code in names.codes.tolist()]


def through_a_file(sheet: Sheet, folder: Path) -> Sheet:
    write_sheet(sheet, folder / "loans")
    return open_sheet(folder / "loans")


def test_every_column_comes_back(loans: Portfolio, tmp_path: Path) -> None:
    back = from_sheet(through_a_file(to_sheet(loans), tmp_path), Notes(lots=3))
    same(loans, back)
    assert back.notes == Notes(lots=3)
    assert texts(back.names["rating_agency_a"]) == ["B2 *-", "Baa3", "WR", None]
    assert texts(back.names["borrower_name"])[2] == "Naïve & Söhne\t\\N"
    assert back.ranks["rating"].tolist() == [3, 0, 22, 12]


def test_lots_and_their_conflicts_come_back() -> None:
    loans = Portfolio.from_columns(
        {
            "borrower_name": ["Acme", "Acme", "Borealis"],
            "cusip": ["00206RGQ9", "00206RGQ9", "30231GAV4"],
            "par_value": [1.0, 2.0, 3.0],
            "rating_agency_a": ["B1", "B2", "B1"],
        }
    )
    back = from_sheet(to_sheet(loans))
    same(loans, back)
    assert back.lots is not None
    assert back.conflicting is not None
    assert (back.lots.tolist(), back.conflicting.tolist()) == ([2, 1], [True, False])


def test_a_generated_deal_comes_back_from_its_file(tmp_path: Path) -> None:
    loans = Portfolio.from_columns(generate(loans=500, seed=3).portfolio_columns())
    same(loans, from_sheet(through_a_file(to_sheet(loans), tmp_path)))


def test_the_rows_of_a_document_come_back_with_their_pages(tmp_path: Path) -> None:
    """Of the rows that loans stand on; a loan without a row has none."""
    rows = sheet_from_rows([["Issuer", "CUSIP", "Par"], *([f"B{at}", f"12345{at:03}", 1.0 + at] for at in range(20))])
    loans = Portfolio.from_workbook(paged_book(Workbook((rows,))))
    assert loans.sheet_rows is not None
    loans = replace(loans, sheet_rows=np.where(loans.sheet_rows == 5, 0, loans.sheet_rows).astype(np.int32))
    back = from_sheet(through_a_file(to_sheet(loans, fields={"par_value", SHEET_ROW}), tmp_path))
    assert back.sheet_rows is not None
    assert back.sheet_rows.tolist() == [2, 3, 4, 0, *range(6, 22)]
    assert {row: back.page_line(row) for row in (2, 7, 8, 21)} == {2: (1, 5), 7: (1, 10), 8: (2, 4), 21: (3, 10)}
    assert [back.page_line(row) for row in (0, 22)] == [None, None]
    assert from_sheet(to_sheet(loans, fields={"par_value"})).page_lines is None
    assert from_sheet(to_sheet(replace(loans, page_lines=None), fields={SHEET_ROW})).page_lines is None


def test_what_nobody_asks_for_is_left_out(loans: Portfolio) -> None:
    back = from_sheet(to_sheet(loans, fields={"par_value", "rating_agency_a", "lien_type"}))
    assert set(back.numbers) == {"par_value"}
    assert set(back.names) == set(back.ranks) == {"rating_agency_a"}
    assert back.flags == {}
    assert back.lien is not None
    assert from_sheet(to_sheet(loans, fields={"par_value"})).lien is None


def test_a_rank_is_stored_only_where_its_symbol_does_not_tell_it(loans: Portfolio) -> None:
    plain = to_sheet(loans).column_count
    ranks = loans.ranks | {"rating_agency_a": np.array([15, 10, 0, 1], np.uint8)}
    reranked = replace(loans, ranks=ranks)
    assert to_sheet(reranked).column_count == plain + 1
    same(reranked, from_sheet(to_sheet(reranked)))


def test_a_blank_column_takes_no_room(loans: Portfolio) -> None:
    sheet = to_sheet(loans, fields={"spread", "price"})
    assert [len(column.kinds) for column in sheet.columns if column is not None] == [2, 1]


def test_an_empty_portfolio_comes_back() -> None:
    loans = Portfolio.from_columns({"borrower_name": [], "par_value": []})
    same(loans, from_sheet(to_sheet(loans)))
    assert loans_at(to_sheet(loans), 0, 10) == {"borrower_name": [], "obligor": [], "par_value": []}


def test_more_loans_than_a_sheet_has_rows_do_not_fit() -> None:
    with pytest.raises(StoredError, match=f"{LOANS_MAX + 1} loans are more than {LOANS_MAX}"):
        to_sheet(Portfolio(LOANS_MAX + 1, {}, {}, {}, {}))


def test_some_loans_are_read_without_the_others(loans: Portfolio, tmp_path: Path) -> None:
    sheet = through_a_file(to_sheet(loans), tmp_path)
    middle = loans_at(sheet, 1, 3)
    assert middle["par_value"] == [-2.5e-7, 0.0]
    assert middle["price"] == [None, None]
    assert middle["loanx_id"] == ["LX28443T7", None]
    assert middle["rating_agency_b"] == ["not a rating", "NR"]
    assert all(len(values) == 2 for values in middle.values())


@pytest.mark.parametrize(("first", "last", "count"), [(3, 9, 1), (4, 8, 0), (100, 200, 0), (2, 2, 0), (3, 1, 0)])
def test_past_the_last_loan_there_is_none(loans: Portfolio, first: int, last: int, count: int) -> None:
    assert {len(values) for values in loans_at(to_sheet(loans), first, last).values()} == {count}


@pytest.mark.parametrize(
    "head",
    ["par_value", "number:par_value", "sum:par_value:0:0", "name:cusip:0:99999", "name:cusip:3:1", "name:cusip:-1:2"],
)
def test_a_sheet_that_is_no_stored_portfolio_is_refused(loans: Portfolio, head: str) -> None:
    sheet = to_sheet(loans)
    last = len(sheet.text) - 1
    data = sheet.text.data[: sheet.text.offsets[last]].tobytes() + head.encode()
    offsets = np.concatenate((sheet.text.offsets[:-1], [len(data)]))
    text = replace(sheet.text, offsets=offsets, data=np.frombuffer(data, np.uint8))
    with pytest.raises(StoredError):
        from_sheet(replace(sheet, text=text))
    with pytest.raises(StoredError):
        loans_at(replace(sheet, text=text), 0, 1)


def test_names_of_another_column_are_refused(loans: Portfolio) -> None:
    sheet = to_sheet(loans, fields={"borrower_name", "cusip"})
    first, second = sheet.columns
    assert first is not None
    assert second is not None
    mixed = replace(
        first, codes=np.concatenate((first.codes[:1], np.full(len(first.codes) - 1, second.codes[1], np.int32)))
    )
    with pytest.raises(StoredError, match="outside of their strings"):
        from_sheet(replace(sheet, columns=(mixed, second)))


def test_an_empty_sheet_is_refused(loans: Portfolio) -> None:
    with pytest.raises(StoredError, match="row of heads"):
        from_sheet(replace(to_sheet(loans), columns=(), row_count=0))


WORDS = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=6))


@given(
    st.lists(
        st.tuples(st.floats(allow_infinity=False, allow_nan=False), st.one_of(st.none(), st.floats(-1e9, 1e9)), WORDS),
        max_size=12,
    )
)
def test_any_loans_come_back(rows: list[tuple[float, float | None, str | None]]) -> None:
    par, price, name = ([row[at] for row in rows] for at in range(3))
    loans = Portfolio.from_columns({"par_value": par, "purchase_price": price, "borrower_name": name, "rating": name})
    same(loans, from_sheet(to_sheet(loans)))


def test_rows_of_a_sheet_are_stored_where_they_are_asked_for(loans: Portfolio) -> None:
    placed = replace(loans, sheet_rows=np.array([3, 0, 7, 8], np.int32))
    back = from_sheet(to_sheet(placed, fields={"cusip", "par_value", SHEET_ROW}))
    assert back.sheet_rows is not None
    assert back.sheet_rows.tolist() == [3, 0, 7, 8]
    assert SHEET_ROW not in back.numbers
    assert from_sheet(to_sheet(placed)).sheet_rows is None
    assert from_sheet(to_sheet(loans, fields={"cusip", SHEET_ROW})).sheet_rows is None
