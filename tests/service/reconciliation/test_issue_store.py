"""Issues over HTTP.

Listed, counted, reviewed, and brought up to date by the next comparison.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from service.reconciliation.issue_store import LOCK_PAIR
from tests.conftest import Member, Stack, wait_until
from tests.service.reconciliation.conftest import BASE, FOUND, TAPE, Files, Pair, ask, audited, compared, ended, taken

STATUSES = ("open", "acknowledged", "resolved", "false_positive")
SEVERITIES = ("critical", "error", "warning", "info")
FIELDS = ("spread", "price", "par_value")
"""Of an issue each, so that one comparison meets an issue of each status that a reviewer sets."""
VALUES = ("trustee_value", "internal_value")


def refused(answer: Any, status: int, detail: str, code: str = "VALIDATION_ERROR") -> None:
    assert (answer.status_code, answer.json()["detail"], answer.json()["error_code"]) == (status, detail, code)


def summary(pair: Pair, **query: Any) -> dict[str, Any]:
    result: dict[str, Any] = pair.member.get(f"{BASE}/issues/summary", params=query).json()
    return result


def counted(pair: Pair) -> None:
    """The summary says what the list holds."""
    issues = pair.issues()
    assert summary(pair, tape_id=pair.tape_id) == {
        "total": len(issues),
        "by_severity": {name: sum(issue["severity"] == name for issue in issues) for name in SEVERITIES},
        "by_status": {name: sum(issue["status"] == name for issue in issues) for name in STATUSES},
    }
    for status in STATUSES:
        assert len(pair.issues(status=status)) == sum(issue["status"] == status for issue in issues)


def insisted(pair: Pair, issue: dict[str, Any], status: str) -> None:
    """Review an issue, again while a merge or another review of the pair takes long."""

    def taken() -> bool:
        answer = pair.member.patch(f"{BASE}/issues/{issue['id']}", json={"status": status})
        assert answer.status_code in (200, 409), answer.text
        return answer.status_code == 200

    wait_until(taken, seconds=60, what="the review")


# Listed and counted ---------------------------------------------------------------------------------------------------


def test_an_issue_tells_all_of_it(shared_pair: Pair) -> None:
    issue = shared_pair.issue("spread")
    assert re.fullmatch("iss_[0-9a-f]{32}", issue["id"])
    by_name = {name: value for name, value in issue.items() if name not in ("id", "created_at", "primary_identifier")}
    assert by_name == {
        "tape_id": shared_pair.tape_id,
        "workbook_id": shared_pair.workbook_id,
        "cusip": TAPE[2][0],
        "identifier_type": "cusip",
        "borrower_name": "Cirrus Inc.",
        "issue_type": "value_mismatch",
        "severity": "warning",
        "category": "calculation",
        "rule": "spread",
        "field_name": "spread",
        "trustee_value": "375",
        "internal_value": "350",
        "status": "open",
        "resolution_notes": None,
        "reviewed_by": None,
        "reviewed_at": None,
        "updated_at": None,
    }


def test_the_gravest_come_first(shared_pair: Pair) -> None:
    grave = [SEVERITIES.index(issue["severity"]) for issue in shared_pair.issues()]
    assert grave == sorted(grave)


def test_pages_of_issues(shared_pair: Pair) -> None:
    def page(**query: Any) -> dict[str, Any]:
        answer: dict[str, Any] = shared_pair.member.get(
            f"{BASE}/issues", params={"tape_id": shared_pair.tape_id, **query}
        ).json()
        return answer

    whole = page()
    assert set(whole) == {"items", "total", "page", "page_size", "total_pages"}
    assert (whole["total"], whole["page"], whole["page_size"], whole["total_pages"]) == (len(FOUND), 1, 50, 1)
    pages = [page(page=number, page_size=3)["items"] for number in range(1, 5)]
    assert [issue["id"] for items in pages for issue in items] == [issue["id"] for issue in whole["items"]]
    assert [len(items) for items in pages] == [3, 3, 1, 0]
    assert page(page_size=200)["page_size"] == 200


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ({"severity": "critical"}, {"par_value", "missing_loan"}),
        ({"severity": "info"}, {"borrower_name"}),
        ({"category": "rating"}, {"rating_agency_a"}),
        ({"category": "missing", "severity": "error"}, {"missing_loan"}),
        ({"status": "open", "category": "calculation", "severity": "warning"}, {"price", "spread"}),
        ({"status": "resolved"}, set()),
        ({"category": "duplicate"}, set()),
        ({"workbook_id": str(uuid4())}, set()),
    ],
)
def test_filters(shared_pair: Pair, query: dict[str, str], fields: set[str]) -> None:
    assert {issue["field_name"] for issue in shared_pair.issues(**query)} == fields


@pytest.mark.parametrize(
    "query",
    [{"status": "closed"}, {"severity": "grave"}, {"category": "par"}, {"page_size": 201}, {"workbook_id": "x"}],
)
def test_a_list_refuses_what_does_not_fit(shared_pair: Pair, query: dict[str, Any]) -> None:
    refused(shared_pair.member.get(f"{BASE}/issues", params=query), 422, "Validation error")


@pytest.mark.parametrize("path", ["issues", "issues/summary"])
def test_issues_of_a_tape_that_is_not_there(shared_pair: Pair, stranger: Member, path: str) -> None:
    """An empty answer would read as a clean tape."""
    for member, tape_id in ((shared_pair.member, "tape_0"), (stranger, shared_pair.tape_id)):
        answer = member.get(f"{BASE}/{path}", params={"tape_id": tape_id})
        refused(answer, 404, "Tape not found", "RESOURCE_NOT_FOUND")


def test_the_summary(shared_pair: Pair, stranger: Member) -> None:
    counted(shared_pair)
    expected = {
        "total": len(FOUND),
        "by_severity": {name: sum(row[1] == name for row in FOUND) for name in SEVERITIES},
        "by_status": {"open": len(FOUND), "acknowledged": 0, "resolved": 0, "false_positive": 0},
    }
    assert summary(shared_pair, tape_id=shared_pair.tape_id) == expected
    assert summary(shared_pair, workbook_id=shared_pair.workbook_id) == expected
    assert stranger.get(f"{BASE}/issues/summary").json()["total"] == 0
    assert stranger.get(f"{BASE}/issues").json()["items"] == []


def test_issues_of_every_tape_the_newest_first(pair: Pair, files: Files) -> None:
    pair.compare()
    second = taken(pair.member, files.write(TAPE, "april.xlsx"), statement_date="2026-04-30")
    compared(pair.member, second["id"], pair.workbook_id)
    page = pair.member.get(f"{BASE}/issues").json()
    assert page["total"] == 2 * len(FOUND)
    assert [issue["tape_id"] for issue in page["items"]] == [second["id"]] * len(FOUND) + [pair.tape_id] * len(FOUND)
    assert summary(pair)["total"] == 2 * len(FOUND)


# Reviewed -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_can_be_set(shared_pair: Pair, status: str) -> None:
    issue = shared_pair.issue("price")
    changed = shared_pair.review(issue, status=status, resolution_notes=f"because {status}")
    assert (changed["status"], changed["resolution_notes"]) == (status, f"because {status}")
    assert (changed["reviewed_by"], changed["id"]) == (shared_pair.member.email, issue["id"])
    assert changed["reviewed_at"] == changed["updated_at"] is not None
    assert shared_pair.issue("price") == changed
    counted(shared_pair)
    shared_pair.review(issue, status="open", resolution_notes=None)


def test_status_and_notes_change_apart(stack: Stack, pair: Pair) -> None:
    pair.compare()
    issue = pair.issue("spread")
    assert pair.review(issue, resolution_notes="asked the trustee")["status"] == "open"
    changed = pair.review(issue, status="acknowledged")
    assert (changed["status"], changed["resolution_notes"]) == ("acknowledged", "asked the trustee")
    assert pair.review(issue, resolution_notes=None)["resolution_notes"] is None
    before = pair.issue("spread")
    assert pair.review(issue) == before
    assert pair.review(issue, id="sent back") == before
    assert len(audited(stack, pair.member, "issue.updated")) == 3


@pytest.mark.parametrize("status", ["closed", "", "OPEN", "open ", "x" * 200])
def test_an_unknown_status(shared_pair: Pair, status: str) -> None:
    path = f"{BASE}/issues/{shared_pair.issue('spread')['id']}"
    refused(shared_pair.member.patch(path, json={"status": status}), 400, "Invalid status")


@pytest.mark.parametrize(
    "body", [{"status": None}, {"status": 1}, {"resolution_notes": 1}, {"resolution_notes": "x" * 4_001}, []]
)
def test_what_is_no_review(shared_pair: Pair, body: Any) -> None:
    path = f"{BASE}/issues/{shared_pair.issue('spread')['id']}"
    refused(shared_pair.member.patch(path, json=body), 422, "Validation error")


@pytest.mark.parametrize("issue_id", ["iss_0", "iss_" + "0" * 32, "'--", "x"])
def test_no_such_issue(shared_pair: Pair, issue_id: str) -> None:
    answer = shared_pair.member.patch(f"{BASE}/issues/{issue_id}", json={"status": "open"})
    refused(answer, 404, "Issue not found", "RESOURCE_NOT_FOUND")


def test_another_tenant_reviews_nothing(shared_pair: Pair, stranger: Member) -> None:
    issue = shared_pair.issue("spread")
    answer = stranger.patch(f"{BASE}/issues/{issue['id']}", json={"status": "resolved"})
    refused(answer, 404, "Issue not found", "RESOURCE_NOT_FOUND")
    assert shared_pair.issue("spread") == issue


def test_who_may_review(shared_pair: Pair) -> None:
    member, path = shared_pair.member, f"{BASE}/issues/{shared_pair.issue('par_value')['id']}"
    for denied in (member.invite("viewer"), member.key("compliance:read")):
        refused(denied.patch(path, json={"status": "open"}), 403, "Insufficient permissions", "PERMISSION_DENIED")
    analyst = member.invite("analyst")
    assert analyst.patch(path, json={"status": "acknowledged"}).json()["reviewed_by"] == analyst.email
    by_key = member.key("compliance:write").patch(path, json={"status": "open"}).json()
    assert (by_key["status"], by_key["reviewed_by"]) == ("open", member.email)


def test_the_history_of_an_issue_stays(stack: Stack, pair: Pair) -> None:
    pair.compare()
    issue, analyst = pair.issue("spread"), pair.member.invite("analyst")
    pair.review(issue, status="acknowledged", resolution_notes="seen")
    analyst.patch(f"{BASE}/issues/{issue['id']}", json={"status": "false_positive", "resolution_notes": "a fee"})
    history = audited(stack, pair.member, "issue.updated")
    assert [(item["status_before"], item["status"], item["resolution_notes"]) for item in history] == [
        ("open", "acknowledged", "seen"),
        ("acknowledged", "false_positive", "a fee"),
    ]
    who = stack.sql(
        "SELECT user_email, resource_id FROM audit_log WHERE tenant_id = %s AND action = 'issue.updated'"
        " ORDER BY occurred_at",
        [pair.member.tenant_id],
    )
    assert who == [(pair.member.email, issue["id"]), (analyst.email, issue["id"])]


def test_reviews_at_once_keep_the_counts(pair: Pair) -> None:
    pair.compare()
    issues = pair.issues()
    work = [(issue, status) for issue in issues for status in STATUSES[1:]]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda item: insisted(pair, *item), work))
    counted(pair)


def test_reviews_during_comparisons_keep_the_counts(pair: Pair) -> None:
    pair.compare()
    issues = pair.issues()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(pair.compare, rules=rules) for rules in (["price"], ["spread"], ["rating"])]
        list(pool.map(lambda issue: insisted(pair, issue, "acknowledged"), issues))
        assert {job.result()["status"] for job in jobs} == {"completed"}
    assert {issue["status"] for issue in pair.issues()} == {"acknowledged"}
    counted(pair)


def test_a_review_does_not_wait_for_a_long_merge(stack: Stack, pair: Pair) -> None:
    """It would hold a connection of the service's few.

    Lists go on meanwhile, and so does the merge that waits.
    """
    pair.compare()
    path = f"{BASE}/issues/{pair.issue('spread')['id']}"
    with psycopg.connect(stack.database_url) as merging:
        merging.execute(LOCK_PAIR, {"tape_id": pair.tape_id, "workbook_id": pair.workbook_id})
        begun = time.monotonic()
        refused(pair.member.patch(path, json={"status": "resolved"}), 409, "Concurrent modification", "CONFLICT")
        assert time.monotonic() - begun < 15
        waiting = ask(pair.member, pair.tape_id, pair.workbook_id).json()["job_id"]
        assert len(pair.issues(status="open")) == len(FOUND)
    assert ended(pair.member, waiting)["status"] == "completed"
    assert pair.member.patch(path, json={"status": "resolved"}).status_code == 200


# Compared again -------------------------------------------------------------------------------------------------------


def edit(stack: Stack, issue: dict[str, Any], **values: Any) -> None:
    """Have an issue say what an earlier comparison would have found."""
    for name, value in values.items():
        stack.sql(f"UPDATE reconciliation_issues SET {name} = %s WHERE id = %s", [value, issue["id"]])


def test_nothing_changes_where_nothing_changed(pair: Pair) -> None:
    pair.compare()
    before = pair.issues()
    again = pair.compare()
    assert again["changes"] == {"created": 0, "updated": 0, "resolved": 0}
    assert pair.issues() == before


def test_an_open_issue_takes_the_new_values(stack: Stack, pair: Pair) -> None:
    pair.compare()
    issue = pair.issue("par_value")
    edit(stack, issue, trustee_value="1020000", severity="error", borrower_name="Borealis")
    assert pair.compare()["changes"] == {"created": 0, "updated": 1, "resolved": 0}
    changed = pair.issue("par_value")
    assert changed["updated_at"] is not None
    assert changed | {"updated_at": None} == issue
    counted(pair)


def test_what_was_reviewed_stays_while_its_values_do(stack: Stack, pair: Pair) -> None:
    pair.compare()
    reviewed = {
        field: pair.review(pair.issue(field), status=status, resolution_notes="known")
        for field, status in zip(FIELDS, STATUSES[1:], strict=True)
    }
    pair.compare()
    assert {field: pair.issue(field) for field in FIELDS} == reviewed
    for issue in reviewed.values():
        edit(stack, issue, severity="info")  # found otherwise, by the same values
    pair.compare()
    for field, issue in reviewed.items():
        assert pair.issue(field) | {"updated_at": None} == issue | {"updated_at": None}
    counted(pair)


@pytest.mark.parametrize("side", VALUES)
def test_a_changed_value_opens_what_was_reviewed(stack: Stack, pair: Pair, side: str) -> None:
    pair.compare()
    before = {field: pair.issue(field) for field in FIELDS}
    for field, status in zip(FIELDS, STATUSES[1:], strict=True):
        edit(stack, pair.review(before[field], status=status, resolution_notes="known"), **{side: "999"})
    assert pair.compare()["changes"] == {"created": 0, "updated": 3, "resolved": 0}
    for field, issue in before.items():
        opened = pair.issue(field)
        assert (opened["id"], opened["status"]) == (issue["id"], "open")
        assert (opened["reviewed_by"], opened["reviewed_at"]) == (None, None)
        assert opened["resolution_notes"] == "known"
        assert [opened[name] for name in VALUES] == [issue[name] for name in VALUES]
    assert [pair.issue("spread")[name] for name in VALUES] == ["375", "350"]
    counted(pair)


def with_tolerance(pair: Pair, **tolerances: float) -> dict[str, Any]:
    """The comparison by other tolerances, ended."""
    settings = {"settings": {"reconciliation_tolerances": tolerances}}
    assert pair.member.patch("/api/v1/admin/tenant", json=settings).status_code == 200
    return pair.compare()


def test_what_is_gone_is_resolved_and_what_comes_back_is_open(pair: Pair) -> None:
    pair.compare()
    issue = pair.issue("spread")
    job = with_tolerance(pair, spread=100.0)
    assert job["changes"] == {"created": 0, "updated": 0, "resolved": 1}
    gone = pair.issue("spread")
    assert (gone["id"], gone["status"], gone["reviewed_by"]) == (issue["id"], "resolved", None)
    assert gone["resolution_notes"] == f"No longer found by comparison {job['job_id']}."
    counted(pair)
    assert with_tolerance(pair, spread=100.0)["changes"]["resolved"] == 0
    assert pair.issue("spread") == gone
    assert with_tolerance(pair)["changes"] == {"created": 0, "updated": 1, "resolved": 0}
    back = pair.issue("spread")
    assert (back["id"], back["status"], back["resolution_notes"]) == (issue["id"], "open", None)
    assert len(pair.issues()) == len(FOUND)
    counted(pair)


def test_what_comes_back_is_open_whatever_was_said_while_it_was_gone(pair: Pair) -> None:
    pair.compare()
    words = {"spread": {"resolution_notes": "known"}, "price": {"status": "resolved", "resolution_notes": "known"}}
    before = {field: pair.issue(field) for field in words}
    with_tolerance(pair, spread=100.0, price=100.0)
    reviewed = {field: pair.review(pair.issue(field), **review) for field, review in words.items()}
    for issue in reviewed.values():
        assert (issue["status"], issue["reviewed_by"]) == ("resolved", pair.member.email)
    with_tolerance(pair, spread=100.0, price=100.0)
    assert {field: pair.issue(field) for field in words} == reviewed
    with_tolerance(pair)
    for field, issue in before.items():
        back = pair.issue(field)
        assert (back["id"], back["status"], back["reviewed_by"]) == (issue["id"], "open", None)
        assert back["resolution_notes"] == "known"
    counted(pair)


def test_what_was_decided_while_it_was_gone_ends_with_the_next_comparison(pair: Pair) -> None:
    pair.compare()
    with_tolerance(pair, spread=100.0)
    pair.review(pair.issue("spread"), status="open", resolution_notes=None)
    job = with_tolerance(pair, spread=100.0)
    again = pair.issue("spread")
    assert (job["changes"]["resolved"], again["status"]) == (1, "resolved")
    assert again["resolution_notes"] == (
        f"No longer found by comparison {job['job_id']}. Before: open, {pair.member.email}."
    )


def test_a_reviewers_notes_outlast_the_discrepancy(pair: Pair) -> None:
    pair.compare()
    words = {"spread": "known", "price": "known\nNo longer found, they say", "par_value": None}
    for field, notes in words.items():
        pair.review(pair.issue(field), status="false_positive", resolution_notes=notes)
    with_tolerance(pair, spread=100.0, price=100.0, par_value=1e6)
    for field, notes in words.items():
        assert pair.issue(field)["resolution_notes"].startswith(notes or "No longer found by comparison")
    with_tolerance(pair)
    for field, notes in words.items():
        back = pair.issue(field)
        assert (back["status"], back["resolution_notes"]) == ("open", notes)


def test_what_was_reviewed_and_is_gone_is_resolved_without_a_reviewer(stack: Stack, pair: Pair) -> None:
    pair.compare()
    reviewed = {}
    for field, status in zip(FIELDS, STATUSES[1:], strict=True):
        issue = pair.review(pair.issue(field), status=status, resolution_notes="known")
        reviewed[issue["id"]] = status
        edit(stack, issue, loan_key="another")
    job = pair.compare()
    assert job["changes"] == {"created": 3, "updated": 0, "resolved": 3}
    gone = [issue for issue in pair.issues() if issue["id"] in reviewed]
    assert len(gone) == 3
    for issue in gone:
        assert (issue["status"], issue["reviewed_by"], issue["reviewed_at"]) == ("resolved", None, None)
        assert issue["resolution_notes"] == (
            f"known\nNo longer found by comparison {job['job_id']}. "
            f"Before: {reviewed[issue['id']]}, {pair.member.email}."
        )
    counted(pair)


def test_only_the_rules_asked_for_resolve(stack: Stack, pair: Pair) -> None:
    pair.compare()
    for field in ("spread", "price", "borrower_name"):
        edit(stack, pair.issue(field), loan_key="another")
    job = pair.compare(rules=["price"])
    assert job["changes"] == {"created": 2, "updated": 0, "resolved": 2}
    assert {issue["field_name"] for issue in pair.issues(status="resolved")} == {"price", "borrower_name"}
    assert len(pair.issues(status="open")) == len(FOUND)


def test_what_could_not_be_compared_is_not_gone(stack: Stack, pair: Pair) -> None:
    job = pair.compare()
    assert "base_rate" in job["not_compared"]
    edit(stack, pair.issue("spread"), field_name="base_rate", rule="base_rate")
    assert pair.compare()["changes"] == {"created": 1, "updated": 0, "resolved": 0}
    assert pair.issue("base_rate")["status"] == "open"


def test_another_workbook_has_issues_of_its_own(pair: Pair, files: Files) -> None:
    pair.compare()
    same = pair.member.uploaded(files.write(TAPE, "same.xlsx"))
    job = compared(pair.member, pair.tape_id, same["id"])
    assert job["summary"]["issues_found"] == 0
    assert len(pair.issues()) == len(FOUND)
    assert pair.issues(workbook_id=same["id"]) == []
    assert len(pair.issues(workbook_id=pair.workbook_id)) == len(FOUND)
