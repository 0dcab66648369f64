"""The small parts of an .xlsx file.

What it consists of, the workbook, names, tables, properties, metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from core.files.write.xml import MAIN, OFFICE, PACKAGE, XML, escape, quoteattr
from core.grid.address import range_name
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import Calculation
from core.grid.sheet import Table

_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RICH: Final = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"
_RICH_LINK: Final = "http://schemas.microsoft.com/office/2017/06/relationships"


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """What a file says of itself."""

    title: str = ""
    subject: str = ""
    description: str = ""
    creator: str = "Cushion"
    created: datetime = datetime(1980, 1, 1, tzinfo=UTC)
    """A fixed moment unless one is given: the bytes do not depend on the clock."""


Link = tuple[str, str]
"""A relationship: its type's address and its target."""


def links_xml(links: Iterable[Link]) -> bytes:
    """Return a relationships part; the identifiers are rId1, rId2 and so on."""
    listed = "".join(
        f'<Relationship Id="rId{at}" Type="{kind}" Target="{target}"/>' for at, (kind, target) in enumerate(links, 1)
    )
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{listed}</Relationships>'.encode()


ROOT_LINKS: Final[tuple[Link, ...]] = (
    (f"{OFFICE}/officeDocument", "xl/workbook.xml"),
    (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
    (f"{OFFICE}/extended-properties", "docProps/app.xml"),
)


def workbook_links(sheets: int, *, parts: int, metadata: bool, rich: bool) -> list[Link]:
    """Return the workbook's relationships, its sheets' first."""
    links = [(f"{OFFICE}/worksheet", f"worksheets/sheet{at}.xml") for at in range(1, sheets + 1)]
    links += [(f"{OFFICE}/styles", "styles.xml"), (f"{OFFICE}/sharedStrings", "sharedStrings.xml")]
    links += [(f"{OFFICE}/customXml", f"../customXml/item{at}.xml") for at in range(1, parts + 1)]
    if metadata:
        links.append((f"{OFFICE}/sheetMetadata", "metadata.xml"))
    if rich:
        links.append((f"{_RICH_LINK}/rdRichValue", "richData/rdrichvalue.xml"))
        links.append((f"{_RICH_LINK}/rdRichValueStructure", "richData/rdrichvaluestructure.xml"))
    return links


def content_types(sheets: int, *, tables: int, parts: int, metadata: bool, rich: bool) -> bytes:
    """Return the part that says what each part is."""
    types = [("/xl/workbook.xml", f"{_SHEETS}.sheet.main+xml")]
    types += [(f"/xl/worksheets/sheet{at}.xml", f"{_SHEETS}.worksheet+xml") for at in range(1, sheets + 1)]
    types += [("/xl/styles.xml", f"{_SHEETS}.styles+xml"), ("/xl/sharedStrings.xml", f"{_SHEETS}.sharedStrings+xml")]
    types += [(f"/xl/tables/table{at}.xml", f"{_SHEETS}.table+xml") for at in range(1, tables + 1)]
    types += [
        (f"/customXml/itemProps{at}.xml", "application/vnd.openxmlformats-officedocument.customXmlProperties+xml")
        for at in range(1, parts + 1)
    ]
    if metadata:
        types.append(("/xl/metadata.xml", f"{_SHEETS}.sheetMetadata+xml"))
    if rich:
        types.append(("/xl/richData/rdrichvalue.xml", "application/vnd.ms-excel.rdrichvalue+xml"))
        types.append(("/xl/richData/rdrichvaluestructure.xml", "application/vnd.ms-excel.rdrichvaluestructure+xml"))
    types.append(("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"))
    types.append(("/docProps/app.xml", "application/vnd.openxmlformats-officedocument.extended-properties+xml"))
    listed = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in types)
    return (
        f'{XML}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{listed}</Types>'
    ).encode()


def properties_parts(properties: Properties) -> dict[str, bytes]:
    """Return the parts that say what the file is, when it was made and by whom."""
    created = properties.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    elements = (("dc:title", properties.title), ("dc:subject", properties.subject), ("dc:creator", properties.creator))
    words = "".join(
        f"<{name}>{escape(text)}</{name}>"
        for name, text in (*elements, ("dc:description", properties.description))
        if text
    )
    moments = "".join(
        f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{created}</dcterms:{name}>' for name in ("created", "modified")
    )
    core = (
        f'{XML}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{words}{moments}</cp:coreProperties>'
    )
    # LibreOffice believes the texts that formulas last gave in files of Excel and its own alone, and calculates others.
    app = (
        f'{XML}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
        "<Application>Microsoft Excel</Application></Properties>"
    )
    return {"docProps/core.xml": core.encode(), "docProps/app.xml": app.encode()}


def custom_parts(parts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return custom XML parts; an item's identifier follows from its name."""
    parts_by_name = {}
    for at, (name, xml) in enumerate(parts.items(), 1):
        identifier = str(uuid5(NAMESPACE_URL, name)).upper()
        parts_by_name[f"customXml/item{at}.xml"] = xml
        parts_by_name[f"customXml/itemProps{at}.xml"] = (
            f'{XML}<ds:datastoreItem xmlns:ds="http://schemas.openxmlformats.org/officeDocument/2006/customXml"'
            f' ds:itemID="{{{identifier}}}"><ds:schemaRefs/></ds:datastoreItem>'
        ).encode()
        parts_by_name[f"customXml/_rels/item{at}.xml.rels"] = links_xml(
            [(f"{OFFICE}/customXmlProps", f"itemProps{at}.xml")]
        )
    return parts_by_name


def workbook_xml(
    sheets: Sequence[tuple[str, str]],
    *,
    active: int,
    date_1904: bool,
    names: Mapping[tuple[int | None, str], str],
    recalculate: bool,
    calculation: Calculation = CALCULATION,
) -> bytes:
    """Return the workbook part.

    `sheets` are names and states, and names go by the place of their sheet, None for the workbook's own.
    """
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{at}"{"" if state == "visible" else f" state={quoteattr(state)}"}'
        f' r:id="rId{at}"/>'
        for at, (name, state) in enumerate(sheets, 1)
    )
    written = "".join(
        f"<definedName name={quoteattr(name)}{'' if at is None else f' localSheetId={quoteattr(str(at))}'}>"
        f"{escape(text)}</definedName>"
        for (at, name), text in sorted(names.items(), key=lambda named: (named[0][1].casefold(), str(named[0][0])))
    )
    dated = ' date1904="1"' if date_1904 else ""
    return (
        f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><workbookPr{dated}/>'
        f'<bookViews><workbookView windowWidth="28800" windowHeight="15840" activeTab="{active}"/></bookViews>'
        f"<sheets>{listed}</sheets>"
        + (f"<definedNames>{written}</definedNames>" if written else "")
        + f'<calcPr calcId="191029"{_settings(calculation)}{" fullCalcOnLoad=" + _ONE if recalculate else ""}/>'
        + "</workbook>"
    ).encode()


_ONE: Final = '"1"'


def _settings(calculation: Calculation) -> str:
    """Return what is other than Excel's default, in the order of the schema."""
    settings = {
        "iterate": (calculation.iterates, "1"),
        "iterateCount": (calculation.iterations_max != CALCULATION.iterations_max, str(calculation.iterations_max)),
        "iterateDelta": (calculation.change_max != CALCULATION.change_max, repr(calculation.change_max).upper()),
        "fullPrecision": (calculation.as_displayed, "0"),
    }
    return "".join(f' {name}="{text}"' for name, (is_said, text) in settings.items() if is_said)


_NAME: Final = re.compile(r"[^\W\d][\w.\\?]{0,254}|\\[\w.\\?]{0,254}")
_LIKE_A_CELL: Final = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}|[Rr][0-9]*(?:[Cc][0-9]*)?|[Cc][0-9]*")


def is_name(text: str) -> bool:
    """Return whether Excel takes a text for the name of a range or a table."""
    return bool(_NAME.fullmatch(text)) and not _LIKE_A_CELL.fullmatch(text)


_HEADING_MARK: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x1f]")


def table_xml(table: Table, number: int) -> bytes:
    """Return a table part."""
    covers = range_name(table.first_row, table.first_column, table.last_row, table.last_column)
    filtered = range_name(table.first_row, table.first_column, table.last_row - table.totals_rows, table.last_column)
    columns = "".join(
        f'<tableColumn id="{at}" name={quoteattr(_HEADING_MARK.sub(lambda met: f"_x{ord(met[0]):04X}_", name))}/>'
        for at, name in enumerate(table.columns, 1)
    )
    header = "" if table.header_rows else ' headerRowCount="0"'
    totals = f' totalsRowCount="{table.totals_rows}"' if table.totals_rows else ' totalsRowShown="0"'
    return (
        f'{XML}<table xmlns="{MAIN}" id="{number}" name={quoteattr(table.name)} displayName={quoteattr(table.name)}'
        f' ref="{covers}"{header}{totals}>'
        + (f'<autoFilter ref="{filtered}"/>' if table.header_rows else "")
        + f'<tableColumns count="{len(table.columns)}">{columns}</tableColumns></table>'
    ).encode()


def metadata_xml(*, spills: bool, rich: bool) -> bytes:
    """Return the metadata part.

    The mark of formulas that spill (a cell's `cm`), and of errors that are younger than the file format (a cell's
    `vm`).
    """
    types, futures, marks = "", "", ""
    count = 0
    common = (
        'minSupportedVersion="120000" copy="1" pasteAll="1" pasteValues="1" merge="1" splitFirst="1" rowColShift="1"'
        ' clearFormats="1" clearComments="1" assign="1" coerce="1"'
    )
    if spills:
        count += 1
        types += f'<metadataType name="XLDAPR" {common} cellMeta="1"/>'
        futures += (
            '<futureMetadata name="XLDAPR" count="1"><bk><extLst><ext uri="{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}">'
            '<xda:dynamicArrayProperties fDynamic="1" fCollapsed="0"/></ext></extLst></bk></futureMetadata>'
        )
        marks += f'<cellMetadata count="1"><bk><rc t="{count}" v="0"/></bk></cellMetadata>'
    if rich:
        count += 1
        types += f'<metadataType name="XLRICHVALUE" {common}/>'
        values = "".join(
            f'<bk><extLst><ext uri="{{3e2802c4-a4d2-4d8b-9148-e3be6c30e623}}"><xlrd:rvb i="{at}"/></ext></extLst></bk>'
            for at in range(2)
        )
        futures += f'<futureMetadata name="XLRICHVALUE" count="2">{values}</futureMetadata>'
        records = "".join(f'<bk><rc t="{count}" v="{at}"/></bk>' for at in range(2))
        marks += f'<valueMetadata count="2">{records}</valueMetadata>'
    return (
        f'{XML}<metadata xmlns="{MAIN}" xmlns:xlrd="{_RICH}"'
        ' xmlns:xda="http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray">'
        f'<metadataTypes count="{count}">{types}</metadataTypes>{futures}{marks}</metadata>'
    ).encode()


RICH_PARTS: Final = {
    "xl/richData/rdrichvalue.xml": (
        f'{XML}<rvData xmlns="{_RICH}" count="2"><rv s="0"><v>0</v><v>8</v><v>0</v><v>0</v></rv>'
        '<rv s="1"><v>13</v><v>0</v></rv></rvData>'
    ).encode(),
    "xl/richData/rdrichvaluestructure.xml": (
        f'{XML}<rvStructures xmlns="{_RICH}" count="2">'
        '<s t="_error"><k n="colOffset" t="i"/><k n="errorType" t="i"/><k n="rwOffset" t="i"/><k n="subType" t="i"/>'
        '</s><s t="_error"><k n="errorType" t="i"/><k n="subType" t="i"/></s></rvStructures>'
    ).encode(),
}
"""#SPILL! and #CALC!, in this order, as Excel keeps them."""
