"""Mappings' queries."""

from __future__ import annotations

from typing import Any

from service.mappings.schema import MappingList, MappingNotFound, MappingRow, MappingSummary
from service.platform.data.database import containing
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import rows_of

_ROW = """
    id, name, description, source_type, profile_id, mappings, transforms, validation_rules, created_by, version,
    created_at, updated_at
"""

_SUMMARY = """
    id, name, description, source_type, false AS is_system, field_count, profile_id, created_by, created_at
"""


async def get(unit: Unit, mapping_id: str) -> MappingRow:
    """A stored mapping.

    Raises:
        MappingNotFound: the tenant has none of that identifier.
    """
    found = await unit.one_or_none(MappingRow, f"SELECT {_ROW} FROM mappings WHERE id = %s", [mapping_id])
    if found is None:
        raise MappingNotFound.for_id(mapping_id)
    return found


async def lock(ctx: Context, mapping_id: str) -> MappingRow:
    """A stored mapping, locked until the transaction ends.

    Raises:
        MappingNotFound: as `get`.
    """
    return await ctx.one(
        MappingRow, f"SELECT {_ROW} FROM mappings WHERE id = %s FOR UPDATE", [mapping_id], missing=MappingNotFound
    )


async def version(unit: Unit, mapping_id: str) -> int:
    """How often a stored mapping was written: the same number, the same mapping.

    Raises:
        MappingNotFound: as `get`.
    """
    found: int | None = await unit.value("SELECT version FROM mappings WHERE id = %s", [mapping_id])
    if found is None:
        raise MappingNotFound.for_id(mapping_id)
    return found


async def targets(unit: Unit) -> list[str]:
    """What any of the tenant's mappings feeds, once each."""
    found: list[str] = await unit.value(
        """
        SELECT coalesce(array_agg(DISTINCT c.value ->> 'target'), '{}')
        FROM mappings m, json_each(m.mappings::json) AS c
        """
    )
    return found


async def listed(ctx: Context, query: MappingList, *, limit: int, offset: int) -> tuple[list[MappingSummary], int]:
    """Stored mappings, the newest first, and how many there are."""
    return await rows_of(
        ctx,
        MappingSummary,
        _SUMMARY,
        "mappings WHERE true",
        {"source_type": query.source_type, "pattern": containing(query.search)},
        order="created_at DESC, id",
        limit=limit,
        offset=offset,
        conditions={"pattern": "name ILIKE %(pattern)s"},
    )


async def lock_count(ctx: Context) -> int:
    """How many mappings the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM mappings"))


async def create(ctx: Context, row: dict[str, Any]) -> MappingRow:
    """A new mapping; the columns of its document as JSON.

    Raises:
        MappingExists: another one has its name.
    """
    return await ctx.one(
        MappingRow,
        f"""
        INSERT INTO mappings (tenant_id, id, name, description, source_type, profile_id, mappings, transforms,
                              validation_rules, field_count, created_by)
        VALUES (%(tenant_id)s, %(id)s, %(name)s, %(description)s, %(source_type)s, %(profile_id)s, %(mappings)s,
                %(transforms)s, %(validation_rules)s, %(field_count)s, %(created_by)s)
        RETURNING {_ROW}
        """,
        row,
        missing=MappingNotFound,
    )


async def update(ctx: Context, row: dict[str, Any]) -> MappingRow:
    """A mapping changed.

    Raises:
        MappingExists: another one has its new name.
    """
    return await ctx.one(
        MappingRow,
        f"""
        UPDATE mappings SET name = %(name)s, description = %(description)s, mappings = %(mappings)s,
                            transforms = %(transforms)s, validation_rules = %(validation_rules)s,
                            field_count = %(field_count)s, version = version + 1, updated_at = now()
        WHERE id = %(id)s RETURNING {_ROW}
        """,
        row,
        missing=MappingNotFound,
    )


async def is_used(ctx: Context, mapping_id: str) -> bool:
    """Whether a workbook, a deal or a tape names the mapping."""
    return bool(
        await ctx.value(
            """
            SELECT EXISTS (SELECT FROM workbooks WHERE own_mapping_id = %(id)s)
                OR EXISTS (SELECT FROM deals WHERE own_mapping_id = %(id)s)
                OR EXISTS (SELECT FROM tapes WHERE own_mapping_id = %(id)s)
            """,
            {"id": mapping_id},
        )
    )


async def delete(ctx: Context, mapping_id: str) -> None:
    """Delete a mapping.

    Raises:
        MappingInUse: a workbook or a deal took it in this moment.
    """
    await ctx.execute("DELETE FROM mappings WHERE id = %s", [mapping_id])
