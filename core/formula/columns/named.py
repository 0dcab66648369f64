"""A formula beside whole columns that are given by letter or by name: its names as the cells that they mean."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from core.formula.functions.catalogue import FUNCTIONS, Takes
from core.formula.language.errors import FormulaError, MissingContext
from core.formula.language.tree import (
    Area,
    Binary,
    Call,
    Cell,
    Invoke,
    Name,
    Node,
    Spill,
    Structured,
    Unary,
)
from core.grid.address import COLUMNS_MAX, column_index, column_name

_THIS_ROW = ("#This Row",)


@lru_cache(maxsize=64)  # a formula is mapped again and again, in less time than this takes
def placed_names(tree: Node, names: tuple[str, ...], rows: int) -> tuple[Node, dict[str, str]]:
    """A formula, written for row 1, with the names of columns as cells: Par and [@Par] are the row's own, [Par] all
    `rows` of it; and the letters of each column by its name. A name that is no letter gets one from the sheet's end.

    Raises:
        MissingContext: the formula reads columns or names that are not given.
        FormulaError: it reads another sheet, or two names differ by case alone.
    """
    places = _places(names)
    taken = set(places.values())
    missing: dict[str, None] = {}

    def column(name: str) -> int:
        place = places.get(name.casefold())
        if place is None:
            missing[name] = None
        return 0 if place is None else place

    def own(name: str, node: Node) -> Cell:
        return Cell(None, None, 0, column(name), False, False, node.start, node.end)

    def read(node: Cell | Area) -> Node:
        if node.sheet is not None:
            raise FormulaError("a formula beside columns reads no sheet", node.start)
        first, last = (node, node) if isinstance(node, Cell) else (node.first, node.last)
        left, right = sorted((first.column, last.column))
        if isinstance(node, Area) and node.whole_rows:
            raise FormulaError("a formula beside columns reads no whole rows", node.start)
        lacking = [at for at in range(left, right + 1) if at not in taken]
        missing.update(dict.fromkeys(column_name(at) for at in lacking[:10]))
        return node

    def structured(node: Structured) -> Node:
        if node.table is not None or node.first is None or node.items not in ((), _THIS_ROW):
            raise FormulaError("a formula beside columns names them alone, as [Par] or [@Par]", node.start)
        left, right = column(node.first), column(node.last or node.first)
        if node.items == _THIS_ROW and left == right:
            return own(node.first, node)
        whole = node.items != _THIS_ROW
        first, last = (Cell(None, None, row, at, whole, True) for row, at in ((0, left), (whole * (rows - 1), right)))
        return Area(None, None, first, last, start=node.start, end=node.end)

    def moved(node: Node, bound: frozenset[str]) -> Node:
        match node:
            case Cell() | Area():
                return read(node)
            case Name(sheet=None, name=name) if name.casefold() not in bound:
                return own(name, node)
            case Structured():
                return structured(node)
            case Unary():
                return Unary(node.operator, moved(node.operand, bound), node.start, node.end)
            case Spill():
                return Spill(moved(node.operand, bound), node.start, node.end)
            case Binary():
                sides = moved(node.left, bound), moved(node.right, bound)
                return Binary(node.operator, *sides, node.start, node.end)
            case Call():
                return Call(node.name, tuple(arguments(node, bound)), node.start, node.end)
            case Invoke():
                passed = tuple([moved(argument, bound) for argument in node.arguments])
                return Invoke(moved(node.callee, bound), passed, node.start, node.end)
        return node

    def arguments(node: Call, bound: frozenset[str]) -> Iterator[Node]:
        last = len(node.arguments) - 1
        for at, argument in enumerate(node.arguments):
            if at < last and (node.name == "LAMBDA" or (node.name == "LET" and at % 2 == 0)):
                yield argument
                bound |= _bound(argument)
            elif isinstance(argument, Name) and argument.name.casefold() not in places and _may_be_function(node, at):
                yield argument if argument.name.upper().removeprefix("_XLETA.") in FUNCTIONS else moved(argument, bound)
            else:
                yield moved(argument, bound)

    placed_tree = moved(tree, frozenset())
    if missing:
        raise MissingContext(list(missing))
    return placed_tree, {name: column_name(places[name.casefold()]) for name in names}


def _may_be_function(call: Call, at: int) -> bool:
    """Whether an argument may be a function by its name, as in BYROW([Par],SUM)."""
    function = FUNCTIONS.get(call.name)
    return function is not None and (
        function.body is None or function.argument(at).kind in (Takes.ARRAY, Takes.OPERAND, Takes.LAMBDA)
    )


def _bound(argument: Node) -> frozenset[str]:
    """The name that LET or LAMBDA binds; [x] is an optional parameter."""
    name = argument.name if isinstance(argument, Name) else getattr(argument, "first", None)
    return frozenset((name.casefold(),)) if isinstance(name, str) else frozenset()


def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Where each column stands, by its folded name."""
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
