"""A file of which programs read different cells is no original, however its hash turns out."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.files.write import write_workbook_rows
from core.provenance.manifest import InvalidManifest, read_manifest, signed
from core.provenance.verify import verify
from tests.core.provenance.exported import KEY, KEYS, manifest_of, rewritten, with_parts
from tests.rows import every

MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
SHEET, STRINGS, BOOK, LINKS = (
    "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels",
)  # fmt: skip
CELL, ROW = '<c r="A2"><v>99.5</v></c>', '<row r="2"><c r="A2"><v>99.5</v></c></row>'
OTHER = ROW.replace("99.5", "11")


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foreign")
    write_workbook_rows(folder / "plain.xlsx", {"Data": [["Price xmlns=1"], [99.5]], "Empty": []})
    return with_parts(folder / "plain.xlsx", folder / "export.xlsx", signed(manifest_of(folder / "plain.xlsx"), KEY))


@every(
    "part, old, new",
    [
        (SHEET, CELL, '<c r="A2"><v>11</v><y:v xmlns:y="urn:y">99.5</y:v></c>'),
        (SHEET, CELL, '<y:c xmlns:y="urn:y" r="A2"><y:v>99.5</y:v></y:c>'),
        (SHEET, CELL, '<c xmlns="urn:y" r="A2"><v>99.5</v></c>'),
        (SHEET, CELL, '<c r="A2" x=">" xmlns="urn:y"><v>99.5</v></c>'),
        (SHEET, CELL, '<c r="A2"><v>11</v></c><!-- a comment -->' + CELL),
        (SHEET, ROW, f'{OTHER}<y:more xmlns:y="urn:y">{ROW}</y:more>'),
        (SHEET, ROW, f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice Requires="x14">{OTHER}</mc:Choice><mc:Fallback>'
                     f"{ROW}</mc:Fallback></mc:AlternateContent>"),
        (SHEET, "</sheetData>", f"</sheetData><sheetData>{ROW}</sheetData>"),
        (SHEET, "<sheetData>", '<y:sheetData xmlns:y="urn:y">'),
        (SHEET, "<sheetData>", '<sheetData a="/>">'),
        (SHEET, "<worksheet", "<!-- <y:worksheet --><worksheet"),
        (STRINGS, "<si>", '<y:si xmlns:y="urn:y"><y:t>Price</y:t></y:si><si>'),
        (BOOK, "<sheets>", '<y:more xmlns:y="urn:y"><sheet name="Z" sheetId="9" r:id="rId1"/></y:more><sheets>'),
        (BOOK, 'r:id="rId1"', 'r:id="rId2" y:id="rId1" xmlns:y="urn:y"'),
        (LINKS, 'Target="worksheets/sheet1.xml"',
         'Target="worksheets/sheet2.xml" y:Target="worksheets/sheet1.xml" xmlns:y="urn:y"'),
    ],
)  # fmt: skip
def test_what_programs_read_differently_is_refused(export: Path, tmp_path: Path, part: str, old: str, new: str) -> None:
    path = tmp_path / "made.xlsx"
    path.write_bytes(export.read_bytes())

    def changed(data: bytes) -> bytes:
        assert old.encode() in data, (old, data)
        return data.replace(old.encode(), new.encode(), 1)

    rewritten(path, {part: changed})
    with pytest.raises(InvalidManifest, match=f"'{part}' is written so that programs read different cells"):
        read_manifest(path)


def test_what_spreadsheets_write_is_not(export: Path, tmp_path: Path) -> None:
    """Prefixes, extensions and alternatives as Excel has them, beside the cells and around what is none."""
    path = tmp_path / "made.xlsx"
    path.write_bytes(export.read_bytes())
    more = f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice Requires="x15"><a:absPath xmlns:a="urn:a" url="C:"/>' \
        "</mc:Choice></mc:AlternateContent>"  # fmt: skip
    rewritten(
        path,
        {
            SHEET: lambda data: data.replace(b'<row r="2"', b'<row r="2" x14ac:dyDescent="0.3"')
            .replace(b"<worksheet ", b'<worksheet xmlns:x14ac="urn:x" ')
            .replace(b"</worksheet>", b'<extLst><ext xmlns:y="urn:y" uri="{1}"><y:f/></ext></extLst></worksheet>'),
            BOOK: lambda data: data.replace(b"<bookViews>", more.encode() + b"<bookViews>"),
            STRINGS: lambda data: data.replace(b"<", b"<s:").replace(b"<s:/", b"</s:").replace(b"<s:?", b"<?")
            .replace(b"xmlns=\"", b"xmlns:s=\""),
        },
    )  # fmt: skip
    assert verify(path, KEYS).status == "original"
