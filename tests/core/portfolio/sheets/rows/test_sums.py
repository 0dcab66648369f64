"""Rows whose par is the sum of others.

Of companies, of groups, of groups within groups, above or below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]
Rows = list[list[Any]]

HEADER = ["Issuer", "Facility", "Par", "Maturity Date"]
A = ["Alder Inc", "TLB", 1_234_567.89, "2030-01-31"]
B = ["Birch Inc", "TLB", 2_000_000.11, "2030-01-31"]
C = ["Cedar Inc", "TLB", 3_000_000.0, "2030-01-31"]
D = ["Dorn Inc", "TLB", 4_000_000.0, "2031-01-31"]
E = ["Elm Inc", "Revolver", 500_000.5, "2031-01-31"]
AB, CDE = A[2] + B[2], C[2] + D[2] + E[2]


@every(
    "rows, subtotals",
    [
        # One group's sum is enough where the figure is not round, or of three loans.
        ([A, B, ["Germany", None, AB], C, D, E], 1),
        ([A, B, C, D, E, ["Rest of the world", None, C[2] + D[2] + E[2]]], 0),  # not the sum of what stands above it
        ([["Germany", None, AB], A, B, ["France", None, CDE], C, D, E], 2),
        ([["Germany", None, AB], A, B, ["France", None, CDE], C, D, E, ["All", None, AB + CDE]], 2),
        # Groups within groups.
        ([["Loans"], ["Germany"], A, B, ["Germany", None, AB], ["France"], C, D, E, ["France", None, CDE],
          ["Loans", None, AB + CDE]], 2),
        # Nameless below a heading, of one loan too.
        ([["Germany"], A, B, [None, None, AB], ["France"], C, [None, None, C[2]], ["Spain"], D, E,
          [None, None, D[2] + E[2]]], 3),
    ],
)  # fmt: skip
def test_sums_of_groups_count_nothing(map_rows: MapRows, rows: Rows, subtotals: int) -> None:
    portfolio = map_rows([HEADER, *rows])
    pars = portfolio.numbers["par_value"].tolist()
    expected = [row[2] for row in rows if len(row) == 4]
    assert pars[: len(expected)] == expected
    assert len(pars) == len(expected) + (subtotals == 0)
    notes = portfolio.notes
    assert notes.subtotal_rows + notes.total_rows >= subtotals
    assert notes.unidentified_rows == 0


@every(
    "row",
    [
        ["Elm Inc", None, 5_000_000.0],  # two round loans may add up to a third
        ["Elm Inc", None, 4_000_000.0],  # or be as large as one
        ["Elm Inc", "TLB", 5_000_000.0 + 1_234_567.89],  # with a facility
        ["Elm Inc", None, 5_000_001.0],
    ],
)
def test_a_loan_that_happens_to_be_a_sum_stays(map_rows: MapRows, row: list[Any]) -> None:
    rows = [["Alder Inc", "TLB", 2_000_000.0], C[:3], row, D[:3]]
    portfolio = map_rows([HEADER[:3], *rows])
    assert portfolio.numbers["par_value"].tolist() == [loan_row[2] for loan_row in rows]


def test_company_subtotals_by_a_blank_type(map_rows: MapRows) -> None:
    rows = [
        ["Company", "Investment Type", "Principal Amount", "Spread"],
        ["Alder Corp", "First lien loan", 1_000_000.0, 5.5],
        ["Alder Corp", "First lien revolver", 200_000.0, 5.5],
        ["Alder Corp", None, 1_200_000.0, None],
        ["Birch LLC", "First lien loan", 3_000_000.0, 5.75],
        [None, "First lien revolver", 500_000.0, 5.75],
        [None, None, 3_500_000.0, None],
    ]
    portfolio = map_rows(rows)
    assert portfolio.numbers["par_value"].tolist() == [1_000_000, 200_000, 3_000_000, 500_000]
    names = portfolio.names["borrower_name"]
    assert [names.values[code] for code in names.codes] == ["Alder Corp"] * 2 + ["Birch LLC"] * 2
    assert portfolio.notes.subtotal_rows + portfolio.notes.total_rows == 2


@every(
    "foot",
    [
        [["(a) Loans pay interest monthly."], ["(b) Valued by the manager; see Note 3."]],
        [["See accompanying notes to the consolidated schedule"]],
        [["Page 3"], ["Prepared by the Collateral Administrator"]],
        [["Unsettled Sales"], HEADER, ["Elm Inc", "TLB", -500.0, "2030-01-31"]],
        [["Assets Sold"], ["Elm Inc", "TLB", 500.0, "2030-01-31"]],
        [["Pending Trades"], ["Issuer", "Facility", "Trade Date", "Par"], ["Elm Inc", "TLB", "2026-01-31", 500.0]],
    ],
)
def test_what_stands_below_the_loans_is_no_loan(map_rows: MapRows, foot: Rows) -> None:
    for gap in ([], [["Total", None, A[2] + B[2] + C[2]]], [[]]):
        portfolio = map_rows([HEADER, A, B, C, *gap, *foot])
        assert portfolio.numbers["par_value"].tolist() == [A[2], B[2], C[2]], gap
