"""GROUPBY and PIVOTBY: values summed up by the fields of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.functions.tables.arrays import flag, same_key, sorted_places, whole
from core.formula.ranges.environment import Environment
from core.formula.values.value import CALC, VALUE, Array, Error, Failure, Lambda, Reference

TOTAL: Final = "Total"
GRAND_TOTAL: Final = "Grand Total"

Rows = list[int]
"""Places in the data, its header and what the filter leaves out not counted."""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One function that sums up, and the name under which it stands in a header."""

    name: str
    function: Lambda
    relative: bool
    """It also gets the values that a share is of (PERCENTOF, a LAMBDA of two parameters)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row or column of the result.

    Its labels, the data it covers, and the data of the group it belongs to.
    """

    labels: list[Any]
    rows: Rows
    parent: Rows


@dataclass(frozen=True, slots=True)
class Axis:
    """How the data is grouped along the rows or the columns of the result."""

    names: list[Any]
    keys: list[list[Any]]
    """For every place of the data its fields; no field at all where the axis was left out."""
    depth: int
    """0 no totals, 1 a grand total, n subtotals of n - 1 levels too; negative puts them first."""
    orders: list[int]
    """1-based fields, then result columns, to sort by; negative is descending."""
    table: bool = False
    """The fields are sorted together, not one inside the other."""
    innermost: bool = False
    """A column of values orders the last field only, as in PIVOTBY; GROUPBY orders each field by its subtotals."""

    @property
    def width(self) -> int:
        return len(self.names)


class Data:
    """The values of a summary, and what sums them up."""

    def __init__(self, environment: Environment, columns: list[list[Any]], names: list[Any], functions: Array) -> None:
        self.environment = environment
        self.columns = columns
        self.names = names
        self.aggregates = _aggregates(functions)
        self.across = functions.rows == 1
        """Several functions stand side by side; else below each other."""

    @property
    def several(self) -> bool:
        return len(self.aggregates) > 1

    def value(self, aggregate: Aggregation, column: int, rows: Rows, of: Rows) -> Any:
        """Return what a function makes of some values of a column."""
        self.environment.spend(len(rows) + len(of))
        values = self.columns[column]
        arguments = [Array(len(rows), 1, [values[row] for row in rows])]
        if aggregate.relative:
            arguments.append(Array(len(of), 1, [values[row] for row in of]))
        try:
            result = self.environment.call(aggregate.function, arguments)
            if isinstance(result, Reference):
                result = self.environment.array(result)
        except Failure as failure:
            return failure.error
        if isinstance(result, Array) and result.rows == result.columns == 1:
            result = result.at(0, 0)
        return CALC if isinstance(result, Array | Lambda) else result

    def met(self, rows: Rows, members: frozenset[int]) -> Rows:
        """Return the rows that are among the members."""
        self.environment.spend(len(rows))
        return [row for row in rows if row in members]

    def cells(self, rows: Rows, of: Rows, aggregates: Sequence[Aggregation]) -> list[Any]:
        """Return the result's cells for one group under the given functions.

        No text where the group is empty.
        """
        if not rows:
            return [""] * (len(aggregates) * len(self.columns))
        return [
            self.value(aggregate, column, rows, of) for aggregate in aggregates for column in range(len(self.columns))
        ]

    def measure(self, place: int, rows: Rows, every: Rows) -> Any:
        """Return what a group is sorted by where the order names a column of values."""
        aggregates = self.aggregates if self.across else self.aggregates[:1]
        if place >= len(aggregates) * len(self.columns):
            raise Failure(VALUE)
        aggregate, column = divmod(place, len(self.columns))
        return self.value(aggregates[aggregate], column, rows, every)

    def blocks(self) -> list[tuple[list[Any], list[Aggregation]]]:
        """Return the rows of the result that one group takes.

        (name of the function, where it is shown; the functions).
        """
        if not self.several or self.across:
            return [([], self.aggregates)]
        return [([aggregate.name], [aggregate]) for aggregate in self.aggregates]


def _aggregates(functions: Array) -> list[Aggregation]:
    if functions.rows > 1 and functions.columns > 1:
        raise Failure(VALUE)
    aggregations: list[Aggregation] = []
    own = 0
    for cell in functions.cells():
        if isinstance(cell, Error):
            raise Failure(cell)
        if not isinstance(cell, Lambda):
            raise Failure(VALUE)
        builtin = getattr(cell.body, "name", None)
        own += builtin is None
        if builtin is None and len(cell.parameters) not in (1, 2):
            raise Failure(VALUE)
        relative = builtin == "PERCENTOF" if builtin else len(cell.parameters) == 2
        aggregations.append(Aggregation(builtin or f"CUSTOM{own}", cell, relative))
    return aggregations


# -- groups


def lines(axis: Axis, rows: Rows, data: Data) -> list[Line]:
    """Return the groups of an axis in order, with subtotals and the grand total."""
    if not axis.width:
        return [Line([], rows, rows)]
    if axis.table:
        groups = [Line(labels, members, rows) for labels, members in _groups(axis, rows, range(axis.width), data, rows)]
    else:
        groups = _nested(axis, rows, [], data, rows)
    if not axis.depth:
        return groups
    label = GRAND_TOTAL if abs(axis.depth) > 1 else TOTAL
    total = Line([label, *[""] * (axis.width - 1)], rows, rows)
    return [*groups, total] if axis.depth > 0 else [total, *groups]


def _nested(axis: Axis, rows: Rows, above: list[Any], data: Data, every: Rows) -> list[Line]:
    """Return the groups of one field, each followed (or led) by what is inside it."""
    level = len(above)
    lines_in_order: list[Line] = []
    for labels, members in _groups(axis, rows, range(level, level + 1), data, every):
        labels = above + labels
        if level == axis.width - 1:
            lines_in_order.append(Line(labels, members, rows))
            continue
        inside = _nested(axis, members, labels, data, every)
        if abs(axis.depth) >= level + 2:
            subtotal = Line([*labels, *[""] * (axis.width - level - 1)], members, rows)
            inside = [*inside, subtotal] if axis.depth > 0 else [subtotal, *inside]
        lines_in_order += inside
    return lines_in_order


def _groups(axis: Axis, rows: Rows, fields: Sequence[int], data: Data, every: Rows) -> list[tuple[list[Any], Rows]]:
    """Return (labels, rows) of the groups by some fields, in the axis' order, else by their labels."""
    seen: dict[tuple[Any, ...], tuple[list[Any], Rows]] = {}
    for row in rows:
        labels = [axis.keys[row][field] for field in fields]
        seen.setdefault(tuple(map(same_key, labels)), (labels, []))[1].append(row)
    groups = list(seen.values())
    by: list[tuple[list[Any], bool]] = []
    for order in axis.orders:
        field = abs(order) - 1
        if field >= axis.width:
            if axis.innermost and axis.width - 1 not in fields:
                continue
            by.append(([data.measure(field - axis.width, members, every) for _, members in groups], order < 0))
        elif field in fields:
            by.append(([labels[fields.index(field)] for labels, _ in groups], order < 0))
    by += [([labels[place] for labels, _ in groups], False) for place in range(len(fields))]
    return [groups[place] for place in sorted_places(by, len(groups))]


# -- arguments


def _fields(argument: Any) -> list[list[Any]]:
    """Return the rows of a field argument; none where it was left out."""
    return [] if argument is OMITTED else argument.grid()


def _has_headers(values: Array) -> bool:
    """Return text above a number: what Excel takes for a header when it is not told."""
    return values.rows > 1 and isinstance(values.at(0, 0), str) and isinstance(values.at(1, 0), float)


def _orders(argument: Any, width: int) -> list[int]:
    """Return the sort order, the field of the smallest number first.

    Several may name fields only.
    """
    if argument is OMITTED:
        return []
    orders = sorted((whole(value) for value in argument.cells()), key=abs)
    if 0 in orders or (len(orders) > 1 and abs(orders[-1]) > width):
        raise Failure(VALUE)
    return orders


def _depth(argument: Any, width: int, *, table: bool = False) -> int:
    depth = 1 if argument is OMITTED else int(argument)
    if abs(depth) > max(width, 1) or (table and abs(depth) > 1):
        raise Failure(VALUE)
    return depth


@dataclass(frozen=True, slots=True)
class Headers:
    """Whether the arguments begin with a header row, and whether the result shall."""

    is_there: bool
    shown: bool


def _headers(mode: Any, values: Array, levels: int) -> Headers:
    if mode is OMITTED:
        has_headers = _has_headers(values)
        return Headers(has_headers, has_headers and levels > 1)
    if mode not in (0, 1, 2, 3):
        raise Failure(VALUE)
    return Headers(mode in (1, 3), mode >= 2)


def _named(grid: list[list[Any]], headers: Headers, name: Callable[[int], str]) -> tuple[list[Any], list[list[Any]]]:
    """Return (names of the columns, rows below them) of an argument."""
    if not grid:
        return [], []
    if headers.is_there:
        return grid[0], grid[1:]
    return [name(place + 1) for place in range(len(grid[0]))], grid


def _filtered(argument: Any, headers: Headers, count: int) -> Rows:
    """Return the places that the filter (its first column) keeps.

    Raises Failure(VALUE) where none, or it does not fit.
    """
    rows = list(range(count))
    if argument is not OMITTED:
        if argument.rows != count + headers.is_there:
            raise Failure(VALUE)
        rows = [row for row in rows if flag(argument.at(row + headers.is_there, 0))]
    if not rows:
        raise Failure(VALUE)
    return rows


def _option(name: str, kind: Takes, description: str) -> Argument:
    """Return an argument that may be left out or empty, which differs from 0."""
    return Argument(name, kind, description, required=False, empty=OMITTED)


_FIELD_HEADERS: Final = _option("field_headers", Takes.INTEGER, "0 none, 1 given, 2 made up, 3 given and shown.")
_FILTER: Final = _option("filter_array", Takes.ARRAY, "TRUE for every row that counts.")
_FUNCTION: Final = Argument(
    "function", Takes.ARRAY, "What sums up: SUM, PERCENTOF, a LAMBDA, or several in a row or column."
)
_VALUES: Final = Argument("values", Takes.ARRAY, "The values to sum up, a column each.")


@function(
    "GROUPBY", "lookup", "Sums up values by the fields of their rows.",
    Argument("row_fields", Takes.ARRAY, "What to group by, a column each."), _VALUES, _FUNCTION, _FIELD_HEADERS,
    _option("total_depth", Takes.INTEGER, "0 no totals, 1 a total, 2 subtotals too; negative above."),
    _option("sort_order", Takes.ARRAY, "Which column to sort by; negative is descending."), _FILTER,
    Argument("field_relationship", Takes.INTEGER, "0 fields inside each other, 1 a table.", required=False, empty=0),
    environment=True,
    examples=(("=INDEX(GROUPBY(B1:B5,A1:A5,SUM),1,2)", 50.0), ("=INDEX(GROUPBY(B1:B5,A1:A5,SUM),5,1)", "Total")),
)  # fmt: skip
def groupby(  # noqa: PLR0913 - Excel's own signature
    environment: Environment,
    row_fields: Array,
    values: Array,
    functions: Array,
    mode: Any = OMITTED,
    depth: Any = OMITTED,
    order: Any = OMITTED,
    chosen: Any = OMITTED,
    relationship: int = 0,
) -> Array:
    if row_fields.rows != values.rows or relationship not in (0, 1):
        raise Failure(VALUE)
    headers = _headers(mode, values, row_fields.columns)
    names, keys = _named(row_fields.grid(), headers, lambda place: f"Row Field {place}")
    value_names, grid = _named(values.grid(), headers, lambda place: f"Value {place}")
    table = relationship == 1
    axis = Axis(names, keys, _depth(depth, len(names), table=table), _orders(order, len(names)), table)
    rows = _filtered(chosen, headers, len(grid))
    data = Data(environment, [list(column) for column in zip(*grid, strict=True)], value_names, functions)
    shown = [
        [*line.labels, *name, *data.cells(line.rows, rows, aggregates)]
        for line in lines(axis, rows, data)
        for name, aggregates in data.blocks()
    ]
    above: list[list[Any]] = []
    if data.several and data.across:
        above.append([""] * axis.width + _function_names(data))
    if headers.shown:
        above.append([*names, *_gap(data), *_value_names(data)])
    return _table(environment, above + shown)


def _gap(data: Data) -> list[Any]:
    """Return the place of the functions' names in a header, where these stand in a column."""
    return [""] if data.several and not data.across else []


def _function_names(data: Data) -> list[Any]:
    return [aggregate.name for aggregate in data.aggregates for _ in data.names]


def _value_names(data: Data) -> list[Any]:
    return data.names * (len(data.aggregates) if data.across else 1)


def _table(environment: Environment, grid: list[list[Any]]) -> Array:
    environment.spend(len(grid) * len(grid[0]))
    return Array(len(grid), len(grid[0]), [value for line in grid for value in line])


@function(
    "PIVOTBY", "lookup", "Sums up values by fields along the rows and along the columns.",
    Argument("row_fields", Takes.ARRAY, "What to group rows by, a column each.", empty=OMITTED),
    Argument("col_fields", Takes.ARRAY, "What to group columns by, a column each.", empty=OMITTED), _VALUES, _FUNCTION,
    _FIELD_HEADERS,
    _option("row_total_depth", Takes.INTEGER, "0 no totals, 1 a total, 2 subtotals too; negative above."),
    _option("row_sort_order", Takes.ARRAY, "Which column to sort rows by; negative is descending."),
    _option("col_total_depth", Takes.INTEGER, "The same for columns; negative to the left."),
    _option("col_sort_order", Takes.ARRAY, "What to sort columns by."), _FILTER,
    Argument(
        "relative_to", Takes.INTEGER, "Shares of 0 columns, 1 rows, 2 all, 3 parent columns, 4 parent rows.",
        required=False, empty=0,
    ),
    environment=True,
    examples=(
        ('=INDEX(PIVOTBY({"a";"a";"b"},{"x";"y";"x"},{1;2;4},SUM),4,4)', 7.0),
        ('=INDEX(PIVOTBY({"a";"a";"b"},{"x";"y";"x"},{1;2;4},SUM),1,3)', "y"),
    ),
)  # fmt: skip
def pivotby(  # noqa: PLR0913 - Excel's own signature
    environment: Environment,
    row_fields: Any,
    col_fields: Any,
    values: Array,
    functions: Array,
    mode: Any = OMITTED,
    row_depth: Any = OMITTED,
    row_order: Any = OMITTED,
    col_depth: Any = OMITTED,
    col_order: Any = OMITTED,
    chosen: Any = OMITTED,
    relative: int = 0,
) -> Array:
    fields = [argument for argument in (row_fields, col_fields) if argument is not OMITTED]
    if not fields or any(argument.rows != values.rows for argument in fields) or relative not in (0, 1, 2, 3, 4):
        raise Failure(VALUE)
    headers = _headers(mode, values, max(argument.columns for argument in fields))
    row_names, row_keys = _named(_fields(row_fields), headers, lambda place: f"Row Field {place}")
    col_names, col_keys = _named(_fields(col_fields), headers, lambda place: f"Column Field {place}")
    value_names, grid = _named(values.grid(), headers, lambda place: f"Value {place}")
    down, across = (
        Axis(names, keys, _depth(depth, len(names)), _orders(order, len(names)), innermost=True)
        for names, keys, depth, order in (
            (row_names, row_keys, row_depth, row_order),
            (col_names, col_keys, col_depth, col_order),
        )
    )
    rows = _filtered(chosen, headers, len(grid))
    data = Data(environment, [list(column) for column in zip(*grid, strict=True)], value_names, functions)
    row_lines, col_lines = lines(down, rows, data), lines(across, rows, data)
    blocks = data.blocks()
    environment.spend(len(row_lines) * len(blocks) * len(col_lines) * len(blocks[0][1]) * len(data.columns))
    shown = _crossed(row_lines, col_lines, rows, data, relative)
    return _table(environment, _above(down, across, col_lines, data, headers) + shown)


def _crossed(row_lines: list[Line], col_lines: list[Line], every: Rows, data: Data, relative: int) -> list[list[Any]]:
    """Return the body of a pivot: each row line crossed with each column line."""
    inside = [frozenset(line.rows) for line in col_lines]
    around = [frozenset(line.parent) for line in col_lines]
    shown: list[list[Any]] = []
    for line in row_lines:
        met = [data.met(line.rows, members) for members in inside]
        whole_of: list[Rows] = [
            column.rows
            if relative == 0
            else line.rows
            if relative == 1
            else every
            if relative == 2
            else data.met(line.rows, around[place])
            if relative == 3
            else data.met(line.parent, inside[place])
            for place, column in enumerate(col_lines)
        ]
        for name, aggregates in data.blocks():
            cells = [data.cells(rows, of, aggregates) for rows, of in zip(met, whole_of, strict=True)]
            shown.append([*line.labels, *name, *[cell for part in cells for cell in part]])
    return shown


def _above(down: Axis, across: Axis, col_lines: list[Line], data: Data, headers: Headers) -> list[list[Any]]:
    """Return the rows above a pivot's body.

    Field names, the columns' labels, functions' names, value names.
    """
    aggregates = len(data.aggregates) if data.across else 1
    span = aggregates * len(data.names)
    left = [""] * (down.width + len(_gap(data)))
    columns = span * len(col_lines)
    above: list[list[Any]] = []
    if headers.shown and across.width:
        above.append([*left, *(across.names + [""] * columns)[:columns]])
    above += [
        [*left, *[line.labels[level] for line in col_lines for _ in range(span)]] for level in range(across.width)
    ]
    if data.several and data.across:
        above.append([*left, *_function_names(data) * len(col_lines)])
    if headers.shown:
        above.append([*down.names, *_gap(data), *_value_names(data) * len(col_lines)])
    return above
