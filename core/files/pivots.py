"""The pivot tables of an .xlsx file.

Their definitions, and the items that their caches list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from core.files.errors import ParseFailed
from core.files.limits import PIVOT_ITEMS_MAX
from core.files.parts import Attributes, parse_part
from core.grid.address import parse_range
from core.grid.pivot import ANY_DATA, ANY_ITEM, Line, Name, Pivot, PivotAxis, PivotField

_DATA: Final = -2
"""The place of the data fields themselves on an axis, as the file numbers it."""

_BLANK: Final = "(blank)"
_FIRST_OF_CLOCK: Final = frozenset({"hours", "minutes", "seconds"})
"""Groups by the clock, which begin with 0; days, months and quarters begin with 1."""
_COUNTED: Final = frozenset({"days", "months", "quarters"}) | _FIRST_OF_CLOCK
_RANGE: Final = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)-")
"""The text of a group of numbers, as 10-19."""


@dataclass(slots=True)
class PivotPart:
    """What the definition of a pivot table says."""

    name: str = ""
    range: str = ""
    first_data_row: int = 0
    first_data_column: int = 0
    page_rows: int = 0
    fields: list[_Field] = field(default_factory=list)
    rows: _Axis = field(default_factory=lambda: _Axis())
    columns: _Axis = field(default_factory=lambda: _Axis())
    pages: list[tuple[int, int]] = field(default_factory=list)
    data: list[tuple[str, int]] = field(default_factory=list)

    @property
    def used(self) -> set[int]:
        """The fields whose items can be asked for, by their place in the cache."""
        axes = {place for axis in (self.rows, self.columns) for place in axis.fields if place != _DATA}
        return axes | {place for place, _ in self.pages}


@dataclass(slots=True)
class _Field:
    name: str
    totals: bool
    """The row that begins an item shows the item's total, too."""
    items: list[tuple[str, int]] = field(default_factory=list)
    """For each item its own caption, and its place among the items of the cache (-1: a total)."""
    closed: set[int] = field(default_factory=set)
    """Items that are shown without what is inside them."""


@dataclass(slots=True)
class _Axis:
    fields: list[int] = field(default_factory=list)
    lines: list[Line | None] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    """The items of the line before, which the next one may repeat."""
    data_at: int | None = None
    """Where among the fields the data fields themselves stand."""


@dataclass(slots=True)
class PivotCache:
    """What the cache of a pivot table says of its fields."""

    names: list[str] = field(default_factory=list)
    items: dict[int, list[tuple[Name, ...]]] = field(default_factory=dict)
    """By the field's place, what each item is called; of those that were asked for."""


def parse_pivot_table(data: bytes) -> PivotPart:
    """Return the definition of a pivot table.

    Raises:
        ParseFailed: not well-formed, or past a limit.
    """
    reader = _PivotReader()
    parse_part(data, "A pivot table", reader.start, end=reader.end)
    return reader.part


class _PivotReader:
    """The elements of a pivot table's definition, in order."""

    def __init__(self) -> None:
        self.part = PivotPart()
        self._inside: list[str] = []
        self._line: Attributes | None = None
        self._items: list[int] = []
        self._count = 0

    def start(self, name: str, attributes: Attributes) -> None:
        parent = self._inside[-1] if self._inside else ""
        self._inside.append(name)
        self._count += name in _COUNTED_ELEMENTS
        if self._count > PIVOT_ITEMS_MAX:
            raise ParseFailed(f"A pivot table has more items than the limit of {PIVOT_ITEMS_MAX:,}.")
        read = _PIVOT_ELEMENTS.get((parent, name))
        if read is not None:
            read(self, attributes)

    def end(self, name: str) -> None:
        self._inside.pop()
        if name == "i" and self._line is not None and self._inside and self._inside[-1] in ("rowItems", "colItems"):
            axis = self.part.rows if self._inside[-1] == "rowItems" else self.part.columns
            axis.lines.append(_line(axis, self._line, self._items, self.part.fields))
            self._line = None
            self._count += len(axis.above)  # an item that repeats takes its place again

    def _read_name(self, attributes: Attributes) -> None:
        self.part.name = attributes.get("name", "")

    def _read_location(self, attributes: Attributes) -> None:
        part = self.part
        part.range = attributes.get("ref", "")
        part.first_data_row = _whole(attributes, "firstDataRow")
        part.first_data_column = _whole(attributes, "firstDataCol")
        pages = _whole(attributes, "rowPageCount")
        part.page_rows = pages + 1 if pages else 0

    def _read_field(self, attributes: Attributes) -> None:
        totals = all(_flag(attributes, name) for name in ("outline", "subtotalTop", "defaultSubtotal"))
        self.part.fields.append(_Field(attributes.get("name", ""), totals))

    def _read_item(self, attributes: Attributes) -> None:
        if not self.part.fields:
            return
        place = -1 if attributes.get("t", "data") != "data" else _whole(attributes, "x", -1)
        last = self.part.fields[-1]
        if not _flag(attributes, "sd"):
            last.closed.add(len(last.items))
        last.items.append((attributes.get("n", ""), place))

    def _read_axis_field(self, attributes: Attributes) -> None:
        axis = self.part.rows if self._inside[-2] == "rowFields" else self.part.columns
        if _whole(attributes, "x") == _DATA and axis.data_at is None:
            axis.data_at = len(axis.fields)
        axis.fields.append(_whole(attributes, "x"))

    def _read_page_field(self, attributes: Attributes) -> None:
        self.part.pages.append((_whole(attributes, "fld", -1), _whole(attributes, "item", ANY_ITEM)))

    def _read_data_field(self, attributes: Attributes) -> None:
        self.part.data.append((attributes.get("name", ""), _whole(attributes, "fld", -1)))

    def _begin_line(self, attributes: Attributes) -> None:
        self._line, self._items = attributes, []

    def _read_line_item(self, attributes: Attributes) -> None:
        self._items.append(_whole(attributes, "v"))


_COUNTED_ELEMENTS: Final = frozenset(("item", "i", "x", "field", "pageField", "dataField", "pivotField"))
_PIVOT_ELEMENTS: Final[dict[tuple[str, str], Callable[[_PivotReader, Attributes], None]]] = {
    ("", "pivotTableDefinition"): _PivotReader._read_name,
    ("pivotTableDefinition", "location"): _PivotReader._read_location,
    ("pivotFields", "pivotField"): _PivotReader._read_field,
    ("items", "item"): _PivotReader._read_item,
    ("rowFields", "field"): _PivotReader._read_axis_field,
    ("colFields", "field"): _PivotReader._read_axis_field,
    ("pageFields", "pageField"): _PivotReader._read_page_field,
    ("dataFields", "dataField"): _PivotReader._read_data_field,
    ("rowItems", "i"): _PivotReader._begin_line,
    ("colItems", "i"): _PivotReader._begin_line,
    ("i", "x"): _PivotReader._read_line_item,
}
"""What is read of an element, by its parent and its own name."""


def _line(axis: _Axis, attributes: Attributes, items: list[int], fields: list[_Field]) -> Line | None:
    """Return a row or column of figures.

    None for one without, and for a subtotal by a function of its own.
    """
    kind, data = attributes.get("t", "data"), _whole(attributes, "i")
    has_data = axis.data_at is not None
    if kind == "grand":
        return (data if has_data else ANY_DATA,)
    axis.above[_whole(attributes, "r") :] = items
    if kind not in ("data", "default") or len(axis.above) > len(axis.fields):
        return None
    at = len(axis.fields) if axis.data_at is None else axis.data_at
    if has_data and kind == "data" and len(axis.above) <= at:
        return None  # a heading over the data fields
    own = axis.above[:at] + axis.above[at + 1 :]
    if kind == "data" and own and len(own) + has_data < len(axis.fields):
        last = axis.fields[len(own) - (len(own) <= at)]
        if not 0 <= last < len(fields) or not (fields[last].totals or own[-1] in fields[last].closed):
            return None
    return (data if has_data else ANY_DATA, *own)


def parse_pivot_cache(
    data: bytes, wanted: Collection[int], date_1904: bool, iso_serial: Callable[[str, bool], float]
) -> PivotCache:
    """Return the names of a cache's fields, and the items of those wanted (by place).

    Raises:
        ParseFailed: not well-formed, or past a limit.
    """
    cache = PivotCache()
    inside: list[str] = []
    grouped_by = ""
    count = 0

    def start(name: str, attributes: Attributes) -> None:
        nonlocal grouped_by, count
        parent = inside[-1] if inside else ""
        inside.append(name)
        place = len(cache.names) - 1
        if name == "cacheField" and parent == "cacheFields":
            count += 1
            cache.names.append(attributes.get("name", ""))
            grouped_by = ""
        elif name == "rangePr" and parent == "fieldGroup":
            grouped_by = attributes.get("groupBy", "range")
        elif name == "groupItems" and parent == "fieldGroup" and place in wanted:
            cache.items[place] = []  # they take the place of what they group
        elif parent in ("sharedItems", "groupItems") and place in wanted:
            count += 1
            if count > PIVOT_ITEMS_MAX:
                raise ParseFailed(f"A pivot table has more items than the limit of {PIVOT_ITEMS_MAX:,}.")
            items = cache.items.setdefault(place, [])
            group = grouped_by if parent == "groupItems" else ""
            named = _names(name, attributes.get("v", ""), len(items), group, date_1904, iso_serial)
            items.append((*named, attributes["c"]) if "c" in attributes else named)

    def end(name: str) -> None:
        inside.pop()

    parse_part(data, "The cache of a pivot table", start, end=end)
    return cache


def _names(
    kind: str, text: str, place: int, grouped_by: str, date_1904: bool, iso_serial: Callable[[str, bool], float]
) -> tuple[Name, ...]:
    """Return what an item of a cache is called."""
    if kind == "m":
        return (_BLANK,)
    try:
        if kind == "n":
            return (float(text),)
        if kind == "d":
            return (iso_serial(text, date_1904),)
    except ValueError:
        return (text,)
    if kind == "b":
        return ("TRUE" if text in ("1", "true") else "FALSE",)
    if grouped_by in _COUNTED:
        return text, float(place - (grouped_by in _FIRST_OF_CLOCK))
    numbers = _RANGE.match(text) if grouped_by == "range" else None
    return (text, float(numbers[1])) if numbers else (text,)


def pivot_of_parts(part: PivotPart, cache: PivotCache, sheet: str) -> Pivot:
    """Return the pivot table of a sheet that its definition and its cache tell of.

    Raises:
        ParseFailed: they contradict each other.
    """
    top, left, bottom, right = _box(part)
    used = sorted(part.used)
    if any(not 0 <= place < min(len(part.fields), len(cache.names)) for place in used):
        raise ParseFailed("A pivot table shows a field that its cache has not.")
    at = {place: number for number, place in enumerate(used)}
    names = [*cache.names, ""]
    data = [(name, names[place] if 0 <= place < len(cache.names) else "") for name, place in part.data]
    return Pivot(
        name=part.name,
        sheet=sheet,
        first_row=top,
        first_column=left,
        last_row=bottom,
        last_column=right,
        data_row=top + part.first_data_row,
        data_column=left + part.first_data_column,
        page_rows=min(part.page_rows, top),
        data=tuple((name or source, source) for name, source in data),
        fields=tuple(_field(part.fields[place], cache.names[place], cache.items.get(place, [])) for place in used),
        rows=_axis(part.rows, at, bottom - top - part.first_data_row + 1),
        columns=_axis(part.columns, at, right - left - part.first_data_column + 1),
        pages=tuple((at[place], item) for place, item in part.pages),
    )


def _box(part: PivotPart) -> tuple[int, int, int, int]:
    try:
        return parse_range(part.range)
    except ValueError:
        raise ParseFailed("A pivot table does not say where it stands.") from None


def _field(definition: _Field, source: str, cached: list[tuple[Name, ...]]) -> PivotField:
    """Return a field with the names of its items.

    Their own captions beside what the cache calls them.
    """
    items = []
    for caption, place in definition.items or [("", place) for place in range(len(cached))]:
        names = cached[place] if 0 <= place < len(cached) else ()
        items.append((caption, *names) if caption else names)
    return PivotField(definition.name or source, source, tuple(items))


def _axis(axis: _Axis, at: dict[int, int], room: int) -> PivotAxis:
    """Return an axis with its fields counted as the pivot table has them, and no more lines than there is room for."""
    fields = tuple(at[place] for place in axis.fields if place != _DATA)
    return PivotAxis(fields, tuple(axis.lines[: max(room, 0)]))


def _flag(attributes: Attributes, name: str) -> bool:
    """Return a flag that is set unless the file says that it is not."""
    return attributes.get(name, "1") not in ("0", "false")


def _whole(attributes: Attributes, name: str, default: int = 0) -> int:
    """Return a whole number among attributes, or the default."""
    text = attributes.get(name, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else default
