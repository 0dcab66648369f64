"""Columns of a page for its loans, and loans of a second list below the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Dict
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import category_cells
from core.portfolio.cells.loans import UNSAID, Loans
from core.portfolio.cells.string_pool import Scalar, key, spread_out
from core.portfolio.cells.text_cells import NO_TEXT, TextColumn
from core.portfolio.cells.typed import blank_column, either
from core.portfolio.model.fields import KEYS, Lien
from core.portfolio.pages.identify import SUMMED
from core.portfolio.pages.keys import together
from core.portfolio.pages.match import PageMatch

EQUAL_SHARE: Final = 1e-6
"""Share by which two figures for one field may differ without being a conflict."""

_UNCOMPARED: Final = frozenset((*KEYS, "borrower_name", "facility_name", "issuer_id", "base_rate"))
"""Texts that pages spell differently: a difference is no conflict."""

BY_HEADER: Final = frozenset(("industry", "recovery_rate", "rating"))
"""Fields that mean another thing under another header: a blank is not filled from there."""

_Spread = Callable[[NDArray[Any], float], NDArray[Any]]


@dataclass(slots=True)
class WidenedLoans:
    """What a page gave to the loans."""

    taken: list[str] = field(default_factory=list)
    """Fields that the loans did not have."""
    filled: dict[str, int] = field(default_factory=dict)
    """Field -> blanks filled."""
    conflicts: dict[str, int] = field(default_factory=dict)
    """Field -> loans for which both say something, and not the same; the loans' own counts."""


def widen(loans: Loans, page: Loans, match: PageMatch, *, unlike: Iterable[str] = ()) -> WidenedLoans:
    """Give the loans what the page says of them: missing fields, and blanks.

    Par stays the loans' own, where they have any. Amounts that lots add up go to the first loan of a row.

    Args:
        unlike: fields whose column has another meaning on the page: neither compared nor filled.
    """
    widened, skipped = WidenedLoans(), frozenset(unlike)
    at = match.at

    def spread(values: NDArray[Scalar], blank: float) -> NDArray[Scalar]:
        return spread_out(values, blank, np.asarray(at, np.int32))

    def fill(target: str, own: NDArray[Scalar] | None, values: NDArray[Scalar], blank: int) -> NDArray[Scalar]:
        return _merge(widened, target, own, spread(values, blank), lambda codes: codes == blank, np.not_equal)

    _take_numbers(loans, page, match, widened, skipped, spread)
    for target in page.ranks.keys() - skipped:
        _take_ranks(loans, page, target, widened, spread)
    for target in page.texts.keys() - page.ranks.keys() - skipped:
        _take_text(loans, page.texts[target], target, widened, spread)
    for target in page.flags.keys() - skipped:
        loans.flags[target] = fill(target, loans.flags.get(target), page.flags[target], UNSAID)
    if page.lien is not None and "lien_type" not in skipped:
        loans.lien = fill("lien_type", loans.lien, page.lien, Lien.BLANK)
    if page.coupon_fixed is not None and "coupon_type" not in skipped:
        loans.coupon_fixed = fill("coupon_type", loans.coupon_fixed, page.coupon_fixed, -1)
    for target in page.categories.keys() - skipped:
        codes, names = page.categories[target]
        _take_category(loans, target, spread(codes, -1), names, widened)
    for target in page.ruled.keys() - skipped:
        of_page, mine = page.ruled[target].take(at), loans.ruled.get(target)
        loans.ruled[target] = of_page if mine is None else either(~mine.blank(), mine, of_page)
    return widened


def _count(counts: dict[str, int], target: str, rows: NDArray[np.bool_]) -> None:
    if count := int(np.count_nonzero(rows)):
        counts[target] = counts.get(target, 0) + count


def _figures_differ(mine: NDArray[np.float64], its: NDArray[np.float64]) -> NDArray[np.bool_]:
    size = np.maximum(np.maximum(np.abs(mine), np.abs(its)), 1.0)
    return np.asarray(np.abs(mine - its) > EQUAL_SHARE * size, np.bool_)


def _merge(
    widened: WidenedLoans,
    target: str,
    own: NDArray[Scalar] | None,
    of_page: NDArray[Scalar],
    blank: Callable[[NDArray[Scalar]], NDArray[np.bool_]],
    differ: Callable[[NDArray[Scalar], NDArray[Scalar]], NDArray[np.bool_]],
) -> NDArray[Scalar]:
    """Fill blanks of the loans' column from the page's, spread over the loans."""
    if own is None:
        widened.taken.append(target)
        return of_page
    has_page = ~blank(of_page)
    both = has_page & ~blank(own)
    conflicting = np.zeros(len(own), np.bool_)
    conflicting[both] = differ(own[both], of_page[both])
    _count(widened.conflicts, target, conflicting)
    fill = has_page & blank(own)
    _count(widened.filled, target, fill)
    return np.where(fill, of_page, own) if fill.any() else own


def _take_numbers(
    loans: Loans, page: Loans, match: PageMatch, widened: WidenedLoans, skipped: frozenset[str], spread: _Spread
) -> None:
    """Take the page's figures: par only where missing, amounts for first loans."""
    has = match.rows
    firsts = np.zeros(loans.row_count, np.bool_)
    firsts[np.flatnonzero(has)[np.unique(match.at[has], return_index=True)[1]]] = True
    for target, values in page.numbers.items():
        if target in skipped or (target == "par_value" and target in loans.numbers):
            continue
        figures = spread(values, np.nan)
        if target in SUMMED:
            figures = np.where(firsts, figures, np.nan)
        loans.numbers[target] = _merge(widened, target, loans.numbers.get(target), figures, np.isnan, _figures_differ)


def _take_ranks(loans: Loans, page: Loans, target: str, widened: WidenedLoans, spread: _Spread) -> None:
    """Take a rating with its symbol.

    A blank is one without a symbol, a masked one is none.
    """
    ranks, text = spread(page.ranks[target], 0), page.texts.get(target)
    codes = None if text is None else spread(text.codes, -1)
    if target not in loans.ranks:
        widened.taken.append(target)
        loans.ranks[target] = ranks
        if text is not None and codes is not None:
            loans.texts[target] = TextColumn(codes, text.text)
        return
    own, symbols = loans.ranks[target], loans.texts.get(target)
    _count(widened.conflicts, target, (own > 0) & (ranks > 0) & (own != ranks))
    fill = (own == 0) & (ranks > 0)
    if symbols is not None:
        fill &= symbols.codes < 0
    if not fill.any():
        return
    _count(widened.filled, target, fill)
    loans.ranks[target] = np.where(fill, ranks, own)
    if symbols is not None and text is not None and codes is not None:
        (mine, its), pool = together([symbols, TextColumn(codes, text.text)])
        loans.texts[target] = TextColumn(np.where(fill, its, mine), pool)


def _take_text(loans: Loans, column: TextColumn, target: str, widened: WidenedLoans, spread: _Spread) -> None:
    if target in KEYS and not (column.codes >= 0).any():
        return  # all were of another kind
    of_page, own = TextColumn(spread(column.codes, -1), column.text), loans.texts.get(target)
    if own is None:
        widened.taken.append(target)
        loans.texts[target] = of_page
        return
    (mine, its), pool = together([own, of_page])
    if target not in _UNCOMPARED:
        differ = np.flatnonzero((mine >= 0) & (its >= 0) & (mine != its))
        if len(differ):
            by_code = {code: _meaning(target, pool[code]) for code in np.unique((mine[differ], its[differ])).tolist()}
            unlike = [
                by_code[mine_code] != by_code[its_code]
                for mine_code, its_code in zip(mine[differ].tolist(), its[differ].tolist(), strict=True)
            ]
            _count(widened.conflicts, target, np.array(unlike, np.bool_))
    fill = (mine < 0) & (its >= 0)
    _count(widened.filled, target, fill)
    if fill.any():
        loans.texts[target] = TextColumn(np.where(fill, its, mine), pool)


def _meaning(target: str, text: str) -> str:
    """Return what a text says, for comparison."""
    if target == "country":
        return category_cells.country(text)
    return category_cells.currency(text) if target == "currency" else key(text) or text


def _take_category(
    loans: Loans, target: str, codes: NDArray[np.int32], values: tuple[str, ...], widened: WidenedLoans
) -> None:
    """Take names that are canonical already."""
    if target not in loans.categories:
        widened.taken.append(target)
        loans.categories[target] = (codes, values)
        return
    own, known = loans.categories[target]
    names, (mine, its) = _one_list((known, values), (own, codes))
    differ = np.not_equal if target not in _UNCOMPARED else lambda first, second: np.zeros(len(first), np.bool_)
    loans.categories[target] = (_merge(widened, target, mine, its, lambda own_codes: own_codes < 0, differ), names)


def _one_list(
    lists: Sequence[tuple[str, ...]], codes: Sequence[NDArray[np.int32]]
) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """Return codes into several lists of names as codes into one."""
    names = tuple(sorted(set().union(*lists)))
    place = {name: at for at, name in enumerate(names)}
    tables = [np.array([place[name] for name in of], np.int32) for of in lists]
    return names, [spread_out(table, -1, code) for table, code in zip(tables, codes, strict=True)]


# ---- more loans ----------------------------------------------------------------------------------------------------


def append(loans: Loans, more: Loans) -> None:
    """Put the rows of another sheet below the loans; missing fields are blank."""
    low, high = loans.row_count, more.row_count
    loans.numbers = _below(loans.numbers, more.numbers, low, high, np.nan, np.float64)
    loans.flags = _below(loans.flags, more.flags, low, high, UNSAID, np.uint8)
    loans.ranks = _below(loans.ranks, more.ranks, low, high, 0, np.uint8)
    texts: dict[str, TextColumn] = {}
    for target in loans.texts.keys() | more.texts.keys():
        columns = [
            part.texts.get(target, TextColumn(np.full(part.row_count, -1, np.int32), NO_TEXT)) for part in (loans, more)
        ]
        codes, pool = together(columns)
        texts[target] = TextColumn(np.concatenate(codes), pool)
    loans.texts = texts
    for target in loans.categories.keys() | more.categories.keys():
        parts = [part.categories.get(target, (np.full(part.row_count, -1, np.int32), ())) for part in (loans, more)]
        names, code_arrays = _one_list([code_array for _, code_array in parts], [code_array for code_array, _ in parts])
        loans.categories[target] = (np.concatenate(code_arrays), names)
    loans.lien = _column_below(loans.lien, more.lien, low, high, Lien.BLANK, np.uint8)
    loans.coupon_fixed = _column_below(loans.coupon_fixed, more.coupon_fixed, low, high, -1, np.int8)
    loans.sheet_rows = _column_below(loans.sheet_rows, None, low, high, 0, np.int32)  # those of one sheet alone
    places = np.arange(low + high)
    for target, column in (loans.ruled | more.ruled).items():
        own, its = (part.ruled.get(target, blank_column(column.type, part.row_count)) for part in (loans, more))
        above, below = np.where(places < low, places, -1), np.where(places < low, -1, places - low)
        loans.ruled[target] = either(places < low, own.take(above), its.take(below))
    loans.row_count = low + high


def _below(
    own: Dict[str, NDArray[Any]], more: Dict[str, NDArray[Any]], low: int, high: int, blank: float, kind: type
) -> dict[str, NDArray[Any]]:
    columns = {
        target: _column_below(own.get(target), more.get(target), low, high, blank, kind)
        for target in (*own, *(target for target in more if target not in own))
    }
    return {target: column for target, column in columns.items() if column is not None}


def _column_below(
    own: NDArray[Any] | None, more: NDArray[Any] | None, low: int, high: int, blank: float, kind: type
) -> NDArray[Any] | None:
    if own is None and more is None:
        return None
    above = np.full(low, blank, kind) if own is None else own
    return np.concatenate((above, np.full(high, blank, kind) if more is None else more))
