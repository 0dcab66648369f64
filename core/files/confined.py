"""What a confined child does with a stranger's file.

`core.confined.table` has the rows.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import convert

from core.confined.table import ProbeAnswer, ProbedSheet, ProbeOrder
from core.files.read import sheets_of


def probe(order: ProbeOrder) -> ProbeAnswer:
    """Look at a file's worksheets.

    Raises:
        FileRefused, OSError: as `core.files.read.read`.
    """
    return ProbeAnswer(convert(sheets_of(Path(order.path), order.name), tuple[ProbedSheet, ...], from_attributes=True))
