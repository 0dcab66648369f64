"""Jobs over HTTP: how far one is, and to whom it is told."""

from __future__ import annotations

from uuid import uuid4

from tests.conftest import Member, Stack, wait_until
from tests.records import TAPE, small_book

JOBS = "/api/v1/jobs"
FORM = {"trustee_name": "trustee_a", "statement_date": "2026-03-31", "mapping_id": "standard_clo"}


def read(member: Member, content: bytes) -> tuple[str, str]:
    """A tape's upload: its job, and the tape."""
    answer = member.post("/api/v1/reconciliation/tapes/upload", files={"file": ("t.xlsx", content)}, data=FORM)
    assert answer.status_code == 201, answer.text
    return answer.json()["job_id"], answer.json()["tape_id"]


def test_the_job_of_a_tapes_upload_can_be_asked_for(owner: Member, stranger: Member, stack: Stack) -> None:
    job_id, tape_id = read(owner, small_book(TAPE))
    path = f"{JOBS}/{job_id}"
    lines = wait_until(
        lambda: body if (body := owner.get(path).json())["status"] == "completed" else None, what="the tape"
    )
    assert {name: value for name, value in lines.items() if not name.endswith("_at")} == {
        "job_id": job_id,
        "kind": "reconciliation.read_tape",
        "status": "completed",
        "progress": 100,
        "resource_type": "tape",
        "resource_id": tape_id,
        "failures": 0,
        "error": None,
    }
    assert lines["created_at"] <= lines["started_at"] <= lines["finished_at"]
    for member in (owner.invite("viewer"), owner.key("mappings:read")):
        assert member.get(path).json() == lines
    assert owner.get(path.replace("job_", "task_")).json() == lines | {"job_id": job_id.replace("job_", "task_")}
    for member, second in (
        (stranger, path),
        (owner, f"{JOBS}/job_{uuid4().hex}"),
        (owner, f"{JOBS}/rec_{uuid4().hex}"),
        (owner, f"{JOBS}/{job_id.upper()}"),
        (owner, f"{JOBS}/{uuid4()}"),
    ):
        answer = member.get(second)
        assert (answer.status_code, answer.json()["detail"]) == (404, "Job not found"), second


def test_one_that_waits_runs_or_failed_says_so(owner: Member, stack: Stack) -> None:
    """The states that pass too fast to be seen are held in the row."""
    job_id, tape_id = read(owner, small_book(TAPE))
    wait_until(lambda: owner.get(f"{JOBS}/{job_id}").json()["status"] == "completed", what="the tape")
    task = job_id.replace("job_", "task_")
    for status, answer, progress in (
        ("queued", "pending", 0),
        ("running", "running", None),
        ("failed", "failed", None),
    ):
        stack.sql("UPDATE jobs SET status = %s, error = 'KeyError: /srv/app' WHERE id = %s", [status, task])
        seen = owner.get(f"{JOBS}/{job_id}").json()
        assert (seen["status"], seen["progress"]) == (answer, progress)
        assert "/srv" not in str(seen), "what a program raised is for administrators"
    assert "administrators" in seen["error"]
    stack.sql("UPDATE tapes SET error_message = 'Row 7 is no loan.' WHERE id = %s", [tape_id])
    assert owner.get(f"{JOBS}/{job_id}").json()["error"] == "Row 7 is no loan."
