"""From the sheets of a workbook to a portfolio: columns to fields, cells to values in the fields' units."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.address import range_name
from core.grid.sheet import Workbook
from core.portfolio import ratings
from core.portfolio.assemble import UNSAID, Loans, assemble
from core.portfolio.cells import parsing, typed
from core.portfolio.cells.parsing import TEXT, Cells, Pool, bit, spread_out
from core.portfolio.cells.typed import NormalColumn
from core.portfolio.currency import exchange_rates, says_currency, settle
from core.portfolio.deal import read_amortization
from core.portfolio.fields import IDENTIFIERS, PROFILES, SHARED_TARGETS, Lien, Mapping
from core.portfolio.layout import header, table
from core.portfolio.layout.below import Below
from core.portfolio.locate import (
    TOO_MANY,
    Candidate,
    Holdings,
    candidates,
    chosen,
    header_words,
    in_units_of_title,
    pages,
    passed_over,
)
from core.portfolio.notes import DataWarning, Notes
from core.portfolio.pages import PageLoans, joined
from core.portfolio.plausibility import doubts
from core.portfolio.portfolio import Deal, GivenSource, Portfolio
from core.portfolio.profile import pipeline
from core.portfolio.report.read import read_report
from core.values import day_of

_TEXTS: Final = frozenset(
    ("cusip", "loanx_id", "isin", "borrower_name", "issuer_id", "facility_name", "industry", "country", "currency",
     "payment_frequency")
)  # fmt: skip
FILES_NAMED: Final = 5
"""Of the files that were not read, how many a warning names."""

FOOTING_DIGITS: Final = 0.005
"""Currency units by which a sheet's total may differ from the sum of its loans."""

HEADERS_TOLD: Final = 5
"""Columns that a warning names."""

NEAR_SHARE: Final = 1e-3
"""Share of the sum by which a figure that stands alone may differ from it and still be meant for it."""


def portfolio_from_workbook(
    book: Workbook, mapping: Mapping | None, as_of: tuple[float, GivenSource] | None
) -> Portfolio:
    """See `Portfolio.from_workbook`."""
    mapping = mapping or PROFILES["standard_clo"]
    rated = candidates(book, mapping)
    holdings = chosen(rated)
    tops = {one.sheet.index: one.found.top for one in rated if one.found and one.has_loans}
    if holdings is None:
        report = read_report(book, tops)
        report.warnings.extend(_unread_files(book))
        notes = Notes(message=f"no sheet has a header that {header_words(mapping)}", warnings=report.warnings)
        return Portfolio(
            0, {}, {}, {}, {}, None, report.tranches, _dated(report.deal, None, as_of, notes), None, "Holdings", notes,
            report.cells, published=report.published,
        )  # fmt: skip
    reader = Reader(book, holdings, mapping)
    loans = reader.loans()
    loans.notes.warnings += _titled(holdings)
    report = read_report(book, tops, {holdings.sheet.index: reader.end})
    report.warnings.extend(_unread_files(book))
    join_pages(book, mapping, rated, holdings, loans)
    loans.notes.warnings += report.warnings
    loans.tranches, loans.deal = report.tranches, _dated(report.deal, reader.as_of, as_of, loans.notes)
    loans.published = report.published
    currency, is_stated = loans.deal.currency, "deal.currency" in report.cells
    settle(loans, currency, reader.par_in_deal_currency(currency), exchange_rates(book), is_stated=is_stated)
    loans.source_cells = report.cells | loans.source_cells
    portfolio = assemble(loans, lambda ids: read_amortization(book, ids))
    portfolio.notes.warnings += doubts(portfolio)
    return portfolio


def missing_columns(portfolio: Portfolio, mapping: Mapping) -> list[str]:
    """What a mapping of one's own requires and no column of the workbook feeds, each with the columns that were looked
    for: no figure should be made of such loans.

    Empty for a built-in mapping, whose fields are what most files have, and without a sheet of loans; an issuer's id
    does for the borrower's name.
    """
    if mapping.id in PROFILES or not portfolio.notes.holdings_found:
        return []
    fields = {one.target: one for one in mapping.fields}
    return [
        f"{target} ({', '.join(repr(alias) for alias in fields[target].aliases[:HEADERS_TOLD])})"
        for target in portfolio.notes.missing_required
        if fields[target].default is None and not (target == "borrower_name" and "issuer_id" in portfolio.names)
    ]


def _titled(holdings: Holdings) -> list[DataWarning]:
    """That a line above the loans says what their amounts are multiplied by."""
    line, scale = holdings.titled
    message = f"Amounts of sheet {holdings.sheet.name!r} are multiplied by {scale:,.0f}: {line!r} stands above them."
    return [DataWarning("units_of_title", message)] if line else []


def _unread_files(book: Workbook) -> list[DataWarning]:
    """That files of an archive were left out, the first of them by name."""
    if not book.left_out:
        return []
    count, names = len(book.left_out), ", ".join(repr(name) for name in book.left_out[:FILES_NAMED])
    more = f" and {count - FILES_NAMED:,} more" if count > FILES_NAMED else ""
    return [DataWarning("file_left_out", f"files of another kind than a spreadsheet's were not read: {names}{more}")]


def join_pages(book: Workbook, mapping: Mapping, rated: list[Candidate], holdings: Holdings, loans: Loans) -> None:
    """Give the loans of one sheet what the other sheets say of them, and note which are left out."""
    read, unread = [], 0
    for page in pages(rated, holdings, mapping):
        if page.left_out == TOO_MANY:
            unread += 1
            continue
        located = in_units_of_title(page.sheet, page.found)
        of_page = Reader(book, located, mapping).loans()
        of_page.notes.warnings += _titled(located)
        read.append(PageLoans(of_page, page.lists, page.left_out))
    joined(loans, read)
    if unread:
        message = f"{unread:,} sheets that may say something of the loans were not read: {TOO_MANY}."
        loans.notes.warnings.append(DataWarning("page_left_out", message))
    left_out = {note.sheet for note in loans.notes.pages if note.part == "left out"}
    loans.notes.sheets_not_read = [name for name in passed_over(rated, holdings, mapping) if name in left_out]


def _dated(deal: Deal, column: float | None, given: tuple[float, GivenSource] | None, notes: Notes) -> Deal:
    """The deal with its as-of day: a caller's or the workbook's own record's, else what the file says, else a column
    of the holdings, else the day of the file or of its upload, which is told.
    """
    if given is not None and given[1] in ("request", "workbook"):
        return replace(deal, as_of=given[0], as_of_source=given[1])
    if deal.as_of is not None:
        return deal
    if column is not None:
        return replace(deal, as_of=column, as_of_source="column")
    if given is None:
        return deal
    words = {"modified": "was last changed", "upload": "was uploaded"}[given[1]]
    notes.warnings.append(
        DataWarning("as_of_stands_in", f"nothing in the file says its day: {day_of(given[0])} is when it {words}")
    )
    return replace(deal, as_of=given[0], as_of_source=given[1])


class Reader:
    """Reads the columns of one holdings sheet."""

    def __init__(self, book: Workbook, holdings: Holdings, mapping: Mapping) -> None:
        self._sheet, self.found = holdings.sheet, holdings.found
        pool = Pool(self._sheet.text, book.number_formats, date_1904=book.date_1904)
        self.below = Below(self._sheet, pool, self.found.row + 1, self._sheet.row_count)
        self.mapping = mapping
        works = pipeline.works(mapping)
        self._works = {
            target: work.on(self._preference(target, self.found.columns[target][0]))
            if target in self.found.columns
            else work
            for target, work in works.items()
        }
        self._required = [one.target for one in mapping.fields if one.required]
        self._loan_cells: dict[int, Cells] = {}
        self._rows: NDArray[np.int64] | slice = slice(0, 0)
        self.unreadable: dict[str, int] = {}
        """Target -> cells with something in them that is no value of it."""
        self.columns = {target: places[0] for target, places in self.found.columns.items()}
        """Target -> the column that feeds it."""
        self.passed_over: dict[int, str] = {}
        """Columns whose values are not what their header promises, with what they are."""
        self.as_of: float | None = None
        self.scales: dict[str, parsing.Scale] = {}
        """Target -> the unit its column was found to be in."""
        self.rows = table.Loans(slice(0, 0), 0, None, {})
        """Which of the rows below the header are loans."""

    def loans(self) -> Loans:
        """All mapped columns of the rows that are loans, in their units."""
        columns = self.columns
        par = self._par(columns)
        rows = self.rows = table.pick(self.below, self.found, self.mapping, par)
        self._rows = rows.rows
        self.unreadable.pop("par_value", None)  # such a row is no loan, and counted as one without a par
        kept = self._rows
        loans = Loans(row_count=kept.stop - kept.start if isinstance(kept, slice) else len(kept))
        loans.sheet_name = self._sheet.name
        if par is not None:
            loans.numbers["par_value"] = par[kept]
        self._choose_price(columns)
        for target in columns.keys() - {"par_value", "borrower_name"}:
            self._read(loans, target, columns[target])
        if "borrower_name" in columns:
            self._read_borrower(loans, columns["borrower_name"], rows.borrower)
        self._commitments(loans)
        self._check(loans)
        self._stand_ins(loans)
        self._note(loans, columns)
        if par is not None:
            self._foot(loans, par)
        return loans

    def _foot(self, loans: Loans, par: NDArray[np.float64]) -> None:
        """Warn of a total that is not the sum of the loans; of several one that is will do."""
        left_out = self.rows.left_out
        said = [left_out.get(reason, np.zeros(0, np.int64)) for reason in ("total_rows", "unidentified_rows")]
        with np.errstate(over="ignore", invalid="ignore"):
            own = float(np.nansum(par[self._rows]))
            # What nothing calls a total is one where it comes near the sum.
            near = said[1][np.abs(par[said[1]] - own) <= NEAR_SHARE * abs(own)]
            figures = par[np.concatenate((said[0], near))]
            figures = figures[~np.isnan(figures)]
            if not len(figures) or abs(float(figures.sum()) - own) <= FOOTING_DIGITS:
                return
            differences = np.abs(figures - own)
        if not (differences <= FOOTING_DIGITS).any():
            total = float(figures[np.argmin(differences)])
            message = f"The total of sheet {self._sheet.name!r} is {total:,.2f}; its loans add up to {own:,.2f}."
            loans.notes.warnings.append(DataWarning("page_total_differs", message))

    @property
    def end(self) -> int:
        """The row of the sheet below its last loan."""
        rows = self.rows.rows
        if isinstance(rows, slice):
            return self.below.row(rows.stop - 1) + 1 if rows.stop else self.found.row + 1
        return self.below.row(int(rows[-1])) + 1 if len(rows) else self.found.row + 1

    def par_in_deal_currency(self, currency: str | None) -> NDArray[np.float64] | None:
        """Par by a column whose header says that it is in the deal's currency, where another one feeds par."""
        for place in self.found.columns.get("par_value", [])[1:]:
            if says_currency(self.found.texts[place], currency or ""):
                return parsing.read_numbers(self.cells(place)).values * self.found.magnitude(place)
        return None

    def cells(self, column: int) -> Cells:
        """A column's cells of the rows that are loans."""
        cells = self._loan_cells.get(column)
        if cells is None:
            cells = self.below.cells(column)
            if not isinstance(self._rows, slice) or self._rows != slice(0, len(cells.kinds)):
                cells = cells.take(self._rows)
            self._loan_cells[column] = cells
        return cells

    def _par(self, columns: dict[str, int]) -> NDArray[np.float64] | None:
        """The par of all rows below the header, in units of currency; its default where the rest of a loan is there."""
        if "par_value" not in columns:
            return None
        cells, field = self.below.cells(columns["par_value"]), self._works["par_value"].field
        if field.type != "number":  # in a mapping of one's own; what is done with text or dates makes no amount
            return self._in_unit("par_value", cells, None)
        values = self._in_unit("par_value", self._prepared("par_value", cells), None)
        if field.default is None:
            return values
        rows = np.isnan(values)
        for targets in (("borrower_name",), (*IDENTIFIERS, "facility_name", "maturity_date")):
            said = [self.below.cells(columns[target]).present() for target in targets if target in columns]
            rows &= np.any(said, axis=0) if said else True
        return np.where(rows, float(field.default), values)

    def _preference(self, target: str, column: int) -> int:
        return self.found.preferences.get((target, column), 0)

    def _prepared(self, target: str, cells: Cells, column: int | None = None) -> Cells:
        """The cells of a target with the mapping's own transforms made, and its default in the blanks.

        Args:
            column: where they stand, if not in the column that feeds the target.
        """
        work = self._works[target]
        if column is not None:
            work = work.on(self._preference(target, column))
        if not work.transforms and work.field.default is None:
            return cells
        cells, lost = pipeline.prepared(work, cells)
        if lost:
            self.unreadable[target] = lost
        return cells

    def _read(self, loans: Loans, target: str, column: int) -> None:
        """One column into the place that its target has in a portfolio."""
        cells = self._prepared(target, self.cells(column))
        kind = self._works[target].field.type
        if target in ratings.AGENCY_OF:
            loans.ranks[target] = self._ranks(loans, cells, target)
        elif target == "lien_type":
            loans.lien = self._liens(loans, cells, column)
        elif target == "base_rate":
            for place in self.found.columns[target]:
                self._base_rate(loans, place)
        elif target == "coupon_type":
            loans.coupon_fixed = _coupon_types(cells)
        elif target == "as_of":
            days = parsing.read_dates(cells)
            self.as_of = float(np.nanmax(days)) if np.isfinite(days).any() else None
        elif target in _TEXTS or kind == "string":
            loans.texts[target] = parsing.read_text(cells, upper=target in IDENTIFIERS)
        elif kind == "date":
            loans.numbers[target] = parsing.read_dates(cells)
        elif kind == "boolean":
            loans.flags[target] = parsing.read_flags(cells, target, blank=UNSAID)
        else:
            values = self._in_unit(target, cells, loans.numbers.get("par_value"))
            default = self._works[target].field.default
            loans.numbers[target] = values if default is None else np.where(np.isnan(values), float(default), values)

    def _in_unit(self, target: str, cells: Cells, par: NDArray[np.float64] | None) -> NDArray[np.float64]:
        numbers = parsing.read_numbers(cells, is_spread=target == "spread")
        if numbers.unreadable:
            self.unreadable[target] = numbers.unreadable
        return self._scaled(target, numbers, self.columns[target], par)

    def _scaled(
        self, target: str, numbers: parsing.Numbers, column: int, par: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """A column in its target's unit; how that was told is kept. One with a numeric transform is in it already."""
        if target in self._works and self._works[target].says_unit:
            self.scales[target] = parsing.Scale("as written", "nothing")
            return numbers.values
        unit, magnitude = self.found.unit(column), self.found.magnitude(column)
        scale = self.scales[target] = parsing.scale(target, numbers, unit, magnitude, has_par=par is not None)
        return parsing.scaled(numbers, scale, par)

    def _choose_price(self, columns: dict[str, int]) -> None:
        """A column of market values in currency gives way to a later one of prices."""
        places = self.found.columns.get("price", [])
        if len(places) < 2 or self._works["price"].says_unit:
            return
        at = parsing.price_place(places, self.cells)
        columns["price"] = places[at]
        self._works["price"] = self._works["price"].on(self._preference("price", places[at]))
        self.passed_over |= dict.fromkeys(places[:at], "it holds amounts of currency, not prices")

    def _ranks(self, loans: Loans, cells: Cells, target: str) -> NDArray[np.uint8]:
        agency = ratings.AGENCY_OF[target]
        column = parsing.read_text(cells, null_words=False)
        strings = column.text.strings()
        blank = [not ratings.is_masked(text) and text.strip().upper() in parsing.NULL_WORDS for text in strings]
        if any(blank):
            codes = np.where(spread_out(np.array(blank), False, column.codes), np.int32(-1), column.codes)
            column = parsing.TextColumn(codes, column.text)
        loans.texts[target] = column
        read = [ratings.rank(text, agency) for text in strings]
        bad = [
            rank == 0 and not ratings.is_not_rated(text) and not ratings.is_masked(text)
            for rank, text in zip(read, strings, strict=True)
        ]
        if any(bad) and (count := int(np.count_nonzero(spread_out(np.array(bad), False, column.codes)))):
            self.unreadable[target] = count
        return spread_out(np.array(read, np.uint8), 0, column.codes)

    def _liens(self, loans: Loans, cells: Cells, column: int) -> NDArray[np.uint8]:
        present = cells.present()
        loans.notes.lien_blank_rows = int(np.count_nonzero(~present))
        if parsing.is_second_lien_flag(self.found.texts[column]):
            flags = parsing.read_flags(cells, "lien_type")
            said = np.where(flags, np.uint8(Lien.SECOND_LIEN), np.uint8(Lien.FIRST_LIEN))
            return np.where(present, said, np.uint8(Lien.BLANK))
        text = parsing.read_text(cells)
        read = np.array([parsing.lien(one) for one in text.text.strings()], np.uint8)
        read = spread_out(read, Lien.BLANK, text.codes)
        loans.notes.lien_unrecognised_rows = int(np.count_nonzero(read == Lien.OTHER))
        return read

    def _base_rate(self, loans: Loans, place: int) -> None:
        """An index by name, its level in percent, or both in one column; what an earlier column said stays."""
        cells = self._prepared("base_rate", self.cells(place), place)
        numbers = parsing.read_rate_levels(cells)
        is_level = ~np.isnan(numbers.values)
        if is_level.any() and "base_rate_level" not in loans.numbers:
            loans.numbers["base_rate_level"] = self._scaled("base_rate_level", numbers, place)
        if "base_rate" not in loans.categories and (not is_level.any() or cells.seen & bit(TEXT)):
            column = parsing.read_text(cells)
            codes = np.where(is_level, np.int32(-1), column.codes) if is_level.any() else column.codes
            loans.categories["base_rate"] = parsing.categories(
                parsing.TextColumn(codes, column.text), [parsing.base_rate(text) for text in column.text.strings()]
            )

    def _read_borrower(self, loans: Loans, column: int, source: NDArray[np.int64] | None) -> None:
        cells = self.cells(column) if source is None else self.below.cells(column).take(source)
        loans.texts["borrower_name"] = parsing.read_text(self._prepared("borrower_name", cells))

    def _commitments(self, loans: Loans) -> None:
        """Bonds whose funded balance is zero have their par in a Commitment column (trustees' flat files do so).

        A bond is what the lien says, or what has an ISIN and no LoanX id beside loans that have one.
        """
        others = self.found.columns.get("par_value", [])[1:]
        other = next((place for place in others if self._is_commitment(place)), None)
        par = loans.numbers.get("par_value")
        if other is None or par is None:
            return
        bonds = np.zeros(loans.row_count, np.bool_) if loans.lien is None else loans.lien == Lien.BOND
        loanx, isin = loans.texts.get("loanx_id"), loans.texts.get("isin")
        if loanx is not None and isin is not None and (loanx.codes >= 0).any():
            bonds |= (loanx.codes < 0) & (isin.codes >= 0)
        unfunded = (par == 0) & bonds
        if unfunded.any():
            commitment = parsing.read_numbers(self.cells(other)).values * self.found.magnitude(other)
            loans.numbers["par_value"] = np.where(unfunded, commitment, par)

    def _is_commitment(self, column: int) -> bool:
        return header.without_unit(parsing.key(self.found.texts[column])) == "commitment"

    def _check(self, loans: Loans) -> None:
        """Count the rows that break the mapping's own rules, lots not yet added up."""
        failed: dict[str, dict[str, int]] = {}
        for target, work in self._works.items():
            if work.rules and target in self.columns and (counts := pipeline.failures(work, self._typed(loans, work))):
                failed[target] = counts
        loans.notes.rule_failures = failed
        for target, counts in failed.items():
            for rule, count in counts.items():
                message = f"{count:,} rows break the rule {rule!r} of the mapping for {target}."
                loans.notes.warnings.append(DataWarning("rule_broken", message, count))

    def _stand_ins(self, loans: Loans) -> None:
        """Warn of columns that feed fields for which the mapping names others."""
        for target, work in self._works.items():
            column = self.columns.get(target)
            if column is None or not work.field.own or self._preference(target, column) < work.field.own:
                continue
            named = ", ".join(repr(alias) for alias in work.field.aliases[: work.field.own][:HEADERS_TOLD])
            header_text = " ".join(self.found.texts.get(column, "").split())
            message = f"Column {header_text!r} stands in for {target}: the mapping's own ({named}) is not there."
            loans.notes.warnings.append(DataWarning("column_stands_in", message))

    def _typed(self, loans: Loans, work: pipeline.Work) -> NormalColumn:
        """A field's values as its rules see them."""
        target, kind = work.field.target, work.field.type
        if target in loans.numbers and kind in ("number", "date"):
            return NormalColumn(kind, loans.numbers[target])
        cells = self._prepared(target, self.cells(self.columns[target]))
        if kind == "string":
            return typed.read_text(cells).column
        return (typed.read_dates(cells, None) if kind == "date" else typed.read_booleans(cells, target)).column

    def _note(self, loans: Loans, columns: dict[str, int]) -> None:
        notes, texts, counts = loans.notes, self.found.texts, self.rows.counts
        notes.holdings_found = True
        notes.header_row = self.found.row
        notes.matched_columns = {target: " ".join(texts[column].split()) for target, column in sorted(columns.items())}
        notes.missing_required = [target for target in self._required if target not in columns]
        notes.error_cells = sum(self.cells(column).error_count() for column in set(columns.values()))
        once = {column for target, column in columns.items() if target not in SHARED_TARGETS}
        notes.unreadable_cells = {
            target: count
            for target, count in self.unreadable.items()
            if target not in SHARED_TARGETS or columns[target] not in once
        }
        notes.ignored_blank_par = counts.get("ignored_blank_par", 0)
        notes.section_rows = counts.get("section_rows", 0)
        notes.total_rows = counts.get("total_rows", 0)
        notes.subtotal_rows = counts.get("subtotal_rows", 0)
        notes.cash_rows = counts.get("cash_rows", 0)
        notes.repeated_headers = counts.get("repeated_headers", 0)
        notes.unidentified_rows = counts.get("unidentified_rows", 0)
        notes.rows_after_end = counts.get("rows_after_end", 0)
        notes.filled_borrowers = counts.get("filled_borrowers", 0)
        name = self._sheet.name.replace("'", "''")
        kept = self._rows
        places = (
            (kept.start, kept.stop - 1) if isinstance(kept, slice) else (kept[0], kept[-1]) if len(kept) else (0, -1)
        )
        if places[1] >= places[0]:
            low, high = (self.below.row(int(place)) for place in places)
            loans.source_cells = {
                target: f"'{name}'!{range_name(low, column, high, column)}" for target, column in columns.items()
            }


def _coupon_types(cells: Cells) -> NDArray[np.int8]:
    """1 fixed, 0 floating, -1 where the cell does not say."""
    column = parsing.read_text(cells)
    said = np.array([parsing.coupon_is_fixed(text) for text in column.text.strings()], np.int8)
    return spread_out(said, -1, column.codes)
