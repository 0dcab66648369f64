"""A tape that differs from its workbook in a million places.

Compared and stored, then read, over the whole service.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import core
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.stack import LEAST, LEAST_NAME, Client, serving
from core.files.write import write_workbook_rows
from core.generate import generate

LOANS = 253_000
ISSUES = 1_003_958
"""What the library finds in these books."""
SETTINGS = {"CUSHION_REQUESTS_PER_MINUTE": "100000 100000 100000 100000"}  # to wait is no load
WAIT_SECONDS = 300.0
READ_TIMES = 100
STORING_SECONDS_MOST = 20.0
READING_SECONDS_MOST = 0.050

_COLUMNS = ("cusip", "loanx_id", "borrower_name", "par_value", "price", "spread", "all_in_rate")
_OFF = {"par_value": 1.08, "price": 1.02, "spread": 1.2, "all_in_rate": 1.03}
"""What the trustee's figure is of ours: each of them out of tolerance."""

Columns = dict[str, Sequence[Any]]

_FOUND = "/api/v1/reconciliation/issues?tape_id={}"
READS = {
    "first page of issues": _FOUND,
    "a later page of critical issues": f"{_FOUND}&severity=critical&page=1000",
    "summary of issues": "/api/v1/reconciliation/issues/summary?tape_id={}",
    "a page of a tape's loans": "/api/v1/reconciliation/tapes/{}/loans?page=1000",
}


class Compared(NamedTuple):
    """A caller whose tape was compared and stored twice, and what both took."""

    client: Client
    tape_id: str
    first: dict[str, float]
    again: dict[str, float]


@contextmanager
def _stored() -> Iterator[Compared]:
    """Compare both uploads twice: with nothing stored, then with all of it."""
    columns = _columns()
    edited = {name: values * _OFF[name] if name in _OFF else values for name, values in columns.items()}
    expected = len(core.reconcile(core.Portfolio.from_columns(edited), core.Portfolio.from_columns(columns)).issues)
    if expected != ISSUES:
        raise AssertionError(f"{expected:,} issues, where names of questions say {ISSUES:,}")
    with tempfile.TemporaryDirectory() as folder:
        book, tape = Path(folder) / "book.xlsx", Path(folder) / "tape.xlsx"
        write_workbook_rows(book, {"Holdings": _rows(columns)})
        write_workbook_rows(tape, {"Holdings": _rows(edited)})
        with serving(SETTINGS) as url, closing(Client(url)) as client:
            asked_for = {"workbook_id": client.uploaded(book), "tape_id": _uploaded_tape(client, tape)}
            first, again = (_job(client, asked_for) for _ in range(2))
            none = {"created": 0, "updated": 0, "resolved": 0}
            if (first["changes"]["created"], again["changes"]) != (ISSUES, none):
                raise AssertionError(f"issues were made twice: {first['changes']}, {again['changes']}")
            tape_id = asked_for["tape_id"]
            if client.get(READS["summary of issues"].format(tape_id))["total"] != ISSUES:
                raise AssertionError("the summary counts other issues")
            yield Compared(client, tape_id, first["timings"], again["timings"])


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


def _job(client: Client, body: dict[str, str]) -> Any:
    job_id = client.post("/api/v1/reconciliation/compare", body)["job_id"]
    job = _waited(client, f"/api/v1/reconciliation/compare/{job_id}/status", "status")
    if job["summary"]["issues_found"] != ISSUES:
        raise AssertionError(f"{job['summary']['issues_found']:,} issues, the library finds {ISSUES:,}")
    return job


def _taken(which: str, timing: str, compared: Compared) -> Prepared:
    return Prepared(works={OURS: [getattr(compared, which)[timing]]})


def _read(name: str, compared: Compared) -> Prepared:
    """In turn beside the service's own emptiest answer.

    After a million rows the database tidies up for a while, and a time of some milliseconds would tell of that.
    """
    client, path = compared.client, READS[name].format(compared.tape_id)
    if "items" in (answer := client.get(path)) and not answer["items"]:
        raise AssertionError(f"{name} is empty")
    works = {OURS: partial(client.exchange, "GET", path), LEAST_NAME: partial(client.exchange, "GET", LEAST)}
    return Prepared(works=works)


bench_reconciliation = asked(
    Question(
        name=f"compared, {ISSUES:,} issues", data=_stored, prepare=partial(_taken, "first", "comparing_seconds")
    ),
    Question(
        name=f"stored, {ISSUES:,} issues", data=_stored, prepare=partial(_taken, "first", "storing_seconds"),
        seconds_most=STORING_SECONDS_MOST,
    ),
    Question(
        name=f"stored again unchanged, {ISSUES:,} issues", data=_stored,
        prepare=partial(_taken, "again", "storing_seconds"),
    ),
    *(
        Question(
            name=f"{name}, {ISSUES:,}", data=_stored, prepare=partial(_read, name), bounds=(LEAST_NAME,),
            repeats=READ_TIMES, seconds_most=READING_SECONDS_MOST,
        )
        for name in READS
    ),
)  # fmt: skip
