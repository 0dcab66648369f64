"""Rows under a mapping's targets with their faults; samples of plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import scaling, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.scaling import Scale
from core.portfolio.cells.string_pool import Cells, StringPool
from core.portfolio.cells.typed import NormalColumn, either
from core.portfolio.mapping.pipeline import (
    TYPE,
    FieldColumn,
    FieldWork,
    InUnit,
    RowsFault,
    check,
    constant,
    fill_default,
    transform_cells,
    works,
)
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import Field, Mapping
from core.portfolio.sheets.headings import matcher, scan, wording
from core.threads import Threads, working
from core.values import Kind

ERRORS_MAX: Final = 1_000
"""Errors and warnings that are listed, of each; all are counted."""

SAMPLE_ROWS_MAX: Final = 10_000
"""Rows of one sample."""

SAMPLE_VALUES_MAX: Final = 500_000
"""Values of one sample."""

SAMPLE_COLUMNS_MAX: Final = 2_000
"""Distinct column names of one sample."""

SAMPLE_TEXT_MAX: Final = 1_000_000
"""Characters of one sample's texts: what its patterns have to read."""

TEXT_LENGTH_MAX: Final = 32_767
"""Characters of one text, as many as a spreadsheet cell holds."""

MAPPED_TEXT_BYTES_MAX: Final = 32 * 1024 * 1024
"""UTF-8 bytes of the distinct texts that a sample's columns may come to: replacing makes much of little."""

VALUE_LENGTH_MAX: Final = 200
"""Characters of a value that a fault shows."""

EXACT_INTEGER_MAX: Final = 2**53
"""Up to this size every integer is a double; a larger one in a sample keeps its digits as text."""


class SampleError(MappingError):
    """A sample with more rows, columns or text than one request may bring."""


@dataclass(frozen=True, slots=True)
class CellFault:
    """One thing that is wrong, or worth a warning."""

    row: int | None
    """A sample's row by its place, from 1; a sheet's by its own number; None for a whole column."""
    field: str
    """The target; the source's own name for a column that feeds none."""
    rule: str
    """A rule, an operation, "type", "error_cell" or "unmapped_column"."""
    message: str
    value: Any = None
    """What stands there: number, text, boolean or None."""
    page: int | None = None
    """Page of the document on which the row stands, from 1; None without pages, and for a whole column."""
    line: int | None = None
    """The row's line on its page, from 1; None as for `page`."""


@dataclass(frozen=True, slots=True)
class NormalisedRows:
    """Rows under the targets of a mapping."""

    row_count: int
    row_numbers: NDArray[np.int64]
    """What each row is called: its place in a sample, from 1, or its number in the sheet."""
    columns: dict[str, NormalColumn]
    """Fields that a column or a default feeds, in the mapping's order; all of `row_count` rows."""
    errors: list[CellFault] = field(default_factory=list)
    """By row; the first `ERRORS_MAX`."""
    warnings: list[CellFault] = field(default_factory=list)
    """Those of columns, then by row; the first `ERRORS_MAX`."""
    error_count: int = 0
    warning_count: int = 0
    rows_invalid: int = 0
    """Rows with an error."""
    unmapped_columns: list[str] = field(default_factory=list)
    """Named columns of the source that feed no field."""
    missing_required_columns: list[str] = field(default_factory=list)
    """Required fields that neither a column nor a default feeds."""
    missing_columns: list[str] = field(default_factory=list)
    """All fields of the mapping that no column feeds."""

    @property
    def is_valid(self) -> bool:
        """Return whether no row is in error and no required column missing."""
        return not self.error_count and not self.missing_required_columns

    def rows(self, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
        """Return rows `start` to `stop - 1` by target as plain values; None for blank."""
        cut = slice(start, self.row_count if stop is None else stop)
        values = [column.python(cut) for column in self.columns.values()]
        if not values:
            return [{} for _ in range(*cut.indices(self.row_count))]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True)]


@dataclass(slots=True)
class NormalisationReport:
    """What is collected on the way to `NormalisedRows`."""

    mapping: Mapping
    row_numbers: NDArray[np.int64]
    unmapped: list[str]
    columns: dict[str, NormalColumn] = field(default_factory=dict)
    findings: list[RowsFault] = field(default_factory=list)
    missing: list[Field] = field(default_factory=list)

    def take(self, outcomes: dict[str, FieldColumn], workers: Threads) -> None:
        """Take each field of the mapping as typed, to be checked.

        A field without a column has its default.
        """
        fields: list[tuple[FieldWork, FieldColumn]] = []
        for target, work in works(self.mapping).items():
            outcome = outcomes.get(target)
            if outcome is None and any(field.target == target for field in self.mapping.fields):
                self.missing.append(work.field)
                outcome = constant(work, len(self.row_numbers))
            if outcome is not None:
                fields.append((work, outcome))
        workers.map(check, *zip(*fields, strict=True))
        for work, outcome in fields:
            self.findings += outcome.findings
            if work.field.target in outcomes or work.field.default is not None:
                self.columns[work.field.target] = outcome.column

    def finish(self) -> NormalisedRows:
        """Return all of it, once each field was taken."""
        column_warnings = [
            CellFault(None, name, "unmapped_column", f"column {_show_value(name)!r} feeds no field")
            for name in self.unmapped
        ]
        errors = [finding for finding in self.findings if not finding.is_warning]
        warnings = [finding for finding in self.findings if finding.is_warning]
        invalid = np.zeros(len(self.row_numbers), np.bool_)
        for error in errors:
            invalid[error.rows] = True
        return NormalisedRows(
            len(self.row_numbers),
            self.row_numbers,
            self.columns,
            self._list_faults(errors),
            [*column_warnings, *self._list_faults(warnings)][:ERRORS_MAX],
            sum(len(fault.rows) for fault in errors),
            sum(len(warning.rows) for warning in warnings) + len(column_warnings),
            int(np.count_nonzero(invalid)),
            self.unmapped,
            [field.target for field in self.missing if field.required and field.default is None],
            [field.target for field in self.missing],
        )

    def _list_faults(self, findings: list[RowsFault]) -> list[CellFault]:
        """Return the first of some findings, row by row."""
        heads = [[(row, at) for row in finding.rows[:ERRORS_MAX].tolist()] for at, finding in enumerate(findings)]
        first_rows = list(islice(merge(*heads), ERRORS_MAX))
        rows: dict[int, list[int]] = {}
        for row, at in first_rows:
            rows.setdefault(at, []).append(row)
        values = {
            (row, at): value
            for at, of_finding in rows.items()
            for row, value in zip(of_finding, findings[at].values(np.array(of_finding, np.int64)), strict=True)
        }
        return [
            CellFault(
                int(self.row_numbers[row]),
                findings[at].field,
                findings[at].rule,
                findings[at].message,
                _show_value(values[row, at]),
            )
            for row, at in first_rows
        ]


def _show_value(value: Any) -> Any:
    """Return a value as a fault shows it: a long text is cut."""
    long = isinstance(value, str) and len(value) > VALUE_LENGTH_MAX
    return f"{value[:VALUE_LENGTH_MAX]}..." if long else value


# ---- samples -------------------------------------------------------------------------------------------------------


def normalise_rows(mapping: Mapping, rows: Sequence[dict[str, Any]]) -> NormalisedRows:
    """Map and check rows of plain values by source column.

    They need not have the same columns.

    Names are compared as headers are. Where several columns of a row could feed a field, the preferred one that has a
    value does. Figures stand in their field's unit unless a cell or a name states another ("3.5%", "Spread (%)"): a few
    rows have no median to guess by.

    Raises:
        SampleError: more rows, values, columns or text than a sample may have, or may come to.
    """
    _check_size(rows)
    sources = _Sources(mapping, rows)
    report = NormalisationReport(mapping, np.arange(1, len(rows) + 1, dtype=np.int64), sources.unmapped)
    outcomes: dict[str, FieldColumn] = {}
    size_bytes = 0
    for target, work in works(mapping).items():
        names = sources.of.get(target)
        if names is None:
            continue
        is_own = [work.on(sources.preferences[target, name]) is work for name in names]
        outcomes[target] = _sample_column(work, names, is_own, rows)
        size_bytes += len(outcomes[target].column.text.text.data)
        if size_bytes > MAPPED_TEXT_BYTES_MAX:
            raise SampleError(f"its texts come to more than {MAPPED_TEXT_BYTES_MAX:,} bytes when mapped")
    with working(1) as workers:
        report.take(outcomes, workers)
    return report.finish()


def _check_size(rows: Sequence[dict[str, Any]]) -> None:
    if len(rows) > SAMPLE_ROWS_MAX:
        raise SampleError(f"the sample has {len(rows)} rows, more than {SAMPLE_ROWS_MAX}")
    values = sum(len(row) for row in rows)
    if values > SAMPLE_VALUES_MAX:
        raise SampleError(f"the sample has {values} values, more than {SAMPLE_VALUES_MAX}")
    size = sum(len(value) for row in rows for value in row.values() if isinstance(value, str))
    if size > SAMPLE_TEXT_MAX:
        raise SampleError(f"the sample has {size} characters of text, more than {SAMPLE_TEXT_MAX}")


class _Sources:
    """Which names of a sample feed which target."""

    def __init__(self, mapping: Mapping, rows: Sequence[dict[str, Any]]) -> None:
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        if len(names) > SAMPLE_COLUMNS_MAX:
            raise SampleError(f"the sample has {len(names)} columns, more than {SAMPLE_COLUMNS_MAX}")
        options_of = matcher.matcher(mapping).options
        self.unmapped: list[str] = []
        by_target: dict[str, list[tuple[int, int, str]]] = {}
        for place, name in enumerate(names):
            options = options_of(name) if len(name) <= scan.HEADER_BYTES_MAX else ()
            own = [option for option in options if not option[2]] or list(options)
            for target, preference, _ in own:
                by_target.setdefault(target, []).append((preference, place, name))
            if not own:
                self.unmapped.append(name)
        self.of = {target: [name for _, _, name in sorted(places)] for target, places in by_target.items()}
        """Target -> names, the preferred one first."""
        self.preferences = {
            (target, name): preference for target, places in by_target.items() for preference, _, name in places
        }
        """Target and name -> the name's place among the target's aliases."""


def _sample_column(
    work: FieldWork, names: list[str], is_own: list[bool], rows: Sequence[dict[str, Any]]
) -> FieldColumn:
    """Return one field of a sample.

    Args:
        is_own: which of the names the mapping's transforms are about.
    """
    sources = [next((name for name in names if not _is_blank(row.get(name))), None) for row in rows]
    values = [None if name is None else row[name] for name, row in zip(sources, rows, strict=True)]
    faults = [_value_fault(value) for value in values]
    plain = [None if fault else value for value, fault in zip(values, faults, strict=True)]
    from_name = np.array([-1 if name is None else names.index(name) for name in sources], np.int64)
    lost = np.array([fault is not None for fault in faults], np.bool_)
    own = np.array([*is_own, True], np.bool_)[from_name]
    in_unit = _convert_units(names, from_name)
    if own.all() or not work.transforms:
        outcome = transform_cells(work, cells_from_values(plain), in_unit)
    else:
        parts = [
            transform_cells(
                each,
                cells_from_values([value if is_in else None for value, is_in in zip(plain, part, strict=True)]),
                in_unit,
            )
            for each, part in ((work, own.tolist()), (replace(work, transforms=()), (~own).tolist()))
        ]
        outcome = FieldColumn(either(own, parts[0].column, parts[1].column), parts[0].findings + parts[1].findings)
        for part in parts:
            lost = lost if part.lost is None else lost | part.lost
    outcome.lost = lost if outcome.lost is None else lost | outcome.lost
    outcome.column = fill_default(work, outcome.column, outcome.lost)
    for fault in dict.fromkeys(fault for fault in faults if fault):
        fault_rows = np.array([at for at, text in enumerate(faults) if text == fault], np.int64)
        outcome.findings.append(
            RowsFault(work.field.target, TYPE, f"{work.field.target} {fault}", fault_rows, _nothing)
        )
    return outcome


def _is_blank(value: Any) -> bool:
    """Return whether a sample's value leaves its cell empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def _nothing(rows: NDArray[np.int64]) -> list[Any]:
    return [None] * len(rows)


def _value_fault(value: Any) -> str | None:
    """Return why a sample's value is none that a cell could have."""
    if isinstance(value, str):
        if len(value) > TEXT_LENGTH_MAX:
            return f"has more than {TEXT_LENGTH_MAX} characters"
        return "is not valid Unicode" if any("\ud800" <= sign <= "\udfff" for sign in value) else None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return None if abs(value) <= 1.7e308 else "is not a finite number"
    return "is not a plain value"


def cells_from_values(values: Sequence[str | float | bool | None]) -> Cells:
    """Return plain values as one column's cells."""
    height = len(values)
    kinds, numbers = np.zeros(height, np.uint8), np.zeros(height)
    texts: list[Any] = [None] * height
    for row, value in enumerate(values):
        if isinstance(value, bool):
            kinds[row], numbers[row] = Kind.BOOLEAN, value
        elif isinstance(value, str):
            kinds[row], texts[row] = Kind.TEXT, value
        elif isinstance(value, int) and abs(value) > EXACT_INTEGER_MAX:
            kinds[row], texts[row] = Kind.TEXT, str(value)
        elif value is not None:
            kinds[row], numbers[row] = Kind.NUMBER, value
    codes, text = text_cells.pool_of(texts)
    return Cells(kinds, numbers, codes, np.zeros(height, np.uint16), StringPool(text))


def _convert_units(names: list[str], from_name: NDArray[np.int64]) -> InUnit:
    """Return a sample's figures, each in the unit that its own name or cell states."""

    def in_unit(target: str, numbers: Numbers) -> NDArray[np.float64]:
        values = numbers.values.copy()
        for at in np.unique(from_name[from_name >= 0]).tolist():
            rows = from_name == at
            own = Numbers(numbers.values[rows], None if numbers.marks is None else numbers.marks[rows])
            values[rows] = scaling.scale_values(own, _stated_scale(target, names[at]))
        return values

    return in_unit


def _stated_scale(target: str, name: str) -> Scale:
    """Return the unit that a column's name states; without one, its field's own."""
    unit, magnitude = wording.unit(name), wording.magnitude(name)
    if target == "spread":
        factor = 100.0 if unit == "%" else 1.0
        return Scale("percent" if unit == "%" else "bps", "header", factor, 100.0, 1.0)
    if target in scaling.PRICES or target in scaling.RATES or target in scaling.SMALL_RATES:
        return Scale("bps" if unit == "bps" else "percent", "header", 0.01 if unit == "bps" else 1.0)
    return Scale("as written", "header", magnitude if target in scaling.AMOUNTS else 1.0)
