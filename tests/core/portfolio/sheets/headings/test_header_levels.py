"""Headings of three levels: a group, a subgroup and the column, merged over what they are of."""

from __future__ import annotations

from typing import Any

import pytest

from core.portfolio import Portfolio
from tests.core.portfolio.conftest import MakeBook

NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dogwood Ltd", "Elm GmbH", "Fir S.A."]
IDS = ["037833100", "594918104", "00130H105", "88160R101", "02079K305", "30303M102"]
PAR = [1_000_000.0 + 250_000 * at for at in range(6)]


def read(make_book: MakeBook, head: list[list[Any]], cells: list[Any], merged: str) -> Portfolio:
    """Read six loans below three rows of headings; a list of cells has one for each loan."""
    rows = [
        [name, IDS[at], "2031-01-31", *(cell[at] if isinstance(cell, list) else cell for cell in cells)]
        for at, name in enumerate(NAMES)
    ]
    parts = [part.split(":") for part in merged.split()]
    spans = [(int(a[1:]) - 1, ord(a[0]) - 65, int(b[1:]) - 1, ord(b[0]) - 65) for a, b in parts]
    return Portfolio.from_workbook(make_book({"Holdings": [*head, *rows]}, merged=spans))


def times(factor: float) -> list[float]:
    return [par * factor for par in PAR]


def test_a_column_is_named_by_its_subgroup_though_the_group_is_no_name(make_book: MakeBook) -> None:
    head = [
        ["Asset", None, None, "Amounts", None, "Ratings", None, None, None],
        ["Identification", None, None, "Balance", None, "Moody's", None, "S&P", None],
        ["Issuer", "CUSIP", "Maturity", "Original", "Current", "Facility", "Issuer", "Facility", "Issuer"],
    ]
    portfolio = read(
        make_book, head, [times(1.2), PAR, "B2", "B1", "B", "B+"], "A1:C1 D1:E1 F1:I1 A2:C2 D2:E2 F2:G2 H2:I2"
    )
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert portfolio.names["rating_agency_a"].values == ("B1",)
    assert portfolio.names["rating_agency_b"].values == ("B+",)
    assert portfolio.names["rating_agency_a_facility"].values == ("B2",)


def test_a_row_of_units_below_a_group_is_no_name(make_book: MakeBook) -> None:
    head = [
        ["Asset", None, None, "Balance", None],
        [None, None, None, "Original", "Current"],
        ["Issuer", "CUSIP", "Maturity", "USD", "USD"],
    ]
    portfolio = read(make_book, head, [times(1.5), PAR], "A1:C1 D1:E1")
    assert portfolio.numbers["par_value"].tolist() == PAR


@pytest.mark.parametrize("settled_first", [True, False])
def test_par_as_traded_in_the_deals_currency_goes_first(make_book: MakeBook, settled_first: bool) -> None:
    bases = ["Settled", "Traded"] if settled_first else ["Traded", "Settled"]
    head = [
        ["Loan", None, None, "Par", None, None, None],
        [None, None, None, bases[0], None, bases[1], None],
        ["Issuer", "CUSIP", "Maturity", "Local", "USD", "Local", "USD"],
    ]
    settled, traded = [times(4), times(3)], [times(2), PAR]
    cells = [*settled, *traded] if settled_first else [*traded, *settled]
    portfolio = read(make_book, head, cells, "A1:C1 D1:G1 D2:E2 F2:G2")
    assert portfolio.numbers["par_value"].tolist() == PAR


@pytest.mark.parametrize(
    ("earlier", "later"),
    [("At Closing", "Current"), ("Previous Quarter", "Current Quarter"), ("31-Mar-2026", "30-Jun-2026"),
     ("31.03.2026", "30.06.2026"), ("At Issuance", "Current")],
)  # fmt: skip
@pytest.mark.parametrize("latest_first", [True, False])
def test_ratings_of_another_time_feed_nothing(
    make_book: MakeBook, earlier: str, later: str, latest_first: bool
) -> None:
    groups = [later, earlier] if latest_first else [earlier, later]
    head = [
        ["Asset", None, None, None, "Ratings", None, None, None],
        [None, None, None, None, groups[0], None, groups[1], None],
        ["Issuer", "CUSIP", "Maturity", "Par", "Moody's", "S&P", "Moody's", "S&P"],
    ]
    now, then = ["B2", "B"], ["B3", "B-"]
    portfolio = read(make_book, head, [PAR, *(now + then if latest_first else then + now)], "A1:D1 E1:H1 E2:F2 G2:H2")
    ratings = {field: names.values for field, names in portfolio.names.items() if "rating" in field}
    assert ratings == {"rating_agency_a": ("B2",), "rating_agency_b": ("B",)}
    assert "spread" not in portfolio.numbers


def test_the_coupon_of_fixed_loans_is_not_the_all_in_rate_of_others(make_book: MakeBook) -> None:
    head = [
        ["Asset", None, None, None, "Interest", None, None],
        [None, None, None, None, "Floating", "Fixed", "Total"],
        ["Issuer", "CUSIP", "Maturity", "Par", "Spread", "Coupon", "All-in"],
    ]
    portfolio = read(make_book, head, [PAR, 4.25, [0, 0, 0, 0, 0, 7.5], [9.5, 9.5, 9.5, 9.5, 9.5, 7.5]], "A1:D1 E1:G1")
    assert portfolio.numbers["all_in_rate"].tolist() == [9.5] * 5 + [7.5]
