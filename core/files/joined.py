"""The sheets of several files as one workbook."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from core.files.errors import ParseFailed, TooManySheets
from core.files.limits import FORMATS_MAX, SHEETS_MAX, SLOTS_MAX
from core.grid.column import Column, GappedColumn
from core.grid.sheet import BlankFormulas, ReadingRemark, Sheet, Workbook, no_formulas
from core.values import DAYS_BETWEEN_SYSTEMS, Kind

NOTES_MAX: Final = 3
"""Files whose formulas without values get a warning each."""


class WorkbookJoin:
    """A workbook under construction.

    It holds values: a formula means something in its own file only.
    """

    def __init__(self) -> None:
        self._sheets: list[Sheet] = []
        self._formats: dict[str, int] = {"General": 0}
        self._names: set[str] = set()
        self._slots = 0
        self._filled: list[tuple[str, BlankFormulas]] = []
        self._remarks: list[ReadingRemark] = []
        self.left_out: list[str] = []

    def add(self, book: Workbook, file: str) -> None:
        """Append the sheets of a file.

        Raises:
            TooManySheets: more than the limit, all files together.
            ParseFailed: more cells or number formats than the limits.
        """
        if len(self._sheets) + len(book.sheets) > SHEETS_MAX:
            raise TooManySheets(f"With {file!r} the files have more sheets than the limit of {SHEETS_MAX}.")
        if book.filled is not None:
            self._filled.append((file, book.filled))
        formats = np.array([self._formats.setdefault(code, len(self._formats)) for code in book.number_formats])
        if len(self._formats) > FORMATS_MAX:
            raise ParseFailed(f"The files have more number formats than the limit of {FORMATS_MAX:,}.")
        is_same = bool((formats == np.arange(len(formats))).all()) and not book.date_1904
        names: dict[str, str] = {}
        for sheet in book.sheets:
            names[sheet.name] = self._unique(sheet.name)
            full_columns = [column for column in sheet.columns if column is not None]
            self._slots += sum(column.stop - column.start for column in full_columns)
            if self._slots > SLOTS_MAX:
                raise ParseFailed(
                    f"The files' sheets span more cells than the limit of {SLOTS_MAX:,}, blanks between the first and "
                    f"the last of each column counted; {file!r} passes it."
                )
            columns = sheet.columns
            if not is_same:
                shift = DAYS_BETWEEN_SYSTEMS if book.date_1904 else 0
                columns = tuple(None if column is None else _move_formats(column, formats, shift) for column in columns)
            self._sheets.append(
                replace(
                    sheet,
                    name=names[sheet.name],
                    index=len(self._sheets),
                    columns=columns,
                    formulas=no_formulas(),
                )
            )
        self._remarks += [replace(remark, sheet=names.get(remark.sheet, "")) for remark in book.remarks]

    @property
    def is_empty(self) -> bool:
        """Whether there is no sheet yet."""
        return not self._sheets

    def _unique(self, name: str) -> str:
        candidate, number = name, 1
        while candidate.casefold() in self._names:
            number += 1
            candidate = f"{name} ({number})"
        self._names.add(candidate.casefold())
        return candidate

    def workbook(self) -> Workbook:
        """Return what was added."""
        return Workbook(
            tuple(self._sheets),
            number_formats=tuple(self._formats),
            left_out=tuple(self.left_out),
            filled=_join_blank_formulas(self._filled),
            remarks=tuple(self._remarks),
        )


def _join_blank_formulas(books: list[tuple[str, BlankFormulas]]) -> BlankFormulas | None:
    """Return what became of formulas without values in all of these files.

    The first of them say it with their names.
    """
    if not books:
        return None
    text = " ".join(f"{file!r}: {each.message}" for file, each in books[:NOTES_MAX])
    more = f" So did formulas of {len(books) - NOTES_MAX:,} more files." if len(books) > NOTES_MAX else ""
    return BlankFormulas(sum(each.cells for _, each in books), sum(each.blank for _, each in books), text + more)


def _move_formats(column: Column, formats: np.ndarray[tuple[int], np.dtype[np.int64]], shift: int) -> Column:
    """Return a column with other format numbers, and dates later by some days."""
    cells = column.dense
    numbers = np.where(cells.kinds == Kind.DATE, cells.numbers + shift, cells.numbers) if shift else cells.numbers
    changed = Column(cells.start, cells.kinds, numbers, cells.codes, formats[cells.formats].astype(np.uint16))
    return changed if cells is column else GappedColumn(changed, *column.runs)
