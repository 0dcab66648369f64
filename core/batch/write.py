"""The table of a batch as a file: Parquet, CSV or JSON lines.

The same rows make the same bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np

from core.batch.table import COLUMNS, ResultRow
from core.frames.frame import Frame, FrameColumn, number_column, text_column

Format = Literal["parquet", "csv", "jsonl"]

ROWS_A_GROUP: Final = 65_536
"""Rows of a Parquet row group: what is in memory at a time."""

_DAYS: Final = frozenset(("as_of",))
_BOOLEANS: Final = frozenset(("agrees", "doubtful"))
_NUMBERS: Final = frozenset(
    ("value", "limit", "cushion", "cushion_pct", "low", "high", "published", "published_limit", "difference")
)


def write_rows(path: Path, rows: Iterable[ResultRow], form: Format) -> int:
    """Write the rows to a file, one group at a time, and return how many there are.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe in front.

    Raises:
        OSError: it cannot be written.
        ImportError: pyarrow is not installed, which writes Parquet.
    """
    return _WRITERS[form](path, iter(rows))


def _write_jsonl(path: Path, rows: Iterator[ResultRow]) -> int:
    encoder, count = msgspec.json.Encoder(), 0
    with path.open("wb") as file:
        for row in rows:
            file.write(encoder.encode(row) + b"\n")
            count += 1
    return count


def _write_csv(path: Path, rows: Iterator[ResultRow]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow(map(_cell, msgspec.structs.astuple(row)))
            count += 1
    return count


def _cell(value: Any) -> str:
    """Return a value as CSV has it; blank for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return guarded(value)
    return repr(value)


def guarded(text: str) -> str:
    """Return a text of a CSV, with an apostrophe in front of a formula.

    What a spreadsheet would take for one stays text.
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _write_parquet(path: Path, rows: Iterator[ResultRow]) -> int:
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import parquet

    schema = pyarrow.schema([pyarrow.field(name, _type_of(name)) for name in COLUMNS])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, ROWS_A_GROUP)):
            # As an Arrow stream: pyarrow.table imports pandas, which takes a second.
            stream = pyarrow.RecordBatchReader.from_stream(_frame_of(group))
            writer.write_table(stream.read_all().cast(schema))
            count += len(group)
    return count


def _frame_of(rows: list[ResultRow]) -> Frame:
    columns = zip(*map(msgspec.structs.astuple, rows), strict=True)
    return Frame({name: _column(name, values) for name, values in zip(COLUMNS, columns, strict=True)}, len(rows))


def _column(name: str, values: Sequence[Any]) -> FrameColumn:
    if name in _NUMBERS:
        return number_column(values)
    if name in _DAYS:
        return FrameColumn(np.array(values, "datetime64[D]"))
    if name in _BOOLEANS:
        present = np.array([value is not None for value in values], np.bool_)
        return FrameColumn(np.array([bool(value) for value in values], np.bool_), valid=present)
    return text_column(values)


def _type_of(name: str) -> Any:
    """Return the Arrow type of a column."""
    import pyarrow

    if name in _NUMBERS:
        return pyarrow.float64()
    if name in _DAYS:
        return pyarrow.date32()
    return pyarrow.bool_() if name in _BOOLEANS else pyarrow.string()


_WRITERS: Final[dict[Format, Callable[[Path, Iterator[ResultRow]], int]]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}
