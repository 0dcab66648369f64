from typing import Any

from core.formula.language import Node
from core.grid.calculation import DataTable
from core.recalc.store import SheetCells

class Read:
    sheet: int
    left: int
    right: int
    low: int
    high: int
    low_fixed: bool
    high_fixed: bool
    partly: bool
    def __init__(
        self, sheet: int, left: int, right: int, low: int, high: int, low_fixed: bool, high_fixed: bool, partly: bool
    ) -> None: ...

class Shape:
    tree: Node | None
    arrays: bool
    text: str
    program: Any
    plan: Any
    ready: bool
    planned: bool
    value: object
    fault: str | None
    unsupported: str | None
    carried: bool
    reads: tuple[Any, ...]
    data_table: DataTable | None
    def __init__(self, tree: Node | None, arrays: bool, text: str) -> None: ...

class Region:
    number: int
    cells: SheetCells
    first: int
    last: int
    left: int
    bottom: int
    right: int
    shape: Shape
    text: str
    origin_row: int
    origin_column: int
    fills: bool
    spills: bool
    alive: bool
    dirty: bool
    holes: set[int] | None
    def __init__(
        self,
        number: int,
        cells: SheetCells,
        first: int,
        last: int,
        column: int,
        shape: Shape,
        text: str,
        origin_row: int,
        origin_column: int,
    ) -> None: ...
    def cover(self, bottom: int, right: int, spills: bool) -> None: ...
    def finish(self) -> None: ...
    def waiting_rows(self) -> list[tuple[int, int]]: ...
    def unmark(self, low: int, high: int) -> None: ...
    def pieces(self, low: int, high: int) -> list[tuple[int, int]]: ...
    def formula(self, row: int, column: int) -> str: ...
