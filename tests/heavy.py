"""What a tenant asks of the endpoints whose work can take long, near the most that each permits.

`tests/security/test_fairness.py` drives each case with a crowd, and asks that there is one for each row that is marked
`heavy`.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import xlsxwriter

from core.generate import generate, generate_tape
from tests.conftest import Member
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
        {"id": f"own_{at}", "name": f"Own {number}.{at} {'x' * 60}", "share": OWN.format(at), "max": 7.5 + at / 100}
        for at in range(OWN_TESTS)
    ]
    return {"base": "us_bsl", "tests": tests}


def graph_of(nodes: int) -> dict[str, Any]:
    """A graph of so many expressions, each over the one before.

    64 may stand behind each other.
    """
    chain: list[dict[str, Any]] = [{"id": "n0", "type": "column_ref", "params": {"column": "Par Amount"}}]
    edges: list[dict[str, Any]] = []
    for at in range(1, nodes):
        chain.append({"id": f"n{at}", "type": "expression", "params": {"formula": f"=n{at - 1}*1.01+{at}"}})
        before, port = f"n{at - 1}", f"n{at}"
        ends = {"source": {"nodeId": before, "port": "output"}, "target": {"nodeId": port, "port": before}}
        edges.append({"id": f"e{at}", **ends})
    return {"version": "1", "template_id": "custom", "nodes": chain, "edges": edges}


@dataclass
class Case:
    """What drives one endpoint, or several that do the same work."""

    names: tuple[str, ...]
    """The handlers', as the rows have them; the first one names the case."""
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
        self.deal_id: str = self._create("/deals", {"name": "Heavy CLO", "currency": "USD"})["id"]
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
        self.runs: list[str] = []
        for book in [*self.books[:2], *self.months]:
            suite = "deal" if book in self.months else "enhanced"
            self.runs.append(
                self._create("/compliance/run", {"workbook_id": book, "test_suite": suite}, status=200)["id"]
            )
        nominated = {"workbook_ids": self.books[:2], "is_nominated": True}
        self._create("/insights/nominations/bulk", nominated, status=200)
        trades = [
            {"trade_type": "buy", "par_value": 1e6, "borrower_name": f"Buy {at}", "price": 99.0, "spread": 400.0}
            for at in range(200)
        ]
        scenario = {"name": "Heavy", "base_workbook_id": self.books[0]}
        self.scenario: str = self._create("/scenarios", scenario)["id"]
        self.busy: list[str] = [
            self._create("/scenarios", scenario | {"name": f"Busy {at}", "trades": trades})["id"] for at in range(8)
        ]
        session = self._create("/insights/generate", {})
        self.insight: str = session["insights"][0]["id"]
        self.mapping: str = self._create("/mappings", self.mapping_body(0))["id"]
        formula = {"name": "Par", "template_id": "custom", "graph": graph_of(20), "status": "active"}
        self.formula: str = self._create("/formulas", formula)["id"]
        self.draft: str = self._create("/formulas", formula | {"name": "Draft", "status": "draft"})["id"]
        self.tape_bytes = self._tape()
        self.issue = self._issue()
        self.sheet: str = member.get(f"{API}/workbooks/{self.universe}/sheets").json()[0]["id"]
        self.invitations = [self._invitation(number) for number in range(4)]

    def _create(self, path: str, body: Any, status: int = 201) -> dict[str, Any]:
        answer = self.member.post(API + path, json=body)
        assert answer.status_code in (status, 200), answer.text
        result: dict[str, Any] = answer.json()
        return result

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

    def _tape(self) -> bytes:
        path = self.folder / "tape.xlsx"
        generate_tape(generate(UNIVERSE, 2), "trustee_a").write(path)
        return path.read_bytes()

    def _issue(self) -> str:
        """An issue of the large tape and the large workbook."""
        form = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}
        path = f"{API}/reconciliation"
        tape = self.member.post(
            f"{path}/tapes/upload", files={"file": ("tape.xlsx", self.tape_bytes)}, data=form
        ).json()
        while self._waited(f"{path}/tapes/{tape['tape_id']}")["processing_status"] == "processing":
            pass
        body = {"tape_id": tape["tape_id"], "workbook_id": self.universe}
        job = self._create("/reconciliation/compare", body, status=200)
        while self._waited(f"{path}/compare/{job['job_id']}/status")["status"] == "processing":
            pass
        actual_body = self.member.get(f"{path}/issues", params={"tape_id": tape["tape_id"]}).json()
        return str(next(item["id"] for item in actual_body["items"] if item["issue_type"] == "value_mismatch"))

    def _waited(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.member.get(path, params={"wait": 30}, timeout=60).json()
        return answer

    def _invitation(self, number: int) -> str:
        body = {"email": f"guest-{number}-{secrets.token_hex(4)}@example.com", "full_name": "Gus", "role": "viewer"}
        return str(self._create("/admin/users/invite", body)["invitation_token"])

    def mapping_body(self, number: int) -> dict[str, Any]:
        """A mapping of many columns with many steps."""
        columns = {f"Column {at}": {"target": f"custom_{at}", "type": "string"} for at in range(150)}
        return {"name": f"Heavy {number}", "source_type": "custom", "mappings": columns}


def cases(of: Hostile) -> list[Case]:
    """Every heavy endpoint near its extremes."""
    return [*_scenarios(of), *_questions(of), *_rules(of), *_tables(of), *_formulas(of), *_files(of), *_accounts(of)]


def _case(names: str, threads: int, requests: Sequence[Request], *statuses: int) -> Case:
    return Case(tuple(names.split()), threads, list(requests), frozenset(map(str, statuses or (200,))))


def _get(path: str) -> Request:
    return Request("GET", API + path)


def _scenarios(of: Hostile) -> list[Case]:
    offers = [
        {"par_value": 1e6, "borrower_name": f"Offer {at}", "price": 97.0, "spread": 450.0, "rating_agency_a": "B2"}
        for at in range(UNIVERSE)
    ]
    path, aim = f"/scenarios/{of.scenario}/optimize", {"objective": "was", "constraints": {"tests": "free"}}
    trades = [{"trade_type": "buy", "par_value": 1e6, "borrower_name": f"B {at}", "price": 99.0} for at in range(1_000)]
    preview = {"trades": trades}
    return [
        _case("create_scenario", 2, [posted("/scenarios", {"name": "Many trades", "trades": trades})], 201),
        _case("optimize_scenario", 1, [posted(path, aim | {"universe": of.universe})]),
        _case("optimize_scenario", 4, [posted(path, aim | {"universe": offers})]),
        _case(
            "preview_trades",
            8,
            [posted("/scenarios/preview", preview | {"base_workbook_id": book}) for book in of.books],
        ),
        _case("simulate_scenario", 8, [posted(f"/scenarios/{busy}/simulate", {}) for busy in of.busy], 200, 409),
        _case("get_scenario_headroom", 8, [_get(f"/scenarios/{busy}/headroom") for busy in of.busy]),
    ]


def _questions(of: Hostile) -> list[Case]:
    generate_anew, again = posted("/insights/generate", {}), posted("/insights/regenerate", {})
    question = {"question": QUESTION}
    chat = {"query": QUESTION, "context": {"workbook_id": of.books[0]}}
    asked = [
        posted("/insights/ask", question),
        posted(f"/insights/{of.insight}/ask", question),
        posted("/ai/chat", chat),
    ]
    return [
        _case("ask ask_insight chat", 8, asked),  # first: a later session replaces the insight
        _case("generate_insights regenerate_insights", 8, [generate_anew, again], 200, 201, 409, 429),
    ]


def _rules(of: Hostile) -> list[Case]:
    deal = f"/deals/{of.deal_id}"
    run = {"test_suite": "deal"}
    inline = [
        posted("/compliance/run", run | {"workbook_id": of.books[at % 2], "definition": own_definition(at)})
        for at in range(8)
    ]
    runs = [posted("/compliance/run", run | {"workbook_id": book, "definition": own_definition()}) for book in of.books]
    batches = [
        posted("/batches", run | {"workbook_ids": of.books[:1], "definition": own_definition(at)}) for at in range(4)
    ]
    limit = {"deal_id": of.deal_id, "test_id": "own_1", "threshold_value": 9.0, "threshold_type": "max"}
    changes = [
        change
        for at in range(4)
        for change in (
            Request("PUT", f"{API}{deal}/definition", json.dumps({"definition": own_definition(at)})),
            Request("PATCH", API + deal, json.dumps({"name": f"Heavy {at}"})),
            posted("/compliance/thresholds", limit),
        )
    ]
    return [
        _case("run_compliance", 4, inline, 200, 409),
        _case("run_compliance", 16, runs, 200, 409),
        _case("create_batch", 4, batches, 201, 403),
        _case(
            "list_result_parts",
            8,
            [
                _get(f"/compliance/results/{run}/tests/{test}/parts?limit=1000&format={kind}")
                for run in of.runs[:2]
                for test, kind in (("oc_ratio", "csv"), ("wal", "json"))
            ],
        ),
        _case("get_tie_out", 8, [_get(f"{deal}/tie-out")]),
        _case("draft_definition", 8, [posted(f"{deal}/definition/draft", {})]),
        _case("get_movements", 8, [_get(f"{deal}/movements?from={MONTHS[0]}&to={MONTHS[1]}&test_suite=enhanced")]),
        _case("put_definition update_deal set_threshold", 4, changes, 200, 201),
    ]


def _tables(of: Hostile) -> list[Case]:
    page = f"/workbooks/{of.wide}/sheets/Wide/data?page_size=1000&format="
    unsaved = {"mapping": {name: value for name, value in of.mapping_body(0).items() if name != "name"}}
    loans = "limit=10000&sort=-borrower_name&filter=borrower_name:contains:a"
    sample = [{f"Column {column}": f"text {row}" for column in range(40)} for row in range(2_500)]
    result = [posted("/mappings", of.mapping_body(at)) for at in range(1, 4)]
    changed = [Request("PATCH", f"{API}/mappings/{of.mapping}", json.dumps(of.mapping_body(at))) for at in range(4)]
    return [
        _case("get_sheet_data", 32, [_get(page + kind) for kind in ("json", "json", "csv")]),
        _case("list_workbook_loans", 8, [_get(f"/workbooks/{book}/loans?{loans}") for book in of.books]),
        _case("try_detection", 8, [posted(f"/workbooks/{book}/detection", unsaved) for book in of.months]),
        _case("get_issue_rows", 8, [_get(f"/reconciliation/issues/{of.issue}/rows")]),
        _case("get_detection", 8, [_get(f"/workbooks/{book}/detection") for book in (of.universe, of.wide)]),
        _case("validate_mapping", 4, [posted("/mappings/standard_clo/validate", {"sample_data": sample})]),
        _case("create_mapping update_mapping", 4, [*result, *changed], 200, 201, 409),
        _case("export_audit_logs", 1, [_get("/admin/audit-logs/export?format=csv")]),
    ]


def _formulas(of: Hostile) -> list[Case]:
    graph, short = graph_of(60), graph_of(20)
    preview = {"graph": short, "workbook_id": of.universe, "sheet_id": of.sheet, "sample_size": 200}
    applied = {"version_id": "v1", "workbook_id": of.universe, "sheet_id": of.sheet, "target_column": "Heavy"}
    created = {"name": "More", "template_id": "custom", "graph": graph}
    graphs = [
        posted("/formulas/validate", {"graph": graph_of(200)}),
        posted("/formulas/preview", preview),
        posted("/formulas", created),
        Request("PATCH", f"{API}/formulas/{of.draft}", json.dumps({"graph": graph})),
        Request("PUT", f"{API}/formulas/{of.formula}/versions", json.dumps({"graph": graph})),
        posted(f"/formulas/{of.formula}/apply", applied),
    ]
    batch = {
        "formulas": [{"id": str(at), "formula": f"=SUM(A1:A200)*{at}"} for at in range(5_000)],
        "shared_context": {f"A{row}": float(row) for row in range(1, 201)},
    }
    context = {f"A{row}": float(row) for row in range(1, 10_001)}
    evaluated = {"formula": "=SUM(A1:A10000)", "context": context}
    translated = f"/calculations/translate?formula={quote(LONG[:4_000].rpartition('+')[0])}&target=python"
    return [
        _case(
            "validate_graph preview_graph create_formula update_formula add_formula_version apply_formula",
            8,
            graphs,
            200,
            201,
            202,
            403,
            409,
        ),
        _case("evaluate_batch", 8, [posted("/calculations/batch", batch)]),
        _case("evaluate_formula", 8, [posted("/calculations/evaluate", evaluated)]),
        _case(
            "validate_formula translate_formula",
            8,
            [posted("/calculations/validate", {"formula": LONG}), _get(translated)],
        ),
    ]


def _files(of: Hostile) -> list[Case]:
    small = of.small.read_bytes()
    tape = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}
    uploads = [
        upload("/workbooks/upload", "small.xlsx", small),
        upload(f"/deals/{of.deal_id}/files", "month.xlsx", small),
        upload("/reconciliation/tapes/upload", "tape.xlsx", of.tape_bytes, **tape),
    ]
    return [
        _case("upload_workbook add_deal_files upload_tape", 2, uploads, 201),
        _case("verify_export", 4, [upload("/exports/verify", "small.xlsx", small)]),
    ]


def _accounts(of: Hostile) -> list[Case]:
    password = {"current_password": "Wrong-Horse-8", "new_password": "Correct-Horse-79"}
    form = f"username={quote(of.member.email)}&password=Wrong-Horse-8"
    invited = [
        posted("/auth/accept-invitation", {"token": token, "password": "Correct-Horse-7"}) for token in of.invitations
    ]
    requests = [
        Request("POST", f"{API}/auth/login", form, "application/x-www-form-urlencoded"),
        posted("/auth/password/change", password),
        posted("/auth/password/reset", {"token": secrets.token_urlsafe(32), "new_password": "Correct-Horse-79"}),
        posted("/auth/register", NEWCOMER | {"email": f"new-{secrets.token_hex(6)}@example.com"}),
        *invited,
    ]
    names = "login register accept_invitation change_password reset_password"
    # One at a time is thirty times what the limits of an address permit, which this service is without.
    return [_case(names, 1, requests, 200, 201, 400, 401, 409)]


NEWCOMER: Final = {"password": "Correct-Horse-7", "full_name": "Nora New", "organization_name": "Newcomers"}
