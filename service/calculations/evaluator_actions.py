"""The child processes that evaluate what could take long: a formula there can harm neither us nor its neighbours."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable
from pathlib import Path
from threading import Lock

import structlog

from core.confined.run import Child, ChildFailed, ChildKilled
from core.confined.wire import Limits
from service.platform.context import Resources
from service.platform.http.problem import Unavailable
from service.platform.work.compute import Compute

EVALUATING = "service.calculations.child.Evaluating"

log = structlog.get_logger()


class Evaluators:
    """A few children, each with a thread that waits for its answers; started when they are first needed.

    One that dies or runs out of time is replaced by the next call, and an order whose child was ended from outside is
    given to another one, once. Shared fairly between tenants, and bounded: past the queue's length load is shed.
    """

    def __init__(self, *, processes: int, queue: int, memory_bytes_max: int, workbooks: int, blobs: Path) -> None:
        self._memory_bytes_max = memory_bytes_max
        self._workbooks = workbooks
        self._blobs = blobs
        self._compute = Compute("evaluators", threads=processes, queue=queue)
        self._lock = Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    async def __call__(self, whose: Hashable, order: bytes, seconds_max: float) -> bytes:
        """What a child answers to a tenant's order.

        Raises:
            Unavailable: too many orders wait already, or children are ended from outside.
            ChildOutOfTime: it took longer.
            ChildFailed: the child ended without an answer.
        """
        return await self._compute(whose, self._ask_twice, order, seconds_max)

    def _ask_twice(self, order: bytes, seconds_max: float) -> bytes:
        end = time.monotonic() + seconds_max
        try:
            return self._ask(order, seconds_max)
        except ChildKilled as killed:  # nothing that the formula did
            left = end - time.monotonic()
            if left <= 0:
                raise Unavailable from killed
        try:
            return self._ask(order, left)
        except ChildKilled as killed:
            raise Unavailable from killed

    def _ask(self, order: bytes, seconds_max: float) -> bytes:
        child = self._take()
        try:
            return child.ask(order, seconds_max)
        except (ChildFailed, ChildKilled) as error:
            log.warning("evaluator.ended", error=type(error).__name__, detail=str(error))
            raise
        finally:
            self._give_back(child)

    def _take(self) -> Child:
        with self._lock:
            if self._closed:
                raise ChildFailed
            child = self._idle_child() or self._started()
            self._busy.add(child)
            return child

    def _idle_child(self) -> Child | None:
        """One that did not end while nobody looked."""
        while self._idle:
            child = self._idle.pop()
            if child.is_alive():
                return child
            child.end()
        return None

    def _started(self) -> Child:
        # An order names its workbook's files, so a child may read those of all, and nothing else that we keep.
        limits = Limits(
            parent=os.getpid(),
            memory_bytes_max=self._memory_bytes_max,
            reads=(str(self._blobs.resolve()),),
            settings={"workbooks": self._workbooks, "memory_bytes_max": self._memory_bytes_max},
        )
        return Child(EVALUATING, limits)

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


def evaluators_of(resources: Resources) -> Evaluators:
    """The evaluators of this process: there from the first call on, closed with the process."""
    return resources.once(_opened)


def _opened(resources: Resources) -> Evaluators:
    settings = resources.settings
    evaluators = Evaluators(
        processes=settings.evaluators,
        queue=settings.compute_queue,
        memory_bytes_max=settings.evaluation_memory_mb * 1024 * 1024,
        workbooks=settings.calculating_workbooks,
        blobs=resources.blobs.folder,
    )
    resources.closing.callback(evaluators.close)
    return evaluators
