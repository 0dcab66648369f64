"""One field of a mapping: its cells typed once, transformed, filled and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import text_cells, typed
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.string_pool import BOOLEAN, DATE, ERROR, NUMBER, TEXT, Cells
from core.portfolio.cells.text.date_format import ISO
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import ColumnReading, NormalColumn
from core.portfolio.mapping.profiles import rules, transforms
from core.portfolio.model.fields import PROFILES, Field, FieldRule, FieldType, Mapping, Transform
from core.portfolio.model.notes import DataWarning
from core.values import ERRORS, from_serial

Rows = NDArray[np.bool_]
InUnit = Callable[[str, Numbers], NDArray[np.float64]]
"""A target's numbers into its unit."""

TYPE: Final = "type"
"""What the report calls a cell that is no value of its field's type."""

_NOUNS: Final[dict[FieldType, str]] = {
    "string": "text",
    "number": "a number",
    "date": "a date",
    "boolean": "true or false",
}


@dataclass(frozen=True, slots=True)
class FieldWork:
    """What a mapping does with one field."""

    field: Field
    transforms: tuple[Transform, ...] = ()
    rules: tuple[FieldRule, ...] = ()
    is_denied: bool = False
    """Whether its column says the opposite: "Performing" of a default."""

    @property
    def says_unit(self) -> bool:
        """Return whether a transform of its own states the unit of its numbers."""
        return any(transforms.OPERATIONS[transform.operation].is_numeric for transform in self.transforms)

    def on(self, preference: int) -> FieldWork:
        """Return what is done with the column of this place among the field's aliases.

        A mapping's transforms are about the columns that it names, not about one of its profile's that stands in for
        them.
        """
        own = self.field.own
        return self if not self.transforms or own == 0 or preference < own else replace(self, transforms=())


@dataclass(frozen=True, slots=True)
class RowsFault:
    """Rows of one field with the same fault."""

    field: str
    rule: str
    """A rule, an operation, `TYPE`, or "error_cell"."""
    message: str
    rows: NDArray[np.int64]
    """Ascending."""
    values: Callable[[NDArray[np.int64]], list[Any]]
    """What stands in some of the rows."""
    is_warning: bool = False

    def among(self, places: NDArray[np.int64]) -> RowsFault:
        """Return what is left of it in a column of these rows, which ascend."""
        at = np.searchsorted(places, self.rows)
        rows = (
            at[(at < len(places)) & (places[np.minimum(at, len(places) - 1)] == self.rows)] if len(places) else at[:0]
        )
        return replace(self, rows=rows, values=lambda at: self.values(places[at]))


@dataclass(slots=True)
class FieldColumn:
    """A field's column and all that was found on the way to it."""

    column: NormalColumn
    findings: list[RowsFault] = field(default_factory=list)
    lost: Rows | None = None
    """Rows that are in error before any rule is asked."""
    warnings: tuple[DataWarning, ...] = ()
    """What of its reading is a guess."""

    def take(self, rows: NDArray[np.int64] | slice) -> FieldColumn:
        """Return some of its rows, which ascend."""
        places = np.arange(len(self.column), dtype=np.int64)[rows]
        findings = [finding.among(places) for finding in self.findings]
        lost = None if self.lost is None else self.lost[rows]
        return FieldColumn(self.column.take(rows), findings, lost, self.warnings)


def works(mapping: Mapping) -> dict[str, FieldWork]:
    """Return what a mapping does with each of its fields, auxiliary ones included."""
    return {
        field.target: FieldWork(
            field,
            tuple(change for change in mapping.transforms if change.field == field.target),
            tuple(rule for rule in mapping.rules if rule.field == field.target),
        )
        for field in (*mapping.fields, *mapping.auxiliary)
    }


def is_ruled(work: FieldWork, mapping: Mapping) -> bool:
    """Return whether a mapping of one's own has rules or defaults for a field."""
    return bool(work.rules) or work.field.default is not None or (work.field.required and mapping.id not in PROFILES)


def run(work: FieldWork, cells: Cells, in_unit: InUnit) -> FieldColumn:
    """Read and transform a field's cells, with the default in blanks."""
    outcome = transform_cells(work, cells, in_unit)
    outcome.column = fill_default(work, outcome.column, outcome.lost)
    return outcome


def constant(work: FieldWork, height: int) -> FieldColumn:
    """Return a field that no column feeds: its default in every row, or blanks."""
    return FieldColumn(fill_default(work, typed.blank_column(work.field.type, height)))


# ---- reading and transforming --------------------------------------------------------------------------------------


def transform_cells(work: FieldWork, cells: Cells, in_unit: InUnit) -> FieldColumn:
    """Return the cells of a field read and transformed."""
    target, kind = work.field.target, work.field.type
    written = cells
    if kind != "string":
        for transform in work.transforms:
            if transform.operation == "lookup":
                cells = transforms.looked_up(cells, kind, transform.parameters)
    read = _read(work, cells, in_unit)
    outcome = FieldColumn(read.column, lost=read.unreadable, warnings=read.warnings)

    def as_written(rows: NDArray[np.int64]) -> list[Any]:
        return [cell_value(written, row) for row in rows.tolist()]

    errors = typed.error_cells(cells)
    for rows, rule, message, is_warning in (
        (read.unreadable, TYPE, f"{target} is not {_NOUNS[kind]}", False),
        (read.doubtful, TYPE, f"{target} is neither yes nor no; taken for no", True),
        (errors, "error_cell", f"{target} holds an error; taken for blank", True),
    ):
        if rows is not None:
            outcome.findings.append(RowsFault(target, rule, message, np.flatnonzero(rows), as_written, is_warning))
    for transform in work.transforms:
        _apply(transform, outcome)
    return outcome


def _read(work: FieldWork, cells: Cells, in_unit: InUnit) -> ColumnReading:
    target, kind = work.field.target, work.field.type
    input_format = next(
        (transform.parameters["input_format"] for transform in work.transforms if transform.operation == "date_format"),
        None,
    )
    if kind == "string":
        return typed.read_text(cells, input_format or ISO, target=target)
    if kind == "date":
        return typed.read_dates(cells, input_format, target=target)
    if kind == "boolean":
        return typed.read_booleans(cells, target, is_denied=work.is_denied)
    numbers, unreadable = typed.read_numbers(cells, is_spread=target == "spread")
    values = numbers.values if work.says_unit else in_unit(target, numbers)
    return ColumnReading(NormalColumn("number", values), unreadable)


def _apply(transform: Transform, outcome: FieldColumn) -> None:
    before = outcome.column
    result = transforms.apply_operation(transform.operation, before, transform.parameters)
    outcome.column = result.column
    if result.failed is None:
        return
    operation = transforms.OPERATIONS[transform.operation]
    rows = np.flatnonzero(result.failed)
    message = f"{transform.field} {operation.failure}"
    outcome.findings.append(
        RowsFault(transform.field, transform.operation, message, rows, before.python, operation.is_warning)
    )
    if not operation.is_warning:
        outcome.lost = result.failed if outcome.lost is None else outcome.lost | result.failed


def cell_value(cells: Cells, row: int) -> Any:
    """Return one cell as Python has it: a date is ISO text, an error its own."""
    kind, number = int(cells.kinds[row]), float(cells.numbers[row])
    if kind == TEXT:
        return cells.pool.text[int(cells.codes[row])]
    if kind == NUMBER:
        return number
    if kind == BOOLEAN:
        return number != 0
    if kind == ERROR:
        return ERRORS[int(number)]
    moment = from_serial(number, date_1904=cells.pool.date_1904) if kind == DATE else None
    return number if kind == DATE and moment is None else None if moment is None else moment.date().isoformat()


# ---- defaults ------------------------------------------------------------------------------------------------------


def fill_default(work: FieldWork, column: NormalColumn, lost: Rows | None = None) -> NormalColumn:
    """Fill blanks with the field's default, but for rows that are in error.

    The default is a value of the field, so transforms do not touch it.
    """
    default: Any = work.field.default
    if default is None:
        return column
    rows = column.blank()
    if lost is not None:
        rows &= ~lost
    if not rows.any():
        return column
    if column.type != "string":
        value = typed.day_number(default) if column.type == "date" else float(default)
        return column.with_values(np.where(rows, value, column.values))
    _, text = text_cells.pool_of([default])
    codes = np.where(rows, np.int32(0), np.int32(-1))
    return typed.either(~rows, column, typed.text_column(TextColumn(codes, text)))


# ---- rules ---------------------------------------------------------------------------------------------------------


def check(work: FieldWork, outcome: FieldColumn) -> None:
    """Add what breaks the field's rules in rows that are not lost.

    A required field has that rule first.
    """
    asked = list(work.rules)
    if work.field.required and all(rule.rule != "required" for rule in asked):
        asked.insert(0, FieldRule(work.field.target, "required"))
    for rule in asked:
        broken = rules.broken(rule.rule, outcome.column, rule.parameters)
        if outcome.lost is not None:
            broken &= ~outcome.lost
        if broken.any():
            message = rule.message or rules.message(rule.rule, rule.field, rule.parameters)
            rows = np.flatnonzero(broken)
            outcome.findings.append(RowsFault(rule.field, rule.rule, message, rows, outcome.column.python))
