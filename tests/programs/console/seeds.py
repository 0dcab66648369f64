"""Deals with months, for the screens to show.

Made once, uploaded by each test that wants them.
"""

from __future__ import annotations

import time
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from core.generate import generate, generate_tape
from tests.conftest import Member

LOANS: Final = 200
PAUSE_SECONDS: Final = 0.3
"""Between two looks at a file: the tenants of these tests have the limits of the standard tier."""
DAYS: Final = ("2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30")


@cache
def month_file(seed: int, faults: tuple[str, ...] = ()) -> bytes:
    """A month of a deal as a workbook."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "month.xlsx"
        generate(loans=LOANS, seed=seed, faults=faults).write(path)
        return path.read_bytes()


@cache
def tape_file(seed: int, edits: int = 3) -> bytes:
    """The tape of the same month as trustee_a gives it, with so many edits of each kind."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tape.xlsx"
        generate_tape(generate(loans=LOANS, seed=seed), "trustee_a", edits=edits).write(path)
        return path.read_bytes()


def parsed(member: Member, workbook_id: str) -> dict[str, Any]:
    """The workbook once it is read, asked for as seldom as the limits want."""
    while True:
        time.sleep(PAUSE_SECONDS)
        answer = member.get(f"/api/v1/workbooks/{workbook_id}")
        if answer.status_code == 200 and answer.json()["status"] not in ("uploading", "processing"):
            book: dict[str, Any] = answer.json()
            return book


def deal_with_months(member: Member, name: str = "Example CLO VIII", months: int = 2, seed: int = 7) -> dict[str, Any]:
    """A deal with its newest months, each run; {"id", "workbooks".

    [ids, the oldest first]}.
    """
    response = member.post("/api/v1/deals", json={"name": name})
    assert response.status_code == 201, response.text
    deal = response.json()["id"]
    books = []
    for at, day in enumerate(DAYS[-months:]):
        faults = ("breach_ccc",) if at == months - 1 else ()
        file = BytesIO(month_file(seed, faults))
        sent = member.post(
            f"/api/v1/deals/{deal}/files", files={"files": (f"{name} {day}.xlsx", file)}, data={"as_of": day}
        )
        assert sent.status_code == 201, sent.text
        book = parsed(member, sent.json()["id"])
        assert book["status"] == "ready", book
        run = member.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_suite": "enhanced"})
        assert run.status_code == 200, run.text
        books.append(book["id"])
    return {"id": deal, "workbooks": books, "run": run.json()}
