"""The Workspace: an open sheet with live figures of the loans in the Foundation, inputs, and room for more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.export.draft import AMOUNT, GENERAL, SHARE, WHOLE, SheetDraft
from core.grid.address import column_name, parse_range
from core.grid.places import without_pages
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import in_quotes
from core.portfolio import Portfolio
from core.portfolio.model.ratings import rank
from core.portfolio.sheets.headings import header
from core.values import Kind, from_serial

WIDTHS: Final = (38.0, 20.0, 16.0, 12.0, 34.0)

LABELS_MAX: Final = 12
"""Names of a breakdown that have a line of their own, the largest first; ratings have `RATINGS_MAX`."""
RATINGS_MAX: Final = 30
YEARS_MAX: Final = 20

LABEL_LENGTH_MAX: Final = 100
"""Characters: longer texts are no condition of SUMIF."""

FRACTION_MAX: Final = 2.0
"""A usual price up to this is a fraction of par, not percent."""

FRACTION: Final = "0.0000"

_SCALES: Final = (1.0, 1e3, 1e6)
"""What a column of par may be multiplied by when it is read."""

FREE_ROWS: Final = 20
"""Marked rows below, for what the reader works out; every other cell is open too."""

_NO_CONDITION: Final = re.compile(r"^[<>=]|[*?~]|^\s|\s$|^[\s\d.,%+-]*$|^(?:true|false)$", re.IGNORECASE)
"""Texts that SUMIF takes for something else than themselves."""

_AVERAGES: Final = (
    ("spread", "Weighted average spread"),
    ("price", "Weighted average price"),
    ("purchase_price", "Weighted average purchase price"),
    ("all_in_rate", "Weighted average coupon"),
    ("recovery_rate", "Weighted average recovery rate"),
    ("average_life", "Weighted average life"),
)
_BREAKDOWNS: Final = (
    (("rating_agency_a", "rating_agency_b", "rating_agency_c", "rating"), "Rating"),
    (("industry",), "Industry"),
    (("country",), "Country"),
    (("lien_type",), "Lien"),
)


@dataclass(frozen=True, slots=True)
class LoanColumns:
    """Where the Foundation has the loans: columns of one sheet over the same rows."""

    sheet: Sheet
    """Under its written name."""
    first_row: int
    last_row: int
    columns: dict[str, int]
    """Field -> column, those of the loans' own sheet; par_value is one of them."""
    names: dict[str, str]
    """Field -> the column's header as the file has it."""
    book: Workbook
    """The Foundation."""
    par_read: float | None
    """What the loans add up to as they are counted, in the column's unit; None where that is not known."""

    def format(self, field: str) -> str:
        """Return the number format that most figures of a column have.

        Where they have none, decimals as they need them.
        """
        stored = self.sheet.columns[self.columns[field]]
        if stored is None:
            return AMOUNT
        span = stored.span(self.first_row, self.last_row + 1)
        counts = np.bincount(span.formats[span.kinds == Kind.NUMBER], minlength=1)
        code = self.book.number_formats[int(counts.argmax())]
        if code != GENERAL:
            return code
        figures = _numbers(self.sheet, self.columns[field], self.first_row, self.last_row)
        return FRACTION if len(figures) and np.abs(figures).max() <= FRACTION_MAX else AMOUNT

    def cells(self, field: str) -> str:
        """Return the column's range as a formula names it."""
        letters = column_name(self.columns[field])
        return f"{in_quotes(self.sheet.name)}!${letters}${self.first_row + 1}:${letters}${self.last_row + 1}"


def loan_columns(book: Workbook, portfolio: Portfolio, written: Mapping[str, str]) -> LoanColumns | None:
    """Return the loans' columns by where a portfolio was read.

    None where their sheet or their par is not exported.

    `written` is sheet of the portfolio's workbook -> its name in `book`, the Foundation.
    """
    places = {field: _place(text) for field, text in portfolio.source_cells.items() if "." not in field}
    par = places.get("par_value")
    if par is None or par[0] not in written:
        return None
    sheet = book[written[par[0]]]
    columns = {field: place[2] for field, place in places.items() if place[:2] == par[:2]}
    names = header.detect(sheet).names
    heads = {field: names[column] for field, column in columns.items()}
    amounts = _numbers(sheet, columns["par_value"], *par[1])
    return LoanColumns(sheet, *par[1], columns, heads, book, _in_unit_of(amounts, portfolio))


def _in_unit_of(amounts: NDArray[np.float64], portfolio: Portfolio) -> float | None:
    """Return the portfolio's par in the unit of the column that it was read of."""
    written, read = float(amounts.sum()), float(np.nansum(portfolio.numbers["par_value"]))
    if written <= 0 or read <= 0:
        return None
    return read / min(_SCALES, key=lambda scale: abs(log(read / scale / written)))


def _numbers(sheet: Sheet, column: int, first_row: int, last_row: int) -> NDArray[np.float64]:
    """Return the numbers of a column's rows, without whatever else stands there."""
    stored = sheet.columns[column]
    if stored is None:
        return np.empty(0)
    span = stored.span(first_row, last_row + 1)
    numbers: NDArray[np.float64] = span.numbers[span.kinds == Kind.NUMBER]
    return numbers


def _place(text: str) -> tuple[str, tuple[int, int], int]:
    """Return sheet, (first row, last row) and column of a range with its sheet."""
    name, _, area = without_pages(text).rpartition("!")
    top, left, bottom, _ = parse_range(area)
    if name.startswith("'"):
        name = name[1:-1].replace("''", "'")
    return name, (top, bottom), left


def workspace_sheet(name: str, title: str, loans: LoanColumns | None) -> SheetDraft:
    """Return the Workspace of an export."""
    draft = SheetDraft(name, WIDTHS)
    draft.line(f"Workspace · {title}", style="title")
    draft.prose(
        "All of it may be changed. Figures are formulas onto the Foundation, in the file's own units and over all its "
        "loans; the tests on Control follow the deal's definition."
    )
    if loans is None:
        draft.prose("The exported sheets have no column of par that was recognised, so there is no summary of loans.")
    else:
        par, total = _pool(draft, loans)
        _what_if(draft, loans, par, total)
        for fields, heading in _BREAKDOWNS:
            field = next((field for field in fields if field in loans.columns), None)
            if field is not None:
                _breakdown(draft, loans, field, heading, total)
        if "maturity_date" in loans.columns:
            _maturities(draft, loans, total)
    draft.section("Your own calculations")
    for row in range(draft.row, draft.row + FREE_ROWS):
        draft.row = row
        for column in range(len(WIDTHS)):
            draft.put(column, style="input")
    return draft


def _pool(draft: SheetDraft, loans: LoanColumns) -> tuple[str, str]:
    draft.section("Pool")
    draft.heading("Measure", "Value", "Check", "Read from", "", figures=(1,))
    par = loans.cells("par_value")

    def figure(label: str, formula: str, number_format: str, source: str) -> str:
        draft.put(0, label, "text")
        draft.put(1, formula=formula, style="figure", number_format=number_format)
        draft.put(3, source, "aside")
        draft.row += 1
        return f"$B${draft.row}"

    header = loans.names.get("par_value", "par")
    figure("Loans", f"COUNT({par})", WHOLE, header)
    total = figure("Total par", f"SUM({par})", AMOUNT, header)
    if loans.par_read is not None:
        draft.put(0, "Par as it was counted", "text")
        draft.put(1, loans.par_read, "figure", AMOUNT)
        draft.put(
            2, style="status", formula=f'IF(ABS({total}-$B${draft.row + 1})<=0.000001*MAX(1,ABS({total})),"OK","CHECK")'
        )
        draft.statuses.append((draft.row, 2, draft.row, 2))
        draft.put(3, "differs where rows are no loans, or currencies were converted", "aside")
        draft.row += 1
    figure("Average loan", f"IF({total}=0,0,AVERAGE({par}))", AMOUNT, header)
    figure("Largest loan", f"IF({total}=0,0,MAX({par})/{total})", SHARE, f"{header}, share of the total")
    for field, label in _AVERAGES:
        if field in loans.columns and field in loans.names:
            figure(label, _average(loans.cells(field), par), loans.format(field), loans.names[field])
    return par, total


def _average(cells: str, par: str) -> str:
    """Return a par-weighted average over the rows where both are numbers."""
    weight = f"SUMPRODUCT(ISNUMBER({cells})*1,{par})"
    return f"IF({weight}=0,0,SUMPRODUCT({cells},{par})/{weight})"


def _what_if(draft: SheetDraft, loans: LoanColumns, par: str, total: str) -> None:
    if "price" not in loans.columns or not _prices_in_percent(loans):
        return
    price = loans.cells("price")
    draft.section("What if · type into the marked cells")
    draft.heading("Measure", "Value", "", "How", "", figures=(1,))

    def line(label: str, how: str, number_format: str = AMOUNT, formula: str | None = None) -> str:
        draft.put(0, label, "text")
        cell = draft.put(
            1, 0.0 if formula is None else None, "input" if formula is None else "figure", number_format, formula
        )
        draft.put(3, how, "aside")
        draft.row += 1
        return "$B$" + cell[1:]

    value = line("Market value", "par x price / 100, loans with a price", formula=f"SUMPRODUCT({par},{price})/100")
    move = line("Prices move by", "points; minus is down")
    moved = line("Market value then", "", formula=f"{value}+{move}/100*SUMPRODUCT(ISNUMBER({price})*1,{par})")
    line("Change", "", formula=f"{moved}-{value}")
    sold = line("Par sold", "in the file's unit")
    at = line("Sold at", "percent of par")
    line("Proceeds", "par sold x price / 100", formula=f"{sold}*{at}/100")
    line(
        "Par left, with the proceeds",
        "total par less par sold, plus proceeds",
        formula=f"{total}-{sold}+{sold}*{at}/100",
    )


def _prices_in_percent(loans: LoanColumns) -> bool:
    prices = _numbers(loans.sheet, loans.columns["price"], loans.first_row, loans.last_row)
    prices = prices[prices > 0]
    return len(prices) > 0 and float(np.median(prices)) > FRACTION_MAX


def _breakdown(draft: SheetDraft, loans: LoanColumns, field: str, heading: str, total: str) -> None:
    labels = _labels(loans, field)
    if not labels:
        return
    cells, par = loans.cells(field), loans.cells("par_value")
    draft.section(f"Par by {heading.lower()} · {loans.names.get(field, field)}")
    draft.heading(heading, "Par", "Share", "Loans", figures=(1, 2, 3))
    first = draft.row + 1
    for label in labels:
        key = draft.put(0, label, "text")
        sums = draft.put(1, formula=f"SUMIF({cells},${key},{par})", style="figure", number_format=AMOUNT)
        draft.put(2, formula=f"IF({total}=0,0,{sums}/{total})", style="figure", number_format=SHARE)
        draft.put(3, formula=f"COUNTIF({cells},${key})", style="figure", number_format=WHOLE)
        draft.row += 1
    _rest(draft, first, total, "All others, and blank")


def _rest(draft: SheetDraft, first: int, total: str, label: str) -> None:
    draft.put(0, label, "total")
    left = draft.put(1, formula=f"{total}-SUM(B{first}:B{draft.row})", style="total", number_format=AMOUNT)
    draft.put(2, formula=f"IF({total}=0,0,{left}/{total})", style="total", number_format=SHARE)
    draft.put(3, style="total")
    draft.row += 1


def _labels(loans: LoanColumns, field: str) -> list[str]:
    """Return the texts of a column that get a line.

    Ratings from the best down, others by their par.
    """
    sheet = loans.sheet
    column, par = sheet.columns[loans.columns[field]], sheet.columns[loans.columns["par_value"]]
    if column is None or par is None:
        return []
    texts, amounts = (each.span(loans.first_row, loans.last_row + 1) for each in (column, par))
    is_text = texts.kinds == Kind.TEXT
    counted = np.where((amounts.kinds == Kind.NUMBER), amounts.numbers, 0.0)
    codes, place = np.unique(texts.codes[is_text], return_inverse=True)
    sums = np.bincount(place, counted[is_text], len(codes))
    by_name: dict[str, tuple[float, str]] = {}
    for code, amount in zip(codes.tolist(), sums.tolist(), strict=True):
        text = sheet.text[code]
        if len(text) <= LABEL_LENGTH_MAX and not _NO_CONDITION.search(text):
            known = by_name.get(text.casefold(), (0.0, text))
            by_name[text.casefold()] = (known[0] + amount, known[1])
    ranked = sorted(by_name.values(), key=lambda each: (-each[0], each[1]))
    if field.startswith("rating"):
        best = ranked[:RATINGS_MAX]
        return [text for _, text in sorted(best, key=lambda each: (rank(each[1]) or 99, each[1]))]
    return [text for _, text in ranked[:LABELS_MAX]]


def _maturities(draft: SheetDraft, loans: LoanColumns, total: str) -> None:
    column = loans.sheet.columns[loans.columns["maturity_date"]]
    assert column is not None
    span = column.span(loans.first_row, loans.last_row + 1)
    days = span.numbers[span.kinds == Kind.DATE]
    moments = (from_serial(serial, date_1904=loans.book.date_1904) for serial in np.unique(days).tolist())
    years = {moment.year for moment in moments if moment is not None}
    if not years:
        return
    cells, par = loans.cells("maturity_date"), loans.cells("par_value")
    draft.section(f"Par by year of maturity · {loans.names.get('maturity_date', 'maturity')}")
    draft.heading("Year", "Par", "Share", "Loans", figures=(1, 2, 3))
    first = draft.row + 1
    for year in sorted(years)[:YEARS_MAX]:
        key = draft.put(0, float(year), "text", "0")
        within = f'{cells},">="&DATE(${key},1,1),{cells},"<"&DATE(${key}+1,1,1)'
        sums = draft.put(1, formula=f"SUMIFS({par},{within})", style="figure", number_format=AMOUNT)
        draft.put(2, formula=f"IF({total}=0,0,{sums}/{total})", style="figure", number_format=SHARE)
        draft.put(3, formula=f"COUNTIFS({within})", style="figure", number_format=WHOLE)
        draft.row += 1
    _rest(draft, first, total, "Later, and without a date")
