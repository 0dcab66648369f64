"""Columns that could as well be meant for another field are told, in the rows of the figures that they feed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.portfolio import Portfolio
from tests.core.portfolio.conftest import MapRows
from tests.rows import every

NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dogwood Ltd", "Elm GmbH", "Fir S.A.", "Gum Corp", "Holm AG"]


def rows(*columns: tuple[str, Sequence[object]]) -> list[list[object]]:
    heads = ["Borrower", "CUSIP", *(name for name, _ in columns)]
    ids = ["037833100", "594918104", "00130H105", "88160R101", "02079K305", "30303M102", "023135106", "67066G104"]
    body = [
        [name, identifier, *(values[at] for _, values in columns)]
        for at, (name, identifier) in enumerate(zip(NAMES, ids, strict=True))
    ]
    return [heads, *body]


def messages(portfolio: Portfolio) -> dict[str, tuple[str, ...]]:
    return {w.message: w.fields for w in portfolio.notes.warnings if w.code == "ambiguous_column"}


PAR = [1_000_000.0 + 250_000 * at for at in range(8)]


def test_two_columns_of_one_field_are_told(map_rows: MapRows) -> None:
    drawn = [par * 0.9 for par in PAR]
    warnings = messages(map_rows(rows(("Drawn Amount Held", PAR), ("Drawn Amount Booked", drawn))))
    assert list(warnings.values()) == [("par_value",)]
    assert "Drawn Amount Booked" in next(iter(warnings))


def test_copies_are_no_ambiguity(map_rows: MapRows) -> None:
    assert not messages(map_rows(rows(("Drawn Amount Held", PAR), ("Drawn Amount Booked", list(PAR)))))


def test_listed_headings_are_never_ambiguous(map_rows: MapRows) -> None:
    drawn = [par * 0.9 for par in PAR]
    assert not messages(map_rows(rows(("Par Amount", PAR), ("Principal Balance", drawn))))


@pytest.mark.parametrize("heading", [None, " ", "Facility class"])
def test_a_column_that_cells_alone_tell_is_told(map_rows: MapRows, heading: str | None) -> None:
    liens = ["First Lien", "Second Lien", "First Lien", "Unsecured", "First Lien", "First Lien", "Second Lien", "Bond"]
    portfolio = map_rows(rows(("Par", PAR), (heading, liens)))  # type: ignore[arg-type]
    assert portfolio.lien is not None
    assert list(messages(portfolio).values()) == [("lien_type",)]


def test_a_column_of_flags_without_a_heading_is_told_for_all_flags_that_no_other_column_has(map_rows: MapRows) -> None:
    flags: list[object] = ["Y", "N", "N", "Y", "N", "N", "Y", "N"]
    portfolio = map_rows(rows(("Par", PAR), ("Cov-Lite", flags), (None, flags)))  # type: ignore[arg-type]
    (fields,) = messages(portfolio).values()
    assert "is_defaulted" in fields
    assert "cov_lite" not in fields


def test_amounts_of_no_heading_that_are_mostly_those_of_par_are_told(map_rows: MapRows) -> None:
    drawn: list[object] = [*PAR[:6], 9e5, 8e5]
    warnings = messages(map_rows(rows(("Outstanding Balance (Local Currency)", PAR), (None, drawn))))  # type: ignore[arg-type]
    assert ("par_value",) in warnings.values()
    smaller: list[object] = [par * 0.01 for par in PAR]
    assert not messages(map_rows(rows(("Outstanding Balance (Local Currency)", PAR), (None, smaller))))  # type: ignore[arg-type]


def test_words_of_a_flag_that_say_neither_yes_nor_no_are_told_with_their_share(map_rows: MapRows) -> None:
    words: list[object] = ["Cov-Lite", "Springing", "Full", "N", "Springing", "Lite", "Maintenance", "Y"]
    portfolio = map_rows(rows(("Par", [1_000_000.0] * 8), ("Cov-Lite", words)))
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 0, 0, 0, 1, 0, 1]
    (warning,) = [warning for warning in portfolio.notes.warnings if warning.code == "flag_unrecognised"]
    assert (warning.rows, warning.fields) == (2, ("cov_lite",))
    assert "2 loans (25.00 % of par)" in warning.message
    assert "'Springing'" in warning.message


@pytest.mark.parametrize(("yes", "no"), [("J", "N"), ("O", "N"), ("S", "n"), ("DF", "PF"), ("D", "P"), ("Oui", "Non")])
def test_a_default_is_read_in_the_letters_of_its_column(map_rows: MapRows, yes: str, no: str) -> None:
    portfolio = map_rows(rows(("Par", PAR), ("Defaulted", [no, yes, no, no, no, no, no, no])))
    assert portfolio.flags["is_defaulted"].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert not [warning for warning in portfolio.notes.warnings if warning.code == "flag_unrecognised"]


def test_a_letter_beside_no_n_says_nothing(map_rows: MapRows) -> None:
    portfolio = map_rows(rows(("Par", PAR), ("Defaulted", ["S", None, None, None, None, None, None, None])))
    assert portfolio.flags["is_defaulted"].tolist() == [0] * 8
    assert [warning.rows for warning in portfolio.notes.warnings if warning.code == "flag_unrecognised"] == [1]


def test_nothing_but_yes_below_a_heading_that_denies_leaves_blanks_in_doubt(map_rows: MapRows) -> None:
    portfolio = map_rows(rows(("Par", PAR), ("Performing (Y/N)", ["Y", "Y", None, "Y", "Y", "Y", "Y", "Y"])))
    assert portfolio.flags["is_defaulted"].tolist() == [0] * 8
    (warning,) = [warning for warning in portfolio.notes.warnings if warning.code == "flag_unrecognised"]
    assert (warning.rows, warning.message[-31:]) == (1, " no: blank ('Holdings', row 4).")


def test_nothing_but_yes_below_a_heading_that_denies_is_no_doubt(map_rows: MapRows) -> None:
    portfolio = map_rows(rows(("Par", PAR), ("Performing?", ["Yes"] * 8)))
    assert portfolio.flags["is_defaulted"].tolist() == [0] * 8
    assert not [warning for warning in portfolio.notes.warnings if warning.code == "flag_unrecognised"]


SPREADS: list[object] = [400.0, 425.0, 350.0, 500.0, 525.0, 375.0, 450.0, 475.0]


@pytest.mark.parametrize("heading", ["Discount Margin", "Spread to Maturity", "Z-Spread", "OAS", "Spread at Closing"])
def test_a_spread_by_the_price_feeds_nothing(map_rows: MapRows, heading: str) -> None:
    assert "spread" not in map_rows(rows(("Par", PAR), (heading, SPREADS))).numbers


def test_a_column_dm_is_a_spread_in_doubt_and_gives_way(map_rows: MapRows) -> None:
    alone = map_rows(rows(("Par", PAR), ("DM", SPREADS)))
    assert alone.numbers["spread"].tolist() == SPREADS
    assert list(messages(alone).values()) == [("spread",)]
    wider: list[object] = [spread + 60 for spread in SPREADS]  # type: ignore[operator]
    beside = map_rows(rows(("Par", PAR), ("DM", wider), ("Contractual Spread", SPREADS)))
    assert beside.numbers["spread"].tolist() == SPREADS
    assert not messages(beside)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("Opening Balance", "Closing Balance"), ("Beginning Par", "Ending Par"), ("BOP", "EOP"),
     ("Beg. Balance", "End. Balance"), ("Start Balance", "End Balance"), ("Opening Principal", "Closing Principal"),
     ("Balance Brought Forward", "Balance Carried Forward"), ("Par 31/03/2024", "Par 30/06/2024")],
)  # fmt: skip
def test_par_is_the_closing_one_of_a_pair(map_rows: MapRows, opening: str, closing: str) -> None:
    before: list[object] = [par * 1.1 for par in PAR]
    maturity: list[object] = ["2031-01-31"] * 8
    for columns in (((opening, before), (closing, PAR)), ((closing, PAR), (opening, before))):
        portfolio = map_rows(rows(*columns, ("Maturity", maturity)))
        assert portfolio.numbers["par_value"].tolist() == PAR
        assert not messages(portfolio)


def test_a_closing_balance_alone_may_be_of_the_day_the_deal_closed(map_rows: MapRows) -> None:
    assert list(messages(map_rows(rows(("Closing Balance", PAR)))).values()) == [("par_value",)]


@pytest.mark.parametrize(
    ("first", "second", "field"),
    [("Par (excl. PIK)", "Par (incl. PIK)", "par_value"), ("Spread", "Cash Spread", "spread")],
)
def test_with_and_without_interest_in_kind_is_told(map_rows: MapRows, first: str, second: str, field: str) -> None:
    values = PAR if field == "par_value" else SPREADS
    more: list[object] = [value + 100 for value in values]  # type: ignore[operator]
    par = () if field == "par_value" else (("Par", PAR),)
    assert (field,) in messages(map_rows(rows(*par, (first, values), (second, more)))).values()
    assert (field,) not in messages(map_rows(rows(*par, (first, values), (second, list(values))))).values()


@pytest.mark.parametrize("heading", ["Zorp", "Our Blend"])
def test_an_unknown_heading_whose_cells_alone_tell_a_rate_is_told(map_rows: MapRows, heading: str) -> None:
    portfolio = map_rows(rows(("Par", PAR), ("Price", [98.5] * 8), (heading, SPREADS)))
    assert portfolio.numbers["spread"].tolist() == SPREADS
    assert ("spread",) in messages(portfolio).values()


@pytest.mark.parametrize("heading", ["Units", "Number of Units"])
def test_units_are_no_rate(map_rows: MapRows, heading: str) -> None:
    assert "spread" not in map_rows(rows(("Par", PAR), ("Price", [98.5] * 8), (heading, [10.0] * 8))).numbers


def test_par_of_the_day_the_deal_closed_gives_way(map_rows: MapRows) -> None:
    larger: list[object] = [par * 1.4 for par in PAR]
    portfolio = map_rows(
        rows(("Outstanding at Close", larger), ("Outstanding Today", PAR), ("Maturity", ["2031-01-31"] * 8))
    )
    assert portfolio.numbers["par_value"].tolist() == PAR


@pytest.mark.parametrize("heading", ["Amount", "Betrag"])
def test_an_amount_alone_is_par_in_doubt(map_rows: MapRows, heading: str) -> None:
    portfolio = map_rows(rows((heading, PAR), ("Maturity", ["2031-01-31"] * 8), ("Spread", SPREADS)))
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert list(messages(portfolio).values()) == [("par_value",)]


@pytest.mark.parametrize("heading", ["Position", "Holding Amount"])
def test_a_closing_balance_gives_way_where_nothing_opens(map_rows: MapRows, heading: str) -> None:
    larger: list[object] = [par * 1.4 for par in PAR]
    for columns in (((heading, PAR), ("Closing Balance", larger)), (("Closing Balance", larger), (heading, PAR))):
        portfolio = map_rows(
            rows(*columns, ("Prior Price", [97.0] * 8), ("Maturity", ["2031-01-31"] * 8), ("Spread", SPREADS))
        )
        assert portfolio.numbers["par_value"].tolist() == PAR


LESSER_SPREADS = ["Minimum Spread", "Funded / Unfunded Spread", "Funded/Unfunded Spread"]


@pytest.mark.parametrize("heading", LESSER_SPREADS)
def test_a_lesser_spread_alone_is_one_in_doubt(map_rows: MapRows, heading: str) -> None:
    portfolio = map_rows(rows(("Par", PAR), (heading, [3.5 + at / 4 for at in range(8)])))
    assert portfolio.numbers["spread"][0] == 350.0
    assert list(messages(portfolio).values()) == [("spread",)]


@pytest.mark.parametrize("heading", LESSER_SPREADS)
@pytest.mark.parametrize("better", ["Spread", "Margin", "Interest Margin", "Cash Spread", "Funded Spread"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_lesser_spread_gives_way_without_a_word(map_rows: MapRows, heading: str, better: str, is_first: bool) -> None:
    columns = [(heading, [3.5 + at / 4 for at in range(8)]), (better, [4.5 + at / 4 for at in range(8)])]
    portfolio = map_rows(rows(("Par", PAR), *(columns if is_first else columns[::-1])))
    assert portfolio.numbers["spread"][0] == 450.0
    assert not messages(portfolio)


def test_a_spread_of_the_unfunded_part_is_none(map_rows: MapRows) -> None:
    assert "spread" not in map_rows(rows(("Par", PAR), ("Unfunded Spread", [3.5] * 8))).numbers


PRICES = [95.5 + at for at in range(8)]


@every(
    "columns, fields",
    [
        ([("USD Equivalent", PAR)], ("par_value",)),
        ([("USD Equivalent Amount", PAR)], ("par_value",)),
        ([("USD Equivalent Par", PAR)], None),
        ([("Par", PAR), ("Ask Price", PRICES)], ("price",)),
        ([("Par", PAR), ("Offer", PRICES)], ("price",)),
        ([("Par", PAR), ("Bid", PRICES), ("Ask", [price + 1 for price in PRICES])], None),
        (
            [("Par", PAR), ("Traded Price", PRICES), ("Settled Price", [price + 1 for price in PRICES])],
            ("purchase_price",),
        ),
        ([("Par", PAR), ("Traded Price", PRICES)], None),
        ([("Par", PAR), ("Market Value %", [3.0, 7.0, 20.0, 16.0, 15.0, 12.0, 13.0, 14.0])], None),
    ],
)
def test_headings_that_leave_open_what_they_are(
    map_rows: MapRows, columns: list[tuple[str, Sequence[object]]], fields: tuple[str, ...] | None
) -> None:
    assert list(messages(map_rows(rows(*columns))).values()) == ([] if fields is None else [fields])


def test_parents_for_borrowers_are_told(map_rows: MapRows) -> None:
    names = [f"Holding {at} Corp" for at in range(8)]
    head, *loans = rows(("Par", PAR), ("Market Price", PRICES), ("Facility", ["Term Loan B"] * 8))
    table = [["Parent", *head[1:]], *([names[at], *row[1:]] for at, row in enumerate(loans))]
    portfolio = map_rows(table)
    assert portfolio["borrower_name"].tolist() == names
    assert ("borrower_name",) in messages(portfolio).values()


def test_shares_of_the_pool_are_no_prices(map_rows: MapRows) -> None:
    shares = [3.0, 7.0, 20.0, 16.0, 15.0, 12.0, 13.0, 14.0]
    portfolio = map_rows(rows(("Par", PAR), ("Market Value %", shares)))
    assert "price" not in portfolio.numbers
    portfolio = map_rows(rows(("Par", PAR), ("Market Value %", shares), ("Market Price", PRICES)))
    assert portfolio.numbers["price"].tolist() == PRICES
    # Prices that add up to something else stay.
    portfolio = map_rows(rows(("Par", PAR), ("Market Value %", PRICES)))
    assert portfolio.numbers["price"].tolist() == PRICES
