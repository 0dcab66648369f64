"""What confined children do with a formula over a stored sheet.

Try it on some rows, or write it as a column.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import random
from typing import Final

import numpy as np
from msgspec import Struct

from core.confined.table import GIGABYTE, ConfinedWork, texts
from core.formula.language import FormulaError
from core.grid.codec import WorkbookRecord, open_workbook, write_sheet
from core.grid.sheet import Workbook
from core.recalc import apply
from core.recalc.apply import Mode, NamedColumns
from core.recalc.book import Book
from core.recalc.errors import BookError
from core.values import ERRORS, Kind
from service.formulas.schema import SampleRow

FAILED_ROWS_SHOWN: Final = 10


class ColumnFailed(Exception):
    """The formula cannot be calculated on the sheet; the message says why, for its user."""


class Place(Struct, frozen=True, kw_only=True):
    """A sheet of a stored workbook, as its record has it."""

    manifest: str
    """As `WorkbookRecord.to_json` writes it."""
    paths: tuple[str, ...]
    """The sheets' files, in the manifest's order."""
    sheet_index: int
    header_row: int | None
    headers: list[str]
    now: datetime
    """The moment of TODAY and NOW, without zone."""


class PreviewOrder(Struct, frozen=True, kw_only=True):
    """A formula to be tried."""

    place: Place
    formula: str
    rows: int
    seconds: float
    """In which the rows must be calculated, once the workbook is opened."""


class PreviewResult(Struct, frozen=True, kw_only=True):
    """What it came to."""

    rows: list[SampleRow]
    total_rows: int


class ApplyOrder(Struct, frozen=True, kw_only=True):
    """A formula to be written."""

    place: Place
    formula: str
    target_column: str
    names_row: int | None
    """Where a new column's name is written."""
    output_mode: Mode


class ApplyResult(Struct, frozen=True, kw_only=True):
    """What was written."""

    manifest: str
    """Its sheets that changed name their files in the folder."""
    rows_affected: int
    rows_failed: int
    failed: list[tuple[int, str]]
    """The first rows that came to an error, as the sheet counts them, with the error."""
    cells_recalculated: int


PREVIEW: Final = ConfinedWork(
    does="service.formulas.child.preview",
    order=PreviewOrder,
    answer=PreviewResult,
    refusals=("service.formulas.child.ColumnFailed",),
    texts=texts("The preview"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=30.0,
)
APPLY: Final = ConfinedWork(
    does="service.formulas.child.apply_formula",
    order=ApplyOrder,
    answer=ApplyResult,
    refusals=("service.formulas.child.ColumnFailed",),
    texts=texts("Applying the formula"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=300.0,
)


def preview(order: PreviewOrder) -> PreviewResult:
    """Try a formula on the first rows of a sheet.

    Raises:
        ColumnFailed: it cannot be calculated there.
        CodecError: something stored is damaged.
        OSError: the machine's fault.
    """
    book = Book(_open(order.place))
    headed = _read_header(book, order.place)
    try:
        rows = apply.preview(
            book, headed, order.formula, order.rows, now=order.place.now, random=random, seconds_max=order.seconds
        )
    except (FormulaError, BookError) as refusal:
        raise ColumnFailed(_sentence(refusal)) from refusal
    return PreviewResult(
        rows=[SampleRow(row=row.row, input=row.input, output=row.output, error=row.error) for row in rows],
        total_rows=headed.row_count,
    )


def apply_formula(order: ApplyOrder, folder: Path) -> ApplyResult:
    """Write a formula as a column, and the sheets that changed into a folder.

    Raises:
        ColumnFailed, CodecError, OSError: as `preview`.
    """
    manifest, book = WorkbookRecord.from_json(order.place.manifest), _open(order.place)
    try:
        applied_column = apply.apply_column(
            book,
            _read_header(book, order.place, order.names_row),
            order.formula,
            order.target_column,
            order.output_mode,
            now=order.place.now,
            random=random,
        )
    except (FormulaError, BookError) as refusal:
        raise ColumnFailed(_sentence(refusal)) from refusal
    records = list(manifest.sheets)
    for index in applied_column.sheets_changed:
        sheet, file = applied_column.workbook.sheets[index], f"sheet-{index}.safetensors"
        write_sheet(sheet, folder / file)
        records[index] = replace(records[index], file=file, row_count=sheet.row_count, column_count=sheet.column_count)
    return ApplyResult(
        manifest=replace(manifest, sheets=tuple(records), doubts=applied_column.workbook.doubts).to_json(),
        rows_affected=applied_column.rows_affected,
        rows_failed=applied_column.rows_failed,
        failed=_failed_rows(applied_column, order.place),
        cells_recalculated=applied_column.cells_recalculated,
    )


def _open(place: Place) -> Workbook:
    return open_workbook(WorkbookRecord.from_json(place.manifest), [Path(path) for path in place.paths])


def _read_header(book: Workbook, place: Place, names_row: int | None = None) -> NamedColumns:
    return NamedColumns(book.sheets[place.sheet_index], place.header_row, place.headers, names_row)


def _failed_rows(applied_column: apply.AppliedColumn, place: Place) -> list[tuple[int, str]]:
    """Return the first rows that came to an error, as the sheet counts them."""
    if not applied_column.rows_failed:
        return []
    column = applied_column.workbook.sheets[place.sheet_index].columns[applied_column.column]
    assert column is not None
    first = 0 if place.header_row is None else place.header_row + 1
    at = np.flatnonzero((column.dense.kinds == Kind.ERROR) & (column.rows() >= first))[:FAILED_ROWS_SHOWN]
    numbers = column.dense.numbers[at].tolist()
    return [(row + 1, ERRORS[int(code)]) for row, code in zip(column.rows()[at].tolist(), numbers, strict=True)]


def _sentence(refusal: Exception) -> str:
    text = getattr(refusal, "message", None) or str(refusal)
    return f"The formula cannot be calculated: {text}."
