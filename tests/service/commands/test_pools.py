"""The compliance command on a pool of loans that is read piece by piece."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from core.generate import generate
from tests.core.pool.pools import loans, write

Cushion = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random loans, with a day."""
    columns = loans(2, 400)
    columns["as_of"] = [20_543] * 400
    return write(tmp_path_factory.mktemp("pools") / "pool.parquet", columns, 50)


def test_a_pool_has_the_results_and_exit_codes_of_a_workbook(cushion: Cushion, pool: Path) -> None:
    answer = cushion("compliance", pool, "--suite", "enhanced", "--format", "json")
    assert (answer.returncode, answer.stderr) == (0, "")
    document = json.loads(answer.stdout)
    assert document["as_of"] == "2026-03-31"
    assert document["summary"]["total"] >= 15
    statuses = {result["test_id"]: result["status"] for result in document["results"]}
    assert "fail" in statuses.values()
    assert cushion("compliance", pool, "--suite", "enhanced", "--fail-on", "fail").returncode == 1
    failed = [test_id for test_id, status in statuses.items() if status == "fail" and "concentration" in test_id]
    limits = [f"{test_id}=100" for test_id in failed]
    document_of_limits = json.loads(
        cushion("compliance", pool, "--suite", "enhanced", "--format", "json", "--threshold", *limits).stdout
    )
    wider = {result["test_id"]: result["status"] for result in document_of_limits["results"]}
    assert limits
    assert {wider[limit.partition("=")[0]] for limit in limits} == {"pass"}


def test_a_pool_that_cannot_be_read_is_refused(cushion: Cushion, tmp_path: Path) -> None:
    (tmp_path / "pool.parquet").write_bytes(b"PAR1 and nothing else")
    answer = cushion("compliance", tmp_path / "pool.parquet")
    assert answer.returncode == 2
    assert "pool.parquet: no Parquet file, or damaged" in answer.stderr
    answer = cushion("compliance", tmp_path / "absent.parquet")
    assert answer.returncode == 2
    assert "absent.parquet" in answer.stderr


def test_an_engine_is_for_pools_alone(cushion: Cushion, pool: Path, tmp_path: Path) -> None:
    generate(200, 1).write(tmp_path / "deal.xlsx")
    answer = cushion("compliance", tmp_path / "deal.xlsx", "--engine", "dask://127.0.0.1:1")
    assert answer.returncode == 2
    assert "--engine adds up a pool of loans" in answer.stderr
    answer = cushion("compliance", pool, "--engine", "127.0.0.1:1")
    assert answer.returncode == 2
    assert "--engine is dask://HOST:PORT or ray://HOST:PORT" in answer.stderr
