"""The figure of a test: a portfolio's sums, its columns, and what a test lacks."""

from __future__ import annotations

from math import isfinite
from typing import Final

from core.compliance.coverage import TOLERANCE
from core.compliance.file_figures import NOT_PRINTED
from core.compliance.measures import NO_TRANCHES, ZERO_CPA
from core.compliance.pool_sums import TOO_LARGE, Measurement, Pool, Unmeasurable
from core.compliance.stand_ins import with_stand_ins
from core.compliance.stated import with_stated
from core.compliance.suites import Test
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import with_days
from core.portfolio.assemble.portfolio import DEFINITION_DAYS


def pools_of(portfolio: Portfolio, definition: Definition | None) -> tuple[Pool, ...]:
    """Return the sums of a portfolio, then, where masked ratings are taken for a range, with the best and with the
    worst that they may be; empty without loans."""
    if not portfolio.row_count or "par_value" not in portfolio.numbers:
        return ()
    if definition is not None:
        conventions = definition.conventions
        days = {name: getattr(conventions, name) for name in DEFINITION_DAYS}
        portfolio = with_stated(with_days(portfolio, days, "the definition", first=True), definition)
        portfolio = with_stand_ins(portfolio, definition)
    pool = Pool(portfolio, definition)
    if definition is None or not pool.view.has_bounds:
        return (pool,)
    return pool, Pool(portfolio, definition, "best"), Pool(portfolio, definition, "worst")


_RECOVERIES: Final = tuple(f"recovery_rate_{agency}" for agency in AGENCIES)


def columns_present(portfolio: Portfolio) -> set[str]:
    """Return the catalogue's names of the columns that the portfolio has."""
    present = {*portfolio.numbers, *portfolio.names, *portfolio.flags, *portfolio.ranks}
    if portfolio.lien is not None:
        present.add("lien_type")
    if "is_fixed" in present:
        present.add("coupon_type")
    if not present.isdisjoint(_RECOVERIES):
        present.add("recovery_rate")
    deal = portfolio.deal
    if deal.defaulted_par is not None:
        present.add("is_defaulted")
    if (deal.masked_ccc_a, deal.masked_ccc_b, deal.masked_ccc_c) != NOT_PRINTED:
        present.add("rating")
    if deal.is_interest_given:
        present.add("all_in_rate")
    if "industry" not in present and portfolio.facts.of("stratification", "industry"):
        present.add("industry")
    # The obligor tests read one key, whichever of the two columns it was made from.
    present -= {"borrower_name", "issuer_id"}
    if "obligor" in present:
        present.add("borrower_name")
    return present


def measure_test(test: Test, pool: Pool | None, portfolio: Portfolio, present: set[str]) -> Measurement:
    """Return the test's figure.

    Raises:
        Unmeasurable: columns are missing or empty, what the test divides by is not above zero, or a sum overflows.
    """
    if not test.required <= present:  # one look at the plain ones; "a or b" below
        raise _lacking(test, portfolio, present)
    for options in test.choices:
        if present.isdisjoint(options):
            raise _lacking(test, portfolio, present)
    if test.category == "coverage" and portfolio.tranches is None:
        raise Unmeasurable(NO_TRANCHES)
    if pool is None:
        raise Unmeasurable(f"no loans in sheet '{portfolio.sheet_name}'")
    if pool.fault is not None:
        raise Unmeasurable(pool.fault)
    if pool.least_divisor <= 0 and any(pool.divisors[divisor] <= 0 for divisor in test.divides_by):
        raise Unmeasurable(ZERO_CPA)
    measured = test.measure(pool)
    if not isfinite(measured.value):
        raise Unmeasurable(TOO_LARGE)
    pool.figures[test.test_id] = measured.value
    return measured


def _lacking(test: Test, portfolio: Portfolio, present: set[str]) -> Unmeasurable:
    missing = [" or ".join(options) for options in test.alternatives if present.isdisjoint(options)]
    return Unmeasurable(f"Skipped: required column(s) {', '.join(missing)} not found in sheet '{portfolio.sheet_name}'")


def span_of(
    test: Test, measured: Measurement, ends: tuple[Pool, ...], portfolio: Portfolio, present: set[str]
) -> tuple[float | None, float | None]:
    """Return the low and high end of a figure; None if no masked rating moves it."""
    values = [measured.value, *(measure_test(test, end, portfolio, present).value for end in ends)]
    low, high = min(values), max(values)
    return (low, high) if high - low > TOLERANCE else (None, None)
