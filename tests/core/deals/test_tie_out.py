"""Tie-out: the trustee's rows beside figures worked out here by hand, and differences that a run explains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core
from core.compliance.run import run_suite
from core.deals.tie_out import TieOuts, tie_out
from core.definition import READY, parse
from core.generate import generate
from core.interpretation.figures import PUBLISHED_MAX
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from tests import printed_by_hand as by_hand


@pytest.fixture(scope="module")
def book() -> Portfolio:
    deal = generate(200, seed=11)
    return Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)


SAID: dict[str, dict[str, Any]] = {
    "Cov-Lite Loans": {"measure": "cov_lite"},
    "Weighted Average Life Test": {"measure": "wal"},
    "Moody's Rating Factor": {"measure": "warf", "agency": "a"},
    "S&P Break-Even Default Rate": {"measure": "bdr", "agency": "b"},
    "Class Z Par Value Test": {"measure": "oc", "classes": ("Z",)},
    "Obligors Domiciled outside Europe": {"measure": "foreign", "is_complement": True},
    "Maximum Obligor Concentration Test": {"measure": "obligor"},
    "Largest Industry": {"measure": "industry", "rank": 1},
}
"""The subjects of these labels."""


def printed(label: str, value: float | None, trigger: float | None, at: int = 2, **more: Any) -> Fact:
    subject = FactSubject(**SAID[label]) if label in SAID else None
    return Fact(kind="test", label=label, subject=subject, value=value, trigger=trigger, place=f"'Tests'!B{at}", **more)


def tied(book: Portfolio, *facts: Fact, definition: object = None) -> TieOuts:
    return tie_out(replace(book, facts=Facts(all=facts)), None if definition is None else parse(definition))


def rows(book: Portfolio, *published: tuple[str, float | None, float | None], definition: object = None) -> TieOuts:
    return tied(book, *(printed(*item, at) for at, item in enumerate(published, 2)), definition=definition)


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
    assert [(row.unit, row.decimals) for row in above] == [("percent", 2), ("years", 2)]


def test_a_difference_is_explained_only_by_a_run_that_gives_the_trustees_figure(book: Portfolio) -> None:
    without_cash, wrong = round(cov_lite(book, cash=False), 4), cov_lite(book) + 3
    last_digit = round(cov_lite(book), 2) + 0.01
    answer = [rows(book, ("Cov-Lite Loans", value, 60.0))[0] for value in (without_cash, wrong, last_digit)]
    assert [row.agrees for row in answer] == [False, False, False]
    assert answer[0].explained_by == ["principal_cash"]
    assert answer[1].explained_by == []
    assert answer[2].explained_by == ["rounding"]


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
    (answer,) = rows(masked, ("Moody's Rating Factor", round(open_.our_value + 20.0, 2), 3000.0))
    assert answer.explained_by == ["masked_ratings"]


def test_blanks_explain_what_they_leave_open_and_are_no_masked_ratings(book: Portfolio) -> None:
    industries = book.names["industry"]
    blank = np.where(np.arange(book.row_count) % 10 == 0, -1, industries.codes).astype(np.int32)
    loans = replace(book, names={**book.names, "industry": replace(industries, codes=blank)})
    (open_,) = rows(loans, ("Largest Industry", 1.0, 15.0))
    assert open_.explained_by == []
    assert open_.our_value is not None
    (answer,) = rows(loans, ("Largest Industry", round(open_.our_value + 1.0, 2), 15.0))
    assert answer.explained_by == ["blank_inputs"]


def test_a_file_without_loans_names_the_tests_and_says_why_they_have_no_figure(book: Portfolio) -> None:
    numbers = {name: values for name, values in book.numbers.items() if name != "par_value"}
    answer = rows(replace(book, numbers=numbers), ("Cov-Lite Loans", 12.0, 60.0), ("Restricted Trading", 1.0, None))
    assert [row.test_id for row in answer] == ["cov_lite_concentration", None]
    assert [row.our_value for row in answer] == [None, None]
    assert "par_value" in str(answer[0].reason)


def test_what_is_not_matched_or_cannot_be_measured_is_listed(book: Portfolio) -> None:
    answer = rows(
        book,
        ("Restricted Trading Condition", 1.0, None),
        ("S&P Break-Even Default Rate", 67.1, None),
        ("Cov-Lite Loans", None, 60.0),
        ("Class Z Par Value Test", 120.0, 110.0),
        ("Maximum Obligor Concentration Test", 12.7, 20.0),
    )
    assert [row.test_id for row in answer] == [None, "published_2", "cov_lite_concentration", "oc_class_z", None]
    assert [row.our_value is None for row in answer] == [True, True, False, True, True]
    assert [row.why_not is None for row in answer] == [False, True, True, True, False]
    assert answer[0].why_not == answer[0].reason == "its words say no one test of ours"
    assert "does not say how many" in str(answer[4].why_not)
    assert all(answer[at].reason for at in (1, 3))
    assert answer[2].agrees is None
    assert all(row.differs is None for row in answer)


def test_the_nearest_test_of_the_definition_is_named(book: Portfolio) -> None:
    tests = [{"id": "ten", "name": "Ten largest", "measure": "top_obligors", "nth": 10, "max": 20.0}]
    (row,) = rows(book, ("Maximum Obligor Concentration Test", 12.7, 20.0), definition={"tests": tests})
    assert (row.test_id, row.nearest, row.our_value) == (None, "ten", None)


def test_our_tests_that_the_file_does_not_print_are_named(book: Portfolio) -> None:
    tests = [{"id": name, "name": name, "measure": measure, "max": 50.0}
             for name, measure in (("lite", "cov_lite"), ("life", "wal"), ("fixed", "fixed_rate"))]  # fmt: skip
    assert rows(book, ("Weighted Average Life Test", 4.0, 6.0), definition={"tests": tests}).not_printed == [
        "lite", "fixed"
    ]  # fmt: skip
    assert rows(book, definition={"tests": tests}).not_printed == ["lite", "life", "fixed"]


def test_one_test_printed_twice_with_other_figures_is_neither(book: Portfolio) -> None:
    answer = rows(book, ("Cov-Lite Loans", 12.5, 60.0), ("Cov-Lite Loans", 13.5, 60.0))
    assert [(row.test_id, row.agrees) for row in answer] == [(None, None)] * 2
    assert {row.why_not for row in answer} == {"it is printed again with another figure: 'Tests'!B2, 'Tests'!B3"}


def test_the_first_that_differs_of_numerator_denominator_and_value(book: Portfolio) -> None:
    (ours,) = rows(book, ("Cov-Lite Loans", 1.0, 60.0))
    value, above, below = ours.our_value, ours.our_numerator, ours.our_denominator
    assert value is not None
    assert above is not None
    assert below is not None
    assert (ours.differs, value) == ("value", pytest.approx(above / below * 100))
    by_name = {
        name: tied(book, printed("Cov-Lite Loans", round(value, 2), 60.0, decimals=2, **parts))[0]
        for name, parts in {
            "none": {"numerator": round(above, 2), "denominator": round(below, 2)},
            "numerator": {"numerator": round(above, 2) + 1, "denominator": round(below, 2) + 1},
            "denominator": {"numerator": round(above, 2), "denominator": round(below, 2) + 1},
        }.items()
    }
    assert {name: row.differs for name, row in by_name.items()} == {
        "none": None, "numerator": "numerator", "denominator": "denominator"
    }  # fmt: skip
    assert {name: row.agrees for name, row in by_name.items()} == {
        "none": True,
        "numerator": False,
        "denominator": False,
    }
    row = by_name["denominator"]
    assert (row.trustee_numerator, row.trustee_denominator) == (round(above, 2), round(below, 2) + 1)
    assert (row.our_numerator, row.our_denominator) == (above, below)


def test_a_column_that_ends_in_zeros_counts_with_a_decimal_fewer(book: Portfolio) -> None:
    share = cov_lite(book)
    rounded = printed("Cov-Lite Loans", round(share, 1), 60.0, decimals=2, group="Profile")
    others = [printed("Restricted", value, 90.0, at, decimals=2, group="Profile") for at, value in ((3, 4.0), (4, 1.5))]
    assert tied(book, rounded)[0].agrees is (abs(round(share, 1) - share) <= 0.005)
    assert tied(book, rounded, *others)[0].agrees is True


def test_a_definition_names_its_tests_and_their_aliases(book: Portfolio) -> None:
    definition = {"tests": [{"id": "loose_terms", "name": "Loose terms", "share": "=cov_lite", "max": 60.0,
                             "aliases": ["Clause (xiv) of the profile tests"]}]}  # fmt: skip
    value = round(cov_lite(book), 2)
    for label in ("Clause (xiv) of the Profile Tests", "LOOSE TERMS"):
        (row,) = rows(book, (label, value, 60.0), definition=definition)
        assert (row.test_id, row.agrees) == ("loose_terms", True)
    answer = rows(book, ("Clause (xiv) of the Profile Tests", value, 60.0), ("LOOSE TERMS", value, None),
                definition=definition)  # fmt: skip
    assert [row.test_id for row in answer] == ["loose_terms", None]
    assert (answer[1].nearest, answer[1].why_not) == ("loose_terms", "the same figure is taken from 'Tests'!B2")


def test_the_tests_have_the_ids_of_a_run(book: Portfolio) -> None:
    answer = rows(book, ("Weighted Average Life Test", 4.0, 6.0), ("Moody's Rating Factor", 2800.0, 3000.0),
                ("Largest Industry", 10.0, 15.0))  # fmt: skip
    assert [row.test_id for row in answer] == ["wal", "average_rating_factor", "industry_concentration"]


def test_without_a_definition_a_report_goes_by_the_standard_of_its_currency(book: Portfolio) -> None:
    """As a run does: Europe is home. The limit is what the file says."""
    euros = replace(book, deal=replace(book.deal, currency="EUR"))
    published = ("Obligors Domiciled outside Europe", 100.0, 150.0)
    apart = {item.deal.currency: rows(item, published)[0] for item in (book, euros)}
    run = {
        item.deal.currency: run_suite(item, "enhanced", test_ids=["foreign_country_concentration"])[0]
        for item in (book, euros)
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
    by_trustee_name = {row.trustee_name: row for row in tie_out(loans)}
    assert len(by_trustee_name) == 15
    ran = {item.test_id: item.current_value for item in run_suite(loans, "deal", definition=READY["euro"])}
    ours = {row.test_id: row.our_value for row in by_trustee_name.values()}
    shared = {name for name in ran if name in ours}
    assert {name: ours[name] for name in shared} == {name: ran[name] for name in shared}
    assert shared >= {"oc_class_ab", "oc_class_f", "ic_class_d", "was", "wal", "fitch_rating_factor"}
    assert [name for name, row in by_trustee_name.items() if row.our_value is None] == [
        "Maximum Obligor Concentration Test"
    ]
    agreed = {name for name, row in by_trustee_name.items() if row.agrees}
    assert {f"Class {name} Par Value Test" for name in ("A/B", "C", "D", "E", "F")} <= agreed
    assert by_trustee_name["Fitch Maximum WA Rating Factor Test"].explained_by == ["masked_ratings"]


def _with_cash(*, is_bare: bool = False) -> Fact:
    """A printed share of covenant-lite loans with principal cash in its numerator."""
    lite = by_hand.cov_lite().numerator or 0.0
    return by_hand.share("cov_lite", lite + by_hand.CASH, None, is_bare=is_bare)


def test_cash_in_a_printed_numerator_explains_the_difference() -> None:
    share = _with_cash()
    (row,) = tie_out(by_hand.portfolio(share))
    assert (row.agrees, row.differs, row.explained_by) == (False, "numerator", ["principal_cash"])
    bare = _with_cash(is_bare=True)
    (row,) = tie_out(by_hand.portfolio(bare))
    assert "principal_cash" not in row.explained_by
