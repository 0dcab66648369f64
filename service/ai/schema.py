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

    workbook_id: Annotated[UUID | None, Meta(description="Unset: the workbooks that are nominated for insights")] = None


class ChatRequest(Struct, frozen=True, kw_only=True):
    """A question in plain English."""

    query: Annotated[str, Meta(min_length=1, max_length=QUESTION_LENGTH_MAX, pattern=r"\S")]
    context: ChatContext | None = None


class ChatMetadata(Struct, frozen=True, kw_only=True):
    """What a message rests on."""

    workbook_id: UUID | None
    """Null where the question was about the nominated workbooks."""
    data_points_referenced: bool
    """That the workbooks' own data were read for the message."""
    answered: bool
    """False where the question was not understood, or the data cannot answer it; the message says which."""
    answered_by: str
    """built-in, or the language model that worded the message."""
    unsupported_figures: tuple[str, ...]
    """Figures of a language model that the data do not have; the message marks each."""
    understood: str
    """The question as it was taken, in words."""
    suggestions: list[str]
    """Questions that the same data answer, where this one was not answered."""
    warnings: list[Remark]
    supporting_data: dict[str, Any]
    """The figures of the answer, exactly, and which cells, loans and tests they come of."""


class ChatMessage(Struct, frozen=True, kw_only=True):
    """What the assistant says: plain text."""

    id: str
    role: Literal["assistant"] = "assistant"
    content: str
    timestamp: datetime
    metadata: ChatMetadata
