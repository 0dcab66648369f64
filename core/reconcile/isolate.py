"""Reading a stranger's tape, and comparing it with a stranger's workbook, in a child with limits of memory and time.

The child is `core.reconcile.child`, run as a program. Whatever happens to it but an answer reads as a refusal to the
caller, and leaves nothing in the folder; that somebody else ended it is told as it is (`core.confined.ChildKilled`).
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from core.confined import ChildFailed, ChildOutOfMemory, ChildOutOfTime, in_thread, run_confined
from core.reconcile.tape import TapeRefused

_CHILD: Final = "core.reconcile.child"
"""The module that is run; it imports this one."""

LOANS_FILE: Final = "loans.safetensors"
ISSUES_FILE: Final = "issues.copy"


class ComparisonFailed(Exception):
    """The comparison could not be made; the message says why, for its user."""


@dataclass(frozen=True, slots=True)
class StoredTape:
    """A tape that was read."""

    path: Path
    """Its loans: a sheet of `core.portfolio.stored`."""
    loan_count: int
    total_par: float
    sheet_name: str
    header_row: int
    """As a spreadsheet counts, from 1."""
    columns: dict[str, str]
    """Field -> the header that feeds it."""
    as_of: str | None
    """ISO date, where the file says one."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is to be compared, and how."""

    loans: str
    """Path of the tape's stored loans."""
    manifest: dict[str, Any]
    """The workbook's manifest, as `Manifest.to_json` writes it."""
    paths: Sequence[str]
    """Its sheets' files, in the manifest's order."""
    mapping: str
    """JSON of the workbook's `Mapping`."""
    rules: Sequence[str]
    tolerances: dict[str, float]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison found."""

    path: Path
    """Its issues, as `core.reconcile.copying` writes them."""
    summary: dict[str, int]
    stages: dict[str, int]
    ambiguous: dict[str, int]
    warnings: tuple[str, ...]
    not_compared: dict[str, str]
    as_of: str | None
    """ISO date that the workbook is of, where it says one."""


def read_tape_isolated(
    path: Path,
    folder: Path,
    *,
    trustee: str,
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> StoredTape:
    """Read a tape in the manner of a trustee in a child process; its loans are written into an existing folder.

    Setting `stop` from another thread ends the child at once.

    Raises:
        TapeRefused: the file's fault, also where it crashed the child or passed its limits.
        OSError: the machine's fault.
        InterruptedError: `stop` was set.
    """
    order = {"work": "read_tape", "path": str(path.resolve()), "trustee": trustee}
    limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max, "stop": stop}
    answer = _run("Reading the tape", order, folder, TapeRefused, reads=[order["path"]], **limits)
    return StoredTape(**{**answer, "path": folder / LOANS_FILE, "warnings": tuple(answer["warnings"])})


async def read_tape_isolated_async(
    path: Path, folder: Path, *, trustee: str, memory_bytes_max: int, seconds_max: float
) -> StoredTape:
    """`read_tape_isolated` for a task: cancelling the task ends the child before the task ends."""
    return await in_thread(
        read_tape_isolated,
        path,
        folder,
        trustee=trustee,
        memory_bytes_max=memory_bytes_max,
        seconds_max=seconds_max,
    )


def compare_isolated(
    comparison: Comparison,
    folder: Path,
    *,
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> Compared:
    """Compare a tape with a workbook in a child process; the issues are written into an existing folder.

    Raises:
        ComparisonFailed: it cannot be made, crashed, or passed a limit.
        OSError: the machine's fault.
        InterruptedError: `stop` was set.
    """
    order = {"work": "compare", **asdict(comparison)}
    limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max, "stop": stop}
    reads = [comparison.loans, *comparison.paths]
    answer = _run("Comparing", order, folder, ComparisonFailed, reads=reads, **limits)
    return Compared(**{**answer, "path": folder / ISSUES_FILE, "warnings": tuple(answer["warnings"])})


async def compare_isolated_async(
    comparison: Comparison, folder: Path, *, memory_bytes_max: int, seconds_max: float
) -> Compared:
    """`compare_isolated` for a task: cancelling the task ends the child before the task ends."""
    return await in_thread(
        compare_isolated, comparison, folder, memory_bytes_max=memory_bytes_max, seconds_max=seconds_max
    )


def _run(
    what: str,
    order: dict[str, Any],
    folder: Path,
    refusal: type[Exception],
    *,
    reads: Sequence[str],
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None,
) -> dict[str, Any]:
    """The child's answer; what it wrote is in the folder then."""
    workplace = folder / ".reconciling"
    workplace.mkdir()
    try:
        told, made = workplace / "order.json", workplace / "made"
        made.mkdir()
        told.write_text(json.dumps(order), encoding="utf-8")
        arguments = [str(told.resolve()), str(made.resolve())]
        places: dict[str, Any] = {"reads": [arguments[0], *reads], "writes": arguments[1:2]}
        limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
        answer = run_confined(_CHILD, arguments, **places, **limits, stop=stop)
        if "refused" in answer:
            raise refusal(answer["refused"])
        for path in made.iterdir():
            path.replace(folder / path.name)
        return answer
    except ChildOutOfTime as error:
        raise refusal(f"{what} takes longer than the limit of {seconds_max:g} seconds.") from error
    except ChildOutOfMemory as error:
        raise refusal(f"{what} needs more memory than the limit of {memory_bytes_max:,} bytes.") from error
    except ChildFailed as error:
        raise refusal(f"{what} stopped before its end.") from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
