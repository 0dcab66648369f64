"""Sums of lines: signs as printed and as deductions, subtotals within totals, totals above, and what is chance."""

from __future__ import annotations

import random

import pytest

from core.portfolio.pages.report.adding import SignedAmount, Sum, leaves, sums_of
from tests.rows import every

PLAIN = [SignedAmount(100.0), SignedAmount(20.5), SignedAmount(120.5)]
PRINTED_NEGATIVE = [SignedAmount(100.0), SignedAmount(-20.5, is_less=True), SignedAmount(79.5)]
PRINTED_PLAIN = [SignedAmount(100.0), SignedAmount(20.5, is_less=True), SignedAmount(79.5)]
NESTED = [
    SignedAmount(100.0), SignedAmount(20.5), SignedAmount(120.5),
    SignedAmount(7.0, is_less=True), SignedAmount(4.0, is_less=True),
    SignedAmount(11.0, is_less=True), SignedAmount(109.5),
]  # fmt: skip


@every("amounts, at, parts", [
    (PLAIN, 2, ((0, 100.0), (1, 20.5))),
    (PRINTED_NEGATIVE, 2, ((0, 100.0), (1, -20.5))),
    (PRINTED_PLAIN, 2, ((0, 100.0), (1, -20.5))),
    (NESTED, 6, ((0, 100.0), (1, 20.5), (3, -7.0), (4, -4.0))),
    ([PLAIN[2], *PLAIN[:2]], 0, ((1, 100.0), (2, 20.5))),
    ([SignedAmount(5.0), *PLAIN], 3, ((1, 100.0), (2, 20.5))),
    ([SignedAmount(0.0), *PLAIN], 3, ((0, 0.0), (1, 100.0), (2, 20.5))),
    ([SignedAmount(7.0), SignedAmount(0.0), SignedAmount(7.0, is_total=True)], 2, ((0, 7.0), (1, 0.0))),
    ([*PLAIN, SignedAmount(0.0), SignedAmount(120.5)], 4, ((0, 100.0), (1, 20.5), (3, 0.0))),
])  # fmt: skip
def test_sums(amounts: list[SignedAmount], at: int, parts: tuple[tuple[int, float], ...]) -> None:
    """The lines that make a total, and what each adds to it."""
    assert leaves(sums_of(amounts), at) == parts


@every("amounts", [
    [SignedAmount(7.0), SignedAmount(0.0), SignedAmount(7.0)],
    [SignedAmount(7.0), SignedAmount(7.0)],
    [SignedAmount(1.0), SignedAmount(-1.0), SignedAmount(0.0)],
    [SignedAmount(100.0), SignedAmount(20.5), SignedAmount(120.6)],
    [],
])  # fmt: skip
def test_no_sums(amounts: list[SignedAmount]) -> None:
    """A repeated amount, a zero and what misses by a dime are no sums."""
    assert sums_of(amounts) == ()


def test_a_zero_is_a_sum_where_it_says_so() -> None:
    assert sums_of([SignedAmount(0.0), SignedAmount(0.0), SignedAmount(0.0, is_total=True)]) == (
        Sum(2, ((0, 0.0), (1, 0.0))),
    )


@pytest.mark.parametrize("seed", range(20))
def test_random_blocks(seed: int) -> None:
    """Blocks of up to three sections with subtotals, any of them deductions, printed with either sign."""
    draw = random.Random(seed)
    amounts: list[SignedAmount] = []
    expected: dict[int, float] = {}
    grand = 0.0
    for section in range(draw.randint(1, 3)):
        is_less = section > 0 and draw.random() < 0.5
        sign = draw.choice((1.0, -1.0)) if is_less else 1.0
        whole = 0.0
        for _ in range(draw.randint(2, 5)):
            value = round(draw.uniform(1e4, 1e8), 2)
            expected[len(amounts)] = -value if is_less else value
            whole += value
            amounts.append(SignedAmount(sign * value, is_less))
        amounts.append(SignedAmount(round(sign * whole, 2), is_less, is_total=True))
        grand += -whole if is_less else whole
    amounts.append(SignedAmount(round(grand, 2), is_total=True))
    assert leaves(sums_of(amounts), len(amounts) - 1) == tuple(expected.items())
