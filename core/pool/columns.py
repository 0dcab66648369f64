"""The columns of a record batch as typed columns of loans."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.pool._obligors import appearing
from core.pool.source import PoolField, PoolRefused
from core.portfolio.assemble.columns import FIELD_TYPES, TEXT_BYTES_MAX, day_number, read_text_pair
from core.portfolio.cells import text_cells
from core.portfolio.cells.loans import Loans, put_column, rating_words, with_masks
from core.portfolio.cells.string_pool import spread_out
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn, text_column
from core.portfolio.model import ratings
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import Lien
from core.words import counted

WORDS_MAX: Final = 1_000_000
"""Distinct texts of a column of few texts among the loans that are read at once."""

LAST_DAY: Final = 2_932_896
"""9999-12-31 in days since 1970."""

FIRST_DAY: Final = -719_162
"""0001-01-01."""


class Words(NamedTuple):
    """What the words of a column of ratings mean by all loans."""

    is_on_another_scale: bool = False
    masks: frozenset[str] = frozenset()
    """Words of the file's own that stand for masked ratings."""


def put(loans: Loans, field: PoolField, column: Any, words: Words) -> dict[str, int]:
    """Give the loans a column of a record batch.

    Args:
        column: an array of Arrow; None is blank.

    Returns:
        Of a column of ratings the rows of each word.

    Raises:
        PoolRefused: a value does not fit the field.
    """
    target, kind = field.target, field.kind
    if kind == "blank" or column is None or column.type.id == _NULL:
        _put_blank(loans, field)
    elif kind == "rank":
        loans.ranks[target] = _bytes(column, 0, ratings.DEFAULTED, f"{field.heading}: a rank")
    elif kind == "lien":
        loans.lien = _bytes(column, min(Lien), max(Lien), f"{field.heading}: a lien")
    elif kind == "text":
        text = _few_texts(field, column)
        if target in ratings.AGENCY_OF:
            return _put_rating(loans, target, text, words)
        put_column(loans, target, text_column(text))
    elif kind == "flag":
        flags = _flags(field, column)
        if target == "is_fixed":
            loans.coupon_fixed = flags.astype(np.int8)
        else:
            loans.flags[target] = flags
    else:
        values = _days(field, column) if kind == "date" else _numbers(field, column)
        put_column(loans, target, NormalColumn(kind, values))
    return {}


_NULL: Final = 0
"""Arrow's number of the type of a column that holds nulls alone."""


def _put_blank(loans: Loans, field: PoolField) -> None:
    """Give the loans a column without a value."""
    target, field_type, rows = field.target, FIELD_TYPES[field.target], loans.row_count
    if field.kind == "rank":
        loans.ranks[target] = np.zeros(rows, np.uint8)
    elif field.kind == "lien":
        loans.lien = np.zeros(rows, np.uint8)
    elif field_type == "string":
        blank = TextColumn(np.full(rows, -1, np.int32), text_cells.NO_TEXT)
        if target in ratings.AGENCY_OF:
            loans.texts[target], loans.ranks[target] = blank, np.zeros(rows, np.uint8)
        else:
            put_column(loans, target, text_column(blank))
    elif target == "is_fixed":
        loans.coupon_fixed = np.zeros(rows, np.int8)
    elif field_type == "boolean":
        put_column(loans, target, NormalColumn("boolean", np.zeros(rows)))
    else:
        put_column(loans, target, NormalColumn(field_type, np.full(rows, np.nan)))


def numbers_of(column: Any) -> NDArray[np.float64]:
    """Return a column of numbers as doubles, NaN where it is null."""
    import pyarrow  # type: ignore[import-untyped]

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not types.is_float64(column.type):
        column = column.cast(pyarrow.float64(), safe=False)
    if column.null_count:
        is_given, numbers = column.buffers()
        values = np.frombuffer(numbers, np.float64)[column.offset : column.offset + len(column)].copy()
        values[_bits(column, is_given) == 0] = np.nan  # `to_numpy` takes three times as long
        return values
    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False), np.float64)


def _bits(column: Any, buffer: Any) -> NDArray[np.uint8]:
    """Return a buffer of bits of a column, 0 or 1 for each row."""
    bits = np.frombuffer(buffer, np.uint8)
    return np.unpackbits(bits, count=column.offset + len(column), bitorder="little")[column.offset :]


def _numbers(field: PoolField, column: Any) -> NDArray[np.float64]:
    values = numbers_of(column)
    if np.isinf(values).any():
        raise PoolRefused(f"column {field.heading!r} holds an infinite value: leave it blank")
    return values


def _days(field: PoolField, column: Any) -> NDArray[np.float64]:
    """Return dates as days since 1970, by each moment's own clock."""
    import pyarrow
    import pyarrow.compute as compute  # type: ignore[import-untyped]

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        return _written_days(field, column)
    if types.is_timestamp(column.type):
        if column.type.tz is not None:
            column = compute.local_timestamp(column)
        column = compute.floor_temporal(column, unit="day").cast(pyarrow.date32(), safe=False)
    elif types.is_date64(column.type):
        column = column.cast(pyarrow.date32(), safe=False)
    elif not types.is_date32(column.type):
        return _numbers(field, column)
    days = numbers_of(column.cast(pyarrow.int32()))
    if ((days < FIRST_DAY) | (days > LAST_DAY)).any():
        raise PoolRefused(f"column {field.heading!r} holds a day outside of the years 1 to 9999")
    return days


def _written_days(field: PoolField, column: Any) -> NDArray[np.float64]:
    codes, strings = _codes(field, column)
    try:
        table = np.array([*(day_number(field.heading, text) for text in strings), np.nan], np.float64)
    except MappingError as refused:
        raise PoolRefused(str(refused)) from None
    return table[codes]


def _flags(field: PoolField, column: Any) -> NDArray[np.uint8]:
    import pyarrow

    if pyarrow.types.is_boolean(column.type):
        filled = column.fill_null(False) if column.null_count else column
        if not len(filled):
            return np.zeros(0, np.uint8)
        return _bits(filled, filled.buffers()[1])  # a cast takes seven times as long
    values = numbers_of(column)
    if not (np.isnan(values) | (values == 0) | (values == 1)).all():
        raise PoolRefused(f"column {field.heading!r} holds a flag that is neither 0 nor 1")
    return np.asarray(values == 1, np.uint8)


def _bytes(column: Any, least: int, most: int, what: str) -> NDArray[np.uint8]:
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values = (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)
    if len(values) and (values.min() < least or values.max() > most):
        raise PoolRefused(f"column {what} is outside of {least} to {most}")
    return np.ascontiguousarray(values, np.uint8)


def _codes(field: PoolField, column: Any) -> tuple[NDArray[np.int32], list[str | None]]:
    """Return (code of each row, texts); -1 is null."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if len(column.dictionary) > WORDS_MAX:
        raise PoolRefused(
            f"column {field.heading!r} has more than {WORDS_MAX:,} distinct texts among {counted(len(column), 'row')}"
        )
    indices = column.indices
    codes = (indices.fill_null(-1) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    try:
        strings = column.dictionary.to_pylist()
    except UnicodeDecodeError:
        raise PoolRefused(f"column {field.heading!r} holds text that is not valid Unicode") from None
    codes = np.ascontiguousarray(codes, np.int32)
    used = appearing(codes, len(strings))
    if len(used) == len(strings):
        return codes, strings
    place = np.full(len(strings) + 1, -1, np.int32)  # the last for a null
    place[used] = np.arange(len(used), dtype=np.int32)
    return place[codes], [strings[at] for at in used.tolist()]


def _few_texts(field: PoolField, column: Any) -> TextColumn:
    codes, strings = _codes(field, column)
    try:
        words = read_text_pair(field.heading, np.arange(len(strings), dtype=np.int32), strings)
    except MappingError as refused:
        raise PoolRefused(str(refused)) from None
    return TextColumn(spread_out(words.codes, -1, codes), words.text)


def _put_rating(loans: Loans, target: str, text: TextColumn, words: Words) -> dict[str, int]:
    strings = text.text.strings()
    counts = np.bincount(text.codes + 1, minlength=len(strings) + 1)[1:].tolist()
    agency = None if words.is_on_another_scale else ratings.AGENCY_OF[target]
    ranks = np.array([ratings.rank(string, agency) for string in strings], np.uint8)
    loans.ranks[target] = spread_out(ranks, 0, text.codes)
    masks = [at for at, string in enumerate(strings) if string in words.masks]
    loans.texts[target] = with_masks(text, masks) if masks else text
    return dict(zip(strings, counts, strict=True))


def words_of(target: str, counts: dict[str, int]) -> tuple[Words, list[Any]]:
    """Return what a column's words mean by the rows of each, and what is said of it."""
    strings = list(counts)
    read = rating_words(target, strings, list(counts.values()))
    return Words(read.is_on_another_scale, frozenset(strings[at] for at in read.masks)), read.warnings


class RawNames(NamedTuple):
    """A column of names as bytes.

    Row i is name `codes[i]`, -1 blank; name k is `data[offsets[k]:offsets[k + 1]]`.
    """

    codes: NDArray[np.int32] | None
    """None where row i is name i."""
    blank: NDArray[np.bool_] | None
    """Rows without a name, where `codes` is None; None for none."""
    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]


def raw_names(field: PoolField, column: Any) -> RawNames:
    """Return a column of names without a copy of their bytes.

    Raises:
        PoolRefused: a name is longer than a cell, or no valid Unicode.
    """
    import pyarrow

    codes, blank = None, None
    if pyarrow.types.is_dictionary(column.type):
        indices = column.indices
        codes = np.ascontiguousarray(
            (indices.fill_null(-1) if indices.null_count else indices).to_numpy(zero_copy_only=False), np.int32
        )
        column = column.dictionary
    elif column.null_count:
        blank = column.is_null().to_numpy(zero_copy_only=False)
    if not pyarrow.types.is_large_string(column.type):
        column = column.cast(pyarrow.large_string())
    _, offsets_buffer, data_buffer = column.buffers()
    if not len(column):
        return RawNames(codes, blank, np.zeros(1, np.int64), np.zeros(0, np.uint8))
    offsets = np.frombuffer(offsets_buffer, np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    if int(np.diff(offsets).max()) > TEXT_BYTES_MAX:
        raise PoolRefused(f"column {field.heading!r} holds a text longer than {TEXT_BYTES_MAX:,} bytes")
    return RawNames(codes, blank, offsets, data)
