"""Which lines of a calculation are sums of those around them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

LINES_MAX: Final = 400
"""Lines of one block that are added up; what stands below them is in no sum."""

PARTS_MAX: Final = 60
"""Lines and subtotals of one sum."""

LINE_TOLERANCE: Final = 0.006
"""Currency units that each line of a sum may be rounded by."""

LEAST_WITHOUT_WORD: Final = 3
"""Distinct amounts, the total among them, that a sum without the word total has: of fewer, one repeats another."""


@dataclass(frozen=True, slots=True)
class SignedAmount:
    """One line of a calculation."""

    value: float
    """Currency units, as printed."""
    is_less: bool = False
    """Its words or its section say that it is taken off, whatever its sign is."""
    is_total: bool = False
    """Its words say that it is a total."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A line that is the sum of others of its block."""

    at: int
    """The line with the sum."""
    parts: tuple[tuple[int, float], ...]
    """Each line of the sum, subtotals as one, and what it adds, deductions below zero."""


def sums_of(amounts: Sequence[SignedAmount]) -> tuple[Sum, ...]:
    """Return the sums of one block, inner ones first.

    Of the lines above, or where no total stands below, of those below.

    A line that is the sum of the last lines closes them and counts as one from there on. As many lines as fit are
    taken; signs as printed go before deductions as such. A zero is a sum only where it says so.
    """
    amounts = amounts[:LINES_MAX]
    sums = _close_sums(amounts)
    if sums:
        return sums
    last = len(amounts) - 1
    turned = _close_sums(amounts[::-1])
    return tuple(
        Sum(last - sum_below.at, tuple((last - at, signed) for at, signed in reversed(sum_below.parts)))
        for sum_below in turned
    )


def leaves(sums: Sequence[Sum], at: int) -> tuple[tuple[int, float], ...]:
    """Return a sum's lines that are no sums themselves, and what each adds."""
    by_line = {sum_value.at: sum_value for sum_value in sums}

    def walk(line: int, added: float) -> list[tuple[int, float]]:
        inner = by_line.get(line)
        if inner is None:
            return [(line, added)]
        turned = -1.0 if added * added_up(inner) < 0 else 1.0
        return [leaf for part, amount in inner.parts for leaf in walk(part, amount * turned)]

    return tuple(walk(at, added_up(by_line[at]))) if at in by_line else ()


def added_up(sum_above: Sum) -> float:
    """Return what the parts of a sum add up to."""
    return sum(amount for _, amount in sum_above.parts)


def adds_up(total: float, parts: Sequence[float], tolerance: float = LINE_TOLERANCE) -> bool:
    """Return whether amounts make a total, each rounded by at most the tolerance."""
    return abs(total - sum(parts)) <= tolerance * (len(parts) + 1)


def _close_sums(amounts: Sequence[SignedAmount]) -> tuple[Sum, ...]:
    """Return the sums of the lines above each line."""
    stack: list[int] = []
    sums: dict[int, Sum] = {}
    for at, amount in enumerate(amounts):
        parts = _parts(amounts, stack, amount, sums.keys())
        if parts:
            sums[at] = Sum(at, parts)
            del stack[len(stack) - len(parts) :]
        stack.append(at)
    return tuple(sums.values())


def _parts(
    amounts: Sequence[SignedAmount], stack: list[int], total: SignedAmount, known: AbstractSet[int]
) -> tuple[tuple[int, float], ...]:
    """Return the most of the last lines that make a total; none where none do.

    `known`: lines that are sums. Where one is among the parts, a repetition of it beside zeros is a sum too.
    """
    if total.value == 0.0 and not total.is_total:
        return ()
    for signed in (_as_printed, _deduct):
        best, added, distinct, is_named = 0, 0.0, {abs(total.value)}, total.is_total
        for count, line in enumerate(reversed(stack[-PARTS_MAX:]), 1):
            added += signed(amounts[line])
            is_named |= line in known
            if amounts[line].value:
                distinct.add(abs(amounts[line].value))
            if abs(added - total.value) <= LINE_TOLERANCE * (count + 1) and (
                is_named or len(distinct) >= LEAST_WITHOUT_WORD
            ):
                best = count
        if best:
            return tuple((line, signed(amounts[line])) for line in stack[len(stack) - best :])
    return ()


def _as_printed(amount: SignedAmount) -> float:
    return amount.value


def _deduct(amount: SignedAmount) -> float:
    return -abs(amount.value) if amount.is_less else amount.value
