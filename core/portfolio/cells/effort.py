"""Work by a stranger's rules ends when its caller says so: a question that the loops ask on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")

STRINGS: Final = 8
"""Texts between two questions: one takes from a microsecond to a tenth of a second."""


Question = Callable[[int], None]
"""Asked with the bytes by which texts have grown since it was asked last."""


def _go_on(_grown_bytes: int) -> None:
    """Nobody minds how long it takes, nor how much comes of it."""


_question: ContextVar[Question] = ContextVar("question", default=_go_on)


@contextmanager
def asking(question: Question) -> Iterator[None]:
    """Within, and in this thread only, mapping asks `question` now and then; what that raises ends the work."""
    token = _question.set(question)
    try:
        yield
    finally:
        _question.reset(token)


def ask(grown_bytes: int = 0) -> None:
    """Ask whether to go on, after texts have grown by so much."""
    _question.get()(grown_bytes)


def asked(items: Iterable[T]) -> Iterator[T]:
    """The items, with the question every `STRINGS` of them."""
    question = _question.get()
    for place, item in enumerate(items):
        if place % STRINGS == 0:
            question(0)
        yield item
