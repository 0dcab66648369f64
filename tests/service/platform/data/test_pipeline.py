"""The pipeline: commands of concurrent callers are sent together, and each gets its own answer or fault."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import ResponseError

from service.platform.data.pipeline import COMMANDS_MAX, Pipeline
from service.platform.unit.context import Resources
from tests.service.platform.conftest import Apart

COMMANDS = 400


def test_each_caller_gets_its_own_answer_and_some_share_a_write(clean: Apart) -> None:
    async def calls(shared: Resources) -> tuple[list[Any], int]:
        await shared.pipeline("SET", "before", 1)
        reads_before = int((await shared.redis.info("stats"))["total_reads_processed"])
        answers = await asyncio.gather(*(shared.pipeline("ECHO", f"call {number}") for number in range(COMMANDS)))
        reads = int((await shared.redis.info("stats"))["total_reads_processed"]) - reads_before
        return answers, reads

    answers, reads = clean.run(calls)
    assert answers == [b"call %d" % number for number in range(COMMANDS)]
    assert reads <= COMMANDS / COMMANDS_MAX + 1, "and one for what asks"


def test_an_answer_is_handed_out_while_redis_works_on_the_next_command(clean: Apart) -> None:
    async def calls(shared: Resources) -> tuple[Any, bool, Any]:
        slow, quick = shared.pipeline("BLPOP", "nothing", 1), shared.pipeline("ECHO", "quick")
        answered, waited = asyncio.ensure_future(quick), asyncio.ensure_future(slow)
        return await answered, waited.done(), await waited

    assert clean.run(calls) == (b"quick", False, None)


def test_a_refused_command_is_its_callers_alone(clean: Apart) -> None:
    async def calls(shared: Resources) -> list[Any]:
        commands = [("ECHO", "a"), ("NOSUCHCOMMAND",), ("ECHO", "b")]
        return await asyncio.gather(*(shared.pipeline(*command) for command in commands), return_exceptions=True)

    first, refused, last = clean.run(calls)
    assert (first, last) == (b"a", b"b")
    assert isinstance(refused, ResponseError)


def test_a_cancelled_caller_does_not_stop_the_others(clean: Apart) -> None:
    async def calls(shared: Resources) -> tuple[bool, Any, Any]:
        leaving = asyncio.create_task(shared.pipeline("ECHO", "leaving"))
        staying = asyncio.create_task(shared.pipeline("ECHO", "staying"))
        await asyncio.sleep(0)
        leaving.cancel()
        answer = await staying
        with pytest.raises(asyncio.CancelledError):
            await leaving
        return leaving.cancelled(), answer, await shared.pipeline("ECHO", "later")

    assert clean.run(calls) == (True, b"staying", b"later")


def test_without_redis_every_caller_hears_so_at_once(tmp_path: Path) -> None:
    async def calls() -> tuple[list[Any], list[Any]]:
        redis = Redis(unix_socket_path=str(tmp_path / "nobody.sock"))
        pipeline = Pipeline(redis)
        first = await asyncio.gather(*(pipeline("PING") for _ in range(COMMANDS)), return_exceptions=True)
        later = await asyncio.gather(pipeline("PING"), return_exceptions=True)
        await redis.aclose()
        return first, later

    begin = time.monotonic()
    first, later = asyncio.run(calls())
    assert {type(answer) for answer in (*first, *later)} == {NotConnected}
    assert time.monotonic() - begin < 30


def test_redis_that_was_gone_is_found_again(clean: Apart) -> None:
    """Every connection is cut while callers wait; who comes afterwards is served."""

    async def calls(shared: Resources) -> tuple[list[Any], Any]:
        await shared.pipeline("PING")
        blocked = asyncio.gather(
            shared.pipeline("BLPOP", "nothing", 0), *(shared.pipeline("PING") for _ in range(5)), return_exceptions=True
        )
        await asyncio.sleep(0.2)
        await shared.redis.client_kill_filter(_type="normal", skipme=True)
        return await blocked, await shared.pipeline("PING")

    waited, later = clean.run(calls)
    assert {type(answer) for answer in waited} == {NotConnected}
    assert later is True or later == b"PONG"


def test_a_command_that_cannot_be_sent_is_no_cancellation(clean: Apart) -> None:
    async def calls(shared: Resources) -> tuple[list[Any], Any]:
        refused = await asyncio.gather(shared.pipeline("ECHO", object()), return_exceptions=True)
        return refused, await shared.pipeline("ECHO", "later")

    (refused,), later = clean.run(calls)
    assert isinstance(refused, Exception)
    assert later == b"later"
