"""The small parts of an .xlsx file and what stands around a sheet's cells, held against lists.

The lists have what our writer, Excel and LibreOffice write.

A list says of each element which attributes and which children it may have. What is in no list is a finding: of another
namespace, twice where once is right, text between elements, comments or entities make programs read different things;
other elements and attributes of the spreadsheet's own namespace show or calculate something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from core.files.errors import ParseFailed
from core.files.parts import Attributes, parse_part
from core.provenance.finding import Findings

STRICT: Final = "http://purl.oclc.org/ooxml"
OPEN: Final = "http://schemas.openxmlformats.org"
MAINS: Final = frozenset({f"{OPEN}/spreadsheetml/2006/main", f"{STRICT}/spreadsheetml/main"})
LINKS: Final = frozenset({f"{OPEN}/officeDocument/2006/relationships", f"{STRICT}/officeDocument/relationships"})
"""Namespaces of the identifiers by which a part names others."""

_MC: Final = f"{OPEN}/markup-compatibility/2006"
_MICROSOFT: Final = "http://schemas.microsoft.com/office/spreadsheetml"
_NOTES: Final = frozenset({
    (_MC, "Ignorable"),
    (f"{_MICROSOFT}/2009/9/ac", "dyDescent"),
    (f"{_MICROSOFT}/2009/9/ac", "knownFonts"),
    (f"{_MICROSOFT}/2014/revision", "uid"),
    *((f"{_MICROSOFT}/{home}", "uid") for home in (
        "2015/revision2", "2016/revision3", "2016/revision6", "2016/revision9", "2016/revision10"
    )),
    ("http://www.w3.org/XML/1998/namespace", "space"),
})  # fmt: skip
"""Attributes of other namespaces that say nothing of cells."""

DY_DESCENT: Final = b"http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"
"""What the prefix x14ac of a row's attribute has to stand for."""

_EXTENSIONS: Final = frozenset({
    "{7626C862-2A13-11E5-B345-FEFF819CDC9F}",  # LibreOffice: how texts are read as references
    "{140A7094-0E35-4892-8432-C4D2E57EDEB5}",  # Excel: charts' references, the features of its calculation
    "{B58B0392-4F1F-4190-BB64-5DF3571DCE5F}",
    "{EB79DEF2-80B8-43E5-95BD-54CBDDF9020C}",  # styles of slicers and timelines
    "{9260A510-F301-46A8-8635-F512D64BE5F5}",
    "{46BE6895-7355-4A93-B00E-2C351335B9C9}",  # colours of the phonetic guide's designs
    "{504A1905-F514-4F6F-8877-14C23A59335A}",  # a table's alternative text
    "{BDBB8CDC-FA1E-496E-A857-3C3F30C029C3}",  # dynamic arrays, rich values
    "{3E2802C4-A4D2-4D8B-9148-E3BE6C30E623}",
})  # fmt: skip
"""Extensions that change no cell."""

_PATH: Final = frozenset({(_MC, "AlternateContent"), (_MC, "Choice")})
_PATH_LEAVES: Final = frozenset({
    ("http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac", "absPath"),
    (f"{_MICROSOFT}/2014/revision", "revisionPtr"),
})  # fmt: skip
"""Where Excel says in the workbook part how the file was called and which revision it is."""

_ALTERNATIVES: Final = "alternatives"
"""The name by which they are known while they are open: they may hold the file's path alone."""

ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Element:
    """Allowed names, apart by blanks; `*` is anything of the namespace."""

    attributes: str = ""
    children: str = ""
    repeats: bool = True
    """Whether it may stand more than once in its parent."""
    text: bool = False


def _once(attributes: str = "", children: str = "", *, text: bool = False) -> Element:
    return Element(attributes, children, repeats=False, text=text)


_PROTECTION: Final = "algorithmName hashValue saltValue spinCount password"

WORKBOOK: Final[Mapping[str, Element]] = {
    "workbook": Element(
        "conformance",
        "fileVersion fileSharing workbookPr workbookProtection bookViews sheets definedNames calcPr fileRecoveryPr "
        "extLst",
    ),
    "fileVersion": _once("appName lastEdited lowestEdited rupBuild codeName"),
    "fileSharing": _once(f"readOnlyRecommended userName reservationPassword {_PROTECTION}"),
    "workbookPr": _once(
        "date1904 showObjects backupFile codeName defaultThemeVersion filterPrivacy hidePivotFieldList "
        "promptedSolutions showInkAnnotation saveExternalLinkValues updateLinks checkCompatibility "
        "autoCompressPictures showBorderUnselectedTables showPivotChartFilter publishItems"
    ),
    "workbookProtection": _once(ANY),
    "bookViews": _once("", "workbookView"),
    "workbookView": Element(ANY),
    "sheets": _once("", "sheet"),
    "sheet": Element("name sheetId state r:id"),
    "definedNames": _once("", "definedName"),
    "definedName": Element(
        "name localSheetId hidden comment description help statusBar customMenu function vbProcedure xlm "
        "publishToServer workbookParameter",
        text=True,
    ),
    "calcPr": _once(
        "calcId calcMode fullCalcOnLoad refMode iterate iterateCount iterateDelta fullPrecision calcCompleted "
        "calcOnSave concurrentCalc concurrentManualCount forceFullCalc"
    ),
    "fileRecoveryPr": _once(ANY),
    "extLst": _once("", "ext"),
    "ext": Element("uri"),
}

SHEET: Final[Mapping[str, Element]] = {
    "worksheet": Element(
        "",
        "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection autoFilter mergeCells "
        "phoneticPr printOptions pageMargins pageSetup headerFooter rowBreaks colBreaks ignoredErrors tableParts",
    ),
    "sheetPr": _once(
        "codeName filterMode enableFormatConditionsCalculation published syncHorizontal syncVertical syncRef",
        "tabColor outlinePr pageSetUpPr",
    ),
    "tabColor": _once(ANY),
    "outlinePr": _once(ANY),
    "pageSetUpPr": _once(ANY),
    "dimension": _once("ref"),
    "sheetViews": _once("", "sheetView"),
    "sheetView": Element(
        "windowProtection showFormulas showGridLines showRowColHeaders showZeros rightToLeft tabSelected showRuler "
        "showOutlineSymbols defaultGridColor showWhiteSpace view topLeftCell colorId zoomScale zoomScaleNormal "
        "zoomScaleSheetLayoutView zoomScalePageLayoutView workbookViewId",
        "pane selection",
    ),
    "pane": _once("xSplit ySplit topLeftCell activePane state"),
    "selection": Element("pane activeCell activeCellId sqref"),
    "sheetFormatPr": _once(
        "baseColWidth defaultColWidth defaultRowHeight customHeight zeroHeight thickTop thickBottom outlineLevelRow "
        "outlineLevelCol"
    ),
    "cols": _once("", "col"),
    "col": Element("min max width style hidden bestFit customWidth phonetic outlineLevel collapsed"),
    "sheetData": _once(),
    "sheetCalcPr": _once("fullCalcOnLoad"),
    "sheetProtection": _once(ANY),
    "autoFilter": _once("ref"),
    "mergeCells": _once("count", "mergeCell"),
    "mergeCell": Element("ref"),
    "phoneticPr": _once(ANY),
    "printOptions": _once(ANY),
    "pageMargins": _once(ANY),
    "pageSetup": _once(ANY + " r:id"),
    "headerFooter": _once(ANY, ANY, text=True),
    "rowBreaks": _once(ANY, "brk"),
    "colBreaks": _once(ANY, "brk"),
    "brk": Element(ANY),
    "ignoredErrors": _once("", "ignoredError"),
    "ignoredError": Element(ANY),
    "tableParts": _once("count", "tablePart"),
    "tablePart": Element("r:id"),
}

STYLES: Final[Mapping[str, Element]] = {
    "styleSheet": Element(
        "", "numFmts fonts fills borders cellStyleXfs cellXfs cellStyles dxfs tableStyles colors extLst"
    ),
    "numFmts": _once("count", "numFmt"),
    "numFmt": Element("numFmtId formatCode"),
    "fonts": _once(ANY, "font"),
    "font": Element("", "b i strike condense extend outline shadow u vertAlign sz color name family charset scheme"),
    **dict.fromkeys(("name", "charset"), Element("val")),
    "fills": _once(ANY, ANY),
    "borders": _once(ANY, ANY),
    "cellStyleXfs": _once("count", "xf"),
    "cellXfs": _once("count", "xf"),
    "xf": Element(ANY, "alignment protection"),
    "alignment": _once(ANY),
    "protection": _once(ANY),
    "cellStyles": _once(ANY, ANY),
    "dxfs": _once(ANY, ANY),
    "tableStyles": _once(ANY, ANY),
    "colors": _once(ANY, ANY),
    "extLst": _once("", "ext"),
    "ext": Element("uri"),
}

TABLE: Final[Mapping[str, Element]] = {
    "table": Element(ANY, "autoFilter tableColumns tableStyleInfo extLst"),
    "autoFilter": _once("ref"),
    "tableColumns": _once("count", "tableColumn"),
    "tableColumn": Element(ANY, "calculatedColumnFormula totalsRowFormula"),
    "calculatedColumnFormula": _once(ANY, text=True),
    "totalsRowFormula": _once(ANY, text=True),
    "tableStyleInfo": _once(ANY),
    "extLst": _once("", "ext"),
    "ext": Element("uri"),
}

METADATA: Final[Mapping[str, Element]] = {
    "metadata": Element("", "metadataTypes futureMetadata cellMetadata valueMetadata"),
    "metadataTypes": _once("count", "metadataType"),
    "metadataType": Element(ANY),
    "futureMetadata": Element("name count", "bk"),
    "cellMetadata": _once("count", "bk"),
    "valueMetadata": _once("count", "bk"),
    "bk": Element("", "rc extLst"),
    "rc": Element("t v"),
    "extLst": _once("", "ext"),
    "ext": Element("uri"),
}

STRINGS_ROOT: Final[Mapping[str, Element]] = {"sst": Element("count uniqueCount")}


def is_true(attributes: Mapping[str, str], name: str, default: bool = False) -> bool:
    """Return an XML boolean."""
    text = attributes.get(name)
    return default if text is None else text.strip() in ("1", "true")


Watch = Callable[[str, Mapping[str, str]], None]


@dataclass(slots=True)
class _Open:
    """An element that is open."""

    name: str
    """Empty for what is of another namespace, or inside a free one."""
    rule: Element | None
    met: set[str] = field(default_factory=set)


_DECLARATION: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?<\?xml\s+version=[\"']1\.0[\"'](?:\s+encoding=[\"'](?i:utf-8)[\"'])?"
    rb"(?:\s+standalone=[\"'](?:yes|no)[\"'])?\s*\?>"
)


def markup_fault(head: bytes) -> str | None:
    """Return why bytes from a part's beginning on are not plain XML in UTF-8.

    No declaration of another encoding, no comments, sections, entities or instructions. None where they are.
    """
    rest = head
    if (declared := _DECLARATION.match(head)) is not None:
        rest = head[declared.end() :]
    elif (
        head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:4] or head.lstrip(b"\xef\xbb\xbf").startswith(b"<?xml")
    ):
        return "a declaration or an encoding that no spreadsheet program writes"
    if b"<!" in rest or b"<?" in rest:
        return "a comment, a section, an entity or an instruction, which programs read differently"
    return None


def check_part(
    data: bytes,
    grammar: Mapping[str, Element],
    findings: Findings,
    part: str,
    *,
    sheet: str | None = None,
    watch: Watch | None = None,
    is_free: bool = False,
) -> None:
    """Hold a part against its list.

    `watch` is called with each element of the list and its attributes.

    Attributes come by their names, those that name a relationship as `r:id`. With `is_free` only what programs read
    differently is found: other elements of the namespace, and all that stands in them, may be.
    """
    fault = markup_fault(data)
    if fault is not None:
        findings.differs(part, fault, sheet=sheet)
        return
    walk = _Walk(grammar, findings, part, sheet, watch, is_free)
    try:
        parse_part(data, f"The part {part!r}", walk.start, walk.text, walk.end, qualified=True)
    except ParseFailed as error:
        findings.differs(part, f"XML that is not well-formed ({error.hint.rstrip('.')})", sheet=sheet)


class _Walk:
    def __init__(
        self,
        grammar: Mapping[str, Element],
        findings: Findings,
        part: str,
        sheet: str | None,
        watch: Watch | None,
        is_free: bool,
    ) -> None:
        self.grammar = grammar
        self.findings = findings
        self.part = part
        self.sheet = sheet
        self.watch = watch
        self.is_free = is_free
        self.inside: list[_Open] = []

    def start(self, name: str, attributes: Attributes) -> None:
        home, _, local = name.rpartition("}")
        above = self.inside[-1] if self.inside else None
        if above is not None and above.rule is None:
            self.inside.append(_Open("", None))
            return
        if home not in MAINS:
            self._foreign(home, local, above)
            return
        if above is None:
            self._root(local)
        elif not self._fits(local, above):
            self.inside.append(_Open("", None))
            return
        rule = self.grammar.get(local)
        if rule is None:  # what stands in a free element
            self.inside.append(_Open("", None))
            return
        values = dict(self._attributes(local, rule, attributes))
        free = rule.children == ANY or (local == "ext" and self._is_known(values.get("uri", "")))
        self.inside.append(_Open(local, None if free else rule))
        if self.watch is not None:
            self.watch(local, values)

    def _root(self, local: str) -> None:
        if local != next(iter(self.grammar)):
            self.findings.differs(self.part, f"another kind of part in it: {local!r}", sheet=self.sheet)

    def _fits(self, local: str, above: _Open) -> bool:
        """Return whether an element may stand where it does; a finding where it may not."""
        assert above.rule is not None
        if above.name == _ALTERNATIVES:
            self.findings.differs(self.part, f"an element {local!r} among alternatives", sheet=self.sheet)
            return False
        if local not in above.rule.children.split():
            if not self.is_free:
                self.findings.changed(self.part, f"an element {local!r} that was not exported", sheet=self.sheet)
            return False
        rule = self.grammar.get(local)
        if rule is not None and not rule.repeats and local in above.met:
            self.findings.differs(self.part, f"a second element {local!r}", sheet=self.sheet)
        above.met.add(local)
        return True

    def _foreign(self, home: str, local: str, above: _Open | None) -> None:
        self.inside.append(_Open("", None))
        if above is None:
            self.findings.differs(self.part, "a root of another namespace", sheet=self.sheet)
        elif (home, local) in _PATH and above.name in ("workbook", _ALTERNATIVES):
            self.inside[-1] = _Open(_ALTERNATIVES, Element())
        elif (home, local) in _PATH_LEAVES and above.name in ("workbook", _ALTERNATIVES):
            pass
        elif not (self.is_free and above.name == "worksheet"):
            self.findings.differs(self.part, f"an element {local!r} of another namespace", sheet=self.sheet)

    def _is_known(self, uri: str) -> bool:
        if uri.upper() in _EXTENSIONS or self.is_free:
            return True
        self.findings.changed(self.part, f"an extension {uri!r} that was not exported", sheet=self.sheet)
        return True

    def _attributes(self, local: str, rule: Element, attributes: Attributes) -> Iterator[tuple[str, str]]:
        allowed = rule.attributes.split()
        met: set[str] = set()
        for key, value in attributes.items():
            home, _, name = key.rpartition("}")
            if home in LINKS:
                name = f"r:{name}"
            elif home:
                if (home, name) not in _NOTES:
                    self.findings.differs(
                        self.part, f"an attribute {name!r} of another namespace on {local!r}", sheet=self.sheet
                    )
                continue
            if name in met:
                self.findings.differs(self.part, f"two attributes {name!r} on {local!r}", sheet=self.sheet)
            met.add(name)
            if name not in allowed and (ANY not in allowed or ":" in name) and not self.is_free:
                self.findings.changed(
                    self.part, f"an attribute {name!r} on {local!r} that was not exported", sheet=self.sheet
                )
            yield name, value

    def text(self, piece: str) -> None:
        above = self.inside[-1] if self.inside else None
        if above is None or above.rule is None or above.rule.text or not piece.strip():
            return
        self.findings.differs(self.part, f"text between the elements of {above.name!r}", sheet=self.sheet)

    def end(self, _: str) -> None:
        self.inside.pop()
