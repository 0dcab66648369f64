"""Reports as spreadsheets.

The run's figures in full, every issue once, headings that stay, good and bad flagged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from core.compliance.result import Doubt, Results
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.report import tables
from core.report.reconciliation import Tally
from core.report.tables import Looks, compliance_tables, reconciliation_tables, write_tables
from tests.core.report.conftest import doubted, reported, result_of, skipped_of
from tests.core.report.test_reconciliation import COMPARED, issue

Build = Callable[..., Portfolio]


def sheets_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    book = openpyxl.load_workbook(path)
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}


def test_a_run_is_there_to_the_last_digit(g1: Build, tmp_path: Path) -> None:
    portfolio = g1()
    results = run_suite(portfolio, "enhanced")
    report = reported(portfolio, results, suite="enhanced")
    write_tables(tmp_path / "report.xlsx", compliance_tables(report), Looks())
    sheets = sheets_of(tmp_path / "report.xlsx")
    header, *rows = sheets["Tests"]
    by_test = {row["Test"]: row for row in (dict(zip(header, row, strict=True)) for row in rows)}
    assert len(by_test) == len(results) + len(results.skipped)
    for result in results:
        row = by_test[result.test_id]
        assert (row["Value"], row["Threshold"], row["Cushion"], row["Cushion %"], row["Status"]) == (
            result.current_value, result.threshold_value, result.cushion, result.cushion_pct, result.status,
        )  # fmt: skip
    steps = [row for row in sheets["Coverage steps"][1:] if row[0] == report.coverage[0].title]
    total = 0.0
    for _, label, amount, is_total in steps:
        if is_total:
            assert abs(amount - total) < 0.01, label
        else:
            total += amount
    for title in {row[0] for row in sheets["Distributions"][1:]}:
        assert abs(sum(row[4] for row in sheets["Distributions"][1:] if row[0] == title) - 100.0) < 1e-6, title
    facts = dict(row[:2] for row in sheets["Report"] if row[0])
    assert (facts["Report"], facts["Tests"], facts["Failed"]) == ("A deal", 25, results.summary.failed)
    assert {row[2] for row in sheets["Report"]} > {None, "amount", "number", "percent", "factor"}
    assert len([row for row in sheets["Notes"][1:] if row[2]]) == len(report.notes) > 0
    assert {note for item in report.coverage for note in item.ladder.notes} < {row[1] for row in sheets["Report"]}


def test_every_issue_stands_once_on_as_many_sheets_as_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ISSUES_A_SHEET", 4)
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 3)
    issues = [issue(primary_identifier=f"LX{at}", trustee_value="=1+1") for at in range(10)]
    tally = Tally()
    for item in issues:
        tally.add(item)
    path = tmp_path / "report.xlsx"
    write_tables(path, reconciliation_tables(tally.report(COMPARED), iter(issues)), Looks())
    sheets = sheets_of(path)
    assert [name for name in sheets if name.startswith("Issues")] == ["Issues", "Issues 2", "Issues 3"]
    actual_sheets = [row for name in ("Issues", "Issues 2", "Issues 3") for row in sheets[name][1:]]
    assert [row[5] for row in actual_sheets] == [item.primary_identifier for item in issues]
    cell = openpyxl.load_workbook(path)["Issues"]["I2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s"), "a text is no formula"


def test_looks_are_as_they_are_asked_for(tmp_path: Path) -> None:
    report = Tally().report(COMPARED)
    for name, looks in (("plain", Looks(styled=False, frozen=False, fitted=False)), ("all", Looks())):
        write_tables(tmp_path / f"{name}.xlsx", reconciliation_tables(report, ()), looks)
    plain, full = (openpyxl.load_workbook(tmp_path / f"{name}.xlsx")["Issues"] for name in ("plain", "all"))
    assert (plain.freeze_panes, full.freeze_panes) == (None, "A2")
    assert (plain["A1"].font.bold, full["A1"].font.bold) == (False, True)
    assert (plain.column_dimensions["M"].width, full.column_dimensions["M"].width) == (13, pytest.approx(40, abs=1))


def test_what_no_cell_holds_is_cut(tmp_path: Path) -> None:
    tally = Tally()
    long = issue(resolution_notes="é" * 40_000)
    tally.add(long)
    write_tables(tmp_path / "report.xlsx", reconciliation_tables(tally.report(COMPARED), [long]), Looks())
    assert sheets_of(tmp_path / "report.xlsx")["Issues"][1][12] == "é" * tables.TEXT_MAX


def test_the_trustees_figure_and_the_doubts_stand_beside_ours(tmp_path: Path) -> None:
    doubts = [Doubt("estimate", "interest is estimated", ["'Loans'!A2"]), Doubt("differs", "the file prints more", [])]
    tests = [
        doubted("ic", "fail", 3.12, 120.0, (190.4, "pass"), direction="min", doubt=doubts),
        result_of("wal", "pass", 1.0, 3.0),
    ]
    path = tmp_path / "report.xlsx"
    write_tables(path, compliance_tables(reported(None, Results(tests, skipped_of(1)))), Looks())
    sheets = sheets_of(path)
    header, *rows = sheets["Tests"]
    by_test = {row["Test"]: row for row in (dict(zip(header, row, strict=True)) for row in rows)}
    answer = ("Status", "Doubtful", "Trustee", "Difference", "Agrees", "Trustee's status", "Trustee's cell")
    ic = [by_test["ic"][name] for name in answer]
    assert ic == ["fail", "doubtful", 190.4, pytest.approx(-187.28), False, "pass", "'Tests'!C7"]
    assert [by_test["wal"][name] for name in answer] == ["pass", *[None] * 6]
    assert by_test["ic"]["Doubts"] == "Interest is estimated ('Loans'!A2)\nThe file prints more"
    assert by_test["absent_0"]["Status"] == "skipped"
    assert by_test["absent_0"]["Message"] == "no column"
    assert sheets["Doubts"][1:] == [
        ("ic", "ic", "estimate", "interest is estimated", "'Loans'!A2"),
        ("ic", "ic", "differs", "the file prints more", ""),
    ]
    assert ("Of these doubtful", 1) in [row[:2] for row in sheets["Report"]]
