"""Coverage tests named by their denominators: balances, or interest due."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.classes import class_key
from core.portfolio.model.facts import Fact, FactSubject
from core.portfolio.model.portfolio import Tranches

DENOMINATOR_TOLERANCE: Final = 1.0
"""Currency units by which a printed denominator may miss the sum of the classes' figures, each rounded."""

DENOMINATOR_MIN: Final = 1_000.0
"""Currency units below which a denominator names nothing."""


def named_by_denominator(tests: Iterable[Fact], tranches: Tranches | None) -> list[Fact]:
    """Name coverage and class of tests whose denominator says them."""
    sums = [] if tranches is None else list(_sums(tranches))
    return [_name_denominator(test, sums) if sums and _is_open(test) else test for test in tests]


def _is_open(test: Fact) -> bool:
    """Return whether words leave a test's coverage or its class open."""
    subject = test.subject
    is_unnamed = subject is None or (subject.measure in ("oc", "ic") and not subject.classes)
    return test.kind == "test" and is_unnamed and test.denominator is not None


def _name_denominator(test: Fact, sums: list[tuple[str, str, float]]) -> Fact:
    assert test.denominator is not None, "an open test has a denominator"
    if abs(test.denominator) < DENOMINATOR_MIN:
        return test
    candidates = {
        (measure, letter)
        for measure, letter, amount in sums
        if abs(amount - test.denominator) <= DENOMINATOR_TOLERANCE
        and (test.subject is None or test.subject.measure == measure)
    }
    if len(candidates) != 1:
        return test
    ((measure, letter),) = candidates
    return replace(test, subject=FactSubject(measure=measure, classes=(letter,)), by="sum", is_guessed=False)


def _sums(tranches: Tranches) -> Iterator[tuple[str, str, float]]:
    """Yield (measure, lowest class, amount) of the classes down to each.

    With and without deferred interest and class X.
    """
    keys = [class_key(name) for name in tranches.classes]
    letters = [match[0] if (match := re.match(r"[A-Z]", key)) else "" for key in keys]
    balances: tuple[tuple[str, NDArray[np.float64]], ...] = (
        ("oc", tranches.current_balance),
        ("oc", tranches.current_balance + np.nan_to_num(tranches.deferred_interest)),
        ("ic", np.nan_to_num(tranches.interest_due)),
    )
    for measure, amounts in balances:
        for leaves_out in ("", "X"):
            rows = [
                at
                for at, letter in enumerate(letters)
                if letter and letter != leaves_out and not tranches.is_income[at]
            ]
            total = 0.0
            for place, at in enumerate(rows):
                total += float(amounts[at])
                is_last = place + 1 == len(rows) or letters[rows[place + 1]] != letters[at]
                if is_last and total >= DENOMINATOR_MIN:
                    yield measure, letters[at], total
