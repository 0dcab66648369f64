"""Exports that are asked for, and what comes of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import xlsxwriter

from service.exports import jobs
from service.platform.unit.context import Unit
from tests.conftest import Member, Stack, wait_until

URL = "/api/v1/exports"
ENDED = ("completed", "failed", "cancelled")


def written(path: Path) -> Path:
    """Loans with formulas, and a sheet that reads them."""
    with xlsxwriter.Workbook(path) as book:
        loans = book.add_worksheet("Loans")
        loans.write_row(0, 0, ["LoanX ID", "Issuer Name", "Par Amount", "Market Price", "Contact"])
        for row in range(1, 26):
            loans.write_row(row, 0, [f"LX{row:06d}", f"Issuer {row} LLC", row * 1e6, 98.5, f"person{row}@bank.example"])
        totals = book.add_worksheet("Totals")
        totals.write_row(0, 0, ["Par", "Note"])
        totals.write_formula(1, 0, "=SUM(Loans!C2:C26)", None, 325e6)
        totals.write_string(1, 1, "=1+1")
        totals.write_formula(2, 0, "=1+1", None, 99)
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook of a name that is not all ASCII."""
    return written(tmp_path / "Loans of März.xlsx")


@pytest.fixture
def book_id(owner: Member, book: Path) -> str:
    return str(owner.uploaded(book)["id"])


@pytest.fixture(scope="module")
def shared_book(shared_owner: Member, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("books") / "shared.xlsx"
    written(path)
    return str(shared_owner.uploaded(path)["id"])


def asked(member: Member, book_id: str, kind: str = "xlsx", **body: Any) -> httpx.Response:
    """Ask for an export; what is none of the body's fields is an option."""
    known = {name: body.pop(name) for name in ("sheet_ids", "headers") if name in body}
    headers = known.pop("headers", None)
    fields = {"workbook_id": book_id, "format": kind, **known, **({"options": body} if body else {})}
    return member.post(URL, json=fields, headers=headers)


def ended(member: Member, export_id: str) -> dict[str, Any]:
    """The export once it has ended."""

    def done() -> dict[str, Any] | None:
        result: dict[str, Any] = member.get(f"{URL}/{export_id}").json()
        return result if result["status"] in ENDED else None

    result: dict[str, Any] = wait_until(done, seconds=60, what="the end of the export")
    return result


def exported(member: Member, book_id: str, kind: str = "xlsx", **body: Any) -> dict[str, Any]:
    """An export that was asked for and has ended."""
    answer = asked(member, book_id, kind, **body)
    assert answer.status_code == 201, answer.text
    return ended(member, answer.json()["id"])


def downloaded(member: Member, export: dict[str, Any], artifact: str = "", **headers: str) -> httpx.Response:
    path = f"{URL}/{export['id']}/download" + (f"?artifact={artifact}" if artifact else "")
    return member.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


def made_here(stack: Stack, member: Member, export_id: str, **settings: str) -> None:
    """Do a worker's job for an export in this process, with settings of its own."""

    async def make() -> None:
        async with stack.resources(**settings) as opened:
            unit = Unit(opened, UUID(member.tenant_id), request_id="test")
            await jobs.make(unit, {"export_id": export_id})
            await unit.commit()

    asyncio.run(make())
