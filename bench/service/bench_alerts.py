"""Alerts after runs.

100 tenants run a workbook each, and each run concerns 100 alerts of its tenant.

Timed are the 100 jobs that the runs' events leave, from the start of the first to the end of the last: taken, run and
finished by the worker's own runner in one process, four at a time as a worker runs them, with PostgreSQL and its
commits. The runs are made before. Handing over through Redis is not in it.

Of a tenant's 100 alerts 70 compare a metric (10 of these for an hour), 20 look at tests and 10 at a trend of 90 days,
over 12 earlier runs. Five are raised, each with its row of history, its delivery, the delivery's job and its event.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import psycopg

import core
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.alerts.metrics import METRICS
from core.compliance.result import Results
from core.generate import generate
from service.host.embedded import Embedded
from service.platform import config
from service.platform.data.database import as_service
from service.platform.data.migrations import migrate
from service.platform.unit.context import Resources, Subject, Unit
from service.platform.work.process import resources
from service.platform.work.runner import Runner
from service.worker import jobs

TENANTS = 100
RUNS_BEFORE = 12
REPEATS = 3
RAISED = 5
SECONDS_MOST = 1.0
NEVER = 1e9
CHANNELS = [{"id": str(uuid4()), "type": "in_app", "config": {"user_ids": [str(uuid4())], "priority": "normal"}}]


def _looked_at() -> Prepared:
    """The times in which the alerts of all tenants are looked at."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-bench-"))
    folder.chmod(0o755)  # the account that PostgreSQL runs as must be able to enter
    try:
        with Embedded(folder / "data") as servers:
            migrate(servers.database_url)
            settings = config.load(
                {
                    "CUSHION_DATABASE_URL": as_service(servers.database_url),
                    "CUSHION_REDIS_URL": servers.redis_url,
                    "CUSHION_DATA_DIR": str(folder / "data"),
                    "CUSHION_EMBEDDED": "1",
                    "CUSHION_LOG_LEVEL": "warning",
                }
            )
            return Prepared(works={OURS: asyncio.run(_timed(settings, servers.database_url))})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _timed(settings: config.Settings, database_url: str) -> list[float]:
    results = core.run_suite(_portfolio(), "enhanced")
    times = []
    async with resources(settings) as shared:
        runner = Runner(shared, jobs())
        with psycopg.connect(database_url, autocommit=True) as connection:
            books = _prepared(connection, results)
            for rounds in range(1, REPEATS + 2):
                waiting = await _events(shared, connection, books, results)
                times.append(await _worked(runner, waiting, settings.worker_jobs))
                _verify(connection, rounds)
    return times[1:]


def _portfolio() -> core.Portfolio:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deal.xlsx"
        generate(loans=200, seed=7).write(path)
        return core.Portfolio.from_workbook(core.read(path))


def _alerts() -> list[dict[str, Any]]:
    """Conditions of a tenant's alerts; the first five hold."""
    metrics = list(METRICS)
    threshold = [
        {"metric": metrics[place % len(metrics)], "operator": "gt", "value": -NEVER if place < RAISED else NEVER}
        for place in range(60)
    ]
    lasting = [{**threshold[place], "value": NEVER, "duration_minutes": 60} for place in range(5)]
    waiting = [{**threshold[place], "value": -NEVER, "duration_minutes": 60 * 24 * 300} for place in range(5)]
    tests = [{"status": ["fail"], "test_ids": [metrics[place % 2]], "cushion_threshold": -NEVER} for place in range(20)]
    trends = [
        {"metric": metrics[place % len(metrics)], "direction": "either", "change_threshold": NEVER, "lookback_days": 90}
        for place in range(10)
    ]
    return [*threshold, *lasting, *waiting, *tests, *trends]


def _prepared(connection: psycopg.Connection[Any], results: Results) -> list[tuple[UUID, UUID]]:
    """Tenants, each with a workbook, its earlier runs and its alerts.

    (tenant, workbook) of each.
    """
    books = []
    for place in range(TENANTS):
        tenant, book = uuid4(), uuid4()
        connection.execute(
            "INSERT INTO tenants (id, name, slug, subscription_tier) VALUES (%s, 'Bench', %s, 'enterprise')",
            [tenant, f"bench-{place}"],
        )
        connection.execute(
            "INSERT INTO workbooks (tenant_id, id, name, file_name, file_size, content_hash, status, sheet_count,"
            " created_by) VALUES (%s, %s, 'deal.xlsx', 'deal.xlsx', 1, 'x', 'ready', 1, 'bench')",
            [tenant, book],
        )
        connection.execute("INSERT INTO evidence_books (tenant_id, key, manifest) VALUES (%s, 'x', '{}')", [tenant])
        for ago in range(RUNS_BEFORE, 0, -1):
            _run(connection, tenant, book, results, timedelta(days=7 * ago))
        for conditions in _alerts():
            kind = "compliance" if "status" in conditions else "trend" if "direction" in conditions else "threshold"
            connection.execute(
                "INSERT INTO alerts (tenant_id, id, name, alert_type, conditions, channels, workbook_id, enabled,"
                " cooldown_minutes, created_by) VALUES (%s, %s, 'Alert', %s, %s, %s, %s, true, 0, 'bench')",
                [tenant, uuid4(), kind, json.dumps(conditions), json.dumps(CHANNELS), book],
            )
        books.append((tenant, book))
    connection.execute("ANALYZE")
    return books


def _run(
    connection: psycopg.Connection[Any], tenant: UUID, book: UUID, results: Results, ago: timedelta = timedelta()
) -> UUID:
    run_id = uuid4()
    figures = {result.test_id: {"value": result.current_value, "status": result.status} for result in results}
    row = {
        "tenant_id": tenant, "id": run_id, "workbook_id": book, "test_suite": "enhanced", "status": "completed",
        "summary": results.summary, "results": list(results), "skipped": results.skipped, "execution_time_ms": 1.0,
        "workbook_hash": "x", "book_key": "x", "mapping": {}, "thresholds": {}, "options": {},
        "engine_version": "bench", "as_of": "2026-03-31", "created_by": "bench", "figures": figures, "ago": ago,
    }  # fmt: skip
    texts = {"summary", "results", "skipped", "mapping", "thresholds", "options", "figures"}
    values = {name: msgspec.json.encode(value).decode() if name in texts else value for name, value in row.items()}
    names = [name for name in row if name != "ago"]
    connection.execute(
        f"INSERT INTO compliance_runs ({', '.join(names)}, executed_at)"
        f" VALUES ({', '.join(f'%({name})s' for name in names)}, now() - %(ago)s)",
        values,
    )
    return run_id


async def _events(
    shared: Resources, connection: psycopg.Connection[Any], books: list[tuple[UUID, UUID]], results: Results
) -> list[tuple[str, str]]:
    """A run of each workbook with its event.

    (tenant, job) of what this leaves to do, handed over.
    """
    for tenant, book in books:
        run_id = _run(connection, tenant, book, results)
        unit = Unit(shared, tenant, request_id="bench")
        await unit.audit(
            "compliance.run_completed", Subject("compliance_run", str(run_id), None, {"workbook_id": book})
        )
        await unit.commit()
    jobs = connection.execute(
        "UPDATE jobs SET status = 'queued', attempt = 1, lease_until = now() + interval '1 hour'"
        " WHERE name = 'alerts.evaluate' AND status = 'pending' RETURNING tenant_id, id"
    ).fetchall()
    assert len(jobs) == len(books), "an event wrote no job"
    return [(str(tenant), job_id) for tenant, job_id in jobs]


async def _worked(runner: Runner, waiting: list[tuple[str, str]], at_a_time: int) -> float:
    places = asyncio.Semaphore(at_a_time)

    async def evaluate(tenant: str, job_id: str) -> None:
        async with places:
            await runner({}, tenant, job_id, 1)

    started = time.perf_counter()
    await asyncio.gather(*(evaluate(*job) for job in waiting))
    return time.perf_counter() - started


def _verify(connection: psycopg.Connection[Any], rounds: int) -> None:
    """Every alert was looked at in this round, and those that hold were raised."""
    open_jobs = connection.execute("SELECT count(*) FROM jobs WHERE name = 'alerts.evaluate' AND status <> 'completed'")
    assert open_jobs.fetchone() == (0,), "a job did not end"
    looked = connection.execute("SELECT count(*) FROM alerts WHERE last_evaluation IS NULL").fetchone()
    assert looked == (0,), "an alert was passed over"
    raised = connection.execute("SELECT count(*), sum(trigger_count) FROM alerts WHERE trigger_count > 0").fetchone()
    assert raised == (TENANTS * RAISED, TENANTS * RAISED * rounds), f"other alerts were raised: {raised}"


bench_alerts = asked(
    Question(
        name=f"alerts, {TENANTS * len(_alerts()):,} of {TENANTS} tenants after a run of each, by the worker's jobs",
        prepare=_looked_at, seconds_most=SECONDS_MOST,
    )
)  # fmt: skip
