"""Fault modes: each breaks what it names and nothing else.

A clean book breaks nothing.
"""

from __future__ import annotations

import pytest

from core.compliance.run import run_suite
from core.generate import FAULTS, generate
from core.portfolio import Portfolio

BROKEN = {
    "breach_obligor": {"single_obligor_concentration"},
    "breach_ccc": {"ccc_bucket_pct"},
    # The diversion test is the same ratio against a higher trigger, and a tenth of the book in default is past due.
    "breach_oc": {"oc_ratio", "interest_diversion_ratio", "delinquency_pct"},
    "warn_wal": set(),
}
CASES = [(loans, seed) for loans in (200, 300) for seed in (1, 2, 3, 7, 11, 26)] + [(5_000, 1)]


def statuses(loans: int, seed: int, *faults: str) -> dict[str, str]:
    deal = generate(loans, seed, faults=faults)
    portfolio = Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)
    results = run_suite(portfolio, "enhanced")
    assert results.skipped == []
    return {result.test_id: result.status for result in results}


def failed(statuses: dict[str, str]) -> set[str]:
    return {test_id for test_id, status in statuses.items() if status == "fail"}


@pytest.mark.parametrize(("loans", "seed"), CASES)
def test_a_clean_book_fails_no_test(loans: int, seed: int) -> None:
    assert failed(statuses(loans, seed)) == set()


def test_the_default_book_passes_all_tests_without_a_warning() -> None:
    assert set(statuses(300, 7).values()) == {"pass"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("loans", "seed"), CASES)
def test_a_fault_breaks_what_it_names(fault: str, loans: int, seed: int) -> None:
    result = statuses(loans, seed, fault)
    assert failed(result) == BROKEN[fault]
    assert (result["wal"] == "warning") == (fault == "warn_wal")


def test_faults_add_up() -> None:
    result = statuses(300, 7, "warn_wal", "breach_obligor", "breach_ccc")
    assert failed(result) == BROKEN["breach_obligor"] | BROKEN["breach_ccc"]
    assert result["wal"] == "warning"


def test_the_average_life_is_the_one_promised() -> None:
    deal = generate(300, 7, faults=["warn_wal"])
    portfolio = Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)
    (result,) = run_suite(portfolio, "standard", test_ids=["wal"])
    assert result.current_value == pytest.approx(5.75, abs=0.002)
