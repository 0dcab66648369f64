"""S&P CDO Monitor, non-model version.

The scenario default rate of a portfolio from six of its measures.

The formula is that of "Updated Assumptions For CDO Monitor Non-Model Version" (S&P Global Ratings, 21 June 2019), which
indentures repeat; its coefficients give the rate that a trustee printed from the measures beside it, to the last digit.
It looks at performing loans rated CCC- or better, or down to the definition's cut-off; an unrated one is rated what the
definition says. A loan whose rating is masked is left out of the averages of rating factors, with a warning, and counts
everywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.ratings import MASKED

RATING_FACTORS: Final = (
    13.51, 26.75, 46.36, 63.90, 99.50, 146.35, 199.83, 271.01, 361.17, 540.42, 784.92, 1233.63, 1565.44, 1982.00,
    2859.50, 3610.11, 4641.40, 5293.00, 5751.10, 10000.0, 10000.0, 10000.0,
)  # fmt: skip
"""S&P rating factors by rank, 1 (AAA) to 22 (D). Compared with the table on page 61 of Blue Owl Technology Finance's
credit agreement (SEC exhibit 10.1 of 3 November 2025) and with the factors of S&P's presale of AUF Funding (15 December
2022)."""

WORST_RANK: Final = 19
"""CCC-: what is rated lower is none of the assets that the monitor looks at, unless a definition says otherwise."""

CONSTANT: Final = 0.247621
DIVISORS: Final = (9162.65, -16757.2, -7677.8, -2177.56, -34.0948, 27.3896)
"""Of SPWARF, default rate dispersion, obligor, industry and regional diversity, and weighted average life."""

_REGIONS: Final = {
    "Africa: Eastern": "DJ ER ET KE SD SO",
    "Africa: Southern": "BW LS MU NA SC SH SZ ZA",
    "Africa: Sub-Saharan": "AO BF BI BJ CD CF CG CI CM CV GA GH GM GN GQ GW LR MG ML MR MW MZ NE NG RW SL SN ST TD TG "
    "TZ UG ZM ZW",
    "Americas: Andean": "BO CO EC PE VE",
    "Americas: Mercosur and Southern Cone": "AR BR CL PY UY",
    "Americas: Mexico": "MX",
    "Americas: Other Central and Caribbean": "AG AI AN AW BB BM BS BZ CR CU CW DM DO GD GT GY HN HT JM KN KY LC MS NI "
    "PA PR SR SV TC TT VC VG VI",
    "Americas: U.S. and Canada": "CA US",
    "Asia: China, Hong Kong, Taiwan": "CN HK MO TW",
    "Asia: India, Pakistan and Afghanistan": "AF IN PK",
    "Asia: Other South": "BD BT LK MV NP",
    "Asia: Southeast, Korea and Japan": "BN ID JP KH KP KR LA MM MY PH SG TH TL VN",
    "Asia-Pacific: Australia and New Zealand": "AU CK NZ",
    "Asia-Pacific: Islands": "FJ FM KI MH NC NR PF PG SB TO TV VU WS",
    "Europe: Central": "CZ EE HU LT LV PL SK",
    "Europe: Eastern": "AL BA BG HR ME MK RO RS TR XK",
    "Europe: Russia and CIS": "AM AZ BY GE KG KZ MD MN RU TJ TM UA UZ",
    "Europe: Western": "AD AT BE CH CY DE DK ES FI FR GB GG GI GR IE IM IS IT JE LI LU MC MT NL NO PT SE SI SM",
    "Middle East: Gulf States": "AE BH IQ IR KW OM QA SA YE",
    "Middle East: MENA": "DZ EG EH IL JO LB LY MA PS SY TN",
}
"""Regions by the names that indentures give them, of ISO codes. Grouped from knowledge of such schedules: no public
copy was found to compare it with. The regional diversity that one report prints follows from it."""

REGION_OF: Final = {country: region for region, countries in _REGIONS.items() for country in countries.split()}
"""Region by ISO code; any other country is a region of its own."""


class Monitor(NamedTuple):
    """What the monitor sees of a portfolio.

    Diversities are effective numbers, years of 365.25 days.
    """

    par: float
    """Of the loans whose rating counts."""
    covered: float
    """Their fraction of the performing par."""
    spwarf: float
    dispersion: float
    obligors: float
    industries: float
    regions: float
    years: float

    @property
    def scenario_default_rate(self) -> float:
        """Percent of the portfolio that defaults in the scenario of the highest class."""
        measures = (self.spwarf, self.dispersion, self.obligors, self.industries, self.regions, self.years)
        return 100 * (CONSTANT + sum(measure / by for measure, by in zip(measures, DIVISORS, strict=True)))


def monitor(
    par: NDArray[np.float64],
    ranks: NDArray[np.uint8],
    obligor: NDArray[np.int32],
    industry: NDArray[np.int32],
    region: NDArray[np.int32],
    years: NDArray[np.float64],
    *,
    worst: int = WORST_RANK,
    hidden: Sequence[tuple[int, float]] = (),
) -> Monitor | None:
    """Return the monitor of loans.

    Performing par, S&P ranks, codes by group (-1 is blank), years to maturity.

    None where no loan is rated `worst` or better. `hidden` is (rank, par) of masked loans, where that is known of all
    of them together.
    """
    rated = (ranks > 0) & (ranks <= worst) & (par > 0)
    known_ranks = [rank for rank, _ in hidden if rank <= worst]
    weight = np.append(par[rated], [amount for rank, amount in hidden if rank <= worst])
    total = float(weight.sum())
    if total <= 0:
        return None
    factors = np.array((0.0, *RATING_FACTORS))[np.append(ranks[rated], known_ranks).astype(np.intp)]
    spwarf = float(weight @ factors) / total
    # A masked rating takes no loan out of its obligor, industry or region.
    chosen = rated | ((ranks == MASKED) & (par > 0))
    chosen_par = par[chosen]
    known = np.isfinite(years[chosen])
    lives = float(chosen_par[known].sum())
    return Monitor(
        total,
        total / float(par[par > 0].sum()),
        spwarf,
        float(weight @ np.abs(factors - spwarf)) / total,
        effective_number(obligor[chosen], chosen_par),
        effective_number(industry[chosen], chosen_par),
        effective_number(region[chosen], chosen_par),
        float(chosen_par[known] @ years[chosen][known]) / lives if lives > 0 else np.nan,
    )


def effective_number(codes: NDArray[np.int32], par: NDArray[np.float64]) -> float:
    """How many groups of equal size are as concentrated.

    1 over the sum of squared shares. All blanks are one group, so that what a file leaves out makes no portfolio
    more diverse.
    """
    sums = np.bincount(np.maximum(codes, -1) + 1, weights=par) if len(codes) else np.zeros(0)
    squares, total = float(sums @ sums), float(par.sum())
    return total * total / squares if squares > 0 else 0.0


def regions(countries: tuple[str, ...]) -> NDArray[np.int32]:
    """Return the code of each country's region, and -1 for a blank at the end."""
    names: dict[str, int] = {}
    return np.array(
        [*(names.setdefault(REGION_OF.get(country, country), len(names)) for country in countries), -1], np.int32
    )


def break_even_default_rate(c0: float, c1: float, c2: float, spread: float, recovery: float) -> float:
    """Percent: C0 + C1 x weighted average spread + C2 x weighted average recovery rate, both given in percent."""
    return 100 * (c0 + c1 * spread / 100 + c2 * recovery / 100)
