"""What a column of spreads states beside them: index, floor, PIK, fixed coupons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.portfolio.assemble.portfolio import Portfolio

MapRows = Callable[..., Portfolio]
NAN = np.nan


def loans(header: str, rates: list[Any], **others: list[Any]) -> list[list[Any]]:
    """Rows of a sheet with one column of rates, and others under their headers."""
    rows: list[list[Any]] = [["LXID", "Issuer Name", "Par Amount", header, *others]]
    for row, rate in enumerate(rates):
        rows.append(
            [f"LX10000{row}", f"Borrower {row}", 1_000_000.0, rate, *(values[row] for values in others.values())]
        )
    return rows


def index_of(portfolio: Portfolio) -> list[str | None]:
    names = portfolio.names["base_rate"]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


def same(values: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(values, expected, equal_nan=True))


@pytest.mark.parametrize("header", ["Spread", "Rate", "Coupon", "Index"])
def test_rates_in_words_feed_the_fields_that_no_column_does(map_rows: MapRows, header: str) -> None:
    portfolio = map_rows(loans(header, ["S+ 5.75% (1.00% Floor)", "SF+350", "E+4.00%, 2.0% PIK"]))
    assert same(portfolio.numbers["spread"], [575, 350, 400])
    assert same(portfolio.numbers["floor"], [1, NAN, NAN])
    assert index_of(portfolio) == ["SOFR", "SOFR", "EURIBOR"]
    assert portfolio.flags["is_pik"].tolist() == [0, 0, 1]
    assert portfolio.notes.unreadable_cells == {}
    assert portfolio.notes.matched_columns["floor"] == header
    assert "!D" in portfolio.source_cells["floor"]


def test_columns_of_their_own_count_before_rates_in_words(map_rows: MapRows) -> None:
    others = {"Floor": [0.5, 0.75], "Base Rate": ["EURIBOR", "SONIA"], "PIK": ["Y", "N"]}
    portfolio = map_rows(loans("Spread", ["S + 5.75% (1.00% Floor)", "S+3.50% + 1.00% PIK"], **others))
    assert same(portfolio.numbers["floor"], [0.5, 0.75])
    assert index_of(portfolio) == ["EURIBOR", "SONIA"]
    assert portfolio.flags["is_pik"].tolist() == [1, 0]


def test_levels_of_a_base_rate_leave_its_name_open(map_rows: MapRows) -> None:
    portfolio = map_rows(loans("Spread", ["S + 5.75%", "E+3.50%"], **{"Base Rate": [5.33, 2.1]}))
    assert index_of(portfolio) == ["SOFR", "EURIBOR"]
    assert same(portfolio.numbers["base_rate_level"], [5.33, 2.1])


def test_coupons_in_words_are_fixed(map_rows: MapRows) -> None:
    portfolio = map_rows(loans("Spread", ["SF+525", "11.2% Cash + 5.3% PIK", "SF+600"]))
    assert same(portfolio.numbers["spread"], [525, NAN, 600])
    assert same(portfolio.numbers["all_in_rate"], [NAN, 11.2, NAN])
    assert portfolio.flags["is_fixed"].tolist() == [0, 1, 0]
    assert portfolio.flags["is_pik"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rates", "spread", "fixed"),
    [
        (["SF+525", "SF+600", "10.50%"], [525, 600, NAN], [0, 0, 1]),
        (["SF+525", "12.00%", "10.50%"], [525, NAN, NAN], [0, 1, 1]),
        (["SF+525", "5.00%", "4.50%"], [525, 500, 450], [0, 0, 0]),
    ],
)
def test_bare_percentages_are_fixed_where_they_are_few_or_high_and_told(
    map_rows: MapRows, rates: list[str], spread: list[float], fixed: list[int]
) -> None:
    portfolio = map_rows(loans("Spread", rates))
    assert same(portfolio.numbers["spread"], spread)
    assert portfolio.flags["is_fixed"].tolist() == fixed
    assert "bare_rates" in [warning.code for warning in portfolio.notes.warnings]


def test_a_bare_percentage_of_a_loan_with_an_index_is_a_spread(map_rows: MapRows) -> None:
    rates = ["SF+525", "SF+600", "5.50%"]
    portfolio = map_rows(loans("Spread", rates, **{"Base Rate": ["SOFR", "SOFR", "SOFR"]}))
    assert same(portfolio.numbers["spread"], [525, 600, 550])
    assert "bare_rates" not in [warning.code for warning in portfolio.notes.warnings]


def test_what_is_no_rate_counts_as_unreadable(map_rows: MapRows) -> None:
    portfolio = map_rows(loans("Spread", ["SF+525", "see note", "SF+600"]))
    assert portfolio.notes.unreadable_cells == {"spread": 1}


@pytest.mark.parametrize(
    ("levels", "others", "expected", "is_guess"),
    [
        # What the all-in rates leave for the base rate.
        ([0.053, 0.051], {"Spread": [5.25, 5.0], "Coupon": [10.55, 10.1]}, [5.3, 5.1], False),
        ([0.12, 0.08], {"Spread": [5.25, 5.0], "Coupon": [5.37, 5.08]}, [0.12, 0.08], False),
        ([0.053, 0.049], {"Spread": [5.25, 5.0], "Coupon": [5.303, 5.049]}, [0.053, 0.049], False),
        # Fractions of a spread.
        ([0.12, 0.08], {"Spread": [0.0525, 0.05]}, [12, 8], False),
        # The level that a base rate has.
        ([0.053, 0.051], {"Spread": [5.25, 5.0]}, [5.3, 5.1], True),
        ([0.053, 0.051], {"Spread": [525.0, 500.0]}, [5.3, 5.1], True),
        ([0.12, 0.25], {"Spread": [5.25, 5.0]}, [0.12, 0.25], False),
        ([5.3, 0.051], {"Spread": [5.25, 5.0]}, [5.3, 0.051], False),
        ([-0.5, 0.053], {"Spread": [5.25, 5.0]}, [-0.5, 0.053], False),
    ],
)
def test_base_rates_have_the_unit_that_the_other_rates_tell(
    map_rows: MapRows, levels: list[float], others: dict[str, list[float]], expected: list[float], is_guess: bool
) -> None:
    portfolio = map_rows(loans("Base Rate", levels, **others))
    assert portfolio.numbers["base_rate_level"] == pytest.approx(expected)
    assert ("base_rate_by_level" in [warning.code for warning in portfolio.notes.warnings]) is is_guess


def test_floors_are_fractions_beside_fractions_of_a_spread(map_rows: MapRows) -> None:
    rates: dict[str, list[Any]] = {"Spread": [0.0525, 0.05]}
    assert map_rows(loans("Floor", [0.06, 0.01], **rates)).numbers["floor"] == pytest.approx([6, 1])
    rates = {"Spread": [5.25, 5.0]}
    assert map_rows(loans("Floor", [0.25, 0.1], **rates)).numbers["floor"] == pytest.approx([0.25, 0.1])


@pytest.mark.parametrize("header", ["Interest", "Terms"])
def test_cells_with_index_and_margin_tell_a_spread_that_no_heading_names(map_rows: MapRows, header: str) -> None:
    portfolio = map_rows(
        loans(header, ["3M SOFR + 325 bps (floor 0.75%)", "TSFR3M+CSA+3.750", "S+500"], Price=[99] * 3)
    )
    assert same(portfolio.numbers["spread"], [325, 375, 500])
    assert same(portfolio.numbers["floor"], [0.75, NAN, NAN])
    assert same(portfolio.numbers["price"], [99, 99, 99])
    warnings = [warning for warning in portfolio.notes.warnings if warning.code == "ambiguous_column"]
    assert [warning.fields for warning in warnings] == [("spread",)]


@pytest.mark.parametrize(
    ("header", "others"),
    [
        ("Prior Rate Terms", {}),
        ("Terms", {"Spread": [300, 400]}),
        ("Terms", {"Other Terms": ["S+300", "S+400"]}),
    ],
)
def test_other_cells_with_index_and_margin_do_not(map_rows: MapRows, header: str, others: dict[str, list[Any]]) -> None:
    portfolio = map_rows(loans(header, ["S+325", "S+350"], **others))
    assert ("spread" in portfolio.numbers) == ("Spread" in others)
    if "Spread" in others:
        assert same(portfolio.numbers["spread"], [300, 400])
