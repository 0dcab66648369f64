"""Reading a stranger's file in a child process with limits of memory and time: no file can take the caller down.

Whatever happens to the child but an answer (a crash, an abort, a limit) reads as `ParseFailed` to the caller, and
leaves nothing in the folder. A child that somebody else ended (the kernel, where memory is short) says nothing of the
file: that is `core.confined.run.ChildKilled`, as it comes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import convert

from core.confined.run import run, workplace
from core.confined.table import PARSE, PROBE, NamedFile, ParseOrder, ProbeOrder
from core.files.errors import ParseFailed
from core.files.kinds import sources_of
from core.files.probe import FileKind, Probe, SheetProbe
from core.grid.codec import CodecError, Manifest, open_workbook
from core.grid.sheet import Workbook


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that was read: its manifest, and the sheets' files in its order."""

    manifest: Manifest
    paths: tuple[Path, ...]


def parse_isolated(
    files: Path | Sequence[tuple[str, Path]],
    folder: Path,
    *,
    memory_bytes_max: int = PARSE.memory_bytes_max,
    seconds_max: float = PARSE.seconds_max,
    stop: threading.Event | None = None,
) -> Parsed:
    """Read a file in a child process, or several with the names that their users gave them; write one stored sheet for
    each worksheet of the workbook that they make (`core.files.read.read_files`) into an existing folder.

    Setting `stop` from another thread ends the child at once.

    Raises:
        FileRefused: the file's fault, also where it crashed the child or passed its limits; the folder is then as it
            was before.
        OSError: the machine's fault: a full disk, a missing folder, a child that was ended from outside.
        InterruptedError: `stop` was set.
    """
    named = [(files.name, files)] if isinstance(files, Path) else files
    order = ParseOrder(tuple(NamedFile(name, str(path.resolve())) for name, path in named))
    with workplace(folder) as made:
        answer = run(
            PARSE,
            order,
            reads=[file.path for file in order.files],
            writes=made,
            memory_bytes_max=memory_bytes_max,
            seconds_max=seconds_max,
            stop=stop,
        )
        try:
            manifest = Manifest.from_json(answer.manifest)
        except CodecError as error:
            raise ParseFailed(PARSE.texts.broken) from error
    return Parsed(manifest, tuple(folder / record.file for record in manifest.sheets))


def read_isolated(*paths: Path | str) -> Workbook:
    """The workbook in files or folders of files, parsed in a child process; it stays mapped, and leaves no file.

    Raises:
        FileRefused: as `parse_isolated`.
        OSError: the machine's fault.
    """
    with TemporaryDirectory(prefix="cushion-") as folder:
        sources = [source for path in paths for source in sources_of(Path(path))]
        parsed = parse_isolated(sources, Path(folder))
        try:
            return open_workbook(parsed.manifest, parsed.paths)
        except CodecError as error:
            raise ParseFailed(PARSE.texts.broken) from error


def probe_isolated(
    path: Path | str,
    kind: FileKind,
    *,
    memory_bytes_max: int = PROBE.memory_bytes_max,
    seconds_max: float = PROBE.seconds_max,
) -> Probe:
    """The sheets of a file of this kind, by looking at it in a child process that keeps nothing.

    Raises:
        FileRefused, OSError: as `parse_isolated`.
    """
    order = ProbeOrder(str(Path(path).resolve()))
    answer = run(PROBE, order, reads=[order.path], memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)
    return Probe(kind, convert(answer.sheets, tuple[SheetProbe, ...], from_attributes=True))
