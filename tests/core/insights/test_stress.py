"""What a downgrade, a default or a purchase would do to a few loans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.insights.subject import Subject
from tests.core.compliance.conftest import A, tranches_of
from tests.core.insights.small import AS_OF, figures_of, insights_of, small

RATED = {"par_value": [60.0, 30.0, 10.0], "rating_agency_a": [A["B2"], A["B2"], A["B3"]]}
COUNT = {"id": "loan_count", "name": "Loan count", "value": "=loans"}


def test_without_ratings_nothing_is_said_of_them() -> None:
    insights = insights_of(small({"par_value": [60.0, 40.0], "price": [70.0, 85.0]}))
    assert insights.keys().isdisjoint({"ccc", "downgrade", "ahead_of_ratings", "ratings"})
    assert figures_of(insights["distressed"])["count"] == 1
    assert figures_of(insights["distressed"])["share"] == pytest.approx(60.0)


def test_where_nothing_is_rated_ccc_that_is_said() -> None:
    insight = insights_of(small(RATED))["ccc"]
    assert (insight.title, insight.priority) == ("No performing loan is rated CCC or lower", 5)
    assert "is {value}" not in insight.summary
    assert "against a limit of 7.50 %" in insight.summary
    assert figures_of(insight)["count"] == 0


def test_one_loan_of_ccc_is_told_in_the_singular() -> None:
    ranks = [A["B2"], A["B2"], A["Caa1"]]
    insight = insights_of(small(RATED | {"rating_agency_a": ranks}))["ccc"]
    assert "1 loan with 10 (10.00 % of the deal) is rated" in insight.summary
    assert "priced" not in insight.summary
    priced = insights_of(small(RATED | {"rating_agency_a": ranks, "price": [99.0, 98.0, 61.5]}))["ccc"]
    assert "They are priced at 61.50 % of par on average." in priced.summary
    blank = insights_of(small(RATED | {"rating_agency_a": ranks, "price": [99.0, 98.0, None]}))["ccc"]
    assert "priced" not in blank.summary


def test_a_suite_without_the_bucket_has_the_share_alone() -> None:
    wal = {"id": "was", "name": "Spread", "measure": "was", "min": 3}
    insights = insights_of(small(RATED | {"spread": [400.0, 400.0, 400.0]}, tests=[wal]))
    assert "bucket" not in insights["ccc"].summary
    assert "downgrade" not in insights  # no test of the suite would move
    assert "default" not in insights


def test_a_test_that_a_downgrade_leaves_without_a_figure_is_not_told() -> None:
    tests = [
        {"id": "ccc", "name": "CCC bucket", "measure": "ccc", "max": 7.5},
        {"id": "warf", "name": "Rating factor", "measure": "warf", "agency": "b", "max": 2900},
    ]
    insight = insights_of(small(RATED, tests=tests))["downgrade"]
    assert "CCC bucket would go from 0.00 % to 10.00 % (limit 7.50 %)" in insight.summary
    assert "Rating factor" not in insight.summary
    assert "would make the test CCC bucket fail" in insight.title
    assert (insight.priority, insight.tests) == (2, ["ccc"])
    assert "1 loan with 10 (10.00 % of the deal) stands one notch above CCC" in insight.summary


def test_more_tests_than_are_named_are_counted() -> None:
    tests = [{"id": f"ccc_{at}", "name": f"Bucket {at}", "measure": "ccc", "max": at} for at in (5, 6, 7, 8, 12)]
    insight = insights_of(small(RATED, tests=tests))["downgrade"]
    assert "the tests Bucket 5, Bucket 6, Bucket 7 and 1 other fail" in insight.title


@pytest.mark.parametrize(("limit", "broken"), [(119.0, False), (121.0, True)])
def test_the_largest_obligor_defaults(limit: float, broken: bool) -> None:
    """60 of par at the price of 50 leave 30: 100 / 50 falls to 70 / 50 of the notes."""
    columns = {"par_value": [60.0, 40.0], "obligor": ["Ash", "Oak"], "price": [50.0, 100.0],
               "recovery_rate": [80.0, 80.0]}  # fmt: skip
    oc = {"id": "oc_a", "name": "OC of A", "measure": "oc", "class": "A", "min": limit + 20}
    insight = insights_of(small(columns, tranches=tranches_of([("A", 50.0)]), tests=[oc]))["default"]
    figures = figures_of(insight)
    assert figures["OC of A, value"] == pytest.approx(200.0)
    assert figures["OC of A, value after default"] == pytest.approx(140.0)
    assert figures["move"] == pytest.approx(-60.0)
    assert ("It would fail the test OC of A." in insight.summary) == broken
    assert ("No test that passes now would fail." in insight.summary) == (not broken)
    assert insight.priority == (2 if broken else 4)


def test_one_defaulted_loan_and_what_it_is_carried_at() -> None:
    columns = {"par_value": [98.0, 2.0], "is_defaulted": [0, 1], "price": [100.0, 40.0], "recovery_rate": [70.0, 70.0]}
    insight = insights_of(small(columns))["defaults"]
    assert "1 loan with 2 of par, 2.00 % of all par, is in default" in insight.summary
    assert "carries" not in insight.summary
    oc = {"id": "oc_a", "name": "OC of A", "measure": "oc", "class": "A", "min": 120}
    carried = insights_of(small(columns, tranches=tranches_of([("A", 50.0)]), tests=[oc]))["defaults"]
    assert figures_of(carried)["rate"] == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("most", "title", "priority"),
    [
        (3, "No loans like the pool's average, spread over 20 new borrowers, can be bought without making the test "
            "Loan count fail", 2),
        (999, "No test stands against buying loans like the pool's average, spread over 20 new borrowers,", 5),
    ],
)  # fmt: skip
def test_room_for_a_purchase(most: int, title: str, priority: int) -> None:
    """Each new borrower is one loan more."""
    insight = insights_of(small(RATED, tests=[COUNT | {"max": most}]))["headroom:average"]
    assert (insight.title, insight.priority) == (title, priority)
    assert insight.tests == (["loan_count"] if most == 3 else [])
    assert "The search lets principal cash go below zero." in insight.summary


def test_room_ends_where_a_share_meets_its_limit() -> None:
    """Of 100 of par 10 are covenant-lite, and 8 percent of it must be.

    25 of other loans may be bought.
    """
    cov_lite = {"id": "cov_lite", "name": "Cov-lite", "share": "=cov_lite", "of": "par", "min": 8}
    columns = RATED | {"cov_lite": [0, 0, 1], "par_value": [60e6, 30e6, 10e6], "price": [99.0] * 3}
    subject = small(columns, tests=[cov_lite], principal_cash=50e6)
    insight = insights_of(subject)["headroom:average"]
    assert figures_of(insight)["par that can be bought"] == pytest.approx(25e6, abs=1_000)
    assert figures_of(insight)["part"] == pytest.approx(25.0, abs=0.01)
    assert "can be bought before the test Cov-lite fails (B2, price 99.00)." in insight.summary
    assert "Principal cash is 50.00m, and the search lets it go below zero." in insight.summary


def test_a_loan_like_the_average_needs_no_column() -> None:
    """Blank ratings, maturities or spreads leave the terms of the trade out."""
    bare = {"par_value": [60.0, 40.0]}
    blank = {"rating_agency_a": [0, 0], "maturity_date": [None, None], "spread": [None, None], "price": [None, None]}
    for columns in (bare, bare | blank):
        insight = insights_of(small(columns, tests=[COUNT | {"max": 99}]))["headroom:average"]
        assert "(price 100)" in insight.summary


def test_what_leans_on_an_obligor_needs_its_name() -> None:
    columns = {"par_value": [60.0, 40.0], "obligor": ["Ash", "Oak"], "price": [100.0, 100.0]}
    obligor = {"id": "obligor", "name": "Obligor", "measure": "obligor", "nth": 1, "max": 65}

    def leaning(names: list[str | None]) -> Subject:
        return small(columns | {"borrower_name": names}, tests=[obligor])

    assert "further loans to the largest obligor, Ash" in insights_of(leaning(["Ash", "Oak"]))["headroom:obligor"].title
    assert "headroom:obligor" not in insights_of(leaning([None, "Oak"]))


def test_without_par_or_tests_there_is_no_room() -> None:
    none = small({"par_value": [60.0, 40.0]}, tests=[])
    assert not [key for key in insights_of(none) if key.startswith("headroom")]
    short = replace(none, portfolio=small({"par_value": [-60.0, 40.0]}).portfolio)
    assert not [key for key in insights_of(short) if key.startswith("headroom")]


def test_a_market_ahead_of_the_agencies() -> None:
    """A price below 50 of a loan that is rated better is rather wrong than right."""
    columns = RATED | {"price": [89.0, 49.0, 90.0], "maturity_date": [AS_OF + 900] * 3}
    insight = insights_of(small(columns))["ahead_of_ratings"]
    assert figures_of(insight)["count"] == 1
    assert "1 loan with 60 (60.00 % of performing par)" in insight.summary
    assert "ahead_of_ratings" not in insights_of(small(columns | {"price": [95.0, 49.0, 90.0]}))
