"""A cluster of dask on this machine, for the tests of commands that have an engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import ROOT, free_port, wait_until

START_SECONDS_MAX = 300.0
"""How long a scheduler and its workers may take to find each other on a busy machine."""
WORKERS = 2

Processes = list[subprocess.Popen[bytes]]


@contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, Processes]]:
    """A scheduler with two workers: its address, and the processes with the scheduler first."""
    address = f"127.0.0.1:{(port := free_port())}"
    dask = [sys.executable, "-m", "dask"]
    commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]]
    worker = [*dask, "worker", f"tcp://{address}", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    commands += [[*worker, "--local-directory", str(folder / str(number))] for number in range(WORKERS)]
    path, processes = folder / "log", Processes()

    def are_registered() -> bool:
        log = path.read_text(errors="replace")
        ended = [process.args for process in processes if process.poll() is not None]
        assert not ended, f"{ended} ended:\n{log}"
        return log.count("Register worker addr") == WORKERS

    try:
        with path.open("wb") as log:
            processes += [subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log) for command in commands]
        wait_until(are_registered, seconds=START_SECONDS_MAX, what="the registration of two workers")
        yield f"dask://{address}", processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
