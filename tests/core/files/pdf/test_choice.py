"""Printed totals choose between two readings of a table."""

from __future__ import annotations

from io import BytesIO

from reportlab.pdfgen.canvas import Canvas

from core.files.pdf import read_pdf

NAMES = ("Ash 1", "Elm 2", "Fir 3")
PAR = (950, 720, 115)


def report(total: str) -> bytes:
    """Return a page whose names end where their figures begin, a space apart, each line in one piece."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 300))
    canvas.setFont("Courier", 10)
    lines = [f"{name} {par}     LX10000{at}   B2" for at, (name, par) in enumerate(zip(NAMES, PAR, strict=True))]
    for at, line in enumerate(["Issue Par     LoanX      Rating", *lines, f"Total {total}"]):
        canvas.drawString(40, 250 - 14 * at, line)
    canvas.save()
    return buffer.getvalue()


def numbers(data: bytes) -> list[float]:
    sheet = read_pdf(data).sheets[0]
    cells = (sheet.value(row, 1) for row in range(sheet.row_count))
    return [value for value in cells if isinstance(value, float)]


def test_a_total_that_ties_parts_the_cells() -> None:
    data = report("1785")
    assert numbers(data) == [*map(float, PAR), 1785.0]
    assert read_pdf(data).remarks == ()


def test_a_total_that_ties_with_neither_leaves_a_guess() -> None:
    (remark, *_) = read_pdf(report("1797")).remarks
    assert remark.code == "layout_guessed"
    assert remark.message == (
        "the table on page 1 could be parted into cells in two ways, and no printed total decides"
    )
