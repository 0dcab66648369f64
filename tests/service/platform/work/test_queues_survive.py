"""An accepted upload is never lost.

Not when its worker is killed at work, not when Redis is flushed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
import redis
import xlsxwriter

from service.platform.work.queues import dispatch, queue_of
from tests.conftest import Member, Stack, register, wait_until

ROWS, COLUMNS = 40_000, 12


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook whose parsing takes long enough to be killed in."""
    path = tmp_path_factory.mktemp("long") / "long.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Data")
        for row in range(ROWS):
            sheet.write_row(row, 0, [row * COLUMNS + column for column in range(COLUMNS)])
    return path


@contextmanager
def worker(stack: Stack) -> Iterator[Popen[bytes]]:
    with stack.another_worker() as process:
        yield process


def ready(member: Member, workbook_id: str) -> dict[str, object]:
    result = member.parsed(workbook_id)
    assert result["status"] == "ready", result
    page = member.get(f"/api/v1/workbooks/{workbook_id}/sheets/Data/data", params={"start_row": ROWS}).json()
    assert list(page["rows"][0].values())[-1] == ROWS * COLUMNS - 1
    return result


def scratch(stack: Stack) -> list[str]:
    return [path.name for path in (stack.data_dir / "scratch").glob("parse-*")]


def test_a_worker_killed_at_work(idle: Stack, long: Path) -> None:
    """SIGKILL in the middle of a parse.

    The next worker does it again and leaves nothing of the first run.
    """
    member = register(idle.url)
    answer = member.upload(long)
    assert (answer.status_code, answer.json()["status"]) == (201, "processing")
    workbook_id = answer.json()["id"]
    with worker(idle) as first:
        wait_until(lambda: scratch(idle), what="the parse")
        first.kill()
        first.wait()
    assert idle.sql("SELECT status, failures FROM jobs WHERE tenant_id = %s", [member.tenant_id]) == [("running", 0)]
    assert member.get(f"/api/v1/workbooks/{workbook_id}").json()["status"] == "processing"
    assert member.delete(f"/api/v1/workbooks/{workbook_id}").status_code == 409
    with worker(idle):
        ready(member, workbook_id)
        jobs = idle.sql("SELECT status, failures FROM jobs WHERE tenant_id = %s", [member.tenant_id])
        assert jobs == [("completed", 1)]
        wait_until(lambda: not scratch(idle), what="an empty scratch folder")


def test_redis_flushed_while_a_job_waits_in_it(idle: Stack, long: Path) -> None:
    """The job was handed to the queue, and the queue forgets it: PostgreSQL does not."""
    member = register(idle.url)
    workbook_id = member.upload(long).json()["id"]
    assert asyncio.run(_hand_over(idle)) == 1
    ((job_id, status),) = idle.sql("SELECT id, status FROM jobs WHERE tenant_id = %s", [member.tenant_id])
    assert status == "queued"
    with redis.Redis.from_url(idle.redis_url) as client:
        assert client.zscore("cushion:queue:parse", f"{job_id}:1") is not None
        client.flushall()
    with worker(idle):
        ready(member, workbook_id)
        jobs = idle.sql("SELECT status, failures, attempt FROM jobs WHERE tenant_id = %s", [member.tenant_id])
        assert jobs == [("completed", 0, 2)]


async def _hand_over(stack: Stack) -> int:
    async with stack.resources() as shared:
        queue = queue_of(stack.redis_url)
        try:
            return await dispatch(shared, queue)
        finally:
            await queue.aclose()
