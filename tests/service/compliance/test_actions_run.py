"""POST /compliance/run.

The golden deal over HTTP, every option, refusal and piece of evidence.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import psycopg
import pytest

import core
from core.compliance.result import Threshold
from core.generate import generate
from core.portfolio.model.fields import PROFILES
from service.compliance.store import lock_of

RUN = "/api/v1/compliance/run"
MAG17 = Path(__file__).parents[3] / "../shared/data/mag17.xlsx"

GOLDEN = {
    # test_id: value, threshold, cushion, cushion_pct, status
    "oc_ratio": (106.753425, 104.2, 2.553425, 2.450504, "pass"),
    "oc_ratio_senior": (129.883333, 121.5, 8.383333, 6.899863, "pass"),
    "ic_ratio": (135.000422, 110.0, 25.000422, 22.727657, "pass"),
    "average_rating_factor": (3041.367089, 3000.0, -41.367089, -1.378903, "fail"),
    "ccc_bucket_pct": (11.25, 7.5, -3.75, -50.0, "fail"),
    "was": (3.993671, 3.25, 0.743671, 22.882181, "pass"),
    "diversity_score": (10.3, 55.0, -44.7, -81.272727, "fail"),
    "single_obligor_concentration": (10.0, 2.5, -7.5, -300.0, "fail"),
    "top_5_concentration": (50.0, 12.5, -37.5, -300.0, "fail"),
    "industry_concentration": (10.0, 15.0, 5.0, 33.333333, "pass"),
    "second_industry_concentration": (10.0, 12.0, 2.0, 16.666667, "pass"),
}
RUN_FIELDS = {
    "id", "workbook_id", "test_suite", "status", "as_of", "as_of_source", "definition_version", "warnings",
    "interpretation", "summary", "results", "skipped", "partial", "executed_at", "execution_time_ms",
    "execution_time_us",
}  # fmt: skip
RESULT_FIELDS = {
    "test_id", "test_name", "category", "status", "current_value", "threshold_value", "threshold_type", "cushion",
    "cushion_pct", "message", "threshold_source", "details", "published", "doubt", "doubtful", "unit", "decimals",
}  # fmt: skip


def run(member: Any, workbook: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = member.post(RUN, json={"workbook_id": workbook["id"], **body})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def by_id(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {result["test_id"]: result for result in answer["results"]}


# Answers ------------------------------------------------------------------------------------------------------------


def test_the_golden_deal(shared_owner: Any, g1: dict[str, Any]) -> None:
    answer = run(shared_owner, g1)
    results = by_id(answer)
    for test_id, (value, threshold, cushion, percent, status) in GOLDEN.items():
        result = results[test_id]
        assert result["current_value"] == pytest.approx(value, abs=1e-6), test_id
        assert result["threshold_value"] == threshold, test_id
        assert result["cushion"] == pytest.approx(cushion, abs=1e-6), test_id
        assert result["cushion_pct"] == pytest.approx(percent, abs=1e-6), test_id
        assert result["status"] == status, test_id
    assert results["average_rating_factor"]["threshold_type"] == "max"
    assert results["oc_ratio"]["threshold_type"] == "min"
    assert "unit" in results["oc_ratio"]["details"]["breakdown"]
    assert results["ccc_bucket_pct"]["details"]["cell_refs"]
    assert results["ccc_bucket_pct"]["details"]["formula"]


def test_the_answer_has_the_stated_fields_and_defaults(shared_owner: Any, g1: dict[str, Any]) -> None:
    before = datetime.now(UTC)
    answer = run(shared_owner, g1)
    after = datetime.now(UTC)
    assert set(answer) == RUN_FIELDS
    assert all(set(result) == RESULT_FIELDS for result in answer["results"])
    assert all(set(result["details"]) == {"formula", "cell_refs", "breakdown"} for result in answer["results"])
    assert UUID(answer["id"]).version == 4
    assert answer["workbook_id"] == g1["id"]
    assert (answer["test_suite"], answer["status"]) == ("standard", "completed")
    executed_at = datetime.fromisoformat(answer["executed_at"])
    assert executed_at.utcoffset() is not None
    assert before <= executed_at <= after
    took_us = answer["execution_time_us"]
    assert (type(took_us), type(answer["execution_time_ms"])) == (int, int)
    assert 0 < took_us < 60_000_000
    assert answer["execution_time_ms"] == (took_us + 500) // 1000


def test_the_summary_counts_every_test_once(shared_owner: Any, g1: dict[str, Any]) -> None:
    for suite, count in (("standard", 15), ("enhanced", 25)):
        answer = run(shared_owner, g1, test_suite=suite)
        summary = answer["summary"]
        statuses = [result["status"] for result in answer["results"]]
        assert set(summary) == {"total", "passed", "failed", "warnings", "skipped", "doubtful"}
        assert summary["total"] == count == len(answer["results"]) + len(answer["skipped"])
        assert summary["passed"] == statuses.count("pass")
        assert summary["failed"] == statuses.count("fail")
        assert summary["warnings"] == statuses.count("warning")
        assert summary["skipped"] == len(answer["skipped"])
        assert summary["doubtful"] == sum(result["doubtful"] for result in answer["results"])


def test_a_test_without_its_column_is_skipped_with_the_reason(shared_owner: Any, g1: dict[str, Any]) -> None:
    answer = run(shared_owner, g1)
    skipped = {item["test_id"]: item for item in answer["skipped"]}
    assert skipped["cov_lite_concentration"] == {
        "test_id": "cov_lite_concentration",
        "test_name": "Covenant-lite loans",
        "reason": "Skipped: required column(s) cov_lite not found in sheet 'Holdings'",
        "published": None,
    }
    assert not set(skipped) & set(by_id(answer))


def test_a_workbook_without_loans_completes_with_every_test_skipped(owner: Any, write_book: Any) -> None:
    workbook = owner.uploaded(write_book("nothing", Notes=[["Nothing", "to see"], [1, 2]]))
    answer = run(owner, workbook, test_suite="enhanced")
    assert answer["status"] == "completed"
    assert answer["results"] == []
    assert answer["summary"] == {"total": 25, "passed": 0, "failed": 0, "warnings": 0, "skipped": 25, "doubtful": 0}


def test_a_generated_deal_gets_the_answers_of_the_library(owner: Any, tmp_path: Path) -> None:
    """10,100 loans: past the size up to which a suite runs on the event loop."""
    path = tmp_path / "deal.xlsx"
    generate(loans=10_100, seed=11).write(path)
    answer = run(owner, owner.uploaded(path), test_suite="enhanced")
    expected = core.run_suite(core.Portfolio.from_workbook(core.read(path)), "enhanced")
    assert answer["results"] == msgspec.json.decode(msgspec.json.encode(list(expected)))
    assert answer["summary"] == msgspec.to_builtins(expected.summary)
    assert answer["summary"]["skipped"] == 0


@pytest.mark.parametrize("path", [MAG17] if MAG17.exists() else [])
def test_a_real_deal(owner: Any, path: Path) -> None:
    results = by_id(run(owner, owner.uploaded(path)))
    reported = {
        "average_rating_factor": 2575.698435,
        "single_obligor_concentration": 1.796,
        "top_5_concentration": 8.0235703,
        "industry_concentration": 12.796,
        "second_industry_concentration": 11.923,
        "non_senior_secured_concentration": 2.836,
        "ccc_bucket_pct": 3.236,
        "diversity_score": 59.4399,
        "cov_lite_concentration": 20.466,
        "oc_ratio": 108.131,
    }
    for test_id, value in reported.items():
        assert results[test_id]["current_value"] == pytest.approx(value, abs=1e-3), test_id


def test_the_upload_day_stands_in_for_an_as_of_date(owner: Any, write_book: Any) -> None:
    maturity = date(2034, 6, 30)
    rows = [["Issuer Name", "Par Amount", "Maturity Date"], *[[f"Loan {n}", 1e6, maturity] for n in range(5)]]
    workbook = owner.uploaded(write_book("undated", Holdings=rows))
    uploaded = datetime.fromisoformat(workbook["created_at"]).astimezone(UTC).date()
    current_value = by_id(run(owner, workbook, test_ids=["wal"]))["wal"]["current_value"]
    assert current_value == pytest.approx((maturity - uploaded).days / 365.25, abs=1e-6)


def test_hostile_names_are_kept_as_they_are(owner: Any, write_book: Any) -> None:
    names = ["_x0000_", "=1+1", "'; DROP TABLE thresholds; --", "\\u0000", "<b>&amp;\u2028", "𝔘" * 2000]
    rows = [["Issuer Name", "Par Amount", "Industry"], *[[name, 1e6, name] for name in names]]
    workbook = owner.uploaded(write_book("hostile", Holdings=rows))
    answer = run(owner, workbook)
    stored = owner.get(f"/api/v1/compliance/results/{answer['id']}")
    assert stored.status_code == 200
    assert stored.json()["results"] == answer["results"]


# Options ------------------------------------------------------------------------------------------------------------


def test_without_cushions(shared_owner: Any, g1: dict[str, Any]) -> None:
    plain, bare = run(shared_owner, g1), run(shared_owner, g1, options={"include_cushion": False})
    assert all(result["cushion"] is None and result["cushion_pct"] is None for result in bare["results"])
    assert all(result["cushion"] is not None for result in plain["results"])
    assert [result["status"] for result in bare["results"]] == [result["status"] for result in plain["results"]]


def test_fail_fast_skips_the_rest_after_the_first_failure(shared_owner: Any, g1: dict[str, Any]) -> None:
    answer = run(shared_owner, g1, options={"fail_fast": True})
    assert [result["test_id"] for result in answer["results"]] == ["single_obligor_concentration"]
    assert answer["results"][0]["status"] == "fail"
    assert answer["summary"] == {"total": 15, "passed": 0, "failed": 1, "warnings": 0, "skipped": 14, "doubtful": 0}
    assert "first failure" in answer["skipped"][0]["reason"]


def test_parallel_changes_no_answer(shared_owner: Any, g1: dict[str, Any]) -> None:
    item, second = (run(shared_owner, g1, options={"parallel": parallel}) for parallel in (True, False))
    assert item["results"] == second["results"]
    assert item["skipped"] == second["skipped"]


def test_chosen_tests_run_in_the_catalogues_order(shared_owner: Any, g1: dict[str, Any]) -> None:
    answer = run(shared_owner, g1, test_ids=["oc_ratio", "ccc_bucket_pct", "oc_ratio"])
    assert [result["test_id"] for result in answer["results"]] == ["ccc_bucket_pct", "oc_ratio"]
    assert answer["summary"]["total"] == 2


@pytest.mark.parametrize("test_ids", [None, []])
def test_no_chosen_tests_are_all_tests(shared_owner: Any, g1: dict[str, Any], test_ids: Any) -> None:
    assert run(shared_owner, g1, test_ids=test_ids)["summary"]["total"] == 15


def test_a_misspelt_option_runs_nothing(shared_owner: Any, g1: dict[str, Any]) -> None:
    body = {"workbook_id": g1["id"], "test_suit": "enhanced", "options": {"failfast": True}}
    answer = shared_owner.post("/api/v1/compliance/run", json=body)
    assert answer.status_code == 422
    assert {fault["message"].partition("; ")[2] for fault in answer.json()["errors"]} == {
        "did you mean test_suite?",
        "did you mean fail_fast?",
    }


# Thresholds ---------------------------------------------------------------------------------------------------------


def test_workbook_over_sheet_over_tenant_over_suite(owner: Any, own_g1: dict[str, Any]) -> None:
    def limit(test_id: str) -> tuple[float, str]:
        result = by_id(run(owner, own_g1, test_ids=[test_id]))[test_id]
        return result["threshold_value"], result["details"]["breakdown"]["threshold_source"]

    def set_limit(value: float, test_id: str, workbook_id: str | None) -> None:
        body = {"workbook_id": workbook_id, "test_id": test_id, "threshold_value": value}
        assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201

    assert limit("ccc_bucket_pct") == (7.5, "suite")
    assert limit("oc_ratio_senior") == (121.5, "sheet")
    for test_id in ("ccc_bucket_pct", "oc_ratio_senior"):
        set_limit(12.0, test_id, None)
        # The sheet's trigger is the contract's figure, and stands before what a tenant set.
        assert limit(test_id) == ((12.0, "tenant") if test_id == "ccc_bucket_pct" else (121.5, "sheet"))
        set_limit(13.0, test_id, own_g1["id"])
        assert limit(test_id) == (13.0, "workbook")
        set_limit(14.0, test_id, None)
        assert limit(test_id) == (13.0, "workbook")


def test_a_warning_threshold_warns(owner: Any, own_g1: dict[str, Any]) -> None:
    body = {"test_id": "ccc_bucket_pct", "threshold_value": 20, "warning_threshold": 11.25}
    assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
    answer = run(owner, own_g1, test_ids=["ccc_bucket_pct"])
    assert answer["results"][0]["status"] == "warning"
    assert answer["summary"] == {"total": 1, "passed": 0, "failed": 0, "warnings": 1, "skipped": 0, "doubtful": 0}


def test_the_direction_can_be_turned(owner: Any, own_g1: dict[str, Any]) -> None:
    body = {"test_id": "ccc_bucket_pct", "threshold_value": 10, "threshold_type": "min"}
    assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
    result = run(owner, own_g1, test_ids=["ccc_bucket_pct"])["results"][0]
    assert (result["status"], result["cushion"], result["threshold_type"]) == ("pass", 1.25, "min")


def test_a_disabled_test_is_skipped(owner: Any, own_g1: dict[str, Any]) -> None:
    body = {"test_id": "ccc_bucket_pct", "threshold_value": 7.5, "enabled": False}
    assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
    answer = run(owner, own_g1)
    assert "ccc_bucket_pct" not in by_id(answer)
    assert {"ccc_bucket_pct"} <= {item["test_id"] for item in answer["skipped"] if "disabled" in item["reason"]}
    # The workbook's own threshold has the last word.
    body = {"test_id": "ccc_bucket_pct", "threshold_value": 8, "workbook_id": own_g1["id"]}
    assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
    assert by_id(run(owner, own_g1))["ccc_bucket_pct"]["threshold_value"] == 8


# Refusals -----------------------------------------------------------------------------------------------------------


def refused(answer: httpx.Response, status: int, detail: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    assert body["detail"] == detail
    return body


@pytest.mark.parametrize("suite", ["", "Standard", "nightly", "standard ", "x" * 200])
def test_an_unknown_suite(shared_owner: Any, g1: dict[str, Any], suite: str) -> None:
    answer = shared_owner.post(RUN, json={"workbook_id": g1["id"], "test_suite": suite})
    assert refused(answer, 400, "Invalid test suite")["error_code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("test_ids", [["nonsense"], ["ccc_bucket_pct", ""], ["price_below_80_pct"]])
def test_an_unknown_test(shared_owner: Any, g1: dict[str, Any], test_ids: list[str]) -> None:
    """The last one is a test, but of another suite."""
    answer = shared_owner.post(RUN, json={"workbook_id": g1["id"], "test_ids": test_ids})
    body = refused(answer, 400, "Unknown test")
    assert body["errors"][0]["loc"] == ["body", "test_ids"]
    assert test_ids[-1] in body["errors"][0]["message"]


def test_a_misspelt_test_names_the_near_one(shared_owner: Any, g1: dict[str, Any]) -> None:
    answer = shared_owner.post(RUN, json={"workbook_id": g1["id"], "test_ids": ["wall", "nonsense"]})
    assert [error["message"] for error in refused(answer, 400, "Unknown test")["errors"][:2]] == [
        "'wall' is not in the suite standard; did you mean wal?",
        "'nonsense' is not in the suite standard",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"workbook_id": None},
        {"workbook_id": "not-a-uuid"},
        {"workbook_id": 7},
        {"test_suite": 1},
        {"test_suite": None},
        {"test_suite": "x" * 201},
        {"test_ids": "oc_ratio"},
        {"test_ids": [1]},
        {"test_ids": ["oc_ratio"] * 101},
        {"options": []},
        {"options": {"include_cushion": "yes"}},
        {"options": {"fail_fast": 1}},
        {"options": {"parallel": None}},
    ],
)
def test_a_body_of_wrong_types(shared_owner: Any, g1: dict[str, Any], body: dict[str, Any]) -> None:
    whole = body if body in ({},) else {"workbook_id": g1["id"], **body}
    assert refused(shared_owner.post(RUN, json=whole), 422, "Validation error")["errors"]


def test_an_unknown_workbook(shared_owner: Any, stranger: Any, g1: dict[str, Any]) -> None:
    body = refused(shared_owner.post(RUN, json={"workbook_id": str(uuid4())}), 404, "Workbook not found")
    assert body["error_code"] == "RESOURCE_NOT_FOUND"
    refused(stranger.post(RUN, json={"workbook_id": g1["id"]}), 404, "Workbook not found")


def test_a_deleted_workbook(owner: Any, own_g1: dict[str, Any]) -> None:
    assert owner.delete(f"/api/v1/workbooks/{own_g1['id']}").status_code == 204
    refused(owner.post(RUN, json={"workbook_id": own_g1["id"]}), 404, "Workbook not found")


@pytest.mark.parametrize("status", ["uploading", "processing", "recalculating"])
def test_a_workbook_that_is_not_ready(stack: Any, owner: Any, own_g1: dict[str, Any], status: str) -> None:
    stack.sql("UPDATE workbooks SET status = %s WHERE id = %s", [status, own_g1["id"]])
    answer = owner.post(RUN, json={"workbook_id": own_g1["id"]})
    assert refused(answer, 409, "Workbook is not ready")["error_code"] == "CONFLICT"
    stack.sql("UPDATE workbooks SET status = 'ready' WHERE id = %s", [own_g1["id"]])
    run(owner, own_g1)


def test_a_mapping_that_is_gone(stack: Any, owner: Any, own_g1: dict[str, Any]) -> None:
    """A built-in one that another version of the service had.

    A stored one cannot go while a workbook names it.
    """
    stack.sql("UPDATE workbooks SET mapping_id = 'standard_gone' WHERE id = %s", [own_g1["id"]])
    refused(owner.post(RUN, json={"workbook_id": own_g1["id"]}), 404, "Mapping not found")


def test_one_run_of_a_workbook_at_a_time(stack: Any, owner: Any, own_g1: dict[str, Any], g1_file: Path) -> None:
    """Whoever holds the lock runs.

    A second caller is refused, another workbook is not, and a crash frees the lock.
    """
    lock = lock_of(UUID(owner.tenant_id), UUID(own_g1["id"]))
    second = owner.uploaded(g1_file)
    with psycopg.connect(stack.database_url) as runner:
        runner.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [lock])
        answer = owner.post(RUN, json={"workbook_id": own_g1["id"]})
        assert refused(answer, 409, "Test already running")["error_code"] == "CONFLICT"
        assert stack.sql("SELECT count(*) FROM compliance_runs WHERE workbook_id = %s", [own_g1["id"]]) == [(0,)]
        run(owner, second)
        stack.sql("SELECT pg_terminate_backend(%s)", [runner.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            runner.execute("SELECT 1")
    run(owner, own_g1)


def test_callers_at_once_run_or_are_refused(stack: Any, owner: Any, own_g1: dict[str, Any]) -> None:
    """Every success left one run, and no lock stays behind."""

    def call(_: int) -> int:
        answer = httpx.post(stack.url + RUN, json={"workbook_id": own_g1["id"]}, headers=owner.http.headers, timeout=60)
        return answer.status_code

    with ThreadPoolExecutor(8) as callers:
        statuses = list(callers.map(call, range(40)))
    assert set(statuses) <= {200, 409}
    [(stored,)] = stack.sql("SELECT count(*) FROM compliance_runs WHERE workbook_id = %s", [own_g1["id"]])
    assert stored == statuses.count(200) > 0
    run(owner, own_g1)


def test_the_lock_is_of_tenant_and_workbook() -> None:
    tenant, workbook = uuid4(), uuid4()
    locks = {lock_of(tenant, workbook), lock_of(workbook, tenant), lock_of(tenant, uuid4()), lock_of(uuid4(), workbook)}
    assert len(locks) == 4
    assert all(-(2**63) <= lock < 2**63 for lock in locks)
    assert lock_of(tenant, workbook) == lock_of(tenant, workbook)


# Who may ------------------------------------------------------------------------------------------------------------


def test_who_may_run(stack: Any, owner: Any, own_g1: dict[str, Any]) -> None:
    body = {"workbook_id": own_g1["id"]}
    assert httpx.post(stack.url + RUN, json=body).status_code == 401
    assert owner.invite("viewer").post(RUN, json=body).status_code == 403
    assert owner.key("compliance:read", "workbooks:write").post(RUN, json=body).status_code == 403
    assert owner.invite("analyst").post(RUN, json=body).status_code == 200
    assert owner.key("compliance:write").post(RUN, json=body).status_code == 200


# Evidence -----------------------------------------------------------------------------------------------------------


def test_the_evidence_reproduces_the_run(stack: Any, owner: Any, own_g1: dict[str, Any], g1_file: Path) -> None:
    """From nothing but the stored row and the file, the library gives the stored results to the last byte."""
    owner.patch(f"/api/v1/workbooks/{own_g1['id']}", json={"stream_key": "deal:internal:g1"})
    for body in (
        {"test_id": "ccc_bucket_pct", "threshold_value": 12.5, "workbook_id": own_g1["id"]},
        {"test_id": "wal", "threshold_value": 6, "enabled": False},
        {"test_id": "oc_ratio", "threshold_value": 0.1, "threshold_type": "exact"},
    ):
        assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
    answer = run(owner, own_g1, test_suite="enhanced", options={"include_cushion": False})
    [row] = stack.sql(
        """
        SELECT results::text, skipped::text, workbook_hash, mapping::text, thresholds::text, options::text,
               engine_version, as_of, stream_key, created_by, tenant_id::text, test_suite, status, summary
        FROM compliance_runs WHERE id = %s
        """,
        [answer["id"]],
    )
    results, skipped, workbook_hash, mapping, thresholds, options, version, as_of, stream, creator, *rest = row
    assert workbook_hash == hashlib.sha256(g1_file.read_bytes()).hexdigest()
    assert version == core.__version__
    assert as_of == date.fromisoformat(answer["as_of"])
    assert (stream, creator) == ("deal:internal:g1", owner.email)
    assert rest == [owner.tenant_id, "enhanced", "completed", answer["summary"]]
    assert json.loads(mapping) == json.loads(msgspec.json.encode(PROFILES["standard_clo"]))
    limits = msgspec.json.decode(thresholds, type=dict[str, dict[str, Threshold]])
    assert set(limits["workbook"]) == {"ccc_bucket_pct"}
    assert set(limits["tenant"]) == {"wal", "oc_ratio"}
    chosen = json.loads(options)
    assert chosen == {
        "test_ids": None,
        "include_cushion": False,
        "fail_fast": False,
        "parallel": True,
        "partial": False,
    }
    again = core.run_suite(
        core.Portfolio.from_workbook(core.read(g1_file), as_of=float((as_of - date(1970, 1, 1)).days)),
        "enhanced",
        workbook_thresholds=limits["workbook"],
        tenant_thresholds=limits["tenant"],
        **{name: value for name, value in chosen.items() if name != "partial"},
    )
    assert msgspec.json.encode(list(again)).decode() == results
    assert msgspec.json.encode(again.skipped).decode() == skipped


def test_a_run_leaves_an_audit_row(stack: Any, owner: Any, own_g1: dict[str, Any]) -> None:
    key = owner.key("compliance:write")
    for member in (owner, key):
        answer = run(member, own_g1)
        [row] = stack.sql(
            """
            SELECT action, resource_type, user_email, user_id::text, api_key_id IS NOT NULL, details ->> 'test_suite',
                   details ->> 'workbook_id', (details ->> 'failed')::integer
            FROM audit_log WHERE resource_id = %s
            """,
            [answer["id"]],
        )
        assert row == (
            "compliance.run_completed", "compliance_run", owner.email, owner.user_id, member is key, "standard",
            own_g1["id"], answer["summary"]["failed"],
        )  # fmt: skip


def test_a_refused_run_leaves_nothing(stack: Any, owner: Any) -> None:
    owner.post(RUN, json={"workbook_id": str(uuid4())})
    owner.post(RUN, json={"workbook_id": str(uuid4()), "test_suite": "x"})
    assert stack.sql("SELECT count(*) FROM compliance_runs WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    assert stack.sql(
        "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND action LIKE 'compliance%%'", [owner.tenant_id]
    ) == [(0,)]


def test_a_changed_mapping_is_used_at_once(owner: Any, own_g1: dict[str, Any]) -> None:
    """The kept portfolio is one of a mapping, not of a workbook alone."""
    first = run(owner, own_g1)
    changed = owner.patch(f"/api/v1/workbooks/{own_g1['id']}", json={"mapping_id": "standard_servicer"})
    assert changed.status_code == 200, changed.text
    second = run(owner, own_g1)
    assert first["summary"]["skipped"] < second["summary"]["skipped"]


def test_a_run_says_its_day_who_said_it_and_what_makes_it_doubtful(
    stack: Any, owner: Any, own_g1: dict[str, Any]
) -> None:
    """The caller's day before the record's before the file's.

    What was said is kept with the run and its history.
    """
    of_file = run(owner, own_g1)
    assert of_file["as_of_source"] == "file"
    assert all(set(warning) <= {"code", "message", "rows"} for warning in of_file["warnings"])
    owner.patch(f"/api/v1/workbooks/{own_g1['id']}", json={"as_of": "2026-05-31"})
    of_record = run(owner, own_g1)
    assert (of_record["as_of"], of_record["as_of_source"]) == ("2026-05-31", "workbook")
    asked = run(owner, own_g1, as_of="2027-01-31")
    assert (asked["as_of"], asked["as_of_source"]) == ("2027-01-31", "request")
    kept = owner.get(f"/api/v1/compliance/results/{asked['id']}").json()
    assert {name: kept[name] for name in ("as_of", "as_of_source", "warnings")} == {
        name: asked[name] for name in ("as_of", "as_of_source", "warnings")
    }
    listed = owner.get("/api/v1/compliance/history", params={"workbook_id": own_g1["id"]}).json()["items"]
    assert {item["as_of"] for item in listed} == {of_file["as_of"], "2026-05-31", "2027-01-31"}
    sql = "SELECT as_of::text, as_of_source FROM compliance_runs WHERE id = %s"
    assert stack.sql(sql, [asked["id"]]) == [("2027-01-31", "request")]
