"""Stream profiles' queries."""

from __future__ import annotations

from service.compliance.stream_schema import StreamProfile, StreamProfileList, StreamProfileNotFound
from service.platform.route.api import Page
from service.platform.unit.context import Context
from service.platform.unit.listing import fetch_page
from service.platform.unit.records import Records
from service.platform.unit.storage import release

profiles = Records("stream_profiles", StreamProfile, missing=StreamProfileNotFound)


async def read_page(ctx: Context, query: StreamProfileList) -> Page[StreamProfile]:
    """Return a page of the profiles, the newest first."""
    filters = {"stream_key": query.stream_key}
    return await fetch_page(
        ctx, StreamProfile, profiles.columns, "stream_profiles WHERE true", filters, query, order="created_at DESC, id"
    )


async def look_again(ctx: Context, stream_key: str) -> None:
    """Queue a check of the bytes of a stream's evidence."""
    keys = await ctx.fetch_value(
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
        await release(ctx, keys)
