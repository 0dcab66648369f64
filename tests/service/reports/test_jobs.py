"""What becomes of reports whose making goes wrong.

Damaged bytes, a child that ends, a report deleted meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conftest import Member, Stack
from tests.service.reconciliation.conftest import audited
from tests.service.reports.conftest import URL, bytes_of, create_report, ended, ordered, run_of


def test_what_happens_is_audited(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    run_of(owner, own_g1)
    report = create_report(owner, "compliance", workbook_id=own_g1["id"])
    bytes_of(owner, report)
    owner.get(report["download_url"], headers={"Range": "bytes=1-"})
    owner.delete(f"{URL}/{report['id']}")
    by_name = {
        name: audited(stack, owner, f"report.{name}") for name in ("created", "generated", "downloaded", "deleted")
    }
    assert {name: len(events) for name, events in by_name.items()} == dict.fromkeys(by_name, 1) | {"downloaded": 2}, (
        "the part behind the first byte is all that a reader wants"
    )
    assert by_name["created"][0]["run_id"] == report["run_id"]
    assert by_name["generated"][0] == {
        "report_type": "compliance", "format": "pdf", "size_bytes": report["file_size_bytes"], "redacted": {},
    }  # fmt: skip


def test_damaged_columns_fail_the_report_and_damaged_files_are_not_given(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    run_of(owner, own_g1)
    report = create_report(owner, "compliance", workbook_id=own_g1["id"])
    ((document,),) = stack.sql(
        "SELECT d.blob_key FROM documents d JOIN reports r ON r.document_id = d.id WHERE r.id = %s", [report["id"]]
    )
    ((columns,),) = stack.sql(
        "SELECT blob_key FROM sheets WHERE workbook_id = %s ORDER BY index LIMIT 1", [own_g1["id"]]
    )
    for key in (document, columns):
        (blob,) = (path for path in (stack.data_dir / "blobs").rglob(key) if path.is_file())
        _damage(blob)
    answer = owner.get(report["download_url"])
    assert (answer.status_code, answer.json()["detail"]) == (503, "Stored data is damaged")
    failed = ended(owner, ordered(owner, "compliance", workbook_id=own_g1["id"]))
    assert (failed["status"], failed["download_url"]) == ("failed", None)
    assert failed["error_details"] == "The stored bytes of the workbook are damaged; upload the file again."
    assert [item["error"] for item in audited(stack, owner, "report.failed")] == [failed["error_details"]]
    early = owner.get(f"{URL}/{failed['id']}/download")
    assert (early.status_code, early.json()["errors"][0]["message"]) == (409, failed["error_details"])


def _damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.chmod(0o644)
    path.write_bytes(data)


def test_a_report_that_cannot_be_made_is_told(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    """The stored run is spoiled, as no run of ours is.

    Its report says that it failed, and the worker goes on.
    """
    run = run_of(owner, own_g1)
    stack.sql("UPDATE compliance_runs SET mapping = '[]' WHERE id = %s", [run["id"]])
    failed = ended(owner, ordered(owner, "compliance", workbook_id=own_g1["id"]))
    assert failed["status"] == "failed"
    assert failed["error_details"] == (
        "The report could not be made because of a fault in the service; ask for it again."
    )
    dead = stack.sql("SELECT task_name FROM dead_letters WHERE tenant_id = %s", [owner.tenant_id])
    assert dead == [("reports.make",)]
    other_run = run_of(owner, own_g1)
    assert create_report(owner, "compliance", workbook_id=own_g1["id"], run_id=other_run["id"])["status"] == "completed"


def test_a_deleted_report_leaves_no_file(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    run_of(owner, own_g1)
    for report in [ordered(owner, "compliance", workbook_id=own_g1["id"]) for _ in range(2)]:
        assert owner.delete(f"{URL}/{report['id']}").status_code == 204
    last = create_report(owner, "compliance", workbook_id=own_g1["id"], format="xlsx")  # its turn comes behind theirs
    kept = stack.sql("SELECT name FROM documents WHERE tenant_id = %s", [owner.tenant_id])
    assert kept == [(last["filename"],)]
