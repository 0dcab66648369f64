"""Jobs: committed with their row, handed over, run once, retried, buried, and found again when Redis forgets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from arq.connections import ArqRedis

from service.platform.base.problem import Unavailable
from service.platform.unit.context import Actor, Resources, Subject, Unit
from service.platform.work.jobs import QUEUES, JobTable
from service.platform.work.queues import QueueWorker, dispatch, dispatch_forever, queue_of, wake_forever, workers
from service.platform.work.runner import QUEUES_MARKER, Runner
from tests.conftest import wait_until
from tests.redis_server import RedisServer
from tests.service.platform.conftest import Apart, act

BROKEN = "broken \x00 \ud800 sheet"
"""A message that PostgreSQL would not take as it stands."""


@dataclass
class Seen:
    """What the test's jobs did."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def table(seen: Seen, body: Callable[[Unit, dict[str, Any]], Awaitable[None]] | None = None) -> JobTable:
    jobs = JobTable()

    async def failed(unit: Unit, arguments: dict[str, Any], message: str) -> None:
        if arguments.get("cannot fail"):
            raise RuntimeError("no error state either")
        seen.errors.append(message)
        await unit.execute("UPDATE tenants SET name = %s WHERE id = %s", [f"failed: {message}", unit.tenant])

    @jobs.job("note", on_failure=failed)
    async def note(unit: Unit, arguments: dict[str, Any]) -> None:
        seen.runs.append(arguments)
        await unit.execute("UPDATE tenants SET name = name || '+' WHERE id = %s", [unit.tenant])
        if "raise" in arguments:
            raise ValueError(BROKEN)
        if body is not None:
            await body(unit, arguments)

    return jobs


async def accept(shared: Resources, tenant: UUID, queue: str = "default", **arguments: Any) -> str:
    """What a request does: a job in the transaction of a row."""
    unit = Unit(shared, tenant, request_id="request-1")
    job_id = await unit.enqueue("note", queue=queue, arguments=arguments)
    await unit.commit()
    return job_id


def state(apart: Apart, job_id: str) -> tuple[str, int, int]:
    """Status, number of the present hand-over, failures."""
    row = apart.sql("SELECT status, attempt, failures FROM jobs WHERE id = %s", [job_id])[0]
    return row[0], row[1], row[2]


def name_of(apart: Apart, tenant: UUID) -> str:
    return str(apart.sql("SELECT name FROM tenants WHERE id = %s", [tenant])[0][0])


# The outbox ---------------------------------------------------------------------------------------------------------


def test_a_job_commits_with_its_row_or_not_at_all(alone: Apart) -> None:
    tenant = alone.tenant()

    async def both(shared: Resources, queue: ArqRedis) -> None:
        unit = Unit(shared, tenant, request_id="r")
        await unit.enqueue("note", queue="default", arguments={})
        assert alone.sql("SELECT 1 FROM jobs WHERE tenant_id = %s", [tenant]) == []
        await unit.rollback(ValueError())
        assert alone.sql("SELECT 1 FROM jobs WHERE tenant_id = %s", [tenant]) == []
        job_id = await accept(shared, tenant, workbook="w")
        assert alone.sql("SELECT id, arguments, request_id FROM jobs WHERE tenant_id = %s", [tenant]) == [
            (job_id, {"workbook": "w"}, "request-1")
        ]

    act(alone, both)


def test_a_job_waits_while_its_feature_is_off_and_during_maintenance(alone: Apart) -> None:
    """At once: by what was switched at the moment when it would begin, whatever its process has heard of by then."""
    tenant, second, seen = alone.tenant(), alone.tenant(), Seen()
    jobs = table(seen)
    jobs.jobs["note"] = replace(jobs.jobs["note"], flag="exports")
    off = f'{{"exports": {{"tenants": {{"{tenant}": false}}}}}}'

    async def wait(shared: Resources, queue: ArqRedis) -> None:
        def switch(maintenance: str | None, flags: str) -> None:
            values = [maintenance, flags]
            alone.sql("UPDATE switches SET version = version + 1, maintenance = %s, flags = %s", values)

        async def begin(job_id: str, whose: UUID) -> str:
            alone.sql("UPDATE jobs SET status = 'queued', attempt = attempt + 1 WHERE id = %s", [job_id])
            await Runner(shared, jobs)({}, str(whose), job_id, state(alone, job_id)[1])
            return state(alone, job_id)[0]

        mine, theirs = await accept(shared, tenant, of="mine"), await accept(shared, second, of="theirs")
        switch(None, off)
        assert [await begin(mine, tenant), await begin(theirs, second)] == ["pending", "completed"]
        assert alone.sql("SELECT ready_at > now() FROM jobs WHERE id = %s", [mine]) == [(True,)]
        third = await accept(shared, second, of="third")
        switch('{"message": "no", "since": "2026-01-01T00:00:00Z"}', "{}")
        assert await begin(mine, tenant) == "pending"
        assert await dispatch(shared, queue) == 0
        switch(None, "{}")
        assert await dispatch(shared, queue) == 1
        assert [await begin(mine, tenant), await begin(third, second)] == ["completed", "completed"]
        assert [run["of"] for run in seen.runs] == ["theirs", "mine", "third"]
        assert state(alone, mine)[2] == 0, "waiting is no failure"

    try:
        act(alone, wait)
    finally:
        alone.sql("UPDATE switches SET version = version + 1, maintenance = NULL, flags = '{}'")


def test_an_unknown_queue_is_refused(alone: Apart) -> None:
    async def bad(shared: Resources, queue: ArqRedis) -> None:
        with pytest.raises(Exception, match="jobs_queue_check"):
            await accept(shared, alone.tenant(), queue="nowhere")

    act(alone, bad)


def test_hand_over_takes_each_pending_job_once(alone: Apart) -> None:
    tenant = alone.tenant()

    async def twice(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant, queue="parse")
        assert sum(await asyncio.gather(*(dispatch(shared, queue) for _ in range(30)))) == 1
        assert state(alone, job_id) == ("queued", 1, 0)
        assert await queue.zcard("cushion:queue:parse") == 1

    act(alone, twice)


def test_of_two_that_find_the_queues_lost_the_second_leaves_what_the_first_handed_over(alone: Apart) -> None:
    tenant = alone.tenant()

    async def second(shared: Resources, queue: ArqRedis) -> None:
        await queue.delete(QUEUES_MARKER)
        job_id = await accept(shared, tenant, queue="parse")
        with psycopg.connect(alone.database_url) as first:
            first.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [QUEUES_MARKER])
            waiting = asyncio.create_task(dispatch(shared, queue))
            blocked = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"
            waits = partial(alone.sql, blocked, [first.info.backend_pid])
            await asyncio.to_thread(wait_until, lambda: waiting.done() or waits()[0][0], what="the second one")
            first.execute("SELECT * FROM claim_jobs(10, 60, 2)")
            await queue.set(QUEUES_MARKER, "1")
        assert await waiting == 0
        assert state(alone, job_id) == ("queued", 1, 0)

    act(alone, second)


def test_of_each_tenant_and_queue_a_few_are_handed_over_at_a_time(alone: Apart) -> None:
    hostile, second = alone.tenant(), alone.tenant()
    open_jobs = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND status IN ('queued', 'running')"

    async def crowd(shared: Resources, queue: ArqRedis) -> None:
        first, *_ = [await accept(shared, hostile, queue="parse") for _ in range(10)]
        job_id = await accept(shared, second, queue="parse")
        await accept(shared, hostile, queue="calculate")
        assert await dispatch(shared, queue) == 4
        assert state(alone, job_id)[0] == "queued"
        assert alone.sql(open_jobs, [hostile]) == [(3,)]
        assert await dispatch(shared, queue) == 0
        await Runner(shared, table(Seen()))({}, str(hostile), first, 1)
        assert await dispatch(shared, queue) == 1
        assert alone.sql(open_jobs, [hostile]) == [(3,)]

    act(alone, crowd)


def test_tenants_are_handed_over_in_turn(alone: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile, second = alone.tenant(), alone.tenant()
    monkeypatch.setattr("service.platform.work.queues.CLAIM_BATCH", 2)

    async def turns(shared: Resources, queue: ArqRedis) -> None:
        for _ in range(3):
            await accept(shared, hostile)
        job_id = await accept(shared, second)
        assert await dispatch(shared, queue) == 2
        assert state(alone, job_id)[0] == "queued"

    act(alone, turns)


def test_the_end_of_a_job_is_announced_so_that_the_next_follows_at_once(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        with psycopg.connect(alone.database_url, autocommit=True) as listening:
            listening.execute("LISTEN cushion_jobs")
            await Runner(shared, table(Seen()))({}, str(tenant), job_id, 1)
            answer = await asyncio.to_thread(list, listening.notifies(timeout=10, stop_after=1))
        assert [notice.payload for notice in answer] == ["default"]

    act(alone, run)


def test_a_job_waits_for_its_moment(alone: Apart) -> None:
    tenant = alone.tenant()

    async def early(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        alone.sql("UPDATE jobs SET ready_at = now() + interval '1 hour' WHERE id = %s", [job_id])
        assert await dispatch(shared, queue) == 0

    act(alone, early)


def test_without_redis_a_claimed_job_goes_back_at_once(alone: Apart) -> None:
    tenant = alone.tenant()

    async def lost(shared: Resources, queue: ArqRedis) -> None:
        await dispatch(shared, queue)
        job_id = await accept(shared, tenant)
        await queue.set("cushion:queue:default", "in the way")  # a sorted set is expected: the hand-over fails halfway
        with pytest.raises(Exception, match="WRONGTYPE"):
            await dispatch(shared, queue)
        assert state(alone, job_id) == ("pending", 1, 0)

    act(alone, lost)


# A run --------------------------------------------------------------------------------------------------------------


def test_a_run_commits_its_effect_and_its_end_together(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant, number=7)
        await dispatch(shared, queue)
        await Runner(shared, table(seen))({}, str(tenant), job_id, 1)
        return job_id

    job_id = act(alone, run)
    assert state(alone, job_id) == ("completed", 1, 0)
    assert seen.runs == [{"number": 7}]
    assert name_of(alone, tenant) == "Tenant+"


def test_a_job_and_what_it_leaves_behind_names_who_asked_for_it(alone: Apart) -> None:
    tenant, user_id = alone.tenant(), uuid4()
    asker = Actor(user_id=user_id, user_email="ada@example.com")

    async def passes_on(unit: Unit, arguments: dict[str, Any]) -> None:
        await unit.audit("note.made", Subject("note", "1"))
        if "last" not in arguments:
            await unit.enqueue("note", queue="default", arguments={"last": True})

    async def run(shared: Resources, queue: ArqRedis) -> None:
        unit = Unit(shared, tenant, request_id="request-1", asked_by=asker)
        await unit.enqueue("note", queue="default", arguments={})
        await unit.commit()
        await accept(shared, tenant, last=True)
        runner = Runner(shared, table(Seen(), passes_on))
        while await dispatch(shared, queue):
            for (job_id,) in alone.sql("SELECT id FROM jobs WHERE tenant_id = %s AND status = 'queued'", [tenant]):
                await runner({}, str(tenant), job_id, 1)

    act(alone, run)
    entries = alone.sql("SELECT user_id, user_email, api_key_id FROM audit_log WHERE tenant_id = %s", [tenant])
    assert sorted(entries, key=str) == [(None, None, None), *[(user_id, "ada@example.com", None)] * 2]


def test_hand_overs_that_come_twice_or_late_do_nothing(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        runner = Runner(shared, table(seen))
        await runner({}, str(tenant), job_id, 1)  # before any hand-over
        await dispatch(shared, queue)
        await runner({}, str(tenant), job_id, 2)  # of a later attempt that never was
        await runner({}, str(alone.tenant()), job_id, 1)  # for another tenant
        assert seen.runs == []
        await asyncio.gather(*(runner({}, str(tenant), job_id, 1) for _ in range(5)))
        await runner({}, str(tenant), job_id, 1)

    act(alone, run)
    assert len(seen.runs) == 1
    assert name_of(alone, tenant) == "Tenant+"


def test_a_run_that_raises_is_retried_with_a_growing_pause_then_buried(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> tuple[str, list[float]]:
        job_id = await accept(shared, tenant, **{"raise": True})
        runner, pauses = Runner(shared, table(seen)), []
        for attempt in (1, 2, 3):
            await dispatch(shared, queue)
            assert state(alone, job_id) == ("queued", attempt, attempt - 1)
            await runner({}, str(tenant), job_id, attempt)
            if attempt < 3:
                pauses.append(
                    float(
                        alone.sql("SELECT extract(epoch FROM ready_at - now()) FROM jobs WHERE id = %s", [job_id])[0][0]
                    )
                )
                assert await dispatch(shared, queue) == 0, "not before the pause is over"
                alone.sql("UPDATE jobs SET ready_at = now() WHERE id = %s", [job_id])
        return job_id, pauses

    job_id, pauses = act(alone, run, job_backoff_seconds=60)
    assert 50 < pauses[0] <= 60
    assert 110 < pauses[1] <= 120
    assert state(alone, job_id) == ("failed", 3, 3)
    assert seen.errors == ["broken  ? sheet"]
    assert name_of(alone, tenant) == "failed: broken  ? sheet", "the effects of the runs themselves are undone"
    letters = alone.sql(
        "SELECT task_name, queue, exception_type, exception_message, retries_attempted, status, traceback"
        " FROM dead_letters WHERE original_task_id = %s",
        [job_id],
    )
    assert [letter[:6] for letter in letters] == [
        ("note", "default", "ValueError", "broken  ? sheet", 2, "pending_review")
    ]
    assert "Traceback" in letters[0][6]


def test_a_job_that_cannot_even_fail_is_buried_all_the_same(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant, **{"raise": True, "cannot fail": True})
        await dispatch(shared, queue)
        await Runner(shared, table(seen))({}, str(tenant), job_id, 1)
        return job_id

    job_id = act(alone, run, job_attempts=1)
    assert state(alone, job_id) == ("failed", 1, 1)
    assert alone.sql("SELECT exception_message FROM dead_letters WHERE original_task_id = %s", [job_id]) == [
        ("broken  ? sheet",)
    ]


def test_a_job_of_an_unknown_name_is_buried(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        await Runner(shared, JobTable())({}, str(tenant), job_id, 1)
        return job_id

    job_id = act(alone, run, job_attempts=1)
    assert alone.sql("SELECT exception_message FROM dead_letters WHERE original_task_id = %s", [job_id]) == [
        ("this worker knows no job note",)
    ]


def test_a_run_that_never_ends_counts_as_failed(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def sleeps(unit: Unit, _: dict[str, Any]) -> None:
        await asyncio.sleep(3600)

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        runner = Runner(shared, table(seen, sleeps))
        runner._most_seconds = 1
        await runner({}, str(tenant), job_id, 1)
        return job_id

    assert state(alone, act(alone, run)) == ("pending", 1, 1)


# Leases -------------------------------------------------------------------------------------------------------------


def test_the_heartbeat_keeps_a_lease(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        async def outlasts(unit: Unit, _: dict[str, Any]) -> None:
            await asyncio.sleep(1.6)
            await dispatch(shared, queue)

        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        await Runner(shared, table(seen, outlasts))({}, str(tenant), job_id, 1)
        return job_id

    assert state(alone, act(alone, run, job_lease_seconds=1)) == ("completed", 1, 0)


def test_a_worker_that_lost_its_lease_stops_and_changes_nothing(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)

        async def loses(unit: Unit, _: dict[str, Any]) -> None:
            if len(seen.runs) > 1:
                return
            alone.sql("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = %s", [job_id])
            await dispatch(shared, queue)  # reaped and handed over anew, while this run goes on
            await asyncio.sleep(60)

        await dispatch(shared, queue)
        runner = Runner(shared, table(seen, loses))
        await asyncio.wait_for(runner({}, str(tenant), job_id, 1), 10)  # the heartbeat stops it
        assert state(alone, job_id) == ("queued", 2, 1)
        await runner({}, str(tenant), job_id, 2)
        return job_id

    job_id = act(alone, run, job_lease_seconds=1)
    assert state(alone, job_id) == ("completed", 2, 1)
    assert name_of(alone, tenant) == "Tenant+", "the first run's effect was undone"


def test_a_run_that_ends_after_its_lease_was_given_away_changes_nothing(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)

        async def loses(unit: Unit, _: dict[str, Any]) -> None:
            alone.sql("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = %s", [job_id])
            await dispatch(shared, queue)

        await dispatch(shared, queue)
        await Runner(shared, table(seen, loses))({}, str(tenant), job_id, 1)
        return job_id

    job_id = act(alone, run, job_lease_seconds=30)
    assert state(alone, job_id) == ("queued", 2, 1)
    assert name_of(alone, tenant) == "Tenant"


def test_a_stopping_worker_gives_its_job_back(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    begun = asyncio.Event()

    async def sleeps(unit: Unit, _: dict[str, Any]) -> None:
        begun.set()
        await asyncio.sleep(60)

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        running = asyncio.create_task(Runner(shared, table(seen, sleeps))({}, str(tenant), job_id, 1))  # type: ignore[arg-type]
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return job_id

    job_id = act(alone, run)
    assert state(alone, job_id) == ("pending", 1, 0), "no failure of the job"
    assert name_of(alone, tenant) == "Tenant"


def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(alone: Apart) -> None:
    """Each worker takes the job and is never heard of again."""
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await accept(shared, tenant)
        runner = Runner(shared, table(seen))
        for attempt in (1, 2, 3):
            await dispatch(shared, queue)
            assert await runner._take(tenant, job_id, attempt) is not None
            alone.sql("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = %s", [job_id])
        await dispatch(shared, queue)
        await runner({}, str(tenant), job_id, 4)
        return job_id

    job_id = act(alone, run)
    assert state(alone, job_id)[0] == "failed"
    assert seen.runs == [], "it is not run a fourth time"
    assert seen.errors == ["The worker that ran the job fell silent"]
    assert alone.sql("SELECT exception_type FROM dead_letters WHERE original_task_id = %s", [job_id]) == [
        ("WorkerLost",)
    ]


# A Redis that forgets -----------------------------------------------------------------------------------------------


def test_queued_jobs_are_handed_over_again_after_a_flush(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        await dispatch(shared, queue)
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        assert await dispatch(shared, queue) == 0
        await queue.flushdb()
        assert await dispatch(shared, queue) == 1
        assert state(alone, job_id) == ("queued", 2, 0), "a flush is no failure of the job"
        assert await queue.zcard("cushion:queue:default") == 1
        assert await queue.exists(QUEUES_MARKER)
        await Runner(shared, table(seen))({}, str(tenant), job_id, 1)  # an old copy, from before the flush
        assert seen.runs == []
        await Runner(shared, table(seen))({}, str(tenant), job_id, 2)
        return job_id

    assert state(alone, act(alone, run))[0] == "completed"


def test_a_running_job_goes_on_through_a_flush(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        async def flushes(unit: Unit, _: dict[str, Any]) -> None:
            await queue.flushdb()
            await dispatch(shared, queue)

        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        await Runner(shared, table(seen, flushes))({}, str(tenant), job_id, 1)
        return job_id

    assert state(alone, act(alone, run)) == ("completed", 1, 0)


def test_a_job_that_redis_alone_lost_is_found_by_its_lease(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        alone.sql("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = %s", [job_id])
        assert await dispatch(shared, queue) == 1
        assert state(alone, job_id) == ("queued", 2, 0)

    act(alone, run)


def test_a_hand_over_that_cannot_be_taken_is_made_again_at_once(alone: Apart) -> None:
    """The database does not answer for a moment.

    Arq drops what raised, and the lease of a queued job is long.
    """
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        assert await dispatch(shared, queue) == 0
        with psycopg.connect(alone.database_url) as second:
            second.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [job_id])
            with pytest.raises(Unavailable):
                await Runner(shared, table(seen))({}, str(tenant), job_id, 1)
        assert state(alone, job_id) == ("queued", 1, 0)
        assert await dispatch(shared, queue) == 1
        assert state(alone, job_id) == ("queued", 2, 0)

    act(alone, run, statement_seconds=1)
    assert seen.runs == []


def test_what_a_killed_worker_had_fetched_is_handed_over_at_the_next_start(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await accept(shared, tenant)
        await dispatch(shared, queue)
        await queue.set(f"arq:in-progress:{job_id}:1", "1")  # so arq leaves it to a worker that is no more
        stopping = asyncio.Event()
        handing = asyncio.create_task(dispatch_forever(shared, queue, alone.database_url, stopping))
        await asyncio.to_thread(wait_until, lambda: state(alone, job_id) == ("queued", 2, 0), what="a new hand-over")
        stopping.set()
        await handing

    act(alone, run)


# Through arq --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def working(shared: Resources, queue: ArqRedis, jobs: JobTable, url: str) -> AsyncIterator[list[QueueWorker]]:
    """The workers of a process."""
    arq = workers(shared, url, jobs)
    running = [asyncio.create_task(worker.async_run()) for worker in arq]
    running.append(asyncio.create_task(wake_forever(shared, arq, queue, asyncio.Event())))
    try:
        yield arq
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.gather(*(worker.pool.aclose() for worker in arq))


async def ran(seen: Seen, count: int) -> None:
    """Until so many runs are over."""
    await asyncio.to_thread(wait_until, lambda: len(seen.runs) >= count, what="the runs")
    await asyncio.sleep(0.1)


def test_every_queue_has_a_worker_that_runs_what_is_handed_over(alone: Apart) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, queue: ArqRedis) -> list[str]:
        jobs = [await accept(shared, tenant, queue=name, queue_name=name) for name in QUEUES]
        assert shared.settings.redis_url is not None
        async with working(shared, queue, table(seen), shared.settings.redis_url):
            await dispatch(shared, queue)
            await ran(seen, len(QUEUES))
        return jobs

    jobs = act(alone, run)
    assert {run["queue_name"] for run in seen.runs} == set(QUEUES)
    wait_until(lambda: all(state(alone, job_id)[0] == "completed" for job_id in jobs), what="completed jobs")


def test_a_burst_does_not_wait_for_looks_at_the_queue(alone: Apart) -> None:
    """Forty jobs, four at a time: they are announced, and each that ends makes room.

    By looks they would take 10 s.
    """
    tenants, seen = [alone.tenant() for _ in range(20)], Seen()

    async def run(shared: Resources, queue: ArqRedis) -> float:
        loop = asyncio.get_running_loop()
        assert shared.settings.redis_url is not None
        async with working(shared, queue, table(seen), shared.settings.redis_url):
            await asyncio.sleep(0.1)
            for number in range(40):
                await accept(shared, tenants[number % 20], queue="parse", number=number)
            began = loop.time()
            assert await dispatch(shared, queue) == 40
            await ran(seen, 40)
        return loop.time() - began

    assert act(alone, run, worker_jobs=4, tenant_jobs=2) < 4
    assert sorted(run["number"] for run in seen.runs) == list(range(40))


def test_workers_outlive_a_redis_that_is_away(alone: Apart, server: RedisServer) -> None:
    tenant, seen = alone.tenant(), Seen()

    async def run(shared: Resources, _: ArqRedis) -> None:
        queue = queue_of(server.url)
        async with working(shared, queue, table(seen), server.url) as arq:
            await asyncio.sleep(0.1)
            server.stop()
            for worker in arq:
                worker.wake()
            await asyncio.sleep(0.1)
            server.start()
            job_id = await accept(shared, tenant, queue="parse")
            await dispatch(shared, queue)
            await ran(seen, 1)
            assert state(alone, job_id)[0] == "completed"
            assert [worker.job_counter for worker in arq] == [0] * len(QUEUES), "places that nobody has are taken"
        await queue.aclose()

    act(alone, run)


def test_two_jobs_of_one_name_are_a_mistake() -> None:
    jobs = table(Seen())
    with pytest.raises(AssertionError, match="two jobs"):
        jobs.job("note", on_failure=jobs.jobs["note"].on_failure)(jobs.jobs["note"].run)
