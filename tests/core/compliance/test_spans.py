"""How much par a figure misses, and between which values it lies, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from core.compliance.measures import ccc_bucket
from core.compliance.pool_sums import Measurement, Pool
from core.compliance.spans import Case, MissingPar, is_covered, missing, span
from core.portfolio.model.ratings import RECOVERY
from tests.core.compliance.conftest import A, portfolio_of
from tests.rows import every


def case(value: float = 50.0, coverage: float | None = None, agency: str | None = None, **columns: Any) -> Case:
    """Return a figure of these columns, over all their par."""
    pool = Pool(portfolio_of({"par_value": [60.0, 40.0], **columns}))
    return Case(pool, Measurement(value, value, 100.0, coverage), agency)


@every(
    "coverage, pct", [(None, None), (100.0, None), (100.0 - 1e-7, None), (99.5, 0.5), (99.99999, 1e-5), (40.0, 60.0)]
)
def test_par_that_a_figure_misses(coverage: float | None, pct: float | None) -> None:
    """But for the rounding of sums."""
    lacks = missing("average_price", case(coverage=coverage))
    assert lacks == ([] if pct is None else [MissingPar("price", "no price", pytest.approx(pct))])
    assert is_covered(Measurement(50.0, 50.0, 100.0, coverage)) == (pct is None)
    assert (span("average_price", case(coverage=coverage)) is None) == (pct is None)


def test_what_is_missing_of_a_share_may_all_belong_to_it() -> None:
    assert span("obligor", case(30.0, 90.0)) == (30.0, pytest.approx(40.0))
    assert span("senior_secured", case(30.0, lien_type=[1, 0])) == (pytest.approx(-10.0), 30.0)
    assert span("non_senior_secured", case(30.0, lien_type=[1, 0])) == (30.0, pytest.approx(70.0))


def test_an_average_lies_between_what_the_missing_part_may_be() -> None:
    """A tenth is missing of prices that average 80: from 72 to 82."""
    assert span("average_price", case(80.0, 90.0)) == (pytest.approx(72.0), pytest.approx(82.0))
    assert span("diversity", case(80.0, 90.0)) == (pytest.approx(72.0), pytest.approx(80 / 0.9))


def test_recovery_rates_that_are_assumed_lie_within_their_table() -> None:
    """40 of 100 is assumed by the kind of loan.

    Rates of a named agency may be anything.
    """
    assumed = case(45.0, 60.0, recovery_rate=[45.0, None])
    low, high = RECOVERY.min(), RECOVERY.max()
    assert span("warr", assumed) == (pytest.approx(27.0 + 0.4 * low), pytest.approx(27.0 + 0.4 * high))
    for named in (
        case(45.0, 60.0, "a", recovery_rate=[45.0, None]),
        case(45.0, 60.0, recovery_rate_b=[45.0, None]),
        case(45.0, 60.0, recovery_rate_c=[45.0, None]),
    ):
        assert span("warr", named) == (pytest.approx(27.0), pytest.approx(67.0))


def test_the_ccc_bucket_without_what_nobody_rates() -> None:
    """30 of 80 are CCC, and 10 more count as such because nobody rates them."""
    pool = Pool(portfolio_of({"par_value": [40.0, 30.0, 10.0], "rating_agency_a": [A["B2"], A["Caa1"], 0]}))
    measured = ccc_bucket(pool)
    assert measured.value == pytest.approx(50.0)
    assert span("ccc", Case(pool, measured)) == (pytest.approx(37.5), pytest.approx(50.0))
    assert span("ccc", Case(pool, measured), with_ratings=False) is None
    assert missing("ccc", Case(pool, measured)) == [
        MissingPar("ratings", "no rating of any agency", pytest.approx(12.5))
    ]
    assert missing("ccc", Case(pool, measured, "a")) == []
