"""A manager's blotter.

Lots of one loan on lines of their own, par in thousands, comments and prior marks beside.

Layout known from the workbooks that managers keep by hand and from exports of order systems.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal
from tests.made_reports.model import Column, Page, Report
from tests.made_reports.styles.build import Build

MARKET = "us"

_ITEMS = (
    "cusip", "loanx", "par", "unfunded", "purchase_price", "price", "index", "spread", "floor", "all_in", "maturity",
    "moodys_cfr", "moodys_facility", "sp_issuer", "fitch", "industry", "country", "currency", "lien", "defaulted",
    "cov_lite", "facility_size", "average_life", "quote_depth",
)  # fmt: skip
_PLAIN_RATINGS = {"moodys_cfr": "moodys", "sp_issuer": "sp"}
_SINKS = (
    "row_number", "comment", "analyst", "sponsor", "agent", "prior_price", "price_change", "ebitda", "leverage",
    "trade_date", "fund", "internal_rating",
)  # fmt: skip


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a workbook of one sheet by hand."""
    deal.items["industry"] = deal.items[rng.choice(("industry_moodys", "industry_sp"))]
    has_lots = rng.random() < 0.5
    habits = Habits(
        unrated=rng.choice((None, "NR")),
        rate=rng.choice(("percent", "fraction", "text")),
        spread=rng.choice(("points", "same")),
        money=rng.choice((1.0, 1_000.0)),
        flag=rng.choice(("letters", "marks", "booleans", "words")),
        lien=rng.choice(("short", "ordinals")),
        date=rng.choice(("date", "american", "words")),
        country=rng.choice(("codes", "names")),
        index=rng.choice(("short", "tenor")),
        decimals=3,
        zero=rng.choice((0.0, 0.0, "-", None)),
    )
    build = Build(rng, deal, habits, ("manager",))
    items = ["borrower", "facility", *(item for item in _ITEMS if rng.random() < 0.85 or item in ("par", "cusip"))]
    if rng.random() < 0.4:
        items = [_PLAIN_RATINGS.get(item, item) for item in items if item != "moodys_facility"]
    items += build.optional(*_SINKS, share=0.4)
    if "row_number" in items:
        items.remove("row_number")
        items.insert(0, "row_number")
    in_title = habits.money == 1.0 or rng.random() < 0.5
    titles = [f"{deal.name} - positions {deal.as_of:%d %b %Y}"]
    titles += ["(amounts in thousands)"] if habits.money != 1.0 and in_title else []
    loans = build.by_name()
    page = build.page(
        rng.choice(("Positions", "Blotter", "Portfolio")), titles, items, loans, total=rng.choice(("", "Total"))
    )
    if not in_title:
        for item in ("par", "unfunded", "facility_size"):
            if column := page.column(item):
                column.heading += rng.choice((" (000s)", " ($000)", " (in thousands)"))
    if has_lots:
        split_lots(rng, page, habits)
    return Report("blotter", seed, deal, [page], habits)


def split_lots(rng: Random, page: Page, habits: Habits) -> None:
    """Break some loans into two lots, whose amounts add up to the position."""
    rows: list[tuple[int, float]] = []
    for row in range(len(page.loans)):
        if rng.random() < 0.15:
            first = rng.choice((0.25, 0.4, 0.5))
            rows += [(row, first), (row, -first)]
        else:
            rows.append((row, 1.0))
    for column in page.columns:
        _split_column(column, rows, habits)
    page.loans = [page.loans[row] for row, _ in rows]
    page.lines = list(range(len(rows)))


def _split_column(column: Column, rows: list[tuple[int, float]], habits: Habits) -> None:
    cells = [column.cells[row] for row, _ in rows]
    if column.adds:
        for at, (row, share) in enumerate(rows):
            whole = column.cells[row]
            if isinstance(whole, int | float):
                first = round(whole * abs(share), 2)
                cells[at] = first if share > 0 else round(whole - first, 3)
        if column.values is not None:
            column.values = [cell * habits.money if isinstance(cell, int | float) else 0.0 for cell in cells]
    elif column.item == "row_number":
        cells = list(range(1, len(rows) + 1))
    elif column.values is not None:
        column.values = [column.values[row] for row, _ in rows]
    column.cells = cells
