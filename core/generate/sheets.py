"""The rows of the sheets Holdings, Tranches and Deal, clean or with the habits of managers' files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.write import Formula, Writable
from core.generate.book import LoanBook
from core.generate.draws import company_names, loanx_numbers, security_numbers
from core.generate.tables import (
    BASE_RATE_PERCENT,
    COUNTRIES,
    COUPON_TYPES,
    CURRENCY,
    INDEX_NAME,
    INDUSTRIES,
    LIENS,
    TRANCHES,
)
from core.portfolio.model.ratings import SCALE_A, SCALE_B
from core.values import SERIAL_OF_1970

MESSY: Final = (
    "title_rows",
    "two_row_header",
    "totals_row",
    "merged_issuers",
    "error_cells",
    "blanks",
    "percent_spreads",
    "text_numbers",
    "trailing_space_header",
    "negative_par",
    "duplicate_lots",
)
"""What can be wrong with a Holdings sheet; none of it changes what the book is worth to a careful reader."""

MANAGERS_FILE: Final = (
    "title_rows",
    "two_row_header",
    "totals_row",
    "error_cells",
    "blanks",
    "percent_spreads",
    "trailing_space_header",
    "duplicate_lots",
)
"""The switches that together look like the file of a manager."""

_CHUNK: Final = 10_000
"""Lines that are turned into Python values at a time."""

_TEXT_SHARE, _ERROR_SHARE, _BLANK_SHARE = 10.0, 60.0, 40.0
"""Percent of the cells concerned that are text, #N/A or blank."""

_TITLE_ROWS: Final = 4

_LOTS_EVERY: Final = 25
_SALE_EVERY: Final = 300
_GAP_EVERY: Final = 100
"""One loan of so many is held in two lots, is partly sold and unsettled, has an empty line above it."""


@dataclass(frozen=True, slots=True)
class LoanTexts:
    """The texts of a book's loans; an empty string is blank."""

    companies: list[str]
    """By obligor."""
    cusip: NDArray[np.str_]
    isin: NDArray[np.str_]
    loanx: NDArray[np.str_]
    facilities: list[str]
    """By facility code: lien and the number of the loan within its obligor."""
    facility: NDArray[np.int64]


def draw_texts(book: LoanBook) -> LoanTexts:
    """Companies, facilities and identifiers.

    8 % of the loans have no CUSIP, 3 % no LoanX number, 1 % neither.
    """
    cusip, isin = security_numbers(book.chance, book.obligor, book.lot)
    loanx = loanx_numbers(book.chance, book.count)
    missing = book.chance.stream("missing identifiers").random(book.count)
    no_cusip, no_loanx = missing < 0.08, (missing >= 0.07) & (missing < 0.10)
    cusip[no_cusip], isin[no_cusip], loanx[no_loanx] = "", "", ""
    lots = int(book.lot.max()) + 1
    facilities = [
        kind + (f"-{lot + 1}" if lot else "")
        for kind in ("Term Loan B", "Second Lien Term Loan")
        for lot in range(lots)
    ]
    return LoanTexts(
        companies=company_names(book.chance, book.obligor_country),
        cusip=cusip,
        isin=isin,
        loanx=loanx,
        facilities=facilities,
        facility=book.is_second_lien * lots + book.lot,
    )


@dataclass(frozen=True, slots=True)
class HoldingLines:
    """Lines of the Holdings sheet.

    The loan of each (-1: an empty line), its par, and where in the sheet they start.
    """

    loan: NDArray[np.int64]
    par: NDArray[np.float64]
    start: int = 0

    def __len__(self) -> int:
        return len(self.loan)

    def part(self, start: int) -> HoldingLines:
        """Return the lines of one chunk."""
        cut = slice(start, start + _CHUNK)
        return HoldingLines(self.loan[cut], self.par[cut], start)


Cells = Callable[[HoldingLines], list[Writable]]


@dataclass(frozen=True, slots=True)
class HoldingsColumn:
    """A column of the Holdings sheet.

    How its cells are made from lines, and their number format.
    """

    header: str
    cells: Cells
    number_format: str | None = None


@dataclass(frozen=True, slots=True)
class HoldingsSheet:
    """The Holdings sheet, ready to be written: rows are made as they are taken."""

    columns: list[HoldingsColumn]
    lines: HoldingLines
    top: list[Sequence[Writable]]
    """Titles and headers, above the first line."""
    bottom: list[Sequence[Writable]]
    merged: list[tuple[int, int, int, int]]
    """Merged ranges as (first row, first column, last row, last column), 0-based."""

    def rows(self) -> Iterator[Sequence[Writable]]:
        """All rows from the top of the sheet."""
        yield from self.top
        for start in range(0, len(self.lines), _CHUNK):
            part = self.lines.part(start)
            cells = zip(*(column.cells(part) for column in self.columns), strict=True)
            for is_empty, row in zip((part.loan < 0).tolist(), cells, strict=True):
                yield () if is_empty else row
        yield from self.bottom


def holdings(book: LoanBook, texts: LoanTexts, messy: frozenset[str], as_of: date) -> HoldingsSheet:
    """Return the Holdings sheet of a book with the asked habits (of MESSY)."""
    lines = _lines(book, texts, messy)
    titles = _titles(book, as_of) if "title_rows" in messy else []
    first_row = len(titles) + (2 if "two_row_header" in messy else 1)
    columns = _columns(book, texts, first_row)
    position = {column.header: at for at, column in enumerate(columns)}
    is_text = _share(book, lines, "text numbers", _TEXT_SHARE if "text_numbers" in messy else 0.0)
    columns = [_habits(book, lines, column, messy, is_text) for column in columns]
    headers = [column.header for column in columns]
    if "trailing_space_header" in messy:
        headers = [header + " " if header in ("Country", "Par Amount") else header for header in headers]
    top = [*titles, *(_two_rows(headers) if "two_row_header" in messy else [headers])]
    bottom: list[Sequence[Writable]] = []
    if "totals_row" in messy:
        bottom.append(_totals(book, lines, position, first_row, is_text))
    merged = _merged(_repeats(book, lines), first_row, position["Issuer Name"]) if "merged_issuers" in messy else []
    return HoldingsSheet(columns=columns, lines=lines, top=top, bottom=bottom, merged=merged)


def rows_at_most(loans: int, messy: frozenset[str]) -> int:
    """Rows that the Holdings sheet can have with these habits."""
    extra = {
        "title_rows": _TITLE_ROWS,
        "two_row_header": 1,
        "totals_row": 1,
        "blanks": loans // _GAP_EVERY,
        "duplicate_lots": -(-loans // _LOTS_EVERY),
        "negative_par": -(-loans // _SALE_EVERY),
    }
    return 1 + loans + sum(rows for habit, rows in extra.items() if habit in messy)


def tranche_rows(book: LoanBook) -> list[Sequence[Writable]]:
    """Return the Tranches sheet."""
    rows: list[Sequence[Writable]] = [
        (
            "Class",
            "Original Balance",
            "Current Balance",
            "Spread",
            "Coupon",
            "OC Trigger",
            "IC Trigger",
            "Rank",
            "Rating",
        )
    ]
    for rank, (name, percent, spread, oc_trigger, ic_trigger, rating) in enumerate(TRANCHES, 1):
        balance = percent / 100.0 * book.target_par
        coupon = None if spread is None else BASE_RATE_PERCENT + spread / 100.0
        rows.append((name, balance, balance, spread, coupon, oc_trigger, ic_trigger, rank, rating))
    return rows


def deal_rows(book: LoanBook, as_of: date) -> list[Sequence[Writable]]:
    """Return the Deal sheet: a label and its value in each row."""
    return [
        ("Deal Name", deal_name(book)),
        ("As Of Date", as_of),
        ("Target Par", book.target_par),
        ("Principal Cash", book.cash),
        ("Base Rate", BASE_RATE_PERCENT),
    ]


def deal_name(book: LoanBook) -> str:
    """Return what the sample deal is called."""
    return f"Sample CLO {book.chance.seed}-{book.count}"


def _lines(book: LoanBook, texts: LoanTexts, messy: frozenset[str]) -> HoldingLines:
    """Return a line per loan.

    A position in lots or with an unsettled sale has two, which add up to its par.
    """
    loan, par = np.arange(book.count), book.par.copy()
    # Only a CUSIP tells that two lines are one position.
    splittable = np.flatnonzero((texts.cusip != "") & (par >= 50_000.0))
    order = book.chance.stream("split positions").permutation(splittable)
    lots = order[: -(-book.count // _LOTS_EVERY)] if "duplicate_lots" in messy else order[:0]
    sales = order[::-1][: -(-book.count // _SALE_EVERY)] if "negative_par" in messy else order[:0]
    lot_par = np.round(par[lots] * 0.4 / 1e3) * 1e3
    sale_par = -np.round(par[sales] * 0.2 / 1e3) * 1e3
    par[lots] -= lot_par
    par[sales] -= sale_par
    gaps = _gaps(book) if "blanks" in messy else loan[:0]
    place = np.concatenate([loan, lots, sales, gaps - 0.5])
    order = np.argsort(place, kind="stable")
    loans = np.concatenate([loan, lots, sales, np.full(len(gaps), -1)])
    return HoldingLines(loans[order], np.concatenate([par, lot_par, sale_par, np.zeros(len(gaps))])[order])


def _gaps(book: LoanBook) -> NDArray[np.int64]:
    """Loans above which a line stays empty, each the first of its obligor and none next to another."""
    return np.flatnonzero((book.lot == 0) & (np.arange(book.count) % _GAP_EVERY == _GAP_EVERY - 1))


def _columns(book: LoanBook, texts: LoanTexts, first_row: int) -> list[HoldingsColumn]:
    """Return the columns as a clean book has them, under headers that managers use.

    `first_row` is the sheet's, 0-based.
    """
    par_letter, price_letter = "J", "K"
    maturity = book.maturity + SERIAL_OF_1970

    def market_value(lines: HoldingLines) -> list[Writable]:
        values = (lines.par * book.price[lines.loan] / 100.0).tolist()
        first = first_row + lines.start + 1
        return [
            Formula(f"{par_letter}{row}*{price_letter}{row}/100", value)
            for row, value in enumerate(values, start=first)
        ]

    columns = [
        HoldingsColumn("CUSIP", _texts(texts.cusip)),
        HoldingsColumn("LoanX ID", _texts(texts.loanx)),
        HoldingsColumn("ISIN", _texts(texts.isin)),
        HoldingsColumn("Issuer Name", _encode(book.obligor, texts.companies)),
        HoldingsColumn("Issue Name", _encode(texts.facility, texts.facilities)),
        HoldingsColumn("Lien Type", _encode(book.is_second_lien, LIENS)),
        HoldingsColumn("Moody's Industry", _encode(book.industry, [name for name, _ in INDUSTRIES])),
        HoldingsColumn("Country", _encode(book.country, [name for name, *_ in COUNTRIES])),
        HoldingsColumn("Currency", lambda lines: list(repeat(CURRENCY, len(lines)))),
        HoldingsColumn("Par Amount", lambda lines: lines.par.tolist(), "#,##0.00"),
        HoldingsColumn("Market Price", _numbers(book.price)),
        HoldingsColumn("Market Value (USD)", market_value, "#,##0.00"),
        HoldingsColumn("Purchase Price", _numbers(book.purchase_price)),
        HoldingsColumn("Facility Size", _numbers(book.facility_size), "#,##0"),
        HoldingsColumn("Index", _encode(book.is_fixed, [INDEX_NAME, None])),
        HoldingsColumn("Spread", _numbers(book.spread)),
        HoldingsColumn("Floor", _numbers(book.floor)),
        HoldingsColumn("All In Rate", _numbers(book.all_in_rate)),
        HoldingsColumn("Coupon Type", _encode(book.is_fixed, COUPON_TYPES)),
        HoldingsColumn("Amortization", _numbers(book.amortization)),
        HoldingsColumn("Maturity Date", _numbers(maturity), "dd-mmm-yyyy"),
        HoldingsColumn("Moody's CFR", _encode(book.rank_a, [None, *SCALE_A])),
        HoldingsColumn("S&P Issuer Rating", _encode(book.rank_b, [None, *SCALE_B])),
        HoldingsColumn("Fitch Rating", _encode(book.rank_c, [None, *SCALE_B])),
        HoldingsColumn("Recovery Rate", _numbers(book.recovery_rate)),
        HoldingsColumn("Cov-Lite", _flags(book.is_cov_lite)),
        HoldingsColumn("Default Obligation", _flags(book.is_defaulted)),
        HoldingsColumn("DIP", _flags(book.is_dip)),
        HoldingsColumn("Current Pay", _flags(book.is_current_pay)),
        HoldingsColumn("PIKing", _flags(book.is_pik)),
        HoldingsColumn("Days Past Due", _numbers(book.days_past_due)),
        HoldingsColumn("Quote Depth", _numbers(book.quote_depth)),
    ]
    assert [columns[ord(letter) - ord("A")].header for letter in (par_letter, price_letter)] == [
        "Par Amount",
        "Market Price",
    ]
    return columns


def _numbers(values: NDArray[np.float64]) -> Cells:
    return lambda lines: values[lines.loan].tolist()


def _texts(values: NDArray[np.str_]) -> Cells:
    return lambda lines: [text or None for text in values[lines.loan].tolist()]


def _encode(codes: NDArray[np.int64] | NDArray[np.bool_], texts: Sequence[str | None]) -> Cells:
    table = np.array(texts, object)
    return lambda lines: table[codes[lines.loan].astype(np.intp)].tolist()


def _flags(values: NDArray[np.bool_]) -> Cells:
    return _encode(values, ["No", "Yes"])


def _habits(
    book: LoanBook, lines: HoldingLines, column: HoldingsColumn, messy: frozenset[str], is_text: NDArray[np.bool_]
) -> HoldingsColumn:
    """Return the column with the habits that live in single cells."""
    cells, header = column.cells, column.header
    if header in ("Par Amount", "Market Price") and is_text.any():
        cells = _replace(cells, is_text, _number_text)
    if header in ("CUSIP", "LoanX ID", "Fitch Rating") and "error_cells" in messy:
        # A look-up that found nothing.
        mask = _share(book, lines, f"error cells {header}", _ERROR_SHARE)
        cells = _replace(cells, mask, lambda value: Formula("NA()", "#N/A") if value is None else value)
    flags = ("Cov-Lite", "Default Obligation", "DIP", "Current Pay", "PIKing", "Days Past Due")
    if header in flags and "blanks" in messy:
        mask = _share(book, lines, f"blanks {header}", _BLANK_SHARE)
        cells = _replace(cells, mask, lambda value: None if value in ("No", 0.0) else value)
    if header == "Issuer Name" and "merged_issuers" in messy:
        # Below its first cell a merged range is empty.
        cells = _replace(cells, _repeats(book, lines), lambda _: None)
    if header == "Spread" and "percent_spreads" in messy:
        cells = _numbers(book.spread / 100.0)
    return HoldingsColumn(header, cells, column.number_format)


def _replace(cells: Cells, mask: NDArray[np.bool_], change: Callable[[Writable], Writable]) -> Cells:
    def changed(lines: HoldingLines) -> list[Writable]:
        values = cells(lines)
        for at in np.flatnonzero(mask[lines.start : lines.start + len(lines)]).tolist():
            values[at] = change(values[at])
        return values

    return changed


def _share(book: LoanBook, lines: HoldingLines, question: str, percent: float) -> NDArray[np.bool_]:
    return book.chance.share(question, len(lines), percent)


def _number_text(value: Writable) -> Writable:
    """Return a number as people type it: thousands separated, negatives in brackets.

    Prices keep their decimals.
    """
    assert isinstance(value, float)
    if 0.0 <= value < 1_000.0:
        return str(value)
    return f"{value:,.2f}" if value >= 0.0 else f"({-value:,.2f})"


def _repeats(book: LoanBook, lines: HoldingLines) -> NDArray[np.bool_]:
    """Lines whose obligor stands in the line above."""
    obligor = np.where(lines.loan < 0, -1, book.obligor[lines.loan])
    return np.concatenate([[False], (obligor[1:] == obligor[:-1]) & (obligor[1:] >= 0)])


def _merged(repeats: NDArray[np.bool_], first_row: int, column: int) -> list[tuple[int, int, int, int]]:
    """Return the range of each line with the repeats below it."""
    edges = np.diff(repeats.astype(np.int8), append=0)
    starts, ends = np.flatnonzero(edges == 1) + first_row, np.flatnonzero(edges == -1) + first_row
    return [(start, column, end, column) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _titles(book: LoanBook, as_of: date) -> list[Sequence[Writable]]:
    titles: list[Sequence[Writable]] = [
        (deal_name(book),),
        (f"Portfolio holdings as of {as_of:%d-%b-%Y}, par in {CURRENCY}",),
        ("Prepared by the collateral manager from traded positions",),
        (),
    ]
    assert len(titles) == _TITLE_ROWS
    return titles


def _two_rows(headers: list[str]) -> list[list[Writable]]:
    """Headers wrapped by hand: their first word above, the rest below."""
    words = [header.split(" ", 1) for header in headers]
    return [[upper for upper, *_ in words], [lower[0] or None if lower else None for _, *lower in words]]


def _totals(
    book: LoanBook, lines: HoldingLines, position: dict[str, int], first_row: int, is_text: NDArray[np.bool_]
) -> list[Writable]:
    """Return the totals row.

    Its sum of par is the one that a spreadsheet gives: SUM passes over numbers typed as text.
    """
    row: list[Writable] = [None] * len(position)
    row[position["Issuer Name"]] = "Total"
    last = first_row + len(lines)
    market_value = np.where(lines.loan < 0, 0.0, lines.par * book.price[lines.loan] / 100.0)
    row[position["Par Amount"]] = Formula(f"SUM(J{first_row + 1}:J{last})", float(lines.par[~is_text].sum()))
    row[position["Market Value (USD)"]] = Formula(f"SUM(L{first_row + 1}:L{last})", float(market_value.sum()))
    return row


_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def with_month_name(day: date) -> str:
    """31-Mar-2025."""
    return f"{day.day:02}-{_MONTHS[day.month - 1]}-{day.year}"


def with_dots(day: date) -> str:
    """31.03.2025."""
    return f"{day.day:02}.{day.month:02}.{day.year}"
