"""Applying a formula.

The column appears at once with all that depends on it, or the workbook is as it was.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tests.conftest import Member, Stack, wait_until
from tests.service.formulas.conftest import URL, applied, column_of, create_config, ended, expression, started

BOOKS = "/api/v1/workbooks"


@pytest.fixture
def book_id(owner: Member, loans: Path) -> str:
    return str(owner.uploaded(loans)["id"])


def test_a_new_column_has_its_name_its_values_and_its_formulas(stack: Stack, owner: Member, book_id: str) -> None:
    before = owner.get(f"{BOOKS}/{book_id}").json()
    formula = create_config(owner, status="active")
    answer = started(owner, formula, book_id)
    assert answer.status_code == 200, answer.text
    run = answer.json()
    assert (run["config_id"], run["version_id"], run["status"], run["rows_affected"]) == (
        formula["id"],
        "v1",
        "pending",
        0,
    )
    done = ended(owner, run)
    assert done == run | {
        "status": "completed",
        "rows_affected": 4,
        "rows_failed": 1,
        "error_details": "Rows with an error: 3 (#VALUE!).",
        "completed_at": done["completed_at"],
    }
    assert done["started_at"] <= done["completed_at"]
    data = owner.get(f"{BOOKS}/{book_id}/sheets/Loans/data", params={"include_formulas": True}).json()
    assert data["columns"][-1] == {"name": "Value", "type": "number", "index": 4, "has_formula": True}
    assert [row["Value"] for row in data["rows"]] == [9850, "#VALUE!", 0, 40_400]
    assert [row["_formulas"]["Value"] for row in data["rows"]] == [f"=B{row}*C{row}" for row in range(2, 6)]
    cell = owner.get(f"{BOOKS}/{book_id}/sheets/Loans/cells/E5").json()
    assert (cell["value"], cell["formula"]) == (40_400, "=B5*C5")
    assert owner.get(f"{BOOKS}/{book_id}/sheets/Loans/cells/E1").json()["value"] == "Value"
    after = owner.get(f"{BOOKS}/{book_id}", params={"include_stats": True}).json()
    sheets = [(sheet["id"], sheet["headers"], sheet["formula_count"]) for sheet in after["sheets"]]
    assert sheets[0] == (before["sheets"][0]["id"], ["Loan", "Par", "Price", "Maturity", "Value"], 4)
    assert sheets[1:] == [(sheet["id"], sheet["headers"], sheet["formula_count"]) for sheet in before["sheets"][1:]]
    assert (after["status"], after["stats"]["formula_cells"]) == ("ready", 6)
    assert column_of(owner, book_id, "Stale", "Summary") == [99], "what does not depend on it keeps its value"
    ((who, details),) = stack.sql(
        "SELECT user_email, details FROM audit_log WHERE action = 'formula.applied' AND resource_id = %s",
        [formula["id"]],
    )
    assert (who, details["run_id"], details["rows_affected"]) == (owner.email, run["run_id"], 4)


def test_a_column_that_is_written_over_changes_what_reads_it(owner: Member, book_id: str) -> None:
    """In other sheets too; by an older version, of a sheet named by its identifier."""
    formula = create_config(owner, graph=expression("=p*2", p="Price"), status="active")
    owner.put(f"{URL}/{formula['id']}/versions", json={"graph": expression("=p*3", p="Price")})
    sheet_id = owner.get(f"{BOOKS}/{book_id}").json()["sheets"][0]["id"]
    fields = {"target_column": "Par", "output_mode": "overwrite", "sheet_id": sheet_id}
    done = applied(owner, formula, book_id, **fields)
    assert (done["status"], done["version_id"], done["sheet_id"]) == ("completed", "v1", sheet_id)
    assert column_of(owner, book_id, "Par") == [197, "#VALUE!", 194, 202]
    assert column_of(owner, book_id, "Total", "Summary") == ["#VALUE!"]
    done = applied(owner, formula, book_id, **fields | {"version_id": "v2"})
    assert column_of(owner, book_id, "Par") == [295.5, "#VALUE!", 291, 303]
    runs = owner.get(f"{URL}/{formula['id']}/runs").json()
    assert [(run["version_id"], run["status"]) for run in runs["items"]] == [("v2", "completed"), ("v1", "completed")]


def test_a_formula_of_a_sheet_without_a_header_goes_by_letters(owner: Member, book_id: str) -> None:
    formula = create_config(owner, graph=expression("=a+b", a="A", b="B"), status="active")
    done = applied(owner, formula, book_id, sheet_id="Plain", target_column="C")
    assert (done["status"], done["rows_affected"]) == ("completed", 3), done
    assert column_of(owner, book_id, "C", "Plain") == [0, 11, 22]


def test_the_name_of_a_new_column_stands_above_a_row_of_units(owner: Member, tmp_path: Path) -> None:
    """Among the units it would be the name of nothing, and the header end a row earlier."""
    path = tmp_path / "units.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Loans")
        sheet.write_row("A1", ["LoanX ID", "Borrower Name", "Par Amount", "Price", "Spread"])
        sheet.write_row("A2", ["", "", "USD", "% of par", "bps"])
        for row in range(2, 6):
            sheet.write_row(row, 0, [f"LX{row:06d}", f"Borrower {row}", row * 100, 99, 400])
    book_id = str(owner.uploaded(path)["id"])
    formula = create_config(owner, graph=expression("=a*2", a="Par\n amount "), status="active")
    done = applied(owner, formula, book_id, target_column="  Twice \n the  par ")
    assert (done["status"], done["rows_affected"], done["target_column"]) == ("completed", 4, "Twice the par")
    assert column_of(owner, book_id, "Twice the par") == [400, 600, 800, 1000]
    headers = owner.get(f"{BOOKS}/{book_id}").json()["sheets"][0]["headers"]
    assert headers == ["LoanX ID", "Borrower Name", "Par Amount", "Price", "Spread", "Twice the par"]
    again = started(owner, formula, book_id, target_column="twice  THE par")
    assert (again.status_code, again.json()["detail"]) == (409, "Column already exists")


def test_a_circle_is_refused_by_the_run(owner: Member, book_id: str) -> None:
    """The formula reads what reads its own column."""
    first = create_config(owner, graph=expression("=p*2", p="Par"), status="active")
    assert applied(owner, first, book_id)["status"] == "completed"
    second = create_config(owner, graph=expression("=v/2", v="Value"), status="active")
    done = applied(owner, second, book_id, target_column="Par", output_mode="overwrite")
    assert (done["status"], done["rows_affected"]) == ("failed", 0)
    assert "its own result" in done["error_details"]
    assert column_of(owner, book_id, "Par") == [100, 200, None, 400]
    assert applied(owner, first, book_id, target_column="Again")["status"] == "completed", "it is free again"


def test_meanwhile_the_old_sheet_is_read_and_nobody_else_writes(stack: Stack, owner: Member, book_id: str) -> None:
    formula = create_config(owner, status="active")
    path = f"{BOOKS}/{book_id}"
    with stack.without_worker():
        run = started(owner, formula, book_id).json()
        assert "Value" not in owner.get(f"{path}/sheets/Loans/data").json()["rows"][0]
        assert owner.get(path).json()["status"] == "ready"
        for answer in (started(owner, formula, book_id, target_column="Other"), owner.post(f"{path}/recalculate")):
            assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")
            assert run["run_id"] in answer.json()["errors"][0]["message"]
        answer = owner.delete(path)
        assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook in use")
        assert owner.patch(path, json={"name": "Renamed"}).status_code == 200
    assert ended(owner, run)["status"] == "completed"
    assert owner.get(path).json()["name"] == "Renamed"
    assert owner.post(f"{path}/recalculate").status_code == 200
    assert started(owner, formula, book_id, target_column="Other").status_code == 409, "it is recalculating"
    owner.parsed(book_id)
    assert column_of(owner, book_id, "Value") == [9850, "#VALUE!", 0, 40_400]
    assert owner.delete(path).status_code == 204


def test_of_many_at_once_none_is_lost_or_mixed(owner: Member, book_id: str) -> None:
    """Each that was taken has its column; readers see whole sheets throughout."""
    formula = create_config(owner, status="active")
    path = f"{BOOKS}/{book_id}/sheets/Loans/data"

    def read() -> int:
        answer = owner.get(path)
        assert answer.status_code == 200, answer.text
        rows = answer.json()["rows"]
        names = [name for name in rows[0] if name.startswith("Value")]
        assert all(row[name] == rows[at][names[0]] for name in names for at, row in enumerate(rows))
        return len(names)

    def apply(number: int) -> dict[str, Any] | None:
        answer = started(owner, formula, book_id, target_column=f"Value {number}")
        assert answer.status_code in (200, 409), answer.text
        return answer.json() if answer.status_code == 200 else None

    taken: list[dict[str, Any]] = []
    with ThreadPoolExecutor(4) as threads:
        for start in range(0, 12, 4):
            asked = [threads.submit(apply, number) for number in range(start, start + 4)]
            runs = [run for item in asked if (run := item.result()) is not None]
            assert len(runs) == 1, "the others find the workbook being written"
            reading = [threads.submit(read) for _ in range(20)]
            assert ended(owner, runs[0])["status"] == "completed"
            assert {item.result() for item in reading} <= {len(taken), len(taken) + 1}
            taken += runs
    headers = owner.get(f"{BOOKS}/{book_id}").json()["sheets"][0]["headers"]
    assert headers[4:] == [run["target_column"] for run in taken]


def test_a_run_that_takes_too_long_leaves_the_workbook_as_it_was(stack: Stack, owner: Member, book_id: str) -> None:
    heavy = expression("=SUM(SORT(RANDARRAY(1000000)))+a", a="Par")
    formula = create_config(owner, graph=heavy, status="active")
    with stack.without_worker(), stack.another_worker(CUSHION_RECALCULATION_SECONDS="1"):
        done = applied(owner, formula, book_id)
    assert (done["status"], done["rows_affected"]) == ("failed", 0)
    assert done["error_details"] == "Applying the formula takes longer than the limit of 1 seconds."
    assert owner.get(f"{BOOKS}/{book_id}").json()["status"] == "ready"
    assert applied(owner, create_config(owner, status="active"), book_id)["status"] == "completed"


def test_a_worker_that_is_killed_meanwhile_is_made_good(stack: Stack, owner: Member, book_id: str) -> None:
    """The lease runs out, another worker takes the run, and the column is there once."""
    slow = create_config(owner, graph=expression("=a+0*SUM(SORT(RANDARRAY(100000)))", a="Par"), status="active")
    with stack.without_worker():
        with stack.another_worker() as doomed:
            run = started(owner, slow, book_id).json()
            running = "SELECT 1 FROM formula_runs WHERE id = %s AND status = 'running'"
            wait_until(lambda: stack.sql(running, [run["run_id"]]), what="the running run")
            doomed.kill()
            doomed.wait()
        assert "Value" not in owner.get(f"{BOOKS}/{book_id}/sheets/Loans/data").json()["rows"][0]
    assert ended(owner, run)["status"] == "completed"
    assert owner.get(f"{BOOKS}/{book_id}").json()["sheets"][0]["headers"][4:] == ["Value"]
    assert column_of(owner, book_id, "Value") == [100, 200, 0, 400]


def test_damaged_bytes_end_the_run(stack: Stack, owner: Member, book_id: str) -> None:
    formula = create_config(owner, status="active")
    ((key,),) = stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s AND index = 0", [book_id])
    (stack.data_dir / "blobs" / key[:2] / key).write_bytes(b"altered")
    done = applied(owner, formula, book_id)
    assert (done["status"], done["error_details"][:30]) == ("failed", "The stored bytes of the workbo")
    assert stack.sql("SELECT written_by FROM workbooks WHERE id = %s", [book_id]) == [(None,)]


def test_compliance_runs_on_the_column(owner: Member, tmp_path: Path) -> None:
    """The par of the first loan is another from the moment on that the run is completed."""
    path = tmp_path / "holdings.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Holdings")
        sheet.write_row("A1", ["LoanX ID", "Obligor", "Par Amount", "Price", "Spread", "Moody's Rating", "Industry"])
        for row in range(1, 41):
            sheet.write_row(row, 0, [f"LX{row:06d}", f"Borrower {row}", 100, 99.5, 400, "B2", f"Industry {row}"])
    book_id = str(owner.uploaded(path)["id"])

    def largest() -> float:
        answer = owner.post("/api/v1/compliance/run", json={"workbook_id": book_id})
        assert answer.status_code == 200, answer.text
        by_test_id = {row["test_id"]: row["current_value"] for row in answer.json()["results"]}
        return float(by_test_id["single_obligor_concentration"])

    assert largest() == pytest.approx(2.5)
    graph = expression('=IF(o="Borrower 1",900,10)', o="Obligor")
    formula = create_config(owner, graph=graph, status="active")
    done = applied(owner, formula, book_id, sheet_id="Holdings", target_column="Par Amount", output_mode="overwrite")
    assert (done["status"], done["rows_affected"], done["rows_failed"]) == ("completed", 40, 0)
    assert largest() == pytest.approx(900 / (900 + 390) * 100)
