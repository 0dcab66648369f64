"""Reading a stranger's file in a child process with limits of memory and time.

No file can take the caller down.

Whatever happens to the child but an answer (a crash, an abort, a limit) reads as `ParseFailed` to the caller, and
leaves nothing in the folder. A child that somebody else ended (the kernel, where memory is short) says nothing of the
file: that is `core.confined.run.ChildKilled`, as it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar, Unpack

from msgspec.structs import replace

from core.confined.run import ChildFailed, run, workplace
from core.confined.table import CALCULATING, PARSE, Bounds, ConfinedWork, NamedFile, ParseOrder, TapeOrder
from core.files.errors import ParseFailed
from core.files.kinds import sources_of
from core.files.probe import PROBE, FileKind, Probe, ProbeOrder
from core.grid.codec import CodecError, WorkbookRecord, open_workbook
from core.grid.sheet import Workbook

CALCULATING_SHARE: Final = 0.5
"""Of the time that reading a file may take, the part after which no more formulas without values are calculated: what
comes then, the writing, must have its time, too."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file that was read: its manifest, and the sheets' files in its order."""

    manifest: WorkbookRecord
    paths: tuple[Path, ...]


def parse_isolated(
    files: Path | Sequence[tuple[str, Path]],
    folder: Path,
    *,
    now: datetime | None = None,
    **bounds: Unpack[Bounds],
) -> ParsedFile:
    """Read a file in a child process, or several with the names that their users gave them; write one stored sheet for
    each worksheet of the workbook that they make (`core.files.read.read_files`) into an existing folder.

    Formulas that came without a value are calculated with `now` as the moment of TODAY and NOW; without it they are
    left blank. `WorkbookRecord.filled` tells of them.

    Raises:
        FileRefused: the file's fault, also where it crashed the child or passed its limits; the folder is then as it
            was before.
        OSError: the machine's fault: a full disk, a missing folder, a child that was ended from outside.
        InterruptedError: `stop` was set.
    """
    named = [(files.name, files)] if isinstance(files, Path) else files
    order = ParseOrder(tuple(NamedFile(name, str(path.resolve())) for name, path in named))
    with workplace(folder) as place:
        answer = read_by_child(
            PARSE,
            order,
            now=now,
            reads=[file.path for file in order.files],
            writes=place,
            **bounds,
        )
        try:
            manifest = WorkbookRecord.from_json(answer.manifest)
        except CodecError as error:
            raise ParseFailed(PARSE.texts.broken) from error
    return ParsedFile(manifest, tuple(folder / record.file for record in manifest.sheets))


O = TypeVar("O", ParseOrder, TapeOrder)  # noqa: E741 - an order to read a file
A = TypeVar("A")


def read_by_child(
    work: ConfinedWork[O, A],
    order: O,
    *,
    now: datetime | None,
    reads: Sequence[str],
    writes: Path,
    **bounds: Unpack[Bounds],
) -> A:
    """Return a child's answer to an order to read a file.

    With `now`, formulas that came without a value are calculated; where that is the end of the child, it is asked once
    more to do without, so that no formula keeps a file from being read.

    Raises:
        Exception: as `core.confined.run.run`.
    """
    if now is not None:
        seconds = bounds.get("seconds_max", work.seconds_max) * CALCULATING_SHARE
        try:
            asked = replace(order, now=now.isoformat(), seconds_max=seconds)
            return run(work, asked, reads=reads, writes=writes, **bounds)
        except Exception as refused:
            if not isinstance(refused.__cause__, ChildFailed) or not (writes / CALCULATING).exists():
                raise
        for path in writes.iterdir():
            path.unlink()
    return run(work, order, reads=reads, writes=writes, **bounds)


def read_isolated(*paths: Path | str, now: datetime | None = None) -> Workbook:
    """Return the workbook in files or folders of files, parsed in a child process.

    It stays mapped, and leaves no file. `now` as in `parse_isolated`.

    Raises:
        FileRefused: as `parse_isolated`.
        OSError: the machine's fault.
    """
    with TemporaryDirectory(prefix="cushion-") as folder:
        sources = [source for path in paths for source in sources_of(Path(path))]
        parsed = parse_isolated(sources, Path(folder), now=now)
        try:
            return open_workbook(parsed.manifest, parsed.paths)
        except CodecError as error:
            raise ParseFailed(PARSE.texts.broken) from error


def probe_isolated(path: Path | str, kind: FileKind, *, name: str, **bounds: Unpack[Bounds]) -> Probe:
    """Return the sheets of a file of this kind that is called `name`, by looking at it in a child process that keeps
    nothing.

    Raises:
        FileRefused, OSError: as `parse_isolated`.
    """
    order = ProbeOrder(str(Path(path).resolve()), name)
    return Probe(kind, run(PROBE, order, reads=[order.path], **bounds))
