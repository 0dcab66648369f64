"""A small tape and the book it is of, with every discrepancy known.

And what a caller does with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from stdnum import cusip as checked

from core.files.write import write_workbook_rows
from tests.conftest import Member, Stack, wait_until
from tests.core.reconciliation.isolated import folder, generated_tape

__all__ = ["folder", "generated_tape"]

BASE = "/api/v1/reconciliation"
UPLOAD = f"{BASE}/tapes/upload"
MARCH = {"trustee_name": "trustee_a", "statement_date": "2026-03-31"}

HEADER = (
    "CUSIP",
    "LoanX ID",
    "Issuer Name",
    "Par Amount",
    "Price",
    "Spread (bps)",
    "Maturity Date",
    "Moody's Rating",
    "Industry",
)
CUSIPS = [base + checked.calc_check_digit(base) for base in (f"0020{at}RGQ" for at in range(7))]

BOOK: Sequence[Sequence[Any]] = (
    HEADER,
    (CUSIPS[0], "LX000000", "Acme Corp.", 1_000_000, 99.5, 350, "2030-06-30", "B2", "Retail"),
    (CUSIPS[1], "LX000001", "Borealis LLC", 1_000_000, 98.0, 400, "2031-06-30", "B1", "Retail"),
    (CUSIPS[2], "LX000002", "Cirrus Inc.", 3_000_000, 97.0, 350, "2029-12-31", "B3", "Wholesale"),
    (CUSIPS[3], "LX000003", "Delta Ltd.", 4_000_000, 99.0, 275, "2028-03-31", "Ba3", "Wholesale"),
    (CUSIPS[5], "LX000005", "Fjord AG", 500_000, 95.0, 500, "2032-01-31", "Caa1", "Retail"),
)
TAPE: Sequence[Sequence[Any]] = (
    HEADER,
    (CUSIPS[3], "LX000003", "Delta Ltd.", 4_000_000, 98.0, 275, "2028-03-31", "B1", "Wholesale"),
    (CUSIPS[2], "LX000002", "Cirrus Inc.", 3_000_000, 97.0, 375, "2029-12-31", "B3", "Wholesale"),
    (CUSIPS[1], "LX000001", "Borealis LLC", 1_080_000, 98.0, 400, "2031-06-30", "B1", "Retail"),
    (CUSIPS[0], "LX000000", "ACME CORP", 1_000_000, 99.5, 350, "2030-06-30", "B2", "Retail"),
    (CUSIPS[4], "LX000004", "Eos SA", 2_500_000, 100.0, 300, "2030-09-30", "B2", "Retail"),
)
FOUND = {
    # By hand: field, severity, issue type, category, trustee's value, ours.
    ("par_value", "critical", "value_mismatch", "calculation", "1080000", "1000000"),
    ("missing_loan", "critical", "missing_in_internal", "missing", "2500000", ""),
    ("missing_loan", "error", "missing_in_trustee", "missing", "", "500000"),
    ("price", "warning", "value_mismatch", "calculation", "98", "99"),
    ("rating_agency_a", "warning", "value_mismatch", "rating", "B1", "Ba3"),
    ("spread", "warning", "value_mismatch", "calculation", "375", "350"),
    ("borrower_name", "info", "value_mismatch", "identity", "ACME CORP", "Acme Corp."),
}


@dataclass
class Files:
    """Writes spreadsheet files into a folder of their own."""

    folder: Path

    def write(self, rows: Sequence[Sequence[Any]], name: str = "tape.xlsx", sheet: str = "Holdings") -> Path:
        path = self.folder / name
        write_workbook_rows(path, {sheet: rows})
        return path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@dataclass
class Pair:
    """A tape and the workbook that it is of, both ready."""

    member: Member
    tape: dict[str, Any]
    workbook: dict[str, Any]

    @property
    def tape_id(self) -> str:
        return str(self.tape["id"])

    @property
    def workbook_id(self) -> str:
        return str(self.workbook["id"])

    def compare(self, **more: Any) -> dict[str, Any]:
        """The comparison, ended."""
        return compared(self.member, self.tape_id, self.workbook_id, **more)

    def issues(self, **query: Any) -> list[dict[str, Any]]:
        """The tape's issues, at most a page of them."""
        answer = self.member.get(f"{BASE}/issues", params={"tape_id": self.tape_id, "page_size": 200, **query})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        assert answer.json()["total"] == len(items)
        return items

    def issue(self, field: str, **query: Any) -> dict[str, Any]:
        """The only issue of a field."""
        (result,) = (issue for issue in self.issues(**query) if issue["field_name"] == field)
        return result

    def review(self, issue: dict[str, Any], **body: Any) -> dict[str, Any]:
        answer = self.member.patch(f"{BASE}/issues/{issue['id']}", json=body)
        assert answer.status_code == 200, answer.text
        changed: dict[str, Any] = answer.json()
        return changed


def send(member: Member, path: Path, **fields: str) -> httpx.Response:
    """Upload a tape of trustee_a, or as the fields say."""
    return member.post(UPLOAD, files={"file": (path.name, path.read_bytes())}, data={**MARCH, **fields})


def taken(member: Member, path: Path, **fields: str) -> dict[str, Any]:
    """A tape, uploaded and processed."""
    answer = send(member, path, **fields)
    assert answer.status_code == 201, answer.text
    return processed(member, answer.json()["tape_id"])


def processed(member: Member, tape_id: str) -> dict[str, Any]:
    """A tape once nothing works on it any more."""

    def done() -> dict[str, Any] | None:
        tape: dict[str, Any] = member.get(f"{BASE}/tapes/{tape_id}").json()
        return None if tape["processing_status"] == "processing" else tape

    result: dict[str, Any] = wait_until(done, seconds=60, what="the processed tape")
    return result


def ask(member: Member, tape_id: str, workbook_id: str, **more: Any) -> httpx.Response:
    return member.post(f"{BASE}/compare", json={"tape_id": tape_id, "workbook_id": workbook_id, **more})


def compared(member: Member, tape_id: str, workbook_id: str, **more: Any) -> dict[str, Any]:
    """A comparison, ended."""
    answer = ask(member, tape_id, workbook_id, **more)
    assert answer.status_code == 200, answer.text
    return ended(member, answer.json()["job_id"])


def ended(member: Member, job_id: str) -> dict[str, Any]:
    """A comparison once nothing works on it any more."""

    def done() -> dict[str, Any] | None:
        job: dict[str, Any] = member.get(f"{BASE}/compare/{job_id}/status").json()
        return None if job["status"] == "processing" else job

    result: dict[str, Any] = wait_until(done, seconds=60, what="the comparison")
    return result


def paired(member: Member, files: Files) -> Pair:
    """The small tape and its book, of this member's tenant."""
    tape = taken(member, files.write(TAPE))
    workbook = member.uploaded(files.write(BOOK, "book.xlsx"))
    assert (tape["processing_status"], workbook["status"]) == ("completed", "ready"), (tape, workbook)
    return Pair(member, tape, workbook)


@pytest.fixture
def pair(owner: Member, files: Files) -> Pair:
    """The small tape and its book, of a fresh tenant."""
    return paired(owner, files)


@pytest.fixture(scope="module")
def shared_pair(shared_owner: Member, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The same of the tenant that a module shares, compared once."""
    pair = paired(shared_owner, Files(tmp_path_factory.mktemp("pair")))
    assert pair.compare()["status"] == "completed"
    return pair


def audited(stack: Stack, member: Member, action: str) -> list[dict[str, Any]]:
    """The details of a tenant's events, oldest first."""
    return [
        details
        for (details,) in stack.sql(
            "SELECT details FROM audit_log WHERE tenant_id = %s AND action = %s ORDER BY occurred_at",
            [member.tenant_id, action],
        )
    ]
