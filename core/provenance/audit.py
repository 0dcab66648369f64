"""A look at an .xlsx file for what programs read differently, and for what was not exported.

It goes by lists of what our writer, Excel and LibreOffice write.

The reader of workbooks takes what it can make sense of; this look takes nothing for granted, so that every program
reads a file alike that passes. It runs before the reader does, in bounded memory: cells and strings go by in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.archive import Archive
from core.files.errors import ParseFailed
from core.files.limits import PART_BYTES_MAX
from core.files.parts import BUILT_IN_FORMATS, is_date_format, parse_rich_errors
from core.grid.address import cell_name, column_name, parse_range
from core.provenance._strict import CALCULATED, FAULTS, Cells, Strings
from core.provenance.finding import Change, Findings
from core.provenance.grammar import DY_DESCENT, METADATA, SHEET, STRINGS_ROOT, STYLES, TABLE, check_part, is_true
from core.provenance.package import Package, SheetPart, check_package
from core.provenance.shown import display_form

NARROW: Final = 0.5
"""Characters; a column that is narrower shows nothing."""

LOW_POINTS: Final = 2.0

_SYMBOLS: Final = re.compile(
    r"(?:wingdings(?: [23])?|webdings|symbol|opensymbol|marlett|mt extra|bookshelf symbol 7|(?:itc )?zapf ?dingbats)",
    re.IGNORECASE,
)
"""Fonts whose digits and letters are pictures."""

_FRAME_BYTES_MAX: Final = 4 * PART_BYTES_MAX
"""Of what stands around a sheet's cells: a million merged ranges take 30 MB."""

_BEGIN: Final = re.compile(rb"<((?:[A-Za-z_][\w.-]*:)?)sheetData\s*(/?)>")
_STRINGS: Final = re.compile(rb"<((?:[A-Za-z_][\w.-]*:)?)sst(?:\s[^<>]*?)?(/?)>")


def audit(archive: Archive, own: Collection[str], covered: Collection[str], findings: Findings) -> None:
    """Look at a file's archive, parts, sheets and cells.

    Args:
        own: the sheets that the export says may be changed: only what programs read differently is found there.
        covered: those whose cells its manifest has.

    Raises:
        ParseFailed: a part is damaged or passes a limit.
    """
    package = check_package(archive, own, covered, findings)
    styles = _styles(archive, package, findings)
    strings = _strings(archive, package, findings)
    rich = _metadata(archive, package, findings)
    for sheet in package.sheets:
        _Sheet(archive, sheet, findings).check(strings, styles, rich)
    for sheet_name, part in package.tables:
        check_part(archive.read(part), TABLE, findings, part, sheet=sheet_name)


# Styles ---------------------------------------------------------------------------------------------------------------


def _styles(archive: Archive, package: Package, findings: Findings) -> int:
    """Return how many cell styles the file has."""
    part = package.by_kind.get("styles")
    if part is None:
        return 1
    styles = _Styles(part, findings)
    check_part(archive.read(part), STYLES, findings, part, watch=styles.watch)
    styles.check_cells()
    return max(1, len(styles.cells))


class _Styles:
    """The elements of the styles, in order, and what is wrong with them."""

    def __init__(self, part: str, findings: Findings) -> None:
        self.part = part
        self.findings = findings
        self.codes: dict[str, str] = {}
        self.bases: list[Mapping[str, str]] = []
        self.cells: list[Mapping[str, str]] = []
        self._list = ""

    def watch(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take one element."""
        if name in ("cellStyleXfs", "cellXfs"):
            self._list = name
        elif name == "numFmt":
            _number_format(attributes, self.codes, self.part, self.findings)
        elif name == "alignment" and attributes.get("horizontal") == "fill":
            message = "cells that repeat what they hold until they are full"
            self.findings.changed(self.part, message, change="changed")
        elif (name == "name" and _SYMBOLS.fullmatch(attributes.get("val", "").strip())) or (
            name == "charset" and attributes.get("val", "").strip() == "2"
        ):
            message = "a font that shows other signs than those that cells hold"
            self.findings.changed(self.part, message, change="changed")
        elif name == "xf":
            (self.cells if self._list == "cellXfs" else self.bases).append(attributes)

    def check_cells(self) -> None:
        """Check the number format of each cell style."""
        for at, style in enumerate(self.cells):
            base = _whole(style.get("xfId", "0"))
            base_number = self.bases[base].get("numFmtId", "0") if base is not None and base < len(self.bases) else "0"
            number = style.get("numFmtId", "0")
            identifier = _whole(number)
            if identifier is None or base is None or (number not in self.codes and identifier not in BUILT_IN_FORMATS):
                message = f"a cell style {at} of a number format that the file does not have"
                self.findings.differs(self.part, message)
            elif base_number != number and not is_true(style, "applyNumberFormat", default=True):
                message = f"a cell style {at} that says of two number formats that it is the other"
                self.findings.differs(self.part, message)


def _number_format(attributes: Mapping[str, str], codes: dict[str, str], part: str, findings: Findings) -> None:
    number, code = attributes.get("numFmtId", ""), attributes.get("formatCode", "")
    identifier = _whole(number)
    if identifier is None or codes.setdefault(number, code) != code:
        findings.differs(part, f"two number formats of the number {number!r}, or one without")
        return
    usual = BUILT_IN_FORMATS.get(identifier)
    if usual is None or display_form(usual) == display_form(code) or (is_date_format(usual) and is_date_format(code)):
        return
    findings.differs(part, f"another number format under the number {number}, which programs know as {usual!r}")


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 and str(int(text)) == text else None


# Strings and metadata -------------------------------------------------------------------------------------------------


def _strings(archive: Archive, package: Package, findings: Findings) -> int:
    part = package.by_kind.get("sharedStrings")
    if part is None:
        return 0
    chunks = archive.chunks(part)
    head, begin = _until(chunks, _STRINGS, part)
    if begin is None:
        findings.differs(part, "no list of strings")
        return 0
    frame = head[: begin.end()] + (b"" if begin[2] else b"</" + begin[1] + b"sst>")
    check_part(frame, STRINGS_ROOT, findings, part)
    if begin[2]:
        return 0
    reader = Strings(begin[1])
    rest = reader.feed(head[begin.end() :])
    while rest is None and (chunk := next(chunks, None)) is not None:
        rest = reader.feed(chunk)
    rest = reader.finish() if rest is None else rest
    if (rest + b"".join(_limit_size(chunks, part))).strip():
        findings.differs(part, "something behind its strings")
    if reader.fault:
        findings.differs(part, f"{FAULTS[reader.fault]} (in the string {reader.count})")
    return reader.count


def _metadata(archive: Archive, package: Package, findings: Findings) -> NDArray[np.int8]:
    """By a cell's `vm`, less one, the code of the error that it stands for, or -1."""
    part = package.by_kind.get("sheetMetadata")
    if part is None:
        return np.empty(0, np.int8)
    check_part(archive.read(part), METADATA, findings, part)
    rich = [package.by_kind.get(kind) for kind in ("rdRichValue", "rdRichValueStructure")]
    if None in rich:
        return np.empty(0, np.int8)
    try:
        return np.array(parse_rich_errors(archive.read(part), *(archive.read(str(name)) for name in rich)), np.int8)
    except ParseFailed:
        findings.differs(part, "rich values that cannot be read")
        return np.empty(0, np.int8)


def _limit_size(chunks: Iterator[bytes], part: str) -> Iterator[bytes]:
    """
    Raises:
        ParseFailed: more bytes than a part that is read whole may have.
    """
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > _FRAME_BYTES_MAX:
            raise ParseFailed(
                f"What stands around the cells of {part!r} passes the limit of {_FRAME_BYTES_MAX:,} bytes."
            )
        yield chunk


def _until(chunks: Iterator[bytes], mark: re.Pattern[bytes], part: str) -> tuple[bytes, re.Match[bytes] | None]:
    """Return the bytes of a part up to the chunk with a mark, and where that stands."""
    head = b""
    for chunk in _limit_size(chunks, part):
        head += chunk
        if (match := mark.search(head)) is not None:
            return head, match
    return head, None


# Sheets ---------------------------------------------------------------------------------------------------------------


class _Sheet:
    """One sheet that is looked at."""

    def __init__(self, archive: Archive, sheet: SheetPart, findings: Findings) -> None:
        self.archive = archive
        self.sheet = sheet
        self.findings = findings
        self.frozen = False
        self.top_left = "A1"
        self.reached: tuple[int, int, int, int] | None = None

    def check(self, strings: int, styles: int, rich: NDArray[np.int8]) -> None:
        part, name = self.sheet.part, self.sheet.name
        chunks = self.archive.chunks(part)
        head, begin = _until(chunks, _BEGIN, part)
        if begin is None:
            self.findings.differs(part, "no place for cells", sheet=name)
            return
        tail = head[begin.end() :]
        if not begin[2]:
            descents = b'xmlns:x14ac="' + DY_DESCENT + b'"' in head[: begin.start()]
            reader = Cells(begin[1], strings=strings, styles=styles, rich=rich, descents=descents)
            rest = reader.feed(tail)
            while rest is None and (chunk := next(chunks, None)) is not None:
                rest = reader.feed(chunk)
            tail = reader.finish() if rest is None else rest
            if reader.fault in CALCULATED and self.sheet.is_own:
                return
            if reader.fault:
                row, column = reader.place
                cell = (
                    cell_name(row, column) if row >= 0 and column >= 0 else None if row < 0 else f"{row + 1}:{row + 1}"
                )
                self.findings.differs(part, FAULTS[reader.fault], sheet=name, cell=cell)
                return
            self.reached = reader.reached
            if reader.low_row >= 0 and not self.sheet.is_own:
                self._changed("a row too low to show anything", f"{reader.low_row + 1}:{reader.low_row + 1}")
        tail += b"".join(_limit_size(chunks, part))
        self._frame(head[: begin.start()] + b"<" + begin[1] + b"sheetData/>" + tail)

    def _frame(self, frame: bytes) -> None:
        part, name = self.sheet.part, self.sheet.name
        if len(re.findall(rb"<(?:[^\s<>/!?:\"'=]+:)?sheetData[\s/>]", frame)) != 1:
            self.findings.differs(part, "two places for cells", sheet=name)
            return
        watch = None if self.sheet.is_own else self._watch
        check_part(frame, SHEET, self.findings, part, sheet=name, watch=watch, is_free=self.sheet.is_own)
        if self.frozen and self.top_left != "A1":
            self._changed("a frozen pane behind which rows or columns cannot be reached")

    def _dimension(self, area: str) -> None:
        """Some readers take no cell outside of what a sheet says it uses."""
        if self.reached is not None and not _covers(area, self.reached):
            self.findings.differs(
                self.sheet.part, f"cells outside of the range {area!r} that it says it uses", sheet=self.sheet.name
            )

    def _changed(self, message: str, cell: str | None = None) -> None:
        change: Change = "changed" if cell is None else "hidden"
        self.findings.changed(self.sheet.part, message, sheet=self.sheet.name, cell=cell, change=change)

    def _watch(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "dimension":
                self._dimension(attributes.get("ref", ""))
            case "sheetView":
                self._view(attributes)
            case "pane":
                self.frozen = attributes.get("state") in ("frozen", "frozenSplit")
            case "sheetFormatPr":
                self._usual_sizes(attributes)
            case "col":
                self._columns(attributes)

    def _view(self, attributes: Mapping[str, str]) -> None:
        self.top_left = attributes.get("topLeftCell", "A1")
        if is_true(attributes, "showFormulas"):
            self._changed("a view that shows formulas rather than what they give")
        if not is_true(attributes, "showZeros", default=True):
            self._changed("a view that leaves zeros blank")

    def _usual_sizes(self, attributes: Mapping[str, str]) -> None:
        if is_true(attributes, "zeroHeight") or _below(attributes.get("defaultRowHeight"), LOW_POINTS):
            self._changed("rows that are hidden unless they say otherwise")
        if _below(attributes.get("defaultColWidth"), NARROW):
            self._changed("columns that are hidden unless they say otherwise")

    def _columns(self, attributes: Mapping[str, str]) -> None:
        if not is_true(attributes, "hidden") and not _below(attributes.get("width"), NARROW):
            return
        first, last = (_whole(attributes.get(key, "")) for key in ("min", "max"))
        if first and last and first <= last <= 16_384:
            place = f"{column_name(first - 1)}:{column_name(last - 1)}"
            self._changed("hidden columns that were not exported so", place)


def _covers(area: str, inside: tuple[int, int, int, int]) -> bool:
    try:
        top, left, bottom, right = parse_range(area)
    except ValueError:
        return False
    return top <= inside[0] and left <= inside[1] and inside[2] <= bottom and inside[3] <= right


def _place(row: int, column: int) -> str | None:
    """Return a cell, a row where no cell is known, None where none is."""
    if row < 0:
        return None
    return cell_name(row, column) if column >= 0 else f"{row + 1}:{row + 1}"


def _below(text: str | None, least: float) -> bool:
    try:
        return text is not None and float(text) < least
    except ValueError:
        return True
