"""Recalculating a stranger's workbook in a child process with limits of memory and time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.confined.run import run, workplace
from core.confined.table import RECALCULATE, RecalculateAnswer, RecalculateOrder
from core.grid.codec import CodecError, WorkbookRecord


class RecalculationFailed(Exception):
    """The workbook could not be recalculated; the message says why, for its user."""


@dataclass(frozen=True, slots=True)
class RecalculatedFile:
    """A recalculated workbook.

    Its manifest, its sheets' files in that order, and what the run came to.
    """

    manifest: WorkbookRecord
    paths: tuple[Path, ...]
    answer: RecalculateAnswer


def recalculate_isolated(
    manifest: WorkbookRecord,
    paths: Sequence[Path],
    folder: Path,
    *,
    now: datetime,
    locale: str | None = None,
    memory_bytes_max: int = RECALCULATE.memory_bytes_max,
    seconds_max: float = RECALCULATE.seconds_max,
    stop: threading.Event | None = None,
) -> RecalculatedFile:
    """Recalculate every formula of a stored workbook in a child process.

    The sheets are written into `folder`.

    `paths` are the sheets' files in the manifest's order, `now` the moment of TODAY and NOW, `locale` that of dates and
    numbers as text (None for the workbook's own). Setting `stop` from
    another thread ends the child at once.

    Raises:
        RecalculationFailed: it crashed, or passed a limit; the folder is then as it was before.
        OSError: the machine's fault; `core.confined.run.ChildKilled` where the child was ended from outside.
        InterruptedError: `stop` was set.
    """
    order = RecalculateOrder(
        manifest=manifest.to_json(),
        paths=tuple(str(path.resolve()) for path in paths),
        now=now.isoformat(),
        locale=locale,
    )
    with workplace(folder) as place:
        answer = run(
            RECALCULATE,
            order,
            reads=order.paths,
            writes=place,
            memory_bytes_max=memory_bytes_max,
            seconds_max=seconds_max,
            stop=stop,
        )
        try:
            calculated = WorkbookRecord.from_json(answer.manifest)
        except CodecError as error:
            raise RecalculationFailed(RECALCULATE.texts.broken) from error
    return RecalculatedFile(calculated, tuple(folder / record.file for record in calculated.sheets), answer)
