"""Reconciliation's queries."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from service.platform.api import Page, page_of
from service.platform.context import Context, Unit
from service.platform.database import BulkTransaction, Transaction
from service.platform.problem import NotFound
from service.reconciliation.schema import (
    Changes,
    Issue,
    IssueList,
    IssueNotFound,
    IssueQuery,
    IssueSummary,
    Job,
    JobNotFound,
    Severity,
    SeverityCounts,
    StatusCounts,
    SummaryQuery,
    Tape,
    TapeList,
    TapeNotFound,
    TapeRow,
)

BLOCK_BYTES = 1024 * 1024
MERGE_MEMORY = "256MB"
"""Of each sort and join while issues are merged; a million of them sort in it."""
REVIEW_WAIT = "3s"
"""A review that waits for a merge holds a connection: a few of them would leave none to the other callers."""

_TAPE = """
    id, job_id, trustee_name, statement_date, file_name, file_size, loan_count, total_par, processing_status,
    error_message, facts, created_by, created_at, processed_at
"""
_TAPE_ROW = """
    id, job_id, trustee_name, statement_date, file_name, file_size, content_hash, loan_count, total_par,
    processing_status, error_message, loans_key
"""
_JOB = """
    id AS job_id, status, summary, completed_at, tape_id, workbook_id, rules, tolerances, match_stages, ambiguous,
    warnings, not_compared, changes, timings, error_message, created_by, created_at
"""
_ISSUE = """
    id, tape_id, workbook_id, primary_identifier, cusip, identifier_type, borrower_name, issue_type, severity, category,
    rule, field_name, trustee_value, internal_value, status, resolution_notes, reviewed_by, reviewed_at, created_at,
    updated_at
"""


def as_json(value: Any) -> str:
    """A value for a JSON column."""
    return msgspec.json.encode(value).decode()


# Tapes ----------------------------------------------------------------------------------------------------------------


async def create_tape(ctx: Context, row: dict[str, Any]) -> None:
    """A tape that is to be read."""
    await ctx.execute(
        """
        INSERT INTO tapes (tenant_id, id, job_id, trustee_name, statement_date, file_name, file_size, content_hash,
                           processing_status, created_by)
        VALUES (%(tenant_id)s, %(id)s, %(job_id)s, %(trustee_name)s, %(statement_date)s, %(file_name)s, %(file_size)s,
                %(content_hash)s, 'processing', %(created_by)s)
        """,
        row,
    )


async def get_tape(unit: Unit, tape_id: str) -> TapeRow:
    """A tape.

    Raises:
        TapeNotFound: there is none of that identifier.
    """
    return await unit.one(TapeRow, f"SELECT {_TAPE_ROW} FROM tapes WHERE id = %s", [tape_id], missing=TapeNotFound)


async def lock_tape(ctx: Context, tape_id: str) -> TapeRow:
    """A tape, locked until the transaction ends.

    Raises:
        TapeNotFound: as `get_tape`.
    """
    sql = f"SELECT {_TAPE_ROW} FROM tapes WHERE id = %s FOR NO KEY UPDATE"
    return await ctx.one(TapeRow, sql, [tape_id], missing=TapeNotFound)


async def show_tape(ctx: Context, tape_id: str) -> Tape:
    """A tape as it is told.

    Raises:
        TapeNotFound: as `get_tape`.
    """
    return await ctx.one(Tape, f"SELECT {_TAPE} FROM tapes WHERE id = %s", [tape_id], missing=TapeNotFound)


async def list_tapes(ctx: Context, query: TapeList) -> Page[Tape]:
    """A page of tapes, the newest first."""
    parameters = {
        "trustee_name": query.trustee_name,
        "status": query.status_filter,
        "limit": query.page_size,
        "offset": query.offset,
    }
    where = """
        (%(trustee_name)s::text IS NULL OR trustee_name = %(trustee_name)s)
        AND (%(status)s::text IS NULL OR processing_status = %(status)s)
    """
    items = await ctx.all(
        Tape,
        f"SELECT {_TAPE} FROM tapes WHERE {where} ORDER BY created_at DESC, id LIMIT %(limit)s OFFSET %(offset)s",
        parameters,
    )
    return page_of(items, await ctx.value(f"SELECT count(*) FROM tapes WHERE {where}", parameters), query)


async def finish_tape(
    unit: Unit, tape_id: str, *, loans_key: str, loan_count: int, total_par: float, facts: dict[str, Any]
) -> None:
    """The tape's loans are stored."""
    await unit.execute(
        """
        UPDATE tapes SET processing_status = 'completed', error_message = NULL, loans_key = %s, loan_count = %s,
                         total_par = %s, facts = %s, processed_at = now()
        WHERE id = %s AND processing_status = 'processing'
        """,
        [loans_key, loan_count, total_par, as_json(facts), tape_id],
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
    statement_date: date


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
    await ctx.execute(
        """
        INSERT INTO reconciliations (tenant_id, id, tape_id, workbook_id, status, rules, tolerances,
                                     inputs_key, created_by)
        VALUES (%(tenant_id)s, %(id)s, %(tape_id)s, %(workbook_id)s, 'processing', %(rules)s, %(tolerances)s,
                %(inputs_key)s, %(created_by)s)
        """,
        row,
    )


async def get_job(ctx: Context, job_id: str) -> Job:
    """A comparison.

    Raises:
        JobNotFound: there is none of that identifier.
    """
    return await ctx.one(Job, f"SELECT {_JOB} FROM reconciliations WHERE id = %s", [job_id], missing=JobNotFound)


async def job_row(unit: Unit, job_id: str) -> JobRow:
    """A comparison as the worker needs it.

    Raises:
        JobNotFound: as `get_job`.
    """
    return await unit.one(
        JobRow,
        """
        SELECT r.id, r.tape_id, r.workbook_id, r.status, r.rules, r.tolerances, t.statement_date
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


async def fail_job(unit: Unit, job_id: str, message: str) -> bool:
    """The comparison cannot be made; whether it was still to be."""
    failed = await unit.execute(
        """
        UPDATE reconciliations SET status = 'failed', error_message = %s, completed_at = now()
        WHERE id = %s AND status = 'processing'
        """,
        [message.replace("\x00", ""), job_id],
    )
    return failed > 0


# Merging what a comparison found --------------------------------------------------------------------------------------


class Merge(Struct, frozen=True, kw_only=True):
    """What a comparison found, and how far it looked."""

    job: JobRow
    path: Path
    """Issues in the text format of COPY, with the columns that `columns` names."""
    columns: tuple[str, ...]
    looked_at: list[str]
    """Rules whose issues are gone where they were not found again."""
    passed_over: list[str]
    """Fields that could not be compared, so nothing is known of their issues."""


_FOUND_COLUMNS = """
    loan_key, primary_identifier, cusip, identifier_type, borrower_name, issue_type, severity, category, field_name,
    rule, trustee_value, internal_value
"""

_MAKE_FOUND = """
CREATE TEMPORARY TABLE found (
    loan_key text COLLATE "C", primary_identifier text, cusip text, identifier_type text, borrower_name text,
    issue_type text COLLATE "C", severity text, category text, field_name text COLLATE "C", rule text,
    trustee_value text, internal_value text
) ON COMMIT DROP
"""

_OF_PAIR = "i.tape_id = %(tape_id)s AND i.workbook_id = %(workbook_id)s"

_SAME_KEY = f"""
    {_OF_PAIR} AND i.loan_key = f.loan_key AND i.field_name = f.field_name AND i.issue_type = f.issue_type
"""

_SAME_VALUES = "((i.trustee_value, i.internal_value) = (f.trustee_value, f.internal_value))"

_GONE_NOTE = "No longer found by comparison "

_UPDATE_FOUND = f"""
UPDATE reconciliation_issues i
SET primary_identifier = nullif(f.primary_identifier, ''), cusip = nullif(f.cusip, ''),
    identifier_type = f.identifier_type, borrower_name = nullif(f.borrower_name, ''), severity = f.severity,
    category = f.category, rule = f.rule, trustee_value = f.trustee_value, internal_value = f.internal_value,
    status = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.status ELSE 'open' END,
    reviewed_by = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.reviewed_by END,
    reviewed_at = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.reviewed_at END,
    resolution_notes = CASE WHEN NOT i.gone THEN i.resolution_notes
        ELSE nullif(regexp_replace(i.resolution_notes, E'(^|\\n){_GONE_NOTE}[^\\n]*$', ''), '') END,
    gone = false, updated_at = now()
FROM found f
WHERE {_SAME_KEY} AND (
    i.gone OR NOT {_SAME_VALUES}
    OR (i.severity, i.category, i.rule, i.identifier_type) <> (f.severity, f.category, f.rule, f.identifier_type)
    OR (i.primary_identifier, i.cusip, i.borrower_name)
       IS DISTINCT FROM (nullif(f.primary_identifier, ''), nullif(f.cusip, ''), nullif(f.borrower_name, ''))
)
"""

_RESOLVE_GONE = f"""
UPDATE reconciliation_issues i
SET status = 'resolved', gone = true, reviewed_by = NULL, reviewed_at = NULL, updated_at = now(),
    resolution_notes = concat_ws(
        E'\\n', i.resolution_notes,
        '{_GONE_NOTE}' || %(job_id)s || '.'
        || CASE WHEN i.reviewed_by IS NULL THEN '' ELSE ' Before: ' || i.status || ', ' || i.reviewed_by || '.' END)
WHERE {_OF_PAIR} AND i.rule = ANY(%(looked_at)s) AND NOT i.field_name = ANY(%(passed_over)s)
  AND NOT i.gone AND NOT EXISTS (SELECT FROM found f WHERE {_SAME_KEY})
"""

# In the order of the keys, and identifiers in that order too: each index grows at its end, which halves the time.
_INSERT_NEW = f"""
INSERT INTO reconciliation_issues (tenant_id, id, tape_id, workbook_id, loan_key, primary_identifier, cusip,
                                   identifier_type, borrower_name, issue_type, severity, category, rule, field_name,
                                   trustee_value, internal_value)
SELECT %(tenant_id)s, 'iss_' || %(series)s || lpad(to_hex(row_number() OVER in_order), 12, '0'), %(tape_id)s,
       %(workbook_id)s, loan_key, nullif(primary_identifier, ''), nullif(cusip, ''), identifier_type,
       nullif(borrower_name, ''), issue_type, severity, category, rule, field_name, trustee_value, internal_value
FROM found f
WHERE NOT EXISTS (SELECT FROM reconciliation_issues i WHERE {_SAME_KEY})
WINDOW in_order AS (ORDER BY loan_key, field_name, issue_type)
"""

_FORGET_COUNTS = "DELETE FROM reconciliation_counts WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s"

_COUNT = """
INSERT INTO reconciliation_counts (tenant_id, tape_id, workbook_id, severity, category, status, issues)
SELECT tenant_id, tape_id, workbook_id, severity, category, status, count(*)
FROM reconciliation_issues WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s
GROUP BY tenant_id, tape_id, workbook_id, severity, category, status
"""

_MERGED = """
SELECT changes FROM reconciliations WHERE id = %(job_id)s AND status = 'processing'
"""

_MERGED_LATER = """
SELECT array_agg(DISTINCT rule) FROM reconciliations earlier
JOIN reconciliations later USING (tenant_id, tape_id, workbook_id) CROSS JOIN unnest(later.rules) rule
WHERE earlier.id = %(job_id)s AND later.created_at > earlier.created_at AND later.changes IS NOT NULL
"""

_KEEP_CHANGES = "UPDATE reconciliations SET changes = %(changes)s WHERE id = %(job_id)s"

LOCK_PAIR = "SELECT pg_advisory_xact_lock(hashtextextended(%(tape_id)s || ' ' || %(workbook_id)s::uuid, 0))"
"""Keeps merges and reviews of one tape and workbook apart, until the transaction ends."""


async def merge(unit: Unit, found: Merge, *, series: str, seconds_max: int) -> Changes | None:
    """Bring the issues of a tape and a workbook in line with what a comparison found; None where it is over already.

    Open issues take the new values; what a person reviewed stays so while both of its values do, and is open again
    where one changed. Issues that are gone become resolved, with a note, and open should they come back. A comparison
    that was asked for later has the last word on its rules. `series` begins the identifiers of new issues.

    A transaction of its own, which also keeps the changes: made twice it changes nothing more, and tells the same.
    """
    parameters: dict[str, Any] = {
        "tenant_id": unit.tenant,
        "tape_id": found.job.tape_id,
        "workbook_id": found.job.workbook_id,
        "job_id": found.job.id,
        "passed_over": found.passed_over,
        "series": series,
    }
    async with unit.resources.database.bulk(unit.tenant, seconds_max=seconds_max) as tx:
        await _load(tx, found)
        await tx.execute(LOCK_PAIR, parameters)  # one merge, or one review, of this pair at a time
        job = await tx.one_or_none(_Merged, _MERGED, parameters)
        if job is None:
            return None
        if job.changes is not None:  # an earlier run died before it could say so
            return job.changes
        parameters["looked_at"] = await _still_asked(tx, found, parameters)
        updated = await tx.execute(_UPDATE_FOUND, parameters)
        resolved = await tx.execute(_RESOLVE_GONE, parameters)
        created = await tx.execute(_INSERT_NEW, parameters)
        await tx.execute(_FORGET_COUNTS, parameters)
        await tx.execute(_COUNT, parameters)
        changes = Changes(created=created, updated=updated, resolved=resolved)
        await tx.execute(_KEEP_CHANGES, {"changes": as_json(changes), "job_id": found.job.id})
    return changes


class _Merged(Struct, frozen=True):
    changes: Changes | None


async def _still_asked(tx: BulkTransaction, found: Merge, parameters: dict[str, Any]) -> list[str]:
    """The rules that no later comparison has merged; what was found by the others is forgotten."""
    later = await tx.value(_MERGED_LATER, parameters)
    if later is None:
        return found.looked_at
    left = [rule for rule in found.job.rules if rule not in later]  # each looks at those that are not asked for
    await tx.execute("DELETE FROM found WHERE NOT rule = ANY(%s)", [left])
    return left


async def _load(tx: BulkTransaction, found: Merge) -> None:
    assert set(found.columns) == {column.strip() for column in _FOUND_COLUMNS.split(",")}
    await tx.execute("SELECT set_config('work_mem', %s, true)", [MERGE_MEMORY])
    await tx.execute(_MAKE_FOUND)
    await tx.copy(f"COPY found ({_FOUND_COLUMNS}) FROM STDIN", _blocks(found.path))
    await tx.execute("ANALYZE found")


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


# Issues ---------------------------------------------------------------------------------------------------------------

_COUNTED = {
    "tape_id": "tape_id = %(tape_id)s",
    "workbook_id": "workbook_id = %(workbook_id)s",
    "status": "status = %(status)s",
    "severity": "severity = %(severity)s",
    "category": "category = %(category)s",
}
"""Conditions on the counts. Only what is asked for becomes part of a statement, so that each is planned for itself."""

_LISTED = _COUNTED | {
    "severity": "gravity = array_position(ARRAY['critical', 'error', 'warning', 'info'], %(severity)s::text)"
}
"""Conditions on the issues: their index knows a severity by its gravity."""


def _given(query: IssueQuery | SummaryQuery) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(query).items() if value is not None}


def _where(conditions: dict[str, str], given: dict[str, Any]) -> str:
    return " AND ".join(condition for name, condition in conditions.items() if name in given) or "true"


async def list_issues(ctx: Context, query: IssueList) -> Page[Issue]:
    """A page of issues: of one tape the gravest first, of all tapes the newest first."""
    parameters = _given(query)
    where = _where(_COUNTED, parameters)
    total: int = await ctx.value(
        f"SELECT coalesce(sum(issues), 0)::bigint FROM reconciliation_counts WHERE {where}", parameters
    )
    order = "id DESC" if query.tape_id is None else "gravity, id"
    items = []
    if query.offset < total:
        where = _where(_LISTED, parameters)
        # The inner query passes over rows by the index alone; only the page itself is fetched.
        items = await ctx.all(
            Issue,
            f"""
            SELECT {_ISSUE} FROM reconciliation_issues WHERE id IN (
                SELECT id FROM reconciliation_issues WHERE {where} ORDER BY {order}
                LIMIT %(limit)s OFFSET %(offset)s
            ) ORDER BY {order}
            """,
            {**parameters, "limit": query.page_size, "offset": query.offset},
        )
    return page_of(items, total, query)


class _Count(Struct, frozen=True):
    severity: Severity
    status: str
    issues: int


async def summary(ctx: Context, query: SummaryQuery) -> IssueSummary:
    """How many issues there are, by severity and by status."""
    parameters = _given(query)
    where = _where(_COUNTED, parameters)
    counts = await ctx.all(
        _Count,
        f"""
        SELECT severity, status, sum(issues)::bigint AS issues FROM reconciliation_counts
        WHERE {where} GROUP BY severity, status
        """,
        parameters,
    )
    severities: dict[str, int] = {}
    statuses: dict[str, int] = {}
    for count in counts:
        severities[count.severity] = severities.get(count.severity, 0) + count.issues
        statuses[count.status] = statuses.get(count.status, 0) + count.issues
    return IssueSummary(
        total=sum(statuses.values()), by_severity=SeverityCounts(**severities), by_status=StatusCounts(**statuses)
    )


async def lock_issue(ctx: Context, issue_id: str) -> Issue:
    """An issue, with its tape and workbook locked against a merge until the transaction ends.

    Raises:
        IssueNotFound: there is none of that identifier.
        ConcurrentModification: a merge is not over within `REVIEW_WAIT`.
    """
    seen = f"SELECT {_ISSUE} FROM reconciliation_issues WHERE id = %s"
    issue = await ctx.one(Issue, seen, [issue_id], missing=IssueNotFound)
    await (await ctx.begin()).post("SELECT set_config('lock_timeout', %s, true)", [REVIEW_WAIT])
    await ctx.execute(LOCK_PAIR, {"tape_id": issue.tape_id, "workbook_id": issue.workbook_id})
    held = f"SELECT {_ISSUE} FROM reconciliation_issues WHERE id = %s FOR UPDATE"
    return await ctx.one(Issue, held, [issue_id], missing=IssueNotFound)


async def review(ctx: Context, issue: Issue, *, status: str, notes: str | None, reviewer: str) -> Issue:
    """Set an issue's status and notes, and keep the counts."""
    changed = await ctx.one(
        Issue,
        f"""
        UPDATE reconciliation_issues SET status = %(status)s, resolution_notes = %(notes)s, reviewed_by = %(reviewer)s,
                                         reviewed_at = now(), updated_at = now(), gone = gone AND status = %(status)s
        WHERE id = %(id)s RETURNING {_ISSUE}
        """,
        {"id": issue.id, "status": status, "notes": notes, "reviewer": reviewer},
        missing=IssueNotFound,
    )
    transaction = await ctx.begin()
    await _count(transaction, ctx.tenant, issue, -1)
    await _count(transaction, ctx.tenant, changed, 1)
    return changed


async def _count(tx: Transaction, tenant_id: UUID, issue: Issue, more: int) -> None:
    await tx.post(
        """
        INSERT INTO reconciliation_counts AS c (tenant_id, tape_id, workbook_id, severity, category, status, issues)
        VALUES (%(tenant_id)s, %(tape_id)s, %(workbook_id)s, %(severity)s, %(category)s, %(status)s, %(more)s)
        ON CONFLICT (tenant_id, tape_id, workbook_id, severity, category, status)
        DO UPDATE SET issues = c.issues + EXCLUDED.issues
        """,
        {
            "tenant_id": tenant_id,
            "tape_id": issue.tape_id,
            "workbook_id": issue.workbook_id,
            "severity": issue.severity,
            "category": issue.category,
            "status": issue.status,
            "more": more,
        },
    )
