"""Tell tables that stand beside the loans, behind a blank column, from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import BLANK, NUMBER, TEXT, key
from core.portfolio.model.fields import KEYS

COMPARED_ROWS: Final = 20_000
"""Rows of two tables that are compared."""

SHORT_SHARE: Final = 0.75
"""Share of the loans' rows that a table beside them must not reach to be another one."""

SOLID_SHARE: Final = 0.9
"""Share of a shorter table's rows that each of its columns fills: a column of the loans with few values has gaps."""

ROWS_MIN: Final = 3
"""Rows of such a table."""

HEADINGS_MIN: Final = 3
"""Headings of a list that goes on to the side."""

SAME_SHARE: Final = 0.5
"""Share of equal cells from which two columns are about the same loans."""

_NAME: Final = "borrower_name"
_PAR: Final = "par_value"
_GROUPS: Final = ("industry", "country", "rating", "lien_type", "currency", "coupon_type", "maturity_date", "base_rate")
"""How the fields begin by which a table sums up par."""


@dataclass(frozen=True, slots=True)
class SideBlock:
    """Columns without a blank one between them."""

    columns: tuple[int, ...]
    targets: Mapping[int, frozenset[str]]
    """Column -> what its heading may feed; columns without are not in it."""

    @property
    def names(self) -> frozenset[str]:
        """Return all that its headings may feed."""
        return frozenset[str]().union(*self.targets.values())

    def column_of(self, target: str) -> int | None:
        """Return the first column that may feed a field."""
        return next((column for column in self.columns if target in self.targets.get(column, ())), None)


def tables_beside(
    sheet: Sheet, targets: Mapping[int, frozenset[str]], texts: Mapping[int, str], top: int, first: int
) -> frozenset[int]:
    """Return the columns of other tables beside that of the loans.

    Each stands behind a blank column. Blank columns within a table are common: what ends earlier, has the loans'
    header again, or sums their par up is another one.

    Args:
        targets: column -> what its heading may feed.
        top: the header's highest row.
        first: the first row below it.
    """
    blocks = [block for block in _blocks(sheet, targets, top) if block.targets]
    if len(blocks) < 2:
        return frozenset()
    main = max(blocks, key=lambda block: len(block.names))
    return frozenset(
        column
        for block in blocks
        if block is not main
        and (
            is_continued(main, block, texts)
            or _is_shorter(sheet, main, block, first)
            or _is_summary(sheet, main, block, first)
            or _is_list(sheet, main, block, first)
        )
        for column in block.columns
    )


def continued_blocks(
    sheet: Sheet, targets: Mapping[int, frozenset[str]], texts: Mapping[int, str], top: int
) -> list[tuple[int, ...]]:
    """Return the columns of each block with one header, from the left.

    Empty where the header of the loans stands once.
    """
    blocks = list(_blocks(sheet, targets, top))
    main = max(blocks, key=lambda block: len(block.names), default=None)
    if main is None:
        return []
    same = [block.columns for block in blocks if block is main or is_continued(main, block, texts)]
    return same if len(same) > 1 else []


def is_continued(main: SideBlock, block: SideBlock, texts: Mapping[int, str]) -> bool:
    """Return whether a block has the loans' header again."""
    own, again = ([key(texts.get(column, "")) for column in each.columns] for each in (main, block))
    return own == again and len(own) >= HEADINGS_MIN


def _blocks(sheet: Sheet, targets: Mapping[int, frozenset[str]], top: int) -> Iterator[SideBlock]:
    """Yield the blocks of columns with cells from a header's highest row."""
    block: list[int] = []
    for column in range(sheet.column_count + 1):
        if column < sheet.column_count and has_cells(sheet.columns[column], top):
            block.append(column)
        elif block:
            yield SideBlock(tuple(block), {at: targets[at] for at in block if at in targets})
            block = []


def _is_shorter(sheet: Sheet, main: SideBlock, block: SideBlock, first: int) -> bool:
    """Return whether a block ends well before the loans, and is a table."""
    ends = [max(_end(sheet.columns[column]) for column in each.targets) for each in (main, block)]
    if ends[1] - first >= SHORT_SHARE * (ends[0] - first):
        return False
    if main.names & block.names:
        return True
    if not block.names & {_NAME, _PAR} and not _is_grouped(sheet, block, first):
        return False
    rows = ends[1] - first
    counts = [np.count_nonzero(_part(sheet, column, first, ends[1]).kinds) for column in block.targets]
    return bool(rows >= ROWS_MIN and min(counts) >= SOLID_SHARE * rows)


def _is_summary(sheet: Sheet, main: SideBlock, block: SideBlock, first: int) -> bool:
    """Return whether a block has par by industry, country or the like, each once."""
    if block.column_of(_PAR) is None or main.column_of(_PAR) is None:
        return False
    return _is_grouped(sheet, block, first) and not _are_same(sheet, main, block, _PAR, first)


def _is_grouped(sheet: Sheet, block: SideBlock, first: int) -> bool:
    """Return whether a block begins with industries or the like, each once.

    With more columns beside them: alone they are the loans' own.
    """
    group = block.columns[0]
    targets = block.targets.get(group, frozenset())
    if len(block.columns) < 2 or not any(target.startswith(_GROUPS) for target in targets):
        return False
    cells = _part(sheet, group, first, min(_end(sheet.columns[group]), first + COMPARED_ROWS))
    filled = cells.kinds != BLANK
    values = np.where(cells.kinds == TEXT, cells.codes, cells.numbers)[filled]
    return len(values) >= ROWS_MIN and len(np.unique(values)) == len(values)


def _is_list(sheet: Sheet, main: SideBlock, block: SideBlock, first: int) -> bool:
    """Return whether a block lists other loans: it has names and par of its own."""
    if not {_NAME, _PAR} <= main.names & block.names or block.names & set(KEYS) - main.names:
        return False
    return not _are_same(sheet, main, block, _NAME, first)


def _are_same(sheet: Sheet, main: SideBlock, block: SideBlock, target: str, first: int) -> bool:
    """Return whether two blocks have the same values for a field on most rows."""
    own, again = main.column_of(target), block.column_of(target)
    if own is None or again is None:
        return False
    last = min(_end(sheet.columns[own]), _end(sheet.columns[again]), first + COMPARED_ROWS)
    parts = [_part(sheet, column, first, last) for column in (own, again)]
    both = (parts[0].kinds != BLANK) & (parts[1].kinds != BLANK)
    same = both & (parts[0].kinds == parts[1].kinds) & (parts[0].codes == parts[1].codes)
    same &= (parts[0].kinds != NUMBER) | (parts[0].numbers == parts[1].numbers)
    return int(np.count_nonzero(same)) >= SAME_SHARE * max(1, int(np.count_nonzero(both)))


def strangers_beside(sheet: Sheet, own: int, beside: int, first: int) -> int:
    """Count names of a column beside the loans without a loan; 0 for few."""
    columns = [_part(sheet, column, first, sheet.row_count) for column in (own, beside)]
    codes = columns[1].codes[columns[1].codes >= 0]
    count = int(np.count_nonzero(~np.isin(codes, columns[0].codes)))
    return count if count > SAME_SHARE * len(codes) else 0


def _part(sheet: Sheet, column: int, first: int, last: int) -> Column:
    """Return some rows of a column, blank ones included."""
    stored = sheet.columns[column]
    assert stored is not None
    return stored.span(first, max(first, last))


def _end(column: Column | None) -> int:
    """Return one past the last row of a column with a cell that is not blank."""
    if column is None:
        return 0
    filled = np.flatnonzero(column.kinds)
    return column.start + int(filled[-1]) + 1 if len(filled) else 0


def count_cells(column: Column | None, first: int) -> int:
    """Return how many filled cells a column has from row `first` (0-based)."""
    return 0 if column is None else int(np.count_nonzero(column.dense.kinds[column.begin(first) :]))


def has_cells(column: Column | None, first: int) -> bool:
    """Return whether a column has a filled cell from row `first` (0-based)."""
    return column is not None and bool(column.dense.kinds[column.begin(first) :].any())
