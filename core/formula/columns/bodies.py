"""Lookups and conditional sums for a whole column of rows at once.

What a filled-down formula runs on.

A body here takes the environment and its arguments as they stand: a single value, an Array that is the same for all
rows, or a Span of values that differ by row. It returns the Span of the answers, or None where it has no way for such
arguments: then the rows are computed one by one. Codes of texts are those of the pool that the arrays share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.formula.functions.tables.conditional import count, greatest, least, mean, ranges_one, total
from core.formula.ranges.environment import Environment
from core.formula.ranges.index import Groups, Vector, groups_of, take
from core.formula.ranges.tally import Tally, ranges_many, tally, tally_group
from core.formula.values.coerce import to_logical, to_number
from core.formula.values.criteria import Criterion
from core.formula.values.value import OMITTED, REF, VALUE, Array, Error, Failure, Span, TextPool
from core.values import Kind

ColumnBody = Callable[[Environment, list[Any]], Span | None]


class NotColumnar(Exception):
    """A formula, its arguments, or what it met are not for whole columns."""


def constant(value: Error | float, rows: int) -> Span:
    """Return a span of one number or error again and again."""
    kind, number = (Kind.ERROR, value.code) if isinstance(value, Error) else (Kind.NUMBER, value)
    return Span(np.full(rows, kind, np.uint8), np.full(rows, number, np.float64), np.full(rows, -1, np.int32))


def numbers_span(positions: NDArray[np.int32]) -> Span:
    """Return places counted from 1; -1 is #N/A, -2 - code an error."""
    missing = positions < 0
    numbers = np.where(missing, np.where(positions == -1, 6.0, -2.0 - positions), positions + 1.0)
    kinds = np.where(missing, Kind.ERROR, Kind.NUMBER).astype(np.uint8)
    return Span(kinds, numbers, np.full(len(positions), -1, np.int32))


def array_with_pool(value: Any) -> Array:
    """Return an argument that is an array of columns."""
    if isinstance(value, Array) and value.spans is not None and value.pool is not None:
        return value
    raise NotColumnar


def single(value: Any, default: Any = None) -> Any:
    """Return an argument that is the same for all rows and no array.

    The default where it was left out.
    """
    if value is OMITTED:
        return default
    if isinstance(value, Span | Array | Error):
        raise NotColumnar
    return value


def number_of(value: Any, default: float) -> float:
    """Return a fixed numeric argument."""
    number = to_number(single(value, default))
    if isinstance(number, Error):
        raise NotColumnar
    return number


def argument_at(arguments: list[Any], place: int) -> Any:
    """Return an argument, OMITTED where the call has not so many."""
    return arguments[place] if place < len(arguments) else OMITTED


def keys_of(value: Any) -> Span:
    """Return the argument that differs by row."""
    if not isinstance(value, Span):
        raise NotColumnar
    return value


def exact_positions(
    environment: Environment,
    keys: Span,
    array: Array,
    row: bool,
    *,
    wild: bool,
    legacy: bool = True,
    last: bool = False,
) -> NDArray[np.int32]:
    """Return the rows of the exact matches in the first column (or row) of an array."""
    rows = len(keys.kinds)
    environment.spend(rows)
    groups = groups_of(environment, array, 0, row, rows) or Groups(Vector(array, 0, row))
    return groups.positions(environment, keys, array.pool or TextPool(), wild, legacy, last)


def sorted_positions(environment: Environment, keys: Span, array: Array, row: bool, falling: bool) -> NDArray[np.int32]:
    """Return the rows that a search in sorted data ends at."""
    return Vector(array, 0, row).positions(environment, keys, array.pool or TextPool(), falling)


def look_up(environment: Environment, arguments: list[Any], row: bool) -> Span:
    """VLOOKUP, and with `row` HLOOKUP."""
    keys, array = keys_of(arguments[0]), array_with_pool(arguments[1])
    number = int(number_of(arguments[2], 0.0))
    sorted_ = to_logical(single(argument_at(arguments, 3), True))
    if isinstance(sorted_, Error) or not 1 <= number <= (array.rows if row else array.columns):
        raise NotColumnar
    if sorted_:
        positions = sorted_positions(environment, keys, array, row, falling=False)
    else:
        positions = exact_positions(environment, keys, array, row, wild=True)
    return take(Vector(array, number - 1, row).span(), positions)


def vlookup(environment: Environment, arguments: list[Any]) -> Span:
    return look_up(environment, arguments, row=False)


def hlookup(environment: Environment, arguments: list[Any]) -> Span:
    return look_up(environment, arguments, row=True)


def match(environment: Environment, arguments: list[Any]) -> Span:
    keys, array = keys_of(arguments[0]), array_with_pool(arguments[1])
    kind = number_of(argument_at(arguments, 2), 1.0)
    if array.rows > 1 and array.columns > 1:
        raise NotColumnar
    across = array.columns > 1
    if kind == 0:
        return numbers_span(exact_positions(environment, keys, array, across, wild=True))
    return numbers_span(sorted_positions(environment, keys, array, across, kind < 0))


def place(environment: Environment, arguments: list[Any], modes: int) -> NDArray[np.int32]:
    """Return the places that XMATCH and XLOOKUP find by an exact match.

    `modes` is where their match_mode stands.
    """
    keys, array = keys_of(arguments[0]), array_with_pool(arguments[1])
    mode, search = number_of(argument_at(arguments, modes), 0.0), number_of(argument_at(arguments, modes + 1), 1.0)
    if mode not in (0, 2) or search not in (1, -1) or (array.rows > 1 and array.columns > 1):
        raise NotColumnar
    if array.reference is not None and array.rows < array.reference.rows and np.any(keys.kinds == Kind.BLANK):
        raise NotColumnar  # the first blank cell may stand below those in use
    return exact_positions(environment, keys, array, array.columns > 1, wild=mode == 2, legacy=False, last=search < 0)


def xmatch(environment: Environment, arguments: list[Any]) -> Span:
    return numbers_span(place(environment, arguments, 2))


def xlookup(environment: Environment, arguments: list[Any]) -> Span:
    results, array = array_with_pool(arguments[2]), array_with_pool(arguments[1])
    if results.columns != 1 or array.columns != 1 or results.rows != array.rows:
        raise NotColumnar
    absent = single(argument_at(arguments, 3), OMITTED)
    positions = place(environment, arguments, 4)
    answer = take(Vector(results, 0).span(), positions)
    if absent is OMITTED:
        return answer
    missing = positions == -1
    cell = Vector(Array(1, 1, [absent]), 0).span()
    code = results.pool.intern(absent) if isinstance(absent, str) and results.pool is not None else -1
    answer.kinds[missing], answer.numbers[missing], answer.codes[missing] = cell.kinds[0], cell.numbers[0], code
    return answer


def offsets(value: Any, size: int, rows: int) -> NDArray[np.int32]:
    """INDEX's row or column numbers as places from 0; -2 - code for what is no place.

    A 0 (all) is not columnar.
    """
    if not isinstance(value, Span):
        value = constant(number_of(value, 0.0), rows)
    kinds = value.kinds
    if np.any(kinds == Kind.TEXT):
        raise NotColumnar
    numbers = np.trunc(np.clip(np.where(kinds == Kind.ERROR, 1.0, value.numbers), -1.0, 2.0**30))
    if size > 1 and np.any(numbers == 0):
        raise NotColumnar
    places = np.maximum(numbers, 1.0 if size == 1 else 0.0).astype(np.int32) - 1
    places[numbers > size] = -2 - REF.code
    places[numbers < 0] = -2 - VALUE.code
    errors = kinds == Kind.ERROR
    places[errors] = (-2 - value.numbers[errors]).astype(np.int32)
    shifted: NDArray[np.int32] = places
    return shifted


def index(environment: Environment, arguments: list[Any]) -> Span:
    array = array_with_pool(arguments[0])
    spans = [argument for argument in arguments[1:] if isinstance(argument, Span)]
    if len(arguments) > 3 or not spans:
        raise NotColumnar
    rows = len(spans[0].kinds)
    environment.spend(rows)
    if len(arguments) == 2:
        if array.rows > 1 and array.columns > 1:
            raise NotColumnar
        across = array.columns > 1
        return take(
            Vector(array, 0, across).span(), offsets(arguments[1], array.columns if across else array.rows, rows)
        )
    column = arguments[2]
    if isinstance(column, Span):
        if array.rows > 1:
            raise NotColumnar
        down = offsets(arguments[1], 1, rows)
        places = offsets(column, array.columns, rows)
        return take(Vector(array, 0, True).span(), np.where(down < 0, down, places).astype(np.int32))
    number = int(number_of(column, 0.0))
    if not 1 <= number <= array.columns:
        raise NotColumnar
    return take(Vector(array, number - 1).span(), offsets(arguments[1], array.rows, rows))


def tallied(
    environment: Environment,
    ranges: list[Array],
    values: Array | None,
    criteria: list[Any],
    answer: Callable[[Tally], float | Error],
) -> Span:
    """Return one answer a row: each distinct combination of criteria is tallied once."""
    pools = [array.pool for array in ranges if array.pool is not None]
    spans = [criterion for criterion in criteria if isinstance(criterion, Span)]
    if not spans or any(isinstance(criterion, Array) for criterion in criteria):
        raise NotColumnar
    rows = len(spans[0].kinds)
    asked = by_group(environment, ranges, values, criteria, answer) if pools else None
    columns = []
    for criterion in criteria:
        if not isinstance(criterion, Span):
            columns.append([None if criterion is OMITTED else criterion] * rows)
        elif not pools and np.any(criterion.kinds == Kind.TEXT):
            raise NotColumnar
        else:
            columns.append(Array(rows, 1, spans=(criterion,), pool=pools[0] if pools else TextPool()).cells())
    answers: dict[Any, float | Error] = {}
    kinds, numbers = np.full(rows, Kind.NUMBER, np.uint8), np.empty(rows)
    for row, wanted in enumerate(zip(*columns, strict=True)):
        value = None if asked is None else asked[row]
        if value is None:
            key = tuple([(value.__class__, value) for value in wanted])
            value = answers.get(key)
            if value is None:
                value = answers[key] = tally_one(environment, ranges, values, wanted, answer, rows)
        if isinstance(value, Error):
            kinds[row], numbers[row] = Kind.ERROR, value.code
        else:
            numbers[row] = value
    return Span(kinds, numbers, np.full(rows, -1, np.int32))


def by_group(
    environment: Environment,
    ranges: list[Array],
    values: Array | None,
    criteria: list[Any],
    answer: Callable[[Tally], float | Error],
) -> list[float | Error | None] | None:
    """Return the answers of one criterion that a group of equal cells gives.

    None in a row that it does not, or for all.
    """
    array, criterion = ranges[0], criteria[0]
    if len(ranges) > 1 or array.columns > 1 or not isinstance(criterion, Span):
        return None
    groups = groups_of(environment, array, 0, False, len(criterion.kinds))
    if groups is None or array.pool is None:
        return None
    asked = groups.asked(criterion, array.pool, environment.date_1904)
    environment.spend(len(asked))
    distinct, places = np.unique(asked, return_inverse=True)
    answers = [
        None if group == -2 else answer(tally_group(environment, groups, array, values, group))
        for group in distinct.tolist()
    ]
    return [answers[place] for place in places.tolist()]


def tally_one(
    environment: Environment,
    ranges: list[Array],
    values: Array | None,
    wanted: tuple[Any, ...],
    answer: Callable[[Tally], float | Error],
    uses: int,
) -> float | Error:
    """Return the answer of one row."""
    try:
        criteria = [Criterion(value, date_1904=environment.date_1904) for value in wanted]
        return answer(tally(environment, ranges, criteria, values, uses))
    except Failure as failure:
        return failure.error


def with_one(answer: Callable[[Tally], float | Error]) -> ColumnBody:
    """Return the body of SUMIF, AVERAGEIF and COUNTIF."""

    def body(environment: Environment, arguments: list[Any]) -> Span:
        values = argument_at(arguments, 2)
        tested, numbers = ranges_one(environment, arguments[0], None if values is OMITTED else values)
        return tallied(environment, [tested], None if answer is count else numbers, [arguments[1]], answer)

    return body


def with_many(answer: Callable[[Tally], float | Error]) -> ColumnBody:
    """Return the body of the functions with many criteria.

    The values come first, but COUNTIFS has none.
    """

    def body(environment: Environment, arguments: list[Any]) -> Span:
        first = 0 if answer is count else 1
        pairs = arguments[first:]
        if len(pairs) % 2:
            raise NotColumnar
        tested, numbers = ranges_many(arguments[0] if first else None, tuple(pairs[::2]))
        return tallied(environment, tested, numbers, pairs[1::2], answer)

    return body


def guarded(body: ColumnBody) -> ColumnBody:
    """Return a body that answers None instead of raising."""

    def run(environment: Environment, arguments: list[Any]) -> Span | None:
        try:
            return body(environment, arguments)
        except (NotColumnar, Failure):
            return None

    return run


COLUMN_BODIES: Final[dict[str, ColumnBody]] = {
    name: guarded(body)
    for name, body in (
        ("VLOOKUP", vlookup), ("HLOOKUP", hlookup), ("MATCH", match), ("XMATCH", xmatch), ("XLOOKUP", xlookup),
        ("INDEX", index), ("SUMIF", with_one(total)), ("COUNTIF", with_one(count)), ("AVERAGEIF", with_one(mean)),
        ("SUMIFS", with_many(total)), ("COUNTIFS", with_many(count)), ("AVERAGEIFS", with_many(mean)),
        ("MINIFS", with_many(least)), ("MAXIFS", with_many(greatest)),
    )
}  # fmt: skip
"""The bodies by function."""
