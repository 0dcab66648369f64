"""Whoever writes to Redis has no code run, stops no worker, starts no job that is not due, and forges no audit row."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import xlsxwriter
from redis import Redis

from service.platform.base.secrets import Vault, digest, new_id
from service.platform.clock import SystemClock
from service.platform.events.numbers import EventNumber
from service.platform.events.stream import SIGNED, STREAM, Event, Sent
from service.platform.work.jobs import QUEUES
from service.platform.work.queues import ARRIVED
from tests.conftest import Member, Stack, calls, wait_until


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


def carried(**changed: Any) -> bytes:
    answer = {"t": None, "f": "run", "a": ["7b" * 16, "task_" + "0" * 32, 1], "k": {}, "et": 0}
    return msgspec.msgpack.encode(answer | changed)


ENTRIES: dict[str, bytes] = {
    "garbage": b"\x00garbage",
    "nothing": b"",
    "huge": b"\xc7" * 4_000_000,
    "a list": msgspec.msgpack.encode([1, 2]),
    "another function": carried(f="system"),
    "a function that is no name": carried(f={}),
    "a try that is a text": carried(t="many"),
    "a moment that is none": carried(et=2**63),
    "a moment that is a text": carried(et="now"),
    "keywords": carried(k={"tenant": "x"}),
    "no tenant": carried(a=["nobody", "task", 1]),
    "arguments of other kinds": carried(a=[{}, [], "1"]),
    "a job that is nobody's": carried(),
}


def gone(redis: Redis, queue: str, names: Sequence[str | bytes]) -> bool:
    """Whether none of these stands in a queue."""
    return not any(redis.zmscore(queue, names))  # type: ignore[arg-type]


def test_what_stands_in_the_queues_is_never_run_and_stops_no_worker(
    stack: Stack, owner: Member, tmp_path: Path
) -> None:
    proof = tmp_path / "it ran"
    assert pickle.loads(pickle.dumps(Hostile(proof))) is None
    assert proof.exists(), "the payload works"
    proof.unlink()
    entries = ENTRIES | {
        "a pickle": pickle.dumps({"t": None, "f": "run", "a": (Hostile(proof),), "k": {}, "et": 0}),
        "a pickle alone": pickle.dumps(Hostile(proof)),
    }
    with Redis.from_url(stack.redis_url) as redis:
        for place, queue in enumerate(f"cushion:queue:{name}" for name in QUEUES):
            # What one worker has taken, another passes by for a while.
            names = [f"task_{place:016x}{number:016x}:1" for number in range(len(entries))]
            for name, payload in zip(names, entries.values(), strict=True):
                redis.set(f"arq:job:{name}", payload)
                redis.zadd(queue, {name: time.time() * 1000})
            redis.rpush("arq:job:task_" + "f" * 32 + ":1", "no text at all")
            redis.set("arq:retry:task_" + "e" * 32 + ":1", "no number")
            odd: dict[str | bytes, Any] = {f"task_{letter * 32}:1": 1.0 for letter in "ef"}
            odd |= {"task_" + "d" * 32 + ":1": "-inf", b"\xff\xfe": 1.0, "": 1.0}
            redis.zadd(queue, odd)
            redis.publish(ARRIVED, queue)
            value = [*names, *odd]  # beside them may stand a job of an earlier test
            wait_until(partial(gone, redis, queue, value), what=f"the end of all in {queue}")
            redis.delete("arq:retry:task_" + "e" * 32 + ":1")
            redis.set(queue, "no queue at all")
            redis.publish(ARRIVED, b"\xff" + queue.encode())
            redis.publish(ARRIVED, queue)
            wait_until(lambda queue=queue: redis.type(queue) != b"string", what=f"a queue in place of {queue}")
    assert not proof.exists(), "what stood in Redis was run"
    assert stack.worker.poll() is None, "the worker has ended"
    with xlsxwriter.Workbook(book := tmp_path / "book.xlsx") as written:
        written.add_worksheet().write(0, 0, "Par")
    assert owner.uploaded(book)["status"] == "ready"


def test_an_entry_of_the_stream_that_the_service_has_not_signed_becomes_no_audit_row(
    stack: Stack, owner: Member
) -> None:
    forged = Event(
        occurred_at=SystemClock().now(), tenant_id=UUID(owner.tenant_id), action="user.confessed", request_id="r"
    )
    raw = msgspec.json.encode(Sent(forged, EventNumber(new_id(), 1)))
    others = Vault("a secret of somebody else, and long enough").sign(SIGNED, raw)
    with Redis.from_url(stack.redis_url) as redis:
        answer = owner.post("/api/v1/calculations/evaluate", json={"formula": "=1"})
        assert answer.status_code == 200, answer.text
        for fields in (
            {"event": msgspec.json.encode(forged)},
            {"event": raw},
            {"event": raw, "signature": b""},
            {"event": raw, "signature": others},
        ):
            redis.xadd(STREAM, fields)
        wait_until(lambda: not redis.xlen(STREAM), what="an empty stream")
    assert calls(stack, owner) == 1
    assert stack.sql("SELECT FROM audit_log WHERE action = 'user.confessed'") == []


@pytest.mark.parametrize("forgery", ["made up", "of another key"])
def test_a_copy_of_a_key_in_redis_that_is_not_the_services_gives_nobody_a_right(
    stack: Stack, owner: Member, forgery: str
) -> None:
    weak, strong = owner.key("mappings:read"), owner.key("workbooks:read")
    assert strong.get("/api/v1/workbooks").status_code == 200
    assert weak.get("/api/v1/workbooks").status_code == 403

    def place(member: Member) -> str:
        return "cushion:key:" + digest(member.http.headers["X-API-Key"]).hex()

    with Redis.from_url(stack.redis_url) as redis:
        real = redis.get(place(weak))
        record = redis.get(place(strong))
        assert real is not None
        assert record is not None
        if forgery == "made up":
            record = real[:40] + real[40:].replace(b"mappings:read", b"workbooks:read")
        redis.set(place(weak), record)
        assert weak.get("/api/v1/workbooks").status_code == 403
        assert redis.get(place(weak))[40:] == real[40:], "the copy was not made anew"


def test_a_copy_of_a_tenant_in_redis_that_is_not_the_services_lifts_no_tier_and_no_suspension(
    stack: Stack, owner: Member
) -> None:
    assert owner.get("/api/v1/admin/audit-logs").status_code == 200
    name = f"cushion:tenant:{owner.tenant_id}"
    with Redis.from_url(stack.redis_url) as redis:
        enterprise = redis.hget(name, "record")
        assert enterprise is not None
        stack.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [owner.tenant_id])
        redis.delete(name)
        assert owner.get("/api/v1/admin/audit-logs").status_code == 403
        forged = enterprise[:40] + enterprise[40:].replace(b"enterprise", b"premium")
        for record in (redis.hget(name, "record").replace(b"free", b"enterprise"), forged):
            redis.hset(name, "record", record)
            assert owner.get("/api/v1/admin/audit-logs").status_code == 403
