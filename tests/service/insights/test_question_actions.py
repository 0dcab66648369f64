"""Questions over HTTP.

Which are refused, what comes of the others, who finds them again.
"""

from __future__ import annotations

from tests.conftest import Member
from tests.service.insights.conftest import URL, asked, generated, refusal
from tests.service.insights.conftest import analyst as analyst  # a fixture


def test_what_is_no_question(analyst: Member) -> None:
    """By its length in characters, before any insight is looked for.

    And none of them is kept.
    """
    insight_id = generated(analyst)["insights"][0]["id"]
    for path in (f"{URL}/ask", f"{URL}/{insight_id}/ask"):
        for text in ("", "   ", "\n\t", "w" * 1001, "é" * 1001):
            assert refusal(analyst.post(path, json={"question": text})) == (400, "Invalid question")
        for body in ({}, {"question": None}, {"question": 1}, {"question": "a\u0000b"}):
            assert analyst.post(path, json=body).status_code == 422
    assert refusal(analyst.post(f"{URL}/ins_0/ask", json={"question": "WARF?"})) == (404, "Insight not found")
    assert analyst.get(f"{URL}/questions/history").json() == []
    assert asked(analyst, "What is the WARF of the portfolio? " + " " * 965)["answer"]


def test_an_answer_has_its_figure_and_what_that_rests_on(analyst: Member) -> None:
    qa = asked(analyst, "How many loans are there?")
    assert qa["answered"] is True
    assert qa["insight_id"] is None
    assert "13" in qa["answer"] or "12" in qa["answer"]
    assert qa["understood"]
    assert qa["answered_by"] == "built-in"
    assert qa["supporting_data"]["figures"][0]["value"] in (12, 13)


def test_what_is_not_understood_is_said_with_questions_that_are(analyst: Member) -> None:
    qa = asked(analyst, "Will it rain in Lisbon tomorrow?")
    assert qa["answered"] is False
    assert len(qa["suggestions"]) == 3
    for suggestion in qa["suggestions"]:
        assert asked(analyst, suggestion)["answered"] is True, suggestion


def test_questions_are_found_again_by_who_asked(analyst: Member, stranger: Member) -> None:
    session = generated(analyst)
    insight_id = session["insights"][0]["id"]
    asked(analyst, "What is the WARF?")
    about = asked(analyst, "What is the WARF? And this is it", insight_id)
    assert about["insight_id"] == insight_id
    history = analyst.get(f"{URL}/questions/history").json()
    assert [item["insight_id"] for item in history] == [insight_id, None], "the newest first"
    assert history[0] == {name: value for name, value in about.items() if name != "supporting_data"}
    assert analyst.get(f"{URL}/questions/history?limit=1").json() == history[:1]
    assert analyst.get(f"{URL}/{insight_id}").json()["recent_questions"] == history[:1]
    for who in (stranger, analyst.invite("viewer")):
        assert who.get(f"{URL}/questions/history").json() == []
    assert analyst.post(f"{URL}/regenerate").status_code == 200
    assert analyst.get(f"{URL}/questions/history").json() == history, "those of a replaced insight, too"


def test_without_nominated_workbooks_the_answer_says_what_to_do(owner: Member) -> None:
    qa = asked(owner, "What is the WARF?")
    assert qa["answer"].startswith("There is no workbook to ask about yet: upload one")
    assert (qa["answered"], qa["suggestions"], qa["warnings"]) == (False, [], [])
    (kept,) = owner.get(f"{URL}/questions/history?limit=100").json()
    assert kept["answer"] == qa["answer"]
    for limit in ("0", "101", "x"):
        assert owner.get(f"{URL}/questions/history?limit={limit}").status_code == 422
