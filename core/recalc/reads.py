"""What a formula reads, told from its tree: ranges relative to its cell, and whether they can be told at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from core.formula.catalogue import FUNCTIONS
from core.formula.tree import Area, Binary, Call, Cell, Invoke, Name, Node, Spill, Structured, Unary
from core.grid.address import ROWS_MAX

_VOLATILE: Final = frozenset(("OFFSET", "INDIRECT", "RAND", "RANDBETWEEN", "RANDARRAY", "NOW", "TODAY", "CELL", "INFO"))
"""Functions whose value may change although nothing that the formula names has changed."""

_STRETCHED: Final = frozenset(("SUMIF", "AVERAGEIF"))
"""Functions whose third range is taken as large as the first, whatever its second corner says."""


class Edge(NamedTuple):
    """One bound of a range: a 0-based place, or a distance from the formula's own cell."""

    at: int
    fixed: bool


class Span(NamedTuple):
    """A range that a formula names; `sheet` None is its own, `last_sheet` is set for a run of sheets."""

    sheet: str | None
    last_sheet: str | None
    top: Edge
    left: Edge
    bottom: Edge
    right: Edge


class Names(Protocol):
    """What a book knows about the names in a formula."""

    def meaning(self, sheet: str | None, name: str) -> Node | None:
        """The tree of a defined name, relative to A1; None where it is not defined."""

    def table_span(self, node: Structured) -> Span | None:
        """The cells of a structured reference, its row left open where it is the formula's own; None if unknown."""


@dataclass(slots=True)
class Reads:
    """What the formula reads."""

    spans: list[Span] = field(default_factory=list)
    volatile: bool = False
    """Its value can change without an edit of what it names, or it reads what only its calculation tells."""
    external: bool = False
    """It refers to another workbook."""
    placed: bool = False
    """What it reads depends on the table that its cell is in."""


def reads_of(tree: Node, names: Names) -> Reads:
    """The ranges that a formula reads, directly and through names."""
    found = Reads()
    seen: set[tuple[str | None, str]] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case Cell():
                corner = Edge(node.row, node.row_absolute), Edge(node.column, node.column_absolute)
                _add(found, Span(node.sheet, node.last_sheet, *corner, *corner))
            case Area():
                _add(found, _area(node))
            case Name():
                key = (node.sheet, node.name.casefold())
                if key not in seen:
                    seen.add(key)
                    found.external |= "[" in (node.sheet or "")
                    meaning = names.meaning(node.sheet, node.name)
                    if meaning is not None:
                        waiting.append(meaning)
            case Structured():
                found.placed |= node.table is None
                span = names.table_span(node)
                if span is not None:
                    _add(found, span)
            case Call():
                function = FUNCTIONS.get(node.name)
                found.volatile |= node.name in _VOLATILE or (function is not None and function.volatile)
                if function is None:
                    waiting.append(Name(None, node.name))  # a LAMBDA under a name is called like a function
                if node.name in _STRETCHED and len(node.arguments) == 3:
                    _stretch(found, node.arguments[0], node.arguments[2])
                waiting.extend(node.arguments)
            case _:
                # Between two computed references stands a range that only the calculation tells.
                found.volatile |= isinstance(node, Binary) and node.operator == ":"
                waiting.extend(_children(node))
    return found


def _children(node: Node) -> Iterator[Node]:
    match node:
        case Unary() | Spill():
            yield node.operand
        case Binary():
            yield node.left
            yield node.right
        case Invoke():
            yield node.callee
            yield from node.arguments


def _area(node: Area) -> Span:
    first, last = node.first, node.last
    if node.whole_columns:
        top, bottom = Edge(0, True), Edge(ROWS_MAX - 1, True)
    else:
        top, bottom = Edge(first.row, first.row_absolute), Edge(last.row, last.row_absolute)
    left, right = Edge(first.column, first.column_absolute), Edge(last.column, last.column_absolute)
    return Span(node.sheet, node.last_sheet, top, left, bottom, right)


def _add(found: Reads, span: Span) -> None:
    found.external |= "[" in (span.sheet or "")
    found.spans.append(span)


def _stretch(found: Reads, shape: Node, summed: Node) -> None:
    """The cells that are really summed: as many as the first range has, from the corner of the third."""
    if not isinstance(shape, Area) or not isinstance(summed, Cell | Area):
        found.volatile |= not (isinstance(shape, Cell) or isinstance(summed, Area))
        return
    size, corner = _area(shape), _area(summed) if isinstance(summed, Area) else None
    if corner is None:
        assert isinstance(summed, Cell)
        top, left = Edge(summed.row, summed.row_absolute), Edge(summed.column, summed.column_absolute)
        sheet, last_sheet = summed.sheet, summed.last_sheet
    else:
        top, left, sheet, last_sheet = corner.top, corner.left, corner.sheet, corner.last_sheet
    if size.top.fixed != size.bottom.fixed or size.left.fixed != size.right.fixed:
        found.volatile = True
        return
    down, across = abs(size.bottom.at - size.top.at), abs(size.right.at - size.left.at)
    bottom, right = Edge(top.at + down, top.fixed), Edge(left.at + across, left.fixed)
    _add(found, Span(sheet, last_sheet, top, left, bottom, right))
