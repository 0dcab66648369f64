"""Rows of a page to loans.

With ids, with half of them, without any, with names cut short, in whole units, in lots.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.portfolio.cells.loans import Loans
from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.pages.match import add_up_rows, match, par_by_row, unused_rows
from tests.rows import every


@dataclass(frozen=True)
class Row:
    """A loan, or what a page says of one."""

    loan: int
    """Which one it is in truth."""
    par: float | None
    id: str | None = None
    asset: str | None = None
    borrower: str | None = None
    facility: str | None = None
    spread: float = 400.0


def loans_of(rows: Sequence[Row]) -> Loans:
    loans = Loans(len(rows))
    loans.numbers["spread"] = np.array([row.spread for row in rows])
    if any(row.par is not None for row in rows):
        loans.numbers["par_value"] = np.array([np.nan if row.par is None else row.par for row in rows])
    texts = {
        "loanx_id": [row.id for row in rows],
        "asset_id": [row.asset for row in rows],
        "borrower_name": [row.borrower for row in rows],
        "facility_name": [row.facility for row in rows],
    }
    loans.texts = {target: TextColumn(*pool_of(column)) for target, column in texts.items() if any(column)}
    return loans


WORDS = ("Term Loan B", "First Lien Initial Term Loan", "Incremental Term Loan B-2 (2024 Amended)", "Facility B1 (EUR)")


def deal(seed: int, count: int = 60) -> list[Row]:
    """Loans of which some borrowers have two or three, with names as long as trustees' are."""
    chance = random.Random(seed)
    rows = []
    for at in range(count):
        borrower = f"{chance.choice(['Alder', 'Birch', 'Cedar'])} {at // 2:03d} Holdings International S.à r.l."
        facility = f"{WORDS[at % 2 + 2 * chance.randrange(2)]}"
        par = round(chance.uniform(1e5, 5e6), 2)
        rows.append(Row(at, par, f"LX{100_000 + at}", f"4-{900 + at}", borrower, facility, 300.0 + at))
    return rows


def lots(chance: random.Random, row: Row, most: int, digits: int) -> list[Row]:
    """Return a loan in contracts whose par adds up to its own before each is rounded."""
    assert row.par is not None
    count = chance.randrange(1, most + 1)
    cuts = sorted(round(chance.uniform(0.1, 0.9) * row.par, 2) for _ in range(count - 1))
    parts = [high - low for low, high in zip([0.0, *cuts], [*cuts, row.par], strict=True)]
    return [replace(row, par=round(part, digits)) for part in parts]


def joined(own: Sequence[Row], rows: Sequence[Row]) -> tuple[int, int, int]:
    """How many loans are joined, how many of them to a row of another loan, and how many rows are left."""
    loans, page = loans_of(own), loans_of(rows)
    page.texts["truth"] = TextColumn(*pool_of([str(row.loan) for row in rows]))
    page_match = match(loans, page)
    for at, row in enumerate(page_match.leads.tolist()):
        assert rows[row].loan == rows[at].loan, (rows[at], rows[row])
    add_up_rows(page, page_match)
    truth = page.texts["truth"]
    wrong = sum(
        truth.text[int(truth.codes[row])] != str(own[loan].loan)
        for loan, row in enumerate(page_match.at.tolist())
        if row >= 0
    )
    assert not par_by_row(loans, page, page_match).differs.any()
    return int(np.count_nonzero(page_match.rows)), wrong, len(unused_rows(page_match))


KEYS = {
    "ids": lambda row: row,
    "other ids": lambda row: replace(row, id=None, borrower=None, facility=None),
    "no ids": lambda row: replace(row, id=None, asset=None),
    "descriptions": lambda row: replace(
        row, id=None, asset=None, borrower=None, facility=f"{row.borrower} - {row.facility}"
    ),
    "descriptions cut short": lambda row: replace(
        row, id=None, asset=None, borrower=None, facility=f"{row.borrower} - {row.facility}"[:60]
    ),
    "borrowers": lambda row: replace(row, id=None, asset=None, facility=None),
    "other facilities": lambda row: replace(row, id=None, asset=None, facility="TL"),
}


@pytest.mark.parametrize("digits", [2, 0])
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("key", KEYS)
def test_all_rows_find_their_loans(key: str, most: int, digits: int) -> None:
    """By every key, in one row or several contracts a loan, in cents or in whole units; none finds another loan."""
    for seed in range(4):
        chance = random.Random(seed)
        own = deal(seed)
        page_rows = [KEYS[key](lot) for row in own for lot in lots(chance, row, most, digits)]
        chance.shuffle(page_rows)
        count, wrong, left = joined(own, page_rows)
        assert wrong == 0
        if key in ("borrowers", "other facilities") and most > 1:
            continue  # contracts of a borrower with two loans: nothing tells which is whose
        assert (count, left) == (len(own), 0), seed


@pytest.mark.parametrize("most", [1, 3])
def test_half_of_the_ids_are_gone_on_both_sides(most: int) -> None:
    for seed in range(6):
        chance = random.Random(seed)
        own = deal(seed)
        page_rows = [lot for row in own for lot in lots(chance, row, most, 2)]
        chance.shuffle(page_rows)
        bare = [[row if chance.random() < 0.5 else replace(row, id=None) for row in rows] for rows in (own, page_rows)]
        bare = [[replace(row, asset=None) for row in rows] for rows in bare]
        assert joined(*bare) == (len(own), 0, 0)


def test_lots_among_the_loans_share_a_row() -> None:
    for seed in range(4):
        chance = random.Random(seed)
        whole = [replace(row, id=None, asset=None) for row in deal(seed)]
        own = [lot for row in whole for lot in lots(chance, row, 3, 2)]
        assert joined(own, whole) == (len(own), 0, 0)


def test_facilities_alone_tell_few_loans() -> None:
    """The names of facilities come again.

    Without par nothing is joined by them, and all is told.
    """
    own = deal(1)
    rows = [Row(row.loan, None, facility=row.facility) for row in own]
    page_match = match(loans_of(own), loans_of(rows))
    assert not page_match.rows.any()
    assert page_match.ambiguous.all()


@every(
    "short, meant",
    [
        ("Alpha International Holdings Term Lo", 0),
        ("Beta International Holdings Term Loan", None),  # two begin with it
        ("Gamma Term Lo", None),  # too short
        ("Alpha International Holdings Term Loan C", None),
    ],
)
def test_a_name_that_is_cut_short_is_the_only_one_that_begins_with_it(short: str, meant: int | None) -> None:
    names = [
        "Alpha International Holdings Term Loan B",
        "Beta International Holdings Term Loan B",
        "Beta International Holdings Term Loan C",
        "Gamma Term Loan",
    ]
    own = [Row(at, 1e6 + at, facility=name) for at, name in enumerate(names)]
    for loans, rows in ((own, [Row(0, None, facility=short)]), ([Row(0, None, facility=short)], own)):
        page_match = match(loans_of(loans), loans_of(rows))
        pairs = [(loan, row) for loan, row in enumerate(page_match.at.tolist()) if row >= 0]
        assert pairs == ([] if meant is None else [(meant, 0)])


def test_names_without_footnotes() -> None:
    own = [Row(0, 1e6, facility="Alpha Inc - Facility B4(2)(3)"), Row(1, 2e6, facility="Alpha Inc - Facility B (EUR)")]
    rows = [
        Row(0, None, facility="ALPHA INC. - Facility B4"),
        Row(1, None, facility="Alpha Inc - Facility B (EUR)\u00b9"),
    ]
    assert joined(own, rows) == (2, 0, 0)


@every(
    "rows, at",
    [
        # Obligors on the page, descriptions among the loans: by par where a borrower has several.
        ([Row(1, 1_200_000.0, borrower="Alpha Inc")], [-1, 0, -1, -1]),
        ([Row(3, None, borrower="Beta S.A.")], [-1, -1, -1, 0]),
        ([Row(3, None, borrower="Beta"), Row(1, None, borrower="Alpha Inc")], [-1, -1, -1, 0]),
        # What several obligors add up to is none of their loans.
        ([Row(3, 9_000_000.0, borrower="Beta S.A.")], [-1, -1, -1, -1]),
        ([Row(2, 3_300_000.0, borrower="Alpha In")], [-1, -1, -1, -1]),
    ],
)
def test_descriptions_begin_with_obligors(rows: list[Row], at: list[int]) -> None:
    names = ["Alpha Inc - TL B", "Alpha Inc - TL C", "Alphabet Inc - TL B", "Beta S.A. - Facility B"]
    own = [Row(loan, 1_100_000.0 + 100_000.0 * loan, facility=name) for loan, name in enumerate(names)]
    assert match(loans_of(own), loans_of(rows)).at.tolist() == at


def test_rows_that_differ_are_no_lots_without_par() -> None:
    own = [Row(0, 1e6, asset="4-1"), Row(1, 2e6, asset="4-2")]
    alike = [Row(0, None, asset="4-1", spread=300.0)] * 2
    assert match(loans_of(own), loans_of(alike)).at.tolist() == [0, -1]
    page_match = match(loans_of(own), loans_of([alike[0], replace(alike[1], spread=301.0)]))
    assert (page_match.at.tolist(), page_match.ambiguous.tolist()) == ([-1, -1], [True, True])


def test_row_numbers_are_no_ids() -> None:
    """Two pages that number their rows, each in its own order.

    A page that numbers the rows of the other is no such.
    """
    own = [Row(at, 1e6 + at, asset=str(at + 1)) for at in range(4)]
    rows = [Row(3 - at, None, asset=str(at + 1)) for at in range(4)]
    assert not match(loans_of(own), loans_of(rows)).rows.any()
    assert joined(own, [replace(own[at], par=None) for at in (2, 0, 3, 1)]) == (4, 0, 0)


def test_contracts_average_their_spread_by_par() -> None:
    own = [Row(0, 100_000.0, borrower="Alpha", facility="TL B"), Row(1, 70_000.0, borrower="Beta", facility="TL B")]
    rows = [replace(own[0], par=60_000.0, spread=300.0), replace(own[0], par=40_000.0, spread=500.0), own[1]]
    loans, page = loans_of(own), loans_of(rows)
    page_match = match(loans, page)
    add_up_rows(page, page_match)
    assert page.numbers["spread"].tolist() == [380.0, 400.0]
    assert page.numbers["par_value"].tolist() == [100_000.0, 70_000.0]
    assert page_match.at.tolist() == [0, 1]
