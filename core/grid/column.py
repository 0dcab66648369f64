"""One column of a sheet.

Kinds, numbers and text codes in flat arrays, without the long runs of blanks between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import brief

BLANKS_MAX: Final = 16
"""Blank slots that are stored between two cells; a column is cut where more stand there. A cut costs 8 bytes, a blank
15; but a column in one run is opened without a copy, and at 16 one of a few hundred loans with a third of its cells
filled mostly stays one. A cell then costs 255 bytes at most, however far the next one is."""

_Item = TypeVar("_Item", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Column:
    """The span of one column.

    Rows `start` to `stop - 1` (0-based); every other row is blank.

    A span instead of the whole height, so that a cell in the millionth row costs one slot.
    All arrays are one-dimensional, C-contiguous, equally long and read-only; they may be views of a mapped file.
    """

    start: int
    kinds: NDArray[np.uint8]
    """`core.values.Kind` of each cell."""
    numbers: NDArray[np.float64]
    """The number, the date serial (in the workbook's date system), 0.0/1.0 for a boolean, the code of an error.

    0.0 for text and blank.
    """
    codes: NDArray[np.int32]
    """Index into the sheet's `Text` for text, -1 for everything else."""
    formats: NDArray[np.uint16]
    """Index into the workbook's `number_formats`; 0 is General."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rows {self.start:,} to {self.stop - 1:,})"

    @property
    def stop(self) -> int:
        """The row after the last stored one."""
        return self.start + len(self.kinds)

    @property
    def dense(self) -> Column:
        """The stored slots end to end; where each stands, `slot` and `rows` say."""
        return self

    @property
    def runs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The first row and the length of each run of stored slots, in order."""
        return np.array([self.start], np.int32), np.array([len(self.kinds)], np.int32)

    def slot(self, row: int) -> int:
        """Return where in `dense` the cell of a row is; -1 where none is stored."""
        return row - self.start if self.start <= row < self.stop else -1

    def begin(self, row: int) -> int:
        """Return where in `dense` the cells from a row on begin."""
        return min(max(0, row - self.start), len(self.kinds))

    def meeting(self, rows: NDArray[np.int64]) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
        """Return which of some ascending rows are stored, and where in `dense` each of these is."""
        low, high = np.searchsorted(rows, (self.start, self.stop))
        return slice(int(low), int(high)), rows[low:high] - self.start

    def rows(self) -> NDArray[np.int64]:
        """Return the row of each slot in `dense`."""
        starts, lengths = self.runs
        ends = np.cumsum(lengths, dtype=np.int64)
        row_numbers: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        return row_numbers

    def span(self, first: int, last: int) -> Column:
        """Return rows `first` to `last - 1` as a column of exactly `last - first` rows that starts at `first`.

        A view where one run of stored slots covers the asked one; otherwise a copy padded with blanks.
        """
        if first >= self.start and last <= self.stop:
            cut = slice(first - self.start, last - self.start)
            return Column(first, self.kinds[cut], self.numbers[cut], self.codes[cut], self.formats[cut])
        height = last - first
        kinds = np.zeros(height, np.uint8)
        numbers = np.zeros(height, np.float64)
        codes = np.full(height, -1, np.int32)
        formats = np.zeros(height, np.uint16)
        low, high = max(first, self.start), min(last, self.stop)
        if low < high:
            into, source = slice(low - first, high - first), slice(low - self.start, high - self.start)
            kinds[into], numbers[into] = self.kinds[source], self.numbers[source]
            codes[into], formats[into] = self.codes[source], self.formats[source]
        return Column(first, kinds, numbers, codes, formats)


class GappedColumn(Column):
    """A column of several runs.

    Its arrays are made anew, blanks and all, whenever they are asked for: two cells may stand a million rows apart
    in each of fifty columns, and nobody needs more than a column of that at a time.
    """

    __slots__ = ("_dense", "_lengths", "_offsets", "_starts")

    def __init__(self, column: Column, starts: NDArray[np.int32], lengths: NDArray[np.int32]) -> None:
        put = object.__setattr__
        put(self, "start", int(starts[0]))
        put(self, "_dense", column)
        put(self, "_starts", starts)
        put(self, "_lengths", lengths)
        put(self, "_offsets", np.cumsum(lengths, dtype=np.int64) - lengths)

    _dense: Column
    _starts: NDArray[np.int32]
    _lengths: NDArray[np.int32]
    _offsets: NDArray[np.int64]
    """Where in the held slots each run begins."""

    @property
    def stop(self) -> int:
        return int(self._starts[-1]) + int(self._lengths[-1])

    @property
    def dense(self) -> Column:
        return self._dense

    @property
    def runs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._starts, self._lengths

    @property
    def kinds(self) -> NDArray[np.uint8]:
        return self._spread(self._dense.kinds)

    @property
    def numbers(self) -> NDArray[np.float64]:
        return self._spread(self._dense.numbers)

    @property
    def codes(self) -> NDArray[np.int32]:
        return self._spread(self._dense.codes, blank=-1)

    @property
    def formats(self) -> NDArray[np.uint16]:
        return self._spread(self._dense.formats)

    def slot(self, row: int) -> int:
        run = int(np.searchsorted(self._starts, row, "right")) - 1
        into = row - int(self._starts[run])
        return int(self._offsets[run]) + into if run >= 0 and into < self._lengths[run] else -1

    def begin(self, row: int) -> int:
        run = int(np.searchsorted(self._starts, row, "right")) - 1
        return int(self._offsets[run]) + min(row - int(self._starts[run]), int(self._lengths[run])) if run >= 0 else 0

    def meeting(self, rows: NDArray[np.int64]) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
        low, high = np.searchsorted(rows, (self.start, self.stop))
        stored = self.rows()
        slots = np.searchsorted(stored, rows[low:high])
        met = stored[slots] == rows[low:high]
        return low + np.flatnonzero(met), slots[met]

    def span(self, first: int, last: int) -> Column:
        low = int(np.searchsorted(self._starts + self._lengths, first, "right"))
        high = max(low, int(np.searchsorted(self._starts, last, "left")))
        met = slice(low, high)
        begin = int(self._offsets[low]) if low < high else 0
        cut = slice(begin, begin + int(self._lengths[met].sum()))
        cells = self._dense
        part = Column(first, cells.kinds[cut], cells.numbers[cut], cells.codes[cut], cells.formats[cut])
        if high - low > 1:
            whole = GappedColumn(part, self._starts[met], self._lengths[met])
            start, arrays = whole.start, (whole.kinds, whole.numbers, whole.codes, whole.formats)
            return Column(start, *arrays).span(first, last)
        start = int(self._starts[low]) if low < high else first
        return Column(start, part.kinds, part.numbers, part.codes, part.formats).span(first, last)

    def _spread(self, values: NDArray[_Item], blank: int = 0) -> NDArray[_Item]:
        height = self.stop - self.start
        spread = (
            np.full(height, blank, values.dtype) if blank else np.zeros(height, values.dtype)
        )  # untouched zeros are free
        spread[self.rows() - self.start] = values
        return frozen(spread)


def column_of(
    rows: NDArray[np.int32] | NDArray[np.int64],
    kinds: NDArray[np.uint8],
    numbers: NDArray[np.float64],
    codes: NDArray[np.int32],
    formats: NDArray[np.uint16],
) -> Column:
    """Return the column of one or more cells in rising order of their `rows`, cut where more than `BLANKS_MAX` rows
    have none.

    The arrays become the column's where no blanks stand between the cells.
    """
    cuts = np.flatnonzero(np.diff(rows) > BLANKS_MAX + 1)
    starts = rows[np.append(0, cuts + 1)]
    lengths = rows[np.append(cuts, len(rows) - 1)] - starts + 1
    size = int(lengths.sum(dtype=np.int64))
    if size > len(rows):
        counts = np.diff(np.concatenate(([0], cuts + 1, [len(rows)])))
        places = rows - np.repeat(starts - (np.cumsum(lengths, dtype=np.int64) - lengths), counts)
        cells, kinds, numbers = (kinds, numbers, codes, formats), np.zeros(size, np.uint8), np.zeros(size)
        codes, formats = np.full(size, -1, np.int32), np.zeros(size, np.uint16)
        for into, cell in zip((kinds, numbers, codes, formats), cells, strict=True):
            into[places] = cell  # type: ignore[index]
    column = Column(int(rows[0]), frozen(kinds), frozen(numbers), frozen(codes), frozen(formats))
    return GappedColumn(column, starts.astype(np.int32), lengths.astype(np.int32)) if len(cuts) else column


def frozen(array: NDArray[_Item]) -> NDArray[_Item]:
    """Return the array, which nobody may write any more."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True)
class Text:
    """The distinct strings of a sheet, as UTF-8 bytes end to end.

    String `i` is `data[offsets[i]:offsets[i + 1]]`.
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, code: int) -> str:
        if code < 0:
            raise IndexError(code)
        return self.data[self.offsets[code] : self.offsets[code + 1]].tobytes().decode()

    def strings(self) -> list[str]:
        """Return all strings, in code order."""
        data = self.data.tobytes()
        return [data[a:b].decode() for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)]

    @property
    def offset_parts(self) -> list[NDArray[np.int64]]:
        """The offsets as arrays end to end."""
        return [self.offsets]

    @property
    def data_parts(self) -> list[NDArray[np.uint8]]:
        """The bytes as arrays end to end."""
        return [self.data]


class LongerText(Text):
    """A text with further strings behind it.

    They are joined when either array is asked for; to be written to a file takes neither.
    """

    __slots__ = ("_added", "_before")

    _before: Text
    _added: Text

    def __init__(self, before: Text, added: Text) -> None:
        object.__setattr__(self, "_before", before)
        object.__setattr__(self, "_added", added)

    def __len__(self) -> int:
        return len(self._before) + len(self._added)

    def __getattr__(self, name: str) -> Any:
        if name not in ("offsets", "data"):
            raise AttributeError(name)
        parts: Sequence[NDArray[Any]] = self.offset_parts if name == "offsets" else self.data_parts
        joined = frozen(np.concatenate(parts))
        object.__setattr__(self, name, joined)
        return joined

    def __reduce__(self) -> tuple[type[Text], tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        return Text, (self.offsets, self.data)

    @property
    def offset_parts(self) -> list[NDArray[np.int64]]:
        offsets = self._before.offsets
        return [offsets, self._added.offsets[1:] + offsets[-1]]

    @property
    def data_parts(self) -> list[NDArray[np.uint8]]:
        return [self._before.data, self._added.data]
