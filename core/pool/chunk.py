"""Some loans of a pool as a portfolio, read as they would be among all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance.view import AllLoans
from core.pool.columns import RawNames, Words, put, raw_names
from core.pool.source import PoolField, PoolFile, PoolRefused, PoolSource
from core.portfolio import Portfolio
from core.portfolio.assemble.assemble import (
    CouponColumns,
    blank_zero_prices,
    country_names,
    coupon_columns,
    currency_names,
    set_coupon_fixed,
)
from core.portfolio.cells import category_cells, text_cells
from core.portfolio.cells.loans import Loans, take
from core.portfolio.model.notes import Notes
from core.portfolio.model.portfolio import Deal, Names, Strings
from core.portfolio.pages.identify import put_second_liens

OBLIGOR_COLUMNS: Final = ("issuer_id", "borrower_name")
"""Columns that name an obligor, in the order in which they count."""

PAIR: Final = "\x1f"
"""Stands between an id and a name where both tell the obligor."""

NO_NAME: Final = "\x1e"
"""Stands for a null in such a pair."""


class Settled(NamedTuple):
    """What is read of each loan by all loans of the pool.

    It is assumed, and checked after the last loan.
    """

    as_of_column: float | None = None
    coupons: CouponColumns = CouponColumns(spread=False, base_rate=False, coupon_type=False)
    words: tuple[tuple[str, Words], ...] = ()
    """Of columns of ratings that have some."""
    of_all: AllLoans = AllLoans(is_mostly_unrated=False, recovery_agency=None)
    spelling: tuple[tuple[str, str], ...] = ()
    """Industry as a loan has it -> as the pool has it, where the two differ."""
    currency: str | None = None
    """That of most loans."""
    has_pairs: bool = False
    """Whether ids and names tell the obligors together: some loan has no id."""


EXCESS_FLAGS: Final = ("is_long_dated", "is_current_pay")
"""Flags of loans of which definitions carry the excess below par."""

COUNTED_NOTES: Final = (
    "loans_without_par", "negative_par_rows", "lien_blank_rows", "lien_unrecognised_rows", "zero_prices",
    "zero_purchase_prices",
)  # fmt: skip
"""What is noted of some loans that is, added up, noted of all."""


@dataclass(slots=True)
class Chunk:
    """Some loans, and what they say of all."""

    portfolio: Portfolio
    """Without the loans whose par is blank, and without obligors."""
    obligors: RawNames | None
    """Of each of its loans; None where the pool names none."""
    kept: NDArray[np.bool_] | None
    """Loans of `obligors` that the portfolio has; None for all."""
    notes: dict[str, int]
    coupons: CouponColumns
    words: dict[str, dict[str, int]]
    as_of: float | None
    currencies: dict[str, int] = field(default_factory=dict)
    industries: tuple[str, ...] = ()
    """As the loans have them."""


def read_chunk(
    batch: Any,
    headings: dict[str, PoolField],
    file: PoolFile,
    source: PoolSource,
    settled: Settled,
    deal: Deal,
    targets: frozenset[str],
) -> Chunk:
    """Return the loans of a record batch, with the fields `targets` of the pool."""
    loans = Loans(row_count=batch.num_rows, sheet_name=source.name)
    words, words_by_target = dict(settled.words), dict[str, dict[str, int]]()
    names: dict[str, tuple[PoolField, Any]] = {}
    for at, heading in enumerate(batch.schema.names):
        own = headings[heading]
        if own.target in OBLIGOR_COLUMNS:
            if batch.column(at).type.id:  # 0 holds nulls alone
                names[own.target] = own, batch.column(at)
            continue
        counts = put(loans, own, batch.column(at), words.get(own.target, Words()))
        if counts:
            words_by_target[own.target] = counts
    _fill_absent(loans, file, [field for field in source.fields if field.target in targets])
    obligors = _obligors(names, obligor_columns(source, has_pairs=settled.has_pairs))
    blank = np.isnan(loans.numbers["par_value"])
    kept = None
    loans.notes.loans_without_par = int(np.count_nonzero(blank))
    as_of = loans.notes.as_of_column
    if loans.notes.loans_without_par:
        kept = ~blank
        take(loans, np.flatnonzero(kept))
    loans.deal = deal
    return _assembled(loans, settled, Chunk(_NOTHING, obligors, kept, {}, settled.coupons, words_by_target, as_of))


def _fill_absent(loans: Loans, file: PoolFile, fields: Iterable[PoolField]) -> None:
    """Give the loans of a file the columns that it lacks and others have."""
    for own in fields:
        if own.target not in file.fields and own.target not in OBLIGOR_COLUMNS:
            put(loans, own, None, Words())


def _assembled(loans: Loans, settled: Settled, chunk: Chunk) -> Chunk:
    """Return the chunk with its portfolio.

    It is made as `core.portfolio.assemble` makes one, but for lots and obligors.
    """
    put_second_liens(loans)
    loans.flags = {name: flags & np.uint8(1) for name, flags in loans.flags.items()}
    blank_zero_prices(loans)
    loans.notes.negative_par_rows = int(np.count_nonzero(loans.numbers["par_value"] < 0))
    names = {target: Names(column.codes, Strings(column.text)) for target, column in loans.texts.items()}
    names |= {target: Names(codes, values) for target, (codes, values) in loans.categories.items()}
    for target, meaning in (("country", country_names), ("currency", currency_names)):
        column = loans.texts.get(target)
        if column is not None:
            names[target] = Names(*text_cells.categories(column, meaning(column.text.strings())))
    industry = loans.texts.get("industry")
    if industry is not None:
        spelling, texts = dict(settled.spelling), industry.text.strings()
        own = category_cells.industries(texts)
        names["industry"] = Names(
            *text_cells.categories(industry, [spelling.get(text, name) for text, name in zip(texts, own, strict=True)])
        )
        chunk.industries = tuple(texts)
    index = names.get("base_rate")
    chunk.coupons = coupon_columns(loans, index)
    set_coupon_fixed(loans, index, settled.coupons)
    chunk.currencies = _rows_of(names.get("currency"))
    chunk.notes = {name: getattr(loans.notes, name) or 0 for name in COUNTED_NOTES}
    chunk.notes |= {name: int(np.count_nonzero(loans.flags[name])) for name in EXCESS_FLAGS if name in loans.flags}
    chunk.portfolio = Portfolio(
        loans.row_count,
        loans.numbers,
        names,
        loans.flags,
        loans.ranks,
        loans.lien,
        None,
        loans.deal,
        sheet_name=loans.sheet_name,
    )
    return chunk


def _rows_of(names: Names | None) -> dict[str, int]:
    if names is None:
        return {}
    counts = np.bincount(names.codes + 1, minlength=len(names.values) + 1)[1:].tolist()
    return Counter({name: count for name, count in zip(names.values, counts, strict=True) if count})


def obligor_columns(source: PoolSource, *, has_pairs: bool) -> tuple[str, ...]:
    """Return the columns that tell the obligors: the ids, else the names; or both."""
    own = tuple(target for target in OBLIGOR_COLUMNS if target in source.targets())
    return own if has_pairs else own[:1]


def _obligors(names: dict[str, tuple[PoolField, Any]], columns: tuple[str, ...]) -> RawNames | None:
    """Return the column that tells the obligors, two as pairs, or None."""
    if not names:
        return None
    if len(columns) == 1:
        return raw_names(*names[columns[0]]) if columns[0] in names else None
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.compute as compute  # type: ignore[import-untyped]

    text = pyarrow.large_string()
    parts: list[Any] = []
    for target in columns:
        if target not in names:
            parts.append(pyarrow.scalar(NO_NAME, text))
            continue
        own, column = names[target]
        column = column.cast(text).fill_null(NO_NAME)
        if compute.any(compute.match_substring(column, PAIR)).as_py():
            raise PoolRefused(f"column {own.heading!r} holds the sign U+001F, which is no text")
        parts.append(column)
    pairs = compute.binary_join_element_wise(*parts, pyarrow.scalar(PAIR, text))
    return raw_names(next(iter(names.values()))[0], pairs)


_NOTHING: Final = Portfolio(0, {}, {}, {}, {}, notes=Notes())
