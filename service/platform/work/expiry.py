"""What has expired goes: sessions, jobs, revocations, keys, documents, insights, messages, triggers, counts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from service.platform.context import Resources
from service.platform.http.problem import Problem

PAUSE_SECONDS = 30
MOST_AT_A_TIME = 10_000
"""So that no statement runs into its time limit, however much has piled up."""
FORGETTING: Final = (
    "SELECT expire_documents(%(most)s)",
    "SELECT forget_alert_figures(%(alert_history_days)s, %(most)s)",
    "SELECT forget_alert_history(%(alert_history_days)s, %(most)s)",
    "SELECT forget_event_numbers(%(most)s)",
    "SELECT forget_idempotency_keys(%(most)s)",
    "SELECT forget_insight_questions(%(insight_days)s, %(most)s)",
    "SELECT forget_insight_sessions(%(insight_days)s, %(most)s)",
    "SELECT forget_jobs(%(most)s)",
    "SELECT forget_notifications(%(notification_days)s, %(most)s)",
    "SELECT forget_password_resets(%(most)s)",
    "SELECT forget_revocations(%(most)s)",
    "SELECT forget_sessions(%(most)s)",
    "SELECT forget_webhook_deliveries(%(webhook_log_days)s, %(most)s)",
)
"""Each deletes what has expired of one kind, whoever's it is; a figure is the setting of its name."""

log = structlog.get_logger()


async def forget_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Until told to stop, through failures."""
    while not stopping.is_set():
        for statement in FORGETTING:
            try:
                while not stopping.is_set() and await _forgotten(resources, statement) == MOST_AT_A_TIME:
                    pass
            except Problem as error:  # a lock that did not come, too
                log.warning("upkeep.failed", statement=statement, error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)


async def _forgotten(resources: Resources, statement: str) -> int:
    figures = {
        "most": MOST_AT_A_TIME,
        "insight_days": resources.settings.insight_days,
        "alert_history_days": resources.settings.alert_history_days,
        "notification_days": resources.settings.notification_days,
        "webhook_log_days": resources.settings.webhook_log_days,
    }
    async with resources.database.transaction() as tx:
        return int(await tx.value(statement, figures))
