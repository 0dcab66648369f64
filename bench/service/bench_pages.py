"""GET of a page of workbooks, and POST /compliance/run on 200 loans: driven by wrk on one connection, in turn with an
empty Starlette endpoint; limits, row security, audit and fsync on."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import msgspec

from bench.figures import Figure
from bench.service.load.command import EMPTY, SETTINGS
from bench.service.load.mixes import upload, workbook
from bench.service.load.wrk import Step, drive
from bench.service.stack import Client, serving, serving_peer

WORKBOOKS = 24
"""More than a page of 20 holds."""
SECONDS, ROUNDS = 1, 5
PAGE_SECONDS_MOST, RUN_SECONDS_MOST = 0.00155, 0.0068
"""Half of what the issue's machine took."""


def run() -> list[Figure]:
    """The median of five rounds of wrk's median, for each request."""
    with tempfile.TemporaryDirectory() as folder, serving(SETTINGS) as url, serving_peer("empty") as empty_url:
        client = Client(url)
        deals = upload([client], [workbook(Path(folder))], WORKBOOKS)
        page = client.get("/api/v1/workbooks")
        if (len(page["items"]), page["total"]) != (20, WORKBOOKS):
            raise AssertionError(f"the page has {len(page['items'])} of {page['total']} workbooks")
        json = {**client.headers, "Content-Type": "application/json"}
        bodies = [{"workbook_id": deals[0].id, "test_suite": suite} for suite in ("standard", "enhanced")]
        steps = [Step(method="GET", path="/api/v1/workbooks", headers=client.headers, marker=f'"total":{WORKBOOKS}')]
        steps += [
            Step(
                method="POST",
                path="/api/v1/compliance/run",
                headers=json,
                body=msgspec.json.encode(body),
                marker=deals[0].id,
            )
            for body in bodies
        ]
        client.close()
        taken: list[list[float]] = [[] for _ in (*steps, EMPTY)]
        for _ in range(ROUNDS + 1):  # the first opens connections and caches
            for (place, step), times in zip([*((url, step) for step in steps), (empty_url, EMPTY)], taken, strict=True):
                outcome = drive(place, [step], seconds=SECONDS, connections=1)
                if errors := outcome.errors([200]):
                    raise AssertionError(f"{step.path}: {errors}, first {outcome.odd}")
                times.append(outcome.p50)
    *ours, empty = [median(times[1:]) for times in taken]
    named = zip(
        ("page of workbooks", "compliance/run standard, 200 loans", "compliance/run enhanced, 200 loans"),
        (PAGE_SECONDS_MOST, RUN_SECONDS_MOST, RUN_SECONDS_MOST),
        ours,
        strict=True,
    )
    return [
        Figure(
            name=f"{name}, by wrk, one caller",
            seconds=seconds,
            peer="empty Starlette endpoint",
            peer_seconds=empty,
            seconds_most=most,
        )
        for name, most, seconds in named
    ]
