"""Loans as read to a portfolio: obligors, industries, fixed rates, prices."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import category_cells, text_cells
from core.portfolio.cells.loans import SLACK_MAX, Loans
from core.portfolio.cells.string_pool import Scalar
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.portfolio import (
    Amortization,
    AnyPortfolio,
    Names,
    Strings,
    defaulted_loans,
)
from core.portfolio.pages.identify import add_up_lots, name_keys, sort_identifiers


def assemble(
    into: type[AnyPortfolio],
    loans: Loans,
    amortization: Callable[[dict[str, Names]], Amortization | None] | None = None,
) -> AnyPortfolio:
    """Return the portfolio of some loans.

    `amortization` finds the payment schedule by the identifiers of its rows.
    """
    sort_identifiers(loans)
    loans.flags = {name: flags & np.uint8(1) for name, flags in loans.flags.items()}
    blank_zero_prices(loans)
    par = loans.numbers.get("par_value")
    loans.notes.negative_par_rows = 0 if par is None else int(np.count_nonzero(par < 0))
    add_up_lots(loans)
    names = {target: Names(column.codes, Strings(column.text)) for target, column in loans.texts.items()}
    names |= {target: Names(codes, values) for target, (codes, values) in loans.categories.items()}
    for target, meaning in (
        ("industry", category_cells.industries),
        ("country", country_names),
        ("currency", currency_names),
    ):
        column = loans.texts.get(target)
        if column is not None:
            names[target] = Names(*text_cells.categories(column, meaning(column.text.strings())))
    obligor = obligor_names(loans.texts.get("issuer_id"), loans.texts.get("borrower_name"))
    if obligor is not None:
        names["obligor"] = obligor
        loans.notes.rows_without_obligor = int(np.count_nonzero(obligor.codes < 0))
    index = names.get("base_rate")
    set_coupon_fixed(loans, index, coupon_columns(loans, index))
    take_coupons(loans)
    return into(
        row_count=loans.row_count,
        numbers={name: _own(values) for name, values in loans.numbers.items()},
        names={name: Names(_own(column.codes), column.values) for name, column in names.items()},
        flags={name: _own(flags) for name, flags in loans.flags.items()},
        ranks={name: _own(ranks) for name, ranks in loans.ranks.items()},
        lien=None if loans.lien is None else _own(loans.lien),
        tranches=loans.tranches,
        deal=loans.deal,
        amortization=amortization(names) if amortization is not None else None,
        sheet_name=loans.sheet_name,
        notes=loans.notes,
        source_cells=loans.source_cells,
        lots=loans.lots,
        conflicting=loans.conflicting,
        sheet_rows=loans.sheet_rows,
        page_lines=None if loans.page_lines is None else _own(loans.page_lines),
        facts=loans.facts,
        own_dates=frozenset(loans.own_dates),
    )


def _own(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the column, copied where it is a piece of a much larger one in memory."""
    owner: NDArray[Any] = column
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return column.copy() if owner.base is None and owner.nbytes > SLACK_MAX * column.nbytes else column


def country_names(texts: list[str]) -> list[str]:
    """Return the codes of countries, where they have one."""
    return [category_cells.country(text) for text in texts]


def currency_names(texts: list[str]) -> list[str]:
    """Return the codes of currencies."""
    return [category_cells.currency(text) for text in texts]


def obligor_names(issuer: TextColumn | None, borrower: TextColumn | None) -> Names | None:
    """Return the key of the obligor tests: issuer id, id of the same name, or name."""
    if borrower is None:
        return None if issuer is None else Names(issuer.codes, Strings(issuer.text))
    if issuer is None:
        column = name_keys(borrower)
        return Names(column.codes, Strings(column.text))
    without = issuer.codes < 0
    if not without.any():
        return Names(issuer.codes, Strings(issuer.text))
    named = name_keys(borrower)
    codes = _ids_by_name(issuer.codes, named)
    codes = np.where((codes < 0) & (named.codes >= 0), named.codes + np.int32(len(issuer.text)), codes)
    column = text_cells.merged_pool(codes, issuer.text, named.text)
    return Names(column.codes, Strings(column.text))


def _ids_by_name(codes: NDArray[np.int32], named: TextColumn) -> NDArray[np.int32]:
    """Fill blank issuer codes from rows of the same name that agree on one id."""
    both = (codes >= 0) & (named.codes >= 0)
    low = np.full(len(named.text) + 1, np.iinfo(np.int32).max, np.int32)
    high = np.full(len(named.text) + 1, -1, np.int32)
    np.minimum.at(low, named.codes[both], codes[both])
    np.maximum.at(high, named.codes[both], codes[both])
    agreed = np.where(low == high, high, np.int32(-1))
    agreed[-1] = -1
    return np.where(codes >= 0, codes, agreed[named.codes])


class CouponColumns(NamedTuple):
    """Which columns have a value in any loan: one without says nothing of a coupon."""

    spread: bool
    base_rate: bool
    coupon_type: bool


def coupon_columns(loans: Loans, index: Names | None) -> CouponColumns:
    """Return which columns say something of these loans' coupons."""
    spread, coupon_fixed = loans.numbers.get("spread"), loans.coupon_fixed
    return CouponColumns(
        spread is not None and not bool(np.isnan(spread).all()),
        index is not None and bool((index.codes >= 0).any()),
        coupon_fixed is not None and bool((coupon_fixed >= 0).any()),
    )


def set_coupon_fixed(loans: Loans, index: Names | None, has: CouponColumns) -> None:
    """Set is_fixed from coupon type, base rate "Fixed", or coupon without spread.

    Left out when no column can tell: neither coupon type nor index, and not both spread and all-in rate.
    """
    coupon = loans.numbers.get("all_in_rate")
    spread = loans.numbers.get("spread") if has.spread else None
    index = index if has.base_rate else None
    coupon_fixed = loans.coupon_fixed if has.coupon_type else None
    if coupon_fixed is None and index is None and (spread is None or coupon is None):
        return
    blank = np.ones(loans.row_count, np.bool_)
    fixed = np.zeros(loans.row_count, np.bool_)
    if index is not None:
        is_fixed = np.array([value == "FIXED" for value in index.values] + [False], np.bool_)
        fixed |= is_fixed[index.codes]
    if coupon is not None and (spread is not None or index is not None):
        no_spread = blank if spread is None else np.isnan(spread)
        no_index = blank if index is None else index.codes < 0
        fixed |= no_spread & no_index & ~np.isnan(coupon)
    if coupon_fixed is not None:
        fixed = np.where(coupon_fixed >= 0, coupon_fixed == 1, fixed)
    loans.flags["is_fixed"] = fixed.astype(np.uint8)


_SPREAD_OR_COUPON: Final = re.compile(
    r"\b(?:spread|margin)s?\b[^/(]*(?:/|\(|\bor\b)\s*(?:fixed |all.in )?(?:coupon|rate)s?\b"
    r"|\b(?:coupon|rate)s?\s*(?:/|\(|\bor\b)\s*(?:spread|margin)s?\b",
    re.IGNORECASE,
)
"""Headings of a column that has the spreads of floating loans and the coupons of fixed ones."""
HEADING_LENGTH_MAX: Final = 100

COUPON_MAX: Final = 25.0
"""The greatest figure among spreads in basis points that is a coupon in percent."""


def take_coupons(loans: Loans) -> None:
    """Take the coupons of fixed loans from a column for spreads and coupons."""
    spread, fixed = loans.numbers.get("spread"), loans.flags.get("is_fixed")
    heading = loans.notes.matched_columns.get("spread", "")
    if spread is None or fixed is None or not _SPREAD_OR_COUPON.search(heading[:HEADING_LENGTH_MAX]):
        return
    rows = (fixed == 1) & ~np.isnan(spread)
    if rows.any():
        coupon = loans.numbers.get("all_in_rate", np.full(loans.row_count, np.nan))
        percent = np.where(spread <= COUPON_MAX, spread, np.round(spread / 100.0, 9))
        loans.numbers["all_in_rate"] = np.where(rows & np.isnan(coupon), percent, coupon)
        loans.numbers["spread"] = np.where(rows, np.nan, spread)


def blank_zero_prices(loans: Loans) -> None:
    """Blank prices of 0 on performing loans before lots are added up.

    Nothing is bought for 0, and a 0 would lower the mean of the lots.
    """
    bought = loans.numbers.get("purchase_price")
    if bought is not None and (bought == 0).any():
        loans.notes.zero_purchase_prices = int(np.count_nonzero(bought == 0))
        loans.numbers["purchase_price"] = np.where(bought == 0, np.nan, bought)
    price = loans.numbers.get("price")
    if price is None:
        return
    zero = price == 0
    if not zero.any():
        return
    zero &= ~defaulted_loans(loans.row_count, loans.numbers, loans.flags, loans.ranks, loans.deal.as_of)
    loans.numbers["price"] = np.where(zero, np.nan, price)
    loans.notes.zero_prices = int(np.count_nonzero(zero))
