"""What a confined child does for workbooks: write a large page of a sheet."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from core.grid.codec import Manifest, open_workbook
from core.grid.sheet import Workbook
from service.platform.http.api import Raw
from service.workbooks import sheet_actions
from service.workbooks.schema import DataQuery, SheetRow

OPEN_MAX: Final = 4
"""Workbooks that a child keeps mapped."""


def page(key: str, manifest: str, paths: tuple[str, ...], row: SheetRow, query: DataQuery) -> Raw:
    """A page of a sheet's data, encoded; `key` is that of the stored workbook."""
    return sheet_actions.page(_opened(key, manifest, paths), row, query)


@lru_cache(maxsize=OPEN_MAX)
def _opened(_key: str, manifest: str, paths: tuple[str, ...]) -> Workbook:
    return open_workbook(Manifest.from_json(manifest), [Path(path) for path in paths])
