"""Loans chosen by conditions and put in order, against the same done row by row."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from core.portfolio import Portfolio
from core.portfolio.model.loan_fields import LoanColumn, column_of, field_names
from core.portfolio.model.selection import ConditionError, LoanCondition, Operation, condition_of, select
from tests.rows import every

GIVEN: dict[str, Any] = {
    "par_value": [1.0, 2.5, None, 3.0, 2.5],
    "borrower_name": ["acme", "Beta, Inc", "ACME", None, "zeta"],
    "maturity_date": [date(2030, 1, 31), None, date(2028, 5, 1), date(2031, 1, 1), date(2028, 5, 1)],
    "rating_agency_a": ["B2 *-", "***", "Caa1", None, "Ba3"],
    "cov_lite": [True, False, True, False, False],
}


@pytest.fixture(scope="module")
def columns() -> dict[str, LoanColumn]:
    values = {**GIVEN, "par_value": [0.0 if par is None else par for par in GIVEN["par_value"]]}
    portfolio = Portfolio.from_columns(values)
    loan_columns = {name: column_of(portfolio, name) for name in field_names(portfolio)}
    blank = np.array([np.nan if par is None else par for par in GIVEN["par_value"]])
    return loan_columns | {"par_value": LoanColumn("number", blank)}


CONDITIONS: list[tuple[str, str, str, list[int]]] = [
    ("par_value", "eq", "2.5", [1, 4]),
    ("par_value", "ne", "2.5", [0, 2, 3]),
    ("par_value", "lt", "2.5", [0]),
    ("par_value", "le", "2.5", [0, 1, 4]),
    ("par_value", "gt", "2.5", [3]),
    ("par_value", "ge", "2.5e0", [1, 3, 4]),
    ("par_value", "eq", "", [2]),
    ("par_value", "ne", "", [0, 1, 3, 4]),
    ("borrower_name", "eq", "Acme", [0, 2]),
    ("borrower_name", "ne", "acme", [1, 3, 4]),
    ("borrower_name", "lt", "B", [0, 2]),
    ("borrower_name", "ge", "beta, inc", [1, 4]),
    ("borrower_name", "contains", "ta", [1, 4]),
    ("borrower_name", "contains", ", I", [1]),
    ("borrower_name", "eq", "", [3]),
    ("borrower_name", "ne", "", [0, 1, 2, 4]),
    ("maturity_date", "eq", "2028-05-01", [2, 4]),
    ("maturity_date", "gt", "2030-01-31", [3]),
    ("maturity_date", "le", "2030-01-31", [0, 2, 4]),
    ("maturity_date", "eq", "", [1]),
    ("rating_agency_a", "eq", "B2", [0]),
    ("rating_agency_a", "gt", "B2", [2]),
    ("rating_agency_a", "le", "B2", [0, 4]),
    ("rating_agency_a", "contains", "*", [0]),
    ("rating_agency_a", "eq", "", [1, 3]),
    ("cov_lite", "eq", "true", [0, 2]),
    ("cov_lite", "ne", "True", [1, 3, 4]),
    ("cov_lite", "eq", "false", [1, 3, 4]),
]


@every("field, operation, text, expected", CONDITIONS)
def test_a_condition_chooses_its_loans(
    columns: dict[str, LoanColumn], field: str, operation: Operation, text: str, expected: list[int]
) -> None:
    condition = condition_of(field, operation, text, columns[field])
    assert select(5, columns, [condition]).tolist() == expected


def test_all_conditions_hold_together(columns: dict[str, LoanColumn]) -> None:
    both = [
        LoanCondition("borrower_name", "contains", "ta"),
        condition_of("maturity_date", "lt", "2030-01-01", columns["maturity_date"]),
    ]
    assert select(5, columns, both).tolist() == [4]
    assert select(5, columns, both, "par_value").tolist() == [4]
    assert select(0, {}, []).tolist() == []


ORDERS: list[tuple[str, bool, list[int]]] = [
    ("par_value", False, [0, 1, 4, 3, 2]),
    ("par_value", True, [3, 1, 4, 0, 2]),
    ("borrower_name", False, [0, 2, 1, 4, 3]),
    ("borrower_name", True, [4, 1, 0, 2, 3]),
    ("maturity_date", True, [3, 0, 2, 4, 1]),
    ("rating_agency_a", False, [4, 0, 2, 1, 3]),
    ("rating_agency_a", True, [2, 0, 4, 1, 3]),
    ("cov_lite", True, [0, 2, 1, 3, 4]),
]


@every("field, descending, expected", ORDERS)
def test_loans_are_in_order_and_blanks_last(
    columns: dict[str, LoanColumn], field: str, descending: bool, expected: list[int]
) -> None:
    assert select(5, columns, [], field, descending=descending).tolist() == expected


WRONG: list[tuple[str, str, str, str]] = [
    ("par_value", "eq", "1,000", "is no number"),
    ("par_value", "lt", "nan", "is no number"),
    ("par_value", "lt", "inf", "is no number"),
    ("par_value", "lt", "", "needs a value"),
    ("par_value", "contains", "1", "contains is of texts"),
    ("maturity_date", "lt", "31.01.2030", "is no date"),
    ("rating_agency_a", "lt", "green", "is no rating"),
    ("cov_lite", "eq", "yes", "neither true nor false"),
    ("borrower_name", "contains", "", "needs a value"),
]


@every("field, operation, text, reason", WRONG)
def test_a_condition_that_cannot_be_says_why(
    columns: dict[str, LoanColumn], field: str, operation: Operation, text: str, reason: str
) -> None:
    with pytest.raises(ConditionError, match=reason):
        condition_of(field, operation, text, columns[field])
