"""Lines of calculations.

Amounts of the day stand in whichever column the heading says.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.core.portfolio.pages.report.test_tests import HOLDINGS, workbook
from tests.rows import every


def book(*headings: Any, is_turned: bool) -> Workbook:
    """A page with the amounts of two days, those of the day last where it is turned."""
    rows: list[list[Any]] = [["Calculation", *headings]]
    for label, amount in (("Aggregate Principal Balance", 2_000_000.0), ("Principal Cash", 500_000.0)):
        rows.append([label, amount, amount + 77_000.0][:: -1 if is_turned else 1])
    totals = [2_500_000.0, 2_654_000.0]
    rows = [rows[0], *([row[-1], *row[:-1]] if is_turned else row for row in rows[1:])]
    rows.append(["Collateral Principal Amount", *(totals[::-1] if is_turned else totals)])
    return workbook({"Collateral": rows, "Assets": HOLDINGS})


@every("headings, is_turned", [
    (("Current", "Prior"), False),
    (("Prior Month", "Current Month"), True),
    (("04/15/2024", "05/15/2024"), True),
    (("15-May-2024", "15-Apr-2024"), False),
    ((date(2024, 4, 15), date(2024, 5, 15)), True),
    (("Opening", "Closing"), True),
])  # fmt: skip
def test_amounts_are_those_of_the_day(headings: tuple[Any, Any], is_turned: bool) -> None:
    portfolio = Portfolio.from_workbook(book(*headings, is_turned=is_turned), as_of=5.0)
    assert portfolio.deal.principal_cash == 500_000.0
    identity = portfolio.facts.identity("collateral_principal_amount")
    assert identity is not None
    assert (identity.total, identity.holds) == (2_500_000.0, True)


@every("headings, amounts, principal, is_told", [
    (("Last Month", "This Month"), (900.0, 500_000.0), 500_000.0, False),
    ((date(2024, 4, 15), date(2024, 5, 15)), (900.0, 500_000.0), 500_000.0, False),
    ((None, None), (500_000.0, 900.0), 500_000.0, True),
    ((None, None), (500_000.0, 500_000.0), 500_000.0, False),
    ((None, None), (500_000.0, "Other", 900.0), 500_000.0, False),
])  # fmt: skip
def test_a_label_beside_several_amounts(
    headings: tuple[Any, Any], amounts: tuple[Any, ...], principal: float, is_told: bool
) -> None:
    rows: list[list[Any]] = [["Statement", *headings], ["Principal Collection Account", *amounts]]
    portfolio = Portfolio.from_workbook(workbook({"Statement": rows, "Assets": HOLDINGS}), as_of=5.0)
    assert portfolio.deal.principal_cash == principal
    assert ("labels_differ" in [warning.code for warning in portfolio.notes.warnings]) is is_told
