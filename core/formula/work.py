"""How much work a formula can make: a bound for its tree, before evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Final, NamedTuple, cast

from core.formula.context import TEXT_LENGTH_MAX as TEXT_MAX
from core.formula.functions.catalogue import FUNCTIONS, Function, Takes
from core.formula.language.tree import Area, ArrayLiteral, Binary, Call, Cell, Empty, Literal, Name, Node, Unary
from core.formula.program import Program

# Nanoseconds, measured with the worst values that were found and rounded up; a test holds them to the clock.
START: Final = 50_000
"""What any evaluation takes."""
GIVEN: Final = 2_500
"""A given cell, whose key may be of any make."""
CHARACTER: Final = 1_500
"""Parsing, compiling and this bound itself, for each character of a formula that was never seen..."""
CALL: Final = 15_000
"""...and for each call in it."""
NODE: Final = 500
"""An operator, a reference or a constant, for each cell that comes of it."""
SLOT: Final = 250
"""A cell of an area, to be given a place and read."""
LOOKED_THROUGH: Final = 1_000
"""A given cell that is looked through for an area that has no places: its corners move apart, or a name holds it."""
READING: Final = 5_000
"""A text that may spell a number, a date or a time: every form is tried, twice where the year may be left out..."""
READING_CHARACTER: Final = 2_500
"""...over each of its characters, as far as a date and a time can go..."""
DATE_CHARACTERS: Final = 16
LONG_CHARACTER: Final = 150
"""...and over each that it has in all."""
PATTERN_MAX: Final = 255
"""Characters of a pattern."""
COPYING: Final = 10
"""A character that is copied or written as JSON."""
MATCHING: Final = 5
"""A character that is compared with one of a pattern."""
COMPARING: Final = 250
"""A character that is compared without case, where small and capital letters differ in length."""
SHOWING: Final = 2_000
"""A cell of the answer..."""
SHOWING_DATE: Final = 100_000
"""...and one that may be a date, under the longest format."""

NUMBER_CHARACTERS: Final = 24
"""A number, written."""

_LIFTING: Final = frozenset(
    {
        Takes.NUMBER,
        Takes.INTEGER,
        Takes.TEXT,
        Takes.LOGICAL,
        Takes.VALUE,
        Takes.ANY,
    }
)
_NUMERIC: Final = frozenset({Takes.NUMBER, Takes.INTEGER, Takes.RANGE})
"""Kinds of arguments whose single text is read as a number. The body's own row says what it does with others."""
_TEXTUAL: Final = frozenset({"text", "logical", "lookup"})
"""Categories whose functions may give text; no other does."""
_REFERENCES: Final = frozenset({":", ",", " "})


class Size(NamedTuple):
    """The most that a value can be.

    Its cells, and the characters of text in one and in all of them.
    """

    rows: int = 1
    columns: int = 1
    longest: float = 0
    characters: float = 0

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def spread(self, cells: int) -> float:
        """Return its characters where it is repeated to so many cells."""
        return self.characters * (cells / self.cells)


SINGLE: Final = Size()


class _Unbounded(Exception):
    """Nothing is known of a part of the formula."""


def work_of(program: Program, cells: int, characters: int) -> float:
    """Return an upper bound of the nanoseconds that a never-seen formula takes over so many given cells with so many
    characters of text in all; infinite where it calls what has no bound."""
    bound = _Bound(cells, characters)
    try:
        size = bound.size(program.tree, {})
    except _Unbounded:
        return inf
    shown = SHOWING_DATE if bound.dates else SHOWING
    known = START + cells * GIVEN + len(program.formula) * CHARACTER
    return known + bound.nanoseconds + size.cells * shown + size.characters * COPYING


class _Bound:
    """The work of a tree, added up while the sizes of its values are found."""

    def __init__(self, cells: int, characters: int) -> None:
        self.characters = characters
        self.cell = Size(1, 1, characters, characters)
        self.looking = cells * LOOKED_THROUGH
        self.nanoseconds = 0.0
        self.dates = False

    def size(self, node: Node, names: dict[str, Size]) -> Size:
        """Return what a node's value can be; what computing it takes is added."""
        kind = type(node)
        if kind is Call:
            return self._call(cast(Call, node), names)
        if kind is Binary:
            return self._binary(cast(Binary, node), names)
        self.nanoseconds += NODE
        if kind is Cell and cast(Cell, node).last_sheet is None:
            return self.cell
        if kind is Literal:
            return _text(cast(Literal, node).value)
        if kind is Area and cast(Area, node).last_sheet is None:
            return self._area(cast(Area, node))
        if kind is Name and cast(Name, node).sheet is None:
            return self._name(cast(Name, node).name, names)
        if kind is Unary:
            size = self.size(cast(Unary, node).operand, names)
            cells = size.rows * size.columns
            self.nanoseconds += cells * NODE + _read(size, cells)
            return size
        if kind is ArrayLiteral:
            rows = cast(ArrayLiteral, node).rows
            texts = [_text(value).characters for row in rows for value in row]
            self.nanoseconds += len(texts) * NODE
            return Size(len(rows), len(rows[0]), max(texts), sum(texts))
        if kind is Empty:
            return SINGLE
        raise _Unbounded

    def _area(self, node: Area) -> Size:
        first, last = node.first, node.last
        rows, columns = abs(last.row - first.row) + 1, abs(last.column - first.column) + 1
        self.nanoseconds += rows * columns * SLOT
        if first.row_absolute != last.row_absolute or first.column_absolute != last.column_absolute:
            self.nanoseconds += self.looking
        return Size(rows, columns, self.characters, self.characters)

    def _name(self, name: str, names: dict[str, Size]) -> Size:
        size = names.get(name.casefold())
        if size is None:
            if name.upper().removeprefix("_XLETA.") in FUNCTIONS:  # a function as a value, which could be called
                raise _Unbounded
            return self.cell
        if size.cells > 1:
            self.nanoseconds += self.looking + size.cells * SLOT
        return size

    def _binary(self, node: Binary, names: dict[str, Size]) -> Size:
        operator = node.operator
        if operator in _REFERENCES:
            raise _Unbounded
        left, right = self.size(node.left, names), self.size(node.right, names)
        rows, columns = max(left.rows, right.rows), max(left.columns, right.columns)
        cells = rows * columns
        self.nanoseconds += cells * NODE
        if operator == "&":
            longest = min(left.longest + right.longest + 2 * NUMBER_CHARACTERS, TEXT_MAX)
            characters = left.spread(cells) + right.spread(cells) + 2 * NUMBER_CHARACTERS * cells
            self.nanoseconds += characters * COPYING
            return Size(rows, columns, longest, min(characters, cells * TEXT_MAX))
        for side in (left, right) if left.characters or right.characters else ():
            if operator in "+-*/^":
                self.nanoseconds += _read(side, cells)
            else:
                self.nanoseconds += side.spread(cells) * COMPARING
        return Size(rows, columns) if cells > 1 else SINGLE

    def _call(self, node: Call, names: dict[str, Size]) -> Size:
        row = FUNCTIONS.get(node.name)
        if row is None or row.work is None or node.name.casefold() in names:
            raise _Unbounded
        self.nanoseconds += CALL
        self.dates = self.dates or row.category == "date"
        if node.name == "LET":
            return self._let(node.arguments, names)
        sizes = [self.size(argument, names) for argument in node.arguments]
        kinds = [row.argument(place).kind for place in range(len(sizes))]
        lifting = [size for size, kind in zip(sizes, kinds, strict=True) if kind in _LIFTING]
        inside = [size for size, kind in zip(sizes, kinds, strict=True) if kind not in _LIFTING]
        rows, columns = _widest(lifting)
        calls = rows * columns
        self._charge(row, calls, lifting, inside)
        self.nanoseconds += sum(
            _read(size, calls)
            for size, kind in zip(sizes, kinds, strict=True)
            if kind in _NUMERIC and (kind in _LIFTING or size.cells == 1)
        )
        if row.body is None or Takes.OPERAND in kinds:  # an argument may be the value, as it stands
            rows, columns = _widest(sizes)
            self.nanoseconds += rows * columns * len(sizes) * NODE + self.looking * (rows * columns > 1)
        return self._result(row, Size(rows, columns), calls, lifting, inside)

    def _charge(self, row: Function, calls: int, lifting: list[Size], inside: list[Size]) -> None:
        """The bodies of so many calls, and what they do with cells, texts and characters."""
        work = row.work
        assert work is not None
        cells, columns = sum(size.cells for size in inside), sum(size.columns for size in inside)
        characters = sum(size.characters for size in inside) * calls + sum(size.spread(calls) for size in lifting)
        texts = sum(min(size.cells, size.characters) for size in inside) * calls
        texts += sum(min(calls, size.spread(calls)) for size in lifting)
        self.nanoseconds += calls * (work.call + cells * work.cell + columns * work.column) + characters * (
            COPYING + work.character
        )
        if work.reads:
            self.nanoseconds += _reading(texts, characters)
        if work.matches:
            pattern = min(max((size.longest for size in lifting), default=0), PATTERN_MAX)
            self.nanoseconds += characters * (COMPARING + pattern * MATCHING)

    def _result(self, row: Function, shape: Size, calls: int, lifting: list[Size], inside: list[Size]) -> Size:
        """Return a call's value.

        Its text is made of that of its arguments, and of numbers between them.
        """
        assert row.work is not None
        if row.category not in _TEXTUAL or not row.work.grows:
            return shape
        cells, pieces = shape.cells, sum(size.cells for size in inside) + len(lifting)
        between: float = NUMBER_CHARACTERS if row.category == "text" else 0
        if row.work.joins:
            between += inside[0].longest
        longest = sum(size.longest for size in lifting) + sum(size.characters for size in inside)
        longest = row.work.grows * longest + between * pieces
        characters = sum(size.spread(cells) for size in lifting) + sum(
            size.characters * (calls if row.body is not None else cells / size.cells) for size in inside
        )
        characters = row.work.grows * characters + between * pieces * calls
        self.nanoseconds += characters * COPYING
        return Size(shape.rows, shape.columns, min(longest, TEXT_MAX), min(characters, cells * TEXT_MAX))

    def _let(self, arguments: tuple[Node, ...], names: dict[str, Size]) -> Size:
        names = dict(names)
        for place in range(0, len(arguments) - 1, 2):
            name = arguments[place]
            assert isinstance(name, Name)
            names[name.name.casefold()] = self.size(arguments[place + 1], names)
        return self.size(arguments[-1], names)


def _text(value: object) -> Size:
    return Size(1, 1, len(value), len(value)) if isinstance(value, str) else SINGLE


def _widest(sizes: Iterable[Size]) -> tuple[int, int]:
    """Return rows and columns of values that are spread over each other."""
    rows = columns = 1
    for size in sizes:
        rows, columns = max(rows, size.rows), max(columns, size.columns)
    return rows, columns


def _read(size: Size, cells: int) -> float:
    """Return a value's texts read as numbers, where it is spread over so many cells."""
    if not size.characters:
        return 0.0
    characters = size.spread(cells)
    return _reading(min(cells, characters), characters)


def _reading(texts: float, characters: float) -> float:
    """So many texts with so many characters in all, read as numbers."""
    short = min(characters, texts * DATE_CHARACTERS)
    return texts * READING + short * READING_CHARACTER + characters * LONG_CHARACTER
