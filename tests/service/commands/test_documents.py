"""A trustee's report as a PDF through the commands, run as a user runs them.

Page and line stand wherever a row is named.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import openpyxl
import pytest

from core.files.write import write_workbook_rows
from tests.forks import cushion
from tests.report_pdf import LOAN_HEADER, DrawnReport, draw_report

OFF = 90_000.0
"""What the total of the report that does not add up is off."""


@pytest.fixture(scope="module")
def drawn() -> DrawnReport:
    return draw_report(30)


@pytest.fixture(scope="module")
def report(drawn: DrawnReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("documents") / "report.pdf"
    path.write_bytes(drawn.data)
    return path


def lines_of(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return [" ".join(line.split()) for line in answer.stdout.splitlines()]


def test_map_shows_the_tables_page_by_page(report: Path) -> None:
    answer = cushion("map", report)
    lines = lines_of(answer)
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stdout
    assert "Sheet Pages Rows Kind Header Fields Why" in lines
    assert any(line.startswith("Compliance Tests 1 6 tests - 0 it prints 2 tests") for line in lines), lines
    assert any(line.startswith("Schedule of Investments 2-4 35 holdings row 4 7 chosen") for line in lines), lines
    assert "loans 30 in rows 5 to 34 (pages 2 to 4)" in lines
    sheets = json.loads(cushion("map", report, "--json").stdout)["detection"]["sheets"]
    assert [(sheet["first_page"], sheet["last_page"], sheet["row_count"]) for sheet in sheets] == [
        (1, 1, 6),
        (2, 4, 35),
    ]


def test_map_shows_a_total_that_does_not_add_up(tmp_path: Path) -> None:
    drawn = draw_report(30, total_off=OFF)
    (tmp_path / "off.pdf").write_bytes(drawn.data)
    answer = " ".join(cushion("map", tmp_path / "off.pdf").stdout.split())
    total = drawn.loans[-1].line + 1
    assert f"The total of sheet 'Schedule of Investments' (page 4, line {total}) is {drawn.total:,.2f}" in answer
    assert f"total_differs: page 4, line {total}: " in answer


def test_map_names_page_and_line_of_a_row_at_fault(report: Path, drawn: DrawnReport, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.json"
    document = {
        "name": "Own list",
        "source_type": "clo_holdings",
        "profile_id": "standard_clo",
        "mappings": {"Par Amount": {"target": "par_value", "type": "number", "required": True}},
        "validation_rules": [{"field": "price", "rule": "range", "parameters": {"min": 95.1, "max": 110}}],
    }
    mapping.write_text(json.dumps(document))
    answer = cushion("map", report, "--mapping", mapping)
    first = drawn.loans[0]
    assert any(line.startswith(f"5 {first.page} {first.line} price") for line in lines_of(answer)), answer.stdout
    errors = json.loads(cushion("map", report, "--mapping", mapping, "--json").stdout)["validation"]["errors"]
    assert [(each["row"], each["page"], each["line"]) for each in errors] == [(5, first.page, first.line)]


def test_export_writes_the_tables_as_sheets(report: Path, drawn: DrawnReport, tmp_path: Path) -> None:
    out = tmp_path / "report.xlsx"
    answer = cushion("export", report, "--out", out, "--plain")
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stdout
    book = openpyxl.load_workbook(out)
    assert book.sheetnames == ["Compliance Tests", "Schedule of Investments", "Pages"]
    page = book["Schedule of Investments"]
    header = next(row for row in page.iter_rows() if row[0].value == "Borrower")
    assert [cell.value for cell in header] == list(LOAN_HEADER)
    for loan, row in zip(drawn.loans, page.iter_rows(min_row=header[0].row + 1), strict=False):
        assert [cell.value for cell in row[:4]] == [loan.borrower, loan.cusip, loan.par, loan.price]
        assert [cell.number_format for cell in row[2:5]] == ["#,##0.00", "0.000", "0.00%"]
    pages = list(book["Pages"].iter_rows(values_only=True))
    assert pages[0] == ("Sheet", "Row", "Page", "Line")
    places = {(name, row): place for name, row, *place in pages[1:]}
    for at, loan in enumerate(drawn.loans, header[0].row + 1):
        assert places["Schedule of Investments", at] == [loan.page, loan.line]
    alone = cushion("export", report, "--format", "csv", "--sheet", "Compliance Tests", "--out", tmp_path / "one.csv")
    assert alone.returncode == 0, alone.stderr
    verdict = cushion("verify", out)
    assert verdict.returncode == 0, verdict.stdout


def test_runs_and_tie_outs_say_where_the_trustees_figures_stand(report: Path) -> None:
    results = json.loads(cushion("compliance", report, "--json").stdout)["results"]
    published = {each["test_id"]: each["published"] for each in results if each.get("published")}
    assert published["ccc_bucket_pct"]["value"] == 25.0
    assert published["ccc_bucket_pct"]["place"] == "'Compliance Tests'!B5 (page 1, line 5)"
    by_test = {each["test_id"]: each for each in results}
    assert "'Schedule of Investments'!C5:C34 (pages 2 to 4)" in by_test["ccc_bucket_pct"]["details"]["cell_refs"]
    answer = cushion("deal", "tie-out", report)
    text = " ".join(answer.stdout.split())
    assert "Trustee's test Stands on Trustee Ours" in text
    assert "page 1, line 5" in text
    assert "page 1, line 6" in text
    rows = list(csv.DictReader(io.StringIO(cushion("deal", "tie-out", report, "--format", "csv").stdout)))
    assert [row["cell"].partition(" (")[2] for row in rows] == ["page 1, line 5)", "page 1, line 6)"]


def test_an_issue_names_page_and_line_of_the_tape(report: Path, drawn: DrawnReport, tmp_path: Path) -> None:
    holdings = tmp_path / "book.xlsx"
    changed, missing = drawn.loans[20], drawn.loans[3]
    rows = [
        (loan.borrower, loan.cusip, loan.par + 1000 * (loan is changed), loan.price)
        for loan in drawn.loans
        if loan is not missing
    ]
    write_workbook_rows(holdings, {"Loans": [("Borrower", "CUSIP", "Par Amount", "Price"), *rows]})
    answer = cushion("reconcile", report, holdings)
    assert answer.returncode == 1, answer.stderr
    text = " ".join(answer.stdout.split())
    assert "Tape's page" in text
    assert "Holdings' page" not in text
    for loan in (changed, missing):
        assert f"{loan.page}, line {loan.line}" in text
    issues = json.loads(cushion("reconcile", report, holdings, "--json").stdout)["issues"]
    assert {(each["cusip"], each["trustee_page"], each["trustee_line"]) for each in issues} == {
        (loan.cusip, str(loan.page), str(loan.line)) for loan in (changed, missing)
    }
    assert all("internal_page" not in each for each in issues)
    swapped = list(csv.DictReader(io.StringIO(cushion("reconcile", holdings, report, "--format", "csv").stdout)))
    assert {(row["internal_page"], row["internal_line"]) for row in swapped} == {
        (str(loan.page), str(loan.line)) for loan in (changed, missing)
    }
