"""Named columns of one length, and what they become.

Arrow (without any package), pandas, polars, pyarrow.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.frames._arrow import gathered, schema_of, stream_of
from core.frames.brief import missing
from core.words import counted

if TYPE_CHECKING:
    import polars

Pool = tuple[NDArray[np.int64], NDArray[np.uint8]]
"""Strings as UTF-8 end to end: (offsets, data), string `i` is `data[offsets[i]:offsets[i + 1]]`."""

ArrowColumn = tuple[bytes, bytes, int, tuple[NDArray[Any] | None, ...]]
"""Its name, its format, how many nulls it has, and its buffers; None for one that is left out."""

_FORMATS: Final = {
    "float64": b"g", "int64": b"l", "uint8": b"C", "bool": b"b", "datetime64[D]": b"tdD", "datetime64[ms]": b"tsm:",
}  # fmt: skip
"""The names that Arrow has for the types of columns; text is b"U": UTF-8 with offsets of 64 bits."""


@dataclass(frozen=True, slots=True, repr=False)
class FrameColumn:
    """One column. NaN and NaT are null, and where `valid` is given what it denies."""

    values: NDArray[Any]
    """Numbers, booleans, days or moments; of text the codes into `pool`, -1 for null."""
    pool: Pool | None = None
    valid: NDArray[np.bool_] | None = None

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not null."""
        if self.valid is not None:
            return self.valid
        if self.pool is not None:
            return np.asarray(self.values >= 0)
        if self.values.dtype.kind == "f":
            return np.asarray(~np.isnan(self.values))
        is_time = self.values.dtype.kind == "M"
        return np.asarray(~np.isnat(self.values)) if is_time else np.ones(len(self.values), np.bool_)

    def array(self) -> NDArray[Any]:
        """For NumPy: numbers and booleans as they are, days and moments as datetime64 with NaT, text as objects with
        None; whole numbers with nulls as float64 with NaN, booleans with nulls as objects with None."""
        if self.pool is not None:
            return self._texts(self.values)
        if self.valid is None or self.valid.all():
            return self.values
        is_boolean = self.values.dtype.kind == "b"
        objects = self.values.astype(object if is_boolean else np.float64)
        objects[~self.valid] = None if is_boolean else np.nan
        return objects

    def taken(self, rows: NDArray[np.int64]) -> list[Any]:
        """Return the values of rows: None for null, `date`, `datetime` for moments."""
        if self.pool is not None:
            return list(self._texts(self.values[rows]))
        part = FrameColumn(self.values[rows], None, None if self.valid is None else self.valid[rows])
        return [
            value if is_there else None for value, is_there in zip(part.values.tolist(), part.present(), strict=True)
        ]

    def _texts(self, codes: NDArray[np.int32]) -> NDArray[Any]:
        """Strings by codes, each distinct one made once."""
        assert self.pool is not None
        offsets, data = self.pool
        used, places = np.unique(codes, return_inverse=True)
        strings: NDArray[Any] = np.empty(len(used), object)
        bytes_ = data.data
        for at, code in enumerate(used.tolist()):
            strings[at] = str(bytes_[offsets[code] : offsets[code + 1]], "utf-8", "replace") if code >= 0 else None
        texts: NDArray[Any] = strings[places]
        return texts

    def arrow(self, name: str) -> ArrowColumn:
        """Return the column as Arrow lays it out.

        The array itself where it is contiguous, and a bitmap where it has nulls.
        """
        present = self.present()
        nulls = len(present) - int(np.count_nonzero(present))
        bitmap = np.packbits(present, bitorder="little") if nulls else None
        called = name.replace("\x00", "").encode(errors="replace")
        if self.pool is not None:
            offsets, data = gathered(np.ascontiguousarray(self.values, np.int32), *_check(self.values, self.pool))
            return called, b"U", nulls, (bitmap, offsets, data)
        values = self.values
        kind = _FORMATS[str(values.dtype)]
        if kind == b"b":
            values = np.packbits(values, bitorder="little")
        elif kind == b"tdD":
            values = np.where(present, values.astype(np.int64), 0).astype(np.int32)
        return called, kind, nulls, (bitmap, np.ascontiguousarray(values))


def _check(codes: NDArray[np.int32], pool: Pool) -> Pool:
    """Return a pool as what reads it trusts it.

    Codes within it, offsets that rise, and text that is UTF-8, since a stream's consumer looks at neither.
    """
    offsets, data = np.ascontiguousarray(pool[0], np.int64), np.ascontiguousarray(pool[1], np.uint8)
    is_whole = len(offsets) and offsets[0] == 0 and offsets[-1] <= len(data) and (np.diff(offsets) >= 0).all()
    if not is_whole or (len(codes) and int(codes.max()) >= len(offsets) - 1):
        raise ValueError("a column of text is damaged")
    data = data[: offsets[-1]]
    if data.max(initial=0) >= 0x80:
        starts = data[offsets[:-1][np.diff(offsets) > 0]]
        str(data.data, "utf-8")
        if ((starts & 0xC0) == 0x80).any():
            raise ValueError("a column of text is damaged")
    return offsets, data


def pool_of(strings: Sequence[str]) -> Pool:
    """Return the pool of strings; what is no valid Unicode becomes "?"."""
    parts = [string.encode(errors="replace") for string in strings]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return offsets, np.frombuffer(b"".join(parts), np.uint8)


class TextRows:
    """A column of text made in parts, each string stored once; "" is null."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._parts: list[NDArray[np.int32]] = []

    def extend(self, strings: Sequence[str | None]) -> None:
        """More rows."""
        codes = self._codes
        part = (codes.setdefault(text, len(codes)) if text else -1 for text in strings)
        self._parts.append(np.fromiter(part, np.int32, len(strings)))

    def column(self) -> FrameColumn:
        """All rows."""
        rows = np.concatenate([np.zeros(0, np.int32), *self._parts])
        return FrameColumn(rows, pool_of([*self._codes]))


def text_column(strings: Sequence[str | None]) -> FrameColumn:
    """Return a column of strings; None and "" are null."""
    rows = TextRows()
    rows.extend(strings)
    return rows.column()


def number_column(values: Sequence[float | None]) -> FrameColumn:
    """Return a column of numbers, None for null."""
    return FrameColumn(np.array([np.nan if value is None else value for value in values], np.float64))


def day_column(days: NDArray[np.float64]) -> FrameColumn:
    """Return a column of days from days since 1970-01-01, NaN for null.

    What no calendar has is null.
    """
    with np.errstate(invalid="ignore"):
        known = (days >= _DAYS_LEAST) & (days < _DAYS_STOP)
    whole = np.floor(np.where(known, days, 0.0)).astype(np.int64).astype("datetime64[D]")
    whole[~known] = np.datetime64("NaT")
    return FrameColumn(whole)


_DAYS_LEAST: Final = -719_162
_DAYS_STOP: Final = 2_932_897
"""Days since 1970-01-01 of the first day of the year 1 and of the day after the year 9999, which `date` has not."""


class Framed:
    """What an object with columns gives.

    to_pandas, to_polars, to_arrow, and Arrow's stream for whoever takes it (`polars.DataFrame(one)`,
    `pyarrow.table(one)`, DuckDB, narwhals).
    """

    __slots__ = ()

    def frame(self) -> Frame:
        """Return the columns."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame.

        Days and moments as datetime64, what is said of the whole in `attrs`.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.frame().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame: days as Date, moments as Datetime.

        Raises:
            ImportError: polars is not installed.
        """
        return self.frame().to_polars()

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table.

        Days as date32, what is said of the whole as JSON under `cushion` in the schema's metadata.

        Raises:
            ImportError: pyarrow is not installed.
        """
        return self.frame().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the columns by the Arrow PyCapsule interface, in one batch.

        Numbers share the object's memory. A schema that is asked for changes nothing, as the interface allows.
        """
        return self.frame().stream()

    def __arrow_c_schema__(self) -> object:
        """Their names and types by the same."""
        return self.frame().schema()


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Frame(Framed):
    """Columns by name, in order, with what is to be said of them all."""

    columns: Mapping[str, FrameColumn]
    row_count: int
    attrs: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON."""

    def frame(self) -> Frame:
        """Itself."""
        return self

    def __len__(self) -> int:
        return self.row_count

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One column as an array (see `FrameColumn.array`).

        Raises:
            KeyError: there is none of the name; the message has what is near.
        """
        if name not in self.columns:
            raise missing("column", name, self.columns)
        return self.columns[name].array()

    def __repr__(self) -> str:
        return f"Frame({counted(self.row_count, 'row')}, {counted(len(self.columns), 'column')})"

    def to_pandas(self) -> Any:
        """See `Framed.to_pandas`."""
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise _absent("to_pandas", "pandas") from error
        columns = {name: _for_pandas(pandas, column) for name, column in self.columns.items()}
        data_frame = pandas.DataFrame(columns, index=pandas.RangeIndex(self.row_count))
        data_frame.attrs.update(self.attrs)
        return data_frame

    def to_polars(self) -> polars.DataFrame:
        """See `Framed.to_polars`."""
        try:
            import polars
        except ImportError as error:
            raise _absent("to_polars", "polars") from error
        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """See `Framed.to_arrow`."""
        try:
            import pyarrow  # type: ignore[import-untyped]
        except ImportError as error:
            raise _absent("to_arrow", "pyarrow") from error
        return pyarrow.table(self)

    def stream(self) -> object:
        """Return the capsule of an ArrowArrayStream."""
        columns = [column.arrow(name) for name, column in self.columns.items()]
        return stream_of(columns, self.row_count, self._metadata())

    def schema(self) -> object:
        """Return the capsule of an ArrowSchema."""
        first = np.zeros(0, np.int64)
        columns = [
            FrameColumn(column.values[first], column.pool, None if column.valid is None else column.valid[first]).arrow(
                name
            )
            for name, column in self.columns.items()
        ]
        return schema_of(columns, self._metadata())

    def _metadata(self) -> bytes | None:
        if not self.attrs:
            return None
        key, value = b"cushion", json.dumps(dict(self.attrs)).encode()
        return struct.pack(f"=ii{len(key)}si{len(value)}s", 1, len(key), key, len(value), value)


def _for_pandas(pandas: Any, column: FrameColumn) -> Any:
    """Return a column's values.

    Days by the second, booleans and whole numbers with nulls as pandas' own arrays of these.
    """
    values = column.array()
    if column.valid is not None and values is not column.values:
        return pandas.array(values, dtype={"b": "boolean", "u": "UInt8", "i": "Int64"}[column.values.dtype.kind])
    return values.astype("datetime64[s]") if values.dtype == np.dtype("datetime64[D]") else values


def _absent(method: str, package: str) -> ImportError:
    return ImportError(f"{method} needs {package}, which is not installed: pip install 'cushion[frames]'")
