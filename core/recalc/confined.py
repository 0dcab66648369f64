"""What a confined child does with a stranger's stored workbook; `core.confined.table` has the row."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import random
from typing import Final

from core.confined.table import RecalculateAnswer, RecalculateOrder
from core.grid.codec import Manifest, open_workbook, write_workbook
from core.recalc.book import Book

CYCLES_TOLD: Final = 10
CYCLE_CELLS_TOLD: Final = 10


def recalculate(order: RecalculateOrder, folder: Path) -> RecalculateAnswer:
    """Calculate every formula of a workbook and store it in a folder.

    Raises:
        CodecError: the stored workbook is damaged.
        OSError: one of its files cannot be read.
    """
    book = Book(open_workbook(Manifest.from_json(order.manifest), [Path(path) for path in order.paths]))
    result = book.recalculate(now=datetime.fromisoformat(order.now), random=random)
    return RecalculateAnswer(
        manifest=write_workbook(book, folder).to_json(),
        cell_count=result.cell_count,
        unsupported=tuple(sorted(result.unsupported)),
        cycles=tuple(cycle[:CYCLE_CELLS_TOLD] for cycle in result.cycles[:CYCLES_TOLD]),
        cycle_count=len(result.cycles),
        fault_count=sum(len(fault.cells) for fault in result.faults),
    )
