"""Loans as typed arrays under standard names, with the deal's notes and accounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text


class Strings(Sequence[str]):
    """Distinct strings that are decoded when they are asked for: a tuple of a million names would take 60 MB and 0.1 s."""

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
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strings({list(self[:5])}{', ...' if len(self) > 5 else ''})"


@dataclass(frozen=True, slots=True)
class Names:
    """A text column as dictionary codes: the name of row i is `values[codes[i]]`; -1 is blank. The values are distinct."""

    codes: NDArray[np.int32]
    values: Sequence[str]
    """A tuple, or `Strings` where they came from a sheet's own pool."""


@dataclass(frozen=True, slots=True)
class Tranches:
    """The notes of the deal, most senior first (by rank, then by the sheet's order); equally long.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """What the Deal or Accounts sheet says; None where it says nothing."""

    principal_cash: float | None = None
    interest_cash: float | None = None
    senior_fees: float | None = None
    """Amount for the period."""
    base_rate: float | None = None
    """Percent."""
    as_of: float | None = None
    """Days since 1970-01-01."""
    payment_days: float | None = None
    """Days in the interest period; 0.25 of a year where None."""
    reference_coupon: float | None = None
    """Percent: the reference weighted average coupon of the excess-WAC rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amortization:
    """Scheduled principal payments: `row` names the loan by its row in the portfolio."""

    row: NDArray[np.int64]
    days: NDArray[np.float64]
    """Payment date, days since 1970-01-01."""
    amount: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The loans of one deal, one row for each facility (lots of one identifier are added up), as typed columns.

    A field whose column the source does not have is absent from its dict. All arrays have `row_count` elements.
    """

    row_count: int
    numbers: dict[str, NDArray[np.float64]]
    """NaN is blank. par_value, purchase_price (% of par), price (% of par), spread (bps), floor, all_in_rate, recovery_rate,
    base_rate_level (percent), facility_size, unfunded (currency), days_past_due, quote_depth, average_life (years);
    maturity_date, default_date (days since 1970-01-01)."""
    names: dict[str, Names]
    """obligor (issuer_id, else the normalised borrower name: the key of the obligor tests), borrower_name, facility_name,
    industry (canonical, domain page 4.3), country ("US" for the United States), currency, base_rate (index family and tenor),
    cusip, loanx_id, isin, issuer_id, payment_frequency."""
    flags: dict[str, NDArray[np.uint8]]
    """0 or 1; a blank in an existing column is 0. is_defaulted, cov_lite, is_dip, is_current_pay, is_pik, is_long_dated, participation;
    is_fixed where the coupon type could be told for the row (see `is_fixed` in the mapping)."""
    ranks: dict[str, NDArray[np.uint8]]
    """Rating ranks 1 (Aaa) to 22 (defaulted), 0 for no rating: rating_agency_a, rating_agency_b, rating_agency_c, rating
    (the deal's own column, read on whichever scale fits)."""
    lien: NDArray[np.uint8] | None = None
    """`core.portfolio.fields.Lien` of each row; None without a lien column."""
    tranches: Tranches | None = None
    deal: Deal = Deal()
    amortization: Amortization | None = None
    sheet_name: str = "Holdings"
    notes: dict[str, Any] = field(default_factory=dict)
    """What the mapping saw and counted: ignored_blank_par, error_cells, negative_par_rows, conflicting_lots, matched columns, ..."""
    source_cells: dict[str, str] = field(default_factory=dict)
    """Field -> the A1 range of its source column with the sheet's name, for the explanation of a result."""
