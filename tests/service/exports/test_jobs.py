"""Making an export.

One winner where it is cancelled, its source whole until it is made, a reason where it fails.
"""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import xlsxwriter

from service.exports import jobs
from service.platform.work.cleanup import Cleanup
from tests.conftest import Member, Stack, wait_until
from tests.service.exports.conftest import URL, asked, downloaded, ended, made_here
from tests.simulation.test_children_that_die import running


def test_the_child_of_a_cancelled_export_ends_soon(stack: Stack, owner: Member, book_id: str) -> None:
    export = asked(owner, book_id).json()
    (child,) = wait_until(lambda: running("service.exports.child"), what="the child")
    os.kill(child, signal.SIGSTOP)  # one that would not end by itself
    assert owner.delete(f"{URL}/{export['id']}").status_code == 204
    wait_until(lambda: not running("service.exports.child"), seconds=5, what="the end of the child")
    body = owner.get(f"{URL}/{export['id']}").json()
    assert (body["status"], body["is_downloadable"], body["error_details"]) == ("cancelled", False, None)
    answer = downloaded(owner, export)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Export is not ready")
    again = owner.delete(f"{URL}/{export['id']}")
    assert (again.status_code, again.json()["detail"]) == (409, "Export has ended")
    done = "SELECT status FROM jobs WHERE arguments ->> 'export_id' = %s"
    wait_until(lambda: stack.sql(done, [export["id"]]) == [("completed",)], what="the end of the job")
    assert not list((stack.data_dir / "scratch").glob(f"{export['id']}*")), "nothing is left on the disk"


WAITING = """
    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%WITH held AS%%'
"""


@pytest.mark.parametrize("first", ["cancelled", "completed"])
def test_of_a_cancellation_and_the_completion_one_wins(
    stack: Stack, owner: Member, book_id: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Both stand at the record's lock, in this order, when it is given free."""
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 60)  # it is not looked at on the way
    before = owner.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"]

    with stack.without_worker(), ThreadPoolExecutor(2) as threads, psycopg.connect(stack.database_url) as holding:
        export_id = asked(owner, book_id).json()["id"]
        path = f"{URL}/{export_id}"
        making = threads.submit(made_here, stack, owner, export_id)
        (child,) = wait_until(lambda: running("service.exports.child"), what="the child")
        os.kill(child, signal.SIGSTOP)
        holding.execute("SELECT FROM exports WHERE id = %s FOR UPDATE", [export_id])
        if first == "completed":
            os.kill(child, signal.SIGCONT)
            wait_until(lambda: stack.sql(WAITING) == [(1,)], what="the completion at the lock")
            deleting = threads.submit(owner.delete, path)
        else:
            deleting = threads.submit(owner.delete, path)
            wait_until(lambda: stack.sql(WAITING) == [(1,)], what="the cancellation at the lock")
            os.kill(child, signal.SIGCONT)
        wait_until(lambda: stack.sql(WAITING) == [(2,)], what="both at the lock")
        holding.commit()
        making.result(30)
        answer = deleting.result(30)
    body = owner.get(path).json()
    assert body["status"] == first
    assert answer.status_code == (204 if first == "cancelled" else 409)
    assert downloaded(owner, body).status_code == (200 if first == "completed" else 409)
    after = owner.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"]
    documents = stack.sql("SELECT count(*) FROM documents WHERE tenant_id = %s", [owner.tenant_id])[0][0]
    assert (documents > 0, after > before) == (first == "completed",) * 2, "who lost has left nothing"
    text = "SELECT action FROM audit_log WHERE resource_id = %s AND action <> 'export.downloaded' ORDER BY sequence"
    assert stack.sql(text, [export_id]) == [("export.created",), (f"export.{first}",)]


def test_what_is_done_to_the_workbook_meanwhile_changes_nothing(stack: Stack, owner: Member, book_id: str) -> None:
    """Not even its deletion.

    What the export reads stays until it has ended, and then goes.
    """
    with stack.without_worker():
        export = asked(owner, book_id, "json").json()
        assert owner.delete(f"/api/v1/workbooks/{book_id}").status_code == 204

        async def tidied() -> None:
            async with stack.resources(CUSHION_STORAGE_PAUSE_SECONDS="1") as opened:
                await asyncio.sleep(1.1)
                await Cleanup(opened).round()

        asyncio.run(tidied())
    done = ended(owner, export["id"])
    assert done["status"] == "completed", done
    assert done["result_summary"]["sheets"] == ["Loans", "Totals"]
    asyncio.run(tidied())
    ((kept,),) = stack.sql("SELECT sum(size_bytes) FROM blobs WHERE tenant_id = %s", [owner.tenant_id])
    assert kept == done["file_size_bytes"]


def test_an_export_that_is_too_much_says_so(stack: Stack, owner: Member, tmp_path: Path) -> None:
    """Of the deployment's limit, and of the tenant's storage; nothing is kept of it."""
    path = tmp_path / "large.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Loans")
        for row in range(30_000):
            sheet.write_string(row, 0, uuid4().hex + "x")
    book_id = str(owner.uploaded(path)["id"])
    with stack.without_worker():
        export_id = asked(owner, book_id, "csv").json()["id"]
        made_here(stack, owner, export_id, CUSHION_MAX_EXPORT_MB="1")
        large = owner.get(f"{URL}/{export_id}").json()
    assert (large["status"], large["error_details"]) == ("failed", "The export takes more than the limit of 1 MB.")
    with stack.without_worker():
        export_id = asked(owner, book_id, "csv").json()["id"]
        stack.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [owner.tenant_id])
        stack.sql("UPDATE blobs SET size_bytes = %s WHERE tenant_id = %s", [2**30, owner.tenant_id])
    full = ended(owner, export_id)
    why = "Storage limit exceeded. The limit is 1 GB of stored files."
    assert (full["status"], full["error_details"]) == ("failed", why)
    text = "SELECT details ->> 'error' FROM audit_log WHERE resource_id = %s AND action = 'export.failed'"
    assert stack.sql(text, [export_id]) == [(why,)]
    assert stack.sql("SELECT count(*) FROM documents WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    refused = asked(owner, book_id, "csv")
    assert (refused.status_code, refused.json()["detail"]) == (403, "Storage limit exceeded")
