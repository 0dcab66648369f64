"""A replay's queries.

The chain's head, stored runs as the texts that were hashed, and what evidence keeps.

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


class TenantName(Struct, frozen=True):
    """A tenant by its names."""

    id: UUID
    slug: str


async def tenants(tx: Transaction, wanted: str | None) -> list[TenantName]:
    """Return the tenant of this slug or identifier; all where none is named."""
    return await tx.fetch_all(TenantName, "SELECT * FROM tenants_named(%s)", [wanted])


class ChainHead(Struct, frozen=True):
    """The entry that was appended last."""

    sequence: int
    hash: str


async def head(tx: Transaction) -> ChainHead | None:
    """Return the end of the chain; None before the first entry."""
    return await tx.fetch_one_or_none(ChainHead, "SELECT sequence, encode(hash, 'hex') AS hash FROM audit_heads")


class RunRow(Struct, frozen=True, kw_only=True):
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


_KEPT = columns_of(RunRow, evidence="ARRAY[" + ", ".join(f"{name}::text" for name in EVIDENCE) + "]")


async def runs(tx: Transaction, ids: list[UUID]) -> dict[UUID, RunRow]:
    """Return stored runs by identifier; one that is not there is missing."""
    rows = await tx.fetch_all(RunRow, f"SELECT {_KEPT} FROM compliance_runs WHERE id = ANY (%s)", [ids])
    return {run.id: run for run in rows}


async def expired(tx: Transaction, ids: list[UUID]) -> dict[UUID, str]:
    """Return when the retention of removed runs ended, by their entries."""

    class Row(Struct):
        id: UUID
        until: str

    rows = await tx.fetch_all(
        Row,
        """
        SELECT a.resource_id AS id, coalesce(a.details ->> 'retention_until', '') AS until FROM audit_log a
        WHERE a.resource_type = 'compliance_run' AND a.action = 'compliance.run_expired'
          AND a.resource_id = ANY (%s::text[])
        """,
        [[str(identifier) for identifier in ids]],
    )
    return {row.id: row.until for row in rows}


class BatchEntry(Struct, frozen=True):
    """A run of a batch, with what the log would say of it (JSON)."""

    run_id: UUID
    entry: str


async def batch_entries(tx: Transaction, batch_id: UUID) -> list[BatchEntry]:
    """Return the runs of a batch, in its order."""
    sql = "SELECT run_id, entry FROM batch_items WHERE batch_id = %s AND run_id IS NOT NULL ORDER BY position"
    return await tx.fetch_all(BatchEntry, sql, [batch_id])


async def ids_without_entry(tx: Transaction, most: int) -> list[UUID]:
    """Return some of the stored runs that no entry of the log names.

    The entry of its batch stands for a run; that of its order does while the batch has not ended.
    """
    sql = """
        SELECT ARRAY(SELECT r.id FROM compliance_runs r
                     WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.tenant_id = r.tenant_id
                                       AND a.resource_type = 'compliance_run' AND a.resource_id = r.id::text)
                       AND NOT EXISTS (
                           SELECT FROM batch_items i
                           JOIN batches b ON b.tenant_id = i.tenant_id AND b.id = i.batch_id
                           JOIN audit_log a ON a.tenant_id = b.tenant_id AND a.resource_type = 'batch'
                                AND a.resource_id = b.id::text
                           WHERE i.tenant_id = r.tenant_id AND i.run_id = r.id
                             AND a.action = CASE WHEN b.completed_at IS NULL THEN 'batch.created'
                                                 ELSE 'batch.' || b.status END)
                     ORDER BY r.id LIMIT %s)
    """
    return list(await tx.fetch_value(sql, [most]))


async def manifest(tx: Transaction, book_key: str) -> str | None:
    """Return the manifest of a run's columns; None where it is not kept."""
    text: str | None = await tx.fetch_value("SELECT manifest FROM evidence_books WHERE key = %s", [book_key])
    return text


class Retention(Struct, frozen=True):
    """For how long the bytes of a book are kept."""

    until: datetime | None
    """None: without an end."""
    is_over: bool
    is_freed: bool
    """Whether the tenant has given up any of them."""


async def keeping(tx: Transaction, book_key: str) -> Retention:
    """Return how long a book's bytes are kept, and if they still are."""
    return await tx.fetch_one(
        Retention,
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
