"""A definition is read as a whole.

Every fault with its place, a round trip, limits on what a stranger sends.
"""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

import core.definition as definition_package
from core.definition import (
    READY,
    DefinitionError,
    UnknownDefinition,
    definition_of,
    parse,
    parse_changed,
    parse_toml,
    ready_for,
    to_document,
)
from core.definition.definition import TESTS_MAX, Definition
from core.definition.document import TEXT_MAX
from tests.rows import every

LEAST: dict[str, Any] = {"id": "one_test", "name": "One", "share": "=is_dip", "max": 5}


def test_what_is_absent_has_the_suites_default() -> None:
    assert parse({}) == Definition()
    assert parse_toml("") == Definition()
    assert to_document(Definition()) == {}


FULL = """
name = "A deal"
[conventions]
currency = "EUR"
home_countries = ["Germany", "FRA", "GB"]
reinvestment_end = 2028-04-18
decimals = {percent = 2, factor = 0}
[ratings.a]
columns = ["derived", "any"]
masked = "bounds"
masked_value = "B3"
[ratings.b]
unrated = 6500
[classifications]
families = [{name = "One group", obligors = ["Alpha Holding", "Beta BV"]}]
[[classes]]
name = "A/B"
oc_trigger = 130.08
[reinvestment_oc]
class = "A/B"
trigger = 104.4
[[quality.matrices]]
id = "moodys"
rows = [3.0, 4.0]
columns = [50, 60]
values = [[2500, 2600], [2700, 2800]]
row = "=was"
column = "=score"
[[tests]]
id = "was"
name = "Spread"
measure = "was"
min = 4.03
[[tests]]
id = "score"
name = "Diversity"
measure = "diversity"
[[tests]]
id = "factor"
name = "Rating factor"
measure = "warf"
agency = "a"
matrix = "moodys"
matrix_limit = "max"
[[tests]]
id = "life"
name = "Life"
measure = "wal"
max = 7.5
warning = 7
steps = [{from = 2025-01-01, limit = 7}, {from = "reinvestment_end", limit = 4, warning = 3.5}]
"""


def test_a_definition_comes_back_from_its_document() -> None:
    """Through JSON, since that is how it is sent and stored."""
    for definition in (parse_toml(FULL), *READY.values()):
        assert parse(json.loads(json.dumps(to_document(definition)))) == definition


def test_values_are_read_by_their_kind() -> None:
    definition = parse_toml(FULL)
    assert definition.conventions.home_countries == ("DE", "FR", "GB")
    assert definition.conventions.reinvestment_end == date(2028, 4, 18)
    assert dict(definition.conventions.decimals) == {"percent": 2, "factor": 0}
    assert definition.ratings.b.unrated == 6500.0
    assert definition.tests[3].steps[0].day == date(2025, 1, 1)


def test_a_base_lies_below_the_documents_own_keys() -> None:
    definition = parse({"base": "euro", "conventions": {"currency": "GBP"}, "tests": [LEAST]})
    euro = READY["euro"]
    assert (definition.conventions.currency, definition.conventions.home_countries) == (
        "GBP",
        euro.conventions.home_countries,
    )
    assert [test.id for test in definition.tests] == ["one_test"]
    assert (euro.standard, definition.standard) == (True, False)
    assert (ready_for("EUR"), ready_for("USD"), ready_for(None)) == ("euro", "us_bsl", "us_bsl")


def test_both_spell_out_what_the_suites_do_not() -> None:
    """Unrated loans are no CCC by either market's standard."""
    assert list(READY) == ["us_bsl", "euro"]
    for definition in READY.values():
        assert not definition.ratings.unrated_is_ccc


def a_test(**changed: Any) -> dict[str, Any]:
    return {"tests": [{**LEAST, **changed}]}


def a_figure(**keys: Any) -> dict[str, Any]:
    return {"tests": [{"id": "x_x", "name": "X", **keys}]}


CEILING = {"agency": "a", "rating": "A1", "countries": ["US"]}


def ceilings(rows: list[dict[str, Any]], **group: Any) -> dict[str, Any]:
    return {"country_ceilings": rows, "country_groups": [group] if group else []}


def matrix(**changed: Any) -> dict[str, Any]:
    return {
        "quality": {
            "matrices": [
                {"id": "m_m", "rows": [1, 2], "columns": [1], "values": [[1], [2]], "row": "=cpa", "column": "=par"}
                | changed
            ]
        }
    }


@every(
    "document, place, words",
    [
        ([], "", "a table"),
        ({"conventions": {"home_contries": ["US"]}}, "conventions.home_contries", "did you mean home_countries"),
        ({"conventions": {"currency": "euro"}}, "conventions.currency", "such as EUR"),
        ({"conventions": {"home_countries": []}}, "conventions.home_countries", "takes 1 to"),
        ({"conventions": {"decimals": {"percent": 99}}}, "conventions.decimals.percent", "from 0 to 12"),
        ({"conventions": {"closing_date": "2024-02-30"}}, "conventions.closing_date", "a date"),
        ({"ratings": {"a": {"unrated": "Q7"}}}, "ratings.a.unrated", "rating symbol"),
        ({"ratings": {"a": {"notched_from": ["a"]}}}, "ratings.a.notched_from", "itself"),
        ({"ratings": {"a": {"masked_value": "B3"}}}, "ratings.a.masked_value", "bounds"),
        ({"ratings": {"b": {"unrated_value": "B-", "unrated": "CCC-"}}}, "ratings.b.unrated_value", "bounds"),
        ({"ratings": {"b": {"unrated": "open"}}}, "ratings.b.unrated", "left_out, bounds"),
        ({"par_value": {"ccc_limit": 101}}, "par_value.ccc_limit", "from 0 to 100"),
        ({"par_value": {"ccc_limit": float("nan")}}, "par_value.ccc_limit", "a number"),
        ({"par_value": {"ccc_limit": True}}, "par_value.ccc_limit", "a number"),
        ({"par_value": {"ccc_limit": 10**400}}, "par_value.ccc_limit", "a number"),
        ({"base": "mars"}, "base", "us_bsl, euro"),
        ({"classes": [{"name": "A"}, {"name": "A"}]}, "classes[1].name", "already"),
        (
            {"classes": [{"name": "A/B"}], "reinvestment_oc": {"class": "F", "trigger": 1}},
            "reinvestment_oc.class", "A/B",
        ),
        ({"classes": [{}]}, "classes[0].name", "missing"),
        (
            {"classes": [{"name": "A/B"}], "tests": [{"id": "x_x", "name": "X", "measure": "ic", "class": "Junior"}]},
            "tests[0].class", "one of A/B",
        ),
        (
            {"classifications": {"families": [{"name": n, "obligors": ["X"]} for n in "ab"]}},
            "classifications.families[1].obligors", "another family",
        ),
        (a_test(share="=price<"), "tests[0].share", "at character"),
        (a_test(share="price<80"), "tests[0].share", "begin with ="),
        (a_test(share="=A1>3"), "tests[0].share", "no cells"),
        (a_test(share="=$A$1>3"), "tests[0].share", "no cells"),
        (a_test(share="=Sheet1!A1>3"), "tests[0].share", "no cells"),
        (a_test(share="=A1:A3>3"), "tests[0].share", "no cells"),
        (a_test(share="=Sheet1!price>3"), "tests[0].share", "no "),
        (a_test(share="=prize<80"), "tests[0].share", "prize"),
        (a_test(share="=RAND()>0.5"), "tests[0].share", "RAND"),
        (a_test(share='=REPT("x",9)="x"'), "tests[0].share", "REPT"),
        (a_test(share="=OR(price={80,90})"), "tests[0].share", "down the columns"),
        (a_test(share="=" + "1+" * 2_000 + "1"), "tests[0].share", "a text of 1 to 2000"),
        (a_test(share="=" + "(" * 900 + "1" + ")" * 900), "tests[0].share", "no formula"),
        (a_test(value="=cpa"), "tests[0]", "one of measure, share and value"),
        (a_test(share=None), "tests[0].share", "a text"),
        (a_test(agency="a"), "tests[0].agency", "nothing that share takes"),
        (a_test(min=3), "tests[0]", "more than one limit"),
        (a_test(warning=6), "tests[0].warning", "above its limit"),
        ({"tests": [{"id": "x_x", "name": "X", "value": "=ob1+1"}]}, "tests[0].value", "no cells"),
        ({"tests": [{"id": "ob1", "name": "X", "value": "=SUM(ob1:ob2)"}]}, "tests[0].value", "no cells"),
        ({"tests": [{"id": "ob1", "name": "X", "value": "=OB1+1"}]}, "tests[0].value", "itself"),
        ({"tests": [{"id": "ob1", "name": "X", "share": "=ob1>1"}]}, "tests[0].share", "no cells"),
        ({"tests": [{"id": a, "name": "X", "value": f"={b}+1"} for a, b in (("a1", "b2"), ("b2", "a1"))]},
         "tests", "in a circle"),
        (a_test(id="cpa"), "tests[0].id", "total"),
        (a_test(id="Two words"), "tests[0].id", "such as"),
        (a_test(name="line\x00"), "tests[0].name", "a text"),
        (a_test(name="   "), "tests[0].name", "a text"),
        (a_test(name="\u202egnissaP"), "tests[0].name", "a text"),
        (a_test(name="half \ud800"), "tests[0].name", "a text"),
        (a_test(id="true"), "tests[0].id", "a truth"),
        ({"tests": [{"id": "oc_ratio", "name": "X", "measure": "cov_lite"}]}, "tests[0].id", "suites' test of oc"),
        (a_test(max=float("nan")), "tests[0].max", "a number"),
        (a_test(max=float("inf")), "tests[0].max", "a number"),
        ({"ratings": {"a": {"unrated": 10**400}}}, "ratings.a.unrated", "a rating symbol"),
        (a_test(share="=" + "(" * 900 + "is_dip" + ")" * 900), "tests[0].share", "nested deeper"),
        (a_test(share="=" + "NOT(" * 390 + "is_dip" + ")" * 390), "tests[0].share", "nested deeper"),
        (a_test(share="=" + "-" * 1_900 + "price"), "tests[0].share", "signs in a row"),
        (a_test(share="=price" + "%" * 1_900), "tests[0].share", "more than 600 operations"),
        ({"tests": [LEAST] * 10_000}, "tests", "it takes 0 to 500"),
        (
            {"classifications": {"families": [{"name": f"F{at}", "obligors": ["Ash"]} for at in range(1_000)]}},
            "classifications.families[1].obligors", "in another family",
        ),
        (
            {"tests": [{"id": f"t_{at}x", "name": "X", "value": f"=t_{(at + 1) % 500}x"} for at in range(500)]},
            "tests", "-> ...",
        ),
        (
            matrix(row="=x_x")
            | {"tests": [{"id": "x_x", "name": "X", "measure": "warf", "matrix": "m_m", "matrix_limit": "max"}]},
            "tests[0].matrix", "the test itself",
        ),
        (ceilings([CEILING, CEILING]), "country_ceilings[1].countries", "US has a ceiling of this agency already"),
        (ceilings([], id="g_g"), "country_groups[0]", "either countries, or ceiling_below or ceiling_least"),
        (
            ceilings([CEILING], id="g_g", countries=["US"], ceiling_below="A1", agency="a"),
            "country_groups[0]", "either countries, or ceiling_below",
        ),
        (ceilings([CEILING], id="g_g", ceiling_least="A1"), "country_groups[0].agency", "must name an agency"),
        (ceilings([CEILING], id="g_g", ceiling_below="A1", agency="b"), "country_groups[0].agency", "must name an"),
        (ceilings([], id="g_g", countries=["US"], agency="a"), "country_groups[0].agency", "for a group by ceilings"),
        (
            {"country_groups": [{"id": "g_g", "countries": ["US"]}] * 2},
            "country_groups[1].id", "g_g is there already",
        ),
        ({"quality": {"matrices": matrix()["quality"]["matrices"] * 2}}, "quality.matrices", "one id twice"),
        (a_figure(measure="reinvestment_oc"), "tests[0].measure", "needs reinvestment_oc"),
        (a_figure(measure="event_of_default"), "tests[0].measure", "needs event_of_default"),
        (a_figure(measure="country_group", group="g_g"), "tests[0].group", "there are none"),
        (
            a_figure(measure="country_group", group="g_g")
            | {"country_groups": [{"id": "east", "countries": ["PL"]}, {"id": "west", "countries": ["PT"]}]},
            "tests[0].group", "there are east, west",
        ),
        (a_figure(measure="obligor", nth=1, adds=["cash"]), "tests[0].adds", "cash belongs to none of what obligor"),
        (a_figure(measure="obligor", nth=1, among="=price<"), "tests[0].among", "at character"),
        (a_figure(measure="warf", matrix="m_m", matrix_limit="max"), "tests[0].matrix", "there are none"),
        (a_figure(measure="warf", matrix="other", matrix_limit="max") | matrix(), "tests[0].matrix", "there are m_m"),
        (a_figure(measure="warf", matrix="m_m") | matrix(), "tests[0].matrix_limit", "is missing: max or min"),
        (
            a_figure(measure="warf", matrix="m_m", matrix_limit="max", steps=[{"from": "2025-01-01", "limit": 1}])
            | matrix(),
            "tests[0].steps", "two limits",
        ),
        (a_figure(measure="warf", max=3, matrix_limit="max"), "tests[0].matrix_limit", "for a test with a matrix"),
        (a_figure(measure="warf", warning=3), "tests[0]", "no max or min"),
        (a_figure(measure="warf", steps=[{"from": "2025-01-01", "limit": 1}]), "tests[0]", "no max or min"),
        (a_figure(measure="was", min=5, warning=4), "tests[0].warning", "must not be below its limit 5"),
        (
            a_figure(measure="was", min=5, steps=[{"from": "2025-01-01", "limit": 4, "warning": 3.5}]),
            "tests[0].steps[0].warning", "must not be below its limit 4",
        ),
        (
            a_figure(measure="wal", max=7, steps=[{"from": "2025-01-01", "limit": 6},
                                                 {"from": "reinvestment_end", "limit": 5}]),
            "tests[0].steps", "give conventions.reinvestment_end",
        ),
        (
            {"conventions": {"reinvestment_end": "2025-01-01"}}
            | a_figure(measure="wal", max=7, steps=[{"from": "2025-01-01", "limit": 6},
                                                   {"from": "reinvestment_end", "limit": 5}]),
            "tests[0].steps", "order of their days",
        ),
        (a_test(share="=AND(is_dip,)"), "tests[0].share", "AND has an empty argument"),
        (a_test(share="=OR(" + ",".join(f"price<{at}" for at in range(201)) + ")"), "tests[0].share", "200 parts"),
        ({"tests": [{"id": "x_x", "name": "X", "value": "=-x_x"}]}, "tests[0].value", "itself"),
        ({"tests": [LEAST, LEAST]}, "tests[1].id", "already"),
        ({"tests": [LEAST] * (TESTS_MAX + 1)}, "tests", "it takes 0 to 500"),
        ({"tests": [{"id": "x_x", "name": "X", "measure": "oc"}]}, "tests[0].class", "missing"),
        ({"tests": [{"id": "x_x", "name": "X", "measure": "bdr"}]}, "tests[0].measure", "cdo_monitor"),
        ({"tests": [{"id": "x_x", "name": "X", "value": "=x_x+1"}]}, "tests[0].value", "itself"),
        ({"tests": [{"id": "x_x", "name": "X", "value": "=y_y+1"}]}, "tests[0].value", "y_y"),
        (
            {"tests": [{"id": a, "name": "X", "value": f"={b}+1"} for a, b in ("ab", "bc", "ca")]},
            "tests", "in a circle",
        ),
        (a_test(matrix="m_m"), "tests[0]", "more than one limit"),
        (a_test(matrix="m_m", max=None), "tests[0].max", "a number"),
        (matrix(rows=[2, 1]), "quality.matrices[0].rows", "ascend"),
        (matrix(values=[[1]]), "quality.matrices[0].values", "1 lists for 2 rows"),
        (matrix(values=[[1], [1, 2]]), "quality.matrices[0].values[1]", "2 limits"),
        (matrix(row="=nothing"), "quality.matrices[0].row", "nothing"),
        (
            a_test(steps=[{"from": "2025-01-02", "limit": 1}, {"from": "2025-01-01", "limit": 1}]),
            "tests[0].steps", "order",
        ),
        (a_test(steps=[{"from": "soon", "limit": 1}]), "tests[0].steps[0].from", "reinvestment_end"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(document: Any, place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse(document)
    assert any(where == place and words in answer for where, answer in refused.value.faults), refused.value.faults


def test_a_definition_walks_the_loans_so_often_and_no_oftener() -> None:
    """Parts of formulas are counted once, however many tests have them."""

    def tests(parts: int, start: int) -> list[dict[str, Any]]:
        return [
            {"id": f"test_{at}x", "name": "X", "share": "=OR(" + ",".join(
                f"price<{start * at + part}" for part in range(parts)) + ")"}
            for at in range(30)
        ]  # fmt: skip

    parse({"tests": tests(100, 0)})
    with pytest.raises(DefinitionError, match="3000 different parts"):
        parse({"tests": tests(100, 100)})


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(DefinitionError) as refused:
        parse({"name": 3, "conventions": {"x": 1}, "tests": [{"id": "a_a"}]})
    assert [place for place, _ in refused.value.faults] == ["name", "conventions.x", "tests[0].name"]
    with pytest.raises(DefinitionError) as refused:
        parse({f"key{at}": 1 for at in range(5_000)})
    assert len(refused.value.faults) == 100


@every(
    "text",
    [
        "a.b" * 60_000 + " = 1",
        "'a b' . " * 40_000 + "c = 1",
        "[" + "a." * 60_000 + "b]",
        "a = ",
        "a = " + "[" * 50_000,
        "#" * (TEXT_MAX + 1),
        "a = 2024-13-45",
        "a = " + "9" * 5_000,
    ],
)
def test_a_text_that_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError):
        parse_toml(text)


def test_a_ready_made_definition_goes_by_its_name() -> None:
    assert definition_of("euro") is READY["euro"]
    assert definition_of(None) is None
    own = parse({"name": "Own"})
    assert definition_of(own) is own
    with pytest.raises(UnknownDefinition, match=r"'us_bls'; did you mean us_bsl\? There are: us_bsl, euro"):
        READY["us_bls"]
    with pytest.raises(
        DefinitionError, match=r"base: must be one of us_bsl, euro, not 'us_bls'; did you mean us_bsl\?"
    ):
        parse({"base": "us_bls"})


def test_a_definition_knows_what_its_own_document_says() -> None:
    """What a base says is the market's word, and no deal's own."""
    own = parse({"base": "euro", "name": "own", "conventions": {"currency": "EUR"}, "ratings": {"b": {"masked": "B3"}}})
    assert own.stated == {"name", "conventions.currency", "ratings.b.masked"}
    assert own.par_value.ccc_agencies == ("b", "c")
    assert own.leaves("par_value.ccc_agencies", "ratings.c.masked")
    assert not own.leaves("ratings.c.masked", "ratings.b.masked")
    assert READY["euro"].stated == frozenset()


def test_what_a_changed_document_says_is_its_own_too() -> None:
    own = parse({"base": "us_bsl", "conventions": {"principal_cash": "none"}})
    document = to_document(own)
    assert parse_changed(document, own) == own
    assert parse_changed(document, own).stated == own.stated
    document["ratings"]["recovery"] = ["a"]
    assert parse_changed(document, own).stated == own.stated | {"ratings.recovery"}


def test_the_package_has_its_names_and_no_others() -> None:
    assert all(getattr(definition_package, name) is not None for name in definition_package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Definitions'"):
        definition_package.Definitions  # noqa: B018 - it is looked up
