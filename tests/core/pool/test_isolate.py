"""A pool that a confined child reads: the same results, and every end of the child in words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.compliance.result import Results
from core.confined.sandbox import lacking
from core.definition.document import ready
from core.pool.isolate import run_pool_isolated
from core.pool.run import run_pool
from core.pool.source import PoolRefused
from tests.core.pool.pools import DAY, DEAL, TRANCHES, loans, write

OPTIONS: dict[str, Any] = {"tranches": TRANCHES, "deal": DEAL | {"as_of": DAY}}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = loans(2, 900)
    columns.pop("as_of", None)
    return write(tmp_path_factory.mktemp("pools") / "pool", columns, 50, files=3)


def content(results: Results) -> bytes:
    """What a command shows of results."""
    parts = [list(results), results.skipped, results.as_of, results.as_of_source, results.warnings, results.figures]
    return msgspec.json.encode(parts)


def test_a_child_gives_the_results_of_this_process(pool: Path) -> None:
    options = OPTIONS | {"definition": ready("us_bsl")}
    results = run_pool_isolated(pool, "enhanced", threads=2, **options)
    assert len(results) > 10
    assert content(results) == content(run_pool(pool, "enhanced", **options))


def test_a_refusal_is_that_of_the_pool(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(PoolRefused, match=r"^pool.parquet: no Parquet file, or damaged"):
        run_pool_isolated(path, threads=2)
    with pytest.raises(FileNotFoundError):
        run_pool_isolated(tmp_path / "absent.parquet", threads=2)


def test_limits_of_the_child_are_refusals(pool: Path) -> None:
    with pytest.raises(PoolRefused, match=r"longer than the limit of 0.05 seconds \(POOL_SECONDS_MAX\)"):
        run_pool_isolated(pool, threads=2, seconds_max=0.05)
    with pytest.raises(PoolRefused, match=r"POOL_ADDRESS_BYTES_MAX"):
        run_pool_isolated(pool, threads=2, memory_bytes_max=400 * 2**20)


def test_a_child_reads_nothing_beside_its_pool(pool: Path, tmp_path: Path) -> None:
    if "landlock" in lacking():
        (pytest.fail if "CI" in os.environ else pytest.skip)("the kernel has no Landlock")
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "part.parquet").symlink_to(next(pool.glob("*.parquet")))
    with pytest.raises(PermissionError):
        run_pool_isolated(folder, threads=2, **OPTIONS)
    assert len(run_pool(folder, **OPTIONS))
