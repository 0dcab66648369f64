"""A question of the suite as a value, and how its contenders are timed.

In turn, their answers found equal first.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from multiprocessing import get_context
from typing import Any

from msgspec import Struct, field

from bench.machine import yardstick_seconds

OURS = "cushion"
YARDSTICK = "yardstick"
"""What a question without peers is held against: a fixed piece of interpreter work in the same run."""


class Work(Struct, frozen=True):
    """What one contender does in its turn."""

    call: Callable[[], Any]
    count: int = 1
    """How many of the question's units a call does; a sample is the time of one."""
    turns: int | None = None
    """A slow peer has only so many turns, none of them a warm one."""


class LeftOut(Struct, frozen=True):
    """A peer that cannot run here; in CI that is an error."""

    reason: str


class Prepared(Struct, kw_only=True):
    """The works of a question over data whose answers were found equal.

    Or samples, seconds each, taken elsewhere.
    """

    works: Mapping[str, Callable[[], Any] | Work | LeftOut | Sequence[float]]
    """Ours first, under `OURS`."""
    before: Callable[[], Any] | None = None
    """Runs untimed ahead of every turn: it brings new values."""
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further figures for the row of ours: sizes, memory, an exponent."""


class Question(Struct, frozen=True, kw_only=True):
    """Which of some contenders is faster at one thing. To declare it makes no data."""

    name: str
    prepare: Callable[..., Prepared]
    """Makes the data, compares the answers, gives the works; takes what `data` made, if that is there."""
    data: Callable[[], AbstractContextManager[Any]] | None = None
    """What questions that stand together share: made at the first of them, left behind the last."""
    peers: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    """Contenders that do less than is asked, such as an empty endpoint: never the best peer, but held against, too."""
    repeats: int = 7
    warm: int = 1
    ratio_least: Mapping[str, float] = field(default_factory=dict)
    """Target by contender: its time over ours is at least this."""
    seconds_most: float | None = None
    """Target: our median is at most this."""
    quick: bool = False
    floor: bool = True
    """Whether its scores are recorded and held; a question without is reported alone."""
    touched_bytes: int | None = None
    """What must be read and written at least; None where that says nothing."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of a process of its own that the question is measured in: Polars counts its threads once."""

    @property
    def contenders(self) -> tuple[str, ...]:
        """Ours first."""
        return OURS, *self.peers, *self.bounds

    @property
    def ratio_targets(self) -> Mapping[str, float]:
        """`ratio_least`; where no target is given at all, to be as fast as every peer."""
        if self.ratio_least or self.seconds_most is not None:
            return self.ratio_least
        return dict.fromkeys(self.peers, 1.0)


class Measured(Struct, kw_only=True):
    """What the contenders of a question took."""

    samples: dict[str, list[float]]
    left_out: dict[str, str]
    note: str
    facts: dict[str, Any]
    yardstick_seconds: float | None

    def seconds(self, contender: str) -> float:
        """A contender's median."""
        return statistics.median(self.samples[contender])

    @property
    def scores(self) -> dict[str, float]:
        """What floors are kept of, more is better.

        Our times against each contender, or the yardstick where none is.
        """
        ours = self.seconds(OURS)
        ratios = {name: self.seconds(name) / ours for name in self.samples if name != OURS}
        return ratios if self.yardstick_seconds is None else {YARDSTICK: self.yardstick_seconds / ours}


class Measuring:
    """Measures questions one after the other.

    Closed, it frees the data that are still held.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._prepared_data: tuple[Callable[[], Any], Any] | None = None

    def measure(self, question: Question) -> Measured:
        """All contenders in turn; AssertionError where their answers differ."""
        if question.environment:
            self.close()
            return _measured_apart(question)
        if question.data is None:
            self.close()
            return _measured(question, question.prepare())
        if self._prepared_data is None or self._prepared_data[0] is not question.data:
            self.close()
            self._prepared_data = question.data, self._stack.enter_context(question.data())
        return _measured(question, question.prepare(self._prepared_data[1]))

    def close(self) -> None:
        """Frees what is held."""
        self._prepared_data = None
        self._stack.close()


def _measured_apart(question: Question) -> Measured:
    kept = dict(os.environ)
    os.environ.update(question.environment)
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
            return child.submit(_measured_in_child, question).result()
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _measured_in_child(question: Question) -> Measured:
    with ExitStack() as stack:
        data = () if question.data is None else (stack.enter_context(question.data()),)
        return _measured(question, question.prepare(*data))


def _measured(question: Question, prepared: Prepared) -> Measured:
    assert tuple(prepared.works) == question.contenders, f"{question.name}: {tuple(prepared.works)}"
    alone = len(prepared.works) == 1
    before = yardstick_seconds() if alone else 0.0
    works: dict[str, Work] = {}
    samples: dict[str, list[float]] = {}
    left_out: dict[str, str] = {}
    for name, work in prepared.works.items():
        if isinstance(work, LeftOut):
            left_out[name] = work.reason
        elif isinstance(work, Sequence):
            samples[name] = list(work)
        else:
            works[name] = work if isinstance(work, Work) else Work(work)
    samples |= timed_in_turn(works, repeats=question.repeats, warm=question.warm, before=prepared.before)
    return Measured(
        samples={name: samples[name] for name in question.contenders if name in samples}, left_out=left_out,
        note=prepared.note, facts=prepared.facts,
        yardstick_seconds=min(before, yardstick_seconds()) if alone else None,
    )  # fmt: skip


def timed_once(work: Callable[[], Any]) -> tuple[Any, list[float]]:
    """(the answer of a slow peer, the one sample of it): it is not asked twice."""
    start = time.perf_counter()
    answer = work()
    return answer, [time.perf_counter() - start]


def timed_in_turn(
    works: Mapping[str, Work], *, repeats: int, warm: int = 1, before: Callable[[], Any] | None = None
) -> dict[str, list[float]]:
    """The seconds of each work's turns, so that a drift of the machine's speed meets all; collector off, as in timeit.

    Each turn begins with another work: the first one meets the caches that `before` or the last one left. Of
    `warm` further turns at the start nothing is kept.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    order = deque(works.items())
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(-warm, repeats):
            if before is not None:
                before()
            for name, work in order:
                if work.turns is not None and not 0 <= turn < work.turns:
                    continue
                start = time.perf_counter()
                work.call()
                seconds = time.perf_counter() - start
                if turn >= 0:
                    taken[name].append(seconds / work.count)
            order.rotate(-1)
    finally:
        if collecting:
            gc.enable()
    return taken
