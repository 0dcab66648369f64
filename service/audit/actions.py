"""The audit log's decisions.

Who may read it, and how an export is made while it is sent.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from core.files.write.delimited import guarded
from service.audit import store
from service.audit.schema import AuditEntry, AuditExport, AuditList, AuditQuery, EnterpriseTierRequired
from service.audit.store import Extent
from service.platform.base.problem import ValidationFailed
from service.platform.data.audit import Record, parse
from service.platform.data.audit_filter import AuditFilter, audit_filter
from service.platform.route.api import Page, Streamed
from service.platform.unit.context import Context

CHUNK_ROWS = 250
"""Entries of one query of an export: a thread writes them in some milliseconds; others have their turn in between."""
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
COLUMNS = Record.__struct_fields__


async def list_entries(ctx: Context, query: AuditList) -> Page[AuditEntry]:
    """Return a page of the log.

    Raises:
        EnterpriseTierRequired: the tenant's tier is another.
    """
    return await store.entries(ctx, _filter_of(ctx, query), query)


async def export(ctx: Context, query: AuditExport) -> Streamed:
    """Return the log as a file.

    Raises:
        EnterpriseTierRequired: the tenant's tier is another.
        ValidationFailed: more entries match than one export may hold.
    """
    criteria = _filter_of(ctx, query)
    most = ctx.settings.max_audit_export_rows
    extent = await store.extent(ctx, criteria, rows_max=most)
    if extent.count > most:
        message = f"more than {most} entries match, the limit of one export (max_audit_export_rows): narrow the filter"
        raise ValidationFailed.at(["query"], message)
    filters = {name: value for name, value in msgspec.to_builtins(query).items() if value is not None}
    ctx.set_subject("audit_log", ctx.tenant, None, entries=extent.count, **filters)
    pieces = _pieces(ctx, criteria, extent)
    name = f"audit-log-{ctx.now():%Y-%m-%d}.{query.format}"
    return Streamed(
        _csv_chunks(ctx, pieces) if query.format == "csv" else pieces,
        MEDIA_TYPES[query.format],
        [("content-disposition", f'attachment; filename="{name}"'), ("cache-control", "no-store")],
    )


def _filter_of(ctx: Context, query: AuditQuery) -> AuditFilter:
    if ctx.caller.tier != "enterprise":
        raise EnterpriseTierRequired.at([], f"the tenant's tier is {ctx.caller.tier}")
    return audit_filter(
        user_id=query.user_id,
        action=query.action,
        resource_type=query.resource_type,
        start_date=query.start_date,
        end_date=query.end_date,
    )


async def _pieces(ctx: Context, criteria: AuditFilter, extent: Extent) -> AsyncGenerator[bytes, None]:
    """Yield the entries as JSON lines, a transaction for each piece.

    A slow reader holds no connection.
    """
    after = 0
    while after < extent.last:
        async with ctx.resources.database.transaction(ctx.tenant) as tx:
            piece = await store.piece(tx, criteria, extent, after=after, rows_max=CHUNK_ROWS)
        if not piece.lines:
            return
        after = piece.last
        yield piece.lines.encode()


async def _csv_chunks(ctx: Context, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield the entries as CSV (RFC 4180) that spreadsheets open safely."""
    head = _csv([COLUMNS])
    async with aclosing(pieces):
        async for piece in pieces:
            yield head + await ctx.compute(_csv_lines, piece)
            head = b""
    if head:
        yield head


def _csv_lines(piece: bytes) -> bytes:
    return _csv([[_cell(value) for value in msgspec.structs.astuple(parse(line))] for line in piece.splitlines()])


def _cell(value: Any) -> Any:
    """Return a cell that no spreadsheet reads as a formula."""
    if isinstance(value, msgspec.Raw):
        value = bytes(value).decode()
    return guarded(value) if isinstance(value, str) else value


def _csv(rows: Sequence[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8")
