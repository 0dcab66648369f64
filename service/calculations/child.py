"""The child process that evaluates formulas: a program, started by `service.calculations.evaluators` only."""

from __future__ import annotations

import pickle
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from core.confined import serve
from core.formula import errors
from core.recalc.book import Book
from service.calculations import work
from service.calculations.work import BatchOrder, EvaluateOrder
from service.platform.shelf import Shelf

LATER_SECONDS = 0.25
"""What looks at the time by itself comes first, and says more."""
AGAIN_SECONDS = 0.5
"""Somewhere in compiled code an exception may be lost; the next one is not."""


class OutOfTime(BaseException):
    """The time is up; no Exception, so that no function takes it for an error of its own."""


class Evaluating:
    """What the child keeps between two orders."""

    def __init__(self, workbooks: int, memory_bytes_max: int) -> None:
        self.books: Shelf[Book] = Shelf(workbooks)
        self._memory_bytes_kept = _memory_bytes() + memory_bytes_max // 2
        self.spoilt = False
        """Something was broken off in its midst, or memory ran out: this process answers, and ends."""

    def __call__(self, order: bytes) -> tuple[bytes, bool]:
        """The answer to an order, and whether another can follow: not where much memory stayed taken."""
        # Orders come from the service that started us; answers go back as plain data, which cannot run anything there.
        asked: Any = pickle.loads(order)  # noqa: S301
        answer: work.Answer
        if isinstance(asked, BatchOrder):
            answer = work.batch(asked, self.limit)
        else:
            assert isinstance(asked, EvaluateOrder)
            try:
                answer = work.answer(asked, self.books, self.limit)
            except MemoryError:  # while a workbook was opened
                self.spoilt = True
                answer = work.Refused(kind="LimitExceeded", message=NO_MEMORY)
        told = msgspec.msgpack.encode(answer)
        return told, not self.spoilt and _memory_bytes() <= self._memory_bytes_kept

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Turn what lasts longer, or needs more memory than there is, into a LimitExceeded."""
        signal.setitimer(signal.ITIMER_REAL, seconds + LATER_SECONDS, AGAIN_SECONDS)
        try:
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except OutOfTime:
            self.spoilt = True
            raise errors.LimitExceeded(work.TOO_LONG) from None
        except MemoryError:
            self.spoilt = True
            raise errors.LimitExceeded(NO_MEMORY) from None


NO_MEMORY = "the evaluation needed more memory than it may have"


def _memory_bytes() -> int:
    """What this process holds and shares with no other; 0 where the system does not tell."""
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()


def ring(*_: object) -> None:
    """The alarm clock's signal."""
    raise OutOfTime


def main(workbooks: str, memory_bytes_max: str, parent: str) -> None:
    """Evaluate until no more orders come."""
    signal.signal(signal.SIGALRM, ring)
    serve(Evaluating(int(workbooks), int(memory_bytes_max)), memory_bytes_max, parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
