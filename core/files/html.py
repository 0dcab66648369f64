"""Web pages with tables, which portals send by the name of an .xls file, to a workbook of one sheet.

As in Excel, what a page shows stands in one sheet: its tables below one another, text between them in rows of its own.
Numbers are what the attribute `x:num` says, else what the text shows; the number formats are those that Excel writes
(`mso-number-format`). A table in a cell of another begins in that cell. Scripts are not run, nothing is loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from core.files.cells import Budget, Cell, SheetBuilder
from core.files.encodings import decode
from core.files.errors import InvalidFormat, ParseFailed
from core.files.figures import shown_as, uses_comma, value_of_text
from core.files.limits import FORMATS_MAX, NAME_CHARACTERS_MAX
from core.files.parts import is_date_format
from core.files.source import Content, content_bytes
from core.grid.address import COLUMNS_MAX
from core.grid.sheet import Workbook
from core.values import ERROR_CODE, Kind

DEPTH_MAX: Final = 5_000
"""Open elements: what is never closed, a font in each row, say, makes them many."""
TABLES_DEPTH_MAX: Final = 32
"""Tables in tables."""
COLSPAN_MAX: Final = 1_000
ROWSPAN_MAX: Final = 65_534
"""As browsers read larger ones (HTML, 4.9.11)."""

_LABEL: Final = "The page"
_CHUNK: Final = 1 << 18

_UNSEEN: Final = frozenset({"head", "script", "style", "xml", "template", "title", "noframes", "object", "svg"})
"""Elements whose text is not shown."""
_BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "div", "dl", "dt", "fieldset", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "ul",
})  # fmt: skip
"""Elements that begin a line of their own."""

_FIGURES: Final = re.compile(r">[\s(]*+-?\s*+([\d.,]*+(?<=\d))\s*+%?\s*+\)?\s*+<")
_SPACES: Final = re.compile(r"[ \t\r\n\f]+")
_CLASS: Final = re.compile(r"\.([\w-]++)\s*+\{([^{}]*+)\}")
_FORMAT: Final = re.compile(
    r"""mso-number-format\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^;"'}]+)""", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([0-9A-Fa-f]{1,6}\s?|.)", re.DOTALL)
_SHEET_NAME: Final = re.compile(r"<x:Name>([^<]{1,255})</x:Name>", re.IGNORECASE)

NAMED_FORMATS: Final = {
    "general": "General", "fixed": "0.00", "standard": "#,##0.00", "percent": "0.00%", "scientific": "0.00E+00",
    "short date": "m/d/yyyy", "medium date": "d-mmm-yy", "long date": "dddd, mmmm d, yyyy", "short time": "h:mm",
    "medium time": "h:mm AM/PM", "long time": "h:mm:ss AM/PM", "general date": "m/d/yyyy h:mm",
    "currency": '"$"#,##0.00', "text": "@",
}  # fmt: skip


@dataclass(slots=True)
class _TableCell:
    """A cell of a table: its value, or what stands in it where that is a table, too."""

    columns: int
    rows: int
    value: Cell | None = None
    blocks: list[_Table | Cell] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    hidden: bool
    cells: list[_TableCell] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """The cell at hand.

    Its attributes, its text so far, and what came before a table in it.
    """

    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)
    blocks: list[_Table | Cell] = field(default_factory=list)


class _Table:
    """A table at hand, or a whole one in a cell of another."""

    __slots__ = ("cell", "row", "rows", "spans")

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.row: _Row | None = None
        self.cell: _Open | None = None
        self.spans: list[_Span] = []


@dataclass(slots=True)
class _Span:
    """Columns that a cell of an earlier row takes.

    From, to (exclusive), for how many rows more, from which row.
    """

    start: int
    stop: int
    left: int
    top: int


def read_html(content: Content, name: str) -> Workbook:
    """Read the tables of a page into a sheet.

    `name` is the sheet's where the page says none.

    Raises:
        InvalidFormat: the page has no table, or an empty one.
        ParseFailed: past a limit, or in an encoding that is not known.
        OSError: the file cannot be read.
    """
    text = decode(content_bytes(content), _LABEL)
    named = _SHEET_NAME.findall(text[:_CHUNK])
    if len(named) == 1 and (own := "".join(sign for sign in named[0] if sign.isprintable()).strip()):
        name = own[:NAME_CHARACTERS_MAX]
    page = _Page(name, comma=uses_comma(match[1] for match in _FIGURES.finditer(text)))
    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True)
    for at in range(0, len(text), _CHUNK):
        parser.feed(text[at : at + _CHUNK].encode(errors="replace"))
    parser.close()
    return page.workbook()


class _Page:
    """The elements of a page, in their order: what lxml's parser calls."""

    def __init__(self, name: str, *, comma: bool) -> None:
        self._budget = Budget()
        self._sheet = SheetBuilder(name, self._budget)
        self._comma = comma
        self._formats: dict[str, int] = {"General": 0}
        self._classes: dict[str, str] = {}
        self._tables: list[_Table] = []
        self._row = 0
        self._line: list[str] = []
        self._depth = 0
        self._unseen = 0
        self._css: list[str] | None = None
        self._has_table = False
        self._after_table = False

    # Events

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ParseFailed(f"The page is nested deeper than the limit of {DEPTH_MAX:,} elements.")
        if self._unseen or tag in _UNSEEN:
            self._unseen += 1
            if tag == "style":
                self._css = []
        elif tag == "table":
            self._begin_table()
        elif tag == "tr" and self._tables:
            self._begin_row(attributes)
        elif tag in ("td", "th") and self._tables:
            self._begin_cell(attributes)
        elif tag == "br":
            self._break_line()
        elif tag in _BLOCKS:
            self._break_block()

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._unseen:
            self._unseen -= 1
            if tag == "style" and self._css is not None:
                self._read_css("".join(self._css))
                self._css = None
        elif tag == "table" and self._tables:
            self._end_table()
        elif tag == "tr" and self._tables:
            self._end_row()
        elif tag in ("td", "th") and self._tables:
            self._end_cell()
        elif tag in _BLOCKS:
            self._break_block()

    def data(self, text: str) -> None:
        self._budget.take_text(len(text))
        if self._css is not None:
            self._css.append(text)
        elif not self._unseen:
            self._pieces().append(_SPACES.sub(" ", text))

    def comment(self, text: str) -> None:
        """What stands in a style sheet's comment, as older Excel writes it, counts."""
        if self._css is not None:
            self._css.append(text)

    def close(self) -> None:
        while self._tables:
            self._end_table()
        self._break_block()

    def workbook(self) -> Workbook:
        if not self._has_table:
            raise InvalidFormat("The file is a web page without a table, whatever its name says.")
        sheet = self._sheet.sheet(0)
        if sheet.row_count == 0:
            raise InvalidFormat("The file is a web page whose tables are empty, whatever its name says.")
        if len(self._formats) > FORMATS_MAX:
            raise ParseFailed(f"The page has more number formats than the limit of {FORMATS_MAX:,}.")
        return Workbook((sheet,), number_formats=tuple(self._formats))

    # Text

    def _pieces(self) -> list[str]:
        """Return where text goes.

        Into the cell at hand, or the line that stands outside of tables.
        """
        for table in reversed(self._tables):
            if table.cell is not None:
                return table.cell.pieces
        return self._line

    def _break_line(self) -> None:
        self._pieces().append("\n")

    def _break_block(self) -> None:
        if any(table.cell is not None for table in self._tables):
            pieces = self._pieces()
            if pieces and pieces[-1] != "\n":
                pieces.append("\n")
            return
        text, self._line = "".join(self._line), []
        for line in text.split("\n"):
            if cell := self._cell_of(_shown_text(line), {}):
                self._sheet.put(self._row, 0, cell)
                self._row += 1
                self._after_table = False

    # Tables

    def _begin_table(self) -> None:
        if len(self._tables) == TABLES_DEPTH_MAX:
            raise ParseFailed(f"The page has tables in tables deeper than the limit of {TABLES_DEPTH_MAX}.")
        if self._tables and self._tables[-1].cell is not None:
            self._end_text(self._tables[-1].cell)
        elif not self._tables:
            self._break_block()
            if self._after_table:  # which tells one table from the next
                self._row += 1
        self._has_table = True
        self._tables.append(_Table())

    def _end_table(self) -> None:
        self._end_row()
        table = self._tables.pop()
        outer = next((outer for outer in reversed(self._tables) if outer.cell is not None), None)
        if outer is not None and outer.cell is not None:
            outer.cell.blocks.append(table)
        elif self._tables:  # between the rows of another: a row of its own
            self._tables[-1].rows.append(_Row(hidden=False, cells=[_TableCell(1, 1, blocks=[table])]))
        else:
            self._end_spans(table, self._row)
            self._after_table = True

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._end_row()
        table = self._tables[-1]
        table.row = _Row(hidden=_HIDDEN.search(attributes.get("style", "")) is not None)

    def _end_row(self) -> None:
        self._end_cell()
        table = self._tables[-1]
        if table.row is None:
            return
        row, table.row = table.row, None
        if len(self._tables) > 1:
            table.rows.append(row)
        else:
            self._row += self._place_row(row, table.spans, self._row, 0)[0]

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._end_cell()
        table = self._tables[-1]
        if table.row is None:
            table.row = _Row(hidden=False)
        table.cell = _Open(dict(attributes))

    def _end_cell(self) -> None:
        table = self._tables[-1]
        if table.cell is None or table.row is None:
            return
        cell, table.cell = table.cell, None
        columns = _span(cell.attributes.get("colspan"), COLSPAN_MAX)
        rows = _span(cell.attributes.get("rowspan"), ROWSPAN_MAX)
        if cell.blocks:
            self._end_text(cell)
            table.row.cells.append(_TableCell(columns, rows, blocks=cell.blocks))
        else:
            value = self._cell_of(_shown_text("".join(cell.pieces)), cell.attributes)
            table.row.cells.append(_TableCell(columns, rows, value))

    def _end_text(self, cell: _Open) -> None:
        """Text of a cell before or behind a table in it."""
        value = self._cell_of(_shown_text("".join(cell.pieces)), {})
        cell.pieces = []
        if value is not None:
            cell.blocks.append(value)

    # Places

    def _place_row(self, row: _Row, spans: list[_Span], top: int, left: int) -> tuple[int, int]:
        """Put a row's cells; how many rows and columns they take."""
        self._budget.take_slots(4 * len(spans), self._sheet.name)  # looking at one costs as much as four cells
        free = sorted(spans, key=lambda span: span.start)
        height, column, at = 1, left, 0
        opened: list[_Span] = []
        for cell in row.cells:
            while at < len(free) and free[at].start <= column:
                column = max(column, free[at].stop)
                at += 1
            width = cell.columns
            if cell.value is not None:
                self._sheet.put(top, column, cell.value)
            elif cell.blocks:
                rows, columns = self._place_blocks(cell.blocks, top, column)
                height, width = max(height, rows), max(width, columns)
            if cell.rows > 1 or (cell.columns > 1 and cell.value is not None):
                opened.append(_Span(column, column + width, cell.rows, top))
            column += width
            if column - left > COLUMNS_MAX:
                self._sheet.check_place(top, column)
        if row.hidden:
            self._sheet.hidden_rows.extend(range(top, top + height))
        spans.extend(opened)
        self._count_down(spans, top + height)
        return height, column - left

    def _place_blocks(self, blocks: list[_Table | Cell], top: int, left: int) -> tuple[int, int]:
        """Put text and tables below one another; how many rows and columns they take."""
        row, width = top, 1
        for block in blocks:
            if isinstance(block, Cell):
                self._sheet.put(row, left, block)
                row += 1
                continue
            for line in block.rows:
                rows, columns = self._place_row(line, block.spans, row, left)
                row += rows
                width = max(width, columns)
            self._end_spans(block, row)
        return row - top, width

    def _count_down(self, spans: list[_Span], stop: int) -> None:
        """Go on to the next row: what ends with this one is merged."""
        for span in spans:
            span.left -= 1
            if span.left == 0:
                self._merge(span, stop)
        spans[:] = [span for span in spans if span.left > 0]

    def _end_spans(self, table: _Table, stop: int) -> None:
        for span in table.spans:
            self._merge(span, stop)
        table.spans = []

    def _merge(self, span: _Span, stop: int) -> None:
        bottom = max(span.top, stop - 1)
        if span.stop - span.start > 1 or bottom > span.top:
            self._sheet.merge(span.top, span.start, bottom, span.stop - 1)

    # Values

    def _cell_of(self, text: str, attributes: dict[str, str]) -> Cell | None:
        """Return what a cell with this text holds; None for a blank one."""
        code = self._code(attributes) if attributes else ""
        if "x:str" in attributes:
            text = attributes["x:str"].lstrip("'") or text
            return Cell(Kind.TEXT, text=text) if text else None
        if "x:bool" in attributes:
            return Cell(Kind.BOOLEAN, float((attributes["x:bool"] or text).strip().lower() in ("true", "1")))
        if "x:err" in attributes:
            name = attributes["x:err"] or text
            return Cell(Kind.ERROR, float(ERROR_CODE.get(name, ERROR_CODE["#VALUE!"])))
        if (number := _number(attributes.get("x:num"))) is not None:
            kind = Kind.DATE if is_date_format(code) else Kind.NUMBER
            return Cell(kind, number, format=self._index("General" if code == "@" else code))
        if not text:
            return None
        value = shown_as(text, code, comma=self._comma) if code else value_of_text(text, comma=self._comma)
        if value is None:
            return Cell(Kind.TEXT, text=text)
        return Cell(value[0], value[1], format=self._index(value[2]))

    def _index(self, code: str) -> int:
        return self._formats.setdefault(code or "General", len(self._formats))

    def _code(self, attributes: dict[str, str]) -> str:
        """Return the number format of a cell's style or class, or ""."""
        if match := _FORMAT.search(attributes.get("style", "")):
            return _format_code(match[1])
        classes = attributes.get("class", "").split()
        return next((self._classes[name] for name in classes if name in self._classes), "")

    def _read_css(self, text: str) -> None:
        for name, rules in _CLASS.findall(text):
            if match := _FORMAT.search(rules):
                self._classes[name] = _format_code(match[1])


def _shown_text(text: str) -> str:
    """Return the text as it is shown.

    No spaces at the ends of lines, no blank lines at its ends.
    """
    if "\n" not in text:
        return text.replace("\xa0", " ").strip()
    lines = [line.strip() for line in text.replace("\xa0", " ").split("\n")]
    return "\n".join(lines).strip()


def _span(text: str | None, most: int) -> int:
    """Return how many rows or columns a cell takes."""
    if text is None:
        return 1
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return 1
    return most if len(text) > 9 else min(max(int(text), 1), most)


def _number(text: str | None) -> float | None:
    """Return the number of an `x:num`; None where there is none."""
    if not text or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _format_code(text: str) -> str:
    """Return the code of a number format as a style sheet has it.

    Quoted, with escapes, or by a name.
    """
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text = text[1:-1]
    code = _ESCAPE.sub(_unescape, text).strip()
    return NAMED_FORMATS.get(code.lower(), code)


def _unescape(match: re.Match[str]) -> str:
    escaped = match[1].strip()
    if len(escaped) > 1:
        number = int(escaped, 16)
        return chr(number) if 32 <= number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
    return escaped or " "
