"""How fast a sheet of a million cells is hashed, beside hashlib over the bytes that its canonical form comes to.

`tape` looks like a trustee's: identifiers, names that repeat, amounts, prices, dates; `dense` has seventeen digits in
each number, which have to be rounded. What a hash costs besides SHA-256 is the making of these bytes. The prints of the
same cells have no peer. Answers first: the hash is the one of the bytes put together by hand.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.grid.sheet import Workbook
from core.provenance.canonical import chunks, covered_forms, data_hash, records_of
from core.provenance.prints import fingerprints
from core.recalc.book import Book

ROWS = 125_000
COLUMNS = "ABCDEFGH"
REPEATS = 9
TAPE_RATIO_LEAST = 0.33
DENSE_RATIO_LEAST = 0.25
"""Of the time that SHA-256 alone takes."""
PRINTS_SECONDS_MOST = 0.1
TAPE_BYTES, DENSE_BYTES = ROWS * (5 * 9 + 3 * 5), ROWS * 8 * 9
"""Kinds and numbers, or kinds and codes; without the texts."""
SHA = "SHA-256 of the same bytes"


def _hashed(make: Callable[[], Workbook]) -> Prepared:
    book = make()
    pieces = check(book, ROWS)

    def theirs() -> None:
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)

    note = f"the canonical form has {sum(map(len, pieces)) / 1e6:.0f} MB"
    return Prepared(works={OURS: lambda: data_hash(book), SHA: theirs}, note=note)


def _printed() -> Prepared:
    book = tape(ROWS)
    assert len(fingerprints(book, None, b"key")) > 0
    return Prepared(works={OURS: lambda: fingerprints(book, None, b"key")})


def check(book: Workbook, rows: int) -> list[bytes]:
    """The canonical bytes, after their hash was found to be the one that is claimed."""
    sheet = book.sheets[0]
    forms = covered_forms(book, [sheet])[0]
    pieces: list[bytes] = []
    whole = b""
    for position, records, _ in records_of(book, sheet, forms):
        own = [bytes(chunk) for chunk in chunks(records)]
        assert records.count == rows
        whole += struct.pack("<IQ", position, rows) + hashlib.sha256(b"".join(own)).digest()
        pieces += own
    assert data_hash(book).sheets[0].hash == hashlib.sha256(whole).hexdigest()
    return pieces


def _book(columns: dict[str, object]) -> Workbook:
    book = Book.from_columns({"Loans": columns})  # type: ignore[dict-item]
    return replace(Workbook(book.sheets), number_formats=("General",))


def tape(rows: int) -> Workbook:
    """A trustee's tape."""
    chance = np.random.default_rng(17)
    obligors = chance.integers(0, rows // 50, rows).tolist()
    return _book({
        "A": [f"LX{at:07d}" for at in range(rows)],
        "B": [f"Obligor {at} Holdings, Inc." for at in obligors],
        "C": chance.integers(100, 9_000, rows) * 1000.0,
        "D": chance.integers(8_000, 10_100, rows) / 100,
        "E": chance.integers(46_000, 48_500, rows) * 1.0,
        "F": [f"B{at % 17}" for at in obligors],
        "G": chance.uniform(1e5, 1e7, rows).round(2),
        "H": chance.uniform(0, 12, rows).round(5),
    })  # fmt: skip


def _dense() -> Workbook:
    numbers = np.random.default_rng(18).random((len(COLUMNS), ROWS)) * 1e6
    return _book(dict(zip(COLUMNS, numbers, strict=True)))


bench_hashing = asked(
    Question(
        name="canonical hash of 1,000,000 cells, a tape", prepare=partial(_hashed, partial(tape, ROWS)), bounds=(SHA,),
        repeats=REPEATS, ratio_least={SHA: TAPE_RATIO_LEAST}, quick=True, touched_bytes=TAPE_BYTES,
    ),
    Question(
        name="canonical hash of 1,000,000 cells, numbers of 17 digits", prepare=partial(_hashed, _dense),
        bounds=(SHA,), repeats=REPEATS, ratio_least={SHA: DENSE_RATIO_LEAST}, touched_bytes=DENSE_BYTES,
    ),
    Question(
        name="prints of 1,000,000 cells of a tape", prepare=_printed, repeats=REPEATS,
        seconds_most=PRINTS_SECONDS_MOST, touched_bytes=TAPE_BYTES,
    ),
)  # fmt: skip
