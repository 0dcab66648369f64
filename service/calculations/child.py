"""What a confined child that evaluates formulas does with its orders, and when it is to be replaced."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from core.formula.language import LimitExceeded
from core.recalc.book import Book
from service.calculations import evaluation_actions
from service.calculations.evaluation_actions import BatchOrder, TranslateOrder, ValidateOrder
from service.platform.base.lru import Lru, anonymous_bytes

T = TypeVar("T")

NO_MEMORY: Final = "the evaluation needed more memory than it may have"

LATER_SECONDS = 0.25
"""What looks at the time by itself comes first, and says more."""
AGAIN_SECONDS = 0.5
"""Somewhere in compiled code an exception may be lost; the next one is not."""


_order_of: Final = msgspec.json.Decoder(evaluation_actions.Order).decode


class OutOfTime(BaseException):
    """The time is up; no Exception, so that no function takes it for an error of its own."""


class Evaluating:
    """What the child keeps between two orders."""

    def __init__(self, *, workbooks: int, memory_bytes_max: int) -> None:
        self.books: Lru[str, Book] = Lru(most=workbooks, bytes_most=memory_bytes_max // 2)
        self._memory_bytes_kept = anonymous_bytes() + memory_bytes_max // 2
        self._armed = False
        signal.signal(signal.SIGALRM, self.ring)
        self.spoilt = False
        """Something was broken off in its midst, or memory ran out: this process answers, and ends."""

    def __call__(self, order: bytes) -> tuple[bytes, bool]:
        """Return the answer, and whether another order can follow.

        None follows where much memory stayed taken.
        """
        try:
            reply = msgspec.msgpack.encode(self._answer(order))
        except MemoryError:  # while a workbook was opened, or the answer put together
            self.spoilt = True
            reply = msgspec.msgpack.encode(evaluation_actions.Refusal(kind="LimitExceeded", message=NO_MEMORY))
        return reply, not self.spoilt and anonymous_bytes() <= self._memory_bytes_kept

    def _answer(self, order: bytes) -> evaluation_actions.Answer:
        task = _order_of(order)
        if isinstance(task, BatchOrder):
            return evaluation_actions.batch(task, self.limit)
        if isinstance(task, ValidateOrder):
            return evaluation_actions.validate(task)
        if isinstance(task, TranslateOrder):
            return evaluation_actions.translate_formula(task)
        return evaluation_actions.answer(task, self.books, self.limit)

    def limit(self, seconds: float, function: Callable[[], T]) -> T:
        """Call a function within a time and the child's memory.

        No context manager: the alarm may ring again at any step on the way out, and here that way is one frame.
        """
        try:
            try:
                self._armed = True
                signal.setitimer(signal.ITIMER_REAL, seconds + LATER_SECONDS, AGAIN_SECONDS)
                return function()
            finally:
                self._armed = False
        except OutOfTime:
            self._armed = False
            self.spoilt = True
            raise LimitExceeded(evaluation_actions.TOO_LONG) from None
        except MemoryError:
            self.spoilt = True
            raise LimitExceeded(NO_MEMORY) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def ring(self, *_: object) -> None:
        """Raise in the work; a late signal means nothing."""
        if self._armed:
            raise OutOfTime
