"""What a confined child does with a stranger's file; `core.confined.table` has the rows."""

from __future__ import annotations

from pathlib import Path

from msgspec import convert

from core.confined.table import ParseAnswer, ParseOrder, ProbeAnswer, ProbedSheet, ProbeOrder
from core.files.read import read, sheets_of
from core.grid.codec import write_workbook


def parse(order: ParseOrder, folder: Path) -> ParseAnswer:
    """Store a file's workbook in a folder.

    Raises:
        FileRefused, OSError: as `core.files.read.read`.
    """
    return ParseAnswer(write_workbook(read(order.path), folder).to_json())


def probe(order: ProbeOrder) -> ProbeAnswer:
    """Look at a file's worksheets.

    Raises:
        FileRefused, OSError: as `core.files.read.read`.
    """
    return ProbeAnswer(convert(sheets_of(Path(order.path)), tuple[ProbedSheet, ...], from_attributes=True))
