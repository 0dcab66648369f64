"""The queries on tapes and comparisons."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from core.portfolio.model.notes import DataWarning
from service.mappings.schema import MappingInUse, MappingNotFound
from service.platform.base.problem import NotFound
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page
from service.platform.unit.records import Records, to_json, translating
from service.platform.unit.storage import release
from service.reconciliation import schema

_TAPE = columns_of(schema.Tape)
tapes = Records(
    "tapes",
    schema.TapeRow,
    missing=schema.TapeNotFound,
    derived={"deal_mapping_id": "(SELECT d.mapping_id FROM deals d WHERE d.id = tapes.deal_id)"},
    lock="FOR NO KEY UPDATE",
    writing=partial(translating, MappingInUse, MappingNotFound),
)
comparisons = Records("reconciliations", schema.Job, missing=schema.ComparisonNotFound, derived={"job_id": "id"})


# Tapes ----------------------------------------------------------------------------------------------------------------


async def read_again(ctx: Unit, tape_id: str, job_id: str) -> None:
    """Have a tape read again; running comparisons keep its loans."""
    sql = "UPDATE tapes SET processing_status = 'processing', error_message = NULL, job_id = %s WHERE id = %s"
    await ctx.execute(sql, [job_id, tape_id])


async def show_tape(ctx: Context, tape_id: str) -> schema.Tape:
    """Return a tape as callers read it."""
    sql = f"SELECT {_TAPE} FROM tapes WHERE id = %s"
    return _with_doubt(await ctx.fetch_one(schema.Tape, sql, [tape_id], missing=schema.TapeNotFound))


def _with_doubt(tape: schema.Tape) -> schema.Tape:
    """Return a tape with a word on its day, which may be changed at any time."""
    day = tape.as_of or tape.statement_date
    doubt = schema.day_differs(tape.facts.as_of, day, schema.FILE_OF_ANOTHER_DAY)
    return msgspec.structs.replace(tape, warnings=[*tape.warnings, *doubt]) if doubt else tape


async def list_tapes(ctx: Context, query: schema.TapeList) -> Page[schema.Tape]:
    """Return a page of tapes, the newest first."""
    filters = {"trustee_name": query.trustee_name, "deal_id": query.deal_id, "processing_status": query.status_filter}
    tapes_page = await fetch_page(
        ctx, schema.Tape, _TAPE, "tapes WHERE true", filters, query, order="created_at DESC, id"
    )
    return msgspec.structs.replace(tapes_page, items=[_with_doubt(tape) for tape in tapes_page.items])


async def finish_tape(unit: Unit, tape: schema.TapeRow, row: dict[str, Any]) -> None:
    """Store a tape's loans."""
    if tape.loans_key is not None:  # of another reading
        await release(unit, [tape.loans_key])
    await unit.execute(
        """
        UPDATE tapes SET processing_status = 'completed', error_message = NULL, loans_key = %(loans_key)s,
                         loan_count = %(loan_count)s, total_par = %(total_par)s, facts = %(facts)s,
                         warnings = %(warnings)s, processed_at = now()
        WHERE id = %(id)s AND processing_status = 'processing'
        """,
        {**row, "facts": to_json(row["facts"]), "warnings": to_json(row["warnings"]), "id": tape.id},
    )


async def fail_tape(unit: Unit, tape_id: str, message: str) -> str | None:
    """Fail a tape; return its file's name, None where it did not wait."""
    name: str | None = await unit.fetch_value(
        """
        UPDATE tapes SET processing_status = 'failed', error_message = %s, processed_at = now()
        WHERE id = %s AND processing_status = 'processing'
        RETURNING file_name
        """,
        [message.replace("\x00", ""), tape_id],
    )
    return name


# Comparisons ----------------------------------------------------------------------------------------------------------


class JobRow(Struct, frozen=True, kw_only=True):
    """A comparison as the worker needs it."""

    id: str
    tape_id: str
    workbook_id: UUID
    status: str
    rules: list[str]
    tolerances: dict[str, float]
    day: date
    """That the tape is of; so are the fields below the tape's."""
    file_name: str
    facts: schema.Facts
    warnings: list[DataWarning]


async def own_tolerances(ctx: Context) -> dict[str, float]:
    """Return the tolerances that the tenant set."""

    class Row(Struct):
        tolerances: dict[str, float] | None

    sql = "SELECT settings -> 'reconciliation_tolerances' AS tolerances FROM tenants WHERE id = %s"
    return (await ctx.fetch_one(Row, sql, [ctx.tenant], missing=NotFound)).tolerances or {}


async def running_job(ctx: Context, row: dict[str, Any]) -> schema.Job | None:
    """Return the same comparison, of the same columns, that is under way already."""
    return await ctx.fetch_one_or_none(
        schema.Job,
        f"""
        SELECT {comparisons.columns} FROM reconciliations
        WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s AND status = 'processing'
          AND inputs_key = %(inputs_key)s
        ORDER BY created_at DESC LIMIT 1
        """,
        row,
    )


class StoredComparison(schema.Job, frozen=True, kw_only=True):
    """A completed comparison with what its two sides are."""

    trustee_name: str
    tape_file: str
    tape_size: int
    tape_hash: str
    """SHA-256 of the uploaded file."""
    statement_date: date
    tape_as_of: date | None
    tape_facts: schema.Facts
    workbook_name: str
    workbook_file: str
    workbook_hash: str
    workbook_as_of: date | None
    is_followed: bool
    """A newer comparison of the two is under way: the issues may be its own already."""


_STORED = columns_of(
    StoredComparison,
    job_id="r.id",
    **{name: f"r.{name}" for name in ("status", "warnings", "error_message", "created_by", "created_at")},
    tape_file="t.file_name",
    tape_size="t.file_size",
    tape_hash="t.content_hash",
    tape_as_of="t.as_of",
    tape_facts="t.facts",
    workbook_name="w.name",
    workbook_file="w.file_name",
    workbook_hash="w.content_hash",
    workbook_as_of="w.as_of",
    is_followed="""EXISTS (
        SELECT FROM reconciliations n WHERE n.tenant_id = r.tenant_id AND n.tape_id = r.tape_id
          AND n.workbook_id = r.workbook_id AND n.created_at > r.created_at AND n.status = 'processing')""",
)


async def find_comparison(unit: Unit, tape_id: str, job_id: str | None = None) -> StoredComparison | None:
    """Return a tape's completed comparison by identifier, or the newest."""
    return await unit.fetch_one_or_none(
        StoredComparison,
        f"""
        SELECT {_STORED} FROM reconciliations r JOIN tapes t ON t.tenant_id = r.tenant_id AND t.id = r.tape_id
        JOIN workbooks w ON w.tenant_id = r.tenant_id AND w.id = r.workbook_id
        WHERE r.tape_id = %(tape_id)s AND r.status = 'completed' AND coalesce(r.id = %(job_id)s::text, true)
        ORDER BY r.created_at DESC LIMIT 1
        """,
        {"tape_id": tape_id, "job_id": job_id},
    )


async def job_row(unit: Unit, job_id: str) -> JobRow:
    """Return a comparison as the worker needs it."""
    return await unit.fetch_one(
        JobRow,
        """
        SELECT r.id, r.tape_id, r.workbook_id, r.status, r.rules, r.tolerances,
               coalesce(t.as_of, t.statement_date) AS day, t.file_name, t.facts, t.warnings
        FROM reconciliations r JOIN tapes t ON t.id = r.tape_id WHERE r.id = %s
        """,
        [job_id],
        missing=schema.ComparisonNotFound,
    )


async def finish_job(unit: Unit, job_id: str, row: dict[str, Any]) -> bool:
    """Complete a comparison; return whether it still waited for that."""
    touched = await unit.execute(
        """
        UPDATE reconciliations SET status = 'completed', summary = %(summary)s, match_stages = %(match_stages)s,
                                   ambiguous = %(ambiguous)s, warnings = %(warnings)s,
                                   not_compared = %(not_compared)s, timings = %(timings)s, completed_at = now()
        WHERE id = %(id)s AND status = 'processing'
        """,
        {"id": job_id, **{name: to_json(value) for name, value in row.items()}},
    )
    return bool(touched)


async def resume_job(unit: Unit, job_id: str) -> bool:
    """Put a failed comparison under way; return whether it could be.

    No later one of the same tape and workbook may exist.
    """
    done = await unit.execute(
        """
        UPDATE reconciliations r SET status = 'processing', error_message = NULL, completed_at = NULL
        WHERE r.id = %s AND r.status = 'failed' AND NOT EXISTS (
            SELECT FROM reconciliations n
            WHERE n.tape_id = r.tape_id AND n.workbook_id = r.workbook_id AND n.created_at > r.created_at)
        """,
        [job_id],
    )
    return bool(done)


async def fail_job(unit: Unit, job_id: str, message: str) -> str | None:
    """Fail a comparison; return its file's name, None where it was over."""
    name: str | None = await unit.fetch_value(
        """
        UPDATE reconciliations r SET status = 'failed', error_message = %s, completed_at = now()
        FROM tapes t WHERE r.id = %s AND r.status = 'processing' AND t.id = r.tape_id
        RETURNING t.file_name
        """,
        [message.replace("\x00", ""), job_id],
    )
    return name
