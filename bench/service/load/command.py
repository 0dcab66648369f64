"""`python -m bench load`: drive a running service, and tell what it bore beside an empty endpoint in the same run.

Without --url a service of its own is started: every setting as a user has it, fsync, audit and row security on, the
limits checked and too high to be reached. With --url and --token it is somebody's own, whose limits hold; the mixes
upload a workbook of 200 generated loans, read it, calculate, and leave runs that stay: give a tenant made for it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from bench.service.load import memory
from bench.service.load.mixes import MIXES, TOLERATED, TOLERATED_SHARE, Deal, steps_of, upload, workbook
from bench.service.load.processes import more_workers, taken
from bench.service.load.wrk import SUCCESS, NoWrkError, Outcome, Step, drive
from bench.service.stack import Client, RefusedError, serving, serving_peer

GENEROUS = " ".join(["100000000"] * 4)
SETTINGS = dict.fromkeys(
    (
        "CUSHION_REQUESTS_PER_MINUTE",
        "CUSHION_REQUEST_BURST",
        "CUSHION_REQUESTS_PER_DAY",
        "CUSHION_UPLOADS_PER_HOUR",
        "CUSHION_CALCULATIONS_PER_MONTH",
        "CUSHION_MAX_WORKBOOKS",
        "CUSHION_MAX_STORAGE_GB",
    ),
    GENEROUS,
) | {"CUSHION_REGISTER_PER_HOUR": "1000", "CUSHION_ACCESS_TOKEN_SECONDS": "36000"}
"""Limits are counted and checked at each request, and never reached."""
TENANTS = 4
DEALS = 24
"""Workbooks together: one has a single run of its tests at a time, so they are more than the callers."""
EMPTY_NAME = "empty Starlette endpoint"
EMPTY = Step(method="POST", path="/evaluate", headers={"Content-Type": "application/json"}, body=b"{}", marker="value")
PARSED_SECONDS = 300.0
COST = "processor, ms a request"


class Borne(Struct, frozen=True, kw_only=True):
    """What a service bore of one mix: the median round by its rate."""

    mix: str
    connections: int
    ours: Outcome
    errors: dict[str, int]
    """Of all rounds, by status."""
    met: int
    """Requests of all rounds that were refused since another one was at their workbook."""
    empty: Outcome
    milliseconds: dict[str, float]
    """Of a processor for each request, by part; of a service that was started here."""
    ready_a_minute: float | None = None
    """Uploads that were parsed, from the first upload to the last workbook that was ready."""


def measure(
    deals: Sequence[Deal],
    url: str,
    empty_url: str,
    mix: str,
    *,
    seconds: float,
    rounds: int,
    connections: int,
    parsed: bool = True,
) -> Borne:
    """Some rounds of a mix, the service and the empty endpoint in turn.

    `parsed`: after each round wait until what was uploaded is ready.

    Raises:
        AssertionError: a request in ten was refused for another one of the same workbook.
    """
    steps = steps_of(mix, deals)
    if mix != "upload":
        drive(url, steps, seconds=1, connections=connections)  # opens connections, caches and children
    ours, empty, used, ready = [], [], dict[str, float](), []
    for number in range(1, rounds + 1):
        before, began = taken(), time.monotonic()
        seed, shuffled = (number + 1) * 10**15, mix != "compliance"
        ours.append(drive(url, steps, seconds=seconds, connections=connections, seed=seed, shuffled=shuffled))
        if mix == "upload" and parsed:
            _parsed(deals)
            ready.append(ours[-1].statuses.get("201", 0) / (time.monotonic() - began) * 60)
        for part, so_far in taken().items():
            spent = so_far.seconds - (before[part].seconds if part in before else 0.0)
            used[part] = used.get(part, 0.0) + spent
        empty.append(drive(empty_url, [EMPTY], seconds=seconds / 2, connections=connections))
    errors: dict[str, int] = {}
    for outcome in ours:
        for name, count in outcome.errors(SUCCESS).items():
            errors[name] = errors.get(name, 0) + count
    sent = sum(outcome.requests for outcome in ours)
    met = errors.pop(str(TOLERATED.get(mix)), 0)
    if met > TOLERATED_SHARE * sent:
        raise AssertionError(f"{mix}: {met} of {sent} requests met another one at their workbook")
    return Borne(
        mix=mix,
        connections=connections,
        ours=sorted(ours, key=lambda outcome: outcome.rate)[rounds // 2],
        errors=errors,
        met=met,
        empty=sorted(empty, key=lambda outcome: outcome.rate)[rounds // 2],
        milliseconds={part: spent / sent * 1e3 for part, spent in sorted(used.items())},
        ready_a_minute=sorted(ready)[rounds // 2] if ready else None,
    )


@contextmanager
def prepared(url: str, tokens: Sequence[str] = (), *, deals: int = DEALS) -> Iterator[list[Deal]]:
    """Workbooks to work on, in tenants of their own or in those of the tokens."""
    clients = [Client(url, token=token) for token in tokens] or [Client(url) for _ in range(TENANTS)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = [workbook(Path(folder), seed=seed) for seed in range(min(deals, len(clients)))]
            yield upload(clients, files, deals)
    finally:
        for client in clients:
            client.close()


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; the exit code: 1 where an answer was not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m bench load", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--url", help="of a service that runs")
    parser.add_argument("--token", action="append", default=[], help="of a user there; again for more tenants")
    parser.add_argument("--mix", action="append", choices=MIXES, help="all without it")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1, help="API processes of the service that is started")
    parser.add_argument("--job-workers", type=int, default=1, help="workers of the service that is started")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--requests", type=int, help="instead: the API's memory over so many different requests")
    parser.add_argument("--jobs", type=int, help="instead: the worker's memory over so many different jobs")
    chosen = parser.parse_args(arguments)
    if bool(chosen.url) != bool(chosen.token) or (chosen.url and (chosen.requests or chosen.jobs)):
        parser.error("--url and --token go together, and memory is that of a service that is started here")
    try:
        if chosen.requests or chosen.jobs:
            return _memory(chosen.requests, chosen.jobs)
        return _mixes(chosen)
    except (NoWrkError, RefusedError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1


def _mixes(chosen: argparse.Namespace) -> int:
    deals = 1 if chosen.url else DEALS
    with (
        _service(chosen.url, chosen.workers) as url,
        more_workers(0 if chosen.url else chosen.job_workers - 1),
        serving_peer("empty") as empty_url,
        prepared(url, chosen.token, deals=deals) as load,
    ):
        borne = [
            measure(
                load,
                url,
                empty_url,
                mix,
                seconds=chosen.seconds,
                rounds=chosen.rounds,
                connections=min(chosen.connections, deals) if mix == "compliance" else chosen.connections,
            )
            for mix in chosen.mix or MIXES
        ]
        waits = taken()
    _show(borne)
    if not chosen.url:
        for part, so_far in sorted(waits.items()):
            print(f"{part}: {so_far.bytes / 1e6:.0f} MB at the end")
    if chosen.json:
        chosen.json.write_bytes(msgspec.json.format(msgspec.json.encode(borne), indent=2) + b"\n")
    return 1 if any(outcome.errors for outcome in borne) else 0


def _memory(requests: int | None, jobs: int | None) -> int:
    sizes: list[int] = []

    def tell(done: int, size: int) -> None:
        sizes.append(size)
        print(f"{done:,} done: {size / 1e6:.1f} MB", flush=True)

    with serving(SETTINGS) as url, prepared(url, deals=1) as (deal,):
        if requests:
            memory.of_requests(url, deal, requests, tell)
        else:
            memory.of_jobs(deal.client, jobs or 0, tell)
    return 0


@contextmanager
def _service(url: str | None, workers: int) -> Iterator[str]:
    if url is not None:
        yield url.rstrip("/")
        return
    with serving(SETTINGS | {"CUSHION_WORKERS": str(workers)}) as own:
        yield own


def _parsed(deals: Sequence[Deal]) -> None:
    """Until every workbook of their tenants is ready."""
    end = time.monotonic() + PARSED_SECONDS
    for client in {id(deal.client): deal.client for deal in deals}.values():
        page = 1
        while listed := client.get(f"/api/v1/workbooks?page={page}&page_size=100")["items"]:
            states = {workbook["status"] for workbook in listed}
            if "error" in states or time.monotonic() > end:
                raise AssertionError(f"workbooks are {states}")
            if "processing" in states:
                time.sleep(0.1)
            else:
                page += 1


def _show(borne: Sequence[Borne]) -> None:
    table = Table(title="wrk, closed loop; median round by rate, times in ms")
    for name in (
        "mix",
        "callers",
        "requests/s",
        "p50",
        "p95",
        "p99",
        "errors",
        "empty/s",
        "of empty",
        "processor, ms a request",
    ):
        table.add_column(name, justify="left" if name in ("mix", "errors", "processor, ms a request") else "right")
    for outcome in borne:
        table.add_row(
            outcome.mix,
            str(outcome.connections),
            f"{outcome.ours.rate:,.0f}",
            *(f"{value * 1e3:.1f}" for value in (outcome.ours.p50, outcome.ours.p95, outcome.ours.p99)),
            ", ".join(f"{name}: {count}" for name, count in ({"met": outcome.met} | outcome.errors).items() if count)
            or "none",
            f"{outcome.empty.rate:,.0f}",
            f"{outcome.ours.rate / outcome.empty.rate:.1%}",
            ", ".join(f"{part} {spent:.2f}" for part, spent in outcome.milliseconds.items() if spent >= 0.005),
        )
    Console(width=None if sys.stdout.isatty() else 190).print(table)
    for outcome in borne:
        if outcome.ready_a_minute is not None:
            print(f"uploads that were parsed: {outcome.ready_a_minute:,.0f} a minute")
        if outcome.ours.odd:
            print(f"{outcome.mix}: an answer was {outcome.ours.odd}")
