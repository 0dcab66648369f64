""".ods files (OpenDocument spreadsheets) to a workbook.

Values, percentages and dates; formulas by their last value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import datetime
from math import isfinite
from typing import Final
from xml.parsers import expat

from core.files.archive import Archive
from core.files.cells import Budget, Cell, SheetBuilder
from core.files.errors import ParseFailed, TooManySheets
from core.files.limits import SHEETS_MAX
from core.files.source import Content
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.sheet import Sheet, Workbook
from core.values import ERROR_CODE, Kind, to_serial

FORMATS: Final = ("General", "0.00%", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "[h]:mm:ss", "hh:mm:ss")
_PERCENT, _DATE, _MOMENT, _DURATION, _TIME = 1, 2, 3, 4, 5

CONTENT: Final = "content.xml"
_STYLES: Final = "styles.xml"
_MANIFEST: Final = "META-INF/manifest.xml"
_DEPTH_MAX: Final = 256
_SPAN: Final = re.compile(r"-?PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?")

SPACES_MAX: Final = 1_000
"""Of those that one element stands for."""


def read_ods(content: Content) -> Workbook:
    """Read an .ods file. Dates come in the 1900 system.

    Raises:
        TooManySheets: more sheets than the limit.
        ParseFailed: damaged, password-protected, or past another limit.
    """
    with Archive(content) as archive:
        if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
            raise ParseFailed("The file is password-protected; remove the password and upload it again.")
        reader = _Reader()
        for part in (_STYLES, CONTENT) if _STYLES in archive else (CONTENT,):
            _parse(archive, part, reader)
    if not reader.sheets:
        raise ParseFailed("The file holds no sheet; it may be another OpenDocument than a spreadsheet.")
    return Workbook(tuple(reader.sheets), number_formats=FORMATS)


def _parse(archive: Archive, part: str, reader: _Reader) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse_doctype
    try:
        for chunk in archive.chunks(part):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ParseFailed(
            f"The content of the file is not well-formed XML: {expat.errors.messages[error.code]}."
        ) from error


def _refuse_doctype(*_: object) -> None:
    raise ParseFailed("The content of the file declares a document type or entities, which a spreadsheet never does.")


class _Reader:
    """The elements of the content, sheet by sheet.

    What is repeated is stored as often as it stands, if it says something; blank cells and rows move the place on
    and cost nothing.
    """

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self._depth = 0
        self._ignored = 0  # the depth of an annotation or a drawing, whose paragraphs are no text of the cell
        self._budget = Budget()
        self._sheet = SheetBuilder("", self._budget)
        self._in_table = 0
        self._row = self._row_repeat = self._column = 0
        self._line: list[tuple[int, int, Cell]] = []
        self._cell: tuple[dict[str, str], int] | None = None
        self._pieces: list[str] | None = None
        self._paragraphs: list[str] = []
        self._lengths = _Lengths()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ParseFailed(f"The content of the file is nested deeper than the limit of {_DEPTH_MAX} elements.")
        if self._ignored:
            return
        if name in _STYLE_ELEMENTS:
            self._lengths.read(name, attributes)
        elif (begin := (_ELEMENTS if self._pieces is None else _ELEMENTS_IN_TEXT).get(name)) is not None:
            begin(self, attributes)

    def _begin_paragraph(self, attributes: dict[str, str]) -> None:
        self._pieces = []

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        if self._in_table == 1:
            self._cell = attributes, _count(attributes, "table:number-columns-repeated", COLUMNS_MAX)
            self._paragraphs = []

    def _begin_row(self, attributes: dict[str, str]) -> None:
        if self._in_table == 1:
            self._lengths.row_style = attributes.get("table:default-cell-style-name")
            self._row_repeat = _count(attributes, "table:number-rows-repeated", ROWS_MAX)
            self._column = 0
            self._line = []

    def _begin_table(self, attributes: dict[str, str]) -> None:
        self._in_table += 1
        if self._in_table == 1:
            self._begin_sheet(attributes.get("table:name", ""))

    def _add_spaces(self, attributes: dict[str, str]) -> None:
        self.text(" " * min(SPACES_MAX, _count(attributes, "text:c", COLUMNS_MAX)))

    def _add_tab(self, attributes: dict[str, str]) -> None:
        assert self._pieces is not None
        self._pieces.append("\t")

    def _add_line_break(self, attributes: dict[str, str]) -> None:
        assert self._pieces is not None
        self._pieces.append("\n")

    def _ignore(self, attributes: dict[str, str]) -> None:
        self._ignored = self._depth

    def end(self, name: str) -> None:
        if self._ignored == self._depth:
            self._ignored = 0
        elif self._ignored:
            pass
        elif name == "text:p" and self._pieces is not None:
            self._paragraphs.append("".join(self._pieces))
            self._pieces = None
        elif self._cell is not None and name in ("table:table-cell", "table:covered-table-cell"):
            self._end_cell(*self._cell)
            self._cell = None
        elif name == "table:table-row" and self._in_table == 1:
            self._end_row()
        elif name == "table:table":
            self._in_table -= 1
            if self._in_table == 0:
                self._end_sheet()
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._pieces is not None and not self._ignored:
            self._pieces.append(data)
            self._budget.take_text(len(data))

    def _begin_sheet(self, name: str) -> None:
        if len(self.sheets) == SHEETS_MAX:
            raise TooManySheets(f"The workbook has more sheets than the limit of {SHEETS_MAX}.")
        self._sheet, self._row = SheetBuilder(name or f"Sheet{len(self.sheets) + 1}", self._budget), 0
        self._lengths.begin_sheet()

    def _end_cell(self, attributes: dict[str, str], repeat: int) -> None:
        cell = _cell(attributes, "\n".join(self._paragraphs))
        if cell is not None:
            style = attributes.get("table:style-name")
            if cell.format == _TIME and self._lengths.is_length(style, self._column, cell.number):
                cell = Cell(Kind.NUMBER, cell.number, format=_DURATION)
            self._line.append((self._column, repeat, cell))
        self._column += repeat

    def _end_row(self) -> None:
        for first, repeat, cell in self._line:
            self._sheet.put(self._row, first, cell, rows=self._row_repeat, columns=repeat)
        self._row += self._row_repeat

    def _end_sheet(self) -> None:
        self.sheets.append(self._sheet.sheet(len(self.sheets)))


_Begin = Callable[[_Reader, dict[str, str]], None]
_COMMON_ELEMENTS: Final[dict[str, _Begin]] = {
    "text:p": _Reader._begin_paragraph,
    "table:table-cell": _Reader._begin_cell,
    "table:covered-table-cell": _Reader._begin_cell,
    "table:table-row": _Reader._begin_row,
    "table:table": _Reader._begin_table,
}
_ELEMENTS: Final[dict[str, _Begin]] = {
    **_COMMON_ELEMENTS,
    "office:annotation": _Reader._ignore,
    "table:shapes": _Reader._ignore,
    "draw:frame": _Reader._ignore,
    "table:detective": _Reader._ignore,
}
"""What each element begins outside of a paragraph."""
_ELEMENTS_IN_TEXT: Final[dict[str, _Begin]] = {
    **_COMMON_ELEMENTS,
    "text:s": _Reader._add_spaces,
    "text:tab": _Reader._add_tab,
    "text:line-break": _Reader._add_line_break,
    "text:note": _Reader._ignore,
}
"""What each element begins inside of a paragraph."""

_STYLE_ELEMENTS: Final = frozenset(("number:time-style", "style:style", "table:table-column"))


class _Lengths:
    """Which times are lengths of time.

    Those of a day and more, those below 0, and those whose style counts hours past a day. Another time is one of
    day.
    """

    def __init__(self) -> None:
        self.row_style: str | None = None
        self._counting: set[str] = set()
        """Styles of times and of cells whose hours run past a day."""
        self._columns: list[tuple[int, str]] = []
        """Where columns begin that have a style for their cells, and the style."""
        self._next = 0

    def begin_sheet(self) -> None:
        self.row_style, self._columns, self._next = None, [], 0

    def read(self, element: str, attributes: dict[str, str]) -> None:
        """Take down a style, or a column's."""
        if element == "table:table-column":
            if self._next < COLUMNS_MAX:
                self._columns.append((self._next, attributes.get("table:default-cell-style-name", "")))
            self._next += _count(attributes, "table:number-columns-repeated", COLUMNS_MAX)
        elif element == "number:time-style":
            if attributes.get("number:truncate-on-overflow") == "false":
                self._counting.add(f"time {attributes.get('style:name')}")
        elif attributes.get("style:family") == "table-cell":
            own, parent = attributes.get("style:data-style-name"), attributes.get("style:parent-style-name")
            if (f"time {own}" if own else parent) in self._counting:
                self._counting.add(attributes.get("style:name", ""))

    def is_length(self, style: str | None, column: int, days: float) -> bool:
        """Return whether a time of so many days is a length, in a cell of this style, else of its row's or its
        column's."""
        if not 0 <= days < 1:
            return True
        if style is None:
            at = bisect_right(self._columns, column, key=lambda entry: entry[0]) - 1
            style = self.row_style or (self._columns[at][1] if at >= 0 else "")
        return style in self._counting


def _count(attributes: dict[str, str], name: str, most: int) -> int:
    """Return how often something is repeated, at most once more than the limit that it is held against."""
    text = attributes.get(name, "1")
    return min(int(text), most + 1) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _cell(attributes: dict[str, str], shown: str) -> Cell | None:
    """Return what a cell holds; None for a blank one.

    A value that cannot be read is the text that is shown.
    """
    kind = attributes.get("office:value-type") or attributes.get("calcext:value-type", "")
    if attributes.get("calcext:value-type") == "error" or (shown in ERROR_CODE and "table:formula" in attributes):
        return Cell(Kind.ERROR, float(ERROR_CODE.get(shown, ERROR_CODE["#VALUE!"])))
    try:
        read = _VALUES[kind](attributes) if kind in _VALUES else None
    except (ValueError, KeyError, OverflowError):
        read = None
    if read is not None and isfinite(read.number):
        return read
    text = attributes.get("office:string-value", shown) if kind == "string" else shown
    return Cell(Kind.TEXT, text=text) if text else None


def _number(attributes: dict[str, str]) -> Cell:
    return Cell(Kind.NUMBER, float(attributes["office:value"]))


def _percentage(attributes: dict[str, str]) -> Cell:
    return Cell(Kind.NUMBER, float(attributes["office:value"]), format=_PERCENT)


def _boolean(attributes: dict[str, str]) -> Cell:
    return Cell(Kind.BOOLEAN, float(attributes["office:boolean-value"] == "true"))


def _date(attributes: dict[str, str]) -> Cell:
    text = attributes["office:date-value"]
    moment = datetime.fromisoformat(text[:26]).replace(tzinfo=None)
    return Cell(Kind.DATE, to_serial(moment), format=_MOMENT if "T" in text else _DATE)


def _duration(attributes: dict[str, str]) -> Cell:
    match = _SPAN.fullmatch(attributes["office:time-value"])
    if match is None:
        raise ValueError
    hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.groups())
    days = (hours * 3600 + minutes * 60 + seconds) / 86_400
    return Cell(Kind.DATE, -days if match[0].startswith("-") else days, format=_TIME)


_VALUES: Final[dict[str, Callable[[dict[str, str]], Cell]]] = {
    "float": _number,
    "currency": _number,
    "percentage": _percentage,
    "boolean": _boolean,
    "date": _date,
    "time": _duration,
}
