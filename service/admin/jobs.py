"""Administration's background work: a person is erased from the records."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from service.admin import store
from service.admin.erasure_actions import PAUSE_SECONDS, token_of
from service.platform.events.calls import has_unwritten
from service.platform.events.stream import waiting_since
from service.platform.unit.context import Unit
from service.platform.work.expiry import SECONDS_MAX, redact
from service.platform.work.jobs import JobTable, accept_retry
from service.platform.work.mail import mentions

log = structlog.get_logger()
jobs = JobTable()


async def note_failure(unit: Unit, arguments: dict[str, Any], message: str) -> None:
    """Do nothing: the dead letter can be retried."""
    log.error("erasure.failed", user_id=arguments["user_id"], error=message)


@jobs.job("admin.erase", on_failure=note_failure, on_retry=accept_retry)
async def erase(unit: Unit, arguments: dict[str, Any]) -> None:
    """Replace a removed user's e-mail by a token wherever it is stored."""
    user_id = UUID(arguments["user_id"])
    token = token_of(user_id)
    oldest = await waiting_since(unit.resources)
    asked_at = datetime.fromisoformat(arguments["asked_at"])
    is_told = (oldest is None or oldest > asked_at) and not await has_unwritten(unit, asked_at)
    if await store.remove_email_from_jobs(unit, user_id, token) or not is_told:
        await unit.enqueue("admin.erase", queue="default", arguments=arguments, delay_seconds=PAUSE_SECONDS)
        return  # what names them may be on the way to the records or the audit log
    person = await store.lock_person(unit, user_id)
    if person.email == token:
        return
    await unit.commit()
    after = await redact(unit, user_id, person.email)
    for letter in await store.letters(unit):
        if mentions(unit, letter.mail, person.email):
            await store.destroy_letter(unit, letter.id)
    await unit.execute("SELECT set_config('statement_timeout', %s, true)", [f"{SECONDS_MAX}s"])
    await unit.execute("SELECT erase_person(%s, %s, %s)", [user_id, person.email, token])
    await redact(unit, user_id, person.email, after=after)  # with the entries that were made meanwhile
