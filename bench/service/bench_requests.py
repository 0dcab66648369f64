"""Requests that clients make all day, of one caller and of sixteen.

A formula, a compliance run, a page of workbooks.

wrk sends them, in turn with an empty Starlette endpoint and, for the formula, with FastAPI that checks a body and a
token and does nothing. Ours has one API process; limits, revocation, row security, audit, logs and fsync are on.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jwt

import core
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.load.command import EMPTY, EMPTY_NAME, SETTINGS
from bench.service.load.mixes import CONTEXT, LOANS, upload, workbook
from bench.service.load.wrk import Step, drive_in_turn
from bench.service.peer_apps import SECRET
from bench.service.stack import Client, serving, serving_peer

FORMULA = "=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2),0)"
CHECKED_NAME = "FastAPI, pydantic and a JWT check"
WORKBOOKS, PAGE = 24, 20
"""More than a page holds."""
MANY = 16
ROUNDS = 3
EMPTY_RATIO_MOST = 4.5
CHECKED_RATIO_LEAST = {1: 1.0, MANY: 1.5}
"""By callers."""
PAGE_SECONDS_MOST, RUN_SECONDS_MOST = 0.00155, 0.0068
"""Half of what they took when they were first timed."""


class Served(NamedTuple):
    """The addresses of ours and of the peers, our caller, and its workbook that is run."""

    url: str
    empty_url: str
    checked_url: str
    client: Client
    workbook_id: str


@contextmanager
def _served() -> Iterator[Served]:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(SETTINGS) as url,
        serving_peer("empty") as empty_url,
        serving_peer("checked") as checked_url,
        closing(Client(url)) as client,
    ):
        # The runs of the first workbook are found equal to the library's, for each suite.
        first, *_ = upload([client], [workbook(Path(folder))], WORKBOOKS)
        yield Served(url, empty_url, checked_url, client, first.id)


def _evaluated(connections: int, served: Served) -> Prepared:
    expected = core.evaluate(FORMULA, CONTEXT)
    body = {"formula": FORMULA, "context": CONTEXT}
    answer = served.client.post("/api/v1/calculations/evaluate", body)
    if (answer["value"], answer["type"]) != (expected.value, expected.type):
        raise AssertionError(f"the service says {answer['value']}, the library {expected.value}")
    token = jwt.encode({"sub": "bench", "exp": int(time.time()) + 3600}, SECRET, algorithm="HS256")
    to_ours = _post("/api/v1/calculations/evaluate", body, served.client.headers, f'"value":{expected.value}')
    to_peer = _post("/evaluate", body, {"Authorization": f"Bearer {token}"}, '"value":1')
    return _driven(
        {
            OURS: (served.url, to_ours),
            CHECKED_NAME: (served.checked_url, to_peer),
            EMPTY_NAME: (served.empty_url, to_peer),
        },
        connections,
    )


def _run(suite: str, served: Served) -> Prepared:
    body = {"workbook_id": served.workbook_id, "test_suite": suite}
    step = _post("/api/v1/compliance/run", body, served.client.headers, f'"workbook_id":"{served.workbook_id}"')
    return _driven({OURS: (served.url, step), EMPTY_NAME: (served.empty_url, EMPTY)})


def _page(served: Served) -> Prepared:
    step = Step(method="GET", path="/api/v1/workbooks", headers=served.client.headers, marker=f'"total":{WORKBOOKS}')
    page = served.client.get(step.path)
    if (len(page["items"]), page["total"]) != (PAGE, WORKBOOKS):
        raise AssertionError(f"the page has {len(page['items'])} of {page['total']} workbooks")
    return _driven({OURS: (served.url, step), EMPTY_NAME: (served.empty_url, EMPTY)})


def _post(path: str, body: object, headers: Mapping[str, str], marker: str) -> Step:
    headers = {**headers, "Content-Type": "application/json"}
    return Step(method="POST", path=path, headers=headers, body=json.dumps(body).encode(), marker=marker)


def _driven(asked: Mapping[str, tuple[str, Step]], connections: int = 1) -> Prepared:
    """A round's sample is its median, of many callers its time a request."""
    outcomes = drive_in_turn(asked, rounds=ROUNDS, connections=connections)
    works = {
        name: [outcome.p50 if connections == 1 else 1 / outcome.rate for outcome in rounds]
        for name, rounds in outcomes.items()
    }
    middle = sorted(outcomes[OURS], key=lambda outcome: outcome.rate)[ROUNDS // 2]
    return Prepared(works=works, note=f"{middle.rate:,.0f} requests/s, p95 {middle.p95 * 1e3:.1f} ms")


bench_requests = asked(
    Question(
        name="calculations/evaluate over HTTP, one caller", prepare=partial(_evaluated, 1), data=_served,
        peers=(CHECKED_NAME,), bounds=(EMPTY_NAME,),
        ratio_least={EMPTY_NAME: 1 / EMPTY_RATIO_MOST, CHECKED_NAME: CHECKED_RATIO_LEAST[1]}, quick=True,
    ),
    Question(
        name=f"calculations/evaluate over HTTP, {MANY} callers, time a request", prepare=partial(_evaluated, MANY),
        data=_served, peers=(CHECKED_NAME,), bounds=(EMPTY_NAME,),
        ratio_least={CHECKED_NAME: CHECKED_RATIO_LEAST[MANY]}, quick=True,
    ),
    *(
        Question(
            name=f"compliance/run {suite}, {LOANS} loans, over HTTP", prepare=partial(_run, suite), data=_served,
            bounds=(EMPTY_NAME,), seconds_most=RUN_SECONDS_MOST,
        )
        for suite in ("standard", "enhanced")
    ),
    Question(
        name=f"a page of {PAGE} workbooks, over HTTP", prepare=_page, data=_served, bounds=(EMPTY_NAME,),
        seconds_most=PAGE_SECONDS_MOST, quick=True,
    ),
)  # fmt: skip
