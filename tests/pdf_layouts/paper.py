"""Pages with tables: text at places, rows in columns, and which line of which page each row is."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Literal

from reportlab.lib.colors import Color
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.pdf_layouts.truth import Document, Printed, Row, Table

Turn = Literal["upright", "rotate 90", "rotate 270", "drawn up", "drawn down"]
"""How a page is turned: its text is upright; it is turned by /Rotate; or its text runs up or down an upright page."""
Align = Literal["left", "right", "centre"]
Vertical = Literal["first", "middle", "last"]
"""The line of a wrapped row that its other cells stand on."""

SOFT_HYPHEN = "\u00ad"
RAISED_SIZE = 0.62
SAME_LINE = 1.6
"""Baselines that are nearer, in points, are one line."""


@dataclass(frozen=True)
class Column:
    """A column of a table between two edges, in points from the left."""

    header: str
    """Lines parted by a line feed."""
    left: float
    right: float
    align: Align = "left"
    header_align: Align | None = None
    group: str = ""
    wraps: bool = False

    @property
    def width(self) -> float:
        return self.right - self.left

    def place(self, align: Align) -> float:
        return {"left": self.left, "right": self.right, "centre": (self.left + self.right) / 2}[align]


@dataclass(frozen=True)
class Style:
    """How the rows of a table are set."""

    font: str = "Helvetica"
    bold: str = "Helvetica-Bold"
    size: float = 7.0
    leading: float = 8.6
    gap: float = 2.0
    """Between rows."""
    indent: float = 6.0
    """Of wrapped lines."""
    vertical: Vertical = "first"
    grid: bool = False
    zebra: bool = False
    header_rule: bool = True
    breaks_at_hyphens: bool = False


class Paper:
    """A document while it is drawn. Places are those of the page as a reader holds it, from its lower left corner."""

    def __init__(self) -> None:
        self.buffer = BytesIO()
        self.canvas = Canvas(self.buffer, pageCompression=1, invariant=1)
        self.page = 0
        self.width = self.height = 0.0
        self.loose: dict[int, list[str]] = {}
        self.running: list[str] = []
        self.tables: list[Table] = []
        self._baselines: list[float] = []
        self._rows: list[Row] = []

    def begin(self, width: float, height: float, turn: Turn = "upright", folio: str = "") -> None:
        """Begin a page of this size as its reader sees it; `folio` stands upright at the foot of a turned page."""
        self.page += 1
        self.width, self.height = width, height
        self.loose.setdefault(self.page, [])
        canvas = self.canvas
        if turn == "upright":
            canvas.setPageSize((width, height))
            canvas.setPageRotation(0)
            return
        canvas.setPageRotation({"rotate 90": 90, "rotate 270": 270}.get(turn, 0))
        canvas.setPageSize((width, height) if turn.startswith("rotate") else (height, width))  # it swaps what it turns
        if folio:
            canvas.setFont("Times-Roman", 8)
            canvas.drawCentredString(height / 2, 20, folio)
        if turn in ("rotate 90", "drawn up"):
            canvas.transform(0, 1, -1, 0, height, 0)
        else:
            canvas.transform(0, -1, 1, 0, 0, width)

    def end(self) -> None:
        """End the page and count its lines."""
        lines: list[float] = []
        for baseline in sorted(self._baselines, reverse=True):
            if not lines or lines[-1] - baseline > SAME_LINE:
                lines.append(baseline)
        for row in self._rows:
            row.first_line = 1 + min(range(len(lines)), key=lambda at: abs(lines[at] - row.top))
            row.last_line = 1 + min(range(len(lines)), key=lambda at: abs(lines[at] - row.bottom))
        self._baselines, self._rows = [], []
        self.canvas.showPage()

    def text(
        self, x: float, y: float, text: str, font: str, size: float, align: Align = "left", counts: bool = True
    ) -> float:
        """Draw a text and return its right end; one that does not count makes no line."""
        if not text:
            return x
        width = stringWidth(text, font, size)
        start = {"left": x, "right": x - width, "centre": x - width / 2}[align]
        self.put(start, y, text, font, size)
        if counts:
            self._baselines.append(y)
        return start + width

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        """Put the glyphs of a text on the page."""
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)

    def title(self, x: float, y: float, text: str, font: str, size: float, align: Align = "left") -> None:
        """Draw a text that is no part of a table."""
        self.text(x, y, text, font, size, align)
        self.loose[self.page].append(text)

    def rule(self, left: float, right: float, y: float, width: float = 0.4) -> None:
        """Draw a horizontal line."""
        self.canvas.setLineWidth(width)
        self.canvas.line(left, y, right, y)

    def header(self, columns: list[Column], y: float, style: Style) -> float:
        """Draw the header of a table below y, lines at the bottom, and return the place below it."""
        count = max(column.header.count("\n") + 1 for column in columns)
        if any(column.group for column in columns):
            y = self._groups(columns, y, style)
        for column in columns:
            lines = column.header.split("\n")
            align = column.header_align or column.align
            for at, line in enumerate(lines):
                baseline = y - style.leading * (count - len(lines) + at + 1)
                self.text(column.place(align), baseline, line, style.bold, style.size, align)
        y -= style.leading * count + 2.5
        if style.header_rule:
            self.rule(columns[0].left, columns[-1].right, y, 0.7)
        return y - 1.5

    def _groups(self, columns: list[Column], y: float, style: Style) -> float:
        y -= style.leading
        for name in dict.fromkeys(column.group for column in columns if column.group):
            members = [column for column in columns if column.group == name]
            left, right = members[0].left, members[-1].right
            self.text((left + right) / 2, y, name, style.bold, style.size, "centre")
            self.rule(left, right, y - 2, 0.4)
        return y - 1.5

    def row(
        self,
        table: Table,
        columns: list[Column],
        cells: list[Printed],
        y: float,
        style: Style,
        bold: bool = False,
        is_heading: bool = False,
    ) -> float:
        """Draw a row below y and return the place below it; a heading is not wrapped."""
        font = style.bold if bold else style.font
        texts = [
            self._lines(cell, column, font, style) if column.wraps and not is_heading else [cell.text]
            for cell, column in zip(cells, columns, strict=True)
        ]
        count = max(map(len, texts))
        top = y - style.leading
        bottom = top - (count - 1) * style.leading
        if style.zebra and len(table.rows) % 2:
            self._shade(columns, y - 1.2, bottom - style.gap - 0.6)
        for cell, column, lines in zip(cells, columns, texts, strict=True):
            first = top
            if len(lines) < count:
                first -= {"first": 0, "middle": (count - len(lines)) / 2, "last": count - len(lines)}[
                    style.vertical
                ] * style.leading
            self._cell(cell, column, lines, first, font, style)
        row = Row(tuple(cells), self.page, top=top, bottom=bottom)
        table.rows.append(row)
        self._rows.append(row)
        if style.grid:
            self._grid(columns, y - 0.5, bottom - style.gap - 0.5)
        return bottom - style.gap

    def _lines(self, cell: Printed, column: Column, font: str, style: Style) -> list[str]:
        """Return the lines of a cell; the last one has room for the mark."""
        lines = wrapped(cell.text, column.width, font, style)
        mark = stringWidth(cell.mark, font, style.size) * (RAISED_SIZE if cell.raised else 1) + 2
        room = column.width - mark - (style.indent if len(lines) > 1 else 0)
        if cell.mark and stringWidth(lines[-1], font, style.size) > room and " " in lines[-1]:
            line, _, word = lines[-1].rpartition(" ")
            lines[-1:] = [line, word]
        return lines

    def _cell(self, cell: Printed, column: Column, lines: list[str], y: float, font: str, style: Style) -> None:
        edge = column.place(column.align)
        for at, line in enumerate(lines):
            indent = style.indent if at and column.align == "left" else 0
            negative = column.align == "right" and line.endswith(")") and line.startswith("(")
            end = edge + (stringWidth(")", font, style.size) if negative else 0)  # digits stay below digits
            end = self.text(end + indent, y - at * style.leading, line, font, style.size, column.align)
        last = y - (len(lines) - 1) * style.leading
        if cell.sign:
            self.text(column.left, last, cell.sign, font, style.size)
        if cell.unit:
            self.text(column.right + 3, last, cell.unit, font, style.size)
        if cell.mark:
            size = style.size * RAISED_SIZE if cell.raised else style.size
            end = self.text(
                end + (0.4 if cell.raised else 1.5),
                last + (style.size * 0.36 if cell.raised else 0),
                cell.mark,
                font,
                size,
                counts=False,
            )
        if cell.leaders:
            dots = int((column.right - end - 4) / stringWidth(" .", font, style.size))
            self.text(column.right, last, " ." * max(dots, 0), font, style.size, "right")

    def _shade(self, columns: list[Column], top: float, bottom: float) -> None:
        self.canvas.saveState()
        self.canvas.setFillColor(Color(0.9, 0.93, 0.97))
        self.canvas.rect(columns[0].left - 1, bottom, columns[-1].right - columns[0].left + 2, top - bottom, 0, 1)
        self.canvas.restoreState()

    def _grid(self, columns: list[Column], top: float, bottom: float) -> None:
        self.canvas.setLineWidth(0.3)
        between = [(left.right + right.left) / 2 for left, right in pairwise(columns)]
        edges = [columns[0].left - 2, *between, columns[-1].right + 2]
        for left, right in pairwise(edges):
            self.canvas.rect(left, bottom, right - left, top - bottom)

    def document(self, name: str) -> Document:
        """Return the finished document."""
        self.canvas.save()
        return Document(name, self.buffer.getvalue(), self.tables, self.loose, self.running, self.page)


def wrapped(text: str, width: float, font: str, style: Style) -> list[str]:
    """Return the lines of a text in a column. A word may break at its soft hyphen."""
    lines: list[str] = []

    def fits(line: str) -> bool:
        return stringWidth(line, font, style.size) + (style.indent if len(lines) > 1 else 0) <= width

    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        head, hyphen, tail = _halves(word, style)
        if not lines:
            lines.append(word)
        elif fits(longer.replace(SOFT_HYPHEN, "")):
            lines[-1] = longer.replace(SOFT_HYPHEN, "")
        elif hyphen and fits(f"{lines[-1]} {head}{hyphen}"):
            lines[-1] += f" {head}{hyphen}"
            lines.append(tail)
        else:
            lines.append(word.replace(SOFT_HYPHEN, ""))
    return lines


def _halves(word: str, style: Style) -> tuple[str, str, str]:
    return word.partition(SOFT_HYPHEN if SOFT_HYPHEN in word or not style.breaks_at_hyphens else "-")


def plain(*texts: str) -> list[Printed]:
    """Return cells without marks."""
    return [Printed(text) for text in texts]


def headers_of(columns: list[Column]) -> tuple[str, ...]:
    """Return the headers of a table, each in one line."""
    return tuple(" ".join(column.header.split()) for column in columns)


def begin_table(paper: Paper, name: str, columns: list[Column]) -> Table:
    """Begin a table of a document."""
    table = Table(name, headers_of(columns), tuple(column.group for column in columns))
    paper.tables.append(table)
    return table
