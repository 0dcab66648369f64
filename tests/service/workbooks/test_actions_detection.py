"""How a workbook's loans are read, asked over HTTP.

By which mapping, which sheet, who may, and how much is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
import xlsxwriter

from core.files.read import read
from core.portfolio.mapping.detection import detect_columns
from service.workbooks.schema import DETECTED_COLUMNS_MAX, FINDINGS_MAX
from tests.conftest import Member, Stack
from tests.records import error_of
from tests.service.workbooks.conftest import PackFile, sheet_xml

LIST = "/api/v1/workbooks"
LOANS = [
    ["LoanX ID", "Issuer Name", "Par Amount", "Price", "Rating", "Sales contact"],
    ["LX100001", "Alpha Inc", 1_000.0, 99.0, "B2", "x"],
    ["LX100002", "Beta Inc", 2_000.0, 98.0, "B1", None],
    ["LX100003", "Gamma Inc", 3_000.0, 97.0, "B3", None],
]
PAGE = [["LoanX ID", "Country", "Desk"], ["LX100001", "US", "a"], ["LX100002", "DE", "b"], ["LX100003", "US", "a"]]
OWN = {
    "name": "Own",
    "source_type": "clo_holdings",
    "profile_id": "standard_clo",
    "mappings": {"Desk": {"target": "desk", "type": "string"}, "Sales contact": {"target": "watch", "type": "string"}},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loans, a page that is joined to them, and a hidden copy."""
    result = tmp_path_factory.mktemp("detected") / "detected.xlsx"
    with xlsxwriter.Workbook(str(result)) as book:
        for name, rows in {"Loans": LOANS, "Countries": PAGE, "Copy": LOANS}.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
            if name == "Copy":
                sheet.hide()
    return result


@pytest.fixture(scope="module")
def detected(shared_owner: Member, path: Path) -> dict[str, Any]:
    """The same as a workbook that is ready."""
    return shared_owner.uploaded(path)


def asked(member: Member, workbook_id: str, **query: str) -> dict[str, Any]:
    answer = member.get(f"{LIST}/{workbook_id}/detection", params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_it_is_what_the_library_detects(shared_owner: Member, detected: dict[str, Any], path: Path) -> None:
    answer = asked(shared_owner, detected["id"])
    assert (answer["workbook_id"], answer["mapping_id"]) == (detected["id"], "standard_clo")
    fields = {field["name"]: (field["label"], field["type"]) for field in answer["fields"]}
    assert fields["par_value"] == ("Par", "number")
    assert fields["rating_agency_b"] == ("S&P rating", "string")
    assert fields["unfunded"] == ("Unfunded", "number"), "an auxiliary one"
    detection = answer["detection"]
    assert detection == msgspec.json.decode(msgspec.json.encode(detect_columns(read(path))))
    assert [(sheet["name"], sheet["kind"]) for sheet in detection["sheets"]] == [
        ("Loans", "holdings"), ("Countries", "page"), ("Copy", "hidden"),
    ]  # fmt: skip
    par = next(column for column in detection["columns"] if column["target"] == "par_value")
    assert (par["column"], par["role"], par["is_ambiguous"]) == ("C", "par_value", False)
    assert par["evidence"]["words"] > 0
    assert par["evidence"]["reasons"]
    countries = next(page_column for page_column in detection["page_columns"] if page_column["sheet"] == "Countries")
    assert [(country["column"], country["header"], country["fields"]) for country in countries["columns"]] == [
        ("A", "LoanX ID", ["loanx_id"]), ("B", "Country", ["country"]), ("C", "Desk", []),
    ]  # fmt: skip
    assert detection["columns_not_shown"] == 0


def test_it_has_the_checks_of_the_rows_and_the_warnings_of_a_run(owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "rows.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Loans")
        sheet.write_row(0, 0, LOANS[0])
        for at in range(150):
            sheet.write_row(at + 1, 0, [f"LX1{at:05d}", f"Borrower {at} Inc", 1_000.0, "dear", "B2"])
    rule = {"field": "par_value", "rule": "range", "parameters": {"min": 2_000}}
    own = owner.post("/api/v1/mappings", json=OWN | {"validation_rules": [rule]}).json()["id"]
    workbook = owner.uploaded(path, as_of="2026-03-31")["id"]
    result = asked(owner, workbook, mapping_id=own)
    checked = result["validation"]
    assert (checked["valid"], checked["rows_processed"], checked["rows_invalid"]) == (False, 150, 150)
    assert (checked["error_count"], len(checked["errors"])) == (300, FINDINGS_MAX)
    assert {(error["row"], error["field"]) for error in checked["errors"][:2]} == {(2, "par_value"), (2, "price")}
    assert checked["missing_required_columns"] == []
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook}).json()
    codes = {warning["code"] for warning in asked(owner, workbook)["warnings"]}
    assert "unreadable_cells" in codes
    assert codes <= {warning["code"] for warning in run["warnings"]}
    assert asked(owner, workbook, sheet="Loans")["warnings"] == []


def test_a_workbook_without_loans_has_no_rows_to_check(owner: Member, pack: PackFile) -> None:
    result = asked(owner, owner.uploaded(pack([sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row>')]))["id"])
    assert result["validation"] is None
    assert result["detection"]["message"].startswith("no header found")


def test_the_mapping_is_the_querys_then_the_workbooks(owner: Member, path: Path) -> None:
    own = owner.post("/api/v1/mappings", json=OWN).json()["id"]
    workbook = owner.uploaded(path)["id"]
    plain = asked(owner, workbook)["detection"]
    assert [item["header"] for item in plain["unmapped"]] == ["Sales contact"]
    tried = asked(owner, workbook, mapping_id=own)
    assert (tried["mapping_id"], tried["detection"]["unmapped"]) == (own, [])
    assert owner.patch(f"{LIST}/{workbook}", json={"mapping_id": own}).status_code == 200
    assert asked(owner, workbook)["mapping_id"] == own
    assert asked(owner, workbook, mapping_id="standard_clo")["detection"] == plain


def test_the_mapping_of_the_deal_is_taken(owner: Member, path: Path) -> None:
    own = owner.post("/api/v1/mappings", json=OWN).json()["id"]
    deal = owner.post("/api/v1/deals", json={"name": "Own CLO", "currency": "USD", "mapping_id": own}).json()["id"]
    assert asked(owner, owner.uploaded(path, deal_id=deal)["id"])["mapping_id"] == own


def test_one_sheet_by_its_name_in_any_case_or_its_identifier(shared_owner: Member, detected: dict[str, Any]) -> None:
    sheets = {sheet["name"]: sheet["id"] for sheet in detected["sheets"]}
    by_name = asked(shared_owner, detected["id"], sheet="copy")["detection"]
    assert [(sheet["name"], sheet["kind"]) for sheet in by_name["sheets"]] == [("Copy", "holdings")]
    assert (by_name["sheet"], by_name["pages"], by_name["page_columns"]) == ("Copy", [], [])
    assert asked(shared_owner, detected["id"], sheet=sheets["Copy"])["detection"] == by_name


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"sheet": "Nowhere"}, "Sheet not found"),
        ({"mapping_id": "nothing"}, "Mapping not found"),
        ({"mapping_id": str(uuid4())}, "Mapping not found"),
    ],
)
def test_what_is_not_there(shared_owner: Member, detected: dict[str, Any], query: dict[str, str], detail: str) -> None:
    answer = shared_owner.get(f"{LIST}/{detected['id']}/detection", params=query)
    assert (answer.status_code, answer.json()["detail"]) == (404, detail)


@pytest.mark.parametrize("query", [{"sheet": "x" * 201}, {"mapping_id": "x" * 201}])
def test_a_query_that_does_not_fit(shared_owner: Member, detected: dict[str, Any], query: dict[str, str]) -> None:
    answer = shared_owner.get(f"{LIST}/{detected['id']}/detection", params=query)
    assert (answer.status_code, error_of(answer)["errors"][0]["loc"]) == (422, ["query", next(iter(query))])


def test_another_tenant_finds_neither_the_workbook_nor_the_mapping(
    shared_owner: Member, stranger: Member, detected: dict[str, Any], path: Path
) -> None:
    answer = stranger.get(f"{LIST}/{detected['id']}/detection")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    theirs = shared_owner.post("/api/v1/mappings", json=OWN).json()["id"]
    answer = stranger.get(f"{LIST}/{stranger.uploaded(path)['id']}/detection", params={"mapping_id": theirs})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Mapping not found")


def test_a_workbook_that_could_not_be_parsed_is_not_ready(owner: Member, pack: PackFile) -> None:
    result = owner.uploaded(pack([sheet_xml('<row r="2"><c r="B2" t="s"><v>x</v></c></row>')]))
    assert result["status"] == "error"
    answer = owner.get(f"{LIST}/{result['id']}/detection")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_sheet_of_thousands_of_columns_is_told_in_part(owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "wide.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name, first in {
            "Loans": ["LoanX ID", "Issuer Name", "Par Amount"],
            "Page": ["LoanX ID", "Country"],
        }.items():
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, [*first, *(f"Column of mine {at}" for at in range(1_900))])
            sheet.write_row(1, 0, ["LX100001", "Alpha Inc", 1_000.0, *["x"] * 1_900])
    detection = asked(owner, owner.uploaded(path)["id"])["detection"]
    assert len(detection["columns"]) == 3
    answer = len(detection["unmapped"]) + sum(len(page["columns"]) for page in detection["page_columns"])
    every = 1_900 + 1_903 if detection["page_columns"] else 1_900
    assert (len(detection["unmapped"]), answer) == (1_900, DETECTED_COLUMNS_MAX)
    assert detection["columns_not_shown"] == every - DETECTED_COLUMNS_MAX


def test_a_mapping_that_takes_too_long_is_refused(stack: Stack, owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "many.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Loans")
        sheet.write_row(0, 0, ["LoanX ID", "Issuer Name", "Par Amount", "Industry"])
        for at in range(3_000):
            sheet.write_row(at + 1, 0, [f"LX{at:06d}", f"Borrower {at}", 1_000.0, f"Industry {at}"])
    steps = [("^", "x" * 200), ("x", "yyyy"), *[("y", "y")] * 8]
    transforms = [
        {"field": "borrower_name", "operation": "replace", "parameters": {"pattern": pattern, "replacement": text}}
        for pattern, text in steps
    ]
    own = owner.post("/api/v1/mappings", json=OWN | {"transforms": transforms}).json()["id"]
    workbook = owner.uploaded(path)["id"]
    token = {"Authorization": f"Bearer {owner.tokens['access_token']}"}
    with stack.another_api(CUSHION_MAPPING_SECONDS="0.05") as url:
        place = f"{url}{LIST}/{workbook}/detection"
        answer = owner.http.get(place, params={"mapping_id": own}, headers=token)
    assert (answer.status_code, answer.json()["detail"]) == (422, "Mapping takes too long")
    assert answer.json()["errors"][0] == {"loc": ["path", "workbook_id"], "message": "the limit is 0.5 seconds"}


@pytest.mark.parametrize("role", ["viewer", "analyst"])
def test_who_may_read_workbooks_may_ask(owner: Member, path: Path, role: str) -> None:
    workbook = owner.uploaded(path)["id"]
    assert asked(owner.invite(role), workbook)["detection"]["loan_count"] == 3
