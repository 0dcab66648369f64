"""What is analysed of a workbook, and who words it.

Runs, months, comparisons, a language model beside it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from core.grounding.check import MARK
from tests.conftest import Member, Stack, register
from tests.model_server import INVENTED, honest, model_server
from tests.service.deals.conftest import added
from tests.service.deals.conftest import create_deal as deal_made
from tests.service.insights.conftest import G1_LOANS, G1_NOTES, HEADER, asked, generated, nominated
from tests.service.reconciliation.conftest import FOUND, Pair
from tests.service.reconciliation.conftest import files as files
from tests.service.reconciliation.conftest import pair as pair


def ran(who: Member, workbook_id: str, **body: Any) -> dict[str, Any]:
    answer = who.post("/api/v1/compliance/run", json={"workbook_id": workbook_id, "test_suite": "enhanced", **body})
    assert answer.status_code == 200, answer.text
    run: dict[str, Any] = answer.json()
    return run


def month(who: Member, deal: dict[str, Any], day: str, write_book: Any, *loans: Any) -> str:
    path: Path = write_book(f"g1-{day}", Holdings=[HEADER, *G1_LOANS, *loans], Tranches=G1_NOTES)
    return str(added(who, deal, (path.name, path.read_bytes()), as_of=day)["id"])


def details(who: Member, session: dict[str, Any]) -> list[dict[str, Any]]:
    return [who.get(f"/api/v1/insights/{insight['id']}").json() for insight in session["insights"]]


def test_a_month_is_seen_beside_the_one_before(owner: Member, write_book: Any) -> None:
    deal = deal_made(owner, name="Cairn")
    march = month(owner, deal, "2026-03-31", write_book)
    ran(owner, march)
    more = ("LX000099", "Nova", "Retail", 20e6, 99.0, "B1", "B+", 400, 0.5, None, None)
    april = month(owner, deal, "2026-04-30", write_book, more)
    run = ran(owner, april)
    nominated(owner, april)
    session = generated(owner)
    assert session["subjects"] == [{"workbook_id": april, "name": "Cairn", "run_id": run["id"], "as_of": "2026-04-30"}]
    books = {
        figure["recipe"].get("book", "newest")
        for detail in details(owner, session)
        for figure in detail["supporting_data"]["figures"]
    }
    assert books == {"newest", "earlier"}
    nominated(owner, march)
    both = generated(owner)
    assert {subject["name"] for subject in both["subjects"]} == {"Cairn 2026-03-31", "Cairn 2026-04-30"}


def test_breaks_with_the_trustee_are_those_that_still_stand(pair: Pair) -> None:
    """All of the pair but one, which is settled by a person's word."""
    member = pair.member
    pair.compare()
    pair.review(pair.issue("spread"), status="false_positive")
    nominated(member, pair.workbook_id)
    (breaks,) = [
        detail
        for detail in details(member, generated(member, stakeholder_type="operations"))
        if "trustee" in detail["summary"].lower() + detail["title"].lower()
    ]
    by_name = {figure["name"]: figure["value"] for figure in breaks["supporting_data"]["figures"]}
    standing = Counter(severity for field, severity, *_ in FOUND if field != "spread")
    assert by_name["still"] == standing.total()
    assert {name: by_name[f"discrepancies: {name}"] for name in standing} == standing


def test_figures_that_no_stored_run_has_are_told(owner: Member, own_g1: dict[str, Any]) -> None:
    nominated(owner, own_g1["id"])

    def stored_keys() -> list[str]:
        session = generated(owner)
        stored.append(session["subjects"][0]["run_id"])
        return [warning["message"] for warning in session["warnings"]]

    stored: list[str | None] = []
    assert ["no whole suite was run on it" in item for item in stored_keys()] == [True]
    ran(owner, own_g1["id"], test_ids=["ccc_bucket_pct"])
    assert ["no whole suite was run on it" in item for item in stored_keys()] == [True], (
        "a partial run says nothing of the rest"
    )
    whole = ran(owner, own_g1["id"])
    assert stored_keys() == []
    ran(owner, own_g1["id"], test_suite="enhanced", test_ids=["ccc_bucket_pct"])
    assert stored_keys() == []
    assert stored == [None, None, whole["id"], whole["id"]]
    recalculated = owner.post(f"/api/v1/workbooks/{own_g1['id']}/recalculate")
    assert recalculated.status_code in (200, 202), recalculated.text
    assert owner.parsed(own_g1["id"])["status"] == "ready"
    stored_keys()
    assert stored[-1] in (None, whole["id"]), "what a recalculation leaves as it was still is the run's"


def test_a_language_model_words_what_was_worked_out(stack: Stack, g1_file: Path) -> None:
    """Its name stands beside its words.

    What it invents is marked in an answer, and never becomes an insight.
    """
    with (
        model_server() as server,
        stack.another_api(CUSHION_LLM_URL=server.url("switch"), CUSHION_LLM_MODEL="small") as api,
    ):
        owner = register(api)
        nominated(owner, owner.uploaded(g1_file)["id"])
        for manner in ("honest", "inventing", "away"):
            server.says = lambda document, more=INVENTED * (manner == "inventing"): honest(document) + more
            server.working = manner != "away"
            qa = asked(owner, "What is the WARF?")
            insights = details(owner, generated(owner))
            by = "small" if manner == "honest" else "built-in"
            assert {insight["answered_by"] for insight in insights} == {by}
            assert all(insight["summary"].startswith("In short: ") == (manner == "honest") for insight in insights)
            assert qa["answered_by"] == ("built-in" if manner == "away" else "small")
            assert (MARK in qa["answer"]) == (manner == "inventing")
            assert ("model" in {warning["code"] for warning in qa["warnings"]}) == (manner == "inventing")
