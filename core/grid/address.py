"""A1 notation to 0-based rows and columns, back, and formulas moved from one cell to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from core.grid.sheet_name import in_quotes

ROWS_MAX: Final = 1_048_576
"""Rows that A1 notation reaches in a spreadsheet: the last is row 1048576."""

COLUMNS_MAX: Final = 16_384
"""Columns that A1 notation reaches: the last is XFD."""

_CELL: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


@lru_cache(maxsize=COLUMNS_MAX)
def column_name(column: int) -> str:
    """Return the letters of a 0-based column: 0 -> A, 16383 -> XFD.

    Raises:
        ValueError: the column is negative or past XFD.
    """
    if not 0 <= column < COLUMNS_MAX:
        raise ValueError(f"column {column} is outside A to XFD")
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


@lru_cache(maxsize=1_024)
def column_index(name: str) -> int:
    """Return the 0-based column of its letters, in either case: A -> 0, XFD -> 16383.

    Raises:
        ValueError: not one to three letters, or past XFD.
    """
    if not (1 <= len(name) <= 3 and name.isascii() and name.isalpha()):
        raise ValueError(f"{name!r} is not a column")
    index = 0
    for letter in name.upper():
        index = index * 26 + ord(letter) - 64
    if index > COLUMNS_MAX:
        raise ValueError(f"column {name!r} is past XFD")
    return index - 1


def cell_name(row: int, column: int) -> str:
    """Return the A1 name of a 0-based cell: (0, 0) -> A1.

    Raises:
        ValueError: the cell is outside A1 to XFD1048576.
    """
    if not 0 <= row < ROWS_MAX:
        raise ValueError(f"row {row} is outside 0 to {ROWS_MAX - 1}")
    return f"{column_name(column)}{row + 1}"


def parse_cell(name: str) -> tuple[int, int]:
    """Return the 0-based (row, column) of an A1 name.

    `$` marks are allowed and ignored.

    Raises:
        ValueError: not a cell between A1 and XFD1048576.
    """
    match = _CELL.fullmatch(name)
    if match is None or int(match[2]) > ROWS_MAX:
        raise ValueError(f"{name!r} is not a cell")
    return int(match[2]) - 1, column_index(match[1])


def range_name(first_row: int, first_column: int, last_row: int, last_column: int) -> str:
    """Return the A1 name of a range with inclusive 0-based corners.

    A single cell has no colon.
    """
    first = cell_name(first_row, first_column)
    last = cell_name(last_row, last_column)
    return first if first == last else f"{first}:{last}"


def place_name(sheet: str, first_row: int, last_row: int, column: int) -> str:
    """Return rows of one column as a formula names them, with the sheet in front."""
    quoted = sheet if sheet.replace("_", "").isalnum() else in_quotes(sheet)
    return f"{quoted}!{range_name(first_row, column, last_row, column)}"


def parse_range(name: str) -> tuple[int, int, int, int]:
    """Return the inclusive corners (first row, first column, last row, last column) of `A1:B2` or `A1`, in order.

    Raises:
        ValueError: not a range of cells.
    """
    first, _, last = name.partition(":")
    top, left = parse_cell(first)
    bottom, right = parse_cell(last) if last else (top, left)
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


# The words of a formula, in the order in which they must be tried: what only looks like a reference (text, sheet
# names, table columns, function names, numbers, names) is taken whole, so that nothing inside it moves.
_WORD: Final = re.compile(
    r"""
      "(?:[^"]|"")*+"?                                              # text
    | '(?:[^']|'')*+'!?                                             # a quoted sheet
    | \[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*+\])*+\]                   # a table's columns, or another workbook
    | [^\W\d][\w.]*+(?::[\w.]++)?!                                  # a sheet or a run of sheets
    | [^\W\d][\w.]*+(?=\()                                          # a function
    | (?P<rows>(?P<r1>\$?[1-9][0-9]{0,6}):(?P<r2>\$?[1-9][0-9]{0,6}))(?![\w.])
    | (?P<columns>(?P<c1>\$?[A-Za-z]{1,3}):(?P<c2>\$?[A-Za-z]{1,3}))(?![\w.(!])
    | (?P<cell>(?P<column>\$?[A-Za-z]{1,3})(?P<row>\$?[1-9][0-9]{0,6}))(?![\w.(!])
    | [0-9]++\.?[0-9]*+(?:[eE][+-]?[0-9]++)?                        # a number
    | [\w.\\$]++                                                    # a name
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


def move_formula(text: str, rows: int, columns: int) -> str:
    """Return a formula as it reads after being filled `rows` down and `columns` to the right; absolute parts (`$`)
    stay.

    A reference that leaves the sheet becomes #REF!.
    """
    return _WORD.sub(lambda word: _move(word, rows, columns), text)


class FormulaReference(NamedTuple):
    """What a formula names.

    An area (inclusive corners, and which of them stay when it is filled elsewhere), or a word that may be a defined
    name, a table, or a table's columns in their brackets.
    """

    sheet: str
    """Empty for the formula's own."""
    word: str
    """Empty for an area."""
    first_row: int = 0
    first_column: int = 0
    last_row: int = 0
    last_column: int = 0
    fixed: tuple[bool, bool, bool, bool] = (True, True, True, True)


def named_in(text: str) -> Iterator[FormulaReference]:
    """Yield the areas and words of a formula, from the left.

    A range by its two ends, of whatever they are made.
    """
    sheet, area, is_range = "", None, False
    for match in _WORD.finditer(text):
        named_area = _area(match, sheet)
        if named_area is not None and is_range and area is not None:
            area = _hull(area, named_area)
        elif match[0] == ":" and area is not None:
            is_range = True
            continue
        else:
            if area is not None:
                yield area
            area = named_area
        is_range = False
        quoted = match[0][1:-2].replace("''", "'") if match[0].startswith("'") else match[0][:-1]
        sheet = quoted if match[0].endswith("!") else ""
        if named_area is None and not sheet and (match[0][0].isalpha() or match[0][0] in "_\\["):
            yield FormulaReference(sheet, match[0])
    if area is not None:
        yield area


def _area(match: re.Match[str], sheet: str) -> FormulaReference | None:
    """Return the area that a word of a formula is; None for every other word."""
    try:
        if match["cell"]:
            row, column = int(match["row"].removeprefix("$")) - 1, column_index(match["column"].removeprefix("$"))
            fixed = match["row"].startswith("$"), match["column"].startswith("$")
            return FormulaReference(sheet, "", row, column, row, column, (*fixed, *fixed)) if row < ROWS_MAX else None
        if match["rows"]:
            first, last = (int(match[part].removeprefix("$")) - 1 for part in ("r1", "r2"))
            ends = match["r1"].startswith("$"), match["r2"].startswith("$")
            return FormulaReference(sheet, "", first, 0, last, COLUMNS_MAX - 1, (ends[0], True, ends[1], True))
        if match["columns"]:
            first, last = (column_index(match[part].removeprefix("$")) for part in ("c1", "c2"))
            ends = match["c1"].startswith("$"), match["c2"].startswith("$")
            return FormulaReference(sheet, "", 0, first, ROWS_MAX - 1, last, (True, ends[0], True, ends[1]))
    except ValueError:  # past XFD: a name
        return None
    return None


def _hull(named: FormulaReference, other_named: FormulaReference) -> FormulaReference:
    return FormulaReference(
        named.sheet,
        "",
        named.first_row,
        named.first_column,
        other_named.last_row,
        other_named.last_column,
        (*named.fixed[:2], *other_named.fixed[2:]),
    )


def fill_down(text: str, count: int) -> Iterator[str]:
    """Yield a formula and what it reads in each of the `count - 1` cells below.

    `move_formula` for many cells at once.
    """
    pieces: list[str] = []
    rows: list[int] = []
    written = ""
    at = 0
    for word in _WORD.finditer(text):
        for part in ("row", "r1", "r2"):
            if word[part] and not word[part].startswith("$") and int(word[part]) <= ROWS_MAX:
                written += text[at : word.start(part)]
                at = word.end(part)
                pieces.append(written)
                rows.append(int(word[part]))
                written = ""
    written += text[at:]
    fitting = min(count, ROWS_MAX + 1 - max(rows, default=0))
    for down in range(fitting):
        yield "".join([piece + str(row + down) for piece, row in zip(pieces, rows, strict=True)]) + written
    for down in range(fitting, count):  # a reference has left the sheet
        yield move_formula(text, down, 0)


def _move(word: re.Match[str], rows: int, columns: int) -> str:
    if word["cell"]:
        parts = [_moved_column(word["column"], columns), _moved_row(word["row"], rows)]
        joint = ""
    elif word["rows"]:
        parts = [_moved_row(word["r1"], rows), _moved_row(word["r2"], rows)]
        joint = ":"
    elif word["columns"]:
        parts = [_moved_column(word["c1"], columns), _moved_column(word["c2"], columns)]
        joint = ":"
    else:
        return word[0]
    if "?" in parts:  # past the sheet as it stands: a name such as XFE1, not a reference
        return word[0]
    return "#REF!" if "" in parts else joint.join(parts)


def _moved_row(row: str, by: int) -> str:
    """Return the moved row, empty off the sheet, "?" where it never was on it."""
    number = int(row.removeprefix("$"))
    if number > ROWS_MAX:
        return "?"
    if row.startswith("$"):
        return row
    return str(number + by) if 1 <= number + by <= ROWS_MAX else ""


def _moved_column(column: str, by: int) -> str:
    """Return the moved column, empty off the sheet, "?" where it never was on it."""
    letters = column.removeprefix("$").upper()
    if len(letters) == 3 and letters > "XFD":
        return "?"
    if column.startswith("$"):
        return column
    moved = column_index(letters) + by
    return column_name(moved) if 0 <= moved < COLUMNS_MAX else ""
