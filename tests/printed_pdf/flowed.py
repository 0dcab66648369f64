"""Sheets set by reportlab's own layout: titles and tables that flow over pages."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table
from reportlab.platypus.doctemplate import PageBreak

from tests.printed_pdf.cells import PrintedCell
from tests.printed_pdf.drawn import FONTS, MARGIN, TRUSTEE, Setting, TableDrawing, fitted, page_size, with_signs
from tests.printed_pdf.libreoffice import register_fonts
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import PrintedRow, PrintedSheet

_RULES: Final[dict[str, list[tuple[Any, ...]]]] = {
    "none": [],
    "lines": [("LINEBELOW", (0, 0), (-1, -1), 0.25, "black")],
    "grid": [("GRID", (0, 0), (-1, -1), 0.25, "black")],
    "zebra": [("ROWBACKGROUNDS", (0, 0), (-1, -1), ["white", "lightgrey"])],
}


@dataclass(slots=True)
class _Pages:
    """The first page of each row, by sheet and row."""

    first: dict[tuple[int, int], int] = field(default_factory=dict)

    def note(self, place: tuple[int, int], page: int) -> None:
        self.first.setdefault(place, page)


class _Marked(str):
    """A cell's text that knows its row."""

    __slots__ = ("place",)
    place: tuple[int, int]


class _NotedParagraph(Paragraph):  # type: ignore[misc]
    """A paragraph that notes the page on which it is drawn."""

    place: tuple[int, int] | None = None
    pages: _Pages

    def draw(self) -> None:
        if self.place:
            self.pages.note(self.place, self.canv.getPageNumber())
        super().draw()


class _NotedTable(Table):  # type: ignore[misc]
    """A table that notes the page of each of its rows."""

    pages: _Pages

    def draw(self) -> None:
        for row in self._cellvalues:
            for cell in row:
                if isinstance(cell, _Marked):
                    self.pages.note(cell.place, self.canv.getPageNumber())
        super().draw()


def print_flowed(name: str, sheets: list[PrintedSheet], setting: Setting, sign: str = "$") -> Printed:
    """Let reportlab lay out a report."""
    register_fonts()
    if setting.sign:
        sheets = [with_signs(sheet, setting, sign) for sheet in sheets]
    size = page_size(setting)
    drawings = [fitted(sheet, setting, size[0] - 2 * MARGIN) for sheet in sheets]
    pages = _Pages()
    _NotedTable.pages = _NotedParagraph.pages = pages
    story: list[Any] = []
    for at, drawing in enumerate(drawings):
        if story:
            is_small = setting.packs and len(drawing.sheet.rows) < 20
            story.append(Spacer(1, 3 * drawing.size) if is_small else PageBreak())
        story += _flowables(at, drawing)
    widest = max((width for each in story if isinstance(each, Table) for width in [sum(each._colWidths)]), default=0.0)
    width = max(size[0], widest + 2 * MARGIN)
    stream = io.BytesIO()
    document = SimpleDocTemplate(
        stream, pagesize=(width, size[1]), leftMargin=MARGIN, rightMargin=MARGIN, topMargin=MARGIN + 14,
        bottomMargin=MARGIN + 14, invariant=1, rotation=setting.rotation,
    )  # fmt: skip
    frame = _Frame(setting, width, size[1])
    document.build(story, onFirstPage=frame.begin, onLaterPages=frame.begin)
    places = [
        [0 if row.is_blank else pages.first[at, number] for number, row in enumerate(sheet.rows)]
        for at, sheet in enumerate(sheets)
    ]
    running = ["Page #", f"{TRUSTEE} Payment Date Report"] if setting.has_running else []
    return Printed(name, stream.getvalue(), sheets, places, document.page, running, f"reportlab flowed {setting}")


@dataclass(frozen=True, slots=True)
class _Frame:
    """What each page begins with."""

    setting: Setting
    width: float
    height: float

    def begin(self, canvas: Any, document: Any) -> None:
        """Turn what is drawn against the page's rotation, and print its header and footer."""
        if self.setting.rotation == 90:
            canvas.transform(0, 1, -1, 0, self.height, 0)
        elif self.setting.rotation == 270:
            canvas.transform(0, -1, 1, 0, 0, self.width)
        if self.setting.has_running:
            canvas.setFont(self.setting.font, 7)
            canvas.drawString(MARGIN, self.height - MARGIN + 4, TRUSTEE)
            canvas.drawRightString(self.width - MARGIN, self.height - MARGIN + 4, "Payment Date Report")
            canvas.drawCentredString(self.width / 2, MARGIN - 8, f"Page {document.page}")


def _flowables(at: int, drawing: TableDrawing) -> list[Any]:
    """Titles and tables of a sheet, from the top."""
    story: list[Any] = []
    rows: list[tuple[int, PrintedRow]] = []
    for number, row in enumerate(drawing.sheet.rows):
        if row.kind in ("title", "foot", "blank"):
            story += _table(at, drawing, rows)
            rows = []
            story.append(Spacer(1, drawing.size) if row.is_blank else _line(at, number, row, drawing))
        else:
            rows.append((number, row))
    return [*story, *_table(at, drawing, rows)]


def _line(at: int, number: int, row: PrintedRow, drawing: TableDrawing) -> Paragraph:
    text = " ".join(cell.text for cell in row.cells if cell is not None)
    setting = drawing.setting
    style = ParagraphStyle("line", fontName=FONTS[setting.font], fontSize=drawing.size, leading=drawing.size * 1.25)
    if setting.centres_titles and row.kind == "title":
        style.alignment = TA_CENTER
    paragraph = _NotedParagraph(escape(text), style)
    paragraph.place = at, number
    return paragraph


def _table(at: int, drawing: TableDrawing, rows: list[tuple[int, PrintedRow]]) -> list[Any]:
    if not rows:
        return []
    setting, size = drawing.setting, drawing.size
    signs = [bool(column.sign_width) for column in drawing.columns]
    starts = [column + sum(signs[:column]) for column in range(len(signs))]
    """Column of the table for each of the sheet, after the sign's."""
    data, heads = [], 0
    style: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), setting.font, size, size * 1.2),
        ("LEFTPADDING", (0, 0), (-1, -1), setting.gap / 2), ("RIGHTPADDING", (0, 0), (-1, -1), setting.gap / 2),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE" if setting.middle else "TOP"),
        *_RULES[setting.rules],
    ]  # fmt: skip
    for line, (number, row) in enumerate(rows):
        cells: list[Any] = [""] * (len(signs) + sum(signs))
        is_bold = row.kind in ("group", "head", "total")
        font = FONTS[setting.font] if is_bold else setting.font
        style += [("FONT", (0, line), (-1, line), font, size, size * 1.2)] if is_bold else []
        style += [("VALIGN", (0, line), (-1, line), "BOTTOM")] if row.kind == "head" else []
        style += [("LINEABOVE", (0, line), (-1, line), 0.5, "black")] if row.kind == "total" else []
        style += [("SPAN", (0, line), (-1, line))] if row.kind == "section" and setting.rules == "grid" else []
        heads += row.kind in ("group", "head") and heads == line
        first = True
        for column, cell in enumerate(row.cells):
            if cell is None:
                continue
            place = starts[column] + signs[column]
            is_right = drawing.stands_right(row, column)
            cells[place] = _cell(cell, drawing, column, font, is_head=row.kind == "head", is_right=is_right)
            if is_right:
                style.append(("ALIGN", (place, line), (place, line), "RIGHT"))
            if cell.sign:
                cells[starts[column]] = cell.sign
            if first:
                cells[place] = _with_place(cells[place], (at, number))
                first = False
        data.append(cells)
    widths = []
    for column, has_sign in zip(drawing.columns, signs, strict=True):
        widths += [column.sign_width + setting.gap] if has_sign else []
        widths.append(column.width - column.sign_width + setting.gap + 0.1)
    repeat = heads if setting.repeats_head and heads < len(rows) else 0
    return [_NotedTable(data, widths, style=style, repeatRows=repeat, hAlign="LEFT")]


def _with_place(cell: Any, place: tuple[int, int]) -> Any:
    if isinstance(cell, str):
        cell = _Marked(cell)
    cell.place = place
    return cell


def _cell(cell: PrintedCell, drawing: TableDrawing, column: int, font: str, *, is_head: bool, is_right: bool) -> Any:
    """A text, or a paragraph where it is broken over lines."""
    own = drawing.columns[column]
    lines = drawing.broken_head(cell.text, column) if is_head else drawing.lines_of(cell, own, font)
    if len(lines) < 2:
        return cell.text
    style = ParagraphStyle("cell", fontName=font, fontSize=drawing.size, leading=drawing.size * 1.2)
    if is_right:
        style.alignment = TA_RIGHT
    return _NotedParagraph("<br/>".join(map(escape, lines)), style)
