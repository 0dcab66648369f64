"""The formula of an expression block.

Its names are input ports, all else in it means the same in every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.formula.functions import families  # noqa: F401 - fills the catalogue
from core.formula.language.errors import FormulaError, SyntaxFault
from core.formula.language.parser import render
from core.formula.language.tree import Area, Binary, Call, Cell, Name, Node, Spill, Structured
from core.formula.language.walk import children, with_children
from core.formula.machine.machine import compile as compile_tree
from core.formula.suggest import parse_or_suggest

THIS_ROW = ("#This Row",)


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula that can stand in a graph."""

    tree: Node
    ports: dict[str, int]
    """Input ports, lower case, in order of appearance, with the number of times that the formula names each."""
    columns: frozenset[str]
    """What it names as [column], lower case: an input that is a column_ref, or else a column of the sheet."""
    height: int
    """Nodes on the longest path of the tree."""
    names: frozenset[str]
    """Every name in it, lower case, those that LET and LAMBDA bind too."""


def read(formula: str) -> Expression:
    """Return the expression of a formula, with or without its '='.

    Raises:
        FormulaError: no formula, one that no block can hold, or a call of a function that the engine does not have;
            with the position.
    """
    text = formula if formula.lstrip().startswith("=") else "=" + formula
    try:
        tree = parse_or_suggest(text)
        height, names = _measure(tree)
        ports: dict[str, int] = {}

        def count(name: str, node: Node) -> Node:
            ports[name] = ports.get(name, 0) + 1
            return node

        columns: set[str] = set()

        def collect(name: str, node: Node) -> Node:
            columns.add(name)
            return node

        fixed = put(tree, count, collect)
        compile_tree(tree, text=text)
    except FormulaError as error:
        if text is not formula and error.position is not None:
            error.position = max(error.position - 1, 0)
        raise
    return Expression(fixed, ports, frozenset(columns), height, names)


def _measure(tree: Node) -> tuple[int, frozenset[str]]:
    """Return the height of a tree, and the names in it."""
    deepest, names, waiting = 0, set(), [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(node, Name | Call):
            names.add(node.name.lower())
        waiting.extend((child, depth + 1) for child in children(node))
    return deepest, frozenset(names)


Give = Callable[[str, Node], Node]
"""What takes the place of a node, by its name in lower case."""


def put(node: Node, give: Give, give_column: Give, bound: frozenset[str] = frozenset()) -> Node:
    """Return the tree with what is given in place of every port and every whole column of the sheet; `bound` are names
    that mean something inside the formula. Other sheets' whole columns and rows become absolute.

    Raises:
        SyntaxFault: a reference that means other cells in every row.
    """
    match node:
        case Name(sheet=None, name=name):
            return node if name.lower() in bound else give(name.lower(), node)
        case Cell(sheet=None, last_sheet=None, row_absolute=False, column_absolute=False):
            return give(render(node)[1:].lower(), node)  # x1 is a good name for a port, and reads as a cell
        case Name() | Cell() | Area() | Spill():
            return _absolute(node)
        case Structured(table=None):
            return _put_column(node, give_column)
        case Binary(operator="," | ":" | " ", left=left, right=right) if isinstance(left, Name | Cell) or isinstance(
            right, Name | Cell
        ):
            raise SyntaxFault("an input has no place beside an operator between references", node.start)
        case Call(name="LET" | "LAMBDA" as name, arguments=arguments):
            return Call(name, tuple(_bound(name, arguments, give, give_column, bound)))
    return with_children(node, [put(child, give, give_column, bound) for child in children(node)])


def _absolute(node: Name | Cell | Area | Spill) -> Node:
    """Return a reference that means the same cells in every row.

    Raises:
        SyntaxFault: it reads another workbook, or means other cells in every row.
    """
    if isinstance(node, Spill):
        if not isinstance(node.operand, Cell) or not _is_absolute(node.operand):
            raise _moving(node)
        return node
    if node.sheet is not None and "[" in node.sheet:
        raise SyntaxFault(f"{node.sheet} is another workbook, which is not read", node.start)
    if isinstance(node, Area):
        return _absolute_area(node)
    if isinstance(node, Cell) and not _is_absolute(node):
        raise _moving(node)
    return node


def _is_absolute(cell: Cell) -> bool:
    return cell.row_absolute and cell.column_absolute


def _put_column(node: Structured, give_column: Give) -> Node:
    """Return what is given for a whole column of the sheet; the row's own cell stays."""
    if node.first is None or node.items not in ((), ("#Data",), THIS_ROW):
        raise SyntaxFault("of the sheet itself, a formula reads columns by name: [@Column], [Column]", node.start)
    if node.items != THIS_ROW and node.last == node.first:
        return give_column(node.first.lower(), node)
    return node


def _bound(
    name: str, arguments: tuple[Node, ...], give: Give, give_column: Give, bound: frozenset[str]
) -> Iterator[Node]:
    """Yield the arguments of a LET or a LAMBDA, of which some bind names for those after them."""
    pending = None
    for at, argument in enumerate(arguments):
        parameter = None
        if at < len(arguments) - 1 and (name == "LAMBDA" or at % 2 == 0):
            if not isinstance(argument, Name) or argument.sheet is not None:
                raise SyntaxFault(f"{name} needs a plain name here", argument.start)
            parameter = argument.name.lower()
        if parameter is not None:
            yield argument
            if name == "LAMBDA":
                bound |= {parameter}
            pending = parameter
            continue
        yield put(argument, give, give_column, bound)
        if pending is not None:
            bound, pending = bound | {pending}, None


def _absolute_area(area: Area) -> Area:
    first, last = area.first, area.last
    if area.whole_columns or area.whole_rows:
        first, last = (Cell(None, None, corner.row, corner.column, True, True) for corner in (first, last))
        return Area(area.sheet, area.last_sheet, first, last, area.whole_columns, area.whole_rows)
    if not all(corner.row_absolute and corner.column_absolute for corner in (first, last)):
        raise _moving(area)
    return area


def _moving(node: Node) -> SyntaxFault:
    text = render(node)[1:]
    return SyntaxFault(
        f"{text} means other cells in every row: $ makes it fixed, an input or [@Column] reads the row's own",
        node.start,
    )
