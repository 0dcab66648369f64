"""Which formulas' values are not covered.

They change although nothing in the file has changed.

Formulas go by runs: those one below the other in a column that have the same normal form. An array formula is a run
of its own, whose cells are all that it fills. A run is unsteady

1. where its formula, or a name that it uses, calls NOW, TODAY, RAND, RAND.NV, RANDBETWEEN, RANDBETWEEN.NV, RANDARRAY,
   CELL or INFO;
2. where a range that it reads meets an unsteady run. Its ranges are the cells and ranges of its formula, over all of
   its cells, on each sheet of a run of sheets. Those of the names that it uses count, too. Columns of a table read
   the whole table, or all tables of its own sheet where none is named. OFFSET and INDIRECT read all hashed sheets. A
   data table reads the row above it from the column to its left on, and that column from that row on.

Rule 2 is applied until nothing changes. Where that takes more than 1,000 times, or 5,000,000,000 comparisons of a
range with a column, every run is unsteady. An array formula counts with the first 16 columns that it fills. Sheets
that are not hashed are read as constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.formula.language import Area, Call, Cell, Name, Node, Structured, walk
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.sheet import Sheet, Workbook
from core.provenance.formulas import ARRAY, UNSTEADY, Forms, is_volatile
from core.provenance.names import NameTable

STEPS_MAX: Final = 1_000
"""How far from a volatile formula its readers are followed."""

WORK_MAX: Final = 5_000_000_000
"""Comparisons of a range with a column of unsteady runs: some seconds. Real workbooks take less than a million."""

WIDTH_MAX: Final = 16
"""Columns of what an array formula fills that its readers are looked for in."""

NAMES_DEEP: Final = 32
"""Names inside names that are followed."""

_ANYWHERE: Final = frozenset({"OFFSET", "INDIRECT"})
_WHOLE: Final = (0, ROWS_MAX - 1, 0, COLUMNS_MAX - 1)


def mark_unsteady(book: Workbook, sheets: Sequence[Sheet], forms: Sequence[Forms]) -> list[Forms]:
    """Return the forms of these sheets with the formulas marked whose value is not covered."""
    seen = _Reading(book, sheets)
    sources = [
        [seen.is_volatile(sheet.name, tree) for tree in form.trees] for sheet, form in zip(sheets, forms, strict=True)
    ]
    if not any(map(any, sources)):
        return list(forms)
    runs = _Runs(sheets, forms)
    unsteady = runs.of_forms(sources)
    _spread(runs, unsteady, *runs.reads(seen, forms))
    return runs.marked(forms, unsteady)


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """A range that a formula reads.

    Bounds are distances from its own cell where they are not absolute.
    """

    sheets: tuple[int, ...]
    rows: tuple[tuple[int, bool], tuple[int, bool]]
    columns: tuple[tuple[int, bool], tuple[int, bool]]


class _Reading:
    """What formulas read, by the names, tables and hashed sheets of a workbook."""

    def __init__(self, book: Workbook, sheets: Sequence[Sheet]) -> None:
        self._names = NameTable(book)
        self._tables = book.tables
        order = [sheet.name.lower() for sheet in book.sheets]
        self._place = {name: at for at, name in enumerate(order)}
        self._hashed = {self._place[sheet.name.lower()]: at for at, sheet in enumerate(sheets)}
        self._all = tuple(range(len(sheets)))

    def trees(self, sheet: str, tree: Node | None) -> Iterator[Node]:
        """Yield a formula and what its names stand for."""
        waiting = [] if tree is None else [(tree, 0)]
        seen: set[str] = set()
        while waiting:
            top, depth = waiting.pop()
            yield top
            for node, _ in walk(top):
                if (
                    isinstance(node, Name)
                    and depth < NAMES_DEEP
                    and (known := self._names.find(sheet, node)) is not None
                ):
                    below = None if known.key in seen else self._names.tree(known.text)
                    seen.add(known.key)
                    if below is not None:
                        waiting.append((below, depth + 1))

    def is_volatile(self, sheet: str, tree: Node | None) -> bool:
        """Return rule 1."""
        return any(map(is_volatile, self.trees(sheet, tree)))

    def of(self, sheet: Sheet, own: int, tree: Node | None) -> Iterator[_Rectangle]:
        """Yield the ranges that a formula of the sheet, the `own`-th hashed one, reads."""
        for top in self.trees(sheet.name, tree):
            for node, _ in walk(top):
                match node:
                    case Cell():
                        yield self._rectangle(own, node.sheet, node.last_sheet, node, node, whole="")
                    case Area():
                        whole = "columns" if node.whole_columns else "rows" if node.whole_rows else ""
                        yield self._rectangle(own, node.sheet, node.last_sheet, node.first, node.last, whole=whole)
                    case Structured():
                        yield from self._table(sheet, node)
                    case Call() if node.name in _ANYWHERE:
                        yield _fix(self._all, *_WHOLE)
                    case Call() if node.name == "TABLE":
                        before, last_row, last_column = (-1, False), (ROWS_MAX - 1, True), (COLUMNS_MAX - 1, True)
                        yield _Rectangle((own,), (before, before), (before, last_column))
                        yield _Rectangle((own,), (before, last_row), (before, before))

    def _rectangle(
        self, own: int, sheet: str | None, last_sheet: str | None, first: Cell, last: Cell, *, whole: str
    ) -> _Rectangle:
        rows = ((first.row, first.row_absolute), (last.row, last.row_absolute))
        columns = ((first.column, first.column_absolute), (last.column, last.column_absolute))
        return _Rectangle(
            (own,) if sheet is None else self._between(sheet, last_sheet),
            ((0, True), (ROWS_MAX - 1, True)) if whole == "columns" else rows,
            ((0, True), (COLUMNS_MAX - 1, True)) if whole == "rows" else columns,
        )

    def _between(self, sheet: str, last_sheet: str | None) -> tuple[int, ...]:
        """Return the hashed sheets from one to another, or None for no sheet."""
        first, last = self._place.get(sheet.lower()), self._place.get((last_sheet or sheet).lower())
        if first is None or last is None:
            return ()
        places = range(min(first, last), max(first, last) + 1)
        return tuple(self._hashed[place] for place in places if place in self._hashed)

    def _table(self, sheet: Sheet, node: Structured) -> Iterator[_Rectangle]:
        for table in self._tables:
            meant = node.table is not None and table.name.lower() == node.table.lower()
            if meant or (node.table is None and table.sheet.lower() == sheet.name.lower()):
                yield _fix(
                    self._between(table.sheet, None),
                    table.first_row,
                    table.last_row,
                    table.first_column,
                    table.last_column,
                )


def _fix(sheets: tuple[int, ...], top: int, bottom: int, left: int, right: int) -> _Rectangle:
    return _Rectangle(sheets, ((top, True), (bottom, True)), ((left, True), (right, True)))


class _Runs:
    """The runs of all hashed sheets, in arrays.

    Sheet, first and last row, first and last column, form.
    """

    def __init__(self, sheets: Sequence[Sheet], forms: Sequence[Forms]) -> None:
        self.sheets = sheets
        parts: list[NDArray[np.int64]] = []
        self.members: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        """By sheet its formulas in the order of their columns, and the run of each, counted from the sheet's first."""
        for at, (sheet, form) in enumerate(zip(sheets, forms, strict=True)):
            formulas = sheet.formulas
            order = np.lexsort((formulas.rows, formulas.columns))
            rows, columns = formulas.rows[order].astype(np.int64), formulas.columns[order].astype(np.int64)
            codes, is_array = form.codes[order], (form.flags[order] & ARRAY) != 0
            begins = np.ones(len(order), bool)
            begins[1:] = (np.diff(columns) != 0) | (np.diff(rows) != 1) | (np.diff(codes) != 0)
            begins[1:] |= is_array[1:] | is_array[:-1]
            first = np.flatnonzero(begins)
            last = np.append(first[1:], len(order)) - 1 if len(order) else first
            high, wide = (np.maximum(form.extents[order[first], axis] - 1, 0) for axis in (0, 1))
            parts.append(
                np.stack(
                    [
                        np.full(len(first), at),
                        rows[first],
                        rows[last] + high,
                        columns[first],
                        columns[first] + wide,
                        codes[first],
                    ]
                )
            )
            self.members.append((order, np.cumsum(begins) - 1))
        self.sheet, self.top, self.bottom, self.left, self.right, self.code = np.concatenate(parts, axis=1)
        self.begins = np.cumsum([0, *(part.shape[1] for part in parts)])

    def of_forms(self, chosen: Sequence[Sequence[bool]]) -> NDArray[np.bool_]:
        """Return which runs have one of these forms, which are given by sheet."""
        masks = [np.array(chosen[at], bool)[self.code[self.sheet == at]] for at in range(len(self.sheets))]
        return np.concatenate(masks)

    def reads(self, seen: _Reading, forms: Sequence[Forms]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (run, and rows of: sheet, first row, last row, first column, last column) of each range that a run
        reads."""
        known: dict[tuple[int, int], list[_Rectangle]] = {}
        owners: list[int] = []
        areas: list[tuple[int, int, int, int, int]] = []
        runs = np.stack([self.sheet, self.code, self.top, self.bottom, self.left], axis=1).tolist()
        for run, (at, code, top, bottom, left) in enumerate(runs):
            if (at, code) not in known:
                known[at, code] = list(seen.of(self.sheets[at], at, forms[at].trees[code]))
            if forms[at].trees[code] is None:
                continue
            for each in known[at, code]:
                ends = [bound if fixed else bound + place for bound, fixed in each.rows for place in (top, bottom)]
                sides = [bound if fixed else bound + left for bound, fixed in each.columns]
                for sheet in each.sheets:
                    owners.append(run)
                    areas.append((sheet, min(ends), max(ends), min(sides), max(sides)))
        return np.array(owners, np.int64), np.array(areas, np.int64).reshape(-1, 5)

    def marked(self, forms: Sequence[Forms], unsteady: NDArray[np.bool_]) -> list[Forms]:
        """Return the forms with the formulas of unsteady runs marked."""
        marked = []
        for at, (form, (order, run)) in enumerate(zip(forms, self.members, strict=True)):
            own = slice(int(self.begins[at]), int(self.begins[at + 1]))
            flags = form.flags.copy()
            flags[order[unsteady[own][run]]] |= UNSTEADY
            marked.append(replace(form, flags=flags))
        return marked


def _spread(runs: _Runs, unsteady: NDArray[np.bool_], owners: NDArray[np.int64], reads: NDArray[np.int64]) -> None:
    """Rule 2, in place."""
    fresh = np.flatnonzero(unsteady)
    work = 0
    for _ in range(STEPS_MAX):
        waiting = ~unsteady[owners]
        owners, reads = owners[waiting], reads[waiting]
        columns = list(_by_column(runs, fresh))
        work += len(columns) * len(owners)
        if work > WORK_MAX:
            break
        hit = np.zeros(len(owners), bool)
        for sheet, column, tops, bottoms in columns:
            met = np.flatnonzero((reads[:, 0] == sheet) & (reads[:, 3] <= column) & (column <= reads[:, 4]) & ~hit)
            # The runs of a column do not overlap, so the first that ends behind a range's begin is the one to ask.
            place = np.searchsorted(bottoms, reads[met, 1])
            inside = place < len(tops)
            hit[met[inside]] = tops[place[inside]] <= reads[met[inside], 2]
        fresh = np.unique(owners[hit])
        if not len(fresh):
            return
        unsteady[fresh] = True
    unsteady[:] = True


def _by_column(
    runs: _Runs, fresh: NDArray[np.int64]
) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield sheet, column, and the first and last rows of these runs there, in order."""
    widths = np.minimum(runs.right[fresh] - runs.left[fresh] + 1, WIDTH_MAX)
    run = np.repeat(fresh, widths)
    column = runs.left[run] + np.arange(len(run)) - np.repeat(np.cumsum(widths) - widths, widths)
    keys = runs.sheet[run] * COLUMNS_MAX + column
    order = np.lexsort((runs.top[run], keys))
    run, keys = run[order], keys[order]
    first = np.append(0, np.flatnonzero(np.diff(keys)) + 1).tolist() if len(keys) else []
    for begin, end in zip(first, [*first[1:], len(keys)], strict=False):
        sheet, place = divmod(int(keys[begin]), COLUMNS_MAX)
        yield sheet, place, runs.top[run[begin:end]], np.maximum.accumulate(runs.bottom[run[begin:end]])
