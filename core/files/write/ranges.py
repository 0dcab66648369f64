"""Ranges of cells that must not meet."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from heapq import heappop, heappush

Range = tuple[int, int, int, int]
"""(first row, first column, last row, last column), 0-based and inclusive."""


def apart(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in the order of their first cells, without those that meet an earlier one."""
    kept: list[Range] = []
    open_: list[tuple[int, int]] = []  # columns of the kept ranges that reach the present row, from the left
    ends: list[tuple[int, tuple[int, int]]] = []
    for range_ in sorted(ranges):
        top, left, bottom, right = range_
        while ends and ends[0][0] < top:
            open_.remove(heappop(ends)[1])
        at = bisect_left(open_, (left, 0))
        if (at and open_[at - 1][1] >= left) or (at < len(open_) and open_[at][0] <= right):
            continue
        insort(open_, (left, right))
        heappush(ends, (bottom, (left, right)))
        kept.append(range_)
    return kept


def meet(one: Range, other_range: Range) -> bool:
    """Whether two ranges have a cell in common."""
    return (
        one[0] <= other_range[2] and other_range[0] <= one[2] and one[1] <= other_range[3] and other_range[1] <= one[3]
    )
