"""Pages beside the loans that hold loans' names or amounts and are none.

Trades, lists, largest obligors, strata.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from random import Random
from typing import Final

from tests.made_reports.deal import Deal
from tests.made_reports.model import Rows

_TRADES: Final = 12
_LARGEST: Final = 10


def trades(rng: Random, deal: Deal) -> tuple[str, Rows]:
    """Make a page of the month's purchases and sales."""
    rows: Rows = [
        [deal.name],
        ["Purchases and Sales"],
        [],
        ["Type", "Obligor", "Asset Description", "Par Amount", "Price", "Trade Date", "Settle Date"],
    ]
    for loan in rng.sample(range(deal.size), _TRADES):
        day = deal.as_of - timedelta(days=rng.randrange(1, 30))
        items = deal.items
        par = float(rng.randrange(1, 8) * 250_000)
        rows.append(
            [
                rng.choice(("Purchase", "Sale")), items["borrower"][loan], items["facility"][loan], par,
                items["price"][loan], day, day + timedelta(days=10),
            ]
        )  # fmt: skip
    return "Trading Activity", rows


def defaulted_list(deal: Deal) -> tuple[str, Rows]:
    """Make a page of the defaulted loans."""
    rows: Rows = [
        [deal.name],
        ["Defaulted Obligations"],
        [],
        ["Obligor", "Principal Balance", "Default Date", "Market Value"],
    ]
    items = deal.items
    for loan in range(deal.size):
        if items["defaulted"][loan]:
            rows.append(
                [items["borrower"][loan], items["par"][loan], items["default_date"][loan], items["price"][loan]]
            )
    if len(rows) == 4:
        rows.append(["No data"])
    return "Defaulted Obligations", rows


def largest_obligors(deal: Deal) -> tuple[str, Rows]:
    """Make a page of the largest obligors."""
    sums: dict[str, float] = defaultdict(float)
    for name, par in zip(deal.items["borrower"], deal.items["par"], strict=True):
        sums[name] += par
    rows: Rows = [[deal.name], ["Ten Largest Obligors"], [], ["Rank", "Obligor", "Principal Balance", "% of Total"]]
    for rank, (name, par) in enumerate(sorted(sums.items(), key=lambda pair: -pair[1])[:_LARGEST], 1):
        rows.append([rank, name, round(par, 2), round(par / deal.par, 6)])
    return "Top Obligors", rows


def strata(deal: Deal, item: str, title: str) -> tuple[str, Rows]:
    """Make a page of par by the values of an item."""
    sums: dict[str, list[float]] = defaultdict(list)
    for value, par in zip(deal.items[item], deal.items["par"], strict=True):
        sums[value].append(par)
    rows: Rows = [
        [deal.name],
        [title],
        [],
        [title.split(" ")[0], "Number of Assets", "Principal Balance", "% of Total"],
    ]
    for value, pars in sorted(sums.items()):
        rows.append([value, len(pars), round(sum(pars), 2), round(sum(pars) / deal.par, 6)])
    rows.append(["Total", deal.size, round(deal.par, 2), 1.0])
    return title, rows
