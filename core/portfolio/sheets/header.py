"""Finding the header row of a sheet and what its columns are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from core.grid.address import column_name
from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.cells.parsing import (
    BLANK,
    BOOLEAN,
    DATE,
    NUMBER,
    TEXT,
    decode,
    key,
    plain,
)
from core.portfolio.model.fields import PROFILES, SHARED_TARGETS, STANDARD_TARGETS, Field, Mapping
from core.portfolio.sheets.columns.aliases import INSTEAD, USUAL, role_of_target
from core.portfolio.sheets.columns.content import marks
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.roles import SURE, THRESHOLD, HeadedColumns, judge
from core.portfolio.sheets.columns.vocabulary import heading, tokens_of
from core.portfolio.sheets.days import is_before, is_current, of_earlier_days, of_open_days, states_day
from core.portfolio.sheets.rows.counters import counts_rows
from core.portfolio.sheets.sides import count_cells, has_cells, tables_beside
from core.values import from_serial

ROWS_MAX: Final = 40
"""Rows in which a header is looked for at a time: of several there the one that names most counts."""

DEEP_ROWS_MAX: Final = 1_000
"""Rows in which it is looked for, forty after forty, where those before have none."""

SCORE_MIN: Final = 3
"""Distinct targets that a header row must name."""

UNANCHORED_MIN: Final = 3
"""Distinct targets that a header row must name where the heading of what makes it one is blank."""

SCORE_LOSS_MAX: Final = 1
"""Targets fewer that a header with one row more may name, where that row tells more of its columns."""

PAGE_COLUMNS_MIN: Final = 2
"""Columns that the header of a page must name to add to loans of another sheet: what tells them, and one more."""

HEADER_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that can still be a header; a longer one is prose."""

MEMORY_MAX: Final = 20_000
"""Texts whose targets a matcher remembers: the words of one workbook come again with the next request."""

ROLES_MAX: Final = 5_000
"""Headings whose roles a matcher remembers."""

STACK_MAX: Final = 3
"""Rows that may make up the names of one header: a group, and words that are wrapped below it."""

SAMPLE_ROWS: Final = 1_000
"""Rows below a header that tell whether a column shows one value only."""

CONSTANT_ROWS: Final = 3
"""Cells of one text from which a column may be the deal's and not the loans'."""

CONSTANT_SHARE: Final = 0.75
"""Share of one text in a column's cells from which it is the same on every row: totals and footers have others."""

CELLS_MAX: Final = 50_000
"""Text cells of a sheet that are looked at, from the top: three rows of the widest sheet."""

JOINS_MAX: Final = 20_000
"""Stacked cells whose words are put together: a sheet of thousands of text columns costs no more than that."""

COUNTED_MIN: Final = 5
"""Columns that a row must number (1, 2, 3, ...) to be no loan."""

COUNTER_LENGTH_MAX: Final = 20
"""Characters of a cell that can number a column."""

LISTED_BEFORE: Final = 5
"""Listed headings of a field that go before one that words alone name, behind the usual heading of its role."""

LISTED_WORDS: Final = 11.0
"""Weight of a heading that the mapping lists: the order of its list decides between several."""

WORDS_MIN: Final = 3.0
"""Weight of the words of a heading that nobody lists from which it names a field."""

COUNTER_ROLE: Final = "x_key"
"""The role of a column that numbers the rows: it feeds nothing."""

WORDY_CELLS_MIN: Final = 3
"""Texts of a row from which its words are weighed."""

WORDY_CELLS_MAX: Final = 200
"""Texts of it that are looked at."""

KNOWN_SHARE: Final = 0.5
"""Share of a row's words from which it can be a heading of words that nobody lists."""

VALUES_SHARE: Final = 0.25
"""Share of a row's texts that are values of a field (a rating, a currency, a yes) from which it is one of data."""

_OF_VALUES: Final = frozenset(("letters", "flag", "currency", "country", "industry", "code", "coupon", "frequency"))

DIGITS_SHARE: Final = 0.3
"""Share of a row's texts with a digit from which it is one of data."""

_AGENCY_WORDS: Final = frozenset(("moodys", "sp", "fitch"))
_WORDS_OF_AGENCIES: Final = _AGENCY_WORDS | {"rating", "ratings"}

_GROUP_WORDS: Final = frozenset(
    ("moodys", "sp", "fitch", "issuer", "facility", "original", "native", "settled", "traded", "country", "prior",
     "account", "recovery", "rating", "watch")
)  # fmt: skip
"""Words of an upper row that are meant for the columns to its right, too, until the next one."""

_NAMING: Final = frozenset(("borrower_name", "issuer_id", "cusip", "loanx_id", "isin"))
"""Targets that tell loans apart: a column with one value for all of them tells of the deal."""

_SIGNS: Final = str.maketrans({"$": " usd ", "€": " eur ", "£": " gbp ", "¥": " jpy ", "%": " percent "})
_CODES: Final = "usd|eur|gbp|jpy|chf|cad|aud|sek|nok|dkk"
_CURRENCY: Final = rf"(?:us )?dollars?|euros?|deal currency|us usd|{_CODES}"
_THOUSANDS: Final = r"000 ?s?|thousands?|tsd|tausend|milliers|migliaia|duizend(?:en)?"
_MILLIONS: Final = r"mm|mn|mln|mio|millions?|millionen|millones|milioni|miljoen(?:en)?"
_THOUSAND_CODES: Final = rf"[tk] ?(?:{_CODES})|x ?1 ?000"
"""Thousands that need no other word: "TEUR", "k€", "x 1.000"."""
_MILLION_CODES: Final = rf"m ?(?:{_CODES})|x ?1 ?000 ?000"
_OF: Final = r"(?:of|de|d|di) "
_UNIT: Final = (
    rf"(?:(?:in|en) )?(?:(?P<thousands_a>{_THOUSAND_CODES})|(?P<millions_a>{_MILLION_CODES})"
    rf"|(?:{_CURRENCY})(?: in)?(?: ?(?:(?P<thousands_b>{_THOUSANDS}|k|th|miles|{_THOUSAND_CODES})"
    rf"|(?P<millions_b>{_MILLIONS}|m|{_MILLION_CODES})))?"
    rf"|(?:(?P<thousands_c>{_THOUSANDS})|(?P<millions_c>{_MILLIONS}))(?: (?:{_OF})?(?:{_CURRENCY}))?"
    rf"|(?P<thousands_d>miles|mila) (?:{_OF})?(?:{_CURRENCY})"
    r"|bps?|basis points?|(?:percent|percentage|pct)(?: of (?:par|face))?|of (?:par|face)"
    r"|years?|yrs?|months?|days?|y n|yes no|(?:dd?|mm?m?|yyyy|yy)(?: (?:dd?|mm?m?|yyyy|yy)){1,2}|[dmy]{8})"
)
_TITLE_UNIT: Final = re.compile(
    rf" (?:(?<!\d )(?:(?P<thousands_a>[tk](?:{_CODES})|x ?1 ?000)|(?P<millions_a>m(?:{_CODES})|x ?1 ?000 ?000))"
    rf"|(?:in|en) (?:(?P<thousands_e>[tk] (?:{_CODES}))|(?P<millions_e>m (?:{_CODES})))"
    rf"|(?:in|en|{_CURRENCY})(?: (?:{_CURRENCY}))?(?: in)? "
    rf"(?:(?P<thousands_b>{_THOUSANDS}|k|miles)|(?P<millions_b>{_MILLIONS}|m))"
    rf"|(?:{_CURRENCY})(?: in)? (?P<thousands_f>th)"
    rf"|(?P<thousands_c>{_THOUSANDS}) omitted|(?P<millions_c>{_MILLIONS}) omitted"
    rf"|(?<!\d )(?:(?P<thousands_d>(?!000){_THOUSANDS}|miles|mila)|(?P<millions_d>{_MILLIONS}))"
    rf" (?:{_OF})?(?:{_CURRENCY})) "
)
"""A number before them tells of an amount, not of a unit: "USD 400 million". A letter apart from its currency is a
fund's or a series': "Fund K EUR"."""
_LETTER_AT_SIGN: Final = re.compile(r"(?<![^\W_])([tkm])([$€£¥])", re.IGNORECASE)
_BARE_UNIT: Final = re.compile(r"[(\[]\s*(?:in )?(?:(k)|m)\s*[)\]]$", re.IGNORECASE)
"""A letter alone, in brackets: a unit where the figures are small enough for it."""
TITLE_LETTERS_MAX: Final = 2
"""Letters of a lone text that may be anything: "mm" is a part of a date, too."""
_UNIT_WORDS: Final = re.compile(rf" {_UNIT}$")
_UNIT_CELL: Final = re.compile(_UNIT)
_NO_UNIT: Final = frozenset(("", "n a", "na", "none", "text", "string", "number", "date"))
"""Keys of cells that may stand in a row of units without being one."""

_FOOTNOTE: Final = re.compile(
    r"(?:\(\s?(?:\d\d?|[a-j])\s?\)|\[\s?(?:\d\d?|[a-j])\s?\]|[*\u2020\u2021\u00a7\u00b9\u00b2\u00b3\u2070-\u2079])$"
)
"""A footnote's mark at the end of a header; (k) and (m) may be units."""

_FOOTNOTE_LENGTH_MAX: Final = 6

_OF_ANOTHER_TIME: Final = re.compile(
    r"^(?:prior|previous|last|beginning|opening|original|initial)"
    r"(?: (?:month|quarter|period|report|balances?|values?))?$|^(?:change|changes|variance|difference)s?$"
    r"|^(?:as )?(?:at|of) (?:closing|issue|issuance|entry|inception|origination|purchase|signing)(?: date)?$"
    r"|^(?:bop|(?:beginning|start) of (?:the )?period)$"
)
"""Groups over columns that another month, or the deal's beginning, filled."""

_GIVEN_NAME: Final = re.compile(r"^Column \d+$| \(\d+\)$", re.IGNORECASE)

_COUNTER: Final = re.compile(r"\s*[(\[]?\s*(?:(\d{1,5})(?:\.0)?|([A-Za-z]))\s*[)\].]?\s*")


Gave = Literal["blank", "constant", "earlier", "sparse"]
"""Why a column gave way to another one."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of any sheet and the rows below it."""

    row: int | None
    """0-based; the lowest one of several; None where no row is a header and the columns go by their letters."""
    names: list[str]
    """One for each column of the sheet, distinct."""
    first_row: int
    """First row of data, 0-based."""
    last_row: int
    """One past the last row with a cell: totals and footers are cells of the sheet like all others."""


@dataclass(frozen=True, slots=True)
class HeaderMatch:
    """A header row that names the targets of a mapping."""

    row: int
    """0-based; the lowest one of several: the data starts below it."""
    top: int
    """The highest one of several, else `row`."""
    score: int
    """Distinct targets of the mapping that it names."""
    columns: dict[str, list[int]] = field(default_factory=dict)
    """Target -> the columns that could feed it, the preferred one first."""
    texts: dict[int, str] = field(default_factory=dict)
    """Column -> its header as written, the rows of names joined; columns whose header is no text are not in it."""
    units: dict[int, str] = field(default_factory=dict)
    """Column -> what a row of units below the names says of it."""
    below: tuple[Literal["units", "numbers"], ...] = ()
    """What the header's rows below the names hold: units, or numbers of the columns (1, 2, 3, ...)."""
    demoted: dict[int, Gave] = field(default_factory=dict)
    """Columns that gave way to another one for the same target: without a value, with the same on every row, or of an
    earlier day."""
    beside: frozenset[int] = frozenset()
    """Columns whose header names a target, but of another table to the side."""

    preferences: dict[tuple[str, int], int] = field(default_factory=dict)
    """Target and column -> the place of the header among the target's aliases."""
    evidence: dict[int, RoleEvidence] = field(default_factory=dict)
    """Column -> why it has its role; columns of no header without one."""
    undated: frozenset[int] = frozenset()
    """Columns for one target under days of which none is surely the latest."""

    @property
    def named_row(self) -> int:
        """Return the lowest row of names."""
        return self.row - len(self.below)

    def unit(self, column: int) -> str:
        """Return the unit of a column's header or row of units: "bps", "%" or ""."""
        return unit(self.texts.get(column, "")) or unit(self.units.get(column, ""))

    def magnitude(self, column: int) -> float:
        """Return what the header multiplies by: 1,000, 1,000,000, else 1."""
        scale = magnitude(self.texts.get(column, ""))
        return scale if scale != 1.0 else magnitude(self.units.get(column, ""))


def unit(header: str) -> str:
    """Return the unit that a header states: "bps", "%" or ""."""
    words = key(header).split()
    if "bps" in words or "bp" in words or "basis points" in key(header):
        return "bps"
    return "%" if "%" in header or "percent" in words or "pct" in words else ""


def magnitude(header: str) -> float:
    """Return 1,000 for thousands ("Par ($000s)"), 1,000,000 for millions, else 1."""
    return _scale(_UNIT_WORDS.search(f" {spelt(without_footnotes(header))}"))


def _scale(match: re.Match[str] | None) -> float:
    group = "" if match is None else match.lastgroup or ""
    return 1_000.0 if group.startswith("thousands") else 1_000_000.0 if group else 1.0


def magnitude_of_letter(header: str) -> float:
    """Return the same of a letter in brackets that may be a unit: "Par (K)"."""
    match = _BARE_UNIT.search(without_footnotes(header))
    return 1.0 if match is None else 1_000.0 if match[1] else 1_000_000.0


def magnitude_of_title(title: str) -> float:
    """Return the same of a line above a table: "Portfolio (USD thousands)"."""
    words = spelt(_LETTER_AT_SIGN.sub(lambda match: match[1] + spelt(match[2]), title))
    alone = _UNIT_CELL.fullmatch(words) if len(words) > TITLE_LETTERS_MAX else None
    return _scale(_TITLE_UNIT.search(f" {words} ") or alone)


def without_footnotes(header: str) -> str:
    """Strip footnote marks of a header: "Par Amount (1)" is "Par Amount"."""
    rest = header.rstrip()
    while match := _FOOTNOTE.search(rest[-_FOOTNOTE_LENGTH_MAX:]):
        rest = rest[: -len(match[0])].rstrip()
    return rest


def without_unit(words: str) -> str:
    """Return a key less the words for its unit at the end."""
    return _UNIT_WORDS.sub("", words)


def spelt(text: str) -> str:
    """Return the key of a text with currencies and percent as words.

    A second time changes nothing.
    """
    return key(text.translate(_SIGNS))


Options = tuple[tuple[str, int, bool], ...]
"""(target, place among its aliases, is auxiliary) of the fields that a heading may feed."""


class Matcher:
    """Headers to targets by the aliases of some fields."""

    def __init__(self, fields: Sequence[Field], auxiliary: Sequence[Field] = ()) -> None:
        self._main = _alias_table(fields)
        self._auxiliary = _alias_table(auxiliary)
        self._own = {mapped.target: mapped.own for mapped in (*fields, *auxiliary) if mapped.own}
        self._memory: dict[str, Options] = {}
        self._roles: dict[tuple[str, tuple[str, ...], Options], str] = {}
        self.strings = frozenset(mapped.target for mapped in (*fields, *auxiliary) if mapped.type == "string")
        """Targets that hold text."""
        self.has_given_names = any(
            _GIVEN_NAME.search(alias) for mapped in (*fields, *auxiliary) for alias in mapped.aliases
        )
        """Whether an alias reads like a name that is given to a column without one of its own."""
        self.is_of_loans = any(mapped.target == "par_value" for mapped in fields)
        """Whether words of `words.tsv` name its fields."""

    def by_words(self, own: str, groups: tuple[str, ...] = ()) -> Options:
        """Return what an unlisted heading may feed by its words; () for other lists."""
        if not self.is_of_loans:
            return ()
        role, weight = heading(own, groups).best()
        return self.of_role(role) if weight >= WORDS_MIN else ()

    def of_role(self, role: str, *, is_listed: bool = False) -> Options:
        """Return what a column of some role may feed: as its usual heading does.

        The first headings that the mapping lists go before one that it does not list.
        """
        usual = USUAL.get(role)
        if usual is None:
            return ()
        options = self.options(usual)
        if not options and role in INSTEAD:
            options = self.options(INSTEAD[role])
        behind = 0 if is_listed else LISTED_BEFORE
        return tuple((target, place + behind, auxiliary) for target, place, auxiliary in options)

    def names_itself(self, options: Options) -> bool:
        """Return whether a mapping of one's own names a heading for such a field."""
        return any(
            target not in STANDARD_TARGETS or preference < self._own.get(target, 0) for target, preference, _ in options
        )

    def role_of(self, text: str, groups: tuple[str, ...], options: Options) -> str:
        """Return the role of a listed heading: by its words, else its first field."""
        known = self._roles.get((text, groups, options))
        if known is None:
            if len(self._roles) >= ROLES_MAX:
                self._roles.clear()
            known = self._roles[text, groups, options] = self._role_of(text, groups, options)
        return known

    def _role_of(self, text: str, groups: tuple[str, ...], options: Options) -> str:
        targets = {target for target, _, _ in options}
        weights = heading(text, groups).weights
        for _, role in sorted(((weight, role) for role, weight in weights.items() if weight > 0), reverse=True):
            if not targets.isdisjoint(target for target, _, _ in self.of_role(role)):
                return role
        return role_of_target(options[0][0])

    def options(self, header: str) -> Options:
        """Return what a header may feed: (target, preference, is auxiliary).

        By its exact key, else less a unit word.
        """
        known = self._memory.get(header)
        if known is None:
            if len(self._memory) >= MEMORY_MAX:
                self._memory.clear()
            known = self._memory[header] = self._options(header)
        return known

    def _options(self, header: str) -> Options:
        for candidate in _candidates(header):
            options = [(*option, False) for option in self._main.get(candidate, ())]
            options += [(*option, True) for option in self._auxiliary.get(candidate, ())]
            if options:
                return tuple(options)
        return ()


def _candidates(header: str) -> Iterator[str]:
    """Yield a header's keys: as is, less its unit, less footnote marks."""
    plain_header = without_footnotes(header)
    yield from dict.fromkeys(
        candidate
        for text in dict.fromkeys((header, plain_header))
        for candidate in (key(text), without_unit(key(text)), without_unit(spelt(text)))
    )


def _alias_table(fields: Iterable[Field]) -> dict[str, list[tuple[str, int]]]:
    """Return header's key -> (target, preference); own names yield to aliases."""
    table: dict[str, list[tuple[str, int]]] = {}
    fields = tuple(fields)
    for mapped in fields:
        for preference, alias in enumerate(mapped.aliases):
            entry = table.setdefault(key(alias), [])
            if all(target != mapped.target for target, _ in entry):
                entry.append((mapped.target, preference))
    for mapped in fields:
        table.setdefault(key(mapped.target), [(mapped.target, len(mapped.aliases))])
    return table


def matcher(mapping: Mapping) -> Matcher:
    """Return the matcher of a mapping, made once for its fields."""
    if PROFILES.get(mapping.id) is not mapping:
        return _matcher(mapping.fields, mapping.auxiliary)
    known = _OF_PROFILES.get(mapping.id)
    if known is None:
        known = _OF_PROFILES[mapping.id] = Matcher(mapping.fields, mapping.auxiliary)
    return known


_OF_PROFILES: Final[dict[str, Matcher]] = {}
"""Matchers of the built-in mappings by their names: comparing all fields of a mapping costs more than a search."""


@lru_cache(maxsize=64)
def _matcher(fields: tuple[Field, ...], auxiliary: tuple[Field, ...]) -> Matcher:
    return Matcher(fields, auxiliary)


def detect(sheet: Sheet) -> Header:
    """Detect any sheet's header: the best standard_clo one, else a row of text.

    Without either `row` is None, the columns are named by their letters, and the data starts at the sheet's first row.
    """
    header = find(sheet, PROFILES["standard_clo"])
    if header is not None:
        return Header(header.row, names(sheet, header), header.row + 1, sheet.row_count)
    row = _first_row(sheet)
    if row is not None and _is_all_text(sheet, row):
        return Header(row, names(sheet, HeaderMatch(row, row, 0)), row + 1, sheet.row_count)
    return Header(None, [column_name(column) for column in range(sheet.column_count)], 0, sheet.row_count)


def find(sheet: Sheet, mapping: Mapping, first: int = 0) -> HeaderMatch | None:
    """Find the best header for a mapping: most targets, then the topmost.

    Up to `STACK_MAX` rows are read as one where that names more than each alone. A row of units or of the columns'
    numbers below belongs to the header. Where the first rows have none, as below a summary on the same sheet, the
    next ones are looked at.

    Args:
        first: the row to begin with.
    """
    cells_left = CELLS_MAX
    for start in range(first, max(first + 1, min(sheet.row_count, first + DEEP_ROWS_MAX)), ROWS_MAX):
        scan = _Scan(sheet, matcher(mapping), start, cells_left)
        header = _best_match(scan, min(SCORE_MIN, len(mapping.fields)), frozenset(mapping.anchors))
        if header is not None:
            return header
        cells_left -= scan.cell_count
        if cells_left <= 0:
            break
    return None


def find_page(
    sheet: Sheet,
    mapping: Mapping,
    anchors: frozenset[str] | None,
    first: int = 0,
    rows: int = ROWS_MAX,
    before: int | None = None,
) -> HeaderMatch | None:
    """Find the best header of a sheet that adds to loans of another one.

    It names one of the anchors and one more column's target, auxiliary ones included; None without.

    Args:
        anchors: None for any two columns' targets.
        first: the row to begin with.
        rows: how many are looked at.
        before: the row above which its lowest row must stand.
    """
    scan = _Scan(sheet, matcher(mapping), first, rows=rows)
    header = _best_match(scan, PAGE_COLUMNS_MIN, anchors, by_column=True, before=before)
    return header if header is not None and (before is None or header.row < before) else None


def _best_match(
    scan: _Scan, least: int, anchors: frozenset[str] | None, *, by_column: bool = False, before: int | None = None
) -> HeaderMatch | None:
    """Return the best candidate's header that has an anchor.

    One whose anchor's own heading is blank or unknown where it names more and stands over the same columns: its cells
    tell the anchor.
    """
    best, wider = _best(scan, least, anchors, by_column=by_column)
    if best is not None and before is not None and best.row >= before:
        return None
    is_open = wider is not None and anchors is not None and scan.aliases.is_of_loans
    if wider is not None and is_open and (best is None or _is_part(best, wider)):
        header = _complete(scan, wider)
        if anchors is not None and header.columns.keys() & anchors:
            return header
    return None if best is None else _complete(scan, best)


def _is_part(best: _Candidate, wider: _Candidate) -> bool:
    """Return whether a candidate has only some rows of another one that names more."""
    return wider.top <= best.row and best.top <= wider.row and wider.score > best.score + 1


def nearest(sheet: Sheet, mapping: Mapping) -> HeaderMatch | None:
    """Return the row nearest to a header, to say what a sheet without one has."""
    scan = _Scan(sheet, matcher(mapping))
    best, _ = _best(scan, 1, None)
    return (
        None if best is None else HeaderMatch(best.row, best.top, best.score, _assign_columns(best.feeds), best.texts)
    )


def _best(
    scan: _Scan, least: int, anchors: frozenset[str] | None, *, by_column: bool = False
) -> tuple[_Candidate | None, _Candidate | None]:
    """Return the best candidate by score, and the best with many targets.

    By score, then most targets, then the topmost, then, within its rows, the one of fewest rows; the second with
    `UNANCHORED_MIN` targets, anchors or none.

    Args:
        least: the score that it must have; the columns that feed anything, where they are counted `by_column`.
    """
    best: _Candidate | None = None
    candidates: list[_Candidate] = []
    wider: _Candidate | None = None
    for row in scan.rows:
        for height in range(1, min(STACK_MAX, scan.end - row) + 1):
            if height > 1 and scan.has_figures_or_nothing(row + height - 1):
                break
            candidate = scan.stack(row, height)
            if candidate is None:
                break
            candidates.append(candidate)
            if candidate.score >= UNANCHORED_MIN and candidate.is_better(wider):
                wider = candidate
            if (len(candidate.feeds) if by_column else candidate.score) < least:
                continue
            if anchors is not None and not candidate.targets & anchors:
                continue
            if candidate.is_better(best):
                best = candidate
    if best is None:
        return None, wider
    whole = _whole(scan, best, candidates)
    return whole if anchors is None or whole.targets & anchors else None, wider


def _whole(scan: _Scan, best: _Candidate, candidates: Sequence[_Candidate]) -> _Candidate:
    """Add upper rows that the heading's own words left out.

    They tell more of its columns, though fewer fields.

    "S&P" over "Issuer" names one field, where the bare word could be another one as well.
    """
    for candidate in candidates:
        # What stands below "Prior" or "Original" feeds nothing.
        fewer = SCORE_LOSS_MAX if candidate.is_dated else 0
        if candidate.row == best.row and candidate.top < best.top and len(candidate.feeds) >= len(best.feeds) - fewer:
            is_wrapped = len(candidate.targets) > len(best.targets) and candidate.score >= best.score - SCORE_LOSS_MAX
            if scan.is_below_agencies(candidate) or (is_wrapped and scan.is_wordy(candidate.top)):
                best = candidate
    for candidate in candidates:
        is_near = (
            candidate.row == best.row + 1
            and candidate.top == best.top
            and candidate.score >= best.score - SCORE_LOSS_MAX
        )
        if is_near and len(candidate.feeds) > len(best.feeds) and scan.is_wordy(candidate.row):
            best = candidate
    return best


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One to three rows read as a header."""

    row: int
    top: int
    feeds: dict[int, Options]
    """Column -> what it could feed."""
    texts: dict[int, str]
    score: int
    targets: frozenset[str]
    is_dated: bool
    """Whether a group of it says which columns are of another time."""
    listed: frozenset[int] = frozenset()
    """Columns whose heading the mapping lists."""
    own: dict[int, str] = field(default_factory=dict)
    """Column -> the words that stand in it."""
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Column -> words of upper rows that are meant for it."""
    has_agencies: bool = False
    """Whether such words name an agency."""

    @property
    def tells(self) -> tuple[int, int, bool, bool]:
        """Return targets of the mapping and beside it, and if other times stand apart.

        "S&P Recovery Rate" tells more than its lower row alone; so do columns of another time, or of an agency, that
        are told from the others.
        """
        return self.score, len(self.targets), self.is_dated, self.has_agencies

    def is_better(self, rival: _Candidate | None) -> bool:
        return rival is None or self.tells > rival.tells or (self.tells == rival.tells and self.is_within(rival))

    def is_within(self, outer: _Candidate) -> bool:
        return outer.top < self.top and self.row <= outer.row


class _Scan:
    """The text cells of a sheet's first rows, and what each could be the header of."""

    def __init__(
        self, sheet: Sheet, aliases: Matcher, first: int = 0, cells_max: int = CELLS_MAX, rows: int = ROWS_MAX
    ) -> None:
        self.sheet, self.end = sheet, first + rows
        self.aliases = aliases
        self._cells: dict[int, dict[int, int]] = {}
        self._numeric: set[int] = set()
        cells: list[tuple[int, int, int]] = []
        height_max = self.end + STACK_MAX + 1
        for column, stored in enumerate(sheet.columns):
            if stored is None or stored.start >= height_max or stored.stop <= first:
                continue
            low = max(first, stored.start)
            part = stored.span(low, min(stored.stop, height_max))
            kinds, codes = part.kinds.tolist(), part.codes.tolist()
            for row, kind in enumerate(kinds, low):
                if kind == TEXT:
                    cells.append((row, column, codes[row - low]))
                elif kind in (NUMBER, DATE, BOOLEAN):
                    self._numeric.add(row)
        cells = sorted(cells)[:cells_max]
        self.cell_count = len(cells)
        distinct = np.array(sorted({code for _, _, code in cells}), np.int64)
        sizes = sheet.text.offsets[1:][distinct] - sheet.text.offsets[distinct]
        distinct = distinct[sizes <= HEADER_BYTES_MAX]
        self._texts = dict(zip(distinct.tolist(), decode(sheet.text, distinct), strict=True))
        self._options = {code: options for code, text in self._texts.items() if (options := aliases.options(text))}
        for row, column, code in cells:
            self._cells.setdefault(row, {})[column] = code
        merged = np.array(sheet.merged, np.int64).reshape(-1, 4)
        self._merged = merged[(merged[:, 0] < height_max) & (merged[:, 3] > merged[:, 1])]
        self._groups: dict[int, dict[int, int]] = {}
        self._wordy: dict[int, bool] = {}
        self._joins_left = JOINS_MAX

    @property
    def rows(self) -> list[int]:
        """Return rows with text, from the top."""
        return sorted(row for row in self._cells if row < self.end)

    def has_figures_or_nothing(self, row: int) -> bool:
        """Return whether a row can be no lower part of a header."""
        return row in self._numeric or row not in self._cells

    def stack(self, top: int, height: int) -> _Candidate | None:
        """Read rows as one header: alone, groups over fields, or wrapped words.

        None where that cannot be.

        The lower ones have texts and no figures (`has_figures_or_nothing`).
        """
        if height == 1:
            return self._alone(top)
        rows = range(top, top + height)
        if not self.is_wordy(rows[-1]) and not any(
            code in self._options for row in rows for code in self._cells[row].values()
        ):
            return None
        layers = [*(self._over(row) for row in rows[:-1]), self._cells[rows[-1]]]
        feeds: dict[int, Options] = {}
        texts: dict[int, str] = {}
        group, beside, twice = "", -1, Counter(layers[-1].values())
        by_word: set[int] = set()
        for column in sorted(set[int]().union(*layers)):
            parts = [text for layer in layers if (text := self._texts.get(layer.get(column, -1), "")).strip()]
            options = self._join_options(parts)
            if column in layers[0]:
                # Only what stands over a field is a group; it may be centred over the next columns without a merge.
                group = self._texts.get(layers[0][column], "") if column in layers[-1] else ""
            elif group and column == beside + 1:
                is_again = twice[layers[-1].get(column, -1)] > 1
                options, parts = self._beside_group(group, parts, options, is_again=is_again)
            beside = column
            texts[column] = " ".join(parts)
            if options:
                feeds[column] = options
        own, over = self._own_words(rows), self._group_words(rows, layers)
        for column in feeds.keys() & own.keys() if self.is_wordy(rows[-1]) else ():
            whole = self.aliases.options(own[column])
            if (column in over or not whole) and (by_words := self.aliases.by_words(own[column], over.get(column, ()))):
                feeds[column] = by_words
                by_word.add(column)
        groups = {self._texts.get(code, "") for layer in layers[:-1] for code in layer.values()}
        is_dated = any(_OF_ANOTHER_TIME.search(key(text)) for text in groups)
        return self._candidate(rows[-1], top, feeds, texts, own, over, is_dated=is_dated, by_word=by_word)

    def _beside_group(
        self, group: str, parts: list[str], options: Options, *, is_again: bool
    ) -> tuple[Options, list[str]]:
        """Return what a column beside a group's own may feed, and its words."""
        if under := self._group_options(group, parts):
            return under, [group, *parts]
        if options and is_again and _OF_ANOTHER_TIME.search(key(group)):
            return (), [group, *parts]
        return options, parts

    def _alone(self, row: int) -> _Candidate:
        """Return a row read as a header by itself."""
        cells, known = self._cells[row], self._options
        is_none = known.keys().isdisjoint(cells.values())
        feeds = {} if is_none else {column: known[code] for column, code in cells.items() if code in known}
        texts = {at: self._texts.get(code, "") for at, code in cells.items()}
        if not feeds and not self.aliases.has_given_names and not self.is_wordy(row):
            return _Candidate(row, row, {}, texts, 0, frozenset(), is_dated=False, own=texts)
        return self._candidate(row, row, feeds, texts, texts, {}, is_dated=False)

    def _own_words(self, rows: range) -> dict[int, str]:
        """Return by column the words that stand in it, from the top."""
        own: dict[int, str] = {}
        for row in rows:
            for column, code in self._cells[row].items():
                own[column] = (
                    f"{own[column]} {self._texts.get(code, '')}" if column in own else self._texts.get(code, "")
                )
        return own

    def _group_words(self, rows: range, layers: list[dict[int, int]]) -> dict[int, tuple[str, ...]]:
        """Return by column the words that upper rows carry over it."""
        carried: dict[int, tuple[str, ...]] = {}
        is_below_agencies = False
        for at, (row, layer) in enumerate(zip(rows[:-1], layers[:-1], strict=True)):
            if len(self._cells[row]) == 1 and min(self._cells[row]) <= min(layers[-1], default=0):
                continue  # the table's title
            is_of_agencies = self._are_agencies_over(row, rows[-1])
            # A column with words of its own below, in another row than the last, is one whose heading is wrapped.
            wrapped = {column for below in rows[at + 1 : -1] for column in self._cells[below] if not is_of_agencies}
            first_words = {
                column
                for column in self._cells[row]
                if not is_of_agencies and (column in wrapped or self._follows_agency(row, column))
            }
            none = self._cells[row].keys() if is_below_agencies else first_words
            for column, text in self._words_beside(row, layer, layers[-1], none, wrapped):
                carried[column] = (*carried.get(column, ()), text)
            is_below_agencies |= is_of_agencies
        return carried

    def _words_beside(
        self, row: int, layer: dict[int, int], lowest: dict[int, int], none: Container[int], wrapped: Container[int]
    ) -> Iterator[tuple[int, str]]:
        """Yield columns beside the cells of an upper row, each with a cell's words.

        A merged cell says how far it reaches. Another one over an agency is meant for the agencies beside that, and
        else for all columns that name none.

        Args:
            none: columns whose cells are no groups.
            wrapped: columns whose headings are wrapped.
        """
        cells = self._cells[row]
        group, is_over_agency = "", False
        for column in range(min(lowest, default=0), max(lowest, default=-1) + 1):
            names_agency = self._names_agency(lowest.get(column, -1))
            if column in cells:
                text = self._texts.get(cells[column], "")
                is_open = column not in none and (column + 1 in cells or column + 1 not in layer)
                is_group = is_open and (names_agency or not _GROUP_WORDS.isdisjoint(tokens_of(text)))
                group, is_over_agency = text if is_group else "", names_agency
                continue
            is_meant = column not in wrapped and names_agency == is_over_agency
            text = self._texts.get(layer[column], "") if column in layer else group if is_meant else ""
            if text and column in lowest:
                yield column, text

    def group_words(self, row: int, first: int) -> bool:
        """Return whether a row has words for the columns below, and is no title.

        Args:
            first: the first column of the header below.
        """
        cells = self._cells.get(row)
        if not cells or row in self._numeric or (len(cells) == 1 and min(cells) <= first):
            return False
        return any(not _GROUP_WORDS.isdisjoint(tokens_of(self._texts.get(code, ""))) for code in cells.values())

    def _are_agencies_over(self, row: int, last: int) -> bool:
        """Return whether a row has only names of agencies, "Prior" or "Original".

        Each stands over the columns up to the next one: no title alone in the first column, nor first words of headings
        wrapped down to the last row.
        """
        cells = self._cells.get(row, {})
        words = [tokens_of(self._texts.get(code, "")) for code in cells.values()]
        agencies = [word for word in words if word & _AGENCY_WORDS and word <= _WORDS_OF_AGENCIES]
        others = [code for code, word in zip(cells.values(), words, strict=True) if word not in agencies]
        if not agencies or not all(self._is_of_another_time(code) for code in others):
            return False
        if len(cells) == 1 and min(cells) <= min(self._cells[last], default=0):
            return False
        return not any(
            self._names_agency(code) for below in range(row + 1, last + 1) for code in self._cells[below].values()
        )

    def _is_of_another_time(self, code: int) -> bool:
        return _OF_ANOTHER_TIME.search(key(self._texts.get(code, ""))) is not None

    def is_below_agencies(self, candidate: _Candidate) -> bool:
        """Return whether the highest of its rows has names of agencies over its columns."""
        return candidate.top < candidate.row and self._are_agencies_over(candidate.top, candidate.row)

    def _follows_agency(self, row: int, column: int) -> bool:
        """Return whether two neighbours of a row name an agency, as first words."""
        cells = self._cells[row]
        return all(self._names_agency(cells.get(place, -1)) for place in (column - 1, column))

    def _names_agency(self, code: int) -> bool:
        return not tokens_of(self._texts.get(code, "")).isdisjoint(_AGENCY_WORDS)

    def is_wordy(self, row: int) -> bool:
        """Return whether a row can be a heading: several texts, hardly a digit."""
        known = self._wordy.get(row)
        if known is None:
            cells = self._cells[row]
            known = row not in self._numeric and len(cells) >= WORDY_CELLS_MIN
            if known:
                texts = [self._texts.get(code, "") for code in cells.values()]
                with_digits = sum(
                    any(map(str.isdigit, text)) and _UNIT_CELL.fullmatch(spelt(text)) is None for text in texts
                )
                known = with_digits < DIGITS_SHARE * len(texts) and _has_known_words(texts)
            self._wordy[row] = known
        return known

    def _candidate(
        self,
        row: int,
        top: int,
        feeds: dict[int, Options],
        texts: dict[int, str],
        own: dict[int, str],
        groups: dict[int, tuple[str, ...]],
        *,
        is_dated: bool,
        by_word: Container[int] = (),
    ) -> _Candidate:
        """Return a candidate, also by names that only `names` gives: "Column 3".

        A mapping may use these, since that is how a sheet's columns are listed.
        """
        if self.aliases.has_given_names:
            headings = _distinct(texts.get(column, "") for column in range(self.sheet.column_count))
            for column, name in enumerate(headings):
                if name != _squeeze(texts.get(column, "")) and (options := self.aliases.options(name)):
                    feeds[column] = options
                    texts.setdefault(column, name)
        listed = frozenset(column for column in feeds if column not in by_word)
        if self.aliases.is_of_loans and self.is_wordy(row):
            for column, text in own.items():
                if column not in feeds and text and (by_words := self.aliases.by_words(text, groups.get(column, ()))):
                    feeds[column] = by_words
        has_agencies = any(
            not tokens_of(text).isdisjoint(_AGENCY_WORDS) for carried in groups.values() for text in carried
        )
        main = {target for options in feeds.values() for target, _, auxiliary in options if not auxiliary}
        every = frozenset(target for options in feeds.values() for target, _, _ in options)
        return _Candidate(row, top, feeds, texts, len(main), every, is_dated, listed, own, groups, has_agencies)

    def _over(self, row: int) -> dict[int, int]:
        known = self._groups.get(row)
        if known is None:
            known = self._groups[row] = self._spread_cells(row)
        return known

    def _spread_cells(self, row: int) -> dict[int, int]:
        """Return a row's text cells, those of merged cells over all their columns."""
        cells = dict(self._cells[row])
        merged = self._merged[(self._merged[:, 0] <= row) & (row <= self._merged[:, 2])]
        merged = merged[np.lexsort((-merged[:, 3], merged[:, 1]))]
        firsts, widest = np.unique(merged[:, 1], return_index=True)
        reach = 0
        for first, last in zip(firsts.tolist(), merged[widest, 3].tolist(), strict=True):
            # Merged cells that overlap, as only a broken file has them, do not make this quadratic.
            if (code := self._cells[row].get(first)) is not None:
                for column in range(max(first + 1, reach), min(last + 1, self.sheet.column_count)):
                    cells.setdefault(column, code)
                reach = max(reach, last + 1)
        return cells

    def _join_options(self, parts: list[str]) -> Options:
        """Return what stacked words may feed: all, else a field before its group.

        Else those from below.

        What stands below "Prior Month" or "Original" is not what the file says of today.
        """
        if self._joins_left <= 0 or not parts:
            return ()
        self._joins_left -= 1
        if len(parts) == 1:
            return self.aliases.options(parts[0])
        if options := self._group_options(parts[0], parts[1:]):
            return options
        if len(parts) > 2 and _UNIT_CELL.fullmatch(spelt(parts[-1])) and (options := self._join_options(parts[:-1])):
            return options
        for start in range(1, len(parts)):
            if _OF_ANOTHER_TIME.search(key(parts[start - 1])):
                return ()
            if options := self._group_options(parts[start], parts[start + 1 :]):
                return options
        return ()

    def _group_options(self, group: str, below: list[str]) -> Options:
        """Return what words under a group may feed with it, before or behind."""
        rest, group = " ".join(below), group.strip()
        for words in (f"{group} {rest}", f"{rest} {group}", f"{rest} {group.rstrip('sS')}"):
            if options := self.aliases.options(words):
                return options
        return ()

    def units(self, row: int, over: _Candidate) -> dict[int, str]:
        """Return the cells of a row of units alone; {} for another row.

        One unit alone above a column of text is a label: "USD" over the loans in dollars.
        """
        if row in self._numeric:
            return {}
        texts: dict[int, str] = {}
        for column, code in self._cells.get(row, {}).items():
            words = spelt(self._texts.get(code, "?" * HEADER_BYTES_MAX))
            if _UNIT_CELL.fullmatch(words):
                texts[column] = self._texts[code].strip()
            elif words not in _NO_UNIT:
                return {}
        measured = [
            column
            for column in texts
            if any(target not in self.aliases.strings for target, _, _ in over.feeds.get(column, ()))
        ]
        return texts if measured or len(texts) > 1 else {}

    def numbers(self, row: int, over: _Candidate) -> bool:
        """Return whether a row only counts columns: 1, 2, 3 or A, B, C, in brackets."""
        counted = []
        kinds = set()
        for column in range(self.sheet.column_count):
            value = self.sheet.value(row, column)
            if value is None:
                continue
            kind = "figures"
            if isinstance(value, str) and (match := _COUNTER.fullmatch(value[:COUNTER_LENGTH_MAX])):
                kind = "figures" if match[1] else "letters"
                value = float(match[1] or ord(match[2].upper()) - ord("A") + 1)
            kinds.add(kind)
            counted.append(column)
            if value != len(counted):
                return False
        return len(counted) >= COUNTED_MIN and len(kinds) == 1 and over.feeds.keys() <= set(counted)


def _has_known_words(texts: list[str]) -> bool:
    """Return whether most words of a row are those of headings, not of companies."""
    texts = texts[:WORDY_CELLS_MAX]
    headings = [heading(text) for text in texts]
    if sum(parsed.known for parsed in headings) < KNOWN_SHARE * sum(parsed.total for parsed in headings):
        return False
    units = sum(_UNIT_CELL.fullmatch(words) is not None or words in _NO_UNIT for words in map(spelt, texts))
    values = sum(not _OF_VALUES.isdisjoint(marks(text)) for text in texts)
    return 2 * units <= len(texts) and values < VALUES_SHARE * len(texts)


def _complete(scan: _Scan, best: _Candidate) -> HeaderMatch:
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
    columns = _assign_columns(feeds, evidence=named)
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
        columns = _assign_columns(feeds, demoted, named)
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


def _with_group_above(scan: _Scan, best: _Candidate) -> _Candidate:
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


def _counters(sheet: Sheet, best: _Candidate, feeds: Iterable[int], first: int) -> list[int]:
    """Return columns that number the rows, among those fed by words or cells."""
    return [
        column
        for column in feeds
        if column not in best.listed and counts_rows(sheet, column, best.texts.get(column, ""), first)
    ]


def _judge_columns(
    scan: _Scan,
    best: _Candidate,
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


def _dated_headings(sheet: Sheet, best: _Candidate, places: Sequence[int]) -> dict[int, str]:
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


def _day_over(sheet: Sheet, best: _Candidate, place: int) -> str:
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


def _assign_columns(
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


def names(sheet: Sheet, header: HeaderMatch) -> list[str]:
    """Return the columns' names, distinct: "Column N" for blank, " (2)" for seconds."""
    return list(_distinct(_heading_text(sheet, header, column) for column in range(sheet.column_count)))


def _heading_text(sheet: Sheet, header: HeaderMatch, column: int) -> str:
    text = header.texts.get(column)
    if text is not None:
        return text
    cell = sheet.value(header.named_row, column)
    return "" if cell is None else plain(cell) if isinstance(cell, float) else str(cell)


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    used: set[str] = set()
    count: dict[str, int] = {}
    for column, text in enumerate(texts):
        name = base = _squeeze(text) or f"Column {column + 1}"
        while name in used:
            count[base] = count.get(base, 1) + 1
            name = f"{base} ({count[base]})"
        used.add(name)
        yield name


def _first_row(sheet: Sheet) -> int | None:
    """Return the first row with a cell that is not blank."""
    first: int | None = None
    for stored in sheet.columns:
        if stored is not None and (first is None or stored.start < first):
            filled = stored.kinds != BLANK
            at = int(np.argmax(filled)) if len(filled) else 0
            if len(filled) and filled[at] and (first is None or stored.start + at < first):
                first = stored.start + at
    return first


def _is_all_text(sheet: Sheet, row: int) -> bool:
    return all(sheet.kind(row, column) in (BLANK, TEXT) for column in range(sheet.column_count))
