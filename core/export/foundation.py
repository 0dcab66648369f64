"""The Foundation: the chosen sheets of a workbook, and those formulas and names that mean the same without the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.export.order import ExportError
from core.files.write._xlsx import DROPPED
from core.files.write.formulas import KnownNames, plan_formulas
from core.files.write.package import is_name
from core.files.write.xlsx import fitting_tables, known_of
from core.formula.language import Area, Cell, FormulaError, Name, Node, Structured, parse, shapes
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import data_table_of
from core.grid.sheet import Formulas, Sheet, Table, Workbook, no_formulas
from core.grid.sheet_name import free_name
from core.redact.formulas import without


@dataclass(frozen=True, slots=True)
class Foundation:
    """What is exported of a workbook."""

    book: Workbook
    """The chosen sheets under names that an .xlsx can have, in the workbook's order."""
    dropped: int
    """Formulas of which only the value is kept: they read what is not exported, or are none."""
    names_dropped: int
    """Defined names, likewise."""


def chosen_places(book: Workbook, names: Sequence[str] | None) -> list[int]:
    """Return where the sheets of these names (in any case of letters) stand in the workbook, in its order; all for
    None.

    Raises:
        ExportError: a name is unknown, or there is no sheet.
    """
    folded = [sheet.name.casefold() for sheet in book.sheets]
    wanted = {name.casefold(): name for name in (folded if names is None else names)}
    for unknown in wanted.keys() - set(folded):
        raise ExportError(f"The workbook has no sheet {wanted[unknown][:100]!r}.")
    if not wanted:
        raise ExportError("An export needs at least one sheet.")
    return [at for at, name in enumerate(folded) if name in wanted]


def foundation_of(book: Workbook, sheets: Sequence[Sheet]) -> Foundation:
    """Return the workbook of these sheets alone.

    A formula is kept where all that it reads comes along: not one that names another sheet, another workbook, or a name
    or a table that means such; nor a text that cannot be read as a formula, which a spreadsheet would answer with an
    offer to repair the file; nor what the writer of .xlsx leaves out, so that what is hashed is what is written.
    """
    taken: set[str] = set()
    names = {sheet.name: free_name(sheet.name, taken) for sheet in sheets}
    same = [(name, sheet) for sheet in sheets if (name := names[sheet.name]) == sheet.name]
    tables = fitting_tables(book.tables, same)
    kept = _References(book, [sheet for _, sheet in same], tables)
    known = known_of([(names[sheet.name], sheet) for sheet in sheets], tables)
    new_sheets = []
    dropped = 0
    for index, sheet in enumerate(sheets):
        # By settings of a calculation that no export has, programs would come to other figures.
        has_settings = book.calculation != CALCULATION
        formulas = no_formulas() if has_settings else _kept_formulas(sheet, kept, known)
        dropped += len(sheet.formulas) - len(formulas)
        new_sheets.append(replace(sheet, index=index, name=names[sheet.name], formulas=formulas))
    new_sheets, tables_dropped = _without_data_tables(
        new_sheets
    )  # programs calculate a table anew, so its values alone are exported
    dropped += tables_dropped
    # By folded names: of two that a spreadsheet takes for one, the last.
    defined = {name.casefold(): (name, text) for name, text in book.defined_names.items()}
    local = {
        (sheet.casefold(), name.casefold()): (sheet, name, text) for (sheet, name), text in book.local_names.items()
    }
    workbook = Workbook(
        tuple(new_sheets),
        book.date_1904,
        book.number_formats,
        dict(definition for folded, definition in defined.items() if (None, folded) in kept.names),
        {(sheet, name): text for key, (sheet, name, text) in local.items() if key in kept.names},
        tuple(tables),
    )
    return Foundation(workbook, dropped, kept.names_dropped)


def _without_data_tables(sheets: Sequence[Sheet]) -> tuple[list[Sheet], int]:
    """Return the sheets with the values of data tables alone, and how many tables that concerns."""
    new_sheets, count = [], 0
    for sheet in sheets:
        formulas = sheet.formulas
        tables = np.zeros(len(formulas), bool)
        for at in formulas.arrays:
            tables[at] = data_table_of(formulas.text[int(formulas.texts[at])]) is not None
        count += int(tables.sum())
        new_sheets.append(replace(sheet, formulas=without(formulas, tables)) if tables.any() else sheet)
    return new_sheets, count


class _References:
    """Which references still mean the same."""

    def __init__(self, book: Workbook, sheets: Sequence[Sheet], tables: Sequence[Table]) -> None:
        """`sheets` and `tables` keep their names."""
        self._position = {sheet.name.casefold(): at for at, sheet in enumerate(book.sheets)}
        self._there = {sheet.name.casefold() for sheet in sheets}
        self._chosen = {at for name, at in self._position.items() if name in self._there}
        self._tables = {table.name.casefold(): table.sheet.casefold() for table in tables}
        self._all_tables = {table.name.casefold() for table in book.tables}
        texts = {(None, name): text for name, text in book.defined_names.items()} | {
            (sheet.casefold(), name): text
            for (sheet, name), text in book.local_names.items()
            if sheet.casefold() in self._there
        }
        # Names that begin so are a program's own: print areas, filters, newer functions.
        trees = {key: _tree(text) for key, text in texts.items() if not key[1].casefold().startswith("_xl")}
        self._defined = frozenset((sheet, name.casefold()) for sheet, name in texts)
        self.names: set[tuple[str | None, str]] = set()
        """(sheet or None, name), both folded, of the names that are kept."""
        able = {
            (sheet, name.casefold()): tree
            for (sheet, name), tree in trees.items()
            if tree is not None and is_name(name) and name.casefold() not in self._tables
        }
        self.names.update(able)
        while lost := {key for key in self.names if not self.holds(able[key], key[0])}:  # names that name names
            self.names -= lost
        self.names_dropped = len(trees) - len(self.names)

    def holds(self, tree: Node, own_sheet: str | None) -> bool:
        """Return whether all that a formula of a sheet (folded) reads is exported."""
        return all(self._is_there(node, own_sheet) for node in _nodes(tree))

    def _is_there(self, node: Node, own_sheet: str | None) -> bool:
        if isinstance(node, Structured):
            if node.table is None:  # of the table that the formula stands in
                return own_sheet in self._tables.values()
            return node.table.casefold() in self._tables
        if isinstance(node, Cell | Area):
            if node.sheet is None:
                return True
            if node.last_sheet is None:
                return node.sheet.casefold() in self._there
            first, last = (self._position.get(name.casefold(), -1) for name in (node.sheet, node.last_sheet))
            return -1 not in (first, last) and self._chosen.issuperset(range(min(first, last), max(first, last) + 1))
        if isinstance(node, Name):
            name = node.name.casefold()
            if node.sheet is not None:
                return (node.sheet.casefold(), name) in self.names
            if (own_sheet, name) in self._defined:
                return (own_sheet, name) in self.names
            if name in self._all_tables:
                return name in self._tables
            return (None, name) in self.names or (None, name) not in self._defined
        return True


def _tree(text: str) -> Node | None:
    try:
        return parse("=" + text.removeprefix("="))
    except FormulaError:
        return None


def _nodes(tree: Node) -> Iterator[Node]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += getattr(node, "arguments", ())
        waiting += [part for name in ("operand", "left", "right", "callee") if (part := getattr(node, name, None))]


def _kept_formulas(sheet: Sheet, kept: _References, known: KnownNames) -> Formulas:
    formulas = sheet.formulas
    if not len(formulas):
        return formulas
    origins, place = np.unique(formulas.origins, return_inverse=True)
    strings = formulas.text.strings()
    texts = ["=" + strings[code] for code in formulas.texts[origins].tolist()]
    rows, columns = (np.ascontiguousarray(array[origins]) for array in (formulas.rows, formulas.columns))
    codes, firsts = shapes(texts, rows, columns)
    own = sheet.name.casefold()
    lost = np.array([(tree := _tree(texts[first])) is None or not kept.holds(tree, own) for first in firsts], bool)
    dropped = lost[codes][place] | (plan_formulas(formulas, known).arrays[3] == DROPPED)
    return without(formulas, dropped) if dropped.any() else formulas
