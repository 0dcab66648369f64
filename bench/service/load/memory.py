"""Whether the memory of an API process and of a worker stays flat.

Many requests and jobs, no two alike.
"""

from __future__ import annotations

import json
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.service.load.mixes import CONTEXT, Deal, workbook
from bench.service.load.processes import taken
from bench.service.load.wrk import NUMBER_DIGITS, Step, drive
from bench.service.stack import Client
from core.formula.evaluate import PROGRAMS_MAX

EXPECTED = (200, 201, 400, 401, 404, 409, 422)
LOOKS = 20
CONNECTIONS = 8
JOBS_AT_A_TIME = 24
JOB_SECONDS = 300.0


def of_requests(url: str, deal: Deal, requests: int, tell: Callable[[int, int], None]) -> None:
    """Send so many requests, and tell in between how many it were and what the API holds.

    More formulas than a process remembers come first and do not count: that cache takes longest to fill.
    """
    steps, sent, seed = _steps(deal), 0, 10 ** (NUMBER_DIGITS - 1)
    filled = 0
    while filled <= PROGRAMS_MAX:
        outcome = drive(url, steps[:1], seconds=2, connections=CONNECTIONS, seed=seed)
        filled, seed = filled + outcome.requests, seed + 64 * outcome.requests + 64
    seconds = 2.0
    while sent < requests:
        outcome = drive(url, steps, seconds=seconds, connections=CONNECTIONS, expected=EXPECTED, seed=seed)
        if errors := outcome.errors(EXPECTED):
            raise AssertionError(f"{errors}: {outcome.odd}")
        sent, seed = sent + outcome.requests, seed + 64 * outcome.requests + 64
        seconds = min(2 * seconds, max(1.0, requests / LOOKS / outcome.requests * outcome.seconds))
        tell(sent, taken()["API"].bytes)


def of_jobs(client: Client, jobs: int, tell: Callable[[int, int], None]) -> None:
    """Run so many jobs: uploads of different files, exports, recalculations."""
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < jobs:
            books = [
                client.upload("/api/v1/workbooks/upload", _different(Path(folder), done + number), {})["id"]
                for number in range(JOBS_AT_A_TIME)
            ]
            _until(client, [f"/api/v1/workbooks/{book}" for book in books], "status", "ready")
            exports = [
                client.post("/api/v1/exports", {"workbook_id": book, "format": ("csv", "json", "xlsx")[number % 3]})
                for number, book in enumerate(books[: JOBS_AT_A_TIME // 2])
            ]
            _until(client, [f"/api/v1/exports/{export['id']}" for export in exports], "status", "completed")
            for book in books[JOBS_AT_A_TIME // 2 :]:
                client.post("/api/v1/compliance/run", {"workbook_id": book, "test_suite": "standard"})
                client.exchange("DELETE", f"/api/v1/workbooks/{book}")
            done += JOBS_AT_A_TIME + JOBS_AT_A_TIME // 2
            tell(done, taken()["worker"].bytes)


def _different(folder: Path, number: int) -> Path:
    """A workbook of other loans, or of the same with another mark in its archive.

    To make loans takes too long.
    """
    loans, seed = 200 + number % 40, number % 40
    path = folder / f"deal-{loans}-{seed}.xlsx"
    if not path.exists():
        workbook(folder, loans=loans, seed=seed)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = f"{number:016d}".encode()
    return path


def _until(client: Client, paths: list[str], name: str, value: str) -> None:
    end = time.monotonic() + JOB_SECONDS
    for path in paths:
        while (record := client.get(path))[name] != value:
            if time.monotonic() > end or record[name] in ("error", "failed"):
                raise AssertionError(f"{path} is {record[name]}: {record}")
            time.sleep(0.05)


def _steps(deal: Deal) -> list[Step]:
    """Good and bad requests with other formulas, names, identifiers and values each time."""

    def get(path: str, weight: int = 1, **headers: str) -> Step:
        return Step(method="GET", path=path, headers={**own, **headers}, weight=weight)

    def post(path: str, body: Any, weight: int = 1, **headers: str) -> Step:
        encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {**own, "Content-Type": "application/json", **headers}
        return Step(method="POST", path=path, headers=sent, body=encoded, weight=weight)

    own = {**deal.client.headers, "X-Request-ID": "run-{n}"}
    evaluate, unknown = "/api/v1/calculations/evaluate", "00000000-0000-4000-8000-0{n}"
    book = f"/api/v1/workbooks/{deal.id}"
    return [
        post(evaluate, {"formula": "=SUM(A1:A10)*{n}", "context": CONTEXT}, 8),
        post(evaluate, {"formula": '=CONCAT("text {n}",B{n},A1)', "context": CONTEXT}, 2),
        post(evaluate, {"formula": "=NAME_{n}+1", "context": {"Column {n}": 1}}, 2),
        post(evaluate, {"formula": "=SUM(", "context": {}}),
        post(evaluate, b'{"formula": {n}'),
        post(evaluate, {"formula": "=1+{n}"}, 2, **{"Idempotency-Key": "key-{n}"}),
        post(
            "/api/v1/calculations/batch",
            {"formulas": [{"id": f"f{{n}}-{row}", "formula": f"=A{row}*{{n}}"} for row in range(1, 11)]},
            2,
        ),
        post("/api/v1/compliance/run", {"workbook_id": deal.id, "test_suite": "standard"}),
        post("/api/v1/compliance/run", {"workbook_id": unknown, "test_suite": "suite {n}"}),
        post("/api/v1/mappings", {"name": "Mapping {n}", "mappings": {"Wrong {n}": "field {n}"}}),
        get(book, 3),
        get("/api/v1/workbooks?page_size=5&search=name-{n}", 2),
        get(f"{book}/sheets/{deal.sheet}/data?page_size=20", 2),
        get(f"{book}/sheets/sheet-{{n}}/data"),
        get(f"/api/v1/workbooks/{unknown}", 2),
        get("/api/v1/nowhere/{n}"),
        get("/api/v1/auth/me", 2, **{"User-Agent": "agent {n}"}),
        get("/api/v1/auth/me", 1, Authorization="Bearer wrong.{n}.token"),
        get("/api/v1/auth/me", 1, Authorization="", **{"X-API-Key": "sk_live_{n}"}),
        get("/api/v1/compliance/history?page_size=5"),
    ]
