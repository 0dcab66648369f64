"""A job is a row too: written with the record that it works on, handed to a queue, leased, retried, never lost.

    pending ──claim──▶ queued ──take──▶ running ──▶ completed
       ▲                  │                │ └─────▶ failed (and a dead letter)
       └──── lease over, Redis flushed, run raised ─┘

PostgreSQL has the truth; arq and Redis only carry `(tenant, job, attempt)` to a worker. A hand-over that arrives twice,
or late, finds another attempt in the row and does nothing. So whoever writes to Redis can have no code run, and no job
but the one that is due; what is no hand-over of ours is dropped.
"""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, cast
from urllib.parse import unquote, urlsplit
from uuid import UUID

import msgspec
import psycopg
import structlog
from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix, job_key_prefix, retry_key_prefix
from arq.worker import Worker, func
from msgspec import Meta, Struct
from redis.exceptions import RedisError, ResponseError

from service.platform.access.secrets import new_id
from service.platform.config import Settings
from service.platform.context import Actor, Resources, Unit
from service.platform.data.blobs import Damaged
from service.platform.data.storage import report
from service.platform.http.problem import Unavailable

QUEUES = ("default", "calculate", "parse", "priority", "export", "webhooks")
CLAIM_BATCH = 100
WAITING_LEASES = 10
"""A job may wait in Redis for this many leases before it counts as lost there; a flush is noticed at once."""
MARKER = "cushion:queues"
RUN: Final = "run"
"""The one function that a queue may ask for."""
MOST_ATTEMPT = 2**31 - 1  # the column's
MOST_MILLISECONDS = 10**13  # the year 2286, since 1970
_ARQ_NAME = re.compile(rb"task_[0-9a-f]{32}:[0-9]{1,10}")
_ARQ_PREFIXES = (job_key_prefix, in_progress_key_prefix, retry_key_prefix)
"""Of the keys that arq has of a job."""
POLL_SECONDS = 1.0
MOST_BACKOFF_SECONDS = 3600
MESSAGE_CHARACTERS = 2_000
TRACEBACK_CHARACTERS = 20_000
_SECRETS = ("secret_key", "system_api_key", "signing_passphrase", "llm_api_key")
_ADDRESSES = ("database_url", "migration_url", "redis_url", "blob_url", "smtp_url", "signing_url", "llm_url")
"""Settings that are secret, and such as may hold a password."""
_PASSWORD = re.compile(r"(://[^\s/@:]*):[^\s/@]+@")

log = structlog.get_logger()

Run = Callable[[Unit, dict[str, Any]], Awaitable[None]]
Failed = Callable[[Unit, dict[str, Any], str], Awaitable[None]]
Lifted = Callable[[Unit, dict[str, Any], str], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of background work. `run` may be called again after a crash at any point, so it repeats without harm."""

    name: str
    run: Run
    failed: Failed
    """Leaves the record in its error state, in the transaction that writes the dead letter."""
    lifted: Lifted | None = None
    """Takes the record out of its error state, in the transaction that writes the next job, whose identifier it is
    given. False, or a Problem: the record cannot be taken up any more. None: work of this kind is not given back."""


async def nothing_to_lift(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """No record waits for the job, or the job takes it up by itself."""
    return True


@dataclass(slots=True)
class JobTable:
    """The jobs of an area, or of the whole service."""

    jobs: dict[str, Job] = field(default_factory=dict)

    def job(self, name: str, *, failed: Failed, lifted: Lifted | None = None) -> Callable[[Run], Run]:
        """Declare a job: `run(unit, arguments)`; its effects and its final state commit together."""

        def declare(run: Run) -> Run:
            assert name not in self.jobs, f"two jobs are called {name}"
            self.jobs[name] = Job(name, run, failed, lifted)
            return run

        return declare


def table_of(resources: Resources) -> Callable[[], JobTable]:
    """Where a process that runs no jobs finds them all: the API puts its own answer into `Resources.opened`."""
    return JobTable


class _Taken(Struct):
    name: str
    queue: str
    arguments: dict[str, Any]
    asked_by: Actor
    request_id: str | None
    failures: int


class _Claimed(Struct):
    tenant_id: UUID
    id: str
    queue: str
    attempt: int


class _Reaped(Struct):
    id: str
    queue: str
    attempt: int


class LeaseLost(Exception):
    """Another worker has the job by now."""


class WorkerLost(Exception):
    """The worker that ran the job fell silent"""


class Hopeless(Exception):
    """Raised by a job that would fail at every further attempt too: it becomes a dead letter at once."""


class Runner:
    """Runs the jobs that a queue hands over."""

    def __init__(self, resources: Resources, table: JobTable) -> None:
        self._resources = resources
        self._table = table
        self._lease_seconds = resources.settings.job_lease_seconds
        self._most_seconds = resources.settings.run_seconds

    async def __call__(self, _: dict[Any, Any], tenant: str, job_id: str, attempt: int) -> None:
        """Run one attempt to its end: completed, pending again, or failed."""
        tenant_id = UUID(tenant)
        try:
            taken = await self._take(tenant_id, job_id, attempt)
        except Unavailable:
            await self._resources.redis.delete(MARKER)  # arq forgets what raised: have all that waits handed over again
            raise
        if taken is None:
            return
        structlog.contextvars.bind_contextvars(request_id=taken.request_id, job_id=job_id, job=taken.name)
        unit = self._unit(tenant_id, taken, job_id)
        work = asyncio.ensure_future(asyncio.wait_for(self._work(unit, taken, job_id, attempt), self._most_seconds))
        beat = asyncio.ensure_future(self._heartbeat(tenant_id, job_id, attempt, work))
        try:
            await work
            log.info("job.completed", attempt=attempt)
        except asyncio.CancelledError as stopped:
            await unit.rollback(stopped)
            if not beat.done():  # the worker is stopping: the next one goes on at once
                await asyncio.shield(self._return(tenant_id, job_id, attempt))
                raise
            log.warning("job.lease_lost", attempt=attempt)
        except LeaseLost as error:
            await unit.rollback(error)
            log.warning("job.lease_lost", attempt=attempt)
        except Exception as error:
            await unit.rollback(error)
            await self._failed_run(tenant_id, taken, job_id, attempt, error)
            if isinstance(error, Damaged):
                await report(self._resources, error.key, unit.request_id)
        finally:
            beat.cancel()
            structlog.contextvars.clear_contextvars()

    async def _take(self, tenant_id: UUID, job_id: str, attempt: int) -> _Taken | None:
        async with self._resources.database.transaction(tenant_id) as tx:
            taken = await tx.one_or_none(
                _Taken,
                """
                UPDATE jobs SET status = 'running', lease_until = now() + make_interval(secs => %s)
                WHERE id = %s AND attempt = %s AND status = 'queued'
                RETURNING name, queue, arguments, asked_by, request_id, failures
                """,
                [self._lease_seconds, job_id, attempt],
            )
        if taken is not None and taken.failures >= self._resources.settings.job_attempts:
            await self._failed_run(tenant_id, taken, job_id, attempt, WorkerLost(WorkerLost.__doc__), counted=True)
            return None
        return taken

    async def _work(self, unit: Unit, taken: _Taken, job_id: str, attempt: int) -> None:
        job = self._table.jobs.get(taken.name)
        if job is None:
            raise LookupError(f"this worker knows no job {taken.name}")
        await job.run(unit, taken.arguments)
        await self._finish(unit, job_id, attempt, "completed", None)
        await unit.commit()

    async def _finish(self, unit: Unit, job_id: str, attempt: int, status: str, error: str | None) -> None:
        done = await unit.execute(
            """
            UPDATE jobs
            SET status = %s, error = %s, finished_at = now(), lease_until = NULL,
                failures = failures + (%s::text IS NOT NULL)::integer
            WHERE id = %s AND attempt = %s AND status = 'running'
            """,
            [status, error, error, job_id, attempt],
        )
        if not done:
            raise LeaseLost

    async def _heartbeat(self, tenant_id: UUID, job_id: str, attempt: int, work: asyncio.Future[None]) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                async with self._resources.database.transaction(tenant_id) as tx:
                    held = await tx.execute(
                        """
                        UPDATE jobs SET lease_until = now() + make_interval(secs => %s)
                        WHERE id = %s AND attempt = %s AND status = 'running'
                        """,
                        [self._lease_seconds, job_id, attempt],
                    )
            except Unavailable:
                continue  # the lease decides
            if not held:
                work.cancel()
                return

    async def _return(self, tenant_id: UUID, job_id: str, attempt: int) -> None:
        async with self._resources.database.transaction(tenant_id) as tx:
            await tx.execute(
                """
                UPDATE jobs SET status = 'pending', ready_at = now(), lease_until = NULL
                WHERE id = %s AND attempt = %s AND status = 'running'
                """,
                [job_id, attempt],
            )

    async def _failed_run(
        self, tenant_id: UUID, taken: _Taken, job_id: str, attempt: int, error: Exception, *, counted: bool = False
    ) -> None:
        message = _storable(f"{type(error).__name__}: {error}")[:MESSAGE_CHARACTERS]
        failures = taken.failures + (0 if counted else 1)
        final = isinstance(error, Hopeless | Damaged) or failures >= self._resources.settings.job_attempts
        log.warning("job.failed", error=message, failures=failures, final=final)
        pause = min(self._resources.settings.job_backoff_seconds * 2 ** (failures - 1), MOST_BACKOFF_SECONDS)
        try:
            async with self._committed(tenant_id, taken, job_id) as unit:
                if final:
                    await self._finish(unit, job_id, attempt, "failed", message)
                    await self._leave_error(unit, taken, error)
                    await self._bury(unit, taken, job_id, failures, error)
                else:
                    await self._retry(unit, job_id, attempt, message, pause)
        except LeaseLost:
            return
        except Exception as raised:
            if not final or isinstance(raised, Unavailable):
                raise  # the lease runs out, and the job is handed over again
            log.error("job.error_state_failed", error=repr(raised))
            with suppress(LeaseLost):  # a job that cannot even say that it failed must not go round for ever
                async with self._committed(tenant_id, taken, job_id) as unit:
                    await self._finish(unit, job_id, attempt, "failed", message)
                    await self._bury(unit, taken, job_id, failures, error)

    def _unit(self, tenant_id: UUID, taken: _Taken, job_id: str) -> Unit:
        return Unit(self._resources, tenant_id, request_id=taken.request_id or job_id, asked_by=taken.asked_by)

    @asynccontextmanager
    async def _committed(self, tenant_id: UUID, taken: _Taken, job_id: str) -> AsyncIterator[Unit]:
        unit = self._unit(tenant_id, taken, job_id)
        try:
            yield unit
            await unit.commit()
        except BaseException as raised:
            await unit.rollback(raised)
            raise

    async def _retry(self, unit: Unit, job_id: str, attempt: int, message: str, pause_seconds: int) -> None:
        await unit.execute(
            """
            UPDATE jobs SET status = 'pending', failures = failures + 1, error = %s, lease_until = NULL,
                            ready_at = now() + make_interval(secs => %s)
            WHERE id = %s AND attempt = %s AND status = 'running'
            """,
            [message, pause_seconds, job_id, attempt],
        )

    async def _leave_error(self, unit: Unit, taken: _Taken, error: Exception) -> None:
        job = self._table.jobs.get(taken.name)
        if job is not None:
            await job.failed(unit, taken.arguments, _storable(str(error))[:MESSAGE_CHARACTERS] or type(error).__name__)

    async def _bury(self, unit: Unit, taken: _Taken, job_id: str, failures: int, error: Exception) -> None:
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
                job_id,
                taken.name,
                taken.queue,
                msgspec.json.encode(taken.arguments).decode(),
                type(error).__name__,
                without_secrets(_storable(str(error)), unit.settings)[:MESSAGE_CHARACTERS],
                without_secrets(_storable("".join(traceback.format_exception(error))), unit.settings)[
                    -TRACEBACK_CHARACTERS:
                ],
                max(0, failures - 1),
                job_id,
            ],
        )


def _storable(text: str) -> str:
    """A text that PostgreSQL takes: no null characters, no halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def without_secrets(text: str, settings: Settings) -> str:
    """A text that a tenant's admins may read: without the deployment's secrets and the passwords of addresses."""
    secrets = {getattr(settings, name) for name in _SECRETS}
    for address in filter(None, (getattr(settings, name) for name in _ADDRESSES)):
        with suppress(ValueError):
            password = urlsplit(address).password
            secrets |= {address, password, unquote(password or "")}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return _PASSWORD.sub(r"\1:***@", text)


# From the outbox to the queues ----------------------------------------------------------------------------------------


async def hand_over(resources: Resources, queue: ArqRedis) -> int:
    """Return what was lost to pending, then hand pending jobs to their queues; how many were handed over.

    Of each tenant and queue only a few are there at a time, queued or running: in Redis they stand in the order in
    which they came, so one tenant's hundred would hold up the others'.
    """
    lost = not await queue.exists(MARKER)
    settings = resources.settings
    async with resources.database.transaction() as tx:
        if lost:  # one of several workers finds it so: what it then hands over is not lost to the next
            await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [MARKER])
            lost = not await queue.exists(MARKER)
        reaped = await tx.all(_Reaped, "SELECT * FROM reap_jobs(%s)", [lost])
        if lost:
            await queue.set(MARKER, "1")
    for lost_job in reaped:
        log.warning("job.lost", job_id=lost_job.id, queue=lost_job.queue, attempt=lost_job.attempt, queues_lost=lost)
    async with resources.database.transaction() as tx:
        claimed = await tx.all(
            _Claimed,
            "SELECT * FROM claim_jobs(%s, %s, %s)",
            [CLAIM_BATCH, settings.job_lease_seconds * WAITING_LEASES, settings.tenant_jobs],
        )
    for done, job in enumerate(claimed):
        name, arq_id = _arq_name(job.queue), f"{job.id}:{job.attempt}"
        try:
            await queue.enqueue_job(RUN, str(job.tenant_id), job.id, job.attempt, _queue_name=name, _job_id=arq_id)
        except RedisError:
            await _take_back(resources, claimed[done:])
            raise
    return len(claimed)


async def _take_back(resources: Resources, claimed: list[_Claimed]) -> None:
    for job in claimed:
        async with resources.database.transaction(job.tenant_id) as tx:
            await tx.execute(
                """
                UPDATE jobs SET status = 'pending', lease_until = NULL
                WHERE id = %s AND attempt = %s AND status = 'queued'
                """,
                [job.id, job.attempt],
            )


async def hand_over_forever(resources: Resources, queue: ArqRedis, database_url: str, stopping: asyncio.Event) -> None:
    """Hand over whenever a job is announced or has ended, and every second in case an announcement was missed.

    First of all what waits in Redis is handed over anew: a worker that was killed had fetched some of it, and arq keeps
    that for the dead. A hand-over that comes twice does nothing.
    """
    begun = False
    while not stopping.is_set():
        try:
            if not begun:
                await queue.delete(MARKER)
                begun = True
            connection = await psycopg.AsyncConnection.connect(database_url, autocommit=True)
            async with connection:
                await connection.execute("LISTEN cushion_jobs")
                while not stopping.is_set():
                    while await hand_over(resources, queue) == CLAIM_BATCH:
                        pass
                    async for _ in connection.notifies(timeout=POLL_SECONDS, stop_after=1):
                        break
        except Exception as error:
            log.warning("jobs.hand_over_failed", error=repr(error))
            await asyncio.sleep(POLL_SECONDS)


class _Carried(Struct, forbid_unknown_fields=True):
    """A hand-over as arq carries it."""

    f: Literal["run"]
    a: tuple[UUID, Annotated[str, Meta(max_length=100)], Annotated[int, Meta(ge=0, le=MOST_ATTEMPT)]]
    et: Annotated[int, Meta(ge=0, le=MOST_MILLISECONDS)]
    k: dict[str, str] = {}
    t: None = None


# arq's own way is to pickle, which would run whatever somebody wrote into Redis. What is no plain data is an error that
# arq would keep, and that nobody reads.
_encode = msgspec.msgpack.Encoder(enc_hook=repr).encode
_decode = msgspec.msgpack.Decoder(_Carried).decode


def _carried(raw: bytes) -> dict[str, Any]:
    found = _decode(raw)
    tenant_id, job_id, attempt = found.a
    return {"f": found.f, "a": (str(tenant_id), job_id, attempt), "k": {}, "t": None, "et": found.et}


def queue_of(redis_url: str) -> ArqRedis:
    """The queues in a Redis."""
    queue: ArqRedis = ArqRedis.from_url(redis_url, socket_timeout=10)
    queue.job_serializer, queue.job_deserializer = _encode, _carried
    return queue


class _Worker(Worker):
    """arq's worker; what somebody else wrote into its queue does not end it."""

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Start what is ours; the rest leaves the queue."""
        strange = [job_id for job_id in job_ids if not _ARQ_NAME.fullmatch(job_id)]
        if strange:
            log.warning("queue.strange", queue=self.queue_name, entries=len(strange))
            await self.pool.zrem(self.queue_name, *strange)
        if job_ids:
            await self.pool.zremrangebyscore(self.queue_name, "-inf", "-inf")  # no moment, and arq counts from it
        await super().start_jobs([job_id for job_id in job_ids if _ARQ_NAME.fullmatch(job_id)])

    async def run_job(self, job_id: str, score: int) -> None:
        """Run a job; where Redis refuses what arq asks of its keys, they are of another kind, and go."""
        try:
            await super().run_job(job_id, score)
        except ResponseError as error:
            log.warning("queue.strange", queue=self.queue_name, entries=1, error=str(error))
            await self.pool.delete(*(prefix + job_id for prefix in _ARQ_PREFIXES))
            await self.pool.zrem(self.queue_name, job_id)

    async def _poll_iteration(self) -> None:
        try:
            await super()._poll_iteration()
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            log.warning("queue.strange", queue=self.queue_name, error=str(error))
            await self.pool.delete(
                self.queue_name, MARKER
            )  # lost, as after a flush: all that waits is handed over again


def workers(resources: Resources, redis_url: str, table: JobTable) -> list[Worker]:
    """One arq worker for each queue, all in this event loop.

    Each has connections of its own: a worker that stops closes its pool, under the feet of any that shares it.
    """
    settings = resources.settings
    run = func(
        cast(Any, Runner(resources, table).__call__),  # its hints want keywords that it does not pass
        name=RUN,
        timeout=settings.run_seconds + 60,  # the runner's own limit comes first
        max_tries=1,  # retries are ours: the row counts them
        keep_result=0,
    )
    return [
        _Worker(
            functions=[run],
            queue_name=_arq_name(name),
            redis_pool=queue_of(redis_url),
            job_serializer=_encode,
            job_deserializer=_carried,
            keep_result=0,
            handle_signals=False,
            # webhooks wait for others rather than calculate, so a few that answer slowly take nobody's place
            max_jobs=settings.webhook_jobs if name == "webhooks" else settings.worker_jobs,
            poll_delay=0.1,
            health_check_interval=60,
            job_completion_wait=settings.parse_seconds,
            log_results=False,
        )
        for name in QUEUES
    ]


def _arq_name(queue: str) -> str:
    return f"cushion:queue:{queue}"
