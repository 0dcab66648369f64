"""Ranges of cells that must not meet."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from heapq import heappop, heappush

Range = tuple[int, int, int, int]
"""(first row, first column, last row, last column), 0-based and inclusive."""


def disjoint(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in the order of their first cells, without those that meet an earlier one."""
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


def meet(first: Range, second: Range) -> bool:
    """Return whether two ranges have a cell in common."""
    return first[0] <= second[2] and second[0] <= first[2] and first[1] <= second[3] and second[1] <= first[3]
