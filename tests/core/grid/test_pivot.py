"""Pivot tables in the manifest of a stored workbook."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from core.files.xlsx import read_xlsx
from core.grid.codec import CodecError, WorkbookRecord, open_workbook, write_workbook
from tests.core.pivots import parts, write
from tests.rows import every


def stored(folder: Path) -> WorkbookRecord:
    return write_workbook(read_xlsx(write(folder / "made.xlsx", parts()).read_bytes()), folder)


def test_they_come_back_as_they_were(tmp_path: Path) -> None:
    manifest = stored(tmp_path)
    assert WorkbookRecord.from_json(manifest.to_json()) == manifest
    again = open_workbook(WorkbookRecord.from_json(manifest.to_json()), tmp_path).pivots
    assert again == read_xlsx((tmp_path / "made.xlsx").read_bytes()).pivots
    assert again


def test_those_of_a_workbook_that_an_earlier_version_stored_are_unknown(tmp_path: Path) -> None:
    body = json.loads(stored(tmp_path).to_json())
    del body["pivots"]
    assert WorkbookRecord.from_json(json.dumps(body)).pivots is None


DAMAGE: tuple[Callable[[dict[str, Any]], object], ...] = (
    lambda pivot: pivot.pop("rows"),
    lambda pivot: pivot.update(first_row=-1),
    lambda pivot: pivot.update(last_column=16_384),
    lambda pivot: pivot.update(sheet=None),
    lambda pivot: pivot["rows"].update(fields=[9]),
    lambda pivot: pivot["rows"]["lines"].append("x"),
    lambda pivot: pivot["fields"][0]["items"].append([None]),
    lambda pivot: pivot["pages"].append([0]),
)


@every("damage", DAMAGE)
def test_a_damaged_one_is_told(damage: Callable[[dict[str, Any]], object]) -> None:
    with TemporaryDirectory() as folder:
        body = json.loads(stored(Path(folder)).to_json())
    damage(body["pivots"][0])
    with pytest.raises(CodecError):
        WorkbookRecord.from_json(json.dumps(body))
