"""Reading a stranger's file in a child process with limits of memory and time: no file can take the caller down.

The child is `core.files.child`, run as a program. It says what came of it in one JSON text; whatever else happens to it
(a crash, an abort, a limit) reads as `ParseFailed` to the caller, and leaves nothing in the folder. It does not outlive
its parent.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.files import errors
from core.files.errors import ParseFailed
from core.files.probe import FileKind, Probe, SheetProbe
from core.grid.codec import CodecError, Manifest

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
_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024


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
        OSError: the machine's fault: a full disk, a missing folder.
        InterruptedError: `stop` was set.
    """
    workplace = folder / ".reading"
    workplace.mkdir()
    try:
        answer = _run_child(path, workplace, memory_bytes_max, seconds_max, stop or threading.Event())
        manifest = _manifest(answer)
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
    stop = threading.Event()
    work = asyncio.ensure_future(
        asyncio.to_thread(
            parse_isolated, path, folder, memory_bytes_max=memory_bytes_max, seconds_max=seconds_max, stop=stop
        )
    )
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        work.exception()  # seen: the cancellation is what the caller hears of
        raise


def probe_isolated(
    path: Path | str,
    kind: FileKind,
    *,
    memory_bytes_max: int = MEMORY_BYTES_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Probe:
    """The sheets of a file of this kind, by reading it whole in a child process and keeping nothing.

    Raises:
        FileRefused: as `parse_isolated`.
    """
    with TemporaryDirectory(prefix="cushion-") as folder:
        parsed = parse_isolated(Path(path), Path(folder), memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)
    return Probe(
        kind,
        tuple(
            SheetProbe(sheet.name, sheet.index, sheet.state, sheet.row_count, sheet.column_count)
            for sheet in parsed.manifest.sheets
        ),
    )


def _run_child(path: Path, folder: Path, memory: int, seconds: float, stop: threading.Event) -> bytes:
    """The child's answer; its environment holds nothing of ours, so a hijacked reader finds no secret in it."""
    root = Path(__file__).resolve().parents[2]
    arguments = [str(path.resolve()), str(folder.resolve()), str(memory), str(int(seconds) + 1), str(os.getpid())]
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and module; the file's path is an argument, no shell
        [sys.executable, "-m", _CHILD, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=root,
        env={"PYTHONPATH": os.pathsep.join(part for part in sys.path if part), "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    try:
        output = _wait(child, seconds, stop)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return _answer(child.returncode, output, memory, seconds)


def _wait(child: subprocess.Popen[bytes], seconds: float, stop: threading.Event) -> bytes:
    """The child's output once it ends, looking up every tenth of a second for `stop`."""
    left = seconds
    while True:
        try:
            output, _ = child.communicate(timeout=min(0.1, left))
        except subprocess.TimeoutExpired:
            left -= 0.1
            if stop.is_set():
                raise InterruptedError("reading was stopped") from None
            if left <= 0:
                raise ParseFailed(_TIME_HINT.format(seconds)) from None
        else:
            return output


def _answer(code: int, output: bytes, memory: int, seconds: float) -> bytes:
    """The child's manifest, or what it says instead."""
    if code == -signal.SIGXCPU:
        raise ParseFailed(_TIME_HINT.format(seconds))
    if code != 0 or len(output) > _ANSWER_BYTES_MAX:
        raise ParseFailed(_CRASH_HINT)
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise ParseFailed(_CRASH_HINT) from error
    if "memory" in answer:
        raise ParseFailed(_MEMORY_HINT.format(memory))
    if "refused" in answer:
        raise _REFUSALS.get(answer["refused"], ParseFailed)(answer["hint"])
    if "failed" in answer:
        raise OSError(*answer["failed"])
    return output


def _manifest(answer: bytes) -> Manifest:
    try:
        return Manifest.from_json(answer)
    except CodecError as error:
        raise ParseFailed(_CRASH_HINT) from error
