"""Loans as conditions choose them, and what they come to.

Whatever is asked, parts and wholes agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from core.insights.subject import Subject
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.query import Condition
from core.questions.vocabulary import QUANTITIES, labels_of
from core.questions.wording import condition_words
from tests.core.questions import books

FULL: dict[str, Any] = {
    "borrower_name": ["A Inc.", "A Inc.", "B LLC", "C Ltd."],
    "facility_name": ["Term Loan", "Revolver", "Bridge", ""],
    "par_value": [4e6, 3e6, 2e6, 1e6],
    "price": [99.0, 79.5, 60.0, 101.0],
    "purchase_price": [98.0, 80.0, 70.0, 101.0],
    "spread": [350.0, 400.0, 450.0, 500.0],
    "rating": ["B2", "Caa1", "", "Baa1"],
    "maturity_date": [21_000.0, 22_000.0, 20_000.0, 23_000.0],
    "is_pik": [True, False, False, False],
    "participation": [False, True, False, False],
    "is_bridge": [False, False, True, False],
    "is_revolving": [False, True, False, False],
    "is_delayed_draw": [False, False, False, True],
    "days_past_due": [0.0, 12.0, 0.0, 0.0],
    "facility_size": [5e8, 1e8, 5e8, 5e8],
    "unfunded": [0.0, 1e6, 0.0, 0.0],
}


def available(call: Callable[[], Any]) -> Any:
    """Return what a call gives; None where the file does not have it, which is said."""
    value = None
    with suppress(Unavailable):
        value = call()
    return value


def full() -> LoanSet:
    deal = Deal(as_of=20_543.0, stated_maturity=22_500.0)
    return LoanSet(Subject(name="Full", portfolio=Portfolio.from_columns(FULL, deal=deal)))


def deals() -> list[LoanSet]:
    return [LoanSet(books.subject(books.APRIL)), LoanSet(books.subject(books.BEACON)), full()]


@pytest.mark.parametrize("flag", list(labels_of("flag")))
def test_a_flag_and_its_denial_part_the_loans(flag: str) -> None:
    for book in deals():
        condition = Condition(field="flag", values=(flag,))
        denial = Condition(field="flag", op="is not", values=(flag,))
        chosen, rest = (available(partial(book.select, (only,))) for only in (condition, denial))
        if chosen is None:
            continue
        assert not (chosen & rest).any()
        assert ((chosen | rest) == book.has_par).all()
        assert condition_words(condition) != condition_words(denial)


def test_flags_of_columns_that_a_file_has() -> None:
    book = full()
    for flag, rows in {
        "deferring": [0],
        "participation": [1],
        "bridge": [2],
        "revolver": [1],
        "delayed_draw": [3],
        "past_due": [1],
        "small": [1],
        "long_dated": [3],
        "matured": [2],
        "distressed": [1, 2],
        "ccc": [1, 2],
        "investment_grade": [3],
        "unrated": [2],
    }.items():
        assert np.flatnonzero(book.select((Condition(field="flag", values=(flag,)),))).tolist() == rows, flag
    assert list(book.remarks) == ["distressed is read as priced below 80"]


@pytest.mark.parametrize("name", list(QUANTITIES))
@pytest.mark.parametrize("how", [None, "average", "simple", "median", "total"])
def test_a_quantity_of_all_loans_lies_between_those_of_its_parts(name: str, how: str | None) -> None:
    """Averages lie between, and amounts add up."""
    book = LoanSet(books.subject(books.APRIL))
    rows = np.flatnonzero(book.performing)
    parts = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
    first, last, whole = (available(partial(book.measure, name, own, how)) for own in (*parts, rows))
    if whole is None:
        return
    if name in ("par", "share", "count", "market_value") and how in (None, "total"):
        assert math.isclose(first + last, whole)
    elif how != "total" and name not in ("diversity", "unfunded", "count"):
        assert min(first, last) - 1e-9 <= whole <= max(first, last) + 1e-9 or name == "diversity"


@pytest.mark.parametrize("by", [by for by in labels_of("group") if by not in ("test", "class", "deal")])
def test_groups_part_the_loans(by: str) -> None:
    for book in deals():
        groups = available(partial(book.groups, by, book.has_par)) or []
        rows = np.concatenate([np.zeros(0, np.intp), *(group.rows for group in groups)])
        assert len(set(rows.tolist())) == len(rows) <= book.has_par.sum()
        assert all(group.label for group in groups)


def test_blanks_and_what_is_known_part_the_loans() -> None:
    for book in deals():
        for field in ("price", "rating", "industry", "lien", "maturity", "cusip", "floor", "country", "par"):
            for agency in (None, "a", "c") if field == "rating" else (None,):
                conditions = [Condition(field=field, op=op, agency=agency) for op in ("blank", "known")]  # type: ignore[arg-type]
                blank, known = (available(partial(book.select, (condition,))) for condition in conditions)
                if blank is None:
                    continue
                assert ((blank ^ known) == book.has_par).all()


def test_the_largest_group_and_other_fields() -> None:
    book = full()
    largest = Condition(field="obligor", op="top", low=1, high=1)
    assert np.flatnonzero(book.select((largest,))).tolist() == [0, 1]
    smallest = Condition(field="obligor", op="top", low=-1, high=-2)
    assert np.flatnonzero(book.select((smallest,))).tolist() == [2, 3]
    below_cost = Condition(field="price", op="<", than="purchase_price")
    assert np.flatnonzero(book.select((below_cost,))).tolist() == [1, 2]
    assert condition_words(smallest) == "in the 2 smallest obligors"
    assert condition_words(below_cost) == "price lower than its purchase price"


def test_a_loan_without_a_borrower_has_a_name() -> None:
    columns = {"borrower_name": ["", ""], "facility_name": ["Term Loan", ""], "par_value": [1e6, 2e6]}
    book = LoanSet(Subject(name="Bare", portfolio=Portfolio.from_columns(columns)))
    assert [book.name_of(row) for row in (0, 1)] == ["Term Loan", "loan 2"]
    assert book.identifier_of(0) is None
    calls: list[Callable[[], object]] = [
        lambda: book.ranks("a"),
        lambda: book.ranks(None),
        lambda: book.number("price"),
        lambda: book.groups("country", book.has_par),
        lambda: book.names("industry"),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()


def test_an_empty_file_has_no_book() -> None:
    with pytest.raises(Unavailable, match="no loans"):
        LoanSet(Subject(name="Empty", portfolio=Portfolio.from_columns({"borrower_name": [], "par_value": []})))
