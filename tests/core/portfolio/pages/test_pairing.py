"""Loans and rows of a page that share a key.

How many there are of each, and what their par says.
"""

from __future__ import annotations

import random

import numpy as np

from core.portfolio.pages.pairing import Flags, Ints, PairingRule, PairingSide, RowPairs, pair, tolerance
from tests.rows import every

WHOLE, PART = PairingRule(is_whole=True), PairingRule(is_whole=False)
GENERIC = PairingRule(is_whole=False, is_generic=True)
EXACT = PairingRule(is_whole=False, needs_par=True)
Items = list[tuple[int, float | None]]
"""(key, par) of each loan or row."""


def side(items: Items) -> PairingSide:
    par = np.array([np.nan if par is None else par for _, par in items], np.float64)
    return PairingSide(np.array([key for key, _ in items], np.int64), par, np.ones(len(items), np.bool_))


def paired(loans: Items, rows: Items, rule: PairingRule, *, alike: bool = True, per_row: float = 0.02) -> RowPairs:
    def are_alike(groups: Ints, count: int) -> Flags:
        return np.full(count, alike)

    return pair(side(loans), side(rows), np.full(len(loans), -1), per_row, rule, are_alike, are_alike)


@every(
    "loans, rows, rule, pairs, ambiguous",
    [
        # One and one: by a whole key whatever the par, by a part of it only where par is near or says nothing.
        ([(1, 5e6)], [(1, 4e6)], WHOLE, {(0, 0)}, []),
        ([(1, 5e6)], [(1, 4e6)], PART, set(), []),
        ([(1, 5e6)], [(1, 4.99e6)], PART, {(0, 0)}, []),
        ([(1, 5e6)], [(1, None)], PART, {(0, 0)}, []),
        ([(1, 5e6)], [(1, 0.0)], PART, {(0, 0)}, []),
        ([(1, 5e6)], [(1, None)], EXACT, set(), []),
        ([(1, 5e6)], [(1, 5e6)], EXACT, {(0, 0)}, []),
        ([(1, 5e6)], [(2, 5e6)], WHOLE, set(), []),
        ([(-1, 5e6)], [(-1, 5e6)], WHOLE, set(), []),
        # Lots on the page, and lots among the loans: only where they add up.
        ([(1, 500.25)], [(1, 300.2), (1, 200.06)], WHOLE, {(0, 0), (0, 1)}, []),
        ([(1, 500.25)], [(1, 300.0), (1, 200.0)], WHOLE, set(), [0, 1]),
        ([(1, 300.2), (1, 200.06)], [(1, 500.25)], WHOLE, {(0, 0), (1, 0)}, []),
        ([(1, 300.2), (1, 200.06)], [(1, 500.5)], WHOLE, set(), [0]),
        ([(1, 500.25)], [(1, 500.25), (1, 0.0)], WHOLE, {(0, 0), (0, 1)}, []),
        ([(1, 500.25)], [(1, 500.25), (1, None)], WHOLE, {(0, 0)}, [1]),
        # Several of both: by equal par, as many of each.
        ([(1, 300.2), (1, 200.06)], [(1, 200.06), (1, 300.2)], WHOLE, {(0, 1), (1, 0)}, []),
        ([(1, 200.06), (1, 200.06)], [(1, 200.06), (1, 200.06)], WHOLE, {(0, 0), (1, 1)}, []),
        ([(1, 200.06), (1, 200.06)], [(1, 200.06), (1, 200.06), (1, 200.06)], WHOLE, set(), [0, 1, 2]),
        ([(1, 300.0), (1, 200.0), (1, 7.0)], [(1, 200.0), (1, 305.0)], WHOLE, {(1, 0)}, [1]),
        # Without par: the only row speaks of all loans of a whole key.
        ([(1, 300.0), (1, 200.0)], [(1, None)], WHOLE, {(0, 0), (1, 0)}, []),
        ([(1, 300.0), (1, 200.0)], [(1, None), (1, None)], WHOLE, set(), [0, 1]),
        ([(1, 300.0)], [(1, None), (1, None)], WHOLE, {(0, 0), (0, 1)}, []),
        # The loans say no par: what the page says of a whole key adds up.
        ([(1, None)], [(1, 300.0), (1, 200.0)], WHOLE, {(0, 0), (0, 1)}, []),
        ([(1, None)], [(1, 300.0), (1, 200.0)], PART, set(), [0, 1]),
    ],
)  # fmt: skip
def test_pairs(loans: Items, rows: Items, rule: PairingRule, pairs: set[tuple[int, int]], ambiguous: list[int]) -> None:
    row_pairs = paired(loans, rows, rule)
    assert set(zip(row_pairs.loans.tolist(), row_pairs.rows.tolist(), strict=True)) == pairs
    assert np.flatnonzero(row_pairs.ambiguous).tolist() == ambiguous


@every(
    "loans, rows, rule, pairs",
    [
        # Several loans, or rows that differ: nothing says that they are lots of one.
        ([(1, 300.0), (1, 200.0)], [(1, 500.0)], PART, set()),
        ([(1, 300.0), (1, 200.0)], [(1, None)], PART, set()),
        ([(1, 300.0)], [(1, None), (1, None)], WHOLE, set()),
        ([(1, 200.06), (1, 200.06)], [(1, 200.06), (1, 200.06)], PART, set()),
        ([(1, 300.2), (1, 200.06)], [(1, 200.06)], PART, {(1, 0)}),
        # A round par is met by chance among loans of several borrowers, unless the whole name has the same.
        ([(1, 3e6), (1, 2e6)], [(1, 2e6)], PART, {(1, 0)}),
        ([(1, 3e6), (1, 2e6)], [(1, 2e6)], GENERIC, set()),
        ([(1, 3e6), (1, 2e6)], [(1, 2e6), (1, 3e6)], GENERIC, {(0, 1), (1, 0)}),
        ([(1, 300.2), (1, 200.06)], [(1, 200.06), (1, 7.0), (1, 8.0)], GENERIC, set()),
    ],
)  # fmt: skip
def test_loans_and_rows_that_are_no_lots(
    loans: Items, rows: Items, rule: PairingRule, pairs: set[tuple[int, int]]
) -> None:
    row_pairs = paired(loans, rows, rule, alike=False)
    assert set(zip(row_pairs.loans.tolist(), row_pairs.rows.tolist(), strict=True)) == pairs


def test_a_loan_that_has_a_row_takes_the_rest_of_its_lots() -> None:
    """Half of a page's lots have lost their id.

    None is taken where the loan's row has another key.
    """
    loans, rows = side([(1, 500.0), (2, 70.0)]), side([(1, 300.0), (1, 200.0), (2, 1.0)])
    free = np.array([False, True])
    rows_free = np.array([False, True, True])
    for at, taken in ((0, [(0, 0), (0, 1)]), (2, [])):
        row_pairs = pair(
            PairingSide(loans.keys, loans.par, free),
            PairingSide(rows.keys, rows.par, rows_free),
            np.array([at, -1]),
            0.02,
            WHOLE,
            lambda groups, count: np.ones(count, np.bool_),
            lambda groups, count: np.ones(count, np.bool_),
        )
        first = [
            (loan, row)
            for loan, row in zip(row_pairs.loans.tolist(), row_pairs.rows.tolist(), strict=True)
            if loan == 0
        ]
        assert first == taken


def test_par_is_never_multiplied() -> None:
    """Whatever is drawn.

    Each loan is in one group, a group has one loan or one row, and its par agrees.
    """
    joined = 0
    for seed in range(300):
        chance = random.Random(seed)
        par = [chance.choice([100.1, 200.2, 300.3, None, 0.0]) for _ in range(20)]
        loans: Items = [(chance.randrange(4), value) for value in par[: chance.randrange(1, 10)]]
        rows: Items = [(chance.randrange(4), value) for value in par[chance.randrange(10, 19) :]]
        row_pairs = paired(loans, rows, chance.choice([WHOLE, PART, EXACT]), alike=chance.random() < 0.5)
        joined += len(row_pairs.loans)
        groups: dict[int, tuple[set[int], set[int]]] = {}
        for loan, row, group in zip(
            row_pairs.loans.tolist(), row_pairs.rows.tolist(), row_pairs.groups.tolist(), strict=True
        ):
            assert loans[loan][0] == rows[row][0]
            members = groups.setdefault(group, (set(), set()))
            members[0].add(loan)
            members[1].add(row)
        taken = [loan for members, _ in groups.values() for loan in members]
        used = [row for _, members in groups.values() for row in members]
        assert len(taken) == len(set(taken)), seed
        assert len(used) == len(set(used)), seed
        for own, members_of_page in groups.values():
            mine, its = ([items[at][1] for at in members] for items, members in ((loans, own), (rows, members_of_page)))
            if len(own) + len(members_of_page) > 2 and None not in mine and any(its) and None not in its:
                assert abs(
                    sum(amount or 0.0 for amount in mine) - sum(other_amount or 0.0 for other_amount in its)
                ) <= 0.02 * max(len(own), len(members_of_page)), seed
    assert joined > 300


CENTS = [1_234_567.89 + 1_111.11 * at for at in range(40)]


@every(
    "own, of_page, most",
    [
        (CENTS, CENTS, 0.02),
        (CENTS, [round(value) for value in CENTS], 1.0),
        ([round(value) for value in CENTS], CENTS, 1.0),
        # Thousands only where the other page shows that its loans are no multiples of them.
        (CENTS, [round(value, -3) for value in CENTS], 1_000.0),
        ([1e6 * at for at in range(1, 40)], [1e6 * at for at in range(1, 40)], 1.0),
        (CENTS, [1_234_000.0, 2_345_000.0, 4_567_000.0], 1.0),
        (CENTS, [1_234_568.0], 0.02),
        (CENTS, [], 0.02),
        # Never more than a share of a usual loan.
        ([100.0, 200.0, 300.0], [100.0, 200.0, 300.0], 0.2),
    ],
)  # fmt: skip
def test_the_printed_precision_of_both_pages_counts(own: list[float], of_page: list[float], most: float) -> None:
    assert tolerance(np.array(own), np.array(of_page, np.float64)) == most
    assert tolerance(None, np.array(own)) == 0.02
