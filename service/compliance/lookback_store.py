"""The look back's queries, over the audit log and the stored runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, get_args
from uuid import UUID

from msgspec import Struct

from service.compliance.lookback_schema import Category, Lookback
from service.platform.base.problem import NotFound
from service.platform.data.audit import digest
from service.platform.unit.context import Context
from service.platform.unit.listing import columns_of, fetch_slice

EVIDENCE: Final = (
    "test_suite", "workbook_hash", "book_key", "mapping", "thresholds", "definition", "definition_version", "options",
    "engine_version", "as_of", "as_of_source", "stream_key", "results", "skipped", "warnings",
)  # fmt: skip
"""Columns of a run that its entry of the audit log has the hash of, in this order."""


def digest_entries(entries: Iterable[tuple[UUID, str]]) -> str:
    """Return the hash over the runs of a batch, each with its entry (JSON)."""
    return digest(text for run_id, entry in entries for text in (str(run_id), entry))


_HASHED = " || ".join(f"audit_field(r.{name}::text)" for name in EVIDENCE)
_INPUTS = (
    "workbook_id", "workbook_hash", "book_key", "test_suite", "mapping", "thresholds", "definition",
    "definition_version", "options", "engine_version", "as_of", "as_of_source",
)  # fmt: skip
_OUTPUTS = ("status", "partial", "summary", "results", "skipped", "warnings", "executed_at")
_CATEGORIES = ",".join(get_args(Category))
_UUID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"


def _of(kind: str) -> str:
    return f"CASE WHEN a.resource_type = '{kind}' AND a.resource_id ~ {_UUID} THEN a.resource_id::uuid END"


def _object(names: tuple[str, ...]) -> str:
    return "json_build_object(" + ", ".join(f"'{name}', r.{name}" for name in names) + ")"


_ENTRIES_HASHED = f"""
    (SELECT encode(sha256(coalesce(string_agg(audit_field(i.run_id::text) || audit_field(i.entry), ''::bytea
                                              ORDER BY i.position), ''::bytea)), 'hex')
     FROM batch_items i WHERE i.tenant_id = a.tenant_id AND i.batch_id = {_of("batch")} AND i.run_id IS NOT NULL)
"""
"""As `digest_entries`."""

_IS_KEPT = """
    EXISTS (SELECT FROM evidence_books b WHERE b.tenant_id = r.tenant_id AND b.key = r.book_key)
    AND NOT EXISTS (SELECT FROM evidence_sheets s WHERE s.tenant_id = r.tenant_id AND s.book_key = r.book_key
        AND NOT EXISTS (SELECT FROM blobs b WHERE b.tenant_id = s.tenant_id AND b.key = s.blob_key
                        AND b.damaged_at IS NULL))
"""

_WITH_BATCHES = {
    "resource_id": f"""(resource_id = %(resource_id)s OR resource_type = 'batch' AND resource_id IN (
        SELECT i.batch_id::text FROM batch_items i
        WHERE i.run_id = CASE WHEN %(resource_id)s ~ {_UUID} THEN %(resource_id)s::uuid END))""",
    "stream": """(stream = %(stream)s OR resource_type = 'batch' AND resource_id IN (
        SELECT i.batch_id::text FROM compliance_runs r
        JOIN batch_items i ON i.tenant_id = r.tenant_id AND i.run_id = r.id WHERE r.stream_key = %(stream)s))""",
}
"""Events of a run, or of a stream: those of a batch stand for its runs."""

_EVENTS = f"""
    (SELECT a.*, split_part(a.action, '.', 1) AS category, p.hash AS before,
            coalesce(r.stream_key, a.details ->> 'stream_key', w.stream_key, wd.stream_key, d.stream_key) AS stream,
            coalesce(a.redacted, a.hash) = audit_hash(
                CASE WHEN a.sequence = 1 THEN decode(repeat('00', 32), 'hex') ELSE p.hash END, a) AS is_whole,
            CASE WHEN a.resource_type = 'batch' THEN {_ENTRIES_HASHED} ELSE encode(sha256({_HASHED}), 'hex') END
                AS evidence,
            r.engine_version,
            CASE WHEN r.id IS NOT NULL THEN {_IS_KEPT} END AS inputs_kept,
            CASE WHEN r.id IS NOT NULL THEN (SELECT NULLIF(k.until, 'infinity') FROM evidence_kept k
                WHERE k.tenant_id = r.tenant_id AND k.book_key = r.book_key) END AS inputs_kept_until,
            a.resource_type = 'compliance_run' AND r.id IS NULL AND EXISTS (
                SELECT FROM audit_log x WHERE x.tenant_id = a.tenant_id AND x.action = 'compliance.run_expired'
                AND x.resource_id = a.resource_id) AS is_expired,
            CASE WHEN r.id IS NOT NULL THEN {_object(_INPUTS)} END AS inputs,
            CASE WHEN r.id IS NOT NULL THEN {_object(_OUTPUTS)} END AS outputs
     FROM audit_log a
     LEFT JOIN audit_log p ON p.tenant_id = a.tenant_id AND p.sequence = a.sequence - 1
     LEFT JOIN compliance_runs r ON r.tenant_id = a.tenant_id AND r.id = {_of("compliance_run")}
     LEFT JOIN workbooks w ON w.tenant_id = a.tenant_id AND w.id = {_of("workbook")}
     LEFT JOIN deals wd ON wd.tenant_id = w.tenant_id AND wd.id = w.deal_id
     LEFT JOIN deals d ON d.tenant_id = a.tenant_id AND d.id = {_of("deal")}) AS e
    WHERE category = ANY ('{{{_CATEGORIES}}}')
"""


class EventRow(Struct, frozen=True, kw_only=True):
    """An event, as it was found."""

    id: UUID
    action: str
    category: str
    occurred_at: datetime
    user_id: UUID | None
    user_email: str | None
    api_key_id: UUID | None
    resource_type: str | None
    resource_id: str | None
    resource_name: str | None
    stream: str | None
    details: dict[str, Any]
    inputs: dict[str, Any] | None
    outputs: dict[str, Any] | None
    sequence: int
    hash: str
    before: str | None
    """The hash of the entry before it; None where that is missing, or there is none."""
    is_whole: bool
    evidence: str | None
    """The hash that the stored run gives now."""
    engine_version: str | None
    inputs_kept: bool | None
    """None as well where no proof is asked for; so is the next."""
    inputs_kept_until: datetime | None
    is_expired: bool
    """The run was removed after its retention, by an entry of its own."""


async def events(
    ctx: Context, query: Lookback, since: datetime | None, until: datetime | None
) -> tuple[list[EventRow], int]:
    """Return some of the events, newest first, and the number of all.

    `since` and `until` are inclusive.
    """
    columns = columns_of(
        EventRow,
        hash="encode(hash, 'hex')",
        before="encode(before, 'hex')",
        is_whole="coalesce(is_whole, false)",
        is_expired="coalesce(is_expired, false)",
        inputs="inputs" if query.include_inputs else "NULL::json",
        outputs="outputs" if query.include_outputs else "NULL::json",
        inputs_kept="inputs_kept" if query.include_proof else "NULL::boolean",
        inputs_kept_until="inputs_kept_until" if query.include_proof else "NULL::timestamptz",
    )
    filters = {
        "action": query.event_type,
        "category": query.event_category,
        "resource_id": query.subject_id,
        "user_id": query.actor_id,
        "stream": query.stream_key,
        "since": since,
        "until": until,
    }
    matching = {"since": "occurred_at >= %(since)s", "until": "occurred_at <= %(until)s", **_WITH_BATCHES}
    part, order = (query.limit, query.offset), "sequence DESC"
    return await fetch_slice(ctx, EventRow, columns, _EVENTS, filters, order=order, part=part, conditions=matching)


class ChainSpan(Struct, frozen=True):
    """Entries of the chain one after the other."""

    count: int
    is_whole: bool
    has_end: bool
    """Whether the newest entry is the one that was appended last."""


async def span(ctx: Context, first: int, last: int) -> ChainSpan:
    """Return whether the entries from one number to another follow on each other."""
    return await ctx.fetch_one(
        ChainSpan,
        """
        SELECT count(*) AS count, coalesce(bool_and(coalesce(coalesce(a.redacted, a.hash) = audit_hash(
                   CASE WHEN a.sequence = 1 THEN decode(repeat('00', 32), 'hex') ELSE p.hash END, a), false)), true
               ) AS is_whole,
               NOT EXISTS (SELECT FROM audit_heads h WHERE h.sequence > 0 AND NOT EXISTS (
                   SELECT FROM audit_log n
                   WHERE n.tenant_id = h.tenant_id AND n.sequence = h.sequence AND n.hash = h.hash)) AS has_end
        FROM audit_log a
        LEFT JOIN audit_log p ON p.tenant_id = a.tenant_id AND p.sequence = a.sequence - 1
        WHERE a.sequence BETWEEN %s AND %s
        """,
        [first, last],
        missing=NotFound,
    )
