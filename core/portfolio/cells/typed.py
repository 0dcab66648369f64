"""A column of one field as typed values: read once, asked row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, flags, number_cells, string_pool, text_cells
from core.portfolio.cells.month_dates import with_months
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.rate_cells import rate_column, spreads
from core.portfolio.cells.string_pool import BOOLEAN, ERROR, NUMBER, TEXT, Cells, bit, spread_out
from core.portfolio.cells.text.date_format import ISO, date_format, date_reader
from core.portfolio.cells.text_cells import NO_TEXT, TextColumn
from core.portfolio.model.fields import IDENTIFIERS, FieldType
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.ratings import AGENCY_OF
from core.values import EPOCH, from_serial
from core.words import agreed, counted

_NO_ROWS: Final = TextColumn(np.zeros(0, np.int32), NO_TEXT)
_NO_VALUES: Final = np.zeros(0, np.float64)


@dataclass(frozen=True, slots=True)
class NormalColumn:
    """One field of all rows.

    A string field has its rows in `text`, every other in `values`.
    """

    type: FieldType
    values: NDArray[np.float64]
    """Numbers, days since 1970-01-01, or 1 and 0 for true and false; NaN is blank. Empty for a string field."""
    text: TextColumn = _NO_ROWS
    """Codes into a pool, -1 blank; two codes of the pool may stand for equal strings. Empty for any other field."""
    date_format: str = ISO
    """How `python` writes a date."""

    def __len__(self) -> int:
        return len(self.text.codes) if self.type == "string" else len(self.values)

    def blank(self) -> NDArray[np.bool_]:
        """Return rows without a value."""
        return np.asarray(self.text.codes < 0 if self.type == "string" else np.isnan(self.values), np.bool_)

    def take(self, rows: NDArray[np.int64] | slice) -> NormalColumn:
        """Return some rows of it; -1 is a blank one."""
        if self.type == "string":
            return self.with_text(_taken(self.text.codes, rows, -1), self.text.text)
        return self.with_values(_taken(self.values, rows, np.nan))

    def as_text(self) -> TextColumn:
        """Return the same values as texts."""
        if self.type == "string":
            return self.text
        known, place = np.unique(self.values, return_inverse=True)
        plain_values = self.with_values(known).python(slice(None))
        codes, text = text_cells.pool_of(
            [
                text_cells.plain(value) if isinstance(value, float) else None if value is None else str(value).upper()
                for value in plain_values
            ]
        )
        return TextColumn(codes[place], text)

    def with_values(self, values: NDArray[np.float64]) -> NormalColumn:
        """Return the same field with other values."""
        return replace(self, values=values)

    def with_text(self, codes: NDArray[np.int32], text: Text) -> NormalColumn:
        """Return the same field with other strings."""
        return replace(self, text=TextColumn(codes, text))

    def python(self, rows: NDArray[np.int64] | slice) -> list[Any]:
        """Return some rows as Python values: text, float, ISO or formatted date, bool.

        None for blank.
        """
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
        return moment.date().isoformat() if self.date_format == ISO else date_format(self.date_format).write(moment)


def _taken(values: NDArray[Any], rows: NDArray[np.int64] | slice, blank: float) -> NDArray[Any]:
    """Return some rows of a column; -1 is a blank one, also where there are no others."""
    if isinstance(rows, slice):
        return values[rows]
    if not len(values):
        return np.full(len(rows), blank, values.dtype)
    return np.where(rows < 0, values.dtype.type(blank), values[rows])


def either(rows: NDArray[np.bool_], first: NormalColumn, second: NormalColumn) -> NormalColumn:
    """Take the first column's values in some rows, and the second's in the others."""
    if first.type != "string":
        return first.with_values(np.where(rows, first.values, second.values))
    first_text, second_text = first.text, second.text
    moved = np.where(second_text.codes < 0, np.int32(-1), second_text.codes + np.int32(len(first_text.text)))
    return first.with_text(
        np.where(rows, first_text.codes, moved), text_cells.end_to_end(first_text.text, second_text.text)
    )


def text_column(text: TextColumn) -> NormalColumn:
    """Return a string field."""
    return NormalColumn("string", _NO_VALUES, text)


def blank_column(kind: FieldType, height: int) -> NormalColumn:
    """Return a field of so many blanks."""
    if kind == "string":
        return text_column(TextColumn(np.full(height, -1, np.int32), NO_TEXT))
    return NormalColumn(kind, np.full(height, np.nan))


MARKED_TEXTS: Final = frozenset(
    (*IDENTIFIERS, "borrower_name", "issuer_id", "facility_name", "industry", "country", "currency",
     "payment_frequency", "lien_type", "coupon_type", "base_rate")
)  # fmt: skip
"""Fields whose texts may have footnote marks behind them."""


def day_number(text: str) -> float:
    """Return days since 1970-01-01 of an ISO date."""
    return float((date.fromisoformat(text) - EPOCH).days)


# ---- reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """A column as read."""

    column: NormalColumn
    unreadable: NDArray[np.bool_] | None = None
    """Rows whose cell says something that is no value of the field's type; they are blank in the column."""
    doubtful: NDArray[np.bool_] | None = None
    """Rows whose text was taken for No although it is no word for it (the flags of a holdings sheet are read so)."""
    warnings: tuple[DataWarning, ...] = ()
    """What is a guess."""


def read_text(cells: Cells, form: str = ISO, *, target: str = "") -> ColumnReading:
    """Return a string field; a date is written in a form.

    In a rating `parsing.MASK` is a text; a name, a category or an identifier has no footnote marks.
    """

    def written(serial: float) -> str | None:
        moment = from_serial(serial, date_1904=cells.pool.date_1904)
        return None if moment is None else date_format(form).write(moment)

    column = text_cells.read_text(cells, masks=target in AGENCY_OF, written=written)
    if target in MARKED_TEXTS:
        column = text_cells.without_footnotes(column, brackets=target != "facility_name")
    return ColumnReading(text_column(column))


MATURITIES: Final = frozenset(("maturity_date",))
"""Dates that may name a month alone, whose last day counts."""


def read_dates(cells: Cells, input_format: str | None, *, target: str = "") -> ColumnReading:
    """Read a date field; with an input format, text has to fit it.

    A month alone is a maturity's, and no other date's.
    """
    if input_format is not None and cells.seen & bit(TEXT):
        days = _by_format(cells, input_format)
        return ColumnReading(NormalColumn("date", days), _lost(cells, days))
    days, guessed = number_cells.read_dates(cells), 0
    if target in MATURITIES:
        days, guessed = with_months(cells, days)
    warnings = []
    if guessed:
        message = (
            f"{counted(guessed, 'cell')} of {target} such as 06/29 {agreed(guessed, 'counts/count')} as month and "
            "year, because the whole column is written so."
        )
        warnings.append(DataWarning("short_months", message, guessed, (target,)))
    if count := number_cells.open_dates(cells):
        message = (
            f"{counted(count, 'date')} of {target} {agreed(count, 'is/are')} read with the month first: no date of the "
            "sheet says which way round."
        )
        warnings.append(DataWarning("ambiguous_date", message, count, (target,)))
    return ColumnReading(NormalColumn("date", days), _lost(cells, days), warnings=tuple(warnings))


def _by_format(cells: Cells, input_format: str) -> NDArray[np.float64]:
    local, used = _parse.distinct(cells.codes, len(cells.pool.text))
    reader = date_reader(input_format)
    moments = [reader.read(text) for text in string_pool.decode(cells.pool.text, used)]
    table = np.array([np.nan if at is None else (at.date() - EPOCH).days for at in moments], np.float64)
    others = Cells(
        np.where(cells.kinds == TEXT, np.uint8(0), cells.kinds), cells.numbers, cells.codes, cells.formats, cells.pool
    )
    return np.where(cells.kinds == TEXT, spread_out(table, np.nan, local), number_cells.read_dates(others))


def read_booleans(cells: Cells, target: str, *, is_denied: bool = False) -> ColumnReading:
    """Return a boolean field: words for yes and no, 1 and 0.

    A standard flag of holdings has words of its own for yes. Any other word in it is No, and so is a dash; any number
    but 0 is Yes.

    Args:
        is_denied: the column says the opposite of the field: a yes below "Performing" is no default. Words of the
            field's own still say what they say.
    """
    values = np.full(len(cells.kinds), np.nan)
    own = flags.FLAG_WORDS.get(target)
    if cells.seen & bit(BOOLEAN, NUMBER):
        says = cells.kinds == BOOLEAN
        says |= (cells.kinds == NUMBER) & (own is not None or np.isin(cells.numbers, (0, 1)))
        values[says] = (cells.numbers[says] != 0) != is_denied
    if not cells.seen & bit(TEXT):
        return ColumnReading(NormalColumn("boolean", values), _lost(cells, values))
    places, used = _parse.distinct(cells.codes, len(cells.pool.text))
    strings = string_pool.decode(cells.pool.text, used)
    table, is_known = _answers(strings, target, is_denied=is_denied)
    is_dash = np.array([own is not None and text.strip() in string_pool.DASHES for text in strings], np.bool_)
    table[cells.pool.null[used] & ~is_dash] = np.nan
    values = np.where(cells.kinds == TEXT, spread_out(table, np.nan, places), values)
    is_known |= (is_dash & (not is_denied)) | np.isnan(table)
    doubtful = None if is_known.all() else spread_out(~is_known, False, places)
    if is_denied and not (values == 1).any():  # where nothing says no, blanks may
        doubtful = np.isnan(values) if doubtful is None else doubtful | np.isnan(values)
        doubtful = doubtful if doubtful.any() else None
    return ColumnReading(NormalColumn("boolean", values), _lost(cells, values), doubtful)


def _answers(strings: list[str], target: str, *, is_denied: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return what texts say of a flag, 1 or 0, and which say it at all."""
    own, local = flags.FLAG_WORDS.get(target), flags.local_yes(strings)
    yes = np.array(
        [flags.says_yes(text, own or frozenset()) or text.strip().lower() in local for text in strings], np.bool_
    )
    no = np.array([flags.says_no(text, target) for text in strings], np.bool_)
    if is_denied:
        turned = np.array([flags.is_plain(text) or text.strip().lower() in local for text in strings], np.bool_)
        yes, no = np.where(turned, no & ~yes, yes), np.where(turned, yes, no)
    return np.where(yes, 1.0, np.where(no, 0.0, np.nan if own is None else 0.0)), yes | no


def read_numbers(cells: Cells, *, is_spread: bool = False) -> tuple[Numbers, NDArray[np.bool_] | None]:
    """Return a number field as written, and the rows that hold something else."""
    numbers = number_cells.read_numbers(cells, is_spread=is_spread)
    rates = rate_column(cells) if is_spread else None
    if rates is not None:
        numbers = spreads(numbers, rates)
    has_others = numbers.unreadable or cells.seen & bit(BOOLEAN)
    lost = _lost(cells, numbers.values) if has_others else None
    if rates is not None and lost is not None:
        lost &= ~rates.is_fixed()
    return numbers, lost


def _lost(cells: Cells, values: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Return rows whose cell is filled and value blank; None without any."""
    blank = np.isnan(values)
    if not blank.any():
        return None
    lost = blank & cells.present()
    return lost if lost.any() else None


def error_cells(cells: Cells) -> NDArray[np.bool_] | None:
    """Return rows with an error such as #N/A (blank); None without any."""
    return np.asarray(cells.kinds == ERROR, np.bool_) if cells.seen & bit(ERROR) else None
