"""How a stored workbook wants to be calculated, over HTTP.

Iteration, data tables, precision as displayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Member, Stack
from tests.hand_made import Cell, data_table, write_book

LOOP: dict[str, Cell] = {"A1": 2000.0, "B1": "=A1+C1", "C1": "=B1*0.05", "D1": "=B1*10"}
MADE = Callable[..., str]


@pytest.fixture
def uploaded(shared_owner: Member, tmp_path: Path) -> MADE:
    def upload_cells(cells: Mapping[str, Cell], calculation: str = "") -> str:
        return str(shared_owner.uploaded(write_book(tmp_path / "book.xlsx", cells, calculation=calculation))["id"])

    return upload_cells


def recalculated(member: Member, book_id: str) -> None:
    answer = member.post(f"/api/v1/workbooks/{book_id}/recalculate")
    assert answer.status_code == 200, answer.text
    member.parsed(book_id)


def values(member: Member, book_id: str, *cells: str) -> list[Any]:
    return [member.get(f"/api/v1/workbooks/{book_id}/sheets/S/cells/{cell}").json()["value"] for cell in cells]


def warnings(member: Member, book_id: str) -> dict[str, str]:
    """Those of the sheet's data, by their code.

    An evaluation over the workbook has the same.
    """
    data = member.get(f"/api/v1/workbooks/{book_id}/sheets/S/data").json()
    body = {"formula": "=S!A1", "workbook_id": book_id}
    evaluated = member.post("/api/v1/calculations/evaluate", json=body).json()
    assert data.get("warnings", []) == evaluated.get("warnings", [])
    return {item["code"]: item["message"] for item in data.get("warnings", [])}


def details(stack: Stack, book_id: str) -> dict[str, Any]:
    ((result,),) = stack.sql(
        "SELECT details FROM audit_log WHERE action = 'calculation.completed' AND resource_id = %s", [book_id]
    )
    assert isinstance(result, dict)
    return result


def test_a_workbook_that_iterates_is_iterated(stack: Stack, shared_owner: Member, uploaded: MADE) -> None:
    book_id = uploaded(LOOP, 'iterate="1" iterateDelta="1E-9"')
    recalculated(shared_owner, book_id)
    right = 2000 / 0.95
    assert values(shared_owner, book_id, "B1", "C1", "D1") == pytest.approx([right, right / 20, right * 10], abs=1e-6)
    assert warnings(shared_owner, book_id) == {}
    answer = details(stack, book_id)
    assert (answer["circular_references"], answer["cells_not_converged"]) == (0, 0)
    assert answer["iterations"] > 1


def test_what_did_not_converge_is_told_with_its_values(stack: Stack, shared_owner: Member, uploaded: MADE) -> None:
    book_id = uploaded({"A1": "=A1+1"}, 'iterate="1" iterateCount="7"')
    recalculated(shared_owner, book_id)
    assert values(shared_owner, book_id, "A1") == [7]
    answer = warnings(shared_owner, book_id)
    assert answer.keys() == {"not_converged"}
    assert answer["not_converged"].startswith("Iterative calculation did not converge: after 7 iterations")
    assert (details(stack, book_id)["cells_not_converged"], details(stack, book_id)["not_converged"]) == (1, ["S!A1"])
    recalculated(shared_owner, book_id)
    assert values(shared_owner, book_id, "A1") == [14], "it goes on from the values that stand"


def test_without_iteration_a_circular_reference_is_told_with_the_values(shared_owner: Member, uploaded: MADE) -> None:
    book_id = uploaded(LOOP)
    assert warnings(shared_owner, book_id) == {}, "the values are the file's"
    recalculated(shared_owner, book_id)
    answer = warnings(shared_owner, book_id)
    assert answer.keys() == {"circular_reference"}
    assert "S!B1" in answer["circular_reference"]
    assert "S!C1" in answer["circular_reference"]


def test_data_tables_and_precision_as_displayed(shared_owner: Member, uploaded: MADE) -> None:
    cells: dict[str, Cell] = {
        "A1": 2.0, "B1": ("=A1/3", "0.00"), "B3": "=B1", "A4": 5.0, "A5": 7.0,
        "B4": data_table("B4:B5", column_input="A1"), "B5": 0.0, "B6": "=SUM(B4:B5)",
    }  # fmt: skip
    book_id = uploaded(cells, 'fullPrecision="0"')
    recalculated(shared_owner, book_id)
    assert values(shared_owner, book_id, "B1", "B4", "B5", "B6") == [0.67, 1.67, 2.33, 4.0]
    cell = shared_owner.get(f"/api/v1/workbooks/{book_id}/sheets/S/cells/B4").json()
    assert cell["formula"] == "=TABLE(,A1)"
