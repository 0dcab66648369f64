"""A small file must not take the service's memory.

What a process keeps goes by the cells that are there; above its limit it lets go of that, and turns callers away until
memory is back.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

from tests.conftest import Member, Stack, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system tells of no process's own memory")

LAST_ROW = 999_999
HEADER = (
    "CUSIP", "Issuer Name", "Industry", "Par Amount", "Market Price", "Moody's Rating", "S&P Rating", "Spread", "Floor",
    "Maturity Date", "Purchase Price", "Recovery Rate", "Country", "Facility Size", "All In Rate",
)  # fmt: skip
GROWTH_MB = 64
LIMIT_MB = 256
BODY_MB = 110


def loans(salt: int, stray: int | None, *, count: int = 300) -> bytes:
    """A workbook of loans.

    With one more cell in the last row of column `stray` (1-based).
    """
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Holdings"
    sheet.append(HEADER)
    for at in range(count):
        sheet.append(
            (f"C{at:08d}", f"Issuer {at} {salt}", "Retail", 1e6 + at, 99.0, "B2", "B", 350.0, 0.5, "2031-06-15", 98.0,
             60.0, "US", 5e8, 8.5)
        )  # fmt: skip
    if stray is not None:
        sheet.cell(LAST_ROW, stray, "stray")
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def uploaded(member: Member, content: bytes) -> str:
    """A workbook made of these bytes, ready."""
    answer = member.post("/api/v1/workbooks/upload", files={"file": ("loans.xlsx", content)})
    assert answer.status_code == 201, answer.text
    workbook = member.parsed(answer.json()["id"])
    assert workbook["status"] == "ready", workbook
    return str(workbook["id"])


def run(http: httpx.Client, workbook_id: str) -> httpx.Response:
    """Every test on a workbook's loans."""
    return http.post("/api/v1/compliance/run", json={"workbook_id": workbook_id, "test_suite": "enhanced"})


@contextmanager
def caller(member: Member, url: str) -> Iterator[httpx.Client]:
    """The same member at another process of the service."""
    with httpx.Client(base_url=url, headers=member.http.headers, timeout=60) as client:
        yield client


def own_mb(url: str) -> int:
    """The memory that the process behind a port has for itself alone.

    Of granian's two that of the one that works.
    """
    port = int(url.rpartition(":")[2])
    own = os.getpid()
    result = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes().split(b"\0")
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"granian" in command and str(port).encode() in command and status.parent.name != str(own):
            result.append(int(lines["RssAnon"].split()[0]) // 1024)
    assert result, "no process serves there"
    return max(result)


def test_a_cell_in_the_last_row_keeps_no_column_of_its_length_in_memory(stack: Stack, shared_owner: Member) -> None:
    books = [uploaded(shared_owner, loans(salt, 30 if salt % 2 else 1)) for salt in range(4)]
    first = uploaded(shared_owner, loans(9, None))
    with stack.another_api(fresh=True) as url, caller(shared_owner, url) as http:
        assert run(http, first).status_code == 200
        before = own_mb(url)
        for workbook_id in books:
            answer = run(http, workbook_id)
            assert answer.status_code == 200, answer.text
        grown = own_mb(url) - before
    assert grown < GROWTH_MB, f"the process grew by {grown} MB"


def test_a_cell_far_below_the_loans_changes_no_figure(stack: Stack, shared_owner: Member) -> None:
    plain, stray = (run(shared_owner.http, uploaded(shared_owner, loans(5, at))).json() for at in (None, 30))

    def figures(answer: dict[str, Any]) -> dict[str, Any]:
        return {name: answer[name] for name in ("results", "summary", "warnings", "as_of_source") if name in answer}

    assert plain["results"]
    assert figures(stray) == figures(plain)


def test_above_its_limit_a_process_sheds_load_and_serves_again(stack: Stack, shared_owner: Member) -> None:
    formula = {"formula": "=1+1"}
    settings = {"CUSHION_API_MEMORY_MB": str(LIMIT_MB), "CUSHION_MAX_SAMPLE_BYTES": str(2 * BODY_MB * 1024 * 1024)}
    with stack.another_api(fresh=True, **settings) as url, caller(shared_owner, url) as http:

        def evaluated() -> int:
            answer = http.post("/api/v1/calculations/evaluate", json=formula)
            assert answer.status_code == 200 or int(answer.headers["Retry-After"]) > 0
            return answer.status_code

        assert evaluated() == 200
        assert own_mb(url) < LIMIT_MB
        with ExitStack() as open_requests:
            for _ in range(2):  # bodies that never end
                open_requests.enter_context(unfinished(url, shared_owner, BODY_MB))
            wait_until(lambda: evaluated() == 503, seconds=30, what="the refusal")
            assert httpx.get(url + "/health/live").status_code == 200
            assert http.get("/api/v1/auth/me").status_code == 200
            assert http.get("/api/v1/workbooks").status_code == 503
        wait_until(lambda: evaluated() == 200, seconds=30, what="the service's return")


@contextmanager
def unfinished(url: str, member: Member, megabytes: int) -> Iterator[None]:
    """A request whose body stops short of its last byte."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    size = megabytes * 1024 * 1024
    head = (
        f"POST /api/v1/mappings/standard_clo/validate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Authorization: {member.http.headers['Authorization']}\r\nContent-Length: {size + 1}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head.encode() + b" " * size)
        yield
