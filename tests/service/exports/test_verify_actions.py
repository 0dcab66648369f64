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
def export_and_file(shared_owner: Member, shared_book: str) -> tuple[dict[str, Any], bytes]:
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


def test_the_file_as_it_was_made(shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]) -> None:
    export, content = export_and_file
    answer = verified(shared_owner, content)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    provenance = export["result_summary"]["provenance"]
    assert body["reason"] == (
        "The hashed sheets show what was exported. Not looked at: " + "; ".join(body["not_looked_at"]) + "."
    )
    assert body["not_looked_at"][-2:] == [
        "fonts, colours, widths, heights and print settings", "digits behind the 15th",
    ]  # fmt: skip
    assert body | {"reason": "", "sheets_not_covered": [], "not_looked_at": []} == {
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
        "findings": [],
        "not_looked_at": [],
    }


def test_a_changed_cell_is_named(shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]) -> None:
    _, content = export_and_file
    part = r"xl/worksheets/sheet\d+\.xml"
    changed = replaced(content, part, lambda text: text.replace("<v>3000000</v>", "<v>3000001</v>"))
    body = verified(shared_owner, changed).json()
    assert (body["status"], body["hmac_valid"], body["diffs_truncated"]) == ("modified", True, False), body
    assert body["diffs"] == [{"sheet": "Loans", "cell": "C4", "status": "changed"}]
    assert body["data_hash"] != body["expected_hash"]


def test_what_programs_read_differently_is_invalid_with_its_place(
    shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]
) -> None:
    export, content = export_and_file
    part = r"xl/worksheets/sheet1\.xml"
    changed = replaced(content, part, lambda text: text.replace("<v>3000000</v>", "<v>3000<x/>000</v>"))
    body = verified(shared_owner, changed).json()
    assert (body["status"], body["hmac_valid"], body["export_id"]) == ("invalid_provenance", True, export["id"]), body
    assert body["findings"] == [{
        "status": "invalid_provenance", "part": "xl/worksheets/sheet1.xml", "sheet": "Loans", "cell": "C4",
        "message": "markup that no spreadsheet program writes there",
    }]  # fmt: skip
    assert body["reason"] == (
        "Programs read different cells in the file: the sheet 'Loans' at C4 has markup that no spreadsheet program "
        "writes there."
    )


def test_a_number_format_that_shows_another_figure_is_modified(
    shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]
) -> None:
    _, content = export_and_file

    def change(text: str) -> str:
        count = text.split("<cellXfs")[1].split("</cellXfs>")[0].count("<xf ")
        input_text = '<numFmt numFmtId="999" formatCode="&quot;1&quot;0"/>'
        text = text.replace("</numFmts>", input_text + "</numFmts>") if "</numFmts>" in text else text.replace(
            "<fonts", f"<numFmts>{input_text}</numFmts><fonts", 1
        )  # fmt: skip
        result["style"] = str(count)
        return text.replace("</cellXfs>", '<xf numFmtId="999" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>')

    result: dict[str, str] = {}
    changed = replaced(content, r"xl/styles\.xml", change)
    changed = replaced(
        changed, r"xl/worksheets/sheet1\.xml",
        lambda text: re.sub(r'<c r="C4"( s="\d+")?', f'<c r="C4" s="{result["style"]}"', text),
    )  # fmt: skip
    body = verified(shared_owner, changed).json()
    assert (body["status"], body["diffs"]) == (
        "modified", [{"sheet": "Loans", "cell": "C4", "status": "display"}],
    ), body  # fmt: skip
    assert body["data_hash"] == body["expected_hash"]
    assert body["reason"] == (
        "The file shows something else than was exported: C4 of the sheet 'Loans' is shown by another number format."
    )


def test_a_sheet_that_is_nobodys_makes_a_file_modified(
    shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]
) -> None:
    """A first sheet like the data, the real ones hidden so that no menu shows them."""
    _, content = export_and_file
    sheet = '<sheet name="Loans." sheetId="77" r:id="rId77"/>'
    link = (
        '<Relationship Id="rId77" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet77.xml"/></Relationships>'
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
    changed = replaced(
        content, r"xl/workbook\.xml",
        lambda text: text.replace("<sheets>", "<sheets>" + sheet).replace(
            '<sheet name="Loans"', '<sheet name="Loans" state="veryHidden"'),
    )  # fmt: skip
    changed = replaced(changed, r"xl/_rels/workbook\.xml\.rels", lambda text: text.replace("</Relationships>", link))
    changed = replaced(
        changed, r"\[Content_Types\]\.xml",
        lambda text: text.replace(
            "</Types>", f'<Override PartName="/xl/worksheets/sheet77.xml" ContentType="{kind}"/></Types>'),
    )  # fmt: skip
    out = io.BytesIO(changed)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet77.xml", archive.read("xl/worksheets/sheet1.xml"))
    body = verified(shared_owner, out.getvalue()).json()
    assert body["status"] == "modified", body
    assert {"sheet": "Loans.", "cell": None, "status": "added"} in body["diffs"]
    assert {"sheet": "Loans", "cell": None, "status": "hidden"} in body["diffs"]


def test_two_entries_of_one_name_are_invalid_provenance(
    shared_owner: Member, export_and_file: tuple[dict[str, Any], bytes]
) -> None:
    """Programs take the first or the last: that is no fault of the request."""
    out = io.BytesIO(export_and_file[1])
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("xl/worksheets/sheet1.xml", archive.read("xl/worksheets/sheet1.xml"))
    answer = verified(shared_owner, out.getvalue())
    assert (answer.status_code, answer.json()["status"]) == (200, "invalid_provenance"), answer.text
    assert answer.json()["reason"] == "The archive holds two entries of the same name."


def test_a_changed_manifest_is_invalid(
    shared_owner: Member, stranger: Member, export_and_file: tuple[dict[str, Any], bytes]
) -> None:
    """Whoever asks: what it says of a tenant is no longer to be believed."""
    export, content = export_and_file
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


def test_a_true_export_of_another_tenant(stranger: Member, export_and_file: tuple[dict[str, Any], bytes]) -> None:
    answer = verified(stranger, export_and_file[1])
    assert (answer.status_code, answer.json()["detail"]) == (403, "File belongs to another tenant")


def test_what_was_never_ours_is_unknown(shared_owner: Member, tmp_path: Any) -> None:
    body = verified(shared_owner, written(tmp_path / "other.xlsx").read_bytes()).json()
    assert (body["status"], body["hmac_valid"], body["diffs"]) == ("unknown", False, [])
    assert {body[name] for name in SAID} == {None}


def test_an_export_without_its_record_is_unknown(stack: Stack, owner: Member, book_id: str) -> None:
    export = exported(owner, book_id)
    content = downloaded(owner, export).content
    stack.sql("DELETE FROM exports WHERE id = %s", [export["id"]])
    body = verified(owner, content).json()
    assert (body["status"], body["hmac_valid"], body["export_id"]) == ("unknown", True, export["id"])


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
    ("export.xlsx", b"%PDF-1.7 something", 400, "no .xlsx"),
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
