from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.formula.ranges.environment import Environment
from core.formula.values.value import Pool, Span
from core.recalc.regions import Region
from core.recalc.store import SheetCells

class Needs(BaseException):
    wanted: list[tuple[Region, int, int]]

class BookEnvironment(Environment):
    cells_of: list[SheetCells]
    regions: list[Region | None]
    pool: Pool
    book: Any
    calculating: bool
    environment: BookEnvironment
    def __init__(
        self,
        book: Any,
        cells_of: list[SheetCells],
        regions: list[Region | None],
        pool: Pool,
        *,
        deadline: float = ...,
        date_1904: bool = False,
    ) -> None: ...
    def clocks(self, now: datetime | None, chance: Callable[[], float] | None, deadline: float) -> None: ...
    def place(self, sheet: int, row: int, column: int) -> None: ...
    def span(self, sheet: str | None, column: int, first_row: int, rows: int) -> Span: ...
