"""Every measure: examples worked by hand, and the plain twin on random portfolios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from math import nan
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compliance.measures import DIVERSITY_SCORES
from core.compliance.pool_sums import Pool
from core.compliance.run import run_suite
from core.compliance.suites import TESTS
from core.definition import Definition, parse
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Amortization, Deal
from tests.core import naive
from tests.core.compliance.conftest import RANKS, A, names_of, portfolio_of, tranches_of
from tests.rows import every

Build = Callable[..., Portfolio]


def figure(portfolio: Portfolio, test_id: str) -> float:
    """A test's figure in full precision."""
    return TESTS[test_id].measure(Pool(portfolio)).value


def close(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-9)


def days(text: str) -> float:
    return float((date.fromisoformat(text) - date(1970, 1, 1)).days)


# The worked examples; each figure was computed by hand, or by a script that shares no code with this project.


def test_g1_adjusted_par_and_overcollateralisation(g1: Build) -> None:
    """CCC excess by lowest price, discount obligation, defaulted at the lesser of price and recovery; the ratios."""
    pool = Pool(g1())
    assert pool.cpa == 400e6
    assert pool.adjustments == {
        "collateral_principal_amount": 400e6,
        "principal_cash": 5e6,
        "ccc_excess": close(15e6),
        "ccc_haircut": close(6e6),
        "ccc_rows_without_price": 0,
        "discount_haircut": close(6.6e6),
        "deferring_haircut": 0.0,
        "defaulted_carried": close(2.25e6),
        "adjusted": close(389_650_000),
    }
    assert figure(g1(), "ccc_bucket_pct") == close(11.25)
    assert figure(g1(), "oc_ratio") == close(389.65 / 365 * 100)
    assert figure(g1(), "oc_ratio_senior") == close(389.65 / 300 * 100)
    assert figure(g1(), "interest_diversion_ratio") == close(389.65 / 365 * 100)
    ratios = {row["class"]: row["ratio"] for row in pool.classes("oc", {})}
    assert ratios == {"B": 129.883333, "C": 119.892308, "D": 112.291066, "E": 106.753425}
    junior = pool.classes("oc", {})[-1]
    assert (junior["cushion"], junior["status"], junior["cure_amount"]) == (2.553425, "pass", 0.0)


def test_g2_interest_coverage(g1: Build) -> None:
    """A quarter's interest less senior fees, over what is due down to each class."""
    pool = Pool(g1())
    assert pool.interest["available"] == close(7_990_000)
    assert figure(g1(), "ic_ratio_senior") == close(7_990_000 / 4_937_500 * 100)
    assert figure(g1(), "ic_ratio") == close(7_990_000 / 5_918_500 * 100)
    assert [row["ratio"] for row in pool.classes("ic", {})] == [161.822785, 147.621247, 135.000422]
    by_day = replace(g1(), deal=Deal(principal_cash=5e6, base_rate=4.30, payment_days=90.0))
    assert figure(by_day, "ic_ratio") == close(7_990_000 / 5_918_500 * 100)


def test_g3_rating_factor(g1: Build) -> None:
    """Performing par only; the defaulted loan and the cash are out."""
    assert figure(g1(), "average_rating_factor") == close(1_201_340_000_000 / 395_000_000)


def test_g4_spread_with_floor_credit(g1: Build) -> None:
    """A floor above the base rate earns its distance."""
    assert figure(g1(), "was") == close(3.99367088607595)
    assert figure(g1(base_rate=0.30), "was") == close(4.26075949367089)


def test_g4b_excess_coupon_counts_where_the_deal_has_a_reference() -> None:
    """Fixed-rate coupon above the reference lifts the spread of the floating loans."""
    columns = {
        "par_value": [60e6, 30e6, 10e6],
        "spread": [350, 450, None],
        "all_in_rate": [None, None, 8.5],
        "is_fixed": [0, 0, 1],
    }
    assert figure(portfolio_of(columns, deal=Deal(reference_coupon=7.0)), "was") == close(4.0)
    alone = portfolio_of(columns)
    assert figure(alone, "was") == close(3.83333333333333)
    assert TESTS["was"].measure(Pool(alone)).breakdown["excess_coupon_pct"] == 0.166667


def test_g5_average_life() -> None:
    """Actual days over 365.25.

    A matured loan has none left; a schedule counts payment by payment.
    """
    maturities = [days(text) for text in ("2030-03-31", "2031-09-30", "2028-12-31", "2026-03-01")]
    as_of = Deal(as_of=days("2026-03-31"))
    bullets = portfolio_of({"par_value": [10e6, 20e6, 5e6, 5e6], "maturity_date": maturities}, deal=as_of)
    assert figure(bullets, "wal") == close(163_778_234.08624232 / 40e6)
    assert TESTS["wal"].measure(Pool(bullets)).breakdown["past_maturity"] == 1

    payments = ["2026-06-30", "2026-09-30", "2026-12-31", "2027-03-31", "2029-03-31"]
    schedule = Amortization(
        row=np.zeros(5, np.int64),
        days=np.array([days(text) for text in payments]),
        amount=np.array([25e3] * 4 + [9.9e6]),
    )
    loan = {"par_value": [10e6], "maturity_date": [days("2029-03-31")]}
    assert figure(portfolio_of(loan, deal=as_of, amortization=schedule), "wal") == pytest.approx(2.97693361, abs=5e-9)
    assert figure(portfolio_of(loan, deal=as_of), "wal") == pytest.approx(3.00068446, abs=5e-9)
    rest = replace(schedule, row=schedule.row[:4], days=schedule.days[:4], amount=schedule.amount[:4])
    assert figure(portfolio_of(loan, deal=as_of, amortization=rest), "wal") == pytest.approx(2.97693361, abs=5e-9)


def test_g6_diversity(g1: Build) -> None:
    """The lower neighbour in the table, without interpolation."""
    obligors = [f"O{number}" for number in (1, 2, 3, 3, 4, 5, 6, 7, 8, 9)]
    industries = ["Tech"] * 4 + ["Health"] * 2 + ["Retail"] * 3 + ["Energy"]
    par = [4e6, 3e6, 3e6, 1e6, 2e6, 2e6, 1e6, 4e6, 5e6, 1.25e6]
    assert figure(
        portfolio_of({"par_value": par, "obligor": obligors, "industry": industries}), "diversity_score"
    ) == close(5.25)
    assert figure(g1(), "diversity_score") == close(10.3)
    anchors = {0.95: 1.0, 1.05: 1.05, 2.95: 2.0, 3.05: 2.0333, 5.95: 3.0, 9.95: 4.0, 10.05: 4.01, 19.95: 5.0}
    for units, score in anchors.items():
        assert DIVERSITY_SCORES[round((units + 0.05) * 10)] == close(score)


def test_g7_obligors_are_added_up() -> None:
    """Two lots of one obligor count together, and the warning band says so."""
    columns = {
        "par_value": [3.0e6, 1.6e6, 4e6, 3.5e6, 3e6, 2.5e6, 2e6],
        "obligor": ["ACME", "ACME", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA"],
    }
    portfolio = portfolio_of(columns, deal=Deal(principal_cash=200e6 - 19.6e6))
    largest, five = run_suite(portfolio, test_ids=["single_obligor_concentration", "top_5_concentration"])
    assert (largest.current_value, largest.cushion, largest.cushion_pct, largest.status) == (2.3, 0.2, 8.0, "warning")
    assert (five.current_value, five.cushion, five.cushion_pct, five.status) == (8.8, 3.7, 29.6, "pass")


def test_g11_one_row_one_category(g1: Build) -> None:
    """A discount obligation in the CCC excess is carried once, at the lower of the two values."""
    columns = {
        "par_value": [10e6, 1.0],
        "price": [60.0, 100.0],
        "purchase_price": [78.0, 100.0],
        "rating_agency_a": [A["Caa2"], A["B2"]],
    }
    # Cash of nearly minus the par leaves an allowance of next to nothing, so the whole loan is excess.
    portfolio = portfolio_of(columns, deal=Deal(principal_cash=-10e6 + 1))
    taken = portfolio.numbers["par_value"].sum() - 10e6 + 1 - Pool(portfolio).adjustments["adjusted"]
    allowance = 0.075 * 2
    assert 10e6 - taken == pytest.approx(10e6 * 0.60 + allowance * 0.18, abs=1e-6)


def test_g12_recovery_and_prices() -> None:
    """Exactly 80 and 90 are not below.

    A loan without a price is in neither part of the fraction.
    """
    recovery = portfolio_of({"par_value": [40e6, 40e6, 20e6], "recovery_rate": [45.0, 50.0, 35.0]})
    assert figure(recovery, "weighted_average_recovery_rate") == close(45.0)
    columns = {"par_value": [10e6, 10e6, 10e6, 5e6, 5e6, 10e6], "price": [99.0, 89.99, 90.0, 79.5, 80.0, None]}
    priced = portfolio_of(columns)
    assert figure(priced, "price_below_80_pct") == close(12.5)
    assert figure(priced, "price_below_90_pct") == close(50.0)
    assert figure(priced, "weighted_average_price") == close(89.685)
    assert TESTS["weighted_average_price"].measure(Pool(priced)).breakdown["priced_share"] == 80.0


def test_strict_inequalities() -> None:
    """Exactly 30 days is not past due.

    90 is defaulted; facilities of exactly the size are not small.
    """
    late = portfolio_of({"par_value": [1e6] * 4, "days_past_due": [30, 30.5, 89, 90]})
    assert figure(late, "delinquency_pct") == close(75.0)
    assert Pool(late).par == 3e6
    columns = {
        "par_value": [1e6] * 4,
        "facility_size": [150e6, 149e6, 200e6, 250e6],
        "country": ["US", "US", "Canada", "Canada"],
    }
    assert figure(portfolio_of(columns), "small_facility_concentration") == close(50.0)


# Rules of section 1.4 that no worked example shows.


def test_what_is_defaulted() -> None:
    """Each sign of default takes the loan out of performing par.

    Ca alone does not, and current pay does not.
    """
    columns = {
        "par_value": [1e6] * 9,
        "is_defaulted": [1, 0, 0, 0, 0, 0, 0, 0, 1],
        "rating_agency_a": [0, 0, 0, 20, 0, 0, 0, 0, 0],
        "rating_agency_b": [0, 22, 0, 0, 0, 0, 0, 0, 0],
        "rating_agency_c": [0, 0, 22, 0, 0, 0, 0, 0, 0],
        "days_past_due": [0, 0, 0, 0, 90, 0, 0, 0, 0],
        "default_date": [None, None, None, None, None, 100, 101, None, None],
        "is_current_pay": [0, 0, 0, 0, 0, 0, 0, 0, 1],
    }
    portfolio = portfolio_of(columns, deal=Deal(as_of=100.0))
    assert portfolio.defaulted().tolist() == [True, True, True, False, True, True, False, False, False]
    tally = Pool(portfolio).tally
    assert (tally.performing_rows, tally.defaulted_rows) == (4, 5)
    assert (tally.par, tally.defaulted_par) == (4e6, 5e6)


def test_an_old_default_is_worth_nothing() -> None:
    """More than three years after the default date nothing is carried.

    Before, the assumed recovery of 45.
    """
    columns = {"par_value": [1e6] * 3, "is_defaulted": [1, 1, 0], "default_date": [0, 365, None], "price": [50, 50, 99]}
    assert Pool(portfolio_of(columns, deal=Deal(as_of=1096.0))).tally.defaulted_carried == close(0.45e6)


def test_a_short_position_nets_but_raises_nothing() -> None:
    """Negative par is taken off its obligor.

    An obligor or industry that is net short counts as none.
    """
    columns = {
        "par_value": [10e6, -4e6, -2e6, 6e6],
        "obligor": ["One", "One", "Two", "Three"],
        "industry": ["Steel", "Steel", "Wood", "Glass"],
    }
    portfolio = portfolio_of(columns)
    assert figure(portfolio, "single_obligor_concentration") == close(60.0)
    assert figure(portfolio, "top_5_concentration") == close(120.0)
    assert figure(portfolio, "second_industry_concentration") == close(60.0)
    assert Pool(portfolio).tally.negative_rows == 2


def test_the_ccc_bucket_is_that_of_the_severest_agency() -> None:
    """A loan that nobody rates is in every bucket, unless the deal's own rating is better."""
    columns = {
        "par_value": [10e6, 20e6, 5e6, 65e6],
        "rating_agency_a": [17, 15, 0, 0],
        "rating_agency_b": [15, 19, 0, 0],
        "rating": [15, 15, 0, 15],
    }
    assert figure(portfolio_of(columns), "ccc_bucket_pct") == close(25.0)
    only_own = {"par_value": [10e6, 30e6, 60e6], "rating": [0, 17, 16]}
    assert figure(portfolio_of(only_own), "ccc_bucket_pct") == close(40.0)


def test_ties_in_the_excess_are_settled_by_identifier() -> None:
    """Where two loans of one price carry differently, the order of rows must not matter."""
    columns: dict[str, list[Any]] = {
        "par_value": [10e6, 10e6, 80e6],
        "price": [60.0, 60.0, 99.0],
        "purchase_price": [78.0, 99.0, 99.0],
        "rating_agency_a": [18, 18, 15],
        "cusip": ["B", "A", "C"],
    }
    forwards = Pool(portfolio_of(columns)).adjustments["ccc_haircut"]
    backwards = Pool(portfolio_of({name: values[::-1] for name, values in columns.items()})).adjustments["ccc_haircut"]
    assert forwards == backwards == close(10e6 * 0.40 + 2.5e6 * 0.18)


def test_an_unpriced_ccc_loan_counts_at_70() -> None:
    """The fallback is used and told."""
    columns = {"par_value": [20e6, 80e6], "price": [None, 99.0], "rating_agency_a": [18, 15]}
    adjustments = Pool(portfolio_of(columns)).adjustments
    assert adjustments["ccc_haircut"] == close(12.5e6 * 0.30)
    assert adjustments["ccc_rows_without_price"] == 1


def test_a_deferring_loan_earns_nothing_and_is_carried_low() -> None:
    """The lesser of price and recovery, no interest."""
    columns = {
        "par_value": [10e6, 90e6], "is_deferring": [1, 0], "price": [90.0, 99.0], "recovery_rate": [40.0, 45.0],
        "all_in_rate": [8.0, 8.0],
    }  # fmt: skip
    pool = Pool(portfolio_of(columns))
    assert pool.tally.deferring_haircut == close(6e6)
    assert pool.interest["scheduled_interest"] == close(90e6 * 0.08 * 0.25)


def test_recovery_by_lien_where_none_is_given() -> None:
    """First lien 45, second lien 35, unsecured 30, debtor in possession 50."""
    columns = {
        "par_value": [1e6] * 5,
        "lien_type": [1, 2, 3, 1, 1],
        "is_dip": [0, 0, 0, 1, 0],
        "recovery_rate": [None, None, None, None, 60],
    }
    assert figure(portfolio_of(columns), "weighted_average_recovery_rate") == close((45 + 35 + 30 + 50 + 60) / 5)


def test_recovery_by_notches() -> None:
    """A facility that is rated better than its default probability recovers more, for each kind of claim."""
    facility = [12, 13, 14, 15, 16, 17, 18, 19, 0]
    columns = {"par_value": [1.0] * 9, "rating_agency_a": [15] * 9, "facility_rating_agency_a": facility}
    for lien, rates in ((1, [60, 60, 50, 45, 40, 30, 20, 20, 45]), (3, [45, 45, 35, 30, 25, 15, 5, 5, 30])):
        assert figure(portfolio_of(columns | {"lien_type": [lien] * 9}), "weighted_average_recovery_rate") == close(
            sum(rates) / 9
        )


# The plain twin.

NUMBERS = {
    "par_value": (-3e6, 9e6),
    "price": (40, 103),
    "purchase_price": (60, 101),
    "spread": (100, 800),
    "floor": (0, 2),
    "base_rate_level": (0, 5),
    "all_in_rate": (3, 12),
    "recovery_rate": (5, 80),
    "maturity_date": (900, 4000),
    "average_life": (-1, 8),
    "default_date": (800, 1200),
    "days_past_due": (0, 100),
    "facility_size": (50e6, 400e6),
    "quote_depth": (0, 4),
}
POOLS = {
    "obligor": ("Ash", "Birch", "Cedar", "Doum", "Elm", "Fir", "Gorse", "Holly"),
    "industry": ("Steel", "Wood", "Glass"),
    "country": ("US", "Canada", "France"),
    "cusip": tuple(f"{i:09d}" for i in range(30)),
}


@st.composite
def portfolios(draw: st.DrawFn) -> Portfolio:
    """Small and wild: blanks, infinities, short positions, defaults, duplicates, ties, absent columns."""
    count = draw(st.integers(1, 24))

    def many(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    columns: dict[str, list[Any]] = {}
    for field, (low, high) in NUMBERS.items():
        if field == "par_value" or draw(st.integers(0, 5)):
            fair = st.integers(int(low * 4), int(high * 4)).map(lambda whole: whole / 4)
            columns[field] = many(st.one_of(fair, fair, fair, st.sampled_from([None, low, high, np.inf, -np.inf])))
    for field, pool in POOLS.items():
        columns[field] = many(
            st.one_of(st.sampled_from(pool), st.none()) if field != "cusip" else st.sampled_from(pool)
        )
    for field in ("is_defaulted", "is_dip", "is_deferring", "is_current_pay"):
        columns[field] = many(st.sampled_from([0, 0, 0, 0, 1]))
    for field in ("cov_lite", "is_fixed"):
        columns[field] = many(st.sampled_from([0, 0, 1]))
    for field in (*RANKS[:3], "facility_rating_agency_a", "rating"):
        columns[field] = many(
            st.sampled_from([0, 0, 5, 13, 14, 15, 16, 17, 18, 19, 20, 22 if field[-1] != "a" else 21])
        )
    columns["lien_type"] = many(st.sampled_from([1, 1, 1, 2, 3, 4, 5]))
    notes = tranches_of(
        (("A", 20e6), ("B", 4e6), ("C", 3e6), ("D", 2e6), ("Sub", 5e6)),
        coupon=[5.0, 6.0, None, 9.0, None],
        spread=[None, None, 250.0, None, None],
        deferred_interest=[None, None, None, 1e5, None],
        oc={"B": 120.0, "D": 105.0},
        ic={"B": 110.0, "C": 105.0},
    )
    schedule = None
    if draw(st.booleans()):
        rows = many(st.integers(0, count - 1))
        dates, amounts = many(st.integers(900, 3000)), many(st.integers(-1, 8))
        schedule = Amortization(
            row=np.array(rows, np.int64), days=np.array(dates, np.float64), amount=np.array(amounts, np.float64) * 4e5
        )
    deal = Deal(
        principal_cash=draw(st.sampled_from([None, 1e6, 40e6, 400e6])),
        base_rate=draw(st.sampled_from([1.0, 4.25])),
        as_of=1000.0,
        reference_coupon=draw(st.sampled_from([None, 7.0])),
        payment_days=draw(st.sampled_from([None, 91.0])),
        interest_collected=draw(st.sampled_from([None, 0.0, 2e6, 4e7])),
        interest_receivable=draw(st.sampled_from([None, 1e6])),
        next_payment=draw(st.sampled_from([None, 990.0, 1000.0, 1036.0, 1500.0])),
        senior_fees=draw(st.sampled_from([None, 2e5])),
    )
    return portfolio_of(columns, tranches=notes, deal=deal, amortization=schedule)


@settings(max_examples=150, deadline=None)
@given(portfolios())
def test_every_measure_is_what_the_plain_twin_says(portfolio: Portfolio) -> None:
    """Same figure for every test that runs.

    A test that is skipped for its sums has nothing to divide by.
    """
    for result in run_suite(portfolio, "enhanced", details=False):
        expected = naive.measure(portfolio, result.test_id)
        assert result.current_value == pytest.approx(expected, rel=1e-9, abs=1e-6), result.test_id


@settings(max_examples=50, deadline=None)
@given(portfolios(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(portfolio: Portfolio, chance: Any) -> None:
    """The same loans in another order give the same results."""
    order = list(range(portfolio.row_count))
    chance.shuffle(order)
    place = np.argsort(order)
    schedule = portfolio.amortization
    shuffled = replace(
        portfolio,
        numbers={name: column[order] for name, column in portfolio.numbers.items()},
        names={name: replace(column, codes=column.codes[order]) for name, column in portfolio.names.items()},
        flags={name: column[order] for name, column in portfolio.flags.items()},
        ranks={name: column[order] for name, column in portfolio.ranks.items()},
        lien=None if portfolio.lien is None else portfolio.lien[order],
        amortization=None if schedule is None else replace(schedule, row=place[schedule.row].astype(np.int64)),
    )
    first, second = run_suite(portfolio, "enhanced"), run_suite(shuffled, "enhanced")
    assert [skip.test_id for skip in first.skipped] == [skip.test_id for skip in second.skipped]
    for item, another in zip(first, second, strict=True):
        assert item.current_value == pytest.approx(another.current_value, rel=1e-9, abs=1e-6), item.test_id


def test_more_rows_than_a_block() -> None:
    """The walk in blocks gives what the plain twin gives across their edges."""
    chance = np.random.default_rng(5)
    count = 2600
    columns: dict[str, Any] = {
        "par_value": chance.integers(1, 9, count) * 1e6,
        "price": np.where(chance.random(count) < 0.1, np.nan, chance.integers(50, 102, count)),
        "rating_agency_a": chance.integers(10, 20, count),
        "obligor": [f"O{code}" for code in chance.integers(0, 700, count)],
        "industry": [f"I{code}" for code in chance.integers(0, 30, count)],
        "is_defaulted": chance.random(count) < 0.02,
    }
    columns["price"] = [None if np.isnan(price) else price for price in columns["price"]]
    portfolio = portfolio_of(columns, tranches=tranches_of((("A", 5e9), ("B", 4e9)), oc={"A": 110.0, "B": 105.0}))
    ran = run_suite(portfolio, "enhanced")
    assert {result.test_id for result in ran} > {"oc_ratio", "diversity_score", "ccc_bucket_pct", "price_below_80_pct"}
    for result in ran:
        assert result.current_value == pytest.approx(naive.measure(portfolio, result.test_id), rel=1e-9, abs=1e-6)


def test_read_only_columns_are_enough(g1: Build) -> None:
    """Stored columns are mapped without write permission."""
    portfolio = g1()
    for column in (*portfolio.numbers.values(), *portfolio.ranks.values(), portfolio.names["obligor"].codes):
        column.setflags(write=False)
    assert figure(portfolio, "average_rating_factor") == close(1_201_340_000_000 / 395_000_000)


def test_a_name_list_may_be_longer_than_what_is_used() -> None:
    """Names without a loan are no obligors."""
    names = names_of(["X", "Y", "Z"])
    portfolio = portfolio_of({"par_value": [5.0, 5.0], "industry": ["I", "I"]})
    portfolio.names["obligor"] = replace(names, codes=np.array([0, 2], np.int32))
    assert Pool(portfolio).obligors == (2, [0, 2], [5.0, 5.0])


# ---- what the file's own calculation says --------------------------------------------------------------------------

DISCOUNTED = {"par_value": [10e6, 90e6, 4e6], "purchase_price": [70.0, 100.0, 100.0], "is_defaulted": [0, 0, 1],
              "price": [85.0, 99.0, 40.0], "rating_agency_a": [A["B2"]] * 3}  # fmt: skip


@every("printed, adjusted", [
    ({}, 97e6 + 1.6e6),
    ({"discount_haircut": 1e6}, 99e6 + 1.6e6),
    ({"defaulted_carried": 1.5e6}, 97e6 + 1.5e6),
    ({"par_value_other": 5_416.67}, 97e6 + 1.6e6 + 5_416.67),
    ({"other_haircut": 10.0, "ccc_haircut": 5.0}, 97e6 + 1.6e6 - 15.0),
    ({"discount_haircut": nan}, 97e6 + 1.6e6),
])  # fmt: skip
def test_the_parts_of_the_oc_numerator_that_a_file_prints(printed: dict[str, float], adjusted: float) -> None:
    """They count in place of those of the loans.

    A definition of the deal's own outranks those of which it says how.
    """
    portfolio = portfolio_of(DISCOUNTED, deal=Deal(**printed))
    assert Pool(portfolio).adjustments["adjusted"] == close(adjusted)
    assert Pool(portfolio, Definition(standard=True)).adjustments["adjusted"] == close(adjusted)
    assert Pool(portfolio, parse({"name": "own"})).adjustments["adjusted"] == close(adjusted)
    rules = {"discount": True, "defaulted": "lower", "deferring": True, "ccc_limit": 7.5,
             "purchased_accrued_interest": False}  # fmt: skip
    flagged = portfolio_of(DISCOUNTED | {"is_deferring": [0, 0, 0]}, deal=Deal(**printed))
    assert Pool(flagged, parse({"par_value": rules})).adjustments["adjusted"] == close(97e6 + 1.6e6)


@every("rules, adjusted", [
    ({"discount": True}, 97e6 + 1.6e6 + 10.0),
    ({"discount_below": 65}, 100e6 + 1.6e6 + 10.0),
    ({"purchased_accrued_interest": True}, 99e6 + 1.6e6 + 10.0),
    ({"purchased_accrued_interest": False}, 99e6 + 1.6e6),
    ({"defaulted": "none"}, 99e6 + 10.0),
])  # fmt: skip
def test_a_definition_leaves_to_the_file_what_it_says_nothing_of(rules: dict[str, Any], adjusted: float) -> None:
    """A printed discount haircut of 1 and another item of 10.

    No loan has accrued interest, so that only the file says how much it is.
    """
    portfolio = portfolio_of(DISCOUNTED, deal=Deal(discount_haircut=1e6, par_value_other=10.0))
    assert Pool(portfolio, parse({"par_value": rules})).adjustments["adjusted"] == close(adjusted)


def test_printed_haircuts_stay_as_one_amount_when_loans_change() -> None:
    """What the loans themselves are carried at moves with them."""
    portfolio = portfolio_of(DISCOUNTED, deal=Deal(discount_haircut=1e6))
    deal = Pool(portfolio).deal_for_changes()
    assert (deal.discount_haircut, deal.par_value_kept) == (None, close(2e6))
    sold = {name: values[1:] for name, values in DISCOUNTED.items()}
    assert Pool(portfolio_of(sold, deal=deal)).adjustments["adjusted"] == close(90e6 + 1.6e6 + 2e6)
    rules = parse({"par_value": {"purchased_accrued_interest": False}})
    kept = Pool(portfolio, rules).deal_for_changes()
    assert Pool(portfolio_of(sold, deal=kept), rules).adjustments["adjusted"] == close(90e6 + 1.6e6 + 2e6)
    own = portfolio_of(DISCOUNTED, deal=Deal(defaulted_par=4e6))
    assert Pool(own).deal_for_changes() == Deal()


@every("counts, denominator", [("none", 100e6), ("carried", 101.6e6), ("par", 104e6), (None, 100e6)])
def test_the_printed_denominator_says_how_defaulted_loans_count(
    counts: Literal["none", "carried", "par"] | None, denominator: float
) -> None:
    portfolio = portfolio_of(DISCOUNTED, deal=Deal(defaulted_in_denominator=counts))
    assert Pool(portfolio).denominator == close(denominator)
    assert Pool(portfolio, parse({"name": "own"})).denominator == close(denominator)
    assert Pool(portfolio, parse(NO_DEFAULTS)).denominator == close(100e6)


NO_DEFAULTS = {"conventions": {"defaulted_in_denominator": "none"}}


def test_printed_defaults_and_ccc_where_no_row_shows_them() -> None:
    """An empty page of defaulted loans is none, and a rating table says what masks hide."""
    columns = {"par_value": [60.0, 40.0], "rating_agency_a": [A["B2"], A["Caa2"]]}
    none = portfolio_of(columns, deal=Deal(defaulted_par=0.0))
    (result,) = run_suite(none, "enhanced", test_ids=["delinquency_pct"])
    assert (result.current_value, result.status) == (0.0, "pass")
    assert figure(portfolio_of(columns, deal=Deal(defaulted_par=25.0)), "delinquency_pct") == close(25.0)
    assert [
        item.test_id for item in run_suite(portfolio_of(columns), "enhanced", test_ids=["delinquency_pct"]).skipped
    ] == ["delinquency_pct"]
    masked = portfolio_of(columns, deal=Deal(masked_ccc_a=10.0))
    assert figure(masked, "ccc_bucket_pct") == close(50.0)
    for policy, par in (("left_out", 50.0), ("bounds", 50.0), ("B3", 40.0), (8070, 40.0)):
        assert Pool(masked, parse({"ratings": {"a": {"masked": policy}}})).buckets[0] == par


@every("more", [0.0, 30.0])
def test_ccc_by_the_rating_table_alone(more: float) -> None:
    """No row has a rating.

    The table decides, and a loan without one is not CCC for the lack of it.
    """
    for columns in ({"par_value": [60.0, 40.0]}, {"par_value": [60.0, 40.0], "rating_agency_b": ["", ""]}):
        portfolio = portfolio_of(columns, deal=Deal(masked_ccc_b=more))
        (result,) = run_suite(portfolio, test_ids=["ccc_bucket_pct"])
        assert result.current_value == more
        assert result.details is not None
        assert result.details.breakdown["agencies"]["rating_agency_b"] == more


def test_industries_by_the_files_table() -> None:
    """Where no row names one, and the table adds up to performing par."""
    subject = FactSubject(measure="industry", agency="b")
    rows = [Fact(kind="stratification", label=name, subject=subject, value=par, place=f"'I'!B{at}", group="I")
            for at, (name, par) in enumerate([("Media", 30.0), ("Software", 70.0)], 2)]  # fmt: skip
    total = Fact(kind="total", label="Total", subject=subject, value=100.0, place="'I'!B4", group="I", by="sum")
    facts = Facts(all=(*rows, total))
    for columns, shares in (
        ({"par_value": [60.0, 40.0]}, [70.0, 30.0]),
        ({"par_value": [60.0, 40.0], "industry": [None, None]}, [70.0, 30.0]),
        ({"par_value": [60.0, 40.0], "industry": ["Media", None]}, [60.0, 0.0]),
        ({"par_value": [60.0, 41.0]}, []),
    ):
        portfolio = portfolio_of(columns, facts=facts)
        ids = ["industry_concentration", "second_industry_concentration"]
        results = run_suite(portfolio, "enhanced", test_ids=ids)
        assert [result.current_value for result in results] == shares
        messages = [warning.message for warning in results.warnings if warning.code == "industries_by_table"]
        assert ["the file's table ('I'!B3)" in text for text in messages] == [True] * (shares == [70.0, 30.0])


@every("rules", [{}, {"ratings": {"unrated_is_ccc": False}}])
def test_loans_that_nobody_rates_are_not_covered(rules: dict[str, Any]) -> None:
    """In the CCC bucket or in none."""
    portfolio = portfolio_of({"par_value": [60.0, 40.0], "rating_agency_a": [A["B2"], 0]})
    (result,) = run_suite(portfolio, test_ids=["ccc_bucket_pct"], definition=parse(rules))
    assert result.details is not None
    assert result.details.breakdown["coverage_pct"] == 60.0


@every("deal, ratio", [
    (Deal(interest_collected=4e6, interest_receivable=2e6, senior_fees=-1e5), 118.0),
    (Deal(interest_available=6e6), 120.0),
    (Deal(interest_collected=4e6, senior_fees=1e5), None),
])  # fmt: skip
def test_interest_coverage_without_the_loans_rates(deal: Deal, ratio: float | None) -> None:
    """All of the period's interest stands on a page: no loan's rate decides on it."""
    notes = tranches_of([("A", 100e6), ("B", 50e6)], interest_due=[4e6, 1e6])
    portfolio = portfolio_of({"par_value": [100e6, 80e6]}, tranches=notes, deal=deal)
    results = run_suite(portfolio, test_ids=["ic_ratio"])
    assert [result.current_value for result in results] == ([] if ratio is None else [ratio])
