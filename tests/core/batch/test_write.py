"""The table of results as a file: every form has the same rows, and the same rows make the same bytes."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest
from pyarrow import parquet

from core.batch.table import COLUMNS, DealMonth, ResultRow, refused_row
from core.batch.write import Format, guarded, write_rows

MONTH = DealMonth(deal="=Acme", files="a.xlsx; b.csv", sha256="ab" * 32)
ROWS = [
    ResultRow(
        deal="Acme",
        as_of=date(2026, 3, 31),
        as_of_source="file",
        step="suite",
        suite="standard",
        test_id="wal",
        status="pass",
        value=5.25,
        limit=6.0,
        limit_type="max",
        agrees=False,
        doubtful=True,
        message="Lebensdauer 5,25 € \U0001f4c8",
    ),
    refused_row(MONTH, "read", '+1 "quoted", and\nbroken'),
]


def test_parquet_has_types(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    assert write_rows(path, ROWS, "parquet") == 2
    table = parquet.read_table(path)
    assert tuple(table.column_names) == COLUMNS
    assert {name: str(table.schema.field(name).type) for name in ("as_of", "value", "agrees", "deal")} == {
        "as_of": "date32[day]",
        "value": "double",
        "agrees": "bool",
        "deal": "string",
    }
    first, second = table.to_pylist()
    assert (first["as_of"], first["value"], first["agrees"]) == (date(2026, 3, 31), 5.25, False)
    assert (second["deal"], second["value"], second["message"]) == ("=Acme", None, ROWS[1].message)


def test_json_lines_have_every_field(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write_rows(path, ROWS, "jsonl")
    first, second = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert tuple(first) == tuple(second) == COLUMNS
    assert (first["as_of"], second["sha256"], second["status"]) == ("2026-03-31", "ab" * 32, "refused")


def test_csv_is_safe_in_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    write_rows(path, ROWS, "csv")
    with path.open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["value"], first["agrees"], first["doubtful"], first["low"]) == ("5.25", "false", "true", "")
    assert (second["deal"], second["message"]) == ("'=Acme", '\'+1 "quoted", and\nbroken')
    assert [guarded(text) for text in ("-1", "@x", "a=b", "")] == ["'-1", "'@x", "a=b", ""]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_the_same_rows_make_the_same_bytes(tmp_path: Path, form: Format) -> None:
    first, second, empty = tmp_path / "1", tmp_path / "2", tmp_path / "0"
    write_rows(first, ROWS, form)
    write_rows(second, iter(ROWS), form)
    assert first.read_bytes() == second.read_bytes()
    assert write_rows(empty, [], form) == 0
    assert empty.read_bytes() != first.read_bytes()
