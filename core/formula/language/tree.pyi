from typing import Any, Final

class Node:
    start: Final[int]
    end: Final[int]

class Literal(Node):
    value: Final[Any]
    def __init__(self, value: Any, start: int = ..., end: int = ...) -> None: ...

class Empty(Node):
    def __init__(self, start: int = ..., end: int = ...) -> None: ...

class Cell(Node):
    sheet: Final[str | None]
    last_sheet: Final[str | None]
    row: Final[int]
    column: Final[int]
    row_absolute: Final[bool]
    column_absolute: Final[bool]
    def __init__(
        self,
        sheet: str | None,
        last_sheet: str | None,
        row: int,
        column: int,
        row_absolute: bool,
        column_absolute: bool,
        start: int = ...,
        end: int = ...,
    ) -> None: ...

class Area(Node):
    sheet: Final[str | None]
    last_sheet: Final[str | None]
    first: Final[Cell]
    last: Final[Cell]
    whole_columns: Final[bool]
    whole_rows: Final[bool]
    def __init__(
        self,
        sheet: str | None,
        last_sheet: str | None,
        first: Cell,
        last: Cell,
        whole_columns: bool = ...,
        whole_rows: bool = ...,
        start: int = ...,
        end: int = ...,
    ) -> None: ...

class Name(Node):
    sheet: Final[str | None]
    name: Final[str]
    def __init__(self, sheet: str | None, name: str, start: int = ..., end: int = ...) -> None: ...

class Structured(Node):
    table: Final[str | None]
    items: Final[tuple[str, ...]]
    first: Final[str | None]
    last: Final[str | None]
    def __init__(
        self,
        table: str | None,
        items: tuple[str, ...],
        first: str | None,
        last: str | None,
        start: int = ...,
        end: int = ...,
    ) -> None: ...

class Spill(Node):
    operand: Final[Node]
    def __init__(self, operand: Node, start: int = ..., end: int = ...) -> None: ...

class Unary(Node):
    operator: Final[str]
    operand: Final[Node]
    def __init__(self, operator: str, operand: Node, start: int = ..., end: int = ...) -> None: ...

class Binary(Node):
    operator: Final[str]
    left: Final[Node]
    right: Final[Node]
    def __init__(self, operator: str, left: Node, right: Node, start: int = ..., end: int = ...) -> None: ...

class Call(Node):
    name: Final[str]
    arguments: Final[tuple[Node, ...]]
    def __init__(self, name: str, arguments: tuple[Node, ...], start: int = ..., end: int = ...) -> None: ...

class Invoke(Node):
    callee: Final[Node]
    arguments: Final[tuple[Node, ...]]
    def __init__(self, callee: Node, arguments: tuple[Node, ...], start: int = ..., end: int = ...) -> None: ...

class ArrayLiteral(Node):
    rows: Final[tuple[tuple[Any, ...], ...]]
    def __init__(self, rows: tuple[tuple[Any, ...], ...], start: int = ..., end: int = ...) -> None: ...
