"""Storage is what is stored.

A small file cannot fill the disk uncounted, and what nobody needs any more is freed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import xlsxwriter

from tests.conftest import Member, Stack, wait_until

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module", autouse=True)
def _tidy(stack: Stack) -> Iterator[None]:
    """A worker that tidies every second what was left a second ago."""
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):
        yield


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook that nobody else has, and that comes to other values each time."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as written:
        sheet = written.add_worksheet("Loans")
        sheet.write_row(0, 0, ["Issuer", "Par Amount", str(uuid4())])
        for row in range(1, 400):
            sheet.write_row(row, 0, [f"Obligor {row}", 1_000_000.0])
            sheet.write_formula(row, 2, "=RAND()")
    return path


def named(stack: Stack, workbook_id: str) -> set[str]:
    """The blobs of a workbook."""
    return {
        key
        for (key,) in stack.sql(
            "SELECT content_hash FROM workbooks WHERE id = %s UNION SELECT blob_key FROM sheets WHERE workbook_id = %s",
            [workbook_id, workbook_id],
        )
    }


def stored(stack: Stack, keys: set[str]) -> dict[str, int]:
    """How many bytes each of these blobs has, where it is there."""
    paths = (stack.data_dir / "blobs" / key[:2] / key for key in keys)
    sizes = {}
    for path in paths:
        with suppress(FileNotFoundError):  # it may be freed at this moment
            sizes[path.name] = path.stat().st_size
    return sizes


def used_bytes(who: Member) -> int:
    used: float = who.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"]
    return round(used * MEGABYTE)


def is_used(who: Member, wanted: int) -> bool:
    return abs(used_bytes(who) - wanted) <= MEGABYTE / 1000


def recalculated(who: Member, result: dict[str, Any]) -> None:
    assert who.post(f"/api/v1/workbooks/{result['id']}/recalculate").status_code == 200
    assert who.parsed(result["id"])["status"] == "ready"


def test_columns_count_and_those_that_a_recalculation_replaced_are_freed(
    stack: Stack, owner: Member, book: Path
) -> None:
    result = owner.uploaded(book)
    keys = [named(stack, result["id"])]
    assert is_used(owner, sum(stored(stack, keys[0]).values()))
    for _ in range(2):
        recalculated(owner, result)
        keys.append(named(stack, result["id"]))
    replaced, present = keys[0] | keys[1], keys[2]
    gone = replaced - present
    assert len(gone) == 2
    wait_until(lambda: not stored(stack, gone), what="the freeing of the replaced columns")
    assert set(stored(stack, present)) == present
    assert is_used(owner, sum(stored(stack, present).values()))
    assert owner.get(f"/api/v1/workbooks/{result['id']}/sheets/Loans/data").json()["total_rows"] == 399


def test_a_deleted_workbook_is_freed_unless_a_run_needs_it_or_somebody_else_has_it(
    stack: Stack, owner: Member, stranger: Member, book: Path, tmp_path: Path
) -> None:
    second = tmp_path / "other.xlsx"
    with xlsxwriter.Workbook(second) as written:
        written.add_worksheet().write_row(0, 0, ["Issuer", "Par Amount", str(uuid4())])
    freed, shared = owner.uploaded(second), owner.uploaded(book)
    keys, kept = named(stack, freed["id"]), named(stack, shared["id"])
    theirs = stranger.uploaded(book)
    for who, workbook in ((owner, freed), (owner, shared)):
        assert who.delete(f"/api/v1/workbooks/{workbook['id']}").status_code == 204
    wait_until(lambda: used_bytes(owner) == 0, what="the freeing of both")
    wait_until(lambda: not stored(stack, keys), what="the removal of what is nobody's")
    assert set(stored(stack, kept)) == kept
    run = {"workbook_id": theirs["id"], "test_suite": "standard"}
    assert stranger.post("/api/v1/compliance/run", json=run).status_code == 200
    assert stranger.delete(f"/api/v1/workbooks/{theirs['id']}").status_code == 204
    marked = "SELECT count(*) FROM blobs WHERE tenant_id = %s AND left_at IS NOT NULL"
    wait_until(lambda: stack.sql(marked, [stranger.tenant_id]) == [(0,)], what="a look at what was left")
    assert set(stored(stack, kept)) == kept, "a run can be repeated from it"
    assert is_used(stranger, sum(stored(stack, kept).values()))


def test_what_is_stored_beyond_the_quota_refuses_the_next_upload(stack: Stack, owner: Member, book: Path) -> None:
    """Its columns alone are too many; the file is not."""
    result = owner.uploaded(book)
    stack.sql(
        "UPDATE blobs SET size_bytes = %s WHERE tenant_id = %s AND key IN (SELECT blob_key FROM sheets)",
        [2 * 1024**3, owner.tenant_id],
    )
    stack.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [owner.tenant_id])
    answer = owner.upload(book)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Storage limit exceeded")
    assert result["file_size"] < MEGABYTE


def test_sizes_that_were_never_kept_are_learned(stack: Stack, owner: Member, book: Path) -> None:
    """As after the upgrade of a deployment whose columns were not counted."""
    result = owner.uploaded(book)
    stack.sql("UPDATE blobs SET size_bytes = NULL WHERE tenant_id = %s", [owner.tenant_id])
    assert used_bytes(owner) == 0
    whole = sum(stored(stack, named(stack, result["id"])).values())
    wait_until(lambda: is_used(owner, whole), what="the sizes")
