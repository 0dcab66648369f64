"""What a confined child does with a stranger's stored workbook.

`core.confined.table` has the row.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import random
from time import monotonic
from typing import Final

from core.confined.table import CALCULATING, ParseAnswer, ParseOrder, RecalculateAnswer, RecalculateOrder
from core.files.read import Finish, read_files
from core.grid.codec import WorkbookRecord, open_workbook, write_workbook
from core.grid.sheet import BlankFormulas, Workbook
from core.recalc.blank import blank_formulas, count_blank, note
from core.recalc.book import FILLING_SECONDS_MAX, Book, with_values
from core.recalc.doubts import doubts_of
from core.recalc.result import Recalculation

LATER_SECONDS: Final = 0.5
"""What looks at the time by itself comes first, and keeps what it has calculated."""
AGAIN_SECONDS: Final = 0.5
"""Somewhere in compiled code an exception may be lost; the next one is not."""

CYCLES_MAX: Final = 10
CYCLE_CELLS_MAX: Final = 10


def parse(order: ParseOrder, folder: Path) -> ParseAnswer:
    """Store the workbook of some files in a folder.

    Formulas that came without a value are calculated.

    Raises:
        FileRefused, OSError: as `core.files.read.read_files`.
    """
    with calculating(order.now, order.seconds_max, folder) as finish:
        book = read_files([(file.name, Path(file.path)) for file in order.files], finish)
        return ParseAnswer(write_workbook(book, folder).to_json())


@contextmanager
def calculating(
    now: str | None, seconds_max: float, folder: Path, draw: Callable[[], float] = random
) -> Iterator[Finish]:
    """What a child does with a workbook that it read.

    Formulas without values are calculated, in so many seconds from here on, or with no `now` are blank, with a warning.
    `draw` is what RAND asks.

    Meanwhile a mark stands in the folder, by which `core.files.isolate.read_by_child` knows that the file was read.
    """
    deadline = monotonic() + seconds_max
    mark = folder / CALCULATING

    def finish(book: Workbook) -> Workbook:
        if now is None:
            return with_values(book, now=None, random=None, seconds_max=0.0)
        mark.touch()
        left = min(deadline - monotonic(), FILLING_SECONDS_MAX)
        try:
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.0) + LATER_SECONDS, AGAIN_SECONDS)
            return with_values(book, now=datetime.fromisoformat(now), random=draw, seconds_max=left)
        except _OutOfTime:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            return with_values(book, now=None, random=None, seconds_max=0.0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    signal.signal(signal.SIGALRM, _ring)
    yield finish
    mark.unlink(missing_ok=True)


class _OutOfTime(BaseException):
    """The time is up, for a function that does not look at it.

    No Exception, so that none takes it for its own.
    """


def _ring(*_: object) -> None:
    raise _OutOfTime


def _still_blank(book: Book, cells: int, result: Recalculation) -> BlankFormulas | None:
    """Return what is left to say, after a calculation of every formula, of those that came without a value."""
    left = count_blank([blank_formulas(sheet) for sheet in book.sheets])
    return BlankFormulas(cells, left, note(cells, left, "", result)) if left else None


def recalculate(order: RecalculateOrder, folder: Path) -> RecalculateAnswer:
    """Calculate every formula of a workbook and store it in a folder.

    Raises:
        CodecError: the stored workbook is damaged.
        OSError: one of its files cannot be read.
    """
    book = Book(open_workbook(WorkbookRecord.from_json(order.manifest), [Path(path) for path in order.paths]))
    result = book.recalculate(now=datetime.fromisoformat(order.now), random=random, locale=order.locale)
    manifest = replace(write_workbook(book, folder), doubts=doubts_of(result))
    if book.filled is not None:
        manifest = replace(manifest, filled=_still_blank(book, book.filled.cells, result))
    return RecalculateAnswer(
        manifest=manifest.to_json(),
        cell_count=result.cell_count,
        unsupported=tuple(sorted(result.unsupported)),
        cycles=tuple(cycle[:CYCLE_CELLS_MAX] for cycle in result.cycles[:CYCLES_MAX]),
        cycle_count=len(result.cycles),
        iterations=result.iterations,
        unconverged=result.unconverged[:CYCLE_CELLS_MAX],
        unconverged_count=len(result.unconverged),
        fault_count=sum(len(fault.cells) for fault in result.faults),
        locale=result.locale,
    )
