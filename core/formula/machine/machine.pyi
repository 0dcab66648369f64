from typing import Any

from core.formula.language.tree import Cell, Node
from core.formula.ranges.environment import Environment
from core.formula.values.value import Lambda

TEXT_LENGTH_MAX: int
DEPTH_MAX: int

class CompiledTree:
    tree: Node
    text: str
    arrays: bool
    volatile: bool
    positional: bool
    functions: tuple[str, ...]
    unknown: tuple[tuple[str, int], ...]
    slots: tuple[Cell | str, ...]
    needs: tuple[int | tuple[int, ...], ...]
    record: list[tuple[int, int, Any]] | None
    def run(self, environment: Environment) -> Any: ...
    def value(self, environment: Environment) -> Any: ...
    def refer(self, environment: Environment) -> Any: ...

def compile(  # noqa: A001
    tree: Node,
    *,
    arrays: bool = ...,
    text: str = ...,
    unknown_as_name: bool = ...,
    slots: bool = ...,
    trace: list[tuple[int, int, Any]] | None = ...,
) -> CompiledTree: ...
def call(environment: Environment, function: Lambda, arguments: list[Any]) -> Any: ...
