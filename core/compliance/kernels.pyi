"""Signatures of the compiled pass over the loans."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from core.portfolio.model.portfolio import Names

FLAGS: tuple[str, ...]
"""The flags whose par is added up, in the order of their bits."""

BUCKETS: tuple[str, str, str]
"""The rating columns with a CCC bucket each."""

@disjoint_base
class Tally:
    """The sums of one pass over the loans: par and money in the deal's currency, rates in their column's unit.

    "Par" is performing par where nothing else is said; a net sum may be negative. `_given`, `_par` of a rate is the par
    of the rows that have it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Raises TypeError: a tally is made by `tally`."""

    row_count: int
    performing_rows: int
    defaulted_rows: int
    blank_rows: int
    """Rows without a finite par."""
    negative_rows: int
    past_maturity: int
    """Performing rows whose maturity lies before the as-of date."""
    par: float
    defaulted_par: float
    defaulted_carried: float
    """What defaulted loans are carried at."""
    obligor_blank: float
    """Par without an obligor."""
    obligor_count: int
    """How many obligors have par."""
    top_obligors: tuple[list[int], list[float]]
    """Codes and par of the ten largest, largest first."""
    industry_par: NDArray[np.float64]
    """By industry code; the last is blank."""
    par_by_rank: tuple[float, ...]
    """25 sums, by the rank that gives the rating factor: 0 is unrated, then the ranks, `MASKED` and `UNBUCKETED`."""
    par_by_bucket: tuple[float, float, float, float]
    """Par rated Caa1/CCC+ or lower by agency A, B, C; then par whose rank is B's or C's."""
    par_by_lien: tuple[float, ...]
    """8 sums, by `core.portfolio.model.fields.Lien`."""
    par_by_flag: tuple[float, float, float, float, float, float, float]
    """In the order of FLAGS."""
    recovery_sum: float
    """Sum of par x recovery rate, percent."""
    recovery_given: float
    priced_par: float
    price_sum: float
    par_below_80: float
    par_below_90: float
    discount_par: float
    discount_haircut: float
    deferring_haircut: float
    category_haircut: float
    """Of loans that another rule carries below par: `carried_at`."""
    coupon_par: float
    coupon_sum: float
    """Fixed loans: sum of par x coupon, percent."""
    spread_par: float
    spread_sum: float
    """Floating loans: sum of par x spread with floor credit, basis points."""
    contractual_sum: float
    """The same without floor credit."""
    interest_par: float
    interest_sum: float
    """A year's interest x 100; deferring loans earn nothing."""
    life_par: float
    life_sum: float
    """Sum of par x years."""
    foreign_par: float
    country_par: float
    small_par: float
    sized_par: float
    quoted_par: float
    """Par with two quotes or more."""
    depth_par: float
    past_due_par: float
    """Performing par more than 30 days past due."""
    aged_par: float

def tally(
    row_count: int,
    numbers: Mapping[str, NDArray[np.float64]],
    names: Mapping[str, Names],
    flags: Mapping[str, NDArray[np.uint8]],
    ranks: Mapping[str, NDArray[np.uint8]],
    lien: NDArray[np.uint8] | None,
    recovery_by_kind: NDArray[np.float64],
    *,
    rules: tuple[float, ...],
    as_of: float,
    base_rate: float,
    home: int,
    scheduled_life: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Tally:
    """Walk the loans once and add up what every test needs.

    The columns are those of `core.portfolio.model.portfolio.Portfolio`, `row_count` long and contiguous; they may be
    read-only. `recovery_by_kind` (6, 8) gives the recovery rate in percent by notch difference, from -3 to +2, and by
    lien; `rules` are those of `core.compliance.view.Rules`; `as_of` is in days since 1970 and `base_rate` in
    percent (NaN where unknown); `home` is the code of the home country (-2: not named). Of `numbers`,
    `carrying_recovery` stands in for the recovery rate where a loan is carried at it, and `carried_at` is percent of
    par at which a rule beside the others carries a loan. Of `ranks`, `rating` may have `MASKED` and `UNBUCKETED`, and
    `default_rank` stands in for agency A's. What each row weighs is written to `weights`: its par
    where it performs, else 0.

    Raises:
        ValueError: no row, no par_value, columns of unequal length, a code or a rank out of range.
    """

def units(tallied: Tally, average_par: float) -> NDArray[np.float64]:
    """Equivalent units of the diversity score by industry, the last for blank.

    Raises:
        ValueError: the average par is not positive.
    """

def diversity(units: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Diversity score of units by industry; `scores` is the 201-row table of domain page 1.7, of which the lower
    neighbour counts.

    Raises:
        ValueError: the table is not of 201 rows.
    """

def obligor_par(tallied: Tally) -> NDArray[np.float64]: ...
def obligors(tallied: Tally) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(par, industry) of each obligor by its code: the industry of its largest loan, a blank after the last of them."""

def fill_excess(tallied: Tally, bucket: int, excess: float, identifier: Callable[[int], Any]) -> tuple[float, int]:
    """Haircut of the CCC excess of agency `bucket` (0 to 2), and how many of its rows have no price.

    The bucket's rows are taken from the lowest price up until `excess` (money, at most the bucket's par) is filled, the
    last one in part. `identifier(row)` orders rows of one price where their order matters.
    """

def candidates(tallied: Tally, bucket: int) -> NDArray[np.float64]:
    """Of the rows of a CCC bucket, in no order, five columns (5, n): row, price (what stands in where there is none),
    par, percent of par at which it is carried before the CCC rule, and 1 where it has no price."""

def all_candidates(
    tallied: Tally,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.uint8],
    NDArray[np.int32],
]:
    """Of the rows of any CCC bucket, in their order, five columns and the rows: price (what stands in where there is
    none), par, percent of par at which it is carried before the CCC rule, its buckets (bits 0 to 2 for A, B, C), and 1
    where it has no price. For a tally whose candidates nobody has put in another order."""

def fill_levels(
    price: NDArray[np.float64],
    par: NDArray[np.float64],
    value: NDArray[np.float64],
    excess: float,
    identifier: Callable[[int], tuple[str, ...]],
) -> float:
    """Haircut of an excess that rows of several prices fill, from the lowest price up; `identifier(at)` orders rows of
    one price where the order matters."""

def fill_alike(
    price: float,
    par: NDArray[np.float64],
    value: NDArray[np.float64],
    excess: float,
    identifier: Callable[[int], Any],
) -> float:
    """Haircut of an excess that rows of one price fill, as far as it reaches, in the order of `fill_excess`.

    Raises:
        ValueError: arrays of unequal length.
    """

def scheduled_life(
    par: NDArray[np.float64],
    maturity: NDArray[np.float64] | None,
    as_of: float,
    row: NDArray[np.int64],
    days: NDArray[np.float64],
    amount: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Average life in years of each loan that has a payment schedule, NaN for the others.

    Raises:
        ValueError: arrays of unequal length, or a payment for a row that is not there.
    """

def rounded(number: float) -> float:
    """Return the number to 6 decimals, as results return it, with no negative zero."""

def put(record: object, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
    """Set fields of a frozen record: what `object.__setattr__` does, in a fraction of its time.

    Raises:
        ValueError: not as many values as names.
        AttributeError: the record has no such field.
    """
