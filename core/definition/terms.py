"""The words of a definition's formulas and measures.

Fields of a loan, totals, figures with parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["percent", "factor", "score", "years", "amount", "number"]
Category = Literal["concentration", "rating", "coverage", "portfolio", "liquidity"]

UNITS: Final = ("percent", "factor", "score", "years", "amount", "number")
CATEGORIES: Final = ("concentration", "rating", "coverage", "portfolio", "liquidity")
FORMULA_MAX: Final = 2_000
"""Characters of a formula."""

READY_NAMES: Final = ("us_bsl", "euro")
"""The ready-made definitions, each of a market."""

AGENCIES: Final = ("a", "b", "c")
"""Moody's, S&P and Fitch."""

LOAN_NUMBERS: Final = (
    "par_value", "price", "purchase_price", "spread", "floor", "all_in_rate", "base_rate_level", "recovery_rate",
    "recovery_rate_a", "recovery_rate_b", "recovery_rate_c", "facility_size", "unfunded", "days_past_due",
    "quote_depth", "average_life", "maturity_date", "default_date", "purchased_accrued_interest",
)  # fmt: skip
"""Numbers of a loan under the names and in the units of a portfolio; blank where unknown. Dates compare with DATE()."""

LOAN_TEXTS: Final = (
    "obligor", "borrower_name", "facility_name", "industry", "industry_a", "industry_b", "industry_c", "country",
    "currency", "base_rate", "payment_frequency", "cusip", "loanx_id", "isin", "issuer_id",
)  # fmt: skip

LOAN_FLAGS: Final = (
    "is_defaulted", "cov_lite", "is_dip", "is_current_pay", "is_pik", "is_deferring", "is_long_dated",
    "participation", "is_fixed", "is_bond", "is_revolving", "is_delayed_draw", "is_bridge",
)  # fmt: skip
"""TRUE or FALSE; FALSE in every row where the file has no such column."""

LOAN_MADE: Final = {
    "lien": "first_lien, second_lien, unsecured, bond, other, or blank",
    "rank_a": "Moody's rating by the definition's rules as a rank: 1 (Aaa) to 22 (defaulted), blank without one",
    "rank_b": "S&P's",
    "rank_c": "Fitch's",
    "rank": "the deal's own rating",
    "facility_rank_a": "Moody's rating of the loan itself",
    "facility_rank_b": "S&P's",
    "facility_rank_c": "Fitch's",
    "is_home": "whether the country is one of the home countries; a blank country counts as home",
    "is_discount": "whether the loan is a discount obligation",
    "years_to_maturity": "from the as-of day, in years of 365.25 days",
    "obligor_par": "performing par of the loan's obligor, all its facilities",
    "payments_a_year": "how often it pays interest: 4 quarterly, 2 twice a year, 1 yearly; blank where not known",
}
"""What is worked out for formulas beside the columns."""

LOAN_FIELDS: Final = frozenset((*LOAN_NUMBERS, *LOAN_TEXTS, *LOAN_FLAGS, *LOAN_MADE))

TOTALS: Final = {
    "par": "funded par of the performing loans",
    "cash": "principal cash that counts",
    "cpa": "collateral principal amount: par and cash",
    "denominator": "the collateral principal amount with defaulted loans as the conventions carry them",
    "denominator_and_unfunded": "the denominator with what is not drawn of the performing loans",
    "adjusted": "the numerator of the OC ratios",
    "defaulted_par": "par of the defaulted loans",
    "floating_par": "par of the performing floating-rate loans",
    "fixed_par": "par of the performing fixed-rate loans",
    "interest": "the numerator of the IC ratios",
    "unfunded": "what is not drawn of the performing loans, where the file has such a column",
    "loans": "number of performing loans",
    "obligors": "number of obligors with par",
    "target_par": "the target par amount of the conventions",
    "as_of": "the day, as a spreadsheet's number of a date",
}
"""What `value` formulas may name beside other tests; money in the deal's currency."""

FIGURES: Final = {
    "principal_cash": "principal cash",
    "interest_collected": "interest collected in the period so far",
    "interest_receivable": "interest still to be received in the period",
    "interest_other": "what else the numerator of interest coverage adds",
    "senior_fees": "senior fees and expenses of the period",
    "base_rate": "base rate, percent",
}
"""Figures of a file's pages on the deal that a definition may correct, each a field of `Deal`."""

CLASS_FIGURES: Final = {
    "current_balance": "balance",
    "deferred_interest": "deferred interest",
    "interest_due": "interest due for the period",
    "coupon": "coupon, percent",
}
"""Figures of a class of notes that it may correct, each a field of `Tranches`."""

FEE_BASES: Final = ("cpa", "par", "denominator", "target_par")
"""What a fee may be a rate of."""

DENOMINATORS: Final = (
    "cpa", "par", "denominator", "denominator_and_unfunded", "floating_par", "fixed_par", "target_par",
)  # fmt: skip
"""What a share may be a share of."""


@dataclass(frozen=True)
class Measure:
    """A figure that a test may name."""

    unit: Unit
    category: Category
    meaning: str
    takes: tuple[str, ...] = ()
    """Parameters, of `PARAMETERS`."""
    needs: tuple[str, ...] = ()
    """The ones of them that must be given."""


PARAMETERS: Final = ("agency", "classification", "class", "nth", "line", "group", "of", "among", "adds")
"""The parameters that a measure may have, as a definition's document names it."""

ADDED: Final = ("cash", "unfunded")
"""What a figure may add to the par of its loans."""

_PAR: Final = ("of", "among", "adds")
_RANKED: Final = ("nth", *_PAR)

FORMULAS: Final = {
    "senior_secured": '=OR(lien="first_lien",lien="bond")',
    "non_senior_secured": '=OR(lien="second_lien",lien="unsecured",lien="other")',
    "cov_lite": "=cov_lite",
    "fixed_rate": "=is_fixed",
    "floating_rate": "=NOT(is_fixed)",
    "dip": "=is_dip",
    "current_pay": "=is_current_pay",
    "discount": "=is_discount",
    "bridge": "=is_bridge",
    "participations": "=participation",
    "pik": "=OR(is_pik,is_deferring)",
    "revolving": "=OR(is_revolving,is_delayed_draw)",
    "long_dated": "=is_long_dated",
    "bonds": "=is_bond",
    "pays_less_than_quarterly": "=payments_a_year<4",
    "pays_semi_annually": "=payments_a_year=2",
    "pays_annually": "=payments_a_year<2",
}
"""The loans that a measure counts, as a share's formula; where bonds are senior secured."""

AMONG: Final = (*FORMULAS, "foreign_country", "small_facilities")
"""Measures whose loans a figure may be of, by their name."""

MEASURES: Final[dict[str, Measure]] = {
    "obligor": Measure("percent", "concentration", "par of the nth largest obligor", _RANKED),
    "top_obligors": Measure("percent", "concentration", "par of the n largest obligors together", _RANKED),
    "industry": Measure(
        "percent", "concentration", "par of the nth largest industry of a classification",
        ("classification", *_RANKED),
    ),
    "country": Measure("percent", "concentration", "par of the nth largest country that is not home", _RANKED),
    "country_group": Measure(
        "percent", "concentration", "par of the countries of a group, home or not", ("group", *_PAR), ("group",)
    ),
    "country_of_group": Measure(
        "percent", "concentration", "par of the nth largest country of a group", ("group", *_RANKED), ("group",)
    ),
    "senior_secured": Measure("percent", "concentration", "par of what is senior secured", _PAR),
    "non_senior_secured": Measure("percent", "concentration", "par of what is not senior secured", _PAR),
    "cov_lite": Measure("percent", "concentration", "covenant-lite par", _PAR),
    "fixed_rate": Measure("percent", "concentration", "fixed-rate par", _PAR),
    "floating_rate": Measure("percent", "concentration", "floating-rate par", _PAR),
    "dip": Measure("percent", "concentration", "par of loans to debtors in possession", _PAR),
    "current_pay": Measure("percent", "concentration", "par of current pay obligations", _PAR),
    "discount": Measure("percent", "concentration", "par of discount obligations", _PAR),
    "bridge": Measure("percent", "concentration", "par of bridge loans", _PAR),
    "participations": Measure("percent", "concentration", "par held by participation", _PAR),
    "pik": Measure("percent", "concentration", "par of loans that may defer interest, or do", _PAR),
    "revolving": Measure("percent", "concentration", "par of revolving and delayed drawdown loans", _PAR),
    "long_dated": Measure("percent", "concentration", "par of long-dated obligations", _PAR),
    "bonds": Measure("percent", "concentration", "par of bonds", _PAR),
    "pays_less_than_quarterly": Measure(
        "percent", "concentration", "par of loans that pay interest less often than quarterly", _PAR
    ),
    "pays_semi_annually": Measure("percent", "concentration", "par of loans that pay interest twice a year", _PAR),
    "pays_annually": Measure(
        "percent", "concentration", "par of loans that pay interest less often than twice a year", _PAR
    ),
    "foreign_country": Measure("percent", "concentration", "par of obligors outside the home countries", _PAR),
    "small_facilities": Measure("percent", "liquidity", "par of facilities below the conventions' size", _PAR),
    "ccc": Measure(
        "percent", "rating", "par rated Caa1/CCC+ or lower: by one agency, else by the one that sees the most",
        ("agency", "of"),
    ),
    "warf": Measure("factor", "rating", "weighted average rating factor, by the agency's own factors", ("agency",)),
    "warr": Measure("percent", "rating", "weighted average recovery rate", ("agency",)),
    "oc": Measure("percent", "coverage", "overcollateralisation of a class", ("class",), ("class",)),
    "ic": Measure("percent", "coverage", "interest coverage of a class", ("class",), ("class",)),
    "reinvestment_oc": Measure("percent", "coverage", "the reinvestment overcollateralisation ratio"),
    "event_of_default": Measure("percent", "coverage", "the event of default par value ratio"),
    "wal": Measure("years", "portfolio", "weighted average life"),
    "was": Measure("percent", "portfolio", "weighted average spread, with floor credit and excess coupon"),
    "wac": Measure("percent", "portfolio", "weighted average coupon of the fixed-rate loans"),
    "diversity": Measure("score", "portfolio", "Moody's diversity score", ("classification",)),
    "delinquency": Measure("percent", "portfolio", "defaulted and past-due par over all par"),
    "price_below": Measure("percent", "liquidity", "priced par below a price", ("line",), ("line",)),
    "average_price": Measure("percent", "liquidity", "weighted average price"),
    "quoted_depth": Measure("percent", "liquidity", "par with two or more quotes over par"),
    "spwarf": Measure("factor", "rating", "S&P weighted average rating factor"),
    "default_rate_dispersion": Measure("factor", "rating", "average distance of the S&P factors from SPWARF"),
    "obligor_diversity": Measure("number", "portfolio", "effective number of obligors"),
    "industry_diversity": Measure("number", "portfolio", "effective number of S&P industries", ("classification",)),
    "regional_diversity": Measure("number", "portfolio", "effective number of S&P regions"),
    "cdo_monitor_wal": Measure("years", "portfolio", "weighted average life of the CDO Monitor: CCC- or better"),
    "sdr": Measure("percent", "rating", "S&P scenario default rate", ("classification",)),
    "bdr": Measure("percent", "rating", "S&P break-even default rate"),
    "cdo_monitor": Measure("percent", "rating", "break-even less scenario default rate", ("classification",)),
}  # fmt: skip

SUITE_TESTS: Final = {
    "single_obligor_concentration": "obligor", "top_5_concentration": "top_obligors",
    "industry_concentration": "industry", "second_industry_concentration": "industry",
    "non_senior_secured_concentration": "non_senior_secured", "cov_lite_concentration": "cov_lite",
    "ccc_bucket_pct": "ccc", "average_rating_factor": "warf", "weighted_average_recovery_rate": "warr",
    "oc_ratio": "oc", "oc_ratio_senior": "oc", "ic_ratio": "ic", "ic_ratio_senior": "ic", "wal": "wal", "was": "was",
    "diversity_score": "diversity", "fixed_rate_concentration": "fixed_rate",
    "foreign_country_concentration": "foreign_country", "delinquency_pct": "delinquency",
    "interest_diversion_ratio": "reinvestment_oc", "price_below_80_pct": "price_below",
    "price_below_90_pct": "price_below", "weighted_average_price": "average_price",
    "small_facility_concentration": "small_facilities", "quoted_depth_pct": "quoted_depth",
}  # fmt: skip
"""The measure of each test of the suites. A definition's test of the same id gives that test its limit, so that it must
not measure another thing."""
