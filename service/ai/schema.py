"""What the assistant is asked, and what it says."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.questions.answer import QUESTION_LENGTH_MAX
from service.insights.schema import Remark


class ChatContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a question is about. A misspelt field is refused: the question would be answered over other workbooks."""

    workbook_id: UUID | None = None
    """The workbook that the question is about. Unset: those that are nominated for insights."""


class ChatRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question in plain English."""

    query: Annotated[str, Meta(min_length=1, max_length=QUESTION_LENGTH_MAX, pattern=r"\S")]
    """The question, of at most 1,000 characters."""
    context: ChatContext | None = None
    """What the question is about. Null: the nominated workbooks."""


class ChatMetadata(Struct, frozen=True, kw_only=True):
    """What a message rests on."""

    workbook_id: UUID | None
    """The workbook that the question was about. Null: the nominated ones."""
    data_points_referenced: bool
    """Whether the workbooks' own data were read for the message."""
    answered: bool
    answered_by: str
    unsupported_figures: tuple[str, ...]
    """Figures of a language model that the data do not have; the message marks each."""
    understood: str
    suggestions: list[str]
    warnings: list[Remark]
    """What to know before trusting the answer."""
    supporting_data: dict[str, Any]


class ChatMessage(Struct, frozen=True, kw_only=True):
    """What the assistant says: plain text."""

    id: str
    """Identifier of this message."""
    role: Literal["assistant"] = "assistant"
    """Who speaks."""
    content: str
    """The answer, as plain text."""
    timestamp: datetime
    """When it was answered, in UTC."""
    metadata: ChatMetadata
    """What the answer rests on."""
