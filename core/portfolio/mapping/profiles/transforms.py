"""The operations of a mapping's transforms, as rows: parameters, types, effect.

Text is changed once for each distinct string, numbers as a whole column. Blanks stay blank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Mapping as Dict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, checkpoint, string_pool, text_cells
from core.portfolio.cells.patterns import pattern_fault, replace_matches, replacement_fault
from core.portfolio.cells.string_pool import BLANK, BOOLEAN, DATE, NUMBER, TEXT, Cells, bit, spread_out
from core.portfolio.cells.text.date_format import ISO, date_format, date_reader, reading_fault, writing_fault
from core.portfolio.cells.typed import NormalColumn, day_number
from core.portfolio.mapping.profiles.parameters import (
    Parameter,
    decimals_fault,
    divisor_fault,
    entries_fault,
    lookup_key,
    number_fault,
    text_fault,
)
from core.portfolio.model.fields import FieldType
from core.values import DAYS_BETWEEN_SYSTEMS, SERIAL_OF_1970

WHOLE_MIN: Final = 1e15
"""From this size on no decimal is left of the 15 digits that a spreadsheet keeps."""

TIE: Final = 2.0**-52
"""What a product of two doubles can miss a tie by, as a part of it: 2.675 times 100 is a hair below 267.5."""

Parameters = Dict[str, Any]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TransformedColumn:
    """A column after an operation, and the rows in which it did not do."""

    column: NormalColumn
    failed: Rows | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the table."""

    types: tuple[FieldType, ...]
    apply: Callable[[NormalColumn, Parameters], TransformedColumn]
    parameters: tuple[Parameter, ...] = ()
    fault: Callable[[dict[str, Any]], str | None] = lambda _parameters: None
    """What is wrong with parameters that are sound one by one."""
    failure: str = ""
    """What is said of a value that failed, to follow the field's name."""
    is_warning: bool = False
    """Whether such a row keeps its value and is only warned about; else it is in error."""
    is_first: bool = False
    """On a field that is not text it reads the cells, so it has to come before the others."""
    is_numeric: bool = False
    """It says the unit of a number, so that none is guessed."""


def apply_operation(operation: str, column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    """Return a column after one operation of `OPERATIONS`."""
    checkpoint.checkpoint()
    return OPERATIONS[operation].apply(column, parameters)


# ---- numbers -------------------------------------------------------------------------------------------------------


def _multiply(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    with np.errstate(over="ignore"):
        return _finite(column, column.values * parameters["factor"])


def _divide(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    with np.errstate(over="ignore"):
        return _finite(column, column.values / parameters["divisor"])


def _finite(column: NormalColumn, values: NDArray[np.float64]) -> TransformedColumn:
    infinite = np.isinf(values)
    if not infinite.any():
        return TransformedColumn(column.with_values(values))
    values[infinite] = np.nan
    return TransformedColumn(column.with_values(values), infinite)


def _round(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    return TransformedColumn(column.with_values(round_values(column.values, parameters["decimals"])))


def round_values(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Round as Excel does, ties away from zero: 2.5 is 3, -2.5 is -3, 2.675 is 2.68.

    A tie is what reads as one in decimal, although the double may be a little less.
    """
    scale = 10.0**decimals
    scaled = np.abs(values)
    with np.errstate(over="ignore"):
        scaled *= scale * (1.0 + TIE)
    is_whole = scaled >= WHOLE_MIN
    scaled += 0.5
    np.floor(scaled, out=scaled)
    scaled /= scale
    np.copysign(scaled, values, out=scaled)
    scaled += 0.0  # no negative zero
    return np.where(is_whole, values, scaled) if is_whole.any() else scaled


# ---- text ----------------------------------------------------------------------------------------------------------


def _uppercase(column: NormalColumn, _parameters: Parameters) -> TransformedColumn:
    return _recase(column, str.upper, ord("a"))


def _lowercase(column: NormalColumn, _parameters: Parameters) -> TransformedColumn:
    return _recase(column, str.lower, ord("A"))


def _recase(column: NormalColumn, recase: Callable[[str], str], first: int) -> TransformedColumn:
    """Change the case bit of ASCII letters at once, other text string by string."""
    text = column.text.text
    if (text.data < 0x80).all():
        letters = text.data - np.uint8(first) < 26
        return TransformedColumn(
            column.with_text(column.text.codes, Text(text.offsets, text.data ^ (letters * np.uint8(32))))
        )
    return TransformedColumn(_translate(column, [recase(string) for string in text.strings()]))


def _trim(column: NormalColumn, _parameters: Parameters) -> TransformedColumn:
    return TransformedColumn(_strip_pool(column, column.text.text))


def _replace(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    text, failed = replace_matches(parameters["pattern"], parameters["replacement"], column.text.text)
    if not failed.any():
        return TransformedColumn(_strip_pool(column, text))
    rows = spread_out(failed, False, column.text.codes)
    return TransformedColumn(_strip_pool(column, text, np.flatnonzero(~failed).astype(np.int32)), rows)


def _strip_pool(column: NormalColumn, text: Text, used: NDArray[np.int32] | None = None) -> NormalColumn:
    """Return the column with stripped strings of another pool, one for each of its.

    Of those, only the `used` ones where it is given: the others are blank, and nobody works on them any more.
    """
    kept = np.arange(len(text), dtype=np.int32) if used is None else used
    table, offsets, data = _parse.clean(text.offsets, text.data, kept, False, text_cells.is_distinct(text))
    if used is not None:
        codes, table = table, np.full(len(text), -1, np.int32)
        table[used] = codes
    return column.with_text(spread_out(table, -1, column.text.codes), Text(offsets, data))


def _translate(column: NormalColumn, strings: Iterable[str | None]) -> NormalColumn:
    """Return the column with another string, or None, for each of its pool's."""
    table, text = text_cells.pool_of([string or None for string in strings])
    return column.with_text(spread_out(table, -1, column.text.codes), text)


# ---- dates ---------------------------------------------------------------------------------------------------------


def _date_format(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    """Rewrite text by way of a date; a date field learns how to write."""
    output_format = parameters.get("output_format", ISO)
    if column.type == "date":
        return TransformedColumn(NormalColumn("date", column.values, date_format=output_format))
    reader, form = date_reader(parameters["input_format"]), date_format(output_format)
    strings = column.text.text.strings()
    moments = [reader.read(string) for string in checkpoint.with_checkpoints(strings)]
    bad = np.array([moment is None for moment in moments], np.bool_)
    written = [string if at is None else form.write(at) for string, at in zip(strings, moments, strict=True)]
    failed = spread_out(bad, False, column.text.codes) if bad.any() else None
    return TransformedColumn(_translate(column, written), failed)


# ---- lookups -------------------------------------------------------------------------------------------------------


def _meanings(parameters: Parameters) -> dict[str, Any]:
    return {lookup_key(name): meaning for name, meaning in parameters["mapping"].items()}


def _lookup(column: NormalColumn, parameters: Parameters) -> TransformedColumn:
    if column.type != "string":
        return TransformedColumn(column)  # its cells were looked up before they were read
    meanings = _meanings(parameters)
    strings = column.text.text.strings()
    keys = [lookup_key(string) for string in strings]
    unknown = np.array([key not in meanings for key in keys], np.bool_)
    failed = spread_out(unknown, False, column.text.codes) if unknown.any() else None
    translations = [meanings.get(key, old) for key, old in zip(keys, strings, strict=True)]
    return TransformedColumn(_translate(column, translations), failed)


def looked_up(cells: Cells, kind: FieldType, parameters: Parameters) -> Cells:
    """Return the lookup's values in place of what it knows; other cells stay."""
    meanings = _meanings(parameters)
    place_of = {name: place for place, name in enumerate(meanings)}
    which = np.full(len(cells.kinds), -1, np.int32)
    if cells.seen & bit(TEXT):
        local, used = _parse.distinct(cells.codes, len(cells.pool.text))
        places = [place_of.get(lookup_key(string), -1) for string in string_pool.decode(cells.pool.text, used)]
        which = spread_out(np.array(places, np.int32), -1, local)
    if cells.seen & bit(NUMBER):
        figures, own = np.unique(np.where(cells.kinds == NUMBER, cells.numbers, np.nan), return_inverse=True)
        places = [place_of.get(text_cells.plain(figure), -1) for figure in figures.tolist()]
        which = np.where(cells.kinds == NUMBER, np.array(places, np.int32)[own], which)
    if cells.seen & bit(BOOLEAN):
        flag_places = np.array([place_of.get("false", -1), place_of.get("true", -1)], np.int32)
        which = np.where(cells.kinds == BOOLEAN, flag_places[(cells.numbers != 0).astype(np.intp)], which)
    known = which >= 0
    kinds, numbers = _as_cells(meanings.values(), kind, date_1904=cells.pool.date_1904)
    return Cells(
        np.where(known, kinds[which], cells.kinds),
        np.where(known, numbers[which], cells.numbers),
        np.where(known, np.int32(-1), cells.codes),
        np.where(known, np.uint16(0), cells.formats),
        cells.pool,
    )


def _as_cells(
    meanings: Iterable[Any], kind: FieldType, *, date_1904: bool
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the kind and the number that a cell of each meaning has."""
    own = {"number": NUMBER, "boolean": BOOLEAN, "date": DATE}[kind]
    shift = SERIAL_OF_1970 - (DAYS_BETWEEN_SYSTEMS if date_1904 else 0)
    kinds = [BLANK if meaning is None else own for meaning in meanings]
    numbers = [
        0.0 if meaning is None else day_number(meaning) + shift if kind == "date" else float(meaning)
        for meaning in meanings
    ]
    return np.array(kinds, np.uint8), np.array(numbers, np.float64)


_TEXT: Final[tuple[FieldType, ...]] = ("string",)
_NUMBER: Final[tuple[FieldType, ...]] = ("number",)

OPERATIONS: Final = {
    "multiply": Operation(
        _NUMBER,
        _multiply,
        (Parameter("factor", number_fault),),
        failure="times its factor is not a finite number",
        is_numeric=True,
    ),
    "divide": Operation(
        _NUMBER,
        _divide,
        (Parameter("divisor", divisor_fault),),
        failure="over its divisor is not a finite number",
        is_numeric=True,
    ),
    "round": Operation(_NUMBER, _round, (Parameter("decimals", decimals_fault),), is_numeric=True),
    "uppercase": Operation(_TEXT, _uppercase),
    "lowercase": Operation(_TEXT, _lowercase),
    "trim": Operation(_TEXT, _trim),
    "replace": Operation(
        _TEXT,
        _replace,
        (Parameter("pattern", pattern_fault), Parameter("replacement", text_fault)),
        replacement_fault,
        "is too long to replace in, or after replacing",
    ),
    "date_format": Operation(
        ("string", "date"),
        _date_format,
        (Parameter("input_format", reading_fault), Parameter("output_format", writing_fault, required=False)),
        failure="is no date of the input format",
        is_first=True,
    ),
    "lookup": Operation(
        ("string", "number", "date", "boolean"),
        _lookup,
        (Parameter("mapping", entries_fault),),
        failure="is not in the lookup",
        is_warning=True,
        is_first=True,
    ),
}
"""Every operation by its name."""
