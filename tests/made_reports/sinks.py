"""Columns that carry no field of a loan.

Numbers of rows, accrued interest, leverage, comments and their like.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any, Final

from tests.made_reports.cells import Habits, print_cell
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column
from tests.made_reports.words import SINKS

_PEOPLE: Final = ("J. Ames", "K. Patel", "R. Osei", "M. Lund", "T. Brandt")
_SPONSORS: Final = ("Alder Equity Partners", "North Quay Capital", "Founder Owned", "Public", "Three Rivers Capital")
_AGENTS: Final = ("JPMorgan", "Bank of America", "Barclays", "Deutsche Bank", "Goldman Sachs", "Antares")
_COMMENTS: Final = (None, None, None, None, "Amended Q2", "Watch margin trend", "Repriced in March", "Under review")

_Draw = Callable[[Random, Deal, int, Habits], Any]


def _money(rng: Random, deal: Deal, loan: int, habits: Habits, share: float) -> Any:
    return print_cell("par", round(deal.items["par"][loan] * share, 2), habits, "").cell


def _day(deal: Deal, days: int, habits: Habits) -> Any:
    return print_cell("default_date", deal.as_of + timedelta(days=days), habits, "").cell


_DRAWS: Final[dict[str, _Draw]] = {
    "position_type": lambda rng, deal, loan, habits: "Long",
    "par_native": lambda rng, deal, loan, habits: print_cell("par", deal.items["par_native"][loan], habits, "").cell,
    "fx_rate": lambda rng, deal, loan, habits: deal.items["fx_rate"][loan],
    "par_settled": lambda rng, deal, loan, habits: _money(rng, deal, loan, habits, 0.0 if loan % 17 == 3 else 1.0),
    "original_face": lambda rng, deal, loan, habits: _money(rng, deal, loan, habits, 1.0 + (loan * 37 % 50) / 100),
    "accrued": lambda rng, deal, loan, habits: _money(rng, deal, loan, habits, rng.uniform(0.001, 0.02)),
    "next_payment": lambda rng, deal, loan, habits: _day(deal, rng.choice((16, 31, 47, 77)), habits),
    "trade_date": lambda rng, deal, loan, habits: _day(deal, -rng.randrange(40, 1500), habits),
    "mark_date": lambda rng, deal, loan, habits: _day(deal, 0, habits),
    "ebitda": lambda rng, deal, loan, habits: round(rng.uniform(8, 400), 1),
    "leverage": lambda rng, deal, loan, habits: round(rng.uniform(2.5, 7.9), 2),
    "interest_cover": lambda rng, deal, loan, habits: round(rng.uniform(0.9, 3.6), 2),
    "market_value_amount": lambda rng, deal, loan, habits: _money(
        rng, deal, loan, habits, deal.items["price"][loan] / 100
    ),
    "share": lambda rng, deal, loan, habits: (
        print_cell("floor", round(deal.items["par"][loan] / deal.par * 100, 4), habits, "").cell
    ),
    "comment": lambda rng, deal, loan, habits: rng.choice(_COMMENTS),
    "analyst": lambda rng, deal, loan, habits: rng.choice(_PEOPLE),
    "sponsor": lambda rng, deal, loan, habits: rng.choice(_SPONSORS),
    "agent": lambda rng, deal, loan, habits: rng.choice(_AGENTS),
    "asset_type": lambda rng, deal, loan, habits: "Bond" if deal.items["bond"][loan] else "Term Loan",
    "region": lambda rng, deal, loan, habits: "North America" if deal.items["country"][loan] in "US CA" else "Europe",
    "report_date": lambda rng, deal, loan, habits: _day(deal, 0, habits),
    "load_date": lambda rng, deal, loan, habits: _day(deal, 2, habits),
    "prior_price": lambda rng, deal, loan, habits: (
        print_cell("price", round(deal.items["price"][loan] + rng.uniform(-1.5, 1.5), 3), habits, "").cell
    ),
    "prior_moodys": lambda rng, deal, loan, habits: rng.choice((deal.items["moodys"][loan] or "B2", "B2", "B3")),
    "prior_sp": lambda rng, deal, loan, habits: rng.choice((deal.items["sp"][loan] or "B", "B", "B-")),
    "price_change": lambda rng, deal, loan, habits: round(rng.uniform(-1.5, 1.5), 3),
    "pik_margin": lambda rng, deal, loan, habits: None,
    "fund": lambda rng, deal, loan, habits: deal.name.split(" ")[0].upper() + "1",
    "internal_rating": lambda rng, deal, loan, habits: rng.randrange(1, 6),
}
"""Sink -> its cell for a loan; numbers of rows are made apart."""

AMOUNTS: Final = ("accrued", "market_value_amount", "par_settled", "original_face")


def sink_column(rng: Random, deal: Deal, loans: list[int], sink: str, habits: Habits) -> Column:
    """Make a column that carries no field."""
    if sink == "row_number":
        cells: list[Any] = list(range(1, len(loans) + 1))
    elif sink == "record_key":
        first = rng.randrange(900_000, 9_000_000)
        cells = [first + at for at in range(len(loans))]
    else:
        cells = [_DRAWS[sink](rng, deal, loan, habits) for loan in loans]
    return Column(sink, rng.choice(SINKS[sink]), cells, adds=sink in AMOUNTS)
