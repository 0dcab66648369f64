"""Trying a graph on a sheet, and what a formula may be applied to."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.formulas.conftest import OTHER, SHARE, URL, create_config, expression, started


@pytest.fixture
def workbook(owner: Member, loans: Path) -> dict[str, Any]:
    return owner.uploaded(loans)


def previewed(member: Member, workbook_id: str, graph: dict[str, Any], **fields: Any) -> Any:
    body = {"graph": graph, "workbook_id": workbook_id, "sheet_id": "Loans"} | fields
    return member.post(f"{URL}/preview", json=body)


def test_a_preview_shows_what_each_row_reads_and_comes_to(owner: Member, workbook: dict[str, Any]) -> None:
    """By the sheet's own rows.

    One that comes to an error says so, and the others have their values.
    """
    answer = previewed(owner, workbook["id"], SHARE)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "sample_results": [
            {"row": 2, "input": {"Par": 100, "Price": 98.5}, "output": 9850},
            {"row": 3, "input": {"Par": 200, "Price": "n/a"}, "output": "#VALUE!", "error": "#VALUE!"},
            {"row": 4, "input": {"Par": None, "Price": 97}, "output": 0},
            {"row": 5, "input": {"Par": 400, "Price": 101}, "output": 40_400},
        ],
        "total_rows": 4,
        "preview_size": 4,
        "compiled_formula": "=[@Par]*[@Price]",
    }
    sheet_id = workbook["sheets"][0]["id"]
    few = previewed(owner, workbook["id"], SHARE, sheet_id=sheet_id, sample_size=2).json()
    assert (few["preview_size"], few["total_rows"], len(few["sample_results"])) == (2, 4, 2)
    dated = previewed(owner, workbook["id"], expression("=EDATE(m,1)", m="Maturity")).json()["sample_results"][0]
    assert (dated["input"], dated["output"]) == ({"Maturity": "2030-06-30"}, "2030-07-30")
    totals = previewed(owner, workbook["id"], expression("=a/SUM([Par])", a="Par")).json()["sample_results"]
    assert [row["output"] for row in totals] == pytest.approx([100 / 700, 200 / 700, 0, 400 / 700])
    plain = previewed(owner, workbook["id"], expression("=a+b", a="A", b="B"), sheet_id="Plain").json()
    assert [row["output"] for row in plain["sample_results"]] == [0, 11, 22], (
        "without a header the columns have letters"
    )
    assert owner.get(f"/api/v1/workbooks/{workbook['id']}").json() == workbook, "nothing is stored"


def test_a_preview_has_its_bounds(stack: Stack, owner: Member, workbook: dict[str, Any]) -> None:
    for size in (0, 201, -1):
        assert previewed(owner, workbook["id"], SHARE, sample_size=size).status_code == 422
    with stack.another_api(CUSHION_EVALUATION_SECONDS="0.1") as url:
        heavy = expression("=SUM(SORT(RANDARRAY(1000000)))+a", a="Par")
        body = {"graph": heavy, "workbook_id": workbook["id"], "sheet_id": "Loans"}
        answer = owner.http.post(f"{url}{URL}/preview", json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (422, "CALCULATION_ERROR"), answer.text


ABSENT = [
    ({"workbook_id": str(uuid4())}, 404, "Workbook not found"),
    ({"sheet_id": "Nobody's"}, 404, "Sheet not found"),
    ({"sheet_id": str(uuid4())}, 404, "Sheet not found"),
]
NOT_APPLIED = [
    *ABSENT,
    ({"version_id": "v2"}, 404, "Version not found"),
    ({"version_id": "1"}, 404, "Version not found"),
    ({"target_column": "Par"}, 409, "Column already exists"),
    ({"target_column": "pRiCe"}, 409, "Column already exists"),
    ({"target_column": "Rate", "output_mode": "overwrite"}, 404, "Column not found"),
    ({"target_column": "Par", "output_mode": "overwrite"}, 422, "Invalid formula graph"),
    ({"target_column": " "}, 422, "Validation error"),
    ({"target_column": "x" * 256}, 422, "Validation error"),
    ({"sheet_id": "Summary"}, 422, "Invalid formula graph"),
    ({"sheet_id": "Plain"}, 422, "Invalid formula graph"),
    ({"output_mode": "append"}, 422, "Validation error"),
]


def test_what_cannot_be_applied_is_refused_and_leaves_the_workbook_free(
    stack: Stack, owner: Member, workbook: dict[str, Any]
) -> None:
    formula = create_config(owner, status="active")
    letters = create_config(owner, graph=expression("=a", a="A"), status="active")
    cases = [(formula, *case) for case in NOT_APPLIED]
    cases += [
        (letters, {"sheet_id": "Plain", "target_column": "D"}, 422, "Validation error"),
        (create_config(owner), {}, 409, "Formula is not active"),
        (create_config(owner, status="archived"), {}, 409, "Formula is not active"),
        ({"id": "frm_nobodys"}, {}, 404, "Formula not found"),
    ]

    @every("formula, fields, status, detail", cases)
    def refused(formula: dict[str, Any], fields: dict[str, Any], status: int, detail: str) -> None:
        answer = started(owner, formula, workbook["id"], **fields)
        assert (answer.status_code, answer.json()["detail"]) == (status, detail), answer.text

    refused()
    assert stack.sql("SELECT 1 FROM formula_runs WHERE workbook_id = %s", [workbook["id"]]) == []
    assert stack.sql("SELECT written_by FROM workbooks WHERE id = %s", [workbook["id"]]) == [(None,)]


def test_a_column_that_the_sheet_lacks_is_told_with_its_node(owner: Member, workbook: dict[str, Any]) -> None:
    graph = expression("=a+[@Nothing]", a="Rate")
    formula = create_config(owner, graph=graph, status="active")
    for answer in (previewed(owner, workbook["id"], graph), started(owner, formula, workbook["id"])):
        assert answer.status_code == 422, answer.text
        places = [(fault["loc"], fault["message"].partition(":")[0]) for fault in answer.json()["errors"]]
        assert sorted(places) == [
            (["body", "graph"], "unknown_column"),
            (["body", "graph", "nodes", "a"], "unknown_column"),
        ]


def test_a_workbook_that_is_not_ready_waits(stack: Stack, owner: Member, workbook: dict[str, Any]) -> None:
    formula = create_config(owner, graph=OTHER, status="active")
    for status, tried in (("processing", 409), ("recalculating", 409), ("error", 200)):
        stack.sql("UPDATE workbooks SET status = %s WHERE id = %s", [status, workbook["id"]])
        assert previewed(owner, workbook["id"], SHARE).status_code == tried
        answer = started(owner, formula, workbook["id"])
        assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_tenant_that_has_used_its_storage_adds_no_columns(
    stack: Stack, owner: Member, workbook: dict[str, Any]
) -> None:
    with stack.another_api(CUSHION_MAX_STORAGE_GB="0 0 0 0") as url:
        formula = create_config(owner, status="active")
        body = {"version_id": "v1", "workbook_id": workbook["id"], "sheet_id": "Loans", "target_column": "Value"}
        answer = owner.http.post(f"{url}{URL}/{formula['id']}/apply", json=body)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Storage limit exceeded")
