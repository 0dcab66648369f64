"""A column without an agency stands in for the one that a deal's definition asks for by an agency."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.compliance.stand_ins import with_stand_ins
from core.definition import READY, parse
from core.portfolio import Portfolio
from tests.core.compliance.conftest import A, portfolio_of
from tests.rows import every

COLUMNS: dict[str, Any] = {
    "par_value": [60.0, 40.0], "industry": ["Software", "Media"], "recovery_rate": [50.0, 40.0],
    "rating_agency_a": [A["B2"], A["Caa2"]],
}  # fmt: skip


def loans(**more: Any) -> Portfolio:
    return portfolio_of(COLUMNS | more)


def asking(**test: Any) -> dict[str, Any]:
    return {"tests": [{"id": "one_test", "name": "One", "max": 90, **test}]}


@every("document, value", [
    (asking(measure="industry", classification="b") | {"classifications": {"industry": "b"}}, 60.0),
    (asking(measure="warr", agency="a"), 46.0),
    (asking(share='=industry_c="media"') | {"classifications": {"industry": "c"}}, 40.0),
    (asking(share="=facility_rank_a>=17"), 40.0),
    (asking(measure="ccc", agency="a") | {"ratings": {"a": {"columns": ["derived"]}}}, 40.0),
    (asking(measure="ccc", agency="a") | {"ratings": {"a": {"columns": ["issuer", "facility"]}}}, 40.0),
])  # fmt: skip
def test_the_only_column_is_taken_and_told(document: dict[str, Any], value: float) -> None:
    ran = run_suite(loans(), "deal", definition=parse(document))
    assert [item.reason for item in ran.skipped] == []
    assert ran[0].current_value == pytest.approx(value)
    assert [warning.code for warning in ran.warnings if warning.code == "column_stands_in"] == ["column_stands_in"]
    assert "ambiguous_column" in {doubt.code for doubt in ran[0].doubt}


@every("more, document", [
    ({"industry_a": ["Tech", "Print"]}, asking(measure="industry", classification="b")
     | {"classifications": {"industry": "b"}}),
    ({}, asking(measure="industry", classification="c") | {"classifications": {"industry": "b"}}),
    ({}, asking(measure="industry", classification="c")),
    ({"recovery_rate_b": [10.0, 20.0]}, asking(measure="warr", agency="a")),
    ({}, asking(measure="warr", agency="a") | {"ratings": {"recovery": ["b"]}}),
])  # fmt: skip
def test_a_column_of_another_agency_or_of_two_is_nobodys(more: dict[str, Any], document: dict[str, Any]) -> None:
    ran = run_suite(loans(**more), "deal", definition=parse(document))
    assert [item.test_id for item in ran.skipped] == ["one_test"]
    assert not [row for row in ran if row.test_id == "one_test"]


def test_a_file_that_tells_kinds_of_ratings_apart_has_no_stand_in() -> None:
    rules = parse(asking(measure="ccc", agency="a") | {"ratings": {"a": {"columns": ["issuer"]}}})
    assert with_stand_ins(loans(rating_agency_a_derived=[A["B2"], A["B2"]]), rules).notes.warnings == []


def test_a_markets_standard_asks_for_nothing() -> None:
    portfolio = loans()
    assert with_stand_ins(portfolio, READY["euro"]) is portfolio
    assert with_stand_ins(portfolio, parse({"base": "euro"})) is portfolio


def test_a_second_run_tells_it_once() -> None:
    rules = parse({"classifications": {"industry": "b"}})
    once = with_stand_ins(loans(), rules)
    assert with_stand_ins(once, rules) is once
    assert len(replace(once).notes.warnings) == 1
