"""The assistant's row."""

from __future__ import annotations

from service.ai import actions
from service.ai.schema import ChatMessage, ChatRequest
from service.insights.schema import UNANSWERED
from service.platform.route.api import Area
from service.platform.unit.context import Context

area = Area("/api/v1/ai", tag="assistant", scope="workbooks")


@area.post("/chat", access="workbooks:read", errors=UNANSWERED, flag="ai_chat", heavy=True, summary="Ask assistant")
async def chat(ctx: Context, body: ChatRequest) -> ChatMessage:
    """Answer a question over a workbook, or over the nominated workbooks.

    The answer is about loans, tests and months. Each figure of the answer comes from the data. A language model may
    word it, and a figure of the model's own is marked. It is one of the questions that the tenant has a day. Without a
    workbook to ask about, the message says what to nominate or to upload.
    """
    return await actions.chat(ctx, body)
