"""Compliance's queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Struct

from core.compliance.result import Direction, TestResult
from core.compliance.result import Threshold as RunThreshold
from service.compliance import schema
from service.compliance.lookback_store import EVIDENCE
from service.platform.base.secrets import new_id
from service.platform.data.audit import digest
from service.platform.route.api import Listing, Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page, fetch_slice, insert_of
from service.platform.unit.records import to_json
from service.workbooks.schema import WorkbookNotFound

_RUN, _THRESHOLD = columns_of(schema.RunItem), columns_of(schema.Threshold)
INTERPRETATION: Final = "interpretation"
"""Among a run's options: how the choices that the file leaves open were read; missing where nothing was interpreted."""

_MADE: Final = {
    "execution_time_ms": "floor(execution_time_ms + 0.5)::bigint",
    "execution_time_us": "round(execution_time_ms * 1000)::bigint",
    "interpretation": f"options -> '{INTERPRETATION}'",
}
"""What a run's row has in another form: thousandths of a millisecond, and the interpretation among its options."""


# Runs ---------------------------------------------------------------------------------------------------------------


class StoredLimit(RunThreshold, frozen=True, kw_only=True):
    """A stored threshold as a run needs it."""

    scope: Literal["workbook", "deal", "tenant"]


class DealRules(Struct, frozen=True, kw_only=True):
    """What a deal says of the rules of its workbooks."""

    currency: str
    home_countries: list[str]
    closing_date: date | None
    reinvestment_end: date | None
    stated_maturity: date | None
    next_payment_date: date | None
    definition_version: int
    definition: str | None
    """JSON; None where none was written yet."""


class RunSubject(Struct, frozen=True, kw_only=True):
    """The workbook of a run, with all else that the run is to know."""

    id: UUID
    name: str
    status: str
    content_hash: str
    book_key: str | None
    mapping_id: str | None
    """Its own, else its deal's; so is the stream."""
    stream_key: str | None
    as_of: date | None
    """The day of its figures, where a user said it."""
    created_at: datetime
    deal: DealRules | None
    is_alone: bool
    """No other run of this workbook is under way, and none can begin before this transaction ends."""
    limits: list[StoredLimit]
    email: str
    """The caller's, or that of the key's creator; empty where nobody asked."""


def lock_of(tenant_id: UUID, workbook_id: UUID) -> int:
    """Return the advisory lock of a workbook's runs: 64 bits of a hash."""
    name = b"compliance run" + tenant_id.bytes + workbook_id.bytes
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)


async def subject(unit: Unit, workbook_id: UUID, *, deal_id: UUID | None = None, alone: bool = False) -> RunSubject:
    """Return the workbook of a run, in one round trip.

    `alone` locks it until the transaction ends, if nobody else has. The lock ends with the transaction, so a
    process that dies leaves none behind.
    """
    return await unit.fetch_one(
        RunSubject,
        """
        SELECT w.id, w.name, w.status, w.content_hash, w.book_key, coalesce(w.mapping_id, d.mapping_id) AS mapping_id,
               coalesce(w.stream_key, d.stream_key) AS stream_key, w.as_of, w.created_at,
               CASE WHEN d.id IS NOT NULL THEN json_build_object(
                   'currency', d.currency, 'home_countries', d.home_countries, 'closing_date', d.closing_date,
                   'reinvestment_end', d.reinvestment_end, 'stated_maturity', d.stated_maturity,
                   'next_payment_date', d.next_payment_date,
                   'definition_version', d.definition_version, 'definition', f.definition::text) END AS deal,
               CASE WHEN %(alone)s AND w.status IN ('ready', 'error') THEN pg_try_advisory_xact_lock(%(lock)s::bigint)
                    ELSE false END AS is_alone,
               (SELECT coalesce(json_agg(l), '[]') FROM (
                    SELECT CASE WHEN t.workbook_id IS NOT NULL THEN 'workbook' WHEN t.deal_id IS NOT NULL THEN 'deal'
                                ELSE 'tenant' END AS scope,
                           t.test_id, t.threshold_value, t.threshold_type, t.warning_threshold, t.enabled
                    FROM thresholds t
                    WHERE t.tenant_id = w.tenant_id AND (t.workbook_id IS NULL OR t.workbook_id = w.id)
                      AND (t.deal_id IS NULL OR t.deal_id = w.deal_id)
                    ORDER BY t.test_id) l) AS limits,
               coalesce((SELECT u.email FROM users u WHERE u.tenant_id = w.tenant_id AND u.id = %(user_id)s), '')
                   AS email
        FROM workbooks w
        LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
        LEFT JOIN deal_definitions f
            ON f.tenant_id = d.tenant_id AND f.deal_id = d.id AND f.version = d.definition_version
        WHERE w.id = %(workbook_id)s AND w.deleted_at IS NULL
          AND (%(deal_id)s::uuid IS NULL OR w.deal_id = %(deal_id)s)
        """,
        {
            "workbook_id": workbook_id,
            "deal_id": deal_id,
            "alone": alone,
            "lock": lock_of(unit.tenant, workbook_id),
            "user_id": unit.user_id,
        },
        missing=WorkbookNotFound,
    )


class Inputs(Struct, frozen=True, kw_only=True):
    """What, with the stored bytes of the workbook, gives the same run again. JSON where it says so."""

    mapping: str
    """JSON: the whole mapping, not its name alone, since mappings change."""
    thresholds: str
    """JSON: what the request gave, and the workbook, the deal and the tenant had set."""
    definition: str | None
    """JSON: the definition as a whole, the deal's own figures included."""
    options: str
    """JSON."""
    engine_version: str


_KEEP_BOOK = """
    WITH book AS (
        INSERT INTO evidence_books (tenant_id, key, manifest)
        SELECT w.tenant_id, w.book_key, w.book FROM workbooks w
        WHERE w.id = %(workbook_id)s AND w.book_key = %(book_key)s
          AND NOT EXISTS (SELECT FROM evidence_books b WHERE b.tenant_id = w.tenant_id AND b.key = w.book_key)
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, key, manifest)
    INSERT INTO evidence_sheets (tenant_id, book_key, blob_key)
    SELECT DISTINCT b.tenant_id, b.key, s.sheet ->> 'file'
    FROM book b, json_array_elements(b.manifest::json -> 'sheets') AS s (sheet)
"""
"""Keep the columns that are run: a workbook's own are others once it is recalculated or written."""


async def keep_run(unit: Unit, subject: RunSubject, run: schema.ComplianceRun, inputs: Inputs) -> str:
    """Store a run; return the hash of its evidence.

    Sent without waiting, it reaches the server with the audit row and the COMMIT. Should the workbook's columns
    have changed meanwhile, that fails with WorkbookNotReady.
    """
    row = {
        "tenant_id": unit.tenant,
        "id": run.id,
        "workbook_id": run.workbook_id,
        "test_suite": run.test_suite,
        "status": run.status,
        "summary": to_json(run.summary),
        "results": to_json(run.results),
        "skipped": to_json(run.skipped),
        "executed_at": run.executed_at,
        "execution_time_ms": run.execution_time_us / 1000,
        "figures": to_json(figures_of(run.results)),
        "as_of": run.as_of,
        "as_of_source": run.as_of_source,
        "definition_version": run.definition_version,
        "warnings": to_json(run.warnings),
        "workbook_hash": subject.content_hash,
        "book_key": subject.book_key,
        "stream_key": subject.stream_key,
        "created_by": subject.email,
        **msgspec.structs.asdict(inputs),
    }
    transaction = await unit.begin()
    await transaction.post(_KEEP_BOOK, {"workbook_id": subject.id, "book_key": subject.book_key})
    await transaction.post(insert_of("compliance_runs", row), row)
    return digest(None if row[name] is None else str(row[name]) for name in EVIDENCE)


def figures_of(results: Iterable[TestResult]) -> dict[str, dict[str, Any]]:
    """Return what a history says of results, by test."""
    return {result.test_id: _figure(result) for result in results}


def _figure(test_result: TestResult) -> dict[str, Any]:
    figure = {
        "name": test_result.test_name,
        "unit": test_result.unit,
        "decimals": test_result.decimals,
        "value": test_result.current_value,
        "threshold": test_result.threshold_value,
        "status": test_result.status,
        "cushion": test_result.cushion,
        "cushion_pct": test_result.cushion_pct,
    }
    if test_result.published is not None:
        figure["published"] = test_result.published.value
    if test_result.doubtful:  # left out where not, as in runs of earlier versions
        figure["doubtful"] = True
    return figure


async def run(ctx: Context, run_id: UUID) -> schema.ComplianceRun:
    """Return a stored run with all of its results."""
    sql = f"SELECT {columns_of(schema.ComplianceRun, **_MADE)} FROM compliance_runs WHERE id = %s"
    return await ctx.fetch_one(schema.ComplianceRun, sql, [run_id], missing=schema.ResultNotFound)


async def evidence(ctx: Context, run_id: UUID) -> schema.Evidence:
    """Return the evidence of a run."""
    names = {name: f"r.{name}::text" for name in ("mapping", "definition", "options")}
    names |= {name: f"r.{name}" for name in ("as_of", "results", "skipped", "book_key")}
    names |= {"interpretation": f"r.options -> '{INTERPRETATION}'"}
    manifest = """
        (SELECT b.manifest FROM evidence_books b
         WHERE b.tenant_id = r.tenant_id AND b.key = r.book_key AND NOT EXISTS (
             SELECT FROM evidence_sheets s WHERE s.tenant_id = b.tenant_id AND s.book_key = b.key
               AND NOT EXISTS (SELECT FROM blobs f WHERE f.tenant_id = s.tenant_id AND f.key = s.blob_key)))
        """
    sql = f"SELECT {columns_of(schema.Evidence, **names, manifest=manifest)} FROM compliance_runs r WHERE r.id = %s"
    return await ctx.fetch_one(schema.Evidence, sql, [run_id], missing=schema.ResultNotFound)


class StoredRun(schema.ComplianceRun, frozen=True, kw_only=True):
    """A run with what it was made by; the workbook as it is now."""

    mapping: str
    """JSON, as in `Inputs`; so are the next three."""
    thresholds: str
    definition: str | None
    options: str
    engine_version: str
    workbook_hash: str
    """SHA-256 of the uploaded file."""
    book_key: str
    """Of the columns that were read."""
    workbook_name: str
    file_name: str
    file_size: int
    uploaded_at: datetime
    deal_id: UUID | None
    deal_name: str | None


_STORED = columns_of(
    StoredRun,
    **{name: f"r.{name}::text" for name in ("mapping", "thresholds", "definition", "options")},
    **{name: _MADE.get(name, f"r.{name}") for name in (*schema.ComplianceRun.__struct_fields__, "book_key")},
    workbook_name="w.name",
    uploaded_at="w.created_at",
    deal_name="d.name",
)
_STORED_FROM = """
    compliance_runs r JOIN workbooks w ON w.tenant_id = r.tenant_id AND w.id = r.workbook_id
    LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
"""


async def find_run(
    unit: Unit, workbook_id: UUID, *, run_id: UUID | None = None, suite: str | None = None
) -> StoredRun | None:
    """Return a run by identifier, else the newest full one of a suite."""
    return await unit.fetch_one_or_none(
        StoredRun,
        f"""
        SELECT {_STORED} FROM {_STORED_FROM}
        WHERE r.workbook_id = %(workbook_id)s AND r.status = 'completed'
          AND coalesce(r.id = %(run_id)s::uuid, NOT r.partial) AND coalesce(r.test_suite = %(suite)s::text, true)
        ORDER BY r.executed_at DESC LIMIT 1
        """,
        {"workbook_id": workbook_id, "run_id": run_id, "suite": suite},
    )


async def run_before(
    unit: Unit, *, deal_id: UUID | None, workbook_id: UUID, as_of: date, suite: str | None = None
) -> StoredRun | None:
    """Return the newest full run on the deal's last earlier workbook."""
    return await unit.fetch_one_or_none(
        StoredRun,
        f"""
        SELECT {_STORED} FROM {_STORED_FROM}
        WHERE w.deal_id = %(deal_id)s::uuid AND w.deleted_at IS NULL AND w.id <> %(workbook_id)s
          AND r.status = 'completed' AND NOT r.partial AND coalesce(r.test_suite = %(suite)s::text, true)
          AND r.as_of < %(as_of)s
        ORDER BY r.as_of DESC, r.executed_at DESC LIMIT 1
        """,
        {"deal_id": deal_id, "workbook_id": workbook_id, "suite": suite, "as_of": as_of},
    )


async def history(
    ctx: Context, query: schema.HistoryQuery, since: datetime | None, until: datetime | None
) -> Page[schema.RunItem]:
    """Return a page of runs, the newest first; `since` and `until` inclusive."""
    filters = {
        "workbook_id": query.workbook_id,
        "batch_id": query.batch_id,
        "test_suite": query.test_suite,
        "status": query.status,
        "since": since,
        "until": until,
    }
    matching = {
        "since": "executed_at >= %(since)s",
        "until": "executed_at <= %(until)s",
        "batch_id": "id IN (SELECT run_id FROM batch_items WHERE batch_id = %(batch_id)s)",
    }
    source = "compliance_runs WHERE true"
    return await fetch_page(
        ctx, schema.RunItem, _RUN, source, filters, query, order="executed_at DESC, id", conditions=matching
    )


# Thresholds ---------------------------------------------------------------------------------------------------------

_THERE = """(workbook_id IS NULL OR EXISTS (
    SELECT FROM workbooks w
    WHERE w.tenant_id = thresholds.tenant_id AND w.id = thresholds.workbook_id AND w.deleted_at IS NULL))"""
"""Of the whole tenant, of a deal, or of a workbook that was not deleted."""


async def lock_threshold(ctx: Context, body: schema.ThresholdCreate) -> schema.Threshold | None:
    """Return the limit for a test and scope, if any, and lock it."""
    scope = body.workbook_id or body.deal_id or ctx.tenant
    await ctx.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"threshold {scope} {body.test_id}"])
    return await ctx.fetch_one_or_none(
        schema.Threshold,
        f"""
        SELECT {_THRESHOLD} FROM thresholds
        WHERE workbook_id IS NOT DISTINCT FROM %(workbook_id)s::uuid AND deal_id IS NOT DISTINCT FROM %(deal_id)s::uuid
          AND test_id = %(test_id)s
        FOR UPDATE
        """,
        {"workbook_id": body.workbook_id, "deal_id": body.deal_id, "test_id": body.test_id},
    )


async def set_threshold(ctx: Context, body: schema.ThresholdCreate, threshold_type: Direction) -> schema.Threshold:
    """Set a limit, in place of the one of the same scope and test.

    Raises:
        WorkbookNotFound, DealNotFound: what it is for is not there.
    """
    return await ctx.fetch_one(
        schema.Threshold,
        f"""
        INSERT INTO thresholds (tenant_id, id, workbook_id, deal_id, test_id, threshold_value, threshold_type,
                                warning_threshold, enabled)
        SELECT %(tenant_id)s, %(id)s, %(workbook_id)s::uuid, %(deal_id)s::uuid, %(test_id)s, %(threshold_value)s,
               %(threshold_type)s, %(warning_threshold)s::float8, %(enabled)s
        WHERE %(workbook_id)s::uuid IS NULL
              OR EXISTS (SELECT FROM workbooks WHERE id = %(workbook_id)s AND deleted_at IS NULL)
        ON CONFLICT ON CONSTRAINT thresholds_test_key
        DO UPDATE SET threshold_value = EXCLUDED.threshold_value, threshold_type = EXCLUDED.threshold_type,
                      warning_threshold = EXCLUDED.warning_threshold, enabled = EXCLUDED.enabled, updated_at = now()
        RETURNING {_THRESHOLD}
        """,
        {
            "tenant_id": ctx.tenant,
            "id": new_id(),
            **msgspec.structs.asdict(body),
            "threshold_type": threshold_type,
        },
        missing=WorkbookNotFound,
    )


async def delete_threshold(ctx: Context, threshold_id: UUID) -> schema.Threshold:
    """Remove a limit, and say what it was."""
    return await ctx.fetch_one(
        schema.Threshold,
        f"DELETE FROM thresholds WHERE id = %s AND {_THERE} RETURNING {_THRESHOLD}",
        [threshold_id],
        missing=schema.ThresholdNotFound,
    )


async def rules_of(ctx: Context, *, workbook_id: UUID | None, deal_id: UUID | None) -> DealRules | None:
    """Return what a deal, or a workbook's deal, says of the rules."""
    return await ctx.fetch_one_or_none(
        DealRules,
        """
        SELECT d.currency, d.home_countries, d.closing_date, d.reinvestment_end, d.stated_maturity,
               d.next_payment_date, d.definition_version, f.definition::text AS definition
        FROM deals d LEFT JOIN deal_definitions f
            ON f.tenant_id = d.tenant_id AND f.deal_id = d.id AND f.version = d.definition_version
        WHERE d.id = coalesce(%(deal_id)s::uuid, (SELECT w.deal_id FROM workbooks w WHERE w.id = %(workbook_id)s))
        """,
        {"workbook_id": workbook_id, "deal_id": deal_id},
    )


async def thresholds(
    ctx: Context, query: schema.ThresholdQuery, test_ids: list[str] | None
) -> Listing[schema.Threshold]:
    """Return the limits, oldest first; `test_ids` narrows them."""
    rows = await fetch_slice(
        ctx,
        schema.Threshold,
        _THRESHOLD,
        f"thresholds WHERE {_THERE}",
        {
            "workbook_id": query.workbook_id,
            "deal_id": query.deal_id,
            "test_id": query.test_id,
            "test_ids": test_ids,
        },
        order="created_at, id",
        part=(query.limit, query.offset),
        conditions={"test_ids": "test_id = ANY (%(test_ids)s)"},
    )
    return Listing(*rows)
