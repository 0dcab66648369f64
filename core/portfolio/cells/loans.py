"""Loans of one sheet as typed columns, before they are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import category_cells, text_cells
from core.portfolio.cells.rate_cells import index_name
from core.portfolio.cells.string_pool import spread_out
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn
from core.portfolio.model import ratings
from core.portfolio.model.facts import Facts
from core.portfolio.model.fields import KEYS, STANDARD_TARGETS, Lien
from core.portfolio.model.notes import DataWarning, Notes, row_texts
from core.portfolio.model.portfolio import (
    Deal,
    Tranches,
)
from core.words import agreed, counted

UNSAID: Final = 2
"""A flag whose cell is blank, until the portfolio is made: another page may say it, and else it is no."""


SLACK_MAX: Final = 2
"""How many times its own size a portfolio's column may keep alive in memory."""


@dataclass
class Loans:
    """The rows of a source under standard names, before lots are added up."""

    row_count: int
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    texts: dict[str, TextColumn] = field(default_factory=dict)
    categories: dict[str, tuple[NDArray[np.int32], tuple[str, ...]]] = field(default_factory=dict)
    """Text columns that already have canonical names."""
    flags: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    """0, 1, or `UNSAID`."""
    ranks: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    lien: NDArray[np.uint8] | None = None
    coupon_fixed: NDArray[np.int8] | None = None
    """1 fixed, 0 floating, -1 where the coupon type does not say; None without the column."""
    tranches: Tranches | None = None
    facts: Facts = field(default_factory=Facts)
    deal: Deal = field(default_factory=Deal)
    sheet_name: str = "Holdings"
    notes: Notes = field(default_factory=Notes)
    source_cells: dict[str, str] = field(default_factory=dict)
    lots: NDArray[np.int32] | None = None
    conflicting: NDArray[np.bool_] | None = None
    sheet_rows: NDArray[np.int32] | None = None
    """The sheet's row of each, 1-based."""
    page_lines: NDArray[np.int32] | None = None
    """Page and line of each row of the sheet; None where it has no pages."""
    own_dates: set[str] = field(default_factory=set)
    """Numbers of a mapping's own fields that are days."""
    ruled: dict[str, NormalColumn] = field(default_factory=dict)
    """Columns as they were typed, of fields that a mapping's rules or defaults are about."""


_TEXTS: Final = frozenset(
    (*KEYS, "borrower_name", "issuer_id", "facility_name", "industry", "country", "currency",
     "payment_frequency")
)  # fmt: skip
"""Fields that are text whatever type a mapping of one's own gives them."""


def put_column(loans: Loans, target: str, column: NormalColumn) -> int:
    """Give the loans a typed column.

    Of ratings, liens, coupon types and indexes they get what the words mean.

    Returns:
        Rows of a rating whose word means nothing.
    """
    if target in ratings.AGENCY_OF:
        return _put_rating(loans, target, column.as_text())
    if target in _BY_WORDS:
        _BY_WORDS[target](loans, column.as_text())
    elif target == "is_fixed" and column.type == "boolean":
        if loans.coupon_fixed is None or not (loans.coupon_fixed >= 0).any():
            loans.coupon_fixed = np.where(column.blank(), -1, column.values != 0).astype(np.int8)
    elif target == "as_of" and column.type == "date":
        loans.notes.as_of_column = float(np.nanmax(column.values)) if not column.blank().all() else None
    elif column.type == "string" or target in _TEXTS:
        loans.texts[target] = text_cells.upper(column.as_text()) if target in KEYS else column.as_text()
    elif column.type == "boolean":
        loans.flags[target] = np.where(column.blank(), np.uint8(UNSAID), column.values != 0).astype(np.uint8)
    else:
        loans.numbers[target] = column.values
        if column.type == "date" and target not in STANDARD_TARGETS:
            loans.own_dates.add(target)
    return 0


def note_rows(loans: Loans, name: str, rows: NDArray[np.bool_]) -> int:
    """Note under a count's name which rows of the sheet it is of; return how many."""
    count = int(np.count_nonzero(rows))
    if count and loans.sheet_rows is not None:
        loans.notes.rows_of[name] = (loans.sheet_name, row_texts(loans.sheet_rows[rows], loans.page_lines))
    return count


def _put_liens(loans: Loans, text: TextColumn) -> None:
    liens = np.array([category_cells.lien(string) for string in text.text.strings()], np.uint8)
    loans.lien = spread_out(liens, Lien.BLANK, text.codes)
    loans.notes.lien_blank_rows = int(np.count_nonzero(loans.lien == Lien.BLANK))
    loans.notes.lien_unrecognised_rows = note_rows(loans, "lien_unrecognised_rows", loans.lien == Lien.OTHER)


def _put_coupon_types(loans: Loans, text: TextColumn) -> None:
    is_fixed = np.array([category_cells.coupon_is_fixed(string) for string in text.text.strings()], np.int8)
    loans.coupon_fixed = spread_out(is_fixed, -1, text.codes)


def _put_indexes(loans: Loans, text: TextColumn) -> None:
    loans.categories["base_rate"] = text_cells.categories(text, [index_name(string) for string in text.text.strings()])


_BY_WORDS: Final[Mapping[str, Callable[[Loans, TextColumn], None]]] = {
    "lien_type": _put_liens,
    "coupon_type": _put_coupon_types,
    "base_rate": _put_indexes,
}


def _put_rating(loans: Loans, target: str, text: TextColumn) -> int:
    strings = text.text.strings()
    counts = np.bincount(text.codes + 1, minlength=len(strings) + 1)[1:].tolist()
    words = rating_words(target, strings, counts)
    loans.notes.warnings += words.warnings
    loans.ranks[target] = spread_out(np.array(words.ranks, np.uint8), 0, text.codes)
    loans.texts[target] = text if not words.masks else with_masks(text, words.masks)
    return note_rows(loans, target, spread_out(words.is_odd, False, text.codes))


class RatingWords(NamedTuple):
    """What the distinct words of a column of ratings mean."""

    ranks: list[int]
    """0 for none."""
    masks: list[int]
    """Places of the words that stand for masked ratings."""
    is_on_another_scale: bool
    is_odd: NDArray[np.bool_]
    """Which words mean nothing."""
    warnings: list[DataWarning]


def rating_words(target: str, strings: list[str], counts: list[int]) -> RatingWords:
    """Return what a column's words mean, by how many rows have each."""
    ranks, warnings = [ratings.rank(string, ratings.AGENCY_OF[target]) for string in strings], list[DataWarning]()
    others = [] if any(ranks) else _on_another_scale(strings)
    if others:
        ranks = others
        warnings.append(_other_scale(target, strings, ranks, counts))
    odd = [not rank and not ratings.is_not_rated(string) for rank, string in zip(ranks, strings, strict=True)]
    masks = ratings.masks_of(strings, counts, ranks) if any(odd) else []
    warnings += [_mask_warning(target, strings[at], counts[at]) for at in masks]
    is_odd = np.array(odd, np.bool_)
    is_odd[masks] = False
    return RatingWords(ranks, masks, bool(others), is_odd, warnings)


def _on_another_scale(strings: list[str]) -> list[int]:
    """Return ranks where all symbols are of another agency than the heading's.

    Empty where one is of none.
    """
    ranks = [ratings.rank(text) for text in strings]
    are_known = all(rank or ratings.is_not_rated(text) for rank, text in zip(ranks, strings, strict=True))
    return ranks if are_known and any(ranks) else []


def _other_scale(target: str, strings: list[str], ranks: list[int], counts: list[int]) -> DataWarning:
    """Return what is said of a column whose symbols are another agency's."""
    count = sum(of_word for of_word, rank in zip(counts, ranks, strict=True) if rank)
    example = next(text for text, rank in zip(strings, ranks, strict=True) if rank)
    message = (
        f"{target} of {counted(count, 'row')} is in another agency's symbols, such as {example!r}: each counts as the "
        "symbol of the same rank."
    )
    return DataWarning("rating_of_another_scale", message, count, (target,))


def _mask_warning(target: str, word: str, count: int) -> DataWarning:
    """Return what is said of a column's own word for a masked rating."""
    message = (
        f"{word!r} stands for {target} on {counted(count, 'row')} and is no rating: "
        f"{agreed(count, 'it counts/they count')} as masked."
    )
    return DataWarning("masked_word", message, count, (target,))


def with_masks(text: TextColumn, masks: Iterable[int]) -> TextColumn:
    """Return a column of ratings whose words at some places are masks."""
    strings = text.text.strings()
    for at in masks:
        strings[at] = ratings.MASK
    codes, pool = text_cells.pool_of(strings)
    return TextColumn(spread_out(codes, -1, text.codes), pool)


def take(loans: Loans, rows: NDArray[np.intp]) -> None:
    """Replace every column by these rows of it.

    The texts of the others go where these are many.
    """
    few = len(rows) * SLACK_MAX < loans.row_count
    loans.row_count = len(rows)
    loans.numbers = {name: values[rows] for name, values in loans.numbers.items()}
    loans.texts = {
        name: text_cells.subset(column, rows) if few else TextColumn(column.codes[rows], column.text)
        for name, column in loans.texts.items()
    }
    loans.categories = {name: (codes[rows], values) for name, (codes, values) in loans.categories.items()}
    loans.flags = {name: flags[rows] for name, flags in loans.flags.items()}
    loans.ranks = {name: ranks[rows] for name, ranks in loans.ranks.items()}
    loans.lien = None if loans.lien is None else loans.lien[rows]
    loans.coupon_fixed = None if loans.coupon_fixed is None else loans.coupon_fixed[rows]
    loans.sheet_rows = None if loans.sheet_rows is None else loans.sheet_rows[rows]
    loans.ruled = {name: column.take(rows) for name, column in loans.ruled.items()}
