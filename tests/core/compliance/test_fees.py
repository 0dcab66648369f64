"""Senior fees by rates of a base and expenses up to a cap, in the interest coverage of the worked pool."""

from __future__ import annotations

from typing import Any

import pytest

from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.run import run_suite
from core.definition import DefinitionError, parse, to_document
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.rows import every

TRUSTEE = {"name": "Trustee fee", "rate": 0.01}
MANAGER = {"name": "Senior management fee", "rate": 0.15}


def loans(**deal: Any) -> Portfolio:
    """G1: CPA 400,000,000, par 395,000,000, a quarter of 90 days at 4.30 %: interest of 8,190,000."""
    return portfolio_of(
        g1_columns(),
        tranches=tranches_of(G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], ic={"D": 110.0}),
        deal=Deal(principal_cash=5e6, base_rate=4.30, payment_days=90.0, **deal),
    )


def pool(rules: dict[str, Any], conventions: dict[str, Any] | None = None, **deal: Any) -> Pool:
    definition = parse({"interest_coverage": rules, "conventions": conventions or {}})
    assert parse(to_document(definition)) == definition
    return pools_of(loans(**deal), definition)[0]


@every(
    "rules, fees",
    [
        ({}, 200_000.0),
        ({"fees": [TRUSTEE, MANAGER]}, 10_000.0 + 150_000.0),
        ({"fees": [{**MANAGER, "of": "par"}]}, 395e6 * 0.0015 / 4),
        ({"fees": [{**MANAGER, "of": "target_par"}]}, 500e6 * 0.0015 / 4),
        ({"fees": [{**MANAGER, "of": "denominator"}]}, 402.25e6 * 0.0015 / 4),
        ({"fees": [{**TRUSTEE, "day_count": "actual/365"}]}, 40_000 * 90 / 365),
        ({"expenses": {"cap_rate": 0.02, "cap_amount": 200_000}}, 70_000.0),
        ({"expenses": {"cap_rate": 0.02, "cap_amount": 200_000, "amount": 50_000}}, 50_000.0),
        ({"expenses": {"cap_rate": 0.02, "cap_amount": 200_000, "amount": 90_000}}, 70_000.0),
        ({"expenses": {"cap_amount": 200_000, "amount": 90_000, "day_count": "actual/365"}}, 200_000 * 90 / 365),
        ({"expenses": {"amount": 90_000}}, 90_000.0),
        ({"fees": [TRUSTEE, MANAGER], "expenses": {"cap_amount": 100_000}}, 185_000.0),
    ],
)
def test_fees_follow_their_rates_and_expenses_their_cap(rules: dict[str, Any], fees: float) -> None:
    """The cap of 0.02 % of 400,000,000 and 200,000 a year is 70,000 a quarter."""
    seen = pool(rules, {"target_par": 500e6, "defaulted_in_denominator": "carried"})
    assert seen.interest["senior_fees"] == pytest.approx(fees)
    assert seen.interest["available"] == pytest.approx(8_190_000 - fees)


def test_the_files_amount_goes_before_rates() -> None:
    """Printed with either sign; the cap of all counts for both."""
    assert pool({"fees": [MANAGER]}, senior_fees=-123_456.0).interest["senior_fees"] == 123_456.0
    assert pool({"fees": [MANAGER], "senior_fee_cap": 1_000.0}).interest["available"] == 8_190_000 - 1_000
    assert "senior_fee_parts" not in pool({"fees": [MANAGER]}, senior_fees=1.0).interest


def test_the_row_says_what_its_fees_are_made_of() -> None:
    definition = parse(
        {
            "interest_coverage": {"fees": [TRUSTEE], "expenses": {"cap_rate": 0.02, "amount": 30_000}},
            "tests": [{"id": "ic_d", "name": "D", "measure": "ic", "class": "D", "min": 110}],
        }
    )
    (ran,) = run_suite(loans(), "deal", definition=definition)
    assert ran.current_value == pytest.approx((8_190_000 - 10_000 - 20_000) / 5_918_500 * 100, abs=1e-6)
    assert ran.details is not None
    assert ran.details.breakdown["income"]["senior_fee_parts"] == [
        {"name": "Trustee fee", "amount": 10_000.0},
        {"name": "Expenses", "amount": 20_000.0, "cap": 20_000.0},
    ]
    assert [item.message for item in ran.doubt if "fees" in item.message] == [
        "senior fees are estimated by the definition's rates"
    ]


@every(
    "rules, place, words",
    [
        ({"fees": [{"name": "X"}]}, "interest_coverage.fees[0].rate", "is missing"),
        ({"fees": [{**TRUSTEE, "rate": 15}]}, "interest_coverage.fees[0].rate", "from 0 to 10"),
        ({"fees": [{**TRUSTEE, "of": "cash"}]}, "interest_coverage.fees[0].of", "cpa, par"),
        ({"fees": [TRUSTEE, {**TRUSTEE, "of": "target_par"}]}, "interest_coverage.fees[1].of", "target_par"),
        ({"expenses": {"cap_rate": 1, "of": "target_par"}}, "interest_coverage.expenses.of", "target_par"),
        ({"expenses": {}}, "interest_coverage.expenses", "needs an amount, or a cap"),
        ({"fees": [TRUSTEE], "senior_fees": 5}, "interest_coverage.senior_fees", "leave fees and expenses out"),
        ({"fees": [TRUSTEE] * 21}, "interest_coverage.fees", "0 to 20"),
    ],
)
def test_a_fault_has_its_place(rules: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse({"interest_coverage": rules})
    assert any(where == place and words in answer for where, answer in refused.value.faults), refused.value.faults
