"""What an upload answers about a file before it is parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from msgspec import Struct

from core.confined.table import PARSE, ConfinedWork

FileKind = Literal["xlsx", "xls", "xlsb", "ods", "xml", "html", "pdf", "csv", "zip", "encrypted"]
"""xlsx stands for .xlsx and .xlsm alike: macros are never read; xml for SpreadsheetML 2003, html for a page, csv for
delimited text with whatever delimiter, zip for an archive of such files, encrypted for a workbook with a password,
Excel's own or a user's."""


@dataclass(frozen=True, slots=True)
class SheetProbe:
    """One worksheet: its name, place and true extent, found by scanning its cells."""

    name: str
    index: int
    state: Literal["visible", "hidden", "veryHidden"]
    row_count: int
    column_count: int


@dataclass(frozen=True, slots=True)
class Probe:
    """A file that may be parsed."""

    kind: FileKind
    sheets: tuple[SheetProbe, ...]


class ProbeOrder(Struct, frozen=True):
    """A file to be looked at in a child."""

    path: str
    name: str
    """The one that its user gave it."""


PROBE: Final = ConfinedWork(
    does="core.files.confined.probe",
    order=ProbeOrder,
    answer=tuple[SheetProbe, ...],
    refusals=PARSE.refusals,
    texts=PARSE.texts,
    memory_bytes_max=PARSE.memory_bytes_max,
    seconds_max=PARSE.seconds_max,
)
