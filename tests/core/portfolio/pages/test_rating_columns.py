"""Which of an agency's columns of ratings counts, by the sums that the file prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]
HEADER = [
    "LoanX ID", "Issuer", "Par", "Moody's CFR", "Moody's Rating", "Moody's DPR", "S&P Issuer Rating",
    "S&P Facility Rating", "Maturity",
]  # fmt: skip
RATINGS = [
    ("B2", "Caa1", "B3", "B", "CCC+"),
    ("Caa2", "B3", "Caa1", "B", "B"),
    ("B1", "B1", "B2", "CCC", "B-"),
    ("B2", "B2", "B1", "B", "B"),
]
PAR = [1_234_567.89, 2_345_678.91, 3_456_789.12, 4_567_891.23]
TOTAL = sum(PAR)


def of(make_book: MakeBook, *tests: list[Any]) -> Portfolio:
    """Return four loans with five columns of ratings, beside a page of tests."""
    loans = [
        [f"LX10000{at}", f"Name {at}", par, *ratings, "2030-01-31"]
        for at, (par, ratings) in enumerate(zip(PAR, RATINGS, strict=True))
    ]
    page = [["Test", "Numerator", "Denominator", "Current", "Limit", "Result"], *tests]
    return Portfolio.from_workbook(make_book({"Loans": [HEADER, *loans], "Concentration Limitations": page}))


def ccc(label: str, amount: float) -> list[Any]:
    return [label, amount, TOTAL, f"{100 * amount / TOTAL:.2f}%", "50.00%", "PASS"]


def values(portfolio: Portfolio) -> dict[str, Any]:
    """Return the shares rated CCC by agency, and the rating factor."""
    rows = {result.test_id: result for result in run_suite(portfolio, "enhanced")}
    assert rows["ccc_bucket_pct"].details is not None
    shares = rows["ccc_bucket_pct"].details.breakdown["agencies"]
    return {"a": shares["rating_agency_a"], "b": shares["rating_agency_b"], "warf": rows["average_rating_factor"]}


@every(
    "amount, expected",
    [
        (PAR[0], True),  # Moody's Rating
        (PAR[1], True),  # CFR or DPR
        (PAR[2], False),  # none of them
        (PAR[0] + 1.0, False),
    ],
)
def test_the_column_of_the_printed_caa_par(make_book: MakeBook, amount: float, expected: bool) -> None:
    own = values(of(make_book))
    portfolio = of(make_book, ccc("Moody's Caa1 or below", amount))
    codes = [warning.code for warning in portfolio.notes.warnings]
    is_tied = values(portfolio)["a"] == pytest.approx(100 * amount / TOTAL, abs=1e-6)
    assert is_tied == expected
    assert expected or values(portfolio)["a"] == own["a"]
    is_changed = values(portfolio)["a"] != own["a"]
    assert ("ratings_by_printed" in codes) == is_changed


def test_each_agency_by_its_own(make_book: MakeBook) -> None:
    portfolio = of(make_book, ccc("Moody's Caa1 or below", PAR[0]), ccc("S&P CCC+ or below", PAR[0]))
    assert values(portfolio)["a"] == values(portfolio)["b"] == pytest.approx(100 * PAR[0] / TOTAL, abs=1e-6)
    assert portfolio["rating_agency_b"].tolist() == [row[4] for row in RATINGS]


def factor(column: int) -> float:
    of_symbol = {"B1": 2220, "B2": 2720, "B3": 3490, "Caa1": 4770, "Caa2": 6500}
    return sum(of_symbol[row[column]] * par for row, par in zip(RATINGS, PAR, strict=True)) / TOTAL


def test_the_factor_by_another_column_than_the_bucket(make_book: MakeBook) -> None:
    """A rating factor by the default probability rating, and a bucket by Moody's rating, as US indentures say."""
    warf = ["Moody's Maximum Rating Factor Test", None, None, round(factor(2)), 4_000, "PASS"]
    portfolio = of(make_book, ccc("Moody's Caa1 or below", PAR[0]), warf)
    own = values(portfolio)
    assert own["a"] == pytest.approx(100 * PAR[0] / TOTAL, abs=1e-6)
    assert own["warf"].current_value == pytest.approx(factor(2))
    assert "ambiguous_column" in {doubt.code for doubt in own["warf"].doubt}
    assert portfolio.deal.factor_ratings == "derived"


def test_a_factor_that_no_column_gives(make_book: MakeBook) -> None:
    portfolio = of(make_book, ["Moody's Maximum Rating Factor Test", None, None, 3_333, 4_000, "PASS"])
    assert portfolio.deal.factor_ratings is None
    assert values(portfolio)["warf"].current_value in [pytest.approx(factor(column)) for column in range(3)]


def test_a_facility_rating_stands_in_where_no_obligor_rating_is(make_book: MakeBook) -> None:
    rows = [
        ["Borrower", "Par Amount", "Moody's Facility Rating", "S&P Rating"],
        ["Alder Foods", 3_000_000, "Caa1", "B"],
        ["Corvus Software", 1_000_000, "B2", "B"],
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": rows}))
    assert portfolio.ranks["rating_agency_a"].tolist() == [17, 15]
    warnings = [warning for warning in portfolio.notes.warnings if warning.code == "column_stands_in"]
    assert [warning.fields for warning in warnings] == [("rating_agency_a",)]
    assert "'Moody's Facility Rating'" in warnings[0].message or '"Moody\'s Facility Rating"' in warnings[0].message
