"""POST /calculations/evaluate, one worker: token, revocation, limits and audit on, against servers that do far less."""

from __future__ import annotations

import json
import time

import jwt

import core
from bench.figures import Figure
from bench.service.callers import Load, load, request_of
from bench.service.peer_apps import SECRET
from bench.service.stack import Client, serving, serving_peer

EVALUATE = "/api/v1/calculations/evaluate"
FORMULA = "=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2),0)"
CONTEXT = {f"A{row}": row * 3.5 for row in range(1, 11)}
CONNECTIONS = 16
REQUESTS = 6_000
ALONE = 1_500
ROUNDS = 3
EMPTY_RATIO_MOST = 4.5
GENEROUS = "100000000 100000000 100000000 100000000"
"""Of the limits by tier: checked at each request, never reached."""


def run() -> list[Figure]:
    """Median alone against the empty endpoint; requests a second at 16 connections against FastAPI."""
    body = json.dumps({"formula": FORMULA, "context": CONTEXT}).encode()
    token = jwt.encode({"sub": "bench", "exp": int(time.time()) + 3600}, SECRET, algorithm="HS256")
    limits = {"CUSHION_REQUESTS_PER_MINUTE": GENEROUS, "CUSHION_REQUEST_BURST": GENEROUS}
    with serving(limits) as url, serving_peer("empty") as empty_url, serving_peer("checked") as checked_url:
        client = Client(url)
        _verify(client, body)
        ours = request_of(url, EVALUATE, body, client.headers)
        empty = request_of(empty_url, "/evaluate", body)
        checked = request_of(checked_url, "/evaluate", body, {"Authorization": f"Bearer {token}"})
        client.close()
        servers = [(url, ours), (empty_url, empty), (checked_url, checked)]
        alone = _in_turn(servers, connections=1, requests=ALONE)
        together = _in_turn(servers, connections=CONNECTIONS, requests=REQUESTS)
    for name, one, many in zip(("cushion", "empty Starlette", "FastAPI + JWT"), alone, together, strict=True):
        print(f"evaluate, {name}: median {one.median * 1e3:.3f} ms alone, {many.rate:,.0f} requests/s at {CONNECTIONS}")
    return [
        Figure(
            name="calculations/evaluate over HTTP, one caller",
            seconds=alone[0].median,
            peer="empty Starlette endpoint",
            peer_seconds=alone[1].median,
            ratio_least=1 / EMPTY_RATIO_MOST,
        ),
        Figure(
            name=f"calculations/evaluate over HTTP, {CONNECTIONS} callers, time a request",
            seconds=1 / together[0].rate,
            peer="FastAPI, pydantic and a JWT check",
            peer_seconds=1 / together[2].rate,
            ratio_least=1.0,
        ),
    ]


def _in_turn(servers: list[tuple[str, bytes]], *, connections: int, requests: int) -> list[Load]:
    """The median round of each server, the servers taken in turn."""
    rounds: list[list[Load]] = [[] for _ in servers]
    for _ in range(ROUNDS):
        for (url, request), found in zip(servers, rounds, strict=True):
            found.append(load(url, request, connections=connections, requests=requests))
    return [sorted(found)[ROUNDS // 2] for found in rounds]


def _verify(client: Client, body: bytes) -> None:
    answer = json.loads(client.exchange("POST", EVALUATE, body))
    expected = core.evaluate(FORMULA, CONTEXT)
    if (answer["value"], answer["type"]) != (expected.value, expected.type):
        raise AssertionError(f"the service says {answer['value']}, the library {expected.value}")
