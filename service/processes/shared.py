"""What processes lend.

Pools of confined children, and calling a function in one of them.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, ParamSpec, TypeVar, get_type_hints

import msgspec
import structlog

from core.confined.run import Child, ChildFailed, ChildKilled, ChildOutOfMemory, ChildOutOfTime
from core.confined.wire import ChildLimits, name_of
from service.platform.base.compute import Compute
from service.platform.base.problem import Fault, Problem, Unavailable
from service.platform.metrics import KERNEL_SECONDS, kernel_of
from service.platform.unit.context import Resources, Unit
from service.processes.child import READY, Call, WorkDone, order_of

__all__ = [
    "Children",
    "OutOfMemory",
    "OutOfTime",
    "calculators_of",
    "in_child",
    "run_limited_in_child",
    "start_calculators",
]

P = ParamSpec("P")
T = TypeVar("T")

Order = bytes | Sequence[bytes | memoryview]

CALCULATING: Final = "service.processes.child.Calculating"
POOL: Final = "calculators"
MEGABYTE: Final = 1024 * 1024
STARTING_SECONDS: Final = 60.0
"""In which a child must have loaded its program, however busy the machine is."""
SETTLING_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 10.0
"""Between two looks at whether a first calculator has to be started again."""
LIMITED_SECONDS: Final = 30.0
"""Ten times what the largest page of a sheet takes, and hundreds of times the longest definition or graph."""
GRACE_SECONDS: Final = 2.0
"""A child that is silent for so much longer than its work may take is ended."""

OutOfTime = ChildOutOfTime
OutOfMemory = ChildOutOfMemory

log = structlog.get_logger()


class Children:
    """A few confined children, each with a thread that waits for its answers; started when they are first needed.

    One that dies or runs out of time is replaced by the next call, and an order whose child was ended from outside is
    given to another one, once. Shared fairly between tenants, and bounded: past the queue's length load is shed.
    """

    def __init__(
        self,
        name: str,
        program: str,
        limits: ChildLimits,
        *,
        processes: int,
        queue: int,
        faults: dict[str, str] | None = None,
    ) -> None:
        """Args:
        faults: where it is said, under the name, that no child can be started.
        """
        self._name, self._program = name, program
        self._faults = {} if faults is None else faults
        self._limits = limits
        self._compute = Compute(name, threads=processes, queue=queue)
        self._lock = Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    async def __call__(self, whose: Hashable, order: Order, seconds_max: float) -> bytes:
        """Return what a child answers to a tenant's order.

        Raises:
            Unavailable: too many orders wait already, or children are ended from outside.
            ChildOutOfTime: it took longer.
            ChildFailed: the child ended without an answer.
        """
        return await self._compute(whose, self.ask, order, seconds_max)

    async def run(self, whose: Hashable, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that asks children, by `ask`, in one of their threads."""
        return await self._compute(whose, work, *args, **kwargs)

    def ask(self, order: Order, seconds_max: float) -> bytes:
        """Return a child's answer, waited for by this thread."""
        end = time.monotonic() + seconds_max
        try:
            return self._ask(order, seconds_max)
        except ChildKilled as killed:  # nothing that the order did
            seconds_left = end - time.monotonic()
            if seconds_left <= 0:
                raise Unavailable from killed
        try:
            return self._ask(order, seconds_left)
        except ChildKilled as killed:
            raise Unavailable from killed

    def _ask(self, order: Order, seconds_max: float) -> bytes:
        child = self._take()
        try:
            return child.ask(order, seconds_max)
        except (ChildFailed, ChildKilled) as error:
            log.warning("child.ended", program=self._program, error=type(error).__name__, detail=str(error))
            raise
        finally:
            self._give_back(child)

    def _take(self) -> Child:
        with self._lock:
            if self._closed:
                raise ChildFailed
            child = self._idle_child()
            if child is not None:
                self._busy.add(child)
                return child
        return self._started()

    def _started(self) -> Child:
        """Start a child that has loaded its program.

        Where it cannot, the log has its output, and `faults` says so until one starts.
        """
        child: Child | None = None
        try:
            child = Child(self._program, self._limits, keeps_errors=True)
            with self._lock:
                self._busy.add(child)
            self._prepare(child)
        except (ChildFailed, OSError) as error:
            if child is not None:
                self._give_back(child)
            if not self._closed:
                output = {} if child is None or not child.errors else {"stderr": child.errors}
                kind = type(error).__name__
                log.error("child.start_failed", program=self._program, error=kind, detail=str(error), **output)
                self._faults[self._name] = f"no child starts: {kind}"
            raise
        except BaseException:
            if child is not None:
                self._give_back(child)
            raise
        self._faults.pop(self._name, None)
        return child

    def _prepare(self, child: Child) -> None:
        """Wait until a child has loaded what functions need.

        This is no part of the time that one of them may take.
        """

    def _idle_child(self) -> Child | None:
        """Return a child that has not ended meanwhile."""
        while self._idle:
            child = self._idle.pop()
            if child.is_alive():
                return child
            child.end()
        return None

    def _give_back(self, child: Child) -> None:
        with self._lock:
            self._busy.discard(child)
            if not child.ended and not self._closed:
                self._idle.append(child)
                return
        child.end()

    def close(self) -> None:
        """End every child at once, whatever it does, and take nothing more."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.kill()
        for child in idle:
            child.end()
        self._compute.close()


class Calculators(Children):
    """Children that call functions of ours."""

    def __init__(
        self,
        *,
        processes: int,
        queue: int,
        memory_bytes_max: int,
        blobs: Path,
        faults: dict[str, str] | None = None,
    ) -> None:
        # An order may name a workbook's files, so a child may read those of all, and nothing else that we keep.
        limits = ChildLimits(
            parent=os.getpid(),
            memory_bytes_max=memory_bytes_max,
            reads=(str(blobs.resolve()),),
            settings={"memory_bytes_max": memory_bytes_max},
        )
        super().__init__(POOL, CALCULATING, limits, processes=processes, queue=queue, faults=faults)

    def _prepare(self, child: Child) -> None:
        """Wait until it has loaded what functions need, which is no part of the time that one of them may take."""
        child.ask(READY, STARTING_SECONDS)

    def call(self, call: Call) -> Any:
        """Call a function in a child from this thread; raises as `in_child`."""
        with KERNEL_SECONDS.labels(POOL, kernel_of(call.function)).time():
            answer = self.ask(order_of(call), call.seconds + GRACE_SECONDS)
        try:
            worked = _worked_of(answer)
        except msgspec.MsgspecError as error:
            raise ChildFailed("an answer that cannot be read") from error
        if worked.is_late:
            raise OutOfTime
        if worked.lacked_memory:
            raise OutOfMemory
        if worked.refused is not None:
            raise _refusal(*worked.refused)
        if worked.answer is None:
            raise ChildFailed(worked.crashed or "no answer")
        try:
            return _decoder(call.function)(worked.answer)
        except msgspec.MsgspecError as error:
            raise ChildFailed("an answer of another kind") from error

    async def start(self) -> None:
        """Have one child ready, so that nobody waits for the first one."""
        await self.run(None, self._start)

    def _start(self) -> None:
        self._give_back(self._started() if self._name in self._faults else self._take())


# Functions ------------------------------------------------------------------------------------------------------------


async def in_child(unit: Unit, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a confined child for the unit's tenant.

    The function stands in a module that imports no database and no server (an area's `child.py`, or core), and returns
    what msgspec can decode by the type in its signature. Arguments are copied, so it may change them.

    Raises:
        Problem: the function refuses what was given, by a refusal whose module it can import.
        OutOfTime: it takes longer than `seconds`.
        OutOfMemory: it needs more than the child may have.
        Unavailable: too much waits already, or children are ended from outside.
    """
    pool = calculators_of(unit.resources)
    return await pool.run(unit.tenant_key, pool.call, Call(function, args, kwargs, seconds))


async def run_limited_in_child(unit: Unit, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work in a child that its own limits keep to a second or so.

    Raises:
        Unavailable: it takes longer or needs more memory all the same, since the machine is too busy.
    """
    try:
        return await in_child(unit, LIMITED_SECONDS, function, *args, **kwargs)
    except (OutOfTime, OutOfMemory) as error:
        raise Unavailable from error


def _refusal(name: str, faults: list[Fault]) -> Exception:
    """Return the refusal of this name, if it is one of ours.

    Nothing is loaded because a child says so.
    """
    kinds: list[type[Problem]] = [Problem]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if name_of(kind) == name:
            return kind(*faults)
    return ChildFailed(f"an unknown refusal: {name[:200]}")


_worked_of = msgspec.msgpack.Decoder(WorkDone).decode


@cache
def _decoder(function: Callable[..., Any]) -> Callable[[bytes], Any]:
    return msgspec.msgpack.Decoder(get_type_hints(function, include_extras=True)["return"]).decode


def calculators_of(resources: Resources) -> Calculators:
    """Return the calculators of this process, closed with it."""
    return resources.once(_open)


def _open(resources: Resources) -> Calculators:
    settings = resources.settings
    calculators = Calculators(
        processes=settings.calculators,
        queue=settings.compute_queue,
        memory_bytes_max=settings.calculator_memory_mb * MEGABYTE,
        blobs=resources.blobs.folder,
        faults=resources.faults,
    )
    resources.closing.callback(calculators.close)
    return calculators


async def start_calculators(resources: Resources) -> None:
    """Start the first calculator once the process has settled.

    It takes a second of a processor. Try again while none starts, which readiness says.
    """
    await asyncio.sleep(SETTLING_SECONDS)
    has_started = False
    while True:
        if not has_started or POOL in resources.faults:
            try:
                await calculators_of(resources).start()
                has_started = True
            except (Unavailable, ChildFailed, OSError) as error:  # the next call tries again, too
                log.warning("calculators.start_failed", error=type(error).__name__, detail=str(error))
        await asyncio.sleep(AGAIN_SECONDS)
