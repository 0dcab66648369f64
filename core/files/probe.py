"""What an upload answers about a file before it is parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FileKind = Literal["xlsx", "xls", "xlsb", "ods", "csv", "zip"]
"""xlsx stands for .xlsx and .xlsm alike: macros are never read; csv for delimited text with whatever delimiter, zip for
an archive of such files."""


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
