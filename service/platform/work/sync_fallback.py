"""Small jobs that an API process runs while no worker does, and their breaker.

A worker says in Redis every few seconds that it lives. Where Redis is away, or none has said so while a job is due, the
breaker of the task queue opens, and this process claims small jobs from PostgreSQL: the same rows, run by the same
runner under the same lease, so that a worker that returns does none of them twice.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog
from msgspec import Struct
from redis.exceptions import RedisError

from service.platform.base.problem import Problem, Unavailable
from service.platform.data.breaker_sharing import SyncCounts
from service.platform.unit.context import Resources
from service.platform.work.jobs import JobTable
from service.platform.work.queues import ClaimedJob
from service.platform.work.runner import Runner

ALIVE: Final = "cushion:workers:alive"
ALIVE_SECONDS: Final = 5.0
"""Between two signs of a worker's life."""
SILENCE_SECONDS: Final = 15
"""After which no worker is there."""
IDLE_SECONDS: Final = 30.0
"""Between two looks of an API process where no job is written."""
WATCHED_SECONDS: Final = SILENCE_SECONDS + 10.0
"""For which a job that was written has the workers looked after."""
TURN_SECONDS: Final = 1.0
"""Between two claims."""
COUNTING_SECONDS: Final = 2.0

log = structlog.get_logger()


class NoWorker(Exception):
    """No worker lives, and jobs are due"""


class DueJob(Struct, frozen=True):
    """How many jobs could begin."""

    small: int = 0
    large: int = 0


class SyncFallback:
    """Runs the jobs of one API process in place of a worker."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._breaker = resources.breakers["task_queue"]
        self.enabled = resources.settings.sync_fallback
        self.places = resources.settings.sync_fallback_jobs
        self.active = False
        """Whether jobs are taken at this moment."""
        self._running: set[asyncio.Task[None]] = set()
        self._completed = self._failed = 0
        resources.sharing.sync = lambda: self.counts

    @property
    def counts(self) -> SyncCounts:
        """What this process reports of them."""
        return SyncCounts(
            active=self.active, running=len(self._running), completed=self._completed, failed=self._failed
        )

    async def due(self) -> DueJob | None:
        """Return how many jobs wait; None while the database does not answer."""
        try:
            async with asyncio.timeout(COUNTING_SECONDS), self._resources.database.transaction() as tx:
                return await tx.fetch_one(DueJob, "SELECT small, large FROM jobs_due()", missing=Unavailable)
        except (TimeoutError, Problem):
            return None

    async def run(self, table: JobTable) -> None:
        """Watch the workers, and run small jobs while there is none, until cancelled."""
        runner, loop, looked = Runner(self._resources, table), asyncio.get_running_loop(), 0.0
        watched_until = loop.time() + WATCHED_SECONDS  # jobs may have waited before this process began
        try:
            while True:
                if self._breaker.is_closed and loop.time() > watched_until:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(IDLE_SECONDS):
                            await self._resources.enqueued.wait()
                if self._resources.enqueued.is_set():
                    self._resources.enqueued.clear()
                    watched_until = loop.time() + WATCHED_SECONDS
                await asyncio.sleep(TURN_SECONDS)
                if loop.time() - looked >= ALIVE_SECONDS or not self._resources.breakers["cache"].is_closed:
                    looked = loop.time()
                    await self._check_workers()
                switched_on = self._resources.switches.state.is_on("sync_fallback")
                self.active = self.enabled and switched_on and not self._breaker.is_closed
                if self.active:
                    await self._take(runner)
        finally:
            for task in self._running:
                task.cancel()  # the runner gives its job back
            await asyncio.gather(*self._running, return_exceptions=True)

    async def _check_workers(self) -> None:
        """Check whether a worker lives, or would be missed."""
        passed = self._breaker.enter()
        if not passed:
            return
        try:
            alive = await self._resources.pipeline("EXISTS", ALIVE)
        except RedisError as error:
            self._breaker.fail(passed, type(error).__name__)
            return
        except BaseException:
            self._breaker.abandon(passed)
            raise
        if alive:
            self._breaker.succeed(passed)
        elif not self._breaker.is_closed or await self._is_missed():
            self._breaker.fail(passed, NoWorker.__name__)

    async def _is_missed(self) -> bool:
        due = await self.due()
        return due is not None and due.small + due.large > 0

    async def _take(self, runner: Runner) -> None:
        free = self.places - len(self._running)
        if free <= 0 or self._resources.memory.is_short or not self._resources.breakers["database"].is_closed:
            return
        try:
            async with self._resources.database.transaction() as tx:
                await tx.execute("SELECT reap_jobs(false)")
                claimed = await tx.fetch_all(
                    ClaimedJob,
                    "SELECT * FROM claim_small_jobs(%s, %s)",
                    [free, self._resources.settings.job_lease_seconds],
                )
        except Problem as error:
            log.warning("sync_fallback.cannot_claim", error=type(error).__name__)
            return
        for job in claimed:
            task = asyncio.create_task(self._do(runner, job))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _do(self, runner: Runner, job: ClaimedJob) -> None:
        log.info("sync_fallback.job", job_id=job.id, queue=job.queue, attempt=job.attempt)
        try:
            outcome = await runner({}, str(job.tenant_id), job.id, job.attempt)
        except Exception as error:  # its lease ends, and it is taken again
            log.warning("sync_fallback.failed", job_id=job.id, error=type(error).__name__)
            outcome = "failed"
        self._completed += outcome == "completed"
        self._failed += outcome == "failed"


async def report_alive(resources: Resources, stopping: asyncio.Event) -> None:
    """Report that this worker lives, until it stops."""
    while not stopping.is_set():
        with suppress(RedisError):
            await resources.pipeline("SET", ALIVE, "1", "EX", SILENCE_SECONDS)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), ALIVE_SECONDS)
