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
import time
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
from arq.constants import expires_extra_ms, in_progress_key_prefix, job_key_prefix, retry_key_prefix
from arq.jobs import serialize_job
from arq.utils import timestamp_ms
from arq.worker import Worker, func
from msgspec import Meta, Struct
from redis.exceptions import RedisError, ResponseError

from service.platform import tracing
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Away, Unavailable
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.data.blobs import Damaged
from service.platform.data.database import readable
from service.platform.metrics import DEAD_LETTERS, JOB_SECONDS, JOB_WAIT_SECONDS, JOBS_LOST
from service.platform.unit.context import Actor, Resources, Unit
from service.platform.unit.storage import report

QUEUES = ("default", "calculate", "parse", "priority", "export", "webhooks")
CLAIM_BATCH = 100
WAITING_LEASES = 10
"""A job may wait in Redis for this many leases before it counts as lost there; a flush is noticed at once."""
MARKER = "cushion:queues"
ARRIVED: Final = "cushion:arrived"
"""The channel that says which queue got something."""
RUN: Final = "run"
"""The one function that a queue may ask for."""
CLOCKS_APART_MILLISECONDS = 3_600_000
"""What the clocks of two machines with workers may differ by."""
MOST_ATTEMPT = 2**31 - 1  # the column's
MOST_MILLISECONDS = 10**13  # the year 2286, since 1970
_ARQ_NAME = re.compile(rb"task_[0-9a-f]{32}:[0-9]{1,10}")
_ARQ_PREFIXES = (job_key_prefix, in_progress_key_prefix, retry_key_prefix)
"""Of the keys that arq has of a job."""
SMALL_BYTES: Final = 1024 * 1024
"""The largest upload that an API process reads itself while no worker does, all of its files together."""
SMALL_ROWS: Final = 5_000
"""The most rows of a workbook that it exports so, all of its sheets together."""
POLL_SECONDS = 1.0
LISTENER = "cushion worker"
"""The name of the connection that a worker hears of new jobs on: it lives as long as the worker."""
SWITCHED_OFF_SECONDS = 10.0
"""After which a job that waits for its feature is looked at again."""
MOST_BACKOFF_SECONDS = 3600
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
    flag: str | None = None
    """The feature flag that it waits for."""


async def nothing_to_lift(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """No record waits for the job, or the job takes it up by itself."""
    return True


@dataclass(slots=True)
class JobTable:
    """The jobs of an area, or of the whole service."""

    jobs: dict[str, Job] = field(default_factory=dict)

    def job(
        self, name: str, *, failed: Failed, lifted: Lifted | None = None, flag: str | None = None
    ) -> Callable[[Run], Run]:
        """Declare a job: `run(unit, arguments)`; its effects and its final state commit together."""

        def declare(run: Run) -> Run:
            assert name not in self.jobs, f"two jobs are called {name}"
            assert flag is None or flag in FLAGS, f"{name}: there is no flag {flag}"
            self.jobs[name] = Job(name, run, failed, lifted, flag)
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
    traceparent: str | None
    waited_seconds: float
    """Since it was due."""
    switches: int
    """Their version at this moment."""


class Claimed(Struct):
    """A job that was given out: for whom, and under which attempt."""

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
        for name in table.jobs:  # told as 0 before the first one: else its increase would not show
            DEAD_LETTERS.labels(name)
        for queue in QUEUES:
            JOBS_LOST.labels(queue)

    async def __call__(self, _: dict[Any, Any], tenant: str, job_id: str, attempt: int) -> str | None:
        """Run one attempt to its end, completed, pending again, or failed; what came of it, None where nothing was to
        be done. Cancelled, as by a worker that stops, it gives the job back: no run has failed, and another process
        goes on at once."""
        tenant_id = UUID(tenant)
        try:
            return await self._attempt(tenant_id, job_id, attempt)
        except asyncio.CancelledError:
            await asyncio.shield(self._return(tenant_id, job_id, attempt))
            raise

    async def _attempt(self, tenant_id: UUID, job_id: str, attempt: int) -> str | None:
        try:
            taken = await self._take(tenant_id, job_id, attempt)
        except Unavailable:
            await self._resources.redis.delete(MARKER)  # arq forgets what raised: have all that waits handed over again
            raise
        if taken is None:
            return None
        structlog.contextvars.bind_contextvars(request_id=taken.request_id, job_id=job_id, job=taken.name)
        unit = self._unit(tenant_id, taken, job_id)
        if (pause := await self._pause(unit, taken)) is not None:
            await self._return(tenant_id, job_id, attempt, seconds=pause)
            structlog.contextvars.clear_contextvars()
            return None
        JOB_WAIT_SECONDS.labels(taken.queue).observe(taken.waited_seconds)
        started, outcome = time.perf_counter(), "completed"
        work = asyncio.ensure_future(asyncio.wait_for(self._work(unit, taken, job_id, attempt), self._most_seconds))
        beat = asyncio.ensure_future(self._heartbeat(tenant_id, job_id, attempt, work))
        try:
            await work
            log.info("job.completed", attempt=attempt)
        except asyncio.CancelledError as stopped:
            outcome = "lost" if beat.done() else "returned"
            await unit.rollback(stopped)
            if not beat.done():
                raise
            log.warning("job.lease_lost", attempt=attempt)
        except LeaseLost as error:
            outcome = "lost"
            await unit.rollback(error)
            log.warning("job.lease_lost", attempt=attempt)
        except Away as error:  # which says nothing of the job
            outcome = "put_off"
            await unit.rollback(error)
            log.info("job.put_off", attempt=attempt, seconds=error.seconds)
            await self._return(tenant_id, job_id, attempt, seconds=error.seconds)
        except Exception as error:
            outcome = "failed"
            await unit.rollback(error)
            await self._failed_run(tenant_id, taken, job_id, attempt, error)
            if isinstance(error, Damaged):
                await report(self._resources, error.key, unit.request_id)
        finally:
            JOB_SECONDS.labels(self._known(taken.name), outcome).observe(time.perf_counter() - started)
            beat.cancel()
            structlog.contextvars.clear_contextvars()
        return outcome

    async def _pause(self, unit: Unit, taken: _Taken) -> float | None:
        """Seconds after which the job is looked at again, where it is not to begin now: its feature is switched off, or
        the deployment is under maintenance, during which nothing is handed over anyway."""
        switches = self._resources.switches
        if taken.switches != switches.state.version:
            await switches.look()
        if switches.maintenance is not None:
            return POLL_SECONDS
        job = self._table.jobs.get(taken.name)
        return SWITCHED_OFF_SECONDS if job and job.flag and not unit.flag(job.flag) else None

    async def _take(self, tenant_id: UUID, job_id: str, attempt: int) -> _Taken | None:
        async with self._resources.database.transaction(tenant_id) as tx:
            taken = await tx.one_or_none(
                _Taken,
                """
                UPDATE jobs SET status = 'running', started_at = now(),
                                lease_until = now() + make_interval(secs => %s)
                WHERE id = %s AND attempt = %s AND status = 'queued'
                RETURNING name, queue, arguments, asked_by, request_id, failures, traceparent,
                          greatest(0, extract(epoch FROM now() - ready_at))::float8 AS waited_seconds,
                          (SELECT version FROM switches) AS switches
                """,
                [self._lease_seconds, job_id, attempt],
            )
        if taken is not None and taken.failures >= self._resources.settings.job_attempts:
            await self._failed_run(tenant_id, taken, job_id, attempt, WorkerLost(WorkerLost.__doc__), counted=True)
            return None
        return taken

    def _known(self, name: str) -> str:
        return name if name in self._table.jobs else "unknown"

    def _counted(self, name: str) -> Callable[[], Awaitable[None]]:
        async def count() -> None:
            DEAD_LETTERS.labels(self._known(name)).inc()

        return count

    async def _work(self, unit: Unit, taken: _Taken, job_id: str, attempt: int) -> None:
        job = self._table.jobs.get(taken.name)
        if job is None:
            raise LookupError(f"this worker knows no job {taken.name}")
        try:
            with tracing.job(taken.name, taken.queue, job_id, attempt, taken.traceparent):
                await job.run(unit, taken.arguments)
                await self._finish(unit, job_id, attempt, "completed", None)
                await unit.commit()
        finally:
            self._resources.sharing.changed(unit.tenant)

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

    async def _return(self, tenant_id: UUID, job_id: str, attempt: int, *, seconds: float = 0.0) -> None:
        async with self._resources.database.transaction(tenant_id) as tx:
            await tx.execute(
                """
                UPDATE jobs SET status = 'pending', ready_at = now() + make_interval(secs => %s), lease_until = NULL
                WHERE id = %s AND attempt = %s AND status = 'running'
                """,
                [seconds, job_id, attempt],
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
        unit.after_commit(self._counted(taken.name))
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
    which they came, so one tenant's hundred would hold up the others'. During maintenance none is handed over.
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
        JOBS_LOST.labels(lost_job.queue).inc()
        log.warning("job.lost", job_id=lost_job.id, queue=lost_job.queue, attempt=lost_job.attempt, queues_lost=lost)
    if resources.switches.maintenance is not None:
        await resources.switches.look()  # its end was announced, perhaps
        if resources.switches.maintenance is not None:
            return 0
    async with resources.database.transaction() as tx:
        claimed = await tx.all(
            Claimed,
            "SELECT * FROM claim_jobs(%s, %s, %s)",
            [CLAIM_BATCH, settings.job_lease_seconds * WAITING_LEASES, settings.tenant_jobs],
        )
    if claimed:
        try:
            await _carry(queue, claimed)
        except RedisError:
            await _take_back(resources, claimed)
            raise
    return len(claimed)


async def _carry(queue: ArqRedis, claimed: list[Claimed]) -> None:
    """What arq's `enqueue_job` does, for many in one round trip: a hand-over's name never comes twice."""
    now = timestamp_ms()
    due = now - CLOCKS_APART_MILLISECONDS  # else a worker whose clock is behind would leave it until its own says so
    async with queue.pipeline(transaction=True) as pipe:
        for job in claimed:
            name, handed = f"{job.id}:{job.attempt}", (str(job.tenant_id), job.id, job.attempt)
            carried = serialize_job(RUN, handed, {}, None, now, serializer=_encode)
            pipe.psetex(job_key_prefix + name, expires_extra_ms, carried)
            pipe.zadd(_arq_name(job.queue), {name: due})
        await pipe.execute()
    with suppress(RedisError):  # who does not hear of it looks by himself
        for name in {_arq_name(job.queue) for job in claimed}:
            await queue.publish(ARRIVED, name)


async def _take_back(resources: Resources, claimed: list[Claimed]) -> None:
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
    """Hand over whenever a job is announced or has ended, and look every second: what is due later is not announced.

    First of all what waits in Redis is handed over anew: a worker that was killed had fetched some of it, and arq keeps
    that for the dead. A hand-over that comes twice does nothing.
    """
    begun = False
    limit = f"-c statement_timeout={resources.settings.statement_seconds}s"
    while not stopping.is_set():
        try:
            if not begun:
                await queue.delete(MARKER)
                begun = True
            connection = await psycopg.AsyncConnection.connect(
                database_url, autocommit=True, options=limit, application_name=LISTENER
            )
            async with connection:
                await connection.execute("LISTEN cushion_jobs")
                while not stopping.is_set():
                    while await hand_over(resources, queue) == CLAIM_BATCH:
                        pass
                    while not (
                        stopping.is_set() or await _announced(connection) or await _waits(connection, resources)
                    ):
                        pass
        except Exception as error:
            log.warning("jobs.hand_over_failed", error=repr(error))
            await asyncio.sleep(POLL_SECONDS)


async def _announced(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether a job was announced within a second."""
    if not await readable(connection.fileno(), POLL_SECONDS):
        return False
    async for _ in connection.notifies(timeout=0.1, stop_after=1):
        pass  # all that came together: one look serves them
    return True


async def _waits(connection: psycopg.AsyncConnection[Any], resources: Resources) -> bool:
    """Whether a look would find a job that is due, or was lost: a fraction of the look's price."""
    if not await resources.pipeline("EXISTS", MARKER):
        return True
    found = await (await connection.execute("SELECT jobs_wait()")).fetchone()
    return found is not None and bool(found[0])


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


class QueueWorker(Worker):
    """arq's worker, which looks at its queue when it is woken instead of ten times a second. What somebody else wrote
    into its queue does not end it, nor does a Redis that is away for a while."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look at the queue."""
        self._woken.set()

    async def main(self) -> None:
        """Look at the queue, and again whenever woken."""
        away = False
        while True:
            self._woken.clear()
            try:
                await self._poll_iteration()
                away = False
            except RedisError as error:
                if not away:
                    log.warning("queue.unavailable", queue=self.queue_name, error=repr(error))
                away = True
                await asyncio.sleep(POLL_SECONDS)
                continue
            await self._woken.wait()

    def _release_sem_dec_counter_on_complete(self) -> None:
        super()._release_sem_dec_counter_on_complete()
        self.wake()  # there is room for another

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Start what is ours; the rest leaves the queue."""
        strange = [job_id for job_id in job_ids if not _ARQ_NAME.fullmatch(job_id)]
        if strange:
            log.warning("queue.strange", queue=self.queue_name, entries=len(strange))
            await self.pool.zrem(self.queue_name, *strange)
        if job_ids:
            await self.pool.zremrangebyscore(self.queue_name, "-inf", "-inf")  # no moment, and arq counts from it
        for job_id in job_ids:
            if self.job_counter >= self.max_jobs:
                return
            if _ARQ_NAME.fullmatch(job_id) and job_id.decode() not in self.tasks:
                try:
                    await super().start_jobs([job_id])
                except RedisError:
                    super()._release_sem_dec_counter_on_complete()  # arq keeps the place that it took for it
                    raise

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


def workers(resources: Resources, redis_url: str, table: JobTable) -> list[QueueWorker]:
    """One arq worker for each queue, all in this event loop, and woken by `wake_forever`.

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
        QueueWorker(
            functions=[run],
            queue_name=_arq_name(name),
            redis_pool=queue_of(redis_url),
            job_serializer=_encode,
            job_deserializer=_carried,
            keep_result=0,
            handle_signals=False,
            # webhooks wait for others rather than calculate, so a few that answer slowly take nobody's place
            max_jobs=settings.webhook_jobs if name == "webhooks" else settings.worker_jobs,
            job_completion_wait=settings.parse_seconds,
            log_results=False,
        )
        for name in QUEUES
    ]


async def wake_forever(
    resources: Resources, running: list[QueueWorker], queue: ArqRedis, stopping: asyncio.Event
) -> None:
    """Wake the worker of a queue that got something, and every second all of them where something waits: a message may
    be missed, and what is to come later by another machine's clock is announced too early."""
    by_name = {worker.queue_name.encode(): worker for worker in running}
    loop = asyncio.get_running_loop()
    while not stopping.is_set():
        try:
            async with queue.pubsub(ignore_subscribe_messages=True) as announced:
                await announced.subscribe(ARRIVED)
                while not stopping.is_set():
                    if await resources.pipeline("EXISTS", *by_name):
                        _wake(running)
                    look_at = loop.time() + POLL_SECONDS
                    while (left := look_at - loop.time()) > 0:
                        message = await announced.get_message(timeout=left)
                        if message is not None and message["data"] in by_name:
                            by_name[message["data"]].wake()
        except RedisError as error:
            log.warning("queues.not_heard", error=repr(error))
            _wake(running)
            await asyncio.sleep(POLL_SECONDS)


def _wake(running: list[QueueWorker]) -> None:
    for worker in running:
        worker.wake()


def _arq_name(queue: str) -> str:
    return f"cushion:queue:{queue}"
