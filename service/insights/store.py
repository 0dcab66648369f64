"""Insights' queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from core.insights.insight import Category, Stakeholder
from core.insights.subject import Breaks
from service.insights import schema
from service.platform.base.problem import Problem
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of
from service.platform.unit.records import insert, to_json
from service.workbooks.schema import WorkbookNotFound

# Nominations ----------------------------------------------------------------------------------------------------------

_NOMINATION: Final = columns_of(
    schema.Nomination,
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


async def nominations(ctx: Context) -> list[schema.Nomination]:
    """Return the tenant's workbooks, the nominated ones first, then the newest."""
    return await ctx.fetch_all(
        schema.Nomination,
        f"""
        SELECT {_NOMINATION} FROM {_NOMINATIONS}
        ORDER BY n.nominated_at DESC NULLS LAST, w.created_at DESC, w.id LIMIT {schema.LISTED_MAX}
        """,
    )


async def nominations_of(ctx: Context, workbook_ids: Collection[UUID]) -> list[schema.Nomination]:
    """Return the nominations of some workbooks, where they exist."""
    return await ctx.fetch_all(
        schema.Nomination, f"SELECT {_NOMINATION} FROM {_NOMINATIONS} AND w.id = ANY (%s)", [list(workbook_ids)]
    )


async def nominated_ids(unit: Unit) -> list[UUID]:
    """Return the workbooks that are nominated, the latest nomination first."""
    sql = """
        SELECT ARRAY(SELECT workbook_id FROM nominated_workbooks GROUP BY workbook_id
                     ORDER BY max(nominated_at) DESC, workbook_id)
    """
    return list(await unit.fetch_value(sql))


async def has_workbooks(unit: Unit) -> bool:
    """Return whether the tenant has any workbook."""
    return bool(await unit.fetch_value("SELECT EXISTS (SELECT FROM workbooks WHERE deleted_at IS NULL)"))


async def settle(ctx: Context) -> None:
    """Lock nominations, and move them to their deals' newest workbooks."""
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


class WorkbookNames(Struct, frozen=True, kw_only=True):
    """Whose a workbook is."""

    workbook_name: str
    deal_id: UUID | None
    deal_name: str | None


async def about(unit: Unit, workbook_id: UUID) -> WorkbookNames:
    """Return a workbook's name, and its deal."""
    return await unit.fetch_one(
        WorkbookNames,
        """
        SELECT w.name AS workbook_name, w.deal_id, d.name AS deal_name
        FROM workbooks w LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
        WHERE w.id = %s AND w.deleted_at IS NULL
        """,
        [workbook_id],
        missing=WorkbookNotFound,
    )


async def breaks(unit: Unit, workbook_id: UUID, most: int) -> Breaks | None:
    """Return a workbook's newest comparison with its worst discrepancies."""
    return await unit.fetch_one_or_none(
        Breaks,
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


class NewestSession(Struct, frozen=True, kw_only=True):
    """A session that may be regenerated."""

    id: str
    stakeholder_type: Stakeholder
    regeneration_count: int


_DISPLAY: Final = f"'{to_json(schema.CATEGORY_NAMES)}'::json ->> category"
_BRIEF: Final = f"""
    json_build_object('id', i.id, 'category', i.category, 'category_display', {_DISPLAY}, 'title', i.title,
                      'summary', i.summary, 'confidence', i.confidence, 'priority', i.priority,
                      'is_taster', %(is_taster)s::boolean)
"""
_SESSION: Final = columns_of(
    schema.Session,
    session_id="s.id",
    status="'completed'",
    insights=f"""(SELECT coalesce(json_agg({_BRIEF} ORDER BY i.number), '[]') FROM insights i
                  WHERE i.tenant_id = s.tenant_id AND i.session_id = s.id)""",
)


def _viewer(ctx: Context) -> dict[str, Any]:
    """Return what every read of a caller's own insights needs."""
    return {"user_id": ctx.caller.user_id, "is_taster": ctx.caller.tier == "free"}


async def session(ctx: Context, session_id: str) -> schema.Session:
    """Return a session of the caller's."""
    return await _session(ctx, "s.id = %(id)s", schema.SessionNotFound, id=session_id)


async def current(ctx: Context) -> schema.Session:
    """Return the caller's newest session.

    Raises:
        NoCurrentSession: there is none.
    """
    return await _session(ctx, "true", schema.NoCurrentSession)


async def _session(ctx: Context, where: str, missing: type[Problem], **parameters: str) -> schema.Session:
    return await ctx.fetch_one(
        schema.Session,
        f"""
        SELECT {_SESSION} FROM insight_sessions s
        WHERE s.user_id = %(user_id)s AND {where} ORDER BY s.created_at DESC, s.id LIMIT 1
        """,
        {**_viewer(ctx), **parameters},
        missing=missing,
    )


async def newest_session(ctx: Context) -> NewestSession | None:
    """Return the caller's newest session, as regenerating needs it."""
    columns, order = columns_of(NewestSession), "created_at DESC, id"
    sql = f"SELECT {columns} FROM insight_sessions WHERE user_id = %s ORDER BY {order} LIMIT 1"
    return await ctx.fetch_one_or_none(NewestSession, sql, [ctx.caller.user_id])


async def create(ctx: Context, session_id: str, stakeholder: Stakeholder, about: Mapping[str, Any]) -> None:
    """Create a session without its insights; see `begin_regeneration`."""
    row = {"id": session_id, "user_id": ctx.caller.user_id, "stakeholder_type": stakeholder}
    row |= _as_json(about)
    await insert(ctx, "insight_sessions", row)


async def begin_regeneration(ctx: Context, session: NewestSession, about: Mapping[str, Any]) -> bool:
    """Remove a session's insights; return False where another did.

    Args:
        about: subjects and warnings of the new ones.
    """
    done = await ctx.execute(
        """
        UPDATE insight_sessions SET regeneration_count = regeneration_count + 1, subjects = %(subjects)s,
                                    warnings = %(warnings)s
        WHERE id = %(id)s AND regeneration_count = %(regeneration_count)s
        """,
        {**msgspec.structs.asdict(session), **_as_json(about)},
    )
    await ctx.execute("DELETE FROM insights WHERE session_id = %s", [session.id])
    return bool(done)


def _as_json(about: Mapping[str, Any]) -> dict[str, str]:
    return {name: to_json(value) for name, value in about.items()}


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
        [ctx.tenant, session_id, to_json(insights)],
    )


# One insight, and questions -------------------------------------------------------------------------------------------

_KNOWN: Final = ("answered", "understood", "suggestions", "warnings", "answered_by")
"""Fields of a question that stand in its details."""
_QUESTION: Final = columns_of(schema.QuestionItem, **{name: f"details -> '{name}'" for name in _KNOWN})


async def insight(ctx: Context, insight_id: str) -> schema.InsightDetail:
    """Return an insight of one of the caller's sessions."""
    recent = f"""(
        SELECT coalesce(json_agg(q), '[]') FROM (
            SELECT {_QUESTION} FROM insight_questions
            WHERE user_id = %(user_id)s AND insight_id = %(id)s ORDER BY asked_at DESC, id LIMIT {schema.RECENT}) q)"""
    columns = columns_of(
        schema.InsightDetail,
        id="i.id",
        created_at="i.created_at",
        category_display=_DISPLAY,
        is_taster="%(is_taster)s::boolean",
        recent_questions=recent,
    )
    return await ctx.fetch_one(
        schema.InsightDetail,
        f"""
        SELECT {columns} FROM insights i
        JOIN insight_sessions s ON s.tenant_id = i.tenant_id AND s.id = i.session_id
        WHERE i.id = %(id)s AND s.user_id = %(user_id)s
        """,
        {**_viewer(ctx), "id": insight_id},
        missing=schema.InsightNotFound,
    )


async def keep_question(ctx: Context, item: schema.QuestionItem) -> None:
    """Keep a question with its answer."""
    fields = msgspec.structs.asdict(item)
    row = {
        "user_id": ctx.caller.user_id,
        **{name: fields[name] for name in ("id", "insight_id", "question", "answer", "asked_at")},
        "details": to_json({name: fields[name] for name in _KNOWN}),
    }
    await insert(ctx, "insight_questions", row)


async def questions(ctx: Context, limit: int) -> list[schema.QuestionItem]:
    """Return the caller's questions, the newest first."""
    return await ctx.fetch_all(
        schema.QuestionItem,
        f"SELECT {_QUESTION} FROM insight_questions WHERE user_id = %s ORDER BY asked_at DESC, id LIMIT %s",
        [ctx.caller.user_id, limit],
    )
