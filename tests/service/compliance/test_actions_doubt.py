"""A file that contradicts our figures.

Answers have its own figure beside ours, and say what to doubt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Member, Stack

RUN = "/api/v1/compliance/run"
WARF, SPREAD, OC = "average_rating_factor", "was", "oc_ratio"
"""Contradicted, with another figure, and the same."""


@pytest.fixture
def deal(owner: Member) -> dict[str, Any]:
    answer = owner.post("/api/v1/deals", json={"name": "Contradicted"})
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.fixture
def run(owner: Member, deal: dict[str, Any], contradicted_file: Path) -> dict[str, Any]:
    """A run of the file as a month of the deal."""
    book = owner.uploaded(contradicted_file, deal_id=deal["id"], as_of="2026-03-31")
    answer = owner.post(RUN, json={"workbook_id": book["id"]})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def by_id(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {result["test_id"]: result for result in run["results"]}


def test_each_result_has_the_files_figure_and_its_doubts(owner: Member, run: dict[str, Any]) -> None:
    tests = by_id(run)
    warf, spread, ratio = (tests[name] for name in (WARF, SPREAD, OC))
    assert run["summary"]["doubtful"] == sum(result["doubtful"] for result in run["results"]) >= 1
    assert (warf["status"], warf["doubtful"]) == ("fail", True), "the status stays as it was worked out"
    published = warf["published"]
    answer = [published[name] for name in ("name", "value", "trigger", "status", "place", "agrees")]
    assert answer == ["Weighted Average Rating Factor", 2900.0, 3000.0, "pass", "'Tests'!B3", False]
    assert published["difference"] == pytest.approx(warf["current_value"] - 2900.0, abs=1e-6)
    assert "differs" in {item["code"] for item in warf["doubt"]}
    assert all(set(item) == {"code", "message", "places"} for item in warf["doubt"])
    assert (spread["doubtful"], spread["published"]["agrees"]) == (False, False), "another figure, the same status"
    assert "differs" in {item["code"] for item in spread["doubt"]}
    assert (ratio["published"]["agrees"], ratio["doubtful"]) == (True, False)
    assert not {"differs", "conflict"} & {item["code"] for item in ratio["doubt"]}
    stored = owner.get(f"/api/v1/compliance/results/{run['id']}").json()
    assert (stored["summary"], stored["results"]) == (run["summary"], run["results"])
    history = owner.get("/api/v1/compliance/history").json()["items"]
    assert history[0]["summary"] == run["summary"]


def test_the_deal_says_it_in_its_latest_figures_and_through_the_months(
    owner: Member, deal: dict[str, Any], run: dict[str, Any]
) -> None:
    latest = owner.get(f"/api/v1/deals/{deal['id']}").json()["latest"]
    assert latest["doubtful"] == run["summary"]["doubtful"]
    assert latest["thinnest"]["doubtful"] == by_id(run)[latest["thinnest"]["test_id"]]["doubtful"]
    series = owner.get(f"/api/v1/deals/{deal['id']}/history").json()["series"]
    points = {item["test_id"]: item["points"][0] for item in series}
    assert (points[WARF]["published"], points[WARF]["doubtful"]) == (2900.0, True)
    assert (points[OC]["published"], points[OC]["doubtful"]) == (106.75, False)
    assert (points["top_5_concentration"]["published"], points["top_5_concentration"]["doubtful"]) == (None, False)


def test_a_run_of_an_earlier_version_has_no_doubts_and_can_be_read(
    stack: Stack, owner: Member, deal: dict[str, Any], run: dict[str, Any]
) -> None:
    """Its summary has no count of doubtful tests, its results no doubts, and its figures for histories neither."""
    stack.sql(
        """
        UPDATE compliance_runs SET
            summary = summary - 'doubtful',
            figures = (SELECT jsonb_object_agg(key, value - 'doubtful' - 'published') FROM jsonb_each(figures)),
            results = (SELECT json_agg(one::jsonb - 'doubt' - 'doubtful' - 'published')
                       FROM json_array_elements(results) one)
        WHERE id = %s
        """,
        [run["id"]],
    )
    stored = owner.get(f"/api/v1/compliance/results/{run['id']}").json()
    assert stored["summary"]["doubtful"] == 0
    assert {(result["published"], len(result["doubt"]), result["doubtful"]) for result in stored["results"]} == {
        (None, 0, False)
    }
    latest = owner.get(f"/api/v1/deals/{deal['id']}").json()["latest"]
    assert (latest["doubtful"], latest["thinnest"]["doubtful"]) == (None, False)
    point = owner.get(f"/api/v1/deals/{deal['id']}/history", params={"test_id": WARF}).json()["series"][0]["points"][0]
    assert (point["published"], point["doubtful"]) == (None, False)


def test_a_simulation_has_the_doubts_of_the_figures_before_the_trades(owner: Member, run: dict[str, Any]) -> None:
    trade = {"trade_type": "sell", "par_value": 1e6, "borrower_name": "Alpha", "price": 99.0}
    body = {"name": "Sell Alpha", "base_workbook_id": run["workbook_id"], "trades": [trade]}
    scenario = owner.post("/api/v1/scenarios", json=body).json()
    answer = owner.post(f"/api/v1/scenarios/{scenario['id']}/simulate")
    assert answer.status_code == 200, answer.text
    tests = by_id(answer.json())
    assert (tests[WARF]["doubtful"], tests[WARF]["published"]["value"]) == (True, 2900.0)
    assert tests[WARF]["doubt"] == by_id(run)[WARF]["doubt"]
    assert tests["top_5_concentration"]["published"] is None
