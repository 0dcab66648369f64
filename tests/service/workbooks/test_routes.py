"""Listing and reading workbooks: who may, in which order, with what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.conftest import Member
from tests.service.workbooks.conftest import PackFile, sheet_xml

LIST = "/api/v1/workbooks"


# The list -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three(shared_owner: Member, loans: Path) -> list[str]:
    """Three workbooks of one tenant, by name; the first was changed last."""
    ids = [shared_owner.uploaded(loans, name=name)["id"] for name in ("beta 100%", "Alpha", "gamma_x")]
    shared_owner.patch(f"{LIST}/{ids[0]}", json={"description": "changed"})
    return ["beta 100%", "Alpha", "gamma_x"]


def names(member: Member, **query: Any) -> list[str]:
    answer = member.get(LIST, params=query)
    assert answer.status_code == 200, answer.text
    return [item["name"] for item in answer.json()["items"]]


def test_the_envelope(shared_owner: Member, three: list[str]) -> None:
    body = shared_owner.get(LIST, params={"page": 2, "page_size": 2}).json()
    assert (body["total"], body["page"], body["page_size"], body["total_pages"]) == (3, 2, 2, 2)
    assert [item["name"] for item in body["items"]] == ["beta 100%"]
    assert "sheets" not in body["items"][0]
    beyond = shared_owner.get(LIST, params={"page": 9}).json()
    assert (beyond["items"], beyond["total"], beyond["page"], beyond["page_size"]) == ([], 3, 9, 20)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["gamma_x", "Alpha", "beta 100%"]),
        ({"sort_order": "asc"}, ["beta 100%", "Alpha", "gamma_x"]),
        ({"sort_by": "name"}, ["gamma_x", "beta 100%", "Alpha"]),
        ({"sort_by": "name", "sort_order": "asc"}, ["Alpha", "beta 100%", "gamma_x"]),
        ({"sort_by": "updated_at"}, ["beta 100%", "gamma_x", "Alpha"]),
        ({"search": "ALPH"}, ["Alpha"]),
        ({"search": "a", "sort_by": "name", "sort_order": "asc"}, ["Alpha", "beta 100%", "gamma_x"]),
        ({"search": "%"}, ["beta 100%"]),
        ({"search": "_"}, ["gamma_x"]),
        ({"search": "'; --"}, []),
    ],
)
def test_order_and_search(shared_owner: Member, three: list[str], query: dict[str, str], expected: list[str]) -> None:
    assert names(shared_owner, **query) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"page": 0},
        {"page_size": 0},
        {"page_size": 101},
        {"page": "x"},
        {"sort_by": "size"},
        {"sort_order": "up"},
        {"search": "x" * 256},
    ],
)
def test_a_list_refuses_what_does_not_fit(shared_owner: Member, query: dict[str, Any]) -> None:
    answer = shared_owner.get(LIST, params=query)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", next(iter(query))])


# One workbook ---------------------------------------------------------------------------------------------------------


def test_detail(shared_owner: Member, workbook: dict[str, Any]) -> None:
    assert (workbook["name"], workbook["sheet_count"], workbook["error_message"]) == ("Loans of March", 4, None)
    assert "stats" not in workbook
    first = workbook["sheets"][0]
    assert UUID(first["id"])
    assert first | {"id": ""} == {
        "id": "",
        "name": "Loans",
        "index": 0,
        "state": "visible",
        "row_count": 6,
        "column_count": 7,
        "has_formulas": True,
        "formula_count": 3,
        "headers": ["LoanX ID", "Par Amount", "Settled", "Maturity", "Watch, list", "Price", "Value"],
    }
    others = [(s["name"], s["state"], s["has_formulas"], s["headers"]) for s in workbook["sheets"][1:]]
    assert others == [
        ("Notes / hidden", "hidden", False, ["first", "second"]),
        ("Numbers", "visible", False, []),
        ("Empty", "visible", False, []),
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", workbook["created_at"])


def test_what_a_detail_includes(shared_owner: Member, workbook: dict[str, Any]) -> None:
    place = f"{LIST}/{workbook['id']}"
    bare = shared_owner.get(place, params={"include_sheets": "false", "include_stats": "true"}).json()
    assert "sheets" not in bare
    # title 1, headings 7, loans 6 + 6 + 3 and 3 formulas, footer 3; notes 4; numbers 10
    assert bare["stats"] == {"total_cells": 43, "formula_cells": 3, "last_calculation": None, "calculation_count": 0}
    wrong = shared_owner.get(place, params={"include_sheets": "maybe"})
    assert (wrong.status_code, wrong.json()["errors"][0]["loc"]) == (422, ["query", "include_sheets"])


def test_sheets_are_a_bare_list(shared_owner: Member, workbook: dict[str, Any]) -> None:
    assert shared_owner.get(f"{LIST}/{workbook['id']}/sheets").json() == workbook["sheets"]


def test_sheets_while_the_workbook_is_in_error(owner: Member, pack: PackFile) -> None:
    result = owner.uploaded(pack([sheet_xml('<row r="2"><c r="B2" t="s"><v>x</v></c></row>')]))
    assert result["status"] == "error"
    (sheet,) = owner.get(f"{LIST}/{result['id']}/sheets").json()
    assert (sheet["name"], sheet["row_count"], sheet["column_count"], sheet["headers"]) == ("S1", 2, 2, [])


# Who may --------------------------------------------------------------------------------------------------------------

READS = ("", "/sheets", "/sheets/Loans/data", "/sheets/Loans/cells/A1", "/detection")


@pytest.mark.parametrize("path", READS)
def test_another_tenants_workbook_is_not_there(stranger: Member, workbook: dict[str, Any], path: str) -> None:
    for workbook_id in (workbook["id"], str(uuid4()), "not-an-id", workbook["id"].replace("-", "")):
        answer = stranger.get(f"{LIST}/{workbook_id}{path}")
        assert answer.status_code == 404
        assert (answer.json()["detail"], answer.json()["error_code"]) == ("Workbook not found", "RESOURCE_NOT_FOUND")


def test_another_tenants_workbook_cannot_be_changed(
    stranger: Member, shared_owner: Member, workbook: dict[str, Any]
) -> None:
    place = f"{LIST}/{workbook['id']}"
    assert stranger.patch(place, json={"name": "mine"}).json()["detail"] == "Workbook not found"
    assert stranger.delete(place).json()["detail"] == "Workbook not found"
    assert stranger.get(LIST).json()["total"] == 0
    assert shared_owner.get(place).json()["name"] == workbook["name"]


def test_an_analyst_may_delete(owner: Member, loans: Path) -> None:
    analyst = owner.invite("analyst")
    result = analyst.uploaded(loans)
    assert result["created_by"] == analyst.email
    assert analyst.patch(f"{LIST}/{result['id']}", json={"name": "x"}).status_code == 200
    assert analyst.delete(f"{LIST}/{result['id']}").status_code == 204


def test_a_viewer_may_only_read(shared_owner: Member, loans: Path, workbook: dict[str, Any]) -> None:
    may_only_read(shared_owner.invite("viewer"), loans, workbook["id"])


def test_a_key_may_what_its_scopes_say(shared_owner: Member, loans: Path, workbook: dict[str, Any]) -> None:
    may_only_read(shared_owner.key("workbooks:read"), loans, workbook["id"])
    second = shared_owner.key("workbooks:write")
    assert second.patch(f"{LIST}/{workbook['id']}", json={}).status_code == 200
    for path in READS:
        assert second.get(f"{LIST}/{workbook['id']}{path}").status_code == 403


def may_only_read(member: Member, loans: Path, workbook_id: str) -> None:
    assert member.get(LIST).status_code == 200
    for path in READS:
        assert member.get(f"{LIST}/{workbook_id}{path}").status_code == 200
    refused = [
        member.upload(loans),
        member.patch(f"{LIST}/{workbook_id}", json={"name": "x"}),
        member.delete(f"{LIST}/{workbook_id}"),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json()["error_code"]) == (403, "PERMISSION_DENIED")


def test_a_stranger_without_credentials(shared_owner: Member, workbook: dict[str, Any]) -> None:
    for path in READS:
        answer = shared_owner.get(f"{LIST}/{workbook['id']}{path}", headers={"Authorization": ""})
        assert answer.status_code == 401
