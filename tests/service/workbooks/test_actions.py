"""What may be uploaded, changed and deleted.

What is refused leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import os
import random
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import openpyxl
import pytest
import xlwt

from tests.conftest import Member, Stack, register, wait_until
from tests.core.files.compound import compound
from tests.core.files.test_encrypted import agile, rc4_cryptoapi
from tests.core.files.test_spreadsheetml import document
from tests.core.files.test_spreadsheetml import sheet as xml_sheet
from tests.records import small_book
from tests.service.workbooks.conftest import MAIN, ROOT, PackFile, scratch_files, sheet_xml, stored_blobs

UPLOAD = "/api/v1/workbooks/upload"
CELL = '<row r="1"><c r="A1"><v>1</v></c></row>'
MEGABYTE = 1024 * 1024


# What an upload gives -------------------------------------------------------------------------------------------------


def test_an_upload_answers_at_once(owner: Member, loans: Path) -> None:
    answer = owner.upload(loans)
    assert answer.status_code == 201
    body = answer.json()
    assert body | {"id": 0, "created_at": 0, "updated_at": 0} == {
        "id": 0,
        "name": "loans.xlsx",
        "description": None,
        "file_name": "loans.xlsx",
        "file_size": loans.stat().st_size,
        "sheet_count": 4,
        "status": "processing",
        "error_message": None,
        "mapping_id": None,
        "stream_key": None,
        "deal_id": None,
        "as_of": None,
        "written_by": None,
        "created_by": owner.email,
        "created_at": 0,
        "updated_at": 0,
        "sheets": [
            {"name": "Loans", "row_count": 6, "column_count": 7},
            {"name": "Notes / hidden", "row_count": 2, "column_count": 2},
            {"name": "Numbers", "row_count": 5, "column_count": 2},
            {"name": "Empty", "row_count": 0, "column_count": 0},
        ],
    }
    assert owner.parsed(body["id"])["status"] == "ready"


def test_the_fields_of_an_upload(owner: Member, loans: Path) -> None:
    answer = owner.upload(
        loans, name=" March ", description="holdings", mapping_id="standard_servicer", stream_key="deal:internal:MAG-17"
    )
    result = owner.parsed(answer.json()["id"])
    named = (result["name"], result["description"], result["mapping_id"], result["stream_key"])
    assert named == ("March", "holdings", "standard_servicer", "deal:internal:MAG-17")


def test_fields_left_empty_count_as_not_given(owner: Member, loans: Path) -> None:
    body = owner.upload(loans, name=" ", description="", mapping_id="", stream_key="").json()
    named = (body["name"], body["description"], body["mapping_id"], body["stream_key"])
    assert named == ("loans.xlsx", None, None, None)


def test_an_upload_is_audited(stack: Stack, owner: Member, loans: Path) -> None:
    workbook_id = owner.uploaded(loans)["id"]
    rows = stack.sql("SELECT action, resource_type, user_email FROM audit_log WHERE resource_id = %s", [workbook_id])
    assert rows == [("workbook.uploaded", "workbook", owner.email)]


def test_a_key_uploads_in_its_creators_name(owner: Member, loans: Path) -> None:
    assert owner.key("workbooks:write").upload(loans).json()["created_by"] == owner.email


def test_an_xls_file(owner: Member, tmp_path: Path) -> None:
    out = xlwt.Workbook()
    page = out.add_sheet("Loans")
    for column, name in enumerate(("CUSIP", "Par Amount", "Price")):
        page.write(0, column, name)
    page.write(1, 0, "12345678")
    page.write(1, 1, 5e6)
    out.save(str(tmp_path / "tape.XLS"))
    result = owner.uploaded(tmp_path / "tape.XLS")
    assert (result["status"], result["sheets"][0]["headers"]) == ("ready", ["CUSIP", "Par Amount", "Price"])
    data = owner.get(f"/api/v1/workbooks/{result['id']}/sheets/Loans/data").json()
    assert data["rows"] == [{"_row_number": 2, "CUSIP": "12345678", "Par Amount": 5e6, "Price": None}]


def test_an_xlsm_file_is_read_without_its_macros(owner: Member, pack: PackFile) -> None:
    path = pack([sheet_xml(CELL)], extra={"xl/vbaProject.bin": b"Sub AutoOpen()"}, name="macro.xlsm")
    assert owner.uploaded(path)["status"] == "ready"


REAL_FILES = [path for path in [ROOT / "../shared/data/mag17.xlsx"] if path.exists()]


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_a_real_file_reads_as_openpyxl_reads_it(owner: Member, path: Path) -> None:
    workbook = owner.uploaded(path)
    assert workbook["status"] == "ready"
    book = openpyxl.load_workbook(path, data_only=True)
    for sheet in workbook["sheets"]:
        page = owner.get(
            f"/api/v1/workbooks/{workbook['id']}/sheets/{sheet['id']}/data", params={"page_size": 1000}
        ).json()
        names = [column["name"] for column in page["columns"]]
        assert names == sheet["headers"] or not sheet["headers"]
        for row in page["rows"]:
            for index, name in enumerate(names):
                value = book[sheet["name"]].cell(row["_row_number"], index + 1).value
                if isinstance(value, bool | int | float | str) or value is None:
                    assert row[name] == value, (sheet["name"], row["_row_number"], name)
                else:
                    assert str(row[name]).startswith(value.isoformat()[:10])


# What is refused ------------------------------------------------------------------------------------------------------


def bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 30 * MEGABYTE)
    return path


def protected(path: Path) -> Path:
    """The compound file that Excel wraps an encrypted workbook in, as far as its directory."""
    path.write_bytes(compound({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}))
    return path


def written(name: str, content: bytes) -> Callable[[Path, PackFile], Path]:
    def make(folder: Path, _: PackFile) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def truncated(folder: Path, pack: PackFile) -> Path:
    whole = pack([sheet_xml(CELL * 50)]).read_bytes()
    (folder / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    return folder / "cut.xlsx"


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    f'<!ENTITY f SYSTEM "file:///etc/passwd">]><worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="inlineStr">'
    "<is><t>&b;&f;</t></is></c></row></sheetData></worksheet>"
)
FAR_ROW = '<row r="1000001"><c r="A1000001"><v>1</v></c></row>'
FAR_COLUMN = '<row r="1"><c r="XFE1"><v>1</v></c></row>'
SCATTERED = "".join(
    f'<row r="{row}"><c r="{"XFD" if row > 1 else "A"}{row}"><v>1</v></c></row>' for row in (1, 1_000_001)
)

BAD_FILES: dict[str, tuple[Callable[[Path, PackFile], Path], int, str]] = {
    "zero bytes": (written("a.xlsx", b""), 422, "Parse error"),
    "a renamed pdf": (written("a.xlsx", b"%PDF-1.7\n%\xe2\xe3\n1 0 obj"), 422, "Parse error"),
    "text": (written("a.xlsx", b"a,b,c\n1,2,3\n"), 422, "Parse error"),
    "another extension": (written("a.csv", b"a,b,c\n1,2,3\n"), 400, "Invalid file format"),
    "no extension": (written("workbook", b"PK\x03\x04"), 400, "Invalid file format"),
    "a page without a table": (written("a.xls", b"<html><body>Please log in</body></html>"), 422, "Parse error"),
    "other xml": (written("a.xls", b"<?xml version='1.0'?><feed/>"), 422, "Parse error"),
    "entities of spreadsheetml": (
        written("a.xls", document(head='<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>')),
        422,
        "Parse error",
    ),
    "a page with a wide table": (written("a.xls", b"<table><tr>" + b"<td>1" * 16_385), 422, "Parse error"),
    "delimited text called xls": (written("a.xls", b"a\tb\n1\t2\n"), 422, "Parse error"),
    "too many sheets": (lambda _, pack: pack([sheet_xml(CELL)] * 51), 400, "Too many sheets"),
    "a truncated zip": (truncated, 422, "Parse error"),
    "a zip bomb": (lambda folder, _: bomb(folder / "bomb.xlsx"), 422, "Parse error"),
    "entity tricks": (lambda _, pack: pack([ENTITIES]), 422, "Parse error"),
    "a password": (lambda folder, _: protected(folder / "locked.xlsx"), 422, "Parse error"),
    "too many rows": (lambda _, pack: pack([sheet_xml(FAR_ROW)]), 422, "Parse error"),
    "a cell past the last column": (lambda _, pack: pack([sheet_xml(FAR_COLUMN)]), 422, "Parse error"),
    "two far corners": (lambda _, pack: pack([sheet_xml(SCATTERED)]), 422, "Parse error"),
    "broken xml": (lambda _, pack: pack(["<worksheet><sheetData><row>"]), 422, "Parse error"),
}
HINTS = {
    "a password": "remove the password",
    "a zip bomb": "unpacks to",
    "a cell past the last column": "past column 16,384",
}
"""What the refusal has to say."""


def assert_nothing_is_left(stack: Stack, member: Member, content: bytes) -> None:
    assert stack.sql("SELECT count(*) FROM workbooks WHERE tenant_id = %s", [member.tenant_id]) == [(0,)]
    assert stack.sql("SELECT count(*) FROM jobs WHERE tenant_id = %s", [member.tenant_id]) == [(0,)]
    assert stack.sql(
        "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND action LIKE 'workbook%%'", [member.tenant_id]
    ) == [(0,)]
    assert hashlib.sha256(content).hexdigest() not in stored_blobs(stack)
    assert not [name for name in scratch_files(stack) if name.startswith("upload-")]


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_leave_nothing_behind(stack: Stack, owner: Member, tmp_path: Path, pack: PackFile, kind: str) -> None:
    make, status, detail = BAD_FILES[kind]
    path = make(tmp_path, pack)
    answer = owner.upload(path)
    body = answer.json()
    assert (answer.status_code, body["detail"]) == (status, detail), answer.text
    assert body["error_code"] == ("FILE_PARSE_ERROR" if status == 422 else "VALIDATION_ERROR")
    assert body["errors"][0]["loc"] == ["body", "file"]
    assert body["errors"][0]["message"].endswith((".", "?"))
    if kind in HINTS:
        assert HINTS[kind] in body["errors"][0]["message"]
    assert_nothing_is_left(stack, owner, path.read_bytes())


@pytest.mark.parametrize("name", ["../../etc/", "folder\\.xlsx", "..", "a\tb.xlsx", "x" * 251 + ".xlsx", ""])
def test_names_that_are_no_plain_file_names(stack: Stack, owner: Member, loans: Path, name: str) -> None:
    content = loans.read_bytes() + uuid4().bytes  # bytes that nobody else has uploaded
    boundary = "boundary"
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    answer = owner.post(
        UPLOAD,
        content=part + content + f"\r\n--{boundary}--\r\n".encode(),
        headers={"content-type": f"multipart/form-data; boundary={boundary}"},
    )
    assert (answer.status_code, answer.json()["detail"]) == (400, "Invalid file format")
    assert_nothing_is_left(stack, owner, content)


GOOD_FILES: dict[str, Callable[[PackFile], bytes]] = {
    "an xlsx": lambda pack: pack([sheet_xml(CELL)]).read_bytes(),
    "spreadsheetml": lambda _: document(xml_sheet("<Row><Cell><Data ss:Type='Number'>1</Data></Cell></Row>", "S1")),
    "a page": lambda _: b"<html xmlns:x=y><!--[if mso]><x:Name>S1</x:Name><![endif]--><table><tr><td>1</table></html>",
    "an encrypted xlsx": lambda _: agile("VelvetSweatshop", small_book([["Name"], *[[f"x{at}"] for at in range(400)]])),
    "an encrypted xls": lambda _: rc4_cryptoapi("VelvetSweatshop"),
}


@pytest.mark.parametrize("kind", GOOD_FILES)
def test_what_a_file_is_its_content_says(owner: Member, tmp_path: Path, pack: PackFile, kind: str) -> None:
    """Portals send all of these by the name of .xls.

    The sheets that the upload tells are those that are stored.
    """
    path = tmp_path / "portal.xls"
    path.write_bytes(GOOD_FILES[kind](pack))
    answer = owner.upload(path)
    assert answer.status_code == 201, answer.text
    (lines,) = answer.json()["sheets"]
    result = owner.parsed(answer.json()["id"])
    assert (result["status"], result["file_name"]) == ("ready", "portal.xls")
    (kept,) = result["sheets"]
    assert {name: kept[name] for name in lines} == lines


def test_a_page_is_a_sheet_by_the_name_of_its_file(owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "Pool March.xls"
    path.write_bytes(b"<table><tr><td>Name<td>Par<tr><td>Alder<td>1,000,000.50</table>")
    result = owner.uploaded(path)
    (page,) = result["sheets"]
    assert page["name"] == "Pool March"
    cell = owner.get(f"/api/v1/workbooks/{result['id']}/sheets/{page['id']}/cells/B2").json()
    assert cell["value"] == 1000000.5


@pytest.mark.parametrize(
    ("form", "loc"),
    [
        ({"data": {"name": "x"}}, ["body", "file"]),
        ({"data": {"file": "text"}, "files": {"other": ("a.xlsx", b"x")}}, ["body", "file"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"name": "x" * 256}}, ["body", "name"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"description": "x" * 2001}}, ["body", "description"]),
        ({"files": {"file": ("a.xlsx", b"x"), "name": ("n", b"x")}}, ["body", "name"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"stream_key": "deal:cusip:"}}, ["body", "stream_key"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"stream_key": "deal:ticker:X"}}, ["body", "stream_key"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"stream_key": "deal:isin:X\n"}}, ["body", "stream_key"]),
        ({"files": {"file": ("a.xlsx", b"x")}, "data": {"stream_key": "isin:X"}}, ["body", "stream_key"]),
        (
            {"files": {"file": ("a.xlsx", b"x")}, "data": {"stream_key": "deal:isin:XS2010030918"}},
            ["body", "stream_key"],
        ),
    ],
)
def test_malformed_forms(shared_owner: Member, form: dict[str, Any], loc: list[str]) -> None:
    answer = shared_owner.post(UPLOAD, **form)
    assert answer.status_code == 422, answer.text
    assert (answer.json()["detail"], answer.json()["error_code"]) == ("Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == loc


def test_an_unknown_mapping(stack: Stack, owner: Member, loans: Path) -> None:
    answer = owner.upload(loans, mapping_id="nobodys")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Mapping not found")
    assert stack.sql("SELECT count(*) FROM workbooks WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tight(stack: Stack) -> Iterator[str]:
    """An API whose limits on files are low."""
    with stack.another_api(
        CUSHION_MAX_UPLOAD_MB="1",
        CUSHION_MAX_SHEETS="2",
        CUSHION_MAX_SHEET_ROWS="10",
        CUSHION_MAX_SHEET_COLUMNS="3",
        CUSHION_MAX_WORKBOOKS="1 1 1 1",
        CUSHION_UPLOADS_PER_HOUR="4 4 4 4",
    ) as url:
        yield url


@pytest.mark.parametrize(
    ("sheets", "padding", "status", "detail", "limit"),
    [
        ([CELL], MEGABYTE, 400, "File too large", "1 MB"),
        ([CELL] * 3, 0, 400, "Too many sheets", "2"),
        (['<row r="11"><c r="A11"><v>1</v></c></row>'], 0, 422, "Parse error", "10"),
        (['<row r="1"><c r="D1"><v>1</v></c></row>'], 0, 422, "Parse error", "3"),
    ],
)
def test_limits_are_settings(
    tight: str, pack: PackFile, sheets: list[str], padding: int, status: int, detail: str, limit: str
) -> None:
    noise = random.Random(1).randbytes(padding)
    answer = register(tight).upload(pack([sheet_xml(rows) for rows in sheets], extra={"xl/media/a.png": noise}))
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert f"limit is {limit}" in answer.json()["errors"][0]["message"]


def test_more_rows_than_the_service_takes(shared_owner: Member, pack: PackFile) -> None:
    """A spreadsheet may have 1,048,576 rows, a workbook of the service a million."""
    answer = shared_owner.upload(pack([sheet_xml(FAR_ROW)]))
    assert (answer.status_code, answer.json()["detail"]) == (422, "Parse error")
    (error,) = answer.json()["errors"]
    assert error["message"] == "Sheet 'S1' has 1,000,001 rows; the limit is 1,000,000."


def test_a_body_far_over_the_limit_is_refused_by_its_length(tight: str) -> None:
    answer = register(tight).post(UPLOAD, files={"file": ("a.xlsx", bytes(3 * MEGABYTE))})
    assert (answer.status_code, answer.json()["detail"]) == (400, "File too large")


def test_a_tenants_own_lower_limit(stack: Stack, owner: Member, pack: PackFile) -> None:
    stack.sql("""UPDATE tenants SET settings = '{"max_workbook_size_mb": 1}' WHERE id = %s""", [owner.tenant_id])
    answer = owner.upload(pack([sheet_xml(CELL)], extra={"xl/media/a.png": random.Random(2).randbytes(MEGABYTE)}))
    assert (answer.status_code, answer.json()["detail"]) == (400, "File too large")
    assert owner.upload(pack([sheet_xml(CELL)])).status_code == 201


def test_one_place_is_taken_once(tight: str, pack: PackFile) -> None:
    """Two uploads at once for the last workbook of a tenant.

    One is refused, and its file goes.
    """
    member = register(tight)
    paths = [pack([sheet_xml(f'<row r="1"><c r="A1"><v>{at}</v></c></row>')], name=f"{at}.xlsx") for at in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(member.upload, paths))
    assert sorted(answer.status_code for answer in answers) == [201, 403]
    refused = next(answer for answer in answers if answer.status_code == 403)
    assert (refused.json()["detail"], refused.json()["error_code"]) == ("Workbook limit exceeded", "PERMISSION_DENIED")


def test_deleting_makes_room(tight: str, pack: PackFile) -> None:
    member = register(tight)
    path = pack([sheet_xml(CELL)])
    first = member.uploaded(path)
    assert member.upload(path).status_code == 403
    assert member.delete(f"/api/v1/workbooks/{first['id']}").status_code == 204
    assert member.upload(path).status_code == 201


def test_the_upload_quota(tight: str, stack: Stack, pack: PackFile) -> None:
    """Four an hour, of which what is refused uses up none, whenever it is refused."""
    member, path = register(tight), pack([sheet_xml(CELL)])
    refused = [member.post(UPLOAD, files={"file": ("a.xlsx", b"")}).status_code for _ in range(5)]
    refused += [member.post(UPLOAD, files={"file": ("a.xlsx", bytes(MEGABYTE + 1))}).status_code]
    for place in range(4):
        first = member.uploaded(path)
        if place == 0:  # the workbook's place is taken: 403
            refused += [member.upload(path).status_code for _ in range(5)]
        assert member.delete(f"/api/v1/workbooks/{first['id']}").status_code == 204
    assert refused == [422] * 5 + [400] + [403] * 5
    answer = member.upload(path)
    body = answer.json()
    assert (answer.status_code, body["error"], body["detail"]) == (429, "rate_limit_exceeded", "Rate limit exceeded")
    assert 3500 < body["retry_after"] <= 3600
    assert answer.headers["retry-after"] == str(body["retry_after"])
    assert member.get("/api/v1/workbooks").status_code == 200  # only uploads are used up


def test_the_storage_quota(stack: Stack, loans: Path) -> None:
    with stack.another_api(CUSHION_MAX_STORAGE_GB="1 1 1 1") as url:
        member = register(url)
        member.uploaded(loans)
        stack.sql("UPDATE blobs SET size_bytes = %s WHERE tenant_id = %s", [1024**3 // 2, member.tenant_id])
        answer = member.upload(loans)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Storage limit exceeded")


# The file as it came --------------------------------------------------------------------------------------------------


def given_out(member: Member, workbook_id: str, *, headers: dict[str, str] | None = None, **query: Any) -> Any:
    return member.get(f"/api/v1/workbooks/{workbook_id}/file", params=query, headers=headers)


def test_the_original_is_given_out(stack: Stack, owner: Member, stranger: Member, loans: Path, tmp_path: Path) -> None:
    """To the byte, under its name, in parts too, in an audited event.

    To nobody else, and not of a deleted workbook.
    """
    named = tmp_path / "Q1; März 100%.xlsx"
    named.write_bytes(loans.read_bytes())
    workbook = owner.uploaded(named, name="Another name")
    answer = given_out(owner, workbook["id"])
    assert (answer.status_code, answer.content) == (200, named.read_bytes())
    headers = answer.headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == (
        "attachment; filename=\"Q1_ M_rz 100_.xlsx\"; filename*=UTF-8''Q1%3B%20M%C3%A4rz%20100%25.xlsx"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert int(headers["content-length"]) == len(answer.content) == workbook["file_size"]
    assert headers["etag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'
    part = given_out(owner, workbook["id"], headers={"Range": "bytes=4-9"})
    assert (part.status_code, part.content) == (206, answer.content[4:10])
    beyond = given_out(owner, workbook["id"], headers={"Range": f"bytes={len(answer.content)}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(answer.content)}")
    assert given_out(owner, workbook["id"], number=2).json()["detail"] == "File not found"
    events = stack.sql(
        "SELECT user_email, details FROM audit_log WHERE tenant_id = %s AND action = 'workbook.downloaded'",
        [owner.tenant_id],
    )
    assert events == [(owner.email, {"file_name": named.name})] * 2
    assert given_out(owner.invite("viewer"), workbook["id"]).status_code == 200
    for nobody, where in ((stranger, workbook["id"]), (owner, str(uuid4())), (owner, "x")):
        assert given_out(nobody, where).status_code == 404
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]})
    assert run.status_code == 200, "the bytes are evidence"
    assert owner.delete(f"/api/v1/workbooks/{workbook['id']}").status_code == 204
    assert given_out(owner, workbook["id"]).status_code == 404
    assert hashlib.sha256(answer.content).hexdigest() in stored_blobs(stack)


def test_a_file_that_could_not_be_read_is_given_out_too(stack: Stack, owner: Member, loans: Path) -> None:
    workbook = owner.uploaded(loans)
    stack.sql("UPDATE workbooks SET status = 'error', book_key = NULL WHERE id = %s", [workbook["id"]])
    assert given_out(owner, workbook["id"]).content == loans.read_bytes()


def test_damaged_bytes_are_not_given_out(stack: Stack, owner: Member, loans: Path) -> None:
    content = loans.read_bytes() + uuid4().bytes  # that no other workbook has
    loans.write_bytes(content)
    workbook = owner.uploaded(loans)
    (blob,) = (stack.data_dir / "blobs").glob(f"*/{hashlib.sha256(content).hexdigest()}")
    os.chmod(blob, 0o600)
    blob.write_bytes(content[:-1])
    answer = given_out(owner, workbook["id"])
    assert (answer.status_code, answer.json()["detail"]) == (503, "Stored data is damaged")


# What fails on the way ------------------------------------------------------------------------------------------------


@pytest.fixture
def sabotage(stack: Stack) -> Iterator[str]:
    """A description that the database refuses, after the file was stored."""
    word = f"sabotage-{uuid4()}"
    stack.sql(
        f"""
        CREATE FUNCTION sabotage() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.description = '{word}' THEN RAISE 'sabotage'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER sabotage BEFORE INSERT ON workbooks FOR EACH ROW EXECUTE FUNCTION sabotage();
        """
    )
    yield word
    stack.sql("DROP TRIGGER sabotage ON workbooks; DROP FUNCTION sabotage()")


def test_a_rolled_back_upload_takes_its_blob_along(
    stack: Stack, owner: Member, stranger: Member, pack: PackFile, sabotage: str
) -> None:
    path = pack([sheet_xml(f'<row r="1"><c r="A1"><v>{random.random()}</v></c></row>')])
    key = hashlib.sha256(path.read_bytes()).hexdigest()
    assert owner.upload(path, description=sabotage).status_code == 500
    assert_nothing_is_left(stack, owner, path.read_bytes())
    assert stranger.upload(path).status_code == 201
    assert owner.upload(path, description=sabotage).status_code == 500
    assert key in stored_blobs(stack)  # the same bytes are another tenant's workbook


def processes_of_apis() -> set[int]:
    """The API servers that this process started, and their workers.

    Whoever is in a session that one of them leads.
    """
    sessions: dict[int, int] = {}
    servers = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            _, parent, _, session, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            sessions[int(entry.name)] = int(session)
            if int(parent) == os.getpid() and b"app:create" in (entry / "cmdline").read_bytes():
                servers.add(int(entry.name))
        except OSError:  # it ended meanwhile
            continue
    return {pid for pid, session in sessions.items() if session in servers}


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def test_a_big_upload_takes_little_memory(stack: Stack, pack: PackFile, loans: Path) -> None:
    """95 MB that cannot be packed: they stream through the service to the store."""
    path = pack([sheet_xml(CELL * 1)], extra={"xl/media/a.png": random.Random(3).randbytes(95 * MEGABYTE)})
    others = processes_of_apis()
    with stack.another_api(fresh=True) as url:
        processes = processes_of_apis() - others
        assert len(processes) > 1
        member = register(url)
        member.uploaded(loans)
        before = {pid: peak_bytes(pid) for pid in processes}
        result = member.uploaded(path)
        grown = max(peak_bytes(pid) - before[pid] for pid in processes)
    assert (result["status"], result["file_size"] > 95 * MEGABYTE) == ("ready", True)
    assert grown < 100 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB"
    print(f"a 95 MB upload: {grown / MEGABYTE:.1f} MB more memory")


# Changing -------------------------------------------------------------------------------------------------------------


def test_patch_changes_what_is_given(stack: Stack, owner: Member, loans: Path) -> None:
    result = owner.uploaded(loans, description="old", mapping_id="standard_clo")
    place = f"/api/v1/workbooks/{result['id']}"
    changed = owner.patch(place, json={"name": "New", "stream_key": "deal:isin:US0378331005"})
    assert changed.status_code == 200
    body = changed.json()
    assert (body["name"], body["description"], body["mapping_id"]) == ("New", "old", "standard_clo")
    assert body["stream_key"] == "deal:isin:US0378331005"
    assert body["updated_at"] > result["updated_at"]
    assert "sheets" not in body
    assert "stats" not in body
    cleared = owner.patch(place, json={"description": None, "mapping_id": None, "stream_key": None}).json()
    assert (cleared["name"], cleared["description"], cleared["mapping_id"], cleared["stream_key"]) == (
        "New",
        None,
        None,
        None,
    )
    for nothing in ({}, {"file_name": "x", "status": "error"}):
        assert owner.patch(place, json=nothing).json() == cleared
    actions = stack.sql("SELECT action FROM audit_log WHERE resource_id = %s ORDER BY occurred_at", [result["id"]])
    assert [action for (action,) in actions] == ["workbook.uploaded", "workbook.updated", "workbook.updated"]


@pytest.mark.parametrize(
    "patch",
    [
        {"name": ""},
        {"name": "  "},
        {"name": None},
        {"name": "x" * 256},
        {"name": 1},
        {"description": "x" * 2001},
        {"mapping_id": 5},
        {"stream_key": "deal:lei:"},
        {"stream_key": "deal:x:1"},
        {"stream_key": "deal:isin:US0378331006"},
        {"stream_key": "deal:cusip:037833101"},
        {"stream_key": "deal:lei:549300LN3VL4EWWX4G95"},
        {"stream_key": ""},
    ],
)
def test_patch_refuses_what_does_not_fit(shared_owner: Member, workbook: dict[str, Any], patch: dict[str, Any]) -> None:
    answer = shared_owner.patch(f"/api/v1/workbooks/{workbook['id']}", json=patch)
    assert (answer.status_code, answer.json()["errors"][0]["loc"][:1]) == (422, ["body"])


def test_patch_to_an_unknown_mapping(shared_owner: Member, workbook: dict[str, Any]) -> None:
    answer = shared_owner.patch(f"/api/v1/workbooks/{workbook['id']}", json={"mapping_id": "nobodys"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Mapping not found")


def test_a_stale_if_match_is_refused(owner: Member, loans: Path) -> None:
    place = f"/api/v1/workbooks/{owner.uploaded(loans)['id']}"
    tag = owner.get(place).headers["etag"]
    first = owner.patch(place, json={"name": "First"}, headers={"If-Match": tag})
    assert (first.status_code, first.headers["etag"] != tag) == (200, True)
    stale = owner.patch(place, json={"name": "Second"}, headers={"If-Match": tag})
    assert (stale.status_code, stale.json()["detail"], stale.json()["error_code"]) == (
        409,
        "Concurrent modification",
        "CONFLICT",
    )
    assert owner.get(place).json()["name"] == "First"
    assert owner.get(place).headers["etag"] == first.headers["etag"]
    assert owner.patch(place, json={"name": "Third"}, headers={"If-Match": first.headers["etag"]}).status_code == 200
    assert owner.patch(place, json={"name": "Fourth"}).status_code == 200


# Deleting -------------------------------------------------------------------------------------------------------------


def test_delete_hides_a_workbook_everywhere(stack: Stack, owner: Member, loans: Path) -> None:
    result = owner.uploaded(loans)
    place = f"/api/v1/workbooks/{result['id']}"
    answer = owner.delete(place)
    assert (answer.status_code, answer.content) == (204, b"")
    for path in (place, f"{place}/sheets", f"{place}/sheets/Loans/data", f"{place}/sheets/Loans/cells/A1"):
        gone = owner.get(path)
        assert (gone.status_code, gone.json()["detail"]) == (404, "Workbook not found")
    assert owner.patch(place, json={"name": "x"}).status_code == 404
    assert owner.delete(place).status_code == 404
    assert owner.get("/api/v1/workbooks").json()["total"] == 0
    assert stack.sql(
        "SELECT action FROM audit_log WHERE resource_id = %s AND action = 'workbook.deleted'", [result["id"]]
    )
    (key,) = stack.sql("SELECT content_hash FROM workbooks WHERE id = %s", [result["id"]])[0]
    assert key in stored_blobs(stack)  # for a while: somebody may just be reading it


@pytest.mark.parametrize("status", ["uploading", "processing", "recalculating"])
def test_a_workbook_that_is_worked_on_stays(stack: Stack, owner: Member, loans: Path, status: str) -> None:
    result = owner.uploaded(loans)
    stack.sql("UPDATE workbooks SET status = %s WHERE id = %s", [status, result["id"]])
    answer = owner.delete(f"/api/v1/workbooks/{result['id']}")
    assert (answer.status_code, answer.json()["detail"], answer.json()["error_code"]) == (
        409,
        "Workbook in use",
        "CONFLICT",
    )
    for path in ("sheets/Loans/data", "sheets/Loans/cells/A1", "detection"):
        answer = owner.get(f"/api/v1/workbooks/{result['id']}/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_workbook_in_error_can_be_deleted(owner: Member, pack: PackFile) -> None:
    result = owner.uploaded(pack([sheet_xml('<row r="1"><c r="A1" t="s"><v>x</v></c></row>')]))
    assert result["status"] == "error"
    assert owner.delete(f"/api/v1/workbooks/{result['id']}").status_code == 204


def test_scratch_is_empty_in_the_end(stack: Stack, owner: Member, loans: Path) -> None:
    owner.uploaded(loans)
    wait_until(lambda: not scratch_files(stack), what="an empty scratch folder")
