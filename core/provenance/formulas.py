"""The normal form of a formula.

What programs write differently is gone, and where it stands does not show.

A formula is read by the grammar of `core.formula.language` and written in prefix notation without blanks:

| part | normal form |
|---|---|
| number | C's `%.15g` of the number at 15 digits (`canonical` defines it) |
| text | in quotes, quotes inside doubled, letters as they are |
| TRUE, FALSE | the calls `true()`, `false()` |
| error | as Excel writes it: `#N/A` |
| array | `{1,2;3,4}` of constants |
| cell | `r5c3` where absolute, `r[-1]c[2]` where relative: rows and columns from the formula's own cell |
| range | two cells with `:`; one cell where both are the same; columns `c1:c[2]`, rows `r1:r[2]` |
| of another sheet | `'sheet'!` before it, `'first:last'!` for several; quotes inside doubled |
| name | the name, of another sheet with `'sheet'!` before it (LibreOffice leaves a formula's own sheet out) |
| columns of a table | `table[#this row;first:last]`, what is not said left out |
| operation | the sign before its operands in parentheses: `+(a,b)`, `-(a)`, `%(a)`, `@(a)`, `#(a)`; union `,(a,b)` |
| call | `name(a,b)` without `_xlfn.`, `_xlws.`, `_xlpm.`; an argument left out is empty; a called value is `()(f,a)` |

All but texts and errors is in lower case. `~`, which LibreOffice writes for a union, is one. A text that is no formula
by the grammar is `?` and the text in lower case, without blanks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.formula.language import (
    Area,
    ArrayLiteral,
    Binary,
    Call,
    Cell,
    Empty,
    FormulaError,
    Invoke,
    Literal,
    Name,
    Node,
    Spill,
    Structured,
    Unary,
    children,
    functions,
    parse,
    shapes,
)
from core.grid._intern import intern
from core.grid.address import parse_range
from core.grid.sheet import Formulas
from core.grid.sheet_name import in_quotes
from core.provenance._canonical import rounded
from core.values import ERROR_CODE

VOLATILE: Final = frozenset(
    {"NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "RAND.NV", "RANDBETWEEN.NV", "CELL", "INFO"}
)
"""Functions whose value depends on when or where a file is opened."""

ARRAY: Final = 1
UNSTEADY: Final = 2
_CONSTANTS: Final[Mapping[str, int]] = {"true()": 1, "false()": 2} | {
    text: 3 + code for text, code in ERROR_CODE.items()
}
"""Formulas that programs write for a constant, by their normal form; the figures are those of `_canonical`."""


@dataclass(frozen=True, slots=True)
class Forms:
    """The formulas of a sheet in normal form.

    Arrays of one item for each formula, in the order of `Formulas`.
    """

    codes: NDArray[np.int32]
    """Into `texts`, `constants` and `trees`."""
    flags: NDArray[np.uint8]
    """ARRAY where it fills a range, UNSTEADY where its value is not covered."""
    extents: NDArray[np.int32]
    """Rows and columns that an array formula fills; 0 and 0 for every other."""
    texts: tuple[NDArray[np.int64], NDArray[np.uint8]]
    """Offsets and UTF-8 bytes of the normal forms."""
    constants: NDArray[np.int8]
    """What a form is worth by itself: 0 nothing, 1 TRUE, 2 FALSE, from 3 on the error of the code less 3."""
    trees: list[Node | None]
    """None for what is no formula."""


def forms_of(formulas: Formulas, sheet: str) -> Forms:
    """Return the normal forms of a sheet's formulas.

    Each formula that was filled down or across is read once.
    """
    strings = formulas.text.strings()
    origins, places = np.unique(formulas.origins, return_inverse=True)
    rows, columns = (np.ascontiguousarray(axis[origins]) for axis in (formulas.rows, formulas.columns))
    texts = ["=" + strings[code] for code in formulas.texts[origins].tolist()]
    shape_codes, firsts = shapes(texts, rows, columns)
    trees = [_tree(texts[at], int(rows[at]), int(columns[at])) for at in firsts]
    written = [
        _unreadable(texts[at]) if tree is None else normal_form(tree, sheet)
        for at, tree in zip(firsts, trees, strict=True)
    ]
    forms, offsets, data = intern(written)
    distinct = np.zeros(len(offsets) - 1, np.int64)
    distinct[forms[::-1]] = np.arange(len(forms))[::-1]  # the first shape of each form
    flags = np.zeros(len(formulas), np.uint8)
    extents = np.zeros((len(formulas), 2), np.int32)
    for at, area in formulas.arrays.items():
        top, left, bottom, right = parse_range(area)
        flags[at] = ARRAY
        extents[at] = bottom - top + 1, right - left + 1
    return Forms(
        forms[shape_codes[places]].astype(np.int32, copy=False),
        flags,
        extents,
        (offsets, data),
        np.array([_CONSTANTS.get(written[at], 0) for at in distinct.tolist()], np.int8),
        [trees[at] for at in distinct.tolist()],
    )


def normal_form(tree: Node, sheet: str) -> str:
    """Return the normal form of a formula on a sheet."""
    out: list[str] = []
    _write(tree, sheet.lower(), out)
    return "".join(out)


def definition_form(text: str) -> str:
    """Return the normal form of what a name stands for, as it reads in A1.

    `text` without '='.
    """
    tree = _tree("=" + text, 0, 0)
    return _unreadable("=" + text) if tree is None else normal_form(tree, "")


def is_volatile(tree: Node | None) -> bool:
    """Return whether a formula calls one of `VOLATILE` itself."""
    return tree is not None and not VOLATILE.isdisjoint(functions(tree))


def _tree(text: str, row: int, column: int) -> Node | None:
    try:
        return parse(text, row, column)
    except FormulaError:
        pass
    if "~" not in text:
        return None
    pieces = text.split('"')  # what stands at an odd place is inside quotes
    pieces[::2] = [piece.replace("~", ",") for piece in pieces[::2]]
    try:
        return parse('"'.join(pieces), row, column)
    except FormulaError:
        return None


def _unreadable(text: str) -> str:
    return "?" + "".join(text[1:].lower().split())


def _write(node: Node, sheet: str, out: list[str]) -> None:
    match node:
        case Literal(value=value):
            out.append(_constant(value))
        case Cell():
            out += (_prefix(node.sheet, node.last_sheet), _corner(node))
        case Area(first=first, last=last):
            rows, columns = not node.whole_columns, not node.whole_rows
            first_corner, last_corner = _corner(first, rows, columns), _corner(last, rows, columns)
            whole = (
                first_corner if first_corner == last_corner and rows and columns else f"{first_corner}:{last_corner}"
            )
            out += (_prefix(node.sheet, node.last_sheet), whole)
        case Name(name=name):
            own = node.sheet is None or node.sheet.lower() == sheet
            out.append(("" if own else _prefix(node.sheet, None)) + name.lower())
        case Structured():
            columns_named = "" if node.first is None else f"{node.first}:{node.last}"
            out.append(f"{node.table or ''}[{','.join(node.items)};{columns_named}]".lower())
        case Unary() | Spill() | Binary() | Call() | Invoke():
            _call(_operation(node), children(node), sheet, out)
        case ArrayLiteral(rows=lines):
            out.append("{" + ";".join(",".join(map(_constant, line)) for line in lines) + "}")
        case _:
            assert isinstance(node, Empty), type(node)


def _operation(node: Unary | Spill | Binary | Call | Invoke) -> str:
    """Return the name of what a node does with the nodes below it."""
    match node:
        case Unary() | Binary():
            return node.operator
        case Call():
            return node.name.lower()
        case Spill():
            return "#"
    return "()"


def _call(name: str, arguments: tuple[Node, ...], sheet: str, out: list[str]) -> None:
    out += (name, "(")
    for at, argument in enumerate(arguments):
        if at:
            out.append(",")
        _write(argument, sheet, out)
    out.append(")")


def _constant(value: object) -> str:
    if isinstance(value, bool):
        return "true()" if value else "false()"
    if isinstance(value, int | float):
        return f"{rounded(float(value)):.15g}"
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(getattr(value, "text"))  # noqa: B009 - an error of the language, whose class is compiled


def _corner(cell: Cell, rows: bool = True, columns: bool = True) -> str:
    row = f"r{cell.row + 1}" if cell.row_absolute else f"r[{cell.row}]"
    column = f"c{cell.column + 1}" if cell.column_absolute else f"c[{cell.column}]"
    return (row if rows else "") + (column if columns else "")


def _prefix(sheet: str | None, last_sheet: str | None) -> str:
    if sheet is None:
        return ""
    whole = sheet if last_sheet is None else f"{sheet}:{last_sheet}"
    return in_quotes(whole.lower()) + "!"
