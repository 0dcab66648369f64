"""A schedule of investments of private credit.

Groups by industry, SF+525, maturities as months, footnotes, subtotals.

Layout known from schedules of investments in Form 10-K of business development companies (Form N-2, item 8.6).
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal
from tests.made_reports.model import Extra, Line, Page, Report, Section, Subtotal
from tests.made_reports.rate_cells import rate_cells
from tests.made_reports.styles.build import Build

MARKET = "us"

_FOOTNOTES = ("(1)", "(2)(3)", "(a)", "(b)(c)", "*", "(4)(5)")


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a schedule of one sheet."""
    deal.items["industry"] = deal.items["industry_sp"]
    habits = Habits(
        rate="text",
        money=rng.choice((1_000.0, 1.0)),
        decimals=0,
        date=rng.choice(("month", "numbers of month", "whole month", "short month", "american", "date")),
        lien="loans",
        sign="$" if rng.random() < 0.2 else "",
    )
    build = Build(rng, deal, habits, ("private",))
    by_industry, carries_names = rng.random() < 0.6, rng.random() < 0.35
    items = ["borrower", "facility", *([] if by_industry else ["industry"])]
    items += build.optional("lien", "country", share=0.4)
    items += ["rate_cell", *build.optional("floor", "all_in", share=0.7), "maturity", "par"]
    items += build.optional("market_value_amount", "ebitda", "leverage", "sponsor", share=0.4)
    titles = [deal.name, "Schedule of Investments", f"{deal.as_of:%B %d, %Y}"]
    titles += ["(dollar amounts in thousands)"] if habits.money != 1.0 else []
    order = sorted(
        range(deal.size), key=lambda at: (deal.items["industry"][at] if by_industry else "", deal.items["borrower"][at])
    )
    page = build.page("Schedule of Investments", titles, [item for item in items if item != "rate_cell"], order)
    at = [column.item for column in page.columns].index("maturity")
    page.columns.insert(at, rate_cells(rng, deal, order, has_all_in="all_in" in items))
    if rng.random() < 0.6:
        mark(rng, page, "borrower")
    if by_industry:
        _by_industry(page, deal)
    if carries_names:
        _names_above(page)
    if rng.random() < 0.4:
        add_equity(rng, page, deal)
    page.total = rng.choice(("Total Investments", "Total"))
    return Report("private", seed, deal, [page], habits)


def add_equity(rng: Random, page: Page, deal: Deal) -> None:
    """Put shares and warrants below the loans, under a heading of their own, some with a number of units."""
    has_units = rng.random() < 0.5
    page.lines.append(Section(rng.choice(("Equity Investments", "Equity and Warrants", "Equity"))))
    for loan in rng.sample(range(deal.size), rng.randrange(3, 9)):
        cells = {
            "borrower": deal.items["borrower"][loan],
            "facility": rng.choice(("Common Stock", "Warrants", "Class A Units", "Preferred Equity")),
            "par": rng.randrange(100, 90_000) if has_units else None,
            "market_value_amount": rng.randrange(50, 4_000),
        }
        page.lines.append(Extra(cells))


def mark(rng: Random, page: Page, item: str) -> None:
    """Put footnote marks behind some cells of a column, and what they mean below the table."""
    column = page.column(item)
    if column is None:
        return
    column.marks = [rng.choice(_FOOTNOTES) if rng.random() < 0.35 else "" for _ in column.cells]
    page.foot += ["(1) All investments are pledged as collateral.", "(2) The rate is subject to a floor."]


def _by_industry(page: Page, deal: Deal) -> None:
    """Put the industry above its loans, and a subtotal below."""
    lines: list[Line] = []
    group: list[int] = []
    names = [deal.items["industry"][loan] for loan in page.loans]
    for row, name in enumerate(names):
        if row == 0 or name != names[row - 1]:
            lines.append(Section(name))
        lines.append(row)
        group.append(row)
        if row == len(names) - 1 or names[row + 1] != name:
            lines.append(Subtotal(f"Total {name}", tuple(group)))
            group = []
    page.lines = lines


def _names_above(page: Page) -> None:
    """Put the borrower on a line of its own above its facilities."""
    column = page.column("borrower")
    assert column is not None
    lines: list[Line] = []
    before = None
    for line in page.lines:
        if isinstance(line, int):
            name = column.cells[line]
            if name != before:
                lines.append(Section(name + (column.marks[line] if column.marks else "")))
            before = name
        else:
            before = None
        lines.append(line)
    page.lines = lines
    column.marks = None
    column.cells = [None] * len(column.cells)
