"""How a workbook wants to be calculated, as its file says.

And what-if data tables as formulas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.grid.address import parse_cell

ITERATIONS_MAX: Final = 32_767
"""Most iterations that Excel lets a workbook ask for."""

_TABLE: Final = re.compile(r"TABLE\(([A-Za-z]{1,3}[0-9]{1,7})?,([A-Za-z]{1,3}[0-9]{1,7})?\)")


@dataclass(frozen=True, slots=True)
class Calculation:
    """The settings of a workbook's calculation; the defaults are Excel's."""

    iterates: bool = False
    """Whether cells that need each other are calculated again and again, from the values that they have."""
    iterations_max: int = 100
    change_max: float = 0.001
    """Iteration ends once no cell changes by as much."""
    as_displayed: bool = False
    """Precision as displayed: every value counts as its number format shows it."""

    @property
    def is_default(self) -> bool:
        """Whether a file need not mention it."""
        return self == DEFAULT


DEFAULT: Final = Calculation()


@dataclass(frozen=True, slots=True)
class CalculationDoubt:
    """Why the values of a calculation may not be what the formulas mean."""

    code: str
    """circular_reference or not_converged."""
    message: str
    cells: int


@dataclass(frozen=True, slots=True)
class DataTable:
    """The input cells of a what-if data table, as (row, column).

    At least one of them is set.

    A table with a row input puts the values of the row above it there, one with a column input those of the column to
    its left; one with both does both.
    """

    row_input: tuple[int, int] | None
    column_input: tuple[int, int] | None


def data_table_of(formula: str) -> DataTable | None:
    """Return the data table that a formula without '=' stands for, as Excel shows it.

    TABLE(row input,column input).
    """
    match = _TABLE.fullmatch(formula)
    if match is None or not (match[1] or match[2]):
        return None
    try:
        inputs = [parse_cell(ref) if ref else None for ref in match.groups()]
    except ValueError:
        return None
    return DataTable(*inputs)
