"""Backups made of a service at work, restored beside it, and refused where a part of them is not as it was written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psycopg
import pytest

from core.generate import generate
from service.platform.data.migrations import FIRST_SCHEMA_END, load_earlier, load_scripts
from tests.conftest import Member, register, wait_until
from tests.faults.served import ROOT, Service, served, small_disk
from tests.service.compliance.conftest import WriteBook, g1_file, write_book  # noqa: F401 - fixtures

COMMAND = [sys.executable, "-m", "service.commands.cli"]
RECORDS = (
    "/api/v1/workbooks?page_size=100", "/api/v1/compliance/history?page_size=100", "/api/v1/deals",
    "/api/v1/admin/users", "/api/v1/admin/compliance/stream-profiles", "/api/v1/webhooks",
)  # fmt: skip


def command(*arguments: str | Path, code: int = 0, **environment: str) -> str:
    """A command line to its end, which must be this one; what it said."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT, env=own | environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Backed(NamedTuple):
    """A service with a folder of backups of it."""

    service: Service
    owner: Member
    folder: Path

    @property
    def newest(self) -> Path:
        return sorted(self.folder.glob("2*Z"))[-1]

    def begin(self) -> subprocess.Popen[bytes]:
        """A backup on its way."""
        environment = os.environ | {"CUSHION_DATA_DIR": str(self.service.data_dir)}
        return subprocess.Popen([*COMMAND, "backup", str(self.folder)], cwd=ROOT, env=environment)

    def back_up(self, *options: str, code: int = 0) -> str:
        return command("backup", self.folder, *options, code=code, CUSHION_DATA_DIR=str(self.service.data_dir))


@contextmanager
def at_work(owner: Member, path: Path) -> Iterator[None]:
    """Somebody uploads and runs meanwhile."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            book = owner.uploaded(path)
            assert owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"]}).status_code == 200
            owner.delete(f"/api/v1/workbooks/{owner.uploaded(path)['id']}")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture(scope="module")
def backed(g1_file: Path) -> Iterator[Backed]:  # noqa: F811
    """A service of which two backups were made, the first while it worked."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-backups-"))
    try:
        with served(CUSHION_DEFAULT_TIER="enterprise") as service:
            owner = register(service.url)
            deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()
            book = owner.uploaded(g1_file, deal_id=deal["id"])
            owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_suite": "enhanced"})
            assert owner.post(RECORDS[-2], json={"stream_key": "deal:internal:backed"}).status_code == 201
            hook = {"url": "https://example.com/hook", "events": ["workbook.uploaded"], "enabled": False}
            assert owner.post("/api/v1/webhooks", json=hook).status_code == 201
            backed = Backed(service, owner, folder)
            with at_work(owner, g1_file):
                answer = backed.back_up("--with-secrets")
            assert "files" in answer
            yield backed
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def place() -> Iterator[Path]:
    """Where a data folder is to be."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-restored-"))
    folder.chmod(0o755)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _last(record: dict[str, Any]) -> datetime:
    """When a record was changed last."""
    names = ("updated_at", "executed_at", "created_at")
    return datetime.fromisoformat(next(record[name] for name in names if record.get(name)))


def test_a_copy_beside_the_running_service_has_every_record(backed: Backed) -> None:
    """Restored from the backup that was made under load, while the service that it is of still runs."""
    with place() as data_dir:
        answer = command("restore", backed.folder, CUSHION_DATA_DIR=str(data_dir))
        assert "1 audit chain is whole" in answer
        assert "webhooks and alerts wait" in answer
        assert "reproduced" in command("lookback", "verify", CUSHION_DATA_DIR=str(data_dir))
        with (
            served(folder=data_dir.parent, CUSHION_DEFAULT_TIER="enterprise") as copy,
            httpx.Client(base_url=copy.url, headers=backed.owner.http.headers) as there,
        ):
            made_at = datetime.fromisoformat(json.loads((backed.newest / "manifest.json").read_text())["made_at"])
            seen = 0
            for path in RECORDS:
                was, now = backed.owner.get(path).json(), there.get(path).json()
                before, after = ({item["id"]: item for item in each["items"]} for each in (was, now))
                # What was under way at that moment went on in both, and some of it was deleted in one.
                changed = {name: max(_last(before[name]), _last(after[name])) for name in before.keys() & after.keys()}
                settled = [name for name, moment in changed.items() if moment < made_at]
                assert settled, path
                assert [before[name] for name in settled] == [after[name] for name in settled], path
                seen += len(settled)
                for entry in (after[name] for name in settled):
                    if path.startswith("/api/v1/workbooks"):
                        below = f"/api/v1/workbooks/{entry['id']}"
                        sheet = f"{below}/sheets/{there.get(below).json()['sheets'][0]['id']}/data"
                        assert there.get(sheet).content == backed.owner.get(sheet).content
            assert seen >= 6
            assert copy.sql("SELECT flags -> 'webhooks' -> 'enabled' FROM switches") == [(False,)]
            assert copy.sql("SELECT id FROM deployment") != backed.service.sql("SELECT id FROM deployment")


def test_a_further_backup_copies_what_is_new_and_older_ones_go(backed: Backed, g1_file: Path) -> None:  # noqa: F811
    first = backed.newest
    waiting = "SELECT 1 FROM jobs WHERE status IN ('pending', 'queued', 'running')"
    wait_until(lambda: not backed.service.sql(waiting), what="the end of what was begun")  # files come by jobs, too
    answer = backed.back_up("--with-secrets")
    assert "files" in answer
    assert "(0 copied)" in backed.back_up("--with-secrets", "--keep", "1")
    assert not first.exists()
    assert len(list(backed.folder.glob("2*Z"))) == 1
    with place() as data_dir:
        command("restore", backed.folder, CUSHION_DATA_DIR=str(data_dir))


def test_what_a_killed_backup_left_goes_with_the_next_one(backed: Backed, tmp_path: Path) -> None:
    folder = backed._replace(folder=tmp_path / "backups")
    pool = folder.folder / "blobs"
    killed = folder.begin()
    while not any(pool.glob("*/*")):
        assert killed.poll() is None
    killed.kill()
    killed.wait()
    assert list(folder.folder.glob("2*Z")) == []
    stray = next(pool.glob("*/*")).with_name("0" * 64)  # of a workbook that is gone by the next time
    stray.write_bytes(b"x")
    folder.back_up()
    assert {path.name for path in folder.folder.iterdir()} == {".lock", "blobs", folder.newest.name}
    named = {line.split()[0] for line in (folder.newest / "blobs.txt").read_text().splitlines()}
    assert {path.name for path in pool.glob("*/*")} == named


def test_a_file_that_is_freed_meanwhile_is_in_the_backup(backed: Backed, tmp_path: Path) -> None:
    """The dump waits for a lock.

    Meanwhile nothing names the file any more that its snapshot does.
    """
    path = tmp_path / "own.xlsx"
    generate(loans=200, seed=16).write(path)
    book = backed.owner.uploaded(path)
    key = hashlib.sha256(path.read_bytes()).hexdigest()
    with psycopg.connect(backed.service.database_url) as connection:
        connection.execute("LOCK TABLE insight_sessions")
        running = backed.begin()
        waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock'"
        wait_until(lambda: backed.service.sql(waits), what="the dump")
        assert backed.owner.delete(f"/api/v1/workbooks/{book['id']}").status_code == 204
        left = "SELECT 1 FROM blobs WHERE key = %s"
        wait_until(lambda: not backed.service.sql(left, [key]), seconds=40, what="the cleaning")
    assert running.wait(60) == 0
    assert key in (backed.newest / "blobs.txt").read_text()


def test_what_is_not_as_it_was_written_is_refused_and_nothing_stays(backed: Backed) -> None:
    backed.back_up("--with-secrets", "--keep", "1")  # no older one is fallen back upon, and it names every file
    newest = backed.newest
    blob = next((backed.folder / "blobs").glob("*/*"))
    manifest = json.loads((newest / "manifest.json").read_text())

    def altered(path: Path, content: bytes | None) -> Callable[[], Callable[[], Any]]:
        def do() -> Callable[[], Any]:
            was = path.read_bytes()
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content)
            return lambda: path.write_bytes(was)

        return do

    newer = json.dumps(manifest | {"migrations": [*manifest["migrations"], "9999_later.sql"]}).encode()
    early = json.dumps(manifest | {"migrations": list(load_earlier())[:-1]}).encode()
    dump = (newest / "database.dump").read_bytes()
    rows = [
        (altered(newest / "database.dump", dump[: len(dump) // 2]), "database.dump is missing, short or altered"),
        (altered(blob, None), "is missing, short or altered"),
        (altered(blob, b"x"), "is missing, short or altered"),
        (altered(newest / "manifest.json", newer), "9999_later.sql, which this version does not know"),
        (altered(newest / "manifest.json", early), "some of the early migrations"),
        (altered(newest / "manifest.json", b"{"), "is no manifest"),
        (altered(newest / "manifest.json", None), "has no backup"),
    ]
    with place() as data_dir:
        wrong = []
        for alter, reason in rows:
            restore = alter()
            answer = command("restore", backed.folder, code=2, CUSHION_DATA_DIR=str(data_dir))
            restore()
            if reason not in answer or data_dir.exists():
                wrong.append((reason, answer))
        assert wrong == []
    own = str(backed.service.data_dir)
    assert "is not empty" in command("restore", backed.folder, code=2, CUSHION_DATA_DIR=own)


LATER_UNDONE = "DROP TABLE batch_items, batches; DROP FUNCTION watch_batch_alerts CASCADE; DROP TRIGGER {} ON audit_log"
"""Takes away what the migrations behind the first schema made, but for the bodies of functions."""


def test_a_backup_with_exactly_the_early_migrations_is_restored(backed: Backed, tmp_path: Path) -> None:
    service = backed.service
    owner = service.sql("SELECT tableowner FROM pg_tables WHERE tablename = 'tenants'")[0][0]
    later = "".join(script for name, script in load_scripts().items() if name > FIRST_SCHEMA_END)
    service.sql(LATER_UNDONE.format("audit_log_batch_webhooks"))
    was = service.sql("DELETE FROM migrations RETURNING name, digest")
    add = "INSERT INTO migrations (name, digest) SELECT * FROM unnest(%s::text[], %s::text[])"
    try:
        service.sql(add, [list(load_earlier()), list(load_earlier().values())])
        backed._replace(folder=tmp_path / "early").back_up("--with-secrets")
    finally:
        service.sql("DELETE FROM migrations")
        service.sql(add, [[name for name, _ in was], [digest for _, digest in was]])
        service.sql(f"BEGIN; SET LOCAL ROLE {owner}; {later} COMMIT")
    with place() as data_dir:
        message = command("restore", tmp_path / "early", CUSHION_DATA_DIR=str(data_dir))
        assert "1 audit chain is whole" in message
        with served(folder=data_dir.parent, CUSHION_DEFAULT_TIER="enterprise") as copy:
            assert sorted(copy.sql("SELECT name, digest FROM migrations")) == sorted(was)
            assert copy.sql("SELECT count(*) FROM batches") == [(0,)]


def test_a_full_disk_leaves_nothing_behind(backed: Backed) -> None:
    with small_disk("100k") as small:
        answer = command("backup", small / "backups", code=2, CUSHION_DATA_DIR=str(backed.service.data_dir))
        assert "No space left" in answer or "disk" in answer, answer
        assert [path for path in (small / "backups").rglob("*") if path.is_file() and path.name != ".lock"] == []


def test_a_missing_file_of_the_service_is_told(backed: Backed) -> None:
    """A backup without it would be none.

    The next one is made where the service knows that it is damaged.
    """
    key = backed.service.sql("SELECT blob_key FROM evidence_sheets LIMIT 1")[0][0]
    path = backed.service.data_dir / "blobs" / key[:2] / key
    away = backed.service.data_dir.parent / "away"  # where no clean-up looks
    pool = backed.folder / "blobs" / key[:2] / key
    pool.unlink()
    before = sorted(backed.folder.glob("*"))
    os.rename(path, away)
    try:
        assert key in backed.back_up(code=2)
        assert sorted(backed.folder.glob("*")) == before
    finally:
        os.rename(away, path)
    assert "without the secret key" in backed.back_up()


def test_a_mark_alone_leaves_no_file_out(backed: Backed) -> None:
    """One tenant's row says damaged, the bytes are right.

    They are in the backup, and the restored row is unmarked.
    """
    key = backed.service.sql("SELECT blob_key FROM evidence_sheets LIMIT 1")[0][0]
    (backed.folder / "blobs" / key[:2] / key).unlink()
    backed.service.sql("UPDATE blobs SET damaged_at = now() WHERE key = %s", [key])
    assert "left out" not in backed.back_up("--with-secrets")
    assert key in (backed.newest / "blobs.txt").read_text()
    with place() as data_dir:
        assert "1 audit chain is whole" in command("restore", backed.folder, CUSHION_DATA_DIR=str(data_dir))
        with served(folder=data_dir.parent, CUSHION_DEFAULT_TIER="enterprise") as copy:
            assert copy.sql("SELECT count(*) FROM blobs WHERE damaged_at IS NOT NULL") == [(0,)]


def test_a_file_that_is_mended_for_one_tenant_is_mended_for_all(backed: Backed, write_book: WriteBook) -> None:  # noqa: F811
    path = write_book("shared", Holdings=[["Issuer", "Par Amount"], ["Alder", 1_234_567.0]])
    second = register(backed.service.url)
    book = backed.owner.uploaded(path)
    second.uploaded(path)
    ((key,),) = backed.service.sql("SELECT content_hash FROM workbooks WHERE id = %s", [book["id"]])
    stored = backed.service.data_dir / "blobs" / key[:2] / key
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-1])
    backed.service.sql("UPDATE blobs SET damaged_at = now() WHERE key = %s", [key])
    second.uploaded(path)
    assert stored.read_bytes() == whole
    assert backed.service.sql("SELECT damaged_at FROM blobs WHERE key = %s", [key]) == [(None,), (None,)]


def test_what_is_left_out_is_named_and_the_exit_code_says_so(backed: Backed, write_book: WriteBook) -> None:  # noqa: F811
    path = write_book("lost", Holdings=[["Issuer", "Par Amount"], ["Alder", 7_654_321.0]])
    book = backed.owner.uploaded(path)
    ((key,),) = backed.service.sql("SELECT content_hash FROM workbooks WHERE id = %s", [book["id"]])
    stored = backed.service.data_dir / "blobs" / key[:2] / key
    stored.write_bytes(stored.read_bytes()[:-1])
    backed.service.sql("UPDATE blobs SET damaged_at = now() WHERE key = %s", [key])
    output = backed.back_up("--with-secrets", code=1)
    assert ("1 file is left out" in output, key in output) == (True, True)
    assert json.loads((backed.newest / "manifest.json").read_text())["damaged"] == [key]
    with place() as data_dir:
        output = command("restore", backed.folder, code=1, CUSHION_DATA_DIR=str(data_dir))
        assert ("1 file is missing" in output, key in output) == (True, True)
    backed.owner.uploaded(path)
    assert "left out" not in backed.back_up()
