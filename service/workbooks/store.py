"""Workbooks' queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.mappings.schema import MappingInUse, MappingNotFound
from service.platform.base.problem import NotFound
from service.platform.config import Tier
from service.platform.data.database import like_pattern
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page, set_of
from service.platform.unit.records import Records, to_json, translating
from service.platform.unit.storage import release
from service.workbooks import schema

workbooks = Records(
    "workbooks",
    schema.WorkbookRow,
    missing=schema.WorkbookNotFound,
    derived={"deal_mapping_id": "(SELECT d.mapping_id FROM deals d WHERE d.id = workbooks.deal_id)"},
    condition="deleted_at IS NULL",
    touch="version = version + 1, updated_at = now()",
    writing=partial(translating, MappingInUse, MappingNotFound),
)
_ROW = workbooks.columns
_HEAD = columns_of(schema.WorkbookHead)

_ORDER = {
    "name": "lower(name) {0}, id",
    "created_at": "created_at {0}, id",
    "updated_at": "updated_at {0}, id",
}


async def read_page(ctx: Context, query: schema.WorkbookList) -> Page[schema.Workbook]:
    """Return a page of workbooks."""
    order = _ORDER[query.sort_by].format(query.sort_order)
    filters = {"pattern": like_pattern(query.search), "deal_id": query.deal_id}
    matching = {"pattern": "name ILIKE %(pattern)s"}
    source = "workbooks WHERE deleted_at IS NULL"
    return await fetch_page(ctx, schema.Workbook, _HEAD, source, filters, query, order=order, conditions=matching)


# Room for one more ----------------------------------------------------------------------------------------------------


class Room(Struct, frozen=True, kw_only=True):
    """What a tenant may upload and has."""

    tier: Tier
    max_workbook_size_mb: int | None
    workbooks: int
    storage_bytes: int


async def room(ctx: Unit) -> Room:
    """Return what the tenant may upload and has."""
    return await ctx.fetch_one(
        Room,
        """
        SELECT t.subscription_tier AS tier, (t.settings ->> 'max_workbook_size_mb')::integer AS max_workbook_size_mb,
               (SELECT count(*) FROM workbooks WHERE deleted_at IS NULL) AS workbooks, stored_bytes() AS storage_bytes
        FROM tenants t
        WHERE t.id = %s
        """,
        [ctx.tenant],
        missing=NotFound,
    )


async def lock_room(ctx: Context) -> Room:
    """Return what the tenant may upload and has, locked."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return await room(ctx)


# Writing --------------------------------------------------------------------------------------------------------------


async def check_deal(unit: Unit, deal_id: UUID) -> None:
    """Ask whether there is such a deal."""
    if not await unit.fetch_value("SELECT EXISTS (SELECT FROM deals WHERE id = %s)", [deal_id]):
        raise schema.DealNotFound


class SourceFile(Struct, frozen=True, kw_only=True):
    """An uploaded file, kept as a blob."""

    file_name: str
    file_size: int
    content_hash: str
    """SHA-256 of its bytes, in hexadecimal: its key in the blob store."""


async def put_files(ctx: Context, workbook_id: UUID, files: Sequence[SourceFile]) -> None:
    """Store which files a workbook is made of, in their order."""
    await ctx.execute(
        """
        INSERT INTO workbook_files (tenant_id, workbook_id, index, file_name, file_size, content_hash)
        SELECT %s, %s, ordinality, file_name, file_size, content_hash
        FROM ROWS FROM (jsonb_to_recordset(%s::jsonb) AS (file_name text, file_size bigint, content_hash text))
             WITH ORDINALITY
        """,
        [ctx.tenant, workbook_id, to_json(files)],
    )


async def files(unit: Unit, row: schema.WorkbookRow) -> list[SourceFile]:
    """Return the files that a workbook is made of, in the order in which they came."""
    several = await unit.fetch_all(
        SourceFile,
        "SELECT file_name, file_size, content_hash FROM workbook_files WHERE workbook_id = %s ORDER BY index",
        [row.id],
    )
    return several or [SourceFile(file_name=row.file_name, file_size=row.file_size, content_hash=row.content_hash)]


class NewSheet(Struct, kw_only=True):
    """A sheet to be stored, before it is parsed or after."""

    id: UUID
    index: int
    name: str
    state: str
    row_count: int
    column_count: int
    formula_count: int = 0
    header_row: int | None = None
    headers: list[str] = []
    types: str = ""
    blob_key: str | None = None

    def __post_init__(self) -> None:
        self.name = self.name.replace("\x00", "")  # an .xls can hold them, a text of the database cannot


async def put_sheets(unit: Unit, workbook_id: UUID, sheets: Sequence[NewSheet]) -> None:
    """Store a workbook's sheets; one that is there at its place keeps its identifier."""
    await unit.execute(
        """
        INSERT INTO sheets (tenant_id, workbook_id, id, index, name, state, row_count, column_count, formula_count,
                            header_row, headers, types, blob_key)
        SELECT %s, %s, s.id, s.index, s.name, s.state, s.row_count, s.column_count, s.formula_count,
               s.header_row, s.headers, s.types, s.blob_key
        FROM jsonb_to_recordset(%s::jsonb) AS s (
            id uuid, index integer, name text, state text, row_count integer, column_count integer,
            formula_count integer, header_row integer, headers jsonb, types text, blob_key text)
        ON CONFLICT (tenant_id, workbook_id, index) DO UPDATE
        SET name = EXCLUDED.name, state = EXCLUDED.state, row_count = EXCLUDED.row_count,
            column_count = EXCLUDED.column_count, formula_count = EXCLUDED.formula_count,
            header_row = EXCLUDED.header_row, headers = EXCLUDED.headers, types = EXCLUDED.types,
            blob_key = EXCLUDED.blob_key
        """,
        [unit.tenant, workbook_id, to_json(sheets)],
    )


async def begin_recalculation(unit: Unit, workbook_id: UUID) -> schema.WorkbookRow:
    """Set a workbook that has columns to recalculating, and return it.

    Raises:
        WorkbookNotFound: as `get`.
        WorkbookNotReady: it is in another state, or a record writes it.
    """
    _check_unwritten(await workbooks.get(unit, workbook_id, lock=True))
    return await unit.fetch_one(
        schema.WorkbookRow,
        f"""
        UPDATE workbooks SET status = 'recalculating', error_message = NULL, version = version + 1, updated_at = now()
        WHERE id = %s AND status IN ('ready', 'error') AND book_key IS NOT NULL RETURNING {_ROW}
        """,
        [workbook_id],
        missing=schema.WorkbookNotReady,
    )


async def finish(
    unit: Unit, workbook_id: UUID, book: dict[str, Any], *, calculated_at: datetime | None, written_by: str | None
) -> bool:
    """Finish parsing, recalculation or writing; return if it waited.

    `book` has columns of the record.
    """
    done = await unit.execute(
        f"""
        UPDATE workbooks SET status = 'ready', error_message = NULL, {set_of(book)},
                             last_calculation = coalesce(%(at)s::timestamptz, last_calculation),
                             calculation_count = calculation_count + (%(at)s::timestamptz IS NOT NULL)::integer,
                             written_by = NULL, version = version + 1, updated_at = now()
        WHERE id = %(id)s AND written_by IS NOT DISTINCT FROM %(by)s AND status = ANY (%(states)s)
        """,
        {
            **book,
            "at": calculated_at,
            "by": written_by,
            "states": ["processing", "recalculating"] if written_by is None else ["ready"],
            "id": workbook_id,
        },
    )
    return bool(done)


async def begin_writing(unit: Unit, row: schema.WorkbookRow, by: str) -> None:
    """Reserve a locked workbook for a record's writing; reads go on.

    Raises:
        WorkbookNotReady: it is in another state than ready, or another record writes it.
    """
    _check_unwritten(row)
    if row.status != "ready":
        raise schema.WorkbookNotReady
    await unit.execute("UPDATE workbooks SET written_by = %s WHERE id = %s", [by, row.id])


def _check_unwritten(row: schema.WorkbookRow) -> None:
    if row.written_by is not None:
        raise schema.WorkbookNotReady.at(["workbook_id"], f"{row.written_by} writes a column of it")


async def end_writing(unit: Unit, workbook_id: UUID, by: str) -> None:
    """End a record's writing, with the workbook as it was."""
    await unit.execute("UPDATE workbooks SET written_by = NULL WHERE id = %s AND written_by = %s", [workbook_id, by])


async def fail(unit: Unit, workbook_id: UUID, message: str) -> str | None:
    """Fail a workbook; return its name, None where it did not wait."""
    name: str | None = await unit.fetch_value(
        """
        UPDATE workbooks SET status = 'error', error_message = %s, version = version + 1, updated_at = now()
        WHERE id = %s AND status IN ('processing', 'recalculating')
        RETURNING name
        """,
        [message, workbook_id],
    )
    return name


async def resume_parsing(unit: Unit, workbook_id: UUID) -> bool:
    """Put a failed workbook to parsing; return whether it was one."""
    done = await unit.execute(
        """
        UPDATE workbooks SET status = 'processing', error_message = NULL, version = version + 1, updated_at = now()
        WHERE id = %s AND status = 'error' AND book_key IS NULL AND deleted_at IS NULL
        """,
        [workbook_id],
    )
    return bool(done)


async def hide(ctx: Context, workbook_id: UUID) -> None:
    """Delete a workbook; its row stays, and blobs of evidence.

    Raises:
        WorkbookInUse: a scenario is yet to be simulated on it.
    """
    await leave_blobs(ctx, workbook_id)
    await ctx.execute("UPDATE workbooks SET deleted_at = now(), version = version + 1 WHERE id = %s", [workbook_id])


# Sheets ---------------------------------------------------------------------------------------------------------------


async def sheets(ctx: Context, workbook_id: UUID) -> list[schema.Sheet]:
    """Return the sheets of a workbook, in its order."""
    return await ctx.fetch_all(
        schema.Sheet,
        """
        SELECT id, name, index, state, row_count, column_count, formula_count > 0 AS has_formulas, formula_count,
               headers
        FROM sheets WHERE workbook_id = %s ORDER BY index
        """,
        [workbook_id],
    )


async def sheet(unit: Unit, workbook_id: UUID, wanted: str) -> schema.SheetRow:
    """Return a sheet by name or identifier.

    The exact name first, then in any case, as spreadsheets match it.

    Raises:
        SheetNotFound: the workbook has no such sheet.
    """
    return await unit.fetch_one(
        schema.SheetRow,
        """
        SELECT id, name, index, header_row, headers, types,
               (SELECT w.book_key FROM workbooks w
                WHERE w.tenant_id = sheets.tenant_id AND w.id = sheets.workbook_id) AS book_key
        FROM sheets
        WHERE workbook_id = %(workbook_id)s AND (lower(name) = lower(%(wanted)s) OR id::text = lower(%(wanted)s))
        ORDER BY name = %(wanted)s DESC, lower(name) = lower(%(wanted)s) DESC, index LIMIT 1
        """,
        {"workbook_id": workbook_id, "wanted": wanted},
        missing=schema.SheetNotFound,
    )


async def book(unit: Unit, workbook_id: UUID) -> str:
    """Return a workbook's manifest as JSON; `file` is a blob's key."""
    return str(await unit.fetch_value("SELECT book FROM workbooks WHERE id = %s", [workbook_id]))


# Blobs ----------------------------------------------------------------------------------------------------------------


async def leave_blobs(unit: Unit, workbook_id: UUID) -> None:
    """Release a workbook's blobs that it may soon cease to name."""
    keys = await unit.fetch_value(
        """
        SELECT array_agg(key) FROM (
            SELECT content_hash AS key FROM workbooks WHERE id = %(id)s
            UNION SELECT content_hash FROM workbook_files WHERE workbook_id = %(id)s
            UNION SELECT blob_key FROM sheets WHERE workbook_id = %(id)s AND blob_key IS NOT NULL) named
        """,
        {"id": workbook_id},
    )
    await release(unit, keys or [])
