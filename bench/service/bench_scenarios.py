"""POST /scenarios/{id}/simulate on a 200-loan deal: the whole service as a user has it, one caller at a time."""

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
TRADES = 10
WARM = 20
REPEATS = 200
SECONDS_MOST = 0.010


def run() -> list[Figure]:
    """The median of a simulation over HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deal.xlsx"
        generate(loans=LOANS, seed=7).write(path)
        portfolio = core.Portfolio.from_workbook(core.read(path))
        trades = _trades(portfolio)
        with serving() as url:
            client = Client(url)
            try:
                body = {"name": "Swap", "base_workbook_id": client.uploaded(path), "trades": trades}
                scenario_id = client.post("/api/v1/scenarios", body)["id"]
                simulate = f"/api/v1/scenarios/{scenario_id}/simulate"
                _verify(json.loads(client.exchange("POST", simulate)), portfolio, trades)
                seconds, least = paired_seconds(
                    lambda: client.exchange("POST", simulate),
                    lambda: client.exchange("GET", LEAST),
                    repeats=REPEATS,
                    warm=WARM,
                )
            finally:
                client.close()
    return [
        Figure(
            name=f"scenarios/simulate, {TRADES} trades on {LOANS} loans, over HTTP",
            seconds=seconds,
            peer=LEAST_NAME,
            peer_seconds=least,
            seconds_most=SECONDS_MOST,
        )
    ]


def _trades(portfolio: core.Portfolio) -> list[dict[str, Any]]:
    """Half of them sell a part of a loan that is held, half buy a new one."""
    cusips = portfolio.names["cusip"]
    held = [cusips.values[code] for code in cusips.codes[: TRADES // 2]]
    sells = [{"trade_type": "sell", "cusip": cusip, "par_value": 100_000.0, "price": 98.5} for cusip in held]
    buy = {"trade_type": "buy", "par_value": 500_000.0, "price": 99.0, "rating_agency_a": "B2", "spread": 375.0}
    return sells + [buy | {"borrower_name": f"Bought {number}"} for number in range(TRADES - len(sells))]


def _verify(answer: dict[str, Any], portfolio: core.Portfolio, trades: list[dict[str, Any]]) -> None:
    """The service says what the library says."""
    expected = core.simulate(portfolio, [core.Trade(**trade) for trade in trades], "enhanced")
    if answer["results"] != msgspec.to_builtins(expected.results):
        raise AssertionError("the service and the library differ")
