"""Seeded tapes: every planted discrepancy is found with its exact severity, and nothing else is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files.read import read
from core.generate import MESSY, TRUSTEE_TAPES, GeneratedDeal, GeneratedTape, generate, generate_tape
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.reconciliation import Reconciliation, reconcile

Found = Counter[tuple[str, str, str]]


def promised(tape: GeneratedTape) -> Found:
    return Counter((answer.identifier, answer.field, answer.severity) for answer in tape.discrepancies)


def summarise(result: Reconciliation) -> Found:
    issues = result.issues.chunk(0, len(result.issues))
    return Counter(zip(issues["primary_identifier"], issues["field_name"], issues["severity"], strict=True))


def assert_found(result: Reconciliation, tape: GeneratedTape) -> None:
    expected, seen = promised(tape), summarise(result)
    assert (list((expected - seen).items())[:20], list((seen - expected).items())[:20]) == ([], [])
    assert set(seen.values()) <= {1}
    assert result.summary.issues_found == len(tape.discrepancies)
    assert result.not_compared == {}


def from_columns(tape: GeneratedTape) -> tuple[Portfolio, Portfolio]:
    return Portfolio.from_columns(tape.portfolio_columns()), Portfolio.from_columns(tape.deal.portfolio_columns())


def written(deal: GeneratedDeal | GeneratedTape, path: Path) -> Path:
    deal.write(path)
    return path


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
@pytest.mark.parametrize("seed", range(1, 9))
def test_small_tapes_of_many_seeds(trustee: str, seed: int) -> None:
    tape = generate_tape(generate(200, seed), trustee, seed, edits=1 + seed % 4)
    assert_found(reconcile(*from_columns(tape)), tape)


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
@pytest.mark.parametrize(
    ("seed", "messy", "preferring"),
    [(11, (), True), (12, MESSY, True), (13, (), False)],
    ids=["clean", "messy holdings", "as any tape"],
)
def test_small_tapes_through_workbooks(
    tmp_path: Path, trustee: str, seed: int, messy: tuple[str, ...], preferring: bool
) -> None:
    tape = generate_tape(generate(200, seed, messy=messy), trustee, seed, edits=3)
    theirs = Portfolio.from_workbook(
        read(written(tape, tmp_path / "tape.xlsx")), TRUSTEES[trustee] if preferring else None
    )
    ours = Portfolio.from_workbook(read(written(tape.deal, tmp_path / "holdings.xlsx")))
    result = reconcile(theirs, ours)
    assert_found(result, tape)
    assert {warning.code for warning in result.warnings} <= {"matched_by_name"}


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
def test_ten_thousand_loans(trustee: str) -> None:
    tape = generate_tape(generate(10_000, 21), trustee, 21, edits=150)
    result = reconcile(*from_columns(tape))
    assert_found(result, tape)
    assert result.summary.unmatched_trustee == 150
    assert result.summary.unmatched_internal == 450
    assert result.summary.matched == 10_000 - 450
    assert sum(result.stages.values()) == result.summary.matched
    assert set(result.ambiguous.values()) <= {0}


def test_more_loans_than_two_bytes_count() -> None:
    tape = generate_tape(generate(100_000, 31), "trustee_b", 31, edits=1_000)
    assert_found(reconcile(*from_columns(tape)), tape)


def test_an_unedited_tape_gives_no_issue() -> None:
    for trustee in TRUSTEE_TAPES:
        tape = generate_tape(generate(300, 5), trustee, 5, edits=0)
        result = reconcile(*from_columns(tape))
        assert (len(result.issues), result.summary.matched) == (0, 300)


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
def test_a_written_tape_against_itself_gives_no_issue(tmp_path: Path, trustee: str) -> None:
    tape = generate_tape(generate(200, 6), trustee, 6, edits=3)
    book = read(written(tape, tmp_path / "tape.xlsx"))
    own, second = Portfolio.from_workbook(book, TRUSTEES[trustee]), Portfolio.from_workbook(book)
    for result in (reconcile(own, own), reconcile(own, second)):
        assert list(result.issues) == []
        assert result.summary.matched == own.row_count


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
def test_the_order_of_the_rows_changes_nothing(trustee: str) -> None:
    tape = generate_tape(generate(400, 8), trustee, 8, edits=5)
    theirs, ours = tape.portfolio_columns(), tape.deal.portfolio_columns()
    expected = list(reconcile(Portfolio.from_columns(theirs), Portfolio.from_columns(ours)).issues)
    assert expected
    chance = np.random.default_rng(8)
    for _ in range(3):
        tape_again, book_again = (shuffled(columns, chance) for columns in (theirs, ours))
        assert list(reconcile(tape_again, book_again).issues) == expected


def shuffled(columns: dict[str, Any], chance: np.random.Generator) -> Portfolio:
    order = chance.permutation(len(columns["par_value"]))
    return Portfolio.from_columns(
        {
            name: (column[0][order], column[1]) if isinstance(column, tuple) else column[order]
            for name, column in columns.items()
        }
    )


def test_a_rule_that_is_not_asked_for_finds_nothing() -> None:
    tape = generate_tape(generate(200, 9), "trustee_b", 9, edits=2)
    always = {"borrower_name", "cusip", "loanx_id", "isin"}
    seen = summarise(reconcile(*from_columns(tape), ["par_value", "rating"]))
    expected = Counter(
        {
            key: count
            for key, count in promised(tape).items()
            if key[1] in always | {"par_value"} or key[1].startswith("rating")
        }
    )
    assert seen == expected
