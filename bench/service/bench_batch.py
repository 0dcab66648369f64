"""A batch over generated deal-months: two jobs beside one.

And the share of the processor's time that is no work on deals.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.generate import generate

MONTHS, MONTHS_QUICK = 1_000, 60
LOANS = 300
ONE_JOB = "one job"
GAIN_LEAST = 1.8
OVERHEAD_MOST = 0.15
"""Of the processor's time: starts, copies, scheduling and writing, by the batch's own counters."""
_OVERHEAD = ("start_up", "copying", "scheduling", "writing")


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _prepared(months: int, overhead_most: float, folder: Path) -> Prepared:
    sources = folder / f"sources-{months}"
    if not sources.exists():
        sources.mkdir()
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            list(pool.map(partial(_generate, sources), range(months), chunksize=10))
    seconds: dict[int, float] = {}

    def run(jobs: int) -> Path:
        out = folder / f"out-{months}-{jobs}"
        command = [str(Path(sys.executable).with_name("cushion")), "batch", str(sources), "--out", str(out)]
        began = time.perf_counter()
        subprocess.run([*command, "--jobs", str(jobs), "--now", "2026-04-15"], check=True, capture_output=True)
        seconds[jobs] = time.perf_counter() - began
        return out

    double, single = run(2), run(1)
    for name in ("results.parquet", "summary.html"):
        assert (double / name).read_bytes() == (single / name).read_bytes(), f"{name} differs by the number of jobs"
    shares = {f"overhead of {jobs}": _overhead(out) for jobs, out in ((2, double), (1, single))}
    assert max(shares.values()) <= overhead_most, shares
    return Prepared(works={OURS: [seconds[2]], ONE_JOB: [seconds[1]]}, facts=shares)


def _generate(sources: Path, seed: int) -> None:
    generate(LOANS, seed).write(sources / f"deal-{seed:04}.xlsx")


def _overhead(out: Path) -> float:
    counters: dict[str, Any] = json.loads((out / "batch.json").read_text())["counters"]
    assert counters["refused"] == 0, counters
    seconds = counters["processor_seconds"]
    return round(sum(seconds[kind] for kind in _OVERHEAD) / sum(seconds.values()), 4)


bench_batch = asked(
    Question(
        name=f"cushion batch, {MONTHS:,} deal-months", prepare=partial(_prepared, MONTHS, OVERHEAD_MOST), data=_folder,
        peers=(ONE_JOB,), repeats=1, warm=0, ratio_least={ONE_JOB: GAIN_LEAST},
    ),
    Question(
        name=f"cushion batch, {MONTHS_QUICK:,} deal-months",
        prepare=partial(_prepared, MONTHS_QUICK, 1.0), data=_folder,
        peers=(ONE_JOB,), repeats=1, warm=0, quick=True, floor=False,
    ),
)  # fmt: skip
