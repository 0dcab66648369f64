"""A European administrator's export.

Semicolons, decimal commas, days with dots, margins in basis points.

Layout known from exports of European administrators and from the fields of ESMA's loan-level templates.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits, print_cell
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column, Page, Report
from tests.made_reports.styles.build import Build

MARKET = "euro"

_ITEMS = (
    "borrower", "issuer_id", "facility", "loanx", "isin", "currency", "par", "unfunded", "purchase_price", "price",
    "fixed", "index", "base_level", "spread", "floor", "all_in", "frequency", "maturity", "sp_issuer", "sp_facility",
    "recovery_sp", "fitch", "recovery_fitch", "moodys_cfr", "industry_sp", "industry_fitch", "country", "lien",
    "cov_lite", "defaulted", "current_pay", "facility_size", "average_life",
)  # fmt: skip
_SINKS = ("fund", "asset_type", "market_value_amount", "comment", "mark_date", "region", "pik_margin")


_TRADED_AND_SETTLED = (
    ("Nominal (Traded)", "Nominal (Settled)"), ("Traded Notional", "Settled Notional"),
    ("Notional (Trade Date)", "Notional (Settlement Date)"),
)  # fmt: skip


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a report of one csv file."""
    habits = Habits(
        unrated=rng.choice((None, "NR", "NR", "***")),
        rate=rng.choice(("comma", "comma", "comma percent")),
        brackets=rng.random() < 0.5,
        spread=rng.choice(("points", "points", "same")),
        price="comma",
        comma=True,
        flag=rng.choice(("texts", "words", "letters")),
        lien="senior",
        date="dots",
        coupon_type=rng.choice(("short", "words")),
        country=rng.choice(("codes", "names")),
    )
    build = Build(rng, deal, habits, ("euro",))
    items = [item for item in _ITEMS if rng.random() < 0.88 or item in ("borrower", "par", "facility")]
    items += build.optional(*_SINKS, share=0.5)
    has_day = rng.random() < 0.6
    if has_day:
        items.insert(rng.randrange(3), "report_date")
    has_settled = rng.random() < 0.4
    if has_settled:
        items.insert(items.index("par") + rng.randrange(2), "par_settled")
    titles = [] if rng.random() < 0.6 else [deal.name, f"Holdings as of {deal.as_of:%d.%m.%Y}"]
    sold = rng.sample(range(deal.size), rng.randrange(1, 6)) if rng.random() < 0.4 else []
    loans = [loan for loan in build.by_name() for _ in range(1 + (loan in sold))]
    page = build.page("Holdings", titles, items, loans)
    if sold:
        _sell(build, page, set(sold))
    if has_settled:
        par, settled = page.column("par"), page.column("par_settled")
        assert par is not None
        assert settled is not None
        par.heading, settled.heading = rng.choice(_TRADED_AND_SETTLED)
    name = f"{deal.name.split(' ')[0].upper()}_Holdings_{deal.as_of:%d%m%Y}.csv"
    report = Report("euro", seed, deal, [page], habits, carrier="csv", separator=";", file_name=name)
    report.says_day = has_day or bool(titles)
    return report


def _sell(build: Build, page: Page, sold: set[int]) -> None:
    """Print sales that are not settled as negative rows of the same instrument, below what is held without them."""
    items, par = build.deal.items, page.column("par")
    assert par is not None
    is_sale = [row > 0 and page.loans[row - 1] == loan for row, loan in enumerate(page.loans)]
    sales = [round(items["par"][loan] * 0.25, 2) if loan in sold else 0.0 for loan in page.loans]
    amounts = [
        -sale if own else round(items["par"][loan] + sale, 2)
        for loan, own, sale in zip(page.loans, is_sale, sales, strict=True)
    ]
    settled = [0.0 if own else amount for own, amount in zip(is_sale, amounts, strict=True)]
    values = [round(amount * items["price"][loan] / 100, 2) for loan, amount in zip(page.loans, amounts, strict=True)]
    unfunded = [0.0 if own else items["unfunded"][loan] for loan, own in zip(page.loans, is_sale, strict=True)]
    for item, own in (
        ("par", amounts),
        ("par_settled", settled),
        ("market_value_amount", values),
        ("unfunded", unfunded),
    ):
        if column := page.column(item):
            pairs = [print_cell("par", amount, build.habits, "") for amount in own]
            column.cells = [pair.cell for pair in pairs]
            column.values = None if column.values is None else [pair.value for pair in pairs]
    types = ["Pending Sale" if own else "Long" for own in is_sale]
    page.columns.insert(page.columns.index(par), Column("position_type", "Position Type", list(types)))
