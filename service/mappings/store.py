"""Mappings' queries."""

from __future__ import annotations

from service.mappings.schema import MappingList, MappingNotFound, MappingRow, MappingSummary
from service.platform.data.database import like_pattern
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import fetch_slice
from service.platform.unit.records import Records

mappings = Records("mappings", MappingRow, missing=MappingNotFound, touch="version = version + 1, updated_at = now()")

_SUMMARY = """
    id, name, description, source_type, false AS is_system, field_count, profile_id, created_by, created_at
"""


async def targets(unit: Unit) -> list[str]:
    """Return what any of the tenant's mappings feeds, once each."""
    names: list[str] = await unit.fetch_value(
        """
        SELECT coalesce(array_agg(DISTINCT c.value ->> 'target'), '{}')
        FROM mappings m, json_each(m.mappings::json) AS c
        """
    )
    return names


async def read_page(ctx: Context, query: MappingList, *, limit: int, offset: int) -> tuple[list[MappingSummary], int]:
    """Return stored mappings, the newest first, and how many there are."""
    return await fetch_slice(
        ctx,
        MappingSummary,
        _SUMMARY,
        "mappings WHERE true",
        {"source_type": query.source_type, "pattern": like_pattern(query.search)},
        order="created_at DESC, id",
        part=(limit, offset),
        conditions={"pattern": "name ILIKE %(pattern)s"},
    )


async def is_used(ctx: Context, mapping_id: str) -> bool:
    """Return whether a workbook, a deal or a tape names the mapping."""
    return bool(
        await ctx.fetch_value(
            """
            SELECT EXISTS (SELECT FROM workbooks WHERE own_mapping_id = %(id)s)
                OR EXISTS (SELECT FROM deals WHERE own_mapping_id = %(id)s)
                OR EXISTS (SELECT FROM tapes WHERE own_mapping_id = %(id)s)
            """,
            {"id": mapping_id},
        )
    )
