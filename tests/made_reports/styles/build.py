"""What the styles share.

Pages of items in drawn words, pages of the deal, and how often something is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column, Page, Rows, make_column
from tests.made_reports.sinks import sink_column
from tests.made_reports.styles.lists import defaulted_list, largest_obligors, strata, trades
from tests.made_reports.words import SINKS, heading

AGENCY_WORDS: Final = {"moodys": "Moody's", "sp": "S&P", "fitch": "Fitch"}


FOREIGN_SHARE: Final = 0.2
"""Of the reports that have loans in several currencies, in the styles that print par in both."""
AMOUNTS_APART: Final = ("unfunded", "facility_size")
"""Amounts that such a report leaves out, as nobody could say in which currency they are."""
LIST_SHARE: Final = 0.5
"""Of the lists beside the loans that a report has."""


@dataclass
class Build:
    """A style at work on one deal."""

    rng: Random
    deal: Deal
    habits: Habits
    registers: tuple[str, ...]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def optional(self, *items: str, share: float = 0.6) -> list[str]:
        """Keep some of these items, each with the same chance."""
        return [item for item in items if self.chance(share)]

    def column(self, loans: list[int], item: str, *, group: str = "") -> Column:
        if item in SINKS:
            return sink_column(self.rng, self.deal, loans, item, self.habits)
        registers = ("group",) if group else self.registers
        words = heading(self.rng, item, *registers)
        if item == "spread" and self.habits.spread == "points" and self.chance(0.6):
            words += self.rng.choice((" (bps)", " bps", " (bp)"))
        return make_column(self.deal, loans, item, words, self.habits, group=group)

    def page(self, name: str, titles: list[str], items: list[str], loans: list[int], **options: Any) -> Page:
        """Make a page of these items.

        `groups` puts the ratings of an agency under its name.
        """
        is_grouped = options.pop("groups", False)
        columns = []
        for item in items:
            agency = next((words for key, words in AGENCY_WORDS.items() if key in item.split("_")), "")
            columns.append(self.column(loans, item, group=agency if is_grouped else ""))
        distinguish(self.rng, columns, self.registers)
        return Page(name, titles, columns, loans, list(range(len(loans))), **options)

    def reordered(self) -> list[int]:
        order = list(range(self.deal.size))
        self.rng.shuffle(order)
        return order

    def by_name(self) -> list[int]:
        return sorted(range(self.deal.size), key=self.deal.items["borrower"].__getitem__)


_DEAL_AND_NATIVE: Final = {
    "database": (("BASE_PAR_AMT", "LOCAL_PAR_AMT"), ("ParAmountDealCcy", "ParAmountNativeCcy")),
    "short": (("Par Amt (USD)", "Par Amt (Local)"), ("Prin Bal Deal Ccy", "Prin Bal Native Ccy")),
    "private": (("Outstanding Balance (USD)", "Outstanding Balance (Local Currency)"),),
}


def with_native_par(build: Build, page: Page) -> None:
    """Head par by the deal's currency, and put par in the loan's own and its rate beside it."""
    par = page.column("par")
    assert par is not None
    native, rate = build.column(page.loans, "par_native"), build.column(page.loans, "fx_rate")
    par.heading, native.heading = build.rng.choice(_DEAL_AND_NATIVE[build.registers[0]])
    if unfunded := page.column("unfunded"):
        unfunded.heading += " (USD)"
    at = page.columns.index(par) + build.rng.randrange(2)
    page.columns[at:at] = [native, rate] if build.chance(0.7) else [native]


def distinguish(rng: Random, columns: list[Column], registers: tuple[str, ...]) -> None:
    """Draw headings anew until no two columns have the same under the same group."""
    seen: set[tuple[str, str]] = set()
    for column in columns:
        for _ in range(20):
            if (column.group, column.heading) not in seen:
                break
            column.heading = heading(rng, column.item, *(("group",) if column.group else registers))
        seen.add((column.group, column.heading))


def deal_pages(build: Build, day: str) -> list[tuple[str, Rows]]:
    """Make a page of the deal's days and sums, one of its accounts and one of its notes."""
    deal, rng = build.deal, build.rng
    summary: Rows = [
        [deal.name],
        [f"{rng.choice(('As of', 'Determination Date:', 'As of Date:'))} {day}"],
        [],
        ["Next Payment Date", deal.as_of + timedelta(days=rng.randrange(8, 40))],
        ["Stated Maturity", deal.as_of + timedelta(days=3600)],
        ["Number of Assets", deal.size],
        ["Aggregate Principal Balance", round(deal.par, 2)],
        ["Principal Cash", deal.cash],
    ]
    accounts: Rows = [
        [deal.name],
        ["Account Balances"],
        [],
        ["Account", "Balance"],
        ["Principal Collection Account", deal.cash],
        ["Interest Collection Account", round(deal.cash / 3, 2)],
        ["Expense Reserve Account", 100_000],
    ]
    notes: Rows = [
        [deal.name],
        ["Notes"],
        [],
        ["Class", "Original Balance", "Current Balance"],
        *([f"Class {name}" if len(name) == 1 else f"{name} Notes", amount, amount] for name, amount in deal.classes),
    ]
    lists = [
        trades(rng, deal),
        defaulted_list(deal),
        largest_obligors(deal),
        strata(deal, "industry_sp", "Industry Distribution"),
        strata(deal, "country", "Country Distribution"),
    ]
    sample = [loan_list for loan_list in lists if rng.random() < LIST_SHARE]
    return [("Summary", summary), ("Accounts", accounts), ("Notes", notes), *sample]
