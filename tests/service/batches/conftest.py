"""Batches of the running service."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import Member, wait_until
from tests.service.compliance.conftest import G1_DEAL, G1_LOANS, G1_NOTES, HEADER, WriteBook, g1_file, write_book  # noqa: F401 - fixtures

URL = "/api/v1/batches"
RUN = "/api/v1/compliance/run"
ENDED = ("completed", "failed", "cancelled")


def asked(member: Member, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    """Ask for a batch."""
    return member.post(URL, json=body, headers=headers)


def ended(member: Member, batch_id: str, seconds: float = 90) -> dict[str, Any]:
    """The batch once it has ended."""

    def done() -> dict[str, Any] | None:
        batch: dict[str, Any] = member.get(f"{URL}/{batch_id}").json()
        return batch if batch["status"] in ENDED else None

    batch: dict[str, Any] = wait_until(done, seconds=seconds, what="the end of the batch")
    return batch


def batched(member: Member, **body: Any) -> dict[str, Any]:
    """A batch that was asked for and has ended."""
    answer = asked(member, **body)
    assert answer.status_code == 201, answer.text
    return ended(member, answer.json()["id"])


def rows_of(member: Member, batch: dict[str, Any]) -> list[dict[str, str]]:
    """The rows of a result file in CSV."""
    answer = member.get(f"{URL}/{batch['id']}/results")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def history(member: Member, workbook_id: str) -> list[dict[str, Any]]:
    """The runs of a workbook, the newest first."""
    items: list[dict[str, Any]] = member.get(
        "/api/v1/compliance/history", params={"workbook_id": workbook_id, "page_size": 100}
    ).json()["items"]
    return items


@pytest.fixture
def book_ids(owner: Member, g1_file: Path) -> list[str]:  # noqa: F811 - a fixture
    """Three workbooks of the worked pool."""
    return [str(owner.uploaded(g1_file, name=f"Pool {number}")["id"]) for number in range(3)]


@pytest.fixture
def deal_id(owner: Member) -> str:
    """A deal without workbooks."""
    answer = owner.post("/api/v1/deals", json={"name": f"Deal {uuid4().hex[:8]}"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
