"""A workbook with three pivot tables, its parts written by hand as Excel writes them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from core.grid.address import cell_name

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml."

ROWS: dict[int, tuple[str | float | None, ...]] = {
    1: ("Quarter", "(All)", None, None, None, "Office", "Lisbon"),
    3: ("Sum of Sales", "Years", None, None, None, "Months", "Total ", "Loans"),
    4: ("Row Labels", 2025, 2026, "Grand Total", None, "Jan", 35, 2),
    5: ("North", 20, None, 20, None, "Mar", 85, 3),
    6: ("Oslo", 20, None, 20, None, "Grand Total", 120, 5),
    7: ("South", 60, 40, 100),
    8: ("Bari", 30, None, 30),
    9: ("Rome", 30, 40, 70, None, "Values", "Q1", "Q2"),
    10: ("Grand Total", 80, 40, 120, None, "1/15/2026"),
    11: (None, None, None, None, None, "Sum of Sales", 7, 8),
    12: (None, None, None, None, None, "Max of Sales", 5, "#N/A"),
    13: (None, None, None, None, None, "2/1/2026"),
    14: (None, None, None, None, None, "Sum of Sales", 9, None),
    15: (None, None, None, None, None, "Max of Sales", 9, None),
}
"""The sheet's cells from A on: a pivot table in A3:D10 with a filter above, one in F3:H6, one in F9:H15."""

CACHE = f"""<pivotCacheDefinition xmlns="{MAIN}" xmlns:r="{OFFICE}" r:id="rId1" refreshedVersion="6" recordCount="1">
<cacheSource type="worksheet"><worksheetSource ref="A1:G8" sheet="Data"/></cacheSource><cacheFields count="8">
<cacheField name="Region" numFmtId="0"><sharedItems count="2"><s v="North"/><s v="South"/></sharedItems></cacheField>
<cacheField name="City" numFmtId="0"><sharedItems count="4"><s v="Oslo"/><s v="Rome"/><s v="Bari"/><m/></sharedItems>
</cacheField>
<cacheField name="Year" numFmtId="0"><sharedItems containsSemiMixedTypes="0" containsString="0" containsNumber="1"
 containsInteger="1" minValue="2025" maxValue="2026" count="2"><n v="2025"/><n v="2026"/></sharedItems></cacheField>
<cacheField name="Quarter" numFmtId="0"><sharedItems count="2"><s v="Q1"/><s v="Q2"/></sharedItems></cacheField>
<cacheField name="Date" numFmtId="14"><sharedItems containsSemiMixedTypes="0" containsNonDate="0" containsDate="1"
 containsString="0" minDate="2026-01-15T00:00:00" maxDate="2026-02-02T00:00:00" count="2"><d v="2026-01-15T00:00:00"/>
<d v="2026-02-01T00:00:00"/></sharedItems></cacheField>
<cacheField name="Months" numFmtId="0" databaseField="0"><fieldGroup base="4"><rangePr groupBy="months"
 startDate="2026-01-15T00:00:00" endDate="2026-02-02T00:00:00"/><groupItems count="14"><s v="&lt;1/15/2026"/>
<s v="Jan"/><s v="Feb"/><s v="Mar"/><s v="Apr"/><s v="May"/><s v="Jun"/><s v="Jul"/><s v="Aug"/><s v="Sep"/><s v="Oct"/>
<s v="Nov"/><s v="Dec"/><s v="&gt;2/2/2026"/></groupItems></fieldGroup></cacheField>
<cacheField name="Office" numFmtId="0"><sharedItems count="2"><s v="Porto"/><s v="Lisbon"/></sharedItems></cacheField>
<cacheField name="Sales" numFmtId="0"><sharedItems containsSemiMixedTypes="0" containsString="0" containsNumber="1"
 containsInteger="1" minValue="5" maxValue="40"/></cacheField></cacheFields></pivotCacheDefinition>"""

MONTHS = "".join(f'<item x="{at}"/>' for at in range(14))
ITEMS = {
    0: '<items count="3"><item x="0"/><item x="1"/><item t="default"/></items>',
    1: '<items count="5"><item x="2"/><item x="0"/><item x="1"/><item h="1" x="3"/><item t="default"/></items>',
    2: '<items count="3"><item x="0"/><item x="1" n="This year"/><item t="default"/></items>',
    3: '<items count="3"><item x="0"/><item x="1"/><item t="default"/></items>',
    4: '<items count="3"><item x="0"/><item x="1"/><item t="default"/></items>',
    5: f'<items count="15">{MONTHS}<item t="default"/></items>',
    6: '<items count="3"><item x="0"/><item x="1"/><item t="default"/></items>',
}


def definition(name: str, location: str, axes: dict[int, str], inside: str) -> str:
    """A pivot table's part.

    The fields that stand on an axis, and what comes behind them.
    """
    fields = "".join(
        f'<pivotField axis="{axes[at]}" showAll="0">{ITEMS[at]}</pivotField>' if at in axes
        else f'<pivotField {"dataField" if at == 7 else "compact"}="1" showAll="0"/>'
        for at in range(8)
    ).replace('axis="axisCol"', 'axis="axisCol" name="Years"')  # fmt: skip
    return (
        f'<pivotTableDefinition xmlns="{MAIN}" name="{name}" cacheId="7" dataCaption="Values">'
        f'{location}<pivotFields count="8">{fields}</pivotFields>{inside}</pivotTableDefinition>'
    )


PIVOTS = [
    definition(
        "Regions",
        '<location ref="A3:D10" firstHeaderRow="1" firstDataRow="2" firstDataCol="1" rowPageCount="1"/>',
        {0: "axisRow", 1: "axisRow", 2: "axisCol", 3: "axisPage"},
        '<rowFields count="2"><field x="0"/><field x="1"/></rowFields><rowItems count="6"><i><x/></i>'
        '<i r="1"><x v="1"/></i><i><x v="1"/></i><i r="1"><x/></i><i r="1"><x v="2"/></i><i t="grand"><x/></i>'
        '</rowItems><colFields count="1"><field x="2"/></colFields><colItems count="3"><i><x/></i><i><x v="1"/></i>'
        '<i t="grand"><x/></i></colItems><pageFields count="1"><pageField fld="3" hier="-1"/></pageFields>'
        '<dataFields count="1"><dataField name="Sum of Sales" fld="7" baseField="0" baseItem="0"/></dataFields>',
    ),
    definition(
        "Months",
        '<location ref="F3:H6" firstHeaderRow="0" firstDataRow="1" firstDataCol="1" rowPageCount="1"/>',
        {5: "axisRow", 6: "axisPage"},
        '<rowFields count="1"><field x="5"/></rowFields><rowItems count="3"><i><x v="1"/></i><i><x v="3"/></i>'
        '<i t="grand"><x/></i></rowItems><colFields count="1"><field x="-2"/></colFields><colItems count="2">'
        '<i><x/></i><i i="1"><x v="1"/></i></colItems><pageFields><pageField fld="6" item="1"/></pageFields>'
        '<dataFields count="2"><dataField name="Total " fld="7" baseField="0" baseItem="0"/>'
        '<dataField name="Loans" fld="7" subtotal="count" baseField="0" baseItem="0"/></dataFields>',
    ),
    definition(
        "Days",
        '<location ref="F9:H15" firstHeaderRow="0" firstDataRow="1" firstDataCol="1"/>',
        {4: "axisRow", 3: "axisCol"},
        '<rowFields count="2"><field x="4"/><field x="-2"/></rowFields><rowItems count="6"><i><x/></i><i r="1"><x/></i>'
        '<i r="1" i="1"><x v="1"/></i><i><x v="1"/></i><i r="1"><x/></i><i r="1" i="1"><x v="1"/></i></rowItems>'
        '<colFields count="1"><field x="3"/></colFields><colItems count="2"><i><x/></i><i><x v="1"/></i></colItems>'
        '<dataFields count="2"><dataField name="Sum of Sales" fld="7" baseField="0" baseItem="0"/>'
        '<dataField name="Max of Sales" fld="7" subtotal="max" baseField="0" baseItem="0"/></dataFields>',
    ),
]  # fmt: skip


def parts(formulas: dict[str, str] | None = None, pivots: list[str] = PIVOTS, cache: str = CACHE) -> dict[str, str]:
    """The parts of the file; formulas stand in a second sheet, each with the value 1."""
    cells = "".join(
        f'<row r="{row}">{"".join(_cell(cell_name(row - 1, at), value) for at, value in enumerate(values))}</row>'
        for row, values in ROWS.items()
    )
    asked = "".join(
        f'<row r="{at}"><c r="A{at}"><f>{text}</f><v>1</v></c></row>' for at, text in enumerate(formulas or {}, 1)
    )
    tables = range(1, len(pivots) + 1)
    kinds = {
        "workbook": "sheet.main", "worksheets/sheet1": "worksheet", "worksheets/sheet2": "worksheet",
        "pivotCache/pivotCacheDefinition1": "pivotCacheDefinition",
        "pivotCache/pivotCacheRecords1": "pivotCacheRecords",
        **{f"pivotTables/pivotTable{at}": "pivotTable" for at in tables},
    }  # fmt: skip
    overrides = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{KIND}{kind}+xml"/>' for part, kind in kinds.items()
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.'
        f'openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": _links({"officeDocument": ["xl/workbook.xml"]}),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="Pivot" sheetId="1" '
        'r:id="rId1"/><sheet name="Asked" sheetId="2" r:id="rId2"/></sheets>'
        '<pivotCaches><pivotCache cacheId="7" r:id="rId3"/></pivotCaches></workbook>',
        "xl/_rels/workbook.xml.rels": _links({
            "worksheet": ["worksheets/sheet1.xml", "worksheets/sheet2.xml"],
            "pivotCacheDefinition": ["pivotCache/pivotCacheDefinition1.xml"],
        }),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>',
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{asked}</sheetData></worksheet>',
        "xl/worksheets/_rels/sheet1.xml.rels": _links({
            "pivotTable": [f"../pivotTables/pivotTable{at}.xml" for at in tables],
        }),
        **{
            f"xl/pivotTables/_rels/pivotTable{at}.xml.rels": _links({
                "pivotCacheDefinition": ["../pivotCache/pivotCacheDefinition1.xml"],
            })
            for at in tables
        },
        **{f"xl/pivotTables/pivotTable{at}.xml": pivot for at, pivot in enumerate(pivots, 1)},
        "xl/pivotCache/pivotCacheDefinition1.xml": cache,
        "xl/pivotCache/_rels/pivotCacheDefinition1.xml.rels": _links({"pivotCacheRecords": ["pivotCacheRecords1.xml"]}),
        "xl/pivotCache/pivotCacheRecords1.xml": f'<pivotCacheRecords xmlns="{MAIN}" count="0"/>',
    }  # fmt: skip


def write(path: Path, value: dict[str, str]) -> Path:
    """The parts as a file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in value.items():
            archive.writestr(part, text)
    return path


def _links(targets: dict[str, list[str]]) -> str:
    listed = [(kind, target) for kind, names in targets.items() for target in names]
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(listed, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>'


def _cell(place: str, value: str | float | None) -> str:
    if value is None:
        return ""
    if value == "#N/A":
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
