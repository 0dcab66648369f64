"""The evaluating children.

Started on demand, replaced when they end, bounded, gone when the process closes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.confined.run import ChildFailed, ChildOutOfTime
from service.calculations.evaluation_actions import EvaluateOrder, encode
from service.calculations.evaluator_actions import EVALUATING, Evaluators
from service.calculations.schema import Options
from service.platform.base.problem import Unavailable
from tests.processes import children_of

TENANT = "tenant"
ENDLESS = "=SUM(SORT(RANDARRAY(5000000)))"
LONG = "=SUM(NETWORKDAYS(1,SEQUENCE(1000000),SEQUENCE(100000)))"
"""It looks at the time itself."""
WORKING_TICKS = 150
"""Hundredths of a second that a child has worked for when it is at its order: its start takes less."""
BEGUN_TICKS = 10
"""The same of a child that had nothing to do before."""
KILLER_SECONDS = 45


def order(formula: str, *, seconds: float = 5.0) -> bytes:
    return encode(
        EvaluateOrder(
            formula=formula,
            context={},
            sheet_name=None,
            options=Options(),
            debug=False,
            now=datetime(2024, 1, 1, tzinfo=UTC),
            seconds=seconds,
        )
    )


def decode_answer(answer: bytes) -> Any:
    result = msgspec.msgpack.decode(answer)
    return msgspec.json.decode(result["value"]) if result["of"] == "evaluated" else result["message"]


def children() -> set[int]:
    """The evaluating children of this process."""
    return set(children_of(os.getpid(), EVALUATING))


@pytest.fixture
def evaluators(tmp_path: Path) -> Iterator[Evaluators]:
    new_evaluators = Evaluators(processes=2, queue=2, memory_bytes_max=256 * 1024**2, workbooks=1, blobs=tmp_path)
    yield new_evaluators
    new_evaluators.close()
    assert children() == set()


def test_none_is_there_before_it_is_needed_and_one_serves_many(evaluators: Evaluators) -> None:
    async def calls() -> list[bytes]:
        return [await evaluators(TENANT, order(f"={number}+1"), 30) for number in range(20)]

    assert children() == set()
    assert [decode_answer(answer) for answer in asyncio.run(calls())] == list(range(1, 21))
    assert len(children()) == 1


def test_one_that_is_silent_too_long_is_replaced(evaluators: Evaluators) -> None:
    async def calls() -> Any:
        await evaluators(TENANT, order("=1"), 30)
        with pytest.raises(ChildOutOfTime):
            await evaluators(TENANT, order(ENDLESS, seconds=60), 0.5)
        return decode_answer(await evaluators(TENANT, order("=1+1"), 30))

    assert asyncio.run(calls()) == 2


def test_the_child_looks_at_the_time_itself(evaluators: Evaluators) -> None:
    async def calls() -> tuple[Any, Any]:
        refusal = decode_answer(await evaluators(TENANT, order(LONG, seconds=0.3), 30))
        return refusal, decode_answer(await evaluators(TENANT, order("=1+1"), 30))

    refusal, value = asyncio.run(calls())
    assert "longer than it may" in refusal
    assert value == 2


def test_one_that_took_much_memory_is_replaced(evaluators: Evaluators) -> None:
    """What it answers is right; it does not stay that large."""
    before: set[int] = set()

    async def calls() -> Any:
        await evaluators(TENANT, order("=1"), 30)
        before.update(children())
        answer = decode_answer(await evaluators(TENANT, order('=SUM(LEN(REPT("a",SEQUENCE(100000,1,32000,0))))'), 60))
        await evaluators(TENANT, order("=1"), 30)
        return answer

    assert "memory" in asyncio.run(calls())
    assert len(children()) == 1


def test_one_that_ended_meanwhile_is_not_asked(evaluators: Evaluators) -> None:
    async def calls() -> Any:
        await evaluators(TENANT, order("=1"), 30)
        (child,) = children()
        os.kill(child, signal.SIGKILL)
        await asyncio.sleep(0.2)
        return decode_answer(await evaluators(TENANT, order("=1+1"), 30))

    assert asyncio.run(calls()) == 2


def ticks(child: int) -> int:
    """How long a child has worked, in hundredths of a second."""
    state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
    return int(state[11]) + int(state[12])


def killer(times: int) -> Callable[[], None]:
    """Ends that many children, each once it works.

    A formula that holds the processor for long.

    A machine that is too busy for any to work so long fails the test: a thread without an end would hold up its loop.
    """

    before = {child: ticks(child) + BEGUN_TICKS for child in children()}

    def kill() -> None:
        ended: set[int] = set()
        end = time.monotonic() + KILLER_SECONDS
        while len(ended) < times and time.monotonic() < end:
            for child in children() - ended:
                with suppress(OSError):
                    if ticks(child) > before.get(child, WORKING_TICKS):
                        os.kill(child, signal.SIGKILL)
                        ended.add(child)
            time.sleep(0.01)

    return kill


def test_an_order_whose_child_is_killed_is_given_to_another_one(evaluators: Evaluators) -> None:
    async def calls() -> Any:
        await evaluators(TENANT, order("=1"), 30)
        killing = asyncio.ensure_future(asyncio.to_thread(killer(1)))
        answer, _ = await asyncio.gather(evaluators(TENANT, order(LONG, seconds=2), 30), killing)
        return decode_answer(answer)

    assert "longer than it may" in asyncio.run(calls())


def test_an_order_whose_children_are_killed_is_to_come_again(evaluators: Evaluators) -> None:
    """And is not told that its formula broke anything."""

    async def calls() -> None:
        await evaluators(TENANT, order("=1"), 30)
        killing = asyncio.ensure_future(asyncio.to_thread(killer(2)))
        with pytest.raises(Unavailable):
            await evaluators(TENANT, order(LONG, seconds=20), 60)
        await killing

    asyncio.run(calls())


def test_past_the_queue_load_is_shed(evaluators: Evaluators) -> None:
    async def calls() -> list[Any]:
        await asyncio.gather(*(evaluators(tenant, order("=1"), 30) for tenant in range(2)))
        many = (evaluators(tenant, order("=SUM(SEQUENCE(10000))"), 30) for tenant in range(6))
        return await asyncio.gather(*many, return_exceptions=True)

    answers = asyncio.run(calls())
    assert [type(answer) for answer in answers].count(Unavailable) == 2
    assert len(children()) == 2


def test_closing_ends_what_runs(evaluators: Evaluators) -> None:
    async def calls() -> Any:
        await evaluators(TENANT, order("=1"), 30)
        running = asyncio.ensure_future(evaluators(TENANT, order(ENDLESS, seconds=60), 60))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        await asyncio.to_thread(evaluators.close)
        with pytest.raises(ChildFailed):
            await running
        return time.monotonic() - began

    assert asyncio.run(calls()) < 30
