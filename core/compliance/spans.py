"""What blank and masked inputs leave open of a figure.

How much par they miss, and its lowest and highest value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from core.compliance.ladders import masked_rows
from core.compliance.pool_sums import DAYS_A_YEAR, Measurement, Pool
from core.definition.terms import AGENCIES, FORMULAS
from core.portfolio.assemble.odd_loans import LIFE_YEARS_MAX, USUAL
from core.portfolio.model.fields import Lien
from core.portfolio.model.ratings import FACTORS, MASKED, RECOVERY, UNBUCKETED

NOTHING_PCT: Final = 1e-6
"""Percent of par that is the rounding of sums."""

Span = tuple[float, float]


class MissingPar(NamedTuple):
    """Par for which a figure lacks what it reads."""

    input: str
    what: str
    """As a message says it: no price."""
    pct: float
    """Percent of performing par."""


class Case(NamedTuple):
    """A figure whose inputs are looked at."""

    pool: Pool
    measured: Measurement
    agency: str | None = None
    """Of a test that is one agency's."""


def masked_par(pool: Pool, field: str) -> tuple[float, ...]:
    """(par, number) of the loans whose rating is masked in a column."""
    if field not in pool.masked:
        pool.masked[field] = pool.summed(("masked", field), partial(_masked_par, field=field))
    return pool.masked[field]


def _masked_par(pool: Pool, field: str) -> tuple[float, ...]:
    rows = masked_rows(pool.portfolio, field)
    return (0.0, 0.0) if rows is None else (float(pool.weights @ rows), float(np.count_nonzero(rows)))


def _hidden_ccc(pool: Pool, agency: str) -> float:
    """Par of unshown ratings that may be CCC; None if a rating table says what is."""
    return 0.0 if pool.masked_ccc["abc".index(agency)] is not None else _masked_of(pool, agency)


def _masked_of(pool: Pool, agency: str) -> float:
    """Par whose rating an agency does not show."""
    field = f"rating_agency_{agency}"
    return masked_par(pool, field)[0] if field in pool.portfolio.ranks else 0.0


# ---- how much is missing -----------------------------------------------------------------------------------------


def _uncovered(case: Case) -> float:
    """Percent of par that a figure leaves out for blanks."""
    coverage = case.measured.coverage_pct
    return 0.0 if coverage is None else 100.0 - coverage


def _unrated(case: Case) -> float:
    by_rank = case.pool.tally.par_by_rank
    return case.pool.covered(by_rank[0] + by_rank[UNBUCKETED])


def _without_lien(case: Case) -> float:
    pool = case.pool
    return 0.0 if pool.portfolio.lien is None else pool.covered(pool.tally.par_by_lien[Lien.BLANK])


def _without_recovery(case: Case) -> float:
    """By the rates of a named agency what the figure leaves out.

    Else what is assumed by the kind of the loan.
    """
    if case.agency is not None or case.pool.view.recovery_agency in ("b", "c"):
        return _uncovered(case)
    return 100.0 - case.pool.covered(case.pool.tally.recovery_given)


def _without_quotes(case: Case) -> float:
    return 100.0 - case.pool.covered(case.pool.tally.depth_par)


def _without_country(case: Case) -> float:
    return 100.0 - case.pool.covered(case.pool.tally.country_par)


_Share = Callable[[Case], float]

_BLANK: Final[dict[str, tuple[tuple[str, str, _Share], ...]]] = {
    "obligor": (("obligor", "no obligor", _uncovered),),
    "top_obligors": (("obligor", "no obligor", _uncovered),),
    "industry": (("industry", "no industry", _uncovered),),
    "country": (("country", "no country", _uncovered),),
    "country_group": (("country", "no country, or none whose ceiling is known", _uncovered),),
    "country_of_group": (("country", "no country, or none whose ceiling is known", _uncovered),),
    "senior_secured": (("lien", "no lien, and counts as first lien", _without_lien),),
    **dict.fromkeys(
        ("pays_less_than_quarterly", "pays_semi_annually", "pays_annually"),
        (("payment_frequency", "no frequency of payments that can be read", _uncovered),),
    ),
    "foreign_country": (("country", "no country", _uncovered),),
    "non_senior_secured": (("lien", "no lien, and counts as first lien", _without_lien),),
    "small_facilities": (
        ("size", "no facility size", _uncovered), ("country", "no country, and counts as home", _without_country),
    ),
    "ccc": (("ratings", "no rating of any agency", _unrated),),
    "warf": (("ratings", "no rating of any agency", _unrated),),
    "oc": (("ratings", "no rating of any agency", _unrated),),
    "warr": (("recovery", "no recovery rate", _without_recovery),),
    "ic": (("rates", "no rate of interest", _uncovered),),
    "wal": (("life", "no maturity and no average life", _uncovered),),
    "was": (("rates", "no spread", _uncovered),),
    "diversity": (("industry", "no obligor or no industry", _uncovered),),
    "delinquency": (("default", "no days past due", _uncovered),),
    "price_below": (("price", "no price", _uncovered),),
    "average_price": (("price", "no price", _uncovered),),
    "quoted_depth": (("quotes", "no number of quotes", _without_quotes),),
}  # fmt: skip
"""Measure -> what may be blank: the input, the words of a message, and how much par it is."""

_OTHER: Final = (("", "blanks in what the test reads", _uncovered),)

_LIKE: Final = {"reinvestment_oc": "oc"}


def is_covered(measured: Measurement) -> bool:
    """Return whether a figure leaves out no par for blanks."""
    coverage = measured.coverage_pct
    return coverage is None or 100.0 - coverage <= NOTHING_PCT


def lacking(pool: Pool) -> frozenset[str]:
    """Return what some loans lack, in the names of `core.portfolio.model.inputs.FIELDS`, of what the coverage of a
    figure does not tell: ratings that are blank or masked, liens, recovery rates, numbers of quotes, countries."""
    tally, least = pool.tally, pool.par * (1 - NOTHING_PCT / 100)
    by_rank, lien = tally.par_by_rank, pool.portfolio.lien
    known = {
        "ratings": pool.par - by_rank[0] - by_rank[UNBUCKETED] - by_rank[MASKED],
        "lien": pool.par if lien is None else pool.par - tally.par_by_lien[Lien.BLANK],
        "recovery": tally.recovery_given,
        "quotes": tally.depth_par,
        "country": tally.country_par,
    }
    return frozenset(name for name, par in known.items() if par < least)


def missing(measure: str, case: Case) -> list[MissingPar]:
    """Return what a figure lacks, with its percent of par."""
    rows = _BLANK.get(_LIKE.get(measure, measure), _OTHER)
    if case.agency is not None and measure in ("ccc", "warf"):
        rows = ()  # an agency need not rate every loan; what it hides is told as masked
    if measure in ("oc", "reinvestment_oc") and not _has_ratings(case.pool):
        rows = ()
    shares = ((name, what, of(case)) for name, what, of in rows)
    return [MissingPar(name, what, min(pct, 100.0)) for name, what, pct in shares if pct > NOTHING_PCT]


def _has_ratings(pool: Pool) -> bool:
    return any(pool.tally.par_by_rank[1:])


# ---- what it leaves open -----------------------------------------------------------------------------------------


def span(measure: str, case: Case, *, with_ratings: bool = True) -> Span | None:
    """(lowest, highest) figure, in the test's unit, at the worst and the best that missing inputs may be; None where
    nothing is missing. `with_ratings` is False where the ends by masked ratings are known already."""
    if not with_ratings and measure in ("ccc", "warf", "oc", "reinvestment_oc"):
        return None
    of = _SPANS.get(measure, _in_proportion)
    low, high = of(case)
    value = case.measured.value
    low, high = min(low, value), max(high, value)
    return (low, high) if isfinite(low) and isfinite(high) and high - low > NOTHING_PCT else None


def _add(case: Case) -> Span:
    """Return a share to which all that is missing may belong."""
    return case.measured.value, case.measured.value + _of_denominator(case, _uncovered(case))


def _of_denominator(case: Case, pct: float) -> float:
    """Percent of par as percent of what the figure divides by."""
    denominator = case.measured.denominator
    return max(0.0, pct) * case.pool.par / denominator if denominator > 0 else 0.0


def _lien_added(case: Case) -> Span:
    return case.measured.value, case.measured.value + _of_denominator(case, _without_lien(case))


def _lien_taken(case: Case) -> Span:
    return case.measured.value - _of_denominator(case, _without_lien(case)), case.measured.value


def _quotes_added(case: Case) -> Span:
    return case.measured.value, case.measured.value + _without_quotes(case)


def _average(low: float, high: float) -> Callable[[Case], Span]:
    """Return an average of what is covered; what is missing lies between two values."""
    return lambda case: _averaged(case, _uncovered(case), low, high)


def _averaged(case: Case, missing_pct: float, low: float, high: float) -> Span:
    known, part = case.measured.value, min(max(missing_pct, 0.0), 100.0) / 100
    return known * (1 - part) + low * part, known * (1 - part) + high * part


def _life(case: Case) -> Span:
    """Missing lives end between today and the deal's own maturity, or `LIFE_YEARS_MAX` where that is not known."""
    until = case.pool.portfolio.deal.stated_maturity
    years = LIFE_YEARS_MAX if until is None else (until - case.pool.as_of) / DAYS_A_YEAR
    longest = years if isfinite(years) and years > 0 else LIFE_YEARS_MAX
    return _averaged(case, _uncovered(case), 0.0, longest)


def _recovery(case: Case) -> Span:
    """Rates that are assumed lie within the table by which they are.

    Those of a named agency anywhere.
    """
    is_named = case.agency is not None or case.pool.view.recovery_agency in ("b", "c")
    ends = (0.0, 100.0) if is_named else (float(RECOVERY.min()), float(RECOVERY.max()))
    return _averaged(case, _without_recovery(case), *ends)


def _ccc(case: Case) -> Span:
    """Every masked rating may be CCC.

    Every loan that nobody rates counts as CCC, or may be.
    """
    pool = case.pool
    if case.agency is not None:
        masked = pool.covered(_hidden_ccc(pool, case.agency))
        return case.measured.value, case.measured.value + _of_denominator(case, masked)
    buckets = {
        agency: par
        for agency, par in zip(AGENCIES, pool.buckets, strict=True)
        if agency in pool.definition.par_value.ccc_agencies
    }
    by_rank = pool.tally.par_by_rank
    highest = max(par + _hidden_ccc(pool, agency) for agency, par in buckets.items()) + by_rank[UNBUCKETED]
    lowest = max(buckets.values()) - by_rank[0]
    denominator = case.measured.denominator
    return max(0.0, lowest) / denominator * 100, highest / denominator * 100


def _factor(case: Case) -> Span:
    """Masked and missing ratings lie anywhere on the scale."""
    pool, agency = case.pool, case.agency or "a"
    if case.agency in ("b", "c"):
        return _in_proportion(case)
    by_rank = pool.tally.par_by_rank
    nobody = by_rank[0] + by_rank[UNBUCKETED] + by_rank[MASKED]
    hidden = max(_masked_of(pool, agency), by_rank[MASKED])
    open_pct = pool.covered(nobody - by_rank[MASKED] + hidden)
    return _averaged(case, open_pct, float(FACTORS[0]), float(FACTORS[-1]))


def _overcollateralisation(case: Case) -> Span:
    """Every masked rating may be CCC, and fill the excess at what a loan without a price counts; what counts as CCC
    because nobody rates it may be none. A haircut that the file prints leaves nothing open."""
    pool, rules = case.pool, case.pool.definition.par_value
    value, balance = case.measured.value, case.measured.denominator
    if not rules.ccc_excess or balance <= 0 or "ccc_haircut" in pool.printed:
        return value, value
    limit = rules.ccc_limit / 100 * pool.cpa
    buckets = [
        (par, _hidden_ccc(pool, agency))
        for agency, par in zip(AGENCIES, pool.buckets, strict=True)
        if agency in rules.ccc_agencies
    ]
    more = max((max(0.0, par + masked - limit) - max(0.0, par - limit) for par, masked in buckets), default=0.0)
    excess, haircut = pool.adjustments["ccc_excess"], pool.adjustments["ccc_haircut"]
    rated = max((par for par, _ in buckets), default=0.0) - pool.tally.par_by_rank[0]
    less = haircut * (1 - min(1.0, max(0.0, rated - limit) / excess)) if excess > 0 else 0.0
    return value - more * (1 - rules.ccc_unpriced / 100) / balance * 100, value + less / balance * 100


def _interest(case: Case) -> Span:
    """Loans without a rate of interest pay none, or what the others pay.

    Of interest that is collected nothing is missing.
    """
    income, coverage = case.pool.interest, case.measured.coverage_pct
    value, due = case.measured.value, case.measured.denominator
    scheduled = float(income["scheduled_interest"])
    if coverage is None or not 0 < coverage < 100 or not scheduled or due <= 0:
        return value, value
    return value, value + scheduled * (100 / coverage - 1) / due * 100


def _in_proportion(case: Case) -> Span:
    """Return a figure of which no more is known changes as far as the part that is missing."""
    part = min(max(_uncovered(case), 0.0), 99.0) / 100
    value = case.measured.value
    return value * (1 - part), value / (1 - part)


_LOW_SPREAD, _HIGH_SPREAD, _ = USUAL["spread"]
_LOW_RATE, _HIGH_RATE, _ = USUAL["all_in_rate"]

_SPANS: Final[dict[str, Callable[[Case], Span]]] = {
    "obligor": _add, "top_obligors": _add, "industry": _add, "country": _add, "foreign_country": _add,
    "small_facilities": _add, "delinquency": _add, "share": _add,
    **dict.fromkeys((name for name in FORMULAS if name != "non_senior_secured"), _add),
    "country_group": _add, "country_of_group": _add, "senior_secured": _lien_taken,
    "non_senior_secured": _lien_added, "quoted_depth": _quotes_added,
    "ccc": _ccc, "warf": _factor, "warr": _recovery, "wal": _life, "oc": _overcollateralisation,
    "reinvestment_oc": _overcollateralisation, "ic": _interest,
    "was": _average(_LOW_SPREAD / 100, _HIGH_SPREAD / 100), "wac": _average(_LOW_RATE, _HIGH_RATE),
    "price_below": _average(0.0, 100.0), "average_price": _average(0.0, 100.0),
}  # fmt: skip
