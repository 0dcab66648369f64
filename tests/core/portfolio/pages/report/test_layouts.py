"""Layouts of `layouts.txt`, each read from a sheet and from a PDF, and held to what it prints."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from tests.core.portfolio.conftest import Shown
from tests.core.portfolio.pages.report.test_tests import workbook

LOANS: Final[list[list[Any]]] = [
    ["Issuer Name", "Par Amount", "LoanX ID", "Spread", "Maturity Date"],
    *(
        [f"{name} Corp", 1_000_000.0, f"LX{at}00001", "3.25%", "15-Mar-2030"]
        for at, name in enumerate(("Acme", "Bolt"))
    ),
]
AS_OF: Final = 20_000.0
"""The day of layouts that print none."""

MARKS: Final = frozenset(
    ("cash_differs", "labels_differ", "notes_differ", "ambiguous_date", "as_of_conflict", "as_of_footer")
)
"""Warnings that an amount or a day may be another."""


@dataclass
class Layout:
    """A page, and what it prints."""

    name: str
    rows: list[list[str]] = field(default_factory=list)
    facts: dict[str, tuple[float | None, float | None, str | None, bool]] = field(default_factory=dict)
    amounts: list[tuple[str, float, bool]] = field(default_factory=list)

    @property
    def as_of(self) -> float | None:
        """Return a day, where the page is not read for one."""
        return None if any(name in ("as_of", "next_payment") for name, *_ in self.amounts) else AS_OF


def layouts() -> Iterator[Layout]:
    """Yield what the file has; its first lines say how."""
    for block in Path(__file__).with_name("layouts.txt").read_text("utf-8").split("\n## ")[1:]:
        name, *lines = block.rstrip().split("\n")
        layout = Layout(name)
        for line in lines:
            sign, _, rest = line.partition(" ")
            words = rest.split()
            may_miss = words[-1:] == ["?"]
            if sign == "=":
                value, trigger = (None if word == "-" else float(word) for word in words[1:3])
                layout.facts[words[0]] = value, trigger, None if words[3] == "-" else words[3], may_miss
            elif sign == "$":
                layout.amounts.append((words[0], number_of(words[1]), may_miss))
            else:
                layout.rows.append([cell.strip() for cell in re.split(r" \|(?= |$)", line)] if line else [])
        yield layout


def number_of(word: str) -> float:
    """Return an amount, or a day in days since 1970; NaN for nothing."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return float((date.fromisoformat(word) - date(1970, 1, 1)).days)
    return float("nan" if word == "-" else word)


LAYOUTS: Final = list(layouts())


def typed(text: str) -> Any:
    """Return a cell as a spreadsheet has it."""
    plain = text.replace(",", "")
    decimals = "0" * len(plain.rstrip("%").partition(".")[2])
    if re.fullmatch(r"-?\d+\.\d+%", plain):
        return Shown(round(float(plain[:-1]) / 100, 8), f"0.{decimals}%")
    if re.fullmatch(r"-?\d+(\.\d+)?", plain):
        return Shown(float(plain), f"#,##0.{decimals}") if decimals else float(plain)
    return text or None


def drawn(rows: list[list[str]]) -> bytes:
    """Return a PDF with the page, and the loans behind it."""
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=landscape(A4))
    loans = [[f"{cell:,.2f}" if isinstance(cell, float) else cell for cell in row] for row in LOANS]
    for page in (rows, loans):
        canvas.setFont("Helvetica", 8)
        wide = [row for row in page if len(row) > 1]
        for at, row in enumerate(page):
            left = 40.0
            for column, cell in enumerate(row):
                below = [each[column] for each in wide if column < len(each)]
                width = max((canvas.stringWidth(each, "Helvetica", 8) for each in below), default=0.0) + 22
                is_figure = 2 * sum(each[:1].isdigit() for each in below) > sum(map(bool, below))
                if cell and is_figure and len(row) > 1:
                    canvas.drawRightString(left + width - 12, 540 - 14 * at, cell)
                elif cell:
                    canvas.drawString(left, 540 - 14 * at, cell)
                left += width
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def key_of(fact: Fact) -> str:
    """Return measure, classes, agency, rank and detail as `layouts.txt` writes them."""
    subject = fact.subject
    if subject is None:
        return "-"
    parts = [subject.measure, ",".join(subject.classes), subject.agency or ""]
    rank = f"#{subject.rank}" if subject.rank is not None and subject.rank > 1 else ""
    detail = f"/{subject.detail.replace(' ', '_')}" if subject.detail else ""
    return ":".join(filter(None, parts)) + rank + detail


def faults(layout: Layout, portfolio: Portfolio) -> Iterator[str]:
    """Yield what is wrong without a mark, and what is not read."""
    complete = set()
    for fact in portfolio.facts.figures:
        if fact.is_guessed or fact.conflict or fact.subject is None:
            continue
        key = key_of(fact)
        value, trigger, status, _ = layout.facts.get(key, (None, None, None, False))
        if key not in layout.facts or not (
            _agrees(fact.value, value) and _agrees(fact.trigger, trigger) and fact.status in (None, status)
        ):
            yield f"{key} is {fact.value}, {fact.trigger}, {fact.status} in {fact.place}"
        elif (fact.value is None, fact.trigger is None, fact.status) == (value is None, trigger is None, status):
            complete.add(key)
    yield from (
        f"{key} is not read" for key, (*_, may_miss) in layout.facts.items() if key not in complete | {may_miss and key}
    )
    marks = {warning.code for warning in portfolio.notes.warnings} & MARKS
    for name, amount, may_miss in layout.amounts:
        own = amount_of(portfolio, name)
        is_right = own == amount or (own is None and amount != amount)
        if not is_right and not (may_miss and (own is None or marks)):
            yield f"{name} is {own}"


def _agrees(own: float | None, printed: float | None) -> bool:
    return own is None or (printed is not None and abs(own - printed) < 1e-6)


def amount_of(portfolio: Portfolio, name: str) -> float | None:
    """Return cash of the deal, or a class's field: "A.current_balance"."""
    letter, _, column = name.partition(".")
    if not column:
        return getattr(portfolio.deal, name)
    if portfolio.tranches is None:
        return None
    place = [label.removeprefix("Class ") for label in portfolio.tranches.classes].index(letter)
    own = float(getattr(portfolio.tranches, column)[place])
    return None if own != own else own


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_in_a_sheet(layout: Layout) -> None:
    """No fact is wrong without a mark, from typed cells and from texts."""
    for cell_of in (typed, lambda text: text or None):
        rows = [[cell_of(cell) for cell in row] for row in layout.rows]
        portfolio = Portfolio.from_workbook(workbook({"Compliance": rows, "Assets": LOANS}), as_of=layout.as_of)
        assert not list(faults(layout, portfolio))


def test_layouts_in_a_pdf(tmp_path: Path) -> None:
    """No fact is wrong without a mark where the same pages are printed."""
    missed = []
    for layout in LAYOUTS:
        path = tmp_path / "report.pdf"
        path.write_bytes(drawn(layout.rows))
        missed += [
            f"{layout.name}: {fault}"
            for fault in faults(layout, Portfolio.from_workbook(read(path), as_of=layout.as_of))
        ]
    assert not missed
