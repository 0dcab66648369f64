"""What the names and the tables of a book mean in a formula."""

from __future__ import annotations

from typing import Any, Final

from core.formula.language import Area, Binary, Call, Cell, FormulaError, Node, Structured, Unary, parse
from core.formula.machine import compile as compile_tree
from core.formula.ranges import Environment
from core.formula.values import NAME, REF, VALUE, Failure, Reference
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.sheet import Table, Workbook
from core.recalc.reads import Range, reads_of

_NAMES_DEEP_MAX: Final = 24
"""Names that name names."""


class BookNames:
    """The defined names and tables of a book, found without case.

    A name of the formula's own sheet goes first.
    """

    def __init__(self, book: Workbook) -> None:
        self._global = {name.casefold(): text for name, text in book.defined_names.items()}
        self._local = {(sheet.casefold(), name.casefold()): text for (sheet, name), text in book.local_names.items()}
        self._tables = {table.name.casefold(): table for table in book.tables}
        self._trees: dict[str, Node | None] = {}
        self._programs: dict[str, Any] = {}
        self._deep = 0

    def meaning(self, sheet: str | None, name: str, own_sheet: str) -> Node | None:
        """Return the tree of a defined name, relative parts from A1, or None."""
        text = self._text(sheet, name, own_sheet)
        return None if text is None else self._tree(text)

    def value(self, environment: Environment, sheet: str | None, name: str) -> object:
        """Return what a name stands for in the environment's cell.

        A Reference where it can, else its value.
        """
        assert environment.sheet is not None
        text = self._text(sheet, name, environment.sheet)
        if text is None:
            table = self._tables.get(name.casefold())
            return NAME if table is None else _reference(table, _rows(table, ()), (0, len(table.columns) - 1))
        tree = self._tree(text)
        if tree is None:
            return NAME
        program = self._programs.get(text)
        if program is None:
            try:
                program = self._programs[text] = compile_tree(tree, arrays=True, text="=" + text, unknown_as_name=True)
            except FormulaError:
                return NAME
        if self._deep >= _NAMES_DEEP_MAX:
            return REF
        self._deep += 1
        try:
            return program.refer(environment)
        finally:
            self._deep -= 1

    def known(self, name: str, own_sheet: str) -> bool:
        """Return whether a name is defined."""
        return self._text(None, name, own_sheet) is not None

    def is_fixed(self, sheet: str | None, name: str, own_sheet: str) -> bool:
        """Return whether a name means the same in every cell.

        No part of what it names is relative, nothing in it volatile.
        """
        tree = self.meaning(sheet, name, own_sheet)
        if tree is None:
            return False
        reads = reads_of(tree, _Inner(self, own_sheet))
        return not reads.volatile and not reads.placed and all(area.fixed for area in reads.ranges)

    def reference(self, node: Structured, sheet: str, row: int, column: int) -> Reference:
        """Return the cells of a structured reference in a formula at a place.

        Raises:
            Failure: #REF! for an unknown table, column or part; #VALUE! for "this row" outside the table's rows.
        """
        table = self._table(node, sheet, row, column)
        columns = None if table is None else _columns(table, node)
        if table is None or columns is None:
            raise Failure(REF)
        if "#This Row" in node.items:
            rows: tuple[int, int] | None = _rows(table, ())
            if rows is None or not rows[0] <= row <= rows[1]:
                raise Failure(VALUE)
            rows = (row, row)
        else:
            rows = _rows(table, node.items)
        if rows is None:
            raise Failure(REF)
        return _reference(table, rows, columns)

    def table_range(self, node: Structured, sheet: str, row: int, column: int) -> Range | None:
        """Return a structured reference's cells as a range, or None."""
        try:
            area = self.reference(node, sheet, row, column)
        except Failure:
            return None
        left, right = area.left, area.right
        if "#This Row" in node.items:
            return Range(area.sheet, None, 0, False, left, True, 0, False, right, True)
        return Range(area.sheet, None, area.top, True, left, True, area.bottom, True, right, True)

    def _text(self, sheet: str | None, name: str, own_sheet: str) -> str | None:
        key = name.casefold()
        local = self._local.get(((own_sheet if sheet is None else sheet).casefold(), key))
        return self._global.get(key) if local is None else local

    def _tree(self, text: str) -> Node | None:
        if text not in self._trees:
            try:
                self._trees[text] = _wrap(parse("=" + text))
            except FormulaError:
                self._trees[text] = None
        return self._trees[text]

    def _table(self, node: Structured, sheet: str, row: int, column: int) -> Table | None:
        if node.table is not None:
            return self._tables.get(node.table.casefold())
        for table in self._tables.values():
            inside = table.first_row <= row <= table.last_row and table.first_column <= column <= table.last_column
            if inside and table.sheet.casefold() == sheet.casefold():
                return table
        return None


def _wrap(node: Node) -> Node:
    """Return the tree of a name with its relative parts as the shorter way.

    A file tells them from A1 on, and reaches what lies left of a cell, or above it, around the edge of the sheet (XFD1
    is one to the left).
    """
    match node:
        case Cell():
            row = node.row - ROWS_MAX if not node.row_absolute and node.row > ROWS_MAX // 2 else node.row
            at = node.column
            column = at - COLUMNS_MAX if not node.column_absolute and at > COLUMNS_MAX // 2 else at
            fixed = node.row_absolute, node.column_absolute
            return Cell(node.sheet, node.last_sheet, row, column, *fixed, node.start, node.end)
        case Area():
            first, last = _wrap(node.first), _wrap(node.last)
            assert isinstance(first, Cell)
            assert isinstance(last, Cell)
            whole = node.whole_columns, node.whole_rows
            return Area(node.sheet, node.last_sheet, first, last, *whole, node.start, node.end)
        case Unary():
            return Unary(node.operator, _wrap(node.operand), node.start, node.end)
        case Binary():
            return Binary(node.operator, _wrap(node.left), _wrap(node.right), node.start, node.end)
        case Call():
            return Call(node.name, tuple(map(_wrap, node.arguments)), node.start, node.end)
    return node


class _Inner:
    """A book's names as another name sees them; none fixes "this row"."""

    def __init__(self, names: BookNames, sheet: str) -> None:
        self._names, self._sheet = names, sheet

    def meaning(self, sheet: str | None, name: str) -> Node | None:
        return self._names.meaning(sheet, name, self._sheet)

    def table_range(self, node: Structured) -> Range | None:
        return self._names.table_range(node, self._sheet, 0, 0) or Range(None, None, *(0, False) * 4)


def _columns(table: Table, node: Structured) -> tuple[int, int] | None:
    """Return the 0-based columns of a table that a reference names, or None."""
    if node.first is None:
        return 0, len(table.columns) - 1
    names = [name.casefold() for name in table.columns]
    last = node.last if node.last is not None else node.first
    if node.first.casefold() not in names or last.casefold() not in names:
        return None
    first_at, last_at = names.index(node.first.casefold()), names.index(last.casefold())
    return min(first_at, last_at), max(first_at, last_at)


def _rows(table: Table, items: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the rows of a table that its parts cover. None if it has no such part."""
    head, foot = table.first_row + table.header_rows, table.last_row - table.totals_rows
    parts = {
        "#All": (table.first_row, table.last_row),
        "#Data": (head, foot),
        "#Headers": (table.first_row, head - 1),
        "#Totals": (foot + 1, table.last_row),
    }
    spans = [parts[item] for item in items or ("#Data",)]
    top, bottom = min(first for first, _ in spans), max(last for _, last in spans)
    return (top, bottom) if top <= bottom else None


def _reference(table: Table, rows: tuple[int, int] | None, columns: tuple[int, int]) -> Reference:
    if rows is None:
        raise Failure(REF)
    left = table.first_column
    return Reference(table.sheet, rows[0], left + columns[0], rows[1], left + columns[1])
