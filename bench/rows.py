"""Questions as rows of pytest-benchmark.

One test for each contender, which replays its samples.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from bench.floors import Runs, fallen, load
from bench.machine import copy_bytes_per_second
from bench.questions import OURS, Measured, Measuring, Question

TIMEOUT_SECONDS = 1_800
"""Of the first row of a question, which has the whole measuring in it."""

_moments: deque[float] = deque()


def replayed() -> float:
    """The timer of every row: 0, then a sample's seconds, for each round."""
    return _moments.popleft()


def asked(*questions: Question) -> Callable[..., None]:
    """The test function of a module.

    A row for each contender of each question, in their order.
    """
    names = [question.name for question in questions]
    assert len(set(names)) == len(names), "two questions have one name"
    rows = [
        pytest.param(
            question, contender, id=f"{question.name}: {contender}",
            marks=pytest.mark.benchmark(group=question.name, timer=replayed),
        )
        for question in questions
        for contender in question.contenders
    ]  # fmt: skip

    @pytest.mark.timeout(TIMEOUT_SECONDS)
    @pytest.mark.filterwarnings("default")  # those of the peers are none of ours
    @pytest.mark.parametrize(("question", "contender"), rows)
    def row(question: Question, contender: str, suite: Suite, benchmark: Any) -> None:
        measured = suite.measured(question)
        if reason := measured.left_out.get(contender):
            benchmark.skipped = True
            (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
        samples = measured.samples[contender]
        _moments.clear()
        _moments.extend(moment for seconds in samples for moment in (0.0, seconds))
        benchmark.extra_info.update(row_details(question, contender, measured))
        benchmark.pedantic(lambda: None, rounds=len(samples), iterations=1)

    return row


class Suite:
    """The questions of a session, measured at their first row."""

    def __init__(self) -> None:
        self.floors: Runs = load()
        self.runs: dict[str, list[Measured]] = {}
        """By question: the first run, and those of what fell."""
        self._questions: dict[str, Question] = {}
        self._failed: dict[str, Exception] = {}
        self._measuring = Measuring()

    def measured(self, question: Question) -> Measured:
        """Measure a question once; an error is raised again for each of its rows."""
        if question.name in self._failed:
            raise self._failed[question.name]
        if question.name not in self.runs:
            self._measure(question)
        return self.runs[question.name][0]

    def _measure(self, question: Question) -> None:
        assert self._questions.setdefault(question.name, question) is question, f"two questions: {question.name}"
        try:
            measured = self._measuring.measure(question)
        except Exception as error:
            self._failed[question.name] = error
            raise
        self.runs.setdefault(question.name, []).append(measured)

    def again(self) -> None:
        """Measure once more what fell in every run so far."""
        for name in self.fallen():
            self._measure(self._questions[name])

    def fallen(self) -> dict[str, list[str]]:
        """By question, what ours fell against in every run."""
        failures = {name: fallen(self.floors, name, runs) for name, runs in self.runs.items()}
        return {name: against for name, against in failures.items() if against}

    def close(self) -> None:
        """Free the data."""
        self._measuring.close()

    def lines(self) -> list[tuple[Question, Measured]]:
        """All that was measured."""
        return [(self._questions[name], runs[0]) for name, runs in self.runs.items()]


def row_details(question: Question, contender: str, measured: Measured) -> dict[str, Any]:
    """The extra_info of a row; that of ours compares."""
    seconds = measured.seconds(contender)
    row = {"question": question.name, "contender": contender, "ours": contender == OURS, "seconds": seconds}
    if contender != OURS:
        return row
    ratios = {name: measured.seconds(name) / seconds for name in measured.samples if name != OURS}
    peers = [name for name in question.peers if name in ratios]
    best = min(peers, key=ratios.__getitem__, default=None)
    touched = question.touched_bytes
    limit_seconds = None if touched is None else touched / copy_bytes_per_second()
    targets = {
        f">= {least:.3g} x {name}": ratios[name] >= least
        for name, least in question.ratio_targets.items()
        if name in ratios
    }
    if question.seconds_most is not None:
        targets[f"<= {time_text(question.seconds_most)}"] = seconds <= question.seconds_most
    return row | {
        "best_peer": best,
        "ratio": None if best is None else ratios[best],
        "ratios": ratios,
        "bounds": [name for name in question.bounds if name in ratios],
        "bytes": touched,
        "limit_seconds": limit_seconds,
        "limit_ratio": None if limit_seconds is None else limit_seconds / seconds,
        "target": ", ".join(targets),
        "met": all(targets.values()) if targets else None,
        "missed": ", ".join(target for target, is_met in targets.items() if not is_met),
        "note": measured.note,
        **measured.facts,
    }


def time_text(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.{1 if seconds < 1e-5 else 0}f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
