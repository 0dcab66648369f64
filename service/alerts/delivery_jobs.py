"""Delivering alerts, in the worker: a job for the first delivery of each line."""

from __future__ import annotations

from typing import Any

import msgspec

from service.alerts.delivery_actions import DELIVER, end
from service.alerts.delivery_actions import deliver as deliver_first
from service.alerts.delivery_store import Line
from service.platform.context import Unit
from service.platform.work.jobs import JobTable, nothing_to_lift

jobs = JobTable()


async def give_up(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """It failed for good: the delivery says what its last attempt came to, the dead letter all else."""
    await end(unit, msgspec.convert(arguments, Line), None)


@jobs.job(DELIVER, failed=give_up, lifted=nothing_to_lift)
async def deliver(unit: Unit, arguments: dict[str, Any]) -> None:
    """Attempt a delivery."""
    await deliver_first(unit, msgspec.convert(arguments, Line))
