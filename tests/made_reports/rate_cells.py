"""Cells that say several things of a rate, such as SF+525 and S + 5.25%."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.made_reports.deal import Deal
from tests.made_reports.model import Column

_CODES: Final = {
    "SOFR": ("SF", "S", "SOFR"), "LIBOR": ("L", "L", "LIBOR"), "EURIBOR": ("E", "E", "EURIBOR"),
}  # fmt: skip


def rate_cells(rng: Random, deal: Deal, loans: list[int], *, has_all_in: bool) -> Column:
    """Make a column with index and spread in one cell.

    For fixed loans with their coupon, unless it stands beside.
    """
    short, letter, long = _CODES[deal.market.index]
    shape = rng.choice((f"{short}+{{points:.0f}}", f"{letter}+ {{percent:.2f}}%", f"{long} + {{percent:.2f}}%"))
    fixed = (
        rng.choice((None, "N/A")) if has_all_in else rng.choice(("{:.2f}% Fixed", "{:.2f}% (Fixed)", "Fixed {:.2f}%"))
    )
    cells: list[str | None] = []
    for at in loans:
        spread = deal.items["spread"][at]
        if spread is not None:
            cells.append(shape.format(points=spread, percent=spread / 100))
        else:
            cells.append(fixed and fixed.format(deal.items["all_in"][at]))
    words = rng.choice(("Rate", "Reference Rate and Spread", "Spread Above Index", "Index and Margin"))
    column = Column("spread", words, list(cells), [deal.items["spread"][at] for at in loans])
    column.also = {"index": [deal.items["index"][at] for at in loans]}
    if not has_all_in:
        column.also["all_in"] = [
            round(deal.items["all_in"][at], 2) if deal.items["spread"][at] is None else None for at in loans
        ]
    return column
