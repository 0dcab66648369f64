"""Moments as callers write them: ISO 8601 dates and date-times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated

from msgspec import Meta

from service.platform.base.problem import ValidationFailed

Moment = Annotated[str, Meta(max_length=40, description="ISO 8601 date or date-time; UTC where it names no offset")]


def moment(loc: Sequence[str], raw: str, *, at: time = time.min) -> datetime:
    """Parse a moment; a date alone gets the time `at`.

    Raises:
        ValidationFailed: it is neither a date nor a date-time; `loc` says where it stood.
    """
    try:
        parsed = datetime.combine(date.fromisoformat(raw), at)
    except ValueError:
        try:
            parsed = datetime.fromisoformat(raw)
        except ValueError:
            raise ValidationFailed.at(loc, "expected an ISO 8601 date or date-time") from None
    return parsed.replace(tzinfo=parsed.tzinfo or UTC)
