"""Sheets drawn by reportlab, in a set of pages of their own for each seed."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from reportlab.lib.pagesizes import A3, A4, legal, letter
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.printed_pdf.cells import Cell, with_sign
from tests.printed_pdf.libreoffice import register_fonts
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import PrintedRow, PrintedSheet

PAPERS: Final = {"A4": A4, "letter": letter, "legal": legal, "A3": A3}
FONTS: Final = {
    "Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold", "Courier": "Courier-Bold",
    "DejaVuSans": "DejaVuSans-Bold",
}  # fmt: skip
MARGIN: Final = 36.0
SIZE_MIN: Final = 4.0
"""Points; a table that is still too wide gets wider paper."""
TRUSTEE: Final = "Alderbrook Trust Services"


@dataclass(frozen=True, slots=True)
class Setting:
    """How a report is set."""

    font: str = "Helvetica"
    size: float = 7.0
    paper: str = "A4"
    is_landscape: bool = True
    rotation: int = 0
    """The page's /Rotate; text is drawn so that it stands upright after it."""
    rules: str = "none"
    """none, lines (below each row), grid or zebra."""
    repeats_head: bool = True
    repeats_titles: bool = False
    has_running: bool = True
    numbers_left: bool = False
    gap: float = 8.0
    """Points between columns."""
    wrap: float = 0.0
    """Widest text of a column, in ems; 0: as wide as it is."""
    middle: bool = False
    """Cells beside a wrapped one stand in its middle, not at its top."""
    breaks_heads: bool = False
    """Headings that are wider than their columns take several lines."""
    sign: str = ""
    """In a column of its own before amounts: empty, all, or ends (the first row and totals)."""
    centres_titles: bool = False
    packs: bool = False
    """Small sheets stand below one another on a page."""
    flows: bool = False
    """reportlab lays out titles and tables itself."""
    pieces: str = "cell"
    """What is one text object of the page: a cell, a word, a character, a line (cells parted by offsets), or a run that
    ends somewhere in a cell (split)."""

    def __str__(self) -> str:
        words = [f"{self.font} {self.size:g}", self.paper, "landscape" if self.is_landscape else "portrait"]
        words += [f"rotate {self.rotation}"] if self.rotation else []
        words += [f"rules {self.rules}", f"gap {self.gap:g}"]
        words += [f"wrap {self.wrap:g}"] if self.wrap else []
        words += [f"sign {self.sign}"] if self.sign else []
        words += [f"one object a {self.pieces}"] if self.pieces != "cell" else []
        flags = (
            "repeats_head", "repeats_titles", "has_running", "numbers_left", "middle", "breaks_heads",
            "centres_titles", "packs",
        )  # fmt: skip
        return " ".join([*words, *(flag for flag in flags if getattr(self, flag))])


def draw_setting(rng: Random) -> Setting:
    """Draw how a report is set; only where each cell is one text object, columns may stand a space apart."""
    setting = Setting(
        font=rng.choice(list(FONTS)),
        size=rng.choice((6.0, 7.0, 8.0, 9.0)),
        paper=rng.choice(list(PAPERS)),
        is_landscape=rng.random() < 0.7,
        rotation=rng.choice((0, 0, 0, 90, 270)),
        rules=rng.choice(("none", "none", "lines", "grid", "zebra")),
        repeats_head=rng.random() < 0.7,
        repeats_titles=rng.random() < 0.4,
        has_running=rng.random() < 0.7,
        numbers_left=rng.random() < 0.2,
        gap=rng.choice((5.0, 8.0, 12.0)),
        wrap=rng.choice((0.0, 0.0, 12.0, 18.0)),
        middle=rng.random() < 0.3,
        breaks_heads=rng.random() < 0.5,
        sign=rng.choice(("", "", "all", "ends")),
        centres_titles=rng.random() < 0.3,
        packs=rng.random() < 0.4,
        flows=rng.random() < 0.4,
        pieces=rng.choice(("cell", "cell", "cell", "word", "character", "line", "split")),
    )
    if setting.pieces == "cell" or setting.flows:
        return replace(setting, pieces="cell")
    return replace(setting, gap=max(setting.gap, 12.0 if setting.font == "Courier" else 8.0))


@dataclass(slots=True)
class _Column:
    left: float = 0.0
    width: float = 0.0
    sign_width: float = 0.0
    limit: float = 0.0
    """Widest line of text."""


@dataclass(slots=True)
class _Line:
    """A row that is ready to be drawn: its height and texts at places below its top."""

    height: float
    texts: list[tuple[float, float, str, str]] = field(default_factory=list)
    """Left, distance of the baseline from the top, text, font."""
    row: int = -1
    rule_above: bool = False
    is_body: bool = False


class TableDrawing:
    """A sheet in columns, at one size of type."""

    def __init__(self, sheet: PrintedSheet, setting: Setting, size: float) -> None:
        self.sheet, self.setting, self.size = sheet, setting, size
        self.bold = FONTS[setting.font]
        self.columns = [_Column() for _ in range(sheet.width)]
        self._set_limits()
        self._set_widths()
        left = 0.0
        for column in self.columns:
            column.left = left
            left += column.width + (setting.gap if column.width else 0.0)
        self.width = max(left - setting.gap, self._widest_line())

    def _spills(self, row: PrintedRow) -> bool:
        return row.kind in ("title", "foot", "section", "group")

    def _set_limits(self) -> None:
        limit = self.setting.wrap * self.size
        for at, column in enumerate(self.columns):
            texts = [cell for row in self._body() if (cell := _at(row, at)) and isinstance(cell.value, str)]
            column.limit = limit if limit and texts and any(" " in cell.text for cell in texts) else 0.0

    def _body(self) -> list[PrintedRow]:
        return [row for row in self.sheet.rows if row.kind in ("data", "total")]

    def _set_widths(self) -> None:
        for row in self.sheet.rows:
            if self._spills(row):
                continue
            font = self.bold if row.kind in ("head", "total") else self.setting.font
            for at, cell in enumerate(row.cells):
                if cell is None or (row.kind == "head" and self.setting.breaks_heads):
                    continue
                column = self.columns[at]
                lines = self.lines_of(cell, column, font)
                column.width = max(column.width, *(self.measure(line, font) for line in lines))
                if cell.sign:
                    column.sign_width = self.measure(cell.sign, font) + 0.4 * self.size
        if self.setting.breaks_heads:
            self._widen_to_words()
        for column in self.columns:
            column.width += column.sign_width

    def _widen_to_words(self) -> None:
        for row in self.sheet.rows:
            for at, cell in enumerate(row.cells) if row.kind == "head" else ():
                if cell is not None:
                    widths = [self.measure(word, self.bold) for word in cell.text.split(" ")]
                    two_lines = self.measure(cell.text, self.bold) / 2.2
                    self.columns[at].width = max(self.columns[at].width, two_lines, *widths)

    def _widest_line(self) -> float:
        return max(
            (self.measure(cell.text, self.bold) for row in self.sheet.rows if self._spills(row) for cell in row.cells
             if cell is not None and row.kind != "group"),
            default=0.0,
        )  # fmt: skip

    def measure(self, text: str, font: str) -> float:
        return stringWidth(text, font, self.size)

    def lines_of(self, cell: Any, column: _Column, font: str) -> list[str]:
        if not column.limit or not isinstance(cell.value, str):
            return [cell.text]
        return _broken(cell.text, lambda text: self.measure(text, font) <= column.limit)

    def line(self, at: int) -> _Line:
        """Return a row of the sheet, ready to be drawn."""
        row = self.sheet.rows[at]
        if row.is_blank:
            return _Line(self.size * 0.8, row=at)
        is_bold = row.kind in ("title", "group", "head", "total")
        font = self.bold if is_bold else self.setting.font
        pieces = [self._pieces(row, cell, column, font) for cell, column in self._pairs(row)]
        count = max(len(piece) for piece in pieces)
        space = 0.7 if self.setting.wrap else 0.4
        line = _Line(self.size * (1.15 * count + space), row=at, rule_above=row.kind == "total")
        line.is_body = row.kind in ("data", "total")
        for at_column, ((cell, column), piece) in enumerate(zip(self._pairs(row), pieces, strict=True)):
            if cell is None:
                continue
            for number, text in enumerate(piece):
                shift = number + self._lines_above(row, count, len(piece))
                baseline = self.size * (1.15 * shift + 1.0)
                line.texts.append((self._left(row, cell, column, text, font, at_column), baseline, text, font))
                if cell.sign:
                    line.texts.append((column.left, baseline, cell.sign, font))
        return line

    def _pairs(self, row: PrintedRow) -> list[tuple[Cell, _Column]]:
        return list(zip(row.cells, self.columns, strict=False))

    def _pieces(self, row: PrintedRow, cell: Cell, column: _Column, font: str) -> list[str]:
        if cell is None:
            return [""]
        if self._spills(row):
            return [cell.text]
        if row.kind == "head":
            return self.broken_head(cell.text, self.columns.index(column))
        return self.lines_of(cell, column, font)

    def broken_head(self, text: str, at: int) -> list[str]:
        """Return the lines of a heading."""
        column = self.columns[at]
        limit = column.width if self.setting.breaks_heads else column.limit or self.measure(text, self.bold)
        return _broken(text, lambda part: self.measure(part, self.bold) <= limit)

    def _lines_above(self, row: PrintedRow, count: int, own: int) -> float:
        if row.kind == "head":
            return count - own
        return (count - own) / 2 if self.setting.middle else 0.0

    def _left(self, row: PrintedRow, cell: Any, column: _Column, text: str, font: str, at: int) -> float:
        width = self.measure(text, font)
        if row.kind == "group":
            return column.left + max(0.0, (self._span(at) - width) / 2)
        if row.kind == "title" and self.setting.centres_titles:
            return max(0.0, (self.width - width) / 2)
        if self.stands_right(row, at):
            return column.left + column.width - width
        return column.left + (column.sign_width if cell.sign or cell.is_number else 0.0)

    def stands_right(self, row: PrintedRow, at: int) -> bool:
        """Return whether a cell is aligned at its right."""
        cell = row.cells[at]
        if self.setting.numbers_left or cell is None:
            return False
        return self._is_of_numbers(row, at) if row.kind == "head" else cell.is_number and not self._spills(row)

    def _span(self, at: int) -> float:
        """Width of the columns over which the word of a group is merged; of its own where it is not."""
        last = max((right for _, column, _, right in self.sheet.merged if column == at), default=at)
        return self.columns[last].left + self.columns[last].width - self.columns[at].left

    def _is_of_numbers(self, row: PrintedRow, at: int) -> bool:
        cells = [_at(body, at) for body in self._body() if body.table == row.table]
        filled = [cell for cell in cells if cell is not None]
        return bool(filled) and sum(cell.is_number for cell in filled) * 2 > len(filled)


def _at(row: PrintedRow, at: int) -> Cell:
    return row.cells[at] if at < len(row.cells) else None


def _broken(text: str, fits: Any) -> list[str]:
    """Break a text at spaces."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and not fits(longer):
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def page_size(setting: Setting) -> tuple[float, float]:
    """Return width and height of a page that is upright."""
    short, long = sorted(PAPERS[setting.paper])
    return (long, short) if setting.is_landscape else (short, long)


class _Document:
    """Pages with what is drawn on each."""

    def __init__(self, setting: Setting, width: float) -> None:
        self.setting = setting
        self.width, self.height = page_size(setting)
        if self.width - 2 * MARGIN < width:
            self.width = width + 2 * MARGIN
        self.pages: list[list[tuple[float, _Line, TableDrawing]]] = []
        self.top = 0.0

    def new_page(self) -> None:
        self.pages.append([])
        self.top = self.height - MARGIN - (14.0 if self.setting.has_running else 0.0)

    def has_room(self, height: float) -> bool:
        return self.top - height >= MARGIN + (14.0 if self.setting.has_running else 0.0)

    def put(self, line: _Line, table: TableDrawing) -> None:
        self.pages[-1].append((self.top, line, table))
        self.top -= line.height


def print_drawn(name: str, sheets: list[PrintedSheet], setting: Setting, sign: str = "$") -> Printed:
    """Draw a report; `sign` is the currency of its amounts, where it is printed."""
    register_fonts()
    if setting.sign:
        sheets = [with_signs(sheet, setting, sign) for sheet in sheets]
    tables = [fitted(sheet, setting, page_size(setting)[0] - 2 * MARGIN) for sheet in sheets]
    document = _Document(setting, max(table.width for table in tables))
    pages = [_place(document, table, is_first=at == 0) for at, table in enumerate(tables)]
    running = ["Page # of #", f"{TRUSTEE} Payment Date Report"] if setting.has_running else []
    data = _render(document)
    return Printed(name, data, sheets, pages, len(document.pages), running, f"reportlab {setting}")


def fitted(sheet: PrintedSheet, setting: Setting, room: float) -> TableDrawing:
    """Return a table at the largest size of type, from the setting's down, at which it fits."""
    size = setting.size
    table = TableDrawing(sheet, setting, size)
    while table.width > room and size > SIZE_MIN:
        size -= 0.5
        table = TableDrawing(sheet, setting, size)
    return table


def with_signs(sheet: PrintedSheet, setting: Setting, sign: str) -> PrintedSheet:
    """Return a sheet with the currency's sign before its amounts."""
    rows, seen = [], set[int]()
    for row in sheet.rows:
        is_own = row.kind in ("data", "total")
        if is_own and (setting.sign == "all" or row.kind == "total" or row.table not in seen):
            cells = tuple(
                with_sign(cell, sign) if cell and cell.is_number and cell.code.startswith("#,##0.00") else cell
                for cell in row.cells
            )
            row = replace(row, cells=cells)
        if is_own:
            seen.add(row.table)
        rows.append(row)
    return replace(sheet, rows=rows)


def _place(document: _Document, table: TableDrawing, *, is_first: bool) -> list[int]:
    """Put the rows of a table on pages; the page of each row."""
    lines = [table.line(at) for at in range(len(table.sheet.rows))]
    height = sum(line.height for line in lines)
    if not is_first and document.setting.packs and len(lines) < 20 and document.has_room(height + 3 * table.size):
        document.top -= 3 * table.size
    else:
        document.new_page()
    pages, head = [], dict[int, list[_Line]]()
    for row, line in zip(table.sheet.rows, lines, strict=True):
        if not document.has_room(line.height):
            document.new_page()
            for repeated in head.get(row.table, ()) if row.kind in ("data", "section", "total") else ():
                document.put(repeated, table)
        if row.kind in ("group", "head") and document.setting.repeats_head and not row.is_repeat:
            head.setdefault(row.table, []).append(line)
        elif row.kind == "title" and document.setting.repeats_titles and document.setting.repeats_head:
            head.setdefault(row.table, []) if row.is_repeat else head.setdefault(row.table, []).append(line)
        document.put(line, table)
        pages.append(0 if row.is_blank else len(document.pages))
    return pages


def _render(document: _Document) -> bytes:
    stream = io.BytesIO()
    setting = document.setting
    width, height = document.width, document.height
    canvas = Canvas(stream, pagesize=(width, height), invariant=1)  # a rotated page gets its sides exchanged
    for number, page in enumerate(document.pages, 1):
        if setting.rotation == 90:
            canvas.setPageRotation(90)
            canvas.transform(0, 1, -1, 0, height, 0)
        elif setting.rotation == 270:
            canvas.setPageRotation(270)
            canvas.transform(0, -1, 1, 0, 0, width)
        for at, (top, line, table) in enumerate(page):
            _draw_line(canvas, document, line, table, top, is_odd=at % 2 == 1)
        if setting.has_running:
            _draw_running(canvas, document, number)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def _draw_line(
    canvas: Canvas, document: _Document, line: _Line, table: TableDrawing, top: float, *, is_odd: bool
) -> None:
    rules, right = document.setting.rules, MARGIN + table.width
    bottom = top - line.height
    if line.is_body and rules == "zebra" and is_odd:
        canvas.setFillGray(0.9)
        canvas.rect(MARGIN - 2, bottom, table.width + 4, line.height, stroke=0, fill=1)
        canvas.setFillGray(0)
    canvas.setLineWidth(0.4)
    if line.is_body and rules in ("lines", "grid"):
        canvas.line(MARGIN - 2, bottom, right + 2, bottom)
    if line.rule_above and rules != "grid":
        canvas.line(MARGIN, top, right, top)
    if line.is_body and rules == "grid":
        edges = [column.left - document.setting.gap / 2 for column in table.columns if column.width]
        for edge in [*edges, table.width + 2]:
            canvas.line(MARGIN + edge, top, MARGIN + edge, bottom)
    texts = [(MARGIN + left, top - baseline, text, font) for left, baseline, text, font in line.texts]
    if document.setting.pieces == "line":
        _draw_lines(canvas, texts, table.size)
        return
    for left, height, text, font in texts:
        canvas.setFont(font, table.size)
        for piece in _pieces_of(text, document.setting.pieces):
            canvas.drawString(left, height, piece.rstrip(" "))
            left += stringWidth(piece, font, table.size)


def _pieces_of(text: str, pieces: str) -> list[str]:
    """Cut a text into what is drawn at once; a space belongs to the piece before it."""
    if pieces == "character":
        return list(text)
    if pieces == "word":
        return re.findall(r"[^ ]+ *", text)
    if pieces == "split":
        at = len(text) * 2 // 3
        return [part for part in (text[:at], text[at:]) if part]
    return [text]


def _draw_lines(canvas: Canvas, texts: list[tuple[float, float, str, str]], size: float) -> None:
    """Draw the cells of one height and font in one text object, which moves on from cell to cell."""
    lines: dict[tuple[float, str], list[tuple[float, str]]] = defaultdict(list)
    for left, height, text, font in texts:
        lines[height, font].append((left, text))
    for (height, font), cells in lines.items():
        cells.sort()
        drawn = canvas.beginText(cells[0][0], height)
        drawn.setFont(font, size)
        place, parts = cells[0][0], []
        for left, text in cells:
            before, mark, string = drawn._formatText(text).removesuffix(" Tj").partition("(")
            drawn._code += [before] if before else []  # a font of its own glyphs is named again
            parts.append(f"{-(left - place) * 1000 / size:.3f} {mark}{string}")
            place = left + stringWidth(text, font, size)
        drawn._code.append(f"[{' '.join(parts)}] TJ")
        canvas.drawText(drawn)


def _draw_running(canvas: Canvas, document: _Document, number: int) -> None:
    canvas.setFont(document.setting.font, 7)
    top, bottom = document.height - MARGIN + 4, MARGIN - 8
    canvas.drawString(MARGIN, top, TRUSTEE)
    canvas.drawRightString(document.width - MARGIN, top, "Payment Date Report")
    canvas.drawCentredString(document.width / 2, bottom, f"Page {number} of {len(document.pages)}")
