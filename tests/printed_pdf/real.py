"""Workbooks of trustees as LibreOffice shows their cells, ready to be printed."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from core.files.read import read
from core.grid.sheet import Sheet
from core.values import Kind
from tests.printed_pdf.cells import Cell, PrintedCell, print_text
from tests.printed_pdf.compare import numbers_in
from tests.printed_pdf.sheets import PrintedRow, PrintedSheet, RowKind

_AS_SHOWN: Final = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
"""Each sheet a file in UTF-8, its cells as they are shown."""

_FIRST: Final = date(1899, 12, 30)
"""The day of serial 0."""


def shown_texts(path: Path, folder: Path) -> dict[str, list[list[str]]]:
    """Return the texts of the cells of each sheet, as LibreOffice shows them."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "printing wants LibreOffice Calc"
    folder.mkdir(parents=True, exist_ok=True)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command: list[str | Path] = [program, profile, "--headless", "--convert-to", _AS_SHOWN, "--outdir", folder, path]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return {
        file.stem.removeprefix(f"{path.stem}-"): list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))
        for file in folder.glob(f"{path.stem}-*.csv")
    }


def sheets_as_shown(path: Path, folder: Path) -> list[PrintedSheet]:
    """Return the visible sheets of a workbook with the values that their texts say."""
    book = read(path)
    texts = shown_texts(path, folder)
    return [
        PrintedSheet(sheet.name, _rows(sheet, texts[sheet.name], book.number_formats, table), list(sheet.merged))
        for table, sheet in enumerate(book.sheets)
        if sheet.state == "visible"
    ]


def _rows(sheet: Sheet, texts: list[list[str]], codes: tuple[str, ...], table: int) -> list[PrintedRow]:
    rows: list[PrintedRow] = []
    table *= 1_000
    for row in range(sheet.row_count):
        own = texts[row] if row < len(texts) else []
        cells = tuple(
            _cell(sheet, row, column, codes, own[column] if column < len(own) else "")
            for column in range(sheet.column_count)
        )
        filled = sum(cell is not None for cell in cells)
        kind: RowKind = "blank" if not filled else "title" if filled == 1 else "data"
        if any(cell is not None and "\n" in cell.text for cell in cells):
            kind = "head"
            table += bool(rows) and rows[-1].kind != "head"  # each head begins a table
        rows.append(PrintedRow(kind, cells, table))
    return rows


def _cell(sheet: Sheet, row: int, column: int, codes: tuple[str, ...], text: str) -> Cell:
    value, kind = sheet.value(row, column), sheet.kind(row, column)
    if value is None or not text:
        return None
    stored = sheet.columns[column]
    assert stored is not None
    code = codes[int(stored.dense.formats[stored.slot(row)])]
    if kind == Kind.DATE:
        assert isinstance(value, float)
        return PrintedCell(text, _FIRST + timedelta(days=value), code)
    if isinstance(value, float):
        return _number(text.strip(), value, code)
    return PrintedCell(text, value) if isinstance(value, bool) else print_text(value)


def _number(text: str, value: float, code: str) -> Cell:
    printed = next(numbers_in(text))
    decimals = re.search(r"\.(\d+)", text)
    unit = 10.0 ** -(len(decimals[1]) if decimals else 0) / (100.0 if text.endswith("%") else 1.0)
    assert abs(printed - value) <= unit, (text, value, code)
    return PrintedCell(text, printed, code, unit)
