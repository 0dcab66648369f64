"""Which rows under a header are loans, and where the table ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.portfolio.cells.number_cells import read_numbers
from core.portfolio.cells.string_pool import Cells, key
from core.portfolio.model.fields import KEYS, Mapping
from core.portfolio.sheets.below import BLANK_ROWS, RowsBelow
from core.portfolio.sheets.headings.counters import counts_rows
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.matcher import Matcher, matcher
from core.portfolio.sheets.rows import words
from core.portfolio.sheets.rows.above import group_headings, group_totals, industries_above, split_column
from core.portfolio.sheets.rows.headings import GroupValues, values_above
from core.portfolio.sheets.rows.kinds import RowKinds, doubt_of, kinds_of
from core.portfolio.sheets.rows.no_loans import contract_rows, equity_rows, fund_rows, share_rows, under_no_collateral
from core.portfolio.sheets.rows.odd import OddRows, RowColumns, RowMarks, repeats_header
from core.portfolio.sheets.rows.parts import parts_of_positions
from core.portfolio.sheets.rows.sums import SumDoubt, find_sums, group_heads, running_sums, union, without

TITLES_MAX: Final = 3
"""Rows of words above a header that stands again."""

LOAN_TEXTS_MIN: Final = 3
"""Texts of a row without a number, a name and an identifier among them, that look like a loan's."""

NAMELESS_SHARE: Final = 0.25
"""Share of the rows with a par that have no name of their own, from which such a row goes on with the table."""

FILLED_MIN: Final = 4
FILLED_SHARE: Final = 0.5
"""Cells of a loan without a name, by themselves and beside the columns that feed a field."""

_TYPE: Final = re.compile(
    r"(?:asset|investment|security|instrument|facility|loan|obligation|holding|collateral|position)? ?"
    r"(?:type|class|category|kind)s?(?: of (?:asset|investment|security|instrument|facility|loan)s?)?\d?|instrument"
    r"|(?:asset|investment|security|instrument) (?:sub ?type|description)"
)
"""The heading of a column that says what kind of asset a row is, as a key."""

_PRICES: Final = ("spread", "all_in_rate", "price")

TELLING_MIN: Final = 2
"""Columns of maturities, ratings and identifiers from which a row without any of them may be no loan."""

TELLING_SHARE: Final = 0.5
"""Share of the rows with a par that have one of these."""

TYPES_MAX: Final = 6
"""Such columns of a sheet."""


@dataclass(frozen=True, slots=True)
class LoanRows:
    """The rows of a table that are loans, by places in `RowsBelow`."""

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
    """Rows that are no loans, by reason: ignored_blank_par, section_rows, total_rows, subtotal_rows, part_rows (by
    words about the position above), lot_rows (of it), cash_rows, repeated_headers, unidentified_rows,
    no_collateral_rows (below a heading that says so), equity_rows and contract_rows (what they say of themselves),
    earlier_rows (of a day before the others'), rows_after_end (of those after the end only what looks like a loan).
    """
    name_pair: tuple[Cells, Cells] | None = None
    """Borrowers and facilities where one column has both; over all rows that are looked at."""
    industry: NDArray[np.int32] | None = None
    """The text code of the heading that names each loan's industry, -1 without; None where no headings do."""
    groups: dict[str, GroupValues] = field(default_factory=dict)
    """Field -> what the headings above the loans say of it."""
    is_bare: NDArray[np.bool_] | None = None
    """Over all rows: a par, and none of what most rows have but a name; None where nobody looked."""
    like_totals: NDArray[np.int64] | None = None
    """Loans that are called as a total is, and are the sum of no others; None where nobody looked."""
    without_par: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Of ignored_blank_par the rows that look like loans."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Return the rows as an array."""
        return np.arange(self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows


def pick(below: RowsBelow, header: HeaderMatch, mapping: Mapping, par: NDArray[np.float64] | None = None) -> LoanRows:
    """Return the rows of a sheet that are loans.

    Args:
        par: the numbers of the par column in the rows that are looked at; without it those of a principal balance, if
            any.
    """
    sheet = below.sheet
    places = {target: columns[0] for target, columns in header.columns.items()}
    cells = {target: below.cells(column) for target, column in places.items()}
    if par is None and "principal_balance" in cells:
        par = read_numbers(cells["principal_balance"]).values
    headers = [(cells[target], _header_codes(sheet, header, column)) for target, column in places.items()]
    columns = RowColumns(
        par,
        cells.get("borrower_name"),
        [cells[target] for target in _identifiers(mapping, cells)],
        cells.get("facility_name"),
        cells.get("maturity_date"),
        [(column, codes) for column, codes in headers if len(codes)],
        places,
        tuple(below.cells(column) for column in _type_columns(header, places)) if "par_value" in cells else (),
        _counter_columns(sheet, header, set(places.values())),
        tuple(cells[target] for target in places if target.startswith("rating")),
        tuple(cells[target] for target in _PRICES if target in cells),
    )
    split = split_column(columns)
    picked = loans(below, columns if split is None else split, matcher(mapping))
    if split is None or split.borrower is None or split.facility is None:
        return picked
    return replace(picked, name_pair=(split.borrower, split.facility))


def _type_columns(header: HeaderMatch, places: dict[str, int]) -> list[int]:
    """Return columns that say what kind of asset a row is.

    By their heading, their role, or as the facility's name.
    """
    named = [column for column, text in header.texts.items() if _TYPE.fullmatch(key(text))]
    named += [column for column, evidence in header.evidence.items() if evidence.role == "asset_type"]
    named += [places[target] for target in ("facility_name", "is_bond") if target in places]
    return list(dict.fromkeys(named))[:TYPES_MAX]


def _counter_columns(sheet: Sheet, header: HeaderMatch, mapped: set[int]) -> frozenset[int]:
    """Return columns that number the rows: they say nothing of a row."""
    return frozenset(
        column
        for column in range(sheet.column_count)
        if column not in mapped and counts_rows(sheet, column, header.texts.get(column, ""), header.row + 1)
    )


def _identifiers(mapping: Mapping, named: Container[str]) -> list[str]:
    """Return targets that make a row a loan's: identifiers, else any text."""
    known = [target for target in KEYS if target in named]
    if known or any(target in named for target in ("borrower_name", "facility_name")):
        return known
    fields = [field for field in mapping.fields if field.target in named]
    return [field.target for field in fields if field.type == "string"] or [field.target for field in fields]


def _header_codes(sheet: Sheet, header: HeaderMatch, column: int) -> NDArray[np.int32]:
    """Return the text codes of a column's cells in the rows of the header."""
    stored = sheet.columns[column]
    if stored is None:
        return np.zeros(0, np.int32)
    codes = stored.codes[max(0, header.top - stored.start) : max(0, header.row + 1 - stored.start)]
    return codes[codes >= 0]


def loans(below: RowsBelow, columns: RowColumns, aliases: Matcher | None = None) -> LoanRows:
    """Sort out the rows below a header.

    A row with par, a borrower, and an identifier, facility or maturity is a loan unless its borrower reads like a
    total. Only the other rows are looked at one by one.

    Args:
        aliases: what headers are called, to see where another table begins.
    """
    has = _has(below, columns)
    equity = _any_of(equity_rows(columns.types, below.height), _thin_names(columns, has, share_rows))
    contracts = _any_of(contract_rows(columns.types, below.height), _thin_names(columns, has, fund_rows))
    if has.plain.all():
        picked = LoanRows(slice(0, below.height), below.height, None, {})
    else:
        picked = _sort(columns, OddRows(below, np.flatnonzero(~has.plain), aliases, columns.counters), has, equity)
    for is_no, reason in ((equity, "equity_rows"), (contracts, "contract_rows")):
        picked = picked if is_no is None else _without(picked, is_no, reason)
    return replace(picked, is_bare=has.bare)


def _any_of(first: NDArray[np.bool_] | None, second: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return rows in either; None where neither has any."""
    return second if first is None else first if second is None else first | second


def _thin_names(
    columns: RowColumns, has: RowMarks, rows_of: Callable[[Iterable[Cells], int], NDArray[np.bool_] | None]
) -> NDArray[np.bool_] | None:
    """Return rows whose borrower names no loan, and which say nothing else of one."""
    thin = has.thin if columns.facility is None else has.thin & ~columns.facility.present()
    if columns.borrower is None or not thin.any():
        return None
    is_no = rows_of((columns.borrower,), len(thin))
    return None if is_no is None else is_no & thin


def _has(below: RowsBelow, columns: RowColumns) -> RowMarks:
    """Return what each row has of what tells a loan."""
    height, text = below.height, below.pool.text
    has_par = np.ones(height, np.bool_) if columns.par is None else ~np.isnan(columns.par)
    has_id = np.zeros(height, np.bool_)
    has_maturity = _present(columns.maturity, height)
    markers = words.markers(text)
    named = (columns.borrower, columns.facility, *columns.identifiers)
    cash_names = words.cash_names(named, text, np.flatnonzero(has_par & ~has_maturity))
    for cells in columns.identifiers:
        has_id |= cells.present() & ~markers[cells.codes]
        if cash_names is not None:
            has_id &= ~cash_names[cells.codes]
    has_name = has_id if columns.borrower is None else _present(columns.borrower, height)
    has_facility = _present(columns.facility, height)
    if columns.facility is not None:
        has_facility &= ~markers[columns.facility.codes]
    has_detail = has_id | has_facility | has_maturity
    for cells in columns.types:
        if cells is not columns.facility:
            has_detail |= cells.present() & ~markers[cells.codes]
    is_cash = np.zeros(height, np.bool_)
    for column in named[:2]:
        if cash_names is not None and column is not None:
            is_cash |= cash_names[column.codes]
    is_cash &= has_par & ~has_id & ~has_maturity
    silent = _silent(columns, has_par)
    is_usual = np.count_nonzero(silent) <= (1 - TELLING_SHARE) * np.count_nonzero(has_par)
    thin = silent & is_usual
    bare = thin & ~np.any([cells.present() for cells in columns.prices], axis=0) if columns.prices else thin
    plain = has_par & has_name & has_detail & ~is_cash & ~thin & (has_id | ~running_sums(columns, height))
    if columns.borrower is not None:
        plain &= ~markers[columns.borrower.codes]
    if columns.par is None:  # a header repeated below has what names a loan, and no par to lack
        plain &= ~repeats_header(columns, np.arange(height)) & ~_says_one_thing(columns, height)
    return RowMarks(has_par, has_name, has_id, has_detail, is_cash, plain, silent, thin, bare)


def _silent(columns: RowColumns, has_par: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return rows with a par, and neither maturity, rating nor identifier."""
    telling = [*columns.identifiers, *columns.ratings, *((columns.maturity,) if columns.maturity is not None else ())]
    if columns.par is None or len(telling) < TELLING_MIN:
        return np.zeros(len(has_par), np.bool_)
    return np.asarray(has_par & ~np.any([cells.present() for cells in telling], axis=0), np.bool_)


def _says_one_thing(columns: RowColumns, height: int) -> NDArray[np.bool_]:
    """Return rows of a list without par with a single mapped cell.

    The lines of a page break may stand among identifiers.
    """
    count = np.zeros(height, np.int32)
    for cells, _ in columns.headers:
        count += cells.present()
    return np.asarray((count == 1) & (len(columns.headers) > 1), np.bool_)


def _present(cells: Cells | None, height: int) -> NDArray[np.bool_]:
    return np.zeros(height, np.bool_) if cells is None else cells.present()


def _without(picked: LoanRows, is_no: NDArray[np.bool_], reason: str) -> LoanRows:
    """Drop loans that say that they are none, unless every row says so."""
    is_no = is_no[picked.places]
    return picked if not is_no.any() or is_no.all() else without_rows(picked, is_no, reason)


def without_rows(picked: LoanRows, is_no: NDArray[np.bool_], reason: str) -> LoanRows:
    """Leave some of the loans out, for a reason.

    Args:
        is_no: which of the loans.
    """
    places = picked.places
    return replace(
        picked,
        rows=_rows(places[~is_no]),
        borrower=None if picked.borrower is None else picked.borrower[~is_no],
        industry=None if picked.industry is None else picked.industry[~is_no],
        groups={field: group.without(is_no) for field, group in picked.groups.items()},
        counts=picked.counts | {reason: int(np.count_nonzero(is_no))},
        left_out=picked.left_out | {reason: places[is_no]},
    )


def _rows(places: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Return some rows, ascending, as a slice where they follow one another."""
    together = len(places) > 0 and int(places[-1] - places[0]) == len(places) - 1
    return slice(int(places[0]), int(places[-1]) + 1) if together else places


def _sort(columns: RowColumns, odd: OddRows, has: RowMarks, equity: NDArray[np.bool_] | None) -> LoanRows:
    """Name each odd row, find the end, and keep what is left."""
    rows, height = odd.rows, len(has.plain)
    kinds = kinds_of(columns, odd, has)
    is_part, is_lot = parts_of_positions(columns, odd, kinds, has)
    parts, lots, kinds = rows[is_part], rows[is_lot], replace(kinds, rest=kinds.rest & ~is_part & ~is_lot)
    doubt = doubt_of(columns, odd, kinds)
    trials = _trials(columns, odd, kinds, has)
    titled = _with_titles(rows[kinds.header], rows[(kinds.label & kinds.page_title) | (kinds.footer & ~kinds.blank)])
    heads = union(height, *(group_heads(columns, doubted, counted) for doubted, counted in trials))
    stop, resumed = _stop(columns, odd, has, kinds, heads, titled)
    sums = [find_sums(columns, doubted, counted, stop) for doubted, counted in trials]
    totals, subtotals = (union(height, *ways) for ways in zip(*sums, strict=True))
    kept = has.plain.copy()
    kept[rows[kinds.rest]] = True
    for dropped in (totals, doubt.lone, subtotals):
        kept[dropped] = False
    for end, again in resumed:
        kept[end:again] = False
    kept[stop:] = False
    titles_again = np.setdiff1d(titled, rows[kinds.header | kinds.label & kinds.page_title], assume_unique=True)
    no_collateral = np.flatnonzero(kept & under_no_collateral(odd, kinds.label, titles_again, height))
    if len(no_collateral) < np.count_nonzero(kept):
        kept[no_collateral] = False
    else:  # the heading is the page's own title
        no_collateral = no_collateral[:0]
    chosen = np.flatnonzero(kept)
    no_names = kinds.marker | kinds.header | kinds.cash | _above_headers(odd, kinds)
    borrower, filled = _borrowers(columns, chosen, rows[no_names])
    left_out = {
        "ignored_blank_par": rows[_lacks_par(kinds, rows, equity) & (rows < stop)],
        "section_rows": rows[kinds.label & (rows < stop)],
        "total_rows": union(height, rows[kinds.marker & (rows <= stop)], totals[totals < stop]),
        "subtotal_rows": subtotals[subtotals < stop],
        "part_rows": parts[parts < stop],
        "lot_rows": lots[lots < stop],
        "cash_rows": rows[kinds.cash & kinds.solid & (rows < stop)],
        "repeated_headers": rows[kinds.header & (rows < stop)],
        "no_collateral_rows": no_collateral,
        "unidentified_rows": (alone := without(doubt.lone, union(height, totals, subtotals, parts, lots)))[
            alone < stop
        ],
        "rows_after_end": stop + np.flatnonzero(has.plain[stop:]),
    }
    left_out = {reason: places for reason, places in left_out.items() if len(places)}
    # The words of a page's foot have no number beside them, and no loan's name and identifier; what does is a loan
    # whose par is missing.
    is_loan = (odd.texts < odd.filled) | (kinds.name & kinds.detail & (odd.texts >= LOAN_TEXTS_MIN))
    without_par = rows[_lacks_par(kinds, rows, equity) & (rows < stop) & is_loan]
    more = {"filled_borrowers": filled, "loans_without_par": len(without_par)}
    counts = {reason: len(places) for reason, places in left_out.items()} | {name: n for name, n in more.items() if n}
    industry = industries_above(odd, kinds, subtotals, titles_again, chosen)
    group_starts = group_headings(odd, kinds, titles_again, borrower)
    group_ends = group_totals(
        odd, kinds, np.union1d(totals, subtotals), columns.borrower, chosen if borrower is None else borrower
    )
    groups = values_above(odd, kinds.label, group_starts, group_ends, chosen)
    like_totals = np.intersect1d(chosen, rows[kinds.like_total], assume_unique=True)
    return LoanRows(
        _rows(chosen),
        stop,
        borrower,
        counts,
        left_out,
        industry=industry,
        groups=groups,
        like_totals=like_totals,
        without_par=without_par,
    )


def _trials(
    columns: RowColumns, odd: OddRows, kinds: RowKinds, has: RowMarks
) -> list[tuple[SumDoubt, NDArray[np.bool_]]]:
    """Return ways to look for sums: rows that may be some, and rows that are parts.

    A row without maturity, rating and identifier may be a sum, or a loan that is part of one. Each sum counts that is
    one without such rows, with those that have a facility, or with those that have a price or a spread, too.
    """
    ways = [kinds]
    if kinds.thin.any():
        no_rows = np.zeros(len(kinds.thin), np.bool_)
        priced = kinds.thin & ~has.bare[odd.rows]
        ways += [replace(kinds, thin=kinds.thin & ~priced, detail=kinds.detail | priced), replace(kinds, thin=no_rows)]
    trials = []
    for way in ways:
        doubt = doubt_of(columns, odd, way)
        counted = has.plain.copy()
        counted[odd.rows[way.rest & (way.detail | way.name)]] = True
        for rows in (doubt.bare_names, doubt.doubtful, odd.rows[way.rest & way.thin]):
            counted[rows] = False
        trials.append((doubt, counted))
    return trials


def _above_headers(odd: OddRows, kinds: RowKinds) -> NDArray[np.bool_]:
    """Return rows of words between the end of a page and the header again.

    With nothing but such rows and blank ones down to it: titles of the next page, which stand above the first one, or
    again above another. The last company of a page may stand there, too.
    """
    words_alone = kinds.label | kinds.blank
    places = np.arange(len(odd.rows))
    after = np.minimum.accumulate(np.where(words_alone, len(places), places)[::-1])[::-1]
    ends = np.minimum(after, len(places) - 1)
    is_close = odd.rows[ends] - odd.rows == ends - places
    above = np.flatnonzero(kinds.label & kinds.header[ends] & is_close)
    codes, place, count = np.unique(odd.first_text[above], return_inverse=True, return_counts=True)
    is_title = np.zeros(len(places), np.bool_)
    is_title[above] = (np.isin(codes, odd.texts_above()) | (count > 1))[place]
    return is_title


def _lacks_par(kinds: RowKinds, rows: NDArray[np.int64], equity: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return odd rows that have no par and may be loans: no shares, which have none."""
    lacks = kinds.solid & ~kinds.par
    return lacks if equity is None else lacks & ~equity[rows]


def _stop(
    columns: RowColumns,
    odd: OddRows,
    has: RowMarks,
    kinds: RowKinds,
    heads: NDArray[np.int64],
    titled: NDArray[np.int64],
) -> tuple[int, list[tuple[int, int]]]:
    """Return one past the table's last row, and the gaps in it.

    Three blank rows end it unless its header stands right below them, or below a title there, as on a new page; another
    table's header does, or a total that no loan follows at once.

    A total with a loan as the next row that says anything is a subtotal, and one with the header again before the next
    loan is a page's, with titles in the gap between; anything else after it is a footer, or another table.

    Args:
        heads: rows with the sum of the loans below them.
    """
    rows, height = odd.rows, len(has.plain)
    headers = rows[kinds.header]
    ends = rows[kinds.marker & ~odd.matches(words.SUBTOTAL, whole=False)]
    thin = has.thin & has.name & has.detail & ~has.cash
    loans_after = np.flatnonzero(
        has.plain | thin | has.par & has.identifier | _nameless_loans(columns, odd, has, kinds)
    )
    # A header of another table ends this one, not the rest of this one's own header above the first loan.
    tables = rows[kinds.others][rows[kinds.others] > (loans_after[0] if len(loans_after) else height)]
    stop = min(_blank_end(height, rows[kinds.blank], titled), int(tables[0]) if len(tables) else height)
    next_loan = np.append(loans_after, height)[np.searchsorted(loans_after, ends)]
    others = np.setdiff1d(rows[kinds.solid], np.union1d(loans_after, heads), assume_unique=True)
    next_other = np.append(others, height)[np.searchsorted(others, ends)]
    next_header = np.append(headers, height)[np.searchsorted(headers, ends)]
    pages = next_header < np.minimum(next_loan, stop)
    last = ends[(next_loan >= np.minimum(next_other, stop)) & (ends < stop) & ~pages]
    gaps = list(zip(ends[pages].tolist(), next_header[pages].tolist(), strict=True))
    return int(last[0]) if len(last) else stop, gaps


def _nameless_loans(columns: RowColumns, odd: OddRows, has: RowMarks, kinds: RowKinds) -> NDArray[np.bool_]:
    """Return rows with par and a facility but no name of their own.

    Where many loans have none (merged issuers, companies above their investments, names of facilities alone), or most
    columns say something.
    """
    is_nameless = np.zeros(len(has.plain), np.bool_)
    if columns.facility is None and not columns.types:
        return is_nameless
    nameless = kinds.rest & kinds.detail & ~kinds.name
    count = np.count_nonzero(nameless)
    if count < NAMELESS_SHARE * (np.count_nonzero(has.plain) + count):
        nameless &= odd.filled >= max(FILLED_MIN, FILLED_SHARE * len(columns.places))
    is_nameless[odd.rows[nameless]] = True
    return is_nameless


def _with_titles(headers: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return header rows and the rows of words right above them."""
    rows = above = headers
    for _ in range(TITLES_MAX):
        above = np.intersect1d(above - 1, labels)
        rows = np.union1d(rows, above)
    return rows


def _blank_end(height: int, blank: NDArray[np.int64], headers: NDArray[np.int64]) -> int:
    """Return the first of the blank rows that end a table; `height` without such."""
    breaks = np.flatnonzero(np.diff(blank) != 1)
    firsts, lasts = blank[np.append(0, breaks + 1)[: len(blank)]], blank[np.append(breaks, -1)[: len(blank)]]
    ends = firsts[(lasts - firsts + 1 >= BLANK_ROWS) & ~np.isin(lasts + 1, headers)]
    return int(ends[0]) if len(ends) else height


def _borrowers(
    columns: RowColumns, places: NDArray[np.int64], skipped: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | None, int]:
    """Return the row of each loan's borrower, own or above, and how many."""
    if columns.borrower is None:
        return None, 0
    named = columns.borrower.present()
    fillable = np.zeros(len(named), np.bool_)
    for cells in (*columns.identifiers, columns.facility, *columns.types):
        if cells is not None:
            fillable |= cells.present()
    needs = ~named[places] & fillable[places]
    if not needs.any():
        return None, 0
    named[skipped] = False
    above = np.maximum.accumulate(np.where(named, np.arange(len(named)), -1))
    source = np.where(needs & (above[places] >= 0), above[places], places)
    return source, int(np.count_nonzero(source != places))
