"""The mixes of `python -m bench load` in a short form.

Each beside an empty Starlette endpoint, the two in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.load.command import EMPTY_NAME, SETTINGS, measure, prepared
from bench.service.load.mixes import MIXES, Deal
from bench.service.stack import serving, serving_peer

SECONDS = 2.0
ROUNDS = 2
CONNECTIONS = 16

Servers = tuple[list[Deal], str, str]
"""What is asked of ours; the addresses of ours and of the empty endpoint."""


@contextmanager
def _servers() -> Iterator[Servers]:
    with serving(SETTINGS) as url, serving_peer("empty") as empty_url, prepared(url) as deals:
        yield list(deals), url, empty_url


def _borne(mix: str, servers: Servers) -> Prepared:
    """Seconds a request, of which every answer must be as expected."""
    deals, url, empty_url = servers
    borne = measure(deals, url, empty_url, mix, seconds=SECONDS, rounds=ROUNDS, connections=CONNECTIONS)
    if borne.errors:
        raise AssertionError(f"{mix}: {borne.errors}, first {borne.ours.odd}")
    note = f"{borne.ours.rate:,.0f} requests/s, p95 {borne.ours.p95 * 1e3:.1f} ms"
    return Prepared(works={OURS: [1 / borne.ours.rate], EMPTY_NAME: [1 / borne.empty.rate]}, note=note)


bench_load = asked(
    *(
        Question(
            name=f"load, {mix} mix, {CONNECTIONS} callers, time a request", prepare=partial(_borne, mix), data=_servers,
            bounds=(EMPTY_NAME,),
        )
        for mix in MIXES
    )
)  # fmt: skip
