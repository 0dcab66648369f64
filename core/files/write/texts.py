"""What writing a sheet as text shares, delimited or JSON.

Pieces in bounded memory, within a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.limits import WRITTEN_BYTES_MAX
from core.files.parts import Shows, shown
from core.files.write._texts import Lines
from core.grid.sheet import Sheet

_BLOCK_SLOTS: Final = 1 << 18
"""Cells of a block of rows: few enough that copies of columns with gaps stay small, many enough that a block's cost
does not show."""


def shows_of(number_formats: Sequence[str]) -> NDArray[np.uint8]:
    """Return what each number format shows of a moment, as `Lines` takes it.

    A day where it shows none.
    """
    return np.array([shown(code) or Shows.DAY for code in number_formats], np.uint8)


def pieces(lines: Lines, sheet: Sheet) -> Iterator[bytes]:
    """Yield all rows of a sheet in its order, each with a cell for every column."""
    step = max(1, _BLOCK_SLOTS // max(1, sheet.column_count))
    for first in range(0, sheet.row_count, step):
        last = min(first + step, sheet.row_count)
        lines.open(
            [
                None if column is None or column.start >= last or column.stop <= first else column.span(first, last)
                for column in sheet.columns
            ],
            last - first,
        )
        while piece := lines.take():
            yield piece


class Sink:
    """Where bytes are put, within a limit."""

    def __init__(self, put: Callable[[bytes], object], bytes_max: int = WRITTEN_BYTES_MAX) -> None:
        self._put = put
        self._bytes_max = bytes_max
        self.size_bytes = 0

    def require(self, size_bytes: int) -> None:
        """Make sure of room for so many bytes before they are made.

        Raises:
            ValueError: they are more than the limit.
        """
        if self.size_bytes + size_bytes > self._bytes_max:
            raise ValueError(f"the file would be larger than {self._bytes_max:,} bytes; export fewer sheets at a time")

    def write(self, piece: bytes) -> None:
        """Write a piece.

        Raises:
            ValueError: more than the limit.
        """
        self.require(len(piece))
        self.size_bytes += len(piece)
        self._put(piece)
