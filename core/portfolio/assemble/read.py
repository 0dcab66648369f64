"""Read the portfolio of a workbook: loans, notes, deal and printed figures."""

from __future__ import annotations

from dataclasses import replace

from core.grid.sheet import Workbook
from core.portfolio.assemble.assemble import assemble
from core.portfolio.assemble.plausibility import doubts
from core.portfolio.cells.loans import Loans
from core.portfolio.mapping.joined import join_pages
from core.portfolio.mapping.reader import HEADERS_TOLD
from core.portfolio.mapping.sheet_loans import read_loans
from core.portfolio.model.fields import (
    PROFILES,
    Mapping,
    mapping_of,
)
from core.portfolio.model.notes import DataWarning, Notes, warn_of_formulas, warn_of_reading
from core.portfolio.model.portfolio import AnyPortfolio, Deal, GivenSource, PortfolioData
from core.portfolio.pages.base_rates import base_rate_of, in_percent
from core.portfolio.pages.currency import exchange_rates, settle
from core.portfolio.pages.printed import beside_loans
from core.portfolio.pages.rating_columns import with_agency_ratings
from core.portfolio.pages.report.read import PageReport, read_report
from core.portfolio.pages.tranches import read_amortization
from core.portfolio.sheets.locate import locate, no_loans
from core.portfolio.sheets.located import LocatedBook
from core.values import day_of


def portfolio_from_workbook(
    book: Workbook,
    mapping: Mapping | str | None,
    as_of: tuple[float, GivenSource] | None,
    *,
    into: type[AnyPortfolio],
) -> AnyPortfolio:
    """See `Portfolio.from_workbook`."""
    return portfolio_of(locate(book, mapping_of(mapping)), as_of, into=into)


def portfolio_of(
    located: LocatedBook, as_of: tuple[float, GivenSource] | None, *, into: type[AnyPortfolio]
) -> AnyPortfolio:
    """Read the portfolio of a workbook whose sheets are matched."""
    book = located.book
    if located.loans is None:
        report = read_report(located)
        report.warnings.extend(_of_files(book))
        notes = Notes(message=no_loans(located), warnings=report.warnings)
        return into(
            0,
            {},
            {},
            {},
            {},
            None,
            report.tranches,
            _set_as_of(report.deal, None, as_of, notes),
            None,
            "Holdings",
            notes,
            report.cells,
            facts=report.facts,
        )
    reader, loans, report = read_loans(located, located.loans)
    report.warnings.extend(_of_files(book))
    join_pages(located, loans)
    loans.notes.warnings += report.warnings
    loans.tranches = report.tranches
    loans.deal = _set_as_of(_of_holdings(report, loans.notes), loans.notes.as_of_column, as_of, loans.notes)
    loans.facts = report.facts
    _add_base_rate(located, loans)
    currency, is_stated = loans.deal.currency, "deal.currency" in report.cells
    settle(loans, currency, reader.par_in_deal_currency, exchange_rates(book), is_stated=is_stated)
    loans.source_cells = report.cells | loans.source_cells
    portfolio = beside_loans(with_agency_ratings(assemble(into, loans, lambda ids: read_amortization(book, ids))))
    portfolio.notes.warnings += doubts(portfolio)
    return portfolio


def _add_base_rate(located: LocatedBook, loans: Loans) -> None:
    """Take the level of the loans' index from a page of rates where no label says it.

    By the loans' rates a small one may be a fraction.
    """
    deal_rate = loans.deal.base_rate
    if deal_rate is not None:
        loans.deal = replace(loans.deal, base_rate=in_percent(deal_rate, deal_rate, loans))
        return
    base_rate = base_rate_of(located, loans)
    if base_rate is None:
        return
    rate, place = base_rate
    loans.deal = replace(loans.deal, base_rate=rate)
    loans.source_cells["deal.base_rate"] = place
    loans.notes.warnings.append(DataWarning("base_rate_by_page", f"the base rate is {rate:.6g} % by {place}"))


def missing_columns(portfolio: PortfolioData, mapping: Mapping) -> list[str]:
    """Return what the mapping requires and no column of the workbook feeds.

    Each comes with the columns that were looked for: no figure should be made of such loans.

    Empty for a built-in mapping, whose fields are what most files have, and without a sheet of loans; an issuer's id
    does for the borrower's name.
    """
    if mapping.id in PROFILES or not portfolio.notes.holdings_found:
        return []
    fields = {field.target: field for field in mapping.fields}
    return [
        f"{target} ({', '.join(repr(alias) for alias in fields[target].aliases[:HEADERS_TOLD])})"
        for target in portfolio.notes.missing_required
        if not (target == "borrower_name" and "issuer_id" in portfolio.names)
    ]


def _of_files(book: Workbook) -> list[DataWarning]:
    """Return warnings about the workbook's files as such."""
    return [*warn_of_formulas(book), *warn_of_reading(book), *_unread_files(book)]


def _unread_files(book: Workbook) -> list[DataWarning]:
    """Warn of files of an archive that were left out, by name."""
    if not book.left_out:
        return []
    names = ", ".join(map(repr, book.left_out))
    return [DataWarning("file_left_out", f"files of another kind than a spreadsheet's were not read: {names}")]


def _of_holdings(report: PageReport, notes: Notes) -> Deal:
    """Return the deal with the day of a column of the holdings.

    That is where the pages say only when the report was made.
    """
    deal, column = report.deal, notes.as_of_column
    header = notes.matched_columns.get("as_of", "")
    is_other = report.is_report_day and column is not None and deal.as_of is not None and column < deal.as_of
    if not is_other or column is None or deal.as_of is None or "report" in header.lower():
        return deal
    message = (
        f"the loans are of {day_of(column)} by their column {header!r}, and the report of {day_of(deal.as_of)}: the "
        "first is used"
    )
    notes.warnings.append(DataWarning("as_of_conflict", message))
    report.cells.pop("deal.as_of", None)
    return replace(deal, as_of=column, as_of_source="column")


def _set_as_of(deal: Deal, column: float | None, known: tuple[float, GivenSource] | None, notes: Notes) -> Deal:
    """Return the deal with its as-of day.

    It is the caller's or the workbook record's day, else the file's, else a column of the holdings, else (with a
    warning) the day of the file or of its upload.
    """
    if known is not None and known[1] in ("request", "workbook"):
        return replace(deal, as_of=known[0], as_of_source=known[1])
    if deal.as_of is not None:
        return deal
    if column is not None:
        return replace(deal, as_of=column, as_of_source="column")
    if known is None:
        return deal
    words = {"modified": "was last changed", "upload": "was uploaded"}[known[1]]
    notes.warnings.append(
        DataWarning("as_of_stands_in", f"nothing in the file says its day: {day_of(known[0])} is when it {words}")
    )
    return replace(deal, as_of=known[0], as_of_source=known[1])
