"""Stream profiles' decisions: which are sound, how long evidence is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from datetime import time as clock_time
from typing import Any, Final
from uuid import UUID

import msgspec

from core.portfolio.cells.identifiers import is_sound
from service.compliance import stream_schema
from service.compliance import stream_store as store
from service.platform.base.moments import moment
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.workbooks import shared as workbooks

TRANCHE_SCHEMES: Final = ("ISIN", "CUSIP")
_YEARS: Final = (1900, 9900)
"""Of moments that the database's calendar and Python's both have in any time zone."""


async def create(ctx: Context, body: stream_schema.StreamProfileCreate) -> stream_schema.StreamProfile:
    """Create a profile."""
    workbooks.check_stream(ctx, body.stream_key)
    row = {**_with_moment(msgspec.structs.asdict(body)), "created_at": ctx.now()}
    row |= _retention_of(ctx, row)
    if await store.profiles.lock_count(ctx) >= stream_schema.PROFILES_MAX:
        raise stream_schema.StreamProfileLimitExceeded.at(
            ["body"], f"the limit is {stream_schema.PROFILES_MAX:,} profiles"
        )
    row |= {"id": new_id(), "created_by": await ctx.email(), "updated_at": row["created_at"]}
    profile = await store.profiles.create(ctx, row)
    await _concern(ctx, profile, {"jurisdiction": profile.jurisdiction})
    return profile


async def update(
    ctx: Context, profile_id: UUID, patch: stream_schema.StreamProfilePatch
) -> stream_schema.StreamProfile:
    """Change what is given, and work out the retention anew, by the floors of now."""
    before = await store.profiles.get(ctx, profile_id, lock=True)
    changes = patch.changes()
    if changes.pop("stream_key", before.stream_key) != before.stream_key:
        raise ValidationFailed.at(["body", "stream_key"], "a profile stays that of its stream")
    if not changes:
        ctx.skip_event()
        return before
    row = {name: getattr(before, name) for name in patch.__struct_fields__ if name != "stream_key"}
    row |= _with_moment(changes)
    row |= _retention_of(ctx, {**row, "created_at": before.created_at})
    after = await store.profiles.update(ctx, profile_id, {**row, "updated_at": ctx.now()})
    names = [name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in names if name != "updated_at"}
    await _concern(ctx, after, {"changes": pairs})
    return after


async def delete(ctx: Context, profile_id: UUID) -> None:
    """Delete a profile: the evidence of its stream stays, now without an end."""
    profile = await store.profiles.get(ctx, profile_id, lock=True)
    await store.profiles.delete(ctx, profile_id)
    await _concern(ctx, profile, {})


async def _concern(ctx: Context, profile: stream_schema.StreamProfile, details: dict[str, Any]) -> None:
    await store.look_again(ctx, profile.stream_key)
    until = profile.effective_retention_until
    ctx.set_subject(
        "stream_profile",
        profile.id,
        profile.deal_name,
        stream_key=profile.stream_key,
        effective_retention_until=until,
        **details,
    )


def _with_moment(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what was given, its moment read.

    Raises:
        ValidationFailed: it is none, or no calendar has it.
    """
    if fields.get("retention_until") is None:
        return fields
    where = ["body", "retention_until"]
    until = moment(where, fields["retention_until"])
    if not _YEARS[0] <= until.year <= _YEARS[1]:
        raise ValidationFailed.at(where, f"its year is not from {_YEARS[0]} to {_YEARS[1]}")
    return {**fields, "retention_until": until}


def _retention_of(ctx: Context, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile's floor, retention and metadata as JSON.

    Raises:
        ValidationFailed: they do not fit together, or a tranche has no identifier.
    """
    if row["retention_mode"] == "life_of_securitisation" and row["maturity_date"] is None:
        raise ValidationFailed.at(["body", "maturity_date"], "the mode life_of_securitisation needs it")
    metadata = msgspec.json.encode(row["profile_metadata"])
    if len(metadata) > stream_schema.METADATA_BYTES_MAX:
        message = f"takes {len(metadata):,} bytes; the limit is {stream_schema.METADATA_BYTES_MAX:,}"
        raise ValidationFailed.at(["body", "profile_metadata"], message)
    if faults := _faults_of(row["profile_metadata"].get("tranches", [])):
        raise ValidationFailed(*faults)
    jurisdiction = (row["jurisdiction"] or "").strip().upper()
    floor = ctx.settings.retention_floors.get(jurisdiction)
    return {
        "retention_floor_years": floor,
        "effective_retention_until": end_of_retention(row, floor),
        "profile_metadata": metadata.decode(),
    }


def _faults_of(tranches: Any) -> list[Fault]:
    """Return what is wrong with a profile's tranches."""
    where = ["body", "profile_metadata", "tranches"]
    if not isinstance(tranches, list) or len(tranches) > stream_schema.TRANCHES_MAX:
        return [Fault(where, f"expected a list of at most {stream_schema.TRANCHES_MAX} tranches")]
    faults = []
    for place, tranch in enumerate(tranches):
        scheme, value = (tranch.get("scheme"), tranch.get("value")) if isinstance(tranch, dict) else (None, None)
        at = [*where, str(place)]
        if scheme not in TRANCHE_SCHEMES:
            faults.append(Fault([*at, "scheme"], f"expected one of {', '.join(TRANCHE_SCHEMES)}"))
        elif not isinstance(value, str) or not is_sound(scheme.lower(), value):
            faults.append(Fault([*at, "value"], f"is no {scheme}: its signs or its check digits do not fit"))
    return faults


def end_of_retention(profile: Mapping[str, Any], floor_years: int | None) -> datetime | None:
    """Return the latest of floor, mode and named moment, if any.

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
    """Return the same day so many years on.

    29 February becomes 1 March where the year has none.
    """
    begun = begun.astimezone(UTC)
    try:
        return begun.replace(year=begun.year + years)
    except ValueError:
        return datetime.combine(date(begun.year + years, 3, 1), begun.timetz())
