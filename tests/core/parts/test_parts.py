"""The parts of a figure add up to its numerator, whatever the test and the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from core.compliance.conventions import definition_for
from core.compliance.result import Results, Skipped
from core.compliance.result import TestResult as Result
from core.compliance.run import run_suite
from core.definition import Definition, parse
from core.parts.content import FigureParts, Room
from core.parts.parts import NO_LOANS, NO_SUM, NOT_HERE, figure_parts
from core.portfolio import Portfolio
from tests.core.compliance.conftest import portfolio_of
from tests.core.compliance.test_deal_suite import books, rules
from tests.real_reports.board import NAMES, own_definition, portfolio

Build = Callable[..., Portfolio]

OF_THE_POOL = {
    "spwarf", "default_rate_dispersion", "obligor_diversity", "industry_diversity", "regional_diversity",
    "cdo_monitor_wal", "sdr", "bdr", "cdo_monitor",
}  # fmt: skip
"""Measures that are no sum over loans."""


def every(
    loans: Portfolio, suite: str, definition: Definition | str | None = None, **how: Any
) -> Iterator[FigureParts]:
    """The parts of every figure of a run."""
    for result in run_suite(loans, suite, definition=definition):
        yield figure_parts(loans, result, suite=suite, definition=definition, **{"limit": None, **how})


def apart(actual_figure_parts: FigureParts) -> bool:
    """Whether parts do not make the numerator.

    Each by itself, or as they are added up.
    """
    own = sum(item.amount for item in actual_figure_parts.items)
    off = abs(own - (actual_figure_parts.numerator or 0.0))
    return (
        not actual_figure_parts.adds_up
        or len(actual_figure_parts.items) != actual_figure_parts.total
        or off > (actual_figure_parts.tolerance or 0.0) + 1e-6 * actual_figure_parts.total
    )


def of(loans: Portfolio, test_id: str, suite: str = "enhanced", **how: Any) -> FigureParts:
    """The parts of one figure by the suites' own rules."""
    results: Results = run_suite(loans, suite)
    return figure_parts(loans, results[test_id], suite=suite, **how)


# ---- they add up -----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(books(), rules())
def test_parts_add_up_under_all_rules(loans: Portfolio, document: dict[str, Any]) -> None:
    """Of every measure of a definition, and of every test of the suites under its conventions."""
    definition = parse(document)
    for result in every(loans, "deal", definition):
        measure = result.test_id.removeprefix("m_").removesuffix("x")
        if measure in OF_THE_POOL:
            assert (result.reason, result.sum, result.items) == (NO_SUM, None, []), result.test_id
        else:
            assert result.reason is None, (result.test_id, result.reason)
            assert not apart(result), (result.test_id, result.sum, result.numerator)
    conventions = parse({**document, "tests": []})
    assert [item.test_id for item in every(loans, "enhanced", conventions) if apart(item)] == []


def test_parts_of_the_worked_pool_add_up(g1: Build) -> None:
    result = list(every(g1(), "enhanced"))
    assert len(result) == 16
    assert [item.test_id for item in result if apart(item)] == []


@pytest.mark.parametrize("name", NAMES)
def test_parts_of_a_real_report_add_up(name: str) -> None:
    """Of both suites and of the deal's own definition; what has no parts says why."""
    loans, definition = portfolio(name), own_definition(name)
    market = definition_for(loans, None) or "us_bsl"
    for suite, own in (("enhanced", None), ("enhanced", definition), ("deal", definition), ("deal", market)):
        result = list(every(loans, suite, own))
        assert [item.test_id for item in result if item.reason is None and apart(item)] == []
        assert all(item.reason.startswith("the figure is") for item in result if item.reason is not None)


# ---- what they are ---------------------------------------------------------------------------------------------------


def test_the_oc_numerator_is_par_cash_and_what_is_taken_off(g1: Build) -> None:
    loans = g1()
    result = of(loans, "oc_ratio", limit=None)
    by_kind: dict[str, float] = {}
    for item in result.items:
        by_kind[item.kind] = by_kind.get(item.kind, 0.0) + item.amount
    results = run_suite(loans, "enhanced")
    details = results["oc_ratio"].details
    assert details is not None
    steps = details.breakdown["adjustments"]
    par = steps["collateral_principal_amount"] - steps["principal_cash"]
    assert by_kind["cash"] == steps["principal_cash"]
    assert by_kind["haircut"] == pytest.approx(-sum(steps[name] for name in steps if name.endswith("haircut")))
    assert by_kind["loan"] == pytest.approx(par + steps["defaulted_carried"])
    assert result.room is None
    assert [abs(each.amount) for each in result.items] == sorted(
        (abs(each.amount) for each in result.items), reverse=True
    )
    assert {each.name for each in result.items if each.kind == "haircut"} >= {"Excess CCC haircut"}


def test_an_average_is_each_loans_weight_times_its_value(g1: Build) -> None:
    result = of(g1(), "average_rating_factor", limit=None)
    assert {"weight", "value"} <= set(result.columns)
    for item in result.items:
        weight, value = item.fields["weight"], item.fields["value"]
        assert isinstance(weight, float)
        assert isinstance(value, float)
        assert item.amount == pytest.approx(weight * value)
    assert sum(float(each.fields["weight"] or 0.0) for each in result.items) == pytest.approx(result.denominator)


def test_diversity_is_industries_with_their_units(g1: Build) -> None:
    loans = g1()
    result = of(loans, "diversity_score")
    details = run_suite(loans, "enhanced")["diversity_score"].details
    assert details is not None
    assert {item.kind for item in result.items} == {"industry"}
    assert result.columns == ["units"]
    units = sum(float(item.fields["units"] or 0.0) for item in result.items)
    assert units == pytest.approx(details.breakdown["equivalent_units"], abs=1e-5)
    assert result.sum == result.value


def test_the_largest_obligor_is_its_loans() -> None:
    loans = portfolio_of({
        "par_value": [3e6, 2e6, 4e6, 1e6], "obligor": ["Ash", "Ash", "Birch", "Cedar"],
        "borrower_name": ["Ash Ltd", "Ash Inc", "Birch", "Cedar"], "facility_name": ["TL A", "TL B", "TL", "TL"],
        "cusip": ["111111111", "222222222", "333333333", "444444444"], "price": [99.5, None, 98.0, 97.0],
    })  # fmt: skip
    result = of(loans, "single_obligor_concentration")
    assert [(item.kind, item.name, item.amount, item.row, item.place) for item in result.items] == [
        ("loan", "Ash Ltd", 3e6, None, None), ("loan", "Ash Inc", 2e6, None, None),
    ]  # fmt: skip
    assert result.items[0].fields == {
        "borrower": "Ash Ltd", "facility": "TL A", "identifier": "111111111", "price": 99.5, "par": 3e6,
    }  # fmt: skip
    assert "price" not in result.items[1].fields, "a blank is left out"
    assert result.columns == ["borrower", "facility", "identifier", "price", "par"]
    assert (result.numerator, result.denominator, result.value, result.unit, result.decimals) == (
        5e6,
        1e7,
        50.0,
        "percent",
        2,
    )
    assert result.room == Room(0.0, 4_750_000.0), "2.5 % of 10m stay"


def test_a_loan_has_the_row_and_the_cell_of_its_par(tmp_path: Path) -> None:
    from core.files.read import read

    file = tmp_path / "book.csv"
    file.write_text("Borrower,Par Amount,LoanX ID\nAsh,3000000,LX10000A1\nBirch,2000000,LX10000B9\n", "utf-8")
    loans = Portfolio.from_workbook(read(file))
    result = of(loans, "single_obligor_concentration")
    assert [(item.row, item.place) for item in result.items] == [(2, "'book'!B2")]


# ---- room, pages, refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "way", "room"),
    [(60.0, "max", Room(1e6, 0.0)), (40.0, "max", Room(0.0, 1e6)), (60.0, "min", Room(1e6, 0.0)),
     (40.0, "min", Room(0.0, 1e6)), (50.0, "exact", None)],
)  # fmt: skip
def test_room_is_par_until_the_limit_at_the_same_denominator(limit: float, way: Any, room: Room | None) -> None:
    from core.compliance.result import Threshold

    loans = portfolio_of({"par_value": [5e6, 5e6], "obligor": ["Ash", "Birch"]})
    test = "single_obligor_concentration"
    current = {test: Threshold(test_id=test, threshold_value=limit, threshold_type=way)}
    result = run_suite(loans, "standard", test_ids=[test], request_thresholds=current)[0]
    assert figure_parts(loans, result).room == room


def test_a_page_has_its_part_and_the_sum_of_all(g1: Build) -> None:
    loans = g1()
    whole = of(loans, "oc_ratio", limit=None)
    page = of(loans, "oc_ratio", offset=2, limit=3)
    assert page.items == whole.items[2:5]
    assert (page.sum, page.total, page.offset, page.limit) == (whole.sum, whole.total, 2, 3)
    assert page.columns == whole.columns
    assert of(loans, "oc_ratio", offset=10_000).items == []
    assert of(loans, "oc_ratio").limit == 100, "where nobody says how many"


def test_a_skipped_test_says_why(g1: Build) -> None:
    loans = g1()
    skipped = run_suite(loans, "enhanced").skipped[0]
    actual_figure_parts = figure_parts(loans, skipped, suite="enhanced")
    assert (
        actual_figure_parts.reason,
        actual_figure_parts.value,
        actual_figure_parts.numerator,
        actual_figure_parts.sum,
        actual_figure_parts.adds_up,
    ) == (skipped.reason, None, None, None, None)
    assert (actual_figure_parts.items, actual_figure_parts.total, actual_figure_parts.unit) == ([], 0, "")


def test_a_formula_over_other_figures_is_shown_as_such(g1: Build) -> None:
    definition = parse({"tests": [
        {"id": "half", "name": "Half", "value": "=par/2", "unit": "amount", "max": 1e12},
        {"id": "gone", "name": "Gone", "measure": "cov_lite", "max": 50},
    ]})  # fmt: skip
    loans = g1(cov_lite=[0, 1] * 6 + [0])
    results = run_suite(loans, "deal", definition=definition)
    actual_figure_parts = figure_parts(loans, results["half"], suite="deal", definition=definition)
    assert actual_figure_parts.reason == "the figure is a formula over other figures: =par/2"
    assert (actual_figure_parts.value, actual_figure_parts.unit) == (results["half"].current_value, "amount")
    second = parse({"tests": [{"id": "half", "name": "Half", "value": "=par/2", "max": 1e12}]})
    gone = figure_parts(loans, results["gone"], suite="deal", definition=second)
    assert gone.reason == NOT_HERE.format(test_id="gone")


def test_no_loans_no_parts() -> None:
    result = Result(
        test_id="wal", test_name="Life", category="portfolio", status="pass", current_value=4.0, threshold_value=6.0,
        threshold_type="max", cushion=2.0, cushion_pct=33.3, message="",
    )  # fmt: skip
    empty = portfolio_of({"obligor": ["Ash"]})
    assert figure_parts(empty, result).reason == NO_LOANS
    assert figure_parts(empty, Skipped("wal", "Life", "no")).reason == "no"


def test_other_loans_than_those_of_the_run_do_not_add_up(g1: Build) -> None:
    loans = g1()
    result = run_suite(loans, "enhanced")["oc_ratio"]
    actual_figure_parts = figure_parts(g1(price=[None] * 13), result, suite="enhanced")
    assert actual_figure_parts.adds_up is False
