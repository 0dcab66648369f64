"""A run of a part of its suite is marked, and nothing that shows the newest run is taken in by it."""

from __future__ import annotations

import io
from typing import Any

import openpyxl

from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.alerts.test_evaluation_actions import CCC, age, history_of, looked_at, wake, watched
from tests.service.exports.conftest import downloaded, exported
from tests.service.reports.conftest import create_report, ordered, sheets_of

RUN = "/api/v1/compliance/run"
DEALS = "/api/v1/deals"
HARMLESS = {"test_suite": "enhanced", "test_ids": ["weighted_average_price"]}
"""The bug that was reported: a run of one test that passes, after one that found a breach."""


def run(who: Member, workbook: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = who.post(RUN, json={"workbook_id": workbook["id"], **body})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def off(test_id: str) -> list[dict[str, Any]]:
    return [{"test_id": test_id, "threshold_value": 1, "enabled": False}]


@every(
    "body, partial",
    [
        ({}, False),
        ({"test_suite": "enhanced"}, False),
        ({"test_ids": None}, False),
        ({"test_ids": []}, False),
        ({"test_ids": ["wal"]}, True),
        ({"test_ids": ["oc_ratio", "ccc_bucket_pct"]}, True),
        (HARMLESS, True),
        ({"options": {"fail_fast": True}}, True),  # the first test of the pool fails
        ({"test_ids": ["oc_ratio"], "options": {"fail_fast": True}}, True),
        ({"thresholds": off("ccc_bucket_pct")}, True),
        ({"thresholds": off("top_10_obligors_of_no_suite")}, None),
        ({"thresholds": [{"test_id": "ccc_bucket_pct", "threshold_value": 60}]}, False),
    ],
)
def test_what_is_partial(
    stack: Stack, shared_owner: Member, g1: dict[str, Any], body: dict[str, Any], partial: bool | None
) -> None:
    if partial is None:
        assert shared_owner.post(RUN, json={"workbook_id": g1["id"], **body}).status_code == 400
        return
    result = run(shared_owner, g1, **body)
    assert result["partial"] is partial
    assert shared_owner.get(f"/api/v1/compliance/results/{result['id']}").json()["partial"] is partial
    newest = shared_owner.get("/api/v1/compliance/history", params={"workbook_id": g1["id"]}).json()["items"][0]
    assert (newest["id"], newest["partial"]) == (result["id"], partial)
    # a run of an earlier release does not say so among its options
    sql = (
        "SELECT partial, is_partial_run((options::jsonb - 'partial')::json, skipped) FROM compliance_runs WHERE id = %s"
    )
    assert stack.sql(sql, [result["id"]]) == [(partial, partial)]


def test_a_stop_that_left_nothing_out_is_none(shared_owner: Member, g1: dict[str, Any]) -> None:
    """Without a failure fail_fast stops nothing."""
    limits = [
        {"test_id": result["test_id"], "threshold_value": -1e9 if result["threshold_type"] == "min" else 1e9}
        for result in run(shared_owner, g1)["results"]
    ]
    outcome = run(shared_owner, g1, thresholds=limits, options={"fail_fast": True})
    assert (outcome["partial"], outcome["summary"]["failed"]) == (False, 0)


def test_the_audit_and_the_look_back_mark_it(owner: Member, own_g1: dict[str, Any]) -> None:
    for body, partial in (({}, False), (HARMLESS, True)):
        run_id = run(owner, own_g1, **body)["id"]
        asked = {"subject_id": run_id, "include_changes": True, "include_outputs": True, "include_inputs": True}
        (event,) = owner.get("/api/v1/compliance/lookback", params=asked).json()["items"]
        marks = (event["changes"]["partial"], event["outputs"]["partial"], event["inputs"]["options"]["partial"])
        assert marks == (partial,) * 3


def test_a_deal_shows_its_newest_full_run(owner: Member, g1_file: Any) -> None:
    deal = owner.post(DEALS, json={"name": "Cairn"}).json()
    book = owner.uploaded(g1_file, deal_id=deal["id"], as_of="2026-03-31")
    full = run(owner, book, test_suite="enhanced")
    assert full["summary"]["failed"]
    run(owner, book, **HARMLESS)
    run(owner, book, options={"fail_fast": True})
    run(owner, book, thresholds=off("ccc_bucket_pct"))
    (shown,) = owner.get(DEALS).json()["items"]
    latest = shown["latest"]
    assert (latest["run_id"], latest["test_suite"]) == (full["id"], "enhanced")
    assert latest["failed"] == full["summary"]["failed"]
    series = owner.get(f"{DEALS}/{deal['id']}/history").json()["series"]
    assert {point["run_id"] for item in series for point in item["points"]} == {full["id"]}
    marks = [item["partial"] for item in owner.get("/api/v1/compliance/history").json()["items"]]
    assert marks == [True, True, True, False]


def test_a_partial_run_moves_no_workbook_to_the_front(owner: Member, write_book: Any) -> None:
    """A day that its request named is not the workbook's.

    What the file says is, as long as no full run says it.
    """
    from tests.service.compliance.conftest import G1_DEAL, G1_LOANS, G1_NOTES, HEADER

    deal = owner.post(DEALS, json={"name": "Cairn"}).json()
    file = write_book("book", Holdings=[HEADER, *G1_LOANS], Tranches=G1_NOTES, Deal=G1_DEAL[:2])
    first = owner.uploaded(file, deal_id=deal["id"], as_of="2026-03-31")
    full = run(owner, first)
    second = owner.uploaded(file, deal_id=deal["id"], name="other.xlsx")
    owner.patch(f"/api/v1/workbooks/{first['id']}", json={"as_of": "2099-12-31"})
    run(owner, second, test_ids=["wal"], as_of="2100-01-31")
    latest = owner.get(f"{DEALS}/{deal['id']}").json()["latest"]
    assert (latest["workbook_id"], latest["run_id"]) == (first["id"], full["id"])


def test_reports_show_the_newest_full_run_and_say_what_a_partial_one_is(owner: Member, own_g1: dict[str, Any]) -> None:
    partial = run(owner, own_g1, **HARMLESS)
    nothing = owner.post("/api/v1/reports/compliance", json={"workbook_id": own_g1["id"]})
    assert (nothing.status_code, nothing.json()["detail"]) == (409, "Workbook has no compliance run")
    assert "name a partial run by run_id" in nothing.json()["errors"][0]["message"]
    report = create_report(owner, "compliance", workbook_id=own_g1["id"], run_id=partial["id"], format="xlsx")
    assert report["filename"] == "g1 partial compliance 2026-03-31.xlsx"
    head = sheets_of(owner, report)["Report"]
    words = dict(row[:2] for row in head)
    assert words["Report"] == "g1.xlsx (partial run)"
    assert words["Verdict"] == "The one test that was run passes"
    assert "This run is partial: it says nothing of the tests that it left out." in str(head)
    full = run(owner, own_g1, test_suite="enhanced")
    run(owner, own_g1, **HARMLESS)
    for asked in ({}, {"suite": "enhanced"}):
        assert ordered(owner, "compliance", workbook_id=own_g1["id"], **asked)["run_id"] == full["id"]
    head = dict(
        row[:2]
        for row in sheets_of(owner, create_report(owner, "compliance", workbook_id=own_g1["id"], format="xlsx"))[
            "Report"
        ]
    )
    assert (head["Report"], head["Suite"]) == ("g1.xlsx", "Enhanced")
    assert head["Failed"] == full["summary"]["failed"]


def test_exports_show_the_newest_full_run(owner: Member, own_g1: dict[str, Any]) -> None:
    def control() -> set[str]:
        book = openpyxl.load_workbook(io.BytesIO(downloaded(owner, exported(owner, own_g1["id"])).content))
        return {str(cell) for row in book["Control"].iter_rows(values_only=True) for cell in row if cell is not None}

    partial = run(owner, own_g1, **HARMLESS)
    bare = control()
    assert partial["id"] not in bare
    assert "No compliance run was exported with this workbook." in bare
    full = run(owner, own_g1)
    later = run(owner, own_g1, **HARMLESS)
    shown = control()
    assert full["id"] in shown
    assert later["id"] not in shown
    assert "Compliance · standard" in shown


def test_a_partial_run_evaluates_the_alerts_whose_tests_it_ran(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    def compliance(*test_ids: str) -> str:
        conditions = {"status": ["fail"], "test_ids": list(test_ids)}
        return watched(owner, own_g1, conditions, alert_type="compliance", cooldown_minutes=0)

    alerts = {
        "metric": watched(owner, own_g1, cooldown_minutes=0),
        "test": compliance("ccc_bucket_pct"),
        "two tests": compliance("ccc_bucket_pct", "oc_ratio"),
        "every test": compliance(),
        "of other figures": watched(owner, own_g1, CCC | {"metric": "oc_ratio"}, cooldown_minutes=0),
    }

    def looks() -> dict[str, str | None]:
        looked_at(stack, owner)
        by_name = {name: history_of(owner, alert_id)["last_evaluation"] for name, alert_id in alerts.items()}
        return {name: look and look["run_id"] for name, look in by_name.items()}

    ccc = run(owner, own_g1, test_ids=["ccc_bucket_pct"])["id"]
    first = looks()
    assert first == dict.fromkeys(alerts) | {"metric": ccc, "test": ccc}
    assert history_of(owner, alerts["test"])["trigger_count"] == 1
    full = run(owner, own_g1)["id"]
    assert looks() == dict.fromkeys(alerts, full)
    run(owner, own_g1, test_ids=["weighted_average_price"], test_suite="enhanced")
    assert looks() == dict.fromkeys(alerts, full), "what found a breach stands"
    stopped = run(owner, own_g1, options={"fail_fast": True})
    assert [result["test_id"] for result in stopped["results"]] == ["single_obligor_concentration"]
    assert looks() == dict.fromkeys(alerts, full)
    both = run(owner, own_g1, test_ids=["ccc_bucket_pct", "oc_ratio"])["id"]
    assert looks() == dict.fromkeys(alerts, both) | {"every test": full}


def test_a_duration_goes_by_the_newest_run_that_has_the_test(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    hour = watched(owner, own_g1, CCC | {"duration_minutes": 60})
    ccc = run(owner, own_g1, test_ids=["ccc_bucket_pct"])["id"]
    looked_at(stack, owner)
    age(stack, owner, 30)
    run(owner, own_g1, test_ids=["oc_ratio"])
    looked_at(stack, owner)
    age(stack, owner, 31)
    wake(stack, owner)
    alert = history_of(owner, hour)
    assert (alert["trigger_count"], alert["last_evaluation"]["run_id"]) == (1, ccc)
