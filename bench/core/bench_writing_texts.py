"""How long 1,000,000 loans with 25 columns take as delimited text and as JSON, beside Python's csv and json and Polars.

Amounts, prices, seventeen-digit factors, days, moments, flags, identifiers of which none comes twice and names that
come often. Answers first: every cell of a smaller sheet as it reads back, against the values that it was made of and
against what the peers write of the same.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.files.write.delimited import Dialect, write_csv
from core.files.write.json import write_json
from core.grid._intern import intern
from core.grid.column import Column, Text
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.values import Kind

ROWS, ROWS_OF_PYTHON, ROWS_CHECKED = 1_000_000, 100_000, 5_000
REPEATS = 3
SIZE_BYTES_MOST = 330e6
RATE_LEAST = 100e6
"""Bytes of a csv in a second."""
FORMATS = ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm")
FIRST = date(2024, 1, 1)
SERIAL = 45_292.0
"""Of `FIRST`."""


class Table:
    """The columns as Polars has them, and as a sheet."""

    def __init__(self, rows: int) -> None:
        chance = np.random.default_rng(14)
        days = chance.integers(0, 2_500, rows)
        names = [f"Obligor {at} Holdings, Inc." for at in range(rows // 50 + 1)]
        words = ["First Lien Senior Secured", "Second Lien", "Senior Unsecured", "Delayed Draw Term Loan"]
        columns: list[tuple[str, Any]] = [
            ("id", [f"LX{at:07d}" for at in range(rows)]),
            ("cusip", [f"{at * 7_919 % 100_000_000:08d}K" for at in range(rows)]),
        ]
        columns += [(f"name{at}", [names[k] for k in chance.integers(0, len(names), rows)]) for at in range(2)]
        columns += [(f"word{at}", [words[k] for k in chance.integers(0, 4, rows)]) for at in range(4)]
        columns += [(f"par{at}", chance.integers(100, 9_000, rows) * 1000.0) for at in range(3)]
        columns += [(f"price{at}", chance.integers(8_000, 10_100, rows) / 100) for at in range(4)]
        columns += [(f"rate{at}", chance.integers(1, 99_999, rows) / 1e6) for at in range(2)]
        columns += [(f"factor{at}", chance.random(rows)) for at in range(2)]
        columns += [(f"day{at}", np.datetime64(FIRST) + np.roll(days, at)) for at in range(3)]
        columns += [("moment", np.datetime64(FIRST, "ms") + days * 86_400_000 + 3_600_000)]
        columns += [(f"flag{at}", np.roll(days, at) % 3 == 0) for at in range(2)]
        self.frame = polars.DataFrame(dict(columns))
        assert self.frame.shape == (rows, 25)
        texts = [text for _, values in columns if isinstance(values, list) for text in values]
        codes, offsets, data = intern(texts)
        parts = iter(codes.reshape(-1, rows))
        cells = tuple(_cells(values, rows, parts) for _, values in columns)
        self.sheet = Sheet("Loans", 0, "visible", cells, rows, Text(offsets, data), no_formulas())
        self.book = Workbook((self.sheet,), number_formats=FORMATS)


def _cells(values: Any, rows: int, parts: Iterator[NDArray[np.int32]]) -> Column:
    kind, numbers, place, codes = Kind.NUMBER, values, 0, np.full(rows, -1, np.int32)
    if isinstance(values, list):
        kind, numbers, codes = Kind.TEXT, np.zeros(rows), next(parts)
    elif values.dtype.kind == "M":
        kind, place = Kind.DATE, 1 if values.dtype == "<M8[D]" else 2
        numbers = SERIAL + (values - np.datetime64(FIRST)) / np.timedelta64(1, "D")
    elif values.dtype == np.bool_:
        kind = Kind.BOOLEAN
    return Column(0, np.full(rows, kind, np.uint8), numbers.astype(np.float64), codes, np.full(rows, place, np.uint16))


def ours(table: Table, path: Path) -> int:
    """Delimited text; its size."""
    with path.open("wb") as file:
        return write_csv(file, table.sheet, FORMATS, dialect=Dialect(encoding="utf-8")).size_bytes


def our_json(table: Table, path: Path) -> int:
    """JSON; its size."""
    with path.open("wb") as file:
        return write_json(file, table.book, name="bench", pretty=False)


def pythons(rows: list[tuple[Any, ...]], path: Path) -> None:
    """The standard library's writer."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def pythons_json(rows: list[tuple[Any, ...]], path: Path) -> None:
    """The standard library's encoder, which knows no dates."""
    with path.open("w", encoding="utf-8") as file:
        json.dump(rows, file, default=str)


def check(folder: Path) -> None:
    """Every cell of a small table as it was made.

    In our text, in our JSON, and as the peers write it.
    """
    table = Table(ROWS_CHECKED)
    rows = table.frame.rows()
    ours(table, folder / "ours.csv")
    pythons(rows, folder / "pythons.csv")
    table.frame.write_csv(folder / "polars.csv", include_header=False)
    our_json(table, folder / "ours.json")
    wanted = [[_plain(value) for value in row] for row in rows]
    for name in ("ours", "pythons", "polars"):
        read = csv.reader(io.StringIO((folder / f"{name}.csv").read_text(encoding="utf-8"), newline=""))
        assert [
            [_parsed(text, value) for text, value in zip(*pair, strict=True)] for pair in zip(read, rows, strict=True)
        ] == wanted, name
    (written,) = json.loads((folder / "ours.json").read_bytes())["sheets"]
    assert written["rows"] == wanted


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


def _parsed(text: str, value: Any) -> Any:
    """A field as a value of the kind that it was written of."""
    if isinstance(value, bool):
        return text.lower() == "true"
    if isinstance(value, datetime):
        return datetime.fromisoformat(text).isoformat()
    return float(text) if isinstance(value, float) else text


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        check(Path(name))
        yield Path(name)


def _beside_polars(folder: Path) -> Prepared:
    table, out = Table(ROWS), folder / "out"
    size = ours(table, out)
    assert size <= SIZE_BYTES_MOST
    theirs = partial(table.frame.write_csv, out, include_header=False)
    return Prepared(works={OURS: partial(ours, table, out), "Polars": theirs}, note=f"{size / 1e6:.0f} MB")


def _beside_python(
    mine: Callable[[Table, Path], int], theirs: Callable[..., None], peer: str, folder: Path
) -> Prepared:
    table, out = Table(ROWS_OF_PYTHON), folder / "out"
    return Prepared(works={OURS: partial(mine, table, out), peer: partial(theirs, table.frame.rows(), out)})


bench_writing_texts = asked(
    Question(
        name=f"writing texts: {ROWS:,} x 25 as csv", data=_folder, prepare=_beside_polars, peers=("Polars",),
        repeats=REPEATS, seconds_most=SIZE_BYTES_MOST / RATE_LEAST,
    ),
    *(
        Question(
            name=f"writing texts: {ROWS_OF_PYTHON:,} x 25 as {kind}", data=_folder,
            prepare=partial(_beside_python, mine, theirs, peer), peers=(peer,), repeats=REPEATS, quick=True,
        )
        for kind, mine, theirs, peer in (
            ("csv", ours, pythons, "csv.writer"), ("JSON", our_json, pythons_json, "json.dump"),
        )
    ),
)  # fmt: skip
