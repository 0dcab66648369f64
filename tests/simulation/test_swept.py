"""What a killed process leaves.

Bytes that nobody names and folders that nobody works in go, and no others.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
import xlsxwriter

from tests.conftest import Member, Stack, wait_until

LOCK = 0x57414954
"""Of the database: an upload that has stored its bytes waits for it."""


@pytest.fixture(scope="module", autouse=True)
def _tidy(stack: Stack) -> Iterator[None]:
    """A worker that sweeps every second what was left a second ago."""
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):
        yield


@contextmanager
def uploads_held(stack: Stack) -> Iterator[Callable[[], None]]:
    """Uploads stand still between their bytes and their commit, until this is called."""
    stack.sql(
        f"""
        CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN NEW; END $$;
        CREATE TRIGGER held BEFORE INSERT ON blobs FOR EACH ROW EXECUTE FUNCTION held();
        """
    )
    try:
        with psycopg.connect(stack.database_url, autocommit=True) as holder:
            holder.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            yield lambda: holder.execute("SELECT pg_advisory_unlock_all()") and None
    finally:
        stack.sql("DROP TRIGGER held ON blobs; DROP FUNCTION held()")


def write_marker(path: Path) -> Path:
    """A file that nobody else has."""
    with xlsxwriter.Workbook(path) as written:
        written.add_worksheet().write_row(0, 0, ["Issuer", str(uuid4())])
    return path


def blob(stack: Stack, path: Path) -> Path:
    key = sha256(path.read_bytes()).hexdigest()
    return stack.data_dir / "blobs" / key[:2] / key


def uploads(stack: Stack) -> set[Path]:
    return set((stack.data_dir / "scratch").glob("upload-*"))


def processes_below(url: str) -> set[int]:
    """The server that listens there, and its children."""
    port = httpx.URL(url).port
    sessions: dict[int, int] = {}
    leaders = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
            sessions[int(entry.name)] = session
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it ended meanwhile
            continue
        if any(part.endswith(b"app:create") for part in command) and str(port).encode() in command:
            leaders.add(session)
    return {pid for pid, session in sessions.items() if session in leaders}


def abandoned(stack: Stack, path: Path) -> Path:
    """A file that nobody has worked on for long."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x")
    for written in (path.parent, path):
        stack.give(written)
    os.utime(path, (0, 0))
    return path


def test_a_killed_upload_leaves_neither_folder_nor_bytes_and_a_living_one_keeps_both(
    stack: Stack, owner: Member, stranger: Member, tmp_path: Path
) -> None:
    before = uploads(stack)
    killed, living = write_marker(tmp_path / "killed.xlsx"), write_marker(tmp_path / "living.xlsx")
    with ThreadPoolExecutor() as threads, uploads_held(stack) as go_on, stack.another_api(fresh=True) as url:
        client = httpx.Client(base_url=url, headers=owner.http.headers, timeout=60)
        doomed = threads.submit(
            client.post, "/api/v1/workbooks/upload", files={"file": ("a.xlsx", killed.read_bytes())}
        )
        wait_until(blob(stack, killed).exists, what="the bytes of the doomed upload")
        (left,) = uploads(stack) - before
        second = threads.submit(stranger.upload, living)
        wait_until(blob(stack, living).exists, what="the bytes of the living upload")
        (mine,) = uploads(stack) - before - {left}
        for pid in processes_below(url):
            os.kill(pid, signal.SIGKILL)
        assert isinstance(doomed.exception(20), httpx.TransportError)
        client.close()
        for path in (left, mine, blob(stack, killed), blob(stack, living)):
            os.utime(path, (0, 0))  # as old as can be
        wait_until(lambda: not left.exists(), what="the sweep of the killed one's folder")
        later = [
            abandoned(stack, stack.data_dir / "scratch" / "later"),
            abandoned(stack, stack.data_dir / "blobs" / "ff" / "later"),
        ]
        wait_until(lambda: not any(path.exists() for path in later), what="one more round")
        assert mine.exists()
        assert blob(stack, living).exists()
        go_on()
        assert second.result(30).status_code == 201
        wait_until(lambda: not blob(stack, killed).exists(), what="the sweep of the killed one's bytes")
    assert blob(stack, living).exists()
    assert owner.get("/api/v1/workbooks").json()["total"] == 0


def test_what_a_writer_of_the_store_left_half_done_goes(stack: Stack) -> None:
    shard = stack.data_dir / "blobs" / "ab"
    left, written = abandoned(stack, shard / "tmpleft"), abandoned(stack, shard / "tmpwritten")
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        wait_until(lambda: not left.exists(), what="the sweep")
        assert written.exists()
    wait_until(lambda: not written.exists(), what="its sweep once its writer is gone")


def test_nothing_is_removed_from_a_store_of_another_deployment(stack: Stack, owner: Member, tmp_path: Path) -> None:
    """As when two databases are given one bucket.

    Each finds bytes that none of its own records names.
    """
    mark = stack.data_dir / "blobs" / "deployment"
    own = mark.read_text()
    mark.write_text(str(uuid4()))
    try:
        orphan = abandoned(stack, stack.data_dir / "blobs" / "cd" / ("cd" * 32))
        book = write_marker(tmp_path / "book.xlsx")
        workbook = owner.uploaded(book)
        key = blob(stack, book).name
        checked = "SELECT checked_at > now() - interval '1 hour' FROM blobs WHERE key = %s"
        for _ in range(2):  # a round ends with the checks
            stack.sql("UPDATE blobs SET checked_at = now() - interval '1 year' WHERE key = %s", [key])
            wait_until(lambda: stack.sql(checked, [key]) == [(True,)], what="a round")
        assert workbook["status"] == "ready"
        assert orphan.exists()
    finally:
        mark.write_text(own)
    wait_until(lambda: not orphan.exists(), what="the sweep of a store of its own")
