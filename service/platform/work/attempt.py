"""One request to a user's address, its log entry, and the pause before the next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from random import SystemRandom
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from service.platform.base.problem import Away
from service.platform.config import Settings
from service.platform.unit.context import Unit
from service.platform.work import outgoing

ANSWER_BYTES: Final = 1024
"""Of an answer that are kept."""
LONGEST_PAUSE_SECONDS: Final = 4 * 3600
GONE: Final = 410
"""By which a receiver says that nothing more is wanted: no further attempt is made."""

_chance = SystemRandom()


class Attempt(Struct, frozen=True, kw_only=True):
    """One request, and what came of it."""

    at: datetime
    status_code: int | None
    """HTTP status of the answer. Null: none came."""
    answer: str | None
    """The first kilobyte of the answer."""
    error: str | None
    """Why it counts as failed. Null: it succeeded."""
    milliseconds: int | None
    """How long the answer took. Null: none came."""


def failed_attempt(at: datetime, error: str | None) -> Attempt:
    """Return an attempt without an HTTP answer."""
    return Attempt(at=at, status_code=None, answer=None, error=error, milliseconds=None)


async def attempt(unit: Unit, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> Attempt:
    """Send once. Any status but one of success is a failure; redirections too.

    The way outwards counts as lost where receivers of several tenants, each at a host of its own, do not answer, and
    none does between them: one tenant, or one receiver, holds up nobody else.

    Raises:
        Away: it is lost.
    """
    settings, at, breaker = unit.settings, unit.now(), unit.resources.breakers["webhooks"]
    passed = breaker.enter()
    if not passed:
        raise Away(breaker.retry_after_seconds)
    try:
        answer = await outgoing.send(
            method,
            url,
            private=settings.allow_private_webhooks,
            seconds=settings.webhook_seconds,
            headers=headers,
            content=content,
            answer_bytes=ANSWER_BYTES,
        )
    except outgoing.NoAnswer as failed:
        breaker.fail(passed, type(failed).__name__, whose=(unit.tenant, urlsplit(url).netloc))
        return failed_attempt(at, str(failed))
    except outgoing.UnfitTarget as failed:
        breaker.abandon(passed)
        return failed_attempt(at, str(failed))
    except BaseException:
        breaker.abandon(passed)
        raise
    breaker.succeed(passed)
    return Attempt(
        at=at,
        status_code=answer.status,
        answer=answer.content.decode("utf-8", "replace").replace("\x00", "\ufffd"),
        error=None if 200 <= answer.status < 300 else f"the receiver answers with the status {answer.status}",
        milliseconds=answer.milliseconds,
    )


TRIED: Final = """
    attempts = attempts || %(attempt)s::jsonb, status = %(status)s, error = %(error)s,
    next_attempt_at = %(next)s, completed_at = CASE WHEN %(status)s <> 'pending' THEN now() END
"""
"""What an attempt changes in a table of deliveries."""


def attempt_parameters(attempt: Attempt, status: str, error: str | None, next_at: datetime | None) -> dict[str, Any]:
    """Return the parameters of `TRIED`."""
    return {"attempt": msgspec.json.encode([attempt]).decode(), "status": status, "error": error, "next": next_at}


def pause_seconds(settings: Settings, tries: int) -> float:
    """Return the pause after so many attempts: four times as long after each.

    Within a fifth either way, so that what failed together does not come back together.
    """
    grown: float = min(settings.webhook_backoff_seconds * 4 ** (tries - 1), LONGEST_PAUSE_SECONDS)
    return grown * _chance.uniform(0.8, 1.2)
