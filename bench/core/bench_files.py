"""How long a million-cell .xlsx takes to become stored columns, beside calamine on the same file in the same run.

Two files of 100,000 rows and ten columns, one of them formulas: `tape` looks like a trustee's (ids, repeated names,
short figures, dates); `dense` has seventeen digits in every number and no text twice, the worst that a parser can meet.
Answers first: every cell against calamine's, every formula against what was written, from the stored file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import python_calamine

from bench.figures import Figure, median_seconds, paired_seconds
from core.files.isolate import parse_isolated
from core.files.read import probe, read, sheets_of
from core.files.write import Formula, write_workbook_rows
from core.grid.codec import open_sheet, write_workbook
from core.values import Kind, from_serial

ROWS = 100_000
REPEATS = 5
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
    """Every cell as calamine has it, every formula as it was written; read back from the stored file."""
    stored(path, folder)
    sheet = open_sheet(folder / "sheet-0.safetensors")
    strings = sheet.text.strings()
    theirs = calamine(path)
    assert (sheet.row_count, sheet.column_count) == (len(theirs), len(theirs[0])) == (rows, 10)
    for at, column in enumerate(sheet.columns):
        assert column is not None
        ours = zip(column.kinds.tolist(), column.numbers.tolist(), column.codes.tolist(), strict=True)
        for row, (kind, number, code) in enumerate(ours):
            value = strings[code] if kind == Kind.TEXT else moment(number) if kind == Kind.DATE else number
            assert value == theirs[row][at], (row, at, value, theirs[row][at])
    assert len(sheet.formulas) == rows
    assert sheet.formula(rows - 1, 9) in (f"D{rows}*E{rows}/100", f"A{rows}+B{rows}")


def moment(serial: float) -> date | datetime | None:
    found = from_serial(serial)
    return found.date() if found is not None and serial == int(serial) else found


def run() -> list[Figure]:
    """Both files: to stored columns here and in the child, probed here and there, opened again."""
    with tempfile.TemporaryDirectory() as folder:
        return [figure for make in (tape, dense) for figure in _figures(make, Path(folder))]


def _figures(make: Callable[[int], Rows], folder: Path) -> list[Figure]:
    path, out = folder / f"{make.__name__}.xlsx", folder / make.__name__
    out.mkdir()
    write_workbook_rows(path, {"Loans": make(ROWS)})
    check(path, folder, ROWS)
    ours, peer = paired_seconds(lambda: stored(path, folder), lambda: calamine(path), repeats=REPEATS)
    inside = median_seconds(lambda: parse_isolated(path, out), repeats=REPEATS)
    looked = median_seconds(lambda: sheets_of(path), repeats=REPEATS)
    probed = median_seconds(lambda: probe(path), repeats=REPEATS)
    sheet = folder / "sheet-0.safetensors"
    opened, copied = paired_seconds(lambda: open_sheet(sheet), sheet.read_bytes, repeats=4 * REPEATS)
    name, calls = f"files, {make.__name__} of {ROWS * 10:,} cells", "calamine open + to_python"
    return [
        Figure(name=f"{name}: to stored columns", seconds=ours, peer=calls, peer_seconds=peer, ratio_least=RATIO_LEAST),
        Figure(name=f"{name}: the same in a child", seconds=inside, peer=calls, peer_seconds=peer),
        Figure(name=f"{name}: probed", seconds=looked, peer=calls, peer_seconds=peer),
        Figure(name=f"{name}: probed in a child", seconds=probed, peer=calls, peer_seconds=peer),
        Figure(name=f"{name}: checked and mapped", seconds=opened, peer="its bytes read", peer_seconds=copied),
    ]


def main() -> None:
    """Print the figures."""
    for figure in run():
        ratio = f"{figure.ratio:6.2f} x {figure.peer}" if figure.ratio is not None else ""
        print(f"{figure.name:<50} {figure.seconds * 1000:9.1f} ms {ratio}")


if __name__ == "__main__":
    main()
