"""Deals' queries."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.deals import schema
from service.mappings.schema import MappingInUse, MappingNotFound
from service.platform.data.database import like_pattern
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page, insert_of
from service.platform.unit.records import Records, translating
from service.workbooks.schema import DealNotFound, WorkbookNotFound

_LATEST = """
    (SELECT json_build_object(
        'workbook_id', w.id, 'as_of', w.as_of, 'run_id', w.run_id, 'test_suite', w.test_suite,
        'failed', w.summary -> 'failed', 'warnings', w.summary -> 'warnings', 'doubtful', w.summary -> 'doubtful',
        'thinnest', w.thinnest)
     FROM deal_workbooks w WHERE w.tenant_id = deals.tenant_id AND w.deal_id = deals.id
     ORDER BY w.day DESC, w.created_at DESC LIMIT 1)
"""
_ROOM = """
    (SELECT (w.thinnest ->> 'room')::float8
     FROM deal_workbooks w WHERE w.tenant_id = deals.tenant_id AND w.deal_id = deals.id
     ORDER BY w.day DESC, w.created_at DESC LIMIT 1)
"""
"""The thinnest cushion of a deal as a part of its limit; null without figures."""
deals = Records(
    "deals",
    schema.DealRow,
    missing=DealNotFound,
    derived={"latest": _LATEST},
    touch="version = version + 1, updated_at = now()",
    writing=partial(translating, MappingInUse, MappingNotFound),
)
_DEAL, _DEFINITION = columns_of(schema.Deal, latest=_LATEST), columns_of(schema.Definition)

_ORDER = {
    "name": "lower(name) {0}, id",
    "created_at": "created_at {0}, id",
    "updated_at": "updated_at {0}, id",
    "cushion": _ROOM + " {0} NULLS LAST, lower(name), id",
}


async def read_page(ctx: Context, query: schema.DealList) -> Page[schema.Deal]:
    """Return a page of deals."""
    order = _ORDER[query.sort_by].format(query.sort_order or ("asc" if query.sort_by == "cushion" else "desc"))
    filters, matching = {"pattern": like_pattern(query.search)}, {"pattern": "name ILIKE %(pattern)s"}
    return await fetch_page(
        ctx, schema.Deal, _DEAL, "deals WHERE true", filters, query, order=order, conditions=matching
    )


async def currency(ctx: Context, wanted: str | None) -> str:
    """Return the currency of a new deal: the tenant's where none is named."""
    sql = "SELECT coalesce(%s, settings ->> 'default_currency', 'USD') FROM tenants WHERE id = %s"
    return str(await ctx.fetch_value(sql, [wanted, ctx.tenant]))


async def delete(ctx: Context, deal_id: UUID) -> tuple[int, int]:
    """Delete a deal; return the numbers of its workbooks and tapes."""
    workbooks = await ctx.execute(
        "UPDATE workbooks SET deal_id = NULL, version = version + 1, updated_at = now() WHERE deal_id = %s", [deal_id]
    )
    tapes = await ctx.execute("UPDATE tapes SET deal_id = NULL WHERE deal_id = %s", [deal_id])
    await ctx.execute("DELETE FROM deals WHERE id = %s", [deal_id])
    return workbooks, tapes


# Definitions ----------------------------------------------------------------------------------------------------------


async def definition(ctx: Context, deal_id: UUID, version: int) -> schema.Definition:
    """Return a version of a deal's definition."""
    sql = f"SELECT {_DEFINITION} FROM deal_definitions WHERE deal_id = %s AND version = %s"
    return await ctx.fetch_one(schema.Definition, sql, [deal_id, version], missing=schema.DefinitionNotFound)


async def add_definition(ctx: Context, deal_id: UUID, row: dict[str, Any]) -> schema.Definition:
    """Add the next version of the definition of a locked deal."""
    await ctx.execute(
        """
        UPDATE deals SET definition_version = %(version)s, version = version + 1, updated_at = now() WHERE id = %(id)s
        """,
        {**row, "id": deal_id},
    )
    row |= {"tenant_id": ctx.tenant, "deal_id": deal_id}
    sql = f"{insert_of('deal_definitions', row)} RETURNING {_DEFINITION}"
    return await ctx.fetch_one(schema.Definition, sql, row, missing=DealNotFound)


async def versions(ctx: Context, deal_id: UUID, query: PageQuery) -> Page[schema.DefinitionVersion]:
    """Return a page of the versions of a deal's definition, the newest first."""
    columns, filters = columns_of(schema.DefinitionVersion), {"deal_id": deal_id}
    source = "deal_definitions WHERE true"
    return await fetch_page(ctx, schema.DefinitionVersion, columns, source, filters, query, order="version DESC")


# Through the months ---------------------------------------------------------------------------------------------------


class _History(Struct, frozen=True):
    """Series of tests, and whether runs were left out."""

    series: list[schema.Series]
    truncated: bool


async def history(unit: Unit, deal_id: UUID, query: schema.DealHistoryQuery) -> tuple[list[schema.Series], bool]:
    """Return a deal's series, and whether runs or points were left out."""
    page = await unit.fetch_one(
        _History,
        """
        WITH runs AS (
            SELECT r.id, r.workbook_id, r.as_of, r.executed_at, r.figures
            FROM workbooks w JOIN compliance_runs r ON r.tenant_id = w.tenant_id AND r.workbook_id = w.id
            WHERE w.deal_id = %(deal_id)s AND w.deleted_at IS NULL AND NOT r.partial
              AND r.as_of BETWEEN coalesce(%(start)s::date, '-infinity')
                               AND coalesce(%(end)s::date, 'infinity')
            ORDER BY r.executed_at DESC LIMIT %(most)s + 1
        ), points AS (
            SELECT DISTINCT ON (r.workbook_id, f.key) f.key AS test_id, r.as_of, r.executed_at,
                   f.value ->> 'name' AS name, f.value ->> 'unit' AS unit, f.value -> 'decimals' AS decimals,
                   json_build_object(
                'as_of', r.as_of, 'run_id', r.id, 'value', f.value -> 'value', 'threshold', f.value -> 'threshold',
                'status', f.value -> 'status', 'published', f.value -> 'published',
                'doubtful', f.value ? 'doubtful') AS point
            FROM (SELECT * FROM runs ORDER BY executed_at DESC LIMIT %(most)s) r, jsonb_each(r.figures) f
            WHERE cardinality(%(test_ids)s::text[]) = 0 OR f.key = ANY (%(test_ids)s)
            ORDER BY r.workbook_id, f.key, r.executed_at DESC
        ), kept AS (
            SELECT * FROM points ORDER BY executed_at DESC LIMIT %(points)s
        ), series AS (
            SELECT test_id, json_agg(point ORDER BY as_of, executed_at) AS points,
                   coalesce((array_agg(name ORDER BY as_of DESC, executed_at DESC))[1], '') AS test_name,
                   coalesce((array_agg(unit ORDER BY as_of DESC, executed_at DESC))[1], '') AS unit,
                   coalesce((array_agg(decimals ORDER BY as_of DESC, executed_at DESC))[1], '2') AS decimals
            FROM kept GROUP BY test_id
        )
        SELECT (SELECT coalesce(json_agg(s ORDER BY s.test_id), '[]') FROM series s) AS series,
               (SELECT count(*) FROM runs) > %(most)s OR (SELECT count(*) FROM points) > %(points)s AS truncated
        """,
        {
            "deal_id": deal_id,
            "test_ids": query.test_id,
            "start": query.start_date,
            "end": query.end_date,
            "most": schema.HISTORY_RUNS_MAX,
            "points": schema.HISTORY_POINTS_MAX,
        },
        missing=DealNotFound,
    )
    return page.series, page.truncated


async def workbook_of(ctx: Context, deal_id: UUID, *, workbook_id: UUID | None = None, day: date | None = None) -> UUID:
    """Return a deal's workbook by identifier, by day, or the newest.

    Raises:
        WorkbookNotFound: the deal has none such.
    """
    uuid: UUID | None = await ctx.fetch_value(
        """
        SELECT id FROM deal_workbooks
        WHERE deal_id = %(deal_id)s AND coalesce(id = %(workbook_id)s::uuid, true)
          AND coalesce(day = %(day)s::date, true)
        ORDER BY day DESC, created_at DESC LIMIT 1
        """,
        {"deal_id": deal_id, "workbook_id": workbook_id, "day": day},
    )
    if uuid is None:
        raise WorkbookNotFound
    return uuid
