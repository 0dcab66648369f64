"""Which rows under a header are loans: where the table ends, totals, subtotals, section labels, repeated headers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.grid.sheet import Sheet
from core.portfolio.cells import _parse
from core.portfolio.cells.parsing import (
    TEXT,
    Cells,
    bit,
    key,
    read_numbers,
    spread_out,
)
from core.portfolio.model.fields import IDENTIFIERS, Mapping
from core.portfolio.sheets.below import BLANK_ROWS, Below
from core.portfolio.sheets.header import SCORE_MIN, Found, Matcher, matcher
from core.portfolio.sheets.titles import is_no_collateral

TOTAL_TOLERANCE: Final = 0.02
"""Currency units by which an unlabelled total may differ from the sum above it."""

NAMED_TOTAL_LOANS: Final = 3
"""Loans above a row with a name and their sum from which it is a total: a loan may be as large as one or two others."""

GROUP_TOTALS_MIN: Final = 2
"""Rows with a name and their group's sum from which these are subtotals; every such row of the sheet must be one."""

HEADERS_MAX: Final = 1_000
"""Rows of text that are looked at for another header."""

HEADER_CELLS_MAX: Final = 2_000_000
"""Cells of such rows that are looked at, blank ones included."""

TITLES_MAX: Final = 3
"""Rows of words above a header that stands again."""

ABOVE_ROWS: Final = 40
"""Rows above the first loan in which the titles of the page stand."""

UNKNOWN_MAX: Final = 1
"""Cells under mapped columns that a header repeated after a page break may have without naming a field."""

MISSES_MAX: Final = 8
"""Cells that name no field, more than those that do, after which a row is no header."""

LOAN_TEXTS_MIN: Final = 3
"""Texts of a row without a number, a name and an identifier among them, that look like a loan's."""

_BARE: Final = re.compile(
    r"\s*(?:(?:grand|sub|page|report|portfolio|overall)[\s-]*)?totals?\s*[:.]?\s*"
    r"|\s*(?:sum|count|average|weighted average|avg\.?|notes?)\s*:?\s*",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(
    r"\s*(?:(?:grand |sub[\s-]?)?\s*total|sum\b|count\b|average|avg\b|weighted|wtd\b|footnote|note[s:]|\*|source|©)"
    r"|.*\btotals?\s*:?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_RULED: Final = re.compile(r"[\s=_.*+|~\u2010-\u2015\u2500-\u257f-]{2,}")
"""A line drawn with signs, as under a header or above a total."""

_WORDS: Final = re.compile(r"\s*\S+\s+\S.*", re.DOTALL)
"""What an identifier never is: several words."""

_FOOTER: Final = re.compile(r"\s*(?:©|\(c\) ?\d|copyright\b|page \d+)", re.IGNORECASE)
_PAGE: Final = re.compile(r".*\bpage \d+(?: (?:of|/) \d+)?\s*", re.IGNORECASE | re.DOTALL)
"""A page's number, at the end of its footer."""

_POOL_TITLE: Final = re.compile(
    r".*\b(?:loans?|bonds?|notes?|obligations|securities|assets|collateral|continued|cont'?d)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_NOT_POOL: Final = re.compile(
    r".*\b(?:sold|sales?|purchase[sd]?|traded?s?|paid|paydowns?|prior|previous|redeemed|equity|class)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a title above a header that stands again: of a further part of the pool, and of what is none."""

_SUBTOTAL: Final = re.compile(r"\s*sub[\s-]?total", re.IGNORECASE)
CASH_ROWS: Final = 20_000
"""Rows without a maturity up to which each name is looked at; of more, those that have the letters."""

_CASH_STARTS: Final = (b"cash", b"acc", b"money")
_CASH_NAME: Final = frozenset(("cash", "account", "accounts", "acct", "accts"))
_CASH_WORDS: Final = _CASH_NAME | frozenset(
    (
        "a", "and", "at", "balance", "balances", "bank", "clo", "closing", "collateral", "collection", "collections",
        "currency", "custodial", "custody", "date", "deposit", "deposits", "discretionary", "dollar", "dollars",
        "equivalents", "eur", "euro", "euros", "expense", "expenses", "fund", "funding", "funds", "fx", "gbp", "hand",
        "held", "hedge", "in", "interest", "investment", "investments", "issuer", "margin", "market", "money", "note",
        "of", "on", "or", "other", "payment", "pounds", "principal", "proceeds", "ramp", "reinvestment", "reserve",
        "revolver", "revolving", "sterling", "sub", "sundry", "supplemental", "suspense", "sweep", "the", "to", "total",
        "trade", "trustee", "uninvested", "unsettled", "unused", "up", "us", "usd",
    )
)  # fmt: skip
"""Words of which the name of cash or of a bank account is made; a company's name has others."""

_BANK_ACCOUNT: Final = re.compile(
    r"\b(?:collection|payment|reserve|expense|principal|interest|funding|custod(?:y|ial)|proceeds|ramp up|deposit)"
    r"(?: cash)? acc(?:oun)?ts?(?: balance)?$"
)

_CASH_FUND: Final = re.compile(r"\b(?:cash management|money market)(?: (?:funds?|portfolio|trust))?$")

CURRENCIES: Final = frozenset(("aud", "cad", "chf", "eur", "gbp", "jpy", "sek", "usd"))
"""Words that alone are the name of a balance in this currency."""

_CURRENCY_BYTES: Final = 3

TEXT_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that is looked at for the words above; of a longer one only its start."""


@dataclass(frozen=True, slots=True)
class Loans:
    """The rows of a table that are loans, by their places among those that are looked at (`Below`)."""

    rows: NDArray[np.int64] | slice
    """Ascending; a slice where the loans follow one another."""
    stop: int
    """One past the last row of the table."""
    borrower: NDArray[np.int64] | None
    """The row that each loan takes its borrower from; None when each has its own."""
    counts: dict[str, int]
    """filled_borrowers, loans_without_par (of ignored_blank_par those that look like loans), and the length of each
    entry of `left_out`: those that are not 0."""
    left_out: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Rows that are no loans, by reason: ignored_blank_par, section_rows, total_rows, subtotal_rows, cash_rows,
    repeated_headers, unidentified_rows, no_collateral_rows (below a heading that says so), rows_after_end (of those
    after the end only what looks like a loan).
    """


@dataclass(frozen=True, slots=True)
class Columns:
    """The mapped columns by what they say about a row; all over the same rows."""

    par: NDArray[np.float64] | None
    borrower: Cells | None
    identifiers: list[Cells]
    facility: Cells | None
    maturity: Cells | None
    headers: list[tuple[Cells, NDArray[np.int32]]]
    """Mapped columns with the text codes of their header's rows."""
    places: dict[str, int]
    """Target -> its column."""


@dataclass(frozen=True, slots=True)
class _Has:
    """What each row has."""

    par: NDArray[np.bool_]
    name: NDArray[np.bool_]
    identifier: NDArray[np.bool_]
    detail: NDArray[np.bool_]
    """An identifier, a facility or a maturity."""
    cash: NDArray[np.bool_]
    """A name like cash or account, and neither identifier nor maturity."""
    plain: NDArray[np.bool_]
    """A loan without question."""


def pick(below: Below, found: Found, mapping: Mapping, par: NDArray[np.float64] | None = None) -> Loans:
    """The rows of a sheet that are loans.

    Args:
        par: the numbers of the par column in the rows that are looked at; without it those of a principal balance, if
            any.
    """
    sheet = below.sheet
    places = {target: columns[0] for target, columns in found.columns.items()}
    cells = {target: below.cells(column) for target, column in places.items()}
    if par is None and "principal_balance" in cells:
        par = read_numbers(cells["principal_balance"]).values
    headers = [(cells[target], _header_codes(sheet, found, column)) for target, column in places.items()]
    columns = Columns(
        par,
        cells.get("borrower_name"),
        [cells[target] for target in _identifiers(mapping, cells)],
        cells.get("facility_name"),
        cells.get("maturity_date"),
        [(column, codes) for column, codes in headers if len(codes)],
        places,
    )
    return loans(below, columns, matcher(mapping))


def _identifiers(mapping: Mapping, named: Container[str]) -> list[str]:
    """Targets that make a row a loan's: identifiers; in a file that is no list of loans whatever is text."""
    known = [target for target in IDENTIFIERS if target in named]
    if known or any(target in named for target in ("borrower_name", "facility_name")):
        return known
    found = [one for one in mapping.fields if one.target in named]
    return [one.target for one in found if one.type == "string"] or [one.target for one in found]


def _header_codes(sheet: Sheet, found: Found, column: int) -> NDArray[np.int32]:
    """The text codes of a column's cells in the rows of the header."""
    stored = sheet.columns[column]
    if stored is None:
        return np.zeros(0, np.int32)
    codes = stored.codes[max(0, found.top - stored.start) : max(0, found.row + 1 - stored.start)]
    return codes[codes >= 0]


def loans(below: Below, columns: Columns, aliases: Matcher | None = None) -> Loans:
    """Sort out the rows below a header.

    A row with par, a borrower, and an identifier, facility or maturity is a loan unless its borrower reads like a
    total. Only the other rows are looked at one by one.

    Args:
        aliases: what headers are called, to see where another table begins.
    """
    height, text = below.height, below.pool.text
    has_par = np.ones(height, np.bool_) if columns.par is None else ~np.isnan(columns.par)
    has_id = np.zeros(height, np.bool_)
    has_maturity = _present(columns.maturity, height)
    markers = _markers(text)
    cash_names = _cash_names(columns, text, np.flatnonzero(has_par & ~has_maturity))
    for cells in columns.identifiers:
        has_id |= cells.present() & ~markers[cells.codes]
        if cash_names is not None:
            has_id &= ~cash_names[cells.codes]
    has_name = has_id if columns.borrower is None else _present(columns.borrower, height)
    has_facility = _present(columns.facility, height)
    if columns.facility is not None:
        has_facility &= ~markers[columns.facility.codes]
    has_detail = has_id | has_facility | has_maturity
    is_cash = np.zeros(height, np.bool_)
    for named in (columns.borrower, columns.facility):
        if cash_names is not None and named is not None:
            is_cash |= cash_names[named.codes]
    is_cash &= has_par & ~has_id & ~has_maturity
    plain = has_par & has_name & has_detail & ~is_cash
    if columns.borrower is not None:
        plain &= ~markers[columns.borrower.codes]
    if columns.par is None:  # a header repeated below has what names a loan, and no par to lack
        plain &= ~_repeats_header(columns, np.arange(height))
    if plain.all():
        return Loans(slice(0, height), height, None, {})
    odd = _Odd(below, np.flatnonzero(~plain), aliases)
    return _sort(columns, odd, _Has(has_par, has_name, has_id, has_detail, is_cash, plain))


def _present(cells: Cells | None, height: int) -> NDArray[np.bool_]:
    return np.zeros(height, np.bool_) if cells is None else cells.present()


def _markers(text: Text) -> NDArray[np.bool_]:
    """Strings that read like a total or a footer, by code, with a False at the end for the code -1."""
    markers = np.zeros(len(text) + 1, np.bool_)
    for code in _parse.may_mark(text.offsets, text.data).tolist():
        markers[code] = _MARKER.match(_start(text, code)) is not None
    return markers


def _start(text: Text, code: int) -> str:
    begin, end = int(text.offsets[code]), int(text.offsets[code + 1])
    return text.data[begin : min(end, begin + TEXT_BYTES_MAX)].tobytes().decode(errors="replace")


def _cash_names(columns: Columns, text: Text, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Strings that name cash or a bank account where some rows could be one: by code, with a False for the code -1."""
    if not len(rows):
        return None
    names = np.zeros(len(text) + 1, np.bool_)
    if len(rows) > CASH_ROWS:
        data = text.data.tobytes().lower()
        places = np.array([place for start in _CASH_STARTS for place in _places(data, start)], np.int64)
        short = np.flatnonzero(np.diff(text.offsets) == _CURRENCY_BYTES)
        codes = np.concatenate((np.searchsorted(text.offsets, places, side="right") - 1, short))
    else:
        named = [cells for cells in (columns.borrower, columns.facility, *columns.identifiers) if cells is not None]
        codes = np.concatenate([np.zeros(0, np.int64), *(cells.codes[rows] for cells in named)])
    codes = np.unique(codes)
    for code in codes[codes >= 0].tolist():
        names[code] = _is_cash(key(_start(text, code)))
    return names


def _places(data: bytes, part: bytes) -> Iterator[int]:
    """Where a part stands in some bytes: five times as fast as a pattern."""
    place = data.find(part)
    while place >= 0:
        yield place
        place = data.find(part, place + 1)


def _is_cash(name: str) -> bool:
    if name in CURRENCIES or _CASH_FUND.search(name) is not None:
        return True
    words = name.split()
    if _CASH_NAME.isdisjoint(words):
        return False
    return _BANK_ACCOUNT.search(name) is not None or all(word in _CASH_WORDS or word.isdigit() for word in words)


def _is_figure(cells: Cells) -> NDArray[np.bool_]:
    """Cells whose text is a number."""
    if not cells.seen & bit(TEXT):
        return np.zeros(len(cells.kinds), np.bool_)
    text = cells.pool.text
    local, used = _parse.distinct(cells.codes, len(text))
    values, _ = _parse.numbers(text.offsets, text.data, used, False)
    return spread_out(~np.isnan(values), False, local)


class _Odd:
    """The rows that are not plainly loans, and what all columns of the sheet say about them."""

    def __init__(self, below: Below, rows: NDArray[np.int64], aliases: Matcher | None) -> None:
        self.rows = rows
        self._below, self._aliases = below, aliases
        sheet = below.sheet
        self.filled = np.zeros(len(rows), np.int32)
        self.texts = np.zeros(len(rows), np.int32)
        self.first_text = np.full(len(rows), -1, np.int32)
        self.last_text = np.full(len(rows), -1, np.int32)
        self.text = sheet.text
        low, high = below.row(int(rows[0])), below.row(int(rows[-1])) + 1
        for column, stored in enumerate(sheet.columns):
            if stored is None or stored.stop <= low or stored.start >= high:
                continue
            cells = below.part(column, rows)
            present = cells.present()
            is_text = present & (cells.kinds == TEXT) & ~_is_figure(cells)
            self.filled += present
            self.texts += is_text
            self.first_text = np.where((self.first_text < 0) & is_text, cells.codes, self.first_text)
            self.last_text = np.where(is_text, cells.codes, self.last_text)

    def texts_above(self) -> NDArray[np.int32]:
        """The codes of the texts above the first row that is looked at."""
        first = self._below.first
        found = [
            part.codes[part.codes >= 0]
            for stored in self._below.sheet.columns
            if stored is not None and stored.start < first
            for part in (stored.span(max(stored.start, first - ABOVE_ROWS), min(first, stored.stop)),)
        ]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int32)

    def headers(self, among: NDArray[np.bool_], places: dict[str, int]) -> tuple[list[int], list[int]]:
        """Of some odd rows those that read like a header: the same one in other words, and another table's."""
        same: list[int] = []
        other: list[int] = []
        if self._aliases is None:
            return same, other
        rows_max = min(HEADERS_MAX, HEADER_CELLS_MAX // max(1, self._below.sheet.column_count))
        mapped = set(places.values())
        for at in np.flatnonzero(among & (self.texts >= SCORE_MIN))[:rows_max].tolist():
            named, unknown = self._named(int(self.rows[at]), mapped)
            if len(named) >= SCORE_MIN:
                agrees = all(places.get(target) == column for target, column in named.items())
                is_whole = 2 * len(named) >= len(places) and unknown <= UNKNOWN_MAX
                (same if agrees and is_whole else other).append(at)
        return same, other

    def _named(self, row: int, mapped: set[int]) -> tuple[dict[str, int], int]:
        """Target -> column of the cells of a row that name one, and how many under mapped columns name none."""
        assert self._aliases is not None
        named: dict[str, int] = {}
        balance = unknown = 0
        row = self._below.row(row)
        for column, stored in enumerate(self._below.sheet.columns):
            at = -1 if stored is None else stored.slot(row)
            if stored is None or at < 0 or stored.held.kinds[at] != TEXT:
                continue
            options = self._aliases.options(_start(self.text, int(stored.held.codes[at])))
            balance += 1 if options else -1
            unknown += not options and column in mapped
            if balance < -MISSES_MAX:
                break
            for target, _, auxiliary in options:
                if not auxiliary:
                    named.setdefault(target, column)
        return named, unknown

    def matches(
        self, pattern: re.Pattern[str], *, whole: bool, codes: NDArray[np.int32] | None = None
    ) -> NDArray[np.bool_]:
        """Rows whose first text (else that of their code in `codes`) fits the pattern, as a whole or from its start."""
        local, used = _parse.distinct(self.first_text if codes is None else codes, len(self.text))
        matches = pattern.fullmatch if whole else pattern.match
        fit = [matches(_start(self.text, code)) is not None for code in used.tolist()]
        return spread_out(np.array(fit, np.bool_), False, local)


def _sort(columns: Columns, odd: _Odd, has: _Has) -> Loans:
    """Name each odd row, find the end, and keep what is left."""
    rows = odd.rows
    par, name, identified, detail, cash = (
        mask[rows] for mask in (has.par, has.name, has.identifier, has.detail, has.cash)
    )
    blank = odd.filled == 0
    header = _repeats_header(columns, rows)
    if columns.par is not None:
        header &= ~par
    same, other = odd.headers(~par & ~header, columns.places)
    header[same] = True
    # A loan may be called Total Safety or Source Photonics: its row says more than its name.
    called_total = odd.matches(_BARE, whole=True)
    for named in (columns.borrower, columns.facility, *columns.identifiers):
        if named is not None:  # the first text may be the deal's name, as on every row
            called_total |= odd.matches(_BARE, whole=True, codes=named.codes[rows])
    bare = called_total & ~identified
    has_detail_column = bool(columns.identifiers) or columns.facility is not None or columns.maturity is not None
    wordy = odd.matches(_MARKER, whole=False) & ~detail & (odd.texts <= 1) & (has_detail_column | ~par)
    footer = odd.matches(_FOOTER, whole=False) | odd.matches(_PAGE, whole=True, codes=odd.last_text)
    footer &= ~par if columns.par is not None else ~(name & detail)
    marker = (bare | wordy | footer) & ~blank & ~header
    is_ruled = odd.matches(_RULED, whole=True) & (odd.texts == odd.filled)
    # Words that name no loan: a section, the rest of a header, a page's title.
    is_words = (odd.texts == odd.filled) & ~blank & (is_ruled | ~par & ~name & ~detail)
    label = ((odd.filled == 1) & (odd.texts == 1) | is_words) & ~marker & ~header
    solid = ~(blank | header | marker | label)
    rest = par & solid & ~cash
    ends = marker & ~odd.matches(_SUBTOTAL, whole=False)
    loans_after = np.flatnonzero(has.plain | has.par & has.identifier)
    # A header of another table ends this one, not the rest of this one's own header above the first loan.
    others = rows[other][rows[other] > (loans_after[0] if len(loans_after) else len(has.plain))]
    headers = rows[header]
    titles = odd.matches(_POOL_TITLE, whole=True) & ~odd.matches(_NOT_POOL, whole=True)
    titled = _with_titles(headers, rows[(label & titles) | (footer & ~blank)])
    stop, resumed = _stop(len(has.plain), rows[blank], rows[ends], rows[solid], loans_after, headers, others, titled)
    # A total may have the number of loans in a column of identifiers; its sum tells it from a company of that name.
    described = identified & (odd.texts == 1) & (_in_words(columns, odd) & ~name | _called_total(columns, odd))
    # An id or a facility makes a nameless row a loan under a merged issuer, a date or a word one without a name.
    nameless = rest & ~name & ~detail
    lone = rows[nameless & (odd.texts == 0)]
    doubt = _Doubt(
        rows[marker],
        rows[nameless],
        rows[nameless & (odd.texts > 0)],
        rows[rest & name & ~detail] if has_detail_column else rows[:0],
        rows[rest & described],
        rows[rest & detail & (called_total | described)],
    )
    counted = has.plain.copy()
    counted[rows[rest & detail]] = True
    counted[doubt.doubtful] = False
    totals, subtotals = _sums(columns, has, doubt, counted, stop)
    kept = has.plain.copy()
    kept[rows[rest]] = True
    for dropped in (totals, lone, subtotals):
        kept[dropped] = False
    for end, again in resumed:
        kept[end:again] = False
    kept[stop:] = False
    titles_again = np.setdiff1d(titled, np.union1d(headers, rows[label & titles]), assume_unique=True)
    no_collateral = np.flatnonzero(kept & _under_no_collateral(odd, label, titles_again, len(kept)))
    if len(no_collateral) < np.count_nonzero(kept):
        kept[no_collateral] = False
    else:  # the heading is the page's own title
        no_collateral = no_collateral[:0]
    chosen = np.flatnonzero(kept)
    borrower, filled = _borrowers(columns, chosen, rows[marker | header | cash])
    left_out = {
        "ignored_blank_par": rows[solid & ~par & (rows < stop)],
        "section_rows": rows[label & (rows < stop)],
        "total_rows": _union(len(has.plain), rows[marker & (rows <= stop)], totals[totals < stop]),
        "subtotal_rows": subtotals[subtotals < stop],
        "cash_rows": rows[cash & solid & (rows < stop)],
        "repeated_headers": rows[header & (rows < stop)],
        "no_collateral_rows": no_collateral,
        "unidentified_rows": (alone := _without(lone, totals))[alone < stop],
        "rows_after_end": stop + np.flatnonzero(has.plain[stop:]),
    }
    left_out = {reason: places for reason, places in left_out.items() if len(places)}
    # The words of a page's foot have no number beside them, and no loan's name and identifier; what does is a loan
    # whose par is missing.
    is_loan = (odd.texts < odd.filled) | (name & detail & (odd.texts >= LOAN_TEXTS_MIN))
    unread = int(np.count_nonzero(solid & ~par & (rows < stop) & is_loan))
    more = {"filled_borrowers": filled, "loans_without_par": unread}
    counts = {reason: len(places) for reason, places in left_out.items()} | {name: n for name, n in more.items() if n}
    together = len(chosen) > 0 and int(chosen[-1] - chosen[0]) == len(chosen) - 1
    picked = slice(int(chosen[0]), int(chosen[-1]) + 1) if together else chosen
    return Loans(picked, stop, borrower, counts, left_out)


def _under_no_collateral(
    odd: _Odd, label: NDArray[np.bool_], again: NDArray[np.int64], height: int
) -> NDArray[np.bool_]:
    """Rows below a heading that says that they are no collateral, down to the next heading.

    A title of the page, which stands above its first row of loans too or above the header again, is no heading.

    Args:
        again: rows of titles above a header that stands again, but for those that name loans.
    """
    under = np.zeros(height, np.bool_)
    at = np.flatnonzero(label)
    codes = odd.first_text[at]
    local, used = _parse.distinct(codes, len(odd.text))
    says = [is_no_collateral(_start(odd.text, code)) for code in used.tolist()]
    if not any(says):
        return under
    is_no = spread_out(np.array(says, np.bool_), False, local)
    places = odd.rows[at]
    above = odd.texts_above()
    _, first = np.unique(codes, return_index=True)
    is_new = np.zeros(len(at), np.bool_)
    is_new[first] = True
    is_heading = is_no | (is_new & ~np.isin(codes, above) & ~np.isin(places, again))
    begins, kinds = places[is_heading], is_no[is_heading]
    for begin, end, no in zip(begins.tolist(), [*begins[1:].tolist(), height], kinds.tolist(), strict=True):
        under[begin:end] = no
    return under


def _in_words(columns: Columns, odd: _Odd) -> NDArray[np.bool_]:
    """Rows with a text of several words for an identifier: "Retail: 5 assets" over a group's sum."""
    in_words = np.zeros(len(odd.rows), np.bool_)
    for cells in columns.identifiers:
        in_words |= odd.matches(_WORDS, whole=True, codes=cells.codes[odd.rows])
    return in_words


def _called_total(columns: Columns, odd: _Odd) -> NDArray[np.bool_]:
    """Rows whose borrower reads like a total of something: "Total B2", with the number of loans for an identifier."""
    borrower = columns.borrower
    return (
        np.zeros(len(odd.rows), np.bool_)
        if borrower is None
        else odd.matches(_MARKER, whole=False, codes=borrower.codes[odd.rows])
    )


def _repeats_header(columns: Columns, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows that show the header's own words in two columns or more: the header again, after a page break.

    Under a header of one row these are half of its columns at least, and no mapped column has another word: two tables
    may begin with the same columns.
    """
    if not columns.headers:
        return np.zeros(len(rows), np.bool_)
    alike, other = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    for cells, header in columns.headers:
        codes = cells.codes[rows]
        is_alike = np.isin(codes, header)
        alike += is_alike
        other += (codes >= 0) & ~is_alike
    is_one_row = all(len(header) == 1 for _, header in columns.headers)
    half = (len(columns.headers) + 1) // 2 if is_one_row else 0
    return np.asarray((alike >= max(min(2, len(columns.headers)), half)) & (other == 0), np.bool_)


def _stop(
    height: int,
    blank: NDArray[np.int64],
    ends: NDArray[np.int64],
    solid: NDArray[np.int64],
    loans_after: NDArray[np.int64],
    headers: NDArray[np.int64],
    others: NDArray[np.int64],
    titled: NDArray[np.int64],
) -> tuple[int, list[tuple[int, int]]]:
    """One past the table's last row, and the gaps in it: three blank rows end it unless its header stands right below
    them, or below a title there, as on a new page; another table's header does, or a total that no loan follows at
    once.

    A total with a loan as the next row that says anything is a subtotal, and one with the header again before the next
    loan is a page's, with titles in the gap between; anything else after it is a footer, or another table.
    """
    stop = min(_blank_end(height, blank, titled), int(others[0]) if len(others) else height)
    next_loan = np.append(loans_after, height)[np.searchsorted(loans_after, ends)]
    others = np.setdiff1d(solid, loans_after, assume_unique=True)
    next_other = np.append(others, height)[np.searchsorted(others, ends)]
    next_header = np.append(headers, height)[np.searchsorted(headers, ends)]
    pages = next_header < np.minimum(next_loan, stop)
    last = ends[(next_loan >= np.minimum(next_other, stop)) & (ends < stop) & ~pages]
    gaps = list(zip(ends[pages].tolist(), next_header[pages].tolist(), strict=True))
    return int(last[0]) if len(last) else stop, gaps


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Rows with a par that may be a sum of others: offsets, ascending."""

    markers: NDArray[np.int64]
    """Totals by their own word; with or without a par."""
    nameless: NDArray[np.int64]
    """Nothing names a loan."""
    elsewhere: NDArray[np.int64]
    """Of these the ones with a text in another column."""
    bare_names: NDArray[np.int64]
    """A name and nothing else that tells of a loan."""
    described: NDArray[np.int64]
    """Several words for an identifier, and no other text."""
    doubtful: NDArray[np.int64]
    """These, and the ones that are called total though they have an identifier, a facility or a maturity."""


def _sums(
    columns: Columns, has: _Has, doubt: _Doubt, counted: NDArray[np.bool_], stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Totals and subtotals among the rows in doubt, by the loans that are counted."""
    height = len(counted)
    totals = _unlabelled_totals(columns, doubt.nameless, doubt.markers, counted)
    subtotals = _company_subtotals(columns, doubt.bare_names, has)
    names = _without(doubt.bare_names, subtotals)
    named_totals = _named_totals(columns, _union(height, names, doubt.doubtful), counted)
    groups = _without(_union(height, names, doubt.described), named_totals)
    elsewhere = _without(doubt.elsewhere, totals)
    named_groups = _group_totals(columns, groups[groups < stop], named_totals, counted)
    other_groups = _group_totals(columns, elsewhere[elsewhere < stop], totals, counted)
    return _union(height, totals, named_totals), _union(height, subtotals, named_groups, other_groups)


def _union(height: int, *parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows below `height` that are in any of the parts, ascending: ten times as fast as making them unique."""
    mask = np.zeros(height, np.bool_)
    for rows in parts:
        mask[rows] = True
    return np.flatnonzero(mask)


def _without(rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that are not among the others; each stands once in either."""
    return np.setdiff1d(rows, others, assume_unique=True)


def _with_titles(headers: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Header rows and the rows of words right above them."""
    found = above = headers
    for _ in range(TITLES_MAX):
        above = np.intersect1d(above - 1, labels)
        found = np.union1d(found, above)
    return found


def _blank_end(height: int, blank: NDArray[np.int64], headers: NDArray[np.int64]) -> int:
    """The first of the blank rows that end a table; `height` without such."""
    breaks = np.flatnonzero(np.diff(blank) != 1)
    firsts, lasts = blank[np.append(0, breaks + 1)[: len(blank)]], blank[np.append(breaks, -1)[: len(blank)]]
    ends = firsts[(lasts - firsts + 1 >= BLANK_ROWS) & ~np.isin(lasts + 1, headers)]
    return int(ends[0]) if len(ends) else height


def _unlabelled_totals(
    columns: Columns, nameless: NDArray[np.int64], markers: NDArray[np.int64], counted: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Rows with nothing that names a loan and a par that is the sum of the loans above, or of those since a total."""
    if columns.par is None or len(nameless) == 0:
        return nameless[:0]
    sums = np.concatenate(([0.0], np.cumsum(np.where(counted, columns.par, 0.0))))
    totals: list[int] = []
    since = 0.0
    places = np.sort(np.concatenate((nameless, markers)))
    for row, is_marker in zip(places.tolist(), np.isin(places, markers).tolist(), strict=True):
        above = float(sums[row])
        figure = float(columns.par[row])
        if is_marker:
            since = above
        elif above and min(abs(figure - above), abs(figure - (above - since))) <= TOTAL_TOLERANCE:
            totals.append(row)
            since = above
    return np.array(totals, np.int64)


def _named_totals(columns: Columns, rows: NDArray[np.int64], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows with a name and a par alone that is the sum of all loans above: a count or the deal stands in the name."""
    if columns.par is None or len(rows) == 0:
        return rows[:0]
    sums = np.cumsum(np.where(counted, columns.par, 0.0))[rows]
    is_total = (np.abs(columns.par[rows] - sums) <= TOTAL_TOLERANCE) & (np.cumsum(counted)[rows] >= NAMED_TOTAL_LOANS)
    return np.asarray(rows[is_total], np.int64)


def _group_totals(
    columns: Columns, rows: NDArray[np.int64], totals: NDArray[np.int64], counted: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Rows with a name and a par alone where each is the sum of its group: the loans since the one before, or those
    up to the next one. One that is not, and all of them are loans.

    Args:
        totals: rows that are known as the sum of all loans above, as the first group's is; groups end there as well.
    """
    if columns.par is None or not len(rows) or len(rows) + len(totals) < GROUP_TOTALS_MIN:
        return rows[:0]
    sums = np.concatenate(([0.0], np.cumsum(np.where(counted, columns.par, 0.0))))
    many = np.concatenate(([0], np.cumsum(counted)))
    ends = _union(len(counted), rows, totals)
    is_group = np.isin(ends, rows)
    for edges in (np.concatenate(([0], ends)), np.concatenate((ends, [len(counted)]))):
        is_sum = (np.abs(np.diff(sums[edges]) - columns.par[ends]) <= TOTAL_TOLERANCE) & (np.diff(many[edges]) > 0)
        if is_sum[is_group].all() and many[-1] >= NAMED_TOTAL_LOANS:
            return rows
    return rows[:0]


def _company_subtotals(columns: Columns, rows: NDArray[np.int64], has: _Has) -> NDArray[np.int64]:
    """Rows with a borrower and a par alone that is the sum of the borrower's other rows next to it."""
    if columns.par is None or columns.borrower is None or len(rows) == 0:
        return rows[:0]
    codes = columns.borrower.codes
    height = len(codes)
    own = np.maximum.accumulate(np.where(has.name, np.arange(height), 0))
    filled = np.where(has.par, codes[own], np.int32(-2))
    starts = np.concatenate(([0], np.flatnonzero(filled[1:] != filled[:-1]) + 1, [height]))
    is_sum = np.zeros(height, np.bool_)
    is_sum[rows] = True
    sums = np.concatenate(([0.0], np.cumsum(np.where(has.par & has.detail & ~is_sum, columns.par, 0.0))))
    run = np.searchsorted(starts, rows, side="right") - 1
    others = sums[starts[run + 1]] - sums[starts[run]]
    is_subtotal = (np.abs(columns.par[rows] - others) <= TOTAL_TOLERANCE) & (others != 0)
    return np.asarray(rows[is_subtotal], np.int64)


def _borrowers(
    columns: Columns, chosen: NDArray[np.int64], skipped: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | None, int]:
    """The row that each loan takes its borrower from: its own, else the nearest above (merged cells); and how many."""
    if columns.borrower is None:
        return None, 0
    named = columns.borrower.present()
    fillable = np.zeros(len(named), np.bool_)
    for cells in (*columns.identifiers, columns.facility):
        if cells is not None:
            fillable |= cells.present()
    needs = ~named[chosen] & fillable[chosen]
    if not needs.any():
        return None, 0
    named[skipped] = False
    above = np.maximum.accumulate(np.where(named, np.arange(len(named)), -1))
    source = np.where(needs & (above[chosen] >= 0), above[chosen], chosen)
    return source, int(np.count_nonzero(source != chosen))
