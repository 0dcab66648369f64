"""From the sheets of a workbook to a portfolio: columns to fields, cells to values in the fields' units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.address import range_name
from core.grid.sheet import Sheet, Workbook
from core.portfolio import header, parsing, ratings, table
from core.portfolio.assemble import Loans, assemble
from core.portfolio.deal import is_named, read_amortization, read_deal, read_tranches
from core.portfolio.fields import (
    AMORTIZATION_SHEETS,
    DEAL_SHEETS,
    IDENTIFIERS,
    PROFILES,
    TRANCHE_SHEETS,
    Lien,
    Mapping,
)
from core.portfolio.parsing import TEXT, Cells, Pool, bit, spread_out
from core.portfolio.portfolio import Deal, Portfolio

CURRENCY_PRICE: Final = 200.0
"""A price column with a greater median holds amounts of currency, not percent of par."""

_TEXTS: Final = frozenset(
    ("cusip", "loanx_id", "isin", "borrower_name", "issuer_id", "facility_name", "industry", "country", "currency",
     "payment_frequency")
)  # fmt: skip
_RATES: Final = {"all_in_rate": 0.25, "recovery_rate": 1.0}
_AGENCIES: Final[dict[str, ratings.Agency | None]] = {
    "rating": None,
    "rating_agency_a": "a",
    "rating_agency_b": "b",
    "rating_agency_c": "c",
    "facility_rating_agency_a": "a",
}


@dataclass(frozen=True, slots=True)
class Holdings:
    """The sheet with the loans and its header."""

    sheet: Sheet
    found: header.Found


def find_holdings(book: Workbook, mapping: Mapping) -> Holdings | None:
    """The sheet with the best header score, of equals the first that is not hidden; None when no sheet has a header.

    A header with nothing below it counts only where no sheet has more. A sheet named like one for notes or accounts is
    one of loans only when it names borrowers.
    """
    best: Holdings | None = None
    best_rank = (False, 0, False)
    for sheet in book.sheets:
        found = header.find(sheet, mapping)
        if found is None or (is_named(sheet, TRANCHE_SHEETS | DEAL_SHEETS) and "borrower_name" not in found.columns):
            continue
        if is_named(sheet, AMORTIZATION_SHEETS) and "par_value" not in found.columns:
            continue
        rank = (_has_rows(sheet, found, mapping), found.score, sheet.state == "visible")
        if best is None or rank > best_rank:
            best, best_rank = Holdings(sheet, found), rank
    return best


def _has_rows(sheet: Sheet, found: header.Found, mapping: Mapping) -> bool:
    """Whether a column that makes the header one of loans has a cell below it."""
    for target in found.columns.keys() & set(mapping.anchors):
        stored = sheet.columns[found.columns[target][0]]
        if stored is not None and stored.kinds[max(0, found.row + 1 - stored.start) :].any():
            return True
    return False


def portfolio_from_workbook(book: Workbook, mapping: Mapping | None, as_of: float | None) -> Portfolio:
    """See `Portfolio.from_workbook`."""
    mapping = mapping or PROFILES["standard_clo"]
    tranches, tranche_cells = read_tranches(book)
    deal, deal_cells = read_deal(book)
    holdings = find_holdings(book, mapping)
    cells = tranche_cells | deal_cells
    if holdings is None:
        notes = {
            "holdings_found": False,
            "message": "no sheet has a header that names par and two more fields of a loan",
        }
        return Portfolio(0, {}, {}, {}, {}, None, tranches, _dated(deal, None, as_of), None, "Holdings", notes, cells)
    reader = _Reader(book, holdings, mapping)
    loans = reader.loans()
    loans.tranches, loans.deal = tranches, _dated(deal, reader.as_of, as_of)
    loans.source_cells = cells | loans.source_cells
    return assemble(loans, lambda ids: read_amortization(book, ids))


def _dated(deal: Deal, column: float | None, fallback: float | None) -> Deal:
    """The deal with its as-of day: its own, else the holdings column's, else the caller's."""
    if deal.as_of is not None:
        return deal
    day = column if column is not None else fallback
    return Deal(
        principal_cash=deal.principal_cash, interest_cash=deal.interest_cash, senior_fees=deal.senior_fees,
        base_rate=deal.base_rate, as_of=day, payment_days=deal.payment_days, reference_coupon=deal.reference_coupon,
    )  # fmt: skip


class _Reader:
    """Reads the columns of one holdings sheet."""

    def __init__(self, book: Workbook, holdings: Holdings, mapping: Mapping) -> None:
        self._sheet, self._found = holdings.sheet, holdings.found
        self._pool = Pool(self._sheet.text, book.number_formats, date_1904=book.date_1904)
        self._types = {one.target: one.type for one in (*mapping.fields, *mapping.auxiliary)}
        self._required = [one.target for one in mapping.fields if one.required]
        self._first = self._found.row + 1
        self._last = max(self._first, self._sheet.row_count)
        self._cells: dict[int, Cells] = {}
        self._loan_cells: dict[int, Cells] = {}
        self._rows: NDArray[np.int64] | slice = slice(0, 0)
        self._counts: dict[str, int] = {}
        self._unreadable: dict[str, int] = {}
        self.as_of: float | None = None

    def loans(self) -> Loans:
        """All mapped columns of the rows that are loans, in their units."""
        columns = {target: places[0] for target, places in self._found.columns.items()}
        par = self._numbers(columns.get("par_value"))
        rows = self._pick_rows(columns, par)
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
        self._note(loans, columns)
        return loans

    def _at(self, column: int) -> Cells:
        """A column's cells over the whole height below the header."""
        cells = self._cells.get(column)
        if cells is None:
            stored = self._sheet.columns[column]
            cells = self._cells[column] = Cells.of(stored, self._first, self._last, self._pool)
        return cells

    def _loans_at(self, column: int) -> Cells:
        """A column's cells of the rows that are loans."""
        cells = self._loan_cells.get(column)
        if cells is None:
            cells = self._at(column)
            if not isinstance(self._rows, slice) or self._rows != slice(0, len(cells.kinds)):
                cells = cells.take(self._rows)
            self._loan_cells[column] = cells
        return cells

    def _numbers(self, column: int | None) -> NDArray[np.float64] | None:
        return None if column is None else parsing.read_numbers(self._at(column)).values

    def _pick_rows(self, columns: dict[str, int], par: NDArray[np.float64] | None) -> table.Loans:
        named = {target: self._at(column) for target, column in columns.items()}
        row = self._found.row
        headers = [(named[target], self._header_code(row, column)) for target, column in columns.items()]
        rows = table.loans(
            self._sheet,
            self._pool,
            table.Columns(
                par,
                named.get("borrower_name"),
                [named[target] for target in IDENTIFIERS if target in named],
                named.get("facility_name"),
                named.get("maturity_date"),
                [(cells, code) for cells, code in headers if code >= 0],
            ),
            self._first,
            self._last,
        )
        self._rows, self._counts = rows.rows, rows.counts
        return rows

    def _header_code(self, row: int, column: int) -> int:
        stored = self._sheet.columns[column]
        return -1 if stored is None or not stored.start <= row < stored.stop else int(stored.codes[row - stored.start])

    def _read(self, loans: Loans, target: str, column: int) -> None:
        """One column into the place that its target has in a portfolio."""
        cells = self._loans_at(column)
        if target in _AGENCIES:
            loans.ranks[target] = self._ranks(loans, cells, target)
        elif target == "lien_type":
            loans.lien = self._liens(loans, cells, column)
        elif target == "base_rate":
            for place in self._found.columns[target]:
                self._base_rate(loans, place)
        elif target == "coupon_type":
            loans.coupon_fixed = _coupon_types(cells)
        elif target == "as_of":
            days = parsing.read_dates(cells)
            self.as_of = float(np.nanmax(days)) if np.isfinite(days).any() else None
        elif target in _TEXTS:
            loans.texts[target] = parsing.read_text(cells, upper=target in IDENTIFIERS)
        elif self._types.get(target) == "date":
            loans.numbers[target] = parsing.read_dates(cells)
        elif self._types.get(target) == "boolean":
            loans.flags[target] = parsing.read_flags(cells, target)
        else:
            loans.numbers[target] = self._in_unit(loans, target, cells, column)

    def _in_unit(self, loans: Loans, target: str, cells: Cells, column: int) -> NDArray[np.float64]:
        numbers = parsing.read_numbers(cells, is_spread=target == "spread")
        if numbers.unreadable:
            self._unreadable[target] = numbers.unreadable
        unit = header.unit(self._found.texts[column])
        if target == "spread":
            return parsing.spread_bps(numbers, unit)
        if target in ("price", "purchase_price"):
            return self._price(loans, numbers)
        if target in _RATES:
            return parsing.rate_percent(numbers, _RATES[target], unit)
        return parsing.small_rate_percent(numbers, unit) if target == "floor" else numbers.values

    def _price(self, loans: Loans, numbers: parsing.Numbers) -> NDArray[np.float64]:
        par = loans.numbers.get("par_value")
        if par is None or parsing.median_at_most(numbers.values, CURRENCY_PRICE) or not np.any(numbers.values):
            return parsing.price_percent(numbers)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(par != 0, numbers.values / par * 100.0, np.nan)

    def _choose_price(self, columns: dict[str, int]) -> None:
        """A column of market values in currency gives way to a later one of prices."""
        places = self._found.columns.get("price", [])
        for column in places if len(places) > 1 else ():
            values = parsing.read_numbers(self._loans_at(column)).values
            if parsing.median_at_most(values, CURRENCY_PRICE):
                columns["price"] = column
                return

    def _ranks(self, loans: Loans, cells: Cells, target: str) -> NDArray[np.uint8]:
        agency = _AGENCIES[target]
        column = loans.texts[target] = parsing.read_text(cells)
        strings = column.text.strings()
        read = [ratings.rank(text, agency) for text in strings]
        bad = [rank == 0 and not ratings.is_not_rated(text) for rank, text in zip(read, strings, strict=True)]
        if any(bad):
            self._unreadable[target] = int(np.count_nonzero(spread_out(np.array(bad), False, column.codes)))
        return spread_out(np.array(read, np.uint8), 0, column.codes)

    def _liens(self, loans: Loans, cells: Cells, column: int) -> NDArray[np.uint8]:
        present = cells.present()
        loans.notes["lien_blank_rows"] = int(np.count_nonzero(~present))
        if parsing.is_second_lien_flag(self._found.texts[column]):
            flags = parsing.read_flags(cells, "lien_type")
            said = np.where(flags, np.uint8(Lien.SECOND_LIEN), np.uint8(Lien.FIRST_LIEN))
            return np.where(present, said, np.uint8(Lien.BLANK))
        text = parsing.read_text(cells)
        read = np.array([parsing.lien(one) for one in text.text.strings()], np.uint8)
        read = spread_out(read, Lien.BLANK, text.codes)
        loans.notes["lien_unrecognised_rows"] = int(np.count_nonzero(read == Lien.OTHER))
        return read

    def _base_rate(self, loans: Loans, place: int) -> None:
        """An index by name, its level in percent, or both in one column; what an earlier column said stays."""
        cells = self._loans_at(place)
        numbers = parsing.read_numbers(cells)
        is_level = ~np.isnan(numbers.values)
        if is_level.any() and "base_rate_level" not in loans.numbers:
            loans.numbers["base_rate_level"] = parsing.small_rate_percent(
                numbers, header.unit(self._found.texts[place])
            )
        if "base_rate" not in loans.categories and (not is_level.any() or cells.seen & bit(TEXT)):
            column = parsing.read_text(cells)
            codes = np.where(is_level, np.int32(-1), column.codes) if is_level.any() else column.codes
            loans.categories["base_rate"] = parsing.categories(
                parsing.TextColumn(codes, column.text), [parsing.base_rate(text) for text in column.text.strings()]
            )

    def _read_borrower(self, loans: Loans, column: int, source: NDArray[np.int64] | None) -> None:
        cells = self._loans_at(column) if source is None else self._at(column).take(source)
        loans.texts["borrower_name"] = parsing.read_text(cells)

    def _commitments(self, loans: Loans) -> None:
        """Bonds whose funded balance is zero have their par in a Commitment column (trustees' flat files do so).

        A bond is what the lien says, or what has an ISIN and no LoanX id beside loans that have one.
        """
        others = self._found.columns.get("par_value", [])[1:]
        other = next((place for place in others if parsing.key(self._found.texts[place]) == "commitment"), None)
        par = loans.numbers.get("par_value")
        if other is None or par is None:
            return
        bonds = np.zeros(loans.row_count, np.bool_) if loans.lien is None else loans.lien == Lien.BOND
        loanx, isin = loans.texts.get("loanx_id"), loans.texts.get("isin")
        if loanx is not None and isin is not None and (loanx.codes >= 0).any():
            bonds |= (loanx.codes < 0) & (isin.codes >= 0)
        unfunded = (par == 0) & bonds
        if unfunded.any():
            commitment = parsing.read_numbers(self._loans_at(other)).values
            loans.numbers["par_value"] = np.where(unfunded, commitment, par)

    def _note(self, loans: Loans, columns: dict[str, int]) -> None:
        notes: dict[str, Any] = loans.notes
        texts = self._found.texts
        notes["holdings_found"] = True
        notes["header_row"] = self._found.row
        notes["matched_columns"] = {
            target: " ".join(texts[column].split()) for target, column in sorted(columns.items())
        }
        notes["missing_required"] = [target for target in self._required if target not in columns]
        notes["error_cells"] = sum(self._loans_at(column).error_count() for column in columns.values())
        if self._unreadable:
            notes["unreadable_cells"] = self._unreadable
        notes.update(self._counts)
        notes.setdefault("ignored_blank_par", 0)
        name = self._sheet.name.replace("'", "''")
        kept = self._rows
        places = (
            (kept.start, kept.stop - 1) if isinstance(kept, slice) else (kept[0], kept[-1]) if len(kept) else (0, -1)
        )
        low, high = (self._first + int(place) for place in places)
        if high >= low:
            loans.source_cells = {
                target: f"'{name}'!{range_name(low, column, high, column)}" for target, column in columns.items()
            }


def _coupon_types(cells: Cells) -> NDArray[np.int8]:
    """1 fixed, 0 floating, -1 where the cell does not say."""
    column = parsing.read_text(cells)
    said = np.array([parsing.coupon_is_fixed(text) for text in column.text.strings()], np.int8)
    return spread_out(said, -1, column.codes)
