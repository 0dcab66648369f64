"""Whether loans can be lots of one, and whether rows of a page say the same."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import text_cells
from core.portfolio.cells.loans import UNSAID, Loans
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.fields import IDENTIFIERS, KEYS, Lien
from core.portfolio.pages.identify import SUMMED, name_keys
from core.portfolio.pages.pairing import Flags, Ints

_NAMES: Final = ("borrower_name", "facility_name")


def _agree(values: NDArray[np.float64], groups: Ints, count: int) -> Flags:
    """Return groups in which all values that are there are one."""
    known = (groups >= 0) & ~np.isnan(values)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, groups[known], values[known])
    np.maximum.at(high, groups[known], values[known])
    return np.asarray((low >= high) | (low == np.inf), np.bool_)


def _hash_column(column: TextColumn) -> NDArray[np.float64]:
    return np.where(column.codes < 0, np.nan, column.codes.astype(np.float64))


def loans_alike(loans: Loans, groups: Ints, count: int) -> Flags:
    """Return groups of loans that can be lots of one: name, identifier, maturity."""
    alike = np.ones(count, np.bool_)
    for target in _NAMES:
        if target in loans.texts:
            alike &= _agree(_hash_column(name_keys(loans.texts[target])), groups, count)
    for target in IDENTIFIERS:
        if target in loans.texts:
            alike &= _agree(_hash_column(loans.texts[target]), groups, count)
    if "maturity_date" in loans.numbers:
        alike &= _agree(loans.numbers["maturity_date"], groups, count)
    return alike


def rows_alike(page: Loans, groups: Ints, count: int) -> Flags:
    """Return groups of rows that say the same in every field but amounts and ids."""
    rows = np.flatnonzero(groups >= 0)
    groups_of_rows = groups[rows]
    columns = [values for target, values in page.numbers.items() if target not in (*SUMMED, "par_value")]
    columns += [_hash_column(column) for target, column in page.texts.items() if target not in (*KEYS, *_NAMES)]
    columns += [_hash_column(TextColumn(codes, text_cells.NO_TEXT)) for codes, _ in page.categories.values()]
    columns += [np.where(flags == UNSAID, np.nan, flags) for flags in page.flags.values()]
    columns += [np.where(ranks == 0, np.nan, ranks) for ranks in page.ranks.values()]
    if page.lien is not None:
        columns.append(np.where(page.lien == Lien.BLANK, np.nan, page.lien))
    alike = np.ones(count, np.bool_)
    for values in columns:
        alike &= _agree(values[rows], groups_of_rows, count)
    return alike
