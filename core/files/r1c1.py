"""Formulas in R1C1 notation, in which SpreadsheetML has them, to A1 notation."""

from __future__ import annotations

import re
from typing import Final

from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_name

_ROW: Final = r"[Rr](?:\[-?\d{1,8}\]|\d{1,8})?"
_COLUMN: Final = r"[Cc](?:\[-?\d{1,6}\]|\d{1,6})?"
_REFERENCE: Final = rf"(?:{_ROW}{_COLUMN}|{_ROW}|{_COLUMN})"
_TOKEN: Final = re.compile(
    rf"""
    "(?:[^"]|"")*" | '(?:[^']|'')*'           # a text, the name of a sheet
    | \#[A-Za-z/0!?]+                          # an error
    | (?P<first>{_REFERENCE}) (?: : (?P<last>{_REFERENCE}) )? (?![\w.(\[!])
    | [\w.\\?]+ (?:\[[^\]]*\])?                # a name, a function, a number
    """,
    re.VERBOSE,
)
_PART: Final = re.compile(r"(?P<axis>[RrCc])(?:\[(?P<offset>-?\d+)\]|(?P<place>\d*))")
_OUTSIDE: Final = "#REF!"


def to_a1(formula: str, row: int, column: int) -> str:
    """Return a formula of the cell in `row` and `column` (0-based) in A1 notation.

    R[-1]C in B3 is B2, R1C1 is $A$1.

    What leaves the sheet is #REF!; what is no reference stays as it is.
    """

    def translate(token: re.Match[str]) -> str:
        first, last = token["first"], token["last"]
        if first is None:
            return token[0]
        ends = [_names(text, row, column) for text in (first, last) if text]
        if None in ends:
            return _OUTSIDE
        (top, left), (bottom, right) = ends[0], ends[-1]  # type: ignore[misc]
        if bool(top) != bool(bottom) or bool(left) != bool(right):
            return token[0]  # a row beside a cell
        if last is None and top and left:
            return left + top
        return f"{left}{top}:{right}{bottom}"

    return _TOKEN.sub(translate, formula)


def _names(reference: str, row: int, column: int) -> tuple[str, str] | None:
    """Return the row and the column of a reference in A1 notation, "" for the whole of one; None outside the sheet."""
    axes = {"R": "", "C": ""}
    for part in _PART.finditer(reference):
        axis = part["axis"].upper()
        own, end = (row, ROWS_MAX) if axis == "R" else (column, COLUMNS_MAX)
        is_fixed = bool(part["place"])
        at = int(part["place"]) - 1 if is_fixed else own + int(part["offset"] or 0)
        if not 0 <= at < end:
            return None
        axes[axis] = ("$" if is_fixed else "") + (str(at + 1) if axis == "R" else column_name(at))
    return axes["R"], axes["C"]
