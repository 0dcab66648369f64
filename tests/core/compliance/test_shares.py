"""Formulas over loans, beside a plain twin that goes row by row in the logic of three values."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.definition import parse
from tests.core.compliance.conftest import portfolio_of

Told = Callable[[int], bool | None]
COMPARED = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "<>": ne}
LOANS = 40


def book(chance: random.Random) -> dict[str, list[Any]]:
    return {
        "par_value": [chance.randint(1, 50) * 1e5 for _ in range(LOANS)],
        "price": [chance.choice([None, 50.0, 80.0, 90.0, 99.5]) for _ in range(LOANS)],
        "spread": [chance.choice([None, 100.0, 150.0, 400.0]) for _ in range(LOANS)],
        "country": [chance.choice([None, "US", "CA", "FR"]) for _ in range(LOANS)],
        "rating_agency_a": [chance.choice([0, 12, 16, 17, 18]) for _ in range(LOANS)],
        "is_dip": [chance.randint(0, 1) for _ in range(LOANS)],
    }


def of(values: list[Any], decide: Callable[[Any], bool]) -> Told:
    """What a field decides; nothing where it is blank."""
    return lambda row: None if values[row] is None else decide(values[row])


def atom(chance: random.Random, loans: dict[str, list[Any]]) -> tuple[str, Told]:
    sign, line = chance.choice([*COMPARED]), chance.choice([60, 80, 90])
    ranks = [rank or None for rank in loans["rating_agency_a"]]
    price, spread = loans["price"], loans["spread"]
    both = [None if None in pair else pair[0] * 2 > pair[1] for pair in zip(price, spread, strict=True)]
    return chance.choice(
        [
            (f"price{sign}{line}", of(price, lambda value: COMPARED[sign](value, line))),
            (f"{line}{sign}price", of(price, lambda value: COMPARED[sign](line, value))),
            ("price*2>spread", of(both, bool)),
            ('country="us"', of(loans["country"], lambda value: value == "US")),
            ('OR(country={"US","FR"})', of(loans["country"], lambda value: value in ("US", "FR"))),
            ("rank_a>=17", of(ranks, lambda value: value >= 17)),
            ("is_dip", lambda row: bool(loans["is_dip"][row])),
            ("ISBLANK(price)", lambda row: price[row] is None),
            ("NOT(ISTEXT(country))", lambda row: loans["country"][row] is None),
        ]
    )


def tree(chance: random.Random, loans: dict[str, list[Any]], depth: int) -> tuple[str, Told]:
    if depth == 0 or chance.random() < 0.25:
        return atom(chance, loans)
    word = chance.choice(["AND", "OR", "NOT"])
    parts = [tree(chance, loans, depth - 1) for _ in range(1 if word == "NOT" else chance.randint(1, 3))]

    def truth_of(row: int) -> bool | None:
        values = [item(row) for _, item in parts]
        if word == "NOT":
            return None if values[0] is None else not values[0]
        decisive = word == "OR"
        return decisive if decisive in values else None if None in values else not decisive

    return f"{word}({','.join(text for text, _ in parts)})", truth_of


def test_shares_are_what_the_plain_twin_says() -> None:
    """The share of the loans for which the formula is TRUE, and the coverage by those of which it can be told."""
    chance = random.Random(20241216)
    loans = book(chance)
    trees = {f"test_{at}x": tree(chance, loans, 4) for at in range(300)}
    tests = [{"id": name, "name": name, "share": f"={text}", "max": 100} for name, (text, _) in trees.items()]
    ran = run_suite(portfolio_of(loans), "deal", definition=parse({"tests": tests}))
    par = loans["par_value"]
    by_test_id = {
        item.test_id: (item.current_value, item.details.breakdown["coverage_pct"]) for item in ran if item.details
    }
    expected = {
        name: (
            sum(amount for row, amount in enumerate(par) if answer(row)) / sum(par) * 100,
            sum(amount for row, amount in enumerate(par) if answer(row) is not None) / sum(par) * 100,
        )
        for name, (_, answer) in trees.items()
    }
    wrong = [trees[name][0] for name, pair in expected.items() if by_test_id.get(name) != pytest.approx(pair, abs=1e-6)]
    assert wrong == []


@pytest.mark.parametrize("cut", [True, False])
def test_a_discount_obligation_is_one_with_or_without_its_haircut(cut: bool) -> None:
    """Bought below 80 and not at 90 since: 30 of 100."""
    loans = {"par_value": [30e6, 50e6, 20e6], "purchase_price": [70.0, 70.0, 99.0], "price": [85.0, 95.0, 80.0]}
    tests = [{"id": "discounts", "name": "Discount obligations", "share": "=is_discount", "max": 25}]
    ran = run_suite(portfolio_of(loans), "deal", definition=parse({"par_value": {"discount": cut}, "tests": tests}))
    assert [(item.current_value, item.status) for item in ran] == [(pytest.approx(30.0), "fail")]
