"""Further columns of an agency's ratings feed the kind that their headings say."""

from __future__ import annotations

import pytest

from core.files.read import read_files
from core.portfolio import Portfolio
from core.portfolio.model.ratings import rank
from tests.core.portfolio.conftest import MapRows

HEAD = ["Issuer", "CUSIP", "Par Amount", "Maturity Date", "RatingSPDerived"]


def ratings(further: dict[str, list[str]]) -> dict[str, list[int]]:
    """Return the ranks of S&P's further columns of a list of three loans."""
    rows = [
        [*HEAD, *further],
        *(
            [name, cusip, str(par), "2031-06-30", "B", *(column[at] for column in further.values())]
            for at, (name, cusip, par) in enumerate(
                [
                    ("Ash Inc.", "44263LAB9", 2_000_000),
                    ("Birch LLC", "25555EBB0", 1_500_000),
                    ("Cedar Ltd", "037833AK6", 900_000),
                ]
            )
        ),
    ]
    book = read_files([("loans.csv", "\n".join(",".join(row) for row in rows).encode())])
    portfolio = Portfolio.from_workbook(book)
    return {
        name.removeprefix("rating_agency_b_"): ranks.tolist()
        for name, ranks in portfolio.ranks.items()
        if name.startswith("rating_agency_b")
    }


PLAIN, SECURITY, ISSUE = ["B+", "B", "CCC"], ["BB-", "B+", "B"], ["BB", "BB-", "B+"]


def ranks(symbols: list[str]) -> list[int]:
    return [rank(symbol) for symbol in symbols]


@pytest.mark.parametrize(
    "order", [["RatingSP", "RatingSPSecurity", "RatingSPIssue"], ["RatingSPIssue", "RatingSPSecurity", "RatingSP"]]
)
def test_a_rating_of_an_issue_is_never_the_issuers(order: list[str]) -> None:
    """A database extract has the rating of the security twice, and the agency's plain rating beside it."""
    columns = {"RatingSP": PLAIN, "RatingSPSecurity": SECURITY, "RatingSPIssue": ISSUE}
    by_field = ratings({name: columns[name] for name in order})
    assert "issuer" not in by_field
    assert by_field["rating_agency_b"] == ranks(PLAIN)
    assert by_field["facility"] in (ranks(SECURITY), ranks(ISSUE))
    assert by_field["final"] in (ranks(SECURITY), ranks(ISSUE))
    assert by_field["final"] != by_field["facility"]


@pytest.mark.parametrize(("agency", "letter"), [("Moody's", "a"), ("S&P", "b"), ("Fitch", "c")])
@pytest.mark.parametrize("turned", [False, True])
def test_a_derived_rating_goes_before_that_of_a_facility(
    map_rows: MapRows, agency: str, letter: str, turned: bool
) -> None:
    symbols = ("Ba1", "B2") if letter == "a" else ("BB+", "B")
    columns = list(zip((f"{agency} Facility", f"{agency} Derived"), symbols, strict=True))[:: -1 if turned else 1]
    body = [[f"Name {at} Inc", 1_000_000.0 + at, 95.0, *(symbol for _, symbol in columns)] for at in range(8)]
    portfolio = map_rows([["Borrower", "Par Amount", "Price", *(name for name, _ in columns)], *body])
    assert portfolio.notes.matched_columns[f"rating_agency_{letter}"] == f"{agency} Derived"
    assert portfolio.ranks[f"rating_agency_{letter}"].tolist() == [rank("B")] * 8
