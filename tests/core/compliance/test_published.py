"""Published limits.

Taken where name, class, agency, unit and side are certain, and told where figures differ.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.compliance.result import Threshold
from core.compliance.run import run_suite
from core.definition import READY, parse
from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.rows import every

REPORT = Path(__file__).parents[4] / "shared" / "data" / "cairn-xvii" / "report-2024-12-16.xlsx"


def printed(
    name: str,
    trigger: float | None,
    unit: Any = "percent",
    value: float | None = None,
    status: Any = None,
    *,
    place: str = "'Tests'!B2",
    **words: Any,
) -> Fact:
    """A figure of the page of tests; `said` is its subject."""
    subject = FactSubject(**words) if words else None
    return Fact(
        kind="test", label=name, subject=subject, value=value, trigger=trigger, unit=unit, status=status, place=place
    )


def book(*published: Fact, **columns: Any) -> Portfolio:
    flags: dict[str, Any] = {
        "cov_lite": [0] * 13,
        "lien_type": [1] * 13,
        "country": ["US"] * 13,
        "maturity_date": [22_000.0] * 13,
    }
    if any(name.startswith("recovery_rate") for name in columns) and "recovery_rate" not in columns:
        flags["recovery_rate"] = None
    by_name = {name: values for name, values in (g1_columns() | flags | columns).items() if values is not None}
    return portfolio_of(
        by_name,
        tranches=tranches_of(G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc={"B": 121.5, "E": 104.2}, ic={"D": 110.0}),
        deal=Deal(principal_cash=5e6, base_rate=4.30, as_of=20_544.0),
        facts=Facts(all=published),
    )


def limit(portfolio: Portfolio, test_id: str, **options: Any) -> tuple[float, str | None]:
    result = run_suite(portfolio, "enhanced", test_ids=[test_id], **options)[0]
    return result.threshold_value, result.threshold_source


LITE, LIFE, SPREAD = {"measure": "cov_lite"}, {"measure": "wal"}, {"measure": "was"}
SURE = [
    ("Cov-Lite Loans", LITE, 55.0, "percent", "cov_lite_concentration"),
    ("Cov-Lite Loans", LITE, 55.0, None, "cov_lite_concentration"),
    ("Maximum Obligor Concentration", {"measure": "obligor"}, 2.0, None, "single_obligor_concentration"),
    ("Second Largest Industry", {"measure": "industry", "rank": 2}, 11.0, "percent", "second_industry_concentration"),
    ("Not Senior Secured", {"measure": "non_senior"}, 8.0, "percent", "non_senior_secured_concentration"),
    ("Weighted Average Life Test", LIFE, 7.27, "years", "wal"),
    ("Weighted Average Life Test", LIFE, 0.75, "years", "wal"),
    ("Minimum Weighted Average Spread Test", SPREAD, 4.03, "percent", "was"),
    ("Moody's Rating Factor", {"measure": "warf", "agency": "a"}, 2900.0, "factor", "average_rating_factor"),
    ("Weighted Average Rating Factor", {"measure": "warf"}, 2900.0, "factor", "average_rating_factor"),
    ("Moody's Recovery", {"measure": "warr", "agency": "a"}, 44.5, "percent", "weighted_average_recovery_rate"),
    ("Moody's Diversity Test", {"measure": "diversity", "agency": "a"}, 9.0, "factor", "diversity_score"),
    ("Outside the United States", {"measure": "foreign"}, 15.0, "percent", "foreign_country_concentration"),
    ("CCC Obligations", {"measure": "ccc"}, 12.0, "percent", "ccc_bucket_pct"),
]


@every("name, sentence, trigger, unit, test_id", SURE)
def test_a_limit_is_the_sheets_where_it_is_certain(
    name: str, sentence: dict[str, Any], trigger: float, unit: Any, test_id: str
) -> None:
    """After the definition's own, before a market's and the tenant's.

    And only that test's.
    """
    loans = book(printed(name, trigger, unit, **sentence), recovery_rate_a=[45.0] * 13)
    plain = {
        item.test_id: (item.threshold_value, item.threshold_source)
        for item in run_suite(replace(loans, facts=Facts()), "enhanced")
    }
    ran = run_suite(loans, "enhanced")
    by_test_id = {item.test_id: (item.threshold_value, item.threshold_source) for item in ran}
    assert by_test_id == plain | {test_id: (trigger, "sheet")}
    (breakdown,) = [item.details.breakdown for item in ran if item.test_id == test_id and item.details is not None]
    assert breakdown["threshold_from"] == f"{name}, 'Tests'!B2"
    tenant = {test_id: Threshold(test_id=test_id, threshold_value=trigger + 1)}
    assert limit(loans, test_id, tenant_thresholds=tenant) == (trigger, "sheet")
    assert limit(loans, test_id, request_thresholds=tenant) == (trigger + 1, "request")
    off = {test_id: Threshold(test_id=test_id, threshold_value=1.0, enabled=False)}
    assert (
        run_suite(loans, "enhanced", test_ids=[test_id], tenant_thresholds=off).skipped[0].reason.startswith("disabled")
    )


@every(
    "name, sentence, trigger, unit, value, status",
    [
        ("Cov-Lite Loans", LITE, 0.55, None, None, None),  # a fraction
        ("Cov-Lite Loans", LITE, 55.0, "years", None, None),
        ("Weighted Average Life Test", LIFE, 0.5, "years", None, None),
        ("Weighted Average Life Test", LIFE, 20.5, "years", None, None),
        ("Minimum Cov-Lite Loans", LITE, 55.0, "percent", None, None),  # the other side
        ("Cov-Lite Loans", LITE, 55.0, "percent", 40.0, "fail"),  # the other side, by its own status
        ("Cov-Lite Loans", LITE, None, "percent", 40.0, None),
        ("Minimum Weighted Average Spread Test", SPREAD, 403.0, "percent", None, None),  # basis points
        ("Maximum Weighted Average Spread Test", SPREAD, 4.03, "percent", None, None),
        ("Fitch Rating Factor", {"measure": "warf", "agency": "c"}, 26.0, "factor", None, None),
        ("Maximum WA Rating Factor Test", {"measure": "warf"}, 26.0, "factor", None, None),  # Fitch's by its size
        ("S&P Rating Factor", {"measure": "warf", "agency": "b"}, 2800.0, "factor", None, None),
        ("Fitch Recovery Rate", {"measure": "warr", "agency": "c"}, 60.5, "percent", None, None),
        ("S&P CCC", {"measure": "ccc", "agency": "b"}, 7.0, "percent", None, None),  # another agency's counts, too
        ("Defaulted Obligations", {"measure": "defaulted"}, 2.5, "percent", None, None),
        ("Outside Europe", {"measure": "foreign"}, 15.0, "percent", None, None),  # another home
        ("Obligors Domiciled in Canada", {"measure": "country"}, 12.5, "percent", None, None),
        ("Obligor Concentration", {"measure": "obligor"}, 12.5, "percent", None, None),  # several, who knows how many
        ("Largest Obligor", {"measure": "obligor", "rank": 1, "subset": "non_senior"}, 2.0, "percent", None, None),
        ("Largest Industries", {"measure": "industry", "aggregate": 3}, 40.0, "percent", None, None),
    ],
)
def test_a_limit_that_may_be_anothers_is_left(
    name: str, sentence: dict[str, Any], trigger: float | None, unit: Any, value: float | None, status: Any
) -> None:
    loans = book(printed(name, trigger, unit, value, status, **sentence), recovery_rate_a=[45.0] * 13)
    plain, answer = run_suite(replace(loans, facts=Facts()), "enhanced"), run_suite(loans, "enhanced")
    assert [(item.test_id, item.threshold_value) for item in answer] == [
        (item.test_id, item.threshold_value) for item in plain
    ]


def test_a_limit_of_a_guessed_column_is_left() -> None:
    sure = printed("Cov-Lite Loans", 55.0, **LITE)
    assert limit(book(sure), "cov_lite_concentration") == (55.0, "sheet")
    assert limit(book(replace(sure, is_guessed=True)), "cov_lite_concentration") == (60.0, "suite")


def test_of_two_limits_neither_is_taken_and_of_every_agencys_bucket_the_one() -> None:
    two = book(printed("Cov-Lite Loans", 55.0, **LITE), printed("Covenant Lite Obligations", 50.0, **LITE))
    assert limit(two, "cov_lite_concentration") == (60.0, "suite")
    both = tuple(printed(f"{agency} CCC", 7.0, measure="ccc", agency=agency) for agency in ("b", "a"))
    assert limit(book(*both), "ccc_bucket_pct") == (7.0, "sheet")
    assert limit(book(both[0], replace(both[1], trigger=7.5)), "ccc_bucket_pct") == (7.5, "suite")


def test_a_definition_comes_first_and_a_markets_after() -> None:
    test = {"id": "loose", "name": "Loose terms", "measure": "cov_lite", "max": 40.0, "aliases": ["Clause (xiv)"]}
    for name, words in (("Cov-Lite Loans", LITE), ("Clause (XIV)", {})):
        loans = book(printed(name, 55.0, **words))
        for standard, expected in ((False, (40.0, "definition")), (True, (55.0, "sheet"))):
            definition = parse({"tests": [test], "standard": standard})
            ran = {item.test_id: item for item in run_suite(loans, "deal", definition=definition)}
            assert (ran["loose"].threshold_value, ran["loose"].threshold_source) == expected
    lite = book(printed("Cov-Lite Loans", 55.0, **LITE))
    assert limit(lite, "cov_lite_concentration", definition=READY["us_bsl"]) == (55.0, "sheet")


def test_other_figures_are_told_those_with_another_status_first() -> None:
    own = run_suite(book(), test_ids=["wal"])[0].current_value
    loans = book(
        printed("Weighted Average Life Test", 7.0, "years", round(own, 2), "pass", measure="wal"),
        printed("Class E Par Value Test", 104.2, "percent", 107.0, "pass", measure="oc", classes=("E",)),
        printed("Weighted Average Spread", 4.2, "percent", 4.25, "pass", measure="was"),
    )
    (answer,) = [warning for warning in run_suite(loans).warnings if warning.code == "published_differs"]
    assert answer.message == (
        "the file publishes other figures: Weighted average spread 4.25, here 3.99 (fail here, pass there); "
        "Junior overcollateralisation 107, here 106.75"
    )
    assert answer.rows == 2


RATES = {
    "recovery_rate": [40.0] * 13, "recovery_rate_b": [40.0] * 13, "recovery_rate_c": [*[60.0] * 12, None]
}  # fmt: skip
WARR = "weighted_average_recovery_rate"


@every(
    "columns, published, document, expected",
    [
        ({"recovery_rate": [50.0] * 13}, (), {}, (50.0, 43.0, "suite")),  # nothing says whose
        ({"recovery_rate": [50.0] * 13, "recovery_rate_a": [45.0] * 13}, (), {}, (45.0, 43.0, "suite")),
        (RATES | {"recovery_rate_a": [45.0] * 13}, (), {}, (45.0, 43.0, "suite")),
        (RATES, (), {}, "S&P's and the limit of 43 is for those of Moody's"),
        ({"recovery_rate_a": [45.0] * 13}, (), {}, (45.0, 43.0, "suite")),
        ({"recovery_rate_c": [60.0] * 13}, (), {}, "Fitch's and the limit of 43"),
        (RATES, (), {"ratings": {"recovery": ["c"]}}, "Fitch's and the limit of 43"),
        (RATES, (printed("Fitch Recovery Rate", 60.5, measure="warr", agency="c"),), {}, (60.0, 60.5, "sheet")),
        (RATES, (printed("S&P Recovery Rate", 39.0, measure="warr", agency="b"),), {}, (40.0, 39.0, "sheet")),
        (RATES, (printed("Weighted Average Recovery Rate", 43.0, measure="warr"),), {}, "S&P's and the limit of 43"),
        (RATES, (), {"tests": [{"id": WARR, "name": "R", "measure": "warr", "agency": "a", "min": 45}]}, "of 45 is"),
    ],
)  # fmt: skip
def test_recovery_rates_are_held_to_a_limit_of_their_own_agency(
    columns: dict[str, Any], published: tuple[Fact, ...], document: dict[str, Any], expected: Any
) -> None:
    definition = parse(document) if document else None
    ran = run_suite(book(*published, **columns), test_ids=[WARR], definition=definition)
    if isinstance(expected, str):
        assert list(ran) == []
        assert expected in ran.skipped[0].reason
    else:
        value, trigger, source = expected
        assert (ran[0].current_value, ran[0].threshold_value, ran[0].threshold_source) == (value, trigger, source)
    own = {WARR: Threshold(test_id=WARR, threshold_value=35.0)}
    chosen = run_suite(book(*published, **columns), test_ids=[WARR], definition=definition, workbook_thresholds=own)
    assert (chosen[0].threshold_value, chosen[0].threshold_source) == (35.0, "workbook")
    assert ("recovery_agency" in {warning.code for warning in chosen.warnings}) == (
        chosen[0].details is not None and "agency" in chosen[0].details.breakdown and not document.get("ratings")
    )


@pytest.mark.skipif(not REPORT.exists(), reason="the real report is not here")
def test_a_real_report_is_held_to_its_own_limits() -> None:
    ran = run_suite(Portfolio.from_workbook(read(REPORT)), "enhanced")
    taken = {item.test_id: item.threshold_value for item in ran if item.threshold_source == "sheet"}
    assert taken == {
        "weighted_average_recovery_rate": 60.5, "oc_ratio": 103.9, "oc_ratio_senior": 130.08, "ic_ratio": 105.0,
        "ic_ratio_senior": 120.0, "wal": 7.27, "was": 4.03, "interest_diversion_ratio": 104.4,
    }  # fmt: skip
    (answer,) = [warning.message for warning in ran.warnings if warning.code == "published_differs"]
    assert "spread 4.07, here 3.97 (fail here, pass there)" in answer
