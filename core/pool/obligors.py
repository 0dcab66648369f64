"""The obligors of a pool whose loans are all known: joined, ranked, by industry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.conventions import join_families, view_of
from core.definition.definition import Definition
from core.grid.column import Text
from core.pool._obligors import Obligors
from core.pool.chunk import NO_NAME, PAIR
from core.pool.source import PoolRefused
from core.portfolio import Portfolio
from core.portfolio.assemble.assemble import obligor_names
from core.portfolio.cells import text_cells
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.portfolio import Names, Strings

Floats = NDArray[np.float64]

LARGEST: Final = 10
"""Obligors that are ranked."""


@dataclass(frozen=True, slots=True)
class ObligorSums:
    """Par by obligor."""

    values: Sequence[str]
    par: Floats
    industry: NDArray[np.int32]
    """Of each obligor's largest loan; after the last for none."""
    blank_par: float
    largest_apart: float
    """Par of the largest before any are joined."""
    affiliates: list[tuple[str, str]]
    blank_rows: int
    apart: Names
    """By the table's code of a name, the obligor before any are joined."""

    def ranked(self) -> tuple[int, tuple[list[int], list[float]]]:
        """Return how many have par; codes and par of the largest, of equals the first."""
        count = int(np.count_nonzero(self.par > 0))
        most = np.arange(len(self.par))
        if len(most) > LARGEST:
            least = np.partition(self.par, -LARGEST)[-LARGEST]
            most = np.flatnonzero(self.par >= least)
        most = most[self.par[most] > 0]
        most = most[np.lexsort((most, -self.par[most]))][:LARGEST]
        return count, (most.tolist(), self.par[most].tolist())

    def units(self, average_par: float, industries: int) -> Floats:
        """Return the diversity score's units by industry, the last for a blank."""
        has_par = self.par > 0
        units = np.minimum(self.par[has_par] * (1.0 / average_par), 1.0)
        return np.bincount(self.industry[has_par], units, industries + 1).astype(np.float64)


def obligor_sums(
    table: Obligors,
    columns: tuple[str, ...],
    industries: Sequence[str],
    codes_of_industries: dict[str, int],
    definition: Definition | None,
) -> ObligorSums:
    """Return par by obligor, joined as the definition says.

    Args:
        table: what the loans of each name, id, or pair of both add up to.
        columns: which of these it is.
        industries: all industries in the order of their codes.
        codes_of_industries: the table's own codes.
        definition: whose families and affiliates are joined.
    """
    par, largest, own_industry, rows = table.sums()
    names = _columns(table, columns, rows > 0)
    place = {name: at for at, name in enumerate(industries)}
    by_code = np.array([*(place[name] for name in codes_of_industries), len(industries)], np.int32)
    industry = by_code[own_industry]
    obligor = obligor_names(names.get("issuer_id"), names.get("borrower_name"))
    if obligor is None:
        return ObligorSums((), np.zeros(0), np.zeros(0, np.int32), table.blank_par, 0.0, [], table.blank_rows, _NOBODY)
    apart = obligor
    affiliates: list[tuple[str, str]] = []
    if definition is not None:
        borrower = names.get("borrower_name")
        view = view_of(_NO_LOANS, None)
        view.names = {"obligor": obligor}
        if borrower is not None:
            view.names["borrower_name"] = Names(borrower.codes, Strings(borrower.text))
        join_families(view, definition)
        obligor, affiliates = view.names["obligor"], view.affiliates
    sums, unnamed = _by_code(obligor, par)
    owners = _industries(obligor, largest, industry, len(industries))
    apart_sums, _ = _by_code(apart, par)
    blank_rows = table.blank_rows + int(rows[obligor.codes < 0].sum())
    return ObligorSums(
        obligor.values, sums, owners, table.blank_par + unnamed, float(apart_sums.max(initial=0.0)), affiliates,
        blank_rows, apart,
    )  # fmt: skip


_NOBODY: Final = Names(np.zeros(0, np.int32), ())
_NO_LOANS: Final = Portfolio(0, {}, {}, {}, {})


def _columns(table: Obligors, columns: tuple[str, ...], used: NDArray[np.bool_]) -> dict[str, TextColumn]:
    """Return the names of the table as the columns of loans that have one each.

    Raises:
        PoolRefused: a name is no valid Unicode.
    """
    import pyarrow  # type: ignore[import-untyped]

    offsets, data = table.names()
    texts = pyarrow.LargeStringArray.from_buffers(
        len(table), pyarrow.py_buffer(offsets), pyarrow.py_buffer(data), None, 0, 0
    )
    try:
        texts.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise PoolRefused(f"column {columns[0]!r} holds text that is not valid Unicode") from None
    if len(columns) < 2:
        own = TextColumn(np.arange(len(table), dtype=np.int32), Text(offsets, data))
        return {columns[0]: text_cells.merged_pool(own.codes, own.text, text_cells.NO_TEXT)} if columns else {}
    # A pair that no loan with a par has says nothing of which id a name has.
    pairs = [
        text.partition(PAIR) if is_used else (NO_NAME, "", NO_NAME)
        for text, is_used in zip(texts.to_pylist(), used.tolist(), strict=True)
    ]
    return {
        column: _text([None if pair[at] == NO_NAME else pair[at] for pair in pairs])
        for column, at in zip(columns, (0, 2), strict=True)
    }


def _text(strings: list[str | None]) -> TextColumn:
    codes, text = text_cells.pool_of(strings)
    return text_cells.merged_pool(codes, text, text_cells.NO_TEXT)


def _by_code(names: Names, par: Floats) -> tuple[Floats, float]:
    """Return par by the code of a name, and that of no name."""
    sums: Any = np.bincount(names.codes + 1, par, len(names.values) + 1)
    return sums[1:], float(sums[0])


def _industries(names: Names, largest: Floats, industry: NDArray[np.int32], none: int) -> NDArray[np.int32]:
    """Return the industry of each obligor's largest loan.

    Of equal loans it is the first by name.
    """
    if len(names.values) == len(names.codes) and np.array_equal(names.codes, np.arange(len(names.codes))):
        return np.where(largest > 0, industry, np.int32(none))
    owners = np.full(len(names.values), none, np.int32)
    known = np.flatnonzero((names.codes >= 0) & (largest > 0))
    order = known[np.lexsort((industry[known], -largest[known], names.codes[known]))]
    codes = names.codes[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = codes[1:] != codes[:-1]
    owners[codes[first]] = industry[order[first]]
    return owners
