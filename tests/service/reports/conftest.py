"""Reports of the running service: asked for, waited for, opened."""

from __future__ import annotations

import io
from typing import Any

import openpyxl

from tests.conftest import Member, wait_until
from tests.service.compliance.conftest import contradicted_file, g1, g1_file, own_g1, write_book  # noqa: F401 - fixtures
from tests.service.reconciliation.conftest import files, pair, shared_pair  # noqa: F401 - fixtures

URL = "/api/v1/reports"


def run_of(who: Member, workbook: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """A compliance run."""
    answer = who.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], **asked})
    assert answer.status_code == 200, answer.text
    run: dict[str, Any] = answer.json()
    return run


def ordered(who: Member, kind: str, **body: Any) -> dict[str, Any]:
    """A report that was asked for."""
    answer = who.post(f"{URL}/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    report: dict[str, Any] = answer.json()
    return report


def ended(who: Member, report: dict[str, Any]) -> dict[str, Any]:
    """The report once nothing works on it any more."""

    def done() -> dict[str, Any] | None:
        result: dict[str, Any] = who.get(f"{URL}/{report['id']}").json()
        return None if result["status"] in ("pending", "generating") else result

    result: dict[str, Any] = wait_until(done, seconds=60, what="the report")
    return result


def create_report(who: Member, kind: str, **body: Any) -> dict[str, Any]:
    """A report, completed."""
    report = ended(who, ordered(who, kind, **body))
    assert report["status"] == "completed", report
    return report


def bytes_of(who: Member, report: dict[str, Any]) -> bytes:
    """The report's file."""
    answer = who.get(report["download_url"])
    assert answer.status_code == 200, answer.text
    assert len(answer.content) == report["file_size_bytes"]
    return answer.content


def sheets_of(who: Member, report: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each sheet of a report as .xlsx."""
    book = openpyxl.load_workbook(io.BytesIO(bytes_of(who, report)))
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
