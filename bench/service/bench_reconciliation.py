"""A tape that differs from its workbook in a million places: compared and stored, then read, over the whole service."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import core
from bench.figures import Figure, paired_seconds
from bench.service.stack import LEAST, LEAST_NAME, Client, serving
from core.files.write import write_workbook_rows
from core.generate import generate

LOANS = 253_000
ISSUES_LEAST = 1_000_000
SETTINGS = {"CUSHION_REQUESTS_PER_MINUTE": "100000 100000 100000 100000"}  # to wait is no load
WAIT_SECONDS = 300.0
READS = 100
STORING_SECONDS_MOST = 20.0
READING_SECONDS_MOST = 0.050

_COLUMNS = ("cusip", "loanx_id", "borrower_name", "par_value", "price", "spread", "all_in_rate")
_OFF = {"par_value": 1.08, "price": 1.02, "spread": 1.2, "all_in_rate": 1.03}
"""What the trustee's figure is of ours: each of them out of tolerance."""

Columns = dict[str, Sequence[Any]]


def run() -> list[Figure]:
    """Seconds of comparing, of storing a million issues and of doing so again; medians of reading them."""
    columns = _columns()
    edited = {name: values * _OFF[name] if name in _OFF else values for name, values in columns.items()}
    expected = len(core.reconcile(core.Portfolio.from_columns(edited), core.Portfolio.from_columns(columns)).issues)
    if expected < ISSUES_LEAST:
        raise AssertionError(f"{expected:,} issues are fewer than {ISSUES_LEAST:,}")
    with tempfile.TemporaryDirectory() as folder:
        book, tape = Path(folder) / "book.xlsx", Path(folder) / "tape.xlsx"
        write_workbook_rows(book, {"Holdings": _rows(columns)})
        write_workbook_rows(tape, {"Holdings": _rows(edited)})
        with serving(SETTINGS) as url:
            client = Client(url)
            try:
                asked = {"workbook_id": client.uploaded(book), "tape_id": _uploaded_tape(client, tape)}
                return [*_compare(client, asked, expected), *_read(client, asked["tape_id"], expected)]
            finally:
                client.close()


def _columns() -> dict[str, Any]:
    """Our side, in the units of a portfolio; text as lists."""
    drawn = generate(loans=LOANS, seed=7).portfolio_columns()
    return {name: drawn[name] if name in _OFF else _texts(drawn[name]) for name in _COLUMNS}


def _texts(values: Any) -> list[str | None]:
    if isinstance(values, tuple):
        codes, strings = values
        return [None if code < 0 else str(strings[code]) for code in codes]
    return [str(value) if value else None for value in values]


def _rows(columns: Columns) -> Iterator[Sequence[Any]]:
    yield ("CUSIP", "LoanX ID", "Borrower Name", "Par Amount", "Price", "Spread (bps)", "All In Rate")
    plain = [values.tolist() if isinstance(values, np.ndarray) else values for values in columns.values()]
    yield from zip(*plain, strict=True)


def _uploaded_tape(client: Client, path: Path) -> str:
    fields = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}
    tape_id = client.upload("/api/v1/reconciliation/tapes/upload", path, fields)["tape_id"]
    tape = _waited(client, f"/api/v1/reconciliation/tapes/{tape_id}", "processing_status")
    if tape["loan_count"] != LOANS:
        raise AssertionError(f"the tape has {tape['loan_count']:,} loans: {tape['error_message']}")
    return str(tape_id)


def _waited(client: Client, path: str, field: str) -> Any:
    end = time.monotonic() + WAIT_SECONDS
    while (record := client.get(path))[field] == "processing" and time.monotonic() < end:
        time.sleep(0.1)
    if record[field] != "completed":
        raise RuntimeError(f"{path} is {record[field]}: {record['error_message']}")
    return record


def _compare(client: Client, asked: dict[str, str], expected: int) -> list[Figure]:
    first, again = (_job(client, asked, expected) for _ in range(2))
    if (first["changes"]["created"], again["changes"]) != (expected, {"created": 0, "updated": 0, "resolved": 0}):
        raise AssertionError(f"issues were made twice: {first['changes']}, {again['changes']}")
    name = f"{expected:,} issues"
    return [
        Figure(name=f"compared, {name}", seconds=first["timings"]["comparing_seconds"]),
        Figure(
            name=f"stored, {name}",
            seconds=first["timings"]["storing_seconds"],
            seconds_most=STORING_SECONDS_MOST,
        ),
        Figure(name=f"stored again unchanged, {name}", seconds=again["timings"]["storing_seconds"]),
    ]


def _job(client: Client, asked: dict[str, str], expected: int) -> Any:
    job_id = client.post("/api/v1/reconciliation/compare", asked)["job_id"]
    job = _waited(client, f"/api/v1/reconciliation/compare/{job_id}/status", "status")
    if job["summary"]["issues_found"] != expected:
        raise AssertionError(f"{job['summary']['issues_found']:,} issues, the library finds {expected:,}")
    return job


def _read(client: Client, tape_id: str, expected: int) -> list[Figure]:
    issues = f"/api/v1/reconciliation/issues?tape_id={tape_id}"
    reads = {
        "first page of issues": issues,
        "a later page of critical issues": f"{issues}&severity=critical&page=1000",
        "summary of issues": f"/api/v1/reconciliation/issues/summary?tape_id={tape_id}",
        "a page of a tape's loans": f"/api/v1/reconciliation/tapes/{tape_id}/loans?page=1000",
    }
    if client.get(reads["summary of issues"])["total"] != expected:
        raise AssertionError("the summary counts other issues")
    bodies = {name: client.exchange("GET", path) for name, path in reads.items()}
    for name, body in bodies.items():
        if "items" in (answer := json.loads(body)) and not answer["items"]:
            raise AssertionError(f"{name} is empty")
    # In turn, beside the service's own emptiest answer: after a million rows the database tidies up for a while, and a
    # time of some milliseconds would tell of that.
    *taken, least = paired_seconds(
        *(partial(client.exchange, "GET", path) for path in (*reads.values(), LEAST)), repeats=READS
    )
    return [
        Figure(
            name=f"{name}, {expected:,}",
            seconds=seconds,
            peer=LEAST_NAME,
            peer_seconds=least,
            seconds_most=READING_SECONDS_MOST,
        )
        for name, seconds in zip(reads, taken, strict=True)
    ]
