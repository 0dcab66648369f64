"""Work by a stranger's rules ends when its caller says so: a question that the loops ask on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")

STRINGS: Final = 8
"""Texts between two questions: one takes from a microsecond to a tenth of a second."""


def _go_on() -> None:
    """Nobody minds how long it takes."""


_question: ContextVar[Callable[[], None]] = ContextVar("question", default=_go_on)


@contextmanager
def asking(question: Callable[[], None]) -> Iterator[None]:
    """Within, and in this thread only, mapping asks `question` now and then; what that raises ends the work."""
    token = _question.set(question)
    try:
        yield
    finally:
        _question.reset(token)


def ask() -> None:
    """Ask whether to go on."""
    _question.get()()


def asked(items: Iterable[T]) -> Iterator[T]:
    """The items, with the question every `STRINGS` of them."""
    question = _question.get()
    for place, item in enumerate(items):
        if place % STRINGS == 0:
            question()
        yield item
