"""What a run warns of, and that it keeps silent where nothing is guessed."""

from __future__ import annotations

from typing import Any

from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio.notes import WARNING_CODES
from core.portfolio.portfolio import Deal, Portfolio
from tests.core.compliance.conftest import portfolio_of, tranches_of
from tests.rows import every

M = 1e6
PLAIN: dict[str, Any] = {
    "par_value": [4 * M, 3 * M, 3 * M], "obligor": ["ALPHA", "BETA", "GAMMA"], "average_life": [3.0, 4.0, 5.0],
    "rating_agency_b": ["B", "B+", "B-"],
}  # fmt: skip


def warned(portfolio: Portfolio, **document: Any) -> list[str]:
    definition = parse({"name": "A deal", **document})
    codes = [one.code for one in run_suite(portfolio, "enhanced", definition=definition).warnings]
    assert set(codes) <= set(WARNING_CODES)
    return codes


@every(
    "columns, code",
    [
        ({}, None),
        ({"rating_agency_b": ["B", "*", "B-"]}, "masked_ratings"),
        ({"obligor": ["ALPHA ONE", "ALPHA TWO", "GAMMA"]}, "obligors_alike"),
        ({"obligor": ["ALPHA", "ABC ONE", "ABC TWO"]}, None),
        ({"lien_type": [1, 4, 1], "recovery_rate": [45.0] * 3}, "bonds_secured"),
        ({"is_fixed": [1, 0, 0], "all_in_rate": [6.0, 7.0, 7.0]}, "reference_coupon_unknown"),
        ({"average_life": [None] * 3, "maturity_date": [21_000.0] * 3}, None),
    ],
)
def test_what_is_warned_of(columns: dict[str, Any], code: str | None) -> None:
    found = warned(portfolio_of(PLAIN | columns, deal=Deal(as_of=20_000.0)))
    assert found == ([] if code is None else [code])


def test_lives_interest_and_affiliates() -> None:
    columns = {name: values for name, values in PLAIN.items() if name != "average_life"} | {
        "maturity_date": [21_000.0] * 3, "spread": [350.0] * 3, "floor": [1.0] * 3,
        "obligor": ["ALPHA", "ALPHA FINANCE", "ALPHABET"],
    }  # fmt: skip
    loans = portfolio_of(
        columns, tranches=tranches_of((("A", 5 * M),), coupon=[5.0]), deal=Deal(as_of=20_000.0, base_rate=4.0)
    )
    assumed = ["interest_estimated", "fees_estimated", "no_principal_cash"]
    assert warned(loans) == ["obligors_alike", "lives_by_maturity", *assumed]
    by_name = {"affiliates_by_name": True}
    assert warned(loans, classifications=by_name) == ["affiliates_by_name", "lives_by_maturity", *assumed]
    ran = run_suite(loans, "enhanced", definition=parse({"classifications": by_name}))
    assert ran[0].current_value == 70.0


def test_without_a_definition_masked_ratings_alone_are_told() -> None:
    loans = portfolio_of(
        PLAIN | {"lien_type": [1, 4, 1], "recovery_rate": [45.0] * 3, "rating_agency_b": ["B", "*", "B-"]}
    )
    assert [one.code for one in run_suite(loans, "enhanced").warnings] == ["masked_ratings"]
