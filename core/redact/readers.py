"""Which formulas read redacted cells.

Calculated again, they would no longer give the value that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.address import FormulaReference, named_in
from core.grid.sheet import Formulas, Sheet, Workbook

DEPTH_MAX: Final = 8
"""Defined names that stand for one another, one in the next."""

Hidden = dict[str, dict[int, NDArray[np.int64]]]
"""Sheet (its name without case) -> column -> the rows of its redacted cells, rising."""


class Readers:
    """Asked of each sheet.

    Which of its formulas name a redacted cell, directly, by a defined name or by a table.

    What a formula makes up as it runs (INDIRECT, OFFSET) is not followed.
    """

    def __init__(self, workbook: Workbook) -> None:
        self.names = {name.casefold(): formula for name, formula in workbook.defined_names.items()}
        self.local = {
            (sheet.casefold(), name.casefold()): formula for (sheet, name), formula in workbook.local_names.items()
        }
        self._known: dict[tuple[str, str], list[FormulaReference]] = {}
        self.tables = {table.name.casefold(): table for table in workbook.tables}

    def of(self, sheet: Sheet, formulas: Formulas, hidden: Hidden) -> NDArray[np.bool_]:
        """Return which of a sheet's formulas read a cell that is hidden."""
        reads_redacted = np.zeros(len(formulas), np.bool_)
        if not len(formulas) or not any(hidden.values()):
            return reads_redacted
        own = sheet.name.casefold()
        others = [name for name in hidden if name != own]
        origins, back = np.unique(formulas.origins, return_inverse=True)
        order = np.argsort(back, kind="stable")
        ends = np.searchsorted(back[order], np.arange(len(origins)), side="right").tolist()
        begin = 0
        for origin, end in zip(origins.tolist(), ends, strict=True):
            members, begin = order[begin:end], end
            text = formulas.text[int(formulas.texts[origin])]
            folded = text.casefold()
            is_near = own in hidden or self.names or self.local or self.tables or ":" in text
            if not is_near and not any(name.replace("'", "''") in folded for name in others):
                continue
            rows, columns = formulas.rows[members].astype(np.int64), formulas.columns[members].astype(np.int64)
            down, right = rows - int(formulas.rows[origin]), columns - int(formulas.columns[origin])
            if (own, text) not in self._known:  # asked again for the readers of readers
                self._known[own, text] = list(self._areas(text, own, 0))
            for area in self._known[own, text]:
                reads_redacted[members] |= self._meets(area, own, down, right, hidden)
        return reads_redacted

    def _areas(self, text: str, own: str, depth: int) -> Iterator[FormulaReference]:
        """Yield all areas that a formula names, those behind its words too."""
        table = ""
        for each in named_in(text):
            word, before = each.word.casefold(), table
            table = ""
            if not word:
                yield each
            elif word.startswith("["):
                for name in (before,) if before else self.tables:
                    yield from self._table(name, word, own if not before else None)
            elif word in self.tables:
                table = word
            else:
                formula = self.local.get((own, word), self.names.get(word))
                if formula is not None and depth < DEPTH_MAX:
                    yield from self._areas(formula, own, depth + 1)
            if before and not word.startswith("["):
                yield from self._table(before, "", None)
        if table:
            yield from self._table(table, "", None)

    def _table(self, name: str, columns: str, own: str | None) -> Iterator[FormulaReference]:
        """Yield the columns of a table that brackets name, all where they name none.

        Of tables on the own sheet alone where brackets stand without a name.
        """
        table = self.tables[name]
        if own is not None and table.sheet.casefold() != own:
            return
        chosen = [at for at, heading in enumerate(table.columns) if heading.casefold() in columns]
        for at in chosen or range(len(table.columns)):
            column = table.first_column + at
            yield FormulaReference(table.sheet, "", table.first_row, column, table.last_row, column)

    def _meets(
        self,
        area: FormulaReference,
        own: str,
        down: NDArray[np.int64],
        right: NDArray[np.int64],
        hidden: Mapping[str, dict[int, NDArray[np.int64]]],
    ) -> NDArray[np.bool_]:
        """Of the cells that a formula was filled into, by their distance.

        In which does the area hold a hidden cell?
        """
        met = np.zeros(len(down), np.bool_)
        sheet = area.sheet.casefold() or own
        columns = [hidden.get(sheet, {})] if ":" not in sheet else list(hidden.values())  # a run of sheets: any
        tops = area.first_row + (0 if area.fixed[0] else down)
        bottoms = area.last_row + (0 if area.fixed[2] else down)
        lefts = area.first_column + (0 if area.fixed[1] else right)
        rights = area.last_column + (0 if area.fixed[3] else right)
        tops, bottoms = np.minimum(tops, bottoms), np.maximum(tops, bottoms)
        for each in columns:
            for column, rows in each.items():
                within = (np.minimum(lefts, rights) <= column) & (column <= np.maximum(lefts, rights))
                if np.any(within):
                    met |= within & (np.searchsorted(rows, bottoms, side="right") > np.searchsorted(rows, tops))
        return met
