"""The audit log's decisions: who may read it, and how an export is made while it is sent."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec

from service.audit import store
from service.audit.schema import AuditEntry, AuditExport, AuditList, AuditQuery, EnterpriseTierRequired
from service.audit.store import Extent
from service.platform.api import Page, Streamed
from service.platform.audit import Record
from service.platform.audit_filter import AuditFilter, audit_filter
from service.platform.context import Context
from service.platform.problem import ValidationFailed

CHUNK_ROWS = 500
"""Entries of one query of an export; reading and encoding them holds up the event loop for 6 ms."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes a cell that begins so for: a formula. The last four are full-width twins."""
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
COLUMNS = Record.__struct_fields__


async def list_entries(ctx: Context, query: AuditList) -> Page[AuditEntry]:
    """A page of the log.

    Raises:
        EnterpriseTierRequired: the tenant's tier is another.
    """
    return await store.entries(ctx, _asked(ctx, query), query)


async def export(ctx: Context, query: AuditExport) -> Streamed:
    """The log as a file.

    Raises:
        EnterpriseTierRequired: the tenant's tier is another.
        ValidationFailed: more entries match than one export may hold.
    """
    asked = _asked(ctx, query)
    most = ctx.settings.max_audit_export_rows
    extent = await store.extent(ctx, asked, rows_max=most)
    if extent.count > most:
        message = f"more than {most} entries match, the limit of one export (max_audit_export_rows): narrow the filter"
        raise ValidationFailed.at(["query"], message)
    given = {name: value for name, value in msgspec.to_builtins(query).items() if value is not None}
    ctx.concerns("audit_log", ctx.tenant, None, entries=extent.count, **given)
    name = f"audit-log-{ctx.now():%Y-%m-%d}.{query.format}"
    return Streamed(
        _chunks(ctx, asked, extent, csv_lines if query.format == "csv" else json_lines),
        MEDIA_TYPES[query.format],
        [("content-disposition", f'attachment; filename="{name}"'), ("cache-control", "no-store")],
    )


def _asked(ctx: Context, query: AuditQuery) -> AuditFilter:
    if ctx.caller.tier != "enterprise":
        raise EnterpriseTierRequired
    return audit_filter(
        user_id=query.user_id,
        action=query.action,
        resource_type=query.resource_type,
        start_date=query.start_date,
        end_date=query.end_date,
    )


async def _chunks(
    ctx: Context, asked: AuditFilter, extent: Extent, lines: Callable[[list[Record]], bytes]
) -> AsyncGenerator[bytes, None]:
    """The entries in pieces, each read in a transaction of its own: a slow reader holds no connection.

    Numbers are given under a lock that lasts until their commit, so nothing can still appear before the last one.
    """
    database, tenant = ctx.resources.database, ctx.tenant
    if lines is csv_lines:
        yield _csv([COLUMNS])
    after = 0
    while after < extent.last:
        async with database.transaction(tenant) as tx:
            found = await store.records(tx, asked, after=after, rows_max=CHUNK_ROWS)
        found = [record for record in found if record.sequence <= extent.last]
        if not found:
            return
        after = found[-1].sequence
        yield lines(found)


def json_lines(records: list[Record]) -> bytes:
    """Entries as JSON lines, exact enough to make their hashes again."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def csv_lines(records: list[Record]) -> bytes:
    """Entries as lines of a CSV file (RFC 4180), safe to open with a spreadsheet."""
    return _csv([[_cell(getattr(record, name)) for name in COLUMNS] for record in records])


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, msgspec.Raw):
        value = bytes(value).decode()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _csv(rows: list[Any]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8")
