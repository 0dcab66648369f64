"""Graphs, and formulas made of them, for the tests of the formula builder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
import xlsxwriter

from tests.conftest import Member, wait_until

URL = "/api/v1/formulas"


def node(node_id: str, kind: str, **params: Any) -> dict[str, Any]:
    return {"id": node_id, "type": kind, "params": params}


def edge(source: str, target: str, port: str) -> dict[str, Any]:
    ends = {"source": {"nodeId": source, "port": "output"}, "target": {"nodeId": target, "port": port}}
    return {"id": f"{source}-{target}-{port}", **ends}


def expression(formula: str, **columns: str) -> dict[str, Any]:
    """A graph of one expression over columns, by the names that it has for them."""
    nodes = [node(name, "column_ref", column=column) for name, column in columns.items()]
    edges = [edge(name, "result", name) for name in columns]
    return {
        "version": "1",
        "template_id": "custom",
        "nodes": [*nodes, node("result", "expression", formula=formula)],
        "edges": edges,
    }


SHARE = expression("=a*b", a="Par", b="Price")
OTHER = expression("=a*b/100", a="Par", b="Price")
CYCLE = SHARE | {"edges": [*SHARE["edges"], edge("result", "result", "a")]}


def create_config(member: Member, **fields: Any) -> dict[str, Any]:
    """A new formula."""
    answer = member.post(URL, json={"name": "Market value", "template_id": "custom", "graph": SHARE} | fields)
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.fixture
def formula(owner: Member) -> dict[str, Any]:
    """A draft."""
    return create_config(owner)


LOANS: Sequence[Sequence[Any]] = [
    ("Loan", "Par", "Price", "Maturity"),
    ("L1", 100, 98.5, date(2030, 6, 30)),
    ("L2", 200, "n/a", None),
    ("L3", None, 97, date(2031, 1, 1)),
    ("L4", 400, 101, None),
]


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    """A sheet of loans, and one that reads it: by values in the file that are wrong."""
    path = tmp_path / "loans.xlsx"
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("Loans")
        for row, cells in enumerate(LOANS):
            for column, cell in enumerate(cells):
                sheet.write(row, column, cell, *([day] if isinstance(cell, date) else []))
        summary = book.add_worksheet("Summary")
        summary.write_row("A1", ["Total", "Stale"])
        summary.write_formula("A2", "=SUM(Loans!B2:B5)", None, 700)
        summary.write_formula("B2", "=1+1", None, 99)
        plain = book.add_worksheet("Plain")
        for row in range(3):
            plain.write_row(row, 0, [row, row * 10])
    return path


def column_of(member: Member, workbook_id: str, name: str, sheet: str = "Loans") -> list[Any]:
    """The values of a column, below its header."""
    data = member.get(f"/api/v1/workbooks/{workbook_id}/sheets/{sheet}/data")
    assert data.status_code == 200, data.text
    return [row[name] for row in data.json()["rows"]]


def started(member: Member, formula: dict[str, Any], book_id: str, **fields: Any) -> httpx.Response:
    """Ask for a formula's application."""
    body = {"version_id": "v1", "workbook_id": book_id, "sheet_id": "Loans", "target_column": "Value"} | fields
    return member.post(f"{URL}/{formula['id']}/apply", json=body)


def ended(member: Member, run: dict[str, Any]) -> dict[str, Any]:
    """The run once it has ended."""

    def done() -> dict[str, Any] | None:
        runs = member.get(f"{URL}/{run['config_id']}/runs", params={"page_size": 100}).json()["items"]
        result: dict[str, Any] = next(item for item in runs if item["run_id"] == run["run_id"])
        return result if result["status"] in ("completed", "failed") else None

    result: dict[str, Any] = wait_until(done, seconds=60, what="the end of the run")
    return result


def applied(member: Member, formula: dict[str, Any], book_id: str, **fields: Any) -> dict[str, Any]:
    """Apply a formula and wait for the run's end."""
    answer = started(member, formula, book_id, **fields)
    assert answer.status_code == 200, answer.text
    return ended(member, answer.json())
