"""A generated deal: its loans as columns, its notes and accounts, its workbook."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.write import Writable, write_workbook_rows
from core.generate.book import LoanBook, draw_book
from core.generate.faults import FAULTS
from core.generate.sheets import MESSY, LoanTexts, deal_rows, draw_texts, holdings, rows_at_most, tranche_rows
from core.generate.tables import (
    AS_OF,
    BASE_RATE_PERCENT,
    COUNTRIES,
    COUPON_TYPES,
    CURRENCY,
    INDEX_NAME,
    INDUSTRIES,
    LIENS,
    TRANCHES,
)
from core.portfolio.model.portfolio import Deal, Tranches
from core.portfolio.model.ratings import SCALE_A, SCALE_B

LOANS_MIN: Final = 200
"""Fewer loans than this do not make a book that keeps to the limits."""

SHEET_ROWS_MAX: Final = 1_000_000
"""Rows of a sheet that the service takes; what is drawn here is for it."""

LOANS_MAX: Final = SHEET_ROWS_MAX - 1
"""One row of the sheet is the header."""

SEED_MAX: Final = 2**63 - 1
"""Seeds are whole numbers from 0 to this."""

_PROGRESS_EVERY: Final = 2_000


NEWEST: Final = date.fromisoformat(AS_OF)
"""The day that a deal is of."""

Coded = tuple[NDArray[np.int32], tuple[str, ...]]
"""A text column as codes into its distinct values; -1 is blank."""


class GenerateError(ValueError):
    """A book that cannot be made as asked; the message says what can."""


@dataclass(frozen=True, slots=True)
class GeneratedDeal:
    """A seeded deal."""

    book: LoanBook
    texts: LoanTexts
    messy: frozenset[str]
    as_of: date = NEWEST

    @property
    def loans(self) -> int:
        """Loans in the book."""
        return self.book.count

    def portfolio_columns(self) -> dict[str, NDArray[np.float64] | NDArray[np.bool_] | NDArray[np.str_] | Coded]:
        """Return the loans under their standard names, one element per loan, for `Portfolio.from_columns`.

        Numbers in the units of `Portfolio.numbers` (NaN is blank; dates as days since 1970), flags as booleans, texts
        as a pair of codes (-1 is blank) and values, identifiers as strings (empty is blank). The messiness is the
        sheet's and not in here.
        """
        book, texts = self.book, self.texts
        return {
            "cusip": texts.cusip,
            "loanx_id": texts.loanx,
            "isin": texts.isin,
            "borrower_name": _encode(book.obligor, texts.companies),
            "facility_name": _encode(texts.facility, texts.facilities),
            "par_value": book.par,
            "price": book.price,
            "purchase_price": book.purchase_price,
            "spread": book.spread,
            "base_rate": _encode(np.where(book.is_fixed, -1, 0), [INDEX_NAME]),
            "floor": book.floor,
            "all_in_rate": book.all_in_rate,
            "coupon_type": _encode(book.is_fixed, COUPON_TYPES),
            "rating_agency_a": _encode(book.rank_a - 1, SCALE_A),
            "rating_agency_b": _encode(book.rank_b - 1, SCALE_B),
            "rating_agency_c": _encode(book.rank_c - 1, SCALE_B),
            "recovery_rate": book.recovery_rate,
            "industry": _encode(book.industry, [name for name, _ in INDUSTRIES]),
            "country": _encode(book.country, [name for name, *_ in COUNTRIES]),
            "currency": _encode(np.zeros(book.count, np.int64), [CURRENCY]),
            "maturity_date": book.maturity,
            "lien_type": _encode(book.is_second_lien, LIENS),
            "is_defaulted": book.is_defaulted,
            "cov_lite": book.is_cov_lite,
            "is_dip": book.is_dip,
            "is_current_pay": book.is_current_pay,
            "is_deferring": book.is_pik,
            "facility_size": book.facility_size,
            "days_past_due": book.days_past_due,
            "quote_depth": book.quote_depth,
        }

    @property
    def tranches(self) -> Tranches:
        """The notes of the deal."""
        classes, percent, spread, oc_trigger, ic_trigger, _ = zip(*TRANCHES, strict=True)
        balance = np.array(percent) / 100.0 * self.book.target_par
        spreads = np.array(spread, np.float64)
        blank = np.full(len(classes), np.nan)
        return Tranches(
            classes=classes,
            current_balance=balance,
            original_balance=balance,
            coupon=BASE_RATE_PERCENT + spreads / 100.0,
            spread=spreads,
            oc_trigger=np.array(oc_trigger, np.float64),
            ic_trigger=np.array(ic_trigger, np.float64),
            rank=np.arange(1, len(classes) + 1, dtype=np.int32),
            deferred_interest=blank,
            interest_due=blank,
            is_income=np.isnan(spreads),
        )

    @property
    def deal(self) -> Deal:
        """Cash, base rate and the date of the book."""
        as_of = float(np.datetime64(self.as_of, "D").astype(np.float64))
        return Deal(principal_cash=self.book.cash, base_rate=BASE_RATE_PERCENT, as_of=as_of)

    def write(self, path: Path | str, progress: Callable[[int], None] | None = None) -> None:
        """Write an .xlsx workbook with the sheets Holdings, Tranches and Deal, in constant memory.

        Args:
            progress: called now and then with the number of rows that were handed out since the last call.
        """
        sheet = holdings(self.book, self.texts, self.messy, self.as_of)
        write_workbook_rows(
            path,
            {
                "Holdings": sheet.rows() if progress is None else counted(sheet.rows(), progress),
                "Tranches": tranche_rows(self.book),
                "Deal": deal_rows(self.book, self.as_of),
            },
            number_formats={
                "Holdings": [column.number_format for column in sheet.columns],
                "Tranches": [None, "#,##0", "#,##0"],
            },
            merged={"Holdings": sheet.merged},
        )


def generate(
    loans: int = 300, seed: int = 7, faults: Collection[str] = (), messy: Collection[str] = ()
) -> GeneratedDeal:
    """Return a deal of so many loans, always the same for the same arguments (and version of NumPy, whose draws may
    change).

    Args:
        loans: LOANS_MIN to LOANS_MAX.
        seed: 0 to SEED_MAX.
        faults: what to break, of FAULTS.
        messy: habits of the Holdings sheet, of MESSY.

    Raises:
        GenerateError: a number outside its range, an unknown fault or habit, or more rows than a sheet has.
    """
    check_number("loans", loans, LOANS_MIN, LOANS_MAX)
    check_number("seed", seed, 0, SEED_MAX)
    check_words("fault", faults, FAULTS)
    check_words("messy", messy, MESSY)
    rows = rows_at_most(loans, frozenset(messy))
    if rows > SHEET_ROWS_MAX:
        raise GenerateError(
            f"{loans:,} loans with this mess take up to {rows:,} rows; a sheet has {SHEET_ROWS_MAX:,}: ask for fewer"
        )
    book = draw_book(seed, loans)
    for name, fault in FAULTS.items():
        if name in faults:
            fault(book)
    return GeneratedDeal(book, draw_texts(book), frozenset(messy))


def check_number(name: str, value: int, low: int, high: int) -> None:
    """Refuse a number outside its range.

    Raises:
        GenerateError: it is.
    """
    if not low <= value <= high:
        raise GenerateError(f"{name} must be between {low:,} and {high:,}, not {value:,}")


def check_words(name: str, words: Collection[str], known: Collection[str]) -> None:
    """Refuse a word that is none of the known ones.

    Raises:
        GenerateError: there is one.
    """
    for word in words:
        if word not in known:
            raise GenerateError(f"unknown {name} {word!r}: choose from {', '.join(known)}")


def _encode(codes: NDArray[np.int64] | NDArray[np.bool_], values: Sequence[str]) -> Coded:
    return codes.astype(np.int32), tuple(values)


def counted(rows: Iterator[Sequence[Writable]], progress: Callable[[int], None]) -> Iterator[Sequence[Writable]]:
    """Yield the rows, with word of every 2,000 of them."""
    for number, row in enumerate(rows, 1):
        if number % _PROGRESS_EVERY == 0:
            progress(_PROGRESS_EVERY)
        yield row
