"""What a run says of its own estimates: only where a test rests on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.compliance.result import Results
from core.compliance.run import run_suite
from core.portfolio.notes import WARNINGS_MAX, DataWarning, bounded
from core.portfolio.portfolio import Deal, Portfolio

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
        return [one.code for one in run_suite(replace(g1(), deal=deal), "standard", test_ids=tests).warnings]

    assert codes(Deal(), "single_obligor_concentration") == []
    assert codes(Deal(), "oc_ratio") == ["no_principal_cash"]
    assert codes(KNOWN, "oc_ratio", "ic_ratio") == []
    assert codes(Deal(principal_cash=0.0, base_rate=4.3), "ic_ratio") == ["interest_estimated", "fees_estimated"]


def test_warnings_are_bounded() -> None:
    many = [DataWarning("no_price", f"{at} {'x' * 1_000}") for at in range(1_000)]
    told = Results([], [], warnings=[*many, *many]).warnings
    assert len(told) == WARNINGS_MAX
    assert (told[-1].code, told[-1].message.split()[0]) == ("more_warnings", "951")
    assert max(len(one.message) for one in told) <= 400
    assert bounded(told) == told
