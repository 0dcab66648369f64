"""The lane: commands of concurrent callers share round trips, and each gets its own answer or fault."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.exceptions import ResponseError

from service.platform.context import Resources
from service.platform.lane import TOGETHER_MOST
from tests.service.platform.conftest import Apart


def test_each_caller_gets_its_own_answer_in_few_round_trips(clean: Apart) -> None:
    count = 3 * TOGETHER_MOST

    async def calls(shared: Resources) -> tuple[list[Any], int]:
        await shared.lane("SET", "before", 1)
        reads_before = int((await shared.redis.info("stats"))["total_reads_processed"])
        answers = await asyncio.gather(*(shared.lane("ECHO", f"call {number}") for number in range(count)))
        reads = int((await shared.redis.info("stats"))["total_reads_processed"]) - reads_before
        return answers, reads

    answers, reads = clean.run(calls)
    assert answers == [b"call %d" % number for number in range(count)]
    assert reads < count / 10


def test_a_refused_command_is_its_callers_alone(clean: Apart) -> None:
    async def calls(shared: Resources) -> list[Any]:
        commands = [("ECHO", "a"), ("NOSUCHCOMMAND",), ("ECHO", "b")]
        return await asyncio.gather(*(shared.lane(*command) for command in commands), return_exceptions=True)

    first, refused, last = clean.run(calls)
    assert (first, last) == (b"a", b"b")
    assert isinstance(refused, ResponseError)


def test_a_cancelled_caller_does_not_stop_the_others(clean: Apart) -> None:
    async def calls(shared: Resources) -> tuple[bool, Any, Any]:
        leaving = asyncio.create_task(shared.lane("ECHO", "leaving"))
        staying = asyncio.create_task(shared.lane("ECHO", "staying"))
        await asyncio.sleep(0)
        leaving.cancel()
        answer = await staying
        with pytest.raises(asyncio.CancelledError):
            await leaving
        return leaving.cancelled(), answer, await shared.lane("ECHO", "later")

    assert clean.run(calls) == (True, b"staying", b"later")
