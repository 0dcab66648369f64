"""Hand-made .xlsx files: the parts as text, zipped."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def sheet_xml(data: str, *, before: str = "", after: str = "") -> str:
    """A worksheet part around its rows."""
    return f'<worksheet xmlns="{MAIN}">{before}<sheetData>{data}</sheetData>{after}</worksheet>'


def package_parts(
    sheets: list[str | bytes],
    *,
    names: list[str] | None = None,
    strings: str | bytes | None = None,
    styles: str = "",
    workbook: str = "",
) -> dict[str, str | bytes]:
    """The parts of a workbook with these worksheet parts."""
    names = names or [f"Sheet{at}" for at in range(1, len(sheets) + 1)]
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(names, 1))
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{workbook}<sheets>{listed}</sheets>'
        f"</workbook>",
    }
    for at, sheet in enumerate(sheets, 1):
        parts[f"xl/worksheets/sheet{at}.xml"] = sheet
    if strings is not None:
        parts["xl/sharedStrings.xml"] = strings
        links += f'<Relationship Id="rIdS" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    if styles:
        parts["xl/styles.xml"] = styles
        links += f'<Relationship Id="rIdT" Type="{OFFICE}/styles" Target="styles.xml"/>'
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>'
    return parts


@pytest.fixture
def zipped(tmp_path: Path) -> Callable[..., Path]:
    """Parts to a file."""

    def make(parts: dict[str, str | bytes], name: str = "made.xlsx") -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for part, text in parts.items():
                archive.writestr(part, text)
        return path

    return make


@pytest.fixture
def ods_path(zipped: Callable[..., Path]) -> Callable[..., Path]:
    """The rows of one sheet, and what `package_parts` takes, to a file."""

    def make(data: str, *, before: str = "", after: str = "", **options: Any) -> Path:
        return zipped(package_parts([sheet_xml(data, before=before, after=after)], **options))

    return make


@pytest.fixture(scope="session")
def parts_of() -> Callable[..., dict[str, str | bytes]]:
    """`package_parts`, for tests that spoil a part."""
    return package_parts


@pytest.fixture(scope="session")
def xml_of() -> Callable[..., str]:
    """`sheet_xml`."""
    return sheet_xml
