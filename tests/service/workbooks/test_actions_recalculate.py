"""POST /workbooks/{id}/recalculate.

Ready -> recalculating -> ready or error, and what is seen of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from uuid import uuid4

import pytest
import xlsxwriter

from tests.conftest import Member, Stack, wait_until
from tests.records import BOOK

Page = Any


@pytest.fixture
def uploaded(shared_owner: Member, tmp_path: Path) -> Callable[[Callable[[Page], None]], str]:
    """Uploads a workbook whose sheet S a function fills; its identifier."""

    def upload_filled(fill: Callable[[Page], None]) -> str:
        path = tmp_path / "book.xlsx"
        with xlsxwriter.Workbook(path) as book:
            fill(book.add_worksheet("S"))
        return str(shared_owner.uploaded(path)["id"])

    return upload_filled


def stale(sheet: Page) -> None:
    """Formulas whose values in the file are wrong."""
    sheet.write_row("A1", ["par", "double"])
    sheet.write_column("A2", [1, 2, 3])
    for row in (2, 3, 4):
        sheet.write_formula(f"B{row}", f"=A{row}*2", None, 99)
    sheet.write_formula("D2", "=SUM(B2:B4)", None, 99)


def recalculated(member: Member, workbook_id: str) -> dict[str, Any]:
    """The workbook after a recalculation."""
    answer = member.post(f"/api/v1/workbooks/{workbook_id}/recalculate")
    assert (answer.status_code, answer.json()["status"]) == (200, "recalculating"), answer.text
    assert answer.json()["id"] == workbook_id
    member.parsed(workbook_id)
    result: dict[str, Any] = member.get(f"/api/v1/workbooks/{workbook_id}?include_stats=true").json()
    return result


def events(stack: Stack, workbook_id: str, action: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT user_id, user_email, details FROM audit_log WHERE action = %s AND resource_id = %s",
        [action, workbook_id],
    )


def test_the_values_become_the_engines(shared_owner: Member, uploaded: Callable[..., str]) -> None:
    """In cells, in the sheet's data with its formulas, and for formulas over the workbook."""
    book_id = uploaded(stale)
    done = recalculated(shared_owner, book_id)
    assert (done["status"], done["error_message"]) == ("ready", None)
    assert (done["stats"]["calculation_count"], done["stats"]["formula_cells"]) == (1, 4)
    assert done["stats"]["last_calculation"] is not None
    cell = shared_owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/cells/D2").json()
    assert (cell["value"], cell["formula"]) == (12, "=SUM(B2:B4)")
    data = shared_owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/data?include_formulas=true").json()
    assert [row["double"] for row in data["rows"]] == [2, 4, 6]
    assert data["rows"][1]["_formulas"]["double"] == "=A3*2"
    asked = {"formula": "=SUM(B:B)", "workbook_id": book_id}
    assert shared_owner.post("/api/v1/calculations/evaluate", json=asked).json()["value"] == 12
    assert recalculated(shared_owner, book_id)["stats"]["calculation_count"] == 2


def test_days_are_those_of_the_tenants_clocks(stack: Stack, owner: Member, tmp_path: Path) -> None:
    """TODAY of a recalculation, the day of a run whose file says none, and that of a deal's workbook before its run."""
    hours, zone = (14, "Pacific/Kiritimati") if datetime.now(UTC).hour >= 11 else (-11, "Pacific/Pago_Pago")
    assert owner.patch("/api/v1/admin/tenant", json={"settings": {"timezone": zone}}).status_code == 200
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("S")
        for row, cells in enumerate(BOOK):
            sheet.write_row(row, 0, cells)
        book.add_worksheet("T").write_formula("A1", "=MONTH(TODAY())*100+DAY(TODAY())", None, 1)
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()
    book_id = owner.uploaded(path, deal_id=deal["id"])["id"]
    day = (datetime.now(UTC) + timedelta(hours=hours)).date()
    assert day != datetime.now(UTC).date()
    assert stack.sql("SELECT day FROM deal_workbooks WHERE id = %s", [book_id]) == [(day,)]
    recalculated(owner, book_id)
    assert owner.get(f"/api/v1/workbooks/{book_id}/sheets/T/cells/A1").json()["value"] == day.month * 100 + day.day
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": book_id}).json()
    assert (run["as_of"], run["as_of_source"]) == (day.isoformat(), "upload")


def test_texts_are_read_by_the_locale_that_is_asked_for(
    stack: Stack, shared_owner: Member, uploaded: Callable[..., str]
) -> None:
    """Without one by that of the file; the audit log says by which.

    An unknown one is refused and starts nothing.
    """

    def fill(sheet: Page) -> None:
        sheet.write_formula("A1", '="1/2/2024"+0', None, 0)

    book_id = uploaded(fill)
    path = f"/api/v1/workbooks/{book_id}"
    answer = shared_owner.post(f"{path}/recalculate", json={"locale": "en_GB"})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "locale"])
    for body, value in (({"locale": "en-GB"}, 45_323), ({"locale": None}, 45_293), ({}, 45_293)):
        assert shared_owner.post(f"{path}/recalculate", json=body).status_code == 200
        shared_owner.parsed(book_id)
        assert shared_owner.get(f"{path}/sheets/S/cells/A1").json()["value"] == value
    locales = [row[2]["locale"] for row in events(stack, book_id, "calculation.completed")]
    assert sorted(locales) == ["en-GB", "en-US", "en-US"]


def test_what_has_no_value_does_not_stop_the_rest(
    stack: Stack, shared_owner: Member, uploaded: Callable[..., str]
) -> None:
    """An unsupported function is #NAME?, an external link keeps its value, a cycle is told with its cells."""

    def fill(sheet: Page) -> None:
        sheet.write_formula("A1", "=RTD(1)", None, 5)
        sheet.write_formula("A2", "=[1]Other!A1", None, 42)
        sheet.write_formula("A3", "=A4+1", None, 7)
        sheet.write_formula("A4", "=A3+1", None, 7)
        sheet.write_formula("A5", "=2*3", None, 0)

    book_id = uploaded(fill)
    assert recalculated(shared_owner, book_id)["status"] == "ready"
    rows = shared_owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/data").json()["rows"]
    values = [next(value for name, value in row.items() if name != "_row_number") for row in rows]
    assert (values[0], values[1], values[4]) == ("#NAME?", 42, 6)
    ((_, _, details),) = events(stack, book_id, "calculation.completed")
    assert details["unsupported_functions"] == ["RTD"]
    assert (details["circular_references"], [sorted(cycle) for cycle in details["cycles"]]) == (1, [["S!A3", "S!A4"]])


def test_it_leaves_who_asked_and_what_came_of_it(
    stack: Stack, shared_owner: Member, uploaded: Callable[..., str]
) -> None:
    book_id = uploaded(stale)
    recalculated(shared_owner, book_id)
    ((user_id, email, _),) = events(stack, book_id, "workbook.recalculation_started")
    assert (str(user_id), email) == (shared_owner.user_id, shared_owner.email)
    ((_, _, details),) = events(stack, book_id, "calculation.completed")
    assert (details["cells"], details["faults"], details["unsupported_functions"]) == (4, 0, [])


def test_meanwhile_the_workbook_is_not_ready(stack: Stack, shared_owner: Member, uploaded: Callable[..., str]) -> None:
    """Held in that state, as if the worker were slow."""
    book_id = uploaded(stale)
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [book_id])
    path = f"/api/v1/workbooks/{book_id}"
    for answer in (
        shared_owner.post(f"{path}/recalculate"),
        shared_owner.get(f"{path}/sheets/S/data"),
        shared_owner.get(f"{path}/sheets/S/cells/A1"),
        shared_owner.post("/api/v1/calculations/evaluate", json={"formula": "=A1", "workbook_id": book_id}),
        shared_owner.post("/api/v1/compliance/run", json={"workbook_id": book_id}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready"), answer.url
    answer = shared_owner.delete(path)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook in use")
    stack.sql("UPDATE workbooks SET status = 'ready' WHERE id = %s", [book_id])
    assert recalculated(shared_owner, book_id)["status"] == "ready"


def test_two_at_once_become_one(shared_owner: Member, uploaded: Callable[..., str]) -> None:
    book_id = uploaded(stale)
    path = f"/api/v1/workbooks/{book_id}/recalculate"
    statuses = [shared_owner.post(path).status_code for _ in range(2)]
    done = shared_owner.parsed(book_id)
    count = shared_owner.get(f"/api/v1/workbooks/{book_id}?include_stats=true").json()["stats"]["calculation_count"]
    assert done["status"] == "ready"
    assert statuses.count(200) == count
    assert set(statuses) <= {200, 409}


def test_a_workbook_that_takes_too_long_is_in_error(
    stack: Stack, shared_owner: Member, uploaded: Callable[..., str]
) -> None:
    """The message says which limit; the columns that were stored before stay."""

    def fill(sheet: Page) -> None:
        sheet.write_formula("A1", "=SUM(NETWORKDAYS(1,SEQUENCE(1000000),SEQUENCE(100000)))", None, 0)

    book_id = uploaded(fill)
    # A worker with limits of its own shall have the job.
    with stack.without_worker(), stack.another_worker(CUSHION_RECALCULATION_SECONDS="1"):
        done = recalculated(shared_owner, book_id)
        assert shared_owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/cells/A1").json()["value"] == 0
        assert recalculated(shared_owner, book_id) == {**done, "updated_at": ANY}, "it may be asked for again"
    assert done["status"] == "error"
    assert done["error_message"] == "Recalculating takes longer than the limit of 1 seconds."
    assert done["stats"]["calculation_count"] == 0
    assert events(stack, book_id, "calculation.completed") == []


def test_only_who_may_calculate_can_start_it(
    shared_owner: Member, stranger: Member, uploaded: Callable[..., str]
) -> None:
    path = f"/api/v1/workbooks/{uploaded(stale)}/recalculate"
    viewer, reader = shared_owner.invite("viewer"), shared_owner.key("workbooks:read", "workbooks:write")
    for member in (viewer, reader):
        answer = member.post(path)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "PERMISSION_DENIED")
    for missing in (path.replace("/recalculate", "x/recalculate"), f"/api/v1/workbooks/{uuid4()}/recalculate"):
        answer = shared_owner.post(missing)
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    answer = stranger.post(path)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    assert shared_owner.key("calculations:execute").post(path).status_code == 200


def test_compliance_runs_on_the_recalculated_values(shared_owner: Member, tmp_path: Path) -> None:
    """The par of every loan is a formula whose value in the file is a hundredth of the true one."""
    path = tmp_path / "loans.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Holdings")
        sheet.write_row("A1", ["LoanX ID", "Obligor", "Par Amount", "Price", "Spread", "Moody's Rating", "Industry"])
        for row in range(1, 41):
            sheet.write_row(row, 0, [f"LX{row:06d}", f"Borrower {row}"])
            big = row == 1
            sheet.write_formula(row, 2, f"=1000*{900 if big else 10}", None, 100)
            sheet.write_row(row, 3, [99.5, 400, "B2", f"Industry {row}"])
    book_id = str(shared_owner.uploaded(path)["id"])

    def concentration() -> float:
        answer = shared_owner.post("/api/v1/compliance/run", json={"workbook_id": book_id})
        assert answer.status_code == 200, answer.text
        by_test_id = {row["test_id"]: row["current_value"] for row in answer.json()["results"]}
        return float(by_test_id["single_obligor_concentration"])

    assert concentration() == pytest.approx(2.5)
    assert recalculated(shared_owner, book_id)["status"] == "ready"
    assert concentration() == pytest.approx(900 / (900 + 390) * 100)


def test_a_worker_that_is_killed_meanwhile_is_made_good(stack: Stack, owner: Member, tmp_path: Path) -> None:
    """The lease runs out, another worker takes the job, and the workbook is ready in the end."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("S")
        sheet.write_formula("A1", "=SUM(SORT(RANDARRAY(100000)))>0", None, 0)
    book_id = str(owner.uploaded(path)["id"])
    with stack.without_worker(), stack.another_worker() as doomed:
        assert owner.post(f"/api/v1/workbooks/{book_id}/recalculate").status_code == 200
        wait_until(
            lambda: stack.sql(
                "SELECT 1 FROM jobs WHERE name = 'workbooks.recalculate' AND status = 'running'"
                " AND arguments ->> 'workbook_id' = %s",
                [book_id],
            ),
            what="the running job",
        )
        doomed.kill()
        doomed.wait()
    started = time.monotonic()
    assert owner.parsed(book_id)["status"] == "ready"
    assert time.monotonic() - started < 60
    assert owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/cells/A1").json()["value"] is True
