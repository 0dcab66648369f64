"""How time and peak memory grow from 1,000 to 1,000,000 rows, for what users do with long sheets and large books.

The data are those of the other modules, where the peers are; each answer is checked at each size, as it is there.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import core
from bench.core import (
    bench_compliance,
    bench_files,
    bench_formula_books,
    bench_hashing,
    bench_mapping,
    bench_reconcile,
    bench_writing,
)
from bench.core.bench_formula import FILLED
from bench.growth import SIZES, Growing, Make, grown
from bench.questions import Question
from bench.rows import asked
from core.compliance.run import run_suite
from core.files.write import Formats, sheet_of, write_workbook_rows
from core.portfolio import Portfolio
from core.provenance.canonical import data_hash
from core.reconciliation import reconcile


def _reading(rows: int, folder: Path) -> Growing:
    path = folder / "book.xlsx"
    write_workbook_rows(path, {"Loans": bench_files.tape(rows)})
    return Growing(partial(bench_files.stored, path, folder), partial(bench_files.check, path, folder, rows))


def _mapping(rows: int, _: Path) -> Growing:
    source = bench_mapping.cells(rows)
    workbook, own = bench_mapping.book(source, rows), bench_mapping.mapping()
    work = partial(bench_mapping.ours, workbook, own)
    return Growing(
        work, lambda: bench_mapping.check(work(), bench_mapping.polars_answer(bench_mapping.frame(source)), own)
    )


def _compliance(rows: int, _: Path) -> Growing:
    book = bench_compliance.portfolio(rows)

    def check() -> None:
        bench_compliance.check(book, bench_compliance.polars_figures(book, bench_compliance.frame(book)))

    return Growing(partial(run_suite, book, "enhanced"), check)


def _reconciliation(rows: int, _: Path) -> Growing:
    columns = bench_reconcile.books(min(rows, bench_reconcile.LARGEST))  # the generator has no more identifiers
    tape, book = (Portfolio.from_columns(side) for side in columns)
    work = partial(reconcile, tape, book, threads=1)

    def check() -> None:
        classes: dict[str, dict[str, int]] = {}
        frames = bench_reconcile.frame(tape, classes), bench_reconcile.frame(book, classes)
        bench_reconcile.check(work(), *bench_reconcile.in_one_query(*frames))

    return Growing(work, check)


def _formula(rows: int, _: Path) -> Growing:
    program, chance = core.compile(FILLED), np.random.default_rng(7)
    columns: dict[str, Any] = {}

    def renew() -> None:
        columns.update({letter: chance.normal(0, 50, rows) for letter in "ABC"})

    def check() -> None:
        a, b, c = (columns[letter] for letter in "ABC")
        assert np.allclose(program.map(columns), a * b + np.where(c > 0, c, 0), rtol=1e-12)

    renew()
    return Growing(partial(program.map, columns), check, renew)


def _recalculation(rows: int, _: Path) -> Growing:
    scene = bench_formula_books.FillDown(rows, np.random.default_rng(7))
    return Growing(scene.ours, scene.check, scene.renew)


def _hashing(rows: int, _: Path) -> Growing:
    book = bench_hashing.tape(rows)
    return Growing(partial(data_hash, book), partial(bench_hashing.check, book, rows))


def _writing(rows: int, folder: Path) -> Growing:
    path, formats = folder / "book.xlsx", Formats()
    sheet = sheet_of(bench_files.tape(rows), formats)
    return Growing(partial(bench_writing.ours, path, sheet, formats), partial(bench_writing.check, path, sheet))


QUESTIONS: dict[str, Make] = {
    "reading .xlsx of 10 columns": _reading,
    "mapping and validating 25 columns": _mapping,
    "compliance, 25 tests": _compliance,
    "reconciliation, 9 rules": _reconciliation,
    "a formula down a column": _formula,
    "a fill-down recalculated": _recalculation,
    "canonical hash of 8 columns": _hashing,
    "writing .xlsx of 10 columns": _writing,
}

bench_scaling = asked(
    *(
        Question(name=f"scaling to {SIZES[-1]:,} rows: {name}", prepare=partial(grown, make))
        for name, make in QUESTIONS.items()
    )
)
