"""How the time and the peak memory of one piece of work grow with its rows.

A process for each size, all in turn.
"""

from __future__ import annotations

import ctypes
import math
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from mmap import PAGESIZE
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.questions import OURS, Prepared, Work, timed_in_turn

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FITTED = 3
"""An exponent is that of so many sizes, the largest: what a call costs whatever its rows hides the first."""
ROUNDS = 3
"""A round goes through all sizes, so that a drift of the machine's speed meets all."""


class Growing(NamedTuple):
    """The work over data of one size, made in the process that does it."""

    work: Callable[[], Any]
    check: Callable[[], Any]
    """AssertionError where the answer is wrong."""
    renew: Callable[[], Any] | None = None
    """Runs untimed ahead of every call: it brings new values."""


Make = Callable[[int, Path], Growing]
"""Makes the data of so many rows, its files in a folder of its own; the function of a module, which children import."""


def grown(make: Make, sizes: Sequence[int] = SIZES) -> Prepared:
    """The largest size as ours.

    Of all sizes seconds (medians), peak bytes over the data, and both exponents.
    """
    seconds: dict[int, list[float]] = {rows: [] for rows in sizes}
    with ExitStack() as stack:
        children, checked = {}, []
        for rows in sizes:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            children[rows] = stack.enter_context(pool)
            checked.append(pool.submit(_peak_bytes, make, sizes[0], rows, folder))  # at once: no time counts yet
        peaks = [child.result() for child in checked]
        for _ in range(ROUNDS):
            for rows, child in children.items():
                calls = round((sizes[-1] / rows) ** 0.5)  # the smaller, the noisier
                seconds[rows] += child.submit(_timed, calls).result()
    medians = [statistics.median(seconds[rows]) for rows in sizes]
    facts = {
        "rows": list(sizes),
        "seconds_by_rows": medians,
        "peak_bytes_by_rows": peaks,
        "time_exponent": exponent(sizes, medians),
        "memory_exponent": exponent(sizes, peaks),
    }
    note = f"grows with rows to the {facts['time_exponent']:.2f}, memory to the {facts['memory_exponent']:.2f}"
    return Prepared(works={OURS: seconds[sizes[-1]]}, note=note, facts=facts)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope between logarithms by least squares over the largest sizes.

    1 where a value grows as its size does.
    """
    points = [(math.log(size), math.log(value)) for size, value in zip(sizes, values, strict=True)]
    return statistics.linear_regression(*zip(*points[-FITTED:], strict=True)).slope


# In a child

growings: list[Growing] = []


def _peak_bytes(make: Make, least: int, rows: int, folder: Path) -> int:
    """Keeps the work of a size, its answer checked.

    Bytes at the peak of its first call over what was there before.
    """
    small = folder / "small"
    small.mkdir()
    make(least, small).work()  # modules and tables that come with the first call are no matter of rows
    own = make(rows, folder)
    growings.append(own)
    if own.renew is not None:
        own.renew()
    ctypes.CDLL(None).malloc_trim(0)  # or the work would find room in what the making of the data left behind
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status_bytes("VmRSS")
    kept = own.work()
    # Not ru_maxrss: a child has that of its parent as its least, and the making of the data would be in it.
    peak = _status_bytes("VmHWM") - before
    del kept
    own.check()
    return max(peak, PAGESIZE)  # what is less is not seen


def _status_bytes(name: str) -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[name].split()[0]) * 1024


def _timed(calls: int) -> list[float]:
    (own,) = growings
    return timed_in_turn({OURS: Work(own.work)}, repeats=calls, warm=0, before=own.renew)[OURS]
