"""Finding the header row of a sheet and what its columns are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from core.grid.address import column_name
from core.grid.sheet import Sheet
from core.portfolio.fields import PROFILES, Field, Mapping
from core.portfolio.parsing import BLANK, DATE, NUMBER, TEXT, decoded, key, plain

ROWS_MAX: Final = 40
"""Rows from the top in which a header is looked for."""

SCORE_MIN: Final = 3
"""Distinct targets that a header row must name."""

HEADER_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that can still be a header; a longer one is prose."""

MEMORY_MAX: Final = 20_000
"""Texts whose targets a matcher remembers: the words of one workbook come again with the next request."""

_UNIT_WORDS: Final = re.compile(r" (?:in )?(?:bps|bp|basis points|percent|pct)$")


@dataclass(frozen=True, slots=True)
class Header:
    """The header of any sheet and the rows below it."""

    row: int | None
    """0-based; the lower one of two; None where no row is a header and the columns go by their letters."""
    names: list[str]
    """One for each column of the sheet, distinct."""
    first_row: int
    """First row of data, 0-based."""
    last_row: int
    """One past the last row with a cell: totals and footers are cells of the sheet like all others."""


@dataclass(frozen=True, slots=True)
class Found:
    """A header row that names the targets of a mapping."""

    row: int
    """0-based; the lower one of two."""
    top: int
    """The upper one of two, else `row`."""
    score: int
    columns: dict[str, list[int]] = field(default_factory=dict)
    """Target -> the columns that could feed it, the preferred one first."""
    texts: dict[int, str] = field(default_factory=dict)
    """Column -> its header as written, the two rows joined."""


def unit(header: str) -> str:
    """The unit that a header states: "bps", "%" or ""."""
    words = key(header).split()
    if "bps" in words or "bp" in words:
        return "bps"
    return "%" if "%" in header or "percent" in words or "pct" in words else ""


def without_unit(words: str) -> str:
    """A key less the word for its unit at the end."""
    return _UNIT_WORDS.sub("", words)


class Matcher:
    """Headers to targets by the aliases of some fields."""

    def __init__(self, fields: Iterable[Field], auxiliary: Iterable[Field] = ()) -> None:
        self._main = _alias_table(fields)
        self._auxiliary = _alias_table(auxiliary)
        self._memory: dict[str, tuple[tuple[str, int, bool], ...]] = {}

    def options(self, header: str) -> tuple[tuple[str, int, bool], ...]:
        """What a header may feed, as (target, preference, is auxiliary): by its exact key, else less a unit word."""
        known = self._memory.get(header)
        if known is None:
            if len(self._memory) >= MEMORY_MAX:
                self._memory.clear()
            known = self._memory[header] = self._options(header)
        return known

    def _options(self, header: str) -> tuple[tuple[str, int, bool], ...]:
        words = key(header)
        for candidate in (words, without_unit(words)):
            options = [(*found, False) for found in self._main.get(candidate, ())]
            options += [(*found, True) for found in self._auxiliary.get(candidate, ())]
            if options:
                return tuple(options)
        return ()


def _alias_table(fields: Iterable[Field]) -> dict[str, list[tuple[str, int]]]:
    table: dict[str, list[tuple[str, int]]] = {}
    for one in fields:
        for preference, alias in enumerate((*one.aliases, one.target)):
            entry = table.setdefault(key(alias), [])
            if all(target != one.target for target, _ in entry):
                entry.append((one.target, preference))
    return table


@lru_cache(maxsize=64)
def matcher(mapping: Mapping) -> Matcher:
    """The matcher of a mapping, made once."""
    return Matcher(mapping.fields, mapping.auxiliary)


def detect(sheet: Sheet) -> Header:
    """The header of any sheet: the best standard_clo header, else the first row with a cell when it holds only text.

    Without either `row` is None, the columns are named by their letters, and the data starts at the sheet's first row.
    """
    found = find(sheet, PROFILES["standard_clo"])
    if found is not None:
        return Header(found.row, _names(sheet, found.row, found.texts), found.row + 1, sheet.row_count)
    row = _first_row(sheet)
    if row is not None and _is_all_text(sheet, row):
        return Header(row, _names(sheet, row, {}), row + 1, sheet.row_count)
    return Header(None, [column_name(column) for column in range(sheet.column_count)], 0, sheet.row_count)


def find(sheet: Sheet, mapping: Mapping) -> Found | None:
    """The best header row for a mapping: most distinct targets among the first rows, then the topmost; None without."""
    scan = _Scan(sheet, matcher(mapping))
    least = min(SCORE_MIN, len(mapping.fields))
    best: Found | None = None
    for row in scan.rows:
        found = scan.single(row)
        double = scan.double(row)
        if double is not None and double.score > max(found.score, scan.single(row + 1).score):
            found = double
        if (
            found.score >= least
            and found.columns.keys() & set(mapping.anchors)
            and (best is None or found.score > best.score)
        ):
            best = found
    return best


class _Scan:
    """The text cells of a sheet's first rows, and what each could be the header of."""

    def __init__(self, sheet: Sheet, aliases: Matcher) -> None:
        self._sheet = sheet
        self._aliases = aliases
        self._cells: dict[int, dict[int, int]] = {}
        self._numeric: set[int] = set()
        found: list[tuple[int, int, int]] = []
        for column, stored in enumerate(sheet.columns):
            if stored is None or stored.start > ROWS_MAX:
                continue
            height = ROWS_MAX + 1 - stored.start
            kinds, codes = stored.kinds[:height].tolist(), stored.codes[:height].tolist()
            for row, kind in enumerate(kinds, stored.start):
                if kind == TEXT:
                    found.append((row, column, codes[row - stored.start]))
                elif kind in (NUMBER, DATE):
                    self._numeric.add(row)
        distinct = np.array(sorted({code for _, _, code in found}), np.int64)
        distinct = distinct[np.diff(sheet.text.offsets)[distinct] <= HEADER_BYTES_MAX] if len(distinct) else distinct
        self._texts = dict(zip(distinct.tolist(), decoded(sheet.text, distinct), strict=True))
        self._options = {code: options for code, text in self._texts.items() if (options := aliases.options(text))}
        for row, column, code in found:
            self._cells.setdefault(row, {})[column] = code
        self._singles: dict[int, Found] = {}

    @property
    def rows(self) -> list[int]:
        """Rows with text, from the top."""
        return sorted(row for row in self._cells if row < ROWS_MAX)

    def single(self, row: int) -> Found:
        known = self._singles.get(row)
        if known is None:
            cells = self._cells.get(row, {})
            feeds = {column: self._options[code] for column, code in cells.items() if code in self._options}
            texts = {column: self._texts[cells[column]] for column in feeds}
            known = self._singles[row] = _assign(row, row, feeds, texts)
        return known

    def double(self, row: int) -> Found | None:
        """Row and the next one read as one header: groups over fields, or wrapped words."""
        upper, lower = self._cells.get(row, {}), self._cells.get(row + 1)
        if lower is None or row + 1 in self._numeric or not (self.single(row).columns or self.single(row + 1).columns):
            return None
        upper = dict(upper)
        for first_row, first_column, last_row, last_column in self._sheet.merged:
            if first_row <= row <= last_row and (code := upper.get(first_column)) is not None:
                for column in range(first_column + 1, min(last_column + 1, self._sheet.column_count)):
                    upper.setdefault(column, code)
        feeds, texts = {}, {}
        for column in upper.keys() | lower.keys():
            parts = [self._texts.get(cells[column], "") for cells in (upper, lower) if column in cells]
            joined = " ".join(part for part in parts if part.strip())
            options = self._aliases.options(joined)
            if not options and len(parts) == 2:
                options = self._options.get(lower[column], ())
            texts[column] = joined
            if options:
                feeds[column] = options
        return _assign(row + 1, row, feeds, texts)


def _assign(row: int, top: int, feeds: dict[int, tuple[tuple[str, int, bool], ...]], texts: dict[int, str]) -> Found:
    """Which columns could feed which target; a column feeds one: its target of the mapping, else its auxiliary one."""
    wanted: dict[str, list[tuple[int, int]]] = {}
    for column, options in feeds.items():
        for target, preference, auxiliary in options:
            if not auxiliary:
                wanted.setdefault(target, []).append((preference, column))
    columns = {target: [column for _, column in sorted(places)] for target, places in wanted.items()}
    score = len(columns)
    claimed = {places[0] for places in columns.values()}
    spare: dict[str, list[tuple[int, int]]] = {}
    for column, options in feeds.items():
        for target, preference, auxiliary in options:
            if auxiliary and column not in claimed:
                spare.setdefault(target, []).append((preference, column))
    for target, places in spare.items():
        free = [column for _, column in sorted(places) if column not in claimed]
        if free:
            columns[target] = free
            claimed.add(free[0])
    return Found(row, top, score, columns, texts)


def _names(sheet: Sheet, row: int, joined: dict[int, str]) -> list[str]:
    """Distinct names: "Column N" for an empty header, " (2)" after the second of a kind."""
    names: list[str] = []
    used: set[str] = set()
    count: dict[str, int] = {}
    for column in range(sheet.column_count):
        value = joined.get(column)
        if value is None:
            cell = sheet.value(row, column)
            value = "" if cell is None else plain(cell) if isinstance(cell, float) else str(cell)
        name = base = " ".join(value.split()) or f"Column {column + 1}"
        while name in used:
            count[base] = count.get(base, 1) + 1
            name = f"{base} ({count[base]})"
        used.add(name)
        names.append(name)
    return names


def _first_row(sheet: Sheet) -> int | None:
    """The first row with a cell that is not blank."""
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
