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
    ],
)
def test_a_currency_stands_in_or_before_brackets(text: str, number: float, code: str) -> None:
    formats = PrintedFormats()
    cell = cell_of(text, formats, comma=False)
    assert (cell.kind, cell.number) == (Kind.NUMBER, number)
    assert formats.codes[cell.format] == code


@pytest.mark.parametrize("text", ["($5.00", "$5.00)", "($(5.00))", "($-5.00)"])
def test_brackets_that_do_not_match_leave_a_text(text: str) -> None:
    assert cell_of(text, PrintedFormats(), comma=False).kind == Kind.TEXT
