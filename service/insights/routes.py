"""Insights' rows."""

from __future__ import annotations

from uuid import UUID

from service.insights import actions, question_actions, schema, store
from service.platform.base.problem import ConcurrentModification
from service.platform.route.api import Area
from service.platform.unit.context import Context
from service.workbooks.schema import WorkbookNotFound

area = Area("/api/v1/insights", tag="insights", scope="workbooks")

READING = "workbooks:read"


@area.get("/nominations")
async def list_nominations(ctx: Context) -> list[schema.Nomination]:
    """List the tenant's workbooks, the nominated ones first; a thousand at most."""
    return await store.nominations(ctx)


@area.put(
    "/nominations/{workbook_id}",
    errors=(WorkbookNotFound, schema.NominationLimitExceeded),
    event="nomination.updated",
    summary="Nominate workbook",
)
async def put_nomination(ctx: Context, workbook_id: UUID, body: schema.NominationPut) -> schema.Nomination:
    """Nominate a workbook for insights, or end its nomination.

    The deal's next workbook takes its place.
    """
    return await actions.nominate(ctx, workbook_id, body)


@area.post(
    "/nominations/bulk",
    errors=(WorkbookNotFound, schema.NominationLimitExceeded),
    event="nomination.updated",
    summary="Nominate workbooks",
)
async def put_nominations(ctx: Context, body: schema.NominationBulk) -> schema.BulkNominated:
    """Nominate several workbooks, or end their nomination.

    All change, or none where one is not there.
    """
    return await actions.nominate_many(ctx, body)


@area.post(
    "/generate",
    access=READING,
    errors=(schema.InvalidStakeholder, schema.NoNominatedWorkbooks, *schema.UNANSWERED),
    event="insight.generated",
    flag="insights",
    heavy=True,
)
async def generate_insights(ctx: Context, body: schema.GenerateRequest) -> schema.Session:
    """Analyse the nominated workbooks for a kind of reader.

    The answer is the caller's new session. A workbook that cannot be read is left out, and `warnings` tells it; where
    none can, the answer is why the first one cannot.
    """
    return await actions.generate(ctx, body)


@area.post(
    "/regenerate",
    access=READING,
    errors=(
        schema.NoActiveSession,
        schema.RegenerationLimitReached,
        schema.NoNominatedWorkbooks,
        *schema.UNANSWERED,
        ConcurrentModification,
    ),
    event="insight.generated",
    flag="insights",
    heavy=True,
)
async def regenerate_insights(ctx: Context) -> schema.Session:
    """Look at the nominated workbooks from another angle.

    The insights of the caller's newest session are replaced. Three times for a session; it takes nothing from the day's
    generations.
    """
    return await actions.regenerate(ctx)


@area.post(
    "/ask",
    access=READING,
    errors=(schema.InvalidQuestion, *schema.UNANSWERED),
    event="insight.asked",
    flag="questions",
    heavy=True,
    summary="Ask question",
)
async def ask(ctx: Context, body: schema.QuestionRequest) -> schema.QA:
    """Ask about the nominated workbooks.

    A question that cannot be answered gets questions that can. Without a nominated workbook the answer says
    what to nominate or to upload.
    """
    return await question_actions.ask(ctx, body)


@area.get("/sessions/current", errors=(schema.NoCurrentSession,))
async def get_current_session(ctx: Context) -> schema.Session:
    """Give the caller's newest session; an API key has its creator's."""
    return await store.current(ctx)


@area.get("/sessions/{session_id}", errors=(schema.SessionNotFound,))
async def get_session(ctx: Context, session_id: str) -> schema.Session:
    """Give one of the caller's sessions."""
    return await store.session(ctx, session_id)


@area.get("/questions/history")
async def list_questions(ctx: Context, query: schema.QuestionHistory) -> list[schema.QuestionItem]:
    """List what the caller asked, the newest first."""
    return await store.questions(ctx, query.limit)


@area.get("/{insight_id}", errors=(schema.InsightNotFound,))
async def get_insight(ctx: Context, insight_id: str) -> schema.InsightDetail:
    """Give one of the caller's insights.

    It says how it came about, what it rests on, and what was asked of it.
    """
    return await actions.insight(ctx, insight_id)


@area.post(
    "/{insight_id}/ask",
    access=READING,
    errors=(schema.InsightNotFound, schema.InvalidQuestion, *schema.UNANSWERED),
    event="insight.asked",
    flag="questions",
    heavy=True,
    summary="Ask about insight",
)
async def ask_insight(ctx: Context, insight_id: str, body: schema.QuestionRequest) -> schema.QA:
    """Ask about the workbooks of an insight, as of everything."""
    return await question_actions.ask(ctx, body, insight_id)
