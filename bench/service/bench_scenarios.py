"""Trades over HTTP, simulated and previewed.

The whole service as a user has it, one caller at a time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

import core
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.stack import LEAST, LEAST_NAME, Client, serving
from core.generate import generate

LOANS = 200
TRADES = 10
WARM = 20
REPEATS = 200
SECONDS_MOST = 0.010
PREVIEW = "/api/v1/scenarios/preview"
PREVIEW_LOANS = 300
PREVIEW_TESTS = 25
"""At least so many tests have a figure before and after."""


@contextmanager
def _deal(loans: int) -> Iterator[tuple[Client, str, core.Portfolio, list[dict[str, Any]]]]:
    """A caller with a deal of so many loans.

    Its workbook's id, its loans, and trades to try.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deal.xlsx"
        generate(loans=loans, seed=7).write(path)
        portfolio = core.Portfolio.from_workbook(core.read(path))
        with serving() as url, closing(Client(url)) as client:
            yield client, client.uploaded(path), portfolio, _trades(portfolio)


@contextmanager
def _asked() -> Iterator[tuple[Client, str]]:
    """A caller, and the path of a simulation whose answer is the library's."""
    with _deal(LOANS) as (client, workbook, portfolio, trades):
        body = {"name": "Swap", "base_workbook_id": workbook, "trades": trades}
        simulate = f"/api/v1/scenarios/{client.post('/api/v1/scenarios', body)['id']}/simulate"
        _verify(json.loads(client.exchange("POST", simulate)), portfolio, trades)
        yield client, simulate


@contextmanager
def _previewed() -> Iterator[tuple[Client, bytes]]:
    """A caller, and the body of a preview whose answer is the library's."""
    with _deal(PREVIEW_LOANS) as (client, workbook, portfolio, trades):
        body = msgspec.json.encode({"base_workbook_id": workbook, "trades": trades})
        answer = json.loads(client.exchange("POST", PREVIEW, body))
        if len(answer["results"]) < PREVIEW_TESTS:
            raise AssertionError(f"{len(answer['results'])} tests")
        _verify(answer, portfolio, trades)
        yield client, body


def _preview(asked: tuple[Client, bytes]) -> Prepared:
    client, body = asked
    return Prepared(
        works={
            OURS: lambda: client.exchange("POST", PREVIEW, body),
            LEAST_NAME: lambda: client.exchange("GET", LEAST),
        }
    )


def _simulated(asked: tuple[Client, str]) -> Prepared:
    client, simulate = asked
    return Prepared(
        works={
            OURS: lambda: client.exchange("POST", simulate),
            LEAST_NAME: lambda: client.exchange("GET", LEAST),
        }
    )


def _trades(portfolio: core.Portfolio) -> list[dict[str, Any]]:
    """Half of them sell a part of a loan that is held, half buy a new one."""
    cusips = portfolio.names["cusip"]
    cusips_to_sell = [cusips.values[code] for code in cusips.codes[: TRADES // 2]]
    sells = [{"trade_type": "sell", "cusip": cusip, "par_value": 100_000.0, "price": 98.5} for cusip in cusips_to_sell]
    buy = {"trade_type": "buy", "par_value": 500_000.0, "price": 99.0, "rating_agency_a": "B2", "spread": 375.0}
    return sells + [buy | {"borrower_name": f"Bought {number}"} for number in range(TRADES - len(sells))]


def _verify(answer: dict[str, Any], portfolio: core.Portfolio, trades: list[dict[str, Any]]) -> None:
    """The service says what the library says."""
    expected = core.simulate(portfolio, [core.Trade(**trade) for trade in trades], "enhanced")
    if answer["results"] != msgspec.to_builtins(expected.results):
        raise AssertionError("the service and the library differ")


bench_scenarios = asked(
    Question(
        name=f"scenarios/simulate, {TRADES} trades on {LOANS} loans, over HTTP", prepare=_simulated, data=_asked,
        bounds=(LEAST_NAME,), repeats=REPEATS, warm=WARM, seconds_most=SECONDS_MOST,
    ),
    Question(
        name=f"scenarios/preview, {TRADES} trades on {PREVIEW_LOANS} loans, over HTTP", prepare=_preview,
        data=_previewed, bounds=(LEAST_NAME,), repeats=REPEATS, warm=WARM, seconds_most=SECONDS_MOST,
    ),
)  # fmt: skip
