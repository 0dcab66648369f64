"""Shares of some loans alone, with cash and amounts not drawn, and of groups of countries, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.definition import DefinitionError, parse, to_document
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import portfolio_of
from tests.rows import every

M = 1e6

GROUPS: dict[str, Any] = {
    "country_ceilings": [
        {"agency": "a", "rating": "Aaa", "countries": ["US", "DE"]},
        {"agency": "a", "rating": "A2", "countries": ["ES"]},
        {"agency": "a", "rating": "Aa3", "countries": ["IT"]},
    ],
    "country_groups": [
        {"id": "group_1", "countries": ["Germany", "IT", "ES"]},
        {"id": "below_aa3", "agency": "a", "ceiling_below": "Aa3"},
        {"id": "below_aaa", "agency": "a", "ceiling_below": "Aaa", "ceiling_least": "Aa3"},
    ],
}  # fmt: skip


def loans(**columns: Any) -> Portfolio:
    """Par of 90 and cash of 10.

    Ash 30 + 20 (second lien), Birch 25, Cedar 15 (unsecured).
    """
    return portfolio_of(
        {
            "par_value": [30 * M, 20 * M, 25 * M, 15 * M], "obligor": ["Ash", "Ash", "Birch", "Cedar"],
            "industry": ["Wood", "Wood", "Stone", "Stone"], "country": ["US", "DE", "IT", "ES"],
            "lien_type": [1, 2, 1, 3], "cov_lite": [1, 1, 0, 0], "price": [99.0, 80.0, None, 70.0],
            "unfunded": [0.0, 5 * M, None, 10 * M], "is_revolving": [0, 1, 0, 1],
            "payment_frequency": ["Quarterly", "Semi-Annual", "Annual", "3M"],
            **columns,
        },
        deal=Deal(principal_cash=10 * M),
    )  # fmt: skip


def ran(test: dict[str, Any], portfolio: Portfolio | None = None, **sections: Any) -> Any:
    document = {**GROUPS, **sections, "tests": [{"id": "one_test", "name": "One", "max": 1000.0, **test}]}
    return run_suite(loans() if portfolio is None else portfolio, "deal", definition=parse(document))


@every(
    "test, value",
    [
        # Cpa is 100, so that percent is par in millions.
        ({"measure": "obligor", "among": "non_senior_secured"}, 20.0),
        ({"measure": "obligor", "nth": 2, "among": "non_senior_secured"}, 15.0),
        ({"measure": "obligor", "nth": 3, "among": "non_senior_secured"}, 0.0),
        ({"measure": "obligor", "among": "senior_secured"}, 30.0),
        ({"measure": "obligor", "among": "cov_lite"}, 50.0),
        ({"measure": "obligor", "among": '=lien="first_lien"'}, 30.0),
        ({"measure": "obligor", "among": '=lien="first_lien"', "of": "par"}, 30 / 90 * 100),
        ({"measure": "obligor", "among": "=price<90"}, 20.0),  # Birch has no price, and is not known to count
        ({"measure": "top_obligors", "nth": 2, "among": "non_senior_secured"}, 35.0),
        ({"measure": "industry", "among": "non_senior_secured"}, 20.0),
        ({"measure": "industry", "nth": 2, "among": "non_senior_secured"}, 15.0),
        ({"measure": "country", "among": "senior_secured"}, 25.0),
        ({"measure": "cov_lite", "among": "non_senior_secured"}, 20.0),
        ({"measure": "non_senior_secured", "among": "cov_lite"}, 20.0),
        ({"measure": "foreign_country", "among": "non_senior_secured"}, 35.0),
        ({"measure": "obligor", "adds": ["unfunded"]}, 55.0),
        ({"measure": "obligor", "nth": 3, "adds": ["unfunded"]}, 25.0),
        ({"measure": "top_obligors", "nth": 2, "adds": ["unfunded"]}, 80.0),
        ({"measure": "industry", "nth": 2, "adds": ["unfunded"]}, 50.0),
        ({"measure": "country", "nth": 2, "adds": ["unfunded"]}, 25.0),
        ({"measure": "obligor", "among": "revolving", "adds": ["unfunded"]}, 25.0),
        ({"measure": "revolving", "adds": ["unfunded"]}, 50.0),
        ({"measure": "revolving", "adds": ["unfunded"], "of": "denominator_and_unfunded"}, 50 / 115 * 100),
        ({"value": "=denominator_and_unfunded/cpa*100"}, 115.0),
        ({"measure": "senior_secured"}, 55.0),
        ({"measure": "senior_secured", "adds": ["cash"]}, 65.0),
        ({"measure": "non_senior_secured", "adds": ["cash", "unfunded"]}, 60.0),
        ({"share": "=cov_lite", "adds": ["cash"]}, 60.0),
        ({"share": "=cov_lite", "adds": ["unfunded", "cash"], "of": "par"}, 65 / 90 * 100),
        ({"share": "=price<90", "adds": ["unfunded"]}, 50.0),
        ({"value": "=(par+unfunded)/cpa*100"}, 105.0),
        ({"measure": "pays_less_than_quarterly"}, 45.0),
        ({"measure": "pays_semi_annually"}, 20.0),
        ({"measure": "pays_annually"}, 25.0),
        ({"share": "=payments_a_year>=4"}, 45.0),
        ({"share": "=OR(payments_a_year=1,price<75)"}, 40.0),
        ({"measure": "country_group", "group": "group_1"}, 60.0),
        ({"measure": "country_of_group", "group": "group_1"}, 25.0),
        ({"measure": "country_of_group", "group": "group_1", "nth": 3}, 15.0),
        ({"measure": "country_group", "group": "group_1", "among": "non_senior_secured"}, 35.0),
        ({"measure": "country_group", "group": "group_1", "adds": ["unfunded", "cash"]}, 85.0),
        ({"measure": "country_group", "group": "below_aa3"}, 15.0),
        ({"measure": "country_group", "group": "below_aaa"}, 25.0),
    ],
)  # fmt: skip
def test_figures(test: dict[str, Any], value: float) -> None:
    result = ran(test)
    assert [item.reason for item in result.skipped] == []
    assert result[0].current_value == pytest.approx(value, abs=1e-6)


def test_what_is_not_known_to_count_is_not_covered() -> None:
    """The loan without a price, of 25 in 90.

    One without a country, and one of a country without a ceiling.
    """

    def covered(test: dict[str, Any], **columns: Any) -> float:
        return float(ran(test, loans(**columns))[0].details.breakdown["coverage_pct"])

    part = pytest.approx(65 / 90 * 100, abs=1e-6)
    assert covered({"measure": "obligor", "among": "=price<90"}) == part
    assert covered({"measure": "cov_lite", "among": "=price<90"}) == pytest.approx(100.0)  # it is none, at any price
    assert covered({"measure": "senior_secured", "among": "=price<90"}) == part
    assert covered({"measure": "foreign_country", "among": "senior_secured"}, country=["US", "DE", None, "ES"]) == part
    low = {"measure": "country_group", "group": "below_aa3"}
    assert covered(low, country=["US", "DE", None, "ES"]) == part
    assert covered(low, country=["US", "DE", "JP", "ES"]) == part
    assert covered({"measure": "country_group", "group": "group_1"}, country=["US", "DE", "JP", "ES"]) == 100.0


def test_any_number_of_home_countries_makes_a_formula() -> None:
    home = ["US", *(f"Country of a long name, number {at}" for at in range(200))]
    for countries, value in ((["US"], 60.0), (home, 60.0), (["DE", "ES"], 55.0)):
        result = ran({"measure": "foreign_country", "among": "=TRUE"}, conventions={"home_countries": countries})
        assert result[0].current_value == pytest.approx(value)


def test_bonds_count_as_the_ratings_say() -> None:
    bonds = loans(lien_type=[1, 4, 1, 3])
    for is_secured, secured, obligor in ((True, 75.0, 15.0), (False, 55.0, 20.0)):
        ratings = {"bonds_secured": is_secured}
        result = ran({"measure": "senior_secured"}, bonds, ratings=ratings)
        assert result[0].current_value == pytest.approx(secured)
        among = {"measure": "obligor", "among": "non_senior_secured"}
        assert ran(among, bonds, ratings=ratings)[0].current_value == pytest.approx(obligor)


def test_cash_that_is_negative_lowers_a_share_and_never_below_nothing() -> None:
    due = replace(loans(), deal=Deal(principal_cash=-60 * M))
    assert ran({"measure": "senior_secured", "adds": ["cash"]}, due)[0].current_value == 0.0


@every(
    "test, words",
    [
        ({"measure": "obligor", "among": "=is_bridge"}, "is_bridge"),
        ({"measure": "participations"}, "participation"),
        ({"measure": "industry", "classification": "c", "among": "cov_lite"}, "industry_c"),
        ({"measure": "obligor", "among": "=price>1000000"}, None),
    ],
)
def test_what_the_file_lacks_is_named(test: dict[str, Any], words: str | None) -> None:
    result = ran(test, loans(price=[99.0, 80.0, 90.0, 70.0]))
    if words is None:
        assert result[0].current_value == 0.0
    else:
        assert words in result.skipped[0].reason


def test_no_figure_comes_of_blanks_alone() -> None:
    assert (
        "obligor has no values"
        in ran({"measure": "obligor", "among": "=price<90"}, loans(price=[None] * 4)).skipped[0].reason
    )
    without = loans()
    del without.numbers["unfunded"]
    assert "unfunded" in ran({"measure": "obligor", "adds": ["unfunded"]}, without).skipped[0].reason
    assert "unfunded" in ran({"value": "=unfunded", "unit": "amount"}, without).skipped[0].reason


@every(
    "test, place, words",
    [
        ({"measure": "obligor", "among": "first_lien"}, "tests[0].among", "must be a formula"),
        ({"measure": "obligor", "among": "=price<"}, "tests[0].among", "is no formula"),
        ({"measure": "obligor", "among": "=prise<90"}, "tests[0].among", "did you mean price?"),
        ({"measure": "warf", "among": "=price<90"}, "tests[0].among", "nothing that warf takes"),
        ({"share": "=cov_lite", "among": "=price<90"}, "tests[0].among", "nothing that share takes"),
        ({"measure": "obligor", "adds": ["cash"]}, "tests[0].adds", "cash belongs to none"),
        ({"measure": "obligor", "adds": ["equity"]}, "tests[0].adds[0]", "one of cash, unfunded"),
        ({"measure": "cov_lite", "adds": ["cash", "cash"]}, "tests[0].adds", "one thing twice"),
        ({"measure": "wal", "adds": ["cash"]}, "tests[0].adds", "nothing that wal takes"),
        ({"measure": "country_group"}, "tests[0].group", "is missing"),
        ({"measure": "country_group", "group": "group_2"}, "tests[0].group", "there are group_1"),
        ({"measure": "country", "group": "group_1"}, "tests[0].group", "nothing that country takes"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(test: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as fault:
        parse({**GROUPS, "tests": [{"id": "one_test", "name": "One", "max": 1.0, **test}]})
    assert [(where, words in text) for where, text in fault.value.faults] == [(place, True)]


@every(
    "sections, place, words",
    [
        ({"country_groups": [{"id": "one", "countries": ["US"]}, {"id": "one", "countries": ["DE"]}]},
         "country_groups[1].id", "there already"),
        ({"country_groups": [{"id": "one"}]}, "country_groups[0]", "must have either"),
        ({"country_groups": [{"id": "one", "countries": ["US"], "ceiling_below": "Aa3", "agency": "a"}]},
         "country_groups[0]", "must have either"),
        ({"country_groups": [{"id": "one", "countries": ["US"], "agency": "a"}]}, "country_groups[0].agency",
         "for a group by ceilings"),
        ({"country_groups": [{"id": "one", "ceiling_below": "Aa3"}]}, "country_groups[0].agency", "must name an"),
        ({"country_groups": [{"id": "one", "agency": "b", "ceiling_below": "AA-"}], "country_ceilings":
          GROUPS["country_ceilings"]}, "country_groups[0].agency", "must name an agency"),
        ({"country_groups": [{"id": "one", "countries": ["US"], "ceiling_below": "good"}]},
         "country_groups[0].ceiling_below", "a rating symbol"),
        ({"country_ceilings": [{"agency": "a", "rating": "Aaa", "countries": ["US"]},
                               {"agency": "a", "rating": "Aa1", "countries": ["United States"]}]},
         "country_ceilings[1].countries", "US has a ceiling"),
    ],
)  # fmt: skip
def test_a_fault_of_countries_has_its_place(sections: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as fault:
        parse(sections)
    assert [(where, words in text) for where, text in fault.value.faults] == [(place, True)]


def test_the_document_comes_back() -> None:
    tests = [
        {"id": "one_test", "name": "One", "measure": "obligor", "among": "=price<90", "adds": ["unfunded"], "max": 2.0},
        {"id": "two_test", "name": "Two", "share": "=cov_lite", "adds": ["cash", "unfunded"], "max": 2.0},
        {"id": "three_test", "name": "Three", "measure": "country_group", "group": "group_1", "max": 2.0},
    ]
    definition = parse({**GROUPS, "tests": tests})
    assert parse(to_document(definition)) == definition
    assert to_document(definition)["tests"] == tests
    assert to_document(definition)["country_groups"][0]["countries"] == ["DE", "IT", "ES"]
