"""The candidates for a header among the first rows of a sheet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import BOOLEAN, DATE, NUMBER, TEXT, decode, key
from core.portfolio.sheets.columns.content import marks
from core.portfolio.sheets.columns.vocabulary import heading, tokens_of
from core.portfolio.sheets.headings.matcher import Matcher, Options
from core.portfolio.sheets.headings.wording import UNIT_CELL, distinct, spelt, squeeze

ROWS_MAX: Final = 40
"""Rows in which a header is looked for at a time: of several there the one that names most counts."""

HEADER_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that can still be a header; a longer one is prose."""

STACK_MAX: Final = 3
"""Rows that may make up the names of one header: a group, and words that are wrapped below it."""

CELLS_MAX: Final = 50_000
"""Text cells of a sheet that are looked at, from the top: three rows of the widest sheet."""

JOINS_MAX: Final = 20_000
"""Stacked cells whose words are put together: a sheet of thousands of text columns costs no more than that."""

COUNTED_MIN: Final = 5
"""Columns that a row must number (1, 2, 3, ...) to be no loan."""

COUNTER_LENGTH_MAX: Final = 20
"""Characters of a cell that can number a column."""

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
_NO_UNIT: Final = frozenset(("", "n a", "na", "none", "text", "string", "number", "date"))
"""Keys of cells that may stand in a row of units without being one."""

_OF_ANOTHER_TIME: Final = re.compile(
    r"^(?:prior|previous|last|beginning|opening|original|initial)"
    r"(?: (?:month|quarter|period|report|balances?|values?))?$|^(?:change|changes|variance|difference)s?$"
    r"|^(?:as )?(?:at|of) (?:closing|issue|issuance|entry|inception|origination|purchase|signing)(?: date)?$"
    r"|^(?:bop|(?:beginning|start) of (?:the )?period)$"
)
"""Groups over columns that another month, or the deal's beginning, filled."""

_COUNTER: Final = re.compile(r"\s*[(\[]?\s*(?:(\d{1,5})(?:\.0)?|([A-Za-z]))\s*[)\].]?\s*")


@dataclass(frozen=True, slots=True)
class HeaderCandidate:
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

    def is_better(self, rival: HeaderCandidate | None) -> bool:
        return rival is None or self.tells > rival.tells or (self.tells == rival.tells and self.is_within(rival))

    def is_within(self, outer: HeaderCandidate) -> bool:
        return outer.top < self.top and self.row <= outer.row


class HeaderScan:
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

    def stack(self, top: int, height: int) -> HeaderCandidate | None:
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

    def _alone(self, row: int) -> HeaderCandidate:
        """Return a row read as a header by itself."""
        cells, known = self._cells[row], self._options
        is_none = known.keys().isdisjoint(cells.values())
        feeds = {} if is_none else {column: known[code] for column, code in cells.items() if code in known}
        texts = {at: self._texts.get(code, "") for at, code in cells.items()}
        if not feeds and not self.aliases.has_given_names and not self.is_wordy(row):
            return HeaderCandidate(row, row, {}, texts, 0, frozenset(), is_dated=False, own=texts)
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

    def is_below_agencies(self, candidate: HeaderCandidate) -> bool:
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
                    any(map(str.isdigit, text)) and UNIT_CELL.fullmatch(spelt(text)) is None for text in texts
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
    ) -> HeaderCandidate:
        """Return a candidate, also by names that only `names` gives: "Column 3".

        A mapping may use these, since that is how a sheet's columns are listed.
        """
        if self.aliases.has_given_names:
            headings = distinct(texts.get(column, "") for column in range(self.sheet.column_count))
            for column, name in enumerate(headings):
                if name != squeeze(texts.get(column, "")) and (options := self.aliases.options(name)):
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
        return HeaderCandidate(row, top, feeds, texts, len(main), every, is_dated, listed, own, groups, has_agencies)

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
        if len(parts) > 2 and UNIT_CELL.fullmatch(spelt(parts[-1])) and (options := self._join_options(parts[:-1])):
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

    def units(self, row: int, over: HeaderCandidate) -> dict[int, str]:
        """Return the cells of a row of units alone; {} for another row.

        One unit alone above a column of text is a label: "USD" over the loans in dollars.
        """
        if row in self._numeric:
            return {}
        texts: dict[int, str] = {}
        for column, code in self._cells.get(row, {}).items():
            words = spelt(self._texts.get(code, "?" * HEADER_BYTES_MAX))
            if UNIT_CELL.fullmatch(words):
                texts[column] = self._texts[code].strip()
            elif words not in _NO_UNIT:
                return {}
        measured = [
            column
            for column in texts
            if any(target not in self.aliases.strings for target, _, _ in over.feeds.get(column, ()))
        ]
        return texts if measured or len(texts) > 1 else {}

    def numbers(self, row: int, over: HeaderCandidate) -> bool:
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
    units = sum(UNIT_CELL.fullmatch(words) is not None or words in _NO_UNIT for words in map(spelt, texts))
    values = sum(not _OF_VALUES.isdisjoint(marks(text)) for text in texts)
    return 2 * units <= len(texts) and values < VALUES_SHARE * len(texts)
