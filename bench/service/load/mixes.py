"""The mixes: what users of one kind ask for, prepared in a tenant and verified once before they are sent."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import core
from bench.service.load.wrk import NUMBER_DIGITS, Step
from bench.service.stack import BOUNDARY, Client
from core.generate import generate

LOANS = 200
FILES = 8
CONTEXT = {f"A{row}": row * 3.5 for row in range(1, 11)}
FORMULA = "=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2)+{n},0)"
SUITES = (("standard", 3), ("enhanced", 1))
"""Suites of the compliance mix, and how often each."""
MIXES = ("read", "calculate", "compliance", "upload")
TOLERATED = {"compliance": 409}
"""A workbook has one run at a time: two callers that meet at one are answered so, which is no answered request."""
TOLERATED_SHARE = 0.1


class Deal:
    """A workbook of a tenant that the mixes work on."""

    def __init__(self, client: Client, workbook_id: str) -> None:
        self.client = client
        self.id = workbook_id
        sheets = client.get(f"/api/v1/workbooks/{self.id}/sheets")
        self.sheet = str((sheets["sheets"] if isinstance(sheets, dict) else sheets)[0]["name"])
        self.run_id = str(self.run("standard")["id"])

    def run(self, suite: str) -> Any:
        """A compliance run."""
        return self.client.post("/api/v1/compliance/run", {"workbook_id": self.id, "test_suite": suite})

    def verify(self, path: Path) -> None:
        """The service says of the workbook what the library says of its file."""
        portfolio = core.Portfolio.from_workbook(core.read(path))
        for suite in ("standard", "enhanced"):
            answer, expected = self.run(suite), core.run_suite(portfolio, suite)
            wanted = json.loads(msgspec.json.encode({"results": list(expected), "summary": expected.summary}))
            if any(answer[name] != value for name, value in wanted.items()):
                raise AssertionError(f"the service and the library differ on the {suite} suite")


def upload(clients: Sequence[Client], files: Sequence[Path], count: int) -> list[Deal]:
    """So many workbooks, in turn of the files and the tenants.

    The first of each file is verified.
    """
    place = "/api/v1/workbooks/upload"
    owners = [clients[number % len(clients)] for number in range(count)]
    ids = [str(owner.upload(place, files[number % len(files)], {})["id"]) for number, owner in enumerate(owners)]
    for owner, workbook_id in zip(owners, ids, strict=True):
        owner.ready(workbook_id)
    deals = [Deal(owner, workbook_id) for owner, workbook_id in zip(owners, ids, strict=True)]
    for deal, path in zip(deals, files, strict=False):
        deal.verify(path)
    return deals


def workbook(folder: Path, *, loans: int = LOANS, seed: int = 7) -> Path:
    """A generated deal as a file."""
    path = folder / f"deal-{loans}-{seed}.xlsx"
    generate(loans=loans, seed=seed).write(path)
    return path


def steps_of(mix: str, deals: Sequence[Deal]) -> list[Step]:
    """The requests of a mix for each deal, each checked once."""
    if mix == "upload":  # one for each tenant
        deals = list({id(deal.client): deal for deal in deals}.values())
    of_deals = [_MAKERS[mix](deal) for deal in deals]
    steps = [step for alike in zip(*of_deals, strict=True) for step in alike]
    for step in steps:
        if mix != "upload":
            _verify(step, deals)
    return steps


def _verify(step: Step, deals: Sequence[Deal]) -> None:
    client = next(deal.client for deal in deals if deal.client.headers.items() <= step.headers.items())
    answer = client.exchange(step.method, step.path.replace("{n}", "7"), step.body.replace(b"{n}", b"7") or None)
    if step.marker.encode() not in answer:
        raise AssertionError(f"{step.method} {step.path}: {step.marker} is not in {answer[:500]!r}")


def _get(deal: Deal, path: str, marker: str, weight: int) -> Step:
    return Step(method="GET", path=path, headers=deal.client.headers, marker=marker, weight=weight)


def _post(deal: Deal, path: str, body: Any, marker: str, weight: int) -> Step:
    headers = {**deal.client.headers, "Content-Type": "application/json"}
    encoded = json.dumps(body).encode()
    return Step(method="POST", path=path, headers=headers, body=encoded, marker=marker, weight=weight)


def _read(deal: Deal) -> list[Step]:
    book = f"/api/v1/workbooks/{deal.id}"
    named = f'"id":"{deal.id}"'
    return [
        _get(deal, book, named, 3),
        _get(deal, "/api/v1/workbooks?page_size=20", named, 2),
        _get(deal, f"{book}/sheets/{deal.sheet.replace(' ', '%20')}/data?page_size=50", '"rows":[', 3),
        _get(deal, f"{book}/sheets/{deal.sheet.replace(' ', '%20')}/cells/A1", '"A1"', 2),
        _get(deal, f"/api/v1/compliance/results/{deal.run_id}", f'"id":"{deal.run_id}"', 2),
        _get(deal, "/api/v1/compliance/history?page_size=20", deal.run_id[:8], 1),
        _get(deal, "/api/v1/auth/me", '"email"', 1),
    ]


def _calculate(deal: Deal) -> list[Step]:
    many = [{"id": f"f{number}", "formula": f"=SUM(A1:A{number})*{{n}}"} for number in range(1, 11)]
    value = core.evaluate(FORMULA.replace("{n}", "7"), CONTEXT).value
    answer = deal.client.post(
        "/api/v1/calculations/evaluate", {"formula": FORMULA.replace("{n}", "7"), "context": CONTEXT}
    )
    if answer["value"] != value:
        raise AssertionError(f"the service says {answer['value']}, the library {value}")
    return [
        _post(deal, "/api/v1/calculations/evaluate", {"formula": FORMULA, "context": CONTEXT}, '"value":', 6),
        _post(
            deal,
            "/api/v1/calculations/evaluate",
            {"formula": f"=SUM('{deal.sheet}'!D2:D50)+{{n}}", "workbook_id": deal.id},
            '"type":"number"',
            2,
        ),
        _post(deal, "/api/v1/calculations/batch", {"formulas": many, "shared_context": CONTEXT}, '"results":[', 2),
        _post(deal, "/api/v1/calculations/validate", {"formula": FORMULA}, '"valid":true', 1),
    ]


def _compliance(deal: Deal) -> list[Step]:
    path, marker = "/api/v1/compliance/run", f'"workbook_id":"{deal.id}"'
    suites = (("standard", 3), ("enhanced", 1))
    return [
        _post(deal, path, {"workbook_id": deal.id, "test_suite": suite}, marker, weight) for suite, weight in suites
    ]


def _upload(deal: Deal) -> list[Step]:
    headers = {**deal.client.headers, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    steps = []
    for number, raw in enumerate(_files()):
        head = f'Content-Disposition: form-data; name="file"; filename="deal-{number}-{{n}}.xlsx"\r\n\r\n'
        body = f"--{BOUNDARY}\r\n{head}".encode() + raw + f"\r\n--{BOUNDARY}--\r\n".encode()
        path, marker = "/api/v1/workbooks/upload", '"status":"processing"'
        steps.append(Step(method="POST", path=path, headers=headers, body=body, marker=marker))
    return steps


@cache
def _files() -> list[bytes]:
    """Workbooks that take another comment of the archive, and so other bytes, in each request."""
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FILES):
            path = workbook(Path(folder), seed=1_000 + seed)
            with zipfile.ZipFile(path, "a") as archive:
                archive.comment = b"0" * NUMBER_DIGITS
            files.append(path.read_bytes().removesuffix(archive.comment) + b"{n}")
    return files


_MAKERS = {"read": _read, "calculate": _calculate, "compliance": _compliance, "upload": _upload}
