"""A disk that loses or alters stored bytes.

Everyone is told, and no figure ever comes of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import xlsxwriter

from tests.conftest import Member, Stack, wait_until

REFUSED = (503, "Stored data is damaged", "SERVICE_UNAVAILABLE")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook that nobody else has."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as written:
        sheet = written.add_worksheet("Loans")
        sheet.write_row(0, 0, ["Issuer", "LoanX ID", "Par Amount", str(uuid4())])
        for row in range(1, 50):
            sheet.write_row(row, 0, [f"Obligor {row}", f"LX{row:06}", 1_000_000.0])
    return path


def columns_of(stack: Stack, workbook: dict[str, Any]) -> Path:
    ((key,),) = stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s", [workbook["id"]])
    return stack.data_dir / "blobs" / key[:2] / key


def flip(path: Path) -> None:
    """One bit of a figure, in place, as it rots: whoever has the file mapped sees it."""
    at = path.read_bytes().index(bytes.fromhex("80842e41"))  # the end of the float64 of a million
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\x81")


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def dead_letters(stack: Stack, who: Member) -> list[tuple[str, str, str]]:
    return stack.sql(  # type: ignore[return-value]
        "SELECT task_name, exception_type, exception_message FROM dead_letters WHERE tenant_id = %s ORDER BY failed_at",
        [who.tenant_id],
    )


def in_error(who: Member, workbook: dict[str, Any]) -> dict[str, Any]:
    """The workbook, once it is in error."""

    def notification() -> dict[str, Any] | None:
        answer: dict[str, Any] = who.get(f"/api/v1/workbooks/{workbook['id']}").json()
        return answer if answer["status"] == "error" else None

    answer: dict[str, Any] = wait_until(notification, what="the error state")
    return answer


def status_and_text(answer: httpx.Response) -> tuple[int, str, str]:
    return answer.status_code, answer.json()["detail"], answer.json()["error_code"]


def run(who: Member, workbook: dict[str, Any]) -> httpx.Response:
    return who.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], "test_suite": "standard"})


def data(who: Member, workbook: dict[str, Any]) -> httpx.Response:
    return who.get(f"/api/v1/workbooks/{workbook['id']}/sheets/Loans/data")


def evaluate(who: Member, workbook: dict[str, Any]) -> httpx.Response:
    body = {"formula": "=SUM(Loans!C2:C50)", "workbook_id": workbook["id"]}
    return who.post("/api/v1/calculations/evaluate", json=body)


@pytest.mark.parametrize("damage", [flip, shorten, Path.unlink])
def test_damaged_columns_are_refused_though_they_were_read_before(
    stack: Stack, owner: Member, stranger: Member, book: Path, damage: Callable[[Path], None]
) -> None:
    mine, theirs = owner.uploaded(book), stranger.uploaded(book)
    surfaces = (run, data, evaluate)
    for ask in surfaces:
        assert ask(owner, mine).status_code == 200  # mapped, mapped, and mapped by an evaluator
    path = columns_of(stack, mine)
    damage(path)
    for ask in surfaces:
        refused = status_and_text(ask(owner, mine))
        assert refused in (REFUSED, (409, "Workbook is not ready", "CONFLICT")), refused
        assert ask is not run or refused == REFUSED
    for who, workbook in ((owner, mine), (stranger, theirs)):
        assert "damaged" in in_error(who, workbook)["error_message"]
        assert status_and_text(run(who, workbook)) == REFUSED  # its columns are those of before, and still damaged
        ((task, kind, message),) = dead_letters(stack, who)
        assert (task, kind, path.name in message) == ("blobs.check", "Damaged", True)
    assert owner.get("/api/v1/activity").json()["items"][0]["action"] == "workbook.check_failed"


@pytest.mark.parametrize("ask", [data, evaluate])
def test_every_surface_refuses_what_rotted(
    owner: Member, stack: Stack, book: Path, ask: Callable[[Member, dict[str, Any]], httpx.Response]
) -> None:
    workbook = owner.uploaded(book)
    assert ask(owner, workbook).status_code == 200
    flip(columns_of(stack, workbook))
    assert status_and_text(ask(owner, workbook)) == REFUSED
    in_error(owner, workbook)


def test_the_same_file_uploaded_again_is_read_again(stack: Stack, owner: Member, book: Path) -> None:
    workbook = owner.uploaded(book)
    figures = run(owner, workbook).json()["results"]
    flip(columns_of(stack, workbook))
    in_error_after = run(owner, workbook)
    assert status_and_text(in_error_after) == REFUSED
    again = owner.uploaded(book)
    assert again["status"] == "ready"
    assert run(owner, again).json()["results"] == figures


def test_a_recalculation_of_damaged_columns_ends_at_once(stack: Stack, owner: Member, book: Path) -> None:
    workbook = owner.uploaded(book)
    path = columns_of(stack, workbook)
    flip(path)
    assert owner.post(f"/api/v1/workbooks/{workbook['id']}/recalculate").status_code == 200
    assert "damaged" in in_error(owner, workbook)["error_message"]
    wait_until(lambda: len(dead_letters(stack, owner)) == 2, what="both dead letters")
    letters = dead_letters(stack, owner)
    assert {(task, kind) for task, kind, _ in letters} == {
        ("workbooks.recalculate", "Damaged"),
        ("blobs.check", "Damaged"),
    }
    assert all(path.name in message for *_, message in letters)


def test_a_file_that_was_altered_before_it_was_parsed_gives_no_columns(stack: Stack, owner: Member, book: Path) -> None:
    workbook = owner.uploaded(book)
    ((key,),) = stack.sql("SELECT content_hash FROM workbooks WHERE id = %s", [workbook["id"]])
    with (stack.data_dir / "blobs" / key[:2] / key).open("ab") as file:  # a zip archive may have a comment: it parses
        file.write(b"\0")
    stack.sql("UPDATE workbooks SET status = 'processing' WHERE id = %s", [workbook["id"]])
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments) VALUES (%s, %s, 'parse', 'workbooks.parse', %s)",
        [owner.tenant_id, f"task_{uuid4().hex}", json.dumps({"workbook_id": workbook["id"]})],
    )
    assert "damaged" in in_error(owner, workbook)["error_message"]
    assert ("workbooks.parse", "Damaged") in {(task, kind) for task, kind, _ in dead_letters(stack, owner)}


def test_the_loans_of_a_tape_are_not_read_from_damaged_bytes(stack: Stack, owner: Member, book: Path) -> None:
    form = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}
    taken = owner.post("/api/v1/reconciliation/tapes/upload", files={"file": ("t.xlsx", book.read_bytes())}, data=form)
    place = f"/api/v1/reconciliation/tapes/{taken.json()['tape_id']}"
    wait_until(lambda: owner.get(place).json()["processing_status"] == "completed", what="the tape")
    assert owner.get(place + "/loans").json()["total"] == 49
    ((key,),) = stack.sql("SELECT loans_key FROM tapes WHERE id = %s", [taken.json()["tape_id"]])
    flip(stack.data_dir / "blobs" / key[:2] / key)
    assert status_and_text(owner.get(place + "/loans")) == REFUSED
    wait_until(lambda: owner.get(place).json()["processing_status"] == "failed", what="the failed tape")
    assert "damaged" in owner.get(place).json()["error_message"]


def test_what_rots_unread_is_found_in_time(stack: Stack, owner: Member, book: Path) -> None:
    workbook = owner.uploaded(book)
    path = columns_of(stack, workbook)
    flip(path)
    stack.sql("UPDATE blobs SET checked_at = now() - interval '1 year' WHERE key = %s", [path.name])
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):
        assert "damaged" in in_error(owner, workbook)["error_message"]
    assert [(task, path.name in message) for task, _, message in dead_letters(stack, owner)] == [("blobs.check", True)]
