"""Workbooks as Excel writes them that no package writes.

Settings of the calculation, data tables, number formats.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

Cell = float | str | tuple[float | str, str]
"""A number, a formula with its '=' (its value is 0), <f> as XML, or one of these with its format code."""


def write_book(
    path: Path,
    cells: Mapping[str, Cell] | Mapping[str, Mapping[str, Cell]],
    *,
    calculation: str = "",
    has_values: bool = True,
) -> Path:
    """Write cells by address, of a sheet S or by the name of their sheet.

    `calculation` are attributes of calcPr.
    """
    sheets = cells if any(isinstance(item, Mapping) for item in cells.values()) else {"S": cells}
    codes: list[str] = []
    parts = {}
    for at, own in enumerate(sheets.values(), 1):
        assert isinstance(own, Mapping)
        rows: dict[int, list[str]] = {}
        for ref, cell in sorted(own.items(), key=lambda item: (_row(item[0]), len(item[0]), item[0])):
            rows.setdefault(_row(ref), []).append(_cell_xml(ref, cell, codes, has_values=has_values))
        data = "".join(f'<row r="{row}">{"".join(actual_row)}</row>' for row, actual_row in rows.items())
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in zip(numbers, sheets, strict=True)
    )
    links = [(f"rId{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in numbers]
    links.append(("rIdS", "styles", "styles.xml"))
    overrides = [(f"/xl/worksheets/sheet{at}.xml", "worksheet") for at in numbers]
    overrides += [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{TYPES}"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            + "".join(f'<Override PartName="{n}" ContentType="{SHEET_TYPE}.{kind}+xml"/>' for n, kind in overrides)
            + "</Types>",
        )
        archive.writestr("_rels/.rels", _links([("rId1", "officeDocument", "xl/workbook.xml")]))
        archive.writestr("xl/_rels/workbook.xml.rels", _links(links))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets><calcPr {calculation}/></workbook>',
        )
        archive.writestr("xl/styles.xml", _styles(codes))
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def data_table(covers: str, *, row_input: str = "", column_input: str = "") -> str:
    """The <f> of a data table as Excel writes it."""
    if row_input and column_input:
        return f'<f t="dataTable" ref="{covers}" dt2D="1" dtr="1" r1="{row_input}" r2="{column_input}"/>'
    is_row = int(bool(row_input))
    return f'<f t="dataTable" ref="{covers}" dt2D="0" dtr="{is_row}" r1="{row_input or column_input}"/>'


def _row(ref: str) -> int:
    return int(re.sub("[A-Z]", "", ref))


def _cell_xml(ref: str, cell: Cell, codes: list[str], *, has_values: bool) -> str:
    style = ""
    if isinstance(cell, tuple):
        cell, code = cell
        if code not in codes:
            codes.append(code)
        style = f' s="{codes.index(code) + 1}"'
    if isinstance(cell, str):
        formula = cell if cell.startswith("<") else f"<f>{escape(cell[1:])}</f>"
        return f'<c r="{ref}"{style}>{formula}{"<v>0</v>" if has_values else ""}</c>'
    return f'<c r="{ref}"{style}><v>{cell!r}</v></c>'


def _links(links: Sequence[tuple[str, str, str]]) -> str:
    listed = "".join(f'<Relationship Id="{item}" Type="{OFFICE}/{kind}" Target="{to}"/>' for item, kind, to in links)
    return f'<Relationships xmlns="{PACKAGE}">{listed}</Relationships>'


def _styles(codes: Sequence[str]) -> str:
    formats = "".join(f'<numFmt numFmtId="{at}" formatCode={quoteattr(code)}/>' for at, code in enumerate(codes, 170))
    styles = "".join(f'<xf numFmtId="{at}" applyNumberFormat="1"/>' for at in range(170, 170 + len(codes)))
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts><fonts><font/></fonts>'
        '<fills><fill><patternFill patternType="none"/></fill></fills><borders><border/></borders>'
        f"<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/>{styles}</cellXfs></styleSheet>"
    )
