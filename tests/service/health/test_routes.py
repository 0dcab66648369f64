"""Health: public, quick, and honest about what does not answer."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from socket import gethostname
from typing import Any

import httpx
import pytest

import core
from core import warm
from service.app import routes
from service.health.actions import deep, details, readiness
from service.health.routes import health_deep, ready
from service.health.schema import Check, Deep, Readiness
from service.platform.base.breakers import SERVICES
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Unavailable
from service.platform.route.api import Raw, Route
from service.platform.unit.context import Context, Resources
from service.platform.unit.query_cache import LOOK_SECONDS, QueryCache
from service.platform.work.queues import LISTENER
from tests.conftest import Member, Stack, register, wait_until
from tests.records import path_of
from tests.redis_server import RedisServer, redis_server
from tests.rows import every


def test_the_basic_view(stack: Stack) -> None:
    body = httpx.get(stack.url + "/health").json()
    assert set(body) == {"status", "version", "timestamp"}
    assert (body["status"], body["version"]) == ("healthy", core.__version__)
    assert datetime.fromisoformat(body["timestamp"]).tzinfo is not None


def test_alive(stack: Stack) -> None:
    assert httpx.get(stack.url + "/health/live").json() == {"status": "alive"}


def test_ready(stack: Stack) -> None:
    body = httpx.get(stack.url + "/health/ready").json()
    assert set(body) == {"status", "version", "timestamp", "checks", "degraded"}
    assert (body["status"], body["degraded"]) == ("ready", False)
    assert set(body["checks"]) == {"database", "cache", "kernels", "storage"}
    assert all(set(check) == {"status", "message"} and check["status"] == "ok" for check in body["checks"].values())


def test_what_of_the_process_cannot_work_makes_it_not_ready(stack: Stack) -> None:
    """And is named: a process whose calculators do not start answers no request that needs one."""

    async def ask() -> list[tuple[Readiness, str]]:
        async with stack.resources() as shared:
            answer = []
            for faults in ({}, {"calculators": "no child starts: ChildFailed"}, {}):
                shared.faults.clear()
                shared.faults.update(faults)
                shared.opened.pop(QueryCache, None)  # an earlier look is good for a while
                actual_readiness = await readiness(shared)
                answer.append((actual_readiness, (await details(shared)).status))
            return answer

    warm.warm()
    before, failing, after = asyncio.run(ask())
    assert [item.status for item, _ in (before, failing, after)] == ["ready", "not_ready", "ready"]
    assert failing[0].checks["calculators"] == Check("error", "no child starts: ChildFailed")
    assert failing[1] == "unhealthy"
    assert "calculators" not in after[0].checks


def test_queue_depths_count_what_waits(stack: Stack, owner: Member) -> None:
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments, ready_at)"
        " VALUES (%s, %s, 'export', '-', '{}', now() + interval '1 hour')",
        [owner.tenant_id, f"task_{owner.tenant_id}"],
    )
    try:
        time.sleep(LOOK_SECONDS)  # an earlier look is good for so long
        body = httpx.get(stack.url + "/health/queue-depths").json()
    finally:
        stack.sql("DELETE FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert set(body) == {"queues", "total_pending", "timestamp"}
    assert set(body["queues"]) == {"default", "calculate", "parse", "priority", "export", "webhooks"}
    assert body["queues"]["export"] >= 1
    assert body["total_pending"] == sum(body["queues"].values())


VIEWS = [row for row in routes() if row.path.startswith("/health") and row.method == "GET"]


@every("row", VIEWS, ids=lambda row: row.path)
def test_no_tenant_and_no_secret_shows(stack: Stack, shared_owner: Member, row: Route) -> None:
    """Nor a host, a folder, a URL or a process's environment.

    To nobody, who has no credentials at all.
    """
    answer = httpx.get(stack.url + path_of(row, service="database"), timeout=60)
    assert answer.status_code == 200, answer.text
    text = answer.text.lower().replace("postgresql does not answer", "")
    slug = shared_owner.get("/api/v1/admin/tenant").json()["slug"]
    hidden = [shared_owner.tenant_id, shared_owner.user_id, shared_owner.email, slug, str(stack.data_dir), "/tmp"]
    hidden += ["postgres://", "postgresql:", "redis:", "://", "@", gethostname(), "svc_", "cushion_", str(os.getpid())]
    assert [word for word in hidden if word.lower() in text] == []
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(answer.headers)


def test_views_say_what_they_are_about(stack: Stack) -> None:
    def view(path: str) -> dict[str, Any]:
        result: dict[str, Any] = httpx.get(f"{stack.url}/health/{path}", timeout=60).json()
        return result

    assert (
        set(view("detailed")["breakers"])
        == set(SERVICES)
        == {service["service"] for service in view("services")["services"]}
    )
    assert view("circuit-breaker/blobs")["service"] == "blobs"
    assert (view("resilience")["level"], view("degradation")["level"]) == ("normal", "normal")
    assert view("degradation/history?limit=3")["limit"] == 3
    assert view("degradation/history")["limit"] == 50
    assert {flag["name"] for flag in view("feature-flags")["flags"]} == set(FLAGS)
    for path, status in (
        ("circuit-breaker/nobody", 404), ("circuit-breaker/database%00", 404), ("degradation/history?limit=0", 422),
        ("degradation/history?limit=501", 422), ("degradation/history?limit=x", 422), ("nobody", 404),
    ):  # fmt: skip
        assert httpx.get(f"{stack.url}/health/{path}", timeout=60).status_code == status, path


def test_deep_asks_each_dependency(stack: Stack) -> None:

    def stored() -> set[Path]:
        return {path for path in (stack.data_dir / "blobs").rglob("*") if path.is_file() and path.name != "deployment"}

    async def ask() -> Deep:
        async with stack.resources() as shared:
            return await deep(shared)

    before = stored()
    wait_until(
        lambda: stack.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = %s", [LISTENER]), what="a worker"
    )
    result = asyncio.run(ask())
    asked = {name: check.status for name, check in result.checks.items() if name not in ("disk", "kernels")}
    assert asked == dict.fromkeys(["database", "storage", "migrations", "cache", "workers", "blobs"], "ok")
    assert stored() == before, "what was written for the look is gone"


def test_however_often_strangers_ask_there_is_one_look_at_a_time(stack: Stack) -> None:
    looks = []

    async def look(shared: object) -> int:
        looks.append(shared)
        await asyncio.sleep(0.05)
        if len(looks) == 2:
            raise Unavailable
        return len(looks)

    async def ask() -> None:
        asked = QueryCache("the resources")  # type: ignore[arg-type]
        assert set(await asyncio.gather(*(asked.of("a", look, seconds=60) for _ in range(1000)))) == {1}
        assert await asked.of("a", look, seconds=60) == 1
        failed = await asyncio.gather(*(asked.of("b", look) for _ in range(100)), return_exceptions=True)
        assert {type(answer) for answer in failed} == {Unavailable}
        cut = asyncio.create_task(asked.of("b", look))
        second = asyncio.create_task(asked.of("b", look))
        await asyncio.sleep(0)
        cut.cancel()
        assert await second == 3, "who leaves takes the look from nobody"
        assert len(looks) == 3

    asyncio.run(ask())


@pytest.fixture(scope="module")
def alone(stack: Stack) -> Iterator[tuple[RedisServer, Member]]:
    """A Redis of one API's own, which is not waited for long, and an owner who calls that API."""
    with redis_server() as redis, stack.another_api(CUSHION_REDIS_URL=redis.url + "?socket_timeout=1") as url:
        yield redis, register(url)


@pytest.mark.parametrize(("ends", "returns"), [("stop", "start"), ("hang", "go_on")])
def test_without_redis_the_service_is_ready_and_says_what_it_lacks(
    alone: tuple[RedisServer, Member], ends: str, returns: str
) -> None:
    """It serves: a balancer that took every process out would end what goes on."""
    redis, owner = alone
    getattr(redis, ends)()
    wait_until(lambda: owner.get("/health/ready").json()["degraded"], what="a new look")
    answer = owner.get("/health/ready")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["degraded"]) == ("ready", True)
    assert answer.json()["checks"]["cache"] == {"status": "error", "message": "Redis does not answer"}
    assert answer.json()["checks"]["database"]["status"] == "ok"
    assert owner.get("/api/v1/workbooks").status_code == 200
    getattr(redis, returns)()
    wait_until(lambda: not owner.get("/health/ready").json()["degraded"], what="Redis")


def test_not_ready_without_a_database(stack: Stack) -> None:
    async def ask() -> Readiness | Raw:
        async with stack.resources() as shared:
            await shared.database.close()
            answer = await ready(_context(shared))
            asked = await health_deep(_context(shared))
            assert isinstance(asked, Raw)
            assert (asked.status, json.loads(asked.content)["status"]) == (503, "unhealthy")
            return answer

    answer = asyncio.run(ask())
    assert isinstance(answer, Raw)
    assert b'"database":{"status":"error","message":"PostgreSQL does not answer"}' in answer.content


def _context(shared: Resources) -> Context:
    return Context(shared, request_id="-", ip_address="-", headers={})
