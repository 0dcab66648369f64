"""Insights of the running service, over the pool that is worked by hand, and over two months of a deal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Member
from tests.service.compliance.conftest import G1_LOANS, G1_NOTES, HEADER, g1_file, own_g1, write_book  # noqa: F401 - fixtures

URL = "/api/v1/insights"


def nominated(who: Member, workbook_id: str, is_nominated: bool = True) -> dict[str, Any]:
    """A workbook's nomination, changed."""
    answer = who.put(f"{URL}/nominations/{workbook_id}", json={"is_nominated": is_nominated})
    assert answer.status_code == 200, answer.text
    nomination: dict[str, Any] = answer.json()
    return nomination


def generated(who: Member, **body: Any) -> dict[str, Any]:
    """A new session."""
    answer = who.post(f"{URL}/generate", json=body)
    assert answer.status_code == 200, answer.text
    session: dict[str, Any] = answer.json()
    return session


def asked(who: Member, question: str, insight_id: str = "") -> dict[str, Any]:
    """The answer to a question."""
    answer = who.post(f"{URL}/{insight_id}/ask" if insight_id else f"{URL}/ask", json={"question": question})
    assert answer.status_code == 200, answer.text
    qa: dict[str, Any] = answer.json()
    return qa


def refusal(answer: Any) -> tuple[int, str]:
    """What a refusal says."""
    return answer.status_code, answer.json()["detail"]


@pytest.fixture
def analyst(owner: Member, own_g1: dict[str, Any]) -> Member:  # noqa: F811 - the fixture of that name
    """The owner of a fresh tenant with one nominated workbook, the worked pool, run once."""
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": own_g1["id"], "test_suite": "enhanced"})
    assert run.status_code == 200, run.text
    nominated(owner, own_g1["id"])
    return owner
