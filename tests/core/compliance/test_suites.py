"""The catalogue, written out a second time. Ids, order, types, limits, categories."""

from __future__ import annotations

from core.compliance.run import run_suite
from core.compliance.suites import CATALOGUE, SUITES, TESTS
from tests.core import naive
from tests.core.compliance.conftest import portfolio_of

LIMITS = """
single_obligor_concentration concentration max 2.5 2.25
top_5_concentration concentration max 12.5 11.25
industry_concentration concentration max 15 13.5
second_industry_concentration concentration max 12 10.8
non_senior_secured_concentration concentration max 10 9
cov_lite_concentration concentration max 60 54
ccc_bucket_pct rating max 7.5 6.75
average_rating_factor rating max 3000 2900
weighted_average_recovery_rate rating min 43 44
oc_ratio coverage min 104.20 105.20
oc_ratio_senior coverage min 121.60 122.60
ic_ratio coverage min 105 107
wal portfolio max 6 5.5
was portfolio min 3.25 3.40
diversity_score portfolio min 55 60
fixed_rate_concentration concentration max 5 4.5
foreign_country_concentration concentration max 20 18
ic_ratio_senior coverage min 120 125
delinquency_pct portfolio max 5 3
interest_diversion_ratio coverage min 104.70 105.70
price_below_80_pct liquidity max 7.5 5
price_below_90_pct liquidity max 15 12
weighted_average_price liquidity min 92 94
small_facility_concentration liquidity max 7 6
quoted_depth_pct liquidity min 80 85
"""


def test_the_catalogue() -> None:
    """Row by row."""
    written = [(test.test_id, test.category, test.threshold_type, test.limit, test.warning) for test in CATALOGUE]
    expected = [
        (test_id, category, direction, float(limit), float(warning))
        for test_id, category, direction, limit, warning in (line.split() for line in LIMITS.split("\n") if line)
    ]
    assert written == expected
    assert len(TESTS) == 25
    assert set(naive.MEASURES) == set(TESTS)


def test_the_suites() -> None:
    """Standard is the first fifteen; enhanced adds ten and a category."""
    standard, enhanced = SUITES["standard"], SUITES["enhanced"]
    assert (standard.test_count, enhanced.test_count) == (15, 25)
    assert enhanced.tests[:15] == standard.tests
    assert standard.categories == ["concentration", "rating", "coverage", "portfolio"]
    assert enhanced.categories == ["concentration", "rating", "coverage", "portfolio", "liquidity"]


def test_every_row_reads() -> None:
    """A name, a sentence, a formula for each.

    Every column is one that can be looked for.
    """
    ran = run_suite(portfolio_of({"par_value": [1.0]}), "enhanced")
    assert [skip.test_name for skip in ran.skipped] == [test.name for test in CATALOGUE]
    for test in CATALOGUE:
        assert test.description.endswith(".")
        assert test.source.endswith(".")
        assert test.formula
        assert test.columns[0] == "par_value"
