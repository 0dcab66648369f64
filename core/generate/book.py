"""The recipe: a clean book of loans as arrays, from a seed and a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.generate.draws import Chance
from core.generate.tables import (
    AS_OF,
    BASE_RATE_PERCENT,
    COUNTRIES,
    FIRST_RANK,
    FLOORS,
    INDUSTRIES,
    RANK_B3,
    RANK_CA,
    RANK_CAA1,
    RANK_CAA2,
    RANK_CAA3,
    RATINGS,
)
from core.portfolio.model.ratings import DEFAULTED

LOAN_PAR_MAX: Final = 0.015
OBLIGOR_PAR_MAX: Final = 0.020
CAA_PAR_MAX: Final = 0.062
INDUSTRY_EXCESS_MAX: Final = 1.10
"""Caps of the clean book: fractions of the target par, and an industry's par over its weight."""

INVESTED: Final = 0.99
"""The fraction of the target par that is in loans; the rest is principal cash."""

_PAR_STEP: Final = 1_000.0
_PAR_MIN: Final = 10_000.0
_CAP_PASSES: Final = 5

_SPREADS, _PRICES, _PRICE_DEVIATIONS = (np.array([row[at] for row in RATINGS]) for at in (2, 3, 4))


@dataclass(slots=True)
class LoanBook:
    """Loans in the order of their obligors' names.

    Arrays of one element per loan unless said otherwise.

    Money in dollars, spread in basis points, rates, floors, recoveries and prices in percent; NaN is blank.
    Ratings are ranks (1 is Aaa, 22 in default), 0 for none. A fault edits the arrays in place.
    """

    chance: Chance
    target_par: float
    obligor: NDArray[np.int64]
    lot: NDArray[np.int64]
    """0 for an obligor's first loan, 1 for its second."""
    obligor_country: NDArray[np.int64]
    """Per obligor: position in COUNTRIES."""
    industry: NDArray[np.int64]
    """Position in INDUSTRIES."""
    country: NDArray[np.int64]
    rank_a: NDArray[np.int64]
    rank_b: NDArray[np.int64]
    rank_c: NDArray[np.int64]
    par: NDArray[np.float64]
    spread: NDArray[np.float64]
    floor: NDArray[np.float64]
    all_in_rate: NDArray[np.float64]
    price: NDArray[np.float64]
    purchase_price: NDArray[np.float64]
    maturity: NDArray[np.float64]
    """Days since 1970-01-01."""
    amortization: NDArray[np.float64]
    """Percent of the original balance a year."""
    recovery_rate: NDArray[np.float64]
    facility_size: NDArray[np.float64]
    days_past_due: NDArray[np.float64]
    quote_depth: NDArray[np.float64]
    is_second_lien: NDArray[np.bool_]
    is_fixed: NDArray[np.bool_]
    is_defaulted: NDArray[np.bool_]
    is_cov_lite: NDArray[np.bool_]
    is_dip: NDArray[np.bool_]
    is_current_pay: NDArray[np.bool_]
    is_pik: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Loans in the book."""
        return len(self.par)

    @property
    def cash(self) -> float:
        """Principal cash: what of the target par is not in loans."""
        return self.target_par - float(self.par.sum())


def draw_book(seed: int, loans: int) -> LoanBook:
    """Return a clean book, the same for the same seed and size.

    It passes both suites, now and then with a warning.
    """
    chance = Chance(seed, loans)
    obligor, lot = _obligors(chance)
    issuers = int(obligor[-1]) + 1
    industry = chance.quota("industry", issuers, [weight for _, weight in INDUSTRIES])[obligor]
    country = chance.quota("country", issuers, [share for _, share, _ in COUNTRIES])
    ranks = _ranks(chance, issuers)
    rank_a, rank_b, rank_c = (rank[obligor] for rank in ranks)
    target_par = 500e6 if loans <= 600 else loans * 1.6e6
    defaulted = rank_a == RANK_CA
    second = chance.share("second lien", loans, 2.5) & (rank_a >= RANK_B3) & (rank_a <= RANK_CAA2)
    is_dip = chance.share("debtor in possession", loans, 0.3) & ~defaulted
    spread = draw_spreads(chance, rank_a)
    floor = np.array([level for level, _ in FLOORS])[chance.quota("floor", loans, [share for _, share in FLOORS])]
    fixed = chance.share("fixed rate", loans, 1.2)
    all_in = np.maximum(BASE_RATE_PERCENT, floor) + spread / 100.0
    return LoanBook(
        chance=chance,
        target_par=target_par,
        obligor=obligor,
        lot=lot,
        obligor_country=country,
        industry=industry,
        country=country[obligor],
        rank_a=rank_a,
        rank_b=rank_b,
        rank_c=rank_c,
        par=_par(chance, target_par, obligor, industry, rank_a),
        spread=np.where(fixed, np.nan, spread),
        floor=np.where(fixed, np.nan, floor),
        all_in_rate=all_in,
        price=draw_prices(chance, "price", rank_a),
        purchase_price=_purchase_prices(chance),
        maturity=_maturities(chance),
        amortization=np.where(chance.share("amortization", loans, 60.0) & ~second, 1.0, 0.0),
        recovery_rate=np.where(is_dip, 50.0, np.where(second, 35.0, 45.0)),
        facility_size=_facility_sizes(chance),
        days_past_due=_days_past_due(chance, defaulted),
        quote_depth=np.clip(np.round(chance.stream("quotes").normal(4.2, 2.0, loans)), 0.0, 12.0),
        is_second_lien=second,
        is_fixed=fixed,
        is_defaulted=defaulted,
        is_cov_lite=chance.share("covenant lite", loans, 45.0),
        is_dip=is_dip,
        is_current_pay=chance.share("current pay", loans, 0.5) & ~defaulted,
        is_pik=chance.share("payment in kind", loans, 0.5) & ~defaulted,
    )


def draw_prices(chance: Chance, question: str, rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Prices about the mean of the rating, in eighths for half of the loans and three decimals for the others."""
    stream = chance.stream(question)
    at = np.minimum(rank, RANK_CA) - FIRST_RANK
    price = np.clip(stream.normal(_PRICES[at], _PRICE_DEVIATIONS[at]), 5.0, 101.0)
    ticked: NDArray[np.float64] = np.where(
        stream.random(len(rank)) < 0.5, np.round(price * 8.0) / 8.0, np.round(price, 3)
    )
    return ticked


def draw_days_in_default(chance: Chance, question: str, count: int) -> NDArray[np.float64]:
    """Days past due of defaulted loans."""
    return chance.stream(question).integers(95, 401, count).astype(np.float64)


def _obligors(chance: Chance) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the obligor of each loan, rising, and which of its loans it is.

    100 loans have 86 obligors.
    """
    issuers = round(0.86 * chance.loans)
    more = chance.stream("second loans").integers(issuers, size=chance.loans - issuers)
    obligor = np.sort(np.concatenate([np.arange(issuers), more]))
    first = np.searchsorted(obligor, np.arange(issuers))
    return obligor, np.arange(chance.loans) - first[obligor]


def _ranks(chance: Chance, issuers: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ratings of the obligors by agencies A, B and C."""
    rank_a = FIRST_RANK + chance.quota("rating", issuers, [share for _, share, *_ in RATINGS])
    notch = chance.quota("agency b", issuers, [10.0, 80.0, 10.0]) - 1
    # A step down from B3 would put more into CCC than the limit of a clean book allows.
    rank_b = rank_a + np.where(rank_a >= RANK_B3, np.minimum(notch, 0), notch)
    rank_c = np.where(chance.share("agency c", issuers, 35.0), rank_a, 0)
    defaulted = rank_a == RANK_CA
    return (
        rank_a,
        np.where(defaulted, DEFAULTED, rank_b),
        np.where(defaulted & (rank_c > 0), DEFAULTED, rank_c),
    )


def _par(
    chance: Chance,
    target_par: float,
    obligor: NDArray[np.int64],
    industry: NDArray[np.int64],
    rank: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Par by loan: lognormal, scaled to what is invested, under the caps of the clean book; in thousands."""
    par = chance.stream("par").lognormal(0.0, 0.45, len(obligor))
    loan_max = target_par * LOAN_PAR_MAX if chance.loans <= 2_000 else 4.0 * INVESTED * target_par / chance.loans
    weights = np.array([weight for _, weight in INDUSTRIES])
    industry_max = INDUSTRY_EXCESS_MAX * target_par * weights / weights.sum()
    is_caa = (rank >= RANK_CAA1) & (rank <= RANK_CAA3)
    for _ in range(_CAP_PASSES):
        par *= INVESTED * target_par / par.sum()
        np.minimum(par, loan_max, out=par)
        par *= _room(np.bincount(obligor, par), OBLIGOR_PAR_MAX * target_par)[obligor]
        par *= _room(np.bincount(industry, par, minlength=len(weights)), industry_max)[industry]
        par[is_caa] *= min(1.0, CAA_PAR_MAX * target_par / max(float(par[is_caa].sum()), 1.0))
    return round_par(par)


def round_par(par: NDArray[np.float64]) -> NDArray[np.float64]:
    """Par in whole thousands, 10,000 at least."""
    return np.maximum(_PAR_MIN, np.round(par / _PAR_STEP) * _PAR_STEP)


def _room(sums: NDArray[Any], limit: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return the factor that brings each sum under its limit: 1 where it is."""
    return np.asarray(np.minimum(1.0, limit / np.maximum(sums, 1.0)))


def draw_spreads(chance: Chance, rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Spreads in basis points about the mean of the rating, in steps of 12.5 or 25."""
    stream = chance.stream("spread")
    step = np.where(stream.random(len(rank)) < 0.7, 12.5, 25.0)
    return np.maximum(125.0, np.round(stream.normal(_SPREADS[rank - FIRST_RANK], 35.0) / step) * step)


def _purchase_prices(chance: Chance) -> NDArray[np.float64]:
    """Return what was paid: about 99, for 2 % of the loans deep in the discount."""
    stream = chance.stream("purchase price")
    paid = np.minimum(100.5, stream.normal(99.0, 1.0, chance.loans))
    discount = stream.uniform(60.0, 79.0, chance.loans)
    return np.round(np.where(stream.random(chance.loans) < 0.02, discount, paid) * 8.0) / 8.0


def _maturities(chance: Chance) -> NDArray[np.float64]:
    """Maturity dates up to seven years out, two of three at the nearest end of a month."""
    stream = chance.stream("maturity")
    as_of = np.datetime64(AS_OF, "D")
    days = np.round(np.maximum(0.25, 7.0 * stream.beta(3.2, 2.4, chance.loans)) * 365.25)
    dates = as_of + days.astype("timedelta64[D]")
    month_ends = (dates - np.timedelta64(15, "D")).astype("datetime64[M]") + np.timedelta64(1, "M")
    snapped = month_ends.astype("datetime64[D]") - np.timedelta64(1, "D")
    return np.where(stream.random(chance.loans) < 2.0 / 3.0, snapped, dates).astype("datetime64[D]").astype(np.float64)


def _facility_sizes(chance: Chance) -> NDArray[np.float64]:
    """Sizes of the whole facilities, in millions from 25 up."""
    size = chance.stream("facility size").lognormal(np.log(900e6), 0.75, chance.loans)
    return np.maximum(25e6, np.round(size / 1e6) * 1e6)


def _days_past_due(chance: Chance, defaulted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Zero but for the defaulted, and 0.4 % that are a little late."""
    late = chance.stream("days late").integers(5, 61, chance.loans).astype(np.float64)
    days = np.where(chance.share("late", chance.loans, 0.4), late, 0.0)
    return np.where(defaulted, draw_days_in_default(chance, "days in default", chance.loans), days)
