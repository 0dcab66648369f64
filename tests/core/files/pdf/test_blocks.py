"""Lines to blocks, by whole pages that are drawn here."""

from __future__ import annotations

import io

from reportlab.pdfgen.canvas import Canvas

from core.files.pdf import read_pdf

HEADINGS = ("Loan ID", "Issuer", "Par Amount", "Flag", "Currency")
ROWS = [
    (f"LX{at:05}", "Kestrel Onyx Maple Holdings" if at == 3 else "Alder Inc.", f"{at * 1_111 + 100_000:,}", "Y", "USD")
    for at in range(24)
]


def test_a_title_over_a_gutter_does_not_hide_it() -> None:
    """A total that begins left of where the longest name ends cuts the table."""
    buffer = io.BytesIO()
    page = Canvas(buffer)
    page.setFont("Helvetica", 8)
    page.drawString(30, 780, "Loan Report of the Month")
    for at, (key, name, par, flag, currency) in enumerate([HEADINGS, *ROWS, ("Total", "", "2,706,600,000.00", "", "")]):
        height = 760 - 12 * at
        page.drawString(30, height, key)
        page.drawString(72, height, name)
        page.drawRightString(224, height, par)
        page.drawString(230, height, flag)
        page.drawString(260, height, currency)
    page.save()
    (sheet,) = read_pdf(buffer.getvalue(), "report").sheets
    own = [tuple(sheet.value(row, column) for column in range(5)) for row in range(sheet.row_count)]
    assert [row for row in own if str(row[0]).startswith("LX")] == [
        (key, name, float(par.replace(",", "")), flag, currency) for key, name, par, flag, currency in ROWS
    ]
