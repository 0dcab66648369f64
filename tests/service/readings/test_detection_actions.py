"""A mapping tried on a workbook over HTTP.

What is detected, which results change, and that nothing is stored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from service.mappings.schema import DOCUMENT_BYTES_MAX
from tests.conftest import Member, Stack

DETECTION = "/api/v1/workbooks/{}/detection"
STANDARD = {"source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}}
PURCHASE_AS_PRICE = STANDARD | {"mappings": {"Purchase Price": {"target": "price", "type": "number"}}}
RATING_B = STANDARD | {"mappings": {"S&P Rating": {"target": "rating_agency_a", "type": "string"}}}


def tried(who: Member, workbook_id: str, mapping: dict[str, Any]) -> dict[str, Any]:
    """The answer to a mapping."""
    answer = who.post(DETECTION.format(workbook_id), json={"mapping": mapping})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def run(who: Member, workbook_id: str, suite: str = "enhanced") -> dict[str, Any]:
    """The results of a run by test."""
    answer = who.post("/api/v1/compliance/run", json={"workbook_id": workbook_id, "test_suite": suite})
    assert answer.status_code == 200, answer.text
    return {result["test_id"]: result for result in answer.json()["results"]}


def test_a_mapping_that_reads_the_same_changes_nothing(shared_owner: Member, g1: dict[str, Any]) -> None:
    present = shared_owner.get(DETECTION.format(g1["id"])).json()
    result = tried(shared_owner, g1["id"], STANDARD)
    assert result["changes"] == []
    assert result["test_suite"] == "enhanced"
    assert {name: result[name] for name in present if name not in ("mapping_id", "detection")} == {
        name: value for name, value in present.items() if name not in ("mapping_id", "detection")
    }
    assert (result["mapping_id"], present["mapping_id"]) == ("unsaved", "standard_clo")
    columns = [
        [(column["column"], column["target"]) for column in side["detection"]["columns"]] for side in (result, present)
    ]
    assert columns[0] == columns[1] != []


def test_the_changes_are_those_of_a_run_by_the_saved_mapping(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    def counts() -> list[Any]:
        tables = "mappings", "audit_log", "compliance_runs", "workbooks", "jobs"
        where = "WHERE tenant_id = (SELECT tenant_id FROM workbooks WHERE id = %s)"
        known = {row[0] for row in stack.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
        return [
            (name, stack.sql(f"SELECT count(*) FROM {name} {where}", [own_g1["id"]]))
            for name in tables
            if name in known
        ]

    before, at_first = run(owner, own_g1["id"]), counts()
    assert len(at_first) >= 4
    answer = tried(owner, own_g1["id"], PURCHASE_AS_PRICE)
    assert counts() == at_first, "nothing is stored"
    fed = {column["target"]: column["header"] for column in answer["detection"]["columns"]}
    assert fed["price"] == "Purchase Price"
    saved = owner.post("/api/v1/mappings", json=PURCHASE_AS_PRICE | {"name": "Tried"}).json()["id"]
    assert owner.patch(f"/api/v1/workbooks/{own_g1['id']}", json={"mapping_id": saved}).status_code == 200
    after = run(owner, own_g1["id"])

    def figure(result: dict[str, Any] | None) -> dict[str, Any] | None:
        return result and {"value": result["current_value"], "status": result["status"]}

    expected = {test_id: (figure(before.get(test_id)), figure(after.get(test_id))) for test_id in {**before, **after}}
    assert {item["test_id"]: (item["before"], item["after"]) for item in answer["changes"]} == {
        test_id: sides for test_id, sides in expected.items() if sides[0] != sides[1]
    }
    assert answer["changes"]
    for change in answer["changes"]:
        shown = after.get(change["test_id"]) or before[change["test_id"]]
        assert (change["test_name"], change["unit"]) == (shown["test_name"], shown["unit"])
        assert change["decimals"] >= shown["decimals"]


def test_a_test_without_a_figure_on_a_side_is_null_there(owner: Member, write_book: Any) -> None:
    rows = [
        ("LoanX ID", "Issuer Name", "Par Amount", "Prior Moody's"),
        ("LX900001", "Romeo", 9e6, "Caa2"),
        ("LX900002", "Sierra", 9e6, "B1"),
    ]
    book = owner.uploaded(write_book("moods", Holdings=rows))
    own = STANDARD | {"mappings": {"Prior Moody's": {"target": "rating_agency_a", "type": "string"}}}
    changes = {change["test_id"]: change for change in tried(owner, book["id"], own)["changes"]}
    factor = changes["average_rating_factor"]
    assert factor["before"] is None
    assert factor["after"]["value"] > 0
    assert factor["unit"] == "factor"


def test_the_suite_is_that_of_the_deal(owner: Member, g1_file: Path) -> None:
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()["id"]
    book = owner.uploaded(g1_file, deal_id=deal)
    definition = {"tests": [{"id": "caa", "name": "Caa", "measure": "ccc", "agency": "a", "max": 8.0}]}
    assert owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": definition}).status_code == 200
    result = tried(owner, book["id"], RATING_B)
    assert result["test_suite"] == "deal"
    assert {change["test_id"] for change in result["changes"]} <= {"caa"}


def test_a_mapping_that_lacks_its_columns_has_no_results(owner: Member, own_g1: dict[str, Any]) -> None:
    needs = STANDARD | {"mappings": {"Nowhere": {"target": "desk", "type": "string", "required": True}}}
    result = tried(owner, own_g1["id"], needs)
    assert result["changes"]
    assert all(change["after"] is None for change in result["changes"])
    assert result["validation"]["missing_required_columns"] == ["desk"]


WRONG: list[tuple[dict[str, Any], int, str, list[str]]] = [
    ({"source_type": "tape"}, 400, "Invalid source type", ["source_type"]),
    ({"profile_id": "nobodys"}, 404, "Profile not found", ["profile_id"]),
    (
        {"transforms": [{"field": "price", "operation": "explode"}]},
        400, "Invalid mapping configuration", ["transforms", "0", "operation"],
    ),
    ({"mappings": {"X": {"type": "string"}}}, 400, "Invalid mapping configuration", ["mappings", "X", "target"]),
    ({"mappings": [1]}, 422, "Validation error", ["mappings"]),
    ({"more": 1}, 422, "Validation error", ["more"]),
    (
        {"mappings": {"X": {"target": "desk", "aliases": ["x" * 1_000] * (DOCUMENT_BYTES_MAX // 1_000 + 1)}}},
        400, "Invalid mapping configuration", ["mappings"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "status", "detail", "place"), WRONG)
def test_a_mapping_that_cannot_be_is_refused_as_it_would_be_stored(
    shared_owner: Member, g1: dict[str, Any], change: dict[str, Any], status: int, detail: str, place: list[str]
) -> None:
    answer = shared_owner.post(DETECTION.format(g1["id"]), json={"mapping": STANDARD | change})
    assert (answer.status_code, answer.json()["detail"]) == (status, detail), answer.text
    assert answer.json()["errors"][0]["loc"][:2] == ["body", "mapping"]
    stored = shared_owner.post("/api/v1/mappings", json={"name": f"W{uuid4().hex}"} | STANDARD | change)
    assert (stored.status_code, stored.json()["detail"]) == (status, detail)
    without = [[step for step in error["loc"] if step != "mapping"] for error in answer.json()["errors"]]
    assert without == [error["loc"] for error in stored.json()["errors"]]
    assert without[0][1 : 1 + len(place)] == place


def test_who_may_try_a_mapping(stack: Stack, owner: Member, stranger: Member, own_g1: dict[str, Any]) -> None:
    path, body = DETECTION.format(own_g1["id"]), {"mapping": PURCHASE_AS_PRICE}
    assert owner.invite("viewer").post(path, json=body).json()["changes"]
    key = owner.key("workbooks:read").post(path, json=body)
    assert key.status_code == 200
    assert (key.json()["changes"], key.json()["test_suite"]) == (None, None), "results are of compliance:read"
    assert owner.key("compliance:read").post(path, json=body).status_code == 403
    for who, workbook in ((stranger, own_g1["id"]), (owner, str(uuid4()))):
        answer = who.post(DETECTION.format(workbook), json=body)
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [own_g1["id"]])
    answer = owner.post(path, json=body)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_mapping_that_takes_too_long_is_refused(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    with stack.another_api(CUSHION_MAPPING_SECONDS="0.000001") as url:
        answer = owner.http.post(url + DETECTION.format(own_g1["id"]), json={"mapping": PURCHASE_AS_PRICE})
    assert (answer.status_code, answer.json()["detail"]) == (422, "Mapping takes too long")
