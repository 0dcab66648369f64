"""How long a million cells take to become an .xlsx file, beside XlsxWriter and the bindings of rust_xlsxwriter.

Both files of `bench_files`, from memory: ours has columns, as a stored workbook has; the peers have the same cells as
Python's own values, which is what they take. Answers first: the file is read back and compared cell by cell.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rustpy_xlsxwriter
import xlsxwriter

from bench.core.bench_files import Rows, dense, tape
from bench.questions import OURS, Prepared, Question, Work
from bench.rows import asked
from core.files.read import read
from core.files.write import Formats, Formula, SheetPage, sheet_of, write_xlsx
from core.grid.sheet import Sheet

ROWS = 100_000
REPEATS = 5
XLSXWRITER, RUST = "XlsxWriter", "rust_xlsxwriter"
FILES = {OURS: "ours.xlsx", RUST: "rust.xlsx"}
RATIO_LEAST = 5.0
"""XlsxWriter may take five times as long at least."""


def ours(path: Path, sheet: Sheet, formats: Formats) -> None:
    """Columns to a file: headings styled and frozen, widths by the cells."""
    write_xlsx(path, [SheetPage("Loans", sheet, header_row=0, frozen=(1, 0))], number_formats=formats)


def by_xlsxwriter(path: Path, rows: list[list[Any]]) -> None:
    """The peer at its fastest: no types guessed, rows given up as they are written."""
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        page = book.add_worksheet("Loans")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        text, number, boolean = page.write_string, page.write_number, page.write_boolean
        for row, cells in enumerate(rows):
            for column, value in enumerate(cells):
                kind = type(value)
                if kind is str:
                    text(row, column, value)
                elif kind is float:
                    number(row, column, value)
                elif kind is bool:
                    boolean(row, column, value)
                elif kind is date:
                    page.write_datetime(row, column, value, day)
                else:
                    page.write_formula(row, column, value.text, None, value.value)


def by_rust(path: Path, records: list[dict[str, Any]]) -> None:
    """The bindings of rust_xlsxwriter.

    They take no formula with its value, so these cells are its values alone.
    """
    rustpy_xlsxwriter.write_worksheet(records, str(path), "Loans")


def check(path: Path, sheet: Sheet) -> None:
    """Every cell and formula as it was in memory."""
    copy = read(path).sheets[0]
    assert (copy.row_count, copy.column_count) == (sheet.row_count, sheet.column_count)
    for mine, theirs in zip(sheet.columns, copy.columns, strict=True):
        assert mine is not None
        assert theirs is not None
        assert np.array_equal(mine.kinds, theirs.kinds)
        assert np.array_equal(mine.numbers, theirs.numbers)
    last = sheet.row_count - 1
    for row in range(0, sheet.row_count, 97):
        assert [copy.value(row, at) for at in range(10)] == [sheet.value(row, at) for at in range(10)]
        assert copy.formula(row, 9) == sheet.formula(row, 9)
    assert copy.formula(last, 9) == sheet.formula(last, 9)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _written(make: Callable[[int], Rows], folder: Path) -> Prepared:
    formats = Formats()
    rows = list(make(ROWS))
    sheet = sheet_of(rows, formats)
    records = [
        {str(at): value.value if isinstance(value, Formula) else value for at, value in enumerate(cells)}
        for cells in rows
    ]
    works = {
        OURS: partial(ours, folder / "ours.xlsx", sheet, formats),
        RUST: partial(by_rust, folder / "rust.xlsx", records),
    }
    for work in works.values():
        work()
    check(folder / "ours.xlsx", sheet)
    sizes = ", ".join(f"{name} {(folder / file).stat().st_size / 1e6:.1f} MB" for name, file in FILES.items())
    theirs = Work(partial(by_xlsxwriter, folder / "theirs.xlsx", rows), turns=1)  # eight seconds
    return Prepared(works={OURS: works[OURS], XLSXWRITER: theirs, RUST: works[RUST]}, note=sizes)


bench_writing = asked(
    *(
        Question(
            name=f"writing, {make.__name__} of {ROWS * 10:,} cells", data=_folder, prepare=partial(_written, make),
            peers=(XLSXWRITER, RUST), repeats=REPEATS, ratio_least={XLSXWRITER: RATIO_LEAST},
        )
        for make in (tape, dense)
    )
)  # fmt: skip
