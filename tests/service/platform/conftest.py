"""A database and a Redis of its own beside the running service, for the platform's parts in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import pytest
from arq.connections import ArqRedis
from redis import Redis

from service.platform import config
from service.platform.config import Settings
from service.platform.data.database import as_service
from service.platform.data.migrations import migrate
from service.platform.unit.context import Resources
from service.platform.work.process import resources
from service.platform.work.queues import queue_of
from tests.conftest import Asked, Stack
from tests.redis_server import RedisServer, redis_server

T = TypeVar("T")


@dataclass
class Apart:
    """Servers that no API and no worker looks at."""

    settings: Settings
    redis: Redis

    def __post_init__(self) -> None:
        self.sql = Asked(self.database_url).sql

    @property
    def database_url(self) -> str:
        """The owner's."""
        assert self.settings.migration_url is not None
        return self.settings.migration_url

    def run(self, what: Callable[[Resources], Awaitable[T]], **changed: Any) -> T:
        """Run a coroutine function with open resources, and with some settings changed."""
        values = {name: getattr(self.settings, name) for name in self.settings.__struct_fields__} | changed

        async def main() -> T:
            async with resources(Settings(**values)) as shared:
                return await what(shared)

        return asyncio.run(main())

    def tenant(self, *, tier: str = "enterprise", status: str = "active") -> UUID:
        """A tenant with nobody in it."""
        tenant_id = uuid4()
        self.sql(
            "INSERT INTO tenants (id, name, slug, subscription_tier, status) VALUES (%s, %s, %s, %s, %s)",
            [tenant_id, "Tenant", f"tenant-{tenant_id.hex}", tier, status],
        )
        return tenant_id

    def user(self, tenant_id: UUID, *, role: str = "owner", status: str = "active") -> UUID:
        """A user who cannot log in."""
        user_id = uuid4()
        self.sql(
            "INSERT INTO users (tenant_id, id, email, full_name, role, status) VALUES (%s, %s, %s, %s, %s, %s)",
            [tenant_id, user_id, f"{user_id.hex}@example.com", "Una User", role, status],
        )
        return user_id


@pytest.fixture(scope="session")
def apart(stack: Stack) -> Iterator[Apart]:
    """A fresh database on the test's PostgreSQL, and the second database of its Redis."""
    name = f"apart_{uuid4().hex[:12]}"
    stack.sql(f"CREATE DATABASE {name}")
    database_url = urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))
    redis_url = stack.redis_url + "?db=1"
    migrate(database_url)
    urls = {"CUSHION_DATABASE_URL": as_service(database_url), "CUSHION_MIGRATION_URL": database_url}
    settings = config.load({**stack.environment, **urls, "CUSHION_REDIS_URL": redis_url})
    with Redis.from_url(redis_url) as redis:
        yield Apart(settings, redis)
    stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def clean(apart: Apart) -> Apart:
    """The same with nothing in its Redis."""
    apart.redis.flushdb()
    return apart


@pytest.fixture
def alone(clean: Apart) -> Apart:
    """No job of an earlier test is still open."""
    clean.sql("UPDATE jobs SET status = 'completed' WHERE status IN ('pending', 'queued', 'running')")
    return clean


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A Redis of the test's own, to be stopped, hung and started again."""
    with redis_server() as running:
        yield running


@pytest.fixture(scope="session")
def nowhere() -> str:
    """A Redis that never was."""
    return "redis://127.0.0.1:1/0"


def act(apart: Apart, what: Callable[[Resources, ArqRedis], Awaitable[Any]], **settings: Any) -> Any:
    """Run what hands jobs over and works on them, with a queue.

    A failed job is tried again at once.
    """

    async def main(shared: Resources) -> Any:
        assert apart.settings.redis_url is not None
        queue = queue_of(apart.settings.redis_url)
        try:
            return await what(shared, queue)
        finally:
            await queue.aclose()

    return apart.run(main, **{"job_backoff_seconds": 0, "job_attempts": 3} | settings)
