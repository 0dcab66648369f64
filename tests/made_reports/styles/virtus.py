"""One wide sheet in the way of Virtus and State Street.

Every field of an asset on one line, headings cut short.

Layout known from flat collateral files of Virtus Partners and State Street: 40 to 70 columns, abbreviated headings
that are broken over two or three lines, percentages as numbers.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal, make_foreign
from tests.made_reports.model import Report
from tests.made_reports.styles.build import AMOUNTS_APART, FOREIGN_SHARE, Build, deal_pages, with_native_par

MARKET = "us"

_FIRST = ("borrower", "facility")
_ITEMS = (
    "cusip", "loanx", "par", "unfunded", "price", "purchase_price", "fixed", "index", "base_level", "spread", "floor",
    "all_in", "frequency", "maturity", "average_life", "moodys_cfr", "moodys_dp", "moodys_facility", "sp_issuer",
    "sp_facility", "watch_moodys", "watch_sp", "recovery_moodys", "recovery_sp", "industry_moodys", "industry_sp",
    "country", "currency", "lien", "defaulted", "default_date", "cov_lite", "dip", "current_pay", "facility_size",
    "quote_depth",
)  # fmt: skip
_SINKS = (
    "accrued",
    "next_payment",
    "market_value_amount",
    "share",
    "trade_date",
    "original_face",
    "asset_type",
    "region",
    "agent",
)


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a report of one sheet."""
    habits = Habits(
        unrated=rng.choice((None, "NR")),
        rate=rng.choice(("percent", "fraction")),
        spread=rng.choice(("same", "points")),
        flag=rng.choice(("letters", "bits", "words")),
        lien=rng.choice(("ordinals", "short", "words")),
        coupon_type=rng.choice(("short", "codes", "words")),
        country=rng.choice(("names", "codes")),
        date=rng.choice(("date", "american", "words")),
        capitals=rng.random() < 0.3,
    )
    is_foreign = rng.random() < FOREIGN_SHARE
    if is_foreign:
        make_foreign(rng, deal)
    build = Build(rng, deal, habits, ("short",))
    items = [*_FIRST, *(item for item in _ITEMS if rng.random() < 0.85 or item in ("par", "currency"))]
    items += build.optional(*_SINKS, share=0.5)
    if rng.random() < 0.4:
        rest = items[2:]
        rng.shuffle(rest)
        items[2:] = rest
    if is_foreign:
        items = [item for item in items if item not in AMOUNTS_APART]
    page = build.page(
        rng.choice(("Collateral", "Asset Detail", "Collateral Detail", "Loan Tape")),
        [f"{deal.name}", f"Collateral Detail as of {deal.as_of:%m/%d/%Y}"],
        items,
        build.by_name(),
        head_lines=rng.choice((1, 2, 3)),
        total=rng.choice(("", "Total", "Grand Total")),
    )
    if is_foreign:
        with_native_par(build, page)
    return Report("virtus", seed, deal, [page], habits, deal_pages(build, f"{deal.as_of:%m/%d/%Y}"))
