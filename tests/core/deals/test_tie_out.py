"""Tie-out: the trustee's rows beside figures worked out here by hand, and differences that a run explains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.compliance.run import run_suite
from core.deals.tie_out import PUBLISHED_MAX, TieOut, tie_out
from core.definition import READY, parse
from core.generate import generate
from core.portfolio.facts import Fact, Facts
from core.portfolio.portfolio import Portfolio


@pytest.fixture(scope="module")
def book() -> Portfolio:
    deal = generate(200, seed=11)
    return Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)


def rows(
    book: Portfolio, *published: tuple[str, float | None, float | None], definition: object = None
) -> list[TieOut]:
    told = tuple(
        Fact(kind="test", label=name, subject=None, value=value, trigger=trigger, place=f"'Tests'!B{at}")
        for at, (name, value, trigger) in enumerate(published, 2)
    )
    return tie_out(replace(book, facts=Facts(all=told)), None if definition is None else parse(definition))


def cov_lite(book: Portfolio, *, cash: bool = True) -> float:
    performing = ~book.defaulted()
    par = book.numbers["par_value"]
    whole = par[performing].sum() + (book.deal.principal_cash or 0.0) * cash
    return float(par[performing & (book.flags["cov_lite"] == 1)].sum() / whole * 100)


def life(book: Portfolio) -> float:
    performing = ~book.defaulted()
    par, days = book.numbers["par_value"][performing], book.numbers["maturity_date"][performing]
    return float((par * np.maximum(days - book.deal.as_of, 0) / 365.25).sum() / par.sum())


def test_figures_that_agree_within_the_printed_digits(book: Portfolio) -> None:
    printed = round(cov_lite(book), 2)
    above = rows(book, ("Cov-Lite Loans", printed, 60.0), ("Weighted Average Life Test", round(life(book), 2), 4.0))
    assert [row.agrees for row in above] == [True, True]
    assert [row.our_value for row in above] == pytest.approx([cov_lite(book), life(book)], abs=1e-6)
    assert above[0].difference == pytest.approx(cov_lite(book) - printed, abs=1e-6)
    assert (above[0].measured_as, above[0].our_status, above[0].trigger) == ("cov_lite", "pass", 60.0)
    assert above[0].cell == "'Tests'!B2"


def test_a_difference_is_explained_only_by_a_run_that_gives_the_trustees_figure(book: Portfolio) -> None:
    without_cash, wrong = round(cov_lite(book, cash=False), 4), cov_lite(book) + 3
    last_digit = round(cov_lite(book), 2) + 0.01
    told = rows(book, *(("Cov-Lite Loans", value, 60.0) for value in (without_cash, wrong, last_digit)))
    assert [row.agrees for row in told] == [False, False, False]
    assert told[0].explained_by == ["principal_cash"]
    assert told[1].explained_by == []
    assert told[2].explained_by == ["rounding"]


def test_masked_ratings_explain_what_lies_between_their_ends(book: Portfolio) -> None:
    names, ranks = book.names["rating_agency_a"], book.ranks["rating_agency_a"].copy()
    hidden = np.arange(book.row_count) % 10 == 0
    codes = np.where(hidden, len(names.values), names.codes).astype(np.int32)
    ranks[hidden] = 0
    alone = {target: values for target, values in book.ranks.items() if target == "rating_agency_a"}
    masked = replace(
        book,
        names={**book.names, "rating_agency_a": replace(names, codes=codes, values=(*names.values, "***"))},
        ranks={**alone, "rating_agency_a": ranks},
    )
    (open_,) = rows(masked, ("Moody's Rating Factor", 1.0, 3000.0))
    assert open_.explained_by == []
    assert open_.our_value is not None
    (told,) = rows(masked, ("Moody's Rating Factor", round(open_.our_value + 20.0, 2), 3000.0))
    assert told.explained_by == ["masked_ratings"]


def test_what_is_not_matched_or_cannot_be_measured_is_listed(book: Portfolio) -> None:
    told = rows(
        book,
        ("Restricted Trading Condition", 1.0, None),
        ("S&P Break-Even Default Rate", 67.1, None),
        ("Cov-Lite Loans", None, 60.0),
        ("Class Z Par Value Test", 120.0, 110.0),
    )
    assert [row.test_id for row in told] == [None, "published_2", "published_3", "published_4"]
    assert [row.our_value is None for row in told] == [True, True, False, True]
    assert told[0].reason == "no test of ours is known by this name"
    assert all(told[at].reason for at in (1, 3))
    assert told[2].agrees is None


def test_a_definition_names_its_tests_and_their_aliases(book: Portfolio) -> None:
    definition = {"tests": [{"id": "loose_terms", "name": "Loose terms", "share": "=cov_lite", "max": 60.0,
                             "aliases": ["Clause (xiv) of the profile tests"]}]}  # fmt: skip
    told = rows(
        book,
        ("Clause (xiv) of the Profile Tests", round(cov_lite(book), 2), 60.0),
        ("LOOSE TERMS", round(cov_lite(book), 2), None),
        definition=definition,
    )
    assert [(row.test_id, row.agrees) for row in told] == [("loose_terms", True)] * 2


def test_without_a_definition_a_report_goes_by_the_standard_of_its_currency(book: Portfolio) -> None:
    """As a run does: Europe is home. The limit is what the file says."""
    euros = replace(book, deal=replace(book.deal, currency="EUR"))
    published = ("Obligors Domiciled outside Europe", 100.0, 150.0)
    apart = {one.deal.currency: rows(one, published)[0] for one in (book, euros)}
    run = {
        one.deal.currency: run_suite(one, "enhanced", test_ids=["foreign_country_concentration"])[0]
        for one in (book, euros)
    }
    assert apart["EUR"].our_value == run["EUR"].current_value
    assert apart["EUR"].our_value != apart[book.deal.currency].our_value
    assert (apart["EUR"].our_status, run["EUR"].status) == ("pass", "fail")


def test_only_so_many_rows_are_set_beside(book: Portfolio) -> None:
    assert len(rows(book, *[("Total", 1.0, None)] * (PUBLISHED_MAX + 5))) == PUBLISHED_MAX


REPORT = Path(__file__).parents[4] / "shared" / "data" / "cairn-xvii" / "report-2024-12-16.xlsx"


@pytest.mark.skipif(not REPORT.exists(), reason="the real report is not here")
def test_every_published_test_of_a_real_report_is_set_beside_ours() -> None:
    loans = Portfolio.from_workbook(core.read(REPORT))
    told = {row.trustee_name: row for row in tie_out(loans)}
    assert len(told) == 15
    ran = {one.test_id: one.current_value for one in run_suite(loans, "deal", definition=READY["euro"])}
    ours = {row.test_id: row.our_value for row in told.values()}
    shared = {name for name in ran if name in ours}
    assert {name: ours[name] for name in shared} == {name: ran[name] for name in shared}
    assert shared >= {"oc_class_ab", "oc_class_f", "ic_class_d", "was", "wal", "fitch_rating_factor"}
    assert all(row.our_value is not None for row in told.values())
    agreed = {name for name, row in told.items() if row.agrees}
    assert {f"Class {name} Par Value Test" for name in ("A/B", "C", "D", "E", "F")} <= agreed
    assert told["Fitch Maximum WA Rating Factor Test"].explained_by == ["masked_ratings"]
