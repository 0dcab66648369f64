"""Spreadsheet files for the tests of workbooks, good ones and bad ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tests.conftest import Member, Stack

ROOT = Path(__file__).parents[3]
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"

LOANS: Sequence[Sequence[Any]] = (
    ("Portfolio of 31 March", None, None, None, None, None),
    ("LoanX ID", "Par Amount", "Settled", "Maturity", "Watch, list", "Price"),
    ("LX000001", 1_000_000.0, datetime(2024, 1, 2, 12, 30), datetime(2030, 6, 30), True, 99.5),  # noqa: DTZ001
    ("LX000002", 2_500_000.25, datetime(2024, 1, 3), datetime(2031, 6, 30), False, "n/a"),  # noqa: DTZ001
    ("LX000003", None, None, datetime(2032, 6, 30), None, 97.0),  # noqa: DTZ001
    ('=not "a" formula', 4.0, None, None, True, None),
)


@pytest.fixture(scope="session")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet of loans under a title, with a formula column.

    A hidden sheet; a sheet without a header; an empty one.
    """
    path = tmp_path_factory.mktemp("loans") / "loans.xlsx"
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        sheet = book.add_worksheet("Loans")
        for at, row in enumerate(LOANS):
            for column, value in enumerate(row):
                if isinstance(value, datetime):
                    sheet.write_datetime(at, column, value, moment if column == 2 else day)
                elif isinstance(value, str):
                    sheet.write_string(at, column, value)
                elif value is not None:
                    sheet.write(at, column, value)
        sheet.write_string(1, 6, "Value")
        for at in range(2, 5):
            sheet.write_formula(at, 6, f"=B{at + 1}*F{at + 1}/100", value=("#VALUE!" if at == 3 else 995_000.0))
        hidden = book.add_worksheet("Notes")
        hidden.name = "Notes / hidden"  # other programs than Excel write such names
        hidden.hide()
        hidden.write_row(0, 0, ["first", "second"])
        hidden.write_row(1, 0, ["a", "b"])
        numbers = book.add_worksheet("Numbers")
        for row in range(5):
            numbers.write_row(row, 0, [row, row * 10])
        book.add_worksheet("Empty")
    return path


@pytest.fixture(scope="module")
def workbook(shared_owner: Member, loans: Path) -> dict[str, Any]:
    """The loans, uploaded and ready."""
    result = shared_owner.uploaded(loans, name="Loans of March")
    assert result["status"] == "ready", result
    return result


def sheet_xml(rows: str, *, before: str = "") -> str:
    """A worksheet part around its rows."""
    return f'<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData></worksheet>'


PackFile = Callable[..., Path]


@pytest.fixture
def pack(tmp_path: Path) -> PackFile:
    """Worksheet parts to an .xlsx file: `pack([part], extra={"xl/...": part})`."""

    def make(sheets: Sequence[str], *, extra: dict[str, str | bytes] | None = None, name: str = "made.xlsx") -> Path:
        numbers = range(1, len(sheets) + 1)
        listed = "".join(f'<sheet name="S{at}" sheetId="{at}" r:id="rId{at}"/>' for at in numbers)
        links = "".join(
            f'<Relationship Id="rId{at}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
            for at in numbers
        )
        links += f'<Relationship Id="rIdS" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
        parts: dict[str, str | bytes] = {
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>',
            "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"/>',
        }
        parts |= {f"xl/worksheets/sheet{at}.xml": sheet for at, sheet in enumerate(sheets, 1)}
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for part, content in {**parts, **(extra or {})}.items():
                archive.writestr(part, content, zipfile.ZIP_STORED if isinstance(content, bytes) else None)
        return path

    return make


def stored_blobs(stack: Stack) -> set[str]:
    """The keys of all blobs on disk."""
    return {path.name for path in (stack.data_dir / "blobs").glob("*/*")}


def scratch_files(stack: Stack) -> set[str]:
    """What lies in the scratch folder, but for the copies of blobs and what processes tell their figures by."""
    names = {path.name for path in (stack.data_dir / "scratch").iterdir()}
    return {name for name in names if name != "blobs" and not name.startswith("metrics-")}
