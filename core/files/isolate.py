"""Reading a stranger's file in a child process with limits of memory and time: no file can take the caller down.

The child is `core.files.child`, run as a program. Whatever happens to it but an answer (a crash, an abort, a limit)
reads as `ParseFailed` to the caller, and leaves nothing in the folder. A child that somebody else ended (the kernel,
where memory is short) says nothing of the file: that is `core.confined.ChildKilled`, as it comes.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import msgspec

from core.confined import ChildFailed, ChildOutOfMemory, ChildOutOfTime, in_thread, run_confined
from core.files import errors
from core.files.errors import ParseFailed
from core.files.probe import FileKind, Probe, SheetProbe
from core.grid.codec import CodecError, Manifest, open_workbook
from core.grid.sheet import Workbook

T = TypeVar("T")

MEMORY_BYTES_MAX: Final = 4 * 1024**3
"""Address space of the child. 50 million slots take 0.75 GB, their growth half as much again, text up to 1 GB."""

SECONDS_MAX: Final = 120.0
"""Time of the child, on the wall and of its processor. 22 million cells in 92 MB took 6.5 s and 0.4 GB."""

_CHILD: Final = "core.files.child"
"""The module that is run. It is not imported here: it imports the readers, and these probe through this module."""

_MEMORY_HINT: Final = "The file needs more memory to be read than the limit of {:,} bytes."
_TIME_HINT: Final = "The file takes longer to be read than the limit of {:g} seconds."
_CRASH_HINT: Final = "The file is damaged in a way that stopped its reader."
_REFUSALS: Final = {kind.__name__: kind for kind in (errors.InvalidFormat, errors.FileTooLarge, errors.TooManySheets)}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that was read: its manifest, and the sheets' files in its order."""

    manifest: Manifest
    paths: tuple[Path, ...]


def parse_isolated(
    path: Path,
    folder: Path,
    *,
    memory_bytes_max: int = MEMORY_BYTES_MAX,
    seconds_max: float = SECONDS_MAX,
    stop: threading.Event | None = None,
) -> Parsed:
    """Read a spreadsheet file in a child process and write one stored sheet per worksheet into an existing folder.

    Setting `stop` from another thread ends the child at once.

    Raises:
        FileRefused: the file's fault, also where it crashed the child or passed its limits; the folder is then as it
            was before.
        OSError: the machine's fault: a full disk, a missing folder, a child that was ended from outside.
        InterruptedError: `stop` was set.
    """
    workplace = folder / ".reading"
    workplace.mkdir()
    try:
        arguments = [str(path.resolve()), str(workplace.resolve())]
        limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
        manifest = _asked(arguments, _manifest, **limits, stop=stop)
        paths = []
        for record in manifest.sheets:
            (workplace / record.file).replace(folder / record.file)
            paths.append(folder / record.file)
        return Parsed(manifest, tuple(paths))
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


async def parse_isolated_async(
    path: Path, folder: Path, *, memory_bytes_max: int = MEMORY_BYTES_MAX, seconds_max: float = SECONDS_MAX
) -> Parsed:
    """`parse_isolated` for a task: it runs in a thread, and cancelling the task ends the child before the task ends."""
    return await in_thread(parse_isolated, path, folder, memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)


def read_isolated(
    path: Path | str, *, memory_bytes_max: int = MEMORY_BYTES_MAX, seconds_max: float = SECONDS_MAX
) -> Workbook:
    """The workbook in a spreadsheet file, parsed in a child process; it stays mapped, and leaves no file.

    Raises:
        FileRefused: as `parse_isolated`.
        OSError: the machine's fault.
    """
    with TemporaryDirectory(prefix="cushion-") as folder:
        limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
        parsed = parse_isolated(Path(path), Path(folder), **limits)
        try:
            return open_workbook(parsed.manifest, parsed.paths)
        except CodecError as error:
            raise ParseFailed(_CRASH_HINT) from error


def probe_isolated(
    path: Path | str,
    kind: FileKind,
    *,
    memory_bytes_max: int = MEMORY_BYTES_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Probe:
    """The sheets of a file of this kind, by looking at it in a child process that keeps nothing.

    Raises:
        FileRefused, OSError: as `parse_isolated`.
    """
    arguments = [str(Path(path).resolve())]
    return _asked(arguments, partial(_probe, kind), memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)


def _asked(
    arguments: list[str],
    told: Callable[[dict[str, Any]], T],
    *,
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> T:
    """What the child tells of a file, the first argument; the second, if there is one, is the folder that it fills."""
    places: dict[str, Any] = {"reads": arguments[:1], "writes": arguments[1:]}
    limits: dict[str, Any] = {"memory_bytes_max": memory_bytes_max, "seconds_max": seconds_max}
    try:
        answer = run_confined(_CHILD, arguments, **places, **limits, stop=stop)
        if "refused" in answer:
            raise _REFUSALS.get(answer["refused"], ParseFailed)(answer["hint"])
        return told(answer)
    except (CodecError, KeyError, msgspec.ValidationError) as error:
        raise ParseFailed(_CRASH_HINT) from error
    except ChildOutOfTime as error:
        raise ParseFailed(_TIME_HINT.format(seconds_max)) from error
    except ChildOutOfMemory as error:
        raise ParseFailed(_MEMORY_HINT.format(memory_bytes_max)) from error
    except ChildFailed as error:
        raise ParseFailed(_CRASH_HINT) from error


def _manifest(answer: dict[str, Any]) -> Manifest:
    return Manifest.from_json(json.dumps(answer["manifest"]))


def _probe(kind: FileKind, answer: dict[str, Any]) -> Probe:
    return Probe(kind, msgspec.convert(answer["sheets"], tuple[SheetProbe, ...]))
