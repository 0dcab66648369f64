"""What a benchmark reports: our median, the peer's in the same run, and the target that they answer to."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct


class Figure(Struct, frozen=True, kw_only=True):
    """One measured line."""

    name: str
    seconds: float
    """Our median."""
    peer: str | None = None
    peer_seconds: float | None = None
    """The peer's median, in the same run."""
    ratio_least: float | None = None
    """Target: the peer's time over ours is at least this."""
    seconds_most: float | None = None
    """Target: our time is at most this."""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where the figure has none."""
        if self.ratio_least is not None and self.ratio is not None:
            return self.ratio >= self.ratio_least
        return None if self.seconds_most is None else self.seconds <= self.seconds_most

    def score(self, yardstick_seconds: float) -> float:
        """What the record keeps, more is better: the ratio to the peer, or without one to the yardstick of this run."""
        return self.ratio if self.ratio is not None else yardstick_seconds / self.seconds


def yardstick() -> float:
    """Seconds of a fixed piece of interpreter work: a time alone says as much of the machine as of what it timed.

    The least of many, since noise only adds: the median of a tenth of a second moved by a factor of two.
    """
    return min(median_seconds(lambda: [f"{number:.2f}" for number in range(20_000)], repeats=1) for _ in range(60))


def median_seconds(work: Callable[[], Any], *, repeats: int, warm: int = 1) -> float:
    """The median of `repeats` timed calls after `warm` untimed ones, the garbage collector off as in timeit."""
    return paired_seconds(work, repeats=repeats, warm=warm)[0]


def paired_seconds(
    *works: Callable[[], Any], repeats: int, warm: int = 1, before: Callable[[], Any] | None = None
) -> list[float]:
    """The medians of several works timed in turn, so that a drift of the machine's speed meets all of them.

    `before` runs untimed ahead of every turn: it brings new values.
    """
    taken: list[list[float]] = [[] for _ in works]
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(warm + repeats):
            if before is not None:
                before()
            for work, times in zip(works, taken, strict=True):
                start = time.perf_counter()
                work()
                times.append(time.perf_counter() - start)
    finally:
        if collecting:
            gc.enable()
    return [statistics.median(times[warm:]) for times in taken]
