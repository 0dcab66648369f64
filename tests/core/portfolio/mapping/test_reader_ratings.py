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


def shared(map_rows: MapRows, heading: str, cells: list[str], **more: list[str]) -> Portfolio:
    names = ["Ash Inc.", "Birch LLC", "Cedar Ltd", "Dogwood SA"]
    head = ["Issuer", "Par Amount", "Maturity Date", heading, *more]
    body = [
        [name, 1_000_000.0 + at, "2031-06-30", cells[at], *(column[at] for column in more.values())]
        for at, name in enumerate(names)
    ]
    return map_rows([head, *body])


def ranks_of(portfolio: Portfolio) -> dict[str, list[str]]:
    return {
        field: [names.values[code] for code in names.codes.tolist()]
        for field, names in portfolio.names.items()
        if "rating" in field
    }


MOODYS, SP = ["B2", "Caa1", "NR", "Ba3"], ["B", "CCC+", "B-", "BB-"]
BOTH = [f"{left} / {right}" for left, right in zip(MOODYS, SP, strict=True)]


@pytest.mark.parametrize("heading", ["Moody's / S&P", "Moody's/S&P Rating", "Ratings (M/S)", "MDY | S&P"])
def test_one_column_feeds_the_ratings_of_each_agency_that_it_names(map_rows: MapRows, heading: str) -> None:
    portfolio = shared(map_rows, heading, BOTH)
    assert ranks_of(portfolio) == {"rating_agency_a": MOODYS, "rating_agency_b": SP}
    assert portfolio.ranks["rating_agency_a"].tolist() == [rank(text, "a") for text in MOODYS]
    assert not [warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]
    assert portfolio.notes.matched_columns["rating_agency_b"] == heading


def test_beside_a_column_of_its_own_it_feeds_a_further_rating(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "Facility Rating (Moody's/S&P)", BOTH, **{"Moody's Rating": ["B1"] * 4})
    fields = ranks_of(portfolio)
    assert fields["rating_agency_a"] == ["B1"] * 4
    assert fields["rating_agency_a_facility"] == MOODYS
    assert fields["rating_agency_b_facility"] == SP


def test_a_heading_without_agencies_is_in_doubt(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "Rating", BOTH)
    assert ranks_of(portfolio) == {"rating_agency_a": MOODYS, "rating_agency_b": SP}
    (warning,) = [warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]
    assert warning.fields == ("rating_agency_a", "rating_agency_b")


def test_a_rating_of_no_agency_that_can_be_told_is_unreadable(map_rows: MapRows) -> None:
    cells = [*["B / B+"] * 5, "B"]
    body = [[f"Ash {at} Inc.", 1e6 + at, "2031-06-30", cell] for at, cell in enumerate(cells)]
    portfolio = map_rows([["Issuer", "Par Amount", "Maturity Date", "S&P / Fitch"], *body])
    assert ranks_of(portfolio)["rating_agency_c"][:5] == ["B+"] * 5
    lost = [each.fields for each in portfolio.notes.warnings if each.code == "unreadable_cells"]
    assert lost == [("rating_agency_b",), ("rating_agency_c",)]


def test_letters_beside_each_other_are_agencies(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "M", MOODYS, S=SP, F=["B+", "B", "CCC", "NR"])
    fields = ranks_of(portfolio)
    assert fields == {"rating_agency_a": MOODYS, "rating_agency_b": SP, "rating_agency_c": ["B+", "B", "CCC", "NR"]}
    assert "spread" not in portfolio.numbers


def test_letters_above_figures_are_no_agencies(map_rows: MapRows) -> None:
    spreads = [350.0 + 25 * at for at in range(12)]
    body = [[f"Ash {at} Inc.", 1e6 + at, "2031-06-30", spreads[at], 0.5, MOODYS[at % 4]] for at in range(12)]
    portfolio = map_rows([["Issuer", "Par Amount", "Maturity Date", "S", "F", "M"], *body])
    assert portfolio.numbers["spread"].tolist() == spreads
    assert ranks_of(portfolio) == {"rating_agency_a": MOODYS * 3}


def test_ratings_state_no_spread(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "Old symbol", ["B2", "B3", "B1", "B3"])
    assert "spread" not in portfolio.numbers


def test_curr_beside_an_agency_is_current_and_no_currency(map_rows: MapRows) -> None:
    portfolio = shared(
        map_rows, "Orig Moody's", ["Ba2"] * 4, **{"Curr Moody's": MOODYS, "Orig S&P": ["BB"] * 4, "Curr S&P": SP}
    )
    assert ranks_of(portfolio) == {"rating_agency_a": MOODYS, "rating_agency_b": SP}
    assert "currency" not in portfolio.names


def test_a_rating_of_another_party_feeds_nothing(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "Selling Institution Rating", ["A2"] * 4)
    assert not ranks_of(portfolio)


@pytest.mark.parametrize(
    "heading",
    ["Moody's / S&P Prior", "Moody's / S&P at Close", "Orig Moody's/S&P", "Moody's/S&P at Issuance", "Last Month M/S",
     "Moody's/S&P (t-1)", "Selling Institution Moody's/S&P", "Country Rating (Moody's/S&P)",
     "Moody's/S&P 31.03.2026"],
)  # fmt: skip
def test_shared_ratings_of_another_day_or_party_feed_nothing(map_rows: MapRows, heading: str) -> None:
    current = "Moody's/S&P 30.06.2026" if "2026" in heading else "Moody's/S&P"
    for text in [heading, current]:
        beside = current if text == heading else heading
        cells = {heading: ["Ba1 / BB+"] * 4, current: BOTH}
        portfolio = shared(map_rows, text, cells[text], **{beside: cells[beside]})
        assert ranks_of(portfolio) == {"rating_agency_a": MOODYS, "rating_agency_b": SP}


@pytest.mark.parametrize(
    ("facility", "issuer"),
    [("Issue Rating (Moody's/S&P)", "Issuer Rating (Moody's/S&P)"), ("Loan Rating (M/S)", "Corporate Rating (M/S)")],
)
def test_shared_ratings_of_facilities_are_not_the_issuers(map_rows: MapRows, facility: str, issuer: str) -> None:
    for first, second in [(facility, issuer), (issuer, facility)]:
        cells = {facility: ["Ba1 / BB+"] * 4, issuer: BOTH}
        portfolio = shared(map_rows, first, cells[first], **{second: cells[second]})
        fields = ranks_of(portfolio)
        assert (fields["rating_agency_a"], fields["rating_agency_b"]) == (MOODYS, SP)
        assert fields["rating_agency_a_facility"] == ["Ba1"] * 4


def test_a_heading_without_agencies_feeds_nothing_beside_columns_of_each(map_rows: MapRows) -> None:
    portfolio = shared(map_rows, "Rating", BOTH, **{"Moody's Rating": MOODYS, "S&P Rating": SP})
    assert set(ranks_of(portfolio)) == {"rating", "rating_agency_a", "rating_agency_b"}
