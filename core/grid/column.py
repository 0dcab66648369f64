"""One column of a sheet: kinds, numbers and text codes in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Column:
    """The stored span of one column: rows `start` to `start + len(kinds) - 1` (0-based); every other row is blank.

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

    @property
    def stop(self) -> int:
        """The row after the last stored one."""
        return self.start + len(self.kinds)

    def span(self, first: int, last: int) -> Column:
        """Rows `first` to `last - 1` as a column of exactly `last - first` rows that starts at `first`.

        A view where the stored span covers the asked one; otherwise a copy padded with blanks.
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


@dataclass(frozen=True, slots=True)
class Text:
    """The distinct strings of a sheet, as UTF-8 bytes end to end: string `i` is `data[offsets[i]:offsets[i + 1]]`."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, code: int) -> str:
        if code < 0:
            raise IndexError(code)
        return self.data[self.offsets[code] : self.offsets[code + 1]].tobytes().decode()

    def strings(self) -> list[str]:
        """All strings, in code order."""
        data = self.data.tobytes()
        return [data[a:b].decode() for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)]
