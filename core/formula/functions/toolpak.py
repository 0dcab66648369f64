"""Arguments of the functions of Excel's Analysis ToolPak.

Booleans are refused, days are whole, cells are one cell.
"""

from __future__ import annotations

from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.coerce import to_number
from core.formula.values.value import NA, NUM, VALUE, Array, Error, Failure


def single(
    name: str, description: str, *, kind: Takes = Takes.VALUE, optional: bool = False, empty: Any = None
) -> Argument:
    """Return one value, by its kind."""
    return Argument(name, kind, description, required=not optional, empty=empty, single_cell=True)


def required(name: str, description: str) -> Argument:
    """Return a number that has to be there; left empty it is #N/A."""
    return single(name, description, empty=OMITTED)


def optional(name: str, description: str) -> Argument:
    """Return a number that may be left out; left empty it is 0."""
    return single(name, description, optional=True)


BASIS: Final = optional(
    "basis", "Day count: 0 US 30/360, 1 true days, 2 true days/360, 3 true days/365, 4 European 30/360."
)
FREQUENCY: Final = required("frequency", "Coupons a year: 1, 2 or 4.")
SETTLEMENT: Final = required("settlement", "The day on which the security is paid.")
MATURITY: Final = required("maturity", "The day on which the security falls due.")


def number(value: Any, date_1904: bool = False) -> float:
    """Return a number; blank is 0, numeric text is read.

    Raises:
        Failure: VALUE for a boolean or other text, NA for an argument left empty.
    """
    if isinstance(value, float):
        return value
    if value is OMITTED:
        raise Failure(NA)
    if isinstance(value, bool):
        raise Failure(VALUE)
    result = to_number(value, date_1904)
    if isinstance(result, Error):
        raise Failure(result)
    return result


def numbers(*values: Any) -> tuple[float, ...]:
    """Return several numbers."""
    return tuple([number(value) for value in values])


def whole(value: Any) -> int:
    """Return a number cut toward zero."""
    return int(number(value))


def day(environment: Environment, value: Any) -> int:
    """Return the 1900-system serial of a day, its time cut off.

    Raises:
        Failure: as `number`, and NUM outside Excel's days.
    """
    date_1904 = environment.date_1904
    return days.cut(number(value, date_1904), date_1904)


def basis_of(value: Any) -> int:
    """Return a day count.

    Raises:
        Failure: NUM beyond 0 to 4.
    """
    basis = whole(value)
    if not 0 <= basis <= 4:
        raise Failure(NUM)
    return basis


def frequency_of(value: Any) -> int:
    """Return coupons a year.

    Raises:
        Failure: NUM for other than 1, 2 and 4.
    """
    frequency = whole(value)
    if frequency not in (1, 2, 4):
        raise Failure(NUM)
    return frequency


def need(*conditions: bool) -> None:
    """Raises Failure(NUM) unless all hold."""
    if not all(conditions):
        raise Failure(NUM)


def is_blank_cell(value: Any) -> bool:
    """Return whether a RANGE argument is a reference to one cell that is blank."""
    return isinstance(value, Array) and value.rows == value.columns == 1 and value.at(0, 0) is None


def every(value: Any) -> list[Any]:
    """Return the cells of a RANGE argument, row by row.

    The first error among them is raised.
    """
    cells = value.cells() if isinstance(value, Array) else [value]
    for cell in cells:
        if isinstance(cell, Error):
            raise Failure(cell)
    return cells
