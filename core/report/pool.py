"""What a portfolio is made of: its largest names, and its par by rating, maturity, price and rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.measures import Pool
from core.compliance.result import Results, TestResult
from core.definition import Definition
from core.portfolio.fields import Lien
from core.portfolio.ratings import MASKED, SCALE_A, SCALE_B, UNBUCKETED
from core.report.content import Concentration, Distribution, Share

ROWS_SHOWN: Final = 10
"""Names of a concentration; further ones are one row together."""

YEARS_SHOWN: Final = 12
"""Years of maturity that have a bucket of their own, counted from the first."""


def concentrations_of(pool: Pool, results: Results, definition: Definition | None) -> Iterator[Concentration]:
    """Obligors, industries and countries by size, of the par and the denominator of the tests."""
    limits = _largest_limits(results, definition)
    for field, title in (("obligor", "Obligors"), ("industry", "Industries"), ("country", "Countries")):
        if field not in pool.view.names or pool.denominator <= 0:
            continue
        by_name = pool.par_by_name(field)
        par, blank = by_name[:-1], float(by_name[-1])
        if not (par > 0).any():
            continue
        order = np.argsort(-par, kind="stable")
        order = order[par[order] != 0]
        rest = order[ROWS_SHOWN:]
        limit = limits.get(field)
        yield Concentration(
            title=title,
            of="the collateral principal amount",
            rows=[_share(pool, pool.name(field, int(at)), float(par[at])) for at in order[:ROWS_SHOWN]],
            others=_share(pool, f"{len(rest):,} others", float(par[rest].sum())) if len(rest) else None,
            blank=_share(pool, "Not stated", blank) if blank else None,
            limit=None if limit is None else limit.threshold_value,
            limit_test=None if limit is None else limit.test_name,
        )


def _share(pool: Pool, name: str, par: float) -> Share:
    return Share(name=name, par=par, share_pct=par / pool.denominator * 100)


def _largest_limits(results: Results, definition: Definition | None) -> dict[str, TestResult]:
    """The tests that limit the largest obligor and the largest industry as the pool names it."""
    tests = {"single_obligor_concentration": "obligor", "industry_concentration": "industry"}
    for test in definition.tests if definition is not None else ():
        if test.measure in ("obligor", "industry") and test.nth in (None, 1) and test.classification in (None, "any"):
            tests.setdefault(test.id, test.measure)
    return {tests[one.test_id]: one for one in results if one.test_id in tests and one.threshold_type == "max"}


def distributions_of(pool: Pool) -> Iterator[Distribution]:
    """Ratings, maturities, prices and liens of the performing par."""
    if pool.par <= 0:
        return
    if pool.view.ranks:
        yield _distribution(pool, "Ratings", "by the rating that gives the rating factor", _ratings(pool))
    maturity = pool.view.numbers.get("maturity_date")
    if maturity is not None:
        yield _distribution(pool, "Maturities", "by the year in which the loan matures", _maturities(pool, maturity))
    price = pool.view.numbers.get("price")
    if price is not None:
        yield _distribution(pool, "Prices", "in percent of par; a bucket begins at its lower end", _prices(pool, price))
    if pool.portfolio.lien is not None:
        par = pool.tally.par_by_lien
        liens = [(words, float(par[lien])) for lien, words in _LIENS.items()]
        yield _distribution(pool, "Ranking", "by the loan's place in its borrower's debt", liens)


_LIENS: Final = {
    Lien.FIRST_LIEN: "First lien", Lien.SECOND_LIEN: "Second lien", Lien.UNSECURED: "Unsecured", Lien.BOND: "Bonds",
    Lien.OTHER: "Other", Lien.BLANK: "Not stated",
}  # fmt: skip


def _distribution(pool: Pool, title: str, note: str, buckets: Iterable[tuple[str, float]]) -> Distribution:
    rows = [Share(name=name, par=par, share_pct=par / pool.par * 100) for name, par in buckets if par]
    return Distribution(title=title, of="performing par", note=note, rows=rows)


def _ratings(pool: Pool) -> list[tuple[str, float]]:
    """Par by rank, in Moody's symbols where the file has ratings of theirs, else in S&P's and Fitch's."""
    has_moodys = any(name.startswith("rating_agency_a") for name in pool.view.ranks)
    scale = (*SCALE_A, "D") if has_moodys else SCALE_B
    par = pool.tally.par_by_rank
    rated = list(zip(scale, par[1:MASKED], strict=True))
    return [*rated, ("Masked", par[MASKED]), ("Unrated", par[0] + par[UNBUCKETED])]


def _maturities(pool: Pool, maturity: NDArray[np.float64]) -> list[tuple[str, float]]:
    dated = np.isfinite(maturity) & (np.abs(maturity) < _DAYS_MAX)
    years = np.zeros(len(maturity), np.int64)
    years[dated] = np.floor(maturity[dated]).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
    par: dict[int, float] = {}
    for year in np.unique(years).tolist():
        par[year] = float(pool.weights[years == year].sum())
    undated = par.pop(0, 0.0)
    filled = sorted(year for year, amount in par.items() if amount)
    if not filled:
        return [("Not stated", undated)]
    last = min(filled[-1], filled[0] + YEARS_SHOWN - 1)
    rows = [(str(year), par.get(year, 0.0)) for year in range(filled[0], last + 1)]
    later = sum(amount for year, amount in par.items() if year > last)
    return [*rows, (f"{last + 1} and later", later), ("Not stated", undated)]


_DAYS_MAX: Final = 400_000.0
"""Days from 1970 to about the year 3065: beyond, a maturity is no date."""

_PRICE_EDGES: Final = (0.0, 70.0, 80.0, 90.0, 95.0, 98.0, 100.0)


def _prices(pool: Pool, price: NDArray[np.float64]) -> list[tuple[str, float]]:
    known = np.isfinite(price)
    at = np.searchsorted(_PRICE_EDGES, price[known], side="right")
    par = np.bincount(at, pool.weights[known], len(_PRICE_EDGES) + 1)
    par[1] += par[0]
    between = [f"{low:g} to {high:g}" for low, high in pairwise(_PRICE_EDGES[1:])]
    names = [f"below {_PRICE_EDGES[1]:g}", *between, f"{_PRICE_EDGES[-1]:g} and above"]
    blank = float(pool.weights[~known].sum())
    return [*zip(names, map(float, par[1:]), strict=True), ("Not priced", blank)]
