"""Made-up reports, read from their files and run under two definitions that choose otherwise everywhere they can.

The first is the rule by which the maker works its printed figures out: par and cash over each class, no haircut at all.
The second is worked out a second time, loan by loan, by the plain twin.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.definition import parse
from core.files.read import read
from core.generate import generate
from core.generate.reports import REPORTS, GeneratedReport, generate_report
from core.portfolio import Portfolio
from tests.core.naive_deal import Book
from tests.core.naive_deal import figure as naive_figure

TESTS: list[dict[str, Any]] = [
    *(
        {"id": f"oc_{name[-1].lower()}_class", "name": f"Class {name} Par Value Test", "measure": "oc", "class": name,
         "min": 100}
        for name in ("A/B", "C", "D", "E")
    ),
    {"id": "recovery", "name": "Minimum Weighted Average Recovery Rate Test", "measure": "warr", "min": 43.0},
    {"id": "lite", "name": "Cov-Lite Loans", "measure": "cov_lite", "max": 60.0},
    {"id": "obligor", "name": "Obligor", "measure": "obligor", "max": 3},
    {"id": "industry", "name": "Industry", "measure": "industry", "max": 15},
    *({"id": f"ccc_of_{agency}", "name": agency, "measure": "ccc", "agency": agency, "max": 7.5} for agency in "bc"),
    *({"id": f"factor_of_{agency}", "name": agency, "measure": "warf", "agency": agency, "max": 5000}
      for agency in "bc"),
]  # fmt: skip

BARE: dict[str, Any] = {
    "base": "us_bsl",
    "par_value": {
        "ccc_excess": False, "discount": False, "deferring": False, "defaulted": "none", "current_pay": "par",
    },
    "tests": TESTS,
}  # fmt: skip

OTHERWISE: dict[str, Any] = {
    "base": "us_bsl",
    "conventions": {"principal_cash": "positive", "defaulted_in_denominator": "par"},
    "ratings": {
        "unrated_is_ccc": True, "recovery": ["a"],
        "b": {"masked": "CCC", "unrated": "left_out", "notched_from": []},
        "c": {"masked": "B3", "unrated": "CCC", "notched_from": ["b"], "notches_below": 1},
    },
    "par_value": {
        "ccc_limit": 5, "ccc_agencies": ["b"], "ccc_unpriced": 60, "discount_below": 85, "discount_release": 95,
        "defaulted": "market_value", "deferring": False, "current_pay": "market_value", "long_dated": "zero",
    },
    "tests": TESTS,
}  # fmt: skip

SEED = 5


@cache
def report_of(manner: str) -> GeneratedReport:
    return generate_report(generate(250, seed=SEED), manner, SEED)


@pytest.fixture(scope="module", params=sorted(REPORTS))
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Portfolio]:
    path: Path = tmp_path_factory.mktemp("made") / f"report.{report_of(request.param).extension}"
    report_of(request.param).write(path)
    return request.param, Portfolio.from_workbook(read(path))


def test_the_makers_rules_give_what_it_prints(report: tuple[str, Portfolio]) -> None:
    manner, loans = report
    figures = {item.test_name: item for item in run_suite(loans, "deal", definition=parse(BARE))}
    assert len(report_of(manner).published) >= 6
    for words in report_of(manner).published:
        own = figures[words.name]
        assert own.current_value == pytest.approx(words.value, abs=0.005 + 1e-6), words.name
        assert not [doubt for doubt in own.doubt if doubt.code in ("differs", "conflict")], words.name


@pytest.mark.parametrize("document", [BARE, OTHERWISE], ids=["bare", "otherwise"])
def test_definitions_over_a_file_as_the_plain_twin_has_them(
    report: tuple[str, Portfolio], document: dict[str, Any]
) -> None:
    _, loans = report
    definition = parse(document)
    ran = {item.test_id: item.current_value for item in run_suite(loans, "deal", definition=definition)}
    plain = Book(loans, definition)
    expected = {test.id: naive_figure(plain, test) for test in definition.tests}
    assert ran == pytest.approx(expected, abs=1e-5)


def test_the_two_definitions_differ(report: tuple[str, Portfolio]) -> None:
    """Else the tests above would hold for want of a choice."""
    _, loans = report
    bare, second = (
        {item.test_id: item.current_value for item in run_suite(loans, "deal", definition=parse(document))}
        for document in (BARE, OTHERWISE)
    )
    assert {name for name in bare if abs(bare[name] - second[name]) > 1e-6} >= {
        "oc_b_class", "oc_e_class", "lite", "ccc_of_c", "factor_of_c",
    }  # fmt: skip
