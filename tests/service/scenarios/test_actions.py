"""Scenarios over HTTP.

The record, its trades, its states, and what comes of a simulation.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from tests.conftest import Member, Stack
from tests.service.scenarios.conftest import BUY_NOVA, SELL_LIMA, URL, create_scenario

# The record ---------------------------------------------------------------------------------------------------------


def test_a_scenario_has_its_fields_and_defaults(owner: Member) -> None:
    scenario = create_scenario(owner)
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
        "simulation": None,
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
    names = [*(create_scenario(owner, name=name)["name"] for name in "abc")][::-1]
    first, second = (owner.get(URL, params={"page_size": 3, "page": page}).json() for page in (1, 2))
    assert [item["name"] for item in first["items"] + second["items"]] == [*names, "Swap"]
    assert second | {"items": []} == {"items": [], "total": 4, "page": 2, "page_size": 3, "pages": 2}
    assert second["items"] == [{name: scenario[name] for name in scenario if name != "simulation"}]
    by_status = {status: owner.get(URL, params={"status_filter": status}).json() for status in ("draft", "completed")}
    assert {status: (page["total"], page["pages"]) for status, page in by_status.items()} == {
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
        ({"loan_data": {"country": ["US"]}}, []),
        ({"loan_data": {f"k{at}": at for at in range(65)}}, ["loan_data"]),
        ({"loan_data": {"note": "x" * 16_384}}, ["loan_data"]),
        ({"rating_agency_a": "green"}, []),
    ]
    lines = []
    for trade, place in wrong:
        alone = owner.post(f"{URL}/{scenario['id']}/trades", json=BUY_NOVA | trade)
        among = owner.post(URL, json={"name": "x", "trades": [SELL_LIMA, BUY_NOVA | trade]})
        places = [answer.json().get("errors", [{}])[0].get("loc") for answer in (alone, among)]
        if (alone.status_code, among.status_code, places[0]) != (422, 422, ["body", *place]):
            lines.append((trade, alone.text, among.text))
    assert lines == []
    assert owner.get(f"{URL}/{scenario['id']}").json() == scenario


def test_loan_data_takes_any_key_and_says_which_do_nothing(owner: Member, scenario: dict[str, Any]) -> None:
    data = {
        "country": "US", "countri": "FR", "colour": "red", "desk": {"name": "NY", "books": [1, None]}, "price": 12,
        "currency": "EUR", "\u00e9t\u00e9": True, "LoanX_ID": "LX1",
    }  # fmt: skip
    answer = {
        "countri": "loan_data has the key 'countri', which does nothing: it is no field of standard_clo; "
        "did you mean country?",
        "colour": "loan_data has the key 'colour', which does nothing: it is no field of standard_clo",
        "desk": "loan_data has the key 'desk', which does nothing: it is no field of standard_clo",
        "price": "loan_data.price does nothing: price is a field of the trade itself",
        "currency": "loan_data.currency does nothing: a trade is on the deal's day and in its currency",
        "été": "loan_data has the key 'été', which does nothing: it is no field of standard_clo",
        "LoanX_ID": "loan_data has the key 'LoanX_ID', which does nothing: it is no field of standard_clo; "
        "did you mean loanx_id?",
    }
    path = f"{URL}/{scenario['id']}"
    before = owner.post(f"{path}/simulate").json()
    plain = owner.post(f"{path}/trades", json=BUY_NOVA | {"loan_data": {"country": "US"}}).json()
    assert plain["warnings"] == []
    with_plain = owner.post(f"{path}/simulate").json()
    assert owner.delete(f"{path}/trades/{plain['id']}").status_code == 204
    trade = owner.post(f"{path}/trades", json=BUY_NOVA | {"loan_data": data})
    assert trade.status_code == 201, trade.text
    assert trade.json()["loan_data"] == data
    assert [(warning["code"], warning["message"]) for warning in trade.json()["warnings"]] == [
        ("loan_data", message) for message in answer.values()
    ]
    assert owner.get(f"{path}/trades").json()[-1] == trade.json()
    simulated = owner.post(f"{path}/simulate").json()
    assert simulated["results"] == with_plain["results"] != before["results"], "the rest does nothing"
    messages = [warning["message"] for warning in simulated["warnings"] if warning["code"] == "loan_data"]
    number = len(owner.get(f"{path}/trades").json())
    assert messages == [f"trade {number}: {message}" for message in answer.values()]


# States -------------------------------------------------------------------------------------------------------------


def test_a_draft_keeps_its_workbook(owner: Member, own_g1: dict[str, Any], scenario: dict[str, Any]) -> None:
    book, path = f"/api/v1/workbooks/{own_g1['id']}", f"{URL}/{scenario['id']}"
    answer = owner.delete(book)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook in use")
    assert owner.patch(path, json={"base_workbook_id": None}).json()["base_workbook_id"] is None
    assert owner.delete(book).status_code == 204
    answer = owner.patch(path, json={"base_workbook_id": own_g1["id"]})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")


def test_states_follow_what_is_done(owner: Member, own_g1: dict[str, Any], scenario: dict[str, Any]) -> None:
    path, book = f"{URL}/{scenario['id']}", f"/api/v1/workbooks/{own_g1['id']}"

    def state() -> tuple[str, bool, int]:
        """Status, whether there is a simulation, how many results."""
        detail = owner.get(path).json()
        return detail["status"], detail["simulation"] is not None, len(owner.get(f"{path}/results").json())

    def simulated() -> None:
        answer = owner.post(f"{path}/simulate")
        assert answer.status_code == 200, answer.text
        assert state() == ("completed", True, len(answer.json()["results"]))

    assert state() == ("draft", False, 0)
    simulated()
    simulated()  # a completed one, too: the workbook may have changed
    trade = owner.post(f"{path}/trades", json=BUY_NOVA).json()
    assert state() == ("draft", False, 0)
    simulated()
    assert owner.delete(f"{path}/trades/{trade['id']}").status_code == 204
    assert state() == ("draft", False, 0)
    simulated()
    assert owner.patch(path, json={"name": "Other", "base_workbook_id": own_g1["id"]}).status_code == 200
    assert state()[0] == "completed", "the same base, and another name"
    assert owner.patch(path, json={"base_workbook_id": None}).json()["status"] == "draft"
    assert state() == ("draft", False, 0)
    owner.patch(path, json={"base_workbook_id": own_g1["id"]})
    simulated()
    assert owner.delete(book).status_code == 204, "a completed one keeps no workbook"
    assert state()[0] == "completed"
    assert owner.post(f"{path}/simulate").json()["detail"] == "Workbook not found"
    assert owner.post(f"{path}/trades", json=BUY_NOVA).status_code == 201
    assert owner.get(path).json()["base_workbook_id"] is None, "its base is gone"


def test_who_simulates_is_alone(stack: Stack, owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    simulated = owner.post(f"{path}/simulate").json()
    trade = owner.get(f"{path}/trades").json()[0]["id"]
    with psycopg.connect(stack.database_url) as second:
        second.execute("SELECT pg_advisory_xact_lock(scenario_lock(%s, %s))", [owner.tenant_id, scenario["id"]])
        assert owner.get(path).json()["status"] == "calculating"
        assert owner.get(URL, params={"status_filter": "calculating"}).json()["items"][0]["id"] == scenario["id"]
        for answer in (
            owner.post(f"{path}/simulate"),
            owner.post(f"{path}/trades", json=BUY_NOVA),
            owner.delete(f"{path}/trades/{trade}"),
            owner.patch(path, json={"name": "Other"}),
            owner.delete(path),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (409, "Scenario in use")
        assert len(owner.get(f"{path}/results").json()) == len(simulated["results"])
    assert owner.get(path).json()["status"] == "completed", "whoever calculated is gone, and left nothing"
    with psycopg.connect(stack.database_url) as second:
        second.execute("SELECT pg_advisory_xact_lock_shared(scenario_lock(%s, %s))", [owner.tenant_id, scenario["id"]])
        assert owner.get(path).json()["status"] == "completed", "who edits does not calculate"
        assert owner.post(f"{path}/simulate").json()["detail"] == "Scenario in use"
        assert owner.patch(path, json={"name": "Other"}).status_code == 200
    assert owner.post(f"{path}/simulate").status_code == 200


def test_a_scenario_goes_with_its_trades(stack: Stack, owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    assert owner.delete(path).status_code == 204
    assert stack.sql("SELECT count(*) FROM scenario_trades WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    for answer in (owner.get(path), owner.delete(path), owner.get(f"{path}/trades"), owner.patch(path, json={})):
        assert (answer.status_code, answer.json()["detail"]) == (404, "Scenario not found")
    feed = owner.get("/api/v1/activity", params={"entity_type": "scenario"}).json()["items"]
    assert [(item["action"], item["entity_name"]) for item in feed] == [
        ("scenario.deleted", "Swap"),
        ("scenario.created", "Swap"),
    ]


# Simulations --------------------------------------------------------------------------------------------------------


def test_a_simulation_of_the_pool_that_is_worked_by_hand(
    owner: Member, own_g1: dict[str, Any], scenario: dict[str, Any]
) -> None:
    path = f"{URL}/{scenario['id']}"
    simulated = owner.post(f"{path}/simulate").json()
    rows = {row["test_id"]: row for row in simulated["results"]}
    for test_id, current, projected, direction in (
        ("oc_ratio", 106.753425, 106.759301, "improve"),
        ("average_rating_factor", 3041.367089, 2906.870229, "improve"),
        ("ccc_bucket_pct", 11.25, 8.846873, "improve"),
    ):
        row = rows[test_id]
        assert (row["current_value"], row["projected_value"], row["impact_direction"]) == (
            current,
            projected,
            direction,
        )
    run = owner.post(
        "/api/v1/compliance/run", json={"workbook_id": own_g1["id"], "test_suite": simulated["test_suite"]}
    ).json()
    names = {
        "test_id": "test_id", "test_name": "test_name", "category": "test_category", "status": "status_current",
        "current_value": "current_value", "cushion": "cushion_current",
    }  # fmt: skip
    assert [{name: result[name] for name in names} for result in run["results"]] == [
        {name: row[own] for name, own in names.items()} for row in simulated["results"]
    ], "what is before is a compliance run's, to the last digit"
    assert (simulated["test_suite"], simulated["as_of"], simulated["as_of_source"]) == (
        "enhanced", run["as_of"], run["as_of_source"],
    )  # fmt: skip
    assert simulated["impact_summary"] == {
        way: sum(row["impact_direction"] == way for row in rows.values()) for way in ("improve", "worsen", "neutral")
    }
    assert simulated["total_tests"] == len(rows) == run["summary"]["total"] - len(simulated["skipped"])
    assert {item["test_id"] for item in run["skipped"]} == {item["test_id"] for item in simulated["skipped"]}
    assert owner.get(f"{path}/results").json() == simulated["results"]
    rating = owner.get(f"{path}/results", params={"category": "rating"}).json()
    assert rating == [row for row in simulated["results"] if row["test_category"] == "rating"] != []
    assert owner.get(f"{path}/results", params={"category": "colour"}).status_code == 422
    kept = owner.get(path).json()["simulation"]
    assert kept == {name: simulated[name] for name in kept}


def test_a_workbook_of_a_deal_is_simulated_by_its_definition(owner: Member, g1_file: Path) -> None:
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()["id"]
    book = owner.uploaded(g1_file, deal_id=deal)
    scenario = create_scenario(owner, base_workbook_id=book["id"], trades=[SELL_LIMA])
    path = f"{URL}/{scenario['id']}/simulate"
    assert owner.post(path).json()["test_suite"] == "enhanced", "nobody has defined the deal yet"
    definition = {"tests": [{"id": "caa", "name": "Caa", "measure": "ccc", "agency": "a", "max": 8.0}]}
    assert owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": definition}).status_code == 200
    simulated = owner.post(path).json()
    assert (simulated["test_suite"], simulated["definition_version"]) == ("deal", 1)
    assert [(row["test_id"], row["status_current"], row["threshold_value"]) for row in simulated["results"]] == [
        ("caa", "fail", 8.0)
    ]


def test_what_cannot_be_simulated_stays_as_it_is(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    sell = {"trade_type": "sell", "par_value": 1e6, "price": 99.0}
    for trade, reason in (
        ({"borrower_name": "Zulu"}, "nothing is held"),
        ({"borrower_name": "Lima", "par_value": 10e6 + 1}, "10,000,001"),
        ({}, "nothing names its loan"),
    ):
        path = f"{URL}/{create_scenario(owner, base_workbook_id=own_g1['id'], trades=[BUY_NOVA, sell | trade])['id']}"
        answer = owner.post(f"{path}/simulate")
        assert (answer.status_code, answer.json()["detail"]) == (400, "Invalid trade"), trade
        (fault,) = answer.json()["errors"]
        assert fault["loc"] == ["trades", "1"]
        assert reason in fault["message"]
        assert owner.get(f"{path}/trades").json()[1]["id"] in fault["message"]
        assert owner.get(path).json()["status"] == "draft"
    none = create_scenario(owner, trades=[BUY_NOVA])
    answer = owner.post(f"{URL}/{none['id']}/simulate")
    assert (answer.status_code, answer.json()["detail"]) == (400, "Scenario has no base workbook")
    owner.patch(f"{URL}/{none['id']}", json={"base_workbook_id": own_g1["id"]})
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [own_g1["id"]])
    answer = owner.post(f"{URL}/{none['id']}/simulate")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")
    assert owner.get("/api/v1/activity", params={"action": "scenario.simulated"}).json()["total"] == 0


def test_a_simulation_leaves_evidence(stack: Stack, owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    simulated, trades = owner.post(f"{path}/simulate").json(), owner.get(f"{path}/trades")
    ((details, content_hash),) = stack.sql(
        """
        SELECT a.details, w.content_hash FROM audit_log a, workbooks w
        WHERE a.action = 'scenario.simulated' AND a.resource_id = %s AND w.id = %s
        """,
        [scenario["id"], scenario["base_workbook_id"]],
    )
    for name in ("impact_summary", "new_failures", "total_tests", "test_suite", "as_of"):
        assert details[name] == simulated[name]
    assert details["workbook_hash"] == content_hash
    assert details["trades_sha256"] == hashlib.sha256(trades.content).hexdigest(), "of the trades as they are told"
    results = owner.get(f"{path}/results").content
    assert details["results_sha256"] == hashlib.sha256(results).hexdigest()


# Proposals ----------------------------------------------------------------------------------------------------------

BUY_OTHERS = [
    {"borrower_name": "Oscar", "par_value": 6e6, "price": 97.0, "rating_agency_a": "B1", "spread": 450.0},
    {"borrower_name": "Papa", "par_value": 6e6, "price": 99.5, "rating_agency_a": "Ba3", "spread": 300.0},
    {"borrower_name": "Quebec", "par_value": 6e6, "price": 80.0, "rating_agency_a": "Caa1", "spread": 700.0},
]


def test_proposed_trades_do_what_they_say(owner: Member, own_g1: dict[str, Any]) -> None:
    scenario = create_scenario(owner, base_workbook_id=own_g1["id"], trades=[SELL_LIMA])
    path = f"{URL}/{scenario['id']}"
    asked = {
        "objective": "average_rating_factor",
        "universe": BUY_OTHERS,
        "constraints": {"tests": "maintain", "max_trades": 3, "max_turnover": 12e6, "min_trade": 1e6},
    }
    answer = owner.post(f"{path}/optimize", json=asked)
    assert answer.status_code == 200, answer.text
    proposed = answer.json()
    assert proposed["cushion_after"] > proposed["cushion_before"]
    assert 1 <= len(proposed["trades"]) <= 3
    assert proposed["turnover"] == sum(trade["par_value"] for trade in proposed["trades"]) <= 12e6
    assert owner.get(path).json() == scenario, "nothing is kept"
    for trade in proposed["trades"]:
        assert owner.post(f"{path}/trades", json=trade).status_code == 201, "a scenario takes them as they are told"
    simulated = owner.post(f"{path}/simulate").json()
    for name in ("results", "impact_summary", "new_failures", "total_tests", "message", "test_suite", "as_of"):
        assert simulated[name] == proposed[name]
    (event,) = owner.get("/api/v1/activity", params={"action": "scenario.optimized"}).json()["items"]
    assert event["entity_id"] == scenario["id"]


def test_another_workbook_is_a_universe(owner: Member, stranger: Member, g1_file: Path, write_book: Any) -> None:
    book = owner.uploaded(g1_file)["id"]
    path = f"{URL}/{create_scenario(owner, base_workbook_id=book)['id']}/optimize"
    header = ("LoanX ID", "Issuer Name", "Par Amount", "Market Price", "Moody's Rating", "Spread")
    rows = [header, ("LX900001", "Romeo", 9e6, 98.0, "Ba2", 300), ("LX900002", "Sierra", 9e6, 99.0, "Ca", 900)]
    second = owner.uploaded(write_book("other", Holdings=rows))["id"]
    asked = {"objective": "average_rating_factor", "universe": second, "constraints": {"tests": "maintain"}}
    proposed = owner.post(path, json=asked).json()
    bought = [trade for trade in proposed["trades"] if trade["trade_type"] == "buy"]
    assert [trade["loan_data"]["loanx_id"] for trade in bought] == ["LX900001"]
    theirs = stranger.uploaded(g1_file)["id"]
    for universe in (theirs, str(uuid4())):
        answer = owner.post(path, json=asked | {"universe": universe})
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    euros = [(*header, "Currency"), ("LX900003", "Tango", 9e6, 98.0, "Ba2", 300, "EUR")]
    foreign = owner.uploaded(write_book("euros", Holdings=euros, Deal=[("Deal Currency", "EUR")]))["id"]
    home = owner.uploaded(write_book("dollars", Holdings=rows, Deal=[("Deal Currency", "USD")]))["id"]
    own = f"{URL}/{create_scenario(owner, base_workbook_id=home)['id']}/optimize"
    answer = owner.post(own, json=asked | {"universe": foreign})
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (
        422,
        "its loans are in EUR, those of the scenario in USD",
    )


def test_what_cannot_be_optimized_is_said(owner: Member, own_g1: dict[str, Any]) -> None:
    scenario = create_scenario(owner, base_workbook_id=own_g1["id"])
    path = f"{URL}/{scenario['id']}/optimize"
    asked: dict[str, Any] = {"objective": "average_rating_factor", "universe": BUY_OTHERS}
    answer = owner.post(path, json=asked | {"constraints": {"allow_sells": False, "max_trades": 1}})
    assert (answer.status_code, answer.json()["detail"]) == (422, "No trades keep every test")
    failing = {fault["loc"][1]: fault["message"] for fault in answer.json()["errors"]}
    assert "ccc_bucket_pct" in failing, "11.25 % of Caa1 and below, which no purchase cures"
    assert "at best, the limit is 7.5" in failing["ccc_bucket_pct"]
    for change, status, detail in (
        ({"objective": "colour"}, 400, "Unknown test"),
        ({"objective": "wal"}, 422, "Objective cannot be optimized"),
        ({"universe": [BUY_OTHERS[0] | {"rating_agency_a": "green"}]}, 422, "Validation error"),
        ({"universe": "nobodys"}, 422, "Validation error"),
        ({"constraints": {"max_trades": 101}}, 422, "Validation error"),
        ({"constraints": {"min_price": -1}}, 422, "Validation error"),
    ):
        answer = owner.post(path, json=asked | change)
        assert (answer.status_code, answer.json()["detail"]) == (status, detail), change
    none = create_scenario(owner)
    answer = owner.post(f"{URL}/{none['id']}/optimize", json=asked)
    assert (answer.status_code, answer.json()["detail"]) == (400, "Scenario has no base workbook")


# Headroom -----------------------------------------------------------------------------------------------------------


def test_a_test_holds_up_to_its_headroom(owner: Member, scenario: dict[str, Any]) -> None:
    path = f"{URL}/{scenario['id']}"
    trades = owner.get(f"{path}/trades").json()
    room = owner.get(f"{path}/headroom").json()
    assert room == owner.get(f"{path}/headroom", params={"trade_id": trades[1]["id"]}).json(), "the last one"
    assert (room["test_suite"], room["trade"]["borrower_name"]) == ("enhanced", "Nova")
    row = min((row for row in room["tests"] if row["headroom"]), key=lambda row: row["headroom"])
    for par, fails in ((row["headroom"], False), (row["headroom"] + 2, True)):
        more = owner.post(f"{path}/trades", json=BUY_NOVA | {"par_value": par}).json()
        results = owner.post(f"{path}/simulate").json()["results"]
        after = next(result for result in results if result["test_id"] == row["test_id"])
        assert (after["status_projected"] == "fail") == fails
        owner.delete(f"{path}/trades/{more['id']}")
    body = owner.get(f"{path}/headroom", params={"borrower_name": "Alpha", "trade_type": "sell", "price": 99}).json()
    assert body["most"] == 40e6
    for query, status, detail in (
        ({"trade_id": str(uuid4())}, 404, "Trade not found"),
        ({"borrower_name": "Lima", "price": 55}, 400, "Invalid trade"),  # the scenario sells all of it
        ({"price": -1}, 422, "Validation error"),
    ):
        answer = owner.get(f"{path}/headroom", params=query)
        assert (answer.status_code, answer.json()["detail"]) == (status, detail), query
    none = create_scenario(owner, base_workbook_id=scenario["base_workbook_id"])
    assert owner.get(f"{URL}/{none['id']}/headroom").status_code == 422
