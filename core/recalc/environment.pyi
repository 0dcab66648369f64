from collections.abc import Callable
from datetime import datetime

from core.formula.ranges import Environment
from core.formula.values import Span, TextPool
from core.grid.sheet import Workbook
from core.recalc.names import BookNames
from core.recalc.regions import Region
from core.recalc.store import SheetCells

class Needs(BaseException):
    wanted: list[tuple[Region, int, int]]

class BookEnvironment(Environment):
    cells_of: list[SheetCells]
    regions: list[Region | None]
    pool: TextPool
    workbook: Workbook
    names: BookNames
    sheet_index: dict[str, int]
    environment: BookEnvironment
    def __init__(
        self,
        workbook: Workbook,
        names: BookNames,
        cells_of: list[SheetCells],
        regions: list[Region | None],
        pool: TextPool,
        *,
        deadline: float = ...,
    ) -> None: ...
    def clocks(self, now: datetime | None, chance: Callable[[], float] | None, deadline: float) -> None: ...
    def place(self, sheet: int, row: int, column: int) -> None: ...
    def span(self, sheet: str | None, column: int, first_row: int, rows: int) -> Span: ...
