"""Trustees' tapes over HTTP.

Taken in, read, listed, paged, and refused with a word why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import Member, Stack, register, wait_until
from tests.service.reconciliation.conftest import (
    BASE,
    CUSIPS,
    HEADER,
    MARCH,
    TAPE,
    UPLOAD,
    Files,
    Pair,
    ask,
    audited,
    processed,
    send,
    taken,
)
from tests.service.workbooks.conftest import scratch_files, stored_blobs

TAPE_FIELDS = {
    "id",
    "trustee_name",
    "statement_date",
    "file_name",
    "loan_count",
    "total_par",
    "processing_status",
    "error_message",
    "created_at",
}
LOAN_FIELDS = {
    "id",
    "tape_id",
    "cusip",
    "loanx_id",
    "primary_identifier",
    "borrower_name",
    "par_value",
    "price",
    "rating_agency_a",
    "rating_agency_b",
    "rating_agency_c",
    "spread",
    "base_rate",
    "all_in_rate",
    "maturity_date",
    "industry",
    "country",
    "days_past_due",
}


# Taken in -------------------------------------------------------------------------------------------------------------


def test_an_upload_answers_at_once(stack: Stack, owner: Member, files: Files) -> None:
    answer = send(owner, files.write(TAPE))
    body = answer.json()
    assert answer.status_code == 201, answer.text
    assert set(body) == {"tape_id", "job_id", "status", "message"}
    assert re.fullmatch("tape_[0-9a-f]{32}", body["tape_id"])
    assert re.fullmatch("job_[0-9a-f]{32}", body["job_id"])
    assert body["status"] == "processing"
    assert body["message"].endswith(".")
    processed(owner, body["tape_id"])
    ((subject, details),) = stack.sql(
        "SELECT resource_id, details FROM audit_log WHERE tenant_id = %s AND action = 'tape.uploaded'",
        [owner.tenant_id],
    )
    assert subject == body["tape_id"]
    assert details["trustee_name"] == "trustee_a"


def test_a_tape_by_a_mapping_of_the_tenants_own(owner: Member, files: Files) -> None:
    column = {"target": "par_value", "type": "number", "required": True}
    document = {"name": "In thousands", "source_type": "clo_holdings", "profile_id": "standard_clo"}
    thousands = {"field": "par_value", "operation": "multiply", "parameters": {"factor": 1000}}
    response = owner.post(
        "/api/v1/mappings", json={**document, "mappings": {"Comment": column}, "transforms": [thousands]}
    )
    mapping_id = response.json()["id"]
    rows = [tuple("Comment" if name == "Par Amount" else name for name in HEADER), *TAPE[1:]]
    tape = taken(owner, files.write(rows), mapping_id=mapping_id)
    assert (tape["processing_status"], tape["mapping_id"], tape["total_par"]) == ("completed", mapping_id, 11_580_000e3)
    gone = owner.delete(f"/api/v1/mappings/{mapping_id}")
    assert (gone.status_code, gone.json()["detail"]) == (409, "Mapping in use")
    plain = taken(owner, files.write(rows, "plain.xlsx"))
    assert (plain["processing_status"], plain["mapping_id"]) == ("failed", None)
    none = send(owner, files.write(TAPE), mapping_id="map_none")
    assert (none.status_code, none.json()["detail"]) == (404, "Mapping not found")


def test_a_tape_of_a_deal_is_read_by_its_mapping(stack: Stack, owner: Member, files: Files) -> None:
    mapping = {"name": "M", "source_type": "clo_holdings", "profile_id": "standard_clo"}
    mapping |= {"mappings": {"Comment": {"target": "par_value", "type": "number", "required": True}}}
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    deal = owner.post("/api/v1/deals", json={"name": "Deal", "mapping_id": mapping_id}).json()
    rows = [tuple("Comment" if name == "Par Amount" else name for name in HEADER), *TAPE[1:]]
    of_deal = taken(owner, files.write(rows), deal_id=deal["id"], as_of="2026-03-30")
    answer = ("deal_id", "as_of", "mapping_id", "processing_status", "total_par")
    assert [of_deal[name] for name in answer] == [deal["id"], "2026-03-30", None, "completed", 11_580_000]
    assert of_deal["facts"]["mapping_id"] == mapping_id
    alone = taken(owner, files.write(rows, "alone.xlsx"))
    path = f"{BASE}/tapes/{alone['id']}"
    assert alone["processing_status"] == "failed"
    assert owner.patch(path, json={"deal_id": deal["id"]}).json()["processing_status"] == "processing"
    assert processed(owner, alone["id"])["total_par"] == 11_580_000
    assert {item["id"] for item in owner.get(f"{BASE}/tapes", params={"deal_id": deal["id"]}).json()["items"]} == {
        of_deal["id"], alone["id"]
    }  # fmt: skip
    [(first,)] = stack.sql("SELECT loans_key FROM tapes WHERE id = %s", [alone["id"]])
    assert owner.patch(path, json={"deal_id": None}).json()["deal_id"] is None
    assert processed(owner, alone["id"])["processing_status"] == "failed", "no column of the file is its par"
    [(last,)] = stack.sql("SELECT loans_key FROM tapes WHERE id = %s", [alone["id"]])
    assert (first is not None, last) == (True, first), "what runs reads them on"
    for body, status in (
        ({}, 200), ({"as_of": None}, 200), ({"as_of": "soon"}, 422), ({"deal_id": str(UUID(int=1))}, 404),
    ):  # fmt: skip
        assert owner.patch(path, json=body).status_code == status, body
    assert send(owner, files.write(rows), deal_id=str(UUID(int=1))).json()["detail"] == "Deal not found"
    assert owner.patch(f"{BASE}/tapes/tape_none", json={}).json()["detail"] == "Tape not found"
    assert owner.delete(f"/api/v1/deals/{deal['id']}").status_code == 204
    assert owner.get(f"{BASE}/tapes/{of_deal['id']}").json()["deal_id"] is None


def test_a_tape_tells_what_it_holds(owner: Member, files: Files) -> None:
    path = files.write([("Statement",), *TAPE], "march.xlsx", "Positions")
    tape = taken(owner, path)
    assert set(tape) >= TAPE_FIELDS
    by_name = {name: tape[name] for name in TAPE_FIELDS - {"id", "created_at"}}
    assert by_name == {
        "trustee_name": "trustee_a",
        "statement_date": "2026-03-31",
        "file_name": "march.xlsx",
        "loan_count": 5,
        "total_par": 11_580_000.0,
        "processing_status": "completed",
        "error_message": None,
    }
    assert tape["facts"]["sheet_name"] == "Positions"
    assert tape["facts"]["header_row"] == 2
    assert tape["facts"]["columns"]["par_value"] == "Par Amount"
    assert (tape["warnings"], tape["facts"]["mapping_id"]) == ([], None)
    assert (tape["created_by"], tape["file_size"]) == (owner.email, path.stat().st_size)


@pytest.mark.parametrize("trustee", ["trustee_a", "trustee_b", "trustee_c"])
def test_each_trustee_is_read(shared_owner: Member, files: Files, trustee: str) -> None:
    tape = taken(shared_owner, files.write(TAPE), trustee_name=trustee)
    assert (tape["processing_status"], tape["trustee_name"], tape["loan_count"]) == ("completed", trustee, 5)


def test_a_file_of_another_day_is_told(shared_owner: Member, files: Files) -> None:
    rows = [(*HEADER, "As Of Date"), *((*row, "2026-02-28") for row in TAPE[1:])]
    tape = taken(shared_owner, files.write(rows))
    assert tape["facts"]["as_of"] == "2026-02-28"
    assert [warning["code"] for warning in tape["warnings"]] == ["days_differ"]
    own = taken(shared_owner, files.write(rows), as_of="2026-02-28")
    assert (own["as_of"], own["warnings"]) == ("2026-02-28", []), "the statement is of another day than its figures"
    path = f"{BASE}/tapes/{own['id']}"
    assert shared_owner.patch(path, json={"as_of": "2026-02-27"}).json()["warnings"][0]["code"] == "days_differ"
    assert shared_owner.patch(path, json={"as_of": "2026-02-28"}).json() == own
    assert [
        item["warnings"] for item in shared_owner.get(f"{BASE}/tapes").json()["items"] if item["id"] == own["id"]
    ] == [[]]


def test_rows_without_par_are_told(shared_owner: Member, files: Files) -> None:
    rows = [*TAPE, (CUSIPS[6], "LX000006", "Gale", "tbd", 99.0, 300, "2030-01-31", "B2", "Retail")]
    tape = taken(shared_owner, files.write(rows))
    assert (tape["loan_count"], tape["processing_status"]) == (5, "completed")
    assert [(warning["code"], warning["rows"]) for warning in tape["warnings"]] == [("rows_without_par", 1)]


# Refused --------------------------------------------------------------------------------------------------------------


def refused(answer: Any, status: int, detail: str, code: str = "VALIDATION_ERROR") -> None:
    assert (answer.status_code, answer.json()["detail"], answer.json()["error_code"]) == (status, detail, code)


@pytest.mark.parametrize("trustee", ["trustee_d", "", "Trustee_A", " trustee_a", "trustee_a;", "x" * 200])
def test_an_unknown_trustee(shared_owner: Member, files: Files, trustee: str) -> None:
    refused(send(shared_owner, files.write(TAPE), trustee_name=trustee), 400, "Invalid trustee")


@pytest.mark.parametrize(
    "day",
    [
        "31.03.2026",
        "2026-02-30",
        "2026-3-31",
        "20260331",
        "2026-W13-2",
        "2026-03-31T00:00:00",
        "yesterday",
        "",
        "0000-01-01",
        "２０２６-03-31",
        " 2026-03-31",
        "2026-03-31\n",
    ],
)
def test_a_bad_date(shared_owner: Member, files: Files, day: str) -> None:
    refused(send(shared_owner, files.write(TAPE), statement_date=day), 400, "Invalid date")


@pytest.mark.parametrize(
    ("name", "content", "status", "detail"),
    [
        ("tape.csv", b"cusip,par\n", 400, "Invalid file format"),
        ("tape.pdf", b"%PDF-1.7", 400, "Invalid file format"),
        ("tape", b"", 400, "Invalid file format"),
        ("tape.xlsx", b"no spreadsheet", 422, "Parse error"),
        ("tape.xls", b"%PDF-1.7", 422, "Parse error"),
    ],
)
def test_what_is_no_spreadsheet(
    shared_owner: Member, files: Files, name: str, content: bytes, status: int, detail: str
) -> None:
    path = files.folder / name
    path.write_bytes(content)
    refused(send(shared_owner, path), status, detail, "FILE_PARSE_ERROR" if status == 422 else "VALIDATION_ERROR")


def test_the_file_as_the_trustee_sent_it(owner: Member, stranger: Member, files: Files) -> None:
    """Also where no loans were found in it."""
    for cells in (TAPE, [["Nothing", "to see"]]):
        path = files.write(cells)
        tape = taken(owner, path)
        place = f"/api/v1/reconciliation/tapes/{tape['id']}/file"
        answer = owner.get(place)
        assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert answer.headers["content-disposition"] == f'attachment; filename="{path.name}"'
        assert owner.get(place, headers={"Range": "bytes=-5"}).content == answer.content[-5:]
        assert stranger.get(place).status_code == 404
    assert owner.get("/api/v1/reconciliation/tapes/tape_0/file").json()["detail"] == "Tape not found"


def test_a_damaged_spreadsheet(stack: Stack, shared_owner: Member, files: Files) -> None:
    before = stored_blobs(stack)
    path = files.write(TAPE)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    answer = send(shared_owner, path)
    assert (answer.status_code, answer.json()["detail"]) == (422, "Parse error")
    broken = files.folder / "broken.xlsx"
    broken.write_bytes(content.replace(b"xl/worksheets/sheet1.xml", b"xl/worksheets/sheet9.xml"))
    refused(send(shared_owner, broken), 422, "Parse error", "FILE_PARSE_ERROR")
    assert stored_blobs(stack) == before


@pytest.mark.parametrize("missing", ["trustee_name", "statement_date"])
def test_a_field_is_missing(shared_owner: Member, files: Files, missing: str) -> None:
    fields = {name: value for name, value in MARCH.items() if name != missing}
    path = files.write(TAPE)
    answer = shared_owner.post(UPLOAD, files={"file": (path.name, path.read_bytes())}, data=fields)
    refused(answer, 422, "Validation error")
    assert answer.json()["errors"][0]["loc"] == ["body", missing]


def test_the_limits_of_size_storage_and_uploads(stack: Stack, owner: Member, files: Files) -> None:
    large = files.folder / "large.xlsx"
    large.write_bytes(b"x" * (1024 * 1024 + 1))
    member = Member(owner.http, owner.tokens, owner.email, owner.tenant_id, owner.user_id)
    tight = {"CUSHION_MAX_UPLOAD_MB": "1", "CUSHION_UPLOADS_PER_HOUR": "1 1 1 1"}
    with stack.another_api(**tight, CUSHION_MAX_STORAGE_GB="0 0 0 0") as url:
        member.http.base_url = url
        for _ in range(2):  # what is refused uses up nothing
            refused(send(member, large), 400, "File too large")
            refused(send(member, files.write(TAPE)), 403, "Storage limit exceeded", "PERMISSION_DENIED")
    with stack.another_api(**tight) as url:
        member.http.base_url = url
        assert send(member, files.write(TAPE)).status_code == 201
        limited = send(member, files.write(TAPE))
        refused(limited, 429, "Rate limit exceeded", "RATE_LIMIT_EXCEEDED")
        assert int(limited.headers["retry-after"]) == limited.json()["retry_after"] > 0
    member.http.base_url = stack.url


def test_tapes_and_their_loans_count_as_storage(stack: Stack, owner: Member, files: Files) -> None:
    tape = taken(owner, files.write(TAPE))
    ((loans,),) = stack.sql("SELECT loans_key FROM tapes WHERE id = %s", [tape["id"]])
    stored = tape["file_size"] + (stack.data_dir / "blobs" / loans[:2] / loans).stat().st_size
    used = owner.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"]
    assert used == pytest.approx(stored / 1024 / 1024, abs=0.0005)


Rows = Sequence[Sequence[Any]]
UNUSABLE: dict[str, tuple[Rows, str]] = {
    "no header": (
        [("Colour", "Weight"), ("red", 1)],
        "No sheet has a header that names par or an identifier and two more fields of a loan: "
        "sheet 'Holdings' has the columns 'Colour', 'Weight'.",
    ),
    "no identifier column": (
        [HEADER[2:4] + HEADER[6:7], ("Acme", 1_000_000, "2030-06-30")],
        "Sheet 'Holdings', whose header is in row 1, has no column with an identifier (CUSIP, LoanX ID or ISIN). "
        "Its columns are 'Issuer Name', 'Par Amount', 'Maturity Date'.",
    ),
    "no par in any row": (
        [HEADER[:4], (CUSIPS[0], "LX000000", "Acme", "n/a"), (CUSIPS[1], "LX000001", "Borealis", "tbd")],
        "Sheet 'Holdings', whose header is in row 1, has 2 rows below it, of which none can be used: no par can be "
        "read in column 'Par Amount'. Its columns are 'CUSIP', 'LoanX ID', 'Issuer Name', 'Par Amount'.",
    ),
    "no loans": (
        [HEADER[:4]],
        "Sheet 'Holdings', whose header is in row 1, has no loans below it. "
        "Its columns are 'CUSIP', 'LoanX ID', 'Issuer Name', 'Par Amount'.",
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_tape_that_cannot_be_used_says_why(stack: Stack, shared_pair: Pair, files: Files, kind: str) -> None:
    rows, message = UNUSABLE[kind]
    member = shared_pair.member
    tape = taken(member, files.write(rows))
    assert (tape["processing_status"], tape["error_message"]) == ("failed", message)
    assert (tape["loan_count"], tape["total_par"]) == (0, 0.0)
    for place, answer in (
        (["path", "tape_id"], member.get(f"{BASE}/tapes/{tape['id']}/loans")),
        (["body", "tape_id"], ask(member, tape["id"], shared_pair.workbook_id)),
    ):
        refused(answer, 400, "Tape not ready")
        assert answer.json()["errors"] == [{"loc": place, "message": message}]
    assert stack.sql("SELECT count(*) FROM dead_letters WHERE tenant_id = %s", [member.tenant_id]) == [(0,)]


def test_a_tape_that_is_processing_has_no_loans_to_tell(stack: Stack, pair: Pair) -> None:
    stack.sql("UPDATE tapes SET processing_status = 'processing' WHERE id = %s", [pair.tape_id])
    for answer in (
        pair.member.get(f"{BASE}/tapes/{pair.tape_id}/loans"),
        ask(pair.member, pair.tape_id, pair.workbook_id),
    ):
        refused(answer, 400, "Tape not ready")
        assert answer.json()["errors"][0]["message"] == "its loans are still being read"


# Listed and paged -----------------------------------------------------------------------------------------------------


def test_the_list(owner: Member, files: Files) -> None:
    good = [taken(owner, files.write(TAPE, f"{at}.xlsx"), trustee_name=f"trustee_{at}")["id"] for at in "abc"]
    bad = taken(owner, files.write(UNUSABLE["no loans"][0], "d.xlsx"))["id"]
    page = owner.get(f"{BASE}/tapes").json()
    assert set(page) == {"items", "total", "page", "page_size", "total_pages"}
    assert (page["total"], page["page"], page["page_size"], page["total_pages"]) == (4, 1, 20, 1)
    assert [tape["id"] for tape in page["items"]] == [bad, *reversed(good)]
    assert all(set(tape) >= TAPE_FIELDS for tape in page["items"])

    def listed(**query: Any) -> list[str]:
        return [tape["id"] for tape in owner.get(f"{BASE}/tapes", params=query).json()["items"]]

    assert listed(trustee_name="trustee_b") == [good[1]]
    assert listed(status_filter="failed") == [bad]
    assert listed(status_filter="completed", trustee_name="trustee_a") == [good[0]]
    assert listed(status_filter="processing") == []
    assert listed(page=2, page_size=3) == [good[0]]
    assert listed(page=3, page_size=3) == []


@pytest.mark.parametrize(
    "query", [{"trustee_name": "trustee_d"}, {"status_filter": "ready"}, {"page_size": 101}, {"page": 0}]
)
def test_a_list_refuses_what_does_not_fit(shared_owner: Member, query: dict[str, Any]) -> None:
    refused(shared_owner.get(f"{BASE}/tapes", params=query), 422, "Validation error")


def test_loans_as_the_tape_has_them(shared_pair: Pair) -> None:
    page = shared_pair.member.get(f"{BASE}/tapes/{shared_pair.tape_id}/loans").json()
    assert (page["total"], page["page"], page["page_size"], page["total_pages"]) == (5, 1, 50, 1)
    first = page["items"][0]
    assert set(first) >= LOAN_FIELDS
    assert {name: first[name] for name in LOAN_FIELDS - {"id"}} == {
        "tape_id": shared_pair.tape_id,
        "cusip": CUSIPS[3],
        "loanx_id": "LX000003",
        "primary_identifier": CUSIPS[3],
        "borrower_name": "Delta Ltd.",
        "par_value": 4_000_000.0,
        "price": 98.0,
        "rating_agency_a": "B1",
        "rating_agency_b": None,
        "rating_agency_c": None,
        "spread": 275.0,
        "base_rate": None,
        "all_in_rate": None,
        "maturity_date": "2028-03-31",
        "industry": "Wholesale",
        "country": None,
        "days_past_due": None,
    }
    assert [loan["cusip"] for loan in page["items"]] == [row[0] for row in TAPE[1:]]


def test_a_loans_identifier_is_its_own_and_lasts(shared_pair: Pair) -> None:
    path = f"{BASE}/tapes/{shared_pair.tape_id}/loans"
    whole = [loan["id"] for loan in shared_pair.member.get(path).json()["items"]]
    single = [
        shared_pair.member.get(path, params={"page": page, "page_size": 1}).json()["items"][0]["id"]
        for page in range(1, 6)
    ]
    assert whole == single
    assert len(set(whole)) == 5
    assert {UUID(loan_id).version for loan_id in whole} == {4}


def test_pages_of_loans(shared_pair: Pair) -> None:
    path = f"{BASE}/tapes/{shared_pair.tape_id}/loans"
    last = shared_pair.member.get(path, params={"page": 2, "page_size": 3}).json()
    assert [loan["borrower_name"] for loan in last["items"]] == ["ACME CORP", "Eos SA"]
    assert (last["total"], last["total_pages"]) == (5, 2)
    assert shared_pair.member.get(path, params={"page": 9}).json()["items"] == []
    assert shared_pair.member.get(path, params={"page_size": 500}).status_code == 200
    refused(shared_pair.member.get(path, params={"page_size": 501}), 422, "Validation error")


def test_lots_are_one_loan(shared_owner: Member, files: Files) -> None:
    lot = (CUSIPS[0], "LX000000", "Acme")
    lots = [(*lot, par, price, 350, "2030-06-30", "B2") for par, price in ((1e6, 99), (3e6, 95))]
    tape = taken(shared_owner, files.write([HEADER[:8], *lots]))
    assert (tape["loan_count"], tape["total_par"]) == (1, 4_000_000.0)
    (loan,) = shared_owner.get(f"{BASE}/tapes/{tape['id']}/loans").json()["items"]
    assert (loan["par_value"], loan["price"]) == (4_000_000.0, 96.0)


def test_a_loan_without_identifiers_goes_by_its_name(shared_owner: Member, files: Files) -> None:
    rows = [*TAPE[:2], (None, None, "Nameless\x01 & Co", 1, 99, 300, "1899-01-01", "B2", "x" * 5_000)]
    tape = taken(shared_owner, files.write(rows))
    loan = shared_owner.get(f"{BASE}/tapes/{tape['id']}/loans").json()["items"][1]
    assert loan["primary_identifier"] == loan["borrower_name"]
    assert (loan["cusip"], loan["loanx_id"]) == (None, None)
    assert len(loan["industry"]) == 1_000
    assert loan["industry"].endswith("...")


# Whose ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["tapes/{tape}", "tapes/{tape}/loans"])
@pytest.mark.parametrize("tape", ["{id}", "tape_0", "tape_{hex}", "x'--", "TAPE"])
def test_another_tenants_tape_is_not_there(stranger: Member, shared_pair: Pair, path: str, tape: str) -> None:
    named = tape.replace("{id}", shared_pair.tape_id).replace("{hex}", "0" * 32)
    refused(stranger.get(f"{BASE}/{path.replace('{tape}', named)}"), 404, "Tape not found", "RESOURCE_NOT_FOUND")
    assert stranger.get(f"{BASE}/tapes").json()["total"] == 0


def test_who_may_upload(shared_pair: Pair, files: Files) -> None:
    member, path = shared_pair.member, files.write(TAPE)
    viewer, analyst = member.invite("viewer"), member.invite("analyst")
    refused(send(viewer, path), 403, "Insufficient permissions", "PERMISSION_DENIED")
    assert viewer.get(f"{BASE}/tapes/{shared_pair.tape_id}/loans").status_code == 200
    assert send(analyst, path).status_code == 201
    reader, writer = member.key("compliance:read"), member.key("compliance:write")
    refused(send(reader, path), 403, "Insufficient permissions", "PERMISSION_DENIED")
    assert reader.get(f"{BASE}/tapes").status_code == 200
    refused(writer.get(f"{BASE}/tapes"), 403, "Insufficient permissions", "PERMISSION_DENIED")
    assert send(writer, path).status_code == 201


def test_nothing_is_left_in_the_way(stack: Stack, owner: Member, files: Files) -> None:
    tape = taken(owner, files.write(TAPE))
    ((content, loans),) = stack.sql("SELECT content_hash, loans_key FROM tapes WHERE id = %s", [tape["id"]])
    assert {content, loans} <= stored_blobs(stack)
    assert stack.sql(
        "SELECT blob_is_used(%s), blob_is_used(%s), blob_is_used(%s)", [content, loans, f"no {content}"]
    ) == [(True, True, False)]
    wait_until(lambda: not [name for name in scratch_files(stack) if name.startswith("tape_")], what="clean scratch")
    assert len(audited(stack, owner, "tape.uploaded")) == 1
    assert register(stack.url).get(f"{BASE}/tapes").json()["items"] == []
    assert Path(files.folder).exists()
