"""Pools by the command: millions of loans in little memory, and parts that a cluster adds up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from bench.core.bench_compliance import duckdb_figures
from bench.core.bench_pool import LOANS, check, duckdb_of, ours, write_pool
from core.pool.run import run_pool
from tests.conftest import ROOT
from tests.core.pool.pools import loans, write
from tests.programs.clusters import dask_cluster


def compliance(pool: Path, *options: str) -> str:
    command = [sys.executable, "-m", "service.commands.cli", "compliance", str(pool), "--suite", "enhanced"]
    done = subprocess.run(
        [*command, "--as-of", "2026-03-31", "--format", "json", *options],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return done.stdout


def test_a_cluster_adds_up_the_same_pool(tmp_path: Path) -> None:
    columns = loans(2, 900)
    columns.pop("as_of", None)
    pool = write(tmp_path / "pool", columns, 50, files=5)
    known = compliance(pool)
    assert '"test_id"' in known
    with dask_cluster(tmp_path) as (address, _):
        assert compliance(pool, "--engine", address) == known


def test_five_million_loans_have_the_figures_of_duckdb_in_two_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    book = write_pool(path, LOANS)
    check(ours(path, book), duckdb_figures(book, duckdb_of(path)))
    answer = json.loads(compliance(path))
    assert getrusage(RUSAGE_CHILDREN).ru_maxrss * 1024 < 2 * 1024**3
    of_command = {row["test_id"]: row["current_value"] for row in answer["results"]}
    results = run_pool(path, "enhanced", deal={"as_of": "2026-03-31"})  # without the cash of the book
    known = {result.test_id: result.current_value for result in results}
    assert len(of_command) > 10
    assert of_command == known
