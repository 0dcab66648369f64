"""Which sheets of a workbook have loans, and which one the others add to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells import number_cells, string_pool
from core.portfolio.cells.string_pool import StringPool, key
from core.portfolio.model.fields import AMORTIZATION_SHEETS, DEAL_SHEETS, TRANCHE_SHEETS, Mapping
from core.portfolio.sheets import asset_classes, titles
from core.portfolio.sheets.captions import with_captions
from core.portfolio.sheets.columns import gaps
from core.portfolio.sheets.columns.roles import HeadedColumns
from core.portfolio.sheets.columns.vocabulary import kind_weights, tokens_of
from core.portfolio.sheets.headings import feeds, header, wording
from core.portfolio.sheets.headings.days import of_earlier_days, stated_day
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.located import TELLING, TEMPLATE, LocatedBook, LocatedTable, SheetCandidate
from core.portfolio.sheets.lone_amounts import with_lone_amount
from core.portfolio.sheets.note_tables import is_named, is_note_table
from core.portfolio.sheets.rows import spans
from core.portfolio.sheets.sections import COLUMNS_MAX, EmptyList, empty_lists, sections, topmost
from core.portfolio.sheets.stacked import split_sides, split_tables

_AMOUNTS: Final = ("par_value", "principal_balance")
"""Targets for what a loan amounts to."""

AMOUNTS: Final = (*_AMOUNTS, "unfunded")
"""Targets in currency that a line above the header may mean."""

_IN_WORDS: Final = {1_000.0: "in thousands", 1_000_000.0: "in millions"}
"""What a row of units would say, by what it multiplies by."""

LOAN_MAX: Final = 1e9
"""Currency units that the middle one of a pool's loans does not reach."""
SIZE_MAX: Final = 2e10
"""Currency units that the middle one of the loans' facilities does not reach."""
ANCHORS_TOLD: Final = 8
"""Targets that a message names; a mapping of one's own may have hundreds."""

PAGES_MAX: Final = 40
"""Sheets that are joined to the one with the loans."""

TOO_MANY: Final = f"there are more than {PAGES_MAX} such sheets"
"""Why a sheet beyond these is not even read."""

NOTE_TABLES_MAX: Final = 4
"""Tables of notes below which loans are looked for on one sheet."""

NEAR_ROWS: Final = 3
"""Rows right above a header far down whose words are its title."""

TITLE_ROWS_MAX: Final = 10
"""Rows above a header that are looked at for the page's title."""

TITLE_CELLS_MAX: Final = 2
"""Cells of a row that is a line, wherever they stand."""

TITLE_COLUMNS_MAX: Final = 4
"""Columns of them."""

_NO_TITLE: Final = re.compile(r"[:\d]")


def earlier(book: Workbook) -> frozenset[int]:
    """Return sheets named as another one but for an earlier month: "Notes Oct 24"."""
    return of_earlier_days((sheet.index, sheet.name) for sheet in book.sheets)


SAME_NAMES: Final = 0.5
"""Share of a list's names that stand in another one, from which both list the same loans."""


def _earlier_lists(candidates: Iterable[SheetCandidate]) -> frozenset[int]:
    """Return lists of the same loans as another one, with an earlier day above them."""
    lists = [
        (candidate.sheet, candidate.header, day, _names_of(candidate.sheet, candidate.header))
        for candidate in candidates
        if candidate.header is not None and candidate.has_loans and candidate.sheet.state == "visible"
        if (day := next(gaps.days_above(candidate.sheet, candidate.header.top), None)) is not None
    ][:LISTS_MAX]
    return frozenset(
        sheet.index
        for sheet, own, day, names in lists
        if any(
            day < later
            and own.columns.keys() == header_match.columns.keys()
            and len(names & others) >= SAME_NAMES * max(1, min(len(names), len(others)))
            for _, header_match, later, others in lists
        )
    )


def _of_other_loans(candidates: Iterable[SheetCandidate]) -> frozenset[int]:
    """Return lists named for a day whose loans no list of a later day has."""
    lists = [
        (candidate.sheet.index, stated, _names_of(candidate.sheet, candidate.header))
        for candidate in candidates
        if candidate.header is not None and candidate.has_loans
        if (stated := stated_day(candidate.sheet.name)) is not None
    ][:LISTS_MAX]
    again = {
        index
        for index, own, names in lists
        if not names
        or any(
            (own.stem, own.has_year) == (later.stem, later.has_year)
            and own.day < later.day
            and len(names & others) >= SAME_NAMES * min(len(names), len(others))
            for _, later, others in lists
        )
    }
    return frozenset(index for index, _, _ in lists if index not in again)


def _names_of(sheet: Sheet, header_match: HeaderMatch) -> frozenset[str]:
    """Return the names that tell the loans of a sheet apart."""
    place = next((header_match.columns[target][0] for target in TELLING if target in header_match.columns), None)
    stored = None if place is None else sheet.columns[place]
    if stored is None:
        return frozenset()
    codes = np.unique(stored.dense.codes[stored.begin(header_match.row + 1) :])
    return frozenset(map(key, string_pool.decode(sheet.text, codes[codes >= 0][:NAMES_MAX])))


LISTS_MAX: Final = 60
"""Lists with a day above them that are compared."""

NAMES_MAX: Final = 5_000
"""Names of a list that are compared with those of another one."""


def _candidates(book: Workbook, mapping: Mapping) -> list[SheetCandidate]:
    """Return every sheet of a book, with its best header for a mapping."""
    candidates = []
    is_of_loans = mapping.source_type == "clo_holdings"
    for sheet in with_captions(book):
        header_match = header.find(sheet, mapping)
        if header_match is None and is_of_loans:
            header_match = _narrow(sheet, mapping)
        if header_match is not None and (without_spans := spans.merge_columns(sheet, header_match)) is not None:
            sheet, header_match = without_spans, header.find(without_spans, mapping)
        for _ in range(NOTE_TABLES_MAX):  # loans may stand below tables of notes
            deeper = None
            if header_match is not None and is_note_table(sheet, header_match):
                deeper = header.find(sheet, mapping, header_match.row + 1)
            if deeper is None:
                break
            header_match = deeper
        other_assets = (
            asset_classes.refusal(sheet, header_match or header.nearest(sheet, mapping)) if is_of_loans else ""
        )
        if header_match is None:
            candidates.append(
                SheetCandidate(sheet, None, has_rows=False, has_figures=False, refused="", other_assets=other_assets)
            )
            continue
        rows, has_figures = _row_count(sheet, header_match, mapping), _has_figures(sheet, header_match)
        refused, adds = other_assets or _refusal(sheet, header_match), _only_adds(sheet, header_match)
        candidates.append(SheetCandidate(sheet, header_match, rows > 0, has_figures, refused, other_assets, adds, rows))
    old = earlier(book)
    if is_of_loans:
        old = old - _of_other_loans(candidates) | _earlier_lists(candidates)
    return [
        replace(candidate, only_adds=_EARLIER)
        if candidate.sheet.index in old and candidate.header is not None
        else candidate
        for candidate in candidates
    ]


NARROW_MIN: Final = 4
"""Columns of a table of few fields from which it can be the one with the loans."""

_NAMED: Final = frozenset(("facility_name", "borrower_name"))


def _narrow(sheet: Sheet, mapping: Mapping) -> HeaderMatch | None:
    """Return the header of a small table of par, names and what tells loans apart."""
    page = header.find_page(sheet, mapping, _ANCHORS, titles.first_row(sheet))
    if page is None or len(page.columns) < NARROW_MIN or "par_value" not in page.columns:
        return None
    columns = page.columns.keys()
    is_of_loans = bool(columns & _NAMED) and bool(columns & _IDENTIFIERS) and not _is_par_by_cells_alone(page)
    return replace(page, score=len(columns)) if is_of_loans else None


_IDENTIFIERS: Final = frozenset(("cusip", "isin", "loanx_id", "asset_id", "loan_id"))


_EARLIER: Final = "its name or title is that of a page of an earlier day"


_TEMPLATE_MIN: Final = 4.0
"""Weight of the words of a name from which its sheet is a template or an older copy."""


_TEMPLATE_LINE: Final = re.compile(r"\btemplate\b|\bdo not edit\b|\bexample only\b")
"""Words of a title of a table that is to be filled."""


_COPY_NAME: Final = re.compile(r"\(\d{1,2}\)$")
"""The end of the name that a program gives to a copy of a sheet: Holdings (2)."""


def _is_template(sheet: Sheet) -> bool:
    weights = kind_weights(sheet.name)
    if sheet.state != "visible":
        is_copy = _COPY_NAME.search(sheet.name) is not None
        return is_copy or weights.get("old", 0.0) > 0 or weights.get("template", 0.0) > 0
    of_holdings = weights.get("holdings", 0.0)
    return any(weights.get(kind, 0.0) - of_holdings >= _TEMPLATE_MIN for kind in ("template", "old"))


HOLDINGS_FIELDS: Final = 8
"""Fields of a header without a word for trades from which a title such as "Blotter" is one of positions."""


def _is_to_be_filled(lines: Iterable[str]) -> bool:
    return any(_TEMPLATE_LINE.search(line) for line in lines)


_SOLD: Final = re.compile(
    r"\b(?:sales?|sold|purchases?|bought|pay ?downs?|prepayments?|repayments?|disposals?|dispositions|redemptions?"
    r"|proposed|hypothetical|pro forma|unsettled|pending|pipeline)\b"
)
"""Words of a title that say what happened to its loans, whatever its columns are."""

_TRADE_WORDS: Final = frozenset(("buy", "sell", "bought", "sold", "side", "proceeds", "gain"))
_OF_TRADES: Final = frozenset(("traded", "settled", "sale"))


def _left_out(lines: Iterable[str], header_match: HeaderMatch) -> str:
    """Return why nothing is taken from a list of this title; "" for trades' lists.

    A title of trades over columns of positions counts nothing.
    """
    why = titles.left_out(_title_text(lines))
    if why != titles.TRADES or header_match.score < HOLDINGS_FIELDS or any(map(_SOLD.search, lines)):
        return why
    headings = [tokens_of(text) for text in header_match.texts.values()]
    is_of_trades = any(
        not _TRADE_WORDS.isdisjoint(words) or ("date" in words and not _OF_TRADES.isdisjoint(words))
        for words in headings
    )
    return why if is_of_trades else ""


def _only_adds(sheet: Sheet, header_match: HeaderMatch) -> str:
    """Return why a sheet should only add to another one's loans; "" for none."""
    columns = header_match.columns.keys()
    if not columns & set(_AMOUNTS) or not columns & {*TELLING, "loan_id"}:
        return "its header names no par, or nothing that tells loans apart"
    if _is_par_by_cells_alone(header_match) and not columns & {"borrower_name", "facility_name"}:
        return "cells alone tell its par, and no column names borrowers"
    lines = _title_lines(sheet, header_match)
    if _is_template(sheet) or _is_to_be_filled(lines):
        return TEMPLATE
    why = _left_out(lines, header_match)
    return why or ("its title is that of a list of some loans" if titles.flag_of(lines) else "")


def _is_par_by_cells_alone(header_match: HeaderMatch) -> bool:
    """Return whether the column of par has no heading.

    It may as well be interest that accrued, or what a loan once was.
    """
    place = next((header_match.columns[target][0] for target in _AMOUNTS if target in header_match.columns), None)
    evidence = None if place is None else header_match.evidence.get(place)
    return (
        evidence is not None
        and place is not None
        and evidence.words <= 0
        and not header_match.texts.get(place, "").strip()
    )


def _with_second_price(page: LocatedTable, holdings: LocatedTable) -> LocatedTable:
    """Take a page's prices without heading for the purchase price beside others."""
    columns = page.header.columns
    place = columns.get("price", [-1])[0]
    evidence = page.header.evidence.get(place)
    if evidence is None or evidence.words > 0 or page.header.texts.get(place, "").strip():
        return page
    if "price" not in holdings.header.columns or "purchase_price" in columns.keys() | holdings.header.columns.keys():
        return page
    rest = {target: places for target, places in columns.items() if target != "price"} | {"purchase_price": [place]}
    return replace(page, header=replace(page.header, columns=rest))


def _without_open_par(page: LocatedTable, holdings: LocatedTable) -> LocatedTable:
    """Drop a page's amounts that cells alone show, where the loans have par."""
    columns = page.header.columns
    if (
        "par_value" not in columns
        or "par_value" not in holdings.header.columns
        or not _is_par_by_cells_alone(page.header)
    ):
        return page
    rest = {target: places for target, places in columns.items() if target not in _AMOUNTS}
    return replace(page, header=replace(page.header, columns=rest))


def _of_another_day(book: Workbook, candidates: Collection[SheetCandidate]) -> frozenset[int]:
    """Return sheets of another day by name or title: "Tests Prior", "Tests Oct 24"."""
    named = {sheet.index for sheet in book.sheets if titles.is_of_another_day(key(sheet.name))}
    old = earlier(book) - _of_other_loans(candidates)
    return old | named | {each.sheet.index for each in candidates if each.only_adds == _EARLIER}


def _pages(candidates: Iterable[SheetCandidate], holdings: LocatedTable, mapping: Mapping) -> Iterator[LocatedTable]:
    """Yield other sheets that may say something of the loans, fullest first.

    None for a mapping that is of something else.
    """
    if all(field.target != "par_value" for field in mapping.fields):
        return
    ranked_pages: list[tuple[int, LocatedTable]] = []
    for candidate in candidates:
        if candidate.sheet is holdings.sheet:
            ranked_pages += [
                (-len(page.header.columns), page) for page in _lists_below(candidate.sheet, holdings.header, mapping)
            ]
            continue
        if candidate.refused:
            continue
        header_match = candidate.header or header.find_page(
            candidate.sheet, mapping, _ANCHORS, titles.first_row(candidate.sheet)
        )
        if header_match is None or not _tells_of_loans(header_match):
            continue
        if refused := _refusal(candidate.sheet, header_match):
            ranked_pages.append((0, LocatedTable(candidate.sheet, header_match, left_out=refused)))
            continue
        hidden = "" if candidate.sheet.state == "visible" else "it is hidden"
        hidden = _EARLIER if candidate.only_adds == _EARLIER else hidden
        if _is_template(candidate.sheet) or _is_to_be_filled(_title_lines(candidate.sheet, header_match)):
            hidden = TEMPLATE
        ranked_pages += [
            (-len(page.header.columns), page) for page in _lists(candidate.sheet, header_match, mapping, hidden)
        ]
    ranked_pages.sort(key=lambda pair: pair[0])
    for at, (_, page) in enumerate(ranked_pages):
        page = _with_second_price(_without_open_par(page, holdings), holdings)
        yield _in_units_of_title(page) if at < PAGES_MAX else replace(page, lists="", left_out=TOO_MANY)


_ANCHORS: Final = frozenset(TELLING)


def _tells_of_loans(header_match: HeaderMatch) -> bool:
    """Return whether a header has what tells loans apart, and something more."""
    columns = header_match.columns.keys()
    return bool(columns & _ANCHORS) and bool(columns - _ANCHORS)


def _lists(sheet: Sheet, header_match: HeaderMatch, mapping: Mapping, hidden: str) -> Iterator[LocatedTable]:
    """Yield the lists of a sheet, each by its own title.

    The sheet's name counts for the first, and for all that have the first one's header and no title of another list.
    """
    named = key(sheet.name)
    header_match = topmost(sheet, header_match, mapping, _ANCHORS)
    lines = _title_lines(sheet, header_match)
    own = titles.flag_of(lines)
    of_name = titles.flag_of([named])
    for at, section in enumerate(sections(sheet, header_match, mapping)):
        flag = own
        if at:
            is_part = section.is_like_first and not any(map(titles.kinds, section.lines))
            flag = of_name if is_part else titles.flag_of(section.lines)
            lines = [*section.lines, named]
        left_out = hidden or _left_out(lines, section.header)
        if _tells_of_loans(section.header):
            shows_changes = _shows_changes(section.header)
            yield LocatedTable(sheet, section.header, section.title, section.end, flag, left_out, shows_changes)


def _lists_below(sheet: Sheet, header_match: HeaderMatch, mapping: Mapping) -> Iterator[LocatedTable]:
    """Yield lists below the sheet's own loans, under a header of their own."""
    for section in sections(sheet, header_match, mapping)[1:]:
        flag = titles.flag_of(section.lines)
        if flag and section.has_header and not section.is_like_first and _tells_of_loans(section.header):
            yield LocatedTable(sheet, section.header, section.title, section.end, flag)


def lists_without_loans(located: LocatedBook) -> Iterator[tuple[Sheet, EmptyList]]:
    """Yield the lists that pages of the day show to be empty, by flag."""
    flags = set[str]()
    for sheet in located.book.sheets[:EMPTY_SHEETS_MAX]:
        if sheet.state != "visible" or sheet.index in located.old:
            continue
        for empty in empty_lists(sheet):
            if empty.flag not in flags:
                flags.add(empty.flag)
                yield sheet, empty


EMPTY_SHEETS_MAX: Final = 200
"""Sheets of a workbook in which empty lists are looked for."""

_BEFORE: Final = re.compile(
    r"\b(?:prior|previous|old|former)\b.*\bratings?\b|\bratings?\b.*\b(?:prior|previous|old|from)$|^from ratings?\b"
)


def _shows_changes(header_match: HeaderMatch) -> bool:
    """Return whether a header names a rating of before."""
    return any(_BEFORE.search(key(text)) for text in header_match.texts.values())


def _title_lines(sheet: Sheet, header_match: HeaderMatch) -> list[str]:
    """Return the words above a header and the sheet's name, nearest first.

    They are keys; lines with a figure or a colon tell no title.
    """
    lines = [sheet.name]
    for row in _title_rows(sheet, header_match):
        for column in range(min(sheet.column_count, TITLE_COLUMNS_MAX)):
            value = sheet.value(row, column)
            if isinstance(value, str) and len(value) <= titles.LENGTH_MAX and not _NO_TITLE.search(value):
                lines.append(value)
    return [key(line) for line in reversed(lines)]


def _title_text(lines: Iterable[str]) -> str:
    """Return the lines of a title as one, the sheet's name first."""
    return " | ".join(reversed([*lines]))


def _title_rows(sheet: Sheet, header_match: HeaderMatch) -> Iterator[int]:
    """Yield rows above a header that can be its title.

    Of one far down the few right above it with a single cell.
    """
    if header_match.top <= TITLE_ROWS_MAX:
        yield from range(header_match.top)
        return
    for row in range(header_match.top - NEAR_ROWS, header_match.top):
        if sum(sheet.value(row, column) is not None for column in range(min(sheet.column_count, COLUMNS_MAX))) == 1:
            yield row


def _refusal(sheet: Sheet, header_match: HeaderMatch) -> str:
    if is_named(sheet, TRANCHE_SHEETS | DEAL_SHEETS) and "borrower_name" not in header_match.columns:
        return "its name is that of a sheet for notes or accounts, and no header names borrowers"
    if is_named(sheet, AMORTIZATION_SHEETS) and "par_value" not in header_match.columns:
        return "its name is that of a sheet for scheduled payments, and no header names par"
    return "its names are those of classes of notes, not of loans" if is_note_table(sheet, header_match) else ""


def _choose(candidates: Iterable[SheetCandidate]) -> LocatedTable | None:
    """Choose the sheet with the best header, first shown; None without one.

    A header with nothing below it counts only where no sheet has more, one with words for figures (a guide to the
    columns) only where none has figures under as many fields. A sheet named like one for notes or accounts is
    one of loans only when it names borrowers.
    """
    usable = (candidate for candidate in candidates if candidate.header is not None and not candidate.refused)
    best = max(usable, key=lambda candidate: candidate.rank, default=None)
    if best is None or best.header is None:
        return None
    return _in_units_of_title(LocatedTable(best.sheet, _in_units_of_letters(best.sheet, best.header)))


def _in_units_of_letters(sheet: Sheet, header_match: HeaderMatch) -> HeaderMatch:
    """Multiply amounts by a letter in brackets, where they are those of loans then."""
    places = {place for target in (*AMOUNTS, "facility_size") for place in header_match.columns.get(target, ())}
    places |= {place for place, evidence in header_match.evidence.items() if evidence.role == "market_value"}
    units = {
        place: _IN_WORDS[scale]
        for place in sorted(places)
        if (scale := wording.magnitude_of_letter(header_match.texts.get(place, ""))) != 1.0
        and header_match.magnitude(place) == 1.0
        and _middle(sheet, header_match, place) * scale <= LOAN_MAX
    }
    return replace(header_match, units=header_match.units | units) if units else header_match


def _in_units_of_title(table: LocatedTable) -> LocatedTable:
    """Multiply amounts by what a line above says, where headers say nothing."""
    sheet, header_match = table.sheet, table.header
    for row in _title_rows(sheet, header_match):
        for value in _line(sheet, row):
            scale = wording.magnitude_of_title(value)
            places = [place for target in AMOUNTS for place in header_match.columns.get(target, ())]
            units = {place: value for place in places if header_match.magnitude(place) == 1.0}
            units |= dict.fromkeys(_sizes(sheet, header_match, scale), value)
            if scale != 1.0 and units and _is_small(sheet, header_match, scale):
                units = dict.fromkeys(units, _IN_WORDS[scale])
                line, header_match = " ".join(value.split()), replace(header_match, units=header_match.units | units)
                return replace(table, header=header_match, scale_line=line, scale=scale)
    return table


def _line(sheet: Sheet, row: int) -> list[str]:
    """Return texts that may be a title: first ones, or those of few cells."""
    cells = [(at, value) for at in range(sheet.column_count) if (value := sheet.value(row, at)) is not None]
    is_line = len(cells) <= TITLE_CELLS_MAX
    return [
        value
        for at, value in cells
        if (is_line or at < TITLE_COLUMNS_MAX) and isinstance(value, str) and len(value) <= titles.LENGTH_MAX
    ]


def _is_small(sheet: Sheet, header_match: HeaderMatch, scale: float) -> bool:
    """Return whether par multiplied by so much can still be that of loans."""
    place = next((header_match.columns[target][0] for target in _AMOUNTS if target in header_match.columns), None)
    return place is None or _middle(sheet, header_match, place) * scale <= LOAN_MAX


def _middle(sheet: Sheet, header_match: HeaderMatch, place: int) -> float:
    """Return the median of the figures of a column's first rows; 0 without any."""
    stored = sheet.columns[place]
    if stored is None:
        return 0.0
    low = max(0, header_match.row + 1 - stored.start)
    part = slice(low, low + feeds.SAMPLE_ROWS)
    kinds = stored.kinds[part]
    figures = stored.numbers[part][kinds == string_pool.NUMBER]
    if not len(figures) and (kinds == string_pool.TEXT).any():
        figures = number_cells.text_numbers(
            stored.codes[part][kinds == string_pool.TEXT], StringPool(sheet.text)
        ).values
        figures = figures[np.isfinite(figures)]
    return float(np.median(np.abs(figures))) if len(figures) else 0.0


def _sizes(sheet: Sheet, header_match: HeaderMatch, scale: float) -> list[int]:
    """Return columns of facility sizes that can be in the unit of a title.

    A size in full would be too large then.
    """
    places = header_match.columns.get("facility_size", [])
    return [
        place
        for place in places
        if header_match.magnitude(place) == 1.0 and 0 < _middle(sheet, header_match, place) * scale <= SIZE_MAX
    ]


def locate(book: Workbook, mapping: Mapping, *, sheet: str | None = None) -> LocatedBook:
    """Match every sheet of a book to a mapping, once, and choose the loans.

    Args:
        sheet: look for loans on this sheet only, and for no others that add to them.

    Raises:
        KeyError: no sheet has that name.
    """
    if sheet is not None:
        candidates = _candidates(book, mapping)
        considered = tuple(candidate for candidate in candidates if candidate.sheet.index == book[sheet].index)
        loans = _with_gaps_filled(_choose(considered), (), mapping)
        return LocatedBook(book, mapping, tuple(candidates), considered, loans, old=_of_another_day(book, candidates))
    book, candidates = _with_parts(book, mapping)
    loans = _choose(candidates)
    if loans is None and mapping.source_type == "clo_holdings":
        candidates = [_with_lone_amount(candidate, mapping) for candidate in candidates]
        loans = _choose(candidates)
    every = tuple(candidates)
    pages = () if loans is None else tuple(_pages(every, loans, mapping))
    return LocatedBook(
        book, mapping, every, every, _with_gaps_filled(loans, pages, mapping), pages, _of_another_day(book, every)
    )


def _with_lone_amount(candidate: SheetCandidate, mapping: Mapping) -> SheetCandidate:
    """Take the only amounts of a sheet for its par, where its header names none."""
    sheet = candidate.sheet
    page = None if candidate.header or candidate.other_assets else header.find_page(sheet, mapping, _NAMED)
    match = None if page is None else with_lone_amount(sheet, page)
    if match is None:
        return candidate
    rows = _row_count(sheet, match, mapping)
    refused = _refusal(sheet, match)
    return replace(
        candidate,
        header=match,
        has_rows=rows > 0,
        has_figures=_has_figures(sheet, match),
        refused=refused,
        row_count=rows,
    )


def _with_gaps_filled(
    loans: LocatedTable | None, pages: tuple[LocatedTable, ...], mapping: Mapping
) -> LocatedTable | None:
    """Return the table of loans with columns that cells alone tell.

    For fields that no table has.
    """
    if loans is None or mapping.source_type != "clo_holdings":
        return loans
    match, sheet = loans.header, loans.sheet
    if not any("par_value" in page.header.columns for page in pages):
        match = with_lone_amount(sheet, match) or match
        loans = replace(loans, header=match)
    named = set(match.columns).union(*(page.header.columns for page in pages))
    fields = {field.target for field in mapping.fields} & gaps.PLAIN_BY_CELLS.keys() - named
    fed = {place for places in match.columns.values() for place in places}
    idle = [at for at in range(min(sheet.column_count, COLUMNS_MAX)) if at not in fed and at not in match.beside]
    roles = {
        at: match.evidence[at].role if at in match.evidence else "" for at in idle if match.texts.get(at, "").strip()
    }
    if not fields or not roles:
        return loans
    filled = gaps.fill(HeadedColumns(sheet, match.row + 1, match.texts), roles, fields)
    columns = match.columns | {evidence.role: [column] for column, evidence in filled.items()}
    return replace(loans, header=replace(match, columns=columns, evidence=match.evidence | filled))


def _with_parts(book: Workbook, mapping: Mapping) -> tuple[Workbook, list[SheetCandidate]]:
    """List a book's sheets with their best headers, and the book of these.

    It is another book where its only sheet, or the one with the loans, has tables below each other, and has then a
    sheet for each: where the loans stand in another table than the one that is found on the whole sheet, or where
    another table has about as many rows that tell loans apart, as parts of a schedule have. So it is where the list
    goes on to the side.
    """
    candidates = _candidates(book, mapping)
    whole = _choose(candidates)
    if mapping.source_type == "clo_holdings" and (parted := split_sides(book, whole)) is not None:
        return parted, _candidates(parted, mapping)
    of_loans = None if whole is None else whole.sheet.index
    apart = split_tables(book, of_loans) if mapping.source_type == "clo_holdings" else None
    if apart is None:
        return book, candidates
    parts = _candidates(apart, mapping)
    best = _choose(parts)
    if best is None:
        return book, candidates
    is_other = whole is None or whole.header.row != best.header.row
    height = PART_SHARE * (best.sheet.row_count - best.header.row)
    is_parted = any(rows >= height for rows in _rows_of_pages(parts, best, mapping))
    return (apart, parts) if is_other or is_parted else (book, candidates)


PART_SHARE: Final = 0.5
"""Share of the loans' rows that another table has that is a part of their schedule."""


def _rows_of_pages(parts: list[SheetCandidate], best: LocatedTable, mapping: Mapping) -> Iterator[int]:
    """Count the rows of the other tables that tell of loans."""
    for part in parts:
        if part.sheet is best.sheet or part.refused:
            continue
        header_match = part.header or header.find_page(part.sheet, mapping, _ANCHORS, titles.first_row(part.sheet))
        if header_match is None or not _tells_of_loans(header_match):
            continue
        lines = _title_lines(part.sheet, header_match)
        if not _left_out(lines, header_match) and not titles.flag_of(lines):
            yield part.sheet.row_count - header_match.row


def no_loans(located: LocatedBook) -> str:
    """Return why a book has no sheet of loans, for a message."""
    other_sheet = next((sheet for sheet in located.sheets if sheet.other_assets), None)
    if other_sheet is not None:
        return f"sheet {other_sheet.sheet.name!r} is not read: {other_sheet.other_assets}"
    return f"no sheet has a header that {header_words(located.mapping)}"


def header_words(mapping: Mapping) -> str:
    """Return in words what a header does for a mapping, for a message."""
    least = min(header.SCORE_MIN, len(mapping.fields))
    anchors = ", ".join(mapping.anchors[:ANCHORS_TOLD]) + (", ..." if len(mapping.anchors) > ANCHORS_TOLD else "")
    return f"names {least} fields of {mapping.name}, one of them {anchors}"


def _row_count(sheet: Sheet, header_match: HeaderMatch, mapping: Mapping) -> int:
    """Return the cells below a header in its fullest column of loans."""
    columns = (
        sheet.columns[header_match.columns[target][0]] for target in header_match.columns.keys() & set(mapping.anchors)
    )
    return max(
        (
            int(np.count_nonzero(column.dense.kinds[column.begin(header_match.row + 1) :]))
            for column in columns
            if column is not None
        ),
        default=0,
    )


def _has_figures(sheet: Sheet, header_match: HeaderMatch) -> bool:
    """Return whether par's first rows have a number or a text with a digit."""
    place = next((header_match.columns[target][0] for target in _AMOUNTS if target in header_match.columns), None)
    if place is None:
        return True
    stored = sheet.columns[place]
    if stored is None:
        return False
    low = max(0, header_match.row + 1 - stored.start)
    high = low + feeds.SAMPLE_ROWS
    if np.isin(stored.kinds[low:high], (string_pool.NUMBER, string_pool.DATE)).any():
        return True
    codes = np.unique(stored.codes[low:high])
    texts = string_pool.decode(sheet.text, codes[codes >= 0])
    return any(sign.isdigit() for text in texts for sign in text[: string_pool.FIGURE_BYTES_MAX])


def passed_over(located: LocatedBook) -> list[str]:
    """Return the other sheets with loans: all that a loan must have, and figures."""
    needed = {field.target for field in located.mapping.fields if field.required} or set(located.mapping.anchors)
    return [
        candidate.sheet.name
        for candidate in located.considered
        if located.loans is None or candidate.sheet is not located.loans.sheet
        if candidate.header is not None and not candidate.refused
        if candidate.has_rows and candidate.has_figures and needed <= candidate.header.columns.keys()
    ]
