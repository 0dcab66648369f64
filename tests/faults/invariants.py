"""What must be so after every fault, however it came.

Nothing answered is lost, nothing half-done stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from psycopg import sql

from tests import forks
from tests.conftest import Member, Stack, calls, wait_until
from tests.faults.clients import Book
from tests.faults.served import Service

SETTLED_SECONDS: Final = 60.0
"""Within which all that was accepted is in a final state, and upkeep has removed what nobody needs."""
OF_THE_LIVING: Final = re.compile("blobs$|metrics-")
"""What stands in the scratch folder while a process serves: copies of blobs, and where its figures are asked."""
OPEN: Final = {
    "jobs": "status IN ('pending', 'queued', 'running')",
    "workbooks": "status IN ('processing', 'recalculating') AND deleted_at IS NULL",
    "exports": "status IN ('pending', 'processing')",
}
"""What is not in a final state."""


def settled(service: Service | Stack) -> None:
    """Every accepted job reached a final state, and so did every record that waited for one."""

    def open_records() -> list[tuple[object, ...]]:
        asked = " UNION ALL ".join(
            f"SELECT '{name}', id::text, status::text FROM {name} WHERE {is_open}" for name, is_open in OPEN.items()
        )
        return service.sql(asked)

    try:
        wait_until(lambda: not open_records(), seconds=SETTLED_SECONDS, what="the end of the work")
    except AssertionError:
        raise AssertionError(f"still open after {SETTLED_SECONDS} s: {open_records()[:20]}") from None


def kept(service: Service | Stack, book: Book) -> None:
    """Whatever was answered 2xx is in the database, with the value that was last answered; what was deleted is not."""
    wrong = []
    for table, created in book.created.items():
        statement = sql.SQL("SELECT id::text, to_jsonb(row) ->> 'deleted_at' IS NULL FROM {} AS row").format(
            sql.Identifier(table)
        )
        there = dict(service.sql(statement))  # type: ignore[arg-type]
        gone = book.deleted.get(table, set())
        wrong += [f"{table} {item} is missing" for item in created - gone - book.perhaps_deleted if not there.get(item)]
        wrong += [f"{table} {item} is not deleted" for item in gone if there.get(item)]
    values = dict(service.sql("SELECT id::text, description FROM mappings"))
    wrong += [
        f"mapping {item} is {values.get(item)!r}, not one of {sorted(may_be)}"
        for item, may_be in book.values.items()
        if values.get(item) not in may_be
    ]
    named: dict[str, list[str]] = {}
    for name, item in service.sql("SELECT name, id::text FROM scenarios"):
        named.setdefault(name, []).append(item)
    wrong += [
        f"{name!r} was made as {named.get(name)}, and answered as {item}"
        for name, item in book.once.items()
        if named.get(name) != [item]
    ]
    assert not wrong, wrong[:20]


def recorded(service: Service | Stack, book: Book) -> None:
    """Whatever was created has its entry in the audit log."""
    missing = []
    for table, created in book.created.items():
        result = {
            item
            for (item,) in service.sql(
                "SELECT DISTINCT resource_id FROM audit_log WHERE resource_id = ANY(%s)", [list(created)]
            )
        }
        missing += [f"{table} {item}" for item in created - result]
    assert not missing, f"no entry tells of {missing[:20]}"


def assert_consistent(service: Service | Stack, owners: Sequence[Member], calculations: int) -> None:
    """So many calculations of these tenants were answered, and the event of each is in the audit log."""

    def arrived() -> int:
        return calls(service, *owners)

    try:
        wait_until(lambda: arrived() >= calculations, seconds=SETTLED_SECONDS, what="the events")
    except AssertionError:
        missing = service.sql("SELECT details FROM audit_log WHERE action = 'audit.events_missing'")
        raise AssertionError(f"{arrived()} events of {calculations}; told to be missing: {missing}") from None


def chained(owners: Sequence[Member], folder: Path) -> None:
    """The chain of each tenant verifies by the command, over its export."""
    for owner in owners:
        exported = owner.get("/api/v1/admin/audit-logs/export", params={"format": "jsonl"})
        assert exported.status_code == 200, exported.text
        path = folder / f"{owner.tenant_id}.jsonl"
        path.write_bytes(exported.content)
        answer = forks.cushion("audit", path)
        assert answer.returncode == 0, answer.stdout + answer.stderr


def tidy(service: Service | Stack) -> None:
    """No stored bytes that nobody names, none missing that somebody names, nothing of a killed process."""

    def left() -> list[str]:
        store, scratch = service.data_dir / "blobs", service.data_dir / "scratch"
        named = {key for (key,) in service.sql("SELECT key FROM blobs UNION SELECT key FROM named_blobs")}
        files = {path.name: path for path in _files(store) if path.name != "deployment"}
        texts = [f"{path} is named by nobody" for name, path in files.items() if name not in named]
        texts += [f"{key} is missing" for key in named - set(files)]
        texts += [f"{path} was left" for path in scratch.iterdir() if not OF_THE_LIVING.match(path.name)]
        unfreed = service.sql("SELECT key FROM blobs WHERE key NOT IN (SELECT key FROM named_blobs)")
        return texts + [f"{key} is counted and named by nobody" for (key,) in unfreed]

    try:
        wait_until(lambda: not left(), seconds=SETTLED_SECONDS, what="upkeep")
    except AssertionError:
        raise AssertionError(f"after {SETTLED_SECONDS} s of upkeep: {left()[:20]}") from None


def whole(service: Service | Stack, book: Book, owners: Sequence[Member], folder: Path) -> None:
    """All of the above, and that no answer was one that must never be."""
    assert not book.faults, f"{len(book.faults)} faults: {book.faults[:20]}"
    settled(service)
    kept(service, book)
    recorded(service, book)
    assert_consistent(service, owners, book.calculations)
    chained(owners, folder)
    tidy(service)


def _files(folder: Path) -> Iterable[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            yield Path(place) / name
