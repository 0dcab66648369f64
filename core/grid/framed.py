"""A sheet's cells as columns of one type each, and as a table for a notebook."""

from __future__ import annotations

import warnings
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import shortened
from core.frames.frame import Frame, FrameColumn, Pool, pool_of
from core.frames.notebook import COLUMNS_SHOWN, card, left_out, places, table
from core.grid.address import column_name
from core.values import DAYS_BETWEEN_SYSTEMS, ERRORS, SERIALS_STOP, Kind, from_serial
from core.words import agreed, counted

if TYPE_CHECKING:
    from core.grid.column import Column
    from core.grid.sheet import Sheet

CELLS_MAX: Final = 200_000_000
"""Cells of a frame, blank ones too: a sheet holds its cells without the blanks between them, a frame does not."""

NAME_CHARACTERS_MAX: Final = 255

_DAY_MS: Final = 86_400_000


def frame_of(sheet: Sheet, header: int | None) -> Frame:
    """See `Sheet.frame`."""
    if header is not None and (isinstance(header, bool) or not isinstance(header, int) or header < 1):
        raise ValueError(f"header is the number of a row, from 1, or None: not {header!r}")
    first = header or 0
    height = max(0, sheet.row_count - first)
    if height * sheet.column_count > CELLS_MAX:
        raise ValueError(
            f"{sheet.name!r} has {height:,} rows of {sheet.column_count:,} columns; "
            f"a frame holds at most {CELLS_MAX:,} cells"
        )
    columns: dict[str, FrameColumn] = {}
    errors: dict[str, dict[str, int]] = {}
    undated: dict[str, int] = {}
    mixed: list[str] = []
    for at, stored in enumerate(sheet.columns):
        name = _name(sheet, first - 1, at, columns)
        if stored is None or not height:
            columns[name] = FrameColumn(np.full(height, np.nan))
            continue
        span = stored.span(first, first + height)
        is_error = span.kinds == Kind.ERROR
        if is_error.any():
            counts = np.bincount(span.numbers[is_error].astype(np.int64))
            errors[name] = {ERRORS[code]: int(counts[code]) for code in np.flatnonzero(counts)}
        kinds = {Kind(index) for index in np.flatnonzero(np.bincount(span.kinds)).tolist()} - {Kind.BLANK, Kind.ERROR}
        columns[name], without_day = _column(sheet, span, kinds)
        if without_day:
            undated[name] = without_day
        if len(kinds) > 1:
            mixed.append(name)
    remarks = {"error_cells": errors, "cells_without_date": undated, "columns_of_several_kinds": mixed}
    _warn(sheet.name, errors, undated)
    attrs: dict[str, Any] = {"sheet": sheet.name, "header_row": header} | {
        key: each for key, each in remarks.items() if each
    }
    return Frame(columns, height, attrs)


def _warn(sheet: str, errors: dict[str, dict[str, int]], undated: dict[str, int]) -> None:
    """A sum over nulls looks right: Excel's own would be an error."""
    totals = Counter[str]()
    for counts in errors.values():
        totals.update(counts)
    if totals:
        listed = ", ".join(f"{count:,} {text}" for text, count in totals.most_common())
        message = f"{sheet!r}: cells with an error are null ({listed}), in {', '.join(errors)}"
        warnings.warn(shortened(message, 300), UserWarning, stacklevel=4)
    if undated:
        count = sum(undated.values())
        dates = counted(count, "date")
        message = f"{sheet!r}: {dates} that no calendar has {agreed(count, 'is/are')} null, in {', '.join(undated)}"
        warnings.warn(shortened(message, 300), UserWarning, stacklevel=4)


def _name(sheet: Sheet, row: int, at: int, taken: dict[str, FrameColumn]) -> str:
    """Return the heading of a column.

    Its letters where it has none, and behind one that another column has already.
    """
    letters = column_name(at)
    heading = None if row < 0 else _display_value(sheet, row, at)
    name = letters if heading is None else shortened(str(heading).strip(), NAME_CHARACTERS_MAX) or letters
    while name in taken:
        name += f" ({letters})"
    return name


def _column(sheet: Sheet, span: Column, kinds: set[Kind]) -> tuple[FrameColumn, int]:
    """Return one column, and how many of its dates no calendar has."""
    pool = sheet.text.offsets, sheet.text.data
    if kinds == {Kind.TEXT}:
        return FrameColumn(span.codes, pool), 0
    if kinds == {Kind.BOOLEAN}:
        is_there = span.kinds == Kind.BOOLEAN
        return FrameColumn(is_there & (span.numbers != 0), None, None if is_there.all() else is_there), 0
    if kinds == {Kind.DATE}:
        is_date = span.kinds == Kind.DATE
        moments = moments_of(np.where(is_date, span.numbers, np.nan), date_1904=sheet.date_1904)
        lost = int(np.count_nonzero(is_date & np.isnat(moments)))
        days = moments.astype("datetime64[D]")
        return FrameColumn(days if (np.isnat(moments) | (days == moments)).all() else moments), lost
    if kinds <= {Kind.NUMBER}:
        is_number = span.kinds == Kind.NUMBER
        return FrameColumn(span.numbers if is_number.all() else np.where(is_number, span.numbers, np.nan)), 0
    return _mixed(span, pool, date_1904=sheet.date_1904)


def moments_of(serials: NDArray[np.float64], *, date_1904: bool) -> NDArray[Any]:
    """Return date serials as datetime64[ms] by the rules of `core.values.from_serial`.

    NaT where it gives none.
    """
    stop = SERIALS_STOP - DAYS_BETWEEN_SYSTEMS if date_1904 else SERIALS_STOP
    with np.errstate(invalid="ignore"):
        known = (serials >= 0) & (serials < stop)
    counted = np.where(known, serials, 0.0)
    days = np.floor(counted)
    milliseconds = np.rint((counted - days) * _DAY_MS).astype(np.int64)
    whole = days.astype(np.int64)
    known &= whole + milliseconds // _DAY_MS < stop
    whole += 0 if date_1904 else whole < 60
    epoch = np.datetime64("1904-01-01" if date_1904 else "1899-12-30", "ms")
    moments = epoch + (whole * _DAY_MS + milliseconds).astype("timedelta64[ms]")
    moments[~known] = np.datetime64("NaT")
    return np.asarray(moments)


def _mixed(span: Column, pool: Pool, *, date_1904: bool) -> tuple[FrameColumn, int]:
    """Return cells of several kinds, all as text.

    Numbers in full, dates ISO, TRUE and FALSE.
    """
    codes = np.full(len(span.kinds), -1, np.int32)
    strings: list[str] = []
    lost = 0
    for kind in (Kind.NUMBER, Kind.DATE, Kind.BOOLEAN, Kind.TEXT):
        rows = np.flatnonzero(span.kinds == kind)
        values = span.codes[rows] if kind == Kind.TEXT else span.numbers[rows]
        used, places_ = np.unique(values, return_inverse=True)
        if kind == Kind.TEXT:
            texts: list[str | None] = FrameColumn(used, pool).array().tolist()
        else:
            texts = [_value_text(kind, value, date_1904=date_1904) for value in used.tolist()]
        kept = np.array([-1 if text is None else len(strings) + at for at, text in enumerate(texts)], np.int32)
        strings += [text or "" for text in texts]
        codes[rows] = kept[places_]
        lost += int(np.count_nonzero(codes[rows] < 0))
    return FrameColumn(codes, pool_of(strings)), lost


def _value_text(kind: Kind, value: float, *, date_1904: bool) -> str | None:
    if kind == Kind.BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == Kind.NUMBER:
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    moment = from_serial(value, date_1904=date_1904)
    return None if moment is None else _iso(value, moment)


def _iso(serial: float, moment: datetime) -> str:
    if 0 < serial < 1:
        return moment.time().isoformat()  # a time of no day
    is_day = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return moment.date().isoformat() if is_day else moment.isoformat()


def _display_value(sheet: Sheet, row: int, column: int) -> Any:
    """Return one cell for a reader: a date as it is written in ISO."""
    value = sheet.value(row, column)
    if isinstance(value, float) and sheet.kind(row, column) == Kind.DATE:
        moment = from_serial(value, date_1904=sheet.date_1904)
        return value if moment is None else _iso(value, moment)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return ("TRUE" if value else "FALSE") if isinstance(value, bool) else value


def html_of(sheet: Sheet) -> str:
    """Return the first and the last rows of a sheet under the letters of its columns."""
    columns = range(min(COLUMNS_SHOWN, sheet.column_count))
    rows = [
        None if row is None else [str(row + 1), *(_display_value(sheet, row, at) for at in columns)]
        for row in places(sheet.row_count)
    ]
    lines = [left_out(sheet.row_count, "rows")]
    if sheet.column_count > COLUMNS_SHOWN:
        lines.append(f"{sheet.column_count - COLUMNS_SHOWN:,} more columns are not shown")
    tables = [table(["", *map(column_name, columns)], rows)] if rows else []
    return card(repr(sheet), lines, *tables)
