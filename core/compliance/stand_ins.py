"""What a run's figures rest on that the file does not say: estimated interest and fees, cash, assumed recovery."""

from __future__ import annotations

from collections.abc import Container, Iterator
from math import isfinite
from typing import Final

from core.compliance.measures import Pool
from core.portfolio.notes import DataWarning

WHOLE_PCT: Final = 99.995
"""Percent of par that is all of it as it is printed."""

_OF_INTEREST: Final = ("ic_ratio", "ic_ratio_senior")
_OF_CASH: Final = ("oc_ratio", "oc_ratio_senior", "interest_diversion_ratio")


def stand_ins(pool: Pool, ran: Container[str]) -> Iterator[DataWarning]:
    """What stands in for what the file does not say, where a test that ran (by id) rests on it."""
    deal, portfolio = pool.portfolio.deal, pool.portfolio
    if any(test in ran for test in _OF_INTEREST):
        income = pool.interest
        if "estimated" in income["interest_basis"]:
            yield DataWarning(
                "interest_estimated",
                f"interest coverage is an estimate: the period's interest is {income['interest_basis']}",
            )
        if "estimated" in income["senior_fees_basis"]:
            yield DataWarning("fees_estimated", f"senior fees are {income['senior_fees_basis']}")
        if "spread" in portfolio.numbers and "all_in_rate" not in portfolio.numbers and not _has_base(pool):
            yield DataWarning(
                "no_base_rate", "loans have a spread and no base rate: only the spread counts as interest"
            )
    if deal.principal_cash is None and any(test in ran for test in _OF_CASH):
        yield DataWarning("no_principal_cash", "no page says what principal cash there is: it counts as 0")
    if "weighted_average_recovery_rate" in ran:
        given = pool.covered(pool.tally.recovery_given)
        if given < WHOLE_PCT:
            yield DataWarning(
                "recovery_assumed", f"{100 - given:.2f} % of par has no recovery rate: the one of its kind is assumed"
            )


def _has_base(pool: Pool) -> bool:
    return isfinite(pool.base_rate) or "base_rate_level" in pool.portfolio.numbers
