"""How long a million-cell .xlsx takes to become stored columns, beside calamine on the same file in the same run.

Two files of 100,000 rows and ten columns, one of them formulas: `tape` looks like a trustee's (ids, repeated names,
short figures, dates); `dense` has seventeen digits in every number and no text twice, the worst that a parser can meet.
Answers first: every cell against calamine's, every formula against what was written, from the stored file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import fastexcel
import numpy as np
import openpyxl
import polars as pl
import python_calamine

from bench.questions import OURS, Prepared, Question, Work, timed_once
from bench.rows import asked
from core.files.isolate import parse_isolated
from core.files.read import probe, read, sheets_of
from core.files.write import Formula, write_workbook_rows
from core.grid.codec import open_sheet, write_workbook
from core.values import Kind, from_serial

ROWS = 100_000
REPEATS, SLOW_TURNS = 5, 2
RATIO_LEAST = 1 / 1.5
"""Reading into stored columns may take 1.5 times calamine's open + to_python."""

Rows = Iterator[list[Any]]


def tape(rows: int) -> Rows:
    """A trustee's tape."""
    chance = np.random.default_rng(17)
    par, price = chance.integers(100, 9_000, rows) * 1000.0, chance.integers(8_000, 10_100, rows) / 100
    obligor, rating = chance.integers(0, rows // 50 + 1, rows), chance.integers(0, 17, rows)
    first = date(2027, 1, 1)
    for at in range(rows):
        cells: list[Any] = [
            f"LX{at:07d}",
            f"Obligor {obligor[at]} Holdings, Inc.",
            "First Lien Senior Secured",
            float(par[at]),
            float(price[at]),
        ]
        cells += [f"B{rating[at]}", first + timedelta(days=int(at % 2_500)), at % 5 == 0, 0.0425]
        yield [*cells, Formula(f"D{at + 1}*E{at + 1}/100", float(par[at] * price[at] / 100))]


def dense(rows: int) -> Rows:
    """Nothing twice, every digit used."""
    numbers = np.random.default_rng(18).random((rows, 9)) * 1e6
    for at in range(rows):
        cells: list[Any] = [float(value) for value in numbers[at, :7]]
        yield [
            *cells,
            f"text {numbers[at, 7]}",
            f"T-{numbers[at, 8]}",
            Formula(f"A{at + 1}+B{at + 1}", float(numbers[at, 0] + numbers[at, 1])),
        ]


def calamine(path: Path) -> list[list[Any]]:
    """The peer: open, and every cell as a Python object."""
    return python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()


def stored(path: Path, folder: Path) -> None:
    """Ours: the file to stored columns."""
    write_workbook(read(path), folder)


def check(path: Path, folder: Path, rows: int) -> None:
    """Every cell as calamine has it, every formula as it was written.

    Read back from the stored file; of a million rows each tenth.
    """
    checked = range(0, rows, max(1, rows // ROWS))
    stored(path, folder)
    sheet = open_sheet(folder / "sheet-0.safetensors")
    strings = sheet.text.strings()
    theirs = calamine(path)
    assert (sheet.row_count, sheet.column_count) == (len(theirs), len(theirs[0])) == (rows, 10)
    for at, column in enumerate(sheet.columns):
        assert column is not None
        parts = (each[:: checked.step].tolist() for each in (column.kinds, column.numbers, column.codes))
        for row, kind, number, code in zip(checked, *parts, strict=True):
            value = strings[code] if kind == Kind.TEXT else moment(number) if kind == Kind.DATE else number
            assert value == theirs[row][at], (row, at, value, theirs[row][at])
    assert len(sheet.formulas) == rows
    assert sheet.formula(rows - 1, 9) in (f"D{rows}*E{rows}/100", f"A{rows}+B{rows}")


def moment(serial: float) -> date | datetime | None:
    instant = from_serial(serial)
    return instant.date() if instant is not None and serial == int(serial) else instant


class _Written(NamedTuple):
    """A file, and where what is read of it goes."""

    path: Path
    folder: Path
    out: Path


@contextmanager
def _file(make: Callable[[int], Rows]) -> Iterator[_Written]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = _Written(folder / "book.xlsx", folder, folder / "out")
        case.out.mkdir()
        write_workbook_rows(case.path, {"Loans": make(ROWS)})
        check(case.path, folder, ROWS)
        yield case


def _stored(file: _Written) -> Prepared:
    seconds = check_peers(file.path)
    others: dict[str, Any] = {name: partial(work, file.path) for name, work in READERS.items()} | {OPENPYXL: seconds}
    return Prepared(works={OURS: partial(stored, file.path, file.folder)} | others)


def _beside_calamine(work: Callable[[_Written], Any], file: _Written) -> Prepared:
    return Prepared(works={OURS: partial(work, file), CALAMINE: Work(partial(calamine, file.path), turns=SLOW_TURNS)})


def _mapped(file: _Written) -> Prepared:
    sheet = file.folder / "sheet-0.safetensors"
    stored(file.path, file.folder)
    return Prepared(works={OURS: partial(open_sheet, sheet), ITS_BYTES: sheet.read_bytes})


def by_fastexcel(path: Path) -> pl.DataFrame:
    """A frame of the sheet, by calamine into Arrow."""
    return fastexcel.read_excel(path).load_sheet(0, header_row=None).to_polars()


def by_openpyxl(path: Path) -> list[tuple[Any, ...]]:
    """Every value as a Python object, read-only and without formulas."""
    with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
        return list(book.worksheets[0].values)


CALAMINE, OPENPYXL, ITS_BYTES = "calamine", "openpyxl", "its bytes read"
READERS: dict[str, Callable[[Path], Any]] = {CALAMINE: calamine, "fastexcel": by_fastexcel}


def check_peers(path: Path) -> list[float]:
    """fastexcel and openpyxl against calamine, which ours was compared with.

    Sizes, and each numeric column's sum. What openpyxl took: some ten seconds.
    """
    rows, frame = calamine(path), by_fastexcel(path)
    values, seconds = timed_once(partial(by_openpyxl, path))
    assert frame.shape == (len(rows), len(rows[0])) == (len(values), len(values[0]))
    for at, first in enumerate(rows[0]):
        if isinstance(first, float):
            total = sum(row[at] for row in rows)
            assert abs(sum(row[at] for row in values) - total) <= 1e-9 * abs(total), at
            assert abs(frame[:, at].sum() - total) <= 1e-9 * abs(total), at
    return seconds


def _questions(name: str, data: Callable[[], AbstractContextManager[_Written]]) -> list[Question]:
    whole = f"files, {name} of {ROWS * 10:,} cells"
    ours = {
        "the same in a child": lambda file: parse_isolated(file.path, file.out),
        "probed": lambda file: sheets_of(file.path, file.path.name),
        "probed in a child": lambda file: probe(file.path),
    }
    return [
        Question(
            name=f"{whole}: to stored columns", data=data, prepare=_stored, peers=(*READERS, OPENPYXL), repeats=REPEATS,
            ratio_least={CALAMINE: RATIO_LEAST},
        ),
        *(
            Question(
                name=f"{whole}: {how}", data=data, prepare=partial(_beside_calamine, work), peers=(CALAMINE,),
                repeats=REPEATS, quick=(name, how) == ("tape", "probed"),
            )
            for how, work in ours.items()
        ),
        Question(
            name=f"{whole}: checked and mapped", data=data, prepare=_mapped, peers=(ITS_BYTES,), repeats=4 * REPEATS,
        ),
    ]  # fmt: skip


bench_files = asked(*_questions("tape", partial(_file, tape)), *_questions("dense", partial(_file, dense)))
