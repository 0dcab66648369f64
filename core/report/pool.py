"""What a portfolio is made of.

Its largest names, and its par by rating, maturity, price and rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isclose
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.pool_sums import Pool
from core.compliance.result import Results, TestResult
from core.compliance.suites import DEAL_SUITE
from core.definition import Definition
from core.labels import LABELS
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Names
from core.portfolio.model.ratings import MASKED, SCALE_A, SCALE_B, UNBUCKETED
from core.report.content import Concentration, Distribution, Share
from core.words import counted

ROWS_SHOWN: Final = 10
"""Names of a concentration; further ones are one row together."""

YEARS_SHOWN: Final = 12
"""Years of maturity that have a bucket of their own, counted from the first."""


def concentrations_of(
    pool: Pool, results: Results, suite: str, definition: Definition | None, labels: Mapping[str, str] = LABELS
) -> Iterator[Concentration]:
    """Yield obligors, industries and countries by size, of the par and the denominator of the tests.

    Industries are those of the classification of the test that limits the largest, and of each where several do.
    """
    if pool.denominator <= 0:
        return
    of = "the collateral principal amount (performing par and principal cash"
    of += ")" if pool.denominator == pool.cpa else ", with defaulted loans as the deal counts them)"
    limits = dict(_largest_limits(results, suite, definition))
    industries = [field for field in limits if field.startswith("industry")] or ["industry"]
    for field in ("obligor", *industries, "country"):
        # A definition's home countries are one in its view; here each is itself.
        names = (pool.portfolio if field == "country" else pool.view).names.get(field)
        if names is None:
            continue
        by_code = np.bincount(names.codes + 1, pool.weights, len(names.values) + 1)
        par, blank = by_code[1:], float(by_code[0])
        if not (par > 0).any():
            continue
        order = np.argsort(-par, kind="stable")
        order = order[par[order] != 0]
        rest, limit = order[ROWS_SHOWN:], limits.get(field)
        if limit is not None and not _is_of(limit, pool.denominator):
            limit = None
        yield Concentration(
            title=_title(field, labels),
            of=of,
            of_amount=float(pool.denominator),
            rows=[_share(pool, _name(pool, field, names, int(at)), float(par[at])) for at in order[:ROWS_SHOWN]],
            others=_share(pool, counted(len(rest), "other"), float(par[rest].sum())) if len(rest) else None,
            blank=_share(pool, "Not stated", blank) if blank else None,
            limit=None if limit is None else limit.threshold_value,
        )


_TITLES: Final = {
    "obligor": "Obligors", "industry": "Industries", "country": "Countries",
}  # fmt: skip


def _title(field: str, labels: Mapping[str, str]) -> str:
    kind, _, agency = field.partition("_")
    return f"{_TITLES[kind]}, {labels[f'rating_agency_{agency}']}" if agency else _TITLES[kind]


def _name(pool: Pool, field: str, names: Names, code: int) -> str:
    """Return a name as the file writes it.

    The borrower of an obligor's largest loan, unless several obligors count as one.
    """
    borrowers, own = pool.portfolio.names.get("borrower_name"), pool.portfolio.names.get("obligor")
    if field != "obligor" or borrowers is None or own is None:
        return names.values[code]
    rows = np.flatnonzero(names.codes == code)
    largest = borrowers.codes[rows[np.argmax(pool.weights[rows])]]
    if largest < 0 or len(np.unique(own.codes[rows])) > 1:
        return names.values[code]
    return borrowers.values[int(largest)]


def _share(pool: Pool, name: str, par: float) -> Share:
    return Share(name=name, par=par, share_pct=float(par / pool.denominator * 100))


def _is_of(test_result: TestResult, amount: float) -> bool:
    """Return whether a test's share is one of that amount.

    A limit on shares of another has no place beside these.
    """
    denominator = None if test_result.details is None else test_result.details.breakdown.get("denominator")
    return denominator is None or isclose(denominator, amount, rel_tol=1e-9)


def _largest_limits(results: Results, suite: str, definition: Definition | None) -> Iterator[tuple[str, TestResult]]:
    """Yield the columns of names whose largest one a test of the run limits, each with that test."""
    if suite == DEAL_SUITE and definition is not None:
        fields = {
            test.id: "industry" if test.classification in (None, "any") else f"industry_{test.classification}"
            for test in definition.tests
            if test.measure == "industry" and test.nth in (None, 1)
        }
        fields |= {
            test.id: "obligor" for test in definition.tests if test.measure == "obligor" and (test.nth or 1) == 1
        }
    else:
        fields = {"single_obligor_concentration": "obligor", "industry_concentration": "industry"}
    for result in results:
        if result.test_id in fields and result.threshold_type == "max":
            yield fields[result.test_id], result


def distributions_of(pool: Pool, suite: str, labels: Mapping[str, str] = LABELS) -> Iterator[Distribution]:
    """Yield ratings, maturities, prices and liens of the performing par.

    For a deal the ratings of each agency that its tests ask for.
    """
    if pool.par <= 0:
        return
    asked = {test.agency for test in pool.definition.tests} if suite == DEAL_SUITE else set()
    ladders = {agency: pool.view.ranks.get(f"rating_agency_{agency}_ladder") for agency in "abc"}
    by_agency = [(agency, ranks) for agency, ranks in ladders.items() if agency in asked and ranks is not None]
    for agency, ranks in by_agency:
        by_rank = np.bincount(ranks, pool.weights, MASKED + 1).tolist()
        rated = _by_rating("a" if agency == "a" else "b", by_rank, by_rank[0])
        yield _distribution(
            pool, f"Ratings, {labels[f'rating_agency_{agency}']}", "as the deal's tests take them", *rated
        )
    if pool.view.ranks and not by_agency:
        yield _distribution(pool, "Ratings", "by the rating that gives the rating factor", *_ratings(pool))
    maturity = pool.view.numbers.get("maturity_date")
    if maturity is not None:
        yield _distribution(pool, "Maturities", "by the year in which the loan matures", *_maturities(pool, maturity))
    price = pool.view.numbers.get("price")
    if price is not None:
        yield _distribution(pool, "Prices", "percent of par, each from its lower end on", *_prices(pool, price))
    if pool.portfolio.lien is not None:
        par = pool.tally.par_by_lien
        liens = [(words, float(par[lien])) for lien, words in _LIENS.items()]
        yield _distribution(pool, "Ranking", "by the loan's place in its borrower's debt", [], liens)


_LIENS: Final = {
    Lien.FIRST_LIEN: "First lien", Lien.SECOND_LIEN: "Second lien", Lien.UNSECURED: "Unsecured", Lien.BOND: "Bonds",
    Lien.OTHER: "Other", Lien.BLANK: "Not stated",
}  # fmt: skip


Buckets = list[tuple[str, float]]


def _distribution(pool: Pool, title: str, note: str, scale: Buckets, others: Buckets) -> Distribution:
    """Return a scale from its first bucket with par to its last, empty ones between them too; then what is no part of
    it."""
    filled = [at for at, (_, par) in enumerate(scale) if par]
    shown = scale[filled[0] : filled[-1] + 1] if filled else []
    rows = [
        Share(name=name, par=par, share_pct=float(par / pool.par * 100))
        for name, par in (*shown, *(line for line in others if line[1]))
    ]
    return Distribution(title=title, of="performing par", note=note, rows=rows)


def _ratings(pool: Pool) -> tuple[Buckets, Buckets]:
    """Par by rank, in Moody's symbols where the file has ratings of theirs, else in S&P's and Fitch's."""
    has_moodys = any(name.startswith("rating_agency_a") for name in pool.view.ranks)
    par = pool.tally.par_by_rank
    return _by_rating("a" if has_moodys else "b", par, par[0] + par[UNBUCKETED])


def _by_rating(agency: str, par: Sequence[float], unrated: float) -> tuple[Buckets, Buckets]:
    scale = (*SCALE_A, "D") if agency == "a" else SCALE_B
    rated = [(symbol, float(amount)) for symbol, amount in zip(scale, par[1:MASKED], strict=True)]
    return rated, [("Masked", float(par[MASKED])), ("Unrated", unrated)]


def _maturities(pool: Pool, maturity: NDArray[np.float64]) -> tuple[Buckets, Buckets]:
    dated = np.isfinite(maturity) & (np.abs(maturity) < _DAYS_MAX)
    years = np.zeros(len(maturity), np.int64)
    years[dated] = np.floor(maturity[dated]).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
    calendar_years, places = np.unique(years, return_inverse=True)
    par = dict(zip(calendar_years.tolist(), np.bincount(places, pool.weights).tolist(), strict=True))
    undated = par.pop(0, 0.0)
    filled = sorted(year for year, amount in par.items() if amount)
    if not filled:
        return [], [("Not stated", undated)]
    last = min(filled[-1], filled[0] + YEARS_SHOWN - 1)
    rows = [(str(year), par.get(year, 0.0)) for year in range(filled[0], last + 1)]
    later = sum(amount for year, amount in par.items() if year > last)
    return rows, [(f"{last + 1} and later", later), ("Not stated", undated)]


_DAYS_MAX: Final = 400_000.0
"""Days from 1970 to about the year 3065: beyond, a maturity is no date."""

_PRICE_EDGES: Final = (0.0, 70.0, 80.0, 90.0, 95.0, 98.0, 100.0)


def _prices(pool: Pool, price: NDArray[np.float64]) -> tuple[Buckets, Buckets]:
    known = np.isfinite(price)
    at = np.searchsorted(_PRICE_EDGES, price[known], side="right")
    par = np.bincount(at, pool.weights[known], len(_PRICE_EDGES) + 1)
    par[1] += par[0]
    between = [f"{low:g} to {high:g}" for low, high in pairwise(_PRICE_EDGES[1:])]
    names = [f"below {_PRICE_EDGES[1]:g}", *between, f"{_PRICE_EDGES[-1]:g} and above"]
    blank = float(pool.weights[~known].sum())
    return [*zip(names, map(float, par[1:]), strict=True)], [("Not priced", blank)]
