"""Insights' queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from core.insights.insight import Category, Stakeholder
from core.reconciliation.rules import IssueType, Severity
from service.insights.schema import (
    CATEGORY_NAMES,
    LISTED_MAX,
    RECENT,
    InsightDetail,
    InsightNotFound,
    NoCurrentSession,
    Nomination,
    QuestionItem,
    Session,
    SessionNotFound,
)
from service.platform.base.problem import Problem
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of
from service.workbooks.schema import WorkbookNotFound

# Nominations ----------------------------------------------------------------------------------------------------------

_NOMINATION: Final = columns_of(
    Nomination,
    workbook_id="w.id",
    workbook_name="w.name",
    is_nominated="n.nominated_at IS NOT NULL",
    nominated_at="n.nominated_at",
)
_NOMINATIONS: Final = """
    workbooks w LEFT JOIN (
        SELECT workbook_id, max(nominated_at) AS nominated_at FROM nominated_workbooks GROUP BY workbook_id
    ) n ON n.workbook_id = w.id
    WHERE w.deleted_at IS NULL
"""


async def nominations(ctx: Context) -> list[Nomination]:
    """The tenant's workbooks, the nominated ones first, then the newest."""
    return await ctx.all(
        Nomination,
        f"""
        SELECT {_NOMINATION} FROM {_NOMINATIONS}
        ORDER BY n.nominated_at DESC NULLS LAST, w.created_at DESC, w.id LIMIT {LISTED_MAX}
        """,
    )


async def nominations_of(ctx: Context, workbook_ids: Collection[UUID]) -> list[Nomination]:
    """Those of some workbooks; what is not there is not among them."""
    return await ctx.all(
        Nomination, f"SELECT {_NOMINATION} FROM {_NOMINATIONS} AND w.id = ANY (%s)", [list(workbook_ids)]
    )


async def nominated(unit: Unit) -> list[UUID]:
    """The workbooks that are nominated, the latest nomination first."""

    class Row(Struct):
        workbook_id: UUID

    rows = await unit.all(
        Row,
        """
        SELECT workbook_id FROM nominated_workbooks GROUP BY workbook_id ORDER BY max(nominated_at) DESC, workbook_id
        """,
    )
    return [row.workbook_id for row in rows]


async def has_workbooks(unit: Unit) -> bool:
    """Whether the tenant has any workbook."""
    return bool(await unit.value("SELECT EXISTS (SELECT FROM workbooks WHERE deleted_at IS NULL)"))


async def settle(ctx: Context) -> None:
    """Move nominations that a later workbook of their deal took over to it, and hold all of them still until the
    transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    await ctx.execute(
        """
        WITH gone AS (
            DELETE FROM nominations n USING nominated_workbooks v
            WHERE n.workbook_id = v.named_id AND v.workbook_id <> v.named_id
            RETURNING n.tenant_id, v.workbook_id, n.nominated_at
        )
        INSERT INTO nominations (tenant_id, workbook_id, nominated_at)
        SELECT tenant_id, workbook_id, max(nominated_at) FROM gone GROUP BY tenant_id, workbook_id
        ON CONFLICT (tenant_id, workbook_id) DO UPDATE
        SET nominated_at = greatest(nominations.nominated_at, EXCLUDED.nominated_at)
        """
    )


async def nominate(ctx: Context, workbook_ids: Collection[UUID]) -> None:
    """Nominate workbooks; one that is nominated stays so since it was."""
    await ctx.execute(
        """
        INSERT INTO nominations (tenant_id, workbook_id) SELECT %s, unnest(%s::uuid[])
        ON CONFLICT (tenant_id, workbook_id) DO NOTHING
        """,
        [ctx.tenant, list(workbook_ids)],
    )


async def withdraw(ctx: Context, workbook_ids: Collection[UUID]) -> None:
    """End the nominations of workbooks."""
    await ctx.execute("DELETE FROM nominations WHERE workbook_id = ANY (%s)", [list(workbook_ids)])


# What is analysed -----------------------------------------------------------------------------------------------------


class About(Struct, frozen=True, kw_only=True):
    """Whose a workbook is."""

    workbook_name: str
    deal_id: UUID | None
    deal_name: str | None


async def about(unit: Unit, workbook_id: UUID) -> About:
    """A workbook's name, and its deal.

    Raises:
        WorkbookNotFound: there is none of that identifier.
    """
    return await unit.one(
        About,
        """
        SELECT w.name AS workbook_name, w.deal_id, d.name AS deal_name
        FROM workbooks w LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
        WHERE w.id = %s AND w.deleted_at IS NULL
        """,
        [workbook_id],
        missing=WorkbookNotFound,
    )


class TopBreak(Struct, frozen=True, kw_only=True):
    """A discrepancy that still stands."""

    severity: Severity
    issue_type: IssueType
    field_name: str
    identifier: str
    borrower_name: str
    trustee_value: str
    internal_value: str


class StoredBreaks(Struct, frozen=True, kw_only=True):
    """What a workbook's newest comparison with a trustee's tape found, as it was reviewed since."""

    tape: str
    comparison_id: str
    day: date
    compared: int
    matched: int
    settled: int
    by_severity: dict[Severity, int]
    by_field: dict[str, int]
    largest: list[TopBreak]


async def breaks(unit: Unit, workbook_id: UUID, most: int) -> StoredBreaks | None:
    """A workbook's newest comparison, with the worst discrepancies; None where there was none."""
    return await unit.one_or_none(
        StoredBreaks,
        """
        WITH newest AS (
            SELECT r.id, r.tenant_id, r.tape_id, r.workbook_id, r.summary, t.file_name,
                   coalesce(t.as_of, t.statement_date) AS day
            FROM reconciliations r JOIN tapes t ON t.tenant_id = r.tenant_id AND t.id = r.tape_id
            WHERE r.workbook_id = %(workbook_id)s AND r.status = 'completed' ORDER BY r.created_at DESC LIMIT 1
        ), issues AS NOT MATERIALIZED (
            SELECT i.*, i.status IN ('open', 'acknowledged') AS stands
            FROM newest n JOIN reconciliation_issues i
                ON i.tenant_id = n.tenant_id AND i.tape_id = n.tape_id AND i.workbook_id = n.workbook_id
        ), counted AS (
            SELECT severity, field_name AS field, stands, count(*) AS issues FROM issues GROUP BY 1, 2, 3
        )
        SELECT n.file_name AS tape, n.id AS comparison_id, n.day,
               (n.summary ->> 'total_loans_compared')::integer AS compared,
               (n.summary ->> 'matched')::integer AS matched,
               (SELECT coalesce(sum(issues), 0)::integer FROM counted WHERE NOT stands) AS settled,
               (SELECT coalesce(json_object_agg(severity, issues), '{}')
                FROM (SELECT severity, sum(issues) AS issues FROM counted WHERE stands GROUP BY 1) s) AS by_severity,
               (SELECT coalesce(json_object_agg(field, issues), '{}')
                FROM (SELECT field, sum(issues) AS issues FROM counted WHERE stands GROUP BY 1) f) AS by_field,
               (SELECT coalesce(json_agg(worst), '[]') FROM (
                    SELECT severity, issue_type, field_name, coalesce(primary_identifier, '') AS identifier,
                           coalesce(borrower_name, '') AS borrower_name, trustee_value, internal_value
                    FROM issues WHERE stands ORDER BY gravity, id LIMIT %(most)s) worst) AS largest
        FROM newest n
        """,
        {"workbook_id": workbook_id, "most": most},
    )


# Sessions -------------------------------------------------------------------------------------------------------------


class NewInsight(Struct, frozen=True, kw_only=True):
    """An insight to be stored."""

    id: str
    number: int
    workbook_ids: list[UUID]
    category: Category
    title: str
    summary: str
    confidence: float
    priority: int
    methodology: str
    supporting_data: dict[str, Any]
    answered_by: str


class Held(Struct, frozen=True, kw_only=True):
    """A session that may be regenerated."""

    id: str
    stakeholder_type: Stakeholder
    regeneration_count: int


_DISPLAY: Final = f"'{msgspec.json.encode(CATEGORY_NAMES).decode()}'::json ->> category"
_BRIEF: Final = f"""
    json_build_object('id', i.id, 'category', i.category, 'category_display', {_DISPLAY}, 'title', i.title,
                      'summary', i.summary, 'confidence', i.confidence, 'priority', i.priority,
                      'is_taster', %(is_taster)s::boolean)
"""
_SESSION: Final = columns_of(
    Session,
    session_id="s.id",
    status="'completed'",
    insights=f"""(SELECT coalesce(json_agg({_BRIEF} ORDER BY i.number), '[]') FROM insights i
                  WHERE i.tenant_id = s.tenant_id AND i.session_id = s.id)""",
)


def _shown(ctx: Context) -> dict[str, Any]:
    """What every read of a caller's own insights needs."""
    return {"user_id": ctx.caller.user_id, "is_taster": ctx.caller.tier == "free"}


async def session(ctx: Context, session_id: str) -> Session:
    """A session of the caller's.

    Raises:
        SessionNotFound: the caller has none of that identifier.
    """
    return await _session(ctx, "s.id = %(id)s", SessionNotFound, id=session_id)


async def current(ctx: Context) -> Session:
    """The caller's newest session.

    Raises:
        NoCurrentSession: there is none.
    """
    return await _session(ctx, "true", NoCurrentSession)


async def _session(ctx: Context, where: str, missing: type[Problem], **asked: str) -> Session:
    return await ctx.one(
        Session,
        f"""
        SELECT {_SESSION} FROM insight_sessions s
        WHERE s.user_id = %(user_id)s AND {where} ORDER BY s.created_at DESC, s.id LIMIT 1
        """,
        {**_shown(ctx), **asked},
        missing=missing,
    )


async def held(ctx: Context) -> Held | None:
    """The caller's newest session, as regenerating needs it."""
    return await ctx.one_or_none(
        Held,
        f"SELECT {columns_of(Held)} FROM insight_sessions WHERE user_id = %s ORDER BY created_at DESC, id LIMIT 1",
        [ctx.caller.user_id],
    )


async def create(ctx: Context, session_id: str, stakeholder: Stakeholder, about: Mapping[str, Any]) -> None:
    """A session without its insights; `about` as `regenerated`."""
    row = {"tenant_id": ctx.tenant, "id": session_id, "user_id": ctx.caller.user_id, "stakeholder_type": stakeholder}
    row |= _told(about)
    await ctx.execute(insert_of("insight_sessions", row), row)


async def regenerated(ctx: Context, held: Held, about: Mapping[str, Any]) -> bool:
    """Take away a session's insights, for others to come; whether nobody else did so in between.

    Args:
        about: subjects and warnings of the new ones.
    """
    done = await ctx.execute(
        """
        UPDATE insight_sessions SET regeneration_count = regeneration_count + 1, subjects = %(subjects)s,
                                    warnings = %(warnings)s
        WHERE id = %(id)s AND regeneration_count = %(regeneration_count)s
        """,
        {**msgspec.structs.asdict(held), **_told(about)},
    )
    await ctx.execute("DELETE FROM insights WHERE session_id = %s", [held.id])
    return bool(done)


def _told(about: Mapping[str, Any]) -> dict[str, str]:
    return {name: msgspec.json.encode(value).decode() for name, value in about.items()}


async def put_insights(ctx: Context, session_id: str, insights: Sequence[NewInsight]) -> None:
    """Store the insights of a session that has none."""
    await ctx.execute(
        """
        INSERT INTO insights (tenant_id, id, session_id, number, workbook_ids, category, title, summary, confidence,
                              priority, methodology, supporting_data, answered_by)
        SELECT %s, id, %s, number, workbook_ids, category, title, summary, confidence, priority, methodology,
               supporting_data, answered_by
        FROM json_to_recordset(%s::json) AS i (
            id text, number integer, workbook_ids uuid[], category text, title text, summary text, confidence float8,
            priority integer, methodology text, supporting_data json, answered_by text)
        """,
        [ctx.tenant, session_id, msgspec.json.encode(insights).decode()],
    )


# One insight, and questions -------------------------------------------------------------------------------------------

_KNOWN: Final = ("answered", "understood", "suggestions", "warnings", "answered_by")
"""Fields of a question that stand in its details."""
_QUESTION: Final = columns_of(QuestionItem, **{name: f"details -> '{name}'" for name in _KNOWN})


async def insight(ctx: Context, insight_id: str) -> InsightDetail:
    """An insight of one of the caller's sessions.

    Raises:
        InsightNotFound: the caller has none of that identifier.
    """
    recent = f"""(
        SELECT coalesce(json_agg(q), '[]') FROM (
            SELECT {_QUESTION} FROM insight_questions
            WHERE user_id = %(user_id)s AND insight_id = %(id)s ORDER BY asked_at DESC, id LIMIT {RECENT}) q)"""
    columns = columns_of(
        InsightDetail,
        id="i.id",
        created_at="i.created_at",
        category_display=_DISPLAY,
        is_taster="%(is_taster)s::boolean",
        recent_questions=recent,
    )
    return await ctx.one(
        InsightDetail,
        f"""
        SELECT {columns} FROM insights i
        JOIN insight_sessions s ON s.tenant_id = i.tenant_id AND s.id = i.session_id
        WHERE i.id = %(id)s AND s.user_id = %(user_id)s
        """,
        {**_shown(ctx), "id": insight_id},
        missing=InsightNotFound,
    )


async def keep_question(ctx: Context, item: QuestionItem) -> None:
    """Keep a question with its answer."""
    kept = msgspec.structs.asdict(item)
    row = {
        "tenant_id": ctx.tenant,
        "user_id": ctx.caller.user_id,
        **{name: kept[name] for name in ("id", "insight_id", "question", "answer", "asked_at")},
        "details": msgspec.json.encode({name: kept[name] for name in _KNOWN}).decode(),
    }
    await ctx.execute(insert_of("insight_questions", row), row)


async def questions(ctx: Context, limit: int) -> list[QuestionItem]:
    """The caller's questions, the newest first."""
    return await ctx.all(
        QuestionItem,
        f"SELECT {_QUESTION} FROM insight_questions WHERE user_id = %s ORDER BY asked_at DESC, id LIMIT %s",
        [ctx.caller.user_id, limit],
    )
