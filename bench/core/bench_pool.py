"""How long the 25 enhanced tests take on a Parquet file, beside DuckDB.

Both read the same file with two threads.

All 25 figures must agree before a time counts. What pyarrow takes to read the same columns by two threads is the floor
under both: it is reported, and what either takes beyond it.

`python -m bench.core.bench_pool 100000000 FOLDER` makes a file of so many loans there, asks ours alone, and prints
seconds and the memory peak.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.core.bench_compliance import DUCKDB, WEIGHED, Figures, duckdb_figures, portfolio
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.result import Results
from core.pool.run import run_pool
from core.portfolio import Portfolio

LOANS = 5_000_000
PIECE = 1_000_000
THREADS = 2
OBLIGORS_MOST = 1_000_000
LOANS_OF_OBLIGOR = 20
DECODING = "pyarrow, decoding alone"
RATIO_LEAST = 1.5
BOOK = portfolio(1_000)
"""Its notes and its deal, made larger with the loans."""


def write_pool(path: Path, loans: int) -> Portfolio:
    """Write a seeded file of so many loans, and return what is known of their deal.

    A row group has a million.
    """
    obligors = min(OBLIGORS_MOST, max(1, loans // LOANS_OF_OBLIGOR))
    writer: pq.ParquetWriter | None = None
    for start in range(0, loans, PIECE):
        table = _piece(start, min(PIECE, loans - start), obligors)
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=_FEW_VALUES)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return deal_of(loans)


def deal_of(loans: int) -> Portfolio:
    """Return the bench's notes and cash in proportion to so many loans."""
    notes, times = BOOK.tranches, loans / BOOK.row_count
    assert notes is not None
    scaled = replace(
        notes, current_balance=notes.current_balance * times, original_balance=notes.original_balance * times
    )
    return replace(
        BOOK, tranches=scaled, deal=replace(BOOK.deal, principal_cash=(BOOK.deal.principal_cash or 0.0) * times)
    )


def _piece(start: int, loans: int, obligors: int) -> pa.Table:
    """Some loans in the proportions of `bench_compliance`, with names."""
    chance = np.random.default_rng(start)
    book = _BOOKS.setdefault(loans, portfolio(loans))
    turn = int(chance.integers(0, loans))
    columns = {name: pa.array(np.roll(values, turn), from_pandas=True) for name, values in book.numbers.items()}
    par = np.roll(book.numbers["par_value"], turn) + chance.integers(0, 1000, loans) * 10.0
    columns["par_value"] = pa.array(par)
    days = np.roll(book.numbers["maturity_date"], turn).astype(np.int32)
    columns["maturity_date"] = pa.array(days).cast(pa.date32())
    obligor = chance.integers(0, obligors, loans)
    columns["issuer_id"] = _obligor_names(obligors).take(pa.array(obligor))
    names = pa.array([f"Industry {at:02d}" for at in range(32)])
    columns["industry"] = names.take(pa.array(obligor * 7919 % 32))
    abroad = chance.random(loans) > 0.885
    columns["country"] = pa.array(["US", "Canada"]).take(pa.array(abroad.astype(np.int32)))
    columns |= {name: pa.array(np.roll(values, turn).astype(bool)) for name, values in book.flags.items()}
    columns |= {name: pa.array(np.roll(values, turn)) for name, values in book.ranks.items()}
    assert book.lien is not None
    columns["lien_type"] = pa.array(np.roll(book.lien, turn))
    return pa.table(columns)


@cache
def _obligor_names(obligors: int) -> pa.Array:
    return pa.array([f"OBL{at:08d}" for at in range(obligors)])


_BOOKS: dict[int, Portfolio] = {}
_FEW_VALUES = ["industry", "country", "floor", "recovery_rate", "quote_depth", "days_past_due", "maturity_date"]

LOANS_VIEW = """
create view loans as select * exclude (issuer_id, industry, country, maturity_date, lien_type, {flags}),
    issuer_id as obligor, cast(substr(industry, 10) as integer) as industry,
    case when country = 'US' then 0 else 1 end as country, maturity_date - date '1970-01-01' as maturity_date,
    lien_type as lien, {numbers}
from read_parquet('{path}')
"""


def duckdb_of(path: Path) -> duckdb.DuckDBPyConnection:
    """The file as the loans of `bench_compliance`, read anew by every query."""
    engine = duckdb.connect(config={"threads": THREADS})
    flags = list(BOOK.flags)
    numbers = ", ".join(f"cast({flag} as integer) as {flag}" for flag in flags)
    engine.execute(LOANS_VIEW.format(path=path, flags=", ".join(flags), numbers=numbers))
    engine.execute(WEIGHED)
    return engine


def ours(path: Path, book: Portfolio) -> Results:
    """The 25 tests of the file."""
    return run_pool(path, "enhanced", tranches=book.tranches, deal=book.deal, threads=THREADS)


def decode(path: Path) -> int:
    """Read every column, each thread half of the row groups."""
    with pq.ParquetFile(path) as file:
        groups = file.num_row_groups

    def read(first: int) -> int:
        rows = 0
        with pq.ParquetFile(path, pre_buffer=False, read_dictionary=["industry", "country"]) as file:
            for group in range(first, groups, THREADS):
                rows += sum(
                    batch.num_rows for batch in file.iter_batches(131_072, row_groups=[group], use_threads=False)
                )
        return rows

    with ThreadPoolExecutor(THREADS) as executor:
        return sum(executor.map(read, range(THREADS)))


def check(results: Results, theirs: Figures) -> None:
    """All 25 figures must agree to nine digits."""
    assert len(results) == 25, results.skipped
    for result in results:
        figure = theirs[result.test_id]
        assert abs(result.current_value - figure) <= 1e-6 + 1e-9 * abs(figure), (result.test_id, result, figure)


@contextmanager
def pool_file() -> Iterator[tuple[Path, Portfolio]]:
    """A file of `LOANS` loans, for one question."""
    with tempfile.TemporaryDirectory(prefix="cushion-pool-") as folder:
        path = Path(folder) / "pool.parquet"
        yield path, write_pool(path, LOANS)


def prepare(pool: tuple[Path, Portfolio]) -> Prepared:
    """Compare the answers, then time all three in turn."""
    path, book = pool
    engine = duckdb_of(path)
    check(ours(path, book), duckdb_figures(book, engine))
    return Prepared(
        works={
            OURS: partial(ours, path, book),
            DUCKDB: partial(duckdb_figures, book, engine),
            DECODING: partial(decode, path),
        }
    )


bench_pool = asked(
    Question(
        name=f"compliance, 25 tests of {LOANS:,} loans of a Parquet file, two threads",
        prepare=prepare,
        data=pool_file,
        peers=(DUCKDB,),
        bounds=(DECODING,),
        repeats=4,
        ratio_least={DUCKDB: RATIO_LEAST},
    )
)


def memory_peak_bytes() -> int:
    """Return the most memory that this process has had."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def main(loans: int, folder: Path) -> None:
    """Ask ours of a file of so many loans; one that is there is taken as it is."""
    path = folder / f"pool-{loans}.parquet"
    if not path.exists():
        write_pool(path, loans)
        print(f"made {path}, {path.stat().st_size:,} bytes; ask again")
        return
    began = time.perf_counter()
    results = ours(path, deal_of(loans))
    seconds = time.perf_counter() - began
    figures: dict[str, Any] = {result.test_id: result.current_value for result in results}
    print(f"{loans:,} loans: {seconds:.1f} s, memory peak {memory_peak_bytes():,} bytes")
    print(figures, [(skip.test_id, skip.reason) for skip in results.skipped])


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
