"""Of two columns that could feed one field the better one is read, without a doubt, in whichever order they stand."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from core.portfolio import Portfolio
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.model.ratings import rank
from tests.core.portfolio.conftest import MakeBook, MapRows
from tests.rows import every

ROWS: Final = 12
PAR: Final = [1_250_000.0 + 125_310.55 * at for at in range(ROWS)]
AGENCIES: Final = {"a": ("Moody's", ["Ba3", "B1", "B2", "B3"]), "b": ("S&P", ["BB-", "B+", "B", "B-"])}


def read(map_rows: MapRows, columns: dict[str, list[Any]], upper: list[Any] | None = None) -> Portfolio:
    """Read twelve loans with some columns beside what tells them apart."""
    first = ["Issuer", "LoanX ID", *([] if any(cells is PAR for cells in columns.values()) else ["Par Amount"])]
    head = [*first, *(name.rstrip("|") for name in columns)]
    rows = [
        [f"Name {at} Inc", f"LX1{at:05}", PAR[at], *(cells[at] for cells in columns.values())][: len(first)]
        + [cells[at] for cells in columns.values()]
        for at in range(ROWS)
    ]
    return map_rows([*([] if upper is None else [[None] * len(first) + upper]), head, *rows])


def doubts(portfolio: Portfolio) -> list[str]:
    return [warning.message for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]


@every(
    "better, rest, factor",
    [
        ("Position", "Commitment", 1.1),
        ("Our Outstanding", "Our Commitment", 1.1),
        ("Total Par", "Settled Par", 0.9),
        ("TD Par", "SD Par", 0.9),
        ("Total Par", "Unsettled Par", 0.1),
        ("Principal Balance", "Collateral Principal Amount", 0.97),
    ],
)
def test_par(map_rows: MapRows, better: str, rest: str, factor: float) -> None:
    others = [par * factor if at % 3 else par * (factor - 0.01) for at, par in enumerate(PAR)]
    for columns in ({better: PAR, rest: others}, {rest: others, better: PAR}):
        portfolio = read(map_rows, columns)
        assert (portfolio.numbers["par_value"].tolist(), doubts(portfolio)) == (PAR, [])


@every(
    "better, rest", [("Par (excl. PIK)", "Par incl PIK"), ("Principal Balance ex-PIK", "Principal Balance incl. PIK")]
)
def test_par_without_interest_in_kind_goes_first_in_doubt(map_rows: MapRows, better: str, rest: str) -> None:
    others = [par * 1.01 for par in PAR]
    for columns in ({better: PAR, rest: others}, {rest: others, better: PAR}):
        portfolio = read(map_rows, columns)
        assert portfolio.numbers["par_value"].tolist() == PAR
        assert len(doubts(portfolio)) == 1


@every(
    "better, rest",
    [
        ("Country of Domicile (Indenture)", "Country of Incorporation"),
        ("Country (S&P)", "Country of Incorporation"),
        ("Eligible Country", "Country of Incorporation"),
    ],
)
def test_countries(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ["France", "Germany", "Spain"] * 4, ["Luxembourg"] * ROWS
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        names = read(map_rows, columns).names["country"]
        assert [names.values[code] for code in names.codes] == ["FR", "DE", "ES"] * 4


@every(
    "better, rest",
    [
        ("Moody's 35 Industry", "GICS Sub-Industry"),
        ("Moody's Ind", "Internal Sector"),
        ("Moodys Sector", "Manager Industry"),
    ],
)
def test_industries(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ["High Tech Industries", "Automotive", "Retail"] * 4, ["Software", "Auto Components", "Shops"] * 4
    assert industries(map_rows, {better: cells, rest: others}) == cells
    assert industries(map_rows, {rest: others, better: cells}) == cells


def industries(map_rows: MapRows, columns: dict[str, list[Any]]) -> list[str]:
    """Return the industry of each loan."""
    names = read(map_rows, columns).names["industry"]
    return [names.values[code] for code in names.codes]


@every(
    "better, rest",
    [
        ("Legal Final Maturity", "Expected Maturity Date"),
        ("Current Maturity", "Original Maturity Date"),
        ("Final Maturity", "Expected Maturity"),
        ("Expiration Date", "Next Payment Date"),
        ("Legal Final", "Call Date"),
    ],
)
def test_maturities(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = [date(2031, 1 + at, 20) for at in range(ROWS)], [date(2028, 1 + at, 20) for at in range(ROWS)]
    days = [float((day - date(1970, 1, 1)).days) for day in cells]
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        portfolio = read(map_rows, columns)
        assert (portfolio.numbers["maturity_date"].tolist(), doubts(portfolio)) == (days, [])


def ratings(letter: str, shift: int) -> list[str]:
    """Return ratings of an agency, by some notches apart."""
    symbols = AGENCIES[letter][1]
    return [symbols[(at + shift) % len(symbols)] for at in range(ROWS)]


@every(
    "issuer, facility",
    [
        ("{} Obligor Rating", "{} Obligation Rating"),
        ("Rating - {} Corp Family", "Rating - {} Bank Loan"),
        ("Rtg {} (Entity)", "Rtg {} (Issue)"),
        ("Borrower {}", "Asset {}"),
        ("{}_Company_RATING", "{}_Security_RATING"),
        ("{} Rating (Counterparty)", "{} Rating (Tranche)"),
        ("Rating {} Issuer", "Rating {} Issue-level"),
        ("LT Issuer Rating ({})", "Instrument Rating ({})"),
    ],
)
@every("letter", AGENCIES)
def test_ratings_of_issuers_and_of_issues(map_rows: MapRows, issuer: str, facility: str, letter: str) -> None:
    name, _ = AGENCIES[letter]
    cells, others = ratings(letter, 0), ratings(letter, 1)
    pairs = [(issuer.format(name), cells), (facility.format(name), others)]
    for columns in (dict(pairs), dict(pairs[::-1])):
        portfolio = read(map_rows, columns)
        field = f"rating_agency_{letter}"
        assert portfolio.ranks[field].tolist() == list(map(rank, cells))
        assert portfolio.ranks[f"{field}_issuer"].tolist() == list(map(rank, cells))
        if f"{field}_facility" in portfolio.ranks:
            assert portfolio.ranks[f"{field}_facility"].tolist() == list(map(rank, others))
        assert doubts(portfolio) == []


@every("upper", [["Obligor Rating", None, "Loan Rating", None], ["CFR / ICR", None, "Issue Ratings", None]])
def test_a_level_over_agencies_is_meant_for_each_of_them(map_rows: MapRows, upper: list[Any]) -> None:
    columns = {
        "Moody's": ratings("a", 0), "S&P": ratings("b", 0), "Moody's|": ratings("a", 1), "S&P|": ratings("b", 1),
        "Maturity": [date(2031, 1, 20)] * ROWS,
    }  # fmt: skip
    portfolio = read(map_rows, columns, [*upper, None])
    for letter in AGENCIES:
        assert portfolio.ranks[f"rating_agency_{letter}"].tolist() == list(map(rank, ratings(letter, 0)))
    assert "maturity_date" in portfolio.numbers


@every(
    "better, rest",
    [
        ("Moody's Derived Rating", "Moody's Public Rating"),
        ("Moody's DP Rtg", "Moody's Facility Rtg"),
        ("Rtg Moody's (Derived)", "Rtg Moody's"),
        ("Rating - Moody's CFR", "Rating - Moody's"),
        ("Moody's Rating used for WARF", "Moody's Issue Rating"),
    ],
)
def test_a_derived_rating_or_that_of_the_family_goes_first(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ratings("a", 0), ratings("a", 1)
    for columns in ({better: cells, rest: others}, {rest: others, better: cells}):
        portfolio = read(map_rows, columns)
        assert (portfolio.ranks["rating_agency_a"].tolist(), doubts(portfolio)) == (list(map(rank, cells)), [])


@every(
    "first, second, is_first",
    [
        ("As of 02/29/2024", "Current", False),
        ("Current", "As of 02/29/2024", True),
        ("29-Feb-2024", "Latest", False),
        ("Today", "Feb 2024", True),
    ],
)
def test_a_day_beside_current_is_an_earlier_one(map_rows: MapRows, first: str, second: str, is_first: bool) -> None:
    prices = [[94.0 + at / 8 for at in range(ROWS)], [97.0 + at / 8 for at in range(ROWS)]]
    columns = {"Par": PAR, "Price": prices[0], "Par|": [par * 1.1 for par in PAR], "Price|": prices[1]}
    portfolio = read(map_rows, columns, [first, None, second, None])
    assert portfolio.numbers["price"].tolist() == prices[not is_first]
    assert doubts(portfolio) == []


def test_groups_that_say_nothing_leave_their_columns_in_doubt(map_rows: MapRows) -> None:
    columns = {"Par": PAR, "Price": [95.0] * ROWS, "Par|": [par * 1.05 for par in PAR], "Price|": [95.0] * ROWS}
    portfolio = read(map_rows, columns, ["Trustee", None, "Manager", None])
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert doubts(portfolio) == ["Column 'Par' is taken for par_value: column 'Par' could as well be meant."]


def test_settled_par_beside_what_is_not_is_in_doubt(map_rows: MapRows) -> None:
    parts = {"Settled Amount": PAR, "Unsettled Amount": [1_000.0] * ROWS}
    assert doubts(read(map_rows, parts)) == [
        "Column 'Settled Amount' is taken for par_value: it has what is settled, and another column what is not."
    ]


SPREADS: Final = [3.25 + 0.25 * (at % 6) for at in range(ROWS)]


@every("better", ["Contract Spread", "Spread"])
@every("rest", ["All-in Spread", "Total Spread"])
def test_a_spread_of_all_parts_goes_behind(map_rows: MapRows, better: str, rest: str) -> None:
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
def test_a_listed_country_goes_first(map_rows: MapRows, better: str, rest: str) -> None:
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
def test_an_industry_of_an_agency_goes_first(map_rows: MapRows, better: str, rest: str) -> None:
    cells, others = ["Software", "Auto Components", "Specialty Retail"] * 4, ["Tech", "Cars", "Shops"] * 4
    assert industries(map_rows, {better: cells, rest: others}) == cells
    assert industries(map_rows, {rest: others, better: cells}) == cells


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


@every("heading, target", [("Commitment", "par_value"), ("Settled Par", "par_value"), ("Asset Type", "lien_type")])
def test_what_a_mapping_of_ones_own_names_goes_before_all(make_book: MakeBook, heading: str, target: str) -> None:
    document = {"source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {heading: {"target": target}}}
    head = ["LoanX ID", "Borrower", "Par Amount", "Lien", heading, "Spread"]
    rows = [[f"LX1{at:05}", f"Name {at} Inc", PAR[at], "First Lien", 7.0 * PAR[at], 350] for at in range(ROWS)]
    book = make_book({"Loans": [head, *rows]})
    columns = detect_columns(book, configure_mapping(document, id="own", name="Own")).columns
    assert [entry.column for entry in columns if entry.target == target] == ["E"]


@every("heading", ["S&P Rating", "S&P Corporate Rating", "S&P Issuer Rating", "S&P Obligation Rating"])
def test_a_rating_of_a_parent_stands_in_for_no_other(map_rows: MapRows, heading: str) -> None:
    own, parents = (["BB-", "B+", "B", "B-"] * 3, ["CCC", "BB", "BBB", "B"] * 3)
    for rest in ("S&P Parent Rating", "S&P Group Rating"):
        for columns in ({heading: own, rest: parents}, {rest: parents, heading: own}):
            ranks = read(map_rows, columns).ranks["rating_agency_b"]
            assert ranks.tolist() == [rank(text) for text in own]
