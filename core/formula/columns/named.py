"""A formula beside whole columns that are given by letter or by name.

Its names as the cells that they mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from core.formula.functions.catalogue import FUNCTIONS, Takes
from core.formula.language.errors import FormulaError, MissingContext
from core.formula.language.tree import Area, Call, Cell, Name, Node, Structured
from core.formula.language.walk import children, with_children
from core.grid.address import COLUMNS_MAX, column_index, column_name

_THIS_ROW = ("#This Row",)


@lru_cache(maxsize=64)  # a formula is mapped again and again, in less time than this takes
def placed_names(tree: Node, names: tuple[str, ...], rows: int) -> tuple[Node, dict[str, str]]:
    """Return a formula, written for row 1, with the names of columns as cells.

    Par and [@Par] are the row's own, [Par] all `rows` of it; and the letters of each column by its name. A name that is
    no letter gets one from the sheet's end.

    Raises:
        MissingContext: the formula reads columns or names that are not given.
        FormulaError: it reads another sheet, or two names differ by case alone.
    """
    placer = _Placer(_places(names), rows)
    placed_tree = placer.place(tree, frozenset())
    if placer.missing:
        raise MissingContext(list(placer.missing))
    return placed_tree, {name: column_name(placer.places[name.casefold()]) for name in names}


class _Placer:
    """Puts cells in place of a formula's names, and collects the names that are missing."""

    def __init__(self, places: dict[str, int], rows: int) -> None:
        self.places = places
        self.missing: dict[str, None] = {}
        self._taken = set(places.values())
        self._rows = rows

    def place(self, node: Node, bound: frozenset[str]) -> Node:
        """Return a node with cells in place of names; those that are `bound` stay."""
        match node:
            case Cell() | Area():
                return self._check_cells(node)
            case Name(sheet=None, name=name) if name.casefold() not in bound:
                return self._own_cell(name, node)
            case Structured():
                return self._structured(node)
            case Call():
                return with_children(node, list(self._arguments(node, bound)))
        return with_children(node, [self.place(child, bound) for child in children(node)])

    def _column(self, name: str) -> int:
        place = self.places.get(name.casefold())
        if place is None:
            self.missing[name] = None
        return 0 if place is None else place

    def _own_cell(self, name: str, node: Node) -> Cell:
        return Cell(None, None, 0, self._column(name), False, False, node.start, node.end)

    def _check_cells(self, node: Cell | Area) -> Node:
        if node.sheet is not None:
            raise FormulaError("a formula beside columns reads no sheet", node.start)
        first, last = (node, node) if isinstance(node, Cell) else (node.first, node.last)
        left, right = sorted((first.column, last.column))
        if isinstance(node, Area) and node.whole_rows:
            raise FormulaError("a formula beside columns reads no whole rows", node.start)
        lacking = [at for at in range(left, right + 1) if at not in self._taken]
        self.missing.update(dict.fromkeys(column_name(at) for at in lacking[:10]))
        return node

    def _structured(self, node: Structured) -> Node:
        if node.table is not None or node.first is None or node.items not in ((), _THIS_ROW):
            raise FormulaError("a formula beside columns names them alone, as [Par] or [@Par]", node.start)
        left, right = self._column(node.first), self._column(node.last or node.first)
        if node.items == _THIS_ROW and left == right:
            return self._own_cell(node.first, node)
        whole = node.items != _THIS_ROW
        corners = (0, left), (whole * (self._rows - 1), right)
        first, last = (Cell(None, None, row, at, whole, True) for row, at in corners)
        return Area(None, None, first, last, start=node.start, end=node.end)

    def _arguments(self, node: Call, bound: frozenset[str]) -> Iterator[Node]:
        last = len(node.arguments) - 1
        for at, argument in enumerate(node.arguments):
            if at < last and (node.name == "LAMBDA" or (node.name == "LET" and at % 2 == 0)):
                yield argument
                bound |= _bound(argument)
            elif self._is_function(node, at):
                yield argument
            else:
                yield self.place(argument, bound)

    def _is_function(self, call: Call, at: int) -> bool:
        """Return whether an argument names a function, and no column."""
        argument = call.arguments[at]
        return (
            isinstance(argument, Name)
            and argument.name.casefold() not in self.places
            and _may_be_function(call, at)
            and argument.name.upper().removeprefix("_XLETA.") in FUNCTIONS
        )


def _may_be_function(call: Call, at: int) -> bool:
    """Return whether an argument may be a function by its name, as in BYROW([Par],SUM)."""
    function = FUNCTIONS.get(call.name)
    return function is not None and (
        function.body is None or function.argument(at).kind in (Takes.ARRAY, Takes.OPERAND, Takes.LAMBDA)
    )


def _bound(argument: Node) -> frozenset[str]:
    """Return the name that LET or LAMBDA binds; [x] is an optional parameter."""
    name = argument.name if isinstance(argument, Name) else getattr(argument, "first", None)
    return frozenset((name.casefold(),)) if isinstance(name, str) else frozenset()


def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Return where each column stands, by its folded name."""
    places: dict[str, int] = {}
    for name in names:
        try:
            places[name.casefold()] = column_index(name)
        except ValueError:
            places[name.casefold()] = -1
    if len(places) != len(names):
        raise FormulaError("names of columns differ by case alone")
    taken, free = set(places.values()), iter(range(COLUMNS_MAX - 1, -1, -1))
    for name, at in places.items():
        if at < 0:
            places[name] = next(place for place in free if place not in taken)
    return places
