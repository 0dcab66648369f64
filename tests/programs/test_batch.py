"""A batch whose processes are killed, and one on a cluster of dask: the same bytes as one that nothing disturbs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.generate import generate
from tests.conftest import ROOT
from tests.conftest import wait_until as wait_for
from tests.processes import children_of, is_there
from tests.programs.clusters import Processes, dask_cluster

DEALS = 40
BROKEN = 3
SECONDS_MAX = 120.0
OPTIONS = ("--format", "csv", "--steps", "suite,report", "--report-format", "xlsx", "--now", "2026-04-15")
CODE = 2
"""Of a batch with files that cannot be read."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated deals, some of them damaged."""
    path = tmp_path_factory.mktemp("sources")
    for seed in range(DEALS):
        generate(200, seed).write(path / f"deal-{seed:03}.xlsx")
    for seed in range(BROKEN):
        damaged = path / f"deal-{seed * 7:03}.xlsx"
        damaged.write_bytes(damaged.read_bytes()[: 4_000 + seed])
    return path


@contextmanager
def batch(sources: Path, out: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A batch that runs, ended at the latest here."""
    command = [sys.executable, "-m", "service.commands.cli", "batch", str(sources), "--out", str(out)]
    process = subprocess.Popen(
        [*command, *OPTIONS, *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(sources: Path, out: Path, *options: str) -> dict[str, Any]:
    """Run a batch to its end and return its counters."""
    with batch(sources, out, *options) as process:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == CODE, errors
    counters: dict[str, Any] = json.loads((out / "batch.json").read_text())["counters"]
    return counters


def results(out: Path) -> dict[str, bytes]:
    """Everything that a batch wrote for its user, by name."""
    names = [out / "results.csv", out / "summary.html", *sorted(out.glob("deals/**/*.xlsx"))]
    return {str(path.relative_to(out)): path.read_bytes() for path in names}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sources: Path) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed")
    counters = finish(sources, out, "--jobs", "2")
    assert (counters["deal_months"], counters["refused"], counters["tried_again"]) == (DEALS, BROKEN, 0)
    written = results(out)
    assert len(written) == DEALS - BROKEN + 2
    return written


def patiently(true: Callable[[], Any], what: str) -> None:
    """Wait for what a busy machine may take long for."""
    wait_for(true, seconds=SECONDS_MAX, what=what)


def parts(out: Path) -> int:
    return len([*out.glob("parts/*.jsonl")])


def below(process: int) -> list[int]:
    """Processes that a process, or a child of it, has started."""
    started = children_of(process)
    return started + [each for child in started for each in below(child)]


def test_a_killed_child_costs_a_try_and_changes_nothing(
    sources: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    with batch(sources, tmp_path, "--jobs", "2") as process:
        for count in (2, 12):
            patiently(lambda count=count: parts(tmp_path) >= count, what="a few deals")  # type: ignore[misc]
            os.kill(below(process.pid)[-1], signal.SIGKILL)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == CODE, errors
    assert results(tmp_path) == undisturbed
    assert json.loads((tmp_path / "batch.json").read_text())["counters"]["tried_again"] >= 1


def test_a_killed_batch_goes_on_where_it_ended(sources: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    for count in (4, 16):
        with batch(sources, tmp_path, "--jobs", "2") as process:
            patiently(lambda count=count: parts(tmp_path) >= count, what="a few deals")  # type: ignore[misc]
            children = below(process.pid)
            process.kill()
            process.wait()
        assert children
        patiently(lambda children=children: not any(map(is_there, children)), what="its children's end")  # type: ignore[misc]
    kept = parts(tmp_path)
    assert 16 <= kept < DEALS
    assert finish(sources, tmp_path, "--jobs", "1")["done_earlier"] == kept
    assert results(tmp_path) == undisturbed


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Processes]]:
    """A scheduler of dask with two workers."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as address_and_processes:
        yield address_and_processes


def test_a_cluster_gives_the_same_bytes(
    sources: Path, tmp_path: Path, undisturbed: dict[str, bytes], cluster: tuple[str, Processes]
) -> None:
    counters = finish(sources, tmp_path, "--engine", cluster[0])
    assert counters["deal_months"] == DEALS
    assert results(tmp_path) == undisturbed


def test_killed_workers_and_clients_of_a_cluster_lose_nothing(
    sources: Path, tmp_path: Path, undisturbed: dict[str, bytes], cluster: tuple[str, Processes]
) -> None:
    address, (_, worker, _) = cluster
    with batch(sources, tmp_path, "--engine", address) as process:
        patiently(lambda: parts(tmp_path) >= 4, what="a few deals")
        process.kill()
        process.wait()
    kept = parts(tmp_path)
    assert kept < DEALS
    with batch(sources, tmp_path, "--engine", address) as process:
        patiently(lambda: parts(tmp_path) >= kept + 4, what="a few deals more")
        worker.kill()
        _, errors = process.communicate(timeout=300)
        assert process.returncode == CODE, errors
    assert json.loads((tmp_path / "batch.json").read_text())["counters"]["done_earlier"] >= kept
    assert results(tmp_path) == undisturbed


def test_a_lost_scheduler_ends_the_batch_in_words(
    sources: Path, tmp_path: Path, cluster: tuple[str, Processes]
) -> None:
    address, (scheduler, *_) = cluster
    with batch(sources, tmp_path, "--engine", address) as process:
        patiently(lambda: parts(tmp_path) >= 2, what="a few deals")
        scheduler.kill()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.splitlines()[-1].startswith("cushion: the dask scheduler at ")
    with batch(sources, tmp_path, "--engine", address) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.splitlines()[-1].startswith("cushion: no dask scheduler answers at ")
