"""What a confined child does for workbooks: write a large page of a sheet, tell how the loans of one are read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from core.grid.codec import Manifest, open_workbook
from core.grid.sheet import Workbook
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.model.fields import Mapping
from service.platform.http.api import Raw
from service.workbooks import sheet_actions
from service.workbooks.schema import DETECTED_COLUMNS_MAX, DataQuery, SheetRow, WorkbookDetection

OPEN_MAX: Final = 4
"""Workbooks that a child keeps mapped."""


def page(key: str, manifest: str, paths: tuple[str, ...], row: SheetRow, query: DataQuery) -> Raw:
    """A page of a sheet's data, encoded; `key` is that of the stored workbook."""
    return sheet_actions.page(_opened(key, manifest, paths), row, query)


class Asked(Struct, frozen=True, kw_only=True):
    """Whose loans are asked for, and how they are read."""

    workbook_id: UUID
    mapping: Mapping
    sheet: str | None
    """The name of the only sheet to look at."""


def detection(key: str, manifest: str, paths: tuple[str, ...], asked: Asked) -> Raw:
    """What is detected in a workbook and why, encoded; `key` is that of the stored workbook."""
    return detected(_opened(key, manifest, paths), asked)


def detected(book: Workbook, asked: Asked) -> Raw:
    """The same of an open workbook."""
    found = detect_columns(book, asked.mapping, sheet=asked.sheet, columns_max=DETECTED_COLUMNS_MAX)
    answer = WorkbookDetection(workbook_id=asked.workbook_id, mapping_id=asked.mapping.id, detection=found)
    return Raw(msgspec.json.encode(answer), "application/json")


@lru_cache(maxsize=OPEN_MAX)
def _opened(_key: str, manifest: str, paths: tuple[str, ...]) -> Workbook:
    return open_workbook(Manifest.from_json(manifest), [Path(path) for path in paths])
