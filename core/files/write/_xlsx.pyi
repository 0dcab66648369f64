from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from core.grid.column import Text

DAY_FORMAT: int
MOMENT_FORMAT: int
DOUBTFUL: int
NEWER: int
DROPPED: int
PLAIN: int
ORIGIN: int
MEMBER: int
ARRAY: int
SPILLS: int
TABLE: int

SlabColumn = tuple[
    int,
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.uint16],
]
"""Position, first rows and lengths of the runs; kinds, numbers, codes and formats of the stored slots."""

SlabFormulas = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.uint8],
]
"""Rows, columns, texts, roles, groups; boxes of the groups (four corners each, end to end); the texts."""

@disjoint_base
class Styles:
    def used(self) -> list[tuple[int, int]]: ...

@disjoint_base
class Strings:
    def __len__(self) -> int: ...
    @property
    def cut(self) -> int: ...
    def chunks(self) -> Iterator[bytes]: ...

@disjoint_base
class Slab:
    def __init__(
        self,
        columns: Sequence[SlabColumn],
        text: Text,
        formulas: SlabFormulas,
        hidden: NDArray[np.int32],
        tall: NDArray[np.int32],
        heights: NDArray[np.int32],
        *,
        first_row: int,
        metadata: tuple[bool, bool],
        date_formats: NDArray[np.uint8],
        styles: Styles,
        strings: Strings,
    ) -> None: ...
    @property
    def unvalued(self) -> bool: ...
    def fill(self, stop: int, marks: NDArray[np.uint8]) -> memoryview: ...

def looks(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    sheet_offsets: NDArray[np.int64],
    sheets: NDArray[np.uint8],
    newer_offsets: NDArray[np.int64],
    newer: NDArray[np.uint8],
    watched_offsets: NDArray[np.int64],
    watched: NDArray[np.uint8],
) -> NDArray[np.uint8]: ...
