"""Questions about insights, and about all that is nominated."""

from __future__ import annotations

from uuid import UUID

from core.questions.answer import QUESTION_LENGTH_MAX
from service.insights import shared, store
from service.insights.schema import QA, InvalidQuestion, QuestionItem, QuestionRequest, Remark
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.wording.shared import word_answer


async def ask(ctx: Context, body: QuestionRequest, insight_id: str | None = None) -> QA:
    """Answer a question about an insight, or about nominated workbooks."""
    if not body.question.strip() or len(body.question) > QUESTION_LENGTH_MAX:
        message = f"has {len(body.question):,} characters; expected 1 to {QUESTION_LENGTH_MAX:,}, and words among them"
        raise InvalidQuestion.at(["body", "question"], message)
    about: list[UUID] | None = None
    if insight_id is not None:
        about = (await store.insight(ctx, insight_id)).workbook_ids
    async with shared.count_call(ctx, shared.questions_of_the_day(ctx)):
        answer, warnings = await shared.ask(ctx, body.question, about)
    wording = await word_answer(ctx, answer)
    if wording.unsupported:
        message = f"{wording.answered_by} gives figures that the data do not have: {', '.join(wording.unsupported)}"
        warnings.append(Remark(code="model", message=message))
    item = QuestionItem(
        id=new_id(),
        question=body.question,
        answer=wording.text,
        insight_id=insight_id,
        asked_at=ctx.now(),
        answered=answer.answered,
        understood=answer.understood,
        suggestions=answer.suggestions,
        warnings=warnings,
        answered_by=wording.answered_by,
    )
    await store.keep_question(ctx, item)
    ctx.set_subject("insight_question", item.id, insight_id=insight_id, answered=item.answered)
    return QA(**{name: getattr(item, name) for name in item.__struct_fields__}, supporting_data=answer.supporting_data)
