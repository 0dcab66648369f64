"""A trustee's small report as a PDF, drawn line by line, so that page and line of each row are known.

Page 1 prints two tests, the pages behind it a table of loans with its header on each page and a total on the last.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

ROWS_OF_PAGE: Final = 12
"""Loans of a page."""

RUNNING: Final = ("Alder Park CLO 4, Ltd.", "Monthly Report as of 30-Sep-2024")
"""The lines above each page."""

LOAN_HEADER: Final = (
    "Borrower",
    "CUSIP",
    "Par Amount",
    "Price",
    "Spread",
    "Maturity Date",
    "Moody's Rating",
    "Market Value",
)
_NAMES: Final = ("Birch Media", "Cedar Foods", "Dune Software", "Elm Transport", "Fir Packaging", "Grove Health")
_RATINGS: Final = ("B1", "B2", "B3", "Caa1")

_LEFT: Final = 40
_TOP: Final = 540
_LEADING: Final = 16
_WIDTHS: Final = (160, 80, 100, 60, 60, 90, 100, 110)
_LEFT_ALIGNED: Final = (0, 1, 6)


@dataclass(frozen=True)
class DrawnLoan:
    """One row of the report, as printed."""

    borrower: str
    cusip: str
    par: float
    price: float
    rating: str
    page: int
    line: int

    @property
    def value(self) -> float:
        """Par at its price."""
        return round(self.par * self.price / 100, 2)


@dataclass(frozen=True)
class DrawnReport:
    """The report, and where its loans stand."""

    data: bytes
    loans: list[DrawnLoan]
    total: float
    """Of par, as printed."""


@dataclass
class _Pages:
    """Draws line below line and counts them."""

    buffer: io.BytesIO = field(default_factory=io.BytesIO)
    page: int = 0
    line: int = 0

    def __post_init__(self) -> None:
        self.canvas = Canvas(self.buffer, pagesize=landscape(A4), invariant=True)

    def begin(self) -> None:
        if self.page:
            self.canvas.showPage()
        self.page, self.line = self.page + 1, 0
        for text in RUNNING:
            self.draw([text], font="Helvetica-Bold")

    def draw(self, cells: Sequence[str], font: str = "Helvetica") -> None:
        """Draw a line: columns of text from the left, the others from the right."""
        self.canvas.setFont(font, 9)
        y, x = _TOP - self.line * _LEADING, _LEFT
        for at, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=False)):
            if at in _LEFT_ALIGNED:
                self.canvas.drawString(x + 12 * (at > 1), y, cell)
            else:
                self.canvas.drawRightString(x + width, y, cell)
            x += width
        self.line += 1

    def data(self) -> bytes:
        self.canvas.save()
        return self.buffer.getvalue()


def draw_report(count: int = 30, *, total_off: float = 0.0) -> DrawnReport:
    """Draw a report of so many loans; `total_off` is what its printed total is off the sum."""
    pages = _Pages()
    pages.begin()
    pages.draw(["Compliance Tests"], font="Helvetica-Bold")
    pages.draw(["Test", "", "Result", "Limit", "", "Outcome"], font="Helvetica-Bold")
    pages.draw(["Maximum Caa Obligations", "", "25.00%", "7.50%", "", "Fail"])
    pages.draw(["Weighted Average Life Test", "", "4.75", "7.00", "", "Pass"])
    loans = []
    for at in range(count):
        if at % ROWS_OF_PAGE == 0:
            pages.begin()
            pages.draw(["Schedule of Investments"], font="Helvetica-Bold")
            pages.draw(LOAN_HEADER, font="Helvetica-Bold")
        name = f"{_NAMES[at % len(_NAMES)]} {at + 1}, Inc."
        par, price = round(1_000_000 + 12_345.67 * at, 2), 95.0 + at / 8
        loan = DrawnLoan(
            name, f"{10_000_000 + 1_111 * at}A"[:9], par, price, _RATINGS[at % 4], pages.page, pages.line + 1
        )
        pages.draw(
            [
                name,
                loan.cusip,
                f"{par:,.2f}",
                f"{price:.3f}",
                f"{3 + at % 3}.25%",
                f"{at % 28 + 1}-Jun-2029",
                loan.rating,
                f"{loan.value:,.2f}",
            ]
        )
        loans.append(loan)
    total = round(sum(loan.par for loan in loans) + total_off, 2)
    value = sum(loan.value for loan in loans)
    pages.draw(["Total", "", f"{total:,.2f}", "", "", "", "", f"{value:,.2f}"], font="Helvetica-Bold")
    return DrawnReport(pages.data(), loans, total)
