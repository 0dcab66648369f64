"""Loans as typed arrays under standard names, with the deal's notes and accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Dict
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Final, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import brief, shortened, value_shown
from core.frames.frame import Frame, Framed
from core.grid._intern import TextIndex, intern
from core.grid.column import Text
from core.portfolio.model import framed
from core.portfolio.model.facts import Facts
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import Notes
from core.portfolio.model.ratings import DEFAULTED
from core.words import counted


class Strings(Sequence[str]):
    """Distinct strings decoded on demand: a tuple of a million takes 60 MB and 0.1 s."""

    __slots__ = ("text",)

    def __init__(self, text: Text) -> None:
        self.text = text

    def __len__(self) -> int:
        return len(self.text)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self.text[at] for at in range(*index.indices(len(self))))
        index = int(index)
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.text[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.strings())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return shortened(f"Strings({', '.join(map(value_shown, self[:3]))}{', ...' if len(self) > 3 else ''})")


@dataclass(frozen=True, slots=True)
class Names:
    """A text column as codes: row i is `values[codes[i]]`; -1 is blank.

    The values are distinct; some may be used by no row.
    """

    codes: NDArray[np.int32]
    values: Sequence[str]
    """A tuple, or `Strings` where they came from a sheet's own pool."""

    def by_text(self) -> Callable[[str], int]:
        """Return what gives the code of a string, -1 for one that is none of the values."""
        if isinstance(self.values, Strings):
            return TextIndex(self.values.text.offsets, self.values.text.data).code
        codes = {text: code for code, text in enumerate(self.values)}
        return lambda text: codes.get(text, -1)

    __repr__ = brief


def codes_among(strings: Sequence[str], values: Sequence[str]) -> NDArray[np.int32]:
    """Return the code of each string among distinct values; -1 for none."""
    if isinstance(strings, Strings) and isinstance(values, Strings):
        if _begins_with(values.text, strings.text):
            return np.arange(len(strings), dtype=np.int32)
        return TextIndex(values.text.offsets, values.text.data).codes(strings.text.offsets, strings.text.data)
    codes = {text: code for code, text in enumerate(values)}
    return np.array([codes.get(text, -1) for text in strings], np.int32)


def _begins_with(text: Text, start: Text) -> bool:
    """Return whether the first strings of a pool are those of another."""
    count = len(start.offsets)
    return np.array_equal(text.offsets[:count], start.offsets) and np.array_equal(
        text.data[: start.offsets[-1]], start.data[: start.offsets[-1]]
    )


def extended(values: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return the values with further strings behind them, all of them distinct."""
    if not more or not isinstance(values, Strings):
        return (*values, *more) if more else values
    _, offsets, data = intern(more)
    text, size = values.text, values.text.offsets[-1]
    return Strings(Text(np.concatenate((text.offsets, offsets[1:] + size)), np.concatenate((text.data[:size], data))))


@dataclass(frozen=True, slots=True)
class Tranches(Framed):
    """The notes of the deal, most senior first, as columns of one length.

    Money in the deal's currency; coupons, triggers and rates in percent; NaN is blank.
    """

    classes: tuple[str, ...]
    current_balance: NDArray[np.float64]
    original_balance: NDArray[np.float64]
    coupon: NDArray[np.float64]
    """Percent a year."""
    spread: NDArray[np.float64]
    """Basis points."""
    oc_trigger: NDArray[np.float64]
    ic_trigger: NDArray[np.float64]
    rank: NDArray[np.int32]
    """1 is the most senior; classes of one rank are pari passu."""
    deferred_interest: NDArray[np.float64]
    interest_due: NDArray[np.float64]
    is_income: NDArray[np.bool_]
    """Subordinated and income notes, which no coverage test counts."""

    def __repr__(self) -> str:
        named = ", ".join(map(value_shown, self.classes[:3]))
        return f"Tranches({counted(len(self.classes), 'class')}: {named}{', ...' if len(self.classes) > 3 else ''})"

    def _repr_html_(self) -> str:
        return framed.tranches_html(self)

    def frame(self) -> Frame:
        """Return a row for each class; figures in the units of this class, NaN as null."""
        return framed.tranches_frame(self)


GivenSource = Literal["request", "workbook", "modified", "upload"]
AsOfSource = Literal["request", "workbook", "file", "column", "modified", "upload"]
"""Who says which day the figures are of: the caller, the workbook's own record, a line of the file, a column of its
loans; else the day that the file was changed or uploaded stands in."""


ByRank = tuple[tuple[int, float], ...]
"""(rating rank, par), the best first."""

FactorRatings = Literal["derived", "final", "issuer", "facility"]
"""Which of an agency's columns of ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """What pages on deal and accounts say; None for nothing. Days since 1970-01-01."""

    principal_cash: float | None = None
    senior_fees: float | None = None
    """Amount for the period."""
    base_rate: float | None = None
    """Percent."""
    interest_collected: float | None = None
    """Interest received in the period so far, before fees."""
    interest_receivable: float | None = None
    """Interest still to be received in the period."""
    interest_available: float | None = None
    """The numerator of interest coverage as the file prints it, where it prints no parts of it."""
    interest_other: float | None = None
    """What else the file's own numerator of interest coverage adds; below zero what it takes off beside senior fees."""
    defaulted_par: float | None = None
    """Par of the defaulted loans that the file prints; 0 where a page says that there are none."""
    defaulted_in_denominator: Literal["none", "carried", "par"] | None = None
    """How the printed collateral principal amount counts defaulted loans: it is what shares divide by."""
    factor_ratings: FactorRatings | None = None
    """The column of Moody's by which the printed rating factor is, where it is not that of the agency's rating."""
    ccc_haircut: float | None = None
    """Of the file's own calculation of the OC numerator, as the next four: what the CCC excess takes off."""
    discount_haircut: float | None = None
    defaulted_carried: float | None = None
    """What defaulted loans count."""
    other_haircut: float | None = None
    """What everything else takes off: deferring, long-dated, current pay, rescue loans."""
    par_value_other: float | None = None
    """What else it adds, such as purchased accrued interest; below zero what it takes off."""
    par_value_kept: float | None = None
    """Of a deal whose loans were changed: what its OC numerator had by the file, and not by the loans, before that."""
    masked_ccc_a: float | None = None
    """Par of ratings of Caa1 (CCC+) and below that the agency's rating table has and no row shows, masked or blank."""
    masked_ccc_b: float | None = None
    masked_ccc_c: float | None = None
    masked_ratings_a: ByRank | None = None
    """Par by rating rank of the loans that no row rates, where just a rating table of the agency says all of it: with
    the rows it has each rating's par."""
    masked_ratings_b: ByRank | None = None
    masked_ratings_c: ByRank | None = None
    as_of: float | None = None
    as_of_source: AsOfSource | None = None
    closing_date: float | None = None
    reinvestment_end: float | None = None
    stated_maturity: float | None = None
    next_payment: float | None = None
    currency: str | None = None
    """ISO 4217."""
    reinvestment_oc_trigger: float | None = None
    """Percent: what the reinvestment or interest diversion test is held to."""
    payment_days: float | None = None
    """Days in the interest period; 0.25 of a year where None."""
    reference_coupon: float | None = None
    """Percent: the reference weighted average coupon of the excess-WAC rule."""
    excess_spread: float | None = None
    """Amount for a year that the file adds to its loans' spreads, by its terms: the aggregate excess funded spread."""

    excess_spread_kept: float | None = None
    """Of a deal whose loans were changed: the same, where it counted before that."""
    is_excess_floored: bool | None = None
    """Of such a deal: whether coupons below their reference took nothing off before that."""

    @property
    def is_interest_given(self) -> bool:
        """Return whether the file prints all of the period's interest.

        No loan's rate decides on it then.
        """
        collected, receivable, whole = self.interest_collected, self.interest_receivable, self.interest_available
        if whole is not None and isfinite(whole):
            return True
        return collected is not None and receivable is not None and isfinite(collected) and isfinite(receivable)

    def __repr__(self) -> str:
        return framed.deal_repr(self)

    def _repr_html_(self) -> str:
        return framed.deal_html(self)


OF_LOANS: Final = (
    "ccc_haircut", "discount_haircut", "defaulted_carried", "other_haircut", "defaulted_par", "masked_ccc_a",
    "masked_ccc_b", "masked_ccc_c", "masked_ratings_a", "masked_ratings_b", "masked_ratings_c", "excess_spread",
)  # fmt: skip
"""Figures of `Deal` that are of all its loans."""


def without_figures_of_loans(deal: Deal) -> Deal:
    """Return the deal for other loans, without what the file says of all of them."""
    if all(getattr(deal, name) is None for name in OF_LOANS):
        return deal
    return replace(deal, **dict.fromkeys(OF_LOANS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Amortization:
    """Scheduled principal payments: `row` names the loan by its row in the portfolio."""

    row: NDArray[np.int64]
    days: NDArray[np.float64]
    """Payment date, days since 1970-01-01."""
    amount: NDArray[np.float64]

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class PortfolioData(Framed):
    """The loans of one deal, one row for each facility, as typed columns.

    Lots of one identifier are added up.

    A field whose column the source does not have is absent from its dict. All arrays have `row_count` elements.
    `portfolio["par_value"]` is a column for a reader; `len` counts loans, `in` and iteration are about columns.
    """

    row_count: int
    numbers: dict[str, NDArray[np.float64]]
    """NaN is blank. par_value, purchase_price (% of par), price (% of par; 0 on a performing loan is blank), spread
    (bps), floor, all_in_rate, recovery_rate, base_rate_level (percent), facility_size, unfunded,
    purchased_accrued_interest (currency), days_past_due, quote_depth, average_life (years); maturity_date,
    default_date (days since 1970-01-01)."""
    names: dict[str, Names]
    """obligor (issuer_id, else the normalised borrower name: the key of the obligor tests), borrower_name,
    facility_name, industry (canonical, as in `fields.INDUSTRIES`), country ("US" for the United States), currency,
    base_rate (index family and tenor), cusip, loanx_id, isin, issuer_id, payment_frequency; the ratings as written,
    under the names of `ranks`, where they came as symbols."""
    flags: dict[str, NDArray[np.uint8]]
    """0 or 1; a blank in an existing column is 0. is_defaulted, cov_lite, is_dip, is_current_pay, is_pik,
    is_long_dated, participation; is_fixed (by coupon type, else a base rate "Fixed", else a coupon without spread and
    index), absent when no column can tell. is_defaulted is the column alone: `defaulted()` adds what ratings and dates
    say."""
    ranks: dict[str, NDArray[np.uint8]]
    """Rating ranks 1 (Aaa) to 22 (defaulted), 0 for no rating: rating_agency_a, rating_agency_b, rating_agency_c,
    rating (the deal's own column, read on whichever scale fits), facility_rating_agency_a (the loan's own rating, for
    the notch difference of the recovery table)."""
    lien: NDArray[np.uint8] | None = None
    """`core.portfolio.model.fields.Lien` of each row; None without a lien column."""
    tranches: Tranches | None = None
    deal: Deal = Deal()
    amortization: Amortization | None = None
    sheet_name: str = "Holdings"
    notes: Notes = field(default_factory=Notes)
    """What its reader saw beside the loans."""
    source_cells: dict[str, str] = field(default_factory=dict)
    """Field -> the A1 range of its source column with the sheet's name, for the explanation of a result; fields of the
    notes and the deal as tranches.current_balance, deal.principal_cash."""

    lots: NDArray[np.int32] | None = None
    """Rows of the source that each position adds up; None where each is one row."""
    conflicting: NDArray[np.bool_] | None = None
    """Positions whose lots differ in a rating or in the maturity; None as for `lots`."""
    sheet_rows: NDArray[np.int32] | None = None
    """The sheet's row of each position, 1-based; of several lots the row of the largest, 0 for a loan of
    another sheet or of none. None
    where the loans come from no sheet."""
    page_lines: NDArray[np.int32] | None = None
    """Page and line of each row of the sheet, as `Sheet.page_lines`; None where it has no pages."""
    facts: Facts = field(default_factory=Facts)
    """What the file prints about itself: its tests with their figures, its calculations, accounts and lists."""
    own_dates: frozenset[str] = frozenset()
    """Numbers of a mapping's own fields that are days since 1970-01-01."""
    interpretation: Interpretation | None = None
    """How the choices that the file leaves open were read; None where nobody looked."""

    def page_line(self, row: int) -> tuple[int, int] | None:
        """Return page and line of the sheet's row, all from 1; None without pages."""
        if self.page_lines is None or not 0 < row <= len(self.page_lines):
            return None
        page, line = self.page_lines[row - 1].tolist()
        return page, line

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that `portfolio[name]` gives.

        They are those of `numbers`, `names`, `flags` and `ranks`, lien_type, <agency>_rank, defaulted; lots and
        conflicting where lots were added up.
        """
        return tuple(framed.names_of(self))

    def __len__(self) -> int:
        return self.row_count

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one column as an array, in the units of this class.

        Days are datetime64[D] with NaT, text is objects with None, flags are booleans, ratings are symbols (as written;
        else of their agency's scale), their ranks numbers with None under the name with _rank behind it. Numbers share
        the portfolio's memory.

        Raises:
            KeyError: there is none of the name; the message has what is near.
        """
        return framed.column_of(self, name).array()

    def __repr__(self) -> str:
        return framed.repr_of(self)

    def _repr_html_(self) -> str:
        return framed.html_of(self)

    def frame(self, *, derived: bool = True) -> Frame:
        """Return all columns of `portfolio[name]` with nulls.

        Percentages are in percent points (5 % is 5.0), spreads in basis points, days are days. What is known of the
        deal and the warnings stand in `attrs`.

        Without the `derived` ones (obligor, ranks, defaulted, lots) they are columns that `from_columns` takes.
        """
        return framed.frame_of(self, derived=derived)

    def defaulted(self) -> NDArray[np.bool_]:
        """Return which loans are defaulted on the deal's as-of day."""
        return defaulted_loans(self.row_count, self.numbers, self.flags, self.ranks, self.deal.as_of)


AnyPortfolio = TypeVar("AnyPortfolio", bound=PortfolioData)
"""What readers make: the class that they are asked for."""

DAYS_PAST_DUE_DEFAULTED: Final = 90
"""Days past due from which a loan counts as defaulted."""


def defaulted_loans(
    row_count: int,
    numbers: Dict[str, NDArray[np.float64]],
    flags: Dict[str, NDArray[np.uint8]],
    ranks: Dict[str, NDArray[np.uint8]],
    as_of: float | None,
) -> NDArray[np.bool_]:
    """Return loans with the flag, D, SD or RD, 90 days past due, or past default.

    Without an as-of day every default date counts: it is a date that has happened. A current pay loan is performing.
    """
    rows = np.zeros(row_count, np.bool_)
    if "is_defaulted" in flags:
        rows |= flags["is_defaulted"] != 0
    for agency in ("rating_agency_b", "rating_agency_c", "rating"):
        if agency in ranks:
            rows |= ranks[agency] == DEFAULTED
    # An infinite number is blank: such a column comes from arrays, never from a sheet.
    if "days_past_due" in numbers:
        rows |= (numbers["days_past_due"] >= DAYS_PAST_DUE_DEFAULTED) & (numbers["days_past_due"] < np.inf)
    if "default_date" in numbers:
        dated = numbers["default_date"]
        rows |= (np.abs(dated) < np.inf) & ((dated <= as_of) if as_of is not None else True)
    if "is_current_pay" in flags:
        rows &= flags["is_current_pay"] == 0
    return rows
