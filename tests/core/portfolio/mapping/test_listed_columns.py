"""A heading that says less, or says it of few loans, does not go before one that the mapping lists."""

from __future__ import annotations

from typing import Any, Final

from core.portfolio.model.ratings import rank
from tests.core.portfolio.conftest import MapRows
from tests.core.portfolio.mapping.test_sheet_columns import PAR, ROWS, doubts, ratings, read
from tests.rows import every

SPREADS: Final = [3.25 + 0.25 * (at % 6) for at in range(ROWS)]


@every("better", ["Contract Spread", "Spread"])
@every("rest", ["All-in Spread", "Total Spread"])
def test_spreads(map_rows: MapRows, better: str, rest: str) -> None:
    others = [spread + 0.5 for spread in SPREADS]
    for columns in ({better: SPREADS, rest: others}, {rest: others, better: SPREADS}):
        portfolio = read(map_rows, columns)
        assert portfolio.numbers["spread"].tolist() == read(map_rows, {better: SPREADS}).numbers["spread"].tolist()
        assert doubts(portfolio) == []


@every(
    "better, rest",
    [
        ("Country of Risk", "Incorporated"),
        ("Domicile", "Tax Domicile"),
        ("Country (ISO)", "Tax Domicile"),
        ("Country of Risk", "Obligor Location"),
        ("Eligible Country", "Obligor Location"),
        ("Domicile", "Country of Operations"),
    ],
)
def test_countries(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ["France", "Germany", "Spain"] * 4, ["Ireland", "Italy", "Austria"] * 4
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        names = read(map_rows, columns).names["country"]
        assert [names.values[code] for code in names.codes] == ["FR", "DE", "ES"] * 4


@every("heading", ["Incorporated", "Tax Domicile", "Obligor Location", "Country of Operations"])
def test_a_country_alone_is_read(map_rows: MapRows, heading: str) -> None:
    names = read(map_rows, {heading: ["France", "Germany", "Spain"] * 4}).names["country"]
    assert [names.values[code] for code in names.codes] == ["FR", "DE", "ES"] * 4


@every(
    "better, rest",
    [
        ("GICS Sector", "Manager Sector"),
        ("S&P Industry Name", "Manager Sector"),
        ("S&P Industry Name", "Fitch Industry"),
        ("GICS Sector", "Bloomberg Industry"),
    ],
)
def test_industries(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ["Software", "Auto Components", "Specialty Retail"] * 4, ["Tech", "Cars", "Shops"] * 4
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        names = read(map_rows, columns).names["industry"]
        assert [names.values[code] for code in names.codes] == cells


@every("better", ["Moody's", "Moody's CFR", "Moody's Rating", "Moody's Issuer Rating"])
@every("rest", ["Moody's Credit Estimate", "Moody's Estimated Rating", "Moody's Shadow Rating"])
def test_a_rating_of_few_loans_does_not_go_before_that_of_all(map_rows: MapRows, better: str, rest: str) -> None:
    cells = ratings("a", 0)
    others: list[Any] = [None if at % 4 else "Caa1" for at in range(ROWS)]
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        assert read(map_rows, columns).ranks["rating_agency_a"].tolist() == list(map(rank, cells))


@every("better", ["Commitment", "Settled Par", "Funded Par", "Current Par", "Outstanding"])
@every("rest", ["Defaulted Par", "Participation Par", "Net Par Traded", "Par (excl. PIK)"])
def test_par_of_few_loans_does_not_go_before_that_of_all(map_rows: MapRows, better: str, rest: str) -> None:
    others: list[Any] = [None if at % 5 else 100_000.0 for at in range(ROWS)]
    for columns in ({better: PAR, rest: others}, {rest: others, better: PAR}):
        assert read(map_rows, columns).numbers["par_value"].tolist() == PAR


def test_a_default_probability_rating_goes_before_a_final_one(map_rows: MapRows) -> None:
    cells, others = ratings("a", 0), ratings("a", 1)
    for columns in (
        {"Moody's DP Rating": cells, "Moody's Rating Final": others},
        {"Moody's Rating Final": others, "Moody's DP Rating": cells},
    ):
        assert read(map_rows, columns).ranks["rating_agency_a"].tolist() == list(map(rank, cells))


@every("heading", ["Carrying Price"])
def test_a_carrying_price_is_no_price_paid(map_rows: MapRows, heading: str) -> None:
    assert "purchase_price" not in read(map_rows, {heading: [94.0 + at / 8 for at in range(ROWS)]}).numbers
