"""Pages of a US trustee in the way of U.S.

Bank: the schedule of investments in parts, each in another order.

Layout known from monthly reports of U.S. Bank: a part for descriptions, one for interest, one for ratings under the
names of the agencies, one for classifications; titles and head stand again on each printed page.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column, Report
from tests.made_reports.styles.build import Build, deal_pages
from tests.made_reports.words import heading

MARKET = "us"


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a report of pages keyed by an id of the asset, or by issuer and facility."""
    habits = Habits(
        unrated=rng.choice((None, "NR")),
        rate=rng.choice(("fraction", "fraction", "percent")),
        flag=rng.choice(("words", "letters")),
        lien=rng.choice(("words", "ordinals")),
        date=rng.choice(("date", "date", "words")),
        index=rng.choice(("term", "tenor", "long")),
    )
    build = Build(rng, deal, habits, ("trustee",))
    by_names = rng.random() < 0.3
    keys = ["borrower", "facility"] if by_names else ["asset_id"]
    plan = _plan(build)
    pages, is_grouped, repeat = [], rng.random() < 0.6, rng.choice((0, 30, 44))
    id_words = heading(rng, "asset_id")
    for number, (title, items) in enumerate(plan, 1):
        loans = build.by_name() if number == 1 else build.reordered()
        first = ["borrower", "facility"] if number == 1 else []
        own = [*first, *items] if by_names and first else [*keys, *([] if by_names else first), *items]
        page = build.page(
            f"SOI Part {number}",
            [deal.name, f"Monthly Report - Determination Date: {deal.as_of:%B %d, %Y}", f"{title}"],
            [item for item in own if item != "asset_id"],
            loans,
            groups=is_grouped and "Ratings" in title,
            repeat=repeat,
            total="Total" if "par" in items and rng.random() < 0.7 else "",
            foot=["Page 1 of 1"] if rng.random() < 0.3 else [],
        )
        if not by_names:
            page.columns.insert(0, asset_ids(deal, loans, id_words))
        pages.append(page)
    return Report("us_bank", seed, deal, pages, habits, deal_pages(build, f"{deal.as_of:%B %d, %Y}"))


def asset_ids(deal: Deal, loans: list[int], words: str) -> Column:
    """Make the key of a page: the LoanX number, else the CUSIP."""
    return Column("asset_id", words, [deal.items["loanx"][at] or deal.items["cusip"][at] for at in loans])


def _plan(build: Build) -> list[tuple[str, list[str]]]:
    first = ["par", *build.optional("cusip", "isin", "country", "currency", "unfunded", "share", "asset_type")]
    rates = ["fixed", "index", "base_level", "floor", "spread", "all_in", "frequency", "maturity"]
    rates += build.optional("average_life", "next_payment", "accrued")
    ratings = ["moodys_cfr", "watch_moodys", "moodys_dp", "recovery_moodys", "sp_issuer", "sp_facility"]
    ratings += build.optional("recovery_sp", "fitch")
    classes = ["industry_moodys", "industry_sp", "lien", "cov_lite", "defaulted", "price"]
    classes += build.optional("dip", "current_pay", "deferring", "participation", "purchase_price", "facility_size")
    return [
        ("Schedule of Investments - Part I (Description)", first),
        ("Schedule of Investments - Part II (Interest and Maturity)", rates),
        ("Schedule of Investments - Part III (Ratings)", ratings),
        ("Schedule of Investments - Part IV (Classification)", classes),
    ]
