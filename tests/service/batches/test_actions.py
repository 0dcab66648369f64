"""What may be ordered, what is refused before anything is written, who stops a batch and who reads its results."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from service.batches.schema import BATCH_WORKBOOKS_MAX
from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.batches.conftest import ENDED, URL, asked, batched, ended, history

OF_TESTS = ("passed", "failed", "warnings", "skipped", "doubtful")
NOTHING = ("done", "refused", *OF_TESTS)
BOOK, DEAL = "BOOK", "DEAL"
"""Stand for identifiers that are there."""


@pytest.fixture(scope="module")
def shared_book(shared_owner: Member, g1_file: Path) -> str:
    return str(shared_owner.uploaded(g1_file)["id"])


def test_a_batch_is_pending_then_completed(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    before = datetime.now(UTC)
    with stack.without_worker():
        answer = asked(owner, workbook_ids=book_ids)
        assert answer.status_code == 201, answer.text
        batch = answer.json()
        assert before < datetime.fromisoformat(batch["created_at"])
        assert batch == {
            "id": batch["id"],
            "name": "standard, 3 workbooks",
            "status": "pending",
            "test_suite": "standard",
            "format": "csv",
            "counts": {"total": 3, **dict.fromkeys(NOTHING, 0)},
            "progress": 0,
            **dict.fromkeys(("file_size_bytes", "download_url", "expires_at", "error_details"), None),
            "created_by": owner.email,
            "created_at": batch["created_at"],
            **dict.fromkeys(("started_at", "completed_at"), None),
        }
        assert owner.get(f"{URL}/{batch['id']}").json() == batch
        early = owner.get(f"{URL}/{batch['id']}/results")
        assert (early.status_code, early.json()["detail"]) == (409, "Batch has no results yet")
        assert early.json()["errors"][0]["message"] == "the batch is pending"
        jobs = stack.sql("SELECT status FROM jobs WHERE tenant_id = %s AND name LIKE 'batches.%%'", [owner.tenant_id])
        assert len(jobs) == 2, "no more than its lanes, however many workbooks there are"
    done = ended(owner, batch["id"])
    assert (done["status"], done["progress"], done["error_details"]) == ("completed", 100, None)
    assert done["created_at"] <= done["started_at"] <= done["completed_at"] < done["expires_at"]
    summary = history(owner, book_ids[0])[0]["summary"]
    tests = {name: 3 * summary[name] for name in OF_TESTS}
    assert done["counts"] == {"total": 3, "done": 3, "refused": 0, **tests}
    assert tests["failed"] > 0
    assert tests["passed"] > 0
    assert done["download_url"] == f"{URL}/{batch['id']}/results"
    file = owner.get(done["download_url"])
    assert (file.status_code, file.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert len(file.content) == done["file_size_bytes"]
    assert 'filename="standard, 3 workbooks.csv"' in file.headers["content-disposition"]
    part = owner.get(done["download_url"], headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, file.content[:10])


def test_a_waiting_read_answers_at_the_change(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    batch = asked(owner, workbook_ids=book_ids).json()
    seen = [batch]
    while seen[-1]["status"] not in ENDED:
        seen.append(owner.get(f"{URL}/{batch['id']}", params={"wait": 20}).json())
        assert len(seen) < 20, seen
    assert seen[-1]["status"] == "completed"
    assert [batch_["progress"] for batch_ in seen] == sorted(batch_["progress"] for batch_ in seen)


REFUSED: list[tuple[dict[str, Any], int, str, str]] = [
    ({}, 422, "Validation error", "name workbook_ids or deal_ids, and not both"),
    ({"workbook_ids": [BOOK], "deal_ids": [DEAL]}, 422, "Validation error", "and not both"),
    ({"workbook_ids": []}, 422, "Validation error", "1"),
    ({"workbook_ids": [BOOK, BOOK]}, 422, "Validation error", "is named twice"),
    ({"workbook_ids": ["x"]}, 422, "Validation error", "identifier"),
    ({"workbook_ids": [str(uuid4()) for _ in range(BATCH_WORKBOOKS_MAX + 1)]}, 422, "Validation error", "10,000"),
    ({"workbook_ids": [BOOK, str(uuid4())]}, 404, "Workbook not found", "is none of yours"),
    ({"deal_ids": [str(uuid4())]}, 404, "Deal not found", "is none of yours"),
    ({"deal_ids": [BOOK]}, 404, "Deal not found", "is none of yours"),
    ({"workbook_ids": [BOOK], "test_suite": "klingon"}, 400, "Invalid test suite", "the suites are"),
    ({"workbook_ids": [BOOK], "test_ids": ["wall"]}, 400, "Unknown test", "did you mean wal"),
    ({"workbook_ids": [BOOK], "thresholds": [{"test_id": "x", "threshold_value": 1}]}, 400, "Unknown test", "'x'"),
    ({"workbook_ids": [BOOK], "definition": {"tests": 5}}, 422, "Invalid definition", ""),
    ({"deal_ids": [DEAL], "definition": "us_bsl"}, 422, "Validation error", "deals are run by their own definitions"),
    ({"workbook_ids": [BOOK], "format": "xlsx"}, 422, "Validation error", "parquet"),
    ({"workbook_ids": [BOOK], "name": " "}, 422, "Validation error", ""),
    ({"workbook_ids": [BOOK], "name": "x" * 201}, 422, "Validation error", "200"),
    ({"workbook_ids": [BOOK], "suite": "standard"}, 422, "Validation error", "suite"),
    ({"workbook_ids": [BOOK], "as_of": "yesterday"}, 422, "Validation error", ""),
]


@every("body, status, detail, words", REFUSED)
def test_what_cannot_be_ordered_leaves_nothing(
    stack: Stack, shared_owner: Member, shared_book: str, body: dict[str, Any], status: int, detail: str, words: str
) -> None:
    deal_id = shared_owner.post("/api/v1/deals", json={"name": f"Deal {uuid4().hex[:8]}"}).json()["id"]
    real = {BOOK: shared_book, DEAL: deal_id}
    named = {name: [real.get(id_, id_) for id_ in body[name]] for name in ("workbook_ids", "deal_ids") if name in body}
    answer = asked(shared_owner, **{**body, **named})
    refusal = answer.json()
    assert (answer.status_code, refusal["detail"]) == (status, detail), refusal
    assert any(words in fault["message"] for fault in refusal["errors"]), refusal
    assert refusal["errors"][0]["loc"][0] == "body"
    assert shared_owner.get(URL).json()["total"] == 0
    assert stack.sql("SELECT 1 FROM batch_items WHERE tenant_id = %s", [shared_owner.tenant_id]) == []


def test_a_place_of_each_unknown_workbook_is_named(owner: Member, stranger: Member, book_ids: list[str]) -> None:
    """A foreign one is as unknown as one that is not there."""
    nobodys = str(uuid4())
    answer = asked(stranger, workbook_ids=[book_ids[0], nobodys])
    assert answer.status_code == 404
    assert [fault["loc"] for fault in answer.json()["errors"]] == [["body", "workbook_ids", n] for n in "01"]
    assert owner.delete(f"/api/v1/workbooks/{book_ids[0]}").status_code == 204
    assert asked(owner, workbook_ids=book_ids).status_code == 404, "one that was deleted"


def test_a_stranger_sees_nothing_and_a_viewer_orders_nothing(
    owner: Member, stranger: Member, book_ids: list[str]
) -> None:
    batch = batched(owner, workbook_ids=book_ids)
    for method, path in (("GET", ""), ("GET", "/results"), ("DELETE", "")):
        answer = stranger.http.request(method, f"{URL}/{batch['id']}{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, "Batch not found"), (method, path)
    assert stranger.get(URL).json()["total"] == 0
    viewer = owner.invite("viewer")
    assert viewer.get(f"{URL}/{batch['id']}/results").status_code == 200
    assert asked(viewer, workbook_ids=book_ids).status_code == 403
    assert viewer.delete(f"{URL}/{batch['id']}").status_code == 403


def test_lists_are_read_by_skipping(owner: Member, book_ids: list[str]) -> None:
    ids = [batched(owner, workbook_ids=[book_id], name=f"Batch {book_id}")["id"] for book_id in book_ids]
    whole = owner.get(URL).json()
    assert (whole["total"], whole["skip"], whole["limit"]) == (3, 0, 50)
    assert [item["id"] for item in whole["items"]] == ids[::-1]
    assert whole["items"][0] == owner.get(f"{URL}/{ids[2]}").json()
    part = owner.get(URL, params={"skip": 1, "limit": 1}).json()
    assert ([item["id"] for item in part["items"]], part["total"]) == ([ids[1]], 3)
    for status, count in (("completed", 3), ("pending", 0), ("failed", 0)):
        assert owner.get(URL, params={"status": status}).json()["total"] == count, status
    for wrong in ({"limit": 0}, {"limit": 101}, {"skip": -1}, {"status": "done"}):
        assert owner.get(URL, params=wrong).status_code == 422, wrong


def test_the_same_request_twice_makes_one_batch(owner: Member, book_ids: list[str]) -> None:
    answers = [asked(owner, {"Idempotency-Key": "one"}, workbook_ids=book_ids) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert asked(owner, {"Idempotency-Key": "one"}, workbook_ids=book_ids[:1]).status_code == 409
    assert owner.get(URL).json()["total"] == 1
    ended(owner, answers[0].json()["id"])
    assert [len(history(owner, book_id)) for book_id in book_ids] == [1, 1, 1]


def test_only_so_many_are_in_work(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    with stack.without_worker(), stack.another_api(CUSHION_MAX_BATCHES="1") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        first = asked(owner, workbook_ids=book_ids)
        assert first.status_code == 201
        answer = asked(owner, workbook_ids=book_ids)
        assert (answer.status_code, answer.json()["detail"]) == (403, "Batch limit exceeded")
        assert "the limit is 1 batches in work" in answer.json()["errors"][0]["message"]
        assert owner.delete(f"{URL}/{first.json()['id']}").status_code == 204
        assert asked(owner, workbook_ids=book_ids).status_code == 201


def test_a_cancelled_batch_runs_nothing_more(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids).json()
        assert owner.delete(f"{URL}/{batch['id']}").status_code == 204
        again = owner.delete(f"{URL}/{batch['id']}")
        assert (again.status_code, again.json()["detail"]) == (409, "Batch has ended")
        assert again.json()["errors"][0]["message"] == "the batch is cancelled"
    other_batch = batched(owner, workbook_ids=book_ids[:1])  # by which time the jobs of the first one have ended, too
    assert other_batch["status"] == "completed"
    cancelled = owner.get(f"{URL}/{batch['id']}").json()
    assert (cancelled["status"], cancelled["counts"]["done"], cancelled["download_url"]) == ("cancelled", 0, None)
    assert cancelled["completed_at"] is not None
    assert owner.get(f"{URL}/{batch['id']}/results").status_code == 409
    assert [len(history(owner, book_id)) for book_id in book_ids] == [1, 0, 0]
    events = "SELECT action FROM audit_log WHERE tenant_id = %s AND resource_id = %s ORDER BY sequence"
    assert stack.sql(events, [owner.tenant_id, batch["id"]]) == [("batch.created",), ("batch.cancelled",)]


def test_results_expire_and_the_batch_stays(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    batch = batched(owner, workbook_ids=book_ids[:1])
    stack.sql("UPDATE documents SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    for _ in range(2):  # before the bytes are given up, and after
        body = owner.get(f"{URL}/{batch['id']}").json()
        assert (body["status"], body["download_url"]) == ("completed", None)
        gone = owner.get(f"{URL}/{batch['id']}/results")
        assert (gone.status_code, gone.json()["detail"]) == (410, "Results of the batch have expired")
        stack.sql("SELECT expire_documents(1000)")
    stack.sql("UPDATE documents SET created_at = now() - interval '9 days' WHERE tenant_id = %s", [owner.tenant_id])
    stack.sql("SELECT forget_documents(7, 1000)")
    body = owner.get(f"{URL}/{batch['id']}").json()
    assert (body["status"], body["file_size_bytes"], body["expires_at"]) == ("completed", None, None)
    assert owner.get(f"{URL}/{batch['id']}/results").status_code == 410
