"""A child that is killed from outside, short of memory say, is no fault of the file: the work is done again."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
import xlwt

from tests.conftest import Member, Stack, register, wait_until

PARSER, CALCULATOR = "core.recalc.confined.parse", "core.recalc.confined.recalculate"
PROBER, COMPARER = "core.files.confined.probe", "core.reconciliation.confined"
HEADER = ["loan_id", "borrower_name", "par_amount", "double"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as result:
        sheet = result.add_worksheet("S")
        sheet.write_row("A1", HEADER)
        for row in (2, 3, 4):
            sheet.write_row(f"A{row}", [f"L{row}", f"Borrower {row}", 1000.0 * row])
            sheet.write_formula(f"D{row}", f"=C{row}*2", None, 99)
    return path


def below(parent: int) -> Iterator[int]:
    """The processes that a process began, and those that these began."""
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):
            for number in map(int, path.read_text().split()):
                yield number
                yield from below(number)


def running(module: str) -> list[int]:
    """The children of ours that do something of a module, kept ones that wait for work not among them."""
    result = []
    for number in below(os.getpid()):
        with suppress(OSError):
            own = Path(f"/proc/{number}/cmdline").read_bytes()
            if f"\0{module}".encode() not in own:
                continue
            parent = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1]
            is_fork = own == Path(f"/proc/{parent}/cmdline").read_bytes()
            if is_fork or not own.rstrip(b"\0").rpartition(b"\0")[2].isdigit():
                result.append(number)
    return result


@contextmanager
def killing(module: str, *, most: int) -> Iterator[list[int]]:
    """Ends the first children that run a module, each as soon as it is there.

    Who was ended.
    """
    ended: list[int] = []
    stop = threading.Event()

    def look() -> None:
        with suppress(PermissionError):  # a fork is done in 20 ms, in which a busy machine may not let us look
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        while not stop.is_set() and len(ended) < most:
            for number in running(module):
                if number not in ended:
                    with suppress(OSError):
                        os.kill(number, signal.SIGKILL)
                        ended.append(number)
            time.sleep(0.002)

    killer = threading.Thread(target=look)
    killer.start()
    try:
        yield ended
    finally:
        stop.set()
        killer.join()


def jobs(stack: Stack, member: Member, name: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT status, failures FROM jobs WHERE tenant_id = %s AND name = %s ORDER BY created_at",
        [member.tenant_id, name],
    )


def dead_letters(stack: Stack, member: Member) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT task_name, exception_type, retries_attempted FROM dead_letters WHERE tenant_id = %s", [member.tenant_id]
    )


def test_a_parse_that_is_killed_once_is_done_again(stack: Stack, owner: Member, book: Path) -> None:
    with killing(PARSER, most=1) as ended:
        workbook = owner.uploaded(book)
    assert len(ended) == 1
    assert (workbook["status"], workbook["error_message"]) == ("ready", None)
    assert jobs(stack, owner, "workbooks.parse") == [("completed", 1)]
    assert dead_letters(stack, owner) == []


def test_a_parse_that_is_killed_each_time_ends_in_error(stack: Stack, owner: Member, book: Path) -> None:
    """As the service's fault, not the file's, with a dead letter for who runs it."""
    with killing(PARSER, most=100) as ended:
        workbook = owner.uploaded(book)
    assert len(ended) == 3
    assert workbook["status"] == "error"
    assert "fault in the service" in workbook["error_message"]
    assert jobs(stack, owner, "workbooks.parse") == [("failed", 3)]
    assert dead_letters(stack, owner) == [("workbooks.parse", "ChildKilled", 2)]
    for answer in (
        owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/S/data"),
        owner.post(f"/api/v1/workbooks/{workbook['id']}/recalculate"),
        owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready"), "it has no columns"


def test_a_recalculation_that_is_killed_can_be_asked_for_again(stack: Stack, owner: Member, book: Path) -> None:
    """Killed each time: the workbook is in error, its last good columns are served.

    Once: it is done again.
    """
    path = f"/api/v1/workbooks/{owner.uploaded(book)['id']}"

    def recalculated(**killed: int) -> dict[str, Any]:
        with killing(CALCULATOR, **killed):
            answer = owner.post(f"{path}/recalculate")
            assert (answer.status_code, answer.json()["status"]) == (200, "recalculating"), answer.text
            return owner.parsed(path.rsplit("/", 1)[1])

    def values() -> list[Any]:
        data = owner.get(f"{path}/sheets/S/data")
        assert data.status_code == 200, data.text
        return [row["double"] for row in data.json()["rows"]]

    assert values() == [99, 99, 99], "as they stand in the file"
    workbook = recalculated(most=100)
    assert workbook["status"] == "error"
    assert "could not be recalculated" in workbook["error_message"]
    assert dead_letters(stack, owner) == [("workbooks.recalculate", "ChildKilled", 2)]

    assert values() == [99, 99, 99]
    assert owner.get(f"{path}/sheets/S/cells/D2").json()["value"] == 99
    asked = {"formula": "=SUM(D:D)", "workbook_id": workbook["id"], "sheet_name": "S"}
    assert owner.post("/api/v1/calculations/evaluate", json=asked).json()["value"] == 297
    assert owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]}).status_code == 200
    assert owner.get(path).json()["status"] == "error", "and everybody sees it"

    workbook = recalculated(most=1)
    assert (workbook["status"], workbook["error_message"]) == ("ready", None)
    assert values() == [4000, 6000, 8000]
    assert jobs(stack, owner, "workbooks.recalculate") == [("failed", 3), ("completed", 1)]


def test_a_tape_whose_reader_is_killed_is_read_again(stack: Stack, owner: Member, book: Path) -> None:
    with killing(COMPARER, most=1) as ended:
        answer = owner.post(
            "/api/v1/reconciliation/tapes/upload",
            files={"file": (book.name, book.read_bytes())},
            data={"trustee_name": "trustee_a", "statement_date": "2024-01-31"},
        )
        assert answer.status_code == 201, (answer.text, answer.headers)
        wait_until(lambda: jobs(stack, owner, "reconciliation.read_tape")[0][0] == "completed", what="the tape")
    assert len(ended) == 1
    assert jobs(stack, owner, "reconciliation.read_tape") == [("completed", 1)]


def test_an_upload_whose_probe_is_killed_is_not_called_damaged(
    stack: Stack, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The file is right, so its sender is told to come again.

    The log tells why and where.
    """
    workbook = xlwt.Workbook()
    sheet = workbook.add_sheet("S")
    for row, column in product(range(20_000), range(6)):
        sheet.write(row, column, 1.0)
    path = tmp_path / "book.xls"
    workbook.save(str(path))
    with stack.another_api() as url:
        owner = register(url)
        with killing(PROBER, most=1) as ended:
            answer = owner.upload(path)
        assert len(ended) == 1
        assert (answer.status_code, answer.json()["error_code"]) == (503, "SERVICE_UNAVAILABLE"), answer.text
        assert owner.get("/api/v1/workbooks").json()["total"] == 0
        assert owner.uploaded(path)["status"] == "ready"
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    (report,) = [line for line in lines if line["event"] == "request.unavailable"]
    assert report["request_id"] == answer.json()["request_id"]
    assert (report["path"], report["cause"]) == ("/api/v1/workbooks/upload", "ChildKilled")
    assert report["at"].startswith("service.workbooks.upload_actions:")
