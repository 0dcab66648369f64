"""What the assistant does: it answers one question over the data, in a language model's words where there is one."""

from __future__ import annotations

from service.ai.schema import ChatMessage, ChatMetadata, ChatRequest
from service.insights import shared as insights
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.wording.shared import answer_told


async def chat(ctx: Context, body: ChatRequest) -> ChatMessage:
    """The answer to a question, which is one of the day's."""
    workbook_id = body.context.workbook_id if body.context is not None else None
    async with insights.counted(ctx, insights.questions_of_the_day(ctx)):
        found, warnings = await insights.asked(ctx, body.query, None if workbook_id is None else [workbook_id])
    told = await answer_told(ctx, found)
    return ChatMessage(
        id=f"msg_{new_id().hex}",
        content=told.text,
        timestamp=ctx.now(),
        metadata=ChatMetadata(
            workbook_id=workbook_id,
            data_points_referenced=found.query is not None or found.answered,
            answered=found.answered,
            answered_by=told.answered_by,
            unsupported_figures=told.unsupported,
            understood=found.understood,
            suggestions=found.suggestions,
            warnings=warnings,
            supporting_data=found.supporting_data,
        ),
    )
