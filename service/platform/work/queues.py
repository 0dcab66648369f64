"""The queues: from the table of jobs into Redis, and arq's workers on them."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Annotated, Any, Final, Literal, cast
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

from service.platform.data.database import connect_alone, readable
from service.platform.metrics import JOBS_LOST
from service.platform.unit.context import Resources
from service.platform.work.jobs import QUEUES, JobTable
from service.platform.work.runner import QUEUES_MARKER, Runner

CLAIM_BATCH = 100
WAITING_LEASES = 10
"""A job may wait in Redis for this many leases before it counts as lost there; a flush is noticed at once."""
ARRIVED: Final = "cushion:arrived"
"""The channel that announces which queue got something."""
RUN: Final = "run"
"""The one function that a queue may ask for."""
CLOCKS_APART_MILLISECONDS = 3_600_000
"""What the clocks of two machines with workers may differ by."""
ATTEMPT_MAX = 2**31 - 1  # the column's
MILLISECONDS_MAX = 10**13  # the year 2286, since 1970
POLL_SECONDS = 1.0
LISTENER = "cushion worker"
"""The name of the connection that a worker hears of new jobs on: it lives as long as the worker."""
_ARQ_NAME = re.compile(rb"task_[0-9a-f]{32}:[0-9]{1,10}")
_ARQ_PREFIXES = (job_key_prefix, in_progress_key_prefix, retry_key_prefix)
"""Of the keys that arq has of a job."""

log = structlog.get_logger()


# From the table to the queues -----------------------------------------------------------------------------------------


class ClaimedJob(Struct):
    """A job that was dispatched: for whom, and under which attempt."""

    tenant_id: UUID
    id: str
    queue: str
    attempt: int


class _LostJob(Struct):
    id: str
    queue: str
    attempt: int


async def dispatch(resources: Resources, queue: ArqRedis) -> int:
    """Return lost jobs to pending, then send pending jobs; return how many were sent.

    Of each tenant and queue only a few are there at a time, queued or running: in Redis they stand in the order in
    which they came, so one tenant's hundred would hold up the others'. During maintenance none is sent.
    """
    settings = resources.settings
    await _reap(resources, queue)
    if resources.switches.maintenance is not None:
        await resources.switches.look()  # its end was announced, perhaps
        if resources.switches.maintenance is not None:
            return 0
    async with resources.database.transaction() as tx:
        claimed = await tx.fetch_all(
            ClaimedJob,
            "SELECT * FROM claim_jobs(%s, %s, %s)",
            [CLAIM_BATCH, settings.job_lease_seconds * WAITING_LEASES, settings.tenant_jobs],
        )
    if claimed:
        try:
            await _send(queue, claimed)
        except RedisError:
            await _release(resources, claimed)
            raise
    return len(claimed)


async def _reap(resources: Resources, queue: ArqRedis) -> None:
    """Return jobs whose lease is over to pending; all, where Redis lost its marker."""
    is_flushed = not await queue.exists(QUEUES_MARKER)
    async with resources.database.transaction() as tx:
        if is_flushed:  # one of several workers reacts: what it then sends is not lost to the next
            await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [QUEUES_MARKER])
            is_flushed = not await queue.exists(QUEUES_MARKER)
        lost_jobs = await tx.fetch_all(_LostJob, "SELECT * FROM reap_jobs(%s)", [is_flushed])
        if is_flushed:
            await queue.set(QUEUES_MARKER, "1")
    for job in lost_jobs:
        JOBS_LOST.labels(job.queue).inc()
        log.warning("job.lost", job_id=job.id, queue=job.queue, attempt=job.attempt, queues_lost=is_flushed)


async def _send(queue: ArqRedis, claimed: list[ClaimedJob]) -> None:
    """Do what arq's `enqueue_job` does, for many in one round trip.

    A message's name never comes twice.
    """
    now = timestamp_ms()
    due = now - CLOCKS_APART_MILLISECONDS  # else a worker whose clock is behind would leave it until its own says so
    async with queue.pipeline(transaction=True) as pipe:
        for job in claimed:
            name, arguments = f"{job.id}:{job.attempt}", (str(job.tenant_id), job.id, job.attempt)
            pipe.psetex(
                job_key_prefix + name,
                expires_extra_ms,
                serialize_job(RUN, arguments, {}, None, now, serializer=_encode),
            )
            pipe.zadd(_arq_name(job.queue), {name: due})
        await pipe.execute()
    with suppress(RedisError):  # a worker that does not hear of it looks by itself
        for name in {_arq_name(job.queue) for job in claimed}:
            await queue.publish(ARRIVED, name)


async def _release(resources: Resources, claimed: list[ClaimedJob]) -> None:
    for job in claimed:
        async with resources.database.transaction(job.tenant_id) as tx:
            await tx.execute(
                """
                UPDATE jobs SET status = 'pending', lease_until = NULL
                WHERE id = %s AND attempt = %s AND status = 'queued'
                """,
                [job.id, job.attempt],
            )


async def dispatch_forever(resources: Resources, queue: ArqRedis, database_url: str, stopping: asyncio.Event) -> None:
    """Dispatch at each announcement, and each second: delays are not announced.

    At the start all that waits in Redis is dispatched anew: a worker that was killed had fetched some of it, and arq
    keeps that for the dead. A message that comes twice does nothing.
    """
    begun = False
    while not stopping.is_set():
        try:
            if not begun:
                await queue.delete(QUEUES_MARKER)
                begun = True
            connection = await connect_alone(
                database_url, LISTENER, statement_seconds=resources.settings.statement_seconds
            )
            async with connection:
                await connection.execute("LISTEN cushion_jobs")
                while not stopping.is_set():
                    while await dispatch(resources, queue) == CLAIM_BATCH:
                        pass
                    while not (
                        stopping.is_set() or await _is_announced(connection) or await _is_due(connection, resources)
                    ):
                        pass
        except Exception as error:
            log.warning("jobs.dispatch_failed", error=repr(error))
            await asyncio.sleep(POLL_SECONDS)


async def _is_announced(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Return whether a job was announced within a second."""
    if not await readable(connection.fileno(), POLL_SECONDS):
        return False
    async for _ in connection.notifies(timeout=0.1, stop_after=1):
        pass  # all that came together: one look serves them
    return True


async def _is_due(connection: psycopg.AsyncConnection[Any], resources: Resources) -> bool:
    """Return whether a job is due or lost: a fraction of a dispatch's price."""
    if not await resources.pipeline("EXISTS", QUEUES_MARKER):
        return True
    row = await (await connection.execute("SELECT jobs_wait()")).fetchone()
    return row is not None and bool(row[0])


# arq's part -----------------------------------------------------------------------------------------------------------


class _Carried(Struct, forbid_unknown_fields=True):
    """A message as arq carries it."""

    f: Literal["run"]
    a: tuple[UUID, Annotated[str, Meta(max_length=100)], Annotated[int, Meta(ge=0, le=ATTEMPT_MAX)]]
    et: Annotated[int, Meta(ge=0, le=MILLISECONDS_MAX)]
    k: dict[str, str] = {}
    t: None = None


# arq's own way is to pickle, which would run whatever somebody wrote into Redis. What is no plain data is an error that
# arq would keep, and that nobody reads.
_encode = msgspec.msgpack.Encoder(enc_hook=repr).encode
_decoder = msgspec.msgpack.Decoder(_Carried)


def _decode(raw: bytes) -> dict[str, Any]:
    message = _decoder.decode(raw)
    tenant_id, job_id, attempt = message.a
    return {"f": message.f, "a": (str(tenant_id), job_id, attempt), "k": {}, "t": None, "et": message.et}


def queue_of(redis_url: str) -> ArqRedis:
    """Connect to the queues in a Redis."""
    queue: ArqRedis = ArqRedis.from_url(redis_url, socket_timeout=10)
    queue.job_serializer, queue.job_deserializer = _encode, _decode
    return queue


class QueueWorker(Worker):
    """arq's worker, which looks at its queue when woken, not ten times a second.

    What somebody else wrote into its queue does not end it, nor does a Redis that is away for a while. It overrides
    and calls public methods of arq only.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look at the queue."""
        self._woken.set()

    async def main(self) -> None:
        """Look at the queue, and again whenever woken."""
        is_away = False
        while True:
            self._woken.clear()
            try:
                await self._poll()
                is_away = False
            except RedisError as error:
                if not is_away:
                    log.warning("queue.unavailable", queue=self.queue_name, error=repr(error))
                is_away = True
                await asyncio.sleep(POLL_SECONDS)
                continue
            await self._woken.wait()

    async def _poll(self) -> None:
        """Start what waits, as one turn of arq's own loop does."""
        try:
            if self.job_counter < self.max_jobs:
                now = timestamp_ms()
                job_ids = await self.pool.zrangebyscore(
                    self.queue_name, min=float("-inf"), start=0, num=self.queue_read_limit, max=now
                )
                await self.start_jobs(job_ids)
            for job_id, task in list(self.tasks.items()):
                if task.done():
                    del self.tasks[job_id]
                    task.result()  # an error of arq's own ends the worker
            await self.heart_beat()
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            log.warning("queue.unknown_entries", queue=self.queue_name, error=str(error))
            await self.pool.delete(self.queue_name, QUEUES_MARKER)  # as after a flush: all that waits is sent again

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Start what is ours; the rest leaves the queue."""
        unknown = [job_id for job_id in job_ids if not _ARQ_NAME.fullmatch(job_id)]
        if unknown:
            log.warning("queue.unknown_entries", queue=self.queue_name, entries=len(unknown))
            await self.pool.zrem(self.queue_name, *unknown)
        if job_ids:
            await self.pool.zremrangebyscore(self.queue_name, "-inf", "-inf")  # no moment, and arq counts from it
        for job_id in job_ids:
            name = job_id.decode(errors="replace")
            if self.job_counter >= self.max_jobs:
                return
            if not _ARQ_NAME.fullmatch(job_id) or name in self.tasks:
                continue
            try:
                await super().start_jobs([job_id])
            except RedisError:
                self.job_counter -= 1  # arq keeps the place that it took for the job
                self.sem.release()
                raise
            if name in self.tasks:
                self.tasks[name].add_done_callback(lambda _: self.wake())  # there is room for another

    async def run_job(self, job_id: str, score: int) -> None:
        """Run a job; keys of another kind, which Redis refuses, are removed."""
        try:
            await super().run_job(job_id, score)
        except ResponseError as error:
            log.warning("queue.unknown_entries", queue=self.queue_name, entries=1, error=str(error))
            await self.pool.delete(*(prefix + job_id for prefix in _ARQ_PREFIXES))
            await self.pool.zrem(self.queue_name, job_id)


def workers(resources: Resources, redis_url: str, table: JobTable) -> list[QueueWorker]:
    """Return one arq worker for each queue; `wake_forever` wakes them.

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
            job_deserializer=_decode,
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
    """Wake the worker of a queue that got something, and all of them each second.

    A message may be missed, and what is to come later by another machine's clock is announced too early.
    """
    by_name = {worker.queue_name.encode(): worker for worker in running}
    loop = asyncio.get_running_loop()
    while not stopping.is_set():
        try:
            async with queue.pubsub(ignore_subscribe_messages=True) as announcements:
                await announcements.subscribe(ARRIVED)
                while not stopping.is_set():
                    if await resources.pipeline("EXISTS", *by_name):
                        _wake(running)
                    look_at = loop.time() + POLL_SECONDS
                    while (left := look_at - loop.time()) > 0:
                        message = await announcements.get_message(timeout=left)
                        if message is not None and message["data"] in by_name:
                            by_name[message["data"]].wake()
        except RedisError as error:
            log.warning("queues.lost", error=repr(error))
            _wake(running)
            await asyncio.sleep(POLL_SECONDS)


def _wake(running: list[QueueWorker]) -> None:
    for worker in running:
        worker.wake()


def _arq_name(queue: str) -> str:
    return f"cushion:queue:{queue}"
