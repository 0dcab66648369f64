"""The audit log's queries."""

from __future__ import annotations

from msgspec import Struct

from service.audit.schema import AuditEntry, AuditList
from service.platform.base.problem import NotFound
from service.platform.data.audit_filter import CONDITIONS, AuditFilter
from service.platform.data.database import Transaction
from service.platform.route.api import Page
from service.platform.unit.context import Context
from service.platform.unit.listing import fetch_page

_ENTRY = """
    id, occurred_at AS timestamp, user_id, user_email, action, resource_type, resource_id, resource_name, ip_address,
    user_agent, details, api_key_id, request_id, sequence, encode(hash, 'hex') AS hash
"""
_LINE = """
    a.tenant_id, a.sequence, a.id,
    to_char(a.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS timestamp,
    a.user_id, a.user_email, a.api_key_id, a.action, a.resource_type, a.resource_id, a.resource_name, a.ip_address,
    a.user_agent, a.request_id, a.details,
    encode(CASE WHEN a.sequence = 1 THEN decode(repeat('00', 32), 'hex')
                WHEN lag(a.sequence) OVER numbers = a.sequence - 1 THEN lag(a.hash) OVER numbers
                ELSE (SELECT p.hash FROM audit_log p WHERE p.tenant_id = a.tenant_id AND p.sequence = a.sequence - 1)
           END, 'hex') AS previous_hash,
    encode(a.hash, 'hex') AS hash
"""
"""The fields of `Record`, in its order."""


async def entries(ctx: Context, criteria: AuditFilter, query: AuditList) -> Page[AuditEntry]:
    """Return a page of entries, the newest first."""
    how = {"order": "occurred_at DESC, sequence DESC", "conditions": CONDITIONS}
    return await fetch_page(ctx, AuditEntry, _ENTRY, "audit_log WHERE true", criteria.values, query, **how)


class Extent(Struct, frozen=True):
    """What an export holds: how many entries (one past the limit where there are more), and the last one's number."""

    count: int
    last: int


async def extent(ctx: Context, criteria: AuditFilter, *, rows_max: int) -> Extent:
    """Return how much an export would hold."""
    where = criteria.where
    return await ctx.fetch_one(
        Extent,
        f"""
        SELECT count(*) AS count, coalesce(max(sequence), 0) AS last
        FROM (SELECT sequence FROM audit_log WHERE {where} LIMIT %(most)s) AS found
        """,
        {**criteria.values, "most": rows_max + 1},
        missing=NotFound,
    )


class Piece(Struct, frozen=True):
    """The next entries of an export, as JSON lines of `Record`, with the number of the last one; no lines: no more."""

    lines: str
    last: int


async def piece(tx: Transaction, criteria: AuditFilter, extent: Extent, *, after: int, rows_max: int) -> Piece:
    """Return the next entries of an export, past a number.

    The database writes the lines: made here from rows they took the event loop six times as long, and twice in all.
    """
    where = criteria.where
    return await tx.fetch_one(
        Piece,
        f"""
        SELECT coalesce(string_agg(row_to_json(line)::text || E'\n', '' ORDER BY line.sequence), '') AS lines,
               coalesce(max(line.sequence), 0) AS last
        FROM (SELECT {_LINE}
              FROM (SELECT * FROM audit_log WHERE sequence > %(after)s AND sequence <= %(last)s AND {where}
                    ORDER BY sequence LIMIT %(most)s) AS a
              WINDOW numbers AS (ORDER BY a.sequence)) AS line
        """,
        {**criteria.values, "after": after, "last": extent.last, "most": rows_max},
        missing=NotFound,
    )
