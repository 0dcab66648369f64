"""The audit log's queries."""

from __future__ import annotations

from datetime import datetime

from msgspec import Raw, Struct

from service.audit.schema import AuditEntry, AuditList
from service.platform.api import Page, page_of
from service.platform.audit import START, Record, written
from service.platform.audit_filter import AuditFilter
from service.platform.context import Context
from service.platform.database import Transaction
from service.platform.problem import NotFound

_ENTRY = """
    id, occurred_at AS timestamp, user_id, user_email, action, resource_type, resource_id, resource_name, ip_address,
    user_agent, details, api_key_id, request_id, sequence, encode(hash, 'hex') AS hash
"""
_RECORD = """
    a.tenant_id::text, a.sequence, a.id::text, a.occurred_at, a.user_id::text, a.user_email, a.api_key_id::text,
    a.action, a.resource_type, a.resource_id, a.resource_name, a.ip_address, a.user_agent, a.request_id,
    a.details::text, encode(a.hash, 'hex') AS hash,
    (SELECT encode(p.hash, 'hex') FROM audit_log p WHERE p.tenant_id = a.tenant_id AND p.sequence = a.sequence - 1)
        AS previous_hash
"""
# Not a join: with one, each piece of an export read the whole log, and 200,000 entries took 48 s instead of 10.


async def entries(ctx: Context, asked: AuditFilter, query: AuditList) -> Page[AuditEntry]:
    """A page of entries, the newest first."""
    where = asked.where
    items = await ctx.all(
        AuditEntry,
        f"SELECT {_ENTRY} FROM audit_log WHERE {where}"
        " ORDER BY occurred_at DESC, sequence DESC LIMIT %(limit)s OFFSET %(offset)s",
        {**asked.values, "limit": query.page_size, "offset": query.offset},
    )
    return page_of(items, await ctx.value(f"SELECT count(*) FROM audit_log WHERE {where}", asked.values), query)


class Extent(Struct, frozen=True):
    """What an export holds: how many entries (one past the limit where there are more), and the last one's number."""

    count: int
    last: int


async def extent(ctx: Context, asked: AuditFilter, *, rows_max: int) -> Extent:
    """How much an export would hold."""
    where = asked.where
    return await ctx.one(
        Extent,
        f"""
        SELECT count(*) AS count, coalesce(max(sequence), 0) AS last
        FROM (SELECT sequence FROM audit_log WHERE {where} LIMIT %(most)s) AS found
        """,
        {**asked.values, "most": rows_max + 1},
        missing=NotFound,
    )


async def records(tx: Transaction, asked: AuditFilter, *, after: int, rows_max: int) -> list[Record]:
    """The next entries of an export, the oldest first: those with numbers past `after`."""
    where = asked.where
    rows = await tx.all(
        _Row,
        f"""
        SELECT {_RECORD}
        FROM (SELECT * FROM audit_log WHERE sequence > %(after)s AND {where} ORDER BY sequence LIMIT %(most)s) AS a
        ORDER BY a.sequence
        """,
        {**asked.values, "after": after, "most": rows_max},
    )
    return [row.record() for row in rows]


class _Row(Struct):
    tenant_id: str
    sequence: int
    id: str
    occurred_at: datetime
    user_id: str | None
    user_email: str | None
    api_key_id: str | None
    action: str
    resource_type: str | None
    resource_id: str | None
    resource_name: str | None
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    details: str
    previous_hash: str | None
    hash: str

    def record(self) -> Record:
        """The entry as it is hashed."""
        return Record(
            tenant_id=self.tenant_id,
            sequence=self.sequence,
            id=self.id,
            timestamp=written(self.occurred_at),
            user_id=self.user_id,
            user_email=self.user_email,
            api_key_id=self.api_key_id,
            action=self.action,
            resource_type=self.resource_type,
            resource_id=self.resource_id,
            resource_name=self.resource_name,
            ip_address=self.ip_address,
            user_agent=self.user_agent,
            request_id=self.request_id,
            details=Raw(self.details.encode()),
            previous_hash=self.previous_hash or START.hex(),
            hash=self.hash,
        )
