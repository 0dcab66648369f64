"""The indenture as data.

The sections of a definition as dataclasses, each field a row of the schema.

Percent means percent points (7.5 is 7.5 %), money is in the deal's currency. The defaults are those of the suites, so
that a definition that says nothing changes nothing.
"""

# ruff: noqa: RUF009 - a row of the schema is made once, and nothing in it changes
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal

from core.definition.keys import (
    CheckedKey,
    ChoiceKey,
    DayKey,
    FlagKey,
    IntegerKey,
    ListKey,
    MapKey,
    NamedKeys,
    NumberKey,
    TableKey,
    TextKey,
    key,
)
from core.definition.terms import (
    ADDED,
    AGENCIES,
    AMONG,
    CATEGORIES,
    CLASS_FIGURES,
    DENOMINATORS,
    FEE_BASES,
    FIGURES,
    FORMULA_MAX,
    MEASURES,
    UNITS,
)
from core.frames.brief import brief
from core.portfolio.cells.category_cells import FLOATING_INDEXES
from core.portfolio.cells.category_cells import country as country_code
from core.portfolio.cells.rate_cells import index_name
from core.portfolio.model.ratings import rank

TESTS_MAX: Final = 500
CLASSES_MAX: Final = 50
FAMILIES_MAX: Final = 1_000
FAMILY_MAX: Final = 200
"""Names of one obligor family."""
STEPS_MAX: Final = 120
MATRICES_MAX: Final = 10
MATRIX_SIDE_MAX: Final = 100
COUNTRIES_MAX: Final = 250
COUNTRY_GROUPS_MAX: Final = 50
CEILINGS_MAX: Final = 66
"""Rows of country ceilings: three agencies with 22 ratings each."""
ALIASES_MAX: Final = 50
CORRECTIONS_MAX: Final = 500
NOTE_MAX: Final = 500
"""Characters of the note of a correction."""
INDEXES_MAX: Final = 50
FEES_MAX: Final = 20

IDENTIFIER: Final = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
_ID: Final = TextKey(64, IDENTIFIER, "cov_lite_concentration")
_PERCENT: Final = NumberKey(0, 100)
_RATIO: Final = NumberKey(0, 100_000)
_AMOUNT: Final = NumberKey(0, 1e15)
_LIMIT: Final = NumberKey(-1e15, 1e15)
_AGENCY: Final = ChoiceKey(AGENCIES)
_CLASSIFICATION: Final = ChoiceKey(("any", "a", "b", "c"))
_FORMULA: Final = TextKey(FORMULA_MAX)
_DAY_COUNT: Final = ChoiceKey(("actual/360", "actual/365", "30/360"))
_FEE_BASE: Final = ChoiceKey(FEE_BASES)


def _symbol(value: Any) -> int:
    if isinstance(value, str) and (place := rank(value)):
        return place
    raise ValueError("must be a rating symbol such as B3 or CCC+")


def _counts_as(*words: str) -> CheckedKey:
    """Return a rating symbol, a rating factor or one of some words.

    Read as the rank, the factor or the word.
    """
    text = f"a rating symbol such as B3, a rating factor, or one of {', '.join(words)}"

    def read_way(value: Any) -> str | float:
        if isinstance(value, str) and (value in words or rank(value)):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 10_000:
            return float(value)
        raise ValueError(f"must be {text}")

    return CheckedKey(text, read_way)


def _country(value: Any) -> str:
    if isinstance(value, str) and 0 < len(value.strip()) <= 60:
        return country_code(value)
    raise ValueError("must be a country, by its ISO code or its English name")


def _index(text: str) -> str:
    """Return the name of a reference rate as the loans have it, such as EURIBOR-3M."""
    name = index_name(text.replace("_", " "))
    family = name.partition("-")[0]
    if not any(
        family == floating_index or family.endswith(f" {floating_index}") for floating_index in FLOATING_INDEXES
    ):
        raise ValueError(f"is no reference rate: family and tenor such as EURIBOR_3M, of {', '.join(FLOATING_INDEXES)}")
    return name


def _text_symbol(value: Any) -> str:
    _symbol(value)
    assert isinstance(value, str)
    return value


_SYMBOL: Final = CheckedKey("a rating symbol such as B3 or CCC+", _text_symbol)
_COUNTRY: Final = CheckedKey("a country", _country)


@dataclass(frozen=True, slots=True)
class Conventions:
    """What holds for every test."""

    currency: str | None = key(TextKey(3, "[A-Z]{3}", "EUR"), "currency of the deal", None)
    home_countries: tuple[str, ...] = key(
        ListKey(_COUNTRY, COUNTRIES_MAX, 1), "countries that are not foreign", ("US",)
    )
    day_count: Literal["actual/360", "actual/365", "30/360"] = key(
        _DAY_COUNT,
        "how the days of the interest period become a year's part",
        "actual/360",
    )
    closing_date: date | None = key(DayKey(), "closing date", None)
    reinvestment_end: date | None = key(DayKey(), "end of the reinvestment period", None)
    stated_maturity: date | None = key(DayKey(), "stated maturity of the notes", None)
    reference_coupon: float | None = key(
        _PERCENT, "percent: the reference weighted average coupon above which fixed-rate loans add to the spread", None
    )
    excess_coupon: Literal["always", "floored", "while_spread_fails", "none"] = key(
        ChoiceKey(("always", "floored", "while_spread_fails", "none")),
        "when coupons above the reference add to the spread: always, also where they are below it; at least 0; at "
        "least 0, and only while the spread is below its limit without; never",
        "always",
    )
    excess_spread: Literal["none", "always", "floored", "while_coupon_fails"] = key(
        ChoiceKey(("none", "always", "floored", "while_coupon_fails")),
        'when spreads above their minimum add to the coupon (`measure = "wac"`), as excess_coupon',
        "none",
    )
    minimum_spread: float | None = key(
        _PERCENT, "percent: the minimum weighted average spread; else what the spread test is held to", None
    )
    target_par: float | None = key(_AMOUNT, "target par amount", None)
    decimals: tuple[tuple[str, int], ...] = key(
        NamedKeys(UNITS, IntegerKey(0, 12)),
        "decimals to which a figure of each unit is rounded before it is compared",
        (),
    )
    principal_cash: Literal["all", "positive", "none"] = key(
        ChoiceKey(("all", "positive", "none")),
        "principal cash that counts: all, none, or only a positive balance",
        "all",
    )
    defaulted_in_denominator: Literal["none", "carried", "par"] = key(
        ChoiceKey(("none", "carried", "par")),
        "what the denominator of the concentration tests carries a defaulted loan at",
        "none",
    )
    cash_in_denominator: bool = key(
        FlagKey(), "whether principal cash is part of the denominator of the concentration tests", True
    )
    small_facility_home: float = key(_AMOUNT, "facilities below are small, at home", 150e6)
    small_facility_abroad: float = key(_AMOUNT, "facilities below are small, abroad", 250e6)


@dataclass(frozen=True, slots=True)
class AgencyRatings:
    """How one agency's ratings are read."""

    columns: tuple[str, ...] = key(
        ListKey(ChoiceKey(("derived", "final", "issuer", "facility", "any")), 5, 1, is_set=True),
        "columns to read, the first with a rating counts; `any` is the first header that the file has",
        ("derived", "any"),
    )
    notched_from: tuple[str, ...] = key(
        ListKey(_AGENCY, 2, is_set=True),
        "agencies whose rating, notched down, counts where this one has none",
        (),
    )
    notches_investment_grade: int = key(IntegerKey(0, 5), "notches down from a rating of Baa3/BBB- or better", 1)
    notches_below: int = key(IntegerKey(0, 5), "notches down from a rating below that", 2)
    watch_negative: int = key(IntegerKey(0, 3), "notches down for a rating on watch negative", 0)
    watch_positive: int = key(IntegerKey(0, 3), "notches up for a rating on watch positive", 0)
    unrated: str | float = key(
        _counts_as("left_out", "bounds"),
        "what a loan without a rating counts as: a symbol, a factor, left_out or bounds",
        "Caa3",
    )
    unrated_best: str = key(_SYMBOL, "the best that a loan without a rating may be, for bounds", "BB-")
    unrated_worst: str = key(_SYMBOL, "the worst that a loan without a rating may be, for bounds", "CCC-")
    unrated_value: str | None = key(_SYMBOL, "what the value takes a loan without a rating for, for bounds", None)
    masked: str | float = key(
        _counts_as("other_agency", "left_out", "bounds"),
        "what a masked rating counts as: a symbol, a factor, other_agency (notched), left_out or bounds",
        "other_agency",
    )
    masked_best: str = key(_SYMBOL, "the best that a masked rating may be, for bounds", "BB-")
    masked_worst: str = key(_SYMBOL, "the worst that a masked rating may be, for bounds", "CCC-")
    masked_value: str | None = key(_SYMBOL, "what the value takes a masked rating for, for bounds", None)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings by agency, and whose recovery rates count."""

    a: AgencyRatings = key(TableKey(AgencyRatings), "Moody's", AgencyRatings())
    b: AgencyRatings = key(TableKey(AgencyRatings), "S&P", AgencyRatings())
    c: AgencyRatings = key(TableKey(AgencyRatings), "Fitch", AgencyRatings())
    unrated_is_ccc: bool = key(FlagKey(), "whether a loan that no agency rates is in every agency's CCC bucket", True)
    recovery: tuple[str, ...] = key(
        ListKey(_AGENCY, 3, is_set=True),
        "agencies whose recovery rates count: the first's for the weighted average, the lowest of all where a loan is "
        "carried at its recovery; none: Moody's, else for the average those of the one agency for which the file "
        "publishes a limit, else those that the file has",
        (),
    )
    bonds_secured: bool = key(FlagKey(), "whether a bond is senior secured unless the file says otherwise", True)


@dataclass(frozen=True, slots=True)
class Family:
    """Obligors that count as one."""

    name: str = key(TextKey(), "name of the family")
    obligors: tuple[str, ...] = key(
        ListKey(TextKey(), FAMILY_MAX, 1), "obligors as the file names them, or their issuer ids"
    )


@dataclass(frozen=True, slots=True)
class Classifications:
    """Industries and obligors."""

    industry: str = key(
        _CLASSIFICATION,
        "industry column of the suites' tests but Moody's diversity: any, or that of an agency",
        "any",
    )
    diversity: str | None = key(
        _CLASSIFICATION,
        "industry column of Moody's diversity score: any is the file's own, else that of an agency; else the file's "
        "own, or Moody's where that is another agency's",
        None,
    )
    affiliates_by_name: bool = key(
        FlagKey(),
        "whether an obligor whose name begins with another's whole name is that one, which a warning says",
        False,
    )
    families: tuple[Family, ...] = key(ListKey(TableKey(Family), FAMILIES_MAX), "names that are one obligor", ())


@dataclass(frozen=True, slots=True)
class ParValue:
    """The numerator of the OC ratios."""

    ccc_limit: float = key(_PERCENT, "percent of the collateral principal amount up to which CCC counts at par", 7.5)
    ccc_agencies: tuple[str, ...] = key(
        ListKey(_AGENCY, 3, 1, is_set=True),
        "agencies whose buckets count; the excess is that of the greatest",
        AGENCIES,
    )
    ccc_excess: bool = key(FlagKey(), "whether CCC above the limit is carried at market value", True)
    ccc_unpriced: float = key(_PERCENT, "price of a CCC loan without one", 70.0)
    discount: bool = key(FlagKey(), "whether discount obligations are carried at their purchase price", True)
    discount_below: float = key(_RATIO, "purchase price below which a floating loan is a discount obligation", 80.0)
    discount_below_fixed: float = key(_RATIO, "the same for a fixed one", 75.0)
    discount_release: float = key(_RATIO, "price from which a floating loan is none any more", 90.0)
    discount_release_fixed: float = key(_RATIO, "the same for a fixed one", 85.0)
    defaulted: Literal["lower", "market_value", "recovery", "none"] = key(
        ChoiceKey(("lower", "market_value", "recovery", "none")),
        "what a defaulted loan is carried at; lower is the lower of market value and recovery",
        "lower",
    )
    defaulted_zero_after_years: float = key(NumberKey(0, 100), "years after which a defaulted loan counts nothing", 3.0)
    deferring: bool = key(FlagKey(), "whether deferring loans are carried like defaulted ones", True)
    long_dated: Literal["par", "excess_at_zero", "zero"] = key(
        ChoiceKey(("par", "excess_at_zero", "zero")),
        "what long-dated loans are carried at: par, zero, or zero above their limit",
        "par",
    )
    long_dated_limit: float = key(_PERCENT, "percent of the collateral principal amount, for excess_at_zero", 5.0)
    current_pay: Literal["par", "excess_at_market", "market_value"] = key(
        ChoiceKey(("par", "excess_at_market", "market_value")),
        "what current pay loans are carried at: par, market value, or market value above their limit",
        "par",
    )
    current_pay_limit: float = key(_PERCENT, "percent of the collateral principal amount, for excess_at_market", 2.5)
    purchased_accrued_interest: bool = key(FlagKey(), "whether purchased accrued interest is added", False)


@dataclass(frozen=True, slots=True)
class Fee:
    """A senior fee at a rate."""

    name: str = key(TextKey(), "name such as Trustee fee")
    rate: float = key(NumberKey(0, 10), "percent a year of its base")
    of: Literal["cpa", "par", "denominator", "target_par"] = key(_FEE_BASE, "what it is a rate of", "cpa")
    day_count: Literal["actual/360", "actual/365", "30/360"] | None = key(
        _DAY_COUNT, "how the days of the period become a year's part; else as the conventions have it", None
    )


@dataclass(frozen=True, slots=True)
class Expenses:
    """Senior expenses of the period, up to a cap.

    A rate of a base and an amount, both a year.
    """

    amount: float | None = key(_AMOUNT, "expenses of the period; else what the cap allows", None)
    cap_rate: float | None = key(NumberKey(0, 10), "percent a year of the base", None)
    cap_amount: float | None = key(_AMOUNT, "amount a year, on top of the rate", None)
    of: Literal["cpa", "par", "denominator", "target_par"] = key(_FEE_BASE, "what the cap is a rate of", "cpa")
    day_count: Literal["actual/360", "actual/365", "30/360"] | None = key(
        _DAY_COUNT, "how the days of the period become a year's part; else as the conventions have it", None
    )


@dataclass(frozen=True, slots=True)
class InterestCoverage:
    """The numerator of the IC ratios."""

    interest: Literal["collected_and_receivable", "collected_and_period", "period"] = key(
        ChoiceKey(("collected_and_receivable", "collected_and_period", "period")),
        "collected and still to be received; collected and the period's; the period's",
        "collected_and_receivable",
    )
    receivable: float | None = key(
        _AMOUNT, "interest of the period that is still to be received, where the file has none", None
    )
    senior_fees: float | None = key(_AMOUNT, "senior fees and expenses of the period, where the file has none", None)
    senior_fee_rate: float = key(NumberKey(0, 10), "percent a year of the collateral, where nothing says more", 0.20)
    fees: tuple[Fee, ...] = key(
        ListKey(TableKey(Fee), FEES_MAX), "fees at rates, where the file has no amount of senior fees", ()
    )
    expenses: Expenses | None = key(TableKey(Expenses), "expenses up to a cap, beside the fees", None)
    senior_fee_cap: float | None = key(_AMOUNT, "the most that counts as senior fees and expenses in a period", None)
    hedge_receipts: float = key(_AMOUNT, "hedge receipts of the period", 0.0)
    hedge_payments: float = key(_AMOUNT, "hedge payments of the period", 0.0)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Figures of the deal where the file has none.

    Where the file prints another one, its own counts, with a doubt.
    """

    principal_cash: float | None = key(_LIMIT, "principal cash", None)
    interest_collected: float | None = key(_LIMIT, "interest collected in the period so far", None)
    interest_receivable: float | None = key(_LIMIT, "interest still to be received in the period", None)
    senior_fees: float | None = key(_AMOUNT, "senior fees and expenses of the period", None)


@dataclass(frozen=True, slots=True)
class Correction:
    """A figure in place of a wrong one of the file."""

    figure: str = key(ChoiceKey((*FIGURES, *CLASS_FIGURES)), "which figure of the file")
    amount: float = key(_LIMIT, "what it is")
    note: str = key(TextKey(NOTE_MAX), "why, and where it is from")
    class_: str | None = key(TextKey(64), "name of the class of notes in the file, for a figure of a class", None)
    as_of: date | None = key(DayKey(), "day of the only file that it corrects; else it corrects every file", None)


@dataclass(frozen=True, slots=True)
class NoteClass:
    """A tested class of notes, with everything senior to it."""

    name: str = key(TextKey(64), "name such as A/B or C; its last letter is the class at which the test stands")
    oc_trigger: float | None = key(_RATIO, "percent", None)
    ic_trigger: float | None = key(_RATIO, "percent", None)
    oc_decimals: int | None = key(IntegerKey(0, 12), "decimals of the OC ratio before it is compared", None)
    ic_decimals: int | None = key(IntegerKey(0, 12), "decimals of the IC ratio before it is compared", None)


@dataclass(frozen=True, slots=True)
class ClassTrigger:
    """A trigger at a class."""

    class_: str = key(TextKey(64), "name of the class")
    trigger: float = key(_RATIO, "percent")


@dataclass(frozen=True, slots=True)
class CountryCeiling:
    """The country ceiling that an agency gives to some countries."""

    agency: Literal["a", "b", "c"] = key(_AGENCY, "whose ceiling: a Moody's, b S&P, c Fitch")
    rating: str = key(_SYMBOL, "the ceiling")
    countries: tuple[str, ...] = key(ListKey(_COUNTRY, COUNTRIES_MAX, 1, is_set=True), "the countries that have it")


@dataclass(frozen=True, slots=True)
class CountryGroup:
    """Countries that share a limit.

    Those of a list, or those whose ceiling is in a range.
    """

    id: str = key(_ID, "identifier that tests name, such as group_1")
    countries: tuple[str, ...] = key(
        ListKey(_COUNTRY, COUNTRIES_MAX, 1, is_set=True), "countries of the group; else those of its ceilings", ()
    )
    agency: Literal["a", "b", "c"] | None = key(_AGENCY, "whose ceilings, from country_ceilings", None)
    ceiling_below: str | None = key(_SYMBOL, "the group has countries whose ceiling is below this", None)
    ceiling_least: str | None = key(_SYMBOL, "the group has countries whose ceiling is this or better", None)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A limit that depends on two other figures."""

    id: str = key(_ID, "identifier that tests name")
    rows: tuple[float, ...] = key(ListKey(_LIMIT, MATRIX_SIDE_MAX, 1), "figures of the rows, ascending")
    columns: tuple[float, ...] = key(ListKey(_LIMIT, MATRIX_SIDE_MAX, 1), "figures of the columns, ascending")
    values: tuple[tuple[float, ...], ...] = key(
        ListKey(ListKey(_LIMIT, MATRIX_SIDE_MAX, 1), MATRIX_SIDE_MAX, 1), "limits, a list for each row"
    )
    row: str = key(_FORMULA, "formula of the row's figure, such as =weighted_average_spread")
    column: str = key(_FORMULA, "formula of the column's figure")
    interpolation: Literal["linear", "none"] = key(
        ChoiceKey(("linear", "none")), "between rows and columns; none takes the next lower ones", "linear"
    )
    modifier: str | None = key(
        _FORMULA, "formula of what is added to the limit, such as =MAX(0,MIN(warr,60)-43)*70", None
    )


@dataclass(frozen=True, slots=True)
class CdoMonitor:
    """S&P CDO Monitor, non-model version: the break-even default rate's coefficients."""

    c0: float = key(NumberKey(-10, 10), "constant of the break-even default rate (fraction)")
    c1: float = key(NumberKey(-1_000, 1_000), "coefficient of the weighted average spread (fraction)")
    c2: float = key(NumberKey(-1_000, 1_000), "coefficient of the weighted average recovery rate (fraction)")
    spread: float | None = key(_PERCENT, "weighted average spread that was chosen; else the portfolio's", None)
    recovery: float | None = key(_PERCENT, "weighted average recovery rate that was chosen; else the portfolio's", None)


@dataclass(frozen=True, slots=True)
class Quality:
    """Collateral quality: matrices and the CDO Monitor."""

    matrices: tuple[Matrix, ...] = key(ListKey(TableKey(Matrix), MATRICES_MAX), "matrices", ())
    cdo_monitor: CdoMonitor | None = key(TableKey(CdoMonitor), "S&P CDO Monitor", None)
    spwarf_cut_off: str = key(
        _SYMBOL,
        "the worst S&P rating of the loans that spwarf and the other measures of the CDO Monitor look at",
        "CCC-",
    )


@dataclass(frozen=True, slots=True)
class LimitStep:
    """A limit from a day on."""

    from_: str = key(
        CheckedKey("a date (YYYY-MM-DD) or reinvestment_end", lambda value: _step_day(value)),
        "the first day, or reinvestment_end",
    )
    limit: float = key(_LIMIT, "the limit from that day on")
    warning: float | None = key(_LIMIT, "its warning level", None)

    @property
    def day(self) -> date | None:
        """The first day; None: the end of the reinvestment period."""
        return None if self.from_ == "reinvestment_end" else date.fromisoformat(self.from_)


def _among(value: Any) -> str:
    if isinstance(value, str) and (value in AMONG or (value.startswith("=") and _is_formula_text(value))):
        return value
    raise ValueError(f"must be a formula that begins with =, or one of {', '.join(AMONG)}")


def _is_formula_text(text: str) -> bool:
    faults: list[tuple[str, str]] = []
    _FORMULA.read(text, "", faults)
    return not faults


def _step_day(value: Any) -> str:
    if value == "reinvestment_end":
        return "reinvestment_end"
    faults: list[tuple[str, str]] = []
    day = DayKey().read(value, "", faults)
    if faults:
        raise ValueError("must be a date (YYYY-MM-DD) or reinvestment_end")
    assert isinstance(day, date)
    return day.isoformat()


@dataclass(frozen=True, slots=True)
class DealTest:
    """A test of the indenture: one of `measure`, `share` and `value`, and its limit.

    A test whose id is one of the suites' gives that test its limit and rounding there, too.
    """

    id: str = key(_ID, "identifier")
    name: str = key(TextKey(), "name")
    category: Literal["concentration", "rating", "coverage", "portfolio", "liquidity"] | None = key(
        ChoiceKey(CATEGORIES), "category; else that of its measure, or concentration", None
    )
    measure: str | None = key(ChoiceKey(tuple(MEASURES)), "a figure of the catalogue", None)
    share: str | None = key(_FORMULA, "formula over the fields of a loan, TRUE where it counts", None)
    value: str | None = key(_FORMULA, "formula over totals and other tests", None)
    agency: Literal["a", "b", "c"] | None = key(_AGENCY, "whose ratings: a Moody's, b S&P, c Fitch", None)
    classification: str | None = key(_CLASSIFICATION, "which industry column", None)
    class_: str | None = key(TextKey(64), "which class of notes", None)
    nth: int | None = key(IntegerKey(1, 100), "which one by size, 1 the largest; how many, for top_obligors", None)
    line: float | None = key(_RATIO, "price below which a loan counts", None)
    group: str | None = key(_ID, "which group of countries", None)
    of: str | None = key(ChoiceKey(DENOMINATORS), "what a share is a share of", None)
    among: str | None = key(
        CheckedKey("a formula, or the name of a measure of loans", lambda value: _among(value)),
        "of which loans alone the figure counts: a formula like a share's, or the name of a measure such as "
        "non_senior_secured; `of` stays what it is",
        None,
    )
    adds: tuple[str, ...] = key(
        ListKey(ChoiceKey(ADDED), len(ADDED), 1, is_set=True),
        "what is added to the par that counts: principal cash, what is not drawn of the loans that count",
        (),
    )
    unit: Literal["percent", "factor", "score", "years", "amount", "number"] | None = key(
        ChoiceKey(UNITS), "unit of the figure; else that of its measure, or percent", None
    )
    max: float | None = key(_LIMIT, "what the figure may not be above", None)
    min: float | None = key(_LIMIT, "what it may not be below", None)
    matrix: str | None = key(_ID, "matrix that gives the limit", None)
    matrix_limit: Literal["max", "min"] | None = key(ChoiceKey(("max", "min")), "whether that is a max or a min", None)
    warning: float | None = key(_LIMIT, "level from which a warning is given", None)
    decimals: int | None = key(IntegerKey(0, 12), "decimals to which it is rounded before it is compared", None)
    steps: tuple[LimitStep, ...] = key(
        ListKey(TableKey(LimitStep), STEPS_MAX), "limits from a day on, in the order of days", ()
    )
    enabled: bool = key(FlagKey(), "whether it is run", True)
    aliases: tuple[str, ...] = key(ListKey(TextKey(), ALIASES_MAX), "names that trustees give to it", ())


@dataclass(frozen=True, slots=True)
class Definition:
    """An indenture. Made by `parse`."""

    name: str | None = key(TextKey(), "name of the deal or the standard", None)
    standard: bool = key(
        FlagKey(),
        "whether its limits are a market's, which a sheet's triggers and a tenant's thresholds precede",
        False,
    )
    conventions: Conventions = key(TableKey(Conventions), "what holds for every test", Conventions())
    ratings: Ratings = key(TableKey(Ratings), "ratings and recoveries", Ratings())
    classifications: Classifications = key(TableKey(Classifications), "industries and obligors", Classifications())
    par_value: ParValue = key(TableKey(ParValue), "the OC numerator", ParValue())
    interest_coverage: InterestCoverage = key(TableKey(InterestCoverage), "the IC numerator", InterestCoverage())
    amounts: Amounts = key(TableKey(Amounts), "figures of the deal where the file has none", Amounts())
    corrections: tuple[Correction, ...] = key(
        ListKey(TableKey(Correction), CORRECTIONS_MAX), "figures in place of wrong ones of the file", ()
    )
    index_rates: tuple[tuple[str, float], ...] = key(
        MapKey("a reference rate such as EURIBOR_3M", _index, NumberKey(-10, 30), INDEXES_MAX),
        "percent: levels of reference rates, for loans whose index the file gives no level of",
        (),
    )
    classes: tuple[NoteClass, ...] = key(ListKey(TableKey(NoteClass), CLASSES_MAX), "tested classes, senior first", ())
    reinvestment_oc: ClassTrigger | None = key(TableKey(ClassTrigger), "reinvestment OC test", None)
    event_of_default: ClassTrigger | None = key(TableKey(ClassTrigger), "event of default par value test", None)
    country_ceilings: tuple[CountryCeiling, ...] = key(
        ListKey(TableKey(CountryCeiling), CEILINGS_MAX), "country ceilings of the agencies", ()
    )
    country_groups: tuple[CountryGroup, ...] = key(
        ListKey(TableKey(CountryGroup), COUNTRY_GROUPS_MAX), "groups of countries with limits of their own", ()
    )
    quality: Quality = key(TableKey(Quality), "quality matrices and the CDO Monitor", Quality())
    tests: tuple[DealTest, ...] = key(ListKey(TableKey(DealTest), TESTS_MAX), "tests of the suite deal", ())
    stated: frozenset[str] = field(default=frozenset(), compare=False)
    """Keys that its own document says, such as ratings.b.masked; not those of its base."""
    base: str | None = field(default=None, compare=False)
    """Name of the ready-made definition over which it is put."""

    __repr__ = brief

    @property
    def has_market_limits(self) -> bool:
        """Whether its tests are a market's.

        Of a standard, or of a base whose tests its document leaves as they are.
        """
        return self.standard or (self.base is not None and self.leaves("tests") and bool(self.tests))

    def leaves(self, *keys: str) -> bool:
        """Return whether it says nothing of these keys, so that the file's own calculation decides what they are
        about."""
        return self.stated.isdisjoint(keys)
