"""Finding header rows.

Titles above, two rows, merged groups, repeats, and sheets that are no holdings.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.model.fields import PROFILES, Field, Mapping
from core.portfolio.sheets.headings import header, wording
from core.portfolio.sheets.headings.header import Header
from core.portfolio.sheets.locate import locate
from tests.core.portfolio.conftest import MakeBook
from tests.rows import every

CLO = PROFILES["standard_clo"]
MakeSheet = Callable[..., Sheet]


def test_the_best_row_wins_then_the_topmost(make_sheet: MakeSheet) -> None:
    best = ["Issuer Name", "Par Amount", "Price", "CUSIP"]
    sheet = make_sheet(
        [["ARES BR Mtge"], ["Issuer", "Par", "Price"], [], best, ["A", 1, 2, "x"], best, ["B", 1, 2, "y"]]
    )
    header_match = header.find(sheet, CLO)
    assert header_match is not None
    assert (header_match.row, header_match.score) == (3, 4)
    assert header_match.columns == {"borrower_name": [0], "par_value": [1], "price": [2], "cusip": [3]}


@pytest.mark.parametrize(
    "row",
    [
        ["Issuer", "Par"],
        ["Issuer", "Price", "Spread"],
        ["Price", "Spread", "Rating", "Country"],
        ["Par", "Par", "Par", "Par Amount"],
    ],
)
def test_a_header_names_three_targets_and_par_or_an_identifier(make_sheet: MakeSheet, row: list[str]) -> None:
    assert header.find(make_sheet([row, ["x"] * len(row)]), CLO) is None


def test_formulas_without_words_are_no_headings(make_book: MakeBook) -> None:
    """Two blocks of a test whose lines begin with `=IF(...,"")`."""
    block = [["Class A/B Par Value Test"], ["(A)", "Adjusted Amount", 401e6], ["(B)", "Amount of Notes", 310e6],
             ["", "Ratio (A/B)", "129.49%"], ["", "Required Ratio", "121.50%"], ["", "Result", "PASS"], []]  # fmt: skip
    book = make_book({"Compliance": [["Test Deal CLO"], [], *block, *block]})
    assert locate(book, CLO).loans is None


def test_an_identifier_serves_in_place_of_par(make_sheet: MakeSheet) -> None:
    header_match = header.find(make_sheet([["LoanX ID", "Issuer", "Spread"]]), CLO)
    assert header_match is not None
    assert header_match.score == 3


def test_a_header_far_down_is_looked_for_where_no_row_above_is_one(make_sheet: MakeSheet) -> None:
    row, more = ["Issuer", "Par", "Price"], ["Issuer", "Par", "Price", "CUSIP", "Maturity"]
    for at in (39, 40, 79, 500, header.DEEP_ROWS_MAX - 1):
        header_match = header.find(make_sheet([["Some words"]] * at + [row]), CLO)
        assert header_match is not None
        assert header_match.row == at
    assert header.find(make_sheet([[]] * header.DEEP_ROWS_MAX + [row]), CLO) is None
    above = header.find(make_sheet([row, *[["x", 1.0]] * 60, more]), CLO)
    assert above is not None
    assert above.row == 0


def test_wrapped_words_in_two_rows(make_sheet: MakeSheet) -> None:
    sheet = make_sheet(
        [
            ["Issuer", "Par", "Coupon", "Maturity", "Moody's"],
            ["Name", "Amount", "Spread", "Date", "Industry"],
            ["A", 1, 2, 3, "x"],
        ]
    )
    header_match = header.find(sheet, CLO)
    assert header_match is not None
    assert (header_match.row, header_match.top) == (1, 0)
    fields = {"borrower_name", "par_value", "spread", "maturity_date", "industry", "industry_a"}
    assert header_match.columns.keys() == fields
    assert header.detect(sheet).names == [
        "Issuer Name",
        "Par Amount",
        "Coupon Spread",
        "Maturity Date",
        "Moody's Industry",
    ]
    assert header.detect(sheet).first_row == 2


def test_groups_over_fields_fill_their_merged_cells(make_sheet: MakeSheet) -> None:
    rows = [
        ["Position", None, "Moody's", None, "S&P"],
        ["Issuer", "Par", "Rating", "Industry", "Rating"],
        ["A", 1.0, "B2", "Retail", "B"],
    ]
    header_match = header.find(make_sheet(rows, merged=[(0, 0, 0, 1), (0, 2, 0, 3)]), CLO)
    assert header_match is not None
    assert header_match.columns == {
        "borrower_name": [0],
        "par_value": [1],
        "rating_agency_a": [2],
        "industry": [3],
        "industry_a": [3],
        "rating_agency_b": [4],
    }
    # Without the merge the second word has no group, and still names its field alone.
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert header_match.columns["industry"] == [3]


def test_a_lower_row_with_numbers_is_data(make_sheet: MakeSheet) -> None:
    header_match = header.find(make_sheet([["Issuer", "Par", "Coupon", "LXID"], ["Name", 5.0, "Spread", "Date"]]), CLO)
    assert header_match is not None
    assert (header_match.row, header_match.top) == (0, 0)


LIST = ["Issuer", "LXID", "Par Amount", "Price", "Spread", "Maturity Date"]
LOAN = ["Alpha", "LX100001", 1_000.0, 99.0, 350.0, "2030-01-31"]


@pytest.mark.parametrize(
    "units",
    [
        [None, None, "(USD)", "%", "bps", "mm/dd/yyyy"],
        [None, None, "USD", "(% of par)", "[bps]", None],
        ["text", "text", "$000s", "-", "basis points", "DD-MMM-YYYY"],
        [None, None, None, None, "%", None],
        [None, None, "in USD mm", "pct", None, "date"],
    ],
)
def test_a_row_of_units_belongs_to_the_header(make_sheet: MakeSheet, units: list[str | None]) -> None:
    header_match = header.find(make_sheet([["Holdings report"], LIST, units, LOAN]), CLO)
    assert header_match is not None
    assert (header_match.top, header_match.named_row, header_match.row, header_match.below) == (1, 1, 2, ("units",))
    assert header_match.units.keys() <= set(range(6))
    assert header.detect(make_sheet([LIST, units, LOAN])).names == LIST
    assert header.detect(make_sheet([LIST, units, LOAN])).first_row == 2


def test_the_units_are_those_of_their_columns(make_sheet: MakeSheet) -> None:
    units = [None, None, "$000s", "%", "bps", None]
    header_match = header.find(make_sheet([LIST, units, LOAN]), CLO)
    assert header_match is not None
    assert [header_match.unit(column) for column in range(6)] == ["", "", "", "%", "bps", ""]
    assert [header_match.magnitude(column) for column in range(6)] == [1, 1, 1_000, 1, 1, 1]
    # What the name says itself comes first.
    header_match = header.find(make_sheet([[*LIST[:4], "Spread (%)", LIST[5]], units, LOAN]), CLO)
    assert header_match is not None
    assert header_match.unit(4) == "%"


@pytest.mark.parametrize(
    "row",
    [
        ["USD", None, None, None, None, None],  # a label over the loans in dollars
        [None, None, "(USD)", None, "Retail", None],
        [None, None, "(USD)", 1.0, "bps", None],
        [None, None, None, None, None, None],
        ["text", None, "-", None, None, None],
    ],
)
def test_other_rows_below_a_header_are_no_units(make_sheet: MakeSheet, row: list[Any]) -> None:
    header_match = header.find(make_sheet([LIST, row, LOAN]), CLO)
    assert header_match is not None
    assert (header_match.row, header_match.below, header_match.units) == (0, (), {})


@pytest.mark.parametrize(
    ("row", "is_count"),
    [
        ([1, 2, 3, 4, 5, 6], True),
        (["(1)", "(2)", "(3)", "(4)", "(5)", "(6)"], True),
        (["1.", "2.", "3.", "4.", "5.", "6."], True),
        ([1, 2, 3, 4, 5, 7], False),
        ([1, 2, 3, 4, 5, None], False),
        (["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"], True),
        (["A", "B", "C", "D", "E", "F"], True),
        (["A", "B", "C", "D", "E", "G"], False),
        (["A", 2, 3, 4, 5, 6], False),
    ],
)
def test_a_row_that_counts_the_columns_belongs_to_the_header(
    make_sheet: MakeSheet, row: list[Any], is_count: bool
) -> None:
    header_match = header.find(make_sheet([LIST, row, LOAN]), CLO)
    assert header_match is not None
    assert header_match.below == (("numbers",) if is_count else ())
    units = [None, None, "USD", None, "bps", None]
    for rows in ([LIST, row, units, LOAN], [LIST, units, row, LOAN]):
        header_match = header.find(make_sheet(rows), CLO)
        assert header_match is not None
        assert header_match.row == (2 if is_count else 1 if rows[1] is units else 0)


@pytest.mark.parametrize("group", ["Rating", "Ratings"])
def test_a_group_may_be_the_second_word(make_sheet: MakeSheet, group: str) -> None:
    rows = [["Issuer", "Par", "CUSIP", group], [None, None, None, "Moody's", "S&P", "Fitch"], ["A", 1.0, "x", "B2"]]
    header_match = header.find(make_sheet(rows, merged=[(0, 3, 0, 5), (0, 0, 1, 0)]), CLO)
    assert header_match is not None
    assert [header_match.columns[f"rating_agency_{agency}"] for agency in "abc"] == [[3], [4], [5]]
    assert header_match.texts[4] == f"{group} S&P"


def test_a_group_may_be_centred_over_its_fields_without_a_merge(make_sheet: MakeSheet) -> None:
    rows = [
        ["Issuer", "Par", "CUSIP", "Ratings", None, None, None, "Price"],
        [None, None, None, "Moody's", "S&P", "Fitch", "Country", None, "Credit"],
        ["A", 1.0, "x", "B2", "B", "B", "US", 99.0, "B"],
    ]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert [header_match.columns[f"rating_agency_{agency}"] for agency in "abc"] == [[3], [4], [5]]
    assert header_match.texts[5] == "Ratings Fitch"
    # A field of its own keeps its name, and what stands over no field is no group.
    assert header_match.columns["country"] == [6]
    assert header_match.texts[6] == "Country"
    assert header_match.texts[8] == "Credit"
    assert "rating" not in header_match.columns


@every(
    "groups, par, price",
    [
        (["Prior Month", "Current Month", "Prior Month", "Current Month"], [4], [6]),
        (["Current", "Original", "Current", "Change"], [3], [5]),
        (["Prior", None, "Current", None], [5], [6]),  # centred over two columns, without a merge
        (["Rates", None, "Current", None], [3, 5], [4, 6]),
    ],
)
def test_columns_of_another_time(
    make_sheet: MakeSheet, groups: list[str | None], par: list[int], price: list[int]
) -> None:
    """What stands below "Prior Month" or "Original" feeds nothing, whichever stands first."""
    below = ["Par", "Par", "Price", "Price"] if groups[1] else ["Par", "Price", "Par", "Price"]
    rows = [
        [None, None, None, *groups],
        ["Issuer", "CUSIP", "S&P Rating", *below],
        ["A", "x", "B", 1.0, 2.0, 99.0, 98.0],
    ]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert (header_match.columns["par_value"], header_match.columns["price"]) == (par, price)


def test_words_wrapped_over_three_rows(make_sheet: MakeSheet) -> None:
    rows = [
        ["Moody's", "LoanX", "Issuer", "Par"],
        ["DP Rating", "ID", "Name", "Amount"],
        ["- WARF", None, None, "(USD)"],
        ["B2", "LX100001", "Alpha", 1.0],
    ]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert (header_match.top, header_match.row) == (0, 2)
    assert header_match.texts[0] == "Moody's DP Rating - WARF"
    columns = {"rating_agency_a": [0], "loanx_id": [1], "borrower_name": [2], "par_value": [3]}
    assert header_match.columns == columns | {"rating_agency_a_derived": [0]}


def test_of_equal_headers_the_one_of_fewer_rows(make_sheet: MakeSheet) -> None:
    header_match = header.find(
        make_sheet([["Position", "Size", "Ids"], ["Issuer", "Par", "CUSIP"], ["A", 1, "x"]]), CLO
    )
    assert header_match is not None
    assert (header_match.top, header_match.row) == (1, 1)


@pytest.mark.parametrize(
    "written",
    [
        "Par Amount (USD)", "PAR AMOUNT", "par\namount", " Par  Amount ", "Par\u00a0Amount", "P\u00e1r Amount*",
        "Par_Amount", "Par-Amount ($)", "Par Amount ($000s)", "Par Amount in EUR", "Par\u200bAmount",
        "P\u00adar Am\u200dount\ufeff", "\u202bPar Amount\u202c", "Par Amount [USD mm]",
    ],
)  # fmt: skip
def test_case_signs_accents_and_units_make_no_difference(make_sheet: MakeSheet, written: str) -> None:
    header_match = header.find(make_sheet([["Issuer", written, "CUSIP"], ["A", 1, "x"]]), CLO)
    assert header_match is not None
    assert header_match.columns["par_value"] == [1]
    assert header_match.texts[1] == written


@pytest.mark.parametrize(
    "written",
    [
        "Par Amount (1)",
        "Par Amount [a]",
        "Par Amount\u00b2",
        "Par Amount (USD) (3)(4)",
        "Par Amount ($000s) \u2020\u2021",
        "Par Amount **",
    ],
)
def test_marks_of_footnotes_make_no_difference(make_sheet: MakeSheet, written: str) -> None:
    header_match = header.find(make_sheet([["Company (1)", written, "CUSIP*"], ["A", 1, "x"]]), CLO)
    assert header_match is not None
    assert header_match.columns.keys() == {"borrower_name", "par_value", "cusip"}
    assert header_match.magnitude(1) == (1_000 if "000" in written else 1)


def test_a_name_that_is_given_comes_before_one_with_a_footnote(make_sheet: MakeSheet) -> None:
    header_match = header.find(make_sheet([["Issuer", "Par Amount (2)", "Par Amount", "CUSIP"], ["A", 1, 2, "x"]]), CLO)
    assert header_match is not None
    assert header_match.columns["par_value"] == [1, 2]


def test_hostile_footnotes_are_cheap() -> None:
    for mark in ("(", "(1", "* ", " ", "(1)", "\u00b9 ("):
        assert wording.without_footnotes("Par" + mark * 20_000 + "x").startswith("Par")


@pytest.mark.parametrize("written", ["Par Rating", "Par Amount at Purchase", "Prior Par"])
def test_other_words_do(make_sheet: MakeSheet, written: str) -> None:
    header_match = header.find(make_sheet([["Issuer", written, "CUSIP", "Price"], ["A", 1, "x"]]), CLO)
    assert header_match is not None
    assert "par_value" not in header_match.columns


def test_a_column_of_the_deal_gives_way(make_sheet: MakeSheet) -> None:
    rows = [["Example CLO Ltd", f"Borrower {row}", f"LX10000{row}", 1.0] for row in range(5)]
    header_match = header.find(
        make_sheet([["Issuer", "Obligor", "LXID", "Par"], *rows, ["Total", None, None, 5.0]]), CLO
    )
    assert header_match is not None
    assert header_match.columns["borrower_name"] == [1, 0]
    assert header_match.demoted == {0: "constant"}
    # Where no other column differs, the preferred one stays.
    header_match = header.find(make_sheet([["Issuer", "Obligor", "LXID", "Par"], *[["A", "B", "x", 1.0]] * 5]), CLO)
    assert header_match is not None
    assert header_match.columns["borrower_name"] == [0, 1]


def test_a_blank_column_gives_way(make_sheet: MakeSheet) -> None:
    rows = [["Issuer", "CUSIP", "Par Amount", "Principal Balance"], ["A", "x", None, 1.0], ["B", "y", None, 2.0]]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert header_match.columns["par_value"] == [3, 2]
    assert header_match.demoted == {2: "blank"}


def test_a_shorter_table_beside_the_loans_feeds_nothing(make_sheet: MakeSheet) -> None:
    rows: list[list[Any]] = [["Issuer", "Par", "CUSIP", None, "Industry", "Par Amount"]]
    rows += [["A", 1.0, "x", None, "Retail" if row < 3 else None, 9.0 if row < 3 else None] for row in range(8)]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert header_match.columns == {"borrower_name": [0], "par_value": [1], "cusip": [2]}
    assert header_match.beside == {4, 5}
    # A blank column within one table is none.
    rows = [["Issuer", "Par", "CUSIP", None, "Industry", "Par Amount"], *[["A", 1.0, "x", None, "Retail", 9.0]] * 8]
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert header_match.columns["industry"] == [4]
    assert header_match.columns["par_value"] == [5, 1]


def test_a_column_feeds_the_target_that_names_it_first(make_sheet: MakeSheet) -> None:
    fields = (
        Field("desk", "string", aliases=("Desk", "Book")),
        Field("book", "string", aliases=("Book",)),
        Field("par_value", "number", aliases=("Par",)),
    )
    header_match = header.find(make_sheet([["Book", "Desk", "Par"]]), Mapping("m", "m", "custom", fields))
    assert header_match is not None
    assert header_match.columns == {"book": [0], "desk": [1], "par_value": [2]}


def test_names_that_are_given_can_be_mapped(make_sheet: MakeSheet) -> None:
    fields = (
        Field("first", "string", aliases=("Rating",)),
        Field("second", "string", aliases=("Rating (2)",)),
        Field("third", "string", aliases=("Column 4",)),
        Field("par_value", "number", aliases=("Par",)),
    )
    header_match = header.find(
        make_sheet([["Rating", "Rating", "Par"], ["a", "b", 1.0, "c"]]), Mapping("m", "m", "custom", fields)
    )
    assert header_match is not None
    assert header_match.columns == {"first": [0], "second": [1], "third": [3], "par_value": [2]}
    assert header_match.texts == {0: "Rating", 1: "Rating", 2: "Par", 3: "Column 4"}


def test_the_nearest_row_to_a_header_is_told(make_sheet: MakeSheet) -> None:
    sheet = make_sheet([["Report"], ["Issuer", "Spread"], ["Country", "Issuer", "Sector"]])
    assert header.find(sheet, CLO) is None
    near = header.nearest(sheet, CLO)
    assert near is not None
    assert (near.row, near.score, near.columns.keys()) == (2, 3, {"country", "borrower_name", "industry"})
    assert header.nearest(make_sheet([["Report"]]), CLO) is None


def test_hostile_headers_are_cheap(make_sheet: MakeSheet) -> None:
    wide = 1_000
    texts = [[f"Issuer {row} {column}" if column else "Issuer" for column in range(wide)] for row in range(44)]
    merged = [(0, column % wide, 43, wide - 1) for column in range(20_000)]
    strange = [[f"x {row} {column}" for column in range(wide)] for row in range(44)]

    def seconds(sheet: Sheet) -> float:
        taken = []
        for _ in range(2):
            started = time.perf_counter()
            assert header.find(sheet, CLO) is None
            taken.append(time.perf_counter() - started)
        return min(taken)

    hostile, harmless = make_sheet(texts, merged=merged), make_sheet(strange)
    assert seconds(hostile) < 12 * seconds(harmless), "words of headers and merged cells cost a few times a plain text"


def test_a_long_sheet_costs_no_more_than_its_top(make_sheet: MakeSheet) -> None:
    top = make_sheet([LIST, LOAN]).columns
    height = 1_000_000
    columns = []
    for column in top:
        assert column is not None
        target = Column(
            0,
            np.resize(column.kinds, height),
            np.resize(column.numbers, height),
            np.resize(column.codes, height),
            np.resize(column.formats, height),
        )
        columns.append(target)
    sheet = replace(make_sheet([LIST, LOAN]), columns=tuple(columns), row_count=height)
    header.find(sheet, CLO)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        header.find(sheet, CLO)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.02


def test_alias_order_is_preference_order(make_sheet: MakeSheet) -> None:
    names = [
        "Issuer",
        "Par",
        "Moody's Rating",
        "Moody's DP Rating - WARF",
        "Moody's CFR",
        "Current Balance",
        "Par Amount",
    ]
    header_match = header.find(make_sheet([names]), CLO)
    assert header_match is not None
    assert header_match.columns["rating_agency_a"] == [3, 4, 2]
    assert header_match.columns["par_value"] == [6, 1, 5]


def test_one_column_feeds_one_target(make_sheet: MakeSheet) -> None:
    header_match = header.find(make_sheet([["Issuer", "Par", "CUSIP", "Moody's Rating-21"]]), CLO)
    assert header_match is not None
    assert header_match.columns["rating_agency_a"] == [3]
    assert "facility_rating_agency_a" not in header_match.columns
    header_match = header.find(
        make_sheet([["Issuer", "Par", "CUSIP", "Moody's Rating-21", "Moody's Rating WARF"]]), CLO
    )
    assert header_match is not None
    assert (header_match.columns["rating_agency_a"][0], header_match.columns["facility_rating_agency_a"]) == (4, [3])


def test_names_of_any_sheet(make_sheet: MakeSheet) -> None:
    detected = header.detect(make_sheet([[], ["A", None, "A", " B\n c ", "A", "A (2)"], [1, 2, 3, 4, 5, 6]]))
    assert (detected.row, detected.first_row, detected.last_row) == (1, 2, 3)
    assert detected.names == ["A", "Column 2", "A (2)", "B c", "A (3)", "A (2) (2)"]


def test_a_first_row_with_a_number_is_no_header(make_sheet: MakeSheet) -> None:
    detected = header.detect(make_sheet([["A", 1], ["B", 2]]))
    assert detected == Header(None, ["A", "B"], 0, 2)
    assert header.detect(make_sheet([])) == Header(None, [], 0, 0)


def test_the_holdings_header_wins_over_the_first_row(make_sheet: MakeSheet) -> None:
    detected = header.detect(
        make_sheet([["Some title"], ["Issuer", "Par", "Price", 2026], ["A", 1, 2, 3], ["Total", 1]])
    )
    assert (detected.row, detected.first_row, detected.last_row) == (1, 2, 4)
    assert detected.names == ["Issuer", "Par", "Price", "2026"]


def test_many_equal_names_stay_distinct_and_cheap(make_sheet: MakeSheet) -> None:
    names = header.detect(make_sheet([["x"] * 16_384])).names
    assert len(set(names)) == 16_384
    assert names[-1] == "x (16384)"


def test_other_mappings_have_their_own_anchors(make_sheet: MakeSheet) -> None:
    rows: list[list[Any]] = [["Loan ID", "Principal Balance", "Interest Rate", "Days Open"], ["1", 2, 3, 4]]
    header_match = header.find(make_sheet(rows), PROFILES["standard_servicer"])
    assert header_match is not None
    assert header_match.columns.keys() == {"loan_id", "principal_balance", "interest_rate", "days_open"}


@pytest.mark.parametrize(
    ("text", "unit"),
    [("Spread (bps)", "bps"), ("Spread BP", "bps"), ("Spread %", "%"), ("Spread pct", "%"), ("Spread", "")],
)
def test_units_in_headers(text: str, unit: str) -> None:
    assert wording.unit(text) == unit


@pytest.mark.parametrize(
    ("text", "magnitude"),
    [
        ("Par ($000s)", 1e3), ("Par (USD '000)", 1e3), ("Par in thousands", 1e3), ("Par ($k)", 1e3), ("EUR k", 1e3),
        ("Facility Size ($mm)", 1e6), ("Par (USD millions)", 1e6), ("Par ($m)", 1e6), ("(in millions of USD)", 1e6),
        ("Par ($000s) (1)", 1e3), ("Par", 1), ("Par (USD)", 1), ("Rating M", 1), ("Class K", 1), ("", 1),
        ("Nominal (TEUR)", 1e3), ("Par TUSD", 1e3), ("Encours (k€)", 1e3), ("Par k$", 1e3), ("Par USD th.", 1e3),
        ("Nominal (in Tsd.)", 1e3), ("Encours (en milliers d'euros)", 1e3), ("Saldo (miles de euros)", 1e3),
        ("Par EUR x 1.000", 1e3), ("Par (Mio. EUR)", 1e6), ("Par in M€", 1e6), ("Par (EURm)", 1e6), ("MEUR", 1e6),
        ("Par (x 1,000,000)", 1e6), ("Moody's (M)", 1), ("Frequent Flyer Miles", 1),
    ],
)  # fmt: skip
def test_magnitudes_in_headers(text: str, magnitude: float) -> None:
    assert wording.magnitude(text) == magnitude


@pytest.mark.parametrize(
    ("text", "magnitude"),
    [
        ("(000's omitted)", 1e3), ("Angaben in TEUR", 1e3), ("Beträge in Tausend EUR", 1e3), ("(TEUR)", 1e3),
        ("En milliers d'euros", 1e3), ("Bedragen x 1.000", 1e3), ("Importes en millones", 1e6),
        ("Portfolio (Mio. EUR)", 1e6), ("USD 400 million CLO", 1), ("Minimum 5,000 USD", 1),
        ("400 million USD notes", 1),
        ("Fund K EUR", 1), ("Series T EUR Loans", 1), ("Portfolio K USD", 1), ("Class M USD Notes", 1),
        ("Vista in TH", 1), ("Portfolio (k€)", 1e3), ("Loans in k EUR", 1e3), ("Pool in T€", 1e3), ("Loans, m$", 1e6),
        ("Pool (USD th)", 1e3), ("k EUR", 1e3),
        ("A minimum of 5 M EUR", 1), ("EUR", 1), ("mm", 1), ("As of June 30 th", 1), ("", 1),
    ],
)  # fmt: skip
def test_magnitudes_in_titles(text: str, magnitude: float) -> None:
    assert wording.magnitude_of_title(text) == magnitude


@pytest.mark.parametrize(("unit", "magnitude"), [("TEUR", 1e3), ("k€", 1e3), ("Mio. EUR", 1e6), ("Tsd.", 1e3)])
def test_magnitudes_in_a_row_of_units(make_sheet: MakeSheet, unit: str, magnitude: float) -> None:
    header_match = header.find(make_sheet([LIST, [None, None, unit], LOAN]), CLO)
    assert header_match is not None
    assert (header_match.below, header_match.magnitude(2)) == (("units",), magnitude)


@every(
    "rows, columns",
    [
        (  # agencies over columns, though bare words name more fields
            [
                [None, "Moody's", None, None, "S&P", None],
                ["LoanX ID", "Corporate Family", "DP Rating", "Recovery Rate", "Issuer", "Facility"],
                ["LX100001", "B2", "B3", 45.0, "B", "B-"],
                ["LX100002", "B1", "B2", 50.0, "B+", "B"],
            ],
            {
                "rating_agency_a_issuer": [1], "rating_agency_a_derived": [2], "recovery_rate_a": [3],
                "rating_agency_b_issuer": [4], "rating_agency_b_facility": [5],
            },
        ),
        (  # one of them over a wrapped heading, and last month's column between
            [
                [None, "S&P", None, "Fitch", "Original"],
                ["LoanX", None, "Recovery", None, None],
                ["ID", "Issuer", "Rate", "IDR", "Face"],
                ["LX100001", "B", 45.0, "B-", 100.0],
                ["LX100002", "B+", 40.0, "B", 200.0],
            ],
            {"rating_agency_b_issuer": [1], "recovery_rate_b": [2], "rating_agency_c_issuer": [3]},
        ),
        (  # first words of wrapped headings are no groups
            [
                ["LoanX", "Moody's", "S&P", None, "Par"],
                ["ID", "CFR", "ICR", "Industry", "Amount"],
                ["LX100001", "B2", "B", "Retail", 100.0],
                ["LX100002", "B1", "B+", "Software", 200.0],
            ],
            {"rating_agency_a_issuer": [1], "rating_agency_b_issuer": [2], "industry": [3]},
        ),
    ],
)  # fmt: skip
def test_agencies_over_columns(make_sheet: MakeSheet, rows: list[list[Any]], columns: dict[str, list[int]]) -> None:
    header_match = header.find(make_sheet(rows), CLO)
    assert header_match is not None
    assert {target: header_match.columns.get(target) for target in columns} == columns


@every("heading, targets", [
    ("S&P Corp", ("rating_agency_b", "rating_agency_b_issuer")),
    ("Moody's Industry Category", ("industry", "industry_a")),
    ("Moody's DP Rating", ("rating_agency_a", "rating_agency_a_derived")),
    ("Mdy Dflt Prob Rtg", ("rating_agency_a", "rating_agency_a_derived")),
])  # fmt: skip
def test_an_agency_s_column_feeds_the_general_field_and_its_own(
    make_sheet: MakeSheet, heading: str, targets: tuple[str, ...]
) -> None:
    cell = "Retail" if "Industry" in heading else "B" if "S&P" in heading else "B2"
    header_match = header.find(
        make_sheet([["LoanX ID", "Issuer", "Par Amount", heading], ["LX100001", "A", 1.0, cell]]), CLO
    )
    assert header_match is not None
    assert [target for target in targets if header_match.columns.get(target) == [3]] == list(targets)


def test_names_of_facilities_under_a_heading_of_kinds(make_sheet: MakeSheet) -> None:
    names = ["Term Loan B-2", "Second Lien Term Loan II", "2021 Incremental Term Loan", "Initial Term Loan",
             "Closing Date Term Loan", "Refinancing Term Loan"]  # fmt: skip
    rows = [[f"Alder {at} Inc", 100.0 + at, name, "USD", "First Lien"] for at, name in enumerate(names)]
    header_match = header.find(
        make_sheet([["Company", "Par Amount", "Investment Type", "Currency", "Lien Position"], *rows]), CLO
    )
    assert header_match is not None
    assert (header_match.columns["facility_name"], header_match.columns["lien_type"][0]) == ([2], 4)


def test_a_column_of_kinds_gives_way_to_one_of_liens(make_sheet: MakeSheet) -> None:
    rows = [[f"Alder {at} Inc", 100.0 + at, "Term Loan", "1st Lien" if at else "2nd Lien"] for at in range(8)]
    header_match = header.find(make_sheet([["Issuer", "Par Amount", "Asset Type", "Rank"], *rows]), CLO)
    assert header_match is not None
    assert header_match.columns["lien_type"][0] == 3


def test_days_as_figures_are_no_prices(make_sheet: MakeSheet) -> None:
    rows = [[f"LX10000{at}", 100.0 + at, 20170712.0] for at in range(8)]
    header_match = header.find(make_sheet([["LoanX ID", "Par Amount", "Price As Of", "Issuer"], *rows]), CLO)
    assert header_match is not None
    assert "price" not in header_match.columns


@pytest.mark.parametrize("cells", [["1", "2", "3", "4", "5", "6"], ["4", "2", "1", "3", "6", "5"]])
def test_a_column_that_counts_the_rows_in_texts_feeds_nothing(make_sheet: MakeSheet, cells: list[str]) -> None:
    rows = [[cell, f"Alder{cell} Inc", 1e6, 99.0] for cell in cells]
    header_match = header.find(make_sheet([["Item No", "Issuer", "Par", "Price"], *rows]), CLO)
    assert header_match is not None
    assert 0 not in [place for places in header_match.columns.values() for place in places]
    named = header.find(make_sheet([["Loan ID", "Issuer", "Par", "Price"], *rows]), CLO)
    assert named is not None
    assert 0 in [place for places in named.columns.values() for place in places]
