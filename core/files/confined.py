"""What a confined child does with a stranger's file."""

from __future__ import annotations

from pathlib import Path

from core.files.probe import ProbeOrder, SheetProbe
from core.files.read import sheets_of


def probe(order: ProbeOrder) -> tuple[SheetProbe, ...]:
    """Look at a file's worksheets.

    Raises:
        FileRefused, OSError: as `core.files.read.read`.
    """
    return tuple(sheets_of(Path(order.path), order.name))
