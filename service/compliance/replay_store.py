"""A replay's queries: the chain's head, stored runs as the texts that were hashed, and what evidence keeps.

They take a transaction rather than a unit of work: a command replays without the service.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.compliance.lookback_store import EVIDENCE
from service.platform.base.problem import NotFound
from service.platform.data.database import Transaction
from service.platform.unit.listing import columns_of


class Tenant(Struct, frozen=True):
    """A tenant by its names."""

    id: UUID
    slug: str


async def tenants(tx: Transaction, wanted: str | None) -> list[Tenant]:
    """The tenant of this slug or identifier; all where none is named."""
    return await tx.all(Tenant, "SELECT * FROM tenants_named(%s)", [wanted])


class Head(Struct, frozen=True):
    """The entry that was appended last."""

    sequence: int
    hash: str


async def head(tx: Transaction) -> Head | None:
    """The end of the chain; None before the first entry."""
    return await tx.one_or_none(Head, "SELECT sequence, encode(hash, 'hex') AS hash FROM audit_heads")


class Kept(Struct, frozen=True, kw_only=True):
    """A run as it is stored."""

    id: UUID
    workbook_id: UUID
    status: str
    executed_at: datetime
    summary: dict[str, Any]
    figures: dict[str, Any]
    partial: bool
    stream_key: str | None
    evidence: list[str | None]
    """The columns that were hashed, each as its text, in the order of `EVIDENCE`."""


_KEPT = columns_of(Kept, evidence="ARRAY[" + ", ".join(f"{name}::text" for name in EVIDENCE) + "]")


async def runs(tx: Transaction, ids: list[UUID]) -> dict[UUID, Kept]:
    """Stored runs by identifier; one that is not there is missing."""
    found = await tx.all(Kept, f"SELECT {_KEPT} FROM compliance_runs WHERE id = ANY (%s)", [ids])
    return {one.id: one for one in found}


async def expired(tx: Transaction, ids: list[UUID]) -> dict[UUID, str]:
    """Of runs that are not there any more, when the retention ended after which they were removed, by their entries."""

    class Row(Struct):
        id: UUID
        until: str

    found = await tx.all(
        Row,
        """
        SELECT a.resource_id AS id, coalesce(a.details ->> 'retention_until', '') AS until FROM audit_log a
        WHERE a.resource_type = 'compliance_run' AND a.action = 'compliance.run_expired'
          AND a.resource_id = ANY (%s::text[])
        """,
        [[str(identifier) for identifier in ids]],
    )
    return {row.id: row.until for row in found}


async def untold(tx: Transaction, most: int) -> list[UUID]:
    """Some of the stored runs that no entry of the log tells of."""

    class Row(Struct):
        id: UUID

    found = await tx.all(
        Row,
        """
        SELECT r.id FROM compliance_runs r
        WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.tenant_id = r.tenant_id
                          AND a.resource_type = 'compliance_run' AND a.resource_id = r.id::text)
        ORDER BY r.id LIMIT %s
        """,
        [most],
    )
    return [row.id for row in found]


async def manifest(tx: Transaction, book_key: str) -> str | None:
    """The manifest of the columns that a run read; None where evidence never kept it."""
    found: str | None = await tx.value("SELECT manifest FROM evidence_books WHERE key = %s", [book_key])
    return found


class Keeping(Struct, frozen=True):
    """For how long the bytes of a book are kept."""

    until: datetime | None
    """None: without an end."""
    is_over: bool
    is_freed: bool
    """Whether the tenant has given up any of them."""


async def keeping(tx: Transaction, book_key: str) -> Keeping:
    """For how long the bytes of a book are kept, and whether they still are."""
    return await tx.one(
        Keeping,
        """
        SELECT NULLIF(k.until, 'infinity') AS until, k.until <= now() AS is_over,
               EXISTS (SELECT FROM evidence_sheets s WHERE s.tenant_id = k.tenant_id AND s.book_key = k.book_key
                       AND NOT EXISTS (SELECT FROM blobs b WHERE b.tenant_id = s.tenant_id AND b.key = s.blob_key)
                      ) AS is_freed
        FROM evidence_kept k WHERE k.book_key = %s
        """,
        [book_key],
        missing=NotFound,
    )
