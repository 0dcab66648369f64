"""One task of a batch: a month of a deal, from its files to its rows."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import PurePosixPath
from time import sleep, thread_time
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import core
from core.batch.order import OUTPUTS, BatchOptions, DealTerms, MonthAnswer, MonthOrder, Seconds, StagedFile
from core.batch.table import DealMonth, ResultRow, refused_row
from service.commands.batch.child import MonthLost, Reader, reader_of_thread
from service.commands.batch.places import ResultPlace, place_at

TRIES: Final = 3
"""How often a month is tried whose child was killed, or whose files or results could not be reached."""
AGAIN_SECONDS: Final = 0.5
"""Pause before the second try, and twice that before the third."""
PARTS: Final = "parts"
"""Where the rows of each finished month are kept, by key: what a later run does not do again."""
DEALS: Final = "deals"
"""Where the files of steps go, in a folder for each month."""
KEY: Final = ".key"
"""The file beside them with the key of the rows that they go with: another run may have written over them."""


class FileAddress(Struct, frozen=True):
    """A file of a month and where it is."""

    name: str
    address: str


class MonthTask(Struct, frozen=True, kw_only=True):
    """What is to be done with a month of a deal, and where its results go."""

    name: str
    """Of the folder, the archive or the file below what the user named."""
    deal: str
    folder: str
    """Name of the folder of files that its steps write."""
    files: tuple[FileAddress, ...]
    tape: FileAddress | None = None
    notes: tuple[str, ...] = ()
    terms: DealTerms
    options: BatchOptions
    out: str

    @property
    def addresses(self) -> tuple[FileAddress, ...]:
        """Every file, the tape last."""
        return (*self.files, *([] if self.tape is None else [self.tape]))


class MonthResult(Struct, frozen=True, kw_only=True):
    """What came of a task."""

    rows: bytes
    """JSON lines of its rows."""
    as_of: str = ""
    sha256: str = ""
    reused: bool = False
    """An earlier run had done it."""
    tries: int = 1
    files: int = 0
    size_bytes: int = 0
    seconds: Seconds = {}
    task_seconds: float = 0.0
    """Processor time of the task itself, without its child."""


def run_month(task: MonthTask) -> MonthResult:
    """Return the rows of a month.

    They are those of an earlier run with the same bytes and terms, else those of a child.

    The files of its steps are in place, and its rows kept, when it returns. What cannot be done is a row that says why.

    Raises:
        InterruptedError: this process is to stop.
    """
    began = thread_time()
    reader = reader_of_thread()
    result, tries = _tried(task, reader)
    here = thread_time() - began
    seconds = dict(result.seconds)
    for kind, spent in reader.take_seconds().items():
        seconds[kind] = seconds.get(kind, 0.0) + spent
    seconds["writing"] = seconds.get("writing", 0.0) + here - seconds.get("copying", 0.0)
    return replace(result, tries=tries, seconds=seconds, task_seconds=here)


def _tried(task: MonthTask, reader: Reader) -> tuple[MonthResult, int]:
    """Return the result of a month and after how many tries."""
    for tries in range(1, TRIES + 1):
        try:
            return _attempt(task, reader), tries
        except InterruptedError:
            raise
        except MonthLost as lost:
            return refused_result(task, str(lost)), tries
        except (FileNotFoundError, PermissionError) as error:
            return refused_result(task, _words(error)), tries
        except OSError as error:
            if tries == TRIES:
                return refused_result(task, f"{_words(error)} (tried {TRIES} times)"), tries
            sleep(AGAIN_SECONDS * tries)
    raise AssertionError("the last try returns")


def _attempt(task: MonthTask, reader: Reader) -> MonthResult:
    began = thread_time()
    staged = reader.stage((file.name, file.address) for file in task.addresses)
    digest = month_hash(staged)
    place, key = place_at(task.out), _key(task, staged)
    part = f"{PARTS}/{key}.jsonl"
    copying = thread_time() - began
    blank = MonthResult(rows=b"", files=len(staged), size_bytes=sum(file.size_bytes for file in staged), sha256=digest)
    if (kept := _kept_rows(task, place, key)) is not None:
        return _with_rows(blank, kept, reused=True, seconds={"copying": copying})
    answer = reader.ask(
        MonthOrder(
            deal=task.deal,
            files=tuple(staged if task.tape is None else staged[:-1]),
            tape=None if task.tape is None else staged[-1],
            sha256=digest,
            terms=task.terms,
            options=task.options,
            writes="",
            notes=task.notes,
        )
    )
    rows = _placed(task, reader, answer, place, key)
    result = _with_rows(blank, rows, seconds=answer.seconds | {"copying": copying})
    place.write(part, result.rows)
    return result


def month_hash(files: list[StagedFile]) -> str:
    """Return the hash of a month's bytes.

    Of one file it is its own, of several that of their names and hashes.
    """
    if len(files) == 1:
        return files[0].sha256
    return sha256(msgspec.json.encode([(file.name, file.sha256) for file in files])).hexdigest()


def _key(task: MonthTask, staged: list[StagedFile]) -> str:
    """Return the key of a month's rows: all that they follow from."""
    files = [(file.name, file.sha256) for file in staged]
    decided = (task.deal, task.folder, task.notes, task.tape is not None, task.terms, task.options)
    return sha256(msgspec.json.encode((core.__version__, files, decided))).hexdigest()


def _kept_rows(task: MonthTask, place: ResultPlace, key: str) -> list[ResultRow] | None:
    """Return the rows that an earlier run kept.

    None where they are missing or damaged, or a file that they name is missing or of other rows.
    """
    content = place.read(f"{PARTS}/{key}.jsonl")
    if content is None:
        return None
    try:
        rows = msgspec.json.Decoder(ResultRow).decode_lines(content)
    except msgspec.MsgspecError:
        return None
    outputs = [row.output for row in rows if row.output is not None]
    if outputs and place.read(f"{DEALS}/{task.folder}/{KEY}") != key.encode():
        return None
    return rows if rows and all(map(place.has, outputs)) else None


def _placed(task: MonthTask, reader: Reader, answer: MonthAnswer, place: ResultPlace, key: str) -> list[ResultRow]:
    """Put the files that a child wrote into their place, and name them in the rows.

    Raises:
        MonthLost: the child names a file that no step writes.
        OSError: one cannot be written.
    """
    names = {name: f"{DEALS}/{task.folder}/{name}" for name in answer.outputs}
    if not set(OUTPUTS).issuperset(names) or any(row.output not in (None, *names) for row in answer.rows):
        raise MonthLost("a file is damaged in a way that stopped its reader (files of another name)")
    if names:  # before the first of them, so that an interruption leaves no mixture that looks whole
        place.write(f"{DEALS}/{task.folder}/{KEY}", key.encode())
    for name, target in names.items():
        place.write(target, reader.outbox / name)
    return [row if row.output is None else replace(row, output=names[row.output]) for row in answer.rows]


def _with_rows(result: MonthResult, rows: list[ResultRow], *, seconds: Seconds, reused: bool = False) -> MonthResult:
    day = rows[0].as_of if rows else None
    return replace(
        result,
        rows=b"".join(msgspec.json.encode(row) + b"\n" for row in rows),
        as_of="" if day is None else day.isoformat(),
        reused=reused,
        seconds=seconds,
    )


def refused_result(task: MonthTask, reason: str) -> MonthResult:
    """Return the result of a month that could not be read; it is not kept."""
    names = "; ".join(file.name for file in task.addresses)
    row = refused_row(DealMonth(deal=task.deal, files=names, sha256=""), "read", reason)
    return _with_rows(MonthResult(rows=b"", files=len(task.addresses)), [row], seconds={})


def _words(error: OSError) -> str:
    name = "" if error.filename is None else f"{PurePosixPath(os.fspath(error.filename)).name}: "
    return f"{name}{error.strerror or error}"
