"""The queries on stored issues: their lists, counts and reviews."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct

from core.reconciliation.rules import SEVERITIES, IssueType, Severity
from service.platform.data.database import Transaction
from service.platform.route.api import Page, page_of
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of
from service.reconciliation import schema

REVIEW_WAIT = "3s"
"""A review that waits for a merge holds a connection: a few of them would leave none to the other callers."""
LOCK_PAIR = "SELECT pg_advisory_xact_lock(hashtextextended(%(tape_id)s || ' ' || %(workbook_id)s::uuid, 0))"
"""Keeps merges and reviews of one tape and workbook apart, until the transaction ends."""

_ISSUE = columns_of(schema.Issue)

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

_REVIEWED = _LISTED | {
    "ids": "id = ANY(%(ids)s)",
    "reviewed_at": "reviewed_at = %(reviewed_at)s",
    "job_id": """(tape_id, workbook_id) IN (
        SELECT r.tape_id COLLATE "C", r.workbook_id FROM reconciliations r WHERE r.id = %(job_id)s)""",
}
"""Conditions on the issues of one review."""


def conditions_of(query: schema.IssueQuery | schema.SummaryQuery) -> dict[str, Any]:
    """Return the conditions of a query that are not null, by name."""
    return {name: value for name, value in msgspec.structs.asdict(query).items() if value is not None}


def _where(conditions: dict[str, str], values: dict[str, Any]) -> str:
    return " AND ".join(condition for name, condition in conditions.items() if name in values) or "true"


async def list_issues(ctx: Context, query: schema.IssueList) -> Page[schema.Issue]:
    """Return a page of issues, of one tape the gravest first.

    Of all tapes the newest first.
    """
    parameters = conditions_of(query)
    where = _where(_COUNTED, parameters)
    total: int = await ctx.fetch_value(
        f"SELECT coalesce(sum(issues), 0)::bigint FROM reconciliation_counts WHERE {where}", parameters
    )
    order = "id DESC" if query.tape_id is None else "gravity, id"
    items = []
    if query.offset < total:
        where = _where(_LISTED, parameters)
        # The inner query passes over rows by the index alone; only the page itself is fetched.
        items = await ctx.fetch_all(
            schema.Issue,
            f"""
            SELECT {_ISSUE} FROM reconciliation_issues WHERE id IN (
                SELECT id FROM reconciliation_issues WHERE {where} ORDER BY {order}
                LIMIT %(limit)s OFFSET %(offset)s
            ) ORDER BY {order}
            """,
            {**parameters, "limit": query.page_size, "offset": query.offset},
        )
    return page_of(items, total, query)


async def issues_of(
    unit: Unit, *, tape_id: str, workbook_id: UUID, after: schema.Issue | None, most: int
) -> list[schema.Issue]:
    """Return the next issues of a tape and workbook, gravest first."""
    return await unit.fetch_all(
        schema.Issue,
        f"""
        SELECT {_ISSUE} FROM reconciliation_issues
        WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s AND (gravity, id) > (%(gravity)s, %(id)s)
        ORDER BY gravity, id LIMIT %(most)s
        """,
        {
            "tape_id": tape_id,
            "workbook_id": workbook_id,
            "gravity": 0 if after is None else SEVERITIES.index(after.severity) + 1,
            "id": "" if after is None else after.id,
            "most": most,
        },
    )


class _Count(Struct, frozen=True):
    severity: Severity
    status: str
    issues: int


async def summary(ctx: Context, query: schema.SummaryQuery) -> schema.IssueSummary:
    """Return how many issues there are, by severity and by status."""
    parameters = conditions_of(query)
    where = _where(_COUNTED, parameters)
    counts = await ctx.fetch_all(
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
    return schema.IssueSummary(
        total=sum(statuses.values()),
        by_severity=schema.SeverityCounts(**severities),
        by_status=schema.StatusCounts(**statuses),
    )


class IssuePlace(Struct, frozen=True, kw_only=True):
    """Where an issue's loan stands."""

    id: str
    tape_id: str
    workbook_id: UUID
    issue_type: IssueType
    trustee_row: int | None
    """The row of the tape's sheet, from 1. None: the tape lacks the loan, or the row was not kept."""
    internal_row: int | None
    """The row of the workbook's sheet, likewise."""


async def place_of(ctx: Context, issue_id: str) -> IssuePlace:
    """Return where the loan of an issue stands."""
    sql = f"SELECT {columns_of(IssuePlace)} FROM reconciliation_issues WHERE id = %s"
    return await ctx.fetch_one(IssuePlace, sql, [issue_id], missing=schema.IssueNotFound)


async def lock_issue(ctx: Context, issue_id: str) -> schema.Issue:
    """Return an issue, locked against a merge of its tape and workbook.

    Raises:
        IssueNotFound: there is none of that identifier.
        ConcurrentModification: a merge is not over within `REVIEW_WAIT`.
    """
    reading = f"SELECT {_ISSUE} FROM reconciliation_issues WHERE id = %s"
    issue = await ctx.fetch_one(schema.Issue, reading, [issue_id], missing=schema.IssueNotFound)
    await (await ctx.begin()).post("SELECT set_config('lock_timeout', %s, true)", [REVIEW_WAIT])
    await ctx.execute(LOCK_PAIR, {"tape_id": issue.tape_id, "workbook_id": issue.workbook_id})
    locking = f"SELECT {_ISSUE} FROM reconciliation_issues WHERE id = %s FOR UPDATE"
    return await ctx.fetch_one(schema.Issue, locking, [issue_id], missing=schema.IssueNotFound)


async def review(ctx: Context, issue: schema.Issue, *, status: str, notes: str | None, reviewer: str) -> schema.Issue:
    """Set an issue's status and notes, and keep the counts."""
    changed = await ctx.fetch_one(
        schema.Issue,
        f"""
        UPDATE reconciliation_issues SET status = %(status)s, resolution_notes = %(notes)s, reviewed_by = %(reviewer)s,
                                         reviewed_at = now(), updated_at = now(), gone = gone AND status = %(status)s
        WHERE id = %(id)s RETURNING {_ISSUE}
        """,
        {"id": issue.id, "status": status, "notes": notes, "reviewer": reviewer},
        missing=schema.IssueNotFound,
    )
    transaction = await ctx.begin()
    await _count(transaction, ctx.tenant, issue, -1)
    await _count(transaction, ctx.tenant, changed, 1)
    return changed


async def _count(tx: Transaction, tenant_id: UUID, issue: schema.Issue, more: int) -> None:
    await tx.post(
        """
        INSERT INTO reconciliation_counts AS c (tenant_id, tape_id, workbook_id, severity, category, status, issues)
        VALUES (%(tenant_id)s, %(tape_id)s, %(workbook_id)s, %(severity)s, %(category)s, %(status)s, %(more)s)
        ON CONFLICT (tenant_id, tape_id, workbook_id, severity, category, status)
        DO UPDATE SET issues = c.issues + EXCLUDED.issues
        """,
        {**msgspec.structs.asdict(issue), "tenant_id": tenant_id, "more": more},
    )


# Many in one step -----------------------------------------------------------------------------------------------------


class Pair(Struct, frozen=True):
    """A tape and a workbook with the number of their issues that a review concerns."""

    tape_id: str
    workbook_id: UUID
    issues: int


async def pairs_of(ctx: Context, conditions: dict[str, Any], *, most: int) -> list[Pair]:
    """Return the pairs of issues, in the order of their locks.

    At most so many issues are looked at.
    """
    return await ctx.fetch_all(
        Pair,
        f"""
        SELECT tape_id, workbook_id, count(*) AS issues FROM (
            SELECT tape_id, workbook_id FROM reconciliation_issues WHERE {_where(_REVIEWED, conditions)} LIMIT %(most)s
        ) found GROUP BY tape_id, workbook_id ORDER BY tape_id, workbook_id
        """,
        {**conditions, "most": most},
    )


async def review_many(
    ctx: Context, conditions: dict[str, Any], pairs: list[Pair], patch: schema.IssuesPatch, *, reviewer: str
) -> schema.IssuesReviewed:
    """Review the matching issues of these pairs, and keep the counts.

    One statement reads, changes and counts, while the pairs are locked against merges.

    Raises:
        ConcurrentModification: a merge of a pair is not over within `REVIEW_WAIT`.
    """
    transaction = await ctx.begin()
    await transaction.post("SELECT set_config('lock_timeout', %s, true)", [REVIEW_WAIT])
    for pair in pairs:
        await transaction.post(LOCK_PAIR, {"tape_id": pair.tape_id, "workbook_id": pair.workbook_id})
    return await ctx.fetch_one(
        schema.IssuesReviewed,
        f"""
        WITH old AS (
            SELECT id, status FROM reconciliation_issues
            WHERE (tape_id, workbook_id) IN (
                SELECT pair.tape_id, pair.workbook_id
                FROM unnest(%(tapes)s::text[], %(workbooks)s::uuid[]) AS pair (tape_id, workbook_id)
            ) AND {_where(_REVIEWED, conditions)}
            FOR UPDATE
        ), changed AS (
            UPDATE reconciliation_issues i
            SET status = %(new_status)s,
                resolution_notes = CASE WHEN %(keep_notes)s THEN i.resolution_notes ELSE %(notes)s END,
                reviewed_by = %(reviewer)s, reviewed_at = now(), updated_at = now(),
                gone = i.gone AND i.status = %(new_status)s
            FROM old WHERE i.id = old.id
            RETURNING i.tape_id, i.workbook_id, i.severity, i.category, i.status, old.status AS old_status
        ), counted AS (
            INSERT INTO reconciliation_counts AS c
                (tenant_id, tape_id, workbook_id, severity, category, status, issues)
            SELECT %(tenant_id)s, tape_id, workbook_id, severity, category, side.status, sum(side.more)
            FROM changed CROSS JOIN LATERAL (VALUES (old_status, -1), (changed.status, 1)) AS side (status, more)
            GROUP BY tape_id, workbook_id, severity, category, side.status
            ON CONFLICT (tenant_id, tape_id, workbook_id, severity, category, status)
            DO UPDATE SET issues = c.issues + EXCLUDED.issues
        )
        SELECT count(*) AS updated, now() AS reviewed_at FROM changed
        """,
        {
            **conditions,
            "tenant_id": ctx.tenant,
            "tapes": [pair.tape_id for pair in pairs],
            "workbooks": [pair.workbook_id for pair in pairs],
            "new_status": patch.status,
            "keep_notes": patch.resolution_notes is UNSET,
            "notes": None if patch.resolution_notes is UNSET else patch.resolution_notes,
            "reviewer": reviewer,
        },
        missing=schema.IssueNotFound,
    )
