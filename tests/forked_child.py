"""Reading a file in a fork of this process, behind the walls and limits of a confined child.

The start of a child costs more than to read a small file. A fork of a process that has imported the reader runs the
same program (`core.confined.child`) within milliseconds, so that thousands of files are read within minutes.

Only a process of one thread is forked: `pool` gives such processes.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, NoReturn

import msgspec
import regex

from core.confined import child
from core.confined.run import workplace
from core.confined.table import PARSE, NamedFile, ParseAnswer, ParseOrder
from core.confined.wire import HEAD, ChildLimits, ChildOutcome
from core.files.errors import FileRefused
from core.grid.codec import CodecError, WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.recalc.confined import parse
from tests.raw_pdf import document

SECONDS_MAX: Final = 20.0
"""For one file."""
HINT_CHARACTERS_MAX: Final = 400
_SENTENCE: Final = regex.compile(r"[A-Z\d'\"].*[.)]\Z")


class Outcome(msgspec.Struct, frozen=True):
    """What reading a file comes to."""

    result: str
    """read, refused, stopped (a limit of memory), crashed (the library ended its child by a signal). Or what must not
    be: late, fault (an exception that is no refusal), wrong."""
    text: str = ""
    """The hint, the signal, or where the fault happened."""
    seconds: float = 0.0
    megabytes: int = 0
    """The most memory that the fork held."""


BAD: Final = frozenset({"late", "fault", "wrong"})

Check = Callable[[Workbook], Outcome]
"""What is looked at in a workbook that was read."""


class _Answer(NamedTuple):
    """What a fork answered, its exit code (neither where it took too long), and the most kilobytes that it held."""

    data: bytes | None
    code: int | None
    kilobytes: int


def _become_child(descriptors: Sequence[int], closed: Sequence[int]) -> NoReturn:
    """Run the program of a confined child in this fork."""
    for descriptor in closed:
        os.close(descriptor)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    sys.stdin = os.fdopen(0)
    try:
        child.main(PARSE.does)
    finally:
        os._exit(1)


def _ask_fork(order: ParseOrder, place: Path, seconds_max: float, memory_bytes_max: int) -> _Answer:
    limits = ChildLimits(
        parent=os.getpid(),
        memory_bytes_max=memory_bytes_max,
        seconds_max=seconds_max,
        reads=tuple(file.path for file in order.files),
        writes=str(place),
        refusals=PARSE.refusals,
    )
    (orders, send), (receive, answers) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        with open(os.devnull, "wb") as nothing:
            _become_child((orders, answers, nothing.fileno()), (send, receive))
    os.close(orders)
    os.close(answers)
    text = msgspec.json.encode(order)
    with suppress(BrokenPipeError):
        os.write(send, msgspec.json.encode(limits) + b"\n" + HEAD.pack(True, len(text)) + text)
    os.close(send)
    answer, end = bytearray(), time.monotonic() + seconds_max
    is_over = False
    with selectors.DefaultSelector() as waiting:
        waiting.register(receive, selectors.EVENT_READ)
        while not is_over and waiting.select(max(0.0, end - time.monotonic())):
            part = os.read(receive, 2**20)
            answer += part
            is_over = not part
    os.close(receive)
    if not is_over:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status) if is_over else None
    return _Answer(bytes(answer[HEAD.size :]) if is_over else None, code, usage.ru_maxrss)


def read_in_fork(
    path: Path,
    folder: Path,
    check: Check,
    seconds_max: float = SECONDS_MAX,
    memory_bytes_max: int = PARSE.memory_bytes_max,
) -> Outcome:
    """Return what reading a file comes to, in a fork of this process; the folder is empty before and after."""
    began = time.monotonic()
    outcome = _read_in_fork(path, folder, check, seconds_max, memory_bytes_max)
    names = [each.name for each in folder.iterdir()]
    if outcome.result != "read" and names:
        outcome = Outcome("wrong", f"left behind: {', '.join(names)}")
    for name in names:
        (folder / name).unlink()
    return msgspec.structs.replace(outcome, seconds=time.monotonic() - began)


def _read_in_fork(path: Path, folder: Path, check: Check, seconds_max: float, memory_bytes_max: int) -> Outcome:
    order = ParseOrder((NamedFile(path.name, str(path)),))
    try:
        with workplace(folder) as place:
            answer = _ask_fork(order, place, seconds_max, memory_bytes_max)
            outcome = _outcome(answer, place, check, seconds_max)
            if outcome.result != "read":
                for each in place.iterdir():  # as `workplace` does where a child's caller raises
                    each.unlink()
    except (CodecError, msgspec.MsgspecError, FileRefused) as error:
        return Outcome("wrong", repr(error))
    return msgspec.structs.replace(outcome, megabytes=answer.kilobytes // 1024)


def _outcome(answer: _Answer, place: Path, check: Check, seconds_max: float) -> Outcome:
    if answer.data is None or answer.code == -signal.SIGXCPU:
        return Outcome("late", f"longer than {seconds_max:g} seconds")
    if answer.code:
        name = signal.Signals(-answer.code).name if answer.code < 0 else f"code {answer.code}"
        return Outcome("wrong" if answer.code > 0 or answer.code == -signal.SIGKILL else "crashed", name)
    outcome = msgspec.json.decode(answer.data, type=ChildOutcome)
    if outcome.refused is not None:
        return checked_hint(outcome.refused[1])
    if outcome.lacked_memory:
        return Outcome("stopped", "memory")
    if outcome.answer is msgspec.UNSET:
        return Outcome("fault", outcome.crashed or str(outcome.failed))
    record = WorkbookRecord.from_json(msgspec.json.decode(outcome.answer, type=ParseAnswer).manifest)
    return check(open_workbook(record, [place / sheet.file for sheet in record.sheets]))


def checked_hint(hint: str) -> Outcome:
    """Return a refusal, whose hint must be sentences that print."""
    is_plain = hint.isprintable() and _SENTENCE.match(hint) is not None and len(hint) <= HINT_CHARACTERS_MAX
    return Outcome("refused" if is_plain else "wrong", hint)


def checked_pages(book: Workbook) -> Outcome:
    """Return that a document was read, whose rows must know page and line, and whose cells must be there."""
    for sheet in book.sheets:
        lines = sheet.page_lines
        if lines.shape != (sheet.row_count, 2):
            return Outcome("wrong", f"{lines.shape} pages and lines of {sheet.row_count} rows")
        if len(lines) and int(lines.min()) < 1:
            return Outcome("wrong", f"page and line {lines.min(axis=0)}")
        for row in range(sheet.row_count):
            for column in range(sheet.column_count):
                value = sheet.value(row, column)
                if isinstance(value, str) and not _can_be_kept(value):
                    return Outcome("wrong", f"a text that no database takes: {value!r}")
    return Outcome("read", ", ".join(sorted({remark.code for remark in book.remarks})))


def _can_be_kept(text: str) -> bool:
    """Return whether a database takes a text: no NUL, no lone surrogate."""
    return "\0" not in text and text.encode(errors="ignore").decode() == text


def warm() -> None:
    """Import the reader ahead of the forks."""
    with TemporaryDirectory() as name, suppress(FileRefused):
        path = Path(name) / "warm.pdf"
        path.write_bytes(document())
        parse(ParseOrder((NamedFile(path.name, str(path)),)), Path(name))


def pool(workers: int = 1) -> ProcessPoolExecutor:
    """Return processes in which `read_in_fork` may be called."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=warm)
