"""Loans in, out and changed between two files, against a plain walk over the same loans."""

from __future__ import annotations

import random

import pytest

from core.deals.changes import FieldChange, changes
from core.portfolio import Portfolio

Loan = dict[str, float | str]


def portfolio(loans: list[Loan]) -> Portfolio:
    return Portfolio.from_columns({field: [loan[field] for loan in loans] for field in loans[0]})


def cusip(number: int) -> str:
    """A CUSIP with its check digit."""
    body = f"{number:08d}"
    total = sum(sum(divmod(int(digit) * (2 if at % 2 else 1), 10)) for at, digit in enumerate(body))
    return f"{body}{(10 - total % 10) % 10}"


def test_every_difference_is_told_once_and_the_pars_add_up() -> None:
    chance = random.Random(5)
    before: list[Loan] = [
        {"cusip": cusip(10_000 + 7 * at), "borrower_name": f"Borrower {at}", "price": 90.0 + at / 8,
         "par_value": 1_000_000.0 + 1_000 * at, "spread": 300.0}
        for at in range(60)
    ]  # fmt: skip
    after = [dict(loan) for loan in before[3:]]
    for loan in chance.sample(after, 20):
        for field in chance.sample(["par_value", "price", "spread"], 2):
            loan[field] = float(loan[field]) + chance.choice([-0.25, 0.125, 0.01, 5.0])
    after += [{**before[0], "cusip": cusip(99_990_000 + at), "borrower_name": f"New {at}"} for at in range(2)]
    chance.shuffle(after)
    result = changes(portfolio(before), portfolio(after))
    earlier, later = ({str(loan["cusip"]): loan for loan in side} for side in (before, after))
    assert (result.loans_before, result.loans_after) == (60, 59)
    by_identifier = {loan.identifier: loan for loan in result.loans}
    assert len(by_identifier) == len(result.loans)
    assert {key for key, loan in by_identifier.items() if loan.kind == "in"} == later.keys() - earlier.keys()
    assert {key for key, loan in by_identifier.items() if loan.kind == "out"} == earlier.keys() - later.keys()
    fields = ("par_value", "price", "spread")
    moved = {
        key: [field for field in fields if earlier[key][field] != later[key][field]]
        for key in earlier.keys() & later.keys()
    }
    expected = {key: names for key, names in moved.items() if names}
    assert {
        key: [item.field for item in loan.fields] for key, loan in by_identifier.items() if loan.kind == "changed"
    } == expected
    assert (result.loans_in, result.loans_out, result.loans_changed) == (2, 3, len(expected))
    total = sum(float(loan["par_value"]) for loan in after) - sum(float(loan["par_value"]) for loan in before)
    assert result.par_in - result.par_out + result.par_changed == pytest.approx(total, abs=1e-6)
    kinds = [loan.kind for loan in result.loans]
    assert kinds == sorted(kinds, key=["in", "out", "changed"].index)


def test_the_same_file_has_no_changes_and_a_cent_is_one() -> None:
    loan: Loan = {"cusip": cusip(12), "borrower_name": "Acme", "price": 99.0, "par_value": 5e6, "spread": 350.0}
    item = portfolio([loan])
    assert changes(item, item).loans == []
    (result,) = changes(item, portfolio([{**loan, "price": 99.000001}])).loans
    assert (result.kind, result.par_change, result.fields) == (
        "changed",
        0.0,
        [FieldChange("price", "99", "99.000001")],
    )


def test_identifiers_in_groups_are_the_loans_of_last_month() -> None:
    before: list[Loan] = [{"cusip": "12A4567B7", "borrower_name": "Alder", "par_value": 1e6, "spread": 300.0}]
    after: list[Loan] = [{"cusip": "12a456 7b 7", "borrower_name": "Alder Two", "par_value": 1e6, "spread": 325.0}]
    result = changes(portfolio(before), portfolio(after))
    assert (result.loans_in, result.loans_out, result.loans_changed) == (0, 0, 1)
    assert {change.field for change in result.loans[0].fields} == {"spread", "borrower_name"}
