"""Places that several want.

In turn, half at most for each; a full room sheds the work of who has the most in it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable

import pytest

from service.platform.base.compute import Compute
from service.platform.base.fair import FairSemaphore
from service.platform.base.problem import Unavailable


class Bench:
    """Pieces of work that begin when they have a place and end when they are told to."""

    def __init__(self, places: int, *, waiting: int = 100) -> None:
        self.places = FairSemaphore(places, waiting=waiting)
        self.begun: list[str] = []
        self.shed: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *names: str) -> None:
        """Each `a1` is a piece of a's work."""
        for name in names:
            self.tasks[name] = asyncio.create_task(self._work(name))
            await settled()

    async def _work(self, name: str) -> None:
        try:
            await self.places.acquire(name[0])
        except Unavailable:
            self.shed.append(name)
        else:
            self.begun.append(name)

    async def end(self, *names: str) -> None:
        for name in names:
            self.places.release(name[0])
            await settled()


async def settled() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


def play(places: int, scene: Callable[[Bench], Awaitable[None]], *, waiting: int = 100) -> Bench:
    async def run() -> Bench:
        bench = Bench(places, waiting=waiting)
        await scene(bench)
        for task in bench.tasks.values():
            task.cancel()
        await asyncio.gather(*bench.tasks.values(), return_exceptions=True)
        return bench

    return asyncio.run(run())


@pytest.mark.parametrize(("places", "most"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_nobody_holds_more_than_half(places: int, most: int) -> None:
    async def scene(bench: Bench) -> None:
        await bench.ask(*(f"a{number}" for number in range(9)))
        assert len(bench.begun) == most
        await bench.ask("b1")
        assert ("b1" in bench.begun) == (places > 1)

    play(places, scene)


def test_those_who_wait_are_served_in_turn() -> None:
    async def scene(bench: Bench) -> None:
        await bench.ask("z1", "y1", "a1", "a2", "a3", "b1", "c1", "c2")
        assert bench.begun == ["z1", "y1"]
        await bench.end("z1")
        assert bench.begun[2:] == ["a1"]
        await bench.end("y1", "a1", "b1", "c1", "a2", "c2")

    assert play(2, scene).begun == ["z1", "y1", "a1", "b1", "c1", "a2", "c2", "a3"]


def test_a_crowd_of_one_tenant_is_one_place_ahead_of_another() -> None:
    async def scene(bench: Bench) -> None:
        await bench.ask(*(f"a{number}" for number in range(50)), "b1")
        await bench.end("a0", "a1")

    assert play(1, scene).begun == ["a0", "a1", "b1"]


def test_a_full_room_loses_the_last_of_whoever_has_the_most_in_it() -> None:
    async def scene(bench: Bench) -> None:
        await bench.ask("z1", "a1", "a2", "a3", "a4")
        assert bench.shed == []
        await bench.ask("a5")
        assert bench.shed == ["a5"]
        await bench.ask("b1", "b2")
        assert bench.shed == ["a5", "a4", "a3"]
        await bench.ask("b3")  # with it they would have more than anybody
        assert bench.shed[3:] == ["b3"]
        await bench.end("z1", "a1", "b1")

    assert play(1, scene, waiting=4).begun == ["z1", "a1", "b1", "a2"]


def test_a_caller_who_goes_leaves_no_gap() -> None:
    async def scene(bench: Bench) -> None:
        await bench.ask("z1", "a1", "b1", "c1")
        bench.tasks["a1"].cancel()  # it waits
        await settled()
        bench.tasks["b1"].cancel()  # it goes in the same moment as its turn comes
        bench.places.release("z")
        await settled()
        assert bench.begun == ["z1", "c1"]
        await bench.ask("d1")
        bench.places.release("c")
        bench.tasks["d1"].cancel()  # its turn has come, and it has not seen it yet
        await settled()
        await bench.ask("e1")

    assert play(1, scene).begun == ["z1", "c1", "e1"]


def test_who_has_waited_long_enough_goes_and_leaves_no_gap() -> None:
    async def run() -> None:
        places = FairSemaphore(1, waiting=1)
        await places.acquire("a", seconds=0.01)
        for _ in range(3):
            with pytest.raises(Unavailable):
                await places.acquire("b", seconds=0.01)
        places.release("a")
        await places.acquire("c", seconds=0.01)

    asyncio.run(run())


def test_what_a_caller_who_has_gone_began_holds_its_place_until_it_ends() -> None:
    async def scene() -> list[str]:
        compute = Compute("test", threads=2, queue=1)
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()
        seen: list[str] = []

        def wait() -> None:
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()

        first = asyncio.ensure_future(compute("a", wait))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(compute("a", seen.append, "second"))
        await compute("b", seen.append, "other")
        await asyncio.sleep(0.05)
        assert seen == ["other"]
        gate.set()
        await second
        compute.close()
        return seen

    assert asyncio.run(scene()) == ["other", "second"]


def test_threads_that_hash_are_less_urgent_than_the_process() -> None:
    """The event loop of a process that hashes goes first.

    What its other threads do is as urgent as it.
    """

    async def niceness(nice: int) -> int:
        pool = Compute("test", threads=1, queue=1, nice=nice)
        try:
            return await pool("x", lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        finally:
            pool.close()

    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert asyncio.run(niceness(0)) == own
    assert asyncio.run(niceness(3)) == min(own + 3, 19)
