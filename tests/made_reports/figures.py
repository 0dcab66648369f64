"""Figures of a report.

Loans, par, the day, and results of tests, beside those of what its pages print.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any, Final, NamedTuple

import numpy as np

from core.compliance.run import run_suite
from core.portfolio import Portfolio
from tests.made_reports.doubts import Doubts
from tests.made_reports.model import Report
from tests.made_reports.truth import FIELDS, Truth

EPOCH: Final = date(1970, 1, 1)
SUITE: Final = "enhanced"
DEFINITIONS: Final = {"USD": "us_bsl", "EUR": "euro"}
LIENS: Final = {1: "First Lien", 2: "Second Lien", 3: "Unsecured", 4: "Bond"}
_WITHIN: Final = 2e-4
"""How far a figure may be off, relative to its size and at least to 1: what is printed is rounded."""


class Figure(NamedTuple):
    """A figure of the reading beside that of what is printed."""

    name: str
    printed: float | None
    read: float | None
    is_doubtful: bool

    @property
    def kind(self) -> str:
        """Say whether it is right, wrong or missing."""
        if self.read is None:
            return "missing"
        if self.printed is None:
            return "wrong"
        return "right" if abs(self.read - self.printed) <= _WITHIN * max(1.0, abs(self.printed)) else "wrong"


def figures_of(report: Report, truth: Truth, portfolio: Portfolio, general: dict[str, str]) -> Iterator[Figure]:
    """Compare the figures of a reading.

    `general` says which item feeds a field that several columns may.
    """
    doubts = Doubts(portfolio)
    loans, par = truth.loan_count, sum(value or 0.0 for value in truth.items["par"])
    read_par = float(portfolio.numbers["par_value"].sum()) if "par_value" in portfolio.numbers else None
    yield Figure("loans", loans, portfolio.row_count or None, doubts.of("par_value"))
    yield Figure("par", round(par, 2), None if read_par is None else round(read_par, 2), doubts.of("par_value"))
    day = (report.deal.as_of - EPOCH).days if report.says_day else None
    if day is not None:
        yield Figure("as_of", day, portfolio.deal.as_of, doubts.of("as_of"))
    yield from _results(report, truth, portfolio, general)


def _results(report: Report, truth: Truth, portfolio: Portfolio, general: dict[str, str]) -> Iterator[Figure]:
    definition = DEFINITIONS[report.deal.market.currency]
    printed = run_suite(
        _truth_portfolio(report, truth, portfolio, general), SUITE, definition=definition, details=False
    )
    read = {
        read_result.test_id: read_result
        for read_result in run_suite(portfolio, SUITE, definition=definition, details=False)
    }
    for result in printed:
        own = read.get(result.test_id)
        if own is None:
            yield Figure(result.test_id, result.current_value, None, is_doubtful=True)
        else:
            yield Figure(result.test_id, result.current_value, own.current_value, bool(own.doubt))


def _truth_portfolio(report: Report, truth: Truth, portfolio: Portfolio, general: dict[str, str]) -> Portfolio:
    """The loans as the pages print them, with the notes and the accounts of the reading."""
    columns: dict[str, Any] = {}
    for item, values in truth.items.items():
        columns[FIELDS[item][0]] = [_column_value(item, value) for value in truth.marked.get(item, values)]
    for name, item in general.items():
        columns[name] = truth.marked.get(item, truth.items[item])
    if "moodys_facility" in truth.items:
        columns["facility_rating_agency_a"] = truth.items["moodys_facility"]
    for name, item in (("rating_agency_a", "moodys_facility"), ("rating_agency_b", "sp_facility")):
        if item in truth.items and name not in columns and name in portfolio.ranks:
            columns[name] = truth.items[item]  # nothing else is there, and the reader may let it stand in
    columns = _from_other_pages(report, portfolio) | columns
    deal = portfolio.deal
    if report.says_day:
        deal = replace(deal, as_of=float((report.deal.as_of - EPOCH).days), as_of_source="file")
    return Portfolio.from_columns(columns, tranches=portfolio.tranches, deal=deal)


def _from_other_pages(report: Report, portfolio: Portfolio) -> dict[str, Any]:
    """What the loans' own columns may leave out.

    What a list says of defaulted loans; prices, where the reader takes them from market values.
    """
    items, columns = report.deal.items, dict[str, Any]()
    if any(name == "Defaulted Obligations" for name, _ in report.others):
        for item in ("price", "default_date"):
            pairs = zip(items[item], items["defaulted"], strict=True)
            columns[FIELDS[item][0]] = [value if is_defaulted else None for value, is_defaulted in pairs]
        columns["is_defaulted"] = items["defaulted"]
    prices = portfolio.numbers.get("price", np.zeros(0))
    has_values = any(page.is_current and page.column("market_value_amount") for page in report.pages)
    if has_values and np.count_nonzero(~np.isnan(prices)) > sum(items["defaulted"]):
        columns["price"] = items["price"]
    return columns


def _column_value(item: str, value: Any) -> Any:
    if item == "description":
        return value[1]
    return LIENS.get(value) if item == "lien" else value
