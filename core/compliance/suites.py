"""The compliance tests as rows, and the two suites that run them.

Limits are what published indentures carry, or a house figure where they have none: `source` says which. Warnings stand
at nine tenths of a maximum and about one point above a minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from core.compliance import measures
from core.compliance.coverage import Role
from core.compliance.pool_sums import Measurement, Pool
from core.compliance.result import Direction
from core.compliance.spreads import average_spread

Category = Literal["concentration", "rating", "coverage", "portfolio", "liquidity"]
Divisor = Literal["cpa", "par"]

UNIT_SIGNS: Final = {"percent": " %", "years": " years", "factor": "", "score": "", "amount": "", "number": ""}
"""What stands behind a figure of each unit."""

OBLIGOR: Final = "borrower_name or issuer_id"
RATING: Final = "rating or rating_agency_a or rating_agency_b or rating_agency_c"


@dataclass(frozen=True)
class Test:
    """One row of the catalogue. Figures in `unit`; percent means percent points."""

    __test__ = False  # not a test case, whatever its name says to a test collector

    test_id: str
    name: str
    category: Category
    description: str
    formula: str
    source: str
    """Where the test and its limit come from."""
    unit: Literal["percent", "factor", "score", "years", "amount", "number"]
    threshold_type: Direction
    limit: float
    warning: float
    columns: tuple[str, ...]
    """What the holdings must have; "a or b" is met by either."""
    measure: Callable[[Pool], Measurement]
    divides_by: tuple[Divisor, ...] = ("cpa",)
    """What must be above zero: the collateral principal amount, performing par."""
    sheet_trigger: Role | None = None
    """The role whose trigger in the tranche sheet takes the default's place."""

    @cached_property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """`columns` as tuples of alternatives."""
        return tuple(tuple(column.split(" or ")) for column in self.columns)

    @cached_property
    def required(self) -> frozenset[str]:
        """Those of `columns` for which no other may stand."""
        return frozenset(options[0] for options in self.alternatives if len(options) == 1)

    @cached_property
    def choices(self) -> tuple[tuple[str, ...], ...]:
        """Those of `alternatives` of which one is enough."""
        return tuple(options for options in self.alternatives if len(options) > 1)


@dataclass(frozen=True)
class Suite:
    """A named list of tests, in catalogue order."""

    id: str
    name: str
    description: str
    tests: tuple[Test, ...]

    @property
    def test_count(self) -> int:
        return len(self.tests)

    @property
    def categories(self) -> list[str]:
        """The categories of its tests, each once, in order of appearance."""
        return list(dict.fromkeys(test.category for test in self.tests))


CATALOGUE: Final = (
    Test(
        "single_obligor_concentration", "Largest obligor", "concentration",
        "The most that the deal has lent to one obligor, its facilities added up.",
        "largest obligor's par / CPA x 100",
        "A concentration limit of indentures: 2.5 % for the largest obligors in Magnetite XVII and Ares European "
        "CLO XV.",
        "percent", "max", 2.5, 2.25, ("par_value", OBLIGOR), measures.single_obligor,
    ),
    Test(
        "top_5_concentration", "Five largest obligors", "concentration",
        "What the five largest obligors owe together.",
        "par of the 5 largest obligors / CPA x 100",
        "Five times the limit of one obligor. Indentures count other numbers: the ten largest, 16 %, in Ares "
        "European CLO XV.",
        "percent", "max", 12.5, 11.25, ("par_value", OBLIGOR), measures.top_five_obligors,
    ),
    Test(
        "industry_concentration", "Largest industry", "concentration",
        "The share of the industry with the most par.",
        "largest industry's par / CPA x 100",
        "A concentration limit of indentures, by Moody's industries: 15 % in Magnetite XVII.",
        "percent", "max", 15.0, 13.5, ("par_value", "industry"), measures.largest_industry,
    ),
    Test(
        "second_industry_concentration", "Second largest industry", "concentration",
        "The share of the industry with the second most par.",
        "second largest industry's par / CPA x 100",
        "As for the largest industry: 12 % in Magnetite XVII, 15 % in Ares European CLO XV.",
        "percent", "max", 12.0, 10.8, ("par_value", "industry"), measures.second_industry,
    ),
    Test(
        "non_senior_secured_concentration", "Second lien and unsecured", "concentration",
        "Everything that is not a first-lien senior secured loan.",
        "par not first-lien senior secured / CPA x 100",
        "The other side of the indentures' 90 % senior secured, in Magnetite XVII as in Ares European CLO XV.",
        "percent", "max", 10.0, 9.0, ("par_value", "lien_type"), measures.non_senior_secured,
    ),
    Test(
        "cov_lite_concentration", "Covenant-lite loans", "concentration",
        "Loans without maintenance covenants, as the indenture defines them.",
        "covenant-lite par / CPA x 100",
        "A concentration limit of indentures: 60 % in Magnetite XVII, 30 % in Ares European CLO XV.",
        "percent", "max", 60.0, 54.0, ("par_value", "cov_lite"), measures.cov_lite,
    ),
    Test(
        "ccc_bucket_pct", "CCC/Caa bucket", "rating",
        "Loans rated Caa1/CCC+ or lower, by the agency that sees the most of them.",
        "greatest over agencies of par rated Caa1/CCC+ or lower / CPA x 100",
        "A limit of indentures for each agency by itself: 7.5 % in Magnetite XVII and Ares European CLO XV.",
        "percent", "max", 7.5, 6.75, ("par_value", RATING), measures.ccc_bucket,
    ),
    Test(
        "average_rating_factor", "WARF", "rating",
        "Ten-year expected default of the average loan, on the agencies' factor scale.",
        "sum(par x rating factor) / PAR",
        "Moody's rating factors, from 1 for Aaa to 10,000. Indentures test the average: 3,148 in Ares European "
        "CLO XV, 3,218 in Magnetite XVII after its recovery modifier.",
        "factor", "max", 3000.0, 2900.0, ("par_value", RATING), measures.rating_factor, ("par",),
    ),
    Test(
        "weighted_average_recovery_rate", "WARR", "rating",
        "What the average loan would recover in a default.",
        "sum(par x recovery rate) / PAR",
        "Moody's recovery rates, by kind of loan and its notches from the obligor's rating: 45.5 % in Magnetite "
        "XVII, 42.6 % in Ares European CLO XV.",
        "percent", "min", 43.0, 44.0, ("par_value", "recovery_rate or lien_type"), measures.recovery_rate, ("par",),
    ),
    Test(
        "oc_ratio", "Junior overcollateralisation", "coverage",
        "Collateral over the debt down to the most junior tested class.",
        "ACPA / balance of the most junior tested class and all senior x 100",
        "The par value test of indentures: 104.2 % for class E in Ares LXVIII and Magnetite XVII.",
        "percent", "min", 104.20, 105.20, ("par_value",), measures.junior_oc, sheet_trigger="junior_oc",
    ),
    Test(
        "oc_ratio_senior", "Senior overcollateralisation (A/B)", "coverage",
        "Collateral over the debt down to the most senior tested class.",
        "ACPA / balance of the most senior tested class and all senior x 100",
        "The par value test of indentures for classes A and B: 121.6 % in Ares LXVIII, 124.3 % in Magnetite XVII.",
        "percent", "min", 121.60, 122.60, ("par_value",), measures.senior_oc, sheet_trigger="senior_oc",
    ),
    Test(
        "ic_ratio", "Junior interest coverage", "coverage",
        "The period's interest over what is due down to the most junior tested class.",
        "(interest - senior fees) / interest due on the most junior IC-tested class and all senior x 100",
        "The interest coverage test of indentures: 105 % for class E in Ares LXVIII, for class D in Magnetite XVII.",
        "percent", "min", 105.0, 107.0, ("par_value", "all_in_rate or spread"), measures.junior_ic,
        ("cpa", "par"), sheet_trigger="junior_ic",
    ),
    Test(
        "wal", "Weighted average life", "portfolio",
        "Years until the average unit of principal is due.",
        "sum(par x years) / PAR",
        "A collateral quality test of indentures. Its limit falls as the deal ages: 6.74 years in Magnetite "
        "XVII, 4.5 in Ares European CLO XV late in its life.",
        "years", "max", 6.0, 5.5, ("par_value", "maturity_date or average_life"), measures.average_life, ("par",),
    ),
    Test(
        "was", "Weighted average spread", "portfolio",
        "Spread of the floating-rate loans with the credit of their floors.",
        "sum(par x (spread + floor credit)) / floating PAR, plus excess coupon where the deal has a reference coupon",
        "A collateral quality test of indentures: 3.94 % in Magnetite XVII, 3.65 % in Ares European CLO XV. The "
        "limit is a house figure below both, since spreads have narrowed.",
        "percent", "min", 3.25, 3.40, ("par_value", "spread or all_in_rate"),
        lambda pool: average_spread(pool, "was"), ("par",),
    ),
    Test(
        "diversity_score", "Moody's diversity score", "portfolio",
        "How many equal and independent loans would spread the risk as well.",
        "sum over industries of score(sum over obligors of min(1, obligor's par / average obligor's par))",
        "Moody's diversity score, by its table of scores for an industry: 55 in Magnetite XVII, 59 in Ares "
        "European CLO XV.",
        "score", "min", 55.0, 60.0, ("par_value", OBLIGOR, "industry"), measures.diversity_score, ("par",),
    ),
    Test(
        "fixed_rate_concentration", "Fixed-rate assets", "concentration",
        "Loans and bonds that pay a fixed coupon.",
        "fixed-rate par / CPA x 100",
        "A concentration limit of indentures: 2.5 % in Magnetite XVII, 10 % in Ares European CLO XV; this one is "
        "between them.",
        "percent", "max", 5.0, 4.5, ("par_value", "coupon_type"), measures.fixed_rate,
    ),
    Test(
        "foreign_country_concentration", "Obligors outside the US", "concentration",
        "Obligors whose country is not the United States.",
        "par with a country other than US / CPA x 100",
        "A concentration limit of US indentures: 20 % in Magnetite XVII, with lower ones for groups of countries.",
        "percent", "max", 20.0, 18.0, ("par_value", "country"), measures.foreign_country,
    ),
    Test(
        "ic_ratio_senior", "Senior interest coverage (A/B)", "coverage",
        "The period's interest over what is due down to the most senior tested class.",
        "(interest - senior fees) / interest due on the most senior IC-tested class and all senior x 100",
        "The interest coverage test of indentures for classes A and B: 120 % in Ares LXVIII and Ares European "
        "CLO XV, 115 % in Magnetite XVII.",
        "percent", "min", 120.0, 125.0, ("par_value", "all_in_rate or spread"), measures.senior_ic,
        ("cpa", "par"), sheet_trigger="senior_ic",
    ),
    Test(
        "delinquency_pct", "Defaulted and past-due", "portfolio",
        "Defaulted loans, and performing ones more than 30 days past due.",
        "(defaulted par + performing par with days past due > 30) / (PAR + defaulted par) x 100",
        "House figure: no indenture limits it.",
        "percent", "max", 5.0, 3.0, ("par_value", "days_past_due or is_defaulted"), measures.delinquency, (),
    ),
    Test(
        "interest_diversion_ratio", "Interest diversion (reinvestment OC)", "coverage",
        "The junior ratio against the higher mark at which interest is diverted to new collateral.",
        "ACPA / balance of the most junior tested class and all senior x 100",
        "Indentures divert interest below half a point above the junior trigger: 104.7 % in Ares LXVIII, 103.74 "
        "% in Ares European CLO XV.",
        "percent", "min", 104.70, 105.70, ("par_value",), measures.junior_oc, sheet_trigger="diversion",
    ),
    Test(
        "price_below_80_pct", "Priced below 80", "liquidity",
        "Loans that the market marks below 80, of those with a price.",
        "performing par with price < 80 / performing par with a price x 100",
        "House figure. At 80 indentures begin to count a loan as bought at a discount.",
        "percent", "max", 7.5, 5.0, ("par_value", "price"), measures.price_below_80, ("par",),
    ),
    Test(
        "price_below_90_pct", "Priced below 90", "liquidity",
        "Loans that the market marks below 90, of those with a price.",
        "performing par with price < 90 / performing par with a price x 100",
        "House figure. At 90 a loan that was bought at a discount ceases to count as one.",
        "percent", "max", 15.0, 12.0, ("par_value", "price"), measures.price_below_90, ("par",),
    ),
    Test(
        "weighted_average_price", "Weighted average price", "liquidity",
        "The mark of the average loan, of those with a price.",
        "sum(par x price) / performing par with a price",
        "House figure. S&P had European CLOs at 93.1 to 94.3 on average in 2023.",
        "percent", "min", 92.0, 94.0, ("par_value", "price"), measures.average_price, ("par",),
    ),
    Test(
        "small_facility_concentration", "Small facilities", "liquidity",
        "Facilities too small to trade well: below 150m in the US, below 250m elsewhere.",
        "par with facility size < 150m (US) or < 250m (other) / CPA x 100",
        "A concentration limit of indentures, with these sizes: 7 % in Magnetite XVII.",
        "percent", "max", 7.0, 6.0, ("par_value", "facility_size", "country"), measures.small_facilities,
    ),
    Test(
        "quoted_depth_pct", "Two or more dealer quotes", "liquidity",
        "Loans for which at least two dealers make a price.",
        "par with quote depth >= 2 / PAR x 100",
        "House figure, after the indentures' rule that two dealers' bids make a market value.",
        "percent", "min", 80.0, 85.0, ("par_value", "quote_depth"), measures.quoted_depth, ("par",),
    ),
)  # fmt: skip

TESTS: Final = {test.test_id: test for test in CATALOGUE}

DEAL_SUITE: Final = "deal"
"""The suite of the tests of a deal's definition."""

SUITES: Final = {
    suite.id: suite
    for suite in (
        Suite("standard", "Standard", "Concentration, collateral quality and coverage tests of a CLO.", CATALOGUE[:15]),
        Suite("enhanced", "Enhanced", "The standard tests, further limits, and the liquidity of the book.", CATALOGUE),
    )
}
