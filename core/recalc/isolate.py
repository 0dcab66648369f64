"""Recalculating a stranger's workbook in a child process with limits of memory and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Unpack

from core.confined.run import run, workplace
from core.confined.table import RECALCULATE, Bounds, RecalculateAnswer, RecalculateOrder
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
    **bounds: Unpack[Bounds],
) -> RecalculatedFile:
    """Recalculate every formula of a stored workbook in a child process.

    The sheets are written into `folder`.

    `paths` are the sheets' files in the manifest's order, `now` the moment of TODAY and NOW, `locale` that of dates and
    numbers as text (None for the workbook's own).

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
        answer = run(RECALCULATE, order, reads=order.paths, writes=place, **bounds)
        try:
            calculated = WorkbookRecord.from_json(answer.manifest)
        except CodecError as error:
            raise RecalculationFailed(RECALCULATE.texts.broken) from error
    return RecalculatedFile(calculated, tuple(folder / record.file for record in calculated.sheets), answer)
