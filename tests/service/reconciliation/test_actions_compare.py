"""Comparisons over HTTP.

What may be compared, what it finds, and what is told of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from core.files.write import write_workbook_rows
from core.generate import generate, generate_tape
from tests.conftest import Member, Stack, wait_until
from tests.service.reconciliation.conftest import (
    BASE,
    BOOK,
    CUSIPS,
    FOUND,
    HEADER,
    TAPE,
    Files,
    Pair,
    ask,
    audited,
    compared,
    ended,
    taken,
)

RULES = [
    "par_value",
    "price",
    "rating",
    "spread",
    "maturity_date",
    "base_rate",
    "all_in_rate",
    "industry",
    "missing_loan",
]
DEFAULTS = {"par_value": 0.01, "price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 5.0}


def refused(answer: Any, status: int, detail: str, code: str = "VALIDATION_ERROR") -> None:
    assert (answer.status_code, answer.json()["detail"], answer.json()["error_code"]) == (status, detail, code)


# What it answers and finds --------------------------------------------------------------------------------------------


def test_a_comparison_answers_at_once_and_ends(stack: Stack, pair: Pair) -> None:
    answer = ask(pair.member, pair.tape_id, pair.workbook_id)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert set(body) == {"job_id", "tape_id", "workbook_id", "status", "message"}
    assert re.fullmatch("rec_[0-9a-f]{32}", body["job_id"])
    assert (body["tape_id"], body["workbook_id"], body["status"]) == (pair.tape_id, pair.workbook_id, "processing")
    job = ended(pair.member, body["job_id"])
    assert {"job_id", "status", "summary", "completed_at"} <= set(job)
    assert (job["status"], job["error_message"]) == ("completed", None)
    assert job["completed_at"] > job["created_at"]
    assert job["summary"] == {
        "total_loans_compared": 6,
        "matched": 4,
        "unmatched_trustee": 1,
        "unmatched_internal": 1,
        "issues_found": len(FOUND),
    }
    assert job["match_stages"] == {"cusip": 4, "loanx_id": 0, "isin": 0, "borrower_maturity": 0, "borrower_name": 0}
    assert job["rules"] == RULES
    assert job["tolerances"] == DEFAULTS
    assert job["changes"] == {"created": len(FOUND), "updated": 0, "resolved": 0}
    assert job["not_compared"].keys() >= {"base_rate", "all_in_rate"}
    assert (job["tape_id"], job["workbook_id"], job["created_by"]) == (
        pair.tape_id,
        pair.workbook_id,
        pair.member.email,
    )
    (started,) = audited(stack, pair.member, "reconciliation.started")
    (completed,) = audited(stack, pair.member, "reconciliation.completed")
    assert (started["tape_id"], started["rules"]) == (pair.tape_id, RULES)
    assert (completed["matched"], completed["created"]) == (4, len(FOUND))


def test_it_finds_what_differs(shared_pair: Pair) -> None:
    result = {
        tuple(
            issue[name]
            for name in ("field_name", "severity", "issue_type", "category", "trustee_value", "internal_value")
        )
        for issue in shared_pair.issues()
    }
    assert result == FOUND


@pytest.mark.parametrize("trustee", ["trustee_a", "trustee_b", "trustee_c"])
def test_it_finds_every_planted_discrepancy_and_no_other(shared_owner: Member, files: Files, trustee: str) -> None:
    drawn = generate_tape(generate(loans=200, seed=3), trustee, 3)
    drawn.write(files.folder / "tape.xlsx")
    drawn.deal.write(files.folder / "book.xlsx")
    tape = taken(shared_owner, files.folder / "tape.xlsx", trustee_name=trustee)
    book = shared_owner.uploaded(files.folder / "book.xlsx")
    assert compared(shared_owner, tape["id"], book["id"])["status"] == "completed"
    issues = Pair(shared_owner, tape, book).issues()
    assert Counter(
        (issue["primary_identifier"], issue["field_name"], issue["severity"]) for issue in issues
    ) == Counter(
        (answer.identifier, answer.field, answer.severity) for answer in drawn.answers if answer.severity != "none"
    )


def test_a_status_without_an_end_has_no_summary(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    stack.sql(
        "UPDATE reconciliations SET status = 'processing', summary = NULL, completed_at = NULL WHERE id = %s",
        [job["job_id"]],
    )
    body = pair.member.get(f"{BASE}/compare/{job['job_id']}/status").json()
    assert (body["status"], body["summary"], body["completed_at"]) == ("processing", None, None)


def test_the_rules_asked_for_alone(pair: Pair) -> None:
    job = pair.compare(rules=["spread", "price", "spread"])
    assert job["rules"] == ["price", "spread"]
    assert {issue["rule"] for issue in pair.issues()} == {"price", "spread", "borrower_name"}


@pytest.mark.parametrize("rules", [None, [], RULES])
def test_no_rules_are_all_rules(shared_pair: Pair, rules: list[str] | None) -> None:
    assert shared_pair.compare(rules=rules)["rules"] == RULES


def test_a_tape_of_another_day_than_the_workbook(owner: Member, files: Files) -> None:
    dated = [(*HEADER, "As Of Date"), *((*row, "2026-02-28") for row in BOOK[1:])]
    tape = taken(owner, files.write(TAPE))
    book = owner.uploaded(files.write(dated, "book.xlsx"))

    def days() -> list[str]:
        job = compared(owner, tape["id"], book["id"])
        return [warning["message"] for warning in job["warnings"] if warning["code"] == "days_differ"]

    assert days() == ["the workbook is as of 2026-02-28, the tape of 2026-03-31"]
    assert owner.patch(f"{BASE}/tapes/{tape['id']}", json={"as_of": "2026-02-28"}).status_code == 200
    assert days() == []
    assert owner.patch(f"/api/v1/workbooks/{book['id']}", json={"as_of": "2026-01-31"}).status_code == 200
    assert days() == ["the workbook is as of 2026-01-31, the tape of 2026-02-28"], "a user's word on both sides"


# Tolerances -----------------------------------------------------------------------------------------------------------


def set_tolerances(member: Member, **tolerances: float) -> None:
    answer = member.patch("/api/v1/admin/tenant", json={"settings": {"reconciliation_tolerances": tolerances}})
    assert answer.status_code == 200, answer.text


def test_a_tenant_has_tolerances_of_its_own(pair: Pair) -> None:
    set_tolerances(pair.member, spread=25.0, price=1.0)
    job = pair.compare()
    assert job["tolerances"] == {**DEFAULTS, "spread": 25.0, "price": 1.0}
    assert {issue["field_name"] for issue in pair.issues()} == {row[0] for row in FOUND} - {"spread", "price"}


def test_a_deployment_has_tolerances_of_its_own(stack: Stack, pair: Pair) -> None:
    settings = {
        "CUSHION_RECONCILIATION_TOLERANCE_PAR": "1",
        "CUSHION_RECONCILIATION_TOLERANCE_PRICE": "2",
        "CUSHION_RECONCILIATION_TOLERANCE_SPREAD_BPS": "24.9",
        "CUSHION_RECONCILIATION_TOLERANCE_MATURITY_DAYS": "4",
        "CUSHION_RECONCILIATION_TOLERANCE_ALL_IN_BPS": "6",
    }
    set_tolerances(pair.member, price=0.5)
    with stack.another_api(**settings) as url:
        pair.member.http.base_url = url
        job = pair.compare()
        pair.member.http.base_url = stack.url
    assert job["tolerances"] == {
        "par_value": 1.0,
        "price": 0.5,
        "spread": 24.9,
        "maturity_date": 4.0,
        "all_in_rate": 6.0,
    }
    assert {"spread", "price"} <= {issue["field_name"] for issue in pair.issues()}


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [["par"], ["par_value", "everything"], [""], ["PAR_VALUE"], ["x" * 150]])
def test_unknown_rules(shared_pair: Pair, rules: list[str]) -> None:
    answer = ask(shared_pair.member, shared_pair.tape_id, shared_pair.workbook_id, rules=rules)
    refused(answer, 400, "Invalid rules")
    assert answer.json()["errors"][-1]["message"] == f"the rules are {', '.join(RULES)}"


@pytest.mark.parametrize("rules", ["par_value", [1], {"par_value": True}, ["par_value"] * 101, ["x" * 201]])
def test_rules_that_are_no_list_of_names(shared_pair: Pair, rules: Any) -> None:
    answer = ask(shared_pair.member, shared_pair.tape_id, shared_pair.workbook_id, rules=rules)
    refused(answer, 422, "Validation error")


@pytest.mark.parametrize("tape_id", ["tape_0", "", "tape_" + "0" * 32, "'; --"])
def test_no_such_tape(shared_pair: Pair, tape_id: str) -> None:
    refused(ask(shared_pair.member, tape_id, shared_pair.workbook_id), 404, "Tape not found", "RESOURCE_NOT_FOUND")


def test_no_such_workbook(shared_pair: Pair) -> None:
    refused(ask(shared_pair.member, shared_pair.tape_id, str(uuid4())), 404, "Workbook not found", "RESOURCE_NOT_FOUND")
    refused(ask(shared_pair.member, shared_pair.tape_id, "x"), 422, "Validation error")


def test_a_deleted_workbook(pair: Pair) -> None:
    assert pair.member.delete(f"/api/v1/workbooks/{pair.workbook_id}").status_code == 204
    refused(ask(pair.member, pair.tape_id, pair.workbook_id), 404, "Workbook not found", "RESOURCE_NOT_FOUND")


@pytest.mark.parametrize("status", ["uploading", "processing", "recalculating"])
def test_a_workbook_that_is_not_ready(stack: Stack, pair: Pair, status: str) -> None:
    stack.sql("UPDATE workbooks SET status = %s WHERE id = %s", [status, pair.workbook_id])
    refused(ask(pair.member, pair.tape_id, pair.workbook_id), 409, "Workbook is not ready", "CONFLICT")


@pytest.mark.parametrize("job_id", ["rec_0", "rec_" + "0" * 32, "'--", "x"])
def test_no_such_job(shared_pair: Pair, job_id: str) -> None:
    refused(shared_pair.member.get(f"{BASE}/compare/{job_id}/status"), 404, "Job not found", "RESOURCE_NOT_FOUND")


def test_another_tenant_sees_and_compares_nothing(shared_pair: Pair, stranger: Member, files: Files) -> None:
    job = shared_pair.compare()
    refused(stranger.get(f"{BASE}/compare/{job['job_id']}/status"), 404, "Job not found", "RESOURCE_NOT_FOUND")
    tape = taken(stranger, files.write(TAPE))
    not_found = "RESOURCE_NOT_FOUND"
    refused(ask(stranger, tape["id"], shared_pair.workbook_id), 404, "Workbook not found", not_found)
    refused(ask(stranger, shared_pair.tape_id, shared_pair.workbook_id), 404, "Tape not found", not_found)


def test_who_may_compare(shared_pair: Pair) -> None:
    member, denied = shared_pair.member, (403, "Insufficient permissions", "PERMISSION_DENIED")
    for caller in (member.invite("viewer"), member.key("compliance:read")):
        refused(ask(caller, shared_pair.tape_id, shared_pair.workbook_id), *denied)
    for caller in (member.invite("analyst"), member.key("compliance:write", "compliance:read")):
        assert compared(caller, shared_pair.tape_id, shared_pair.workbook_id)["status"] == "completed"


# More than one --------------------------------------------------------------------------------------------------------


def test_the_same_comparison_under_way_is_told(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    stack.sql("UPDATE reconciliations SET status = 'processing' WHERE id = %s", [job["job_id"]])
    again = ask(pair.member, pair.tape_id, pair.workbook_id).json()
    assert again["job_id"] == job["job_id"]
    assert again["message"] == "The same comparison is under way already."
    other_body = ask(pair.member, pair.tape_id, pair.workbook_id, rules=["price"]).json()
    assert other_body["job_id"] != job["job_id"]
    assert ended(pair.member, other_body["job_id"])["status"] == "completed"
    assert [started["rules"] for started in audited(stack, pair.member, "reconciliation.started")] == [RULES, ["price"]]


def test_the_end_of_a_comparison_names_who_asked_for_it(stack: Stack, pair: Pair) -> None:
    analyst, key = pair.member.invite("analyst"), pair.member.key("compliance:write", "compliance:read")
    jobs = [compared(caller, pair.tape_id, pair.workbook_id)["job_id"] for caller in (analyst, key)]
    ((key_id,),) = stack.sql("SELECT id FROM api_keys WHERE tenant_id = %s", [pair.member.tenant_id])
    assert stack.sql(
        """
        SELECT resource_id, resource_name, user_email, api_key_id FROM audit_log
        WHERE tenant_id = %s AND action = 'reconciliation.completed' ORDER BY occurred_at
        """,
        [pair.member.tenant_id],
    ) == [(jobs[0], "tape.xlsx", analyst.email, None), (jobs[1], "tape.xlsx", pair.member.email, key_id)]
    feed = pair.member.get("/api/v1/activity", params={"action": "reconciliation.completed"}).json()["items"]
    assert all(item["user_id"] for item in feed)
    assert len({item["user_id"] for item in feed}) == 2


def test_loans_of_the_workbook_that_were_not_read_are_told(owner: Member, files: Files) -> None:
    path = files.folder / "book.xlsx"
    write_workbook_rows(path, {"Loans": [*BOOK, (CUSIPS[4], "LX000004", "Eos SA", "tbd")], "Sales": BOOK})
    job = compared(owner, taken(owner, files.write(TAPE))["id"], owner.uploaded(path)["id"])
    answer = [(warning["code"], warning["message"].startswith("workbook: ")) for warning in job["warnings"]]
    assert answer == [("page_left_out", True), ("rows_without_par", True)]


def test_comparisons_at_once_make_no_issue_twice(pair: Pair) -> None:
    asked = [[], ["price"], ["spread", "price"], ["missing_loan"], ["par_value", "rating"], []]
    with ThreadPoolExecutor(len(asked)) as pool:
        jobs = list(pool.map(lambda rules: pair.compare(rules=rules), asked))
    assert {job["status"] for job in jobs} == {"completed"}
    assert len(pair.issues()) == len(FOUND)
    assert sum(job["changes"]["created"] for job in {job["job_id"]: job for job in jobs}.values()) == len(FOUND)


def test_a_comparison_by_a_mapping_of_the_tenants_own(owner: Member, files: Files) -> None:
    german = {"Par Amount": "Comment", "Price": "Remarks"}
    rows = [tuple(german.get(name, name) for name in HEADER), *BOOK[1:]]
    response = owner.post(
        "/api/v1/mappings",
        json={
            "name": "German",
            "source_type": "clo_holdings",
            "profile_id": "standard_clo",
            "mappings": {
                "Comment": {"target": "par_value", "type": "number", "required": True},
                "Remarks": {"target": "price", "type": "number"},
            },
        },
    )
    assert response.status_code == 201, response.text
    tape = taken(owner, files.write(TAPE))
    path = files.write(rows, "book.xlsx")
    plain = compared(owner, tape["id"], owner.uploaded(path)["id"])
    assert {"par_value", "price"} <= plain["not_compared"].keys()
    mapped = compared(owner, tape["id"], owner.uploaded(path, mapping_id=response.json()["id"])["id"])
    assert mapped["status"] == "completed", mapped
    assert not {"par_value", "price"} & mapped["not_compared"].keys()
    assert mapped["summary"]["issues_found"] == len(FOUND)


# In the worker --------------------------------------------------------------------------------------------------------


def run_again(stack: Stack, pair: Pair, job_id: str) -> None:
    """Hand the comparison over once more, and wait for its end."""
    task_id = f"task_{uuid4().hex}"
    stack.sql(
        """
        INSERT INTO jobs (tenant_id, id, queue, name, arguments)
        VALUES (%s, %s, 'calculate', 'reconciliation.compare', %s)
        """,
        [pair.member.tenant_id, task_id, json.dumps({"job_id": job_id})],
    )
    wait_until(lambda: stack.sql("SELECT status FROM jobs WHERE id = %s", [task_id]) == [("completed",)])


def test_a_run_that_comes_twice_changes_nothing(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    before = pair.issues()
    run_again(stack, pair, job["job_id"])
    assert pair.member.get(f"{BASE}/compare/{job['job_id']}/status").json() == job
    forget_the_end(stack, job["job_id"], changes=None)
    run_again(stack, pair, job["job_id"])
    again = ended(pair.member, job["job_id"])
    assert again["changes"] == {"created": 0, "updated": 0, "resolved": 0}
    assert pair.issues() == before
    run_again(stack, pair, "rec_0")


def forget_the_end(stack: Stack, job_id: str, **more: Any) -> None:
    """Have a comparison be as it was before its end was written."""
    for name, value in {"status": "processing", "summary": None, "completed_at": None, **more}.items():
        stack.sql(f"UPDATE reconciliations SET {name} = %s WHERE id = %s", [value, job_id])


def test_a_run_that_died_when_its_issues_were_stored_tells_what_it_did(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    reviewed = pair.review(pair.issue("spread"), status="acknowledged")
    before = pair.issues()
    forget_the_end(stack, job["job_id"])
    run_again(stack, pair, job["job_id"])
    again = ended(pair.member, job["job_id"])
    assert (again["changes"], again["summary"]) == (job["changes"], job["summary"])
    assert pair.issues() == before
    assert pair.issue("spread") == reviewed


def test_the_comparison_asked_for_last_has_the_last_word(stack: Stack, pair: Pair) -> None:
    """However late an earlier one ends: its tolerances are no longer those that hold."""
    set_tolerances(pair.member, spread=100.0, price=100.0)
    early = pair.compare()
    set_tolerances(pair.member)
    assert pair.compare(rules=["spread"])["changes"] == {"created": 1, "updated": 0, "resolved": 0}
    forget_the_end(stack, early["job_id"], changes=None)
    stack.sql("UPDATE reconciliation_issues SET loan_key = 'another' WHERE tape_id = %s", [pair.tape_id])
    run_again(stack, pair, early["job_id"])
    assert ended(pair.member, early["job_id"])["changes"] == {"created": 4, "updated": 0, "resolved": 4}
    assert {issue["field_name"] for issue in pair.issues(status="open")} == {row[0] for row in FOUND} - {"price"}
    (name,) = (issue for issue in pair.issues() if issue["field_name"] == "borrower_name")  # every one looks at it
    assert name["status"] == "open"


def test_a_workbook_deleted_before_the_worker_came(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    assert pair.member.delete(f"/api/v1/workbooks/{pair.workbook_id}").status_code == 204
    stack.sql("UPDATE reconciliations SET status = 'processing' WHERE id = %s", [job["job_id"]])
    run_again(stack, pair, job["job_id"])
    failed = ended(pair.member, job["job_id"])
    assert failed["status"] == "failed"
    assert failed["error_message"] == "The workbook was deleted, or its columns or its mapping are no longer there."


def test_a_workbook_without_loans(owner: Member, files: Files) -> None:
    tape = taken(owner, files.write(TAPE))
    book = owner.uploaded(files.write([HEADER], "book.xlsx"))
    job = compared(owner, tape["id"], book["id"])
    assert (job["status"], job["summary"]) == ("failed", None)
    assert job["error_message"] == (
        "The workbook has no loans: sheet 'Holdings' has none below its header that can be used."
    )
    assert owner.get(f"{BASE}/issues").json()["total"] == 0
