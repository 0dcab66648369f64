"""Functions about references: where cells are, and cells by their address."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.functions.tables.arrays import whole
from core.formula.functions.text.text import bounded
from core.formula.language import tree
from core.formula.language.errors import SyntaxFault
from core.formula.language.parser import parse
from core.formula.ranges.environment import Environment
from core.formula.values.value import NA, REF, VALUE, Array, Error, Failure, Lambda, Reference
from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_index, column_name
from core.values import Kind

_REFERENCE: Final = Argument("reference", Takes.REFERENCE, "The cells; the own cell if left out.", required=False)
_ARRAY: Final = Argument("array", Takes.OPERAND, "The range or array.")


@function(
    "ROW", "lookup", "Gives the row number of a reference, of every row where it has several.", _REFERENCE,
    environment=True,
    examples=(("=ROW(C10)", 10.0), ("=SUM(ROW(A1:A3))", 6.0)),
)  # fmt: skip
def row(environment: Environment, reference: Reference | None = None) -> Any:
    if reference is None:
        return environment.row + 1.0
    count = environment.spend(reference.rows) or reference.rows
    if count == 1:
        return reference.top + 1.0
    return Array(count, 1, [float(place) for place in range(reference.top + 1, reference.bottom + 2)])


@function(
    "COLUMN", "lookup", "Gives the column number of a reference, of every column where it has several.", _REFERENCE,
    environment=True,
    examples=(("=COLUMN(D10)", 4.0), ("=SUM(COLUMN(A1:C1))", 6.0)),
)  # fmt: skip
def column(environment: Environment, reference: Reference | None = None) -> Any:
    if reference is None:
        return environment.column + 1.0
    if reference.columns == 1:
        return reference.left + 1.0
    return Array(1, reference.columns, [float(place) for place in range(reference.left + 1, reference.right + 2)])


@function(
    "ROWS", "lookup", "Counts the rows of a range or array.", _ARRAY,
    examples=(("=ROWS(C1:E4)", 4.0), ("=ROWS({1,2,3;4,5,6})", 2.0)),
)  # fmt: skip
def rows(array: Any) -> float:
    return float(_extent(array)[0])


@function(
    "COLUMNS", "lookup", "Counts the columns of a range or array.", _ARRAY,
    examples=(("=COLUMNS(C1:E4)", 3.0), ("=COLUMNS({1,2,3;4,5,6})", 3.0)),
)  # fmt: skip
def columns(array: Any) -> float:
    return float(_extent(array)[1])


def _extent(array: Any) -> tuple[int, int]:
    if isinstance(array, Error):
        raise Failure(array)
    if isinstance(array, Reference) and array.more:
        raise Failure(REF)
    return (array.rows, array.columns) if isinstance(array, Array | Reference) else (1, 1)


@function(
    "AREAS", "lookup", "Counts the areas of a reference.", Argument("reference", Takes.REFERENCE, "The reference."),
    examples=(("=AREAS((B2:D4,E5,F6:I9))", 3.0), ("=AREAS(B2:D4)", 1.0)),
)  # fmt: skip
def areas(reference: Reference) -> float:
    return float(len(reference.areas))


# -- addresses as text


@function(
    "ADDRESS", "lookup", "Writes the address of a cell.", Argument("row_num", Takes.INTEGER, "The row."),
    Argument("column_num", Takes.INTEGER, "The column."),
    Argument("abs_num", Takes.INTEGER, "1 absolute, 2 row only, 3 column only, 4 relative.", required=False, empty=1),
    Argument("a1", Takes.LOGICAL, "FALSE writes R1C1.", required=False, empty=True),
    Argument("sheet_text", Takes.TEXT, "The sheet to put before it.", required=False, empty=OMITTED),
    examples=(
        ("=ADDRESS(2,3)", "$C$2"), ("=ADDRESS(2,3,2,FALSE)", "R2C[3]"),
        ('=ADDRESS(2,3,1,FALSE,"EXCEL SHEET")', "'EXCEL SHEET'!R2C3"),
    ),
)  # fmt: skip
def address(row: int, column: int, form: int = 1, a1: bool = True, sheet: Any = OMITTED) -> str:
    if not (1 <= row <= ROWS_MAX and 1 <= column <= COLUMNS_MAX and 1 <= form <= 4):
        raise Failure(VALUE)
    row_fixed, column_fixed = form in (1, 2), form in (1, 3)
    if a1:
        name = f"{'$' * column_fixed}{column_name(column - 1)}{'$' * row_fixed}{row}"
    else:
        name = (f"R{row}" if row_fixed else f"R[{row}]") + (f"C{column}" if column_fixed else f"C[{column}]")
    return bounded(name if sheet is OMITTED else f"{quoted_sheet(sheet)}!{name}")


_PLAIN_SHEET: Final = re.compile(r"(\[[\w.]+\])?[^\W\d][\w.]*|")
"""A word, after a book's name in brackets or without one."""
_LIKE_A_CELL: Final = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}|[Rr][0-9]*|[Cc][0-9]*|[Rr][0-9]*[Cc][0-9]*")


def quoted_sheet(name: str) -> str:
    """Return the name of a sheet as it stands in a formula.

    In quotes unless it is a plain word that is no cell.
    """
    if _PLAIN_SHEET.fullmatch(name) and not (name and _LIKE_A_CELL.fullmatch(name)):
        return name
    return "'" + name.replace("'", "''") + "'"


def sheet_place(environment: Environment, name: str) -> int | None:
    """Return the 0-based place of a sheet by its name, without case, or None."""
    folded = name.casefold()
    return next((place for place, sheet in enumerate(environment.sheets()) if sheet.casefold() == folded), None)


# -- cells by their address


@function(
    "INDIRECT", "lookup", "Gives the cells that a text names.",
    Argument("ref_text", Takes.TEXT, "An address, or a defined name."),
    Argument("a1", Takes.LOGICAL, "FALSE reads R1C1.", required=False),
    environment=True, volatile=True,
    examples=(('=INDIRECT("A"&2)', 20.0), ('=SUM(INDIRECT("A1:A3"))', 60.0), ('=INDIRECT("R1C2",FALSE)', "apple")),
)  # fmt: skip
def indirect(environment: Environment, text: str, a1: bool = True) -> Any:
    text = text.strip(" ")
    sheet, _, local = text.rpartition("!")
    if len(text) > 255 or (sheet and not sheet.startswith("'") and not _BARE_SHEET.fullmatch(sheet)):
        raise Failure(REF)
    match = _A1.fullmatch(local) if a1 else None
    if match and not sheet.startswith("'"):
        reference = _a1_reference(match)
    elif a1:
        return _parsed(environment, text, a1=True)
    else:
        sheet = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
        reference = _r1c1_reference(environment, local)
    if reference is None:
        return _parsed(environment, text, a1=a1)
    if "!" not in text:
        return reference
    return _on_sheet(environment, reference, sheet)


_BARE_SHEET: Final = re.compile(r"[^\x00-\x2d/:;<=>@\[\]^`{|}~\x7f]+")
"""A sheet's name that INDIRECT takes without quotes: any letters, digits, dots and underscores, in any order."""
_A1: Final = re.compile(
    r"\$?([A-Za-z]{1,3})\$?(0{0,9}[1-9][0-9]{0,6})(?::\$?([A-Za-z]{1,3})\$?(0{0,9}[1-9][0-9]{0,6}))?"
)
"""Excel takes zeros before the number of a row: A01."""
_R1C1: Final = re.compile(
    r"(?:(R)([0-9]+|\[-?[0-9]+\])?)?(?:(C)([0-9]+|\[-?[0-9]+\])?)?(?::(?:(R)([0-9]+|\[-?[0-9]+\])?)?(?:(C)([0-9]+|\[-?[0-9]+\])?)?)?",
    re.IGNORECASE,
)


def _a1_reference(match: re.Match[str]) -> Reference | None:
    first, top, last, bottom = match.groups()
    try:
        left = column_index(first)
        right = column_index(last) if last else left
    except ValueError:
        return None
    above, below = int(top) - 1, int(bottom or top) - 1
    if max(above, below) >= ROWS_MAX:
        return None
    return Reference(None, min(above, below), min(left, right), max(above, below), max(left, right))


def _r1c1_reference(environment: Environment, text: str) -> Reference | None:
    """R1C1, R[-1]C, R2:R4, C3 and ranges of them.

    What has brackets counts from the own cell.
    """
    match = _R1C1.fullmatch(text)
    if not match or not (match[1] or match[3]):
        return None
    if ":" in text and (bool(match[1]), bool(match[3])) != (bool(match[5]), bool(match[7])):
        return None  # a cell and a whole row make no range
    corners = [_corner(environment, *match.groups()[:4])]
    if ":" in text:
        corners.append(_corner(environment, *match.groups()[4:]))
    top, left = min(corner[0] for corner in corners), min(corner[1] for corner in corners)
    bottom, right = max(corner[2] for corner in corners), max(corner[3] for corner in corners)
    if top < 0 or left < 0 or bottom >= ROWS_MAX or right >= COLUMNS_MAX:
        raise Failure(REF)
    return Reference(None, top, left, bottom, right)


def _corner(
    environment: Environment, row_mark: str | None, row: str | None, column_mark: str | None, column: str | None
) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right).

    A whole row or column where only one of both is named.
    """
    top, bottom = (_part(row, environment.row, ROWS_MAX),) * 2 if row_mark else (0, ROWS_MAX - 1)
    left, right = (_part(column, environment.column, COLUMNS_MAX),) * 2 if column_mark else (0, COLUMNS_MAX - 1)
    return top, left, bottom, right


def _part(written: str | None, own: int, count: int) -> int:
    """Return the place of a row or column among `count`.

    A distance past the edge comes back at the other one.
    """
    if not written:
        return own
    if not written.startswith("["):
        return int(written) - 1
    distance = int(written[1:-1])
    if abs(distance) >= count:
        raise Failure(REF)
    return (own + distance) % count


def _on_sheet(environment: Environment, reference: Reference, name: str) -> Reference:
    place = sheet_place(environment, name)
    if place is None:
        raise Failure(REF)
    sheet = environment.sheets()[place]
    return Reference(sheet, reference.top, reference.left, reference.bottom, reference.right)


def _parsed(environment: Environment, text: str, *, a1: bool) -> Any:
    """Return whatever else names cells.

    Whole columns, quoted sheets, defined names, tables, spills.
    """
    if not text:
        raise Failure(REF)
    sheet, mark, local = text.rpartition("!")
    if mark and not sheet.startswith("'"):  # a formula takes fewer names without quotes
        text = f"'{sheet}'!{local}"
    try:
        node = parse("=" + text)
    except SyntaxFault as fault:
        raise Failure(REF) from fault
    referred = _referred(environment, node) if a1 or isinstance(node, tree.Name | tree.Structured) else REF
    if isinstance(referred, Reference | Array):
        return referred
    raise Failure(referred if isinstance(referred, Error) else REF)


def _referred(environment: Environment, node: tree.Node) -> Any:
    """Return what a node of an address means; None for one that is none.

    The formula is read as one of cell A1.
    """
    if isinstance(node, tree.Cell) and node.last_sheet is None:
        return _placed(environment, node.sheet, node, node)
    if isinstance(node, tree.Area) and node.last_sheet is None:
        return _placed(environment, node.sheet, node.first, node.last)
    if isinstance(node, tree.Name):
        meant = environment.name(node.sheet, node.name)
        return REF if isinstance(meant, Error | Lambda) or not isinstance(meant, Reference | Array) else meant
    if isinstance(node, tree.Structured) and node.table is not None:
        return environment.structured(node)
    if isinstance(node, tree.Spill):
        start = _referred(environment, node.operand)
        spilled = environment.spill(start.sheet, start.top, start.left) if isinstance(start, Reference) else None
        return spilled or REF
    return None


def _placed(environment: Environment, sheet: str | None, first: tree.Cell, last: tree.Cell) -> Reference:
    top, bottom = sorted((first.row, last.row))
    left, right = sorted((first.column, last.column))
    if bottom >= ROWS_MAX or right >= COLUMNS_MAX:
        raise Failure(REF)
    reference = Reference(None, top, left, bottom, right)
    return reference if sheet is None else _on_sheet(environment, reference, sheet)


@function(
    "OFFSET", "lookup", "Gives the cells at a distance from others.",
    Argument("reference", Takes.REFERENCE, "Where to start."), Argument("rows", Takes.INTEGER, "How many rows down."),
    Argument("cols", Takes.INTEGER, "How many columns to the right."),
    Argument("height", Takes.NUMBER, "How many rows; as many as the start if left out.", required=False, empty=OMITTED),
    Argument("width", Takes.NUMBER, "How many columns.", required=False, empty=OMITTED),
    volatile=True,
    examples=(("=OFFSET(A1,2,1)", "cherry"), ("=SUM(OFFSET(A1,1,0,2,1))", 50.0), ("=OFFSET(A1,-1,0)", REF)),
)  # fmt: skip
def offset(reference: Reference, down: int, across: int, height: Any = OMITTED, width: Any = OMITTED) -> Reference:
    if reference.more:
        raise Failure(VALUE)
    top, bottom = _stretch(reference.top + down, reference.rows if height is OMITTED else height)
    left, right = _stretch(reference.left + across, reference.columns if width is OMITTED else width)
    if top < 0 or left < 0 or bottom >= ROWS_MAX or right >= COLUMNS_MAX:
        raise Failure(REF)
    return Reference(reference.sheet, top, left, bottom, right)


def _stretch(start: int, wanted: float) -> tuple[int, int]:
    """First and last place of a stretch; a negative size reaches back from its start.

    Excel cuts the fraction off a size, but takes one below 1 as 1.
    """
    if wanted == 0:
        raise Failure(REF)
    size = int(wanted) or (1 if wanted > 0 else -1)
    return (start, start + size - 1) if size > 0 else (start + size + 1, start)


# -- formulas and blanks of cells

_OPERATORS: Final = re.compile(
    r"_xlfn\.(?:ANCHORARRAY\((?P<spilled>[^()]*)\)|SINGLE\((?P<single>[^()]*)\)"
    r"|_TRO_(?P<sides>LEADING|TRAILING|ALL)\((?P<first>[^()]*):(?P<last>[^():]*)\))"
)
"""How a file writes A1#, @A1:A3 and A1:.A3."""

_COLONS: Final = {"LEADING": ".:", "TRAILING": ":.", "ALL": ".:."}

_PREFIXES: Final = re.compile(r'("(?:[^"]|"")*"?)|_xlfn\.(?:_xlws\.)?|_xlws\.|_xlpm\.|_xleta\.|_xludf\.', re.IGNORECASE)


@function(
    "FORMULATEXT", "lookup", "Gives the formula of a cell as text.",
    Argument("reference", Takes.REFERENCE, "The cell."),
    environment=True,
    examples=(("=FORMULATEXT(A1)", NA),),
)  # fmt: skip
def formulatext(environment: Environment, reference: Reference) -> Any:
    if reference.more:
        raise Failure(VALUE)
    return of_formulas(environment, reference, _formula_text, NA)


def of_formulas(
    environment: Environment,
    reference: Reference,
    answer_of: Callable[[Environment, str | None, int, int], Any],
    without: Any,
) -> Any:
    """Return an answer on the formula of each cell.

    `without` for the cells beyond the used ones.
    """
    environment.spend(reference.rows * reference.columns)
    rows, columns = environment.used(reference.sheet)
    used_rows, used_columns = min(reference.bottom + 1, rows), min(reference.right + 1, columns)
    answers: list[Any] = []
    for row in range(reference.top, used_rows):
        environment.spend(used_columns)
        line = [answer_of(environment, reference.sheet, row, at) for at in range(reference.left, used_columns)]
        answers += line + [without] * (reference.columns - len(line))
    answers += [without] * (reference.rows * reference.columns - len(answers))
    return answers[0] if len(answers) == 1 else Array(reference.rows, reference.columns, answers)


def _formula_text(environment: Environment, sheet: str | None, row: int, column: int) -> str | Error:
    """Return the formula as Excel shows it, without the marks that a file puts before newer functions."""
    formula = environment.formula(sheet, row, column)
    if formula is None:
        return NA
    return _PREFIXES.sub(lambda match: match[1] or "", _OPERATORS.sub(_as_operator, formula))


def _as_operator(match: re.Match[str]) -> str:
    if match["sides"]:
        return f"{match['first']}{_COLONS[match['sides']]}{match['last']}"
    return f"{match['spilled']}#" if match["spilled"] else f"@{match['single']}"


def _sides(option: Array | None) -> int:
    """Return which sides are trimmed, as bits."""
    if option is None:
        return 3
    sides = whole(option.at(0, 0)) if option.rows == option.columns == 1 else -1
    if not 0 <= sides <= 3:
        raise Failure(VALUE)
    return sides


def _filled(array: Array) -> tuple[Sequence[int], Sequence[int]]:
    """Return the rows and columns that are not blank throughout, of each the first and the last at least."""
    if array.spans is not None:
        places = [np.flatnonzero(np.asarray(span.kinds) != Kind.BLANK) for span in array.spans]
        ends = [(int(filled[0]), int(filled[-1])) for filled in places if len(filled)]
        columns = [place for place, filled in enumerate(places) if len(filled)]
        return ([min(first for first, _ in ends), max(last for _, last in ends)] if ends else []), columns
    grid = array.grid()
    rows = [place for place, line in enumerate(grid) if any(value is not None for value in line)]
    return rows, [place for place in range(array.columns) if any(line[place] is not None for line in grid)]


@function(
    "TRIMRANGE", "lookup", "Leaves out the empty rows and columns around the filled part of a range.",
    Argument("range", Takes.OPERAND, "The range or array."),
    Argument("trim_rows", Takes.ARRAY, "0 no rows, 1 above, 2 below, 3 both.", required=False, empty=3.0),
    Argument("trim_cols", Takes.ARRAY, "0 no columns, 1 left, 2 right, 3 both.", required=False, empty=3.0),
    environment=True,
    examples=(("=ROWS(TRIMRANGE(A1:A9))", 5.0),),
)  # fmt: skip
def trimrange(environment: Environment, operand: Any, rows: Array | None = None, columns: Array | None = None) -> Any:
    if isinstance(operand, Error):
        raise Failure(operand)
    trim_rows, trim_columns = _sides(rows), _sides(columns)
    array = environment.array(operand) if isinstance(operand, Reference) else operand
    if not isinstance(array, Array):
        return operand
    full_rows, full_columns = _filled(array)
    if not full_rows:
        raise Failure(REF)
    height, width = (operand.rows, operand.columns) if isinstance(operand, Reference) else (array.rows, array.columns)
    top, bottom = full_rows[0] if trim_rows & 1 else 0, full_rows[-1] if trim_rows & 2 else height - 1
    left, right = full_columns[0] if trim_columns & 1 else 0, full_columns[-1] if trim_columns & 2 else width - 1
    if isinstance(operand, Reference):
        return Reference(
            operand.sheet, operand.top + top, operand.left + left, operand.top + bottom, operand.left + right
        )
    cells = [value for line in array.grid()[top : bottom + 1] for value in line[left : right + 1]]
    return Array(bottom - top + 1, right - left + 1, cells)
