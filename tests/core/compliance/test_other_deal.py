"""A definition of another deal than the file's is doubted, and one of the same deal is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from core.compliance.other_deal import of_other_deal, of_other_limits
from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, portfolio_of, tranches_of
from tests.rows import every

LOANS = replace(
    portfolio_of(
        {"par_value": [60e6, 40e6], "country": ["US", "CA"]}, deal=Deal(currency="USD", closing_date=19_000.0)
    ),
    tranches=tranches_of(G1_NOTES),
)


def codes(document: dict[str, Any]) -> list[str]:
    return [item.code for item in of_other_deal(LOANS, parse(document))]


@every("document, message_part", [
    ({"conventions": {"currency": "USD", "closing_date": date(2022, 1, 8)}, "classes": [{"name": "A/B"}]}, []),
    ({"base": "euro"}, ["definition_currency"]),
    ({"conventions": {"currency": "GBP"}}, ["definition_currency"]),
    ({"conventions": {"closing_date": date(2022, 1, 9)}}, ["definition_days"]),
    ({"conventions": {"stated_maturity": date(2035, 1, 9)}}, []),
    ({"classes": [{"name": "A/B"}, {"name": "F"}]}, ["definition_classes"]),
])  # fmt: skip
def test_what_a_definition_and_a_file_say_otherwise(document: dict[str, Any], message_part: list[str]) -> None:
    assert codes(document) == message_part


def test_every_row_is_doubted_under_the_definition_of_another_deal() -> None:
    tests = [{"id": "one_test", "name": "One", "measure": "foreign_country", "max": 70}]
    for base, doubted in (("us_bsl", False), ("euro", True)):
        (row,) = run_suite(LOANS, "deal", definition=parse({"base": base, "tests": tests}))
        assert ("conflict" in [doubt.code for doubt in row.doubt]) == doubted


def test_most_loans_abroad_are_told() -> None:
    for home, answer in (("US", False), ("MX", True)):
        ran = run_suite(
            LOANS, "enhanced", definition=parse({"conventions": {"home_countries": [home]}}),
            test_ids=["foreign_country_concentration"],
        )  # fmt: skip
        assert ("home_elsewhere" in [warning.code for warning in ran.warnings]) == answer
        assert ("implausible" in [doubt.code for doubt in ran[0].doubt]) == answer


@every("apart, of, message_part", [(0, 4, False), (2, 2, False), (3, 6, False), (3, 5, True), (4, 4, True)])
def test_limits_of_another_deal(apart: int, of: int, message_part: bool) -> None:
    """Three at least, and more than half of those that are printed."""
    fact = Fact(kind="test", label="x", subject=None, value=1.0, trigger=10.0, place="'S'!A1", decimals=1)
    data_warnings = list(of_other_limits((9.0 if at < apart else 10.0, fact) for at in range(of)))
    assert [data_warning.code for data_warning in data_warnings] == ["definition_limits"] * message_part


@every("document, doubted", [
    ({"classifications": {"industry": "b"}}, True),
    ({"classifications": {"industry": "a"}}, False),
    ({}, False),
])  # fmt: skip
def test_industries_of_another_agency_than_the_file_prints_tests_by(document: dict[str, Any], doubted: bool) -> None:
    """By Moody's the largest is 60 of 100, as printed; by S&P there is just one."""
    subject = FactSubject(measure="industry", agency="a", rank=1)
    fact = Fact(kind="test", label="Moody's", subject=subject, value=60.0, trigger=70.0, place="'S'!A1", decimals=1)
    loans = portfolio_of(
        {"par_value": [60e6, 40e6], "industry_a": ["Tech", "Print"], "industry_b": ["Media", "Media"]},
        deal=Deal(principal_cash=0.0),
    )  # fmt: skip
    loans = replace(loans, facts=Facts(all=(fact,)))
    tests = [{"id": "largest", "name": "L", "measure": "industry", "max": 101}]
    (row,) = run_suite(loans, "deal", definition=parse({"tests": tests, **document}))
    assert row.current_value == (100.0 if doubted else 60.0)
    assert ("S&P's industries" in " ".join(doubt.message for doubt in row.doubt)) == doubted
