"""Alerts in the worker.

Looks at them, schedules by the clock, and deliveries to channels.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

import msgspec
import structlog

from service.alerts import delivery_actions, evaluation_actions, summary_actions
from service.alerts.delivery_actions import DELIVER
from service.alerts.delivery_store import DeliveryLine
from service.alerts.evaluation_actions import EVALUATE, EVALUATE_BATCH, LOOK_AGAIN
from service.alerts.evaluation_store import due
from service.alerts.summary_actions import ORDER, SEND
from service.platform.base.problem import Problem, Unavailable
from service.platform.base.secrets import new_id
from service.platform.unit.context import Resources, Unit
from service.platform.work.jobs import JobTable, accept_retry

PAUSE_SECONDS: Final = 2.0
"""Between two looks at the clock."""

jobs = JobTable()
log = structlog.get_logger()


async def leave(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Do nothing: the dead letter can be retried."""


@jobs.job(EVALUATE, on_failure=leave, on_retry=accept_retry)
async def evaluate(unit: Unit, arguments: dict[str, Any]) -> None:
    """Evaluate the alerts of a workbook after a run or a recalculation."""
    workbook_id, run_id = UUID(arguments["workbook_id"]), arguments["run_id"]
    if run_id is None:
        await evaluation_actions.after_recalculation(unit, workbook_id)
    else:
        await evaluation_actions.after_run(unit, workbook_id, UUID(run_id))


@jobs.job(EVALUATE_BATCH, on_failure=leave, on_retry=accept_retry)
async def evaluate_batch(unit: Unit, arguments: dict[str, Any]) -> None:
    """Order the evaluations of a batch that has ended."""
    await evaluation_actions.after_batch(unit, UUID(arguments["batch_id"]), arguments.get("after", -1))


@jobs.job(LOOK_AGAIN, on_failure=leave, on_retry=accept_retry)
async def look_again(unit: Unit, arguments: dict[str, Any]) -> None:
    """Look at an alert again whose condition had not held for long enough."""
    await evaluation_actions.look_again(unit, UUID(arguments["alert_id"]), UUID(arguments["workbook_id"]))


@jobs.job(ORDER, on_failure=leave, on_retry=accept_retry)
async def order_summary(unit: Unit, arguments: dict[str, Any]) -> None:
    """Order the report of a schedule that is due."""
    await summary_actions.order(unit, UUID(arguments["alert_id"]), arguments["due_at"])


@jobs.job(SEND, on_failure=leave, on_retry=accept_retry)
async def send_summary(unit: Unit, arguments: dict[str, Any]) -> None:
    """Send what a schedule ordered."""
    await summary_actions.send(unit, arguments)


async def give_up(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Fail the delivery; the dead letter has the cause."""
    await delivery_actions.end(unit, msgspec.convert(arguments, DeliveryLine), None)


@jobs.job(DELIVER, on_failure=give_up, on_retry=accept_retry, flag="alerts")
async def deliver(unit: Unit, arguments: dict[str, Any]) -> None:
    """Attempt the first delivery of a line."""
    await delivery_actions.deliver(unit, msgspec.convert(arguments, DeliveryLine))


# Schedules ------------------------------------------------------------------------------------------------------------


async def dispatch_due(resources: Resources) -> None:
    """Serve each schedule that is due, in a transaction of its own.

    Raises:
        Unavailable: the database is away.
    """
    for schedule in await due(resources):
        unit = Unit(resources, schedule.tenant_id, request_id=str(new_id()))
        try:
            await summary_actions.dispatch(unit, schedule.id)
            await unit.commit()
        except BaseException as error:
            await unit.rollback(error)
            if isinstance(error, Unavailable) or not isinstance(error, Exception):
                raise
            log.error("alerts.dispatch_failed", alert_id=str(schedule.id), exc_info=error)


async def watch_clock_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Serve due schedules until stopped, through failures."""
    while not stopping.is_set():
        try:
            await dispatch_due(resources)
        except Problem as error:
            log.warning("alerts.clock_failed", error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)
