from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

def locale_in_use() -> Any: ...
def year_in_use(is_cell: bool = ...) -> int | None: ...

class Locally:
    def __init__(self, locale: Any) -> None: ...
    def __enter__(self) -> Locally: ...
    def __exit__(self, *_: object) -> None: ...

class Error:
    code: Final[int]
    text: Final[str]
    def __init__(self, code: int, text: str) -> None: ...

class Omitted: ...

ALL_ERRORS: tuple[Error, ...]
NULL: Error
DIV0: Error
VALUE: Error
REF: Error
NAME: Error
NUM: Error
NA: Error
GETTING_DATA: Error
SPILL: Error
CALC: Error
OMITTED: Omitted

class Failure(Exception):
    error: Error
    def __init__(self, error: Error) -> None: ...

class Date(float): ...

def fold(text: str) -> str: ...

class TextPool:
    def __len__(self) -> int: ...
    def intern(self, text: str) -> int: ...
    def enter(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], places: NDArray[np.int64]
    ) -> NDArray[np.int32]: ...
    def text(self, code: int) -> str: ...
    def find(self, text: str) -> int: ...
    def fold(self, code: int) -> int: ...

class Span:
    kinds: Final[NDArray[np.uint8]]
    numbers: Final[NDArray[np.float64]]
    codes: Final[NDArray[np.int32]]
    def __init__(self, kinds: NDArray[np.uint8], numbers: NDArray[np.float64], codes: NDArray[np.int32]) -> None: ...

class Reference:
    sheet: Final[str | None]
    top: Final[int]
    left: Final[int]
    bottom: Final[int]
    right: Final[int]
    more: Final[tuple[Reference, ...]]
    def __init__(
        self, sheet: str | None, top: int, left: int, bottom: int, right: int, more: tuple[Reference, ...] = ...
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def areas(self) -> tuple[Reference, ...]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

class Array:
    rows: Final[int]
    columns: Final[int]
    reference: Final[Reference | None]
    spans: Final[tuple[Span, ...] | None]
    pool: Final[TextPool | None]
    def __init__(
        self,
        rows: int,
        columns: int,
        cells: list[Any] | None = ...,
        *,
        reference: Reference | None = ...,
        spans: tuple[Span, ...] | None = ...,
        pool: TextPool | None = ...,
    ) -> None: ...
    def cells(self) -> list[Any]: ...
    def at(self, row: int, column: int) -> Any: ...
    def grid(self) -> list[list[Any]]: ...
    def __eq__(self, other: object, /) -> bool: ...

class Lambda:
    parameters: Final[tuple[tuple[str, bool], ...]]
    body: Final[Any]
    scope: Final[Any]
    def __init__(self, parameters: tuple[tuple[str, bool], ...], body: Any, scope: Any) -> None: ...

def array_of(grid: Sequence[Sequence[Any]]) -> Array: ...
