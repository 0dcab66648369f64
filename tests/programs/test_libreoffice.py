"""LibreOffice as a witness: it recalculates and rewrites a generated deal, and the readers see the same cells."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest

from core.files.read import read
from core.generate import generate
from core.grid.sheet import Workbook
from core.values import Kind


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deal") / "deal.xlsx"
    generate(loans=200, seed=11, messy=("title_rows", "totals_row", "error_cells", "blanks")).write(path)
    return path


def convert(path: Path, kind: str, folder: Path) -> Path:
    """The file as LibreOffice saves it."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "these tests want LibreOffice Calc"
    subprocess.run(
        [
            program,
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            folder,
            path,
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    return folder / f"{path.stem}.{kind}"


def cells(book: Workbook) -> dict[tuple[str, int, int], object]:
    """Every cell that is not blank, dates as their serials."""
    found: dict[tuple[str, int, int], object] = {}
    for sheet in book.sheets:
        for row in range(sheet.row_count):
            for column in range(sheet.column_count):
                if sheet.kind(row, column) != Kind.BLANK:
                    found[sheet.name, row, column] = sheet.value(row, column)
    return found


@pytest.mark.parametrize("kind", ["xlsx", "xls"])
def test_same_cells_after_libreoffice(original: Path, tmp_path: Path, kind: str) -> None:
    ours, theirs = cells(read(original)), cells(read(convert(original, kind, tmp_path)))
    for place, value in ours.items():
        other = theirs.get(place)
        if isinstance(value, float):
            assert isinstance(other, float), (place, value, other)
            assert math.isclose(value, other, rel_tol=1e-12, abs_tol=1e-12), (place, value, other)
        elif kind == "xls" and isinstance(value, str) and value.startswith("#"):
            assert other in (value, None), (place, value, other)  # calamine gives no error cells of .xls
        else:
            assert other == value, (place, value, other)
