"""What the assistant does: it answers one question over the data, in a language model's words where there is one."""

from __future__ import annotations

from service.ai.schema import ChatMessage, ChatMetadata, ChatRequest
from service.insights import shared as insights
from service.insights.schema import Remark
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.wording.shared import answer_told


async def chat(ctx: Context, body: ChatRequest) -> ChatMessage:
    """The answer to a question, which is one of the day's."""
    workbook_id = body.context.workbook_id if body.context is not None else None
    async with insights.counted(ctx, insights.questions_of_the_day(ctx)):
        gathered = await insights.gather(ctx, None if workbook_id is None else [workbook_id])
        found = await insights.answer(ctx, body.query, gathered)
    told = await answer_told(ctx, found)
    return ChatMessage(
        id=f"msg_{new_id().hex}",
        content=told.text,
        timestamp=ctx.now(),
        metadata=ChatMetadata(
            workbook_id=workbook_id,
            data_points_referenced=True,
            answered=found.answered,
            answered_by=told.answered_by,
            unsupported_figures=told.unsupported,
            understood=found.understood,
            suggestions=found.suggestions,
            warnings=[*gathered.warnings, *(Remark(code="assumed", message=one) for one in found.warnings)],
            supporting_data=found.supporting_data,
        ),
    )
