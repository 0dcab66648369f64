"""What a careful reader can know of each loan of a report, by item, and which fields of a portfolio say it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from tests.made_reports.model import Column, Page, Report

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "borrower": ("borrower_name",),
    "facility": ("facility_name",),
    "description": ("facility_name",),
    "cusip": ("cusip",),
    "loanx": ("loanx_id",),
    "isin": ("isin",),
    "issuer_id": ("issuer_id",),
    "par": ("par_value",),
    "unfunded": ("unfunded",),
    "price": ("price",),
    "purchase_price": ("purchase_price",),
    "spread": ("spread",),
    "floor": ("floor",),
    "base_level": ("base_rate_level",),
    "all_in": ("all_in_rate",),
    "index": ("base_rate",),
    "fixed": ("is_fixed",),
    "moodys": ("rating_agency_a",),
    "moodys_cfr": ("rating_agency_a_issuer",),
    "moodys_dp": ("rating_agency_a_derived",),
    "moodys_facility": ("rating_agency_a_facility", "facility_rating_agency_a"),
    "sp": ("rating_agency_b",),
    "sp_issuer": ("rating_agency_b_issuer",),
    "sp_facility": ("rating_agency_b_facility",),
    "fitch": ("rating_agency_c", "rating_agency_c_issuer"),
    "watch_moodys": ("watch_a",),
    "watch_sp": ("watch_b",),
    "recovery_moodys": ("recovery_rate_a",),
    "recovery_sp": ("recovery_rate_b",),
    "recovery_fitch": ("recovery_rate_c",),
    "industry": ("industry",),
    "industry_moodys": ("industry_a",),
    "industry_sp": ("industry_b",),
    "industry_fitch": ("industry_c",),
    "country": ("country",),
    "currency": ("currency",),
    "maturity": ("maturity_date",),
    "frequency": ("payment_frequency",),
    "lien": ("lien_type",),
    "defaulted": ("is_defaulted",),
    "cov_lite": ("cov_lite",),
    "dip": ("is_dip",),
    "current_pay": ("is_current_pay",),
    "deferring": ("is_deferring",),
    "participation": ("participation",),
    "revolver": ("is_revolving",),
    "delayed_draw": ("is_delayed_draw",),
    "default_date": ("default_date",),
    "facility_size": ("facility_size",),
    "average_life": ("average_life",),
    "quote_depth": ("quote_depth",),
}
"""Item -> the fields that say it; any one of them will do."""

GENERAL: Final[dict[str, tuple[str, ...]]] = {
    "rating_agency_a": ("moodys_dp", "moodys_cfr", "moodys"),
    "rating_agency_b": ("sp_issuer", "sp"),
    "rating_agency_c": ("fitch",),
    "recovery_rate": ("recovery_moodys", "recovery_sp", "recovery_fitch"),
    "industry": ("industry", "industry_moodys", "industry_sp", "industry_fitch"),
}
"""Field that one of several columns feeds -> the items that may; a facility's rating stands in for none of them."""


MASK: Final = "***"
"""In place of a rating that is not shown."""

RATED: Final = ("moodys", "moodys_cfr", "moodys_dp", "moodys_facility", "sp", "sp_issuer", "sp_facility", "fitch")
"""Items that are ratings."""


@dataclass
class Truth:
    """What the pages of a report say, by the deal's loans."""

    size: int
    items: dict[str, list[Any]] = field(default_factory=dict)
    """Item -> value of each loan."""
    marked: dict[str, list[Any]] = field(default_factory=dict)
    """Item -> ratings with the marks of watches behind them, where there are any."""
    headings: dict[str, str] = field(default_factory=dict)
    """Item -> where it stands: sheet, column and heading."""
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Item -> name of its sheet and letters of its column."""

    @property
    def loan_count(self) -> int:
        return self.size

    def add(self, page: Page, column: Column, item: str, values: list[Any]) -> None:
        first = item not in self.items
        if first and item in RATED and (column.marks or MASK in column.cells):
            self.marked[item] = [None] * self.size
            for loan, cell, mark in zip(page.loans, column.cells, column.marks or [""] * len(page.loans), strict=True):
                self.marked[item][loan] = f"{cell}{mark}" if cell else None
        by_loan = self.items.setdefault(item, [None] * self.size)
        letters = column_letters(page.left + next(at for at, own in enumerate(page.columns) if own is column))
        self.columns.setdefault(item, (page.name, letters))
        heading = f"{column.group} | {column.heading}" if column.group else column.heading
        self.headings.setdefault(item, f"{page.name}!{letters} {heading!r}")
        for loan, value in zip(page.loans, values, strict=True):
            if column.adds and first:
                by_loan[loan] = value if by_loan[loan] is None else by_loan[loan] + (value or 0.0)
            elif by_loan[loan] is None:
                by_loan[loan] = value


def column_letters(at: int) -> str:
    """Name a column, 0-based, as a spreadsheet does."""
    letters = ""
    while at >= 0:
        letters, at = chr(ord("A") + at % 26) + letters, at // 26 - 1
    return letters


def truth_of(report: Report) -> Truth:
    """Collect what the current pages say.

    The first page that says an item is believed.
    """
    truth = Truth(report.deal.size)
    for page in report.pages:
        if not page.is_current:
            continue
        for column in page.columns:
            if column.values is not None:
                truth.add(page, column, column.item, column.values)
            for item, values in column.also.items():
                truth.add(page, column, item, values)
    return truth
