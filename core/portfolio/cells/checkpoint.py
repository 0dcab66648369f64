"""Checkpoints in the loops of work by a stranger's rules, where it may be ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")

STRINGS: Final = 8
"""Texts between two checkpoints: one takes from a microsecond to a tenth of a second."""


Check = Callable[[int], None]
"""Called with the bytes by which texts have grown since the last checkpoint; what it raises ends the work."""


def _go_on(_grown_bytes: int) -> None:
    """Let the work go on without a check."""


_check: ContextVar[Check] = ContextVar("check", default=_go_on)


@contextmanager
def checking(check: Check) -> Iterator[None]:
    """Let mapping call `check` at its checkpoints, in this thread only."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checkpoint(grown_bytes: int = 0) -> None:
    """Call the check, after texts have grown by so much."""
    _check.get()(grown_bytes)


def current_check() -> Check:
    """Return what a loop of many short steps calls at each of them."""
    return _check.get()


def with_checkpoints(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, with a checkpoint every `STRINGS` of them."""
    check = _check.get()
    for place, item in enumerate(items):
        if place % STRINGS == 0:
            check(0)
        yield item
