"""Triggers of alerts without what evaluates them, a worker that delivers them, and a mail server on this machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import msgspec

from service.alerts import store
from service.alerts.channel_actions import seal_channels
from service.alerts.channel_schema import CONFIGS, Channel, ChannelType
from service.alerts.delivery_actions import queue
from service.alerts.schema import Trigger
from service.platform.unit.context import Resources, Unit
from tests.conftest import Stack, wait_until
from tests.service.platform.conftest import Apart
from tests.service.platform.work.test_mail import Post, server

SENTENCE = "CCC bucket is 8.20 %, above 7.50 %"
DETAILS = {
    "metric": "ccc_bucket_pct", "current_value": 8.2, "threshold_value": 7.5, "operator": "gt", "sentence": SENTENCE,
}  # fmt: skip


@dataclass
class Office:
    """Alerts of one tenant."""

    stack: Stack
    apart: Apart
    tenant: UUID = field(init=False)

    def __post_init__(self) -> None:
        self.tenant = self.apart.tenant()

    def alert(self, *channels: tuple[ChannelType, dict[str, Any]], **row: Any) -> UUID:
        """An alert with these channels."""
        alert_id = uuid4()
        whole = [
            Channel(id=uuid4(), type=kind, config=msgspec.to_builtins(msgspec.convert(config, CONFIGS[kind])))
            for kind, config in channels
        ]

        async def make(shared: Resources) -> None:
            unit = Unit(shared, self.tenant, request_id="r")
            columns = {
                "tenant_id": self.tenant, "id": alert_id, "name": "CCC above limit", "alert_type": "threshold",
                "conditions": '{"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5}',
                "enabled": True, **seal_channels(unit, whole),
                "cooldown_minutes": 0, "created_by": "olive@example.com", **row,
            }  # fmt: skip
            names = list(columns)
            await unit.execute(
                f"INSERT INTO alerts ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})",
                list(columns.values()),
            )
            await unit.commit()

        self.apart.run(make)
        return alert_id

    def trigger(self, *alert_ids: UUID, details: dict[str, Any] = DETAILS) -> list[UUID]:
        """Have alerts trigger, in one transaction."""
        return self.apart.run(lambda shared: self.triggered(shared, *alert_ids, details=details))

    async def triggered(self, shared: Resources, *alert_ids: UUID, details: dict[str, Any] = DETAILS) -> list[UUID]:
        unit = Unit(shared, self.tenant, request_id="r")
        new_alert = []
        for alert_id in alert_ids:
            await unit.execute("SELECT FROM alerts WHERE id = %s FOR NO KEY UPDATE", [alert_id])
            new_alert.append(uuid4())
            await unit.execute(
                "INSERT INTO alert_history (tenant_id, id, alert_id, details) VALUES (%s, %s, %s, %s)",
                [self.tenant, new_alert[-1], alert_id, msgspec.json.encode(details).decode()],
            )
        await queue(unit, new_alert)
        await unit.commit()
        return new_alert

    def history(self, alert_id: UUID) -> list[Trigger]:
        """An alert's triggers, the oldest first."""
        result = self.apart.run(
            lambda shared: store.history(Unit(shared, self.tenant, request_id="r"), alert_id, most=100)
        )
        return list(reversed(result))

    def ended(self, alert_id: UUID) -> list[Trigger]:
        """The same once none of their deliveries waits."""
        waiting = "SELECT 1 FROM alert_deliveries WHERE alert_id = %s AND status = 'pending'"
        wait_until(lambda: not self.apart.sql(waiting, [alert_id]), what="the end of the deliveries")
        return self.history(alert_id)

    def buried(self) -> list[tuple[str, str]]:
        """The tenant's dead letters: type and message."""
        sql = "SELECT exception_type, exception_message FROM dead_letters WHERE tenant_id = %s"
        return [(kind, message) for kind, message in self.apart.sql(sql, [self.tenant])]

    @contextmanager
    def worker(self, **settings: str) -> Iterator[None]:
        """A worker that sees these alerts, and no others."""
        assert self.apart.settings.database_url
        assert self.apart.settings.redis_url
        urls = {
            "CUSHION_DATABASE_URL": self.apart.settings.database_url,
            "CUSHION_REDIS_URL": self.apart.settings.redis_url,
        }
        with self.stack.another_worker(**urls, **settings):
            yield


@contextmanager
def mail_server(post: Post) -> Iterator[str]:
    """A mail server in a thread; its URL."""
    loop, stop, started = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with server(post) as port:
            urls.append(f"smtp://127.0.0.1:{port}")
            started.set()
            await stop.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(10)
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
