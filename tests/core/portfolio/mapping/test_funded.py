"""Par among funded balances, commitments and what is not drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.compliance.run import run_suite
from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]


def read(map_rows: MapRows, names: list[str], *rows: list[Any]) -> tuple[list[float], set[str]]:
    """Return par, and the codes of what is said of it."""
    loans = [[f"Borrower {at}", f"LX10000{at}", *row] for at, row in enumerate(rows)]
    portfolio = map_rows([["Issuer Name", "LoanX ID", *names], *loans])
    codes = {warning.code for warning in portfolio.notes.warnings if warning.code.startswith("par_")}
    return portfolio.numbers["par_value"].tolist(), codes


@every(
    "names",
    [
        ["Commitment", "Unfunded Amount"],
        ["Total Commitment", "Undrawn"],
        ["Commitment Amount", "Unfunded Commitment"],
    ],
)
def test_par_is_the_commitment_less_what_is_not_drawn(map_rows: MapRows, names: list[str]) -> None:
    par, codes = read(map_rows, names, [5e6, 3e6], [4e6, 0], [2e6, 2e6], [1e6, None])
    assert par == [2e6, 4e6, 0, 1e6]
    assert codes == {"par_less_unfunded"}


def test_a_commitment_that_is_less_than_what_is_not_drawn_stays(map_rows: MapRows) -> None:
    par, codes = read(map_rows, ["Commitment", "Unfunded Amount"], [5e6, 9e6], [4e6, 8e6], [2e6, 1e6])
    assert par == [5e6, 4e6, 2e6]
    assert codes == {"par_is_commitment"}
    par, codes = read(map_rows, ["Commitment", "Unfunded Amount"], [5e6, 0], [4e6, 0])
    assert (par, codes) == ([5e6, 4e6], set())


@every(
    "names, rows, par",
    [
        (["Total Commitment", "Funded Amount", "Unfunded Commitment"], [[5e6, 2e6, 3e6], [4e6, 4e6, 0]], [2e6, 4e6]),
        (["Drawn Amount", "Undrawn Amount"], [[2e6, 3e6], [4e6, 0]], [2e6, 4e6]),
        (["Par Amount", "Commitment", "Unfunded Amount"], [[5e6, 5e6, 3e6], [4e6, 4e6, 0]], [5e6, 4e6]),
    ],
)
def test_what_is_funded_is_par_as_it_stands(
    map_rows: MapRows, names: list[str], rows: list[list[float]], par: list[float]
) -> None:
    assert read(map_rows, names, *rows) == (par, set())


def test_the_funded_balance_goes_before_the_original_face(map_rows: MapRows) -> None:
    names = ["Principal_Balance", "Principal_Funded_Balance", "Commitment"]
    par, codes = read(map_rows, names, [6e6, 5e6, 7e6], [4e6, 4e6, 4e6])
    assert (par, codes) == ([5e6, 4e6], {"par_is_funded"})
    # Without commitments nothing says which is which.
    assert read(map_rows, names[:2], [6e6, 5e6], [4e6, 4e6]) == ([6e6, 4e6], set())
    # What is called current stays.
    current = ["Current Balance", *names[1:]]
    assert read(map_rows, current, [6e6, 5e6, 7e6], [4e6, 4e6, 4e6]) == ([6e6, 4e6], set())
    # Equal figures need no word.
    assert read(map_rows, names, [5e6, 5e6, 7e6], [4e6, 4e6, 4e6]) == ([5e6, 4e6], set())


def test_a_bond_has_its_commitment_for_a_funded_balance_of_zero(map_rows: MapRows) -> None:
    rows = [
        [
            "Issuer_Name",
            "LoanX_ID",
            "ISIN",
            "Security_Type1",
            "Principal_Balance",
            "Principal_Funded_Balance",
            "Commitment",
        ],
        ["Alder", None, "XS1234567896", "Bond", 2_500_000, 0, 3_081_032.34],
        ["Birch Revolver", "LX100002", None, "Loan", 0, 0, 5_000_000],
        ["Cedar", "LX100003", None, "Loan", 4_000_000, 4_000_000, 4_000_000],
    ]
    assert map_rows(rows).numbers["par_value"].tolist() == [3_081_032.34, 0, 4_000_000]


def test_figures_of_par_doubt_what_is_worked_out(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [["Issuer Name", "LoanX ID", "Commitment", "Undrawn"], ["A", "LX100001", 5e6, 3e6], ["B", "LX100002", 4e6, 0]]
    )
    ran = run_suite(portfolio, test_ids=["single_obligor_concentration"])
    assert "stand_in" in [doubt.code for doubt in ran[0].doubt]
