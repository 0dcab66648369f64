"""What a confined child does with a stranger's file; `core.confined.table` has the rows."""

from __future__ import annotations

from pathlib import Path

from msgspec import convert

from core.confined.table import ParseAnswer, ParseOrder, ProbeAnswer, ProbedSheet, ProbeOrder
from core.files.read import read_files, sheets_of
from core.grid.codec import write_workbook


def parse(order: ParseOrder, folder: Path) -> ParseAnswer:
    """Store the workbook of some files in a folder.

    Raises:
        FileRefused, OSError: as `core.files.read.read_files`.
    """
    book = read_files([(file.name, Path(file.path)) for file in order.files])
    return ParseAnswer(write_workbook(book, folder).to_json())


def probe(order: ProbeOrder) -> ProbeAnswer:
    """Look at a file's worksheets.

    Raises:
        FileRefused, OSError: as `core.files.read.read`.
    """
    return ProbeAnswer(convert(sheets_of(Path(order.path)), tuple[ProbedSheet, ...], from_attributes=True))
