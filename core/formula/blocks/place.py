"""A formula that names the columns of its sheet, as it stands in the cells of one column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from core.formula.blocks.expression import THIS_ROW
from core.formula.language.errors import FormulaError
from core.formula.language.tree import Area, Binary, Call, Cell, Invoke, Node, Spill, Structured, Unary


class UnknownColumn(FormulaError):
    """The formula names a column that the sheet does not have."""


class ColumnOf(Protocol):
    """Where a column stands, 0-based, by its name."""

    def __call__(self, name: str, /) -> int: ...


def by_name(names: Mapping[str, int]) -> ColumnOf:
    """Return the columns of a sheet by their names.

    As written, else the only one that differs by case and blanks alone.
    """
    folded: dict[str, list[int]] = {}
    for name, at in names.items():
        folded.setdefault(_fold(name), []).append(at)

    def find(name: str) -> int:
        if name in names:
            return names[name]
        places = folded.get(_fold(name), [])
        if len(places) != 1:
            many = "several columns differ from it by case and blanks" if places else "the sheet has no such column"
            raise UnknownColumn(f"{name[:255]!r}: {many}")
        return places[0]

    return find


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()  # a header read from a sheet has no line breaks


def place_formula(node: Node, column_of: ColumnOf, column: int, first_row: int, last_row: int) -> Node:
    """Return the tree of a formula in a cell of `column`: [@Par] is the row's own cell, [Par] the rows from first to
    last.

    Raises:
        UnknownColumn: the sheet has no column of a name.
    """

    def moved(node: Node) -> Node:
        match node:
            case Structured(table=None, items=items, first=str(first), last=last):
                left, right = column_of(first), column_of(last or first)
                if items == THIS_ROW:
                    own, end = (Cell(None, None, 0, at - column, False, False) for at in (left, right))
                    return own if left == right else Area(None, None, own, end)
                top = Cell(None, None, first_row, left, True, True)
                return Area(None, None, top, Cell(None, None, last_row, right, True, True))
            case Unary(operator=operator, operand=operand):
                return Unary(operator, moved(operand))
            case Binary(operator=operator, left=first, right=second):
                return Binary(operator, moved(first), moved(second))
            case Call(name=name, arguments=arguments):
                return Call(name, tuple([moved(argument) for argument in arguments]))
            case Invoke(callee=callee, arguments=arguments):
                return Invoke(moved(callee), tuple([moved(argument) for argument in arguments]))
            case Spill(operand=operand):
                return Spill(moved(operand))
        return node

    return moved(node)
