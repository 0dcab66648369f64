"""A definition that names no base says nothing of what the standard of its market says."""

from __future__ import annotations

from core.compliance.conventions import definition_for
from core.compliance.run import run_suite
from core.definition import READY, Definition, parse, to_document, under_market
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import portfolio_of

EURO = READY["euro"]


def in_euros() -> Portfolio:
    return portfolio_of({"par_value": [60e6, 40e6], "country": ["FR", "US"]}, deal=Deal(currency="EUR"))


def test_what_a_document_leaves_out_is_the_markets() -> None:
    own = parse({"name": "own", "ratings": {"b": {"masked": "other_agency"}}, "par_value": {"ccc_limit": 6.0}})
    rules = under_market(own, EURO, "euro")
    assert rules.conventions == EURO.conventions
    assert (rules.ratings.b.masked, rules.ratings.c.masked) == ("other_agency", "left_out")
    assert (rules.par_value.ccc_limit, rules.par_value.ccc_agencies) == (6.0, ("b", "c"))
    assert (rules.name, rules.tests, rules.standard) == ("own", (), False)
    assert (rules.stated, rules.base) == (own.stated, "euro")


def test_it_is_what_naming_the_base_gives() -> None:
    """But for the base's tests, which are no rules of the deal's."""
    document = {"conventions": {"decimals": {"years": 2}}, "classifications": {"affiliates_by_name": False}}
    named = parse({"base": "euro", **document})
    rules = under_market(parse(document), EURO, "euro")
    for section in ("conventions", "ratings", "classifications", "par_value", "interest_coverage"):
        assert getattr(rules, section) == getattr(named, section), section


def test_a_default_that_the_document_says_stays() -> None:
    own = parse({"conventions": {"defaulted_in_denominator": "none"}})
    assert "conventions" not in to_document(own)
    assert under_market(own, EURO, "euro").conventions.defaulted_in_denominator == "none"


def test_the_market_is_that_of_the_definitions_currency_else_of_the_file() -> None:
    loans = in_euros()
    assert definition_for(loans, parse({"name": "own"})) == under_market(parse({"name": "own"}), EURO, "euro")
    dollars = parse({"conventions": {"currency": "USD"}})
    assert definition_for(loans, dollars) is dollars
    based = parse({"base": "us_bsl"})
    assert definition_for(loans, based) is based
    assert definition_for(loans, None) == EURO
    rules = definition_for(loans, parse({"name": "own"}))
    assert isinstance(rules, Definition)
    assert definition_for(loans, rules) is rules


def test_a_run_tells_of_it() -> None:
    for document, answer in (({"name": "own"}, True), ({"base": "euro"}, False)):
        ran = run_suite(
            in_euros(), "enhanced", definition=parse(document), test_ids=["foreign_country_concentration"]
        )  # fmt: skip
        assert ran[0].current_value == 40.0
        assert ("definition_without_base" in [warning.code for warning in ran.warnings]) == answer


def test_the_files_limit_comes_before_a_test_of_the_base() -> None:
    assert parse({"base": "us_bsl"}).has_market_limits
    assert not parse({"base": "us_bsl", "tests": []}).has_market_limits
    assert not parse({"tests": [{"id": "one_test", "name": "One", "measure": "was", "min": 3}]}).has_market_limits
    assert EURO.has_market_limits
