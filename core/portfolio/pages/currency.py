"""Par in several currencies: converted by the file's rates, or blank and warned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells import _parse, category_cells, string_pool, text_cells
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.string_pool import NUMBER, TEXT, Cells, bit, key
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.notes import DataWarning
from core.portfolio.sheets.titles import first_line, first_row
from core.remembered import remembered
from core.words import agreed, counted

AMOUNTS: Final = ("par_value", "unfunded", "facility_size")
"""What is converted."""

RATE_ROWS_MAX: Final = 200
"""Rows of a page of exchange rates that are looked at."""

RATE_COLUMNS_MAX: Final = 12
"""Columns of it."""

NAMES_SHOWN: Final = 3
"""Loans that a warning names."""

PARITY: Final = 0.02
"""How near to 1 a rate may be whose direction is still clear."""

_STRENGTH: Final = {
    "GBP": 5, "EUR": 4, "USD": 3, "CAD": 2, "AUD": 2, "NZD": 2, "SGD": 2,
    "PLN": 1, "DKK": 1, "NOK": 1, "SEK": 1, "CZK": 1, "MXN": 1, "ZAR": 1, "JPY": 1, "HUF": 1, "HKD": 1, "CNY": 1,
    "CHF": 0,
}  # fmt: skip
"""Currencies by what one unit is worth: of two with different figures the greater has been worth more for decades. The
franc has crossed the euro and the dollar: 0 tells no direction."""

_RATE_PAGES: Final = re.compile(r"\b(fx|foreign exchange|exchange rates?|currency rates?|spot rates?)\b")
_PAIR: Final = re.compile(r"([A-Z]{3})\s*(?:/|-|to|per|:)?\s*([A-Z]{3})", re.IGNORECASE)
_IN_DEAL_CURRENCY: Final = re.compile(
    r"\b(?:deal|base|reporting|fund|portfolio) (?:currency|ccy|curr)\b"
    r"|\b(?:base|deal) (?:par|amt|amount|bal|balance|principal|notional|face)\b"
    r"|\b(?:par|amt|amount|bal|balance|principal|notional|face) (?:base|deal)\b"
)
_CODE: Final = re.compile(r"[A-Z]{3}")
_WORDS: Final = {
    "USD": ("usd", "us dollar", "us dollars", "$"), "EUR": ("eur", "euro", "euros", "€"),
    "GBP": ("gbp", "sterling", "£"), "CHF": ("chf",), "JPY": ("jpy", "¥"), "CAD": ("cad",), "AUD": ("aud",),
    "SEK": ("sek",), "NOK": ("nok",), "DKK": ("dkk",),
}  # fmt: skip


Rates = dict[frozenset[str], float]
"""A currency, or the two of a pair -> the rate between it and the deal's, or between the two."""


def says_currency(header: str, currency: str | None) -> bool:
    """Return whether the header of an amount names the deal's currency."""
    words = f" {key(CAMEL.sub(' ', header))} "
    named = (f" {word} " in words if word.isalpha() or " " in word else word in header for word in _own(currency))
    return _IN_DEAL_CURRENCY.search(words) is not None or any(named)


def _own(currency: str | None) -> tuple[str, ...]:
    return _WORDS.get(currency, (currency.lower(),)) if currency else ()


CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Between two words of a name such as ParAmountDealCcy."""

PAR_CURRENCY: Final = "par_currency"
"""The text column that has, until amounts are settled, the currency that the header of each loan's par names."""

_DEALS_OWN: Final = "*"

DEAL_CURRENCY: Final = "deal currency"
"""What a header says of amounts in it."""


def mark(loans: Loans, header: str) -> None:
    """Keep what the header of par says of each loan's currency before joining."""
    words = f" {key(CAMEL.sub(' ', header))} "
    named = [code for code, signs in _WORDS.items() if any(f" {word} " in words for word in signs if word.isalpha())]
    named += [code for code, word in _WORDS.items() if any(sign in header for sign in word if sign in "€£¥")]
    code = _DEALS_OWN if _IN_DEAL_CURRENCY.search(words) else named[0] if len(named) == 1 else ""
    if code and PAR_CURRENCY not in loans.texts:
        _, text = text_cells.pool_of([code])
        loans.texts[PAR_CURRENCY] = TextColumn(np.zeros(loans.row_count, np.int32), text)


def settle(
    loans: Loans,
    currency: str | None,
    in_deal_currency: Callable[[str], NDArray[np.float64] | None],
    rates: Rates,
    *,
    is_stated: bool = False,
) -> None:
    """Convert all amounts to one currency, or blank par that cannot be converted.

    The deal's currency is what is given, else the one that most par is in; a loan that names none has it. One that the
    names of accounts suggest needs a loan in it. Loans in another are told in `loans.notes.warnings`, with what was
    done.

    Args:
        currency: the deal's, ISO 4217, where the file says it.
        in_deal_currency: gives par in a currency from a column of its own, one for each loan of the first sheet, NaN
            blank; None where there is no such column.
        rates: the figures of pages of exchange rates.
        is_stated: the file says the deal's currency in so many words.
    """
    header = loans.notes.matched_columns.get("par_value", "")
    if is_one_sheet := PAR_CURRENCY not in loans.texts:
        mark(loans, header)
    marked, par = loans.texts.pop(PAR_CURRENCY, None), loans.numbers.get("par_value")
    if par is None:
        return
    place, which = _by_currency(loans.row_count, loans.texts.get("currency"), marked)
    is_stated = is_stated and currency is not None and _CODE.fullmatch(currency) is not None
    if len(place) < (1 if is_stated and currency not in place else 2):
        return
    sums = {code: float(np.nansum(np.abs(par[which == at]))) for code, at in place.items() if bool((which == at).any())}
    sums.pop(_DEALS_OWN, None)
    if not sums:
        return
    own = (
        currency if currency is not None and (is_stated or currency in sums) else max(sums, key=lambda code: sums[code])
    )
    if is_one_sheet and says_currency(header, own):
        return
    in_currency = in_deal_currency(own)
    for code in sums:
        if code != own:
            _convert(loans, np.flatnonzero(which == place[code]), code, own, in_currency, rates)


def _by_currency(
    row_count: int, column: TextColumn | None, marked: TextColumn | None
) -> tuple[dict[str, int], NDArray[np.int32]]:
    """Return currency -> number, and the number of each loan's par, -1 for none.

    The header above it goes before its own column.
    """
    place: dict[str, int] = {}
    which = np.full(row_count, -1, np.int32)
    for of in (column, marked):
        if of is not None:
            codes = [category_cells.currency(text) for text in of.text.strings()]
            known = [
                place.setdefault(code, len(place)) if code == _DEALS_OWN or _CODE.fullmatch(code) else -1
                for code in codes
            ]
            its = string_pool.spread_out(np.array(known, np.int32), -1, of.codes)
            which = np.where(its >= 0, its, which)
    return place, which


def _convert(
    loans: Loans,
    rows: NDArray[np.int64],
    code: str,
    own: str,
    in_deal_currency: NDArray[np.float64] | None,
    rates: Rates,
) -> None:
    """Convert the amounts of the loans in one other currency."""
    par = loans.numbers["par_value"]
    rate = loans.numbers.get("fx_rate", np.full(len(par), np.nan))[rows]
    of_page = rates.get(frozenset((code, own)), rates.get(frozenset((code,)), np.nan))
    rate = np.where(np.isnan(rate) | (rate <= 0), of_page, rate)
    factor = np.array([_factor(rate_code, code, own) for rate_code in rate.tolist()], np.float64)
    how = "their rate"
    if in_deal_currency is not None:
        amounts = np.full(len(par), np.nan)
        amounts[: len(in_deal_currency)] = in_deal_currency
        with np.errstate(divide="ignore", invalid="ignore"):
            of_par = amounts[rows] / par[rows]
        known = np.isfinite(of_par)
        if known.any():
            factor, how = np.where(known, of_par, factor), "the column in the deal's currency"
    converted = np.isfinite(factor)
    for target in AMOUNTS:
        if target in loans.numbers:
            values = loans.numbers[target].copy()
            values[rows] = np.round(values[rows] * factor, 6)
            loans.numbers[target] = values
    if converted.any():
        used = np.unique(factor[converted])
        at = f"{used[0]:.6g}" if len(used) == 1 else f"{used[0]:.6g} to {used[-1]:.6g}"
        message = (
            f"{counted(converted.sum(), 'loan')} in {code} {agreed(converted.sum(), 'was/were')} converted to {own} by "
            f"{how}: 1 {code} is {at} {own}."
        )
        loans.notes.warnings.append(DataWarning("currency_converted", message, int(converted.sum())))
    refused = rows[~converted]
    if len(refused):
        amount = float(np.nansum(par[refused]))
        message = (
            f"{counted(len(refused), 'loan')} in {code} with a par of {amount:,.2f} {agreed(len(refused), 'is/are')} "
            f"not counted: the file has no rate to {own} that can be used ({_names(loans, refused)})."
        )
        loans.notes.warnings.append(DataWarning("other_currency", message, len(refused)))


def _factor(rate: float, code: str, own: str) -> float:
    """Return the factor of an amount; NaN where a rate's direction is unknown."""
    mine, its = _STRENGTH.get(code, 0), _STRENGTH.get(own, 0)
    if not np.isfinite(rate) or mine == its or not mine or not its or abs(rate - 1.0) < PARITY:
        return float("nan")
    return rate if (rate > 1.0) == (mine > its) else 1.0 / rate


def _names(loans: Loans, rows: NDArray[np.int64]) -> str:
    column = next((loans.texts[target] for target in ("borrower_name", "facility_name") if target in loans.texts), None)
    names = (
        []
        if column is None
        else [str(column.text[int(column.codes[row])]) for row in rows[:NAMES_SHOWN] if column.codes[row] >= 0]
    )
    return ", ".join(names) + (", ..." if len(rows) > NAMES_SHOWN else "")


def exchange_rates(book: Workbook) -> Rates:
    """Read pages of exchange rates: the first figure right of a currency or pair.

    What has two different figures has none.
    """
    rates: Rates = {}
    twice: set[frozenset[str]] = set()
    for sheet in book.sheets:
        if _RATE_PAGES.search(key(f"{sheet.name} {first_line(sheet)}")):
            for codes, rate in _rates(sheet):
                if rates.setdefault(codes, rate) != rate:
                    twice.add(codes)
    return {codes: rate for codes, rate in rates.items() if codes not in twice}


def _rates(sheet: Sheet) -> Iterator[tuple[frozenset[str], float]]:
    first = first_row(sheet)
    for row in range(first, min(sheet.row_count, first + RATE_ROWS_MAX)):
        codes: set[str] = set()
        for column in range(min(sheet.column_count, RATE_COLUMNS_MAX)):
            value = sheet.value(row, column)
            if isinstance(value, str) and len(value) <= string_pool.FIGURE_BYTES_MAX:
                codes |= _codes(value)
            elif isinstance(value, float | int) and not isinstance(value, bool) and value > 0 and codes:
                yield frozenset(codes), float(value)
                break


def _codes(text: str) -> set[str]:
    """Return the currencies that a cell names: one, or the two of a pair."""
    whole = category_cells.currency(text.strip())
    if whole in _STRENGTH:
        return {whole}
    pair = _PAIR.fullmatch(text.strip())
    codes = {pair[1].upper(), pair[2].upper()} if pair else set()
    return codes if codes <= _STRENGTH.keys() else set()


# ---- currencies of amounts -----------------------------------------------------------------------------------------

ENDS_BYTES: Final = 8
"""UTF-8 bytes at either end of a text among which a currency's sign or code is looked for."""

_SIGNS: Final = {
    "$": "USD", "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY",
}  # fmt: skip
_CODES: Final = frozenset(
    (*_SIGNS.values(), "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "MXN", "ZAR", "CNY", "INR", "KRW", "TRY", "BRL")
)
_AT_END: Final = re.compile(r"[A-Z]{3}(?![A-Z])|[A-Z]{0,2}\$|[\u20ac\u00a3\u00a5]")
_IN_FORMAT: Final = re.compile(r'\[\$(?P<own>[^\]-]*)[^\]]*\]|"(?P<quoted>[^"]*)"|\\?(?P<bare>[$\u20ac\u00a3\u00a5])')


@remembered(4_096)
def currency_of(text: str) -> str:
    """Return the currency of an amount's text: "EUR 1,234.00"; "" without one."""
    codes = (_SIGNS.get(match[0], match[0]) for match in _AT_END.finditer(text.upper()))
    return next((code for code in codes if code in _CODES), "")


@remembered(1_024)
def shown_currency(number_format: str) -> str:
    """Return the currency that a number format shows; "" without one."""
    section = number_format.split(";")[0]
    parts = (match["own"] or match["quoted"] or match["bare"] or "" for match in _IN_FORMAT.finditer(section))
    return next((code for part in parts if (code := currency_of(part))), "")


def currencies(cells: Cells) -> TextColumn:
    """Return the currency of each amount of a column, blank where it shows none."""
    codes = np.full(len(cells.kinds), -1, np.int32)
    names: list[str] = []
    if cells.seen & bit(TEXT):
        local, used = _parse.distinct(cells.codes, len(cells.pool.text))
        codes = string_pool.spread_out(_of_texts(cells, used, names), -1, local)
    shown = [shown_currency(code) for code in cells.pool.number_formats]
    if any(shown) and cells.seen & bit(NUMBER):
        place = np.array([_place(code, names) for code in shown], np.int32)[cells.formats]
        codes = np.where(cells.kinds == NUMBER, place, codes)
    _, text = text_cells.pool_of(names)
    return TextColumn(codes, text)


def _place(code: str, names: list[str]) -> int:
    """Return the place of a currency among some, which may come to them."""
    if not code:
        return -1
    if code not in names:
        names.append(code)
    return names.index(code)


def _of_texts(cells: Cells, used: NDArray[np.int32], names: list[str]) -> NDArray[np.int32]:
    """Return the place of each text's currency among the names.

    Most begin and end with a digit, or have a dollar before it: two bytes tell that. Of others those whose ends are
    equal but for their digits have the same, and one of them is looked at.
    """
    text, places = cells.pool.text, np.full(len(used), -1, np.int32)
    if not len(text.data):
        return places
    low, high = text.offsets[used], text.offsets[1:][used]
    first, last = _byte(text.data, low, low < high), _byte(text.data, high - 1, low < high)
    is_plain = (last == ord("0")) & ((first == ord("0")) | (first == ord("$")))
    dollars = is_plain & (first == ord("$"))
    if dollars.any():
        places[dollars] = _place("USD", names)
    rest = np.flatnonzero(~is_plain)
    ends = np.zeros(len(rest), np.uint64)
    for at in range(ENDS_BYTES if len(rest) else 0):
        for place in (low[rest] + at, high[rest] - 1 - at):
            ends = ends * _MIX + _byte(text.data, place, (place >= low[rest]) & (place < high[rest]))
    _, firsts, which = np.unique(ends, return_index=True, return_inverse=True)
    looked_at = string_pool.decode(text, used[rest[firsts]])
    known = [_place(currency_of(f"{string[:ENDS_BYTES]} {string[-ENDS_BYTES:]}"), names) for string in looked_at]
    places[rest] = np.array(known, np.int32)[which]
    return places


def _byte(data: NDArray[np.uint8], places: NDArray[np.int64], is_in: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the bytes of some places, 0 for those that are not in: digits as 0."""
    byte = np.where(is_in, data[np.clip(places, 0, len(data) - 1)], 0)
    byte[(byte >= ord("0")) & (byte <= ord("9"))] = ord("0")
    return byte.astype(np.uint64)


_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor, by which the bytes of both ends become one number."""
