"""What insights say: nominations, sessions, questions, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.insights.insight import Category, Stakeholder
from core.questions.answer import QUESTION_LENGTH_MAX
from service.compliance.schema import InvalidDefinition, RunTooSlow
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.data.blobs import Damaged
from service.platform.http.problem import Problem, RateLimited
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
    is_nominated: bool
    nominated_at: datetime | None
    """Null where it is not; where it took over from its deal's earlier workbook, when that was."""


class NominationPut(Struct, frozen=True, kw_only=True):
    """Whether insights are to be made of a workbook."""

    is_nominated: bool


class NominationBulk(Struct, frozen=True, kw_only=True):
    """The same of several workbooks: of all of them, or of none where one is not there."""

    workbook_ids: Annotated[list[UUID], Meta(max_length=LISTED_MAX)]
    is_nominated: bool


class BulkNominated(Struct, frozen=True, kw_only=True):
    """What became of them."""

    updated_count: int
    """Of workbooks that are now as asked, whether or not they were before."""
    workbook_ids: list[UUID]
    is_nominated: bool


# Sessions -------------------------------------------------------------------------------------------------------------


class Remark(Struct, frozen=True, kw_only=True):
    """What a reader has to know before the rest."""

    code: Literal["left_out", "not_stored", "rests_on", "model", "assumed"]
    """A workbook that is left out; figures that no stored run has; what figures rest on; what a language model said;
    how a question was taken."""
    message: str


class Insight(Struct, frozen=True, kw_only=True):
    """One thing that a reader should know."""

    id: str
    category: Category
    category_display: str
    title: str
    summary: str
    confidence: Annotated[float, Meta(ge=0, le=1)]
    priority: int
    """From 1, to be acted upon today, to 5, for information."""
    is_taster: bool
    """The tenant's tier shows no evidence: `supporting_data` lacks figures' recipes, loans and cells."""


class QuestionItem(Struct, frozen=True, kw_only=True):
    """A question that was asked."""

    id: UUID
    question: str
    answer: str
    insight_id: str | None
    """Null where it was about everything."""
    asked_at: datetime
    answered: bool
    """False where the question was not understood, or the data cannot answer it; `answer` says which."""
    understood: str
    """The question as it was taken, in words."""
    suggestions: list[str]
    """Questions that the same data answer, where this one was not answered."""
    warnings: list[Remark]
    answered_by: str
    """built-in, or the language model that worded the answer."""


class QA(QuestionItem, frozen=True, kw_only=True):
    """An answer, with what its figures rest on."""

    supporting_data: dict[str, Any]


class InsightDetail(Insight, frozen=True, kw_only=True):
    """An insight, and how it came about."""

    session_id: str
    workbook_ids: list[UUID]
    """What it is about."""
    methodology: str
    supporting_data: dict[str, Any]
    answered_by: str
    """built-in, or the language model that worded the summary."""
    created_at: datetime
    recent_questions: list[QuestionItem]
    """The caller's, the newest first."""


class Analysed(Struct, frozen=True, kw_only=True):
    """A workbook that a session is about."""

    workbook_id: UUID
    name: str
    """Of its deal, else its own."""
    run_id: str | None
    """The stored run that has the same figures; null where there is none."""
    as_of: str | None


class Session(Struct, frozen=True, kw_only=True):
    """What a user was told at once."""

    session_id: str
    status: Literal["completed"]
    stakeholder_type: Stakeholder
    regeneration_count: int
    insights: list[Insight]
    """In the order in which they are to be read."""
    subjects: list[Analysed]
    warnings: list[Remark]
    created_at: datetime


class GenerateRequest(Struct, frozen=True, kw_only=True):
    """For whom insights are to be made."""

    stakeholder_type: Annotated[str, Meta(description="executive, finance, operations or analyst")] = "analyst"


# Questions ------------------------------------------------------------------------------------------------------------


class QuestionRequest(Struct, frozen=True, kw_only=True):
    """A question in plain English."""

    question: Annotated[str, Meta(description=f"1 to {QUESTION_LENGTH_MAX:,} characters")]


class QuestionHistory(Struct, frozen=True, kw_only=True):
    """How many questions."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Questions in the answer")] = 20


# Refusals -------------------------------------------------------------------------------------------------------------


class NoNominatedWorkbooks(Problem, status=400):
    """No nominated workbooks"""


class InvalidStakeholder(Problem, status=400):
    """Invalid stakeholder type"""


class NoActiveSession(Problem, status=400):
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

UNANSWERED: Final = (*UNREADABLE, NoNominatedWorkbooks, RateLimited)
"""Why a question about workbooks, or about those that are nominated, has no answer."""
