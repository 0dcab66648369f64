"""The mixes of `python -m bench load` in a short form: each beside an empty Starlette endpoint, the two in turn."""

from __future__ import annotations

from bench.figures import Figure
from bench.service.load.command import SETTINGS, measure, prepared
from bench.service.load.mixes import MIXES
from bench.service.stack import serving, serving_peer

SECONDS = 2.0
ROUNDS = 2
CONNECTIONS = 16


def run() -> list[Figure]:
    """The time a request of each mix takes, of which every answer must be as expected."""
    figures = []
    with serving(SETTINGS) as url, serving_peer("empty") as empty_url, prepared(url) as deals:
        for mix in MIXES:
            borne = measure(deals, url, empty_url, mix, seconds=SECONDS, rounds=ROUNDS, connections=CONNECTIONS)
            if borne.errors:
                raise AssertionError(f"{mix}: {borne.errors}, first {borne.ours.odd}")
            figures.append(
                Figure(
                    name=f"load, {mix} mix, {CONNECTIONS} callers, time a request",
                    seconds=1 / borne.ours.rate,
                    peer="empty Starlette endpoint",
                    peer_seconds=1 / borne.empty.rate,
                )
            )
    return figures
