"""How fast a formula becomes a column of 1,000,000 stored loans, file to file, beside Polars and its own file format.

Ours opens the stored sheet, places and calculates the formula of a template, and writes the sheet anew with formulas
and values. Polars maps the same columns from an Arrow file, calculates, and writes all of them. Answers are compared
first, cell by cell. What the service adds is a child process to do it in, and the hash of what was written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.formula.blocks import TEMPLATES, check
from core.grid.codec import WorkbookRecord, open_workbook, write_sheet, write_workbook
from core.recalc.apply import NamedColumns, apply_column
from core.recalc.book import Book
from core.recalc.result import same

ROWS = 1_000_000
SECONDS_MOST = 2.0
RATIO_LEAST = 1.0
RATINGS = ("B1", "B2", "B3", "Caa1", "Caa2", "Ba3")
COLUMNS = ("Id", "Parent Id", "Par", "Price", "Recovery", "Rating", "Name")
NAME = f"a formula as a column of {ROWS:,} stored loans"

WORK: dict[str, tuple[str, Callable[[polars.LazyFrame], polars.LazyFrame]]] = {
    "carrying value": (
        "market_value_carrying",
        lambda loans: loans.with_columns(
            New=polars.col("Par") * polars.min_horizontal("Price", "Recovery") / 100,
        ),
    ),
    "CCC flag": (
        "ccc_flag",
        lambda loans: loans.with_columns(New=polars.col("Rating").str.strip_chars().str.starts_with("Caa")),
    ),
    "lookup of each loan's parent": (
        "lookup",
        lambda loans: loans.join(
            loans.select(polars.col("Id").alias("Parent Id"), polars.col("Name").alias("New")),
            on="Parent Id", how="left", maintain_order="left",
        ).with_columns(polars.col("New").fill_null("")),
    ),
}  # fmt: skip
"""By what it is called: the template, and the same in Polars."""


class _Stored(NamedTuple):
    """The loans in both formats."""

    manifest: WorkbookRecord
    stored: Path
    arrow: Path


@contextmanager
def _stored() -> Iterator[_Stored]:
    with TemporaryDirectory() as name:
        loans, folder = _loans(), Path(name)
        stored, arrow = folder / "stored", folder / "loans.arrow"
        stored.mkdir()
        loans.write_ipc(arrow)
        columns = {chr(65 + at): [name, *loans[name].to_list()] for at, name in enumerate(COLUMNS)}
        manifest = write_workbook(Book.from_columns({"Loans": columns}), stored)
        os.sync()  # or the disk is at work on all that while times count
        yield _Stored(manifest, stored, arrow)


def _applied(name: str, data: _Stored) -> Prepared:
    template, peer = WORK[name]
    formula = check(TEMPLATES[template].graph).formula
    assert formula is not None
    out = data.stored.with_name("out")

    def ours() -> None:
        book = open_workbook(data.manifest, data.stored)
        write_sheet(
            apply_column(book, NamedColumns(book.sheets[0], 0, COLUMNS), formula, "New").workbook.sheets[0], out
        )

    def theirs() -> None:
        peer(polars.scan_ipc(data.arrow)).collect().write_ipc(out.with_suffix(".arrow"))

    def remove() -> None:
        """Both write new files, as the service does: ext4 flushes one over another."""
        for path in (out, out.with_suffix(".arrow")):
            path.unlink(missing_ok=True)

    ours()
    theirs()
    book = open_workbook(data.manifest, data.stored)
    applied = apply_column(book, NamedColumns(book.sheets[0], 0, COLUMNS), formula, "New")
    expected = polars.read_ipc(out.with_suffix(".arrow"))["New"].to_list()
    sheet, at = applied.workbook.sheets[0], len(COLUMNS)
    assert (applied.rows_affected, applied.rows_failed) == (ROWS, 0)
    for row in np.random.default_rng(2).integers(0, ROWS, 20_000).tolist():
        assert same(sheet.value(row + 1, at), expected[row]), (name, row)
    return Prepared(works={OURS: ours, "Polars": theirs}, before=remove, note="Polars from Arrow to Arrow")


def _loans() -> polars.DataFrame:
    chance = np.random.default_rng(5)
    ids = [f"LX{number:07d}" for number in range(ROWS)]
    return polars.DataFrame(
        {
            "Id": ids,
            "Parent Id": [ids[number] for number in chance.integers(0, ROWS, ROWS).tolist()],
            "Par": chance.uniform(1e5, 1e7, ROWS).round(2),
            "Price": chance.uniform(40, 101, ROWS).round(3),
            "Recovery": chance.uniform(20, 70, ROWS).round(1),
            "Rating": chance.choice(np.array(RATINGS), ROWS).tolist(),
            "Name": [f"Issuer {number}" for number in chance.integers(0, 2_000, ROWS).tolist()],
        }
    )


bench_apply = asked(
    *(
        Question(
            name=f"{NAME}: {name}", data=_stored, prepare=partial(_applied, name), peers=("Polars",), repeats=5,
            seconds_most=SECONDS_MOST, ratio_least={"Polars": RATIO_LEAST},
        )
        for name in WORK
    )
)  # fmt: skip
