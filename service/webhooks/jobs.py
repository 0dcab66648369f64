"""Delivering to webhooks, in the worker: one job serves the line of one webhook."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from uuid import UUID

from service.platform.unit.context import Unit
from service.platform.work.jobs import JobTable, accept_retry
from service.webhooks import store
from service.webhooks.delivery_actions import DELIVER, hasten, record, send
from service.webhooks.schema import WebhookNotFound

TURN_SECONDS: Final = 10.0
"""After which a job goes behind those of other webhooks."""
FAULT_SECONDS: Final = 60.0
"""The pause after a fault of the service's own."""
DISABLED: Final = "the webhook was disabled before it could be sent"
FAULT: Final = "a fault in the service; replay it"

jobs = JobTable()


async def pass_over(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Fail the first delivery of a line; another job serves the rest."""
    await store.fail_waiting(unit, UUID(arguments["webhook_id"]), FAULT, most=1)
    await _serve(unit, arguments, FAULT_SECONDS)


@jobs.job(DELIVER, on_failure=pass_over, flag="webhooks")
async def deliver(unit: Unit, arguments: dict[str, Any]) -> None:
    """Send what waits for a webhook, in order, until one fails.

    What was sent and not yet written down when a worker dies is sent again.
    """
    webhook_id, loop = UUID(arguments["webhook_id"]), asyncio.get_running_loop()
    turn_ends = loop.time() + TURN_SECONDS
    while True:
        try:
            target = await store.targets.get(unit, webhook_id)
        except WebhookNotFound:
            await store.clear(unit, webhook_id)
            return
        if not target.enabled:
            await store.fail_waiting(unit, webhook_id, DISABLED)
        waiting = await store.next_waiting(unit, webhook_id)
        if waiting is None:
            return
        await unit.commit()  # no connection is held while the receiver takes its time
        result = await send(unit, target, waiting.message_id, waiting.payload)
        pause = await record(unit, target, waiting, result)
        if pause is not None or loop.time() >= turn_ends:
            await _serve(unit, arguments, pause or 0.0)
            return
        await unit.commit()


async def leave(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Waking failed: the next event of the webhook's does it."""


@jobs.job("webhooks.wake", on_failure=leave, on_retry=accept_retry)
async def wake(unit: Unit, arguments: dict[str, Any]) -> None:
    """Serve a line that no event woke, such as a replay's."""
    webhook_id = UUID(arguments["webhook_id"])
    await hasten(unit, webhook_id)
    if await store.take_service(unit, webhook_id):
        await _serve(unit, arguments, 0.0)


async def _serve(unit: Unit, arguments: dict[str, Any], delay_seconds: float) -> None:
    await unit.enqueue(DELIVER, queue="webhooks", arguments=arguments, delay_seconds=delay_seconds)
