"""A pivot table as its file shows it.

Where it stands, what its rows and columns are about, where each figure is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.frames.brief import brief
from core.grid.address import COLUMNS_MAX, ROWS_MAX

Name = str | float
"""What a field's item is called: a text, or a number (a date's serial)."""

Line = tuple[int, ...]
"""A row or column of figures: the data field that it shows (ANY_DATA: the other axis says), then an item for each field
from the outermost on. A total of some fields has no more items than these; the grand total has none."""

NAME_CHARACTERS = 256
"""Longest name that Excel gives an item or field."""

ANY_DATA = -1
ANY_ITEM = -1


@dataclass(frozen=True)
class PivotField:
    """A field along the rows or columns, or in the filter, of a pivot table."""

    name: str
    source: str
    """The heading of the column that it was made from."""
    items: tuple[tuple[Name, ...], ...]
    """By an item's number, what it may be called."""

    __repr__ = brief

    @cached_property
    def item_by_name(self) -> dict[Name, int]:
        """An item's number by its names, texts without case; the first of equal ones."""
        numbers: dict[Name, int] = {}
        for number, names in enumerate(self.items):
            for name in names:
                numbers.setdefault(name.lower() if isinstance(name, str) else name, number)
        return numbers


@dataclass(frozen=True)
class PivotAxis:
    """What the rows, or the columns, of a pivot table are about."""

    fields: tuple[int, ...] = ()
    """Places in `Pivot.fields`, outermost first."""
    lines: tuple[Line | None, ...] = ()
    """For each row or column of figures from the first on; None for one that cannot be asked for."""

    __repr__ = brief

    @cached_property
    def places(self) -> dict[Line, tuple[int, ...]]:
        """Which rows or columns a line is, counted from the first with figures."""
        places_by_line: dict[Line, list[int]] = {}
        for place, line in enumerate(self.lines):
            if line is not None:
                places_by_line.setdefault(line, []).append(place)
        return {line: tuple(places) for line, places in places_by_line.items()}


@dataclass(frozen=True)
class Pivot:
    """A pivot table, places 0-based. Its figures are the cells of its sheet."""

    name: str
    sheet: str
    first_row: int
    first_column: int
    last_row: int
    last_column: int
    data_row: int
    """The first row with figures."""
    data_column: int
    page_rows: int
    """Rows above the first that belong to it: the filters, and the blank row below them."""
    data: tuple[tuple[str, str], ...]
    """The name of each data field, and the heading of the column that it sums up."""
    fields: tuple[PivotField, ...] = ()
    rows: PivotAxis = PivotAxis()
    columns: PivotAxis = PivotAxis()
    pages: tuple[tuple[int, int], ...] = ()
    """The filters: a place in `fields`, and the item that is shown (ANY_ITEM: all)."""

    __repr__ = brief

    @property
    def size(self) -> int:
        """How much there is to keep of it.

        Items, and rows and columns with what each repeats; a long name counts once for every NAME_CHARACTERS begun,
        since it is written for each item that bears it.
        """
        lines = sum(len(line or (0,)) for axis in (self.rows, self.columns) for line in axis.lines)
        names = [name for pair in self.data for name in pair]
        names += [name for field in self.fields for name in (field.name, field.source)]
        items = [name for field in self.fields for called in field.items for name in called or ("",)]
        long = (1 + len(name) // NAME_CHARACTERS if isinstance(name, str) else 1 for name in (*names, *items))
        return lines + len(self.pages) + sum(long)

    def covers(self, top: int, left: int, bottom: int, right: int) -> bool:
        """Return whether one of its cells is in a rectangle."""
        return (
            top <= self.last_row
            and bottom >= self.first_row - self.page_rows
            and left <= self.last_column
            and right >= self.first_column
        )


def pivot_of(document: dict[str, Any]) -> Pivot:
    """Return the pivot table of what `dataclasses.asdict` gave, as JSON keeps it.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    fields = tuple(
        PivotField(
            _text(field["name"]), _text(field["source"]), tuple(tuple(map(_name, names)) for names in field["items"])
        )
        for field in document["fields"]
    )
    places = {
        key: _count(document[key])
        for key in ("first_row", "first_column", "last_row", "last_column", "data_row", "data_column", "page_rows")
    }
    if places["last_row"] >= ROWS_MAX or places["last_column"] >= COLUMNS_MAX:
        raise ValueError("a pivot table outside its sheet")
    pages = tuple((_place(field, fields), _number(item)) for field, item in document["pages"])
    return Pivot(
        name=_text(document["name"]),
        sheet=_text(document["sheet"]),
        **places,
        data=tuple((_text(name), _text(source)) for name, source in document["data"]),
        fields=fields,
        rows=_axis(document["rows"], fields),
        columns=_axis(document["columns"], fields),
        pages=pages,
    )


def _axis(document: dict[str, Any], fields: tuple[PivotField, ...]) -> PivotAxis:
    lines = tuple(None if line is None else tuple(map(_number, line)) for line in document["lines"])
    return PivotAxis(tuple(_place(field, fields) for field in document["fields"]), lines)


def _place(value: Any, within: Iterable[Any]) -> int:
    if _count(value) >= len(tuple(within)):
        raise ValueError("a field that the pivot table has not")
    return int(value)


def _count(value: Any) -> int:
    if _number(value) < 0:
        raise ValueError("a negative place")
    return int(value)


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("no whole number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _name(value: Any) -> Name:
    return value if isinstance(value, float) else _text(value)
