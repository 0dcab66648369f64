"""A lender's loan list for a borrowing base.

Long headings with (Y/N), fractions, EBITDA and leverage, NR for unrated.

Layout known from borrowing base certificates of US middle-market facilities, which are filed with credit agreements.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal, make_foreign
from tests.made_reports.model import Column, Page, Report, Rows
from tests.made_reports.styles.build import FOREIGN_SHARE, Build, with_native_par
from tests.made_reports.words import heading

MARKET = "us"

_ITEMS = (
    "borrower", "facility", "currency", "par", "unfunded", "purchase_price", "price", "lien", "fixed", "index",
    "spread", "floor", "base_level", "maturity", "moodys", "sp", "industry", "country", "defaulted", "cov_lite", "dip",
    "frequency",
)  # fmt: skip
_NEEDED = ("borrower", "facility", "par", "unfunded", "currency")
_SINKS = ("ebitda", "leverage", "interest_cover", "trade_date", "sponsor", "row_number", "internal_rating", "comment")


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a workbook with a loan list and a page of inputs."""
    deal.items["industry"] = deal.items["industry_sp"]
    for item in ("moodys", "sp"):
        deal.items[item] = [value if rng.random() < 0.15 else None for value in deal.items[item]]
    habits = Habits(
        rate=rng.choice(("bare", "fraction", "percent")),
        price=rng.choice(("fraction", "percent")),
        flag=rng.choice(("words", "letters")),
        lien="words",
        unrated="NR",
        zero=rng.choice((0.0, 0.0, "-", None)),
        index=rng.choice(("term", "long", "tenor")),
    )
    is_foreign = rng.random() < FOREIGN_SHARE
    if is_foreign:
        make_foreign(rng, deal)
    build = Build(rng, deal, habits, ("private",))
    items = [item for item in _ITEMS if item in _NEEDED or rng.random() < 0.85]
    items += build.optional(*_SINKS, share=0.5)
    if "row_number" in items:
        items.remove("row_number")
        items.insert(0, "row_number")
    loans = build.by_name()
    page = build.page("Loan List", [], items, loans, total=rng.choice(("", "Total")))
    if is_foreign:
        with_native_par(build, page)
    if not is_foreign and rng.random() < 0.4:
        commitment(rng, page, only=rng.random() < 0.5)
    inputs: Rows = [
        [deal.name],
        ["Borrowing Base Certificate"],
        ["Determination Date", deal.as_of],
        ["Advance Rate", 0.65],
        ["Facility Amount", 300_000_000],
        ["Principal Collections", deal.cash],
    ]
    return Report("borrowing_base", seed, deal, [page], habits, [("Inputs", inputs)])


def commitment(rng: Random, page: Page, *, only: bool) -> None:
    """Put the commitment before the par, or in its place.

    Par is then the commitment less what is undrawn.
    """
    par, unfunded = page.column("par"), page.column("unfunded")
    assert par is not None
    assert unfunded is not None
    assert par.values is not None
    assert unfunded.values is not None
    cells = [round(a + b, 2) for a, b in zip(par.values, unfunded.values, strict=True)]
    column = Column("commitment", heading(rng, "commitment"), cells, adds=True)
    at = page.columns.index(par)
    page.columns.insert(at, column)
    if only:
        page.columns.remove(par)
        column.also = {"par": par.values}
