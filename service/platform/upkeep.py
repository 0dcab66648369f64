"""What no request waits for: records that have had their time are forgotten."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from service.platform.context import Resources
from service.platform.problem import Unavailable

PAUSE_SECONDS = 30
FORGETTING: Final = (
    "SELECT forget_idempotency_keys()",
    "SELECT forget_jobs()",
    "SELECT forget_password_resets()",
    "SELECT forget_revocations()",
    "SELECT forget_sessions()",
)
"""Each deletes what has expired of one kind, whoever's it is."""

log = structlog.get_logger()


async def forget_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Until told to stop, through failures."""
    while not stopping.is_set():
        for statement in FORGETTING:
            try:
                async with resources.database.transaction() as tx:
                    await tx.execute(statement)
            except Unavailable as error:
                log.warning("upkeep.failed", statement=statement, error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)
