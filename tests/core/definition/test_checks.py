"""What a definition states of money is stated once, and fits together."""

from __future__ import annotations

from typing import Any

import pytest

from core.definition import DefinitionError, parse
from tests.rows import every

FEE = {"name": "Trustee fee", "rate": 0.02}
CASH = {"figure": "principal_cash", "amount": 5, "note": "page 3"}
BALANCE = {"figure": "current_balance", "amount": 5, "note": "page 3", "class": "A"}
SPREAD = {"id": "spread", "name": "Spread", "measure": "was"}
COUPON = {"id": "coupon", "name": "Coupon", "measure": "wac"}


def coverage(**rules: Any) -> dict[str, Any]:
    return {"interest_coverage": rules}


EXCESS = {"conventions": {"excess_spread": "always"}}


@every(
    "document, place, words",
    [
        (EXCESS, "conventions.excess_spread", "needs minimum_spread, or a test of the spread"),
        (EXCESS | {"tests": [SPREAD]}, "conventions.excess_spread", "needs minimum_spread"),
        (EXCESS | {"tests": [COUPON | {"min": 4}]}, "conventions.excess_spread", "needs minimum_spread"),
        (
            {"amounts": {"interest_receivable": 1}} | coverage(receivable=1),
            "amounts.interest_receivable", "is interest_coverage.receivable, too",
        ),
        (
            {"amounts": {"senior_fees": 1}} | coverage(senior_fees=2),
            "amounts.senior_fees", "is interest_coverage.senior_fees, too",
        ),
        ({"corrections": [CASH, CASH]}, "corrections[1]", "corrects principal_cash a second time"),
        (
            {"corrections": [CASH | {"as_of": "2026-01-31"}] * 2},
            "corrections[1]", "corrects principal_cash a second time",
        ),
        (
            {"corrections": [CASH], "amounts": {"principal_cash": 5}},
            "corrections[0]", "is amounts.principal_cash, too",
        ),
        ({"corrections": [CASH | {"class": "A"}]}, "corrections[0].class", "principal_cash is none of a class"),
        ({"corrections": [BALANCE, BALANCE]}, "corrections[1]", "corrects current_balance a second time"),
        (
            {"corrections": [{name: value for name, value in BALANCE.items() if name != "class"}]},
            "corrections[0].class", "is missing: it is a figure of a class",
        ),
        (coverage(senior_fees=1, fees=[FEE]), "interest_coverage.senior_fees", "leave fees and expenses out"),
        (coverage(senior_fees=1, expenses={"amount": 1}), "interest_coverage.senior_fees", "leave fees and expenses"),
        (coverage(fees=[FEE, FEE | {"of": "target_par"}]), "interest_coverage.fees[1].of", "conventions.target_par"),
        (
            coverage(expenses={"cap_rate": 0.1, "of": "target_par"}),
            "interest_coverage.expenses.of", "conventions.target_par",
        ),
        ({"amounts": {"senior_fees": 1}} | coverage(fees=[FEE]), "amounts.senior_fees", "leave interest_coverage.fees"),
        (
            {"amounts": {"senior_fees": 1}} | coverage(expenses={"amount": 1}),
            "amounts.senior_fees", "leave interest_coverage.fees",
        ),
        (coverage(expenses={}), "interest_coverage.expenses", "needs an amount, or a cap"),
        (coverage(expenses={"of": "par"}), "interest_coverage.expenses", "needs an amount, or a cap"),
    ],
)  # fmt: skip
def test_a_contradiction_has_its_place(document: Any, place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse(document)
    assert len(refused.value.faults) == 1, refused.value.faults
    assert refused.value.faults[0][0] == place
    assert words in refused.value.faults[0][1]


@every(
    "document",
    [
        {"conventions": {"excess_spread": "always", "minimum_spread": 3.5}},
        EXCESS | {"tests": [SPREAD | {"min": 3.5}]},
        {"amounts": {"interest_receivable": 1, "principal_cash": 2}} | coverage(senior_fees=1),
        {"corrections": [CASH, CASH | {"as_of": "2026-01-31"}, CASH | {"as_of": "2026-02-28"}]},
        {"corrections": [CASH | {"as_of": "2026-01-31"}], "amounts": {"principal_cash": 5}},
        {"corrections": [BALANCE, BALANCE | {"class": "B"}]},
        {"conventions": {"target_par": 400e6}} | coverage(fees=[FEE | {"of": "target_par"}]),
        coverage(fees=[FEE], expenses={"amount": 1}),
        coverage(expenses={"cap_rate": 0.1}),
        coverage(expenses={"cap_amount": 1}),
    ],
)
def test_what_fits_together_is_taken(document: Any) -> None:
    assert parse(document).stated >= {"corrections"} & document.keys()


def test_a_coupon_with_the_excess_of_the_spread_reads_the_spreads_limit() -> None:
    """So the limit of the spread must not depend on the coupon in turn."""
    matrix = {"id": "m_m", "rows": [1], "columns": [1], "values": [[1]], "row": "=coupon", "column": "=par"}
    tests = [SPREAD | {"matrix": "m_m", "matrix_limit": "min"}, COUPON]
    document = {"quality": {"matrices": [matrix]}, "tests": tests}
    assert [test.id for test in parse(document).tests] == ["spread", "coupon"]
    with pytest.raises(DefinitionError, match=r"tests: need each other in a circle: .*coupon"):
        parse(document | EXCESS)
