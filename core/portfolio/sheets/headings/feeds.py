"""Which columns below a header feed which targets, and which give way."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import DATE
from core.portfolio.model.fields import SHARED_TARGETS
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.roles import SURE, THRESHOLD, HeadedColumns, judge
from core.portfolio.sheets.headings.counters import counts_rows
from core.portfolio.sheets.headings.days import is_before, is_current, of_earlier_days, of_open_days, states_day
from core.portfolio.sheets.headings.match import Gave, HeaderMatch
from core.portfolio.sheets.headings.matcher import LISTED_BEFORE, Options
from core.portfolio.sheets.headings.scan import STACK_MAX, HeaderCandidate, HeaderScan
from core.portfolio.sheets.headings.sides import count_cells, has_cells, tables_beside
from core.values import from_serial

SAMPLE_ROWS: Final = 1_000
"""Rows below a header that tell whether a column shows one value only."""

CONSTANT_ROWS: Final = 3
"""Cells of one text from which a column may be the deal's and not the loans'."""

CONSTANT_SHARE: Final = 0.75
"""Share of one text in a column's cells from which it is the same on every row: totals and footers have others."""

LISTED_WORDS: Final = 11.0
"""Weight of a heading that the mapping lists: the order of its list decides between several."""

COUNTER_ROLE: Final = "x_key"
"""The role of a column that numbers the rows: it feeds nothing."""

_NAMING: Final = frozenset(("borrower_name", "issuer_id", "cusip", "loanx_id", "isin"))
"""Targets that tell loans apart: a column with one value for all of them tells of the deal."""


def complete(scan: HeaderScan, best: HeaderCandidate) -> HeaderMatch:
    """Add the rows below that belong to a header, and settle its columns.

    Of several columns for one target the one that tells most counts.
    """
    best = _with_group_above(scan, best)
    row = best.row
    units: dict[int, str] = {}
    below: list[Literal["units", "numbers"]] = []
    for _ in range(2):
        if not units and (units := scan.units(row + 1, best)):
            below.append("units")
        elif "numbers" not in below and scan.numbers(row + 1, best):
            below.append("numbers")
        else:
            break
        row += 1
    targets = {column: frozenset(target for target, _, _ in options) for column, options in best.feeds.items()}
    beside = tables_beside(scan.sheet, targets, best.texts, best.top, row + 1)
    feeds = {column: options for column, options in best.feeds.items() if column not in beside}
    feeds, evidence = _judge_columns(scan, best, feeds, row + 1, beside)
    for column in _counters(scan.sheet, best, feeds, row + 1):
        del feeds[column]
        evidence[column] = replace(evidence[column], role=COUNTER_ROLE)
    # What a mapping of one's own names goes first, whatever its words say.
    named = {
        column: _of_parent(its, best.texts.get(column, ""))
        for column, its in evidence.items()
        if not scan.aliases.names_itself(feeds.get(column, ()))
    }
    columns = assign_columns(feeds, evidence=named)
    demoted = _find_demoted(scan.sheet, columns, row + 1) | _find_sparse(scan.sheet, columns, row + 1, named)
    undated: set[int] = set()
    for places in columns.values():
        left = [place for place in places if place not in demoted]
        if len(left) < 2:
            continue
        headings = _dated_headings(scan.sheet, best, left)
        earlier = _earlier_columns(headings)
        demoted |= dict.fromkeys(earlier, "earlier")
        undated |= of_open_days((place, text) for place, text in headings.items() if place not in earlier)
    if demoted:
        columns = assign_columns(feeds, demoted, named)
    preferences = {
        (target, column): preference for column, options in feeds.items() for target, preference, _ in options
    }
    texts = dict.fromkeys((place for places in columns.values() for place in places), "") | best.texts
    return HeaderMatch(
        row,
        best.top,
        best.score,
        columns,
        texts,
        units,
        tuple(below),
        demoted,
        beside,
        preferences,
        evidence,
        frozenset(undated),
    )


def _with_group_above(scan: HeaderScan, best: HeaderCandidate) -> HeaderCandidate:
    """Add a row of groups above a header, where it changes what columns are.

    "S&P" below "Country Rating" is no rating of the loan.
    """
    if not scan.aliases.is_of_loans or best.row - best.top + 1 >= STACK_MAX:
        return best
    words = scan.group_words(best.top - 1, min(best.own, default=0))
    taller = scan.stack(best.top - 1, best.row - best.top + 2) if words else None
    return taller if taller is not None and taller.score >= best.score - GROUP_LOSS else best


GROUP_LOSS: Final = 3
"""Fields that a header may lose by words of a row above it."""


def _counters(sheet: Sheet, best: HeaderCandidate, feeds: Iterable[int], first: int) -> list[int]:
    """Return columns that number the rows, among those fed by words or cells."""
    return [
        column
        for column in feeds
        if column not in best.listed and counts_rows(sheet, column, best.texts.get(column, ""), first)
    ]


def _judge_columns(
    scan: HeaderScan,
    best: HeaderCandidate,
    feeds: dict[int, Options],
    first: int,
    beside: frozenset[int],
    *,
    thorough: bool = False,
) -> tuple[dict[int, Options], dict[int, RoleEvidence]]:
    """Judge what a header's columns feed, and why, by words, cells and relations.

    What the mapping lists keeps its fields unless its cells cannot be meant.
    """
    matcher = scan.aliases
    if not matcher.is_of_loans:
        return feeds, {}
    known = {
        column: matcher.role_of(best.own.get(column, best.texts[column]), best.groups.get(column, ()), feeds[column])
        for column in best.listed & feeds.keys()
    }
    fixed = frozenset(column for column in known if matcher.names_itself(feeds[column]))
    columns = HeadedColumns(scan.sheet, first, best.own, best.groups, fixed)
    places = [
        column
        for column in range(scan.sheet.column_count)
        if column not in beside and (column in best.own or has_cells(scan.sheet.columns[column], first))
    ]
    evidence = judge(columns, known, places, thorough=thorough)
    options_by_column: dict[int, Options] = {}
    for column, column_evidence in evidence.items():
        if known.get(column) != column_evidence.role:
            options = matcher.of_role(column_evidence.role, is_listed=column in known)
        else:
            options = feeds[column]
            if column not in fixed and columns.heading(column).names_agency:
                options = _with_shared(options, matcher.of_role(column_evidence.role))
        if options:
            options_by_column[column] = options
    return options_by_column, evidence


_BY_LIST: Final = frozenset(("industry", "rating_agency_a"))
"""Fields whose headings are listed by what agencies say, the best first: derived before final, S&P before Fitch."""


def _with_shared(listed: Options, of_role: Options) -> Options:
    """Return what a listed heading may feed, with what its role feeds as well.

    "S&P Corp" is a rating of S&P and S&P's rating of the issuer; a heading that feeds a field beside alone feeds one of
    the mapping, too: fields `_BY_LIST` have it by its place among their headings.
    """
    targets = {target for target, _, _ in listed}
    has_main = not all(auxiliary for _, _, auxiliary in listed)
    return (
        *listed,
        *(
            (target, place - LISTED_BEFORE * (target in _BY_LIST), auxiliary)
            for target, place, auxiliary in of_role
            if target not in targets and (target in SHARED_TARGETS if auxiliary else not has_main)
        ),
    )


def _dated_headings(sheet: Sheet, best: HeaderCandidate, places: Sequence[int]) -> dict[int, str]:
    """Return the headings of columns, each with the day that stands over it."""
    headings = {place: best.texts.get(place, "") for place in places}
    if of_earlier_days(headings.items()):
        return headings
    over = {place: _day_over(sheet, best, place) for place in places}
    return {
        place: heading if over[place] in heading else f"{over[place]} {heading}" for place, heading in headings.items()
    }


def _earlier_columns(headings: dict[int, str]) -> frozenset[int]:
    """Return which columns of one field are of an earlier day than another one.

    By a day in their heading, or over it; else by a word such as "T-1", or by a day beside one that is current.
    """
    has_current = any(map(is_current, headings.values()))
    before = frozenset(
        place
        for place, heading in headings.items()
        if is_before(heading) or (has_current and states_day(heading) and not is_current(heading))
    )
    return of_earlier_days(headings.items()) or (before if len(before) < len(headings) else frozenset())


def _day_over(sheet: Sheet, best: HeaderCandidate, place: int) -> str:
    """Return the words over a column, or left of that, that tell its day."""
    first = min(best.own, default=0)
    for row in range(best.row - 1, max(best.top - 1, 0) - 1, -1):
        left = range(place, max(-1, place - DAY_COLUMNS), -1)
        column = next((column for column in left if sheet.value(row, column) is not None), place)
        text = _day_text(sheet, row, column)
        if states_day(text) or (row < best.top and column > first and (is_before(text) or is_current(text))):
            return text
    return ""


def _day_text(sheet: Sheet, row: int, column: int) -> str:
    """Return a cell's words, or its day; "" for others and for prose."""
    value = sheet.value(row, column)
    if isinstance(value, float) and sheet.kind(row, column) == DATE:
        moment = from_serial(value, date_1904=sheet.date_1904)
        return "" if moment is None else moment.date().isoformat()
    return value.strip() if isinstance(value, str) and len(value) <= DAY_LENGTH_MAX else ""


DAY_COLUMNS: Final = 12
"""Columns that a day above a header may stand over."""

DAY_LENGTH_MAX: Final = 40
"""Characters of such a day."""


def _find_demoted(sheet: Sheet, columns: dict[str, list[int]], first: int) -> dict[int, Gave]:
    """Find columns that give way for a target: blank ones, the deal's own name."""
    demoted: dict[int, Gave] = {}
    for target, places in columns.items():
        if len(places) == 1:
            continue
        filled = [place for place in places if has_cells(sheet.columns[place], first)]
        blank = set(places) - set(filled) if filled else set()
        demoted.update(dict.fromkeys(blank, "blank"))
        constant = [place for place in filled if target in _NAMING and _is_constant(sheet.columns[place], first)]
        if len(constant) < len(filled):
            demoted.update(dict.fromkeys(constant, "constant"))
    return demoted


_OF_EACH_LOAN: Final = ("par_value", "price", "spread", "rating", "maturity_date", "country", "industry")
"""How targets begin of which each loan has a value."""

SPARSE_SHARE: Final = 0.5
"""Share of the cells of the fullest column of a field below which an unlisted heading gives way."""


def _find_sparse(
    sheet: Sheet, columns: dict[str, list[int]], first: int, evidence: dict[int, RoleEvidence]
) -> dict[int, Gave]:
    """Find columns that say of a few loans what another one says of most.

    Such as par in default, or estimates of the loans that no agency rates.
    """
    sparse: dict[int, Gave] = {}
    for target, places in columns.items():
        if len(places) == 1 or not target.startswith(_OF_EACH_LOAN):
            continue
        counts = {place: count_cells(sheet.columns[place], first) for place in places}
        least = SPARSE_SHARE * max(counts.values())
        unlisted = (place for place in places if place in evidence and evidence[place].words < LISTED_WORDS)
        sparse.update((place, "sparse") for place in unlisted if counts[place] < least)
    return sparse


def _is_constant(column: Column | None, first: int) -> bool:
    """Return whether one text fills most of a column, as the deal's name does."""
    if column is None:
        return False
    low = max(0, first - column.start)
    codes = column.codes[low : low + SAMPLE_ROWS]
    codes = codes[codes >= 0]
    if len(codes) < CONSTANT_ROWS:
        return False
    most = int(np.unique(codes, return_counts=True)[1].max())
    return most >= CONSTANT_ROWS and most >= CONSTANT_SHARE * len(codes)


NAMED_SURELY: Final = 6.0
"""Weight from which a column for a field goes before others whatever its heading is listed as."""


_PARENTS_RATING: Final = "rating of a parent"
_STAND_INS: Final = frozenset(
    ("asset_type", "commitment", "par_settled", "base_rate_level", "description", _PARENTS_RATING)
)
"""Roles whose columns feed a field (the lien, par, the index) that others say more of, where there are others."""

_PARENT: Final = re.compile(r"\b(?:parent|group)\b", re.IGNORECASE)


def is_of_parent(heading: str) -> bool:
    """Return whether a heading of ratings names a parent or a group."""
    return _PARENT.search(heading) is not None


def _of_parent(evidence: RoleEvidence, heading: str) -> RoleEvidence:
    """Return the evidence of a column, of a parent's or group's rating as such."""
    is_parents = evidence.role.startswith("rating") and is_of_parent(heading)
    return replace(evidence, role=_PARENTS_RATING) if is_parents else evidence


_SURE: Final = RoleEvidence("", NAMED_SURELY)


def _tier(evidence: RoleEvidence) -> int:
    """Return 0 for a sure name, 1 for words, 2 for cells; 3 more for stand-ins."""
    is_sure = evidence.score >= NAMED_SURELY or (evidence.words >= SURE - THRESHOLD and evidence.content >= 0)
    tier = 0 if is_sure else 1 if evidence.words > 0 else 2
    return tier + 3 * (evidence.role in _STAND_INS)


_Place = tuple[bool, int, int, float, float, int]


def assign_columns(
    feeds: dict[int, Options], demoted: Container[int] = (), evidence: dict[int, RoleEvidence] | None = None
) -> dict[str, list[int]]:
    """Assign columns to targets, the best first.

    A column feeds one target, and any of the shared ones.

    That is the target of the mapping which names the column first among its aliases, else an auxiliary one. Of several
    columns for one target those that are surely named go first, and those that cells alone tell last; then the order of
    the aliases decides, then the weight.
    """
    known = evidence or {}

    def place(column: int, preference: int) -> _Place:
        role_evidence = known.get(column, _SURE)
        # The cells of a sure name are not looked at, which is nothing against it.
        words = max(0.0, role_evidence.words)
        return column in demoted, _tier(role_evidence), preference, -words, -role_evidence.score, column

    places_by_target: dict[str, list[_Place]] = {}
    for column, options in feeds.items():
        own = [(preference, at, target) for at, (target, preference, auxiliary) in enumerate(options) if not auxiliary]
        if own:
            preference, _, target = min(own)
            places_by_target.setdefault(target, []).append(place(column, preference))
    columns = {target: [column for *_, column in sorted(places)] for target, places in places_by_target.items()}
    claimed = {places[0] for places in columns.values()}
    spare: dict[str, list[_Place]] = {}
    says_both = any(
        {"facility_name", "lien_type"} <= {option_target for option_target, _, _ in options}
        for options in feeds.values()
    )
    shared = SHARED_TARGETS | {"lien_type"} if says_both else SHARED_TARGETS
    for column, options in feeds.items():
        for target, preference, auxiliary in options:
            if auxiliary and (column not in claimed or target in shared):
                spare.setdefault(target, []).append(place(column, preference))
    for target, places in spare.items():
        is_shared = target in shared
        free = [column for *_, column in sorted(places) if is_shared or column not in claimed]
        if free:
            columns[target] = free
            if not is_shared:
                claimed.add(free[0])
    return columns
