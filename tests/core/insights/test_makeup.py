"""What a few loans consist of, worked out by hand.

Names, ratings, kinds, spreads, maturities.
"""

from __future__ import annotations

import pytest

from tests.core.compliance.conftest import A
from tests.core.insights.small import AS_OF, figures_of, insights_of, small

YEAR = 365.0


def test_the_largest_ten_obligors() -> None:
    names = [f"Borrower {at}" for at in range(11)]
    insight = insights_of(small({"par_value": [20.0] + [8.0] * 10, "obligor": names}))["obligors"]
    figures = figures_of(insight)
    assert figures["top"] == pytest.approx(92.0)
    assert figures["even"] == pytest.approx(10 / 11 * 100)
    assert insight.priority == 3
    assert "obligors" not in insights_of(small({"par_value": [10.0] * 10, "obligor": names[:10]}))
    assert "obligors" not in insights_of(small({"par_value": [10.0] * 11}))


def test_the_largest_industries() -> None:
    columns = {"par_value": [50.0, 30.0, 20.0], "industry": ["Media", "Retail", "Media"]}
    insight = insights_of(small(columns))["groups:industry"]
    assert insight.title == "Media is the largest industry with 70.00 %"
    assert figures_of(insight)["loans of Media"] == 2
    assert figures_of(insight)["top"] == pytest.approx(100.0)
    assert "groups:country" not in insights_of(small(columns))
    assert "groups:industry" not in insights_of(small(columns | {"industry": ["Media"] * 3}))


def test_where_the_ratings_stand() -> None:
    columns = {"par_value": [50.0, 30.0, 15.0, 5.0], "rating_agency_a": [A["B2"], A["B3"], A["Caa1"], 0]}
    insight = insights_of(small(columns))["ratings"]
    figures = figures_of(insight)
    assert figures["share one notch above CCC"] == pytest.approx(30.0)
    assert figures["share rated better"] == pytest.approx(50.0)
    assert figures["share rated CCC or lower"] == pytest.approx(15.0)
    assert figures["share without a rating"] == pytest.approx(5.0)
    assert "5.00 % has no rating." in insight.summary
    assert "has no rating" not in insights_of(small(columns | {"rating_agency_a": [A["B2"]] * 4}))["ratings"].summary


def test_the_rating_factor_is_told_where_the_suite_has_it() -> None:
    columns = {"par_value": [50.0, 50.0], "rating_agency_a": [A["B2"], A["B3"]]}
    warf = {"id": "warf", "name": "Rating factor", "measure": "warf", "max": 3500}
    wal = {"id": "life", "name": "Life", "measure": "wal", "max": 7}
    # B2 is 2720 and B3 3490.
    assert "Rating factor is 3,105." in insights_of(small(columns, tests=[warf]))["ratings"].summary
    assert "factor" not in insights_of(small(columns, tests=[wal]))["ratings"].summary


def test_loans_of_special_kinds() -> None:
    columns = {"par_value": [50.0, 30.0, 20.0], "cov_lite": [0, 1, 0], "is_fixed": [1, 0, 1]}
    insight = insights_of(small(columns))["kinds"]
    assert insight.summary.startswith("Of performing par: fixed-rate 70.00 %, covenant-lite 30.00 %.")
    assert "kinds" not in insights_of(small(columns | {"cov_lite": [0] * 3, "is_fixed": [0] * 3}))


def test_loans_that_pay_less_than_the_others() -> None:
    """380 on average: the line is 300, three quarters below it and down to the next 25."""
    columns = {"par_value": [60.0, 20.0, 20.0, 40.0], "spread": [450.0, 299.0, 250.0, 0.0], "is_fixed": [0, 0, 0, 1]}
    was = {"id": "spread", "name": "Spread", "measure": "was", "min": 3.5}
    insight = insights_of(small(columns, tests=[was]))["low_spread"]
    figures = figures_of(insight)
    assert figures["average spread"] == pytest.approx(379.8)
    assert figures["line"] == 300.0
    assert (figures["count"], figures["par"]) == (2, 40.0)
    assert figures["their average spread"] == pytest.approx(274.5)
    assert [loan.row for loan in insight.loans] == [2, 1]
    assert "against a minimum of 3.50 %" in insight.summary
    bare = insights_of(small(columns, tests=[{"id": "life", "name": "Life", "measure": "wal", "max": 7}]))
    assert "minimum" not in bare["low_spread"].summary
    even = insights_of(small(columns | {"spread": [400.0] * 4}, tests=[was]))
    assert "low_spread" not in even


def test_loans_that_may_be_refinanced() -> None:
    columns = {"par_value": [50.0, 30.0, 20.0], "price": [100.0, 99.99, 101.0]}
    insight = insights_of(small(columns))["above_par"]
    assert (figures_of(insight)["count"], figures_of(insight)["par"]) == (2, 70.0)
    assert "refinancing would lower" not in insight.summary
    paid = insights_of(small(columns | {"spread": [300.0, 500.0, 650.0], "is_fixed": [0] * 3}))["above_par"]
    assert "They pay 400 bps on average, which a refinancing would lower." in paid.summary
    fixed = insights_of(small(columns | {"spread": [300.0, 500.0, 650.0], "is_fixed": [1, 0, 1]}))["above_par"]
    assert "refinancing would lower" not in fixed.summary
    assert "above_par" not in insights_of(small(columns | {"price": [99.0] * 3}))


def test_when_loans_mature() -> None:
    """The first of 2026 is the day of the file; 90 days on, in 2028 and 2029."""
    columns = {
        "par_value": [10.0, 60.0, 30.0], "price": [85.0, 99.0, 99.0],
        "maturity_date": [AS_OF + 90, AS_OF + 3 * YEAR, AS_OF + 4 * YEAR],
    }  # fmt: skip
    insights = insights_of(small(columns, stated_maturity=AS_OF + 3.5 * YEAR))
    assert insights["wall"].title == "60.00 % of performing par matures in 2028"
    assert "1 loan with 10 matures within 365 days" in insights["soon"].title
    assert (
        "1 loan of them with 10 is priced below 90.00 % of par, where refinancing is in doubt."
        in insights["soon"].summary
    )
    assert figures_of(insights["late"])["par"] == 30.0
    assert "1 loan with 30 matures after the notes" in insights["late"].title
    solid = insights_of(small(columns | {"price": [90.0, 99.0, 99.0]}))
    assert "in doubt" not in solid["soon"].summary
    assert "late" not in solid
    bare = insights_of(small({name: column for name, column in columns.items() if name != "price"}))
    assert "in doubt" not in bare["soon"].summary
    assert figures_of(bare["soon"])["share"] == pytest.approx(10.0)


def test_blank_maturities_say_nothing() -> None:
    insights = insights_of(small({"par_value": [60.0, 40.0], "maturity_date": [None, None]}, stated_maturity=AS_OF))
    assert insights.keys().isdisjoint({"wall", "soon", "late"})
    early = insights_of(small({"par_value": [1.0], "maturity_date": [AS_OF + 900]}, stated_maturity=AS_OF + 900))
    assert "late" not in early
    assert "soon" not in early
    assert "wall" in early


@pytest.mark.parametrize(
    ("end", "title", "priority"),
    [
        (-1.0, "The reinvestment period ended on 31 December 2025", 4),
        (0.0, "The reinvestment period lasts until 1 January 2026", 3),
        (364.0, "The reinvestment period lasts until 31 December 2026", 3),
        (365.0, "The reinvestment period lasts until 1 January 2027", 5),
    ],
)
def test_how_long_the_reinvestment_period_lasts(end: float, title: str, priority: int) -> None:
    columns = {"par_value": [60.0], "maturity_date": [AS_OF + 900]}
    insight = insights_of(small(columns, reinvestment_end=AS_OF + end))["reinvestment"]
    assert (insight.title, insight.priority) == (title, priority)
    assert figures_of(insight)["days"] == abs(end)
    assert "reinvestment" not in insights_of(small(columns))


def test_short_positions_take_part_in_no_average() -> None:
    """Where par comes to nothing there are no shares, and no averages by it."""
    columns = {"par_value": [60.0, -60.0], "price": [99.0, 98.0], "spread": [400.0, 500.0]}
    assert insights_of(small(columns)).keys().isdisjoint({"ratings", "low_spread", "above_par", "kinds"})
