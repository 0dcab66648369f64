"""Running a suite over a stranger's pool in a child process with limits."""

from __future__ import annotations

import pickle
from datetime import date
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from core.compliance.result import Results, RunFigures, Skipped, TestResult
from core.confined.run import run
from core.confined.table import GIGABYTE, ConfinedWork, Texts
from core.pool.source import SPANS_MAX
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource

POOL_ADDRESS_BYTES_MAX: Final = 6 * GIGABYTE
"""Address space of the child, beside that of its threads.

What it fills is less: of 1.7 GB at 5,000,000 loans it fills 0.5, since Arrow's allocator reserves 1 GB at its start.
"""

POOL_THREAD_BYTES_MAX: Final = GIGABYTE // 2
"""Address space of each thread: its stack, its allocator's reserve, and the part that it adds up."""

POOL_SECONDS_MAX: Final = 24 * 3600.0
"""Time of a run, on the wall and of its processors together."""


class PoolOrder(Struct, frozen=True, kw_only=True):
    """A pool and what is asked of it."""

    path: str
    suite: str
    options: bytes
    """A pickle of the options of `core.pool.run.run_pool`, which our own process wrote."""
    threads: int


class PoolAnswer(Struct, frozen=True, kw_only=True):
    """The results of a pool, as `core.compliance.result.Results` is made of them."""

    results: list[TestResult]
    skipped: list[Skipped]
    as_of: date | None
    as_of_source: AsOfSource | None
    warnings: list[DataWarning]
    figures: dict[str, float]

    def as_results(self) -> Results:
        """Return them as a run gives them."""
        return Results(
            self.results,
            self.skipped,
            as_of=self.as_of,
            as_of_source=self.as_of_source,
            warnings=self.warnings,
            figures=RunFigures(self.figures),
        )


POOL: Final = ConfinedWork(
    does="core.pool.confined.run",
    order=PoolOrder,
    answer=PoolAnswer,
    refusals=("core.pool.source.PoolRefused",),
    texts=Texts(
        "The pool takes longer than the limit of {:g} seconds (POOL_SECONDS_MAX): run parts of it.",
        "The pool needs more memory than the limit of {:,} bytes (POOL_ADDRESS_BYTES_MAX): run parts of it.",
        "The pool's reader stopped before its end: a file is damaged, or the reader ran out of memory "
        "(POOL_ADDRESS_BYTES_MAX). Check the files, or run parts of the pool.",
    ),
    memory_bytes_max=POOL_ADDRESS_BYTES_MAX,
    seconds_max=POOL_SECONDS_MAX,
)


def run_pool_isolated(
    path: Path,
    suite: str = "standard",
    *,
    threads: int,
    memory_bytes_max: int | None = None,
    seconds_max: float = POOL.seconds_max,
    **options: Any,
) -> Results:
    """Run a suite over a pool in a child process that reads nothing else.

    A link in a folder that leads out of it cannot be read.

    Args:
        memory_bytes_max: address space; None is `POOL_ADDRESS_BYTES_MAX` and `POOL_THREAD_BYTES_MAX` for each thread.
        options: those of `core.pool.run.run_pool`.

    Raises:
        PoolRefused: as `run_pool`; or the child crashed, or passed a limit.
        OSError: a file cannot be opened; `core.confined.run.ChildKilled` where the child was ended from outside.
    """
    threads = min(threads, SPANS_MAX)  # no more parts are added up at once
    order = PoolOrder(path=str(path.absolute()), suite=suite, options=pickle.dumps(options), threads=threads)
    if memory_bytes_max is None:
        memory_bytes_max = POOL.memory_bytes_max + threads * POOL_THREAD_BYTES_MAX
    answer = run(POOL, order, reads=(order.path,), memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)
    return answer.as_results()
