"""Parsing in the worker.

What a bad file ends as, and that a second run does no harm.
"""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import openpyxl
import pytest

from tests.conftest import Member, Stack, wait_until
from tests.core.files.test_calamine import binary_parts, binary_sheet
from tests.security.test_damaged_files import zipped
from tests.service.workbooks.conftest import PackFile, scratch_files, sheet_xml, stored_blobs

BROKEN_FOR_THE_PARSER = {
    # What the look at the upload does not read: shared strings and styles.
    "a string by no number": ('<row r="1"><c r="A1" t="s"><v>x</v></c></row>', {}),
    "broken shared strings": (
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>',
        {"xl/sharedStrings.xml": "<sst><si><t>"},
    ),
}


@pytest.mark.parametrize("kind", BROKEN_FOR_THE_PARSER)
def test_what_the_parser_finds_wrong_is_told(stack: Stack, owner: Member, pack: PackFile, kind: str) -> None:
    rows, extra = BROKEN_FOR_THE_PARSER[kind]
    answer = owner.upload(pack([sheet_xml(rows)], extra=extra))
    assert (answer.status_code, answer.json()["status"]) == (201, "processing")
    result = owner.parsed(answer.json()["id"])
    assert result["status"] == "error"
    assert result["error_message"].endswith(".")
    item = owner.get("/api/v1/activity").json()["items"][0]
    assert (item["action"], item["status"], item["entity_id"]) == ("workbook.parsing_failed", "failed", result["id"])
    assert item["description"] == f'The parsing of workbook "{result["name"]}" failed.'
    answer = owner.get(f"/api/v1/workbooks/{result['id']}/sheets/S1/data")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")
    assert stack.sql("SELECT status FROM jobs WHERE tenant_id = %s", [owner.tenant_id]) == [("completed",)]
    assert stack.sql("SELECT count(*) FROM dead_letters WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    wait_until(lambda: not scratch_files(stack), what="an empty scratch folder")


def test_a_damaged_binary_workbook_is_in_error_at_once(stack: Stack, owner: Member) -> None:
    """What calamine calls an OSError is the file's fault.

    No retry, no dead letter, no fault of the service.
    """
    deal = owner.post("/api/v1/deals", json={"name": "Cairn"}).json()
    parts = binary_parts(binary_sheet({0: {0: "Name", 1: 1.5}}))
    for at, (name, change) in enumerate(
        [
            ("xl/workbook.bin", lambda part: part[:-7]),
            ("xl/workbook.bin", lambda part: b""),
            ("xl/worksheets/sheet1.bin", lambda part: part[:-9]),
            ("xl/_rels/workbook.bin.rels", lambda part: part[:-9]),
        ]
    ):
        files = {"files": (f"{at}.xlsb", zipped(parts | {name: change(parts[name])}))}
        answer = owner.post(f"/api/v1/deals/{deal['id']}/files", files=files)
        assert answer.status_code in (201, 422), answer.text
        if answer.status_code == 201:
            result = owner.parsed(answer.json()["id"])
            assert result["status"] == "error", name
            assert "damaged" in result["error_message"] or "not well-formed" in result["error_message"]
    assert set(stack.sql("SELECT status, attempt FROM jobs WHERE tenant_id = %s", [owner.tenant_id])) == {
        ("completed", 1)
    }
    assert stack.sql("SELECT count(*) FROM dead_letters WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]


def test_what_parsing_leaves(stack: Stack, owner: Member, loans: Path) -> None:
    result = owner.uploaded(loans)
    keys = [
        key for (key,) in stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s ORDER BY index", [result["id"]])
    ]
    assert len(keys) == 4
    assert set(keys) <= stored_blobs(stack)
    ((book,),) = stack.sql("SELECT book FROM workbooks WHERE id = %s", [result["id"]])
    assert [sheet["file"] for sheet in json.loads(book)["sheets"]] == keys
    wait_until(lambda: not scratch_files(stack), what="an empty scratch folder")


def run_again(stack: Stack, member: Member, workbook_id: str) -> None:
    """Hand the workbook's job over once more, and wait for its end."""
    job_id = f"task_{uuid4().hex}"
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments) VALUES (%s, %s, 'parse', 'workbooks.parse', %s)",
        [member.tenant_id, job_id, json.dumps({"workbook_id": workbook_id})],
    )

    def ended() -> bool:
        return stack.sql("SELECT status FROM jobs WHERE id = %s", [job_id]) == [("completed",)]

    wait_until(ended, what="the end of the second run")


def test_a_second_run_changes_nothing(stack: Stack, owner: Member, loans: Path) -> None:
    result = owner.uploaded(loans)
    run_again(stack, owner, result["id"])
    assert owner.get(f"/api/v1/workbooks/{result['id']}").json() == result


def test_a_second_parse_gives_the_same(stack: Stack, owner: Member, loans: Path) -> None:
    """As after a crash between the storing of the columns and the commit."""
    result = owner.uploaded(loans)
    before = stack.sql("SELECT book_key, total_cells FROM workbooks WHERE id = %s", [result["id"]])
    stack.sql("UPDATE workbooks SET status = 'processing', book = NULL, book_key = NULL WHERE id = %s", [result["id"]])
    run_again(stack, owner, result["id"])
    again = owner.get(f"/api/v1/workbooks/{result['id']}").json()
    assert again | {"updated_at": 0} == result | {"updated_at": 0}  # the sheets kept their identifiers
    assert stack.sql("SELECT book_key, total_cells FROM workbooks WHERE id = %s", [result["id"]]) == before


def test_the_job_of_a_deleted_workbook_ends(stack: Stack, owner: Member, loans: Path) -> None:
    result = owner.uploaded(loans)
    assert owner.delete(f"/api/v1/workbooks/{result['id']}").status_code == 204
    stack.sql("UPDATE workbooks SET status = 'processing' WHERE id = %s", [result["id"]])
    run_again(stack, owner, result["id"])
    assert stack.sql("SELECT status FROM workbooks WHERE id = %s", [result["id"]]) == [("processing",)]


def test_the_job_of_an_unknown_workbook_ends(stack: Stack, owner: Member) -> None:
    run_again(stack, owner, str(uuid4()))


def test_a_fault_of_the_service_ends_in_error_and_in_a_dead_letter(stack: Stack, owner: Member, loans: Path) -> None:
    """The stored file is gone: no retry helps.

    The workbook says so readably, the dead letter says what happened.
    """
    result = owner.uploaded(loans)
    stack.sql("UPDATE workbooks SET status = 'processing', content_hash = %s WHERE id = %s", ["0" * 64, result["id"]])
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments) VALUES (%s, %s, 'parse', 'workbooks.parse', %s)",
        [owner.tenant_id, f"task_{uuid4().hex}", json.dumps({"workbook_id": result["id"]})],
    )
    failed = owner.parsed(result["id"])
    assert (failed["status"], "are damaged" in failed["error_message"]) == ("error", True)
    letters = stack.sql(
        "SELECT task_name, exception_type, status, retries_attempted FROM dead_letters WHERE tenant_id = %s",
        [owner.tenant_id],
    )
    assert letters == [("workbooks.parse", "Damaged", "pending_review", 0)]
    events = stack.sql(
        "SELECT resource_id, details FROM audit_log WHERE tenant_id = %s AND action = 'workbook.parsing_failed'",
        [owner.tenant_id],
    )
    assert events == [(result["id"], {"error": failed["error_message"]})]


def test_a_recalculation_that_fails_is_told(stack: Stack, owner: Member, pack: PackFile) -> None:
    result = owner.uploaded(
        pack([sheet_xml(f'<row r="1"><c r="A1" t="inlineStr"><is><t>{uuid4()}</t></is></c></row>')])
    )
    ((key,),) = stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s", [result["id"]])
    (stack.data_dir / "blobs" / key[:2] / key).unlink()
    assert owner.post(f"/api/v1/workbooks/{result['id']}/recalculate").status_code == 200
    failed = owner.parsed(result["id"])
    assert (failed["status"], "are damaged" in failed["error_message"]) == ("error", True)
    feed = owner.get("/api/v1/activity").json()["items"]
    assert [(item["action"], item["status"]) for item in feed[:2]] == [
        ("calculation.failed", "failed"),
        ("workbook.recalculation_started", "completed"),
    ]


def test_formulas_that_came_without_values_are_calculated_and_every_answer_says_so(
    owner: Member, tmp_path: Path
) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Holdings"
    sheet.append(["Borrower Name", "CUSIP", "Par Amount", "Maturity Date"])
    for row in range(2, 5):
        sheet.append([f"Loan {row}", f"12345{row}AB1", f"=1000000*{row}", "2030-06-30"])
    book.save(tmp_path / "a.xlsx")
    result = owner.uploaded(tmp_path / "a.xlsx")
    place = f"/api/v1/workbooks/{result['id']}"
    data = owner.get(f"{place}/sheets/Holdings/data").json()
    assert [row["Par Amount"] for row in data["rows"]] == [2_000_000, 3_000_000, 4_000_000]
    order = {"formula": "=SUM(Holdings!C2:C4)", "workbook_id": result["id"]}
    evaluated = owner.post("/api/v1/calculations/evaluate", json=order).json()
    assert evaluated["value"] == 9_000_000
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": result["id"]}).json()
    for answer in (data, evaluated, run):
        (lines,) = [warning for warning in answer["warnings"] if warning["code"] == "formulas_without_values"]
        assert lines["rows"] == 3
        assert lines["message"].startswith("3 formulas came without values")
    assert owner.post(f"{place}/recalculate").status_code == 200
    assert owner.parsed(result["id"])["status"] == "ready"
    assert "warnings" not in owner.get(f"{place}/sheets/Holdings/data").json()
