"""Parts as CSV: quoted as RFC 4180 has it, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

from core.compliance.run import run_suite
from core.parts.parts import figure_parts
from core.parts.table import parts_csv
from tests.core.compliance.conftest import portfolio_of


def test_a_text_that_a_spreadsheet_would_run_has_an_apostrophe() -> None:
    names = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "\tAsh", "Ash, Ltd"]
    loans = portfolio_of({"par_value": [1e6] * 6, "obligor": ["One"] * 6, "borrower_name": names})
    result = run_suite(loans, "standard", test_ids=["single_obligor_concentration"])[0]
    text = parts_csv(figure_parts(loans, result, limit=None))
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["kind", "name", "place", "row", "amount", "borrower", "par"]
    assert [row[1] for row in rows] == [*(f"'{name}" for name in names[:5]), "Ash, Ltd"]
    assert {row[4] for row in rows} == {"1000000.0"}
    assert text.count("\r\n") == 7


def test_a_deduction_stays_a_number() -> None:
    loans = portfolio_of({"par_value": [5e6, -1e6], "obligor": ["One", "One"], "borrower_name": ["A", "B"]})
    result = run_suite(loans, "standard", test_ids=["single_obligor_concentration"])[0]
    rows = list(csv.reader(io.StringIO(parts_csv(figure_parts(loans, result)), newline="")))
    assert [row[4] for row in rows[1:]] == ["5000000.0", "-1000000.0"]
