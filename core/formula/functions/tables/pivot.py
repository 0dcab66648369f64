"""GETPIVOTDATA: a figure of a pivot table, by what it is about."""

from __future__ import annotations

from typing import Any

from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.ranges.environment import Environment
from core.formula.values.coerce import general
from core.formula.values.numerals import read_number
from core.formula.values.value import REF, Error, Reference
from core.grid.pivot import ANY_DATA, Pivot, PivotAxis, PivotField

Wanted = dict[int, int]
"""The items that are asked for, by their field's place in the pivot table."""


@function(
    "GETPIVOTDATA", "lookup", "Gives a figure that a pivot table shows, as it was saved.",
    Argument("data_field", Takes.TEXT, "The name of the data field, or of the column that it sums up."),
    Argument("pivot_table", Takes.OPERAND, "A cell of the pivot table."),
    Argument("field", Takes.TEXT, "A field along its rows or columns, or in its filter.", required=False, repeats=True),
    Argument("item", Takes.VALUE, "The item of that field.", required=False, repeats=True),
    environment=True,
    examples=(('=GETPIVOTDATA("Sales",A1)', REF),),
)  # fmt: skip
def getpivotdata(environment: Environment, data_field: str, table: Any, *asked: Any) -> Any:
    if not isinstance(table, Reference):
        return table if isinstance(table, Error) else REF
    pivot = environment.pivot(table)
    if pivot is None:
        return REF
    environment.spend(len(pivot.data) + len(pivot.fields) + len(pivot.pages))
    data = _data_field(pivot, data_field)
    if data is None or len(asked) % 2:
        return REF
    wanted = _wanted(pivot, asked, environment.date_1904)
    if wanted is None:
        return REF
    axes_lines = [_lines(environment, axis, data, wanted) for axis in (pivot.rows, pivot.columns)]
    named = sum(field in wanted for axis in (pivot.rows, pivot.columns) for field in axis.fields)
    if not all(axes_lines) or named < len(wanted):
        return REF
    for row in axes_lines[0]:
        environment.spend(len(axes_lines[1]))
        for column in axes_lines[1]:
            value = environment.pivot_value(pivot, pivot.data_row + row, pivot.data_column + column)
            if value is not None:
                return value
    return 0.0  # both are listed, and there is nothing where they meet


def _data_field(pivot: Pivot, name: str) -> int | None:
    """Return the place of a data field, by its own name or its column's."""
    key = name.lower()
    for names in ([own for own, _ in pivot.data], [source for _, source in pivot.data]):
        folded = [each.lower() for each in names]
        for keys in (folded, [each.strip() for each in folded]):
            if key in keys:
                return keys.index(key)
    return None


def _wanted(pivot: Pivot, asked: tuple[Any, ...], date_1904: bool) -> Wanted | None:
    """Return what is asked of rows and columns; None if the pivot lacks it."""
    wanted: Wanted = {}
    names = {field.source.lower(): at for at, field in enumerate(pivot.fields)}
    names |= {field.name.lower(): at for at, field in enumerate(pivot.fields)}
    for name, item in zip(asked[::2], asked[1::2], strict=True):
        field = names.get(name.lower())
        number = None if field is None else _item(pivot.fields[field], item, date_1904)
        if field is None or number is None or wanted.setdefault(field, number) != number:
            return None
    for field, shown in pivot.pages:
        if wanted.pop(field, shown) != shown:
            return None
    return wanted


def _item(field: PivotField, value: Any, date_1904: bool) -> int | None:
    """Return the number of the item that a value names.

    As a text, or as the number that it is or spells.
    """
    names = field.item_by_name
    if isinstance(value, bool):
        return names.get("true" if value else "false")
    if isinstance(value, float):
        return names.get(value, names.get(general(value).lower()))
    text = "" if value is None else str(value)
    known_item = names.get(text.lower())
    if known_item is None:
        number = read_number(text, date_1904)
        known_item = None if number is None else names.get(number)
    return known_item


def _lines(environment: Environment, axis: PivotAxis, data: int, wanted: Wanted) -> tuple[int, ...]:
    """Return the rows, or columns, of a data field with the items that are asked for.

    The items of outer fields may be left out where the others tell which they are.
    """
    own = {place: wanted[field] for place, field in enumerate(axis.fields) if field in wanted}
    depth = max(own, default=-1) + 1
    if len(own) == depth:
        items = tuple(own[place] for place in range(depth))
        return axis.places.get((data, *items), ()) or axis.places.get((ANY_DATA, *items), ())
    environment.spend(len(axis.places) * len(own))
    fitting = [
        line
        for line in axis.places
        if len(line) == depth + 1
        and line[0] in (data, ANY_DATA)
        and all(line[place + 1] == item for place, item in own.items())
    ]
    return axis.places[fitting[0]] if len(fitting) == 1 else ()
