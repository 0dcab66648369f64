"""A column of one field as typed values: read from cells as the reader of holdings does, and given back row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, parsing
from core.portfolio.cells.date_format import ISO, date_format, date_reader
from core.portfolio.cells.parsing import BOOLEAN, DATE, ERROR, NUMBER, TEXT, Cells, Pool, TextColumn, bit, spread_out
from core.portfolio.fields import FieldType
from core.values import DAYS_BETWEEN_SYSTEMS, EPOCH, SERIAL_OF_1970, from_serial

NO: Final = frozenset(("n", "no", "false", "f", "0", "none"))
"""What says no in a column of flags, in lower case; `parsing.YES` has what says yes."""

_NO_TEXT: Final = TextColumn(np.zeros(0, np.int32), Text(np.zeros(1, np.int64), np.zeros(0, np.uint8)))
_NO_VALUES: Final = np.zeros(0, np.float64)


@dataclass(frozen=True, slots=True)
class NormalColumn:
    """One field of all rows.

    A string field has its rows in `text`, every other in `values`.
    """

    type: FieldType
    values: NDArray[np.float64]
    """Numbers, days since 1970-01-01, or 1 and 0 for true and false; NaN is blank. Empty for a string field."""
    text: TextColumn = _NO_TEXT
    """Codes into a pool, -1 blank; two codes of the pool may stand for equal strings. Empty for any other field."""
    date_format: str = ISO
    """How `python` writes a date."""

    def __len__(self) -> int:
        return len(self.text.codes) if self.type == "string" else len(self.values)

    def blank(self) -> NDArray[np.bool_]:
        """Rows without a value."""
        return np.asarray(self.text.codes < 0 if self.type == "string" else np.isnan(self.values), np.bool_)

    def with_values(self, values: NDArray[np.float64]) -> NormalColumn:
        """The same field with other values."""
        return replace(self, values=values)

    def with_text(self, codes: NDArray[np.int32], text: Text) -> NormalColumn:
        """The same field with other strings."""
        return replace(self, text=TextColumn(codes, text))

    def python(self, rows: NDArray[np.int64] | slice) -> list[Any]:
        """Some rows as Python values: text, float, ISO (or formatted) date, bool; None for blank."""
        if self.type == "string":
            codes = self.text.codes[rows]
            used, index = np.unique(codes, return_inverse=True)
            strings = [None if code < 0 else self.text.text[code] for code in used.tolist()]
            return [strings[at] for at in index.tolist()]
        values = self.values[rows].tolist()
        if self.type == "number":
            return [None if value != value else value for value in values]
        if self.type == "boolean":
            return [None if value != value else value != 0 for value in values]
        written = {day: self._day(day) for day in set(values) if day == day}
        return [written.get(day) for day in values]

    def _day(self, day: float) -> str:
        moment = datetime.combine(EPOCH, time()) + timedelta(days=day)
        return moment.date().isoformat() if self.date_format == ISO else date_format(self.date_format).written(moment)


def either(rows: NDArray[np.bool_], first: NormalColumn, second: NormalColumn) -> NormalColumn:
    """One field with the values of the first column in some rows, and of the second in the others."""
    if first.type != "string":
        return first.with_values(np.where(rows, first.values, second.values))
    own, other = first.text, second.text
    moved = np.where(other.codes < 0, np.int32(-1), other.codes + np.int32(len(own.text)))
    merged = parsing.merged_pool(np.where(rows, own.codes, moved), own.text, other.text)
    return first.with_text(merged.codes, merged.text)


def blank_column(kind: FieldType, height: int) -> NormalColumn:
    """A field of so many blanks."""
    if kind == "string":
        return NormalColumn(kind, _NO_VALUES, TextColumn(np.full(height, -1, np.int32), _NO_TEXT.text))
    return NormalColumn(kind, np.full(height, np.nan))


def day_number(text: str) -> float:
    """Days since 1970-01-01 of an ISO date."""
    return float((date.fromisoformat(text) - EPOCH).days)


# ---- reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """A column as read."""

    column: NormalColumn
    unreadable: NDArray[np.bool_] | None = None
    """Rows whose cell says something that is no value of the field's type; they are blank in the column."""
    doubtful: NDArray[np.bool_] | None = None
    """Rows whose text was taken for No although it is no word for it (the flags of a holdings sheet are read so)."""


def read_text(cells: Cells) -> Read:
    """A string field; a date is written YYYY-MM-DD."""
    return Read(NormalColumn("string", _NO_VALUES, parsing.read_text(with_dates_written(cells, ISO))))


def read_dates(cells: Cells, input_format: str | None) -> Read:
    """A date field; with an input format, text has to fit it."""
    if input_format is not None and cells.seen & bit(TEXT):
        days = _by_format(cells, input_format)
    else:
        days = parsing.read_dates(cells)
    return Read(NormalColumn("date", days), _lost(cells, days))


def _by_format(cells: Cells, input_format: str) -> NDArray[np.float64]:
    local, used = _parse.distinct(cells.codes, len(cells.pool.text))
    reader = date_reader(input_format)
    moments = [reader.read(text) for text in parsing.decoded(cells.pool.text, used)]
    table = np.array([np.nan if at is None else (at.date() - EPOCH).days for at in moments], np.float64)
    others = Cells(
        np.where(cells.kinds == TEXT, np.uint8(0), cells.kinds), cells.numbers, cells.codes, cells.formats, cells.pool
    )
    return np.where(cells.kinds == TEXT, spread_out(table, np.nan, local), parsing.read_dates(others))


def read_booleans(cells: Cells, target: str) -> Read:
    """A boolean field: words for yes and no, 1 and 0.

    A standard flag of holdings has words of its own for yes, and any other word in it is No, as the reader has it.
    """
    values = np.full(len(cells.kinds), np.nan)
    if cells.seen & bit(BOOLEAN, NUMBER):
        plain = (cells.kinds == BOOLEAN) | (cells.kinds == NUMBER) & ((cells.numbers == 0) | (cells.numbers == 1))
        values[plain] = cells.numbers[plain]
    if not cells.seen & bit(TEXT):
        return Read(NormalColumn("boolean", values), _lost(cells, values))
    local, used = _parse.distinct(cells.codes, len(cells.pool.text))
    strings = parsing.decoded(cells.pool.text, used)
    own = parsing.FLAG_WORDS.get(target)
    yes = [parsing.says_yes(text, own or frozenset()) for text in strings]
    no = [text.strip().lower() in NO for text in strings]
    unknown = np.nan if own is None else 0.0
    table = np.array([1.0 if is_yes else 0.0 if is_no else unknown for is_yes, is_no in zip(yes, no, strict=True)])
    table[cells.pool.null[used]] = np.nan
    values = np.where(cells.kinds == TEXT, spread_out(table, np.nan, local), values)
    said = np.array(yes, np.bool_) | np.array(no, np.bool_) | np.isnan(table)
    doubtful = None if said.all() else spread_out(~said, False, local)
    return Read(NormalColumn("boolean", values), _lost(cells, values), doubtful)


def read_numbers(cells: Cells, *, is_spread: bool = False) -> tuple[parsing.Numbers, NDArray[np.bool_] | None]:
    """A number field as written, and the rows that hold something else."""
    numbers = parsing.read_numbers(cells, is_spread=is_spread)
    return numbers, _lost(cells, numbers.values)


def _lost(cells: Cells, values: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Rows whose cell says something and whose value is blank; None without any."""
    blank = np.isnan(values)
    if not blank.any():
        return None
    lost = blank & cells.present()
    return lost if lost.any() else None


def with_dates_written(cells: Cells, output_format: str) -> Cells:
    """The cells with each date as text."""
    if not cells.seen & bit(DATE):
        return cells
    is_date = cells.kinds == DATE
    serials, index = np.unique(cells.numbers[is_date], return_inverse=True)
    form = date_format(output_format)
    moments = [from_serial(serial, date_1904=cells.pool.date_1904) for serial in serials.tolist()]
    codes, written = parsing.pool_of([None if at is None else form.written(at) for at in moments])
    return with_strings(cells, is_date, codes[index], written)


def with_strings(cells: Cells, rows: NDArray[np.bool_], codes: NDArray[np.int32], text: Text) -> Cells:
    """The cells with the strings `codes` of another pool in these rows; -1 leaves one blank."""
    pool = cells.pool
    merged = Text(
        np.concatenate((pool.text.offsets, text.offsets[1:] + pool.text.offsets[-1])),
        np.concatenate((pool.text.data[: pool.text.offsets[-1]], text.data)),
    )
    kinds, all_codes = cells.kinds.copy(), cells.codes.copy()
    kinds[rows] = np.where(codes < 0, np.uint8(0), np.uint8(TEXT))
    all_codes[rows] = np.where(codes < 0, np.int32(-1), codes + np.int32(len(pool.text)))
    return Cells(kinds, cells.numbers, all_codes, cells.formats, Pool(merged, date_1904=pool.date_1904))


# ---- back to cells -------------------------------------------------------------------------------------------------


def cells_of(column: NormalColumn, *, date_1904: bool = False) -> Cells:
    """A typed column as cells with a pool of their own, for whoever reads cells."""
    height = len(column)
    formats = np.zeros(height, np.uint16)
    if column.type == "string":
        codes = column.text.codes
        kinds = np.where(codes < 0, np.uint8(0), np.uint8(TEXT))
        return Cells(kinds, np.zeros(height), codes, formats, Pool(column.text.text))
    kind = {"number": NUMBER, "date": DATE, "boolean": BOOLEAN}[column.type]
    kinds = np.where(np.isnan(column.values), np.uint8(0), np.uint8(kind))
    shift = SERIAL_OF_1970 - (DAYS_BETWEEN_SYSTEMS if date_1904 else 0) if column.type == "date" else 0
    numbers = np.nan_to_num(column.values + shift if shift else column.values)
    return Cells(kinds, numbers, np.full(height, -1, np.int32), formats, Pool(_NO_TEXT.text, date_1904=date_1904))


def error_cells(cells: Cells) -> NDArray[np.bool_] | None:
    """Rows with an error such as #N/A, which counts as blank; None without any."""
    return np.asarray(cells.kinds == ERROR, np.bool_) if cells.seen & bit(ERROR) else None
