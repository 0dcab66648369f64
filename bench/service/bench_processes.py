"""Two API processes and two workers beside one of each.

Requests a second under wrk, the two services in turn.

All is on one machine: wrk, PostgreSQL, Redis and the drain take most of the second of two cores already, so requests a
second say more of the machine than of us. What something shared costs shows in the processor time of a request: where
two processes take 1.25 times that of one, they bear 1.6 times its requests on cores of their own. Both are reported
and have no floor.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import NamedTuple

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.load.command import SETTINGS, prepared
from bench.service.load.mixes import TOLERATED, TOLERATED_SHARE, Deal, steps_of
from bench.service.load.processes import more_workers, taken
from bench.service.load.wrk import SUCCESS, drive
from bench.service.stack import serving

CONNECTIONS = 16
"""Of each API process: commands to Redis that come together share a round trip, so fewer callers cost more each."""
DEALS = 64
"""A workbook has one run at a time: so many that callers seldom meet at one."""
ROUNDS = 3
SECONDS = 1.5
LEAST = 1.6 / 2
"""Processor time of a request with one of each, over that with two."""
MIXES = {"evaluate": "calculate", "compliance/run": "compliance"}
"""What is asked, and the mix whose first request it is, for every workbook."""
ONE = "one of each"


class Round(NamedTuple):
    """What a service bore in one run of wrk."""

    rate: float
    requests: int
    spent: dict[str, float]
    """Processor seconds by part, wrk among them."""

    @property
    def seconds(self) -> float:
        """Processor seconds of a request."""
        return sum(self.spent.values()) / self.requests


class Served(NamedTuple):
    """A service to bear load."""

    url: str
    deals: Sequence[Deal]
    processes: int

    def bear(self, request: str, seconds: float) -> Round:
        """Load by one kind of request; every answer must be as expected."""
        mix = MIXES[request]
        steps = [steps_of(mix, [deal])[0] for deal in self.deals]
        assert all(step.path.endswith(f"/{request}") for step in steps), steps
        before, wrk = taken(), _children_seconds()
        outcome = drive(self.url, steps, seconds=seconds, connections=self.processes * CONNECTIONS, shuffled=False)
        errors = outcome.errors(SUCCESS)
        if errors.pop(str(TOLERATED.get(mix)), 0) > TOLERATED_SHARE * outcome.requests or errors:
            raise AssertionError(f"{request}: {errors}, first {outcome.odd}")
        spent = {part: now.seconds - (before[part].seconds if part in before else 0) for part, now in taken().items()}
        return Round(outcome.rate, outcome.requests, spent | {"wrk": _children_seconds() - wrk})


Borne = dict[str, dict[str, list[Round]]]
"""Rounds by request and by service."""


@contextmanager
def _borne() -> Iterator[Borne]:
    with (
        serving(SETTINGS | {"CUSHION_WORKERS": "2"}) as two_url,
        more_workers(1),
        serving(SETTINGS) as one_url,
        prepared(two_url, deals=DEALS) as two_deals,
        prepared(one_url, deals=DEALS) as one_deals,
    ):
        services = {OURS: Served(two_url, two_deals, 2), ONE: Served(one_url, one_deals, 1)}
        borne: Borne = {request: {name: [] for name in services} for request in MIXES}
        for request, rounds in borne.items():
            for served in services.values():
                served.bear(request, 1)  # opens connections, fills caches
            for _ in range(ROUNDS):
                for name, served in services.items():
                    rounds[name].append(served.bear(request, SECONDS))
        yield borne


def _children_seconds() -> float:
    """Of ended children: of wrk, since the services live on."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _requests(request: str, borne: Borne) -> Prepared:
    works = {name: [1 / outcome.rate for outcome in rounds] for name, rounds in borne[request].items()}
    rates = (f"{name} {median(outcome.rate for outcome in rounds):,.0f}/s" for name, rounds in borne[request].items())
    return Prepared(works=works, note=", ".join(rates))


def _processor(request: str, borne: Borne) -> Prepared:
    works = {name: [outcome.seconds for outcome in rounds] for name, rounds in borne[request].items()}
    facts = {f"milliseconds by part, {name}": _by_part(rounds) for name, rounds in borne[request].items()}
    return Prepared(works=works, facts=facts)


def _by_part(rounds: Sequence[Round]) -> dict[str, float]:
    """Processor milliseconds of a request."""
    requests = sum(outcome.requests for outcome in rounds)
    spent = {part: sum(each.spent.get(part, 0.0) for each in rounds) for outcome in rounds for part in outcome.spent}
    return {part: round(took / requests * 1e3, 3) for part, took in sorted(spent.items()) if took > 0}


bench_processes = asked(
    *(
        Question(
            name=f"{request}, two API processes and two workers, {CONNECTIONS} callers each, {what}",
            prepare=partial(prepare, request), data=_borne, bounds=(ONE,), floor=False,
            ratio_least={ONE: LEAST} if prepare is _processor else {},
        )
        for request in MIXES
        for what, prepare in (("time a request", _requests), ("processor time of a request", _processor))
    )
)  # fmt: skip
