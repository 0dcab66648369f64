"""One field of a mapping from its cells to typed values: read, transformed, filled up, checked against its rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import parsing, typed
from core.portfolio.cells.date_format import ISO
from core.portfolio.cells.parsing import BOOLEAN, DATE, ERROR, NUMBER, TEXT, Cells
from core.portfolio.cells.typed import NormalColumn, Read
from core.portfolio.fields import Field, FieldType, Mapping, Rule, Transform
from core.portfolio.profile import rules, transforms
from core.values import ERRORS, from_serial

Rows = NDArray[np.bool_]
InUnit = Callable[[str, parsing.Numbers], NDArray[np.float64]]
"""A target's numbers into its unit."""

TYPE: Final = "type"
"""What the report calls a cell that is no value of its field's type."""

_NOUNS: Final[dict[FieldType, str]] = {
    "string": "text", "number": "a number", "date": "a date", "boolean": "true or false",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Work:
    """What a mapping does with one field."""

    field: Field
    transforms: tuple[Transform, ...] = ()
    rules: tuple[Rule, ...] = ()

    @property
    def says_unit(self) -> bool:
        """Whether a transform of its own states the unit of its numbers: nothing is guessed then."""
        return any(transforms.OPERATIONS[one.operation].is_numeric for one in self.transforms)

    def on(self, preference: int) -> Work:
        """What is done with the column of this place among the field's aliases: a mapping's transforms are about the
        columns that it names, not about one of its profile's that stands in for them.
        """
        own = self.field.own
        return self if not self.transforms or own == 0 or preference < own else replace(self, transforms=())


@dataclass(frozen=True, slots=True)
class Finding:
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


@dataclass(slots=True)
class Outcome:
    """A field's column and all that was found on the way to it."""

    column: NormalColumn
    findings: list[Finding] = field(default_factory=list)
    lost: Rows | None = None
    """Rows that are in error before any rule is asked."""


def works(mapping: Mapping) -> dict[str, Work]:
    """What a mapping does with each of its fields, auxiliary ones included."""
    return {
        one.target: Work(
            one,
            tuple(change for change in mapping.transforms if change.field == one.target),
            tuple(rule for rule in mapping.rules if rule.field == one.target),
        )
        for one in (*mapping.fields, *mapping.auxiliary)
    }


def run(work: Work, cells: Cells, in_unit: InUnit, lost: Rows | None = None) -> Outcome:
    """The cells of a field read, transformed, with the default in its blanks, and checked.

    Rows that are `lost` already get no default, and no rule is asked about them.
    """
    return settled(work, changed(work, cells, in_unit), lost)


def settled(work: Work, outcome: Outcome, lost: Rows | None = None) -> Outcome:
    """A column that was read and transformed with the default in its blanks, and checked."""
    if lost is not None:
        outcome.lost = lost if outcome.lost is None else outcome.lost | lost
    if work.field.default is not None:
        outcome.column = filled(outcome.column, work.field.default, outcome.lost)
    check(work, outcome)
    return outcome


def constant(work: Work, height: int) -> Outcome:
    """A field that no column feeds: its default in every row, or blanks."""
    blank = typed.blank_column(work.field.type, height)
    outcome = Outcome(blank if work.field.default is None else filled(blank, work.field.default, None))
    check(work, outcome)
    return outcome


# ---- reading and transforming --------------------------------------------------------------------------------------


def changed(work: Work, cells: Cells, in_unit: InUnit) -> Outcome:
    """The cells of a field read and transformed."""
    target, kind = work.field.target, work.field.type
    written = cells
    if kind != "string":
        for one in work.transforms:
            if one.operation == "lookup":
                cells = transforms.looked_up(cells, kind, one.parameters)
    read = _read(work, cells, in_unit)
    outcome = Outcome(read.column, lost=read.unreadable)

    def as_written(rows: NDArray[np.int64]) -> list[Any]:
        return [cell_value(written, row) for row in rows.tolist()]

    errors = typed.error_cells(cells)
    for rows, rule, message, is_warning in (
        (read.unreadable, TYPE, f"{target} is not {_NOUNS[kind]}", False),
        (read.doubtful, TYPE, f"{target} is neither yes nor no; taken for no", True),
        (errors, "error_cell", f"{target} holds an error; taken for blank", True),
    ):
        if rows is not None:
            outcome.findings.append(Finding(target, rule, message, np.flatnonzero(rows), as_written, is_warning))
    for one in work.transforms:
        _apply(one, outcome)
    return outcome


def _read(work: Work, cells: Cells, in_unit: InUnit) -> Read:
    target, kind = work.field.target, work.field.type
    input_format = next(
        (one.parameters["input_format"] for one in work.transforms if one.operation == "date_format"), None
    )
    if kind == "string":
        return typed.read_text(typed.with_dates_written(cells, input_format or ISO))
    if kind == "date":
        return typed.read_dates(cells, input_format)
    if kind == "boolean":
        return typed.read_booleans(cells, target)
    numbers, unreadable = typed.read_numbers(cells, is_spread=target == "spread")
    values = numbers.values if work.says_unit else in_unit(target, numbers)
    return Read(NormalColumn("number", values), unreadable)


def _apply(one: Transform, outcome: Outcome) -> None:
    before = outcome.column
    result = transforms.applied(one.operation, before, one.parameters)
    outcome.column = result.column
    if result.failed is None:
        return
    operation = transforms.OPERATIONS[one.operation]
    rows = np.flatnonzero(result.failed)
    message = f"{one.field} {operation.failure}"
    outcome.findings.append(Finding(one.field, one.operation, message, rows, before.python, operation.is_warning))
    if not operation.is_warning:
        outcome.lost = result.failed if outcome.lost is None else outcome.lost | result.failed


def cell_value(cells: Cells, row: int) -> Any:
    """One cell as Python has it: a date is ISO text, an error its own."""
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


def filled(column: NormalColumn, default: Any, lost: Rows | None) -> NormalColumn:
    """The column with its field's default in its blanks, but for rows that are in error.

    The default is a value of the field, so transforms do not touch it.
    """
    rows = column.blank()
    if lost is not None:
        rows &= ~lost
    if not rows.any():
        return column
    if column.type != "string":
        value = typed.day_number(default) if column.type == "date" else float(default)
        return column.with_values(np.where(rows, value, column.values))
    text = column.text.text
    _, extra = parsing.pool_of([default])
    offsets = np.concatenate((text.offsets, extra.offsets[1:] + text.offsets[-1]))
    merged = Text(offsets, np.concatenate((text.data[: text.offsets[-1]], extra.data)))
    return column.with_text(np.where(rows, np.int32(len(text)), column.text.codes), merged)


# ---- rules ---------------------------------------------------------------------------------------------------------


def check(work: Work, outcome: Outcome) -> None:
    """Add what breaks the field's rules; a required field has that rule first."""
    asked = list(work.rules)
    if work.field.required and all(rule.rule != "required" for rule in asked):
        asked.insert(0, Rule(work.field.target, "required"))
    for rule in asked:
        broken = rules.broken(rule.rule, outcome.column, rule.parameters)
        if outcome.lost is not None:
            broken &= ~outcome.lost
        if broken.any():
            message = rule.message or rules.message(rule.rule, rule.field, rule.parameters)
            rows = np.flatnonzero(broken)
            outcome.findings.append(Finding(rule.field, rule.rule, message, rows, outcome.column.python))


# ---- for the reader of holdings ------------------------------------------------------------------------------------


def prepared(work: Work, cells: Cells) -> tuple[Cells, int]:
    """The cells of a field as if its transforms had been made in the source, and how many of them are lost.

    Blanks have the default, but for numbers: theirs is in the field's unit, which the column may not be in.
    """
    if work.field.type == "number" and not work.says_unit:
        for one in work.transforms:
            cells = transforms.looked_up(cells, "number", one.parameters)
        return cells, 0
    outcome = changed(work, cells, lambda _target, numbers: numbers.values)
    column, lost = outcome.column, 0 if outcome.lost is None else int(np.count_nonzero(outcome.lost))
    if work.field.default is not None and work.field.type != "number":
        column = filled(column, work.field.default, outcome.lost)
    return typed.cells_of(column, date_1904=cells.pool.date_1904), lost


def failures(work: Work, column: NormalColumn) -> dict[str, int]:
    """How many rows of a field break each of the mapping's rules; rules that hold are not in it."""
    counts: dict[str, int] = {}
    for rule in work.rules:
        count = int(np.count_nonzero(rules.broken(rule.rule, column, rule.parameters)))
        if count:
            counts[rule.rule] = counts.get(rule.rule, 0) + count
    return counts
