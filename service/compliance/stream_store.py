"""Stream profiles' queries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from service.compliance.stream_schema import StreamProfile, StreamProfileList, StreamProfileNotFound
from service.platform.route.api import Page
from service.platform.unit.context import Context
from service.platform.unit.listing import columns_of, insert_of, page, set_of
from service.platform.unit.storage import leave

_PROFILE = columns_of(StreamProfile)


async def listed(ctx: Context, query: StreamProfileList) -> Page[StreamProfile]:
    """A page of the profiles, the newest first."""
    asked = {"stream_key": query.stream_key}
    return await page(
        ctx, StreamProfile, _PROFILE, "stream_profiles WHERE true", asked, query, order="created_at DESC, id"
    )


async def lock_count(ctx: Context) -> int:
    """How many profiles the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM stream_profiles"))


async def create(ctx: Context, row: dict[str, Any]) -> StreamProfile:
    """A new profile.

    Raises:
        StreamProfileExists: the stream has one.
    """
    sql = f"{insert_of('stream_profiles', row)} RETURNING {_PROFILE}"
    return await ctx.one(StreamProfile, sql, row, missing=StreamProfileNotFound)


async def lock(ctx: Context, profile_id: UUID) -> StreamProfile:
    """A profile, which nobody else changes until the transaction ends."""
    sql = f"SELECT {_PROFILE} FROM stream_profiles WHERE id = %s FOR UPDATE"
    return await ctx.one(StreamProfile, sql, [profile_id], missing=StreamProfileNotFound)


async def update(ctx: Context, profile_id: UUID, row: dict[str, Any]) -> StreamProfile:
    """A profile changed."""
    sql = f"UPDATE stream_profiles SET {set_of(row)} WHERE id = %(id)s RETURNING {_PROFILE}"
    return await ctx.one(StreamProfile, sql, {**row, "id": profile_id}, missing=StreamProfileNotFound)


async def delete(ctx: Context, profile_id: UUID) -> None:
    """Delete a profile."""
    await ctx.execute("DELETE FROM stream_profiles WHERE id = %s", [profile_id])


async def look_again(ctx: Context, stream_key: str) -> None:
    """Have the worker look at the bytes that the stream's evidence keeps: how long they stay was changed."""
    keys = await ctx.value(
        """
        WITH gone AS (
            SELECT w.id, w.content_hash FROM workbooks w
            WHERE w.deleted_at IS NOT NULL AND w.id IN (
                SELECT r.workbook_id FROM compliance_runs r WHERE r.stream_key = %(stream_key)s))
        SELECT array_agg(key) FROM (
            SELECT content_hash AS key FROM gone
            UNION SELECT f.content_hash FROM workbook_files f JOIN gone ON gone.id = f.workbook_id
            UNION SELECT s.blob_key FROM sheets s JOIN gone ON gone.id = s.workbook_id WHERE s.blob_key IS NOT NULL
            UNION SELECT e.blob_key FROM evidence_sheets e WHERE e.book_key IN (
                SELECT r.book_key FROM compliance_runs r WHERE r.stream_key = %(stream_key)s)
        ) named
        """,
        {"stream_key": stream_key},
    )
    if keys:
        await leave(ctx, keys)
