"""Two API processes and two workers beside one of each: requests a second under wrk, the two services in turn.

All is on one machine: wrk, PostgreSQL, Redis and the drain take most of the second of two cores already, so requests a
second say more of the machine than of us. What something shared costs shows in the processor time of a request: where
two processes take 1.25 times that of one, they bear 1.6 times its requests on cores of their own.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.figures import Figure
from bench.service.load.command import SETTINGS, prepared
from bench.service.load.mixes import TOLERATED, TOLERATED_SHARE, Deal, steps_of
from bench.service.load.processes import descends, taken
from bench.service.load.wrk import SUCCESS, Step, drive
from bench.service.stack import STOP_SECONDS, serving
from service.host.child import processes

CONNECTIONS = 16
"""Of each API process: commands to Redis that come together share a round trip, so fewer callers cost more each."""
DEALS = 48
"""A workbook has one run at a time: so many that callers seldom meet at one."""
ROUNDS = 3
SECONDS = 2.0
LEAST = 1.6 / 2
"""Processor time of a request with one of each, over that with two."""
QUESTIONS = {"evaluate": "calculate", "compliance/run": "compliance"}
"""What is asked, and the mix whose first request it is, for every workbook."""


class Served:
    """A service under load, and what its requests took."""

    def __init__(self, url: str, deals: Sequence[Deal], *, processes: int) -> None:
        self._url = url
        self._connections = processes * CONNECTIONS
        self._steps = {name: self._of(name, mix, deals) for name, mix in QUESTIONS.items()}
        self.rates: dict[str, list[float]] = {name: [] for name in QUESTIONS}
        self.spent: dict[str, dict[str, float]] = {name: {} for name in QUESTIONS}
        """Processor seconds by part, wrk among them."""
        self.answered = dict.fromkeys(QUESTIONS, 0)

    @staticmethod
    def _of(name: str, mix: str, deals: Sequence[Deal]) -> list[Step]:
        asked = [steps_of(mix, [deal])[0] for deal in deals]
        assert {step.path for step in asked} == {f"/api/v1/{'calculations/' if name == 'evaluate' else ''}{name}"}
        return asked

    def bear(self, question: str, *, seconds: float, kept: bool = True) -> None:
        """One round of a question."""
        before, wrk = taken(), _children_seconds()
        outcome = drive(
            self._url, self._steps[question], seconds=seconds, connections=self._connections, shuffled=False
        )
        errors = outcome.errors(SUCCESS)
        if errors.pop(str(TOLERATED.get(QUESTIONS[question])), 0) > TOLERATED_SHARE * outcome.requests or errors:
            raise AssertionError(f"{question}: {errors}, first {outcome.odd}")
        if not kept:
            return
        spent = {part: now.seconds - (before[part].seconds if part in before else 0) for part, now in taken().items()}
        spent["wrk"] = _children_seconds() - wrk
        for part, took in spent.items():
            self.spent[question][part] = self.spent[question].get(part, 0.0) + took
        self.rates[question].append(outcome.rate)
        self.answered[question] += outcome.requests

    def taken_by(self, question: str) -> float:
        """Processor seconds of a request, of all parts."""
        return sum(self.spent[question].values()) / self.answered[question]

    def told(self, question: str) -> str:
        """Processor milliseconds of a request by part."""
        parts = sorted(self.spent[question].items(), key=lambda item: -item[1])
        share = [(part, took / self.answered[question] * 1e3) for part, took in parts if took > 0]
        rate = statistics.median(self.rates[question])
        return f"{rate:.0f}/s, {self.taken_by(question) * 1e3:.2f} ms: " + ", ".join(f"{p} {t:.2f}" for p, t in share)


def run() -> list[Figure]:
    """The time a request takes, of the median round, and what processor time it takes."""
    with (
        serving(SETTINGS | {"CUSHION_WORKERS": "2"}) as two_url,
        _second_worker(),
        serving(SETTINGS) as one_url,
        prepared(two_url, deals=DEALS) as two_deals,
        prepared(one_url, deals=DEALS) as one_deals,
    ):
        two, one = Served(two_url, two_deals, processes=2), Served(one_url, one_deals, processes=1)
        return [figure for question in QUESTIONS for figure in _compared(question, one, two)]


def _compared(question: str, one: Served, two: Served) -> list[Figure]:
    for served in (one, two):
        served.bear(question, seconds=1, kept=False)  # opens connections, fills caches
    for _ in range(ROUNDS):
        for served in (one, two):
            served.bear(question, seconds=SECONDS)
    for name, served in (("one", one), ("two", two)):
        print(f"{question}, {name} of each: {served.told(question)}")
    called = f"{question}, two API processes and two workers, {CONNECTIONS} callers each"
    return [
        Figure(
            name=f"{called}, time a request",
            seconds=1 / statistics.median(two.rates[question]),
            peer="one of each",
            peer_seconds=1 / statistics.median(one.rates[question]),
        ),
        Figure(
            name=f"{called}, processor time of a request",
            seconds=two.taken_by(question),
            peer="one of each",
            peer_seconds=one.taken_by(question),
            ratio_least=LEAST,
        ),
    ]


@contextmanager
def _second_worker() -> Iterator[None]:
    """Another worker of the one service that runs."""
    parents = {number: int(fields[1]) for number, fields in processes()}
    (first,) = [number for number in parents if descends(number, parents) and _is_worker(number)]
    told = Path(f"/proc/{first}/environ").read_bytes().rstrip(b"\0").split(b"\0")
    environment = dict(os.fsdecode(one).split("=", 1) for one in told)
    second = subprocess.Popen(
        [sys.executable, "-m", "service.worker"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
        if second.poll() is not None:
            raise RuntimeError(f"the second worker ended by itself, code {second.returncode}")
    finally:
        second.terminate()
        second.wait(STOP_SECONDS)


def _is_worker(number: int) -> bool:
    return b"\0service.worker\0" in Path(f"/proc/{number}/cmdline").read_bytes()


def _children_seconds() -> float:
    """Of ended children: of wrk, since the services live on."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
