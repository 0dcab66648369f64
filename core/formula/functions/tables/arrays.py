"""Functions that choose, order and arrange the values of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.ranges.environment import Environment
from core.formula.values.coerce import order_key, to_logical, to_number
from core.formula.values.value import CALC, NA, NUM, VALUE, Array, Error, Failure, fold

_ARRAY: Final = Argument("array", Takes.ARRAY, "The range or array.")
_PAD: Final = Argument("pad_with", Takes.ANY, "What fills empty places; #N/A if left out.", required=False, empty=NA)


def array_of(environment: Environment, grid: Sequence[Sequence[Any]]) -> Array:
    """Return a grid as an array; an empty one is #CALC!."""
    if not grid or not grid[0]:
        raise Failure(CALC)
    environment.spend(len(grid) * len(grid[0]))
    return Array(len(grid), len(grid[0]), [value for line in grid for value in line])


def turned(grid: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return rows as columns."""
    return [list(line) for line in zip(*grid, strict=True)]


def flag(value: Any) -> bool:
    """TRUE or FALSE of a value that says which rows count.

    Raises Failure for an error or text that is neither.
    """
    logical = to_logical(value)
    if isinstance(logical, Error):
        raise Failure(logical)
    return logical


def refuse_error(*arrays: Array | None) -> None:
    """Raises Failure for the first of some arguments that is an error itself, and no cell with one."""
    for array in arrays:
        if array is not None and array.rows == array.columns == 1 and array.reference is None:
            value = array.at(0, 0)
            if isinstance(value, Error):
                raise Failure(value)


def whole(value: Any) -> int:
    """Return an int of a value in an array of numbers."""
    number = to_number(value)
    if isinstance(number, Error):
        raise Failure(number)
    return int(number)


# -- order

_RANKS: Final = ((bool, 2), (float, 0), (str, 1), (Error, 3))


def sort_key(value: Any, *, descending: bool = False) -> tuple[int, Any]:
    """Return what sorts a value as Excel does.

    Numbers, text without case, FALSE, TRUE, errors by their number; blanks last either way.
    """
    if value is None:
        return (-1 if descending else 4), 0.0
    rank = next((rank for kind, rank in _RANKS if isinstance(value, kind)), None)
    if rank is None:  # a function has no place among values
        raise Failure(VALUE)
    if rank == 1:
        return rank, order_key(value)
    return rank, float(value.code if rank == 3 else value)


def sorted_places(keys: Sequence[tuple[Sequence[Any], bool]], count: int) -> list[int]:
    """Return the places of `count` lines in the order of their keys (values, descending), the first key first;
    stable."""
    places = list(range(count))
    for values, descending in reversed(keys):
        ranked = [sort_key(value, descending=descending) for value in values]
        places.sort(key=ranked.__getitem__, reverse=descending)
    return places


def direction(value: Any) -> bool:
    """Return whether an order (1 or -1) is a descending one."""
    order = whole(value)
    if order not in (1, -1):
        raise Failure(VALUE)
    return order < 0


@function(
    "SORT", "lookup", "Sorts the rows or columns of an array.", _ARRAY,
    Argument("sort_index", Takes.ARRAY, "The column (or row) to sort by, or several.", required=False, empty=1.0),
    Argument("sort_order", Takes.ARRAY, "1 ascending, -1 descending.", required=False, empty=1.0),
    Argument("by_col", Takes.LOGICAL, "TRUE sorts columns.", required=False),
    environment=True,
    examples=(("=INDEX(SORT(A1:B5,1,-1),1,1)", 50.0), ("=INDEX(SORT({3;1;2}),1)", 1.0)),
)  # fmt: skip
def sort(
    environment: Environment, array: Array, index: Array | None = None, order: Array | None = None, by_col: bool = False
) -> Array:
    grid = turned(array.grid()) if by_col else array.grid()
    indexes = [whole(value) for value in index.cells()] if index else [1]
    orders = [direction(value) for value in order.cells()] if order else [False]
    if len(orders) == 1:
        orders *= len(indexes)
    if len(orders) != len(indexes) or not all(1 <= place <= len(grid[0]) for place in indexes):
        raise Failure(VALUE)
    keys = [([line[place - 1] for line in grid], descending) for place, descending in zip(indexes, orders, strict=True)]
    result = [grid[place] for place in sorted_places(keys, len(grid))]
    return array_of(environment, turned(result) if by_col else result)


@function(
    "SORTBY", "lookup", "Sorts the rows or columns of an array by others.", _ARRAY,
    Argument("by_array", Takes.ARRAY, "What to sort by.", repeats=True),
    Argument("sort_order", Takes.ARRAY, "1 ascending, -1 descending.", required=False, repeats=True, empty=1.0),
    environment=True,
    examples=(("=INDEX(SORTBY(B1:B3,C1:C3,-1),1)", "cherry"),),
)  # fmt: skip
def sortby(environment: Environment, array: Array, *arguments: Array) -> Array:
    refuse_error(*arguments[::2])
    grid = array.grid()
    keys: list[tuple[list[Any], bool]] = []
    across = False
    for place in range(0, len(arguments), 2):
        by = arguments[place]
        descending = direction(arguments[place + 1].at(0, 0)) if place + 1 < len(arguments) else False
        along_rows = by.columns == 1 and by.rows == array.rows
        if not along_rows and not (by.rows == 1 and by.columns == array.columns):
            raise Failure(VALUE)
        if place and across != (not along_rows):
            raise Failure(VALUE)
        across = not along_rows
        keys.append((by.cells(), descending))
    if across:
        grid = turned(grid)
    result = [grid[place] for place in sorted_places(keys, len(grid))]
    return array_of(environment, turned(result) if across else result)


# -- choice


@function(
    "FILTER", "lookup", "Keeps the rows or columns of an array that a condition chooses.", _ARRAY,
    Argument("include", Takes.ARRAY, "A TRUE or FALSE for every row or column."),
    Argument("if_empty", Takes.RANGE, "What to give where nothing is chosen.", required=False, empty=OMITTED),
    environment=True,
    examples=(("=SUM(FILTER(A1:A5,A1:A5>25))", 120.0), ('=FILTER(A1:A5,A1:A5>99,"none")', "none")),
)  # fmt: skip
def filter_(environment: Environment, array: Array, include: Array, if_empty: Any = OMITTED) -> Any:
    by_rows = include.columns == 1 and include.rows == array.rows
    if not by_rows and not (include.rows == 1 and include.columns == array.columns):
        raise Failure(VALUE)
    grid = array.grid() if by_rows else turned(array.grid())
    result = [line for line, chosen in zip(grid, include.cells(), strict=True) if flag(chosen)]
    if not result and if_empty is not OMITTED:
        return if_empty
    return array_of(environment, result if by_rows else turned(result))


def same_key(value: Any) -> tuple[str, Any]:
    """Return what is equal for values that Excel takes for the same.

    Text without case, blanks apart from all else.
    """
    if isinstance(value, str):
        return "text", fold(value)
    if isinstance(value, bool):
        return "logical", value
    if isinstance(value, Error):
        return "error", value.code
    if value is not None and not isinstance(value, float):
        raise Failure(VALUE)
    return ("blank", None) if value is None else ("number", value + 0.0)


@function(
    "UNIQUE", "lookup", "Gives every row or column of an array once.", _ARRAY,
    Argument("by_col", Takes.LOGICAL, "TRUE compares columns.", required=False),
    Argument("exactly_once", Takes.LOGICAL, "TRUE keeps only those that occur once.", required=False),
    environment=True,
    examples=(("=ROWS(UNIQUE(B1:B5))", 4.0), ("=ROWS(UNIQUE(B1:B5,FALSE,TRUE))", 3.0)),
)  # fmt: skip
def unique(environment: Environment, array: Array, by_col: bool = False, once: bool = False) -> Array:
    grid = turned(array.grid()) if by_col else array.grid()
    seen: dict[tuple[tuple[str, Any], ...], list[list[Any]]] = {}
    for line in grid:
        seen.setdefault(tuple(same_key(value) for value in line), []).append(line)
    result = [lines[0] for lines in seen.values() if len(lines) == 1 or not once]
    return array_of(environment, turned(result) if by_col else result)


_ROWS: Final = Argument("rows", Takes.INTEGER, "How many rows; negative counts from the end.", empty=OMITTED)
_COLUMNS: Final = Argument(
    "columns", Takes.INTEGER, "How many columns; negative counts from the end.", required=False, empty=OMITTED
)


@function(
    "TAKE", "lookup", "Keeps rows and columns at the start or end of an array.", _ARRAY, _ROWS, _COLUMNS,
    environment=True,
    examples=(("=SUM(TAKE(A1:A5,2))", 30.0), ("=SUM(TAKE(A1:A5,-2))", 90.0)),
)  # fmt: skip
def take(environment: Environment, array: Array, rows: Any, columns: Any = OMITTED) -> Array:
    return array_of(environment, [line[_taken(columns)] for line in array.grid()[_taken(rows)]])


def _taken(count: Any) -> slice:
    if count is OMITTED:
        return slice(None)
    return slice(count, None) if count < 0 else slice(count)


@function(
    "DROP", "lookup", "Leaves out rows and columns at the start or end of an array.", _ARRAY, _ROWS, _COLUMNS,
    environment=True,
    examples=(("=SUM(DROP(A1:A5,2))", 120.0), ("=SUM(DROP(A1:A5,-2))", 60.0)),
)  # fmt: skip
def drop(environment: Environment, array: Array, rows: Any, columns: Any = OMITTED) -> Array:
    return array_of(environment, [line[_dropped(columns)] for line in array.grid()[_dropped(rows)]])


def _dropped(count: Any) -> slice:
    if count is OMITTED:
        return slice(None)
    return slice(None, count) if count < 0 else slice(count, None)


@function(
    "CHOOSEROWS", "lookup", "Gives chosen rows of an array.", _ARRAY,
    Argument("row_num", Takes.ARRAY, "Which rows; negative counts from the end.", repeats=True),
    environment=True,
    examples=(("=SUM(CHOOSEROWS(A1:A5,1,-1))", 60.0),),
)  # fmt: skip
def chooserows(environment: Environment, array: Array, *numbers: Array) -> Array:
    grid = array.grid()
    return array_of(environment, [grid[place] for place in _places(numbers, array.rows)])


@function(
    "CHOOSECOLS", "lookup", "Gives chosen columns of an array.", _ARRAY,
    Argument("col_num", Takes.ARRAY, "Which columns; negative counts from the end.", repeats=True),
    environment=True,
    examples=(("=SUM(CHOOSECOLS(A1:C2,3,1))", 33.0),),
)  # fmt: skip
def choosecols(environment: Environment, array: Array, *numbers: Array) -> Array:
    places = _places(numbers, array.columns)
    return array_of(environment, [[line[place] for place in places] for line in array.grid()])


def _places(numbers: Iterable[Array], count: int) -> list[int]:
    if any(array.rows > 1 and array.columns > 1 for array in numbers):
        raise Failure(VALUE)
    chosen = [whole(value) for array in numbers for value in array.cells()]
    if not all(1 <= abs(place) <= count for place in chosen):
        raise Failure(VALUE)
    return [place - 1 if place > 0 else count + place for place in chosen]


# -- arrangement


@function(
    "SEQUENCE", "math", "Counts in rows and columns.", Argument("rows", Takes.INTEGER, "How many rows.", empty=1),
    Argument("columns", Takes.INTEGER, "How many columns.", required=False, empty=1),
    Argument("start", Takes.NUMBER, "The first number.", required=False, empty=1.0),
    Argument("step", Takes.NUMBER, "From one number to the next.", required=False, empty=1.0),
    environment=True,
    examples=(("=SUM(SEQUENCE(4))", 10.0), ("=SUM(SEQUENCE(2,2,10,5))", 70.0)),
)  # fmt: skip
def sequence(environment: Environment, rows: int, columns: int = 1, start: float = 1.0, step: float = 1.0) -> Array:
    if rows < 0 or columns < 0:
        raise Failure(VALUE)
    if not rows or not columns:
        raise Failure(CALC)
    environment.spend(rows * columns)
    return Array(rows, columns, [start + step * place for place in range(rows * columns)])


@function(
    "EXPAND", "lookup", "Makes an array larger.", _ARRAY,
    Argument("rows", Takes.INTEGER, "How many rows there shall be.", empty=OMITTED),
    Argument("columns", Takes.INTEGER, "How many columns there shall be.", required=False, empty=OMITTED), _PAD,
    environment=True,
    examples=(('=INDEX(EXPAND({1,2},2,3,"-"),2,3)', "-"),),
)  # fmt: skip
def expand(environment: Environment, array: Array, rows: Any, columns: Any = OMITTED, pad: Any = NA) -> Array:
    rows = array.rows if rows is OMITTED else rows
    columns = array.columns if columns is OMITTED else columns
    if rows < array.rows or columns < array.columns:
        raise Failure(VALUE)
    environment.spend(rows * columns)
    return Array(rows, columns, _padded(array.grid(), rows, columns, pad))


def _padded(grid: Sequence[Sequence[Any]], rows: int, columns: int, pad: Any) -> list[Any]:
    cells = [value for line in grid for value in (*line, *[pad] * (columns - len(line)))]
    return cells + [pad] * (rows * columns - len(cells))


_STACKED: Final = Argument("array", Takes.ARRAY, "A range or array.", repeats=True)


@function(
    "VSTACK", "lookup", "Puts arrays below each other.", _STACKED,
    environment=True,
    examples=(("=SUM(VSTACK(A1:A2,C1:C2))", 33.0),),
)  # fmt: skip
def vstack(environment: Environment, *arrays: Array) -> Array:
    rows, columns = sum(array.rows for array in arrays), max(array.columns for array in arrays)
    environment.spend(rows * columns)
    return Array(rows, columns, _padded([line for array in arrays for line in array.grid()], rows, columns, NA))


@function(
    "HSTACK", "lookup", "Puts arrays beside each other.", _STACKED,
    environment=True,
    examples=(("=COLUMNS(HSTACK(A1:A2,C1:C2))", 2.0),),
)  # fmt: skip
def hstack(environment: Environment, *arrays: Array) -> Array:
    rows, columns = max(array.rows for array in arrays), sum(array.columns for array in arrays)
    environment.spend(rows * columns)
    lines: list[list[Any]] = [[] for _ in range(rows)]
    for array in arrays:
        grid = array.grid()
        for place, line in enumerate(lines):
            line += grid[place] if place < array.rows else [NA] * array.columns
    return Array(rows, columns, [value for line in lines for value in line])


_FLAT: Final = (
    _ARRAY,
    Argument("ignore", Takes.INTEGER, "0 nothing, 1 blanks, 2 errors, 3 both.", required=False, empty=0),
    Argument("scan_by_column", Takes.LOGICAL, "TRUE goes down the columns.", required=False),
)


@function(
    "TOCOL", "lookup", "Gives the values of an array as one column.", *_FLAT,
    environment=True,
    examples=(("=ROWS(TOCOL(A1:B2))", 4.0), ("=INDEX(TOCOL(A1:B2,0,TRUE),2)", 20.0)),
)  # fmt: skip
def tocol(environment: Environment, array: Array, ignore: int = 0, by_column: bool = False) -> Array:
    return array_of(environment, [[value] for value in _flat(array, ignore, by_column)])


@function(
    "TOROW", "lookup", "Gives the values of an array as one row.", *_FLAT,
    environment=True,
    examples=(("=COLUMNS(TOROW(A1:B2))", 4.0),),
)  # fmt: skip
def torow(environment: Environment, array: Array, ignore: int = 0, by_column: bool = False) -> Array:
    return array_of(environment, [_flat(array, ignore, by_column)])


def _flat(array: Array, ignore: int, by_column: bool) -> list[Any]:
    if ignore not in (0, 1, 2, 3):
        raise Failure(VALUE)
    cells = [value for line in turned(array.grid()) for value in line] if by_column else array.cells()
    without_blanks, without_errors = ignore & 1, ignore & 2
    return [
        value
        for value in cells
        if not (without_blanks and value is None) and not (without_errors and isinstance(value, Error))
    ]


_WRAPPED: Final = (
    Argument("vector", Takes.ARRAY, "One row or column of values."),
    Argument("wrap_count", Takes.INTEGER, "How many values in each."),
    _PAD,
)


@function(
    "WRAPROWS", "lookup", "Breaks a row or column of values into rows.", *_WRAPPED,
    environment=True,
    examples=(("=INDEX(WRAPROWS(A1:A5,2),2,1)", 30.0), ("=INDEX(WRAPROWS(A1:A5,2),3,2)", NA)),
)  # fmt: skip
def wraprows(environment: Environment, vector: Array, count: int, pad: Any = NA) -> Array:
    return array_of(environment, _wrapped(vector, count, pad))


@function(
    "WRAPCOLS", "lookup", "Breaks a row or column of values into columns.", *_WRAPPED,
    environment=True,
    examples=(("=INDEX(WRAPCOLS(A1:A5,2),1,2)", 30.0),),
)  # fmt: skip
def wrapcols(environment: Environment, vector: Array, count: int, pad: Any = NA) -> Array:
    return array_of(environment, turned(_wrapped(vector, count, pad)))


def _wrapped(vector: Array, count: int, pad: Any) -> list[list[Any]]:
    if vector.rows > 1 and vector.columns > 1:
        raise Failure(VALUE)
    if count < 1:
        raise Failure(NUM)
    cells = vector.cells()
    count = min(count, len(cells))
    lines = [cells[start : start + count] for start in range(0, len(cells), count)]
    lines[-1] = lines[-1] + [pad] * (count - len(lines[-1]))
    return lines
