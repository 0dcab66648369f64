"""The confined children of a thread: one at a time reads month after month.

Each is a fork of a child that has loaded what the steps need, and reads at most 100 files. Files are copied into a
folder that it may read, and hashed on the way: what was hashed is what it reads.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from core.batch.order import READER, READY, BatchOptions, MonthAnswer, MonthOrder, Seconds, StagedFile
from core.confined.kept import ChildParent
from core.confined.run import Child, ChildFailed, ChildOutOfMemory, ChildOutOfTime, outcome_of
from core.confined.table import CALCULATING, GIGABYTE
from core.confined.wire import ChildLimits
from core.files.limits import FILE_BYTES_MAX
from service.commands.batch.places import chunks_of
from service.platform.data.scratch import hold, remove_if_abandoned

FILES_A_CHILD: Final = 100
"""Files that one child reads at most; each month's come whole."""
MONTH_SECONDS_MAX: Final = 300.0
"""Time of a month of a deal, all of its steps."""
MONTH_BYTES_MAX: Final = 4 * GIGABYTE
"""Memory of a child on top of what it has loaded."""
START_SECONDS_MAX: Final = 120.0
_FOLDER: Final = "cushion-batch-"
_ABANDONED_SECONDS: Final = 60.0
"""Age from which a folder without an owner is removed."""


class MonthLost(Exception):
    """A month came to no answer, and would not another time; the text says why."""


class StageRefused(MonthLost):
    """A file is not even copied."""


class Reader:
    """A staging folder and the children that read it; for one thread."""

    def __init__(self) -> None:
        """Make the folder; the first child starts with the first order."""
        temporary = Path(tempfile.gettempdir())
        for left in temporary.glob(f"{_FOLDER}*"):
            remove_if_abandoned(left, older_than_seconds=_ABANDONED_SECONDS)
        self._folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        self._handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        hold(self._handle)
        self._inbox, self.outbox = self._folder / "in", self._folder / "out"
        self._inbox.mkdir()
        self.outbox.mkdir()
        self._parent: ChildParent | None = None
        self._child: Child | None = None
        self._settings: dict[str, int] = {}
        self._files = 0
        self.seconds: Seconds = {}

    def stage(self, files: Iterator[tuple[str, str]]) -> list[StagedFile]:
        """Copy the files of a month into the child's folder, hashing them.

        Raises:
            StageRefused: one is larger than a file may be.
            OSError: one cannot be read, or the disk is full.
        """
        self._clear(self._inbox)
        self._clear(self.outbox)
        staged = []
        for number, (name, address) in enumerate(files):
            path, digest, size = self._inbox / str(number), sha256(), 0
            with path.open("wb") as copy:
                for chunk in chunks_of(address):
                    size += len(chunk)
                    if size > FILE_BYTES_MAX:
                        raise StageRefused(f"{name}: larger than the limit of {FILE_BYTES_MAX:,} bytes for a file")
                    digest.update(chunk)
                    copy.write(chunk)
            staged.append(StagedFile(name=name, path=str(path), sha256=digest.hexdigest(), size_bytes=size))
        return staged

    def ask(self, order: MonthOrder) -> MonthAnswer:
        """Return the child's answer to an order.

        Where formulas without values are the end of the child, it is asked once more to leave them blank.

        Raises:
            MonthLost: the child crashed, or passed a limit.
            OSError: the machine's fault; the order may be asked again.
        """
        order = replace(order, writes=str(self.outbox))
        try:
            return self._asked(order)
        except ChildFailed as failure:
            if not (self.outbox / CALCULATING).exists():
                raise MonthLost(_reason(failure)) from failure
        self._clear(self.outbox)
        try:
            return self._asked(replace(order, calculates=False))
        except ChildFailed as failure:
            raise MonthLost(_reason(failure)) from failure

    def _asked(self, order: MonthOrder) -> MonthAnswer:
        child = self._ready(order.options, len(order.files) + (order.tape is not None))
        try:
            return _answer(child.ask(msgspec.json.encode(order), MONTH_SECONDS_MAX, _stop))
        except (ChildFailed, OSError):
            child.end()
            raise

    def _ready(self, options: BatchOptions, files: int) -> Child:
        settings = {"reports": int("report" in options.steps), "exports": int("export" in options.steps)}
        if settings != self._settings:
            self._end()
        elif self._child is not None and self._files + files > FILES_A_CHILD:
            self._child.finish()
        if self._child is None or self._child.ended:
            self._settings, self._files = settings, 0
            self._child = self._fork()
        self._files += files
        return self._child

    def _fork(self) -> Child:
        limits = ChildLimits(
            parent=os.getpid(),
            memory_bytes_max=MONTH_BYTES_MAX,
            reads=(str(self._inbox),),
            writes=str(self.outbox),
        )
        if self._parent is not None and self._parent.is_alive():
            return self._parent.fork(limits)
        self._end()
        self._parent = ChildParent(READER, self._settings)
        self._child = self._parent.fork(limits)
        started = _answer(self._child.ask(READY, START_SECONDS_MAX, _stop))
        for kind, seconds in started.seconds.items():
            self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds
        return self._child

    def take_seconds(self) -> Seconds:
        """Return the processor time of starts since the last call."""
        seconds, self.seconds = self.seconds, {}
        return seconds

    def close(self) -> None:
        """End the child and remove the folder."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._handle)

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        if self._parent is not None:
            self._parent.end()

    def _clear(self, folder: Path) -> None:
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _answer(answer: bytes) -> MonthAnswer:
    outcome = outcome_of(answer)
    try:
        return msgspec.json.decode(outcome.answer, type=MonthAnswer)  # type: ignore[arg-type]
    except (msgspec.MsgspecError, TypeError) as error:
        raise ChildFailed("an answer of another kind") from error


def _reason(failure: ChildFailed) -> str:
    if isinstance(failure, ChildOutOfTime):
        return f"the deal takes longer than the limit of {MONTH_SECONDS_MAX:g} seconds"
    if isinstance(failure, ChildOutOfMemory):
        return f"the deal needs more memory than the limit of {MONTH_BYTES_MAX:,} bytes"
    return f"a file is damaged in a way that stopped its reader ({failure})"


# The readers of this process ------------------------------------------------------------------------------------------

_own = threading.local()
_stop = threading.Event()
_readers: list[Reader] = []


def reader_of_thread() -> Reader:
    """Return the reader of this thread, made at its first call."""
    reader: Reader | None = getattr(_own, "reader", None)
    if reader is None or reader not in _readers:
        reader = _own.reader = Reader()
        _readers.append(reader)
    return reader


def stop_readers() -> None:
    """End what the readers of this process do; tasks raise InterruptedError."""
    _stop.set()


@atexit.register
def close_readers() -> None:
    """Remove the readers of this process, when no thread asks them any more."""
    while _readers:
        with suppress(OSError):
            _readers.pop().close()
    _stop.clear()
