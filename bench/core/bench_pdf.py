"""Time a page of a printed table, from PDF to typed cells, beside pdfplumber.

84 pages of 31 loans with ten columns, a running header and a numbered footer, as reportlab draws them. Ours is
`core.read`, the start of its child included. pdfplumber gets its words sorted into columns whose edges it is given, and
leaves them text; PDFium's own text of the pages, without columns, is what no reader can do without.
Answers first: every cell of the table against what was drawn, by ours typed, by pdfplumber as text.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

import core
from bench.questions import OURS, LeftOut, Prepared, Question, Work, timed_once
from bench.rows import asked
from core.values import Kind, from_serial

PAGES = 84
ROWS = 31
REPEATS = 5
SECONDS_MOST = 0.05
"""For a page."""

HEADER = (
    *("Loan ID", "Borrower", "Industry", "Type", "Par Amount", "Price", "Market Value", "Spread", "Maturity"),
    "Rating",
)
EDGES = (30.0, 85.0, 215.0, 320.0, 390.0, 475.0, 525.0, 610.0, 670.0, 735.0, 800.0)
"""Where columns begin and the last one ends, in points."""
RIGHT = frozenset({4, 5, 6, 7})
"""Columns whose figures stand at their right edge."""
TOP, LINE = 520.0, 14.0
TITLE = "Schedule of Collateral Obligations"

Cells = list[list[str | float | date]]


class _Document(NamedTuple):
    """A document, and the cells of its table: as printed, and as typed."""

    path: Path
    printed: list[list[str]]
    typed: Cells


def loans() -> tuple[list[list[str]], Cells]:
    """The rows of the table without its headings, as printed and as typed."""
    chance = np.random.default_rng(34)
    printed, typed = [], Cells()
    for at in range(PAGES * ROWS):
        par, price = int(chance.integers(100, 9_000)) * 1000, round(float(chance.uniform(80, 101)), 2)
        value, spread = round(par * price / 100, 2), round(float(chance.uniform(2.5, 7)), 2)
        maturity = date(2027, 1, 1) + timedelta(days=int(chance.integers(0, 2_500)))
        texts = [
            f"LX{at:06d}",
            f"Obligor {chance.integers(0, 900)} Holdings, Inc.",
            "Health Care Providers",
            "Term Loan B",
        ]
        rating = f"B{chance.integers(1, 4)}"
        figures = [f"{par:,}.00", f"{price:.2f}", f"{value:,.2f}", f"{spread:.2f}%", f"{maturity:%d-%b-%Y}"]
        printed.append([*texts, *figures, rating])
        typed.append([*texts, float(par), price, value, spread / 100, maturity, rating])
    return printed, typed


def draw(path: Path, rows: list[list[str]]) -> None:
    """Print the rows, each page with the headings, a title and its number."""
    canvas = Canvas(str(path), pagesize=landscape(A4), invariant=1)
    for page in range(PAGES):
        canvas.setFont("Helvetica-Bold", 11)
        canvas.drawString(EDGES[0], TOP + 30, TITLE)
        canvas.setFont("Helvetica", 8)
        canvas.drawString(EDGES[0], 25, f"Page {page + 1} of {PAGES}")
        for line, row in enumerate([list(HEADER), *rows[page * ROWS : (page + 1) * ROWS]]):
            for column, text in enumerate(row):
                if column in RIGHT:
                    canvas.drawRightString(EDGES[column + 1] - 8, TOP - line * LINE, text)
                else:
                    canvas.drawString(EDGES[column], TOP - line * LINE, text)
        canvas.showPage()
    canvas.save()


def by_pdfplumber(path: Path) -> list[list[str]]:
    """The peer: words by their lines and the columns' edges, without the headings."""
    import pdfplumber

    rows = []
    with pdfplumber.open(path) as pdf:
        for page in pdf.pages:
            lines: dict[int, list[list[str]]] = {}
            for word in page.extract_words():
                line = lines.setdefault(round(word["bottom"]), [[] for _ in HEADER])
                line[min(bisect_right(EDGES, word["x0"]), len(HEADER)) - 1].append(word["text"])
            texts = [[" ".join(words) for words in line] for _, line in sorted(lines.items())]
            rows += [row for row in texts if all(row) and row != list(HEADER)]
            page.close()
    return rows


def by_pdfium(path: Path) -> int:
    """The text of all pages, which has no columns."""
    document = pypdfium2.PdfDocument(path)
    count = 0
    for page in document:
        text_page = page.get_textpage()
        count += len(text_page.get_text_range())
        text_page.close()
        page.close()
    document.close()
    return count


def table_of(book: core.Book) -> Cells:
    """The rows of the one sheet below its headings."""
    (sheet,) = book.sheets
    rows = [[_cell(sheet, row, column) for column in range(sheet.column_count)] for row in range(sheet.row_count)]
    return rows[rows.index(list(HEADER)) + 1 :]


def _cell(sheet: Any, row: int, column: int) -> Any:
    value = sheet.value(row, column)
    if sheet.kind(row, column) == Kind.DATE:
        moment = from_serial(value)
        return None if moment is None else moment.date()
    return value


def is_same(ours: Cells, drawn: Cells) -> bool:
    """Return whether all cells are the same: percentages by their printed digits."""
    return len(ours) == len(drawn) and all(
        first == second or (isinstance(first, float) and isinstance(second, float) and abs(first - second) < 1e-9)
        for row, second_row in zip(ours, drawn, strict=True)
        for first, second in zip(row, second_row, strict=True)
    )


@contextmanager
def _drawn() -> Iterator[_Document]:
    with tempfile.TemporaryDirectory() as name:
        document = _Document(Path(name) / "report.pdf", *loans())
        draw(document.path, document.printed)
        yield document


def _read(document: _Document) -> Prepared:
    book = core.read(document.path)
    assert is_same(table_of(book), document.typed)
    lines = book.sheets[0].page_lines
    assert set(lines[:, 0].tolist()) == set(range(1, PAGES + 1))
    assert by_pdfium(document.path) > sum(map(len, map("".join, document.printed)))
    works: dict[str, Any] = {OURS: Work(partial(core.read, document.path), count=PAGES)}
    try:
        answer, seconds = timed_once(partial(by_pdfplumber, document.path))  # some twenty
        assert answer == document.printed
        works[PDFPLUMBER] = [seconds[0] / PAGES]
    except ImportError:
        works[PDFPLUMBER] = LeftOut("pdfplumber is not installed")
    works[PLAIN_TEXT] = Work(partial(by_pdfium, document.path), count=PAGES)
    return Prepared(works=works, facts={"pages": PAGES, "table_rows": PAGES * ROWS})


PDFPLUMBER, PLAIN_TEXT = "pdfplumber", "PDFium's plain text"

bench_pdf = asked(
    Question(
        name=f"read a PDF: a page of {ROWS} rows, {len(HEADER)} columns, of {PAGES} pages", data=_drawn, prepare=_read,
        peers=(PDFPLUMBER,), bounds=(PLAIN_TEXT,), repeats=REPEATS, seconds_most=SECONDS_MOST,
    )
)  # fmt: skip
