"""What several portfolios have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.insights.analyst import analyse
from core.insights.subject import Subject
from core.portfolio import Portfolio
from tests.core.insights.small import AS_OF, insights_of, small


def test_obligors_that_two_portfolios_hold_and_the_tightest_tests(demo: Subject) -> None:
    numbers = demo.portfolio.numbers
    half = replace(demo.portfolio, numbers={**numbers, "par_value": numbers["par_value"] * (np.arange(255) % 2)})
    second = replace(demo, name="Demo CLO II", portfolio=half)
    by_key = {item.key: item for item in analyse([demo, second], most=300)}
    shared = {figure.name: figure.value for figure in by_key["shared"].figures}
    par: list[dict[str, float]] = []
    for subject in (demo, second):
        names, performing = subject.portfolio.names["obligor"], ~subject.portfolio.defaulted()
        sums = np.bincount(names.codes, subject.portfolio.numbers["par_value"] * performing, len(names.values))
        par.append({name: float(amount) for name, amount in zip(names.values, sums, strict=True) if amount > 0})
    both = {name: par[0][name] + par[1][name] for name in par[0].keys() & par[1].keys()}
    assert shared["count"] == len(both)
    assert shared["par 0"] == pytest.approx(max(both.values()))
    thinnest = min(
        (result.cushion_pct, subject.name)
        for subject in (demo, second)
        for result in subject.results
        if result.cushion_pct is not None
    )
    assert f"{thinnest[1]}: " in by_key["tightest"].summary.partition("each: ")[2].partition(";")[0]
    assert by_key["tightest"].workbook_id is None
    assert all(item.title.startswith("Demo CLO") for key, item in by_key.items() if key not in ("shared", "tightest"))


def test_portfolios_of_two_currencies_are_not_added_up(demo: Subject) -> None:
    euro = replace(demo.portfolio, deal=replace(demo.portfolio.deal, currency="EUR"))
    keys = {item.key for item in analyse([demo, replace(demo, name="Euro", portfolio=euro)], most=300)}
    assert "shared" not in keys
    assert "tightest" in keys


def test_one_without_loans_does_not_hide_the_others(demo: Subject) -> None:
    empty = Subject(name="Empty", portfolio=Portfolio.from_columns({"par_value": np.zeros(0), "borrower_name": []}))
    insights = analyse([empty, demo], most=4)
    assert insights[0].key == "no_loans"
    assert len(insights) == 4


def test_a_portfolio_without_a_cushion_has_no_tightest_test() -> None:
    """Of three, one has no test; of two such, nothing is compared."""
    wal = {"id": "life", "name": "Life", "measure": "wal", "max": 7}
    count = {"id": "how_many", "name": "Loans", "value": "=loans"}
    columns = {"par_value": [60.0, 40.0], "maturity_date": [AS_OF + 2 * 365.25, AS_OF + 365.25]}
    bare, short = small(columns, tests=[count]), small(columns, tests=[wal])
    long = replace(small(columns, tests=[wal | {"max": 1.5}]), name="Long")
    insights = insights_of(bare, short, long)
    assert "The tightest of each: Long: Life 1.60 years against 1.50 years; " in insights["tightest"].summary
    assert {figure.name: figure.value for figure in insights["tightest"].figures}["failing"] == 1
    assert "tightest" not in insights_of(bare, short)
    assert "shared" not in insights  # no obligor is named


def test_obligors_are_shared_only_with_par() -> None:
    columns = {"par_value": [60.0, 40.0], "obligor": ["Ash", "Oak"]}
    apart = {"par_value": [50.0, 50.0], "obligor": ["Elm", "Fir"]}
    assert "shared" not in insights_of(small(columns), small(apart))
    shared = insights_of(small(columns), small(apart | {"obligor": ["Oak", "Elm"]}), small({"par_value": [1.0]}))[
        "shared"
    ]
    figures = {figure.name: figure.value for figure in shared.figures}
    assert (figures["count"], figures["par 0"]) == (1, 90.0)
