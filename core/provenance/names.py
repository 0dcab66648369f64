"""The defined names that the formulas of some sheets use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.formula.language import FormulaError, Name, Node, parse, walk
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import in_quotes
from core.provenance.formulas import Forms

USED_MAX: Final = 10_000
"""Names that are followed; those found after them are not covered."""


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A defined name."""

    key: str
    """The name in lower case; one that belongs to a sheet as 'sheet'!name."""
    text: str
    """What it stands for, without '='."""


LISTED_MAX: Final = 1_000
"""Names of an export that its manifest lists: 64 KB of names that are not long."""


def all_names(book: Workbook) -> tuple[str, ...] | None:
    """Return all names' keys in order; None for more than LISTED_MAX."""
    keys = {name.lower() for name in book.defined_names}
    keys |= {f"{in_quotes(sheet.lower())}!{name.lower()}" for sheet, name in book.local_names}
    return tuple(sorted(keys)) if len(keys) <= LISTED_MAX else None


class NameTable:
    """What the names of a workbook stand for.

    Its own names, and those of each sheet, without regard to case.
    """

    def __init__(self, book: Workbook) -> None:
        self._global = {name.lower(): text for name, text in book.defined_names.items()}
        self._local = {(sheet.lower(), name.lower()): text for (sheet, name), text in book.local_names.items()}

    def find(self, sheet: str, node: Name) -> DefinedName | None:
        """Return what a name means on a sheet; None where it is not defined."""
        name = node.name.lower()
        home = (node.sheet or sheet).lower()
        if (text := self._local.get((home, name))) is not None:
            return DefinedName(f"{in_quotes(home)}!{name}", text)
        text = self._global.get(name)
        return None if text is None else DefinedName(name, text)

    def tree(self, text: str) -> Node | None:
        """Return what a name's text says; None where it is no formula."""
        try:
            return parse("=" + text)
        except FormulaError:
            return None


def names_used(book: Workbook, sheets: Sequence[Sheet], forms: Sequence[Forms]) -> list[tuple[str, str]]:
    """Return (name, definition without '=') of each name that the formulas use, themselves or through names, in
    order."""
    if not book.defined_names and not book.local_names:
        return []
    table = NameTable(book)
    used: dict[str, str] = {}
    waiting: list[tuple[str, Node]] = [
        (sheet.name, tree) for sheet, form in zip(sheets, forms, strict=True) for tree in form.trees if tree is not None
    ]
    while waiting and len(used) < USED_MAX:
        sheet_name, tree = waiting.pop()
        for known in _names_in(table, sheet_name, tree):
            if known.key not in used:
                used[known.key] = known.text
                below = table.tree(known.text)
                if below is not None:
                    waiting.append((sheet_name, below))
    return sorted(used.items(), key=lambda item: item[0].encode())


def _names_in(table: NameTable, sheet: str, tree: Node) -> Iterator[DefinedName]:
    for node, _ in walk(tree):
        if isinstance(node, Name) and (known := table.find(sheet, node)) is not None:
            yield known
