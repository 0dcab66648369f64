"""Columns that a child made of a workbook.

Described, kept as blobs, and put in place of those that it had.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from core.grid.codec import WorkbookRecord, open_sheet
from service.platform.base.secrets import new_id
from service.platform.data.blobs import hash_path
from service.platform.unit.context import Unit
from service.platform.unit.storage import store_blob
from service.workbooks import sheet_actions, store
from service.workbooks.store import NewSheet


class _Described(NamedTuple):
    key: str
    """SHA-256 of the stored columns."""
    contents: sheet_actions.Contents


async def keep_columns(
    unit: Unit,
    workbook_id: UUID,
    manifest: WorkbookRecord,
    paths: Sequence[Path],
    *,
    stored: Mapping[Path, str] = MappingProxyType({}),
    calculated_at: datetime | None = None,
    written_by: str | None = None,
) -> bool:
    """Store a workbook's columns in the job's transaction.

    `paths` are the sheets' files in the manifest's order, `stored` the keys of those of them that are blobs already.
    `written_by` names the record that writes while the workbook is read. False: the workbook takes nothing any more.
    """
    files = await asyncio.to_thread(_describe, paths, stored)
    await store.leave_blobs(unit, workbook_id)
    # Sorted: in one order, so that two jobs cannot wait for each other.
    new_files = {sheet.key: path for path, sheet in zip(paths, files, strict=True) if path not in stored}
    for key, path in sorted(new_files.items()):
        await store_blob(unit, path, key)
    records = [replace(record, file=sheet.key) for record, sheet in zip(manifest.sheets, files, strict=True)]
    book = replace(manifest, sheets=tuple(records)).to_json()
    rows = [
        NewSheet(
            id=new_id(),
            index=record.index,
            name=record.name,
            state=record.state,
            row_count=record.row_count,
            column_count=record.column_count,
            formula_count=sheet.contents.formula_count,
            header_row=sheet.contents.header_row,
            headers=sheet.contents.headers,
            types=sheet.contents.types,
            blob_key=sheet.key,
        )
        for record, sheet in zip(records, files, strict=True)
    ]
    await store.put_sheets(unit, workbook_id, rows)
    columns = {
        "book": book,
        "book_key": hashlib.sha256(book.encode()).hexdigest(),
        "sheet_count": len(rows),
        "total_cells": sum(sheet.contents.cell_count for sheet in files),
        "formula_cells": sum(sheet.contents.formula_count for sheet in files),
    }
    return await store.finish(unit, workbook_id, columns, calculated_at=calculated_at, written_by=written_by)


def _describe(paths: Sequence[Path], stored: Mapping[Path, str]) -> list[_Described]:
    """Return each stored sheet's hash and contents."""
    return [_Described(stored.get(path) or hash_path(path), sheet_actions.contents(open_sheet(path))) for path in paths]
