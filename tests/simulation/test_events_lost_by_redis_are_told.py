"""What Redis loses of the events that were answered for stands in the audit log as missing, by its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redis import Redis

from service.commands.audit import audit
from service.platform.events.stream import STREAM
from tests.conftest import Member, Stack, calls, register, wait_until
from tests.redis_server import redis_server

FAST = {"CUSHION_EVENT_GAP_SECONDS": "2"}


def evaluate(member: Member, times: int) -> None:
    for number in range(times):
        answer = member.post("/api/v1/calculations/evaluate", json={"formula": f"={number}"})
        assert answer.status_code == 200, answer.text


def notices(stack: Stack, member: Member) -> list[dict[str, Any]]:
    result = stack.sql(
        "SELECT details FROM audit_log WHERE tenant_id = %s AND action = 'audit.events_missing' ORDER BY sequence",
        [member.tenant_id],
    )
    return [details for (details,) in result]


def test_a_flush_of_redis_leaves_an_entry_that_says_which_events_are_missing(stack: Stack, tmp_path: Path) -> None:
    """Lost in the midst of others, lost last of all, and not lost."""
    with (
        redis_server() as redis,
        Redis.from_url(redis.url) as client,
        stack.another_api(CUSHION_REDIS_URL=redis.url, **FAST) as url,
    ):
        midst, last, whole = (register(url) for _ in range(3))
        with stack.another_worker(CUSHION_REDIS_URL=redis.url, **FAST):
            evaluate(midst, 20)
            wait_until(lambda: calls(stack, midst) == 20, what="the first events")
        evaluate(midst, 39)
        evaluate(last, 7)
        assert client.xlen(STREAM) == 46
        client.flushall()
        evaluate(midst, 30)
        evaluate(whole, 5)
        with stack.another_worker(CUSHION_REDIS_URL=redis.url, **FAST):
            wait_until(lambda: notices(stack, midst) and notices(stack, last), seconds=40, what="the missing events")
            assert notices(stack, midst) == [{"missing": 39, "gaps": [[21, 59]]}]
            assert notices(stack, last) == [{"missing": 7, "gaps": [[1, 7]]}]
            assert notices(stack, whole) == []
            assert [calls(stack, member) for member in (midst, last, whole)] == [50, 0, 5]
        for member in (midst, last, whole):
            export = tmp_path / member.tenant_id
            export.write_bytes(member.get("/api/v1/admin/audit-logs/export", params={"format": "jsonl"}).content)
            assert not audit(export), "the chain is broken"
