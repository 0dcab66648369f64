"""A printed figure beside ours.

To the cent above and below the line, else to half a unit of the last printed digit.
"""

from __future__ import annotations

from typing import Any

from core.compliance.agreement import Ours, agreement_of, ties_of
from core.portfolio.model.facts import Fact
from tests.rows import every


def fact(value: float | None, decimals: int | None = 2, **parts: Any) -> Fact:
    return Fact(kind="test", label="Test", subject=None, value=value, place="'T'!C1", decimals=decimals, **parts)


OC = {"numerator": 375_659_873.18, "denominator": 262_100_000.0}


@every(
    "printed, ours, differs, agrees",
    [
        # Values alone: half a unit of the last printed digit.
        (fact(143.33), Ours(143.3269), None, True),
        (fact(143.33), Ours(143.3249), "value", False),
        (fact(8.9, 1), Ours(8.928), None, True),
        (fact(8.9, 2), Ours(8.928), "value", False),
        (fact(2972.0, 0), Ours(2971.6), None, True),
        (fact(None), Ours(1.0), None, None),
        (fact(1.0), None, None, None),
        # Amounts decide where both are printed, whatever the value's digits say.
        (fact(143.33, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), None, True),
        (fact(143.99, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), None, True),
        (fact(143.33, **OC), Ours(143.326930, 375_659_873.19, 262_100_000.0), "numerator", False),
        (fact(143.33, **OC), Ours(143.326926, 375_659_873.184, 262_100_000.0), None, True),
        (fact(143.33, **OC), Ours(140.0, 375_659_873.18, 268_328_480.8), "denominator", False),
        (fact(143.33, **OC), Ours(140.0, 370_000_000.0, 264_285_714.3), "numerator", False),
        # But a value that is far from them is none of theirs, and neither is an amount that is far from the value.
        (fact(140.99, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), "value", False),
        (fact(143.33, numerator=3_756_598_731.8, denominator=262_100_000.0),
         Ours(143.326926, 375_659_873.18, 262_100_000.0), "numerator", False),
        (fact(143.33, numerator=375_659_873.18, denominator=262_100.0),
         Ours(143.326926, 375_659_873.18, 262_100_000.0), "denominator", False),
        # One of the two alone: the value is looked at, too.
        (fact(9.84, numerator=36_950_336.27), Ours(9.836255, 36_950_336.27, 375_654_456.51), None, True),
        (fact(9.80, numerator=36_950_336.27), Ours(9.836255, 36_950_336.27, 375_654_456.51), "value", False),
        (fact(9.84, denominator=375_654_456.5), Ours(9.836255, 36_950_336.27, 375_654_456.51), "denominator", False),
        # A stored value with one digit fewer than it shows.
        (fact(8.9, 1, numerator=33_538_561.09, denominator=375_654_456.51),
         Ours(8.928035, 33_538_561.09, 375_654_456.51), None, True),
        # A share that is printed as zero is compared by its amounts.
        (fact(0.0, numerator=76_691.73, denominator=375_654_456.51),
         Ours(0.020415, 76_691.73, 375_654_456.51), None, True),
        (fact(0.0, numerator=0.0, denominator=375_654_456.51),
         Ours(0.5, 1_878_272.28, 375_654_456.51), "numerator", False),
        (fact(0.0, numerator=0.0, denominator=375_654_456.51), Ours(0.0, 0.0, 375_654_456.51), None, True),
        # Averages whose sum is printed as a part where ours is in percent.
        (fact(4.14, numerator=14_413_741.64, denominator=348_253_008.47),
         Ours(4.138870, 1_441_374_164.0, 348_253_008.47), None, True),
        (fact(61.5, 1, numerator=20_000_000.0, denominator=400_000_000.0), Ours(61.52, 1.0, 1.0), None, True),
        # The figure again in the column of numerators.
        (fact(4.14, numerator=4.14), Ours(4.138870, 1_441_374_164.0, 348_253_008.47), None, True),
        # What is no ratio is compared by its value.
        (fact(57.0, 0, numerator=57.0), Ours(57.17), None, True),
        (fact(57.0, 0, numerator=50.0, denominator=2.0), Ours(57.17, None, 2.0), None, True),
        (fact(57.0, 0, numerator=50.0, denominator=2.0), Ours(57.17, 50.0), None, True),
        (fact(57.0, 0, numerator=50.0, denominator=2.0), Ours(58.17, None, 2.0), "value", False),
    ],
)  # fmt: skip
def test_a_printed_figure_beside_ours(printed: Fact, ours: Ours | None, differs: str | None, agrees: Any) -> None:
    agreement = agreement_of(printed, ours)
    assert (agreement.differs, agreement.agrees) == (differs, agrees)


@every(
    "printed, ours, parts",
    [
        (fact(143.33), Ours(143.3269), {"value"}),
        (fact(143.33), Ours(143.3249), set()),
        (fact(None, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), set()),
        (fact(143.33, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), {"value", "numerator", "denominator"}),
        (fact(143.99, **OC), Ours(143.326926, 375_659_873.18, 262_100_000.0), {"numerator", "denominator"}),
        (fact(143.33, **OC), Ours(143.326930, 375_659_873.19, 262_100_000.0), {"value", "denominator"}),
        (fact(143.33, **OC), Ours(140.0, 375_659_873.18, 268_328_480.8), {"numerator"}),
        (fact(143.33, **OC), Ours(143.326926), {"value"}),
        (fact(9.84, numerator=36_950_336.27), Ours(9.836255, 36_950_336.27, 375_654_456.51), {"value", "numerator"}),
        (fact(4.14, numerator=4.14), Ours(4.138870, 1_441_374_164.0, 348_253_008.47), {"value"}),
    ],
)  # fmt: skip
def test_the_parts_of_a_printed_figure_that_are_ours(printed: Fact, ours: Ours, parts: set[str]) -> None:
    assert ties_of(printed, ours) == parts
