"""Sections of a European trustee in the way of BNY Mellon.

Assets by one name of issuer and facility.

Layout known from published reports of BNY Mellon on European deals: pages "Asset Information", the name as "Issuer -
Facility", identifiers on the first page, ratings and recovery rates of S&P and Fitch, totals below.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column, Page, Report
from tests.made_reports.styles.build import Build, deal_pages
from tests.made_reports.words import heading

MARKET = "euro"


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a report of pages keyed by the asset's whole name."""
    habits = Habits(
        unrated=rng.choice((None, "NR", "NR", "***")),
        rate=rng.choice(("percent", "percent", "fraction", "text")),
        flag=rng.choice(("letters", "words", "marks")),
        lien=rng.choice(("senior", "words")),
        date=rng.choice(("date", "words")),
        coupon_type=rng.choice(("words", "short")),
        country=rng.choice(("names", "codes")),
        index=rng.choice(("tenor", "long")),
    )
    build = Build(rng, deal, habits, ("trustee",))
    first = ["isin", "loanx", "par", *build.optional("unfunded"), "currency", "lien", "maturity", "price"]
    second = ["fixed", "index", "spread", "floor", "all_in", "frequency", "cov_lite", "country"]
    second += build.optional("defaulted", "current_pay", "deferring", "purchase_price", share=0.5)
    third = ["sp_issuer", "recovery_sp", "industry_sp", "fitch", "recovery_fitch", "industry_fitch"]
    third += build.optional("moodys", "watch_sp", share=0.4)
    pages, separator = [], rng.choice((" - ", " / ", " - "))
    lines, is_grouped = rng.choice((1, 2)), rng.random() < 0.3
    words = heading(rng, "description", "trustee")
    for number, items in enumerate((first, second, third), 1):
        loans = build.by_name()
        page = build.page(
            f"Asset Information {'I' * number}",
            [deal.name, f"Asset Information {'I' * number}", f"As of {deal.as_of:%d-%b-%Y}"],
            items,
            loans,
            groups=is_grouped and number == 3,
            total="Total:" if number == 1 else "",
            head_lines=lines,
            repeat=rng.choice((0, 0, 40)),
        )
        page.columns.insert(0, descriptions(deal, loans, words, separator))
        pages.append(page)
    if rng.random() < 0.35:
        pages.append(_lots(build, words, separator))
    return Report("bny", seed, deal, pages, habits, deal_pages(build, f"{deal.as_of:%d-%b-%Y}"))


def _lots(build: Build, words: str, separator: str) -> Page:
    """Make a page of the lots in which each asset was bought, whose par adds up to the position."""
    deal, rng = build.deal, build.rng
    rows = [(loan, share) for loan in build.by_name() for share in (rng.choice(((1.0,), (1.0,), (0.4, -0.4))))]
    loans = [loan for loan, _ in rows]
    par = [deal.items["par"][loan] for loan in loans]
    first = [round(own * abs(share), 2) for own, (_, share) in zip(par, rows, strict=True)]
    amounts = [a if share > 0 else round(b - a, 2) for a, b, (_, share) in zip(first, par, rows, strict=True)]
    lot_par = Column("lot_par", heading(rng, "lot_par"), list(amounts), adds=True)
    name, title = "Asset Information IV", "Asset Information IV - Purchase Lots"
    page = build.page(name, [deal.name, title, f"As of {deal.as_of:%d-%b-%Y}"], ["purchase_price", "trade_date"], loans)
    page.columns[:0] = [descriptions(deal, loans, words, separator), lot_par]
    return page


def descriptions(deal: Deal, loans: list[int], words: str, separator: str) -> Column:
    """Make a column with issuer and facility in one cell."""
    names = [f"{deal.items['borrower'][at]}{separator}{deal.items['facility'][at]}" for at in loans]
    facilities = [deal.items["facility"][at] for at in loans]
    column = Column("description", words, list(names), list(zip(names, facilities, strict=True)))
    column.also = {"borrower": [deal.items["borrower"][at] for at in loans]}
    return column
