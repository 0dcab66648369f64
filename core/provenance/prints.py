"""Prints of cells: what a server keeps of an export, so that it can tell later which cells of it were changed.

A print is the lower 32 bits of SipHash-2-4 over a cell's canonical record without its row, under a key that leaves the
server never: whoever changes a cell cannot aim at its old print, and one change in four billion goes unseen (the data
hash sees that one too). Prints take 4 bytes for each cell and 8 for each stretch of cells of a column, at most 12 for a
cell, for the first `CELLS_MAX` cells of an export, column by column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.grid.address import cell_name, range_name
from core.grid.sheet import Workbook
from core.provenance.canonical import chosen_sheets, covered_forms, records_of
from core.provenance.shown import BookDisplay, SheetDisplay, changed_cells, restored_rows, shown_of

CELLS_MAX: Final = 10_000_000
"""Cells of an export that have prints: 40 MB, and 120 MB where no two stand one below the other."""

DIFFERENCES_MAX: Final = 1_000
"""Differences that are listed."""

Status = Literal[
    "changed", "added", "removed", "renamed", "moved", "hidden", "shown", "merged", "unmerged", "display", "table"
]


class DamagedPrints(ValueError):
    """What was kept are no prints."""


class Difference(Struct, frozen=True):
    """A cell, or a sheet, that is not as it was exported."""

    sheet: str
    """As it was exported; its own name where it was added; empty for what belongs to no sheet."""
    cell: str | None
    """In A1 notation, `5:5` for a row, `A1:B2` for a range; None for the sheet itself."""
    status: Status
    """`hidden` and `shown`: a sheet or a row; `merged`, `unmerged` and `table`: a range; `display`: a cell whose number
    format is another, or a sheet that shows its cells otherwise where nothing is kept that says which."""

    @property
    def clause(self) -> str:
        """The difference as a clause of a sentence."""
        place = f"the sheet {self.sheet!r}" if self.sheet else "the workbook"
        if self.cell is not None:
            place = f"{self.cell} of {place}"
        return f"{place} {_CLAUSES[self.status]}"


_CLAUSES: Final[Mapping[Status, str]] = {
    "changed": "is another", "added": "was added", "removed": "was removed", "renamed": "was renamed",
    "moved": "was moved", "hidden": "is hidden", "shown": "is no longer hidden", "merged": "is merged",
    "unmerged": "is no longer merged", "display": "is shown by another number format", "table": "is another table",
}  # fmt: skip


class _Column(Struct, frozen=True, array_like=True):
    position: int
    starts: bytes
    """First row of each stretch, as little-endian int32."""
    lengths: bytes
    prints: bytes


class _Sheet(Struct, frozen=True, array_like=True):
    name: str
    columns: list[_Column]


class _Prints(Struct, frozen=True, array_like=True):
    version: Literal["svc_hash_v1"]
    end: tuple[int, int, int] | None
    """Sheet, column and row from which on nothing is known, by place; None where all is."""
    sheets: list[_Sheet]
    shown: BookDisplay | None = None
    """How the sheets show their cells; None in exports of older versions."""


_Found = tuple[NDArray[np.int32], NDArray[np.uint32]]
"""Rows in order, and the print of each."""


def fingerprints(book: Workbook, sheets: Sequence[str] | None, key: bytes) -> bytes:
    """Return the prints of a workbook's sheets, of all or of those named.

    The key has any length.

    Raises:
        NoSuchSheet: the workbook has no sheet of that very name.
    """
    left = CELLS_MAX
    end = None
    records: list[_Sheet] = []
    for name, columns in _columns(book, sheets, key):
        kept = []
        for position, (rows, prints) in columns:
            if len(rows) > left and end is None:
                end = (len(records), position, int(rows[left]))
            if end is not None:
                rows, prints = rows[:left], prints[:left]
            left -= len(rows)
            if len(rows):
                first = np.append(0, np.flatnonzero(np.diff(rows) != 1) + 1)
                lengths = np.diff(np.append(first, len(rows)))
                arrays = rows[first].astype("<i4"), lengths.astype("<i4"), prints.astype("<u4")
                kept.append(_Column(position, *(array.tobytes() for array in arrays)))
        records.append(_Sheet(name, kept))
    shown = shown_of(book, chosen_sheets(book, sheets))
    return msgspec.msgpack.encode(_Prints("svc_hash_v1", end, records, shown))


def differences(
    kept: bytes, key: bytes, book: Workbook, sheets: Mapping[str, str], *, limit: int = DIFFERENCES_MAX
) -> tuple[list[Difference], bool]:
    """Return the cells that differ between what prints were kept of and a workbook, and whether there are more of them.

    `sheets` is the exported name -> the present name of each sheet to compare. Cells come in the order of the exported
    sheets and rows; a moved cell is one removed and one added.

    Raises:
        DamagedPrints: these are no prints.
        NoSuchSheet: the workbook has no such sheet.
    """
    prints = _decode(kept)
    present = dict(_columns(book, list(sheets.values()), key))
    listed: list[Difference] = []
    more = prints.end is not None
    for at, sheet in enumerate(prints.sheets):
        if sheet.name not in sheets:
            continue
        old = {column.position: _restore(column) for column in sheet.columns}
        new = dict(_known_hashes(present[sheets[sheet.name]], at, prints.end))
        cells, cut = _compare(old, new, limit - len(listed))
        listed += [Difference(sheet.name, cell_name(row, column), _STATUSES[status]) for row, column, status in cells]
        more = more or cut
    return listed, more


def shown_in(kept: bytes) -> BookDisplay | None:
    """Return how the sheets of an export showed their cells.

    None where prints of older versions do not say.

    Raises:
        DamagedPrints: these are no prints.
    """
    return _decode(kept).shown if kept else None


def shown_differences(
    old: BookDisplay, before: SheetDisplay, now: SheetDisplay, book: Workbook, *, limit: int
) -> Iterator[Difference]:
    """Yield what a sheet shows otherwise than it did."""
    if before.is_visible != now.is_visible:
        yield Difference(before.name, None, "shown" if now.is_visible else "hidden")
    rows, others = restored_rows(before.hidden_rows), restored_rows(now.hidden_rows)
    for row in sorted(rows ^ others)[:limit]:
        yield Difference(before.name, f"{row + 1}:{row + 1}", "shown" if row in rows else "hidden")
    merged, present = set(before.merged), set(now.merged)
    for area in sorted(merged ^ present)[:limit]:
        yield Difference(before.name, range_name(*area), "unmerged" if area in merged else "merged")
    for _, area, _, _ in sorted(set(before.tables) ^ set(now.tables))[:limit]:
        yield Difference(before.name, range_name(*area), "table")
    sheet = next(sheet for sheet in book.sheets if sheet.name == now.name)
    for row, column in changed_cells(old, before, book, sheet, limit):
        yield Difference(before.name, cell_name(row, column), "display")


def _decode(kept: bytes) -> _Prints:
    try:
        return msgspec.msgpack.decode(kept, type=_Prints)
    except msgspec.MsgspecError as error:
        raise DamagedPrints("what was kept are no prints") from error


def _known_hashes(
    columns: Iterator[tuple[int, _Found]], sheet: int, end: tuple[int, int, int] | None
) -> Iterator[tuple[int, _Found]]:
    """Yield what comes before the place from which on nothing is known."""
    for position, (rows, prints) in columns:
        if end is None or (sheet, position) < end[:2]:
            yield position, (rows, prints)
        elif (sheet, position) == end[:2]:
            count = int(np.searchsorted(rows, end[2]))
            yield position, (rows[:count], prints[:count])


_STATUSES: Final[tuple[Status, ...]] = ("changed", "added", "removed")
_NONE: Final[_Found] = (np.empty(0, np.int32), np.empty(0, np.uint32))


def _compare(
    old: Mapping[int, _Found], new: Mapping[int, _Found], limit: int
) -> tuple[list[tuple[int, int, int]], bool]:
    """Return (row, column, place in `_STATUSES`) of the first differences of a sheet, and whether there are more."""
    listed: list[tuple[int, int, int]] = []
    count = 0
    for position in sorted(old.keys() | new.keys()):
        (rows, prints), (present, others) = old.get(position, _NONE), new.get(position, _NONE)
        _, each, theirs = np.intersect1d(rows, present, assume_unique=True, return_indices=True)
        parts = (
            rows[each[prints[each] != others[theirs]]],
            np.setdiff1d(present, rows, assume_unique=True),
            np.setdiff1d(rows, present, assume_unique=True),
        )
        count += sum(map(len, parts))
        listed += [(row, position, status) for status, part in enumerate(parts) for row in part[:limit].tolist()]
    return sorted(listed)[:limit], count > limit


def _restore(column: _Column) -> _Found:
    try:
        starts, lengths = np.frombuffer(column.starts, "<i4"), np.frombuffer(column.lengths, "<i4")
        prints = np.frombuffer(column.prints, "<u4")
        total = int(lengths.sum(dtype=np.int64))
        if len(starts) != len(lengths) or total != len(prints) or (lengths < 1).any():
            raise DamagedPrints("the prints of a column are damaged")
    except ValueError as error:
        raise DamagedPrints("the prints of a column are damaged") from error
    rows = np.arange(total) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return rows.astype(np.int32), prints


def _columns(
    book: Workbook, names: Sequence[str] | None, key: bytes
) -> Iterator[tuple[str, Iterator[tuple[int, _Found]]]]:
    """Yield each sheet's name, and its columns with rows and prints."""
    chosen = chosen_sheets(book, names)
    derived = hashlib.blake2b(key, digest_size=16, person=b"svc_hash_v1").digest()
    k0, k1 = int.from_bytes(derived[:8], "little"), int.from_bytes(derived[8:], "little")

    def prints_of(at: int) -> Iterator[tuple[int, _Found]]:
        for position, records, most in records_of(book, chosen[at], forms[at]):
            rows, prints = np.empty(most, np.int32), np.empty(most, np.uint32)
            count = records.prints(k0, k1, rows, prints)
            yield position, (rows[:count], prints[:count])

    forms = covered_forms(book, chosen)
    for at, sheet in enumerate(chosen):
        yield sheet.name, prints_of(at)
