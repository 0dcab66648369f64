from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.formula.values import Span, TextPool
from core.grid.column import Column, Text
from core.grid.sheet import Sheet

TEXT_CHARACTERS_MAX: int

class CellColumn:
    base: int
    size: int
    kinds: NDArray[np.uint8]
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    owners: NDArray[np.int32] | None
    def __init__(self, base: int, size: int) -> None: ...
    def reserve(self, first: int, last: int) -> int: ...
    def span(self, first: int, rows: int) -> Span: ...
    def own(self, first: int, last: int, region: int) -> int: ...
    def fill(
        self, first: int, kinds: NDArray[np.uint8], numbers: NDArray[np.float64], codes: NDArray[np.int32] | np.int32
    ) -> None: ...
    def spread(self, stored: Column, codes: NDArray[np.int32]) -> None: ...

class SheetCells:
    name: str
    index: int
    columns: list[CellColumn | None]
    unread: dict[int, Column]
    text: Text | None
    entered: NDArray[np.int32]
    rows_used: int
    columns_used: int
    def __init__(self, name: str, index: int) -> None: ...
    def column(self, column: int) -> CellColumn | None: ...
    def grown(self, column: int, first: int, last: int) -> CellColumn: ...
    def value(self, row: int, column: int, pool: TextPool) -> object: ...
    def put(self, row: int, column: int, value: object, pool: TextPool) -> None: ...
    def load(self, sheet: Sheet, pool: TextPool) -> None: ...

def read_list(
    cells: SheetCells, column: int, values: list[object], pool: TextPool, checked: Callable[[object], object]
) -> tuple[NDArray[np.int32], list[str]]: ...
def span_of_list(values: list[object], pool: TextPool, checked: Callable[[object], object]) -> Span: ...
def put_values(
    cells: SheetCells, top: int, left: int, bottom: int, right: int, grid: list[object], pool: TextPool
) -> None: ...
