"""PDF pages as a typewriter would print them: what stands where can be seen in the test."""

from __future__ import annotations

import re
from io import BytesIO
from textwrap import dedent

from reportlab.pdfgen.canvas import Canvas

from core.files.pdf import read_pdf
from core.grid.sheet import Sheet, Workbook

SIZE = 10
WIDTH = 6.0
"""Of a letter of Courier, in points."""
STEP = 12
"""Distance of two lines."""
LEFT, TOP = 40, 740
PIECES = {"words": r"\S+", "cells": r"\S+(?: \S+)*", "lines": r"\S.*", "marked": r"[^|\s](?:[^|]*[^|\s])?"}
"""What is printed at once; the marks are not printed."""


def typed(*pages: str, pieces: str = "words", step: float = STEP, left: float = LEFT) -> bytes:
    """Return a document with a page for each text."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 800))
    for page in pages:
        type_lines(canvas, page, pieces=pieces, step=step, left=left)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def type_lines(canvas: Canvas, text: str, *, pieces: str = "words", step: float = STEP, left: float = LEFT) -> None:
    """Type the lines of a page."""
    canvas.setFont("Courier", SIZE)
    for at, line in enumerate(dedent(text).strip("\n").splitlines()):
        for piece in re.finditer(PIECES[pieces], line):
            canvas.drawString(left + WIDTH * piece.start(), TOP - step * at, piece.group())


def drawn(*pages: list[list[tuple[float, str]]], size: float = SIZE, step: float = STEP) -> bytes:
    """Return a document in Helvetica: each line has texts by their left edges, or right ones below zero."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 800))
    for page in pages:
        canvas.setFont("Helvetica", size)
        for at, line in enumerate(page):
            for place, text in line:
                (canvas.drawString if place >= 0 else canvas.drawRightString)(abs(place), TOP - step * at, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def book_of(*pages: str, pieces: str = "words") -> Workbook:
    """Return what is read of typed pages."""
    return read_pdf(typed(*pages, pieces=pieces))


def cells_of(sheet: Sheet) -> list[list[object]]:
    """Return the values of a sheet, row by row."""
    return [[sheet.value(row, column) for column in range(sheet.column_count)] for row in range(sheet.row_count)]


def tables_of(data: bytes) -> list[list[list[object]]]:
    """Return the values of each sheet of a document."""
    return [cells_of(sheet) for sheet in read_pdf(data).sheets]
