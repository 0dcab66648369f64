"""Movements: parts that add up, each beside a book to which only the changes so far were made, by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compliance.run import run_suite
from core.deals.movements import _KINDS, LOANS_SHOWN, PARTS, Movement, _Mix, _RowPick, movements
from core.definition import parse
from core.generate import generate
from core.grid._intern import intern
from core.grid.column import Text
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Amortization, Deal, Names, Strings, Tranches
from core.reconciliation import reconcile
from tests.core.compliance.conftest import portfolio_of

Columns = dict[str, Any]
RUN = partial(run_suite, suite="enhanced", details=False)
LOANS = 200
GONE, FIRST_KEPT = 12, 12


def rows_of(columns: Columns, rows: np.ndarray) -> Columns:
    return {
        target: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        for target, values in columns.items()
    }


def joined(first: Columns, second: Columns) -> Columns:
    """The rows of both.

    Coded columns of both books have the same values but for the names of companies.
    """
    both = {}
    for target, values in first.items():
        another = second[target]
        if not isinstance(values, tuple):
            both[target] = np.concatenate((values, another))
        else:
            shift = len(values[1])
            codes = np.where(another[0] >= 0, another[0] + shift, -1)
            texts = [*values[1], *another[1]]
            place = {text: texts.index(text) for text in set(texts)}
            table = np.array([*(place[text] for text in texts), -1])
            both[target] = (table[np.concatenate((values[0], codes))], texts)
    return both


def paid_down(columns: Columns) -> None:
    columns["par_value"] = np.where(np.arange(len(columns["par_value"])) % 5 == 0, 0.8, 1.0) * columns["par_value"]


def downgraded(columns: Columns) -> None:
    codes, scale = columns["rating_agency_a"]
    columns["rating_agency_a"] = (np.where(np.arange(len(codes)) % 7 == 0, np.minimum(codes + 1, 18), codes), scale)


def marked(columns: Columns) -> None:
    columns["price"] = columns["price"] * 0.97


def repriced(columns: Columns) -> None:
    columns["spread"] = columns["spread"] - 12.5


def extended(columns: Columns) -> None:
    columns["maturity_date"] = columns["maturity_date"] + 90


EDITS: dict[str, Callable[[Columns], None]] = {
    "par": paid_down, "ratings": downgraded, "prices": marked, "rates": repriced, "other_fields": extended
}  # fmt: skip


class Story:
    """A book, and what became of it a month later, step by step."""

    def __init__(self) -> None:
        earlier, newer = generate(LOANS, seed=3), generate(LOANS, seed=4)
        first = rows_of(earlier.portfolio_columns(), np.arange(LOANS - 8))
        incoming = rows_of(newer.portfolio_columns(), np.arange(LOANS - 8, LOANS))
        self.tranches = earlier.tranches
        self.deal = replace(earlier.deal, as_of=earlier.deal.as_of)
        later_deal = replace(self.deal, as_of=self.deal.as_of + 31)
        self.books = [self.book(first, self.deal)]
        kept = first
        self.books.append(self.book(joined(kept, incoming), self.deal))
        kept = rows_of(kept, np.arange(GONE, LOANS - 8))
        self.books.append(self.book(joined(kept, incoming), self.deal))
        for part, edit in EDITS.items():
            kept = dict(kept)
            edit(kept)
            deal = later_deal if part == "other_fields" else self.deal
            self.books.append(self.book(joined(kept, incoming), deal))
        final = joined(kept, incoming)
        shuffled = rows_of(final, np.random.default_rng(1).permutation(len(final["par_value"])))
        paid = replace(self.tranches, current_balance=self.tranches.current_balance * 0.99)
        self.books.append(self.book(shuffled, replace(later_deal, principal_cash=1_234_567.0), paid))

    def book(self, columns: Columns, deal: Deal, tranches: Tranches | None = None) -> Portfolio:
        return Portfolio.from_columns(columns, tranches=tranches or self.tranches, deal=deal)


@pytest.fixture(scope="module")
def story() -> Story:
    return Story()


@pytest.fixture(scope="module")
def moved(story: Story) -> dict[str, Movement]:
    return {movement.test_id: movement for movement in movements(story.books[0], story.books[-1], RUN)}


def test_each_part_is_what_its_changes_do_on_top_of_those_before(story: Story, moved: dict[str, Movement]) -> None:
    runs = [{result.test_id: result.current_value for result in RUN(book)} for book in story.books]
    assert set(moved) == set(runs[0])
    for test_id, movement in moved.items():
        expected = [later[test_id] - earlier[test_id] for earlier, later in pairwise(runs)]
        assert [part.part for part in movement.parts] == list(PARTS)
        assert [part.change for part in movement.parts] == pytest.approx(expected, abs=2e-6), test_id
        assert movement.change == pytest.approx(sum(part.change for part in movement.parts), abs=1e-9)
        assert (movement.before, movement.after) == (runs[0][test_id], runs[-1][test_id])
    forms = {result.test_id: (result.unit, result.decimals) for result in RUN(story.books[-1])}
    assert {test_id: (item.unit, item.decimals) for test_id, item in moved.items()} == forms
    assert sum(abs(part.change) > 1e-3 for item in moved.values() for part in item.parts) > 60, (
        "the edits move the tests"
    )


def test_the_loans_that_weigh_most_are_named_with_what_each_does_alone(
    story: Story, moved: dict[str, Movement]
) -> None:
    added = moved["weighted_average_price"].parts[0]
    assert 0 < len(added.loans) <= LOANS_SHOWN
    effects = [abs(loan.effect) for loan in added.loans]
    assert effects == sorted(effects, reverse=True)
    before, with_all = story.books[0], story.books[1]
    base = RUN(before, test_ids=["weighted_average_price"])[0].current_value
    cusips = {
        name.values[code] for name in [with_all.names["loanx_id"]] for code in name.codes[LOANS - 8 :] if code >= 0
    }
    assert {loan.identifier for loan in added.loans} & (cusips | set(with_all.names["cusip"].values))
    heaviest = max(range(LOANS - 8, with_all.row_count), key=lambda row: abs(_alone(with_all, row) - base))
    assert added.loans[0].effect == pytest.approx(_alone(with_all, heaviest) - base, abs=2e-6)


def _alone(book: Portfolio, row: int) -> float:
    """The weighted average price of the loans before with one new loan."""
    rows = [*range(LOANS - 8), row]
    par, price = book.numbers["par_value"][rows], book.numbers["price"][rows]
    counted = ~book.defaulted()[rows] & ~np.isnan(price)
    return float(np.sum((par * price)[counted]) / np.sum(par[counted]))


def test_fewer_loans_may_be_tried_and_the_parts_stay(story: Story, moved: dict[str, Movement]) -> None:
    few = {item.test_id: item for item in movements(story.books[0], story.books[-1], RUN, loans_tried=1)}
    for test_id, movement in moved.items():
        assert [part.change for part in few[test_id].parts] == [part.change for part in movement.parts]
    assert sum(len(part.loans) for item in few.values() for part in item.parts) < sum(
        len(part.loans) for item in moved.values() for part in item.parts
    )


def test_where_the_largest_part_is_enough_its_loans_are_those_of_all(story: Story, moved: dict[str, Movement]) -> None:
    ids = ["ccc_bucket_pct", "average_rating_factor"]
    pairs = reconcile(story.books[0], story.books[-1], ("missing_loan",)).pairs
    run = partial(RUN, test_ids=ids)
    largest = movements(story.books[0], story.books[-1], run, is_largest_enough=True, pairs=pairs)
    assert [item.test_id for item in largest] == ids
    tried = set()
    for item in largest:
        whole = moved[item.test_id].parts
        assert [part.change for part in item.parts] == [part.change for part in whole]
        weight = max(range(len(whole)), key=lambda at: abs(whole[at].change))
        assert item.parts[weight].loans == whole[weight].loans != []
        tried.add(whole[weight].part)
    assert all(part.part in tried for item in largest for part in item.parts if part.loans)


@pytest.mark.parametrize("stretch", [1, 4, 5_000])
def test_rows_are_taken_as_they_are_one_by_one(stretch: int) -> None:
    rng = np.random.default_rng(stretch)
    starts = rng.integers(0, 9_000, 5_000 // stretch)
    rows = (starts[:, None] + np.arange(stretch)).ravel()
    rows[rng.integers(0, len(rows), 3)] = -1
    column = rng.random(20_000)
    for picked in (rows, rows[:1], rows[:0], np.arange(20_000), np.array([-1, 0, 1])):
        expected = [np.nan if row < 0 else column[row] for row in picked]
        np.testing.assert_array_equal(_RowPick.of(picked).take(column, np.nan), expected)
        np.testing.assert_array_equal(_RowPick.of(picked).take(None, np.nan), np.full(len(picked), np.nan))
    assert not np.isnan(column).any()


def test_nothing_moves_between_a_book_and_itself_in_another_order(story: Story) -> None:
    same = movements(story.books[0], story.books[0], RUN)
    assert all(item.change == 0 and not any(part.change or part.loans for part in item.parts) for item in same)


def test_a_test_that_one_day_cannot_measure_has_no_parts(story: Story) -> None:
    blind = replace(story.books[0], numbers={k: v for k, v in story.books[0].numbers.items() if k != "price"})
    by_id = {movement.test_id: movement for movement in movements(blind, story.books[-1], RUN)}
    price = by_id["weighted_average_price"]
    assert (price.before, price.change, price.parts, price.after_open) == (None, None, [], None)
    assert price.before_open is not None
    assert "price not found" in price.before_open.reason
    assert by_id["single_obligor_concentration"].change is not None


def test_a_test_that_masked_ratings_leave_open_is_told_with_its_ends() -> None:
    """40 of 100 masked between B1 and Caa2.

    Open against 3000 on the first day; a month later most are repaid.
    """
    ratings = {"a": {"masked": "bounds", "masked_best": "B1", "masked_worst": "Caa2", "masked_value": "B3"}}
    test = {"id": "factor", "name": "Factor", "measure": "warf", "agency": "a", "max": 3000}
    run = partial(run_suite, suite="deal", definition=parse({"ratings": ratings, "tests": [test]}), details=False)
    loans = {"cusip": ["111111118", "222222226", "333333334"], "rating_agency_a": ["B2", "***", "***"]}
    first, second = (portfolio_of(loans | {"par_value": par}) for par in ([60.0, 20.0, 20.0], [90.0, 2.5, 2.5]))
    (moved,) = movements(first, second, run)
    ends = [0.6 * 2720 + 0.4 * factor for factor in (2220, 3490, 6500)]
    assert moved.before_open is not None
    assert (moved.before_open.low, moved.before, moved.before_open.high) == pytest.approx(tuple(ends))
    assert (moved.after_open is None, moved.after) == (True, pytest.approx((90 * 2720 + 5 * 3490) / 95))
    assert sum(part.change for part in moved.parts) == pytest.approx(moved.after - ends[1], abs=1e-6)


def test_the_steps_are_held_to_what_the_file_publishes() -> None:
    """By Fitch's rates, for which alone there is a limit.

    At every step, and not S&P's between them.
    """
    printed = Fact(
        kind="test", label="Fitch WA Recovery Rate", subject=FactSubject(measure="warr", agency="c"), value=None,
        trigger=60.0, unit="percent", place="",
    )  # fmt: skip
    loans = {"cusip": ["111111118", "222222226"], "recovery_rate": [40.0, 35.0], "recovery_rate_b": [40.0, 35.0]}
    first, second = (
        portfolio_of(loans | {"par_value": par, "recovery_rate_c": [70.0, 60.0]}, facts=Facts(all=(printed,)))
        for par in ([50.0, 50.0], [60.0, 20.0])
    )
    moved = {movement.test_id: movement for movement in movements(first, second, RUN)}["weighted_average_recovery_rate"]
    assert (moved.before, moved.after) == (65.0, 67.5)
    assert {part.part: part.change for part in moved.parts if part.change} == {"par": 2.5}


def test_a_correction_of_one_month_holds_at_every_step() -> None:
    """Cash of 9 by the first file is 5; of 7 by the second, 6.

    The change of cash is 1, and in its own part.
    """
    corrections = [
        {"figure": "principal_cash", "amount": amount, "note": "n", "as_of": day}
        for amount, day in ((5.0, "2026-03-31"), (6.0, "2026-04-30"))
    ]
    test = {"id": "money", "name": "Money", "value": "=cpa*100+loans", "min": 0, "unit": "amount"}
    definition = parse({"corrections": corrections, "tests": [test]})
    run = partial(run_suite, suite="deal", definition=definition, details=False)
    first, second = (
        portfolio_of(
            {"cusip": ["111111118", "222222226"], "par_value": [50.0, 50.0], "spread": [400.0, spread]},
            deal=Deal(principal_cash=cash, as_of=day),
        )
        for cash, day, spread in ((9.0, 20543.0, 400.0), (7.0, 20573.0, 410.0))
    )
    (moved,) = movements(first, second, run, definition=definition)
    assert (moved.before, moved.after) == (10_502.0, 10_602.0)
    assert {part.part: part.change for part in moved.parts if part.change} == {"liabilities_and_cash": 100.0}


def plain(portfolio: Portfolio) -> dict[str, Any]:
    """Every column as it is read, with the payments."""
    columns: dict[str, Any] = {"lien": None if portfolio.lien is None else portfolio.lien.tolist()}
    for kind in _KINDS:
        for target, values in getattr(portfolio, kind).items():
            if isinstance(values, Names):
                columns[target] = [values.values[code] if code >= 0 else None for code in values.codes.tolist()]
            else:
                columns[kind, target] = values.dtype, values.tobytes()
    paid = portfolio.amortization
    columns["paid"] = None if paid is None else [paid.row.tolist(), paid.days.tolist(), paid.amount.tolist()]
    return columns | {"deal": portfolio.deal, "count": portfolio.row_count, "notes": portfolio.notes}


LOAN = st.fixed_dictionaries({
    "cusip": st.sampled_from([f"{at}23456AB{at}" for at in range(1, 8)]),
    "par_value": st.sampled_from([-0.0, 1e6, 2e6, 3e6]),
    "price": st.sampled_from([None, 80.0, 99.0]),
    "industry": st.sampled_from([None, "Software", "Retail", "Media"]),
    "rating_agency_a": st.sampled_from([0, 14, 17]),
    "is_fixed": st.booleans(),
    "spread": st.sampled_from([300.0, 400.0]),
})  # fmt: skip
BOOKS = st.lists(LOAN, min_size=1, max_size=7, unique_by=lambda loan: loan["cusip"])
ABSENT = st.sets(st.sampled_from(["price", "industry", "rating_agency_a", "spread"]))


@settings(max_examples=60)
@given(
    BOOKS,
    BOOKS,
    st.sets(st.sampled_from(["price", "industry", "rating_agency_a", "spread"])),
    st.booleans(),
    st.booleans(),
)
def test_a_loan_alone_is_as_if_all_were_mixed(
    earlier: list[dict[str, Any]], later: list[dict[str, Any]], absent: set[str], is_first: bool, is_pooled: bool
) -> None:
    def book(loans: list[dict[str, Any]], without: set[str]) -> Portfolio:
        columns = {name: [loan[name] for loan in loans] for name in loans[0] if name not in without}
        rows = np.arange(len(loans), dtype=np.int64)
        paid = Amortization(row=rows, days=rows + 30, amount=rows * 10.0)
        portfolio = portfolio_of(columns, deal=Deal(as_of=float(20_000 + len(loans))), amortization=paid)
        if is_pooled:
            pools = {name: Strings(Text(*intern(names.values)[1:])) for name, names in portfolio.names.items()}
            names = {name: Names(names.codes, pools[name]) for name, names in portfolio.names.items()}
            portfolio = replace(portfolio, names=names)
        return portfolio

    mix = _Mix(book(earlier, absent if is_first else set()), book(later, set() if is_first else absent))
    state = mix.start
    for part, state_after, rows in mix.steps():
        base = mix.portfolio(state)
        for row in rows.tolist():
            alone = mix.with_loan(base, state, part, row)
            assert plain(alone) == plain(mix.portfolio(mix.with_rows(state, part, np.array([row]))))
        state = state_after
