"""The text of a cell to a number with its printed format."""

from __future__ import annotations

import pytest

from core.files.pdf.values import PrintedFormats, cell_of
from core.values import Kind


@pytest.mark.parametrize(
    ("text", "number", "code"),
    [
        ("($5.00)", -5.0, '"$"0.00'),
        ("($1,234,567.89)", -1234567.89, '"$"#,##0.00'),
        ("( €1,234)", -1234.0, '"€"#,##0'),
        ("(USD 5.00)", -5.0, '"USD"0.00'),
        ("$(5.00)", -5.0, '"$"0.00'),
        ("$ 5.00", 5.0, '"$"0.00'),
        ("(0.25)%", -0.0025, "0.00%"),
        ("(12.5 )%", -0.125, "0.0%"),
        ("\u22121,234.50", -1234.5, "#,##0.00"),
        ("\u20130.50%", -0.005, "0.00%"),
        ("\u2212$5.00", -5.0, '"$"0.00'),
    ],
)
def test_a_negative_figure_is_one_however_it_is_printed(text: str, number: float, code: str) -> None:
    formats = PrintedFormats()
    cell = cell_of(text, formats, comma=False)
    assert (cell.kind, cell.number) == (Kind.NUMBER, number)
    assert formats.codes[cell.format] == code


@pytest.mark.parametrize(
    "text", ["\u2014", "Q1\u20135", "2\u20133", "(5)%%", "($5.00", "$5.00)", "($(5.00))", "($-5.00)"]
)
def test_brackets_that_do_not_match_leave_a_text(text: str) -> None:
    assert cell_of(text, PrintedFormats(), comma=False).kind == Kind.TEXT
