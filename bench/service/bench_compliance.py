"""POST /compliance/run on a 200-loan deal: the whole service, limits, audit and fsync on, one caller at a time."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec

import core
from bench.figures import Figure, paired_seconds
from bench.service.stack import LEAST, LEAST_NAME, Client, serving
from core.generate import generate

LOANS = 200
WARM = 20
REPEATS = 200
"""With both suites this stays within the burst that the service allows."""
SECONDS_MOST = 0.010
SUITES = ("standard", "enhanced")
RUN = "/api/v1/compliance/run"


def run() -> list[Figure]:
    """The median of a run over HTTP, for each suite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deal.xlsx"
        generate(loans=LOANS, seed=7).write(path)
        with serving() as url:
            client = Client(url)
            try:
                workbook_id = client.uploaded(path)
                portfolio = core.Portfolio.from_workbook(core.read(path))
                return [_suite(client, workbook_id, portfolio, suite) for suite in SUITES]
            finally:
                client.close()


def _suite(client: Client, workbook_id: str, portfolio: core.Portfolio, suite: str) -> Figure:
    body = json.dumps({"workbook_id": workbook_id, "test_suite": suite}).encode()
    _verify(json.loads(client.exchange("POST", RUN, body)), portfolio, suite)
    seconds, least = paired_seconds(
        lambda: client.exchange("POST", RUN, body), lambda: client.exchange("GET", LEAST), repeats=REPEATS, warm=WARM
    )
    return Figure(
        name=f"compliance/run {suite}, {LOANS} loans, over HTTP",
        seconds=seconds,
        peer=LEAST_NAME,
        peer_seconds=least,
        seconds_most=SECONDS_MOST,
    )


def _verify(answer: dict[str, Any], portfolio: core.Portfolio, suite: str) -> None:
    """The service says what the library says."""
    expected = core.run_suite(portfolio, suite)
    if answer["results"] != json.loads(msgspec.json.encode(list(expected))):
        raise AssertionError(f"the service and the library differ on the {suite} suite")
    if answer["summary"] != msgspec.to_builtins(expected.summary):
        raise AssertionError(f"the summaries of the {suite} suite differ")
