"""Workbooks made from rows, with formulas.

A cell that is a pair is a formula and the value that it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.grid._intern import intern
from core.grid.column import Text
from core.grid.sheet import Formulas, Sheet, Workbook
from core.redact.book import RedactedBook, redact
from core.redact.replace import Policy
from tests.core.portfolio.conftest import sheet_from_rows

KEY = b"a key of sixteen bytes or more"
CASES = [Policy(threshold="public"), Policy(threshold="public", strategy="hash", key=KEY),
         Policy(threshold="public", strategy="remove")]  # fmt: skip


def sheet_of(name: str, rows: Sequence[Sequence[Any]], index: int = 0, formats: list[str] | None = None) -> Sheet:
    """A sheet of values.

    (formula, value) is a formula, (formula, value, origin) one that was filled from a cell.
    """
    plain = [[cell[1] if isinstance(cell, tuple) else cell for cell in row] for row in rows]
    result = [
        (row, column, *cell[:1], *cell[2:])
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
        if isinstance(cell, tuple)
    ]
    place = {(row, column): at for at, (row, column, *_) in enumerate(result)}
    origins = [place[rest[0]] if (rest := item[3:]) else at for at, item in enumerate(result)]
    texts, offsets, data = intern([item[2].removeprefix("=") for item in result])
    formulas = Formulas(
        np.array([item[0] for item in result], np.int32),
        np.array([item[1] for item in result], np.int32),
        texts[origins] if result else texts,
        np.array(origins, np.int32),
        Text(offsets, data),
        {},
    )
    return replace(sheet_from_rows(plain, name, index=index, formats=formats), formulas=formulas)


def book_of(**sheets: Sequence[Sequence[Any]]) -> Workbook:
    """A workbook of such sheets, by their names."""
    formats = ["General"]
    new_sheets = tuple(sheet_of(name, rows, at, formats) for at, (name, rows) in enumerate(sheets.items()))
    return Workbook(new_sheets, number_formats=tuple(formats))


def cells(workbook: Workbook, sheet: int = 0) -> list[list[Any]]:
    """The values of a sheet; a formula as (its text, value)."""
    item = workbook.sheets[sheet]
    return [
        [
            item.value(row, column)
            if (formula := item.formula(row, column)) is None
            else (f"={formula}", item.value(row, column))
            for column in range(item.column_count)
        ]
        for row in range(item.row_count)
    ]


def redacted(policy: Policy | None = None, **sheets: Sequence[Sequence[Any]]) -> RedactedBook:
    """Such a workbook, redacted."""
    return redact(book_of(**sheets), Policy(threshold="public") if policy is None else policy)
