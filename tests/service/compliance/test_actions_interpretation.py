"""A file whose own figures say how it is read.

Runs, whatever rests on them, and their evidence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Member, Stack
from tests.service.compliance.conftest import DISCOUNTED_PAR
from tests.service.compliance.test_replay_actions import Verify, changed, parse_answer, ran, verify  # noqa: F401 - a fixture
from tests.service.reports.conftest import create_report, sheets_of

READ_AS = "discount obligations count at par (by one amount); 3 of 3 printed figures tie"
STATED = {"par_value": {"discount": True}, "tests": [{"id": "wal", "name": "WAL", "measure": "wal", "max": 9}]}
BY_MARKET, BY_FILE = 126.250109, 137.500155
"""The OC ratio with the loan that was bought at 70 carried at that, and at par."""


@pytest.fixture
def book(owner: Member, discounted_file: Path) -> dict[str, Any]:
    return owner.uploaded(discounted_file)


def ratio(run: dict[str, Any]) -> dict[str, Any]:
    outcome: dict[str, Any] = next(result for result in run["results"] if result["test_id"] == "oc_ratio")
    return outcome


def test_a_run_is_read_as_the_files_own_figures_say(owner: Member, book: dict[str, Any]) -> None:
    run = ran(owner, book["id"])
    interpretation = run["interpretation"]
    [choice] = interpretation["choices"]
    assert (choice["name"], choice["state"], choice["reading"]["option"]) == ("discount_obligations", "proposed", "par")
    tie = choice["reading"]["ties"][0]
    assert (tie["part"], tie["printed"], tie["place"]) == ("numerator", DISCOUNTED_PAR, "'Tests'!D2")
    assert (choice["runner_up"]["option"], choice["runner_up"]["ties"]) == ("purchase_price", [])
    assert (
        interpretation["figures"],
        interpretation["tied_before"],
        interpretation["tied"],
        interpretation["hold_out"],
    ) == (3, 1, 3, None)
    assert (ratio(run)["current_value"], ratio(run)["published"]["agrees"]) == (BY_FILE, True)
    doubts = {item["code"]: item["message"] for item in ratio(run)["doubt"]}
    assert doubts["stand_in"].startswith("read as: discount obligations count at par; one amount ties by it")
    assert "reading_proposed" in {warning["code"] for warning in run["warnings"]}
    assert owner.get(f"/api/v1/compliance/results/{run['id']}").json()["interpretation"] == interpretation
    again = ran(owner, book["id"], test_ids=["oc_ratio"])
    assert (again["partial"], again["interpretation"], ratio(again)["current_value"]) == (True, interpretation, BY_FILE)


def test_a_definition_outranks_the_files_figures(owner: Member, book: dict[str, Any]) -> None:
    run = ran(owner, book["id"], definition=STATED)
    assert {(choice["name"], choice["state"]) for choice in run["interpretation"]["choices"]} == {
        ("discount_obligations", "stated")
    }
    assert ratio(run)["current_value"] == BY_MARKET


def test_a_deals_tie_out_says_how_its_file_was_read(owner: Member, discounted_file: Path) -> None:
    deal = owner.post("/api/v1/deals", json={"name": "Discounted"}).json()["id"]
    book = owner.uploaded(discounted_file, deal_id=deal)["id"]
    assert ratio(ran(owner, book))["current_value"] == BY_FILE, "no definition was written yet"
    sentence_part = owner.get(f"/api/v1/deals/{deal}/tie-out").json()
    assert [item["agrees"] for item in sentence_part["items"]] == [True]
    assert sentence_part["interpretation"]["choices"][0]["reading"]["option"] == "par"
    assert sentence_part["interpretation"]["hold_out"] == {"figures": 1, "right": 0}, "without it nothing says so"
    owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": {"base": "us_bsl", "standard": False}})
    sentence_part = owner.get(f"/api/v1/deals/{deal}/tie-out").json()
    assert (
        [item["agrees"] for item in sentence_part["items"]],
        sentence_part["interpretation"]["choices"][0]["state"],
    ) == ([False], "stated")
    assert ratio(ran(owner, book))["current_value"] == BY_MARKET


def test_a_file_that_prints_nothing_of_itself_is_not_interpreted(shared_owner: Member, g1: dict[str, Any]) -> None:
    run = ran(shared_owner, g1["id"])
    assert run["interpretation"] is None
    assert shared_owner.get(f"/api/v1/compliance/results/{run['id']}").json()["interpretation"] is None


def test_trades_and_reports_go_by_the_same_reading(owner: Member, book: dict[str, Any]) -> None:
    trade = {"trade_type": "sell", "par_value": 1e6, "borrower_name": "Alpha", "price": 100.0}
    asked = {"name": "Sale", "base_workbook_id": book["id"], "trades": [trade]}
    scenario = owner.post("/api/v1/scenarios", json=asked).json()
    answer = owner.post(f"/api/v1/scenarios/{scenario['id']}/simulate")
    assert answer.status_code == 200, answer.text
    test = next(result for result in answer.json()["results"] if result["test_id"] == "oc_ratio")
    assert test["current_value"] == BY_FILE
    assert test["projected_value"] == pytest.approx(BY_FILE, abs=1e-6), "sold at par: cash in its place"
    ran(owner, book["id"])
    report = create_report(owner, "compliance", workbook_id=book["id"], format="xlsx")
    rows = {row[0]: row[1] for row in next(iter(sheets_of(owner, report).values()))}
    assert rows["Read as"] == READ_AS


def test_a_replay_searches_anew_and_an_altered_interpretation_is_found(
    stack: Stack,
    owner: Member,
    verify: Verify,  # noqa: F811 - the fixture
    book: dict[str, Any],
    discounted_file: Path,
) -> None:
    run = ran(owner, book["id"])
    deal = owner.post("/api/v1/deals", json={"name": "Discounted", "closing_date": "2020-01-31"}).json()["id"]
    of_deal = owner.uploaded(discounted_file, deal_id=deal)["id"]
    runs = [run, ran(owner, book["id"], definition=STATED), ran(owner, of_deal, test_suite="deal")]
    assert all(item["interpretation"] is not None for item in runs)
    result, breaks, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
    assert ([result[item["id"]]["status"] for item in runs], breaks) == (["reproduced"] * 3, [])
    better = "replace(options::text, '\"proposed\"', '\"taken\"')::json"
    with changed(stack, "compliance_runs", "options", better, "id", run["id"]):
        result, _, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
    verdict = result[run["id"]]
    assert verdict["status"] == "altered"
    assert "its inputs are, and a replay gives what was hashed" in verdict["reason"]
    [difference] = verdict["differences"]
    states = [json.loads(json.dumps(difference[side]))["choices"][0]["state"] for side in ("stored", "replayed")]
    assert (difference["figure"], states) == ("interpretation", ["taken", "proposed"])
    without = "(options::jsonb - 'interpretation')::json"
    with changed(stack, "compliance_runs", "options", without, "id", run["id"]):
        result, _, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
    verdict = result[run["id"]]
    assert verdict["status"] == "altered"
    figures = {(item["test_id"], item["figure"]): item["replayed"] for item in verdict["differences"]}
    assert figures["oc_ratio", "current_value"] == BY_MARKET, "a run of an earlier version has none"
