"""Deals' queries."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.deals.schema import (
    HISTORY_POINTS_MAX,
    HISTORY_RUNS_MAX,
    Deal,
    DealHistoryQuery,
    DealList,
    DealRow,
    Definition,
    DefinitionNotFound,
    DefinitionVersion,
    Series,
)
from service.mappings.schema import naming_a_mapping
from service.platform.data.database import containing
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of, page, set_of
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
_DEAL, _ROW = columns_of(Deal, latest=_LATEST), columns_of(DealRow, latest=_LATEST)

_LOCKED = ("", " FOR UPDATE")

_ORDER = {
    "name": "lower(name) {0}, id",
    "created_at": "created_at {0}, id",
    "updated_at": "updated_at {0}, id",
    "cushion": _ROOM + " {0} NULLS LAST, lower(name), id",
}


async def get(ctx: Context, deal_id: UUID, *, locked: bool = False) -> DealRow:
    """A deal, where asked for locked until the transaction ends.

    Raises:
        DealNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_ROW} FROM deals WHERE id = %s{_LOCKED[locked]}"
    return await ctx.one(DealRow, sql, [deal_id], missing=DealNotFound)


async def listed(ctx: Context, query: DealList) -> Page[Deal]:
    """A page of deals."""
    order = _ORDER[query.sort_by].format(query.sort_order or ("asc" if query.sort_by == "cushion" else "desc"))
    asked, matching = {"pattern": containing(query.search)}, {"pattern": "name ILIKE %(pattern)s"}
    return await page(ctx, Deal, _DEAL, "deals WHERE true", asked, query, order=order, conditions=matching)


async def lock_count(ctx: Context) -> int:
    """How many deals the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM deals"))


async def create(ctx: Context, row: dict[str, Any]) -> DealRow:
    """A new deal.

    Raises:
        StreamTaken: another one has its stream.
        MappingNotFound: the mapping that it names was deleted in this moment.
    """
    currency = await ctx.value(
        "SELECT coalesce(%s, settings ->> 'default_currency', 'USD') FROM tenants WHERE id = %s",
        [row["currency"], row["tenant_id"]],
    )
    sql = f"{insert_of('deals', row)} RETURNING {_ROW}"
    with naming_a_mapping():
        return await ctx.one(DealRow, sql, {**row, "currency": currency}, missing=DealNotFound)


async def update(ctx: Context, deal_id: UUID, row: dict[str, Any]) -> DealRow:
    """A deal changed.

    Raises:
        StreamTaken, MappingNotFound: as `create`.
    """
    sql = f"""
        UPDATE deals SET {set_of(row)}, version = version + 1, updated_at = now() WHERE id = %(id)s RETURNING {_ROW}
        """
    with naming_a_mapping():
        return await ctx.one(DealRow, sql, {**row, "id": deal_id}, missing=DealNotFound)


async def delete(ctx: Context, deal_id: UUID) -> tuple[int, int]:
    """Delete a deal with its definitions and limits; how many workbooks and tapes were of it and stay."""
    workbooks = await ctx.execute(
        "UPDATE workbooks SET deal_id = NULL, version = version + 1, updated_at = now() WHERE deal_id = %s", [deal_id]
    )
    tapes = await ctx.execute("UPDATE tapes SET deal_id = NULL WHERE deal_id = %s", [deal_id])
    await ctx.execute("DELETE FROM deals WHERE id = %s", [deal_id])
    return workbooks, tapes


# Definitions ----------------------------------------------------------------------------------------------------------


async def definition(ctx: Context, deal_id: UUID, version: int) -> Definition:
    """A version of a deal's definition.

    Raises:
        DefinitionNotFound: there is none of that number.
    """
    sql = f"SELECT {columns_of(Definition)} FROM deal_definitions WHERE deal_id = %s AND version = %s"
    return await ctx.one(Definition, sql, [deal_id, version], missing=DefinitionNotFound)


async def add_definition(ctx: Context, deal_id: UUID, row: dict[str, Any]) -> Definition:
    """The next version of the definition of a deal that is locked."""
    await ctx.execute(
        """
        UPDATE deals SET definition_version = %(version)s, version = version + 1, updated_at = now() WHERE id = %(id)s
        """,
        {**row, "id": deal_id},
    )
    row |= {"tenant_id": ctx.tenant, "deal_id": deal_id}
    sql = f"{insert_of('deal_definitions', row)} RETURNING {columns_of(Definition)}"
    return await ctx.one(Definition, sql, row, missing=DealNotFound)


async def versions(ctx: Context, deal_id: UUID, query: PageQuery) -> Page[DefinitionVersion]:
    """A page of the versions of a deal's definition, the newest first."""
    columns, asked = columns_of(DefinitionVersion), {"deal_id": deal_id}
    source = "deal_definitions WHERE true"
    return await page(ctx, DefinitionVersion, columns, source, asked, query, order="version DESC")


# Through the months ---------------------------------------------------------------------------------------------------


class _Found(Struct, frozen=True):
    """Series of tests, and whether runs were left out."""

    series: list[Series]
    truncated: bool


async def history(unit: Unit, deal_id: UUID, query: DealHistoryQuery) -> tuple[list[Series], bool]:
    """The series of a deal's tests in its full runs, and whether there are more of these than they are made of."""
    found = await unit.one(
        _Found,
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
            "most": HISTORY_RUNS_MAX,
            "points": HISTORY_POINTS_MAX,
        },
        missing=DealNotFound,
    )
    return found.series, found.truncated


async def workbook_of(ctx: Context, deal_id: UUID, *, workbook_id: UUID | None = None, day: date | None = None) -> UUID:
    """A workbook of a deal: the one of that identifier, the newest of that day, or the newest of all.

    Raises:
        WorkbookNotFound: the deal has none such.
    """
    uuid: UUID | None = await ctx.value(
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
