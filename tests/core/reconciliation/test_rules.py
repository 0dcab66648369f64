"""The rows of the rules.

The nine of the specification with their tolerances, and what may be asked for.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from core.reconciliation.rules import ALWAYS, FIELD_CODE, FIELDS, RULES, ReconcileError, chosen, tolerances_of


def test_the_nine_rules_and_their_default_tolerances() -> None:
    assert {name: (rule.tolerance, rule.unit) for name, rule in RULES.items()} == {
        "par_value": (0.01, "currency"),
        "price": (0.125, "points"),
        "rating": (None, None),
        "spread": (10.0, "bps"),
        "maturity_date": (0.0, "days"),
        "base_rate": (None, None),
        "all_in_rate": (5.0, "bps"),
        "industry": (None, None),
        "missing_loan": (None, None),
    }


def test_categories() -> None:
    categories = {name: rule.category for name, rule in (RULES | ALWAYS).items()}
    assert categories == {
        "par_value": "calculation",
        "price": "calculation",
        "spread": "calculation",
        "all_in_rate": "calculation",
        "rating": "rating",
        "maturity_date": "date",
        "industry": "classification",
        "base_rate": "classification",
        "missing_loan": "missing",
        "borrower_name": "identity",
        "identifier": "identity",
        "duplicate": "duplicate",
    }


def test_a_field_belongs_to_one_rule() -> None:
    assert len(FIELD_CODE) == len(FIELDS)


def test_all_rules_unless_some_are_asked_for() -> None:
    assert chosen(None) == frozenset(RULES)
    assert chosen(iter(["price", "price", "rating"])) == {"price", "rating"}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["price", "par"], "unknown rule.* par: choose from par_value, price"),
        (["borrower_name"], "unknown rule"),
        ([7], "unknown rule.* 7"),
        (["x" * 10_000], "unknown rule"),
        ([], "no rule is asked for"),
        ("price", "list of names"),
    ],
)
def test_rules_that_are_none(rules: Any, message: str) -> None:
    with pytest.raises(ReconcileError, match=message) as refused:
        chosen(rules)
    assert len(str(refused.value)) < 500


def test_own_tolerances_replace_the_defaults() -> None:
    assert tolerances_of(None) == {
        "par_value": 0.01, "price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 5.0
    }  # fmt: skip
    assert tolerances_of({"spread": 10**15})["spread"] == 1e15
    assert tolerances_of({"spread": 25, "price": 0}) | {"spread": 25.0, "price": 0.0} == tolerances_of(
        {"spread": 25, "price": 0}
    )


@pytest.mark.parametrize("value", [-1.0, nan, inf, "10", None, True, 10**400, 1.1e15])
def test_tolerances_that_are_none(value: Any) -> None:
    with pytest.raises(ReconcileError, match="the tolerance of spread must be a number from 0 on"):
        tolerances_of({"spread": value})


@pytest.mark.parametrize("name", ["rating", "missing_loan", "industry", "nonsense"])
def test_rules_without_a_tolerance(name: str) -> None:
    with pytest.raises(ReconcileError, match=f"no tolerance can be set for '{name}'"):
        tolerances_of({name: 1.0})
