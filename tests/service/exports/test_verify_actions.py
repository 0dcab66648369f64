"""A file is told to be an export as it was made, a changed one with its cells, or none of ours."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import openpyxl
import pytest

from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.exports.conftest import URL, downloaded, exported, written

SAID = {"export_id", "workbook_id", "tenant_id", "manifest_version", "hash_scope"}


def verified(member: Member, content: bytes, name: str = "export.xlsx") -> httpx.Response:
    return member.post(f"{URL}/verify", files={"file": (name, content)})


@pytest.fixture(scope="module")
def made(shared_owner: Member, shared_book: str) -> tuple[dict[str, Any], bytes]:
    """An export and its file."""
    export = exported(shared_owner, shared_book, sanitize_pii=False)
    assert export["status"] == "completed", export
    return export, downloaded(shared_owner, export).content


def replaced(content: bytes, part: str, change: Callable[[str], str]) -> bytes:
    """The file with a part changed, as a text editor does it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, change(text.decode()).encode() if re.fullmatch(part, name) else text)
    assert out.getvalue() != content
    return out.getvalue()


def test_the_file_as_it_was_made(shared_owner: Member, made: tuple[dict[str, Any], bytes]) -> None:
    export, content = made
    answer = verified(shared_owner, content)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    provenance = export["result_summary"]["provenance"]
    assert told | {"reason": "", "sheets_not_covered": []} == {
        "status": "original",
        "reason": "",
        "export_id": export["id"],
        "workbook_id": export["workbook_id"],
        "tenant_id": shared_owner.tenant_id,
        "data_hash": provenance["data_hash"],
        "expected_hash": provenance["data_hash"],
        "hmac_valid": True,
        "manifest_version": "svc_hash_v1",
        "hash_scope": provenance["hash_scope"],
        "diffs": [],
        "diffs_truncated": False,
        "sheets_not_covered": [],
    }


def test_a_changed_cell_is_named(shared_owner: Member, made: tuple[dict[str, Any], bytes]) -> None:
    _, content = made
    part = r"xl/worksheets/sheet\d+\.xml"
    changed = replaced(content, part, lambda text: text.replace("<v>3000000</v>", "<v>3000001</v>"))
    told = verified(shared_owner, changed).json()
    assert (told["status"], told["hmac_valid"], told["diffs_truncated"]) == ("modified", True, False), told
    assert told["diffs"] == [{"sheet": "Loans", "cell": "C4", "status": "changed"}]
    assert told["data_hash"] != told["expected_hash"]


def test_a_changed_manifest_is_invalid(
    shared_owner: Member, stranger: Member, made: tuple[dict[str, Any], bytes]
) -> None:
    """Whoever asks: what it says of a tenant is no longer to be believed."""
    export, content = made
    changes: list[tuple[str, str]] = [
        (export["id"], "exp_" + "0" * 32),
        (export["id"], r"exp_\u0000"),
        (shared_owner.tenant_id, stranger.tenant_id),
    ]
    for old, new in changes:
        changed = replaced(content, r"customXml/item\d+\.xml", lambda text, old=old, new=new: text.replace(old, new))
        for member in (shared_owner, stranger) if old == shared_owner.tenant_id else (shared_owner,):
            answer = verified(member, changed)
            assert answer.status_code == 200, (old, answer.text)
            assert (answer.json()["status"], answer.json()["hmac_valid"]) == ("invalid_provenance", False), old


def test_a_true_export_of_another_tenant(stranger: Member, made: tuple[dict[str, Any], bytes]) -> None:
    answer = verified(stranger, made[1])
    assert (answer.status_code, answer.json()["detail"]) == (403, "File belongs to another tenant")


def test_what_was_never_ours_is_unknown(shared_owner: Member, tmp_path: Any) -> None:
    told = verified(shared_owner, written(tmp_path / "other.xlsx").read_bytes()).json()
    assert (told["status"], told["hmac_valid"], told["diffs"]) == ("unknown", False, [])
    assert {told[name] for name in SAID} == {None}


def test_an_export_without_its_record_is_unknown(stack: Stack, owner: Member, book_id: str) -> None:
    export = exported(owner, book_id)
    content = downloaded(owner, export).content
    stack.sql("DELETE FROM exports WHERE id = %s", [export["id"]])
    told = verified(owner, content).json()
    assert (told["status"], told["hmac_valid"], told["export_id"]) == ("unknown", True, export["id"])


def test_an_expired_export_is_verified_all_the_same(stack: Stack, owner: Member, book_id: str) -> None:
    export = exported(owner, book_id, sanitize_pii=False)
    content = downloaded(owner, export).content
    stack.sql("UPDATE documents SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    stack.sql("SELECT expire_documents(1000)")
    assert verified(owner, content).json()["status"] == "original"


def _book_of(*values: Any) -> bytes:
    out = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(values)
    book.save(out)
    return out.getvalue()


REFUSED: list[tuple[str, bytes, int, str]] = [
    ("export.xlsx", b"", 400, "empty"),
    ("export.csv", b"a,b\n1,2\n", 400, "must end in .xlsx"),
    ("export.pdf", b"%PDF-1.7", 400, "must end in .xlsx"),
    ("export.xlsx", b"%PDF-1.7 something", 400, "PDF"),
    ("export.xlsx", b"PK\x03\x04 and nothing more", 400, ""),
    ("export.xlsx", _book_of(1)[:-30], 400, ""),
]


@every("name, content, status, words", REFUSED)
def test_what_is_no_xlsx_is_refused(shared_owner: Member, name: str, content: bytes, status: int, words: str) -> None:
    answer = verified(shared_owner, content, name)
    assert (answer.status_code, answer.json()["detail"]) == (status, "Invalid request"), answer.text
    assert words in answer.json()["errors"][0]["message"]


def test_a_file_over_the_limit_is_too_large(stack: Stack, owner: Member) -> None:
    with stack.another_api(CUSHION_MAX_UPLOAD_MB="1") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        for size in (1024**2 + 1, 2 * 1024**2):
            answer = verified(owner, b"PK\x03\x04" + b"x" * (size - 4))
            assert (answer.status_code, answer.json()["error_code"]) == (413, "PAYLOAD_TOO_LARGE")
