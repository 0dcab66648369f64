"""How fast workbooks calculate.

Fill-downs, SUMIFS, lookups, one edit, and a million formulas loaded, beside the peers.

A scenario changes a whole column of the book and recalculates. Our time has the writing of the new values in it, those
of the peers and of the NumPy lines have not. All answers must agree before a time counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.core.peers import SHEET, Formualizer, Ironcalc, Peer, hyperformula
from bench.machine import seconds_of
from bench.questions import OURS, LeftOut, Prepared, Question, Work
from bench.rows import asked
from core.recalc.book import Book

FILL_RATIO_LEAST, SUMIFS_RATIO_LEAST, NUMPY_RATIO_LEAST = 20.0, 40.0, 1.0
LOOKUP_TIMES_NUMPY, LOOKUP_RATIO_LEAST = 2.0, 4.0
EDIT_SECONDS_MOST = 50e-6
LOAD_RATIO_LEAST, LOAD_BYTES_MOST = 10.0, 1.5e9

ROWS, MANY_ROWS = 100_000, 1_000_000
ISSUERS = 1_000
EDITS = 500
SUMIFS_SHARE = {"ironcalc": 10, "HyperFormula": 40}
"""They look through all rows for each formula, up to two minutes in all: a part of them tells."""
ENGINE_TURNS = 3
"""The other engines take tens to a thousand times as long, and new values only for these turns."""

PEERS: dict[str, Callable[[], Peer | LeftOut]] = {
    "formualizer": Formualizer, "ironcalc": Ironcalc, "HyperFormula": hyperformula,
}  # fmt: skip
NUMPY = "NumPy by hand"
Numbers = NDArray[np.float64]


# A million formulas given as texts


def _loading() -> Prepared:
    """Texts parsed, the graph made, everything calculated once.

    Ours in a process of its own, for its peak memory.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
        seconds, size_bytes = child.submit(_load_many).result()
    assert size_bytes < LOAD_BYTES_MOST, f"{size_bytes:,} bytes are over the target"
    a, b = _pair(np.random.default_rng(7), ROWS)
    works: dict[str, list[float] | LeftOut] = {OURS: [seconds]}
    for name, make in PEERS.items():
        peer = make()
        if isinstance(peer, LeftOut):
            works[name] = peer
            continue
        peer.put(1, a.tolist())
        peer.put(2, b.tolist())
        texts = _products(ROWS)
        start = time.perf_counter()  # without its values, which are no part of the question
        peer.formulas(3, texts)
        peer.calculate()
        works[name] = [(time.perf_counter() - start) * MANY_ROWS / ROWS]
        assert np.allclose(_column(peer, 3), a * b, rtol=1e-12), name
    note = f"{size_bytes / 1e6:,.0f} MB at the peak, with the texts; a peer is {MANY_ROWS // ROWS} times {ROWS:,}"
    return Prepared(works=works, note=note, facts={"peak_bytes": size_bytes})


def _load_many() -> tuple[float, int]:
    """(seconds, bytes at the peak of this process)."""
    a, b = _pair(np.random.default_rng(8), MANY_ROWS)
    texts = _products(MANY_ROWS)
    Book.from_columns({SHEET: {"A": [1.0], "B": ["=A1"]}}).recalculate()  # the engine's own modules, once
    start = time.perf_counter()
    book = Book.from_columns({SHEET: {"A": a, "B": b, "C": texts}})
    book.recalculate()
    seconds = time.perf_counter() - start
    # Not ru_maxrss: a child has that of its parent as its least.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    assert np.allclose(_values(book, 2), a * b, rtol=1e-12)
    return seconds, int(status["VmHWM"].split()[0]) * 1024


def _pair(chance: np.random.Generator, rows: int) -> tuple[Numbers, Numbers]:
    return chance.normal(0, 50, rows), chance.normal(0, 50, rows)


def _products(rows: int) -> list[str]:
    return [f"=A{row}*B{row}" for row in range(1, rows + 1)]


# A fill-down


class FillDown:
    """=A1*B1+IF(C1>0,C1,0) filled down; column A new in each turn."""

    def __init__(self, rows: int, chance: np.random.Generator) -> None:
        self.rows, self.chance = rows, chance
        self.b, self.c = _pair(chance, rows)
        self.renew()
        self.texts = [f"=A{row}*B{row}+IF(C{row}>0,C{row},0)" for row in range(1, rows + 1)]
        self.book = Book.from_columns({SHEET: {"A": self.a, "B": self.b, "C": self.c, "D": self.texts}})
        self.book.recalculate()

    def renew(self) -> None:
        self.a = self.chance.normal(0, 50, self.rows)

    def ours(self) -> None:
        self.book.set_column(SHEET, "A", self.a)
        self.book.recalculate()

    def numpy(self) -> Numbers:
        return self.a * self.b + np.where(self.c > 0, self.c, 0)

    def check(self) -> None:
        self.renew()
        self.ours()
        assert np.allclose(_values(self.book, 3), self.numpy(), rtol=1e-12)


def _fill_down() -> Prepared:
    scene = FillDown(ROWS, np.random.default_rng(7))
    scene.check()
    fillers = {name: make() for name, make in PEERS.items()}
    peers = {name: peer for name, peer in fillers.items() if not isinstance(peer, LeftOut)}
    for name, peer in peers.items():
        for column, values in enumerate((scene.a, scene.b, scene.c), 1):
            peer.put(column, values.tolist())
        peer.formulas(4, scene.texts)
        peer.calculate()
        assert np.allclose(_column(peer, 4), _values(scene.book, 3), rtol=1e-12), name

    turns = iter(range(-1, ENGINE_TURNS))

    def renew() -> None:
        scene.renew()
        if next(turns, None) is not None:
            for peer in peers.values():
                peer.put(1, scene.a.tolist())

    works: dict[str, Work | LeftOut] = {OURS: Work(scene.ours), NUMPY: Work(scene.numpy)}
    for name, peer in fillers.items():
        works[name] = peer if isinstance(peer, LeftOut) else Work(peer.calculate, turns=ENGINE_TURNS)
    return Prepared(works=works, before=renew)


@contextmanager
def _many() -> Iterator[FillDown]:
    scene = FillDown(MANY_ROWS, np.random.default_rng(7))
    scene.check()
    yield scene


def _fill_down_of_many(scene: FillDown) -> Prepared:
    return Prepared(works={OURS: scene.ours, NUMPY: scene.numpy}, before=scene.renew)


def _edits_of_many(scene: FillDown) -> Prepared:
    """One cell of a million rows after the other, each followed by what it touches."""
    book, chance = scene.book, np.random.default_rng(8)
    scene.ours()
    edits: list[tuple[str, float]] = []

    def renew() -> None:
        rows = chance.integers(1, MANY_ROWS + 1, EDITS).tolist()
        edits[:] = [(f"B{row}", value) for row, value in zip(rows, chance.random(EDITS).tolist(), strict=True)]

    def edit() -> None:
        for cell, value in edits:
            book.set(SHEET, cell, value)
            book.recalculate()

    by_hand = np.array(scene.numpy())

    def edit_by_hand() -> None:
        for cell, value in edits:
            row = int(cell[1:]) - 1
            scene.b[row] = value
            by_hand[row] = scene.a[row] * value + max(scene.c[row], 0.0)

    renew()
    edit()
    edit_by_hand()
    for cell, _ in edits:
        row = int(cell[1:]) - 1
        answer = book.value(SHEET, f"D{row + 1}")
        assert isinstance(answer, float)
        assert np.isclose(answer, by_hand[row], rtol=1e-12), cell
    return Prepared(works={OURS: Work(edit, count=EDITS), NUMPY: Work(edit_by_hand, count=EDITS)}, before=renew)


# Sums by condition


class _Sums:
    """1,000 SUMIFS, each of an issuer of its own, over 100,000 rows whose issuers and amounts are new in each turn."""

    def __init__(self, chance: np.random.Generator) -> None:
        self.chance = chance
        self.issuers = [f"Issuer {number}" for number in range(ISSUERS)]
        self.renew()
        self.texts = [f'=SUMIFS(B$1:B${ROWS},A$1:A${ROWS},"{issuer}")' for issuer in self.issuers]
        self.book = Book.from_columns({SHEET: {"A": self.names, "B": self.amounts, "C": self.texts}})
        self.book.recalculate()

    def renew(self) -> None:
        # Every issuer, so that the NumPy line need not look for those who are not there.
        numbers = [*range(ISSUERS), *self.chance.integers(0, ISSUERS, ROWS - ISSUERS).tolist()]
        self.names = [self.issuers[number] for number in numbers]
        self.amounts = self.chance.random(ROWS)

    def ours(self) -> None:
        self.book.set_column(SHEET, "A", self.names)
        self.book.set_column(SHEET, "B", self.amounts)
        self.book.recalculate()

    def numpy(self) -> Numbers:
        codes_of: dict[str, int] = {}
        codes = np.array([codes_of.setdefault(name, len(codes_of)) for name in self.names])
        sums: NDArray[Any] = np.bincount(codes, self.amounts)
        return sums[[codes_of[issuer] for issuer in self.issuers]]


def _conditional_sums() -> Prepared:
    scene = _Sums(np.random.default_rng(7))
    scene.renew()
    scene.ours()
    assert np.allclose(_values(scene.book, 2), scene.numpy(), rtol=1e-9)
    works: dict[str, Callable[[], Any] | list[float] | LeftOut] = {OURS: scene.ours, NUMPY: scene.numpy}
    for name, make in PEERS.items():
        peer = make()
        if isinstance(peer, LeftOut):
            works[name] = peer
            continue
        peer.put(1, scene.names)
        peer.put(2, scene.amounts.tolist())
        count = ISSUERS // SUMIFS_SHARE.get(name, 1)
        peer.formulas(3, scene.texts[:count])
        works[name] = [seconds_of(peer.calculate) * ISSUERS / count]  # many seconds
        assert np.allclose(peer.column(3, count), _values(scene.book, 2)[:count], rtol=1e-9), name
    note = "NumPy with dictionary codes; the engines once, with a part of the formulas, as many times"
    return Prepared(works=works, before=scene.renew, note=note)


# Lookups


class _Lookups:
    """100,000 exact VLOOKUPs into 100,000 rows in no order.

    The keys of the table are new in each turn.
    """

    def __init__(self, chance: np.random.Generator) -> None:
        self.chance = chance
        self.renew()
        self.amounts = chance.random(ROWS)
        self.wanted = chance.permutation(ROWS).astype(np.float64)
        self.texts = [f"=VLOOKUP(C{row},A$1:B${ROWS},2,FALSE)" for row in range(1, ROWS + 1)]
        self.book = Book.from_columns({SHEET: {"A": self.keys, "B": self.amounts, "C": self.wanted, "D": self.texts}})
        self.book.recalculate()

    def renew(self) -> None:
        self.keys = self.chance.permutation(ROWS).astype(np.float64)

    def ours(self) -> None:
        self.book.set_column(SHEET, "A", self.keys)
        self.book.recalculate()

    def numpy(self) -> Numbers:
        order = np.argsort(self.keys)
        return self.amounts.take(order.take(np.searchsorted(self.keys, self.wanted, sorter=order)))


def _lookups() -> Prepared:
    """ironcalc searches the table for each: 27 s at a hundredth of this, so not run."""
    scene = _Lookups(np.random.default_rng(7))
    scene.renew()
    scene.ours()
    assert np.array_equal(_values(scene.book, 3), scene.numpy())
    peer = Formualizer()
    for column, values in enumerate((scene.keys, scene.amounts, scene.wanted), 1):
        peer.put(column, values.tolist())
    peer.formulas(4, scene.texts)
    peer.calculate()
    assert np.array_equal(_column(peer, 4), _values(scene.book, 3))

    turns = iter(range(-1, ENGINE_TURNS))

    def renew() -> None:
        scene.renew()
        if next(turns, None) is not None:
            peer.put(1, scene.keys.tolist())

    # Its turns are few and the first: after each of them the caches are its, and we would start in them.
    works = {OURS: Work(scene.ours), NUMPY: Work(scene.numpy), "formualizer": Work(peer.calculate, turns=ENGINE_TURNS)}
    return Prepared(works=works, before=renew)


def _values(book: Book, column: int) -> Numbers:
    """The numbers of a calculated column from its first row down."""
    cells = book.sheets[0].columns[column]
    assert cells is not None
    assert cells.start == 0
    return cells.numbers


def _column(peer: Peer, column: int) -> Numbers:
    return np.array(peer.column(column, ROWS))


bench_formula_books = asked(
    Question(
        name=f"{MANY_ROWS:,} formulas as texts, first calculation", prepare=_loading, peers=tuple(PEERS),
        ratio_least=dict.fromkeys(PEERS, LOAD_RATIO_LEAST),
    ),
    Question(
        name=f"fill-down of {ROWS:,} rows", prepare=_fill_down, peers=(NUMPY, *PEERS), repeats=25,
        touched_bytes=4 * 8 * ROWS,
        ratio_least={NUMPY: NUMPY_RATIO_LEAST} | dict.fromkeys(PEERS, FILL_RATIO_LEAST),
    ),
    Question(
        name=f"fill-down of {MANY_ROWS:,} rows", data=_many, prepare=_fill_down_of_many, peers=(NUMPY,), repeats=9,
        touched_bytes=4 * 8 * MANY_ROWS,
        ratio_least={NUMPY: NUMPY_RATIO_LEAST},
    ),
    Question(
        name=f"one edit among {MANY_ROWS:,} formulas", data=_many, prepare=_edits_of_many, peers=(NUMPY,), repeats=9,
        seconds_most=EDIT_SECONDS_MOST,
    ),
    Question(
        name=f"{ISSUERS:,} SUMIFS over {ROWS:,} rows", prepare=_conditional_sums, peers=(NUMPY, *PEERS), repeats=15,
        ratio_least={NUMPY: NUMPY_RATIO_LEAST} | dict.fromkeys(PEERS, SUMIFS_RATIO_LEAST),
    ),
    Question(
        name=f"{ROWS:,} VLOOKUPs into {ROWS:,} rows", prepare=_lookups, peers=(NUMPY, "formualizer"), repeats=15,
        touched_bytes=4 * 8 * ROWS,
        ratio_least={NUMPY: 1 / LOOKUP_TIMES_NUMPY, "formualizer": LOOKUP_RATIO_LEAST},
    ),
)  # fmt: skip
