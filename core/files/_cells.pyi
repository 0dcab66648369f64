from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

ColumnArrays = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64], NDArray[np.int32], NDArray[np.uint16]]
TextArrays = tuple[NDArray[np.int64], NDArray[np.uint8]]
FormulaArrays = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    TextArrays,
    dict[int, str],
    set[int],
    bool,
]

@disjoint_base
class _Scanner:
    def feed(self, chunk: bytes) -> None: ...
    def finish(self) -> None: ...

@disjoint_base
class SharedStrings(_Scanner):
    def __init__(self, part: str = ...) -> None: ...
    def __len__(self) -> int: ...
    def strings(self) -> list[str]: ...

@disjoint_base
class SheetScanner(_Scanner):
    def __init__(
        self,
        part: str,
        *,
        shared: SharedStrings | None,
        style_formats: NDArray[np.uint16],
        style_dates: NDArray[np.uint8],
        rich_errors: NDArray[np.int8],
        slots_max: int,
        slots_used: int,
        date_1904: bool,
        iso_serial: Callable[[str, bool], float],
        store: bool,
    ) -> None: ...
    @property
    def extent(self) -> tuple[int, int]: ...
    @property
    def dimension(self) -> tuple[int, int, int, int] | None: ...
    @property
    def slots_used(self) -> int: ...
    def columns(self) -> list[ColumnArrays | None]: ...
    def text(self) -> TextArrays: ...
    def formulas(self) -> FormulaArrays: ...
    def hidden_rows(self) -> list[int]: ...
    @property
    def filtered(self) -> bool: ...
    def merged_ranges(self) -> list[tuple[int, int, int, int]]: ...

PATCH_KEPT: int
PATCH_GONE: int

@disjoint_base
class SheetPatcher(_Scanner):
    def __init__(
        self,
        part: str,
        *,
        rows: NDArray[np.int32],
        columns: NDArray[np.int32],
        kinds: NDArray[np.uint8],
        numbers: NDArray[np.float64],
        codes: NDArray[np.int32],
        computed: NDArray[np.uint8],
        formulas: NDArray[np.int32],
        texts: list[bytes],
        written: list[bytes],
    ) -> None: ...
    def patch(self, chunk: bytes) -> bytes: ...
    def end(self) -> bytes: ...

def delimited(
    part: str, data: bytes, delimiter: str, decimal_comma: bool, *, slots_max: int, slots_used: int
) -> tuple[tuple[int, int], list[ColumnArrays | None], TextArrays, int, int]: ...
def binary_extent(data: bytes | NDArray[np.uint8]) -> tuple[int, int]: ...
