"""A job is a row too: written with its record, dispatched, leased, retried.

    pending ──claim──▶ queued ──take──▶ running ──▶ completed
       ▲                  │                │ └─────▶ failed (and a dead letter)
       └─ lease over, Redis flushed, run raised ─┘

PostgreSQL has the truth; arq and Redis only carry `(tenant, job, attempt)` to a worker (`queues`). A message that
arrives twice, or late, finds another attempt in the row and does nothing. So whoever writes to Redis can have no code
run, and no job but the one that is due. `runner` runs an attempt; this module has the kinds of jobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from service.platform.base.flags import FLAGS
from service.platform.unit.context import Resources, Unit

QUEUES = ("default", "calculate", "parse", "priority", "export", "webhooks")
SMALL_BYTES: Final = 1024 * 1024
"""The largest upload that an API process reads itself while no worker does, all of its files together."""
SMALL_ROWS: Final = 5_000
"""The most rows of a workbook that it exports so, all of its sheets together."""

Run = Callable[[Unit, dict[str, Any]], Awaitable[None]]
OnFailure = Callable[[Unit, dict[str, Any], str], Awaitable[None]]
OnRetry = Callable[[Unit, dict[str, Any], str], Awaitable[bool]]


class PermanentError(Exception):
    """Raised by a job that would always fail: it becomes a dead letter at once."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of background work.

    `run` may be called again after a crash at any point, so it repeats without harm.
    """

    name: str
    run: Run
    on_failure: OnFailure
    """Leaves the record in its error state, in the transaction that writes the dead letter."""
    on_retry: OnRetry | None = None
    """Takes the record out of its error state, in the transaction that writes the next job, whose identifier it gets.
    False, or a Problem: the record cannot be taken up any more. None: work of this kind is not retried by hand."""
    flag: str | None = None
    """The feature flag that it waits for."""


async def accept_retry(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Accept a retry by hand: the record needs no change, or the job changes it."""
    return True


@dataclass(slots=True)
class JobTable:
    """The jobs of an area, or of the whole service."""

    jobs: dict[str, JobKind] = field(default_factory=dict)

    def job(
        self, name: str, *, on_failure: OnFailure, on_retry: OnRetry | None = None, flag: str | None = None
    ) -> Callable[[Run], Run]:
        """Declare a job `run(unit, arguments)`; effects and final state commit together."""

        def declare(run: Run) -> Run:
            assert name not in self.jobs, f"two jobs are called {name}"
            assert flag is None or flag in FLAGS, f"{name}: there is no flag {flag}"
            self.jobs[name] = JobKind(name, run, on_failure, on_retry, flag)
            return run

        return declare


def table_of(resources: Resources) -> Callable[[], JobTable]:
    """Return the table of all jobs in a process that runs none."""
    return JobTable
