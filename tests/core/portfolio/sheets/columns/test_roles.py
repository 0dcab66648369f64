"""Columns of yes and no: headings that deny a flag, and those of something else."""

from __future__ import annotations

import pytest

from core.portfolio import Portfolio
from tests.core.portfolio.conftest import MapRows

NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dogwood Ltd", "Elm GmbH", "Fir S.A."]


def read(map_rows: MapRows, heading: str, cells: list[object]) -> Portfolio:
    body = [[name, 1_000_000.0 + at, 95.0 + at, cells[at]] for at, name in enumerate(NAMES)]
    return map_rows([["Borrower", "Par Amount", "Price", heading], *body])


def flag(portfolio: Portfolio, name: str) -> list[int] | None:
    values = portfolio.flags.get(name)
    return None if values is None else values.tolist()


@pytest.mark.parametrize(
    "heading",
    ["Non-Defaulted (Y/N)", "Not Defaulted", "Non-Default", "Not in Default", "Performing (Y/N)", "Performing",
     "Is Performing", "Performing Status"],
)  # fmt: skip
def test_a_heading_that_denies_the_default_turns_yes_and_no(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["Y", "N", "Y", "Yes", "y", "Y"]
    assert flag(read(map_rows, heading, cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("values", [[True, False, True, True, True, True], [1, 0, 1, 1, 1, 1]])
def test_it_turns_true_and_false_and_figures(map_rows: MapRows, values: list[object]) -> None:
    assert flag(read(map_rows, "Non-Defaulted (Y/N)", values), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(("good", "bad"), [("Performing", "Non-Performing"), ("P", "D"), ("PERF", "DEF")])
def test_words_of_the_default_say_it_under_any_heading(map_rows: MapRows, good: str, bad: str) -> None:
    cells: list[object] = [good, bad, good, good, good, good]
    assert flag(read(map_rows, "Performing Status", cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("heading", "good", "bad"),
    [("Loan Status", "P", "D"), ("Status", "PERF", "DEF"), ("Payment Status", "Current", "Payment Default"),
     ("Obligation Category", "Collateral Obligation", "Defaulted Obligation"), ("Ausfall (J/N)", "N", "J"),
     ("En mora (S/N)", "N", "S")],
)  # fmt: skip
def test_a_status_tells_the_default_by_its_cells(map_rows: MapRows, heading: str, good: str, bad: str) -> None:
    cells: list[object] = [good, bad, good, good, good, good]
    assert flag(read(map_rows, heading, cells), "is_defaulted") == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "heading",
    ["Maintenance Covenants (Y/N)", "Non Cov-Lite", "Has Covenants?", "Not Covenant Lite", "Financial Covenants (Y/N)"],
)
def test_a_heading_of_covenants_denies_that_a_loan_is_covenant_lite(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["N", "Y", "N", "N", "Y", "N"]
    assert flag(read(map_rows, heading, cells), "cov_lite") == [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("heading", ["Covenants", "Covenant Package", "Cov. Type", "Cov-Lite"])
def test_words_of_covenants_say_it_under_any_heading(map_rows: MapRows, heading: str) -> None:
    cells: list[object] = ["Cov-Lite", "Full", "CL", "Lite", "Maintenance", "Cov-Lite"]
    assert flag(read(map_rows, heading, cells), "cov_lite") == [1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "heading",
    ["Cross-Default", "Former Default", "Cured Default", "Default Interest (Y/N)", "Default History", "Excl. Defaulted",
     "Defaulting Lender", "Covenant Relief", "Covenant Waiver", "Covenant Compliance", "Springing Covenant",
     "Covenant Breach (Y/N)"],
)  # fmt: skip
def test_a_heading_of_something_else_feeds_no_flag(map_rows: MapRows, heading: str) -> None:
    portfolio = read(map_rows, heading, ["N", "Y", "N", "N", "Y", "N"])
    assert flag(portfolio, "is_defaulted") is None
    assert flag(portfolio, "cov_lite") is None


def test_names_of_covenants_are_no_answer_whether_there_are_any(map_rows: MapRows) -> None:
    cells: list[object] = ["Leverage", "Interest Cover", "Leverage", "Leverage", "Leverage", "Leverage"]
    assert flag(read(map_rows, "Financial Covenant", cells), "cov_lite") is None
