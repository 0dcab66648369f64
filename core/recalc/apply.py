"""A formula over the columns of a sheet.

Shown for some rows, or written as a column with all that depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import Any, Final, Literal

import numpy as np

from core.formula import parse_or_suggest, shown
from core.formula.blocks import UnknownColumn, by_name, columns_of, place_formula
from core.formula.language import FormulaError, LimitExceeded, Node, parse, render
from core.formula.machine import CompiledTree, lifts, may_be_array
from core.formula.machine import compile as compile_tree
from core.formula.values import VALUE, Array, Failure, Locally
from core.grid._cells import mark
from core.grid.address import COLUMNS_MAX, column_name
from core.grid.column import Column, column_of
from core.grid.sheet import Sheet, Workbook
from core.recalc.book import Book
from core.recalc.doubts import doubts
from core.recalc.engine import Engine
from core.recalc.environment import BookEnvironment
from core.recalc.errors import BookError
from core.recalc.result import count_cells
from core.recalc.snapshot import sheets_of
from core.recalc.totals import data_end
from core.values import Kind

Mode = Literal["new", "overwrite"]

PREVIEW_ROWS_MAX: Final = 200

TEXT_CHARACTERS_MAX: Final = 200_000_000
"""Of the distinct texts of one column: with REPT a small workbook would else become gigabytes."""


class CannotApply(BookError):
    """The column cannot be written into this sheet; the message says why."""


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """A sheet by column names: those of its header in order, or A, B, C."""

    sheet: Sheet
    header_row: int | None
    """0-based; the data begin below it."""
    names: Sequence[str]
    names_row: int | None = None
    """Where the names stand, if not in `header_row`: a row of units may stand below them."""

    @property
    def first_row(self) -> int:
        """The first row of the data."""
        return 0 if self.header_row is None else self.header_row + 1

    @property
    def row_count(self) -> int:
        """Rows of the data: those below the header, without totals at their end."""
        return max(0, data_end(self.sheet, self.first_row) - self.first_row)

    def columns(self) -> dict[str, int]:
        """Return the columns' places by their names."""
        names = self.names or [column_name(at) for at in range(self.sheet.column_count)]
        return {name: at for at, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """What a formula gives in one row."""

    row: int
    """1-based, as the sheet counts."""
    input: dict[str, Any]
    """The columns that the formula reads; dates as ISO text."""
    output: Any
    """A number, a text (dates in ISO form, errors as theirs), a boolean."""
    kind: str
    """number, string, boolean, date, error."""
    error: str | None
    """The error, or why the row could not be calculated."""


@dataclass(frozen=True, slots=True)
class AppliedColumn:
    """A column that was written."""

    workbook: Workbook
    sheets_changed: tuple[int, ...]
    """Places of the sheets that are others than before; the rest is shared with the given workbook."""
    column: int
    """0-based."""
    formula: str
    """As it stands in the first row."""
    rows_affected: int
    rows_failed: int
    """Rows whose value is an error."""
    cells_recalculated: int
    """Formula cells elsewhere that changed with it."""


def preview(
    book: Book,
    headed: NamedColumns,
    formula: str,
    rows: int,
    *,
    now: datetime | None = None,
    random: Callable[[], float] | None = None,
    seconds_max: float = math.inf,
) -> list[PreviewRow]:
    """Return what a formula gives in the first rows of a sheet's data, over the cells as they stand.

    Raises:
        UnknownColumn: it reads a column that the sheet does not have.
        FormulaError: it cannot be read; `LimitExceeded`: it took longer.
        CannotApply: it has no single value.
    """
    columns, sheet = headed.columns(), headed.sheet
    at, first = sheet.column_count, headed.first_row
    text, tree = _place(headed, formula, at)
    find = by_name(columns)
    inputs = [(name, find(name)) for name in columns_of(parse_or_suggest(formula))]
    program = compile_tree(tree, arrays=lifts(tree), text=text)
    environment = book.environment(now, random, sheet.name)
    environment.clocks(now, random, monotonic() + seconds_max)
    preview_rows = []
    for row in range(first, first + min(rows, PREVIEW_ROWS_MAX, headed.row_count)):
        environment.place(sheet.index, row, at)
        with Locally(environment.locale):
            value, error = _compute(program, environment)
        input_values = {name: shown(environment.cell(None, row, place), book.date_1904)[0] for name, place in inputs}
        output, kind = shown(0.0 if value is None else value, book.date_1904)
        preview_rows.append(
            PreviewRow(row + 1, input_values, output, kind, error or (output if kind == "error" else None))
        )
    return preview_rows


def _compute(program: CompiledTree, environment: BookEnvironment) -> tuple[Any, str | None]:
    """Return the value of one row, and why it has none but #VALUE!."""
    try:
        value = program.run(environment)
    except Failure as failure:
        return failure.error, None
    except LimitExceeded:
        if monotonic() > environment.deadline:
            raise
        return VALUE, "the row takes more work than a cell may"
    except FormulaError as error:
        return VALUE, error.message
    return (VALUE, "the formula gives an array") if isinstance(value, Array) else (value, None)


def apply_column(
    workbook: Workbook,
    headed: NamedColumns,
    formula: str,
    target: str,
    mode: Mode = "new",
    *,
    now: datetime | None = None,
    random: Callable[[], float] | None = None,
    seconds_max: float = math.inf,
) -> AppliedColumn:
    """Write a formula into every row of a sheet's data, as a new column behind the others or over an old one.

    The formula is filled down: in the cells it is an ordinary one, relative to its row. What depends on the column is
    calculated with it; every other cell keeps the value that it has. The given workbook stays as it was.

    Raises:
        CannotApply: no such column to write over, or one of the name already; no rows; no single value; a formula that
            needs its own result; too much text.
        UnknownColumn: the formula reads a column that the sheet does not have.
        PartOfArray: the old column has part of an array formula.
        FormulaError: the formula cannot be read; `LimitExceeded`: it took longer.
    """
    at, first, count = _target(headed, target, mode), headed.first_row, headed.row_count
    if not count:
        raise CannotApply("the sheet has no rows below its header")
    find = by_name(headed.columns())
    if any(find(name) == at for name in columns_of(parse_or_suggest(formula))):
        raise CannotApply(f"the formula reads the column {target!r} that it is written into")
    text, tree = _place(headed, formula, at)
    index = headed.sheet.index
    sheets = list(workbook.sheets)
    if mode == "overwrite":  # what the old column held is no value or format of the new one
        sheets[index] = replace(headed.sheet, columns=_without(headed.sheet.columns, at, first, first + count))
    engine = Engine(replace(workbook, sheets=tuple(sheets)))
    engine.load()
    engine.settle()
    if mode == "new" and headed.header_row is not None:
        engine.put_value(index, headed.header_row if headed.names_row is None else headed.names_row, at, target)
    region = engine.fill(index, first, first + count - 1, at, tree, text)
    outcome = engine.calculate(now, random, monotonic() + seconds_max)
    for cycle in outcome.cycles:
        if any(engine.owner(*cell) is region for cell in cycle):
            path = " → ".join(engine.place(*cell) for cell in cycle[:5])
            raise CannotApply(f"the formula needs its own result: {path}")
    column = engine.cells[index].columns[at]
    assert column is not None
    cells = column.span(first, count)
    used = np.zeros(len(engine.pool) + 1, np.bool_)
    mark(used.view(np.uint8), cells.codes)
    if sum(len(engine.pool.text(code)) for code in np.flatnonzero(used[:-1]).tolist()) > TEXT_CHARACTERS_MAX:
        raise CannotApply(f"the column's text is longer than {TEXT_CHARACTERS_MAX:,} characters")
    circular = [engine.place(*cell) for cycle in outcome.cycles for cell in cycle]
    new_doubts = doubts(circular, [engine.place(*cell) for cell in outcome.unconverged], outcome.iterations)
    changed = {index, *(touched_region.cells.index for touched_region, _, _ in outcome.touched)}
    return AppliedColumn(
        workbook=replace(workbook, sheets=sheets_of(engine, changed), doubts=new_doubts or workbook.doubts),
        sheets_changed=tuple(sorted(changed)),
        column=at,
        formula=text,
        rows_affected=count,
        rows_failed=int(np.count_nonzero(cells.kinds == int(Kind.ERROR))),
        cells_recalculated=count_cells(outcome.touched) - count,
    )


def _target(headed: NamedColumns, target: str, mode: Mode) -> int:
    """Return where the column is written."""
    columns = headed.columns()
    if mode == "overwrite":
        try:
            return by_name(columns)(target)
        except UnknownColumn as error:
            raise CannotApply(f"no column to write over: {error.message}") from error
    at = headed.sheet.column_count
    if target.casefold() in {name.casefold() for name in columns}:
        raise CannotApply(f"the sheet has a column {target!r} already")
    if at >= COLUMNS_MAX:
        raise CannotApply(f"the sheet has all of its {COLUMNS_MAX:,} columns")
    if headed.header_row is None and target.upper() != column_name(at):
        raise CannotApply(f"the sheet has no header; its next column is {column_name(at)}")
    return at


def _without(columns: tuple[Column | None, ...], at: int, first: int, stop: int) -> tuple[Column | None, ...]:
    """Return the columns without some rows of one."""
    column = columns[at]
    if column is None:
        return columns
    rows, cells = column.rows(), column.dense
    kept = (rows < first) | (rows >= stop)
    left = None
    if kept.any():
        parts = cells.kinds[kept], cells.numbers[kept], cells.codes[kept], cells.formats[kept]
        left = column_of(rows[kept], *parts)
    return (*columns[:at], left, *columns[at + 1 :])


def _place(headed: NamedColumns, formula: str, column: int) -> tuple[str, Node]:
    """Return the formula as it stands in the first row of the data."""
    first = headed.first_row
    tree = parse_or_suggest(formula)
    last = max(first, first + headed.row_count - 1)
    text = render(place_formula(tree, by_name(headed.columns()), column, first, last), first, column)
    tree = parse(text, first, column)
    if may_be_array(tree):
        raise CannotApply("the formula may give an array, and a cell has one value: @ takes one")
    return text, tree
