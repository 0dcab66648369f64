"""Kernels over parts of the rows, by as many threads as pay."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from core.confined import here

THREADS_MAX: Final = 4


def threads_for(most: int) -> int:
    """Return how many threads to use where so many would pay.

    No more than processors; one in a confined child.
    """
    return 1 if here.confined or most < 2 else min(most, THREADS_MAX, len(os.sched_getaffinity(0)))


def by_threads(work: Callable[[int, int], None], count: int, most: int) -> None:
    """Call `work` with the bounds of shares of so many parts, each share by a thread."""
    threads = threads_for(most)
    bounds = [count * at // threads for at in range(threads + 1)]
    if threads == 1:
        work(0, count)
        return
    with ThreadPoolExecutor(threads - 1) as executor:
        others = [executor.submit(work, *bounds[at : at + 2]) for at in range(1, threads)]
        work(*bounds[:2])
        for future in others:
            future.result()
