"""Nominations and sessions over HTTP.

What is analysed, for whom, how often, and who sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member, Stack, register
from tests.records import BOOK, small_book
from tests.service.deals.conftest import LOANS, NOTES, added
from tests.service.deals.conftest import create_deal as deal_made
from tests.service.insights.conftest import URL, asked, generated, nominated, refusal
from tests.service.insights.conftest import analyst as analyst  # a fixture

CATEGORIES = {"financial_health", "risk_compliance", "trends_forecasts", "portfolio_composition", "data_quality"}


def listed(who: Member) -> dict[str, Any]:
    """Nominated workbooks, and since when."""
    answer = who.get(f"{URL}/nominations")
    assert answer.status_code == 200
    assert all((item["nominated_at"] is not None) == item["is_nominated"] for item in answer.json())
    return {item["workbook_id"]: item["nominated_at"] for item in answer.json() if item["is_nominated"]}


def book(who: Member, tmp_path: Path) -> str:
    path = tmp_path / f"{uuid4().hex}.xlsx"
    path.write_bytes(small_book(BOOK))
    return str(who.uploaded(path)["id"])


# Nominations ----------------------------------------------------------------------------------------------------------


def test_a_nomination_is_toggled(owner: Member, stranger: Member, stack: Stack, tmp_path: Path) -> None:
    assert owner.get(f"{URL}/nominations").json() == []
    first = book(owner, tmp_path)
    (bare,) = owner.get(f"{URL}/nominations").json()
    assert (bare["workbook_id"], bare["is_nominated"], bare["nominated_at"]) == (first, False, None)
    on = nominated(owner, first)
    assert set(on) == {"workbook_id", "workbook_name", "is_nominated", "nominated_at"}
    assert nominated(owner, first) == on, "since when it is nominated stays"
    assert listed(owner) == {first: on["nominated_at"]}
    off = nominated(owner, first, False)
    assert (off["is_nominated"], off["nominated_at"]) == (False, None)
    for who, workbook_id in ((owner, uuid4()), (owner, "x"), (stranger, first)):
        answer = who.put(f"{URL}/nominations/{workbook_id}", json={"is_nominated": True})
        assert refusal(answer) == (404, "Workbook not found")
    rows = stack.sql(
        "SELECT details ->> 'is_nominated' FROM audit_log WHERE tenant_id = %s AND action = 'nomination.updated'"
        " ORDER BY sequence",
        [owner.tenant_id],
    )
    assert rows == [("true",), ("false",)], "what changes nothing is no event"


def test_many_are_nominated_together_or_none(owner: Member, stranger: Member, tmp_path: Path) -> None:
    first, second = book(owner, tmp_path), book(owner, tmp_path)
    bulk = f"{URL}/nominations/bulk"
    for strange in (str(uuid4()), book(stranger, tmp_path)):
        refused = owner.post(bulk, json={"workbook_ids": [first, strange], "is_nominated": True})
        assert refusal(refused) == (404, "Workbook not found")
    assert listed(owner) == {}
    answer = owner.post(bulk, json={"workbook_ids": [second, first, second], "is_nominated": True})
    assert answer.json() == {"updated_count": 2, "workbook_ids": [second, first], "is_nominated": True}
    assert set(listed(owner)) == {first, second}
    assert owner.post(bulk, json={"workbook_ids": [second], "is_nominated": False}).json()["updated_count"] == 1
    assert set(listed(owner)) == {first}
    assert owner.post(bulk, json={"workbook_ids": [], "is_nominated": True}).json()["updated_count"] == 0
    assert owner.post(bulk, json={"workbook_ids": ["x"], "is_nominated": True}).status_code == 422


@pytest.fixture(scope="module")
def small(stack: Stack) -> Iterator[str]:
    """An API for tenants of the free tier, with least figures."""
    figures = {"CUSHION_INSIGHTS_PER_DAY": "1 9 9 9", "CUSHION_QUESTIONS_PER_DAY": "1 9 9 9"}
    with stack.another_api(CUSHION_DEFAULT_TIER="free", CUSHION_MAX_NOMINATIONS="1", **figures) as url:
        yield url


def test_there_is_a_limit(small: str, tmp_path: Path) -> None:
    owner = register(small)
    first, second = book(owner, tmp_path), book(owner, tmp_path)
    nominated(owner, first)
    answer = owner.put(f"{URL}/nominations/{second}", json={"is_nominated": True})
    assert refusal(answer) == (403, "Nomination limit exceeded")
    assert "the limit is 1" in answer.json()["errors"][0]["message"]
    assert set(listed(owner)) == {first}


def test_a_deals_next_workbook_takes_over(owner: Member) -> None:
    deal = deal_made(owner, name="Cairn")

    def month(day: str) -> str:
        return str(added(owner, deal, ("loans.csv", LOANS), ("notes.csv", NOTES), as_of=day)["id"])

    march = month("2026-03-31")
    since = nominated(owner, march)["nominated_at"]
    month("2026-02-28")
    assert listed(owner) == {march: since}, "an earlier month does not take over, whenever it comes"
    april = month("2026-04-30")
    assert listed(owner) == {april: since}
    nominated(owner, march)
    assert set(listed(owner)) == {march, april}, "both months may be looked at"
    may = month("2026-05-31")
    assert set(listed(owner)) == {may}
    assert owner.delete(f"/api/v1/workbooks/{may}").status_code == 204
    assert set(listed(owner)) == {march, april}, "as if it had never come"
    assert nominated(owner, april, False)["is_nominated"] is False
    assert set(listed(owner)) == {march}


# Sessions -------------------------------------------------------------------------------------------------------------


def test_a_session_is_generated_and_read(analyst: Member, stack: Stack) -> None:
    session = generated(analyst)
    assert session["status"] == "completed"
    assert session["regeneration_count"] == 0
    assert session["stakeholder_type"] == "analyst"
    (subject,) = session["subjects"]
    assert (subject["name"], subject["as_of"]) == ("g1.xlsx", "2026-03-31")
    assert subject["run_id"] is not None
    assert len(session["insights"]) > 3
    for insight in session["insights"]:
        assert insight["category"] in CATEGORIES
        assert 0 <= insight["confidence"] <= 1
        assert 1 <= insight["priority"] <= 5
        assert insight["is_taster"] is False
        assert insight["id"].startswith("ins_")
        detail = analyst.get(f"{URL}/{insight['id']}").json()
        assert {name: detail[name] for name in insight} == insight
        assert detail["methodology"]
        assert detail["supporting_data"]["figures"] or detail["supporting_data"]["remarks"]
        assert detail["workbook_ids"] == [subject["workbook_id"]]
        assert detail["recent_questions"] == []
    assert analyst.get(f"{URL}/sessions/current").json() == session
    assert analyst.get(f"{URL}/sessions/{session['session_id']}").json() == session
    rows = stack.sql(
        "SELECT resource_id, details ->> 'insights' FROM audit_log"
        " WHERE tenant_id = %s AND action = 'insight.generated'",
        [analyst.tenant_id],
    )
    assert rows == [(session["session_id"], str(len(session["insights"])))]


def test_a_session_is_its_users_own(analyst: Member, stranger: Member) -> None:
    session = generated(analyst)
    colleague = analyst.invite("viewer")
    for who in (colleague, stranger):
        assert refusal(who.get(f"{URL}/sessions/current")) == (404, "No active session")
        assert refusal(who.get(f"{URL}/sessions/{session['session_id']}")) == (404, "Session not found")
        insight_id = session["insights"][0]["id"]
        assert refusal(who.get(f"{URL}/{insight_id}")) == (404, "Insight not found")
        refused = who.post(f"{URL}/{insight_id}/ask", json={"question": "What is the WARF?"})
        assert refusal(refused) == (404, "Insight not found")
        assert refusal(who.post(f"{URL}/regenerate")) == (400, "No active session")
    assert analyst.key("workbooks:read").get(f"{URL}/sessions/current").json() == session, "a key has its creator's"
    assert generated(colleague)["session_id"] != session["session_id"]
    assert analyst.get(f"{URL}/sessions/current").json() == session


def test_what_cannot_be_generated(owner: Member, tmp_path: Path) -> None:
    assert refusal(owner.post(f"{URL}/generate", json={})) == (400, "No nominated workbooks")
    assert refusal(owner.post(f"{URL}/generate")) == (400, "No nominated workbooks"), "the body may be left out"
    for kind in ("manager", "Analyst", ""):
        answer = owner.post(f"{URL}/generate", json={"stakeholder_type": kind})
        assert refusal(answer) == (400, "Invalid stakeholder type")
    assert owner.post(f"{URL}/generate", json={"stakeholder_type": 1}).status_code == 422
    assert refusal(owner.post(f"{URL}/regenerate")) == (400, "No active session")
    workbook_id = book(owner, tmp_path)
    nominated(owner, workbook_id)
    assert owner.delete(f"/api/v1/workbooks/{workbook_id}").status_code == 204
    assert refusal(owner.post(f"{URL}/generate", json={})) == (400, "No nominated workbooks")


def test_what_cannot_be_read_is_left_out_and_told(
    owner: Member, own_g1: dict[str, Any], stack: Stack, tmp_path: Path
) -> None:
    second = book(owner, tmp_path)
    nominated(owner, own_g1["id"])
    nominated(owner, second)
    stack.sql("UPDATE workbooks SET status = 'processing' WHERE id = %s", [second])
    session = generated(owner)
    (subject,) = session["subjects"]
    assert (subject["workbook_id"], subject["run_id"]) == (own_g1["id"], None)
    left_out, rests_on = session["warnings"]
    assert left_out == {"code": "left_out", "message": f"Workbook {second} is left out: Workbook is not ready."}
    assert (rests_on["code"], "no whole suite was run" in rests_on["message"]) == ("rests_on", True)
    assert owner.get("/api/v1/compliance/history").json()["total"] == 0, "what is run for it is not stored"
    nominated(owner, own_g1["id"], False)
    assert refusal(owner.post(f"{URL}/generate", json={})) == (409, "Workbook is not ready")


def test_readers_are_told_different_things(analyst: Member) -> None:
    kinds = ("executive", "finance", "operations", "analyst")
    summaries = {
        tuple(insight["summary"] for insight in generated(analyst, stakeholder_type=kind)["insights"]) for kind in kinds
    }
    assert len(summaries) == len(kinds)


def test_regenerating_replaces_three_times(analyst: Member) -> None:
    first = generated(analyst)
    seen = [tuple(insight["title"] for insight in first["insights"])]
    for count in (1, 2, 3):
        again = analyst.post(f"{URL}/regenerate").json()
        assert (again["session_id"], again["regeneration_count"]) == (first["session_id"], count)
        assert again["created_at"] == first["created_at"]
        seen.append(tuple(insight["title"] for insight in again["insights"]))
    assert len(set(seen)) == 4, "another angle each time"
    assert refusal(analyst.get(f"{URL}/{first['insights'][0]['id']}")) == (404, "Insight not found")
    fourth = analyst.post(f"{URL}/regenerate")
    assert refusal(fourth) == (429, "Regeneration limit reached")
    assert fourth.json()["error"] == "rate_limit_exceeded"
    assert analyst.get(f"{URL}/sessions/current").json() == again, "as it was"
    assert generated(analyst)["regeneration_count"] == 0


def test_of_two_at_once_one_regenerates(analyst: Member) -> None:
    generated(analyst)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: analyst.post(f"{URL}/regenerate").status_code, range(4)))
    count = analyst.get(f"{URL}/sessions/current").json()["regeneration_count"]
    assert count == answers.count(200) >= 1
    assert set(answers) <= {200, 409, 429}


def test_a_tenant_generates_and_asks_so_often_a_day(small: str, g1_file: Path) -> None:
    owner = register(small)
    assert refusal(owner.post(f"{URL}/generate", json={})) == (400, "No nominated workbooks")
    nominated(owner, owner.uploaded(g1_file)["id"])
    generated(owner)
    colleague = owner.invite("analyst")
    for who in (owner, colleague):
        answer = who.post(f"{URL}/generate", json={})
        assert refusal(answer) == (429, "Rate limit exceeded")
        assert 86_000 < int(answer.headers["retry-after"]) <= 86_400
    assert owner.post(f"{URL}/regenerate").status_code == 200, "which takes nothing of the day"
    asked(owner, "What is the WARF?")
    answer = colleague.post(f"{URL}/ask", json={"question": "What is the WARF?"})
    assert refusal(answer) == (429, "Rate limit exceeded")


def test_a_taster_shows_what_it_says_and_no_evidence(small: str, g1_file: Path) -> None:
    owner = register(small)
    nominated(owner, owner.uploaded(g1_file)["id"])
    insights = generated(owner)["insights"]
    assert insights
    assert all(insight["is_taster"] for insight in insights)
    detail = owner.get(f"{URL}/{insights[0]['id']}").json()
    assert detail["summary"] == insights[0]["summary"]
    assert detail["methodology"]
    assert {"subject", "as_of", "tests"} <= set(detail["supporting_data"])
    assert not {"figures", "loans", "columns"} & set(detail["supporting_data"])


def test_what_takes_too_long_is_refused_and_costs_nothing(stack: Stack, g1_file: Path) -> None:
    settings = {"CUSHION_INSIGHT_SECONDS": "0.000001", "CUSHION_INSIGHTS_PER_DAY": "1 1 1 1"}
    with stack.another_api(**settings, CUSHION_QUESTIONS_PER_DAY="1 1 1 1") as url:
        owner = register(url)
        nominated(owner, owner.uploaded(g1_file)["id"])
        for _ in range(2):
            assert refusal(owner.post(f"{URL}/generate", json={})) == (422, "Run takes too long")
            answer = owner.post(f"{URL}/ask", json={"question": "What is the WARF?"})
            assert refusal(answer) == (422, "Run takes too long")
        assert refusal(owner.get(f"{URL}/sessions/current")) == (404, "No active session")
        assert owner.get(f"{URL}/questions/history").json() == []
