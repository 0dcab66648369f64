from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from core.formula.context import ContextEnvironment
from core.formula.language.errors import FormulaError
from core.formula.language.tree import Node
from core.formula.machine import machine
from core.values import FormulaValue

ERROR_HANDLING: tuple[str, ...]
DIGITS_MAX: int
DATE_FORMAT: str
DATE_FORMAT_LENGTH_MAX: int
TRACE_MAX: int

class Evaluation:
    value: Final[FormulaValue]
    raw: Final[Any]
    type: Final[Literal["number", "string", "boolean", "error", "date", "array", "blank"]]
    formula: Final[str]
    trace: Final[list[dict[str, Any]] | None]
    tree: Final[Node]
    @property
    def cell_references(self) -> list[str]: ...
    @property
    def functions_used(self) -> list[str]: ...

class Program:
    compiled: Final[machine.CompiledTree]
    def __init__(self, formula: str, row: int = ..., column: int = ...) -> None: ...
    @property
    def formula(self) -> str: ...
    @property
    def tree(self) -> Node: ...
    @property
    def volatile(self) -> bool: ...
    def evaluate(
        self,
        context: Mapping[str, Any] | None = ...,
        *,
        error_handling: str = ...,
        precision: int = ...,
        date_format: str = ...,
        environment: ContextEnvironment | None = ...,
        debug: bool = ...,
    ) -> Evaluation: ...
    def evaluate_filled(
        self,
        texts: list[str],
        rows: list[int],
        columns: list[int],
        environment: ContextEnvironment,
        *,
        error_handling: str = ...,
        precision: int = ...,
        date_format: str = ...,
    ) -> list[Evaluation | FormulaError]: ...
    def map(self, columns: Any, *, clock: Callable[[], datetime] | None = ...) -> Any: ...

def date_text(serial: float, date_format: str = ..., date_1904: bool = ...) -> str | None: ...
def presented(
    value: Any, error_handling: str, precision: int, date_format: str, date_1904: bool, blanks: bool
) -> tuple[Any, str]: ...
def shown(value: Any, date_1904: bool = ...) -> tuple[Any, str]: ...
