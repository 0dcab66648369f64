"""Formulas that a file brought without values.

Which they are, and what is said of them once they are calculated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.values import Kind
from core.words import counted, first_of

if TYPE_CHECKING:
    from core.recalc.result import Recalculation

BLANK_CELLS_MAX: Final = 10_000_000
"""Formulas without values that are calculated when a file is read: of more none is. The largest book that was measured
has 5 million, which take 4 s."""

NAMED_MAX: Final = 5
"""Functions or cells that a note names."""

BlankRows = dict[int, NDArray[np.int32]]
"""Column -> rows of its formulas without a value, from the top."""


def blank_formulas(sheet: Sheet) -> BlankRows:
    """Return the formula cells of a sheet that hold nothing, not even an empty text.

    A program that writes 0 in place of values it does not know cannot be told from one that calculated 0.
    """
    blank_rows: BlankRows = {}
    formulas = sheet.formulas
    if not len(formulas):
        return blank_rows
    order = np.argsort(formulas.columns, kind="stable")
    rows, columns = formulas.rows[order], formulas.columns[order]
    starts = np.flatnonzero(np.diff(columns, prepend=-1)).tolist()
    for low, stop in zip(starts, [*starts[1:], len(columns)], strict=True):
        at, own = int(columns[low]), rows[low:stop]
        column = sheet.columns[at] if at < sheet.column_count else None
        blank = np.ones(len(own), np.bool_)
        if column is not None:
            stored, slots = column.meeting(own.astype(np.int64))
            blank[stored] = column.dense.kinds[slots] == Kind.BLANK
        if blank.any():
            blank_rows[at] = own[blank]
    return blank_rows


def count_blank(sheets: Sequence[BlankRows]) -> int:
    """Return cells of all sheets."""
    return sum(len(rows) for sheet in sheets for rows in sheet.values())


def runs_of_rows(rows: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Ascending rows as (first, last) of each run without a gap."""
    cuts = np.flatnonzero(np.diff(rows) != 1)
    firsts, lasts = np.append(0, cuts + 1), np.append(cuts, len(rows) - 1)
    return list(zip(rows[firsts].tolist(), rows[lasts].tolist(), strict=True))


def note(cells: int, blank: int, stopped: str, result: Recalculation | None) -> str:
    """Return what is said of a book with so many formulas without values, so many of which are still blank.

    `stopped` is why the calculation did not come to its end, or empty.
    """
    text = f"{counted(cells, 'formula')} came without {'a value' if cells == 1 else 'values'}"
    if blank == cells:
        text += " and count as blank" if cells > 1 else " and counts as blank"
    else:
        text += ", as programs write them that do not calculate; Cushion calculated them when it read the file"
        if blank:
            text += f", all but {blank:,}, which count as blank"
    parts = [text if not stopped else f"{text}: {stopped}"]
    if result is not None:
        parts += _doubts(result)
    return "; ".join(parts) + "."


def _doubts(result: Recalculation) -> list[str]:
    messages = []
    if result.external:
        messages.append(f"what refers to other workbooks is blank: {first_of(result.external)}")
    if result.cycles:
        cells = [cell for cycle in result.cycles for cell in cycle]
        messages.append(f"what needs its own result counts as 0: {first_of(cells)}")
    if result.unsupported:
        messages.append(f"functions that Cushion does not have give #NAME?: {first_of(list(result.unsupported))}")
    if result.faults:
        messages.append("; ".join(f"{fault.reason}: {first_of(fault.cells)}" for fault in result.faults[:NAMED_MAX]))
    return messages
