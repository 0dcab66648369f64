from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol, final

from numpy.typing import ArrayLike, NDArray

from core.formula.language.tree import Node
from core.formula.machine.machine import CompiledTree
from core.formula.ranges.environment import Environment
from core.formula.values.value import Span, TextPool

MARKS_SUBNORMALS: bool
CHUNK_ROWS: int
COLUMN_CHUNK_ROWS: int
REGISTERS_BYTES_MAX: int
WINDOW_CELLS_MAX: int
DEPTH_MAX: int

class Source(Protocol):
    @property
    def pool(self) -> TextPool: ...
    @property
    def environment(self) -> Environment: ...
    def span(self, sheet: str | None, column: int, first_row: int, rows: int, /) -> Span: ...

@final
class Plan:
    inputs: Final[tuple[tuple[str | None, int, bool, int, int, int | None], ...]]
    def run(self, source: Source, row: int, column: int, rows: int, into: Span | None = ...) -> Span | None: ...

def plan(
    tree: Node, *, text: str = ..., is_fixed_name: Callable[[str | None, str], bool] | None = ...
) -> Plan | None: ...
def map_columns(
    plan: Plan | None,
    columns: Mapping[str, ArrayLike],
    program: CompiledTree | None = ...,
    clock: Callable[[], datetime] | None = ...,
) -> NDArray[Any] | None: ...
def no_clock() -> datetime: ...
