"""What has expired goes: sessions, jobs, resets, revocations, idempotency keys, event numbers, documents' bytes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from service.platform.context import Resources
from service.platform.http.problem import Unavailable

PAUSE_SECONDS = 30
MOST_AT_A_TIME = 10_000
"""So that no statement runs into its time limit, however much has piled up."""
FORGETTING: Final = (
    "SELECT expire_documents(%s)",
    "SELECT forget_event_numbers(%s)",
    "SELECT forget_idempotency_keys(%s)",
    "SELECT forget_jobs(%s)",
    "SELECT forget_password_resets(%s)",
    "SELECT forget_revocations(%s)",
    "SELECT forget_sessions(%s)",
)
"""Each deletes what has expired of one kind, whoever's it is."""

log = structlog.get_logger()


async def forget_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Until told to stop, through failures."""
    while not stopping.is_set():
        for statement in FORGETTING:
            try:
                while not stopping.is_set() and await _forgotten(resources, statement) == MOST_AT_A_TIME:
                    pass
            except Unavailable as error:
                log.warning("upkeep.failed", statement=statement, error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)


async def _forgotten(resources: Resources, statement: str) -> int:
    async with resources.database.transaction() as tx:
        return int(await tx.value(statement, [MOST_AT_A_TIME]))
