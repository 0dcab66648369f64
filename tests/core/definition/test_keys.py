"""A key holds what its row says.

A value of another kind is a fault, and a value comes back as it was written.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from core.definition import DefinitionError, parse, to_document
from core.definition.definition import NoteClass
from core.definition.keys import FAULTS_MAX, LIST_MAX, ChoiceKey, ListKey, MapKey, NumberKey, TableKey, rows_of
from tests.rows import every

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def faults_of(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(DefinitionError) as refused:
        parse(document)
    return list(refused.value.faults)


@every(
    "document, place, words",
    [
        ({"par_value": {"discount": 1}}, "par_value.discount", "must be true or false, not 1"),
        ({"par_value": {"discount": "true"}}, "par_value.discount", "must be true or false, not 'true'"),
        ({"par_value": 3}, "par_value", "must be a table, not 3"),
        ({"par_value": []}, "par_value", "must be a table, not list"),
        ({"classes": {"name": "A"}}, "classes", "must be a list, not dict"),
        ({"classes": "A"}, "classes", "must be a list, not 'A'"),
        ({"name": "x" * 999}, "name", "not '" + "x" * 59 + "..."),
        ({"ratings": {"a": {"watch_negative": 1.0}}}, "ratings.a.watch_negative", "number from 0 to 3, not 1.0"),
        ({"ratings": {"a": {"watch_negative": True}}}, "ratings.a.watch_negative", "a whole number from 0 to 3"),
        ({"ratings": {"a": {"watch_negative": 4}}}, "ratings.a.watch_negative", "a whole number from 0 to 3, not 4"),
        ({"ratings": {"a": {"watch_negative": -1}}}, "ratings.a.watch_negative", "a whole number from 0 to 3, not -1"),
        ({"ratings": {"recovery": ["a", "b", "a"]}}, "ratings.recovery", "names one thing twice"),
        ({"ratings": {"a": {"unrated_best": "ZZ"}}}, "ratings.a.unrated_best", "must be a rating symbol such as B3"),
        ({"ratings": {"a": {"unrated_best": 3}}}, "ratings.a.unrated_best", "must be a rating symbol such as B3"),
        ({"ratings": {"a": {"unrated": 0.5}}}, "ratings.a.unrated", "a rating factor"),
        ({"ratings": {"a": {"unrated": True}}}, "ratings.a.unrated", "a rating factor"),
        ({"conventions": {"decimals": 2}}, "conventions.decimals", "must be a table, not 2"),
        ({"conventions": {"decimals": {"percents": 2}}}, "conventions.decimals.percents", "did you mean percent?"),
        ({"conventions": {"decimals": {"zzz": 2}}}, "conventions.decimals.zzz", "there are percent, factor"),
        ({"conventions": {"home_countries": [3]}}, "conventions.home_countries[0]", "must be a country"),
        ({"conventions": {"home_countries": [" "]}}, "conventions.home_countries[0]", "must be a country"),
        ({"conventions": {"day_count": "act/360"}}, "conventions.day_count", "not 'act/360'; did you mean actual/360?"),
        ({"conventions": {"day_count": 360}}, "conventions.day_count", "actual/365, 30/360, not 360"),
        ({"conventions": {"closing_date": NOON}}, "conventions.closing_date", "must be a date"),
        ({"conventions": {"closing_date": "20260101"}}, "conventions.closing_date", "must be a date"),
        ({"index_rates": 3}, "index_rates", "must be a table, not 3"),
        ({"index_rates": {"MARS_3M": 1}}, "index_rates.MARS_3M", "is no reference rate"),
        ({"index_rates": {"EURIBOR_3M": 31}}, "index_rates.EURIBOR_3M", "a number from -10 to 30, not 31"),
        ({"index_rates": {"EURIBOR_3M": 1, "EURIBOR-3M": 2}}, "index_rates.EURIBOR-3M", "a second time"),
        ({"index_rates": {f"EURIBOR_{at}M": 1 for at in range(1, 600)}}, "index_rates", "has 599 keys; it takes"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_a_fault(document: Any, place: str, words: str) -> None:
    assert [where for where, _ in faults_of(document)] == [place]
    assert words in faults_of(document)[0][1]


def test_a_value_comes_back() -> None:
    document = {
        "index_rates": {"EURIBOR-3M": 2.01, "SOFR-1M": 4.3},
        "conventions": {"decimals": {"percent": 2}, "closing_date": "2024-02-29"},
        "ratings": {"a": {"unrated": 6500.0, "masked": "left_out"}, "recovery": ["b", "a"]},
        "par_value": {"discount": False, "ccc_limit": 5.0},
        "tests": [{"id": "a_a", "name": "A", "measure": "wal", "max": 7.0,
                   "steps": [{"from": "2026-01-01", "limit": 6.0}, {"from": "2027-01-01", "limit": 5.0}]}],
    }  # fmt: skip
    definition = parse(document)
    assert dict(definition.index_rates) == {"EURIBOR-3M": 2.01, "SOFR-1M": 4.3}
    assert definition.conventions.closing_date == date(2024, 2, 29)
    assert to_document(definition) == document


def test_a_range_has_its_ends() -> None:
    for value in (0, 100, 7.5):
        assert parse({"par_value": {"ccc_limit": value}}).par_value.ccc_limit == value
    for value in (-0.001, 100.001):
        assert "a number from 0 to 100" in faults_of({"par_value": {"ccc_limit": value}})[0][1]
    assert parse({"ratings": {"a": {"unrated": 10_000}}}).ratings.a.unrated == 10_000.0
    assert parse({"ratings": {"a": {"unrated": 1}}}).ratings.a.unrated == 1.0
    assert "a rating factor" in faults_of({"ratings": {"a": {"unrated": 10_001}}})[0][1]


def test_a_kind_says_in_words_what_it_takes() -> None:
    assert ListKey(NumberKey(0, 1)).words == f"a list of at most {LIST_MAX} elements, each a number from 0 to 1"
    assert TableKey(NoteClass).words == f"a table of {', '.join(row.name for row in rows_of(NoteClass))}"
    mapped = MapKey("a name", str.upper, ChoiceKey(("x", "y")), 3)
    assert mapped.words == "a table of at most 3 keys, each a name, with one of x, y"
    assert mapped.write((("A", "x"),)) == {"A": "x"}


def test_unknown_keys_are_told_up_to_a_number() -> None:
    """Each wants a look at all known names: a stranger's document must not cost more."""
    faults = faults_of({"par_value": {f"key{at}": 1 for at in range(3 * FAULTS_MAX)}})
    assert len(faults) == FAULTS_MAX
    assert faults[0][0] == "par_value.key0"
