"""The results of a batch: rows as they come, then a table and a page."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, get_args

import msgspec

from core.batch.order import Kind, Seconds
from core.batch.summary import BatchSummary, summary_page
from core.batch.table import ResultRow
from core.batch.write import Format, write_rows
from service.commands.batch.places import ResultPlace
from service.commands.batch.work import MonthResult, MonthTask

RECORD: Final = "batch.json"
"""Settings and counters of the batch."""
PAGE: Final = "summary.html"


class _Entry(NamedTuple):
    """Where a month's rows stand in the spool, behind what they are sorted by."""

    deal: str
    as_of: str
    name: str
    sha256: str
    offset: int
    length: int


class Collector:
    """Rows of months in any order, kept on disk until all are there."""

    def __init__(self, spool: IO[bytes]) -> None:
        """Take an open file to keep rows in."""
        self._spool = spool
        self._entries: list[_Entry] = []
        self.reused = self.retried = self.files = self.size_bytes = 0
        self.seconds: Seconds = {}
        self.task_seconds = 0.0

    def add(self, task: MonthTask, result: MonthResult) -> None:
        """Keep the rows of a month."""
        offset = self._spool.tell()
        self._spool.write(result.rows)
        self._entries.append(_Entry(task.deal, result.as_of, task.name, result.sha256, offset, len(result.rows)))
        self.reused += result.reused
        self.retried += result.tries - 1
        self.files += result.files
        self.size_bytes += result.size_bytes
        self.task_seconds += result.task_seconds
        for kind, seconds in result.seconds.items():
            self.spend(kind, seconds)

    def spend(self, kind: Kind, seconds: float) -> None:
        """Count processor time."""
        self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds

    def months(self) -> Iterator[list[ResultRow]]:
        """Yield the rows of each month, sorted by deal, day and name."""
        decoder = msgspec.json.Decoder(ResultRow)
        self._spool.flush()
        for entry in sorted(self._entries):
            self._spool.seek(entry.offset)
            yield decoder.decode_lines(self._spool.read(entry.length))
        self._spool.seek(0, os.SEEK_END)


def write_results(
    collector: Collector, place: ResultPlace, form: Format, left_out: tuple[str, ...], notes: list[str]
) -> BatchSummary:
    """Write the table and the page; return what the batch came to.

    Tables of an earlier run in another form go: they would look like this one's.

    Raises:
        OSError: they cannot be written.
    """
    summary = BatchSummary()
    with tempfile.TemporaryDirectory(prefix="cushion-") as folder:
        table = Path(folder, f"results.{form}")
        write_rows(table, (row for rows in collector.months() for row in summary.pass_on(rows)), form)
        place.write(table.name, table)
    for stale in get_args(Format):
        if stale != form:
            place.remove(f"results.{stale}")
    place.write(PAGE, summary_page(summary, left_out, notes).encode("utf-8", "backslashreplace"))
    return summary


def read_record(place: ResultPlace) -> dict[str, Any]:
    """Return what an earlier batch noted of itself; nothing where there was none."""
    try:
        record = msgspec.json.decode(place.read(RECORD) or b"{}")
    except msgspec.DecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def write_record(place: ResultPlace, record: dict[str, Any]) -> None:
    """Note settings and counters of a batch."""
    place.write(RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
