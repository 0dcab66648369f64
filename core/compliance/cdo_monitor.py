"""S&P CDO Monitor, non-model version: the scenario default rate of a portfolio from six of its measures.

The formula, its coefficients and the rating factors are those that S&P Global Ratings published with its CLO criteria
of June 2019 and that indentures repeat. It looks at performing loans rated CCC- or better. A loan whose rating is
masked is left out of the averages of rating factors, which is told, and counts everywhere else.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.ratings import MASKED

RATING_FACTORS: Final = (
    13.51, 26.75, 46.36, 63.90, 99.50, 146.35, 199.83, 271.01, 361.17, 540.42, 784.92, 1233.63, 1565.44, 1982.00,
    2859.50, 3610.11, 4641.40, 5293.00, 5751.10, 10000.0, 10000.0, 10000.0,
)  # fmt: skip
"""S&P rating factors by rank, 1 (AAA) to 22 (D)."""

WORST_RANK: Final = 19
"""CCC-: what is rated lower is none of the assets that the monitor looks at."""

CONSTANT: Final = 0.247621
DIVISORS: Final = (9162.65, -16757.2, -7677.8, -2177.56, -34.0948, 27.3896)
"""Of SPWARF, default rate dispersion, obligor, industry and regional diversity, and weighted average life."""

_REGIONS: Final = {
    "US and Canada": "US CA",
    "Western Europe": "AD AT BE CH DE DK ES FI FR GB GG GI GR IE IM IS IT JE LI LU MC NL NO PT SE SM",
    "Central Europe": "AL BA BG CY CZ EE HR HU LT LV ME MK MT PL RO RS SI SK TR",
    "Eastern Europe": "AM AZ BY GE KG KZ MD MN RU TJ TM UA UZ",
    "Australia and New Zealand": "AU NZ",
    "China, Hong Kong, Taiwan": "CN HK TW",
    "India": "AF IN PK",
    "Other Asia": "BD ID JP KH KR LA LK MM MY NP PH SG TH VN",
    "Middle East": "AE BH EG IL IQ IR JO KW LB OM QA SA SY YE",
    "Mexico": "MX",
    "Caribbean and Central America": "BB BM BS BZ CR CU DO GT HN HT JM KY NI PA PR SV TT VG",
    "South America": "AR BO BR CL CO EC GY PE PY SR UY VE",
    "Africa": "AO BW CI CM ET GH KE MA MU MZ NA NG SN TN TZ UG ZA ZM ZW",
}
REGION_OF: Final = {country: region for region, countries in _REGIONS.items() for country in countries.split()}
"""Region by ISO code; any other country is a region of its own."""


class Monitor(NamedTuple):
    """What the monitor sees of a portfolio. Diversities are effective numbers, years of 365.25 days."""

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
        return 100 * (CONSTANT + sum(one / by for one, by in zip(measures, DIVISORS, strict=True)))


def monitor(
    par: NDArray[np.float64],
    ranks: NDArray[np.uint8],
    obligor: NDArray[np.int32],
    industry: NDArray[np.int32],
    region: NDArray[np.int32],
    years: NDArray[np.float64],
) -> Monitor | None:
    """The monitor of loans: performing par, S&P ranks, codes by group (-1 is blank), years to maturity.

    None where no loan is rated CCC- or better.
    """
    rated = (ranks > 0) & (ranks <= WORST_RANK) & (par > 0)
    weight = par[rated]
    total = float(weight.sum())
    if total <= 0:
        return None
    factors = np.array((0.0, *RATING_FACTORS))[ranks[rated]]
    spwarf = float(weight @ factors) / total
    # A masked rating takes no loan out of its obligor, industry or region.
    chosen = rated | ((ranks == MASKED) & (par > 0))
    held = par[chosen]
    known = np.isfinite(years[chosen])
    lives = float(held[known].sum())
    return Monitor(
        total,
        total / float(par[par > 0].sum()),
        spwarf,
        float(weight @ np.abs(factors - spwarf)) / total,
        effective_number(obligor[chosen], held),
        effective_number(industry[chosen], held),
        effective_number(region[chosen], held),
        float(held[known] @ years[chosen][known]) / lives if lives > 0 else np.nan,
    )


def effective_number(codes: NDArray[np.int32], par: NDArray[np.float64]) -> float:
    """How many groups of equal size are as concentrated: 1 over the sum of squared shares. All blanks are one group,
    so that what a file leaves out makes no portfolio more diverse."""
    sums = np.bincount(np.maximum(codes, -1) + 1, weights=par) if len(codes) else np.zeros(0)
    squares = float(sums @ sums)
    return float(par.sum()) ** 2 / squares if squares > 0 else 0.0


def regions(countries: tuple[str, ...]) -> NDArray[np.int32]:
    """The code of each country's region, and -1 for a blank at the end."""
    names: dict[str, int] = {}
    return np.array([*(names.setdefault(REGION_OF.get(one, one), len(names)) for one in countries), -1], np.int32)


def break_even_default_rate(c0: float, c1: float, c2: float, spread: float, recovery: float) -> float:
    """Percent: C0 + C1 x weighted average spread + C2 x weighted average recovery rate, both given in percent."""
    return 100 * (c0 + c1 * spread / 100 + c2 * recovery / 100)
