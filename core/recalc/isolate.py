"""Recalculating a stranger's workbook in a child process with limits of memory and time."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from core.confined import ChildFailed, ChildOutOfMemory, ChildOutOfTime, in_thread, run_confined
from core.grid.codec import CodecError, Manifest

_CHILD: Final = "core.recalc.child"


class RecalculationFailed(Exception):
    """The workbook could not be recalculated; the message says why, for its user."""


@dataclass(frozen=True, slots=True)
class Recalculated:
    """A recalculated workbook: its manifest, its sheets' files in that order, and what the run came to."""

    manifest: Manifest
    paths: tuple[Path, ...]
    cell_count: int
    unsupported: tuple[str, ...]
    """Functions that the engine does not have."""
    cycles: tuple[tuple[str, ...], ...]
    """Cells that need each other, as `Sheet!A1`: the first ten of the first ten cycles."""
    cycle_count: int
    fault_count: int
    """Cells whose formula could not be read, or passed a limit."""


def recalculate_isolated(
    manifest: Manifest,
    paths: Sequence[Path],
    folder: Path,
    *,
    now: datetime,
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> Recalculated:
    """Recalculate every formula of a stored workbook in a child process; the sheets are written into `folder`.

    `paths` are the sheets' files in the manifest's order, `now` the moment of TODAY and NOW. Setting `stop` from
    another thread ends the child at once.

    Raises:
        RecalculationFailed: it crashed, or passed a limit; the folder is then as it was before.
        OSError: the machine's fault; `core.confined.ChildKilled` where the child was ended from outside.
        InterruptedError: `stop` was set.
    """
    workplace = folder / ".recalculating"
    workplace.mkdir()
    try:
        order = workplace / "order.json"
        told: dict[str, Any] = {
            "manifest": json.loads(manifest.to_json()),
            "paths": [str(path.resolve()) for path in paths],
            "now": now.isoformat(),
        }
        order.write_text(json.dumps(told), encoding="utf-8")
        limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
        made = _run(order, workplace, reads=told["paths"], **limits, stop=stop)
        for path in made.paths:
            path.replace(folder / path.name)
        return Recalculated(
            made.manifest,
            tuple(folder / path.name for path in made.paths),
            made.cell_count,
            made.unsupported,
            made.cycles,
            made.cycle_count,
            made.fault_count,
        )
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _run(
    order: Path,
    workplace: Path,
    *,
    reads: Sequence[str],
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None,
) -> Recalculated:
    folder = str(workplace.resolve())
    limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
    try:
        answer = run_confined(_CHILD, [str(order.resolve()), folder], reads=reads, writes=[folder], **limits, stop=stop)
        manifest = Manifest.from_json(json.dumps(answer["manifest"]))
        return Recalculated(
            manifest,
            tuple(workplace / record.file for record in manifest.sheets),
            answer["cell_count"],
            tuple(answer["unsupported"]),
            tuple(tuple(cycle) for cycle in answer["cycles"]),
            answer["cycle_count"],
            answer["fault_count"],
        )
    except ChildOutOfTime as error:
        raise RecalculationFailed(f"Recalculating takes longer than the limit of {seconds_max:g} seconds.") from error
    except ChildOutOfMemory as error:
        raise RecalculationFailed(
            f"Recalculating needs more memory than the limit of {memory_bytes_max:,} bytes."
        ) from error
    except (ChildFailed, CodecError, KeyError) as error:
        raise RecalculationFailed("Recalculating stopped before its end.") from error


async def recalculate_isolated_async(
    manifest: Manifest,
    paths: Sequence[Path],
    folder: Path,
    *,
    now: datetime,
    memory_bytes_max: int,
    seconds_max: float,
) -> Recalculated:
    """`recalculate_isolated` for a task: cancelling the task ends the child before the task ends."""
    return await in_thread(
        recalculate_isolated,
        manifest,
        paths,
        folder,
        now=now,
        memory_bytes_max=memory_bytes_max,
        seconds_max=seconds_max,
    )
