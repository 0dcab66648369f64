"""Ids of drafted tests.

The suites' and the market's where they measure the same, else what is measured.
"""

from __future__ import annotations

from typing import Any

from core.deals.draft.ids import id_of, unique
from core.definition import READY, parse
from core.definition.terms import SUITE_TESTS
from core.portfolio.model.facts import Fact, FactSubject
from tests.rows import every


def drafted_id(test: dict[str, Any], market: str = "euro", industries: str | None = "b", **subject: Any) -> str:
    fact = Fact(kind="test", label="x", subject=FactSubject(**{"measure": "x"} | subject), value=1.0, place="'T'!A1")
    return id_of(test, fact, market, industries)


@every("test, test_id", [
    ({"measure": "obligor", "nth": 1}, "single_obligor_concentration"),
    ({"measure": "obligor", "nth": 4}, "fourth_obligor_concentration"),
    ({"measure": "obligor", "nth": 11}, "number_11_obligor_concentration"),
    ({"measure": "top_obligors", "nth": 5}, "top_5_concentration"),
    ({"measure": "top_obligors", "nth": 10}, "top_10_concentration"),
    ({"measure": "top_obligors", "nth": 3}, "top_3_concentration"),
    ({"measure": "industry", "classification": "b", "nth": 1}, "industry_concentration"),
    ({"measure": "industry", "nth": 3}, "third_industry_concentration"),
    ({"measure": "industry", "classification": "c", "nth": 2}, "second_fitch_industry_concentration"),
    ({"measure": "industry", "classification": "a", "nth": 1}, "moodys_industry_concentration"),
    ({"measure": "ccc", "agency": "b"}, "sp_ccc_concentration"),
    ({"measure": "ccc", "agency": "a"}, "moodys_ccc_concentration"),
    ({"measure": "warf", "agency": "a"}, "average_rating_factor"),
    ({"measure": "warf", "agency": "c"}, "fitch_rating_factor"),
    ({"measure": "warf", "agency": "b"}, "sp_rating_factor"),
    ({"measure": "reinvestment_oc"}, "interest_diversion_ratio"),
    ({"measure": "event_of_default"}, "event_of_default"),
    ({"measure": "oc", "class": "A/B"}, "oc_class_ab"),
    ({"measure": "ic", "class": "D"}, "ic_class_d"),
    ({"share": "=is_bridge"}, "bridge_concentration"),
    ({"measure": "bridge"}, "bridge_concentration"),
    ({"measure": "pays_annually"}, "pays_annually_concentration"),
    ({"measure": "revolving", "adds": ["cash"]}, "revolving_concentration_with_cash"),
    ({"measure": "industry", "classification": "b", "nth": 5}, "fifth_industry_concentration"),
])  # fmt: skip
def test_ids(test: dict[str, Any], test_id: str) -> None:
    assert drafted_id(test) == test_id
    parse(
        {"tests": [{"id": test_id, "name": "x", **test}] if "ratio" not in test_id and "event" not in test_id else []}
    )


def test_a_share_is_called_by_its_words() -> None:
    assert drafted_id({"share": '=lien="first_lien"'}, measure="senior_secured", detail="loan & bond") == (
        "senior_secured_loan_bond_share"
    )


def test_ids_differ_by_number() -> None:
    taken: set[str] = set()
    assert [unique("was", taken), unique("was", taken), unique("was", taken)] == ["was", "was_2", "was_3"]
    assert len(unique("x" * 200, taken)) <= 64


@every("market", ["us_bsl", "euro"])
def test_the_ids_of_a_market_are_its_own(market: str) -> None:
    """Each test of the ready-made definition gets its id back, unless the suites measure the same under another."""
    for test in READY[market].tests:
        if test.measure in SUITE_TESTS.values():
            words = {"measure": test.measure} | ({"agency": test.agency} if test.agency else {})
            words |= {"nth": test.nth or 1} if test.measure in ("obligor", "industry", "top_obligors") else {}
            words |= {"classification": test.classification} if test.classification else {}
            assert drafted_id(words, market, None) == test.id
