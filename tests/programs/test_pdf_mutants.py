"""Mutated PDF documents of several programs end in a workbook or in a refusal, each within its limits.

`python -m tests.pdf_mutants --count 2000` tries more of them, by another seed.
"""

from __future__ import annotations

from collections import Counter

from tests.forked_child import BAD
from tests.pdf_mutants import differing, outcomes

COUNT = 200
SEED = 34
ISOLATED = 5
"""Mutants that the usual child reads, too."""
READ_LEAST = 0.5
"""The share of mutants that is read: most changes are small, and a reader that refuses them all reads nothing."""


def test_mutants_are_read_or_refused() -> None:
    results = Counter[str]()
    bad = []
    for number, mutant, outcome in outcomes(COUNT, SEED):
        results[outcome.result] += 1
        if outcome.result in BAD:
            bad.append(f"mutant {number} of {mutant.base!r} ({mutant.changes}): {outcome}")
    assert bad == []
    assert results.total() == COUNT
    assert results["read"] >= READ_LEAST * COUNT, results
    assert results["refused"] > 0, results


def test_a_fork_and_the_usual_child_come_to_the_same_end() -> None:
    assert list(differing(SEED, range(ISOLATED))) == []
