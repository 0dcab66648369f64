"""Health: public, quick, and honest about what does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime

import httpx
import pytest

import core
from service.health.routes import ready
from service.health.schema import Readiness
from service.platform.context import Context, Resources
from service.platform.http.api import Raw
from tests.conftest import Member, Stack, register, wait_until
from tests.redis_server import RedisServer, redis_server


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
    assert {"database", "cache"} <= set(body["checks"])
    assert all(set(check) == {"status", "message"} and check["status"] == "ok" for check in body["checks"].values())


def test_queue_depths_count_what_waits(stack: Stack, owner: Member) -> None:
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments, ready_at)"
        " VALUES (%s, %s, 'export', '-', '{}', now() + interval '1 hour')",
        [owner.tenant_id, f"task_{owner.tenant_id}"],
    )
    try:
        body = httpx.get(stack.url + "/health/queue-depths").json()
    finally:
        stack.sql("DELETE FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert set(body) == {"queues", "total_pending", "timestamp"}
    assert set(body["queues"]) == {"default", "calculate", "parse", "priority", "export", "webhooks"}
    assert body["queues"]["export"] >= 1
    assert body["total_pending"] == sum(body["queues"].values())


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/health/queue-depths"])
def test_no_tenant_and_no_secret_shows(stack: Stack, owner: Member, path: str) -> None:
    text = httpx.get(stack.url + path).text
    assert owner.tenant_id not in text
    assert "postgres" not in text.lower().replace("postgresql does not answer", "")
    assert str(stack.data_dir) not in text


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
    answer = owner.get("/health/ready")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["degraded"]) == ("ready", True)
    assert answer.json()["checks"]["cache"] == {"status": "error", "message": "Redis does not answer"}
    assert answer.json()["checks"]["database"]["status"] == "ok"
    assert owner.get("/api/v1/workbooks").status_code == 200
    getattr(redis, returns)()
    wait_until(lambda: not owner.get("/health/ready").json()["degraded"], what="Redis")


def test_not_ready_without_a_database(stack: Stack) -> None:
    from service.platform import config
    from service.platform.work.process import resources

    settings = config.load(stack.environment)

    async def ask() -> Readiness | Raw:
        async with resources(settings) as shared:
            await shared.database.close()
            return await ready(_context(shared))

    answer = asyncio.run(ask())
    assert isinstance(answer, Raw)
    assert b'"database":{"status":"error","message":"PostgreSQL does not answer"}' in answer.content


def _context(shared: Resources) -> Context:
    return Context(shared, request_id="-", ip_address="-", headers={})
