"""What may be exported, what is told of it, and who gets its files until when."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import openpyxl
import pytest

from core.export.order import Options
from service.exports.actions import STALE
from service.exports.schema import ExportOptions
from tests.conftest import Member, Stack, wait_until
from tests.rows import every
from tests.service.documents.test_shared import kept, within
from tests.service.exports.conftest import URL, asked, downloaded, ended, exported
from tests.simulation.test_children_that_die import below

FORMATS = ("xlsx", "csv", "json", "pdf")
QUEUED = {"current": 0, "total": 100, "message": "Queued", "percent": 0}
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def test_the_options_are_those_of_the_engine() -> None:
    defaults = {name: getattr(ExportOptions(), name) for name in ExportOptions.__struct_fields__}
    assert defaults == {name: getattr(Options(), name) for name in Options.__struct_fields__}


def test_an_export_is_queued_then_made_and_given_out(stack: Stack, owner: Member, book_id: str) -> None:
    with stack.without_worker():
        answer = asked(owner, book_id)
        assert answer.status_code == 201, answer.text
        export = answer.json()
        assert export["id"].startswith("exp_")
        by_name = {name: export[name] for name in ("workbook_id", "format", "status", "progress", "is_downloadable")}
        assert by_name == {"workbook_id": book_id, "format": "xlsx", "status": "processing", "progress": QUEUED,
                        "is_downloadable": False}  # fmt: skip
        empty = ("file_size_bytes", "download_url", "expires_at", "result_summary", "error_details", "started_at")
        assert [export[name] for name in (*empty, "completed_at")] == [None] * 7
        early = downloaded(owner, export)
        assert (early.status_code, early.json()["detail"]) == (409, "Export is not ready")
    done = ended(owner, export["id"])
    assert (done["status"], done["is_downloadable"], done["progress"]["percent"]) == ("completed", True, 100), done
    assert done["created_at"] <= done["started_at"] <= done["completed_at"] < done["expires_at"]
    file = downloaded(owner, done)
    assert (file.status_code, file.headers["content-type"]) == (200, XLSX)
    assert len(file.content) == done["file_size_bytes"] == int(file.headers["content-length"])
    assert done["download_url"] == f"{URL}/{done['id']}/download"
    assert file.headers["content-disposition"] == (
        "attachment; filename=\"Loans of M_rz.xlsx\"; filename*=UTF-8''Loans%20of%20M%C3%A4rz.xlsx"
    )
    assert (file.headers["x-content-type-options"], file.headers["cache-control"]) == ("nosniff", "no-store")
    assert done["result_summary"]["provenance"]["manifest_version"] == "svc_hash_v1"
    events = stack.sql("SELECT action FROM audit_log WHERE resource_id = %s ORDER BY sequence", [export["id"]])
    assert [action for (action,) in events] == ["export.created", "export.completed", "export.downloaded"]


def test_every_format_of_the_list_can_be_had(owner: Member, book_id: str) -> None:
    formats = owner.get(f"{URL}/formats/list").json()
    assert [item["format"] for item in formats] == list(FORMATS)
    begun = [asked(owner, book_id, item["format"], sheet_ids=["Loans"]).json() for item in formats]
    for item, export in zip(formats, begun, strict=True):
        new_export = ended(owner, export["id"])
        assert new_export["status"] == "completed", new_export
        file = downloaded(owner, new_export)
        assert (file.status_code, file.headers["content-type"]) == (200, item["mime_type"]), item
        assert f'{item["extension"]}"' in file.headers["content-disposition"]


def test_the_file_shows_the_newest_run_and_no_personal_data(owner: Member, book_id: str) -> None:
    """And says where the run is of other cells than these."""
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": book_id}).json()
    export = exported(owner, book_id)
    assert export["result_summary"]["redacted"] == {"email": {"Loans!E": 25}}
    book = openpyxl.load_workbook(io.BytesIO(downloaded(owner, export).content))
    assert book.sheetnames == ["Loans", "Totals", "Workspace", "Control"]
    assert book["Loans"].protection.sheet
    assert (book["Totals"]["A2"].value, book["Totals"]["B2"].data_type) == ("=SUM(Loans!C2:C26)", "s")
    contacts = [row[4] for row in book["Loans"].iter_rows(min_row=2, values_only=True)]
    assert not any("@bank.example" in str(contact) for contact in contacts), contacts
    control = {str(cell) for row in book["Control"].iter_rows(values_only=True) for cell in row if cell is not None}
    names = [result["test_name"] for result in run["results"]]
    assert names
    assert all(any(cell.startswith(name) for cell in control) for name in names)
    assert run["id"] in control
    assert not any(STALE in cell for cell in control)
    assert owner.post(f"/api/v1/workbooks/{book_id}/recalculate").status_code == 200
    owner.parsed(book_id)
    later = openpyxl.load_workbook(io.BytesIO(downloaded(owner, exported(owner, book_id)).content))
    answer = [str(cell) for row in later["Control"].iter_rows(values_only=True) for cell in row]
    assert any(STALE in cell for cell in answer)


def test_lists_are_read_by_skipping(owner: Member, stranger: Member, book_id: str) -> None:
    export = [asked(owner, book_id, kind).json()["id"] for kind in ("csv", "json", "csv")]
    for export_id in export:
        ended(owner, export_id)
    whole = owner.get(URL).json()
    assert (whole["total"], whole["skip"], whole["limit"]) == (3, 0, 50)
    assert [item["id"] for item in whole["items"]] == export[::-1]
    part = owner.get(URL, params={"skip": 1, "limit": 1}).json()
    assert ([item["id"] for item in part["items"]], part["total"]) == ([export[1]], 3)
    for filter_, count in (({"workbook_id": book_id}, 3), ({"workbook_id": str(uuid4())}, 0),
                           ({"status": "completed"}, 3), ({"status": "failed"}, 0)):  # fmt: skip
        assert owner.get(URL, params=filter_).json()["total"] == count, filter_
    for wrong in ({"limit": 0}, {"limit": 101}, {"skip": -1}, {"status": "done"}):
        assert owner.get(URL, params=wrong).status_code == 422, wrong
    assert stranger.get(URL).json()["total"] == 0


REFUSED: list[tuple[dict[str, Any], int, str, str]] = [
    ({"sheet_ids": []}, 400, "Invalid request", "names no sheet"),
    ({"sheet_ids": ["Loans", "Nowhere"]}, 400, "Invalid request", "no sheet 'Nowhere'"),
    ({"sheet_ids": [str(uuid4())]}, 400, "Invalid request", "no sheet"),
    ({"csv_delimiter": ";;"}, 400, "Invalid request", "a delimiter is"),
    ({"csv_encoding": "klingon"}, 400, "Invalid request", "an encoding is"),
    ({"classification_threshold": "top secret"}, 400, "Invalid request", "top secret"),
    ({"redaction_strategy": "shred"}, 400, "Invalid request", "shred"),
    ({"xlsx_signing": True}, 400, "Invalid request", "no signing service"),
    ({"sanitise_pii": False}, 422, "Validation error", "sanitise_pii"),
    ({"sanitize_pii": "no"}, 422, "Validation error", "expected true or false"),
    ({"csv_delimiter": 5}, 422, "Validation error", "expected text"),
    ({"kind": "docx"}, 422, "Validation error", "docx"),
]


@every("body, status, detail, words", REFUSED)
def test_what_cannot_be_exported(
    shared_owner: Member, shared_book: str, body: dict[str, Any], status: int, detail: str, words: str
) -> None:
    answer = asked(shared_owner, shared_book, **body)
    refusal = answer.json()
    assert (answer.status_code, refusal["detail"]) == (status, detail), refusal
    assert words in refusal["errors"][0]["message"], refusal
    assert refusal["errors"][0]["loc"][0] == "body"


def test_whose_it_is_not_and_what_is_not_ready(stack: Stack, owner: Member, stranger: Member, book_id: str) -> None:
    assert asked(stranger, book_id).status_code == 404
    export = exported(owner, book_id)
    for path in ("", "/download"):
        answer = stranger.get(f"{URL}/{export['id']}{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, "Export not found")
    answer = stranger.delete(f"{URL}/{export['id']}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Export not found")
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [book_id])
    answer = asked(owner, book_id)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_an_end_is_an_end(owner: Member, book_id: str) -> None:
    export = exported(owner, book_id, "csv")
    answer = owner.delete(f"{URL}/{export['id']}")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Export has ended")
    assert answer.json()["errors"][0]["message"] == "the export is completed"
    assert downloaded(owner, export).status_code == 200
    for artifact, status in (("pdf", 404), ("docx", 422), ("xlsx", 422)):
        answer = downloaded(owner, export, artifact)
        assert answer.status_code == status, answer.text


def test_the_same_request_twice_makes_one_export(owner: Member, book_id: str) -> None:
    answers = [asked(owner, book_id, headers={"Idempotency-Key": "one"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert asked(owner, book_id, "csv", headers={"Idempotency-Key": "one"}).status_code == 409
    assert owner.get(URL).json()["total"] == 1


def test_an_expired_export_stays_completed_and_frees_its_bytes(stack: Stack, owner: Member, book_id: str) -> None:
    export = exported(owner, book_id)
    used = owner.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"]
    stack.sql("UPDATE documents SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    for _ in range(2):  # before the bytes are given up, and after
        body = owner.get(f"{URL}/{export['id']}").json()
        assert (body["status"], body["is_downloadable"], body["download_url"]) == ("completed", False, None)
        assert body["file_size_bytes"] == export["file_size_bytes"]
        gone = downloaded(owner, export)
        refusal = gone.json()
        assert (gone.status_code, refusal["error_code"]) == (410, "EXPORT_EXPIRED")
        assert refusal["detail"] == "Export has expired"
        stack.sql("SELECT expire_documents(1000)")
    left = "SELECT count(*), sum(size_bytes) FROM blobs WHERE tenant_id = %s AND left_at IS NOT NULL"
    ((count, size),) = stack.sql(left, [owner.tenant_id])
    assert count >= 1
    assert 0 < size / 1024**2 <= used + 0.001


def test_only_so_many_are_in_work(stack: Stack, owner: Member, book_id: str) -> None:
    with stack.another_api(CUSHION_MAX_EXPORTS="1") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        with stack.without_worker():
            first = asked(owner, book_id)
            assert first.status_code == 201
            answer = asked(owner, book_id)
            assert (answer.status_code, answer.json()["detail"]) == (403, "Export limit exceeded")
            assert owner.delete(f"{URL}/{first.json()['id']}").status_code == 204
            assert asked(owner, book_id).status_code == 201


def test_without_a_certificate_nothing_is_sealed(stack: Stack, owner: Member, book_id: str) -> None:
    """Machines that share a database would each make another one."""
    with stack.another_api(
        CUSHION_EMBEDDED="0", CUSHION_APP_URL="https://cushion.example.com", CUSHION_SECRET_KEY=secret_of(stack)
    ) as url:
        owner.http.base_url = url  # type: ignore[assignment]
        answer = asked(owner, book_id, xlsx_sealed_pdf=True)
        assert (answer.status_code, answer.json()["errors"]) == (
            400,
            [{"loc": ["body", "options", "xlsx_sealed_pdf"], "message": "this deployment has no certificate"}],
        )
        assert asked(owner, book_id, "csv", xlsx_sealed_pdf=True).status_code == 201, "what is of .xlsx does nothing"


def secret_of(stack: Stack) -> str:
    return (stack.data_dir / "secret_key").read_text().strip()


# Downloads ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(stack: Stack, shared_owner: Member, shared_book: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An export whose file is larger than what is on its way to a client."""
    export, path = exported(shared_owner, shared_book), tmp_path_factory.mktemp("large") / "file"
    path.write_bytes(uuid4().bytes * 2**22)
    document = within(stack, shared_owner, kept(path, seconds=3600, name="large.xlsx"))
    stack.sql("UPDATE exports SET document_id = %s WHERE id = %s", [document.id, export["id"]])
    return export, path.read_bytes(), document.key


def test_a_download_is_resumed(stack: Stack, shared_owner: Member, large: Any) -> None:
    export, content, key = large
    whole = downloaded(shared_owner, export)
    assert (whole.status_code, whole.content == content) == (200, True)
    assert (whole.headers["etag"], whole.headers["accept-ranges"]) == (f'"{key}"', "bytes")
    rest = downloaded(shared_owner, export, range="bytes=5000000-", if_range=whole.headers["etag"])
    assert (rest.status_code, rest.content == content[5_000_000:]) == (206, True)
    assert rest.headers["content-range"] == f"bytes 5000000-{len(content) - 1}/{len(content)}"
    assert rest.headers["content-length"] == str(len(rest.content))
    other_response = downloaded(shared_owner, export, range="bytes=5000000-", if_range='"other"')
    assert (other_response.status_code, other_response.content == content) == (200, True)
    several = downloaded(shared_owner, export, range="bytes=0-1,5-6")
    assert (several.status_code, len(several.content)) == (200, len(content))
    behind = downloaded(shared_owner, export, range=f"bytes={len(content)}-")
    assert (behind.status_code, behind.headers["content-range"]) == (416, f"bytes */{len(content)}")
    assert behind.json()["error_code"] == "RANGE_NOT_SATISFIABLE"
    text = "SELECT count(*) FROM audit_log WHERE resource_id = %s AND action = 'export.downloaded'"
    assert stack.sql(text, [export["id"]]) == [(4,)], "each time that bytes were given out"


def test_a_client_that_leaves_ends_the_work(shared_owner: Member, large: Any) -> None:
    export, content, key = large

    def opened() -> bool:
        return any(target.endswith(key) for target in hold_storage())

    with shared_owner.http.stream("GET", f"{URL}/{export['id']}/download") as answer:
        chunks = answer.iter_raw(1024)  # which closes the answer once nobody holds it
        assert next(chunks) == content[:1024]
        assert opened()
    wait_until(lambda: not opened(), what="the closed file")


def hold_storage() -> Iterator[str]:
    """The files that the processes below this one hold open."""
    for number in below(os.getpid()):
        with suppress(OSError):  # it has just ended
            for handle in os.listdir(f"/proc/{number}/fd"):
                with suppress(OSError):
                    yield os.readlink(f"/proc/{number}/fd/{handle}")
