"""Threads that share work out.

Kernels run outside the interpreter's lock, so that several go on at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, Final, TypeVar

from core.confined import here

T = TypeVar("T")

THREADS_MAX: Final = 4
"""Threads of one piece of work that asks for as many as pay."""


class Threads:
    """Some threads, of which the caller's is one.

    What is asked of them comes in the order in which it was asked for, however many they are: work that does not meddle
    with other work gives the same answers.
    """

    def __init__(self, count: int, others: ThreadPoolExecutor) -> None:
        self.count = count
        self._others = others

    def map(self, work: Callable[..., T], *columns: Iterable[Any]) -> list[T]:
        """Like the built-in one."""
        calls = list(zip(*columns, strict=True))
        answers: dict[int, T] = {}
        left = iter(range(len(calls)))

        def share() -> None:
            for place in left:  # the next one that no thread has taken
                answers[place] = work(*calls[place])

        others = [self._others.submit(copy_context().run, share) for _ in range(1, min(self.count, len(calls)))]
        share()
        for future in others:
            future.result()
        return [answers[place] for place in range(len(calls))]

    def both(self, work: Callable[..., T], *pairs: tuple[Any, Any]) -> tuple[T, T]:
        """`map` for the two sides of a comparison."""
        first, second = self.map(work, *pairs)
        return first, second

    def shares(self, count: int) -> tuple[list[int], list[int]]:
        """Where the shares of so many things begin and end, one for each thread."""
        bounds = [count * share // self.count for share in range(self.count + 1)]
        return bounds[:-1], bounds[1:]


@contextmanager
def working(count: int) -> Iterator[Threads]:
    """So many threads, which end with the context."""
    with ThreadPoolExecutor(max(count - 1, 1)) as others:  # starts none before there is work for it
        yield Threads(count, others)


def threads_for(most: int) -> int:
    """Return how many threads to use where so many would pay.

    No more than processors; one in a confined child.
    """
    return 1 if here.confined or most < 2 else min(most, THREADS_MAX, len(os.sched_getaffinity(0)))


def by_threads(work: Callable[[int, int], None], count: int, most: int) -> None:
    """Call `work` with the bounds of shares of so many parts, each share by a thread."""
    threads = threads_for(most)
    shares = [(count * at // threads, count * (at + 1) // threads) for at in range(threads)]
    if threads == 1:
        work(*shares[0])
        return
    with ThreadPoolExecutor(threads - 1) as executor:
        others: list[Future[None]] = []
        with suppress(RuntimeError):  # there are no more threads to be had: the caller does what is left
            others.extend(executor.submit(work, *share) for share in shares[1:])
        for share in (shares[0], *shares[1 + len(others) :]):
            work(*share)
        for future in others:
            future.result()
