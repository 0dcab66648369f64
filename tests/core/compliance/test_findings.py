"""What a run warns of, and that it keeps silent where nothing is guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.compliance.findings import findings
from core.compliance.pool_sums import Pool
from core.compliance.result import Results
from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio import Portfolio
from core.portfolio.model.notes import WARNING_CODES, WARNING_LENGTH_MAX, DataWarning, limit_warnings
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import portfolio_of, tranches_of
from tests.rows import every

M = 1e6
PLAIN: dict[str, Any] = {
    "par_value": [4 * M, 3 * M, 3 * M], "obligor": ["ALPHA", "BETA", "GAMMA"], "average_life": [3.0, 4.0, 5.0],
    "rating_agency_a": ["B2", "B1", "B3"],
}  # fmt: skip


def warned(portfolio: Portfolio, **document: Any) -> list[str]:
    definition = parse({"name": "A deal", **document})
    codes = [warning.code for warning in run_suite(portfolio, "enhanced", definition=definition).warnings]
    assert set(codes) <= set(WARNING_CODES)
    return codes


@every(
    "columns, code",
    [
        ({}, None),
        ({"rating_agency_a": ["B2", "*", "B3"]}, "masked_ratings"),
        ({"obligor": ["ALPHA ONE", "ALPHA TWO", "GAMMA"]}, "obligors_alike"),
        ({"obligor": ["ALPHA", "ABC ONE", "ABC TWO"]}, None),
        ({"lien_type": [1, 4, 1], "recovery_rate": [45.0] * 3}, "bonds_secured"),
        ({"is_fixed": [1, 0, 0], "all_in_rate": [6.0, 7.0, 7.0]}, "reference_coupon_unknown"),
        ({"recovery_rate": [45.0] * 3, "recovery_rate_a": [45.0] * 3, "recovery_rate_b": [30.0] * 3}, None),
        ({"recovery_rate": [30.0] * 3, "recovery_rate_b": [30.0] * 3}, None),  # no test of it runs
        ({"average_life": [None] * 3, "maturity_date": [21_000.0] * 3}, None),
    ],
)
def test_what_is_warned_of(columns: dict[str, Any], code: str | None) -> None:
    result = warned(portfolio_of(PLAIN | columns, deal=Deal(as_of=20_000.0)))
    assert result == ([] if code is None else [code])


def test_overcollateralisation_without_a_column_of_ratings() -> None:
    columns = {name: values for name, values in PLAIN.items() if name != "rating_agency_a"}
    deal = Deal(as_of=20_000.0, principal_cash=0.0)
    assert warned(portfolio_of(columns, deal=deal)) == [], "no test of it runs"
    notes = tranches_of((("A", 5 * M),), oc_trigger=[110.0])
    assert "no_rating" in warned(portfolio_of(columns, tranches=notes, deal=deal))
    assert "no_rating" not in warned(portfolio_of(PLAIN, tranches=notes, deal=deal))


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
    assert ran.warnings[0].message.endswith("ALPHA FINANCE with ALPHA; apart, the largest has 40.00 %")


def test_without_a_definition_masked_ratings_alone_are_told() -> None:
    loans = portfolio_of(
        PLAIN | {"lien_type": [1, 4, 1], "recovery_rate": [45.0] * 3, "rating_agency_a": ["B2", "*", "B3"]}
    )
    assert [warning.code for warning in run_suite(loans, "enhanced").warnings] == ["masked_ratings"]


KNOWN = Deal(
    principal_cash=5e6,
    base_rate=4.3,
    interest_collected=5e6,
    interest_receivable=3e6,
    senior_fees=2e5,
    next_payment=9.0,
)


def test_estimates_are_told_with_the_tests_that_rest_on_them(g1: Callable[..., Portfolio]) -> None:
    def codes(deal: Deal, *tests: str) -> list[str]:
        return [warning.code for warning in run_suite(replace(g1(), deal=deal), "standard", test_ids=tests).warnings]

    assert codes(Deal(), "single_obligor_concentration") == []
    assert codes(Deal(), "oc_ratio") == ["no_principal_cash"]
    assert codes(KNOWN, "oc_ratio", "ic_ratio") == []
    assert codes(Deal(principal_cash=0.0, base_rate=4.3), "ic_ratio") == ["interest_estimated", "fees_estimated"]


def test_every_warning_is_told_once_and_none_is_left_out() -> None:
    many = [DataWarning("no_price", f"{at} {'x' * 1_000}") for at in range(1_000)]
    warnings = Results([], [], warnings=[*many, *many]).warnings
    assert warnings == many
    (long,) = limit_warnings([DataWarning("no_price", "x" * 1_000_000)])
    assert len(long.message) == WARNING_LENGTH_MAX
    assert limit_warnings([long]) == [long]


def test_ratings_of_another_agency_alone_are_told() -> None:
    loans = {name: values for name, values in PLAIN.items() if name != "rating_agency_a"}
    assert warned(portfolio_of(loans | {"rating_agency_b": ["B", "B+", "B-"]})) == ["no_moodys_rating"]
    assert warned(portfolio_of(loans | {"rating": [15, 15, 15]})) == []


@every("deal, test_id, code, words", [
    (Deal(discount_haircut=7.0), "oc_ratio", "haircuts_as_printed", "a discount haircut of 7.00"),
    (Deal(discount_haircut=0.04), "oc_ratio", None, ""),
    (Deal(discount_haircut=7.0), "ccc_bucket_pct", None, ""),
    (Deal(masked_ccc_c=5.5), "ccc_bucket_pct", "ccc_by_rating_table", "5.50 of par"),
    (Deal(defaulted_par=9.0), "delinquency_pct", "defaults_as_printed", "9.00 of defaulted par"),
    (Deal(defaulted_par=0.0), "delinquency_pct", None, ""),
    (Deal(interest_available=3.0), "ic_ratio", "interest_as_printed", "without its parts"),
])  # fmt: skip
def test_what_the_file_prints_in_place_of_its_loans(deal: Deal, test_id: str, code: str | None, words: str) -> None:
    """A sum that the file prints counts and is told where the loans do not give it."""
    loans = {"par_value": [60.0, 40.0], "rating_agency_c": ["B", "B"], "spread": [300.0, 300.0]}
    by_code = {
        finding.code: finding.message
        for finding in findings(Pool(portfolio_of(loans, deal=deal)), frozenset({test_id}))
    }
    printed = {"haircuts_as_printed", "ccc_by_rating_table", "defaults_as_printed", "interest_as_printed"}
    assert by_code.keys() & printed == ({code} if code else set())
    assert code is None or words in by_code[code]
