"""What a confined child does for the rows of an issue.

It opens a workbook or a trustee's file and reads one row.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from core.files.read import read_files
from core.grid.codec import WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.portfolio.assemble.source_row import LoanTable, SourceRow, locate_loans, row_of
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.portfolio.model.fields import Mapping

OPEN_MAX: Final = 2
"""Workbooks, and tapes, that a child keeps open: whoever works off a list of issues stays with one of each."""

Opened = tuple[Workbook, LoanTable | None]


def workbook_row(key: str, manifest: str, paths: tuple[str, ...], mapping: str, row: int) -> SourceRow | None:
    """Return a row of a stored workbook's loans, if there is one.

    Args:
        key: of the stored workbook.
        mapping: its JSON.
    """
    return _row(_open_workbook(key, manifest, paths, mapping), row)


def tape_row(path: str, name: str, trustee: str, mapping: str | None, row: int) -> SourceRow | None:
    """Return a row of a trustee's file, if there is one.

    Formulas without a value are blank.

    Args:
        mapping: its JSON; None: the trustee's own manner.
    """
    return _row(_open_tape(path, name, trustee, mapping), row)


def _row(opened: Opened, row: int) -> SourceRow | None:
    book, loans = opened
    return None if loans is None else row_of(book, loans, row)


@lru_cache(maxsize=OPEN_MAX)
def _open_workbook(_key: str, manifest: str, paths: tuple[str, ...], mapping: str) -> Opened:
    book = open_workbook(WorkbookRecord.from_json(manifest), [Path(path) for path in paths])
    return book, locate_loans(book, msgspec.json.decode(mapping, type=Mapping))


@lru_cache(maxsize=OPEN_MAX)
def _open_tape(path: str, name: str, trustee: str, mapping: str | None) -> Opened:
    book = read_files([(name, Path(path))])
    by = TRUSTEES[trustee] if mapping is None else msgspec.json.decode(mapping, type=Mapping)
    return book, locate_loans(book, by)
