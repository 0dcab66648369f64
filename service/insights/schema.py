"""Insights: nominations, sessions, questions, requests, refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.insights.insight import Category, Stakeholder
from core.questions.answer import QUESTION_LENGTH_MAX
from service.compliance.schema import InvalidDefinition, RunTooSlow
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.base.problem import Problem, RateLimited
from service.platform.data.blobs import Damaged
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady

LISTED_MAX: Final = 1_000
"""Workbooks of a list of nominations, the nominated ones first, and of a request that nominates many."""
REGENERATIONS_MAX: Final = 3
"""Of one session."""
RECENT: Final = 5
"""Questions that an insight shows."""
CATEGORY_NAMES: Final[dict[Category, str]] = {
    "financial_health": "Financial Health",
    "risk_compliance": "Risk & Compliance",
    "trends_forecasts": "Trends & Forecasts",
    "portfolio_composition": "Portfolio Composition",
    "data_quality": "Data Quality",
}

# Nominations ----------------------------------------------------------------------------------------------------------


class Nomination(Struct, frozen=True, kw_only=True):
    """Whether insights are made of a workbook."""

    workbook_id: UUID
    workbook_name: str
    """What people call the workbook."""
    is_nominated: bool
    nominated_at: datetime | None
    """When it was nominated, or its deal's earlier workbook was, in UTC. Null: it is not."""


class NominationPut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether insights are to be made of a workbook."""

    is_nominated: bool


class NominationBulk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether insights are to be made of several workbooks: of all of them, or of none where one is not there."""

    workbook_ids: Annotated[list[UUID], Meta(max_length=LISTED_MAX)]
    """The workbooks, by their `id`."""
    is_nominated: bool


class BulkNominated(Struct, frozen=True, kw_only=True):
    """Workbooks that were nominated, or no more are."""

    updated_count: int
    """How many workbooks are now as asked, whether or not they were before."""
    workbook_ids: list[UUID]
    """The workbooks that are now as asked, by their `id`."""
    is_nominated: bool


# Sessions -------------------------------------------------------------------------------------------------------------


class Remark(Struct, frozen=True, kw_only=True):
    """What a reader has to know before the rest."""

    code: Literal["left_out", "not_stored", "rests_on", "model", "assumed"]
    """left_out: a workbook; not_stored: figures that no stored run has; rests_on: what figures rest on; model: what a
    language model said; assumed: how a question was taken."""
    message: str
    """What a reader has to know, in a sentence."""


class Insight(Struct, frozen=True, kw_only=True):
    """One thing that a reader should know."""

    id: str
    category: Category
    """Which part of the business it is about."""
    category_display: str
    """The same as a heading."""
    title: str
    summary: str
    """What was found, in a few sentences."""
    confidence: Annotated[float, Meta(ge=0, le=1)]
    """From 0 to 1: less where figures are estimated, parts are missing, or warnings doubt them."""
    priority: int
    """1: to be acted upon today, to 5: for information."""
    is_taster: bool
    """Whether the tenant's tier shows no evidence: `supporting_data` then lacks recipes, loans and cells."""


class QuestionItem(Struct, frozen=True, kw_only=True):
    """A question that was asked."""

    id: UUID
    question: str
    """What was asked."""
    answer: str
    """The answer, as plain text."""
    insight_id: str | None
    """The insight that was asked about. Null: the nominated workbooks."""
    asked_at: datetime
    """When it was asked, in UTC."""
    answered: bool
    understood: str
    suggestions: list[str]
    warnings: list[Remark]
    """What to know before trusting the answer."""
    answered_by: str


class QA(QuestionItem, frozen=True, kw_only=True):
    """An answer, with what its figures rest on."""

    supporting_data: dict[str, Any]


class InsightDetail(Insight, frozen=True, kw_only=True):
    """An insight, and how it came about."""

    session_id: str
    workbook_ids: list[UUID]
    """Workbooks that it is about, by their `id`."""
    methodology: str
    """How the figures were worked out."""
    supporting_data: dict[str, Any]
    answered_by: str
    created_at: datetime
    recent_questions: list[QuestionItem]
    """What the caller asked about it, the newest first."""


class Analysed(Struct, frozen=True, kw_only=True):
    """A workbook that a session is about."""

    workbook_id: UUID
    name: str
    """Name of the workbook's deal, else its own."""
    run_id: str | None
    """The stored run that has the same figures. Null: there is none."""
    as_of: str | None
    """The day that its figures are of. Null: not known."""


class Session(Struct, frozen=True, kw_only=True):
    """Insights that were made at once for a user."""

    session_id: str
    status: Literal["completed"]
    """completed: it is answered once it is there."""
    stakeholder_type: Stakeholder
    regeneration_count: int
    """How often its insights were replaced; three times at most."""
    insights: list[Insight]
    """The insights, in the order in which to read them."""
    subjects: list[Analysed]
    """The workbooks that it is about."""
    warnings: list[Remark]
    """What to know before trusting the insights."""
    created_at: datetime


class GenerateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For whom insights are to be made."""

    stakeholder_type: str = "analyst"


# Questions ------------------------------------------------------------------------------------------------------------


class QuestionRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question in plain English."""

    question: Annotated[str, Meta(description=f"What to answer, in 1 to {QUESTION_LENGTH_MAX:,} characters")]


class QuestionHistory(Struct, frozen=True, kw_only=True):
    """How many questions."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Most questions of an answer, the newest first")] = 20


# Refusals -------------------------------------------------------------------------------------------------------------


class NoNominatedWorkbooks(Problem, status=400, hint="PUT /api/v1/insights/nominations/{workbook_id} nominates one"):
    """No nominated workbooks"""


class InvalidStakeholder(Problem, status=400):
    """Invalid stakeholder type"""


class NoActiveSession(Problem, status=400, hint="POST /api/v1/insights/generate begins one"):
    """No active session"""


class NoCurrentSession(Problem, status=404):
    """No active session"""


class SessionNotFound(Problem, status=404):
    """Session not found"""


class InsightNotFound(Problem, status=404):
    """Insight not found"""


class InvalidQuestion(Problem, status=400):
    """Invalid question"""


class NominationLimitExceeded(Problem, status=403):
    """Nomination limit exceeded"""


class RegenerationLimitReached(RateLimited):
    """Regeneration limit reached"""


UNREADABLE: Final = (
    WorkbookNotFound,
    WorkbookNotReady,
    MappingNotFound,
    MappingTooSlow,
    RunTooSlow,
    InvalidDefinition,
    Damaged,
)
"""Why nothing can be said of a workbook."""

UNANSWERED: Final = (*UNREADABLE, RateLimited)
"""Why a question about workbooks, or about those that are nominated, has no answer."""
