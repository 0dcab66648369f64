"""What a tenant asks of the endpoints whose work can take long, near the most that each permits.

A case has the name of a row that is marked `heavy`; `tests/security/test_fairness.py` drives each with a crowd, and asks
that there is one for each.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import xlsxwriter

from core.generate import generate, generate_tape
from tests.conftest import Member, wait_until
from tests.crowd import Request

API: Final = "/api/v1"
LOANS: Final = 300
UNIVERSE: Final = 2_000
MONTHS: Final = ("2026-02-28", "2026-03-31")
BOOKS: Final = 8
OWN_TESTS: Final = 400
OWN: Final = '=AND(spread>=300,price<95+{},OR(industry="Software",country<>"US"),par_value>1000000)'
LONG: Final = "=" + "+".join(f"SUM(A{row}:B{row + 1})" for row in range(1, 500))
QUESTION: Final = "Which loans would fail the CCC test if every B- loan were downgraded by two notches?"
WIDE_ROWS, WIDE_COLUMNS = 1_000, 100


def own_definition(number: int = 0) -> dict[str, Any]:
    """A definition of about 90 kB; each number gives another one."""
    tests = [
        {"id": f"own_{at}", "name": f"Own test {number}.{at} {'x' * 60}", "share": OWN.format(at), "max": 7.5 + at / 100}
        for at in range(OWN_TESTS)
    ]
    return {"base": "us_bsl", "tests": tests}


def graph_of(nodes: int) -> dict[str, Any]:
    """A graph of so many expressions, each over the one before."""
    chain: list[dict[str, Any]] = [{"id": "n0", "type": "column_ref", "params": {"column": "Par Value"}}]
    edges: list[dict[str, Any]] = []
    for at in range(1, nodes):
        chain.append({"id": f"n{at}", "type": "expression", "params": {"formula": f"=n{at - 1}*1.01+{at}"}})
        ends = {"source": {"nodeId": f"n{at - 1}", "port": "output"}, "target": {"nodeId": f"n{at}", "port": f"n{at - 1}"}}
        edges.append({"id": f"e{at}", **ends})
    return {"version": "1", "template_id": "custom", "nodes": chain, "edges": edges}


@dataclass
class Case:
    """What drives one endpoint."""

    name: str
    """The handler's, as the row has it."""
    threads: int
    requests: list[Request]
    statuses: frozenset[str]
    """Those that show that the work was done."""


def posted(path: str, body: Any) -> Request:
    return Request("POST", API + path, json.dumps(body))


def upload(path: str, name: str, content: bytes, **fields: str) -> Request:
    """A multipart form as a browser sends it; in Latin-1, so that a text can hold it."""
    mark = "----fair" + secrets.token_hex(8)
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    key = "files" if path.endswith("/files") else "file"
    parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{key}"; filename="{name}"\r\n\r\n'.encode())
    body = b"".join([*parts, content, f"\r\n--{mark}--\r\n".encode()])
    return Request("POST", API + path, body.decode("latin-1"), f"multipart/form-data; boundary={mark}")


def wide_book() -> bytes:
    """A sheet of texts and numbers, a page of which is a thousand rows."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet("Wide")
        sheet.write_row(0, 0, [f"Column {column}" for column in range(WIDE_COLUMNS)])
        for row in range(1, WIDE_ROWS + 1):
            sheet.write_row(row, 0, [f"text {row}" if column % 2 else row * column for column in range(WIDE_COLUMNS)])
    return out.getvalue()


class Hostile:
    """A tenant with portfolios, a deal of its own rules, and whatever else long work takes."""

    def __init__(self, member: Member, folder: Path) -> None:
        self.member = member
        self.folder = folder
        self.deal_id: str = self._made("/deals", {"name": "Heavy CLO", "currency": "USD"})["id"]
        small = self._book("small.xlsx", LOANS)
        self.small = small
        (folder / "wide.xlsx").write_bytes(wide_book())
        files = [*[small] * BOOKS, self._book("universe.xlsx", UNIVERSE, seed=2), folder / "wide.xlsx"]
        self.books = [member.upload(file).json()["id"] for file in files]
        self.wide, self.universe = self.books.pop(), self.books.pop()
        self.months = [self._month(day, seed) for seed, day in enumerate(MONTHS, start=1)]
        for book in (*self.books, self.wide, self.universe, *self.months):
            member.parsed(book)
        own = member.put(f"{API}/deals/{self.deal_id}/definition", json={"definition": own_definition()})
        assert own.status_code == 200, own.text
        for book in [*self.books[:2], *self.months]:
            suite = "deal" if book in self.months else "enhanced"
            self._made("/compliance/run", {"workbook_id": book, "test_suite": suite}, status=200)
        nominated = {"workbook_ids": self.books[:2], "is_nominated": True}
        self._made("/insights/nominations/bulk", nominated, status=200)
        trades = [
            {"trade_type": "buy", "par_value": 1e6, "borrower_name": f"Buy {at}", "price": 99.0, "spread": 400.0}
            for at in range(200)
        ]
        scenario = {"name": "Heavy", "base_workbook_id": self.books[0]}
        self.scenario: str = self._made("/scenarios", scenario)["id"]
        self.busy: list[str] = [
            self._made("/scenarios", scenario | {"name": f"Busy {at}", "trades": trades})["id"] for at in range(8)
        ]
        session = self._made("/insights/generate", {})
        self.insight: str = session["insights"][0]["id"]
        self.mapping: str = self._made("/mappings", self.mapping_body(0))["id"]
        self.formula: str = self._made("/formulas", {"name": "Par", "template_id": "custom", "graph": graph_of(60)})["id"]
        self.tape = self._tape()

    def _made(self, path: str, body: Any, status: int = 201) -> dict[str, Any]:
        answer = self.member.post(API + path, json=body)
        assert answer.status_code in (status, 200), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def _book(self, name: str, loans: int, seed: int = 1) -> Path:
        path = self.folder / name
        generate(loans, seed).write(path)
        return path

    def _month(self, day: str, seed: int) -> str:
        path = self._book(f"month {day}.xlsx", LOANS, seed)
        files = {"files": (path.name, path.read_bytes())}
        answer = self.member.post(f"{API}/deals/{self.deal_id}/files", files=files, data={"as_of": day})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def _tape(self) -> str:
        path = self.folder / "tape.xlsx"
        generate_tape(generate(UNIVERSE, 2), "trustee_a").write(path)
        form = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}
        files = {"file": (path.name, path.read_bytes())}
        answer = self.member.post(f"{API}/reconciliation/tapes/upload", files=files, data=form)
        assert answer.status_code == 201, answer.text
        tape: str = answer.json()["tape_id"]
        at = f"{API}/reconciliation/tapes/{tape}"
        wait_until(lambda: self.member.get(at).json()["processing_status"] == "completed", seconds=60, what="the tape")
        return tape

    def mapping_body(self, number: int) -> dict[str, Any]:
        """A mapping of many columns with many steps."""
        columns = {f"Column {at}": {"target": f"custom_{at}", "type": "string"} for at in range(150)}
        return {"name": f"Heavy {number}", "source_type": "custom", "mappings": columns}


def fresh(make: Callable[[int], Any], count: int) -> list[Any]:
    """So many bodies, each another one."""
    return [make(at) for at in range(1, count + 1)]


def cases(of: Hostile) -> list[Case]:
    """Every heavy endpoint near its extremes."""

    def case(name: str, threads: int, requests: Sequence[Request], *statuses: int) -> Case:
        return Case(name, threads, list(requests), frozenset(map(str, statuses or (200,))))

    runs = [posted("/compliance/run", {"workbook_id": book, "test_suite": "enhanced"}) for book in of.books]
    del runs
    inline = [
        posted(
            "/compliance/run",
            {"workbook_id": of.books[at % 2], "test_suite": "deal", "definition": own_definition(at)},
        )
        for at in range(8)
    ]
    deal_runs = [
        posted("/compliance/run", {"workbook_id": book, "test_suite": "deal", "definition": own_definition()})
        for book in of.books
    ]
    offers = [
        {"par_value": 1e6, "borrower_name": f"Offer {at}", "price": 97.0, "spread": 450.0, "rating_agency_a": "B2"}
        for at in range(UNIVERSE)
    ]
    objective = {"objective": "was", "constraints": {"tests": "free"}}
    sample = [{f"Column {column}": f"text {row}" for column in range(40)} for row in range(2_500)]
    batch = {"formulas": [{"id": str(at), "formula": f"=SUM(A1:A200)*{at}"} for at in range(5_000)]}
    batch["shared_context"] = {f"A{row}": float(row) for row in range(1, 201)}
    context = {f"A{row}": float(row) for row in range(1, 30_001)}
    deal = f"/deals/{of.deal_id}"
    small = of.small.read_bytes()
    graph = graph_of(200)
    return [
        case("optimize_scenario", 1, [posted(f"/scenarios/{of.scenario}/optimize", objective | {"universe": of.universe})]),
        case("optimize_scenario", 4, [posted(f"/scenarios/{of.scenario}/optimize", objective | {"universe": offers})]),
        case("simulate_scenario", 8, [posted(f"/scenarios/{one}/simulate", {}) for one in of.busy], 200, 409),
        case("get_headroom", 8, [Request("GET", f"{API}/scenarios/{one}/headroom") for one in of.busy]),
        case("generate_insights", 8, [posted("/insights/generate", {})], 201),
        case("regenerate_insights", 4, [posted("/insights/generate", {}), posted("/insights/regenerate", {})], 200, 201),
        case("ask", 8, [posted("/insights/ask", {"question": QUESTION})]),
        case("ask_insight", 4, [posted(f"/insights/{of.insight}/ask", {"question": QUESTION})]),
        case("chat", 8, [posted("/ai/chat", {"query": QUESTION, "context": {"workbook_id": of.books[0]}})]),
        case("run_compliance", 4, inline, 200, 409),
        case("run_compliance", 16, deal_runs, 200, 409),
        case("get_tie_out", 8, [Request("GET", f"{API}{deal}/tie-out")]),
        case("get_movements", 8, [Request("GET", f"{API}{deal}/movements?from={MONTHS[0]}&to={MONTHS[1]}")]),
        case(
            "put_definition",
            4,
            [
                Request("PUT", f"{API}{deal}/definition", json.dumps({"definition": own_definition(at)}))
                for at in range(8)
            ],
            200,
            403,
        ),
        case("update_deal", 4, [Request("PATCH", f"{API}{deal}", json.dumps({"name": f"Heavy {at}"})) for at in range(4)]),
        case(
            "get_sheet_data",
            32,
            [
                Request("GET", f"{API}/workbooks/{of.wide}/sheets/Wide/data?page_size=1000&format={kind}")
                for kind in ("json", "json", "csv")
            ],
        ),
        case("validate_mapping", 4, [posted("/mappings/standard_clo/validate", {"sample_data": sample})]),
        case(
            "update_mapping",
            4,
            [Request("PATCH", f"{API}/mappings/{of.mapping}", json.dumps(of.mapping_body(at))) for at in range(4)],
        ),
        case("validate_graph", 8, [posted("/formulas/validate", {"graph": graph})]),
        case(
            "preview_graph",
            8,
            [posted("/formulas/preview", {"graph": graph_of(60), "workbook_id": of.universe, "sample_size": 200})],
            200, 422,
        ),
        case("add_formula_version", 4, [Request("PUT", f"{API}/formulas/{of.formula}/versions", json.dumps({"graph": graph}))]),
        case("evaluate_batch", 8, [posted("/calculations/batch", batch)]),
        case(
            "evaluate_formula",
            8,
            [posted("/calculations/evaluate", {"formula": "=SUM(A1:A30000)", "context": context})],
        ),
        case("validate_formula", 8, [posted("/calculations/validate", {"formula": LONG})]),
        case("upload_workbook", 4, [upload("/workbooks/upload", "small.xlsx", small)], 201),
        case("add_deal_files", 4, [upload(f"{deal}/files", "month.xlsx", small)], 201),
        case("verify_export", 4, [upload("/exports/verify", "small.xlsx", small)], 200),
        case("list_tape_loans", 8, [Request("GET", f"{API}/reconciliation/tapes/{of.tape}/loans?page_size=100")]),
    ]
