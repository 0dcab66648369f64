"""Runs one attempt of a job under its lease: completed, pending again, or failed."""

from __future__ import annotations

import asyncio
import re
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from service.platform import tracing
from service.platform.base.problem import Away, Unavailable
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.data.blobs import Damaged
from service.platform.metrics import DEAD_LETTERS, JOB_SECONDS, JOB_WAIT_SECONDS, JOBS_LOST
from service.platform.unit.context import Actor, Resources, Unit
from service.platform.unit.storage import report_damage
from service.platform.work.jobs import QUEUES, JobTable, PermanentError

QUEUES_MARKER: Final = "cushion:queues"
"""The key in Redis without which all jobs that wait are dispatched again."""
MAINTENANCE_SECONDS = 1.0
"""After which a job that waits for the end of maintenance is looked at again."""
SWITCHED_OFF_SECONDS = 10.0
"""After which a job that waits for its feature is looked at again."""
BACKOFF_SECONDS_MAX = 3600
MESSAGE_CHARACTERS = 2_000
TRACEBACK_CHARACTERS = 20_000
_SECRETS = ("secret_key", "system_api_key", "signing_passphrase", "llm_api_key")
_ADDRESSES = (
    "database_url",
    "replica_url",
    "migration_url",
    "redis_url",
    "blob_url",
    "smtp_url",
    "signing_url",
    "llm_url",
    "otlp_url",
)
"""Settings that are secret, and such as may hold a password."""
_PASSWORD = re.compile(r"(://[^\s/@:]*):[^\s/@]+@")

log = structlog.get_logger()


class LeaseLost(Exception):
    """Another worker has the job by now."""


class WorkerLost(Exception):
    """The worker that ran the job fell silent"""


class _Attempt(Struct):
    """A job that runs, as its row says."""

    tenant_id: UUID
    id: str
    attempt: int
    name: str
    queue: str
    arguments: dict[str, Any]
    asked_by: Actor
    request_id: str | None
    failures: int
    traceparent: str | None
    waited_seconds: float
    """Since it was due."""
    switches: int
    """Their version at this moment."""


class Runner:
    """Runs the jobs that a queue asks for."""

    def __init__(self, resources: Resources, table: JobTable) -> None:
        self._resources = resources
        self._table = table
        self._lease_seconds = resources.settings.job_lease_seconds
        self._most_seconds = resources.settings.run_seconds
        for name in table.jobs:  # exported as 0 before the first one: else its increase would not show
            DEAD_LETTERS.labels(name)
        for queue in QUEUES:
            JOBS_LOST.labels(queue)

    async def __call__(self, _: dict[Any, Any], tenant: str, job_id: str, attempt: int) -> str | None:
        """Run one attempt to its end; return its outcome, None if nothing was to do.

        Cancelled, as by a worker that stops, it gives the job back: no run has failed, and another process goes on at
        once.
        """
        tenant_id = UUID(tenant)
        try:
            return await self._run(tenant_id, job_id, attempt)
        except asyncio.CancelledError:
            await asyncio.shield(self._return(tenant_id, job_id, attempt))
            raise

    async def _run(self, tenant_id: UUID, job_id: str, attempt: int) -> str | None:
        try:
            job = await self._take(tenant_id, job_id, attempt)
        except Unavailable:
            await self._resources.redis.delete(QUEUES_MARKER)  # arq forgets what raised: have all dispatched again
            raise
        if job is None:
            return None
        structlog.contextvars.bind_contextvars(request_id=job.request_id, job_id=job_id, job=job.name)
        try:
            unit = self._unit(job)
            if (pause := await self._pause_seconds(unit, job)) is not None:
                await self._return(tenant_id, job_id, attempt, seconds=pause)
                return None
            JOB_WAIT_SECONDS.labels(job.queue).observe(job.waited_seconds)
            started, outcome = time.perf_counter(), "failed"
            try:
                outcome = await self._work_under_lease(unit, job)
            except asyncio.CancelledError:
                outcome = "returned"
                raise
            finally:
                JOB_SECONDS.labels(self._label(job.name), outcome).observe(time.perf_counter() - started)
            return outcome
        finally:
            structlog.contextvars.clear_contextvars()

    async def _work_under_lease(self, unit: Unit, job: _Attempt) -> str:
        """Do the work while a heartbeat renews the lease; return the outcome."""
        work = asyncio.ensure_future(asyncio.wait_for(self._work(unit, job), self._most_seconds))
        heartbeat = asyncio.ensure_future(self._heartbeat(job, work))
        try:
            await work
            log.info("job.completed", attempt=job.attempt)
            return "completed"
        except asyncio.CancelledError as stopped:
            await unit.rollback(stopped)
            if not heartbeat.done():
                raise
            log.warning("job.lease_lost", attempt=job.attempt)
            return "lost"
        except LeaseLost as error:
            await unit.rollback(error)
            log.warning("job.lease_lost", attempt=job.attempt)
            return "lost"
        except Away as error:  # which is no fault of the job
            await unit.rollback(error)
            log.info("job.postponed", attempt=job.attempt, seconds=error.seconds)
            await self._return(job.tenant_id, job.id, job.attempt, seconds=error.seconds)
            return "put_off"
        except Exception as error:
            await unit.rollback(error)
            await self._fail(job, error)
            if isinstance(error, Damaged):
                await report_damage(self._resources, error.key, unit.request_id)
            return "failed"
        finally:
            heartbeat.cancel()

    async def _pause_seconds(self, unit: Unit, job: _Attempt) -> float | None:
        """Return the pause of a job that may not begin now, or None.

        Its feature is switched off, or the deployment is under maintenance, during which nothing is dispatched anyway.
        """
        switches = self._resources.switches
        if job.switches != switches.state.version:
            await switches.look()
        if switches.maintenance is not None:
            return MAINTENANCE_SECONDS
        kind = self._table.jobs.get(job.name)
        return SWITCHED_OFF_SECONDS if kind and kind.flag and not unit.flag(kind.flag) else None

    async def _take(self, tenant_id: UUID, job_id: str, attempt: int) -> _Attempt | None:
        async with self._resources.database.transaction(tenant_id) as tx:
            job = await tx.fetch_one_or_none(
                _Attempt,
                """
                UPDATE jobs SET status = 'running', started_at = now(),
                                lease_until = now() + make_interval(secs => %s)
                WHERE id = %s AND attempt = %s AND status = 'queued'
                RETURNING tenant_id, id, attempt, name, queue, arguments, asked_by, request_id, failures, traceparent,
                          greatest(0, extract(epoch FROM now() - ready_at))::float8 AS waited_seconds,
                          (SELECT version FROM switches) AS switches
                """,
                [self._lease_seconds, job_id, attempt],
            )
        if job is not None and job.failures >= self._resources.settings.job_attempts:
            await self._fail(job, WorkerLost(WorkerLost.__doc__), is_counted=True)
            return None
        return job

    def _label(self, name: str) -> str:
        return name if name in self._table.jobs else "unknown"

    async def _work(self, unit: Unit, job: _Attempt) -> None:
        kind = self._table.jobs.get(job.name)
        if kind is None:
            raise LookupError(f"this worker knows no job {job.name}")
        try:
            with tracing.job(job.name, job.queue, job.id, job.attempt, job.traceparent):
                await kind.run(unit, job.arguments)
                await self._finish(unit, job, "completed", None)
                await unit.commit()
        finally:
            self._resources.sharing.announce_change(unit.tenant)

    async def _finish(self, unit: Unit, job: _Attempt, status: str, error: str | None) -> None:
        count = await unit.execute(
            """
            UPDATE jobs
            SET status = %s, error = %s, finished_at = now(), lease_until = NULL,
                failures = failures + (%s::text IS NOT NULL)::integer
            WHERE id = %s AND attempt = %s AND status = 'running'
            """,
            [status, error, error, job.id, job.attempt],
        )
        if not count:
            raise LeaseLost

    async def _heartbeat(self, job: _Attempt, work: asyncio.Future[None]) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                async with self._resources.database.transaction(job.tenant_id) as tx:
                    is_ours = await tx.execute(
                        """
                        UPDATE jobs SET lease_until = now() + make_interval(secs => %s)
                        WHERE id = %s AND attempt = %s AND status = 'running'
                        """,
                        [self._lease_seconds, job.id, job.attempt],
                    )
            except Unavailable:
                continue  # the lease decides
            if not is_ours:
                work.cancel()
                return

    async def _return(self, tenant_id: UUID, job_id: str, attempt: int, *, seconds: float = 0.0) -> None:
        async with self._resources.database.transaction(tenant_id) as tx:
            await tx.execute(
                """
                UPDATE jobs SET status = 'pending', ready_at = now() + make_interval(secs => %s), lease_until = NULL
                WHERE id = %s AND attempt = %s AND status = 'running'
                """,
                [seconds, job_id, attempt],
            )

    # A run that failed ------------------------------------------------------------------------------------------------

    async def _fail(self, job: _Attempt, error: Exception, *, is_counted: bool = False) -> None:
        """Have the job retried, or end it with a dead letter."""
        settings = self._resources.settings
        message = _storable(f"{type(error).__name__}: {error}")[:MESSAGE_CHARACTERS]
        failures = job.failures + (0 if is_counted else 1)
        final = isinstance(error, PermanentError | Damaged) or failures >= settings.job_attempts
        log.warning("job.failed", error=message, failures=failures, final=final)
        try:
            async with self._committed(job) as unit:
                if final:
                    await self._finish(unit, job, "failed", message)
                    await self._leave_error(unit, job, error)
                    await self._write_dead_letter(unit, job, failures, error)
                else:
                    pause = min(settings.job_backoff_seconds * 2 ** (failures - 1), BACKOFF_SECONDS_MAX)
                    await self._retry(unit, job, message, pause)
        except LeaseLost:
            return
        except Exception as raised:
            if not final or isinstance(raised, Unavailable):
                raise  # the lease runs out, and the job is dispatched again
            log.error("job.error_state_failed", error=repr(raised))
            with suppress(LeaseLost):  # a job whose error state fails too must not go round for ever
                async with self._committed(job) as unit:
                    await self._finish(unit, job, "failed", message)
                    await self._write_dead_letter(unit, job, failures, error)

    def _unit(self, job: _Attempt) -> Unit:
        return Unit(self._resources, job.tenant_id, request_id=job.request_id or job.id, asked_by=job.asked_by)

    @asynccontextmanager
    async def _committed(self, job: _Attempt) -> AsyncIterator[Unit]:
        unit = self._unit(job)
        try:
            yield unit
            await unit.commit()
        except BaseException as raised:
            await unit.rollback(raised)
            raise

    async def _retry(self, unit: Unit, job: _Attempt, message: str, pause_seconds: int) -> None:
        await unit.execute(
            """
            UPDATE jobs SET status = 'pending', failures = failures + 1, error = %s, lease_until = NULL,
                            ready_at = now() + make_interval(secs => %s)
            WHERE id = %s AND attempt = %s AND status = 'running'
            """,
            [message, pause_seconds, job.id, job.attempt],
        )

    async def _leave_error(self, unit: Unit, job: _Attempt, error: Exception) -> None:
        kind = self._table.jobs.get(job.name)
        if kind is not None:
            message = _storable(str(error))[:MESSAGE_CHARACTERS] or type(error).__name__
            await kind.on_failure(unit, job.arguments, message)

    async def _write_dead_letter(self, unit: Unit, job: _Attempt, failures: int, error: Exception) -> None:
        async def count() -> None:
            DEAD_LETTERS.labels(self._label(job.name)).inc()

        unit.after_commit(count)
        readable = partial(without_secrets, settings=unit.settings)
        await unit.execute(
            """
            INSERT INTO dead_letters (tenant_id, id, original_task_id, task_name, queue, arguments,
                                      exception_type, exception_message, traceback, retries_attempted, retry_count)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
                    coalesce((SELECT max(retry_count) FROM dead_letters WHERE retry_task_id = %s), 0))
            """,
            [
                unit.tenant,
                f"dlq_{new_id().hex}",
                job.id,
                job.name,
                job.queue,
                msgspec.json.encode(job.arguments).decode(),
                type(error).__name__,
                readable(_storable(str(error)))[:MESSAGE_CHARACTERS],
                readable(_storable("".join(traceback.format_exception(error))))[-TRACEBACK_CHARACTERS:],
                max(0, failures - 1),
                job.id,
            ],
        )


def _storable(text: str) -> str:
    """Return a text that PostgreSQL takes: no nulls, no half surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def without_secrets(text: str, settings: Settings) -> str:
    """Mask secrets and passwords in a text that a tenant's admins may read."""
    secrets = {getattr(settings, name) for name in _SECRETS}
    for address in filter(None, (getattr(settings, name) for name in _ADDRESSES)):
        with suppress(ValueError):
            password = urlsplit(address).password
            secrets |= {address, password, unquote(password or "")}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return _PASSWORD.sub(r"\1:***@", text)
