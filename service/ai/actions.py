"""What the assistant does.

It answers one question over the data, in a language model's words where there is one.
"""

from __future__ import annotations

from service.ai.schema import ChatMessage, ChatMetadata, ChatRequest
from service.insights import shared as insights
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.wording.shared import word_answer


async def chat(ctx: Context, body: ChatRequest) -> ChatMessage:
    """Return the answer to a question, which is one of the day's."""
    workbook_id = body.context.workbook_id if body.context is not None else None
    async with insights.count_call(ctx, insights.questions_of_the_day(ctx)):
        answer, warnings = await insights.ask(ctx, body.query, None if workbook_id is None else [workbook_id])
    wording = await word_answer(ctx, answer)
    return ChatMessage(
        id=f"msg_{new_id().hex}",
        content=wording.text,
        timestamp=ctx.now(),
        metadata=ChatMetadata(
            workbook_id=workbook_id,
            data_points_referenced=answer.query is not None or answer.answered,
            answered=answer.answered,
            answered_by=wording.answered_by,
            unsupported_figures=wording.unsupported,
            understood=answer.understood,
            suggestions=answer.suggestions,
            warnings=warnings,
            supporting_data=answer.supporting_data,
        ),
    )
