"""Formulas down a million rows as one compiled loop.

Beside the chunks that serve until it is there, and loops by hand.

A loop has run when a question is asked: the time until then is a question of its own. Numba's loops by hand do less
than ours, which look for errors, NaN and numbers that are equal at 15 digits.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

import core
from bench.core.bench_formula_books import MANY_ROWS, NUMPY, FillDown
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.formula.columns import vector
from core.native import folder
from core.native.loops import Loops
from core.native.process import COMPILER
from core.threads import threads_for

ROWS: Final = MANY_ROWS
CHUNKS, NUMBA = "the chunks", "Numba by hand"
THREAD_ROWS: Final = 262_144
"""Rows that a thread of its own is worth to a loop."""
OVER_CHUNKS_LEAST, OVER_NUMPY_LEAST, OVER_NUMBA_LEAST = 3.0, 2.0, 0.95
FIRST_USED_MOST: Final = 5.0
"""Seconds from the run that makes a loop worth its compiling to the first that uses it: another process at the lowest
priority starts, imports Numba and compiles."""

FILLED = "=A1*B1+IF(C1>0,C1,0)"
LONG = "IF(A1>B1,(A1-B1)*C1+D1/4,(B1-A1)*C1-E1/3)+A1*0.5-B1*0.25"
DATED = "=IF(MONTH(A1)>6,YEAR(A1)+1,YEAR(A1))*100+MONTH(A1)"

Numbers = NDArray[np.float64]
Columns = dict[str, Numbers]


@numba.njit
def _filled(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    out = np.empty(a.size)
    for row in range(a.size):
        out[row] = a[row] * b[row] + (c[row] if c[row] > 0 else 0.0)
    return out


@numba.njit
def _long(a: Numbers, b: Numbers, c: Numbers, d: Numbers, e: Numbers) -> Numbers:
    out = np.empty(a.size)
    for row in range(a.size):
        x, y = a[row], b[row]
        chosen = (x - y) * c[row] + d[row] / 4 if x > y else (y - x) * c[row] - e[row] / 3
        out[row] = chosen + x * 0.5 - y * 0.25
    return out


@numba.njit
def _long_rounded(a: Numbers, b: Numbers, c: Numbers, d: Numbers, e: Numbers) -> Numbers:
    out = np.empty(a.size)
    for row in range(a.size):
        x, y = a[row], b[row]
        chosen = (x - y) * c[row] + d[row] / 4 if x > y else (y - x) * c[row] - e[row] / 3
        value = chosen + x * 0.5 - y * 0.25
        size = np.floor(abs(value) * 100 + 0.5) / 100
        out[row] = -size if value < 0 else size
    return out


def _filled_by_numpy(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    return a * b + np.where(c > 0, c, 0)


def _long_by_numpy(a: Numbers, b: Numbers, c: Numbers, d: Numbers, e: Numbers) -> Numbers:
    return np.where(a > b, (a - b) * c + d / 4, (b - a) * c - e / 3) + a * 0.5 - b * 0.25


def _dated_by_numpy(a: Numbers) -> Numbers:
    months = (a.astype(np.int64) - 25_569).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    year, month = months // 12 + 1970, months % 12 + 1
    return np.where(month > 6, year + 1, year) * 100.0 + month


def _prepared(formula: str, letters: str, hand: dict[str, Callable[..., Numbers]], *, days: bool = False) -> Prepared:
    program, chance = core.compile(formula), np.random.default_rng(7)
    in_chunks = core.compile(f"{formula} ")  # its own: a program remembers whether a loop did all of its last run
    columns: Columns = {letter: np.empty(ROWS) for letter in letters}

    def renew() -> None:
        for column in columns.values():
            column[:] = chance.integers(20_000, 60_000, ROWS) + 0.25 if days else chance.normal(0, 50, ROWS)

    def by_hand(work: Callable[..., Numbers]) -> Numbers:
        return work(*columns.values())

    renew()
    chunks = _with(Loops(worth=ROWS * 10**9), in_chunks, columns)
    loops = Loops(worth=0)
    ours = _with(loops, program, columns)
    expected = chunks()
    ours()
    loops.finish()
    assert np.array_equal(ours(), expected)
    assert loops.rows == ROWS
    for name, work in hand.items():
        assert np.allclose(by_hand(work), expected, rtol=1e-12, atol=0.0101 if "ROUND" in formula else 0.0), name
    works = {OURS: ours, CHUNKS: chunks} | {name: partial(by_hand, work) for name, work in hand.items()}
    return Prepared(works=works, before=renew, note=f"ours by {threads_for(ROWS // THREAD_ROWS)} threads, by hand one")


def _with(loops: Loops, program: core.Program, columns: Columns) -> Callable[[], Any]:
    """The formula down the columns, with these loops in place of the process's own."""

    def run() -> Any:
        with _in_place(loops):
            return program.map(columns)

    return run


@contextmanager
def _in_place(loops: Loops) -> Any:
    kept = vector.LOOPS
    vector.LOOPS = loops
    try:
        yield
    finally:
        vector.LOOPS = kept


def _book() -> Prepared:
    scene, loops = FillDown(ROWS, np.random.default_rng(7)), Loops(worth=0)
    with _in_place(loops):
        scene.check()
        loops.finish()
        scene.check()
    assert loops.rows == ROWS

    def ours() -> None:
        with _in_place(loops):
            scene.ours()

    return Prepared(works={OURS: ours, NUMPY: scene.numpy}, before=scene.renew)


def _first_used() -> Prepared:
    """Fourteen operations, from their being worth a loop to its first use.

    Numba's own time has its import in it and no write of a file, as it would have in a program of its own.
    """
    columns = {letter: np.arange(1.0, 10_001.0) for letter in "ABCDE"}
    program, before = core.compile(f"={LONG}"), folder.place()
    imports = "from __future__ import annotations\nimport numba\nimport numpy as np\n"
    alone = f"{imports}{inspect.getsource(_long.py_func)}_long(*[np.arange(1.0, 10_001.0)] * 5)"

    def ours() -> None:
        with TemporaryDirectory() as place:
            COMPILER.end()
            folder.use(Path(place) / "native")
            loops = Loops(worth=0)
            run = _with(loops, program, columns)
            run()
            while not loops.rows:
                time.sleep(0.001)
                run()
            COMPILER.end()
            folder.use(before)

    def by_numba() -> None:
        subprocess.run([sys.executable, "-c", alone], check=True)

    return Prepared(works={OURS: ours, "Numba in a program of its own": by_numba})


bench_loops = asked(
    Question(
        name=f"fourteen operations down {ROWS:,} rows", peers=(CHUNKS, NUMPY, NUMBA), repeats=15,
        prepare=partial(_prepared, f"={LONG}", "ABCDE", {NUMPY: _long_by_numpy, NUMBA: _long}),
        ratio_least={CHUNKS: OVER_CHUNKS_LEAST, NUMBA: OVER_NUMBA_LEAST}, touched_bytes=6 * 8 * ROWS, quick=True,
    ),
    Question(
        name=f"fourteen operations and ROUND down {ROWS:,} rows", peers=(CHUNKS, NUMBA), repeats=15,
        prepare=partial(_prepared, f"=ROUND({LONG},2)", "ABCDE", {NUMBA: _long_rounded}),
        ratio_least={CHUNKS: OVER_CHUNKS_LEAST, NUMBA: OVER_NUMBA_LEAST}, touched_bytes=6 * 8 * ROWS,
    ),
    Question(
        name=f"years and months of {ROWS:,} dates", peers=(CHUNKS, NUMPY), repeats=9,
        prepare=partial(_prepared, DATED, "A", {NUMPY: _dated_by_numpy}, days=True),
        ratio_least={CHUNKS: OVER_CHUNKS_LEAST}, touched_bytes=2 * 8 * ROWS,
    ),
    Question(
        name=f"a fill-down of {ROWS:,} rows by program.map", peers=(CHUNKS, NUMPY, NUMBA), repeats=15,
        prepare=partial(_prepared, FILLED, "ABC", {NUMPY: _filled_by_numpy, NUMBA: _filled}),
        ratio_least={NUMPY: OVER_NUMPY_LEAST, NUMBA: OVER_NUMBA_LEAST}, touched_bytes=4 * 8 * ROWS,
    ),
    Question(
        name=f"a fill-down of {ROWS:,} rows in a book, again and again", prepare=_book, peers=(NUMPY,), repeats=15,
        ratio_least={NUMPY: OVER_NUMPY_LEAST}, touched_bytes=4 * 8 * ROWS,
    ),
    Question(
        name="time until compiled code is first used", prepare=_first_used, peers=("Numba in a program of its own",),
        repeats=5, seconds_most=FIRST_USED_MOST,
    ),
)  # fmt: skip
