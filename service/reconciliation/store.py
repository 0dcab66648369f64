"""The queries on tapes and comparisons."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from core.portfolio.model.notes import DataWarning
from service.mappings.schema import naming_a_mapping
from service.platform.base.problem import NotFound
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of, page
from service.platform.unit.storage import leave
from service.reconciliation.schema import (
    FILE_OF_ANOTHER_DAY,
    Facts,
    Job,
    JobNotFound,
    Tape,
    TapeList,
    TapeNotFound,
    TapeRow,
    day_differs,
)

_TAPE = columns_of(Tape)
_TAPE_ROW = columns_of(TapeRow, deal_mapping_id="(SELECT d.mapping_id FROM deals d WHERE d.id = tapes.deal_id)")
_JOB = columns_of(Job, job_id="id")
_LOCKED = ("", " FOR NO KEY UPDATE")


def as_json(value: Any) -> str:
    """A value for a JSON column."""
    return msgspec.json.encode(value).decode()


# Tapes ----------------------------------------------------------------------------------------------------------------


async def create_tape(ctx: Context, row: dict[str, Any]) -> None:
    """A tape that is to be read.

    Raises:
        MappingNotFound, DealNotFound: what it names has just gone.
    """
    with naming_a_mapping():
        await ctx.execute(insert_of("tapes", row), row)


async def update_tape(ctx: Context, tape_id: str, row: dict[str, Any]) -> TapeRow:
    """Change what a user says of a tape.

    Raises:
        DealNotFound: it has just gone.
    """
    sql = f"UPDATE tapes SET deal_id = %(deal_id)s, as_of = %(as_of)s WHERE id = %(id)s RETURNING {_TAPE_ROW}"
    return await ctx.one(TapeRow, sql, {**row, "id": tape_id}, missing=TapeNotFound)


async def read_again(ctx: Unit, tape_id: str, job_id: str) -> None:
    """The tape waits for its loans once more; comparisons under way keep those that it has."""
    sql = "UPDATE tapes SET processing_status = 'processing', error_message = NULL, job_id = %s WHERE id = %s"
    await ctx.execute(sql, [job_id, tape_id])


async def get_tape(unit: Unit, tape_id: str, *, locked: bool = False) -> TapeRow:
    """A tape, where asked for locked until the transaction ends.

    Raises:
        TapeNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_TAPE_ROW} FROM tapes WHERE id = %s{_LOCKED[locked]}"
    return await unit.one(TapeRow, sql, [tape_id], missing=TapeNotFound)


async def show_tape(ctx: Context, tape_id: str) -> Tape:
    """A tape as it is told.

    Raises:
        TapeNotFound: as `get_tape`.
    """
    sql = f"SELECT {_TAPE} FROM tapes WHERE id = %s"
    return _told(await ctx.one(Tape, sql, [tape_id], missing=TapeNotFound))


def _told(tape: Tape) -> Tape:
    """A tape with a word on its day, which may be changed at any time."""
    day = tape.as_of or tape.statement_date
    doubt = day_differs(tape.facts.as_of, day, FILE_OF_ANOTHER_DAY)
    return msgspec.structs.replace(tape, warnings=[*tape.warnings, *doubt]) if doubt else tape


async def list_tapes(ctx: Context, query: TapeList) -> Page[Tape]:
    """A page of tapes, the newest first."""
    asked = {
        "trustee_name": query.trustee_name, "deal_id": query.deal_id, "processing_status": query.status_filter,
    }  # fmt: skip
    found = await page(ctx, Tape, _TAPE, "tapes WHERE true", asked, query, order="created_at DESC, id")
    return msgspec.structs.replace(found, items=[_told(tape) for tape in found.items])


async def finish_tape(unit: Unit, tape: TapeRow, found: dict[str, Any]) -> None:
    """The tape's loans are stored."""
    if tape.loans_key is not None:  # of another reading
        await leave(unit, [tape.loans_key])
    await unit.execute(
        """
        UPDATE tapes SET processing_status = 'completed', error_message = NULL, loans_key = %(loans_key)s,
                         loan_count = %(loan_count)s, total_par = %(total_par)s, facts = %(facts)s,
                         warnings = %(warnings)s, processed_at = now()
        WHERE id = %(id)s AND processing_status = 'processing'
        """,
        {**found, "facts": as_json(found["facts"]), "warnings": as_json(found["warnings"]), "id": tape.id},
    )


async def fail_tape(unit: Unit, tape_id: str, message: str) -> str | None:
    """The tape cannot be used; its file's name, or None where nothing was to be done with it."""
    name: str | None = await unit.value(
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
    facts: Facts
    warnings: list[DataWarning]


async def own_tolerances(ctx: Context) -> dict[str, float]:
    """The tolerances that the tenant set."""

    class Row(Struct):
        tolerances: dict[str, float] | None

    sql = "SELECT settings -> 'reconciliation_tolerances' AS tolerances FROM tenants WHERE id = %s"
    return (await ctx.one(Row, sql, [ctx.tenant], missing=NotFound)).tolerances or {}


async def running_job(ctx: Context, row: dict[str, Any]) -> Job | None:
    """The same comparison, of the same columns, that is under way already."""
    return await ctx.one_or_none(
        Job,
        f"""
        SELECT {_JOB} FROM reconciliations
        WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s AND status = 'processing'
          AND inputs_key = %(inputs_key)s
        ORDER BY created_at DESC LIMIT 1
        """,
        row,
    )


async def create_job(ctx: Context, row: dict[str, Any]) -> None:
    """A comparison that is to be made."""
    await ctx.execute(insert_of("reconciliations", row), row)


async def get_job(ctx: Context, job_id: str) -> Job:
    """A comparison.

    Raises:
        JobNotFound: there is none of that identifier.
    """
    return await ctx.one(Job, f"SELECT {_JOB} FROM reconciliations WHERE id = %s", [job_id], missing=JobNotFound)


class StoredComparison(Job, frozen=True, kw_only=True):
    """A completed comparison with what its two sides are."""

    trustee_name: str
    tape_file: str
    tape_size: int
    tape_hash: str
    """SHA-256 of the uploaded file."""
    statement_date: date
    tape_as_of: date | None
    tape_facts: Facts
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


async def stored_comparison(unit: Unit, tape_id: str, job_id: str | None = None) -> StoredComparison | None:
    """A completed comparison of a tape: the one of that identifier, else the newest one."""
    return await unit.one_or_none(
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
    """A comparison as the worker needs it.

    Raises:
        JobNotFound: as `get_job`.
    """
    return await unit.one(
        JobRow,
        """
        SELECT r.id, r.tape_id, r.workbook_id, r.status, r.rules, r.tolerances,
               coalesce(t.as_of, t.statement_date) AS day, t.file_name, t.facts, t.warnings
        FROM reconciliations r JOIN tapes t ON t.id = r.tape_id WHERE r.id = %s
        """,
        [job_id],
        missing=JobNotFound,
    )


async def finish_job(unit: Unit, job_id: str, found: dict[str, Any]) -> bool:
    """The comparison is made; whether it still waited for that."""
    touched = await unit.execute(
        """
        UPDATE reconciliations SET status = 'completed', summary = %(summary)s, match_stages = %(match_stages)s,
                                   ambiguous = %(ambiguous)s, warnings = %(warnings)s,
                                   not_compared = %(not_compared)s, timings = %(timings)s, completed_at = now()
        WHERE id = %(id)s AND status = 'processing'
        """,
        {"id": job_id, **{name: as_json(value) for name, value in found.items()}},
    )
    return bool(touched)


async def resume_job(unit: Unit, job_id: str) -> bool:
    """A comparison that failed is under way again; whether it had, and none of the same two came later."""
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
    """The comparison cannot be made; the name of its tape's file, or None where nothing was to be done with it."""
    name: str | None = await unit.value(
        """
        UPDATE reconciliations r SET status = 'failed', error_message = %s, completed_at = now()
        FROM tapes t WHERE r.id = %s AND r.status = 'processing' AND t.id = r.tape_id
        RETURNING t.file_name
        """,
        [message.replace("\x00", ""), job_id],
    )
    return name
