"""Scenarios over HTTP: the record, its trades, its states, and what comes of a simulation."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack
from tests.service.scenarios.conftest import BUY_NOVA, SELL_LIMA, URL, made

# The record ---------------------------------------------------------------------------------------------------------


def test_a_scenario_has_its_fields_and_defaults(owner: Member) -> None:
    scenario = made(owner)
    assert scenario | {"id": 0, "created_at": 0, "updated_at": 0} == {
        "id": 0,
        "name": "Swap",
        "description": None,
        "status": "draft",
        "base_workbook_id": None,
        "trade_count": 0,
        "created_by": owner.email,
        "created_at": 0,
        "updated_at": 0,
    }
    path = f"{URL}/{scenario['id']}"
    assert owner.get(path).json() == scenario
    changed = owner.patch(path, json={"name": "x" * 200, "description": "y" * 2000}).json()
    assert changed | {"updated_at": 0} == scenario | {"name": "x" * 200, "description": "y" * 2000, "updated_at": 0}
    assert owner.patch(path, json={}).json() == changed, "nothing given, nothing changed"
    assert owner.patch(path, json={"description": None}).json()["description"] is None
    for wrong in ({"name": None}, {"name": ""}, {"name": " "}, {"name": "x" * 201}, {"description": "y" * 2001}):
        assert owner.patch(path, json=wrong).status_code == 422, wrong
        assert owner.post(URL, json={"name": "Swap"} | wrong).status_code == 422, wrong
    gone = {"base_workbook_id": str(uuid4())}
    answers = owner.patch(path, json=gone), owner.post(URL, json={"name": "Swap"} | gone)
    assert {(answer.status_code, answer.json()["detail"]) for answer in answers} == {(404, "Workbook not found")}


def test_the_list_counts_its_pages(owner: Member, scenario: dict[str, Any]) -> None:
    names = [*(made(owner, name=name)["name"] for name in "abc")][::-1]
    first, second = (owner.get(URL, params={"page_size": 3, "page": page}).json() for page in (1, 2))
    assert [one["name"] for one in first["items"] + second["items"]] == [*names, "Swap"]
    assert second | {"items": []} == {"items": [], "total": 4, "page": 2, "page_size": 3, "pages": 2}
    assert second["items"] == [scenario]
    found = {status: owner.get(URL, params={"status_filter": status}).json() for status in ("draft", "completed")}
    assert {status: (page["total"], page["pages"]) for status, page in found.items()} == {
        "draft": (4, 1),
        "completed": (0, 0),
    }
    assert owner.get(URL, params={"status_filter": "done"}).status_code == 422


def test_scenarios_and_trades_have_limits(stack: Stack, owner: Member, scenario: dict[str, Any]) -> None:
    with stack.another_api(CUSHION_MAX_SCENARIOS="1", CUSHION_MAX_SCENARIO_TRADES="2") as url:
        for path, body, detail in (
            (URL, {"name": "One more"}, "Scenario limit exceeded"),
            (URL, {"name": "x", "trades": [BUY_NOVA] * 3}, "Trade limit exceeded"),
            (f"{URL}/{scenario['id']}/trades", BUY_NOVA, "Trade limit exceeded"),
        ):
            answer = owner.http.post(url + path, json=body)
            assert (answer.status_code, answer.json()["detail"]) == (403, detail)


# Trades -------------------------------------------------------------------------------------------------------------


def test_trades_stand_in_the_order_in_which_they_came(owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    answer = owner.post(f"{path}/trades", json=BUY_NOVA | {"maturity_date": "2031-06-30"})
    assert answer.status_code == 201, answer.text
    trades = owner.get(f"{path}/trades").json()
    assert trades[2] == answer.json()
    assert [{name: trade[name] for name in SELL_LIMA} for trade in trades[:1]] == [SELL_LIMA]
    assert [trade["borrower_name"] for trade in trades] == ["Lima", "Nova", "Nova"]
    assert {trade["scenario_id"] for trade in trades} == {scenario["id"]}
    assert trades[2]["maturity_date"] == "2031-06-30"
    assert owner.get(path).json()["trade_count"] == 3
    assert owner.delete(f"{path}/trades/{trades[1]['id']}").status_code == 204
    assert owner.get(f"{path}/trades").json() == [trades[0], trades[2]]
    answer = owner.delete(f"{path}/trades/{trades[1]['id']}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Trade not found")
    assert owner.get(path).json()["trade_count"] == 2


def test_a_trade_that_cannot_be_is_refused_with_its_place(owner: Member, scenario: dict[str, Any]) -> None:
    wrong = [
        ({"trade_type": "short"}, ["trade_type"]),
        ({"par_value": 0}, ["par_value"]),
        ({"par_value": -1}, ["par_value"]),
        ({"par_value": "1"}, ["par_value"]),
        ({"price": -0.5}, ["price"]),
        ({"maturity_date": "soon"}, ["maturity_date"]),
        ({"loan_data": {"par_value": 1}}, ["loan_data", "par_value"]),
        ({"loan_data": {"colour": "red"}}, ["loan_data", "colour"]),
        ({"loan_data": {"country": ["US"]}}, ["loan_data"]),
    ]
    told = []
    for trade, place in wrong:
        alone = owner.post(f"{URL}/{scenario['id']}/trades", json=BUY_NOVA | trade)
        among = owner.post(URL, json={"name": "x", "trades": [SELL_LIMA, BUY_NOVA | trade]})
        places = [answer.json().get("errors", [{}])[0].get("loc") for answer in (alone, among)]
        if (alone.status_code, among.status_code, places[0]) != (422, 422, ["body", *place]):
            told.append((trade, alone.text, among.text))
    assert told == []
    assert owner.get(f"{URL}/{scenario['id']}").json() == scenario


# States -------------------------------------------------------------------------------------------------------------


def test_a_draft_keeps_its_workbook(owner: Member, own_g1: dict[str, Any], scenario: dict[str, Any]) -> None:
    book, path = f"/api/v1/workbooks/{own_g1['id']}", f"{URL}/{scenario['id']}"
    answer = owner.delete(book)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook in use")
    assert owner.patch(path, json={"base_workbook_id": None}).json()["base_workbook_id"] is None
    assert owner.delete(book).status_code == 204
    answer = owner.patch(path, json={"base_workbook_id": own_g1["id"]})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")


def test_a_scenario_goes_with_its_trades(stack: Stack, owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    assert owner.delete(path).status_code == 204
    assert stack.sql("SELECT count(*) FROM scenario_trades WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    for answer in (owner.get(path), owner.delete(path), owner.get(f"{path}/trades"), owner.patch(path, json={})):
        assert (answer.status_code, answer.json()["detail"]) == (404, "Scenario not found")
    feed = owner.get("/api/v1/activity", params={"entity_type": "scenario"}).json()["items"]
    assert [(one["action"], one["entity_name"]) for one in feed] == [
        ("scenario.deleted", "Swap"),
        ("scenario.created", "Swap"),
    ]
