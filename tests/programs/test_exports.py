"""Exports as other programs see them.

LibreOffice and openpyxl calculate the zones, poppler reads the pages.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import openpyxl
import pytest

from core.compliance.run import run_suite
from core.export.compliance import compliance_rows
from core.export.order import ExportOrder, ExportProduct, Format, Keys, Lineage, Options
from core.export.run import export_workbook
from core.files.read import read
from core.generate import generate
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.provenance.verify import FileVerdict, Record, verify
from tests.programs.test_libreoffice import convert

CREATED = datetime(2026, 11, 23, 8, tzinfo=UTC)
KEY = b"k" * 32
ALWAYS_CALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>"""


class Made(NamedTuple):
    source: Workbook
    exported: ExportProduct
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / self.exported.main.path

    def verdict(self, path: Path) -> FileVerdict:
        prints = self.exported.fingerprints
        assert prints is not None
        summary = self.exported.result_summary
        record = Record(summary.provenance.data_hash, (self.folder / prints.path).read_bytes(), KEY)
        return verify(path, {"": KEY}, record)


def export(folder: Path, file_format: Format = "xlsx") -> Made:
    source = folder / "deal.xlsx"
    generate(loans=200, seed=7, messy=("title_rows", "totals_row", "error_cells", "blanks")).write(source)
    book = read(source)
    results = run_suite(Portfolio.from_workbook(book), "enhanced")
    order = ExportOrder(
        format=file_format, export_id="exp_1", workbook_id="wb_1", tenant_id="t_1", created=CREATED,
        lineage=Lineage(workbook_name="Deal", file_name="deal.xlsx", as_of=date(2026, 3, 31), as_of_source="file"),
        keys=Keys(signing=KEY, redaction=KEY), options=Options(), compliance=compliance_rows(results, results.skipped),
    )  # fmt: skip
    return Made(book, export_workbook(book, order, folder), folder)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return export(tmp_path_factory.mktemp("export"))


def calculated(path: Path, folder: Path) -> Path:
    """The file as LibreOffice saves it with every formula calculated anew."""
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "registrymodifications.xcu").write_text(ALWAYS_CALCULATE)
    return convert(path, "xlsx", folder)


def formulas(book: Workbook) -> Iterator[tuple[str, int, int, object]]:
    for name in ("Workspace", "Control"):
        sheet = book[name]
        for row, column in zip(sheet.formulas.rows.tolist(), sheet.formulas.columns.tolist(), strict=True):
            yield name, row, column, sheet.value(row, column)


def test_libreoffice_calculates_what_was_exported(exports: Made, tmp_path: Path) -> None:
    saved = calculated(exports.file, tmp_path)
    theirs = read(saved)
    count = 0
    for name, row, column, value in formulas(read(exports.file)):
        count += 1
        second = theirs[name].value(row, column)
        if isinstance(value, float):
            assert isinstance(second, float), (name, row, column, value, second)
            assert math.isclose(value, second, rel_tol=1e-12, abs_tol=1e-6), (name, row, column, value, second)
        else:
            assert second == value, (name, row, column)
    assert count > 150
    assert [theirs["Control"].value(row, 1) for row in (3, 4)] == ["OK", "warning"]
    verdict = exports.verdict(saved)
    assert (verdict.status, verdict.diffs) == ("original", ()), verdict.reason


def test_a_changed_figure_is_seen_on_control_and_by_its_hash(exports: Made, tmp_path: Path) -> None:
    """openpyxl writes no values beside formulas, so all that LibreOffice saves it has calculated."""
    book = openpyxl.load_workbook(exports.file)
    sheet = book["Holdings"]
    header = next(row for row in sheet.iter_rows(max_row=20) if any(cell.value == "Par Amount" for cell in row))
    place = next(cell for cell in header if cell.value == "Par Amount")
    changed = sheet.cell(place.row + 3, place.column)
    changed.value += 1_000
    assert sheet.protection.sheet
    assert book["Control"].protection.sheet
    assert not book["Workspace"].protection.sheet
    book.save(tmp_path / "touched.xlsx")
    saved = calculated(tmp_path / "touched.xlsx", tmp_path / "saved")
    control = read(saved)["Control"]
    assert control.value(3, 1) == "CHECK"
    wrong = [
        (control.value(row, 1), control.value(row, 4))
        for row in range(8, control.row_count)
        if control.value(row, 6) == "CHECK"
    ]
    assert wrong[0] == ("Sum of Par Amount", 2_000.0), "the loan and the total below, a formula"
    assert [name for name, _ in wrong] == ["Sum of Par Amount", "Sum of Market Value (USD)"]
    assert exports.verdict(saved).status == "unknown", "openpyxl leaves the manifest out"


def test_the_pages_say_what_the_sheets_do(tmp_path: Path) -> None:
    result = export(tmp_path, "pdf")
    ran = subprocess.run(["pdftotext", "-layout", result.file, "-"], check=True, capture_output=True, text=True)
    text = ran.stdout.replace("\u200b", "")
    sheet = result.source["Holdings"]
    for row in range(sheet.row_count):
        name = sheet.value(row, 0)
        assert name is None or " " in str(name) or str(name) in text, name
    for words in ("Deal", "deal.xlsx", "2026-03-31", result.exported.result_summary.provenance.data_hash, "Cushion"):
        assert words in text, words
