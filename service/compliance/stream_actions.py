"""Stream profiles' decisions: which are sound, and until when they keep the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from datetime import time as clock_time
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET

from core.portfolio.cells.identifiers import is_sound
from service.compliance import stream_store as store
from service.compliance.stream_schema import (
    METADATA_BYTES_MAX,
    PROFILES_MAX,
    TRANCHES_MAX,
    StreamProfile,
    StreamProfileCreate,
    StreamProfileLimitExceeded,
    StreamProfilePatch,
)
from service.platform.base.moments import moment
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.workbooks import shared as workbooks

TRANCHE_SCHEMES: Final = ("ISIN", "CUSIP")
_YEARS: Final = (1900, 9900)
"""Of moments that the database's calendar and Python's both have in any time zone."""


async def create(ctx: Context, body: StreamProfileCreate) -> StreamProfile:
    """A new profile."""
    workbooks.check_stream(ctx, body.stream_key)
    row = {**_with_moment(msgspec.structs.asdict(body)), "created_at": ctx.now()}
    row |= _retained(ctx, row)
    if await store.lock_count(ctx) >= PROFILES_MAX:
        raise StreamProfileLimitExceeded.at(["body"], f"the limit is {PROFILES_MAX:,} profiles")
    who = {"tenant_id": ctx.tenant, "id": new_id(), "created_by": await ctx.email(), "updated_at": row["created_at"]}
    made = await store.create(ctx, {**row, **who})
    await _told(ctx, made, {"jurisdiction": made.jurisdiction})
    return made


async def update(ctx: Context, profile_id: UUID, patch: StreamProfilePatch) -> StreamProfile:
    """Change what is given, and work out the retention anew, by the floors of now."""
    before = await store.lock(ctx, profile_id)
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if given.pop("stream_key", before.stream_key) != before.stream_key:
        raise ValidationFailed.at(["body", "stream_key"], "a profile stays that of its stream")
    if not given:
        ctx.changed_nothing()
        return before
    row = {name: getattr(before, name) for name in patch.__struct_fields__ if name != "stream_key"}
    row |= _with_moment(given)
    row |= _retained(ctx, {**row, "created_at": before.created_at})
    after = await store.update(ctx, profile_id, {**row, "updated_at": ctx.now()})
    names = [name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    changes = {name: [getattr(before, name), getattr(after, name)] for name in names if name != "updated_at"}
    await _told(ctx, after, {"changes": changes})
    return after


async def delete(ctx: Context, profile_id: UUID) -> None:
    """Delete a profile: the evidence of its stream stays, now without an end."""
    gone = await store.lock(ctx, profile_id)
    await store.delete(ctx, profile_id)
    await _told(ctx, gone, {})


async def _told(ctx: Context, profile: StreamProfile, details: dict[str, Any]) -> None:
    await store.look_again(ctx, profile.stream_key)
    until = profile.effective_retention_until
    ctx.concerns(
        "stream_profile",
        profile.id,
        profile.deal_name,
        stream_key=profile.stream_key,
        effective_retention_until=until,
        **details,
    )


def _with_moment(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, its moment read.

    Raises:
        ValidationFailed: it is none, or no calendar has it.
    """
    if given.get("retention_until") is None:
        return given
    where = ["body", "retention_until"]
    until = moment(where, given["retention_until"])
    if not _YEARS[0] <= until.year <= _YEARS[1]:
        raise ValidationFailed.at(where, f"its year is not from {_YEARS[0]} to {_YEARS[1]}")
    return {**given, "retention_until": until}


def _retained(ctx: Context, row: Mapping[str, Any]) -> dict[str, Any]:
    """What follows from a profile's fields: its floor, its retention, its metadata as JSON.

    Raises:
        ValidationFailed: they do not fit together, or a tranche has no identifier.
    """
    if row["retention_mode"] == "life_of_securitisation" and row["maturity_date"] is None:
        raise ValidationFailed.at(["body", "maturity_date"], "the mode life_of_securitisation needs it")
    metadata = msgspec.json.encode(row["profile_metadata"])
    if len(metadata) > METADATA_BYTES_MAX:
        message = f"takes {len(metadata):,} bytes; the limit is {METADATA_BYTES_MAX:,}"
        raise ValidationFailed.at(["body", "profile_metadata"], message)
    if faults := _faults_of(row["profile_metadata"].get("tranches", [])):
        raise ValidationFailed(*faults)
    named = (row["jurisdiction"] or "").strip().upper()
    floor = ctx.settings.retention_floors.get(named)
    return {
        "retention_floor_years": floor,
        "effective_retention_until": retained_until(row, floor),
        "profile_metadata": metadata.decode(),
    }


def _faults_of(tranches: Any) -> list[Fault]:
    """What is wrong with a profile's tranches."""
    where = ["body", "profile_metadata", "tranches"]
    if not isinstance(tranches, list) or len(tranches) > TRANCHES_MAX:
        return [Fault(where, f"expected a list of at most {TRANCHES_MAX} tranches")]
    faults = []
    for place, tranch in enumerate(tranches):
        scheme, value = (tranch.get("scheme"), tranch.get("value")) if isinstance(tranch, dict) else (None, None)
        at = [*where, str(place)]
        if scheme not in TRANCHE_SCHEMES:
            faults.append(Fault([*at, "scheme"], f"expected one of {', '.join(TRANCHE_SCHEMES)}"))
        elif not isinstance(value, str) or not is_sound(scheme.lower(), value):
            faults.append(Fault([*at, "value"], f"is no {scheme}: its signs or its check digits do not fit"))
    return faults


def retained_until(profile: Mapping[str, Any], floor_years: int | None) -> datetime | None:
    """The latest of the floor, what the mode says, and the moment that was named; None where there is none of them.

    A maturity counts from the beginning of its day, UTC.
    """
    created, ends = profile["created_at"], [profile["retention_until"]]
    if floor_years is not None:
        ends.append(_years_after(created, floor_years))
    if profile["retention_mode"] == "life_of_securitisation":
        ends.append(datetime.combine(profile["maturity_date"], clock_time.min, UTC))
    elif profile["retention_years"] is not None:
        ends.append(_years_after(created, profile["retention_years"]))
    return max((end for end in ends if end is not None), default=None)


def _years_after(begun: datetime, years: int) -> datetime:
    """The same day so many years on; of a 29 February, in a year without one, the day after it."""
    begun = begun.astimezone(UTC)
    try:
        return begun.replace(year=begun.year + years)
    except ValueError:
        return datetime.combine(date(begun.year + years, 3, 1), begun.timetz())
