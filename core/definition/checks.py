"""Faults of what a definition states of money.

Amounts and corrections, fees, excess coupon and spread.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from core.definition.definition import DealTest, Definition
from core.definition.keys import Faults
from core.definition.terms import CLASS_FIGURES


def check_excess(definition: Definition, faults: Faults) -> None:
    """Check that an excess of the spread is above a minimum that is known."""
    rules = definition.conventions
    limited = any(test.measure == "was" and (test.min is not None or test.matrix) for test in definition.tests)
    if rules.excess_spread != "none" and rules.minimum_spread is None and not limited:
        faults.append(("conventions.excess_spread", "needs minimum_spread, or a test of the spread (was) with a min"))


def limits_read(test: DealTest, definition: Definition) -> set[str]:
    """Return the tests whose limits a test reads.

    Of the spread, for the excess of the spread in the coupon.
    """
    if test.measure != "wac" or definition.conventions.excess_spread == "none":
        return set()
    return {each.id for each in definition.tests if each.measure == "was"}


def check_amounts(definition: Definition, faults: Faults) -> None:
    """Check that a figure is stated once, and corrected once for a day."""
    for name, counterpart in _STATED_TWICE.items():
        if (
            getattr(definition.amounts, name) is not None
            and getattr(definition.interest_coverage, counterpart) is not None
        ):
            faults.append((f"amounts.{name}", f"is interest_coverage.{counterpart}, too: give it once"))
    seen: set[tuple[str, str | None, date | None]] = set()
    for at, correction in enumerate(definition.corrections):
        if (what := (correction.figure, correction.class_, correction.as_of)) in seen:
            faults.append((f"corrections[{at}]", f"corrects {correction.figure} a second time"))
        if (
            correction.as_of is None
            and correction.class_ is None
            and getattr(definition.amounts, correction.figure, None) is not None
        ):
            faults.append(
                (f"corrections[{at}]", f"is amounts.{correction.figure}, too: give it once, or the day of the file")
            )
        seen.add(what)
        if (correction.figure in CLASS_FIGURES) != (correction.class_ is not None):
            words = "is missing: it is a figure of a class" if correction.class_ is None else "is none of a class"
            faults.append((f"corrections[{at}].class", f"{correction.figure} {words}" if correction.class_ else words))


def check_fees(definition: Definition, faults: Faults) -> None:
    """Fees are rates or an amount, and what they are rates of is known."""
    rules, place = definition.interest_coverage, "interest_coverage"
    if rules.senior_fees is not None and (rules.fees or rules.expenses is not None):
        faults.append((f"{place}.senior_fees", "is all fees and expenses: leave fees and expenses out"))
    based = [(f"fees[{at}]", fee.of) for at, fee in enumerate(rules.fees)]
    based += [] if rules.expenses is None else [("expenses", rules.expenses.of)]
    if definition.conventions.target_par is None:
        faults.extend(
            (f"{place}.{name}.of", "needs conventions.target_par") for name, base in based if base == "target_par"
        )
    if definition.amounts.senior_fees is not None and (rules.fees or rules.expenses is not None):
        faults.append(("amounts.senior_fees", f"is all fees and expenses: leave {place}.fees and expenses out"))
    known = rules.expenses
    if known is not None and known.amount is known.cap_rate is known.cap_amount is None:
        faults.append((f"{place}.expenses", "needs an amount, or a cap (cap_rate, cap_amount)"))


_STATED_TWICE: Final = {"interest_receivable": "receivable", "senior_fees": "senior_fees"}
"""Key of the amounts -> the key of interest coverage that says the same."""
