"""Senior fees and expenses of the period.

The file's, a stated amount, or rates of a base with a cap on expenses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final, NamedTuple

from core.compliance.kernels import rounded
from core.definition.definition import Expenses, Fee, InterestCoverage

Years = Callable[[str | None], float]
"""The period as a part of a year by a day count; by the conventions' for None."""

BY_RATES: Final = "estimated by the definition's rates"
GIVEN: Final = "given"


class Fees(NamedTuple):
    """What is taken off for fees and expenses; money in the deal's currency."""

    amount: float
    counted: float
    """No more than the cap of all fees and expenses."""
    basis: str
    parts: list[dict[str, Any]]
    """Name and amount of each fee, and of the expenses; none where there is one amount for all."""


def senior_fees(printed: float | None, rules: InterestCoverage, bases: Mapping[str, float], years: Years) -> Fees:
    """Return the fees and expenses of the period.

    Args:
        printed: the file's amount, or that of the definition where it has none; with either sign.
        bases: the amounts of which rates are a percentage, by their names in `FEE_BASES`.
    """
    stated = printed if printed is not None and isfinite(printed) else rules.senior_fees
    parts: list[dict[str, Any]] = []
    if stated is not None:
        amount, basis = abs(stated), GIVEN
    elif rules.fees or rules.expenses is not None:
        parts = [{"name": fee.name, "amount": _yearly(fee, bases) * years(fee.day_count)} for fee in rules.fees]
        parts += [] if rules.expenses is None else [_expenses(rules.expenses, bases, years)]
        amount, basis = sum(part["amount"] for part in parts), BY_RATES
        parts = [{**part, "amount": rounded(part["amount"])} for part in parts]
    else:
        amount = rules.senior_fee_rate / 100 * bases["cpa"] * years(None)
        basis = f"estimated at {rules.senior_fee_rate:.2f}% a year"
    counted = amount if rules.senior_fee_cap is None else min(amount, rules.senior_fee_cap)
    return Fees(amount, counted, basis, parts)


def _yearly(fee: Fee, bases: Mapping[str, float]) -> float:
    return fee.rate / 100 * max(0.0, bases[fee.of])


def _expenses(rules: Expenses, bases: Mapping[str, float], years: Years) -> dict[str, Any]:
    """Expenses up to their cap; what it allows where nothing says what they are."""
    shown: dict[str, Any] = {"name": "Expenses"}
    if rules.cap_rate is None and rules.cap_amount is None:
        return {**shown, "amount": rules.amount or 0.0}
    cap = ((rules.cap_rate or 0.0) / 100 * max(0.0, bases[rules.of]) + (rules.cap_amount or 0.0)) * years(
        rules.day_count
    )
    amount = cap if rules.amount is None else min(rules.amount, cap)
    return {**shown, "amount": amount, "cap": rounded(cap)}
