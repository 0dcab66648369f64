"""Reviews of many issues in one call.

Which ones, what they get, what is refused, and how it is undone.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from service.reconciliation.issue_store import LOCK_PAIR
from service.reconciliation.schema import REVIEW_MAX, REVIEW_PAIRS_MAX
from tests.conftest import Member, Stack
from tests.service.reconciliation.conftest import BASE, FOUND, TAPE, Files, Pair, audited, compared, taken

URL = f"{BASE}/issues"


def many(member: Member, **body: Any) -> Any:
    return member.patch(URL, json=body)


def done(member: Member, **body: Any) -> dict[str, Any]:
    answer = many(member, **body)
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


def refused(answer: Any, status: int, detail: str, fault: str = "") -> None:
    assert (answer.status_code, answer.json()["detail"]) == (status, detail), answer.text
    assert fault in str(answer.json().get("errors"))


def statuses(pair: Pair) -> dict[str, str]:
    return {issue["id"]: issue["status"] for issue in pair.issues()}


def count_by_status(pair: Pair) -> dict[str, int]:
    result: dict[str, int] = pair.member.get(f"{URL}/summary", params={"tape_id": pair.tape_id}).json()["by_status"]
    return {status: count for status, count in result.items() if count}


def test_issues_named_by_their_identifiers(stack: Stack, pair: Pair) -> None:
    pair.compare()
    before = pair.issues()
    chosen = [issue["id"] for issue in before[:3]]
    answer = done(pair.member, ids=[*chosen, chosen[0]], status="acknowledged", resolution_notes="asked")
    assert set(answer) == {"updated", "reviewed_at"}
    assert answer["updated"] == 3, "one that is named twice is one"
    for issue, now in zip(before, pair.issues(), strict=True):
        if issue["id"] in chosen:
            value = {
                "status": "acknowledged",
                "resolution_notes": "asked",
                "reviewed_by": pair.member.email,
                "reviewed_at": answer["reviewed_at"],
                "updated_at": answer["reviewed_at"],
            }
            assert now == {**issue, **value}
        else:
            assert now == issue
    assert count_by_status(pair) == {"open": len(FOUND) - 3, "acknowledged": 3}
    (event,) = audited(stack, pair.member, "issues.updated")
    assert event == {
        "updated": 3,
        "reviewed_at": answer["reviewed_at"],
        "by": "ids",
        "status": "acknowledged",
        "resolution_notes": "asked",
    }
    assert stack.sql(
        "SELECT resource_type, resource_id, user_email FROM audit_log WHERE tenant_id = %s AND action = %s",
        [pair.member.tenant_id, "issues.updated"],
    ) == [("issues", pair.tape_id, pair.member.email)]
    assert audited(stack, pair.member, "issue.updated") == []


@pytest.mark.parametrize(
    ("conditions", "fields"),
    [
        ({"severity": "critical"}, {"par_value", "missing_loan"}),
        ({"severity": "info", "status": "open"}, {"borrower_name"}),
        ({"category": "rating"}, {"rating_agency_a"}),
        ({"status": "resolved"}, set()),
        ({"severity": "warning"}, {"price", "rating_agency_a", "spread"}),
    ],
)
def test_issues_that_meet_every_condition(shared_pair: Pair, conditions: dict[str, str], fields: set[str]) -> None:
    member = shared_pair.member
    answer = done(member, filter={**conditions, "tape_id": shared_pair.tape_id}, status="false_positive")
    changed = [issue for issue in shared_pair.issues() if issue["status"] == "false_positive"]
    assert {issue["field_name"] for issue in changed} == fields
    assert answer["updated"] == len(changed)
    assert (answer["reviewed_at"] is None) == (not changed)
    if changed:
        undone = done(member, filter={"reviewed_at": answer["reviewed_at"]}, status="open")
        assert undone["updated"] == len(changed)
    assert set(statuses(shared_pair).values()) == {"open"}
    assert count_by_status(shared_pair) == {"open": len(FOUND)}


def test_conditions_name_a_workbook_or_a_comparison(pair: Pair, files: Files) -> None:
    job = pair.compare()
    second = taken(pair.member, files.write(TAPE, "april.xlsx"), statement_date="2026-04-30")
    compared(pair.member, second["id"], pair.workbook_id)
    assert done(pair.member, filter={"job_id": job["job_id"]}, status="resolved")["updated"] == len(FOUND)
    assert set(statuses(pair).values()) == {"resolved"}
    page = pair.member.get(URL, params={"tape_id": second["id"]}).json()
    assert {issue["status"] for issue in page["items"]} == {"open"}
    whole = {"workbook_id": pair.workbook_id}
    assert done(pair.member, filter=whole, status="acknowledged")["updated"] == 2 * len(FOUND), "of two tapes"
    assert count_by_status(pair) == {"acknowledged": len(FOUND)}


def test_notes_that_are_not_given_stay(stack: Stack, pair: Pair) -> None:
    pair.compare()
    ids = [issue["id"] for issue in pair.issues()[:2]]
    pair.review({"id": ids[0]}, status="acknowledged", resolution_notes="first")

    def reviewed() -> list[tuple[str, str | None]]:
        return [(issue["status"], issue["resolution_notes"]) for issue in pair.issues()[:2]]

    done(pair.member, ids=ids, status="resolved")
    assert reviewed() == [("resolved", "first"), ("resolved", None)]
    done(pair.member, ids=ids, status="open", resolution_notes="both")
    assert reviewed() == [("open", "both"), ("open", "both")]
    done(pair.member, ids=ids, status="open", resolution_notes=None)
    assert reviewed() == [("open", None), ("open", None)]
    assert count_by_status(pair) == {"open": len(FOUND)}
    assert done(pair.member, filter={"status": "resolved"}, status="open") == {"updated": 0, "reviewed_at": None}
    assert len(audited(stack, pair.member, "issues.updated")) == 3, "where nothing changed, nothing is recorded"


def test_what_a_comparison_resolved_counts_as_reviewed(stack: Stack, pair: Pair) -> None:
    """As by a review of one.

    A status of its own ends that it is gone; the same status leaves it gone.
    """
    pair.compare()
    stack.sql("UPDATE reconciliation_issues SET gone = true, status = 'resolved' WHERE tape_id = %s", [pair.tape_id])
    ids = list(statuses(pair))
    stack.sql("UPDATE reconciliation_counts SET status = 'resolved' WHERE tape_id = %s", [pair.tape_id])
    done(pair.member, ids=ids[:1], status="resolved")
    done(pair.member, ids=ids[1:2], status="open")
    gone = dict(stack.sql("SELECT id, gone FROM reconciliation_issues WHERE tape_id = %s", [pair.tape_id]))
    assert [gone[identifier] for identifier in ids] == [True, False] + [True] * (len(FOUND) - 2)


@pytest.mark.parametrize(
    "body",
    [
        {"status": "open"},
        {"status": "open", "ids": ["iss_0"], "filter": {"severity": "info"}},
        {"status": "open", "ids": []},
        {"status": "open", "ids": ["iss_0"] * (REVIEW_MAX + 1)},
        {"status": "open", "ids": ["x" * 201]},
        {"status": "open", "ids": "iss_0"},
        {"status": "open", "filter": {}},
        {"status": "open", "filter": {"tape_id": None}},
        {"status": "open", "filter": {"severity": "grave"}},
        {"status": "open", "filter": {"status": "closed"}},
        {"status": "open", "filter": {"job": "rec_0"}},
        {"status": "open", "filter": {"reviewed_at": "yesterday"}},
        {"status": None, "ids": ["iss_0"]},
        {"ids": ["iss_0"]},
        {"status": "open", "resolution_notes": "x" * 4_001, "ids": ["iss_0"]},
    ],
)
def test_what_is_no_review_of_many(shared_pair: Pair, body: dict[str, Any]) -> None:
    refused(many(shared_pair.member, **body), 422, "Validation error")


def test_an_unknown_status(shared_pair: Pair) -> None:
    answer = many(shared_pair.member, ids=list(statuses(shared_pair)), status="closed")
    refused(answer, 400, "Invalid status", "the statuses are open, acknowledged, resolved, false_positive")


def test_an_identifier_that_names_nothing_changes_nothing(shared_pair: Pair, stranger: Member, files: Files) -> None:
    ids = list(statuses(shared_pair))
    refused(many(shared_pair.member, ids=[*ids, "iss_0"], status="resolved"), 404, "Issue not found")
    refused(many(stranger, ids=ids[:1], status="resolved"), 404, "Issue not found")
    for body, detail in (({"tape_id": "tape_0"}, "Tape not found"), ({"job_id": "rec_0"}, "Job not found")):
        refused(many(shared_pair.member, filter=body, status="resolved"), 404, detail)
    refused(many(stranger, filter={"tape_id": shared_pair.tape_id}, status="resolved"), 404, "Tape not found")
    mine = {"workbook_id": shared_pair.workbook_id}
    assert done(stranger, filter=mine, status="resolved") == {"updated": 0, "reviewed_at": None}
    assert done(shared_pair.member, filter={"workbook_id": str(uuid4())}, status="open")["updated"] == 0
    assert set(statuses(shared_pair).values()) == {"open"}


def _multiply(stack: Stack, pair: Pair, count: int) -> None:
    """Give a pair so many issues more, all of severity info, with their counts."""
    stack.sql(
        """
        INSERT INTO reconciliation_issues (tenant_id, id, tape_id, workbook_id, loan_key, identifier_type, issue_type,
                                           severity, category, rule, field_name, trustee_value, internal_value)
        SELECT tenant_id, 'iss_many' || n, tape_id, workbook_id, 'loan ' || n, identifier_type, issue_type, 'info',
               'date', rule, field_name, '1', '2'
        FROM (SELECT * FROM reconciliation_issues WHERE tape_id = %(tape)s LIMIT 1) i, generate_series(1, %(count)s) n
        """,
        {"tape": pair.tape_id, "count": count},
    )
    stack.sql(
        """
        INSERT INTO reconciliation_counts (tenant_id, tape_id, workbook_id, severity, category, status, issues)
        SELECT DISTINCT tenant_id, tape_id, workbook_id, 'info', 'date', 'open', %s
        FROM reconciliation_issues WHERE tape_id = %s
        """,
        [count, pair.tape_id],
    )


def test_at_most_ten_thousand(stack: Stack, pair: Pair) -> None:
    pair.compare()
    _multiply(stack, pair, REVIEW_MAX)
    chosen = {"tape_id": pair.tape_id, "category": "date"}
    ids = [f"iss_many{n}" for n in range(1, REVIEW_MAX + 1)]
    assert done(pair.member, ids=ids, status="acknowledged")["updated"] == REVIEW_MAX
    assert done(pair.member, filter=chosen, status="resolved")["updated"] == REVIEW_MAX
    assert count_by_status(pair) == {"open": len(FOUND), "resolved": REVIEW_MAX}
    answer = many(pair.member, filter={"tape_id": pair.tape_id}, status="open")
    refused(answer, 422, "Validation error", "it matches more than 10,000 issues, the most of one call")
    assert count_by_status(pair) == {"open": len(FOUND), "resolved": REVIEW_MAX}


def test_at_most_a_hundred_pairs(stack: Stack, pair: Pair) -> None:
    pair.compare()
    _multiply(stack, pair, REVIEW_PAIRS_MAX)
    stack.sql(
        "UPDATE reconciliation_issues SET workbook_id = gen_random_uuid() WHERE tape_id = %s AND category = 'date'",
        [pair.tape_id],
    )
    answer = many(pair.member, filter={"tape_id": pair.tape_id}, status="resolved")
    refused(answer, 422, "Validation error", "of more than 100 pairs of tape and workbook")
    ids = [f"iss_many{n}" for n in range(1, REVIEW_PAIRS_MAX + 1)]
    assert done(pair.member, ids=ids, status="resolved")["updated"] == REVIEW_PAIRS_MAX
    refused(many(pair.member, ids=[*ids, pair.issue("spread")["id"]], status="open"), 422, "Validation error", "pairs")


def test_a_review_of_many_does_not_wait_for_a_long_merge(stack: Stack, pair: Pair) -> None:
    pair.compare()
    ids = list(statuses(pair))
    with psycopg.connect(stack.database_url) as merging:
        merging.execute(LOCK_PAIR, {"tape_id": pair.tape_id, "workbook_id": pair.workbook_id})
        refused(many(pair.member, ids=ids, status="resolved"), 409, "Concurrent modification")
    assert set(statuses(pair).values()) == {"open"}
    assert done(pair.member, ids=ids, status="resolved")["updated"] == len(FOUND)


def test_who_may_review_many(shared_pair: Pair) -> None:
    member, ids = shared_pair.member, list(statuses(shared_pair))[:1]
    for denied in (member.invite("viewer"), member.key("compliance:read")):
        refused(many(denied, ids=ids, status="open"), 403, "Insufficient permissions")
    assert done(member.invite("analyst"), ids=ids, status="open")["updated"] == 1
