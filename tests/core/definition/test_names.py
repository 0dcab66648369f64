"""What the subjects of printed figures mean.

The fields of a definition's test, or why no test of ours measures it.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.definition import parse
from core.definition.names import NoMeaning, SubjectMeaning, meaning_of
from core.portfolio.model.facts import Direction, FactSubject
from tests.rows import every

PLAIN = {
    "was": "was", "wac": "wac", "wal": "wal", "diversity": "diversity", "ccc": "ccc", "cov_lite": "cov_lite",
    "fixed": "fixed_rate", "non_senior": "non_senior_secured", "foreign": "foreign_country",
    "small": "small_facilities", "reinvestment": "reinvestment_oc", "eod": "event_of_default", "sdr": "sdr",
    "default_rate_dispersion": "default_rate_dispersion", "obligor_diversity": "obligor_diversity",
    "industry_diversity": "industry_diversity", "regional_diversity": "regional_diversity",
    "floating": "floating_rate", "dip": "dip", "current_pay": "current_pay", "discount": "discount", "bridge": "bridge",
    "participation": "participations", "pik": "pik", "unfunded": "revolving", "long_dated": "long_dated",
    "bond": "bonds", "infrequent": "pays_less_than_quarterly", "senior_secured": "senior_secured",
}  # fmt: skip

MEANT: list[tuple[dict[str, Any], float | None, dict[str, Any]]] = [
    *(({"measure": role}, None, {"measure": measure}) for role, measure in PLAIN.items()),
    ({"measure": "oc", "classes": ("A", "B")}, 130.08, {"measure": "oc", "class": "A/B"}),
    ({"measure": "oc", "classes": ("A1", "A2", "B")}, None, {"measure": "oc", "class": "A/B"}),
    ({"measure": "ic", "classes": ("F",)}, None, {"measure": "ic", "class": "F"}),
    ({"measure": "warf", "agency": "c"}, 26.0, {"measure": "warf", "agency": "c"}),
    ({"measure": "warf"}, 2900.0, {"measure": "warf"}),
    ({"measure": "warr", "agency": "b", "classes": ("A",)}, None, {"measure": "warr", "agency": "b"}),
    ({"measure": "diversity", "agency": "a"}, 55.0, {"measure": "diversity"}),
    ({"measure": "ccc", "agency": "b"}, 7.5, {"measure": "ccc", "agency": "b"}),
    ({"measure": "industry", "agency": "b", "rank": 2}, 15.0, {"measure": "industry", "classification": "b", "nth": 2}),
    ({"measure": "industry", "rank": 1}, 15.0, {"measure": "industry", "nth": 1}),
    ({"measure": "obligor", "rank": 4}, 2.5, {"measure": "obligor", "nth": 4}),
    ({"measure": "obligor"}, 2.5, {"measure": "obligor", "nth": 1}),
    ({"measure": "obligor"}, 4.0, {"measure": "obligor", "nth": 1}),
    ({"measure": "obligor", "aggregate": 10}, 22.5, {"measure": "top_obligors", "nth": 10}),
    ({"measure": "obligor", "aggregate": 5}, None, {"measure": "top_obligors", "nth": 5}),
    ({"measure": "senior_secured", "with_cash": True}, 90.0, {"measure": "senior_secured", "adds": ["cash"]}),
    (
        {"measure": "senior_secured", "with_cash": True, "detail": "loan"},
        90.0,
        {"share": '=lien="first_lien"', "adds": ["cash"]},
    ),
    (
        {"measure": "obligor", "rank": 1, "subset": "non_senior"},
        1.5,
        {"measure": "obligor", "nth": 1, "among": "non_senior_secured"},
    ),
    (
        {"measure": "obligor", "aggregate": 5, "subset": "cov_lite"},
        9.0,
        {"measure": "top_obligors", "nth": 5, "among": "cov_lite"},
    ),
    ({"measure": "infrequent", "detail": "semi annual"}, 5.0, {"measure": "pays_semi_annually"}),
    ({"measure": "infrequent", "detail": "less than semi annual"}, 5.0, {"measure": "pays_annually"}),
    ({"measure": "infrequent", "detail": "annual"}, 5.0, {"measure": "pays_annually"}),
    ({"measure": "senior_secured", "detail": "loan"}, 70.0, {"share": '=lien="first_lien"'}),
    ({"measure": "non_senior", "is_complement": True}, 10.0, {"measure": "non_senior_secured"}),
    ({"measure": "foreign", "is_complement": True}, 20.0, {"measure": "foreign_country"}),
    ({"measure": "country", "is_complement": True}, 20.0, {"measure": "foreign_country"}),
    ({"measure": "country", "rank": 1}, 10.0, {"measure": "country", "nth": 1}),
    ({"measure": "wal", "agency": "b"}, None, {"measure": "cdo_monitor_wal"}),
    ({"measure": "cdo_monitor", "agency": "b"}, 67.8, {"measure": "sdr"}),
    ({"measure": "defaulted"}, 5.0, {"value": "=defaulted_par/denominator*100"}),
]

NOT_MEANT: list[tuple[dict[str, Any], float | None, str, dict[str, Any]]] = [
    ({"measure": "obligor"}, 22.5, "how many", {"measure": "top_obligors", "nth": 10}),
    ({"measure": "obligor", "aggregate": 0}, 20.0, "how many", {"measure": "top_obligors", "nth": 10}),
    ({"measure": "obligor"}, None, "one obligor or several", {"measure": "obligor", "nth": 1}),
    ({"measure": "obligor", "rank": 1, "subset": "ccc"}, 2.5, "that are ccc", {"measure": "obligor", "nth": 1}),
    ({"measure": "non_senior", "with_cash": True}, 10.0, "includes cash", {"measure": "non_senior_secured"}),
    ({"measure": "infrequent", "detail": "less than annual"}, 5.0, "of another kind",
     {"measure": "pays_less_than_quarterly"}),
    ({"measure": "industry", "agency": "b", "aggregate": 3}, 40.0, "adds up 3", {"measure": "industry", "nth": 1}),
    ({"measure": "industry", "aggregate": 0}, 40.0, "adds up several", {"measure": "industry", "nth": 1}),
    ({"measure": "cov_lite", "rank": 1}, 30.0, "number 1 by size", {"measure": "cov_lite"}),
    ({"measure": "discount", "is_complement": True}, 30.0, "everything else", {"measure": "discount"}),
    ({"measure": "wal", "classes": ("A",)}, None, "class A", {"measure": "wal"}),
    ({"measure": "was", "agency": "b"}, None, "S&P's own", {"measure": "was"}),
    ({"measure": "diversity", "agency": "c"}, None, "Fitch's own", {"measure": "diversity"}),
    ({"measure": "was", "detail": "excl floors"}, None, "excl floors", {"measure": "was"}),
    ({"measure": "small", "detail": "indebtedness"}, 5.0, "indebtedness", {"measure": "small_facilities"}),
    ({"measure": "country"}, 20.0, "countries that the label chooses", {"measure": "foreign_country"}),
    ({"measure": "country", "agency": "b", "detail": "ceiling below aa-"}, 20.0,
     "that the label chooses", {"measure": "foreign_country"}),
    ({"measure": "country", "detail": "canada"}, 12.5, "that the label chooses", {"measure": "foreign_country"}),
    ({"measure": "oc"}, 120.0, "names no class", {}),
    ({"measure": "counterparty", "agency": "c"}, 20.0, "counterparties", {}),
    ({"measure": "price"}, 80.0, "which price", {}),
    ({"measure": "moon_phase"}, 5.0, "no test of ours measures it", {}),
]  # fmt: skip


@every("phrase, trigger, test", MEANT)
def test_a_subject_means(phrase: dict[str, Any], trigger: float | None, test: dict[str, Any]) -> None:
    meaning = meaning_of(FactSubject(**phrase), trigger)
    assert isinstance(meaning, SubjectMeaning)
    assert meaning.test == test


@every("phrase, trigger, why, nearest", NOT_MEANT)
def test_a_subject_that_no_test_measures(
    phrase: dict[str, Any], trigger: float | None, why: str, nearest: dict[str, Any]
) -> None:
    meaning = meaning_of(FactSubject(**phrase), trigger)
    assert isinstance(meaning, NoMeaning)
    assert why in meaning.why
    assert meaning.nearest == nearest


@every("phrase, trigger, test", [row for row in MEANT if row[2].get("measure") not in ("sdr", "bdr", "cdo_monitor")])
def test_what_is_meant_is_a_definitions_test(
    phrase: dict[str, Any], trigger: float | None, test: dict[str, Any]
) -> None:
    meaning = meaning_of(FactSubject(**phrase), trigger)
    assert isinstance(meaning, SubjectMeaning)
    document = {
        "reinvestment_oc": {"class": "E", "trigger": 104.0}, "event_of_default": {"class": "A", "trigger": 102.5},
        "tests": [{"id": "printed", "name": "Printed", **meaning.test, meaning.side: 10.0}],
    }  # fmt: skip
    assert parse(document).tests[0].id == "printed"


@every(
    "measure, printed, trigger, side, test",
    [
        ("was", None, 4.0, "min", "was"), ("was", "max", 4.0, "max", "was"), ("ccc", None, 7.5, "max", "ccc"),
        ("wal", None, 7.0, "max", "wal"), ("cdo_monitor", None, 67.8, "max", "sdr"),
        ("cdo_monitor", "max", 67.8, "max", "sdr"), ("cdo_monitor", "min", 60.2, "min", "bdr"),
        ("cdo_monitor", "min", 0.0, "min", "cdo_monitor"),
    ],
)  # fmt: skip
def test_the_side_is_the_pages_else_the_measures(
    measure: str, printed: Direction | None, trigger: float, side: str, test: str
) -> None:
    meaning = meaning_of(FactSubject(measure=measure), trigger, printed)
    assert isinstance(meaning, SubjectMeaning)
    assert (meaning.side, meaning.test["measure"]) == (side, test)


@pytest.mark.parametrize("agency", ["a", "b", "c"])
def test_no_agency_is_lost(agency: Any) -> None:
    """What takes no agency is either measured without it, or not at all."""
    for measure in ("cov_lite", "fixed", "obligor", "dip"):
        subject = FactSubject(measure=measure, agency=agency, rank=1 if measure == "obligor" else None)
        assert isinstance(meaning_of(subject, 2.0), NoMeaning)
