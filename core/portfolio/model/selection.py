"""Choose loans by conditions on their fields, and put them in the order of one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.loan_fields import LoanColumn
from core.portfolio.model.ratings import AGENCY_OF, rank
from core.values import EPOCH

Operation = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains"]
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_OF_BLANKS: Final = ("eq", "ne")
"""Operations that ask for blanks where nothing follows them."""
_TRUTH: Final = {"true": 1.0, "false": 0.0}

Mask = NDArray[np.bool_]


class ConditionError(ValueError):
    """A condition that no field of its kind can have."""


@dataclass(frozen=True, slots=True)
class LoanCondition:
    """What a field of a loan must be."""

    field: str
    operation: Operation
    value: float | str | None
    """A number, days since 1970-01-01, 0 or 1, a rank; a text in lower case. None: blank."""


def condition_of(field: str, operation: Operation, text: str, column: LoanColumn) -> LoanCondition:
    """Read the value of a condition as its field's kind has it.

    Raises:
        ConditionError: it is no value of that kind, or the operation is none of it.
    """
    if not text:
        if operation not in _OF_BLANKS:
            raise ConditionError(f"{operation} needs a value; eq and ne without one ask for blanks")
        return LoanCondition(field, operation, None)
    if operation == "contains":
        if column.names is None:
            raise ConditionError(f"contains is of texts; {field} is a {column.kind}")
        return LoanCondition(field, operation, text.casefold())
    return LoanCondition(field, operation, _READ[column.kind](text, field))


def _number(text: str, field: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise ConditionError(f"{text[:40]!r} is no number, as {field} is")
    return number


def _day(text: str, field: str) -> float:
    try:
        return float((date.fromisoformat(text) - EPOCH).days)
    except ValueError:
        raise ConditionError(f"{text[:40]!r} is no date as YYYY-MM-DD, as {field} is") from None


def _truth(text: str, field: str) -> float:
    if text.lower() not in _TRUTH:
        raise ConditionError(f"{text[:40]!r} is neither true nor false, as {field} is")
    return _TRUTH[text.lower()]


def _rank(text: str, field: str) -> float:
    value = rank(text, AGENCY_OF.get(field))
    if not value:
        raise ConditionError(f"{text[:40]!r} is no rating, as {field} is")
    return float(value)


_READ: Final[Mapping[str, Callable[[str, str], float | str]]] = {
    "number": _number,
    "date": _day,
    "boolean": _truth,
    "rating": _rank,
    "string": lambda text, _field: text.casefold(),
}


# Loans that match -----------------------------------------------------------------------------------------------------


def select(
    row_count: int,
    columns: Mapping[str, LoanColumn],
    conditions: Sequence[LoanCondition],
    sort: str | None = None,
    *,
    descending: bool = False,
) -> NDArray[np.int32]:
    """Return the rows that meet every condition, in the order of a field.

    Without a field they keep their own order.

    Rows of one value stay in their order, and blanks come last either way. `columns` has the fields that are named.
    """
    mask = np.ones(row_count, np.bool_)
    for condition in conditions:
        mask &= matching(columns[condition.field], condition)
    rows = np.flatnonzero(mask).astype(np.int32)
    if sort is None:
        return rows
    keys = _sort_keys(columns[sort], descending=descending)[rows]
    return rows[np.argsort(keys, kind="stable")]


def matching(column: LoanColumn, condition: LoanCondition) -> Mask:
    """Return which rows meet a condition; a blank is only unequal to values."""
    if condition.operation == "contains" or column.numbers is None:
        assert column.names is not None, "`condition_of` has seen to it"
        return _of_texts(column, condition)
    if condition.value is None:
        return np.asarray(np.isnan(column.numbers) == (condition.operation == "eq"))
    with np.errstate(invalid="ignore"):
        mask: Mask = _COMPARE[condition.operation](column.numbers, condition.value)
    return mask


def _of_texts(column: LoanColumn, condition: LoanCondition) -> Mask:
    """Ask each distinct text once."""
    assert column.names is not None, "a column of texts"
    codes, folded = column.names.codes, condition.value
    if folded is None:
        return np.asarray((codes < 0) == (condition.operation == "eq"))
    compare = operator.contains if condition.operation == "contains" else _COMPARE[condition.operation]
    meets = np.zeros(len(column.names.values) + 1, np.bool_)
    meets[-1] = condition.operation == "ne"  # a blank's
    meets[:-1] = [compare(text.casefold(), folded) for text in column.names.values]
    return np.asarray(meets[codes])


def _sort_keys(column: LoanColumn, *, descending: bool) -> NDArray[np.float64]:
    """Return numbers that rise in the order wanted, NaN for a blank (sorted last)."""
    keys = column.numbers
    if keys is None:
        assert column.names is not None, "a column has numbers or names"
        texts = [text.casefold() for text in column.names.values]
        place = {text: at for at, text in enumerate(sorted(set(texts)))}
        keys = np.array([*(place[text] for text in texts), np.nan], np.float64)[column.names.codes]
    return -keys if descending else keys
