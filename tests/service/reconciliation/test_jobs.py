"""Work on tapes that goes wrong.

A killed worker, a file that is gone; nothing stays in processing for ever.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from core.generate import generate, generate_tape
from service.reconciliation.issue_store import LOCK_PAIR
from tests.conftest import Member, Stack, register, wait_until
from tests.service.reconciliation.conftest import BASE, TAPE, Files, Pair, ask, ended, paired, processed, send

LOANS = 3_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tape and a book.

    A lock keeps work on them from its end, so it can be killed in the middle.
    """
    folder = tmp_path_factory.mktemp("long")
    tape = generate_tape(generate(loans=LOANS, seed=1), "trustee_b", 1)
    tape.write(folder / "tape.xlsx")
    tape.deal.write(folder / "book.xlsx")
    return folder


def scratch(stack: Stack, prefix: str) -> list[str]:
    return [path.name for path in (stack.data_dir / "scratch").glob(f"{prefix}*")]


def begun(stack: Stack, prefix: str, holding: psycopg.Connection[Any]) -> bool:
    """Whether a run is in the middle of its work, or waits for the lock that keeps it from its end."""
    waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"
    return bool(scratch(stack, prefix)) or stack.sql(waits, [holding.info.backend_pid]) == [(True,)]


def lose(stack: Stack, key: str) -> None:
    (stack.data_dir / "blobs" / key[:2] / key).unlink()


def test_a_worker_killed_while_it_reads_and_compares(idle: Stack, long: Path) -> None:
    """SIGKILL in the middle of each.

    The next worker does it again, once, and leaves nothing of the first run.
    """
    member = register(idle.url)
    answer = send(member, long / "tape.xlsx", trustee_name="trustee_b")
    tape_id = answer.json()["tape_id"]
    with idle.another_worker() as first, psycopg.connect(idle.database_url) as holding:
        holding.execute("SELECT FROM tapes WHERE id = %s FOR UPDATE", [tape_id])
        wait_until(lambda: begun(idle, "tape_", holding), seconds=60, what="the reading")
        first.kill()
        first.wait()
    assert member.get(f"{BASE}/tapes/{tape_id}").json()["processing_status"] == "processing"
    with idle.another_worker() as second:
        assert processed(member, tape_id)["loan_count"] > LOANS * 0.99
        book = member.uploaded(long / "book.xlsx")
        with psycopg.connect(idle.database_url) as holding:
            holding.execute(LOCK_PAIR, {"tape_id": tape_id, "workbook_id": book["id"]})
            job_id = ask(member, tape_id, book["id"]).json()["job_id"]
            wait_until(lambda: begun(idle, "rec_", holding), seconds=60, what="the comparison")
            second.kill()
            second.wait()
    assert member.get(f"{BASE}/compare/{job_id}/status").json()["status"] == "processing"
    with idle.another_worker():
        job = ended(member, job_id)
        assert job["status"] == "completed", job
        result = job["summary"]["issues_found"]
        total = member.get(f"{BASE}/issues/summary", params={"tape_id": tape_id}).json()["total"]
        assert total == result > 0
        wait_until(lambda: not scratch(idle, "rec_") + scratch(idle, "tape_"), what="an empty scratch folder")
    assert idle.sql(
        "SELECT status, failures FROM jobs WHERE tenant_id = %s ORDER BY created_at", [member.tenant_id]
    ) == [("completed", 1), ("completed", 0), ("completed", 1)]


def test_work_that_is_given_up_leaves_nothing(idle: Stack, tmp_path: Path) -> None:
    """Each of its runs was killed.

    The last one's folder is there, and nobody runs it again.
    """
    with idle.another_worker():
        pair: Pair = paired(register(idle.url), Files(tmp_path))
        job_id = pair.compare()["job_id"]
    work = {"read_tape": ("tapes", "processing_status", pair.tape_id), "compare": ("reconciliations", "status", job_id)}
    for name, (table, status, record) in work.items():
        left = idle.data_dir / "scratch" / f"{record}-killed"
        left.mkdir()
        idle.give(left)
        idle.sql(f"UPDATE {table} SET {status} = 'processing' WHERE id = %s", [record])
        idle.sql(
            """
            INSERT INTO jobs (tenant_id, id, queue, name, arguments, failures)
            VALUES (%s, %s, 'calculate', %s, jsonb_build_object(%s::text, %s::text), 3)
            """,
            [
                pair.member.tenant_id,
                f"task_{uuid4().hex}",
                f"reconciliation.{name}",
                {"read_tape": "tape_id", "compare": "job_id"}[name],
                record,
            ],
        )
    with idle.another_worker():
        assert processed(pair.member, pair.tape_id)["processing_status"] == "failed"
        assert ended(pair.member, job_id)["status"] == "failed"
    assert not scratch(idle, pair.tape_id) + scratch(idle, job_id)


def test_a_tape_whose_file_is_gone_fails_past_its_retries(idle: Stack, tmp_path: Path) -> None:
    member = register(idle.url)
    tape_id = send(member, Files(tmp_path).write(TAPE)).json()["tape_id"]
    ((key,),) = idle.sql("SELECT content_hash FROM tapes WHERE id = %s", [tape_id])
    lose(idle, key)
    with idle.another_worker():
        tape = processed(member, tape_id)
    assert tape["processing_status"] == "failed"
    assert tape["error_message"] == ("The stored bytes of the tape are damaged; upload the file again.")
    assert ("reconciliation.read_tape", 0) in dead_letters(idle, member)
    assert events(idle, member, "tape.reading_failed") == [(tape_id, {"error": tape["error_message"]})]


def test_a_comparison_whose_loans_are_gone_fails_past_its_retries(idle: Stack, tmp_path: Path) -> None:
    with idle.another_worker():
        pair: Pair = paired(register(idle.url), Files(tmp_path))
        ((key,),) = idle.sql("SELECT loans_key FROM tapes WHERE id = %s", [pair.tape_id])
        lose(idle, key)
        job = pair.compare()
    assert (job["status"], job["summary"]) == ("failed", None)
    assert job["error_message"] == ("The stored bytes of the tape or the workbook are damaged; upload the file again.")
    assert ("reconciliation.compare", 0) in dead_letters(idle, pair.member)
    assert events(idle, pair.member, "reconciliation.failed") == [(job["job_id"], {"error": job["error_message"]})]
    assert pair.issues() == []


def test_how_a_child_broke_off_stands_in_the_log(
    idle: Stack, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its user reads that it stopped; whoever runs the service reads where."""
    with idle.another_worker():
        pair: Pair = paired(register(idle.url), Files(tmp_path))
        key = hashlib.sha256(b"no loans").hexdigest()
        path = idle.data_dir / "blobs" / key[:2] / key
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"no loans")
        for written in (path.parent, path):
            idle.give(written)
        idle.sql("UPDATE tapes SET loans_key = %s WHERE id = %s", [key, pair.tape_id])
        job = pair.compare()
    assert (job["status"], job["error_message"]) == ("failed", "Comparing stopped before its end.")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line["event"] == "refused"]
    assert (line["refusal"], line["cause"], line["level"]) == (job["error_message"], "ChildFailed", "warning")
    assert line["detail"].startswith("CodecError < codec.py:")
    assert line["job"] == "reconciliation.compare"


def dead_letters(stack: Stack, member: Member) -> list[tuple[str, int]]:
    rows = stack.sql("SELECT task_name, retries_attempted FROM dead_letters WHERE tenant_id = %s", [member.tenant_id])
    return [(str(name), int(retries)) for name, retries in rows]


def events(stack: Stack, member: Member, action: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT resource_id, details FROM audit_log WHERE tenant_id = %s AND action = %s", [member.tenant_id, action]
    )
