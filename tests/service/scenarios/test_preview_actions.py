"""Trades tried on a workbook without a scenario, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack
from tests.service.scenarios.conftest import BUY_NOVA, SELL_LIMA, URL, create_scenario

PREVIEW = f"{URL}/preview"


def asked(book: dict[str, Any], *trades: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body of a preview."""
    return {"base_workbook_id": book["id"], "trades": list(trades), **more}


def test_a_preview_says_what_a_simulation_says_and_keeps_nothing(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    tables = "scenarios", "scenario_trades", "scenario_results", "audit_log", "compliance_runs"
    known = {row[0] for row in stack.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    counted = [name for name in tables if name in known]
    assert {"scenarios", "audit_log"} <= set(counted)

    def counts() -> list[int]:
        where = "WHERE tenant_id = (SELECT tenant_id FROM workbooks WHERE id = %s)"
        return [stack.sql(f"SELECT count(*) FROM {name} {where}", [own_g1["id"]])[0][0] for name in counted]

    before = counts()
    answer = owner.post(PREVIEW, json=asked(own_g1, SELL_LIMA, BUY_NOVA))
    assert answer.status_code == 200, answer.text
    preview = answer.json()
    assert counts() == before
    scenario = create_scenario(owner, base_workbook_id=own_g1["id"], trades=[SELL_LIMA, BUY_NOVA])
    simulated = owner.post(f"{URL}/{scenario['id']}/simulate").json()
    apart = {"scenario_id", "status", "simulated_at"}
    assert {name: preview[name] for name in simulated if name not in apart} == {
        name: value for name, value in simulated.items() if name not in apart
    }
    assert preview.keys() - simulated.keys() == {"base_workbook_id", "execution_time_us"}
    assert preview["base_workbook_id"] == own_g1["id"]
    assert preview["total_tests"] == len(preview["results"]) > 10
    assert preview["execution_time_us"] > 0
    assert {result["impact_direction"] for result in preview["results"]} > {"improve"}


def test_without_trades_nothing_moves(owner: Member, own_g1: dict[str, Any]) -> None:
    preview = owner.post(PREVIEW, json={"base_workbook_id": own_g1["id"]}).json()
    assert preview["results"]
    assert {result["impact_direction"] for result in preview["results"]} == {"neutral"}


def test_the_suite_is_the_deals_unless_another_is_named(owner: Member, g1_file: Path) -> None:
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()["id"]
    book = owner.parsed(owner.upload(g1_file, deal_id=deal).json()["id"])
    assert owner.post(PREVIEW, json=asked(book, SELL_LIMA)).json()["test_suite"] == "enhanced"
    definition = {"tests": [{"id": "caa", "name": "Caa", "measure": "ccc", "agency": "a", "max": 8.0}]}
    assert owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": definition}).status_code == 200
    own = owner.post(PREVIEW, json=asked(book, SELL_LIMA)).json()
    assert (own["test_suite"], own["definition_version"]) == ("deal", 1)
    assert [result["test_id"] for result in own["results"]] == ["caa"]
    other_body = owner.post(PREVIEW, json=asked(book, SELL_LIMA, test_suite="standard")).json()
    assert other_body["test_suite"] == "standard"
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_suite": "standard"}).json()
    assert {result["test_id"]: result["current_value"] for result in other_body["results"]} == {
        result["test_id"]: result["current_value"] for result in run["results"]
    }
    answer = owner.post(PREVIEW, json=asked(book, SELL_LIMA, test_suite="gold"))
    assert (answer.status_code, answer.json()["detail"]) == (400, "Invalid test suite")
    (fault,) = answer.json()["errors"]
    assert (fault["loc"], fault["message"]) == (["body", "test_suite"], "the suites are standard, enhanced, deal")


def test_a_preview_refuses_what_a_simulation_refuses(
    stack: Stack, owner: Member, stranger: Member, own_g1: dict[str, Any]
) -> None:
    sell = {"trade_type": "sell", "par_value": 1e6, "price": 99.0}
    for trade, status, place in (
        ({"borrower_name": "Zulu"}, 400, ["body", "trades", "1"]),
        ({"borrower_name": "Lima", "par_value": 10e6 + 1}, 400, ["body", "trades", "1"]),
        ({}, 400, ["body", "trades", "1"]),
        ({"par_value": 0}, 422, ["body", "trades", "1", "par_value"]),
        ({"rating_agency_a": "green", "borrower_name": "Lima"}, 422, ["body", "trades", "1"]),
        ({"loan_data": {"note": "x" * 16_384}, "borrower_name": "Lima"}, 422, ["body", "trades", "1", "loan_data"]),
    ):
        answer = owner.post(PREVIEW, json=asked(own_g1, BUY_NOVA, sell | trade))
        fault = answer.json()["errors"][0]
        assert (answer.status_code, fault["loc"]) == (status, place), (trade, answer.text)
    for who, book in ((stranger, own_g1["id"]), (owner, str(uuid4()))):
        answer = who.post(PREVIEW, json={"base_workbook_id": book})
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    assert owner.post(PREVIEW, json={"trades": []}).status_code == 422
    assert owner.post(PREVIEW, json=asked(own_g1, BUY_NOVA) | {"more": 1}).status_code == 422
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [own_g1["id"]])
    answer = owner.post(PREVIEW, json=asked(own_g1, BUY_NOVA))
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_preview_has_the_limit_of_a_scenarios_trades(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    with stack.another_api(CUSHION_MAX_SCENARIO_TRADES="2") as url:
        answers = [owner.http.post(url + PREVIEW, json=asked(own_g1, *[BUY_NOVA] * count)) for count in (2, 3)]
    assert [answer.status_code for answer in answers] == [200, 403]
    assert answers[1].json()["detail"] == "Trade limit exceeded"
    assert owner.post(PREVIEW, json=asked(own_g1, *[BUY_NOVA] * 1_001)).status_code == 422


def test_a_viewer_previews(owner: Member, own_g1: dict[str, Any]) -> None:
    assert owner.invite("viewer").post(PREVIEW, json=asked(own_g1, SELL_LIMA)).status_code == 200
    assert owner.key("scenarios:read").post(PREVIEW, json=asked(own_g1, SELL_LIMA)).status_code == 200
    assert owner.key("compliance:read").post(PREVIEW, json=asked(own_g1, SELL_LIMA)).status_code == 403
