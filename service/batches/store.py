"""Batches' queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal
from uuid import UUID

from msgspec import Struct

from core.compliance.result import Summary
from service.batches.schema import Batch, BatchCounts, BatchList, BatchNotFound, ResultFormat, Status, StoredItem
from service.platform.route.api import Slice
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import fetch_slice, set_of
from service.platform.unit.records import Records, array_of

Kind = Literal["workbook_ids", "deal_ids"]
IN_WORK: Final = "batches WHERE status IN ('pending', 'running')"
_COUNTS: Final = ("total", "done", "refused", "passed", "failed", "warnings", "skipped", "doubtful")
_COUNT_COLUMNS: Final = ", ".join(_COUNTS)
_COUNTED: Final = ", ".join(f"'{name}', b.{name}" for name in _COUNTS)
_THERE: Final = "coalesce(d.blob_key IS NOT NULL AND d.expires_at > now(), false)"
_JOINED: Final = "batches b LEFT JOIN documents d ON d.tenant_id = b.tenant_id AND d.id = b.document_id"
batches = Records(
    "batches",
    Batch,
    missing=BatchNotFound,
    derived={
        "id": "b.id",
        "name": "b.name",
        "test_suite": "b.request ->> 'test_suite'",
        "counts": f"json_build_object({_COUNTED})",
        "progress": "(b.done + b.refused) * 100 / b.total",
        "file_size_bytes": "d.size_bytes",
        "download_url": f"CASE WHEN {_THERE} THEN '/api/v1/batches/' || b.id || '/results' END",
        "expires_at": "d.expires_at",
        "created_at": "b.created_at",
    },
    source=_JOINED,
    key="b.id",
)


class ResultFile(Struct, frozen=True, kw_only=True):
    """Where the results of a batch are."""

    name: str
    status: Status
    document_id: UUID | None


result_files = Records("batches", ResultFile, missing=BatchNotFound)


async def read_page(ctx: Context, query: BatchList) -> Slice[Batch]:
    """Return some of the batches, the newest first."""
    rows = await fetch_slice(
        ctx,
        Batch,
        batches.columns,
        f"{_JOINED} WHERE true",
        {"status": query.status},
        order="b.created_at DESC, b.id",
        part=(query.limit, query.skip),
    )
    return Slice(*rows, query.skip, query.limit)


# Ordering -------------------------------------------------------------------------------------------------------------

_TABLES: Final[dict[Kind, str]] = {
    "workbook_ids": "workbooks t WHERE t.deleted_at IS NULL AND",
    "deal_ids": "deals t WHERE",
}
_ITEMS: Final[dict[Kind, str]] = {
    "workbook_ids": """
        SELECT w.tenant_id, %(batch_id)s, a.n - 1, coalesce(d.name, w.name), NULL::uuid, w.id
        FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS a (id, n) JOIN workbooks w ON w.id = a.id
        LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
    """,
    "deal_ids": """
        SELECT d.tenant_id, %(batch_id)s, a.n - 1, d.name, d.id,
               (SELECT w.id FROM deal_workbooks w WHERE w.tenant_id = d.tenant_id AND w.deal_id = d.id
                ORDER BY w.day DESC, w.created_at DESC LIMIT 1)
        FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS a (id, n) JOIN deals d ON d.id = a.id
    """,
}


async def missing(ctx: Context, kind: Kind, ids: Sequence[UUID]) -> list[UUID]:
    """Return those of the identifiers that are none of the tenant's."""
    sql = f"""
        SELECT ARRAY(SELECT a.id FROM unnest(%s::uuid[]) WITH ORDINALITY AS a (id, n)
                     WHERE NOT EXISTS (SELECT FROM {_TABLES[kind]} t.id = a.id) ORDER BY a.n)
    """
    return list(await ctx.fetch_value(sql, [array_of(ids)]))


async def add_items(ctx: Context, batch_id: UUID, kind: Kind, ids: Sequence[UUID]) -> int:
    """Write the items of a new batch; return how many there are."""
    sql = f"INSERT INTO batch_items (tenant_id, batch_id, position, deal, deal_id, workbook_id) {_ITEMS[kind]}"
    return await ctx.execute(sql, {"batch_id": batch_id, "ids": array_of(ids)})


# In work --------------------------------------------------------------------------------------------------------------


class BatchWork(Struct, frozen=True, kw_only=True):
    """A batch as its jobs need it."""

    id: UUID
    name: str
    format: ResultFormat
    request: dict[str, Any]


class Item(Struct, frozen=True, kw_only=True):
    """A workbook whose turn it is."""

    position: int
    deal_id: UUID | None
    workbook_id: UUID | None
    attempts: int
    """Turns that began, this one included."""


async def start(unit: Unit, batch_id: UUID) -> BatchWork | None:
    """Begin a batch, or go on with it; None once it has ended."""
    return await unit.fetch_one_or_none(
        BatchWork,
        """
        UPDATE batches SET status = 'running', started_at = coalesce(started_at, now())
        WHERE id = %s AND status IN ('pending', 'running') RETURNING id, name, format, request
        """,
        [batch_id],
    )


async def in_work(unit: Unit, batch_id: UUID) -> BatchWork | None:
    """Return a batch that has not ended."""
    sql = "SELECT id, name, format, request FROM batches WHERE id = %s AND status IN ('pending', 'running')"
    return await unit.fetch_one_or_none(BatchWork, sql, [batch_id])


READY_SECONDS_MAX: Final = 600
"""For which a batch, from its first turn on, waits for workbooks that are still read or recalculated."""

_PENDING: Final = """
    FROM batches b JOIN batch_items i ON i.tenant_id = b.tenant_id AND i.batch_id = b.id
    LEFT JOIN workbooks w ON w.tenant_id = i.tenant_id AND w.id = i.workbook_id
    WHERE b.id = %(batch_id)s AND b.status = 'running' AND i.status = 'pending'
      AND i.position %% %(lanes)s = %(lane)s
"""
"""The items of a lane that wait; none, too, where the batch has ended."""
_IS_UNREAD: Final = f"""
    (w.status IN ('uploading', 'processing', 'recalculating') AND w.deleted_at IS NULL
     AND b.started_at > now() - make_interval(secs => {READY_SECONDS_MAX}))
"""


async def take_item(unit: Unit, batch_id: UUID, lane: int, lanes: int) -> Item | None:
    """Begin the turn of a lane's next item whose workbook is not being read.

    None: there is none, or the batch has ended.
    """
    return await unit.fetch_one_or_none(
        Item,
        f"""
        UPDATE batch_items SET attempts = attempts + 1
        WHERE batch_id = %(batch_id)s AND status = 'pending' AND position = (
            SELECT i.position {_PENDING} AND {_IS_UNREAD} IS NOT TRUE ORDER BY i.position LIMIT 1)
        RETURNING position, deal_id, workbook_id, attempts
        """,
        {"batch_id": batch_id, "lane": lane, "lanes": lanes},
    )


async def waits(unit: Unit, batch_id: UUID, lane: int, lanes: int) -> bool | None:
    """Return whether all left of a lane waits for reading; None for nothing left."""
    all_unread: bool | None = await unit.fetch_value(
        f"SELECT bool_and({_IS_UNREAD} IS TRUE) {_PENDING}", {"batch_id": batch_id, "lane": lane, "lanes": lanes}
    )
    return all_unread


ItemEnd = Literal["last", "counted", "again", "stopped"]
"""It was the last pending one; others follow; it had ended before; the batch has ended."""


async def end_item(unit: Unit, batch_id: UUID, position: int, row: dict[str, Any], summary: Summary | None) -> ItemEnd:
    """End an item and count it; unless it is counted, the caller rolls back.

    The batch's row stays locked until the transaction ends.
    """
    counts = {name: getattr(summary, name, 0) for name in _COUNTS[3:]}
    counts |= {"done": int(summary is not None), "refused": int(summary is None)}
    values = {**row, "batch_id": batch_id, "position": position}
    changed = await unit.execute(
        f"""
        UPDATE batch_items SET {set_of(row)}
        WHERE batch_id = %(batch_id)s AND position = %(position)s AND status = 'pending'
        """,
        values,
    )
    if not changed:
        return "again"
    is_last = await unit.fetch_value(
        """
        UPDATE batches SET done = done + %(done)s, refused = refused + %(refused)s, passed = passed + %(passed)s,
                           failed = failed + %(failed)s, warnings = warnings + %(warnings)s,
                           skipped = skipped + %(skipped)s, doubtful = doubtful + %(doubtful)s
        WHERE id = %(id)s AND status = 'running' RETURNING done + refused = total
        """,
        {**counts, "id": batch_id},
    )
    return "stopped" if is_last is None else "last" if is_last else "counted"


class UnreadWorkbook(Struct, frozen=True, kw_only=True):
    """A workbook that could not be run, as it is now."""

    status: str
    error_message: str | None


async def unread_workbook(unit: Unit, workbook_id: UUID) -> UnreadWorkbook | None:
    """Return why a workbook cannot be read; None once it was deleted."""
    sql = "SELECT status, error_message FROM workbooks WHERE id = %s AND deleted_at IS NULL"
    return await unit.fetch_one_or_none(UnreadWorkbook, sql, [workbook_id])


# The end --------------------------------------------------------------------------------------------------------------


async def items_after(unit: Unit, batch_id: UUID, position: int, most: int) -> list[StoredItem]:
    """Return the items behind a position, in the order of the request."""
    return await unit.fetch_all(
        StoredItem,
        """
        SELECT i.position, i.deal, coalesce(f.names, w.file_name, '') AS files, coalesce(w.content_hash, '') AS sha256,
               i.step, i.reason, r.as_of, r.as_of_source, r.test_suite, r.results::text AS results,
               r.skipped::text AS skipped
        FROM batch_items i
        LEFT JOIN workbooks w ON w.tenant_id = i.tenant_id AND w.id = i.workbook_id
        LEFT JOIN compliance_runs r ON r.tenant_id = i.tenant_id AND r.id = i.run_id
        LEFT JOIN LATERAL (
            SELECT string_agg(g.file_name, '; ' ORDER BY g.index) AS names FROM workbook_files g
            WHERE g.tenant_id = w.tenant_id AND g.workbook_id = w.id) f ON true
        WHERE i.batch_id = %s AND i.position > %s ORDER BY i.position LIMIT %s
        """,
        [batch_id, position, most],
    )


class EndedBatch(BatchCounts, frozen=True, kw_only=True):
    """A batch at its end."""

    id: UUID
    name: str
    test_suite: str


async def end(unit: Unit, batch_id: UUID, row: dict[str, Any]) -> EndedBatch | None:
    """End a batch; None where it had ended."""
    return await unit.fetch_one_or_none(
        EndedBatch,
        f"""
        UPDATE batches SET {set_of(row)}, completed_at = now() WHERE id = %(id)s AND status IN ('pending', 'running')
        RETURNING id, name, request ->> 'test_suite' AS test_suite, {_COUNT_COLUMNS}
        """,
        {**row, "id": batch_id},
    )


class RunEntry(Struct, frozen=True):
    """A run of a batch, and what the audit log would say of it (JSON)."""

    run_id: UUID
    entry: str


async def run_entries(unit: Unit, batch_id: UUID) -> list[RunEntry]:
    """Return the runs of a batch in its order."""
    sql = "SELECT run_id, entry FROM batch_items WHERE batch_id = %s AND run_id IS NOT NULL ORDER BY position"
    return await unit.fetch_all(RunEntry, sql, [batch_id])
