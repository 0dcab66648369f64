"""The report command, run as a user runs it.

A file to hand on, of a run or of a comparison, and what is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import openpyxl
import pikepdf
import pytest

from core.generate import generate, generate_tape
from core.labels import label

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape with its holdings."""
    path = tmp_path_factory.mktemp("tapes")
    tape = generate_tape(generate(200, 7), "trustee_a", 7)
    tape.write(path / "tape.xlsx")
    tape.deal.write(path / "holdings.xlsx")
    return path


def test_a_report_has_the_figures_that_compliance_prints(cushion: Cushion, folder: Path) -> None:
    answer = cushion("report", folder / "holdings.xlsx", "--suite", "standard", "--out", folder / "report.xlsx")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    header, *rows = openpyxl.load_workbook(folder / "report.xlsx")["Tests"].iter_rows(values_only=True)
    value = header.index("Value")
    printed = json.loads(cushion("compliance", folder / "holdings.xlsx", "--json").stdout)
    figures = {result["test_id"]: result["current_value"] for result in printed["results"]}
    assert {row[1]: row[value] for row in rows if row[3] != "skipped"} == figures
    assert cushion("report", folder / "holdings.xlsx", "--out", folder / "report.pdf").returncode == 0
    with pikepdf.open(folder / "report.pdf") as pdf, pdf.open_metadata() as meta:
        assert meta["dc:title"] == "Compliance report: holdings"


def test_a_comparison_has_every_issue_that_reconcile_tells(cushion: Cushion, folder: Path) -> None:
    out = folder / "breaks"
    of_tape = "--tape", folder / "tape.xlsx", "--trustee", "trustee_a"
    answer = cushion("report", folder / "holdings.xlsx", *of_tape, "--format", "xlsx", "--out", out)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    with out.open("rb") as file:
        _, *rows = openpyxl.load_workbook(file)["Issues"].iter_rows(values_only=True)
    body = json.loads(
        cushion("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx", *of_tape[2:], "--json").stdout
    )
    columns = ("severity", "field_name", "primary_identifier", "trustee_value", "internal_value")
    assert [(row[0], row[3], row[5], row[8] or "", row[9] or "") for row in rows] == [
        tuple(label(issue[name]) for name in columns) for issue in body["issues"]
    ]
    assert cushion("report", folder / "holdings.xlsx", *of_tape, "--out", folder / "breaks.pdf").returncode == 0
    assert (folder / "breaks.pdf").read_bytes().startswith(b"%PDF-1.7")


def test_what_cannot_be_written_is_refused(refused: Refusal, folder: Path) -> None:
    book, tape = folder / "holdings.xlsx", folder / "tape.xlsx"
    assert "say with --format" in refused("report", book, "--out", folder / "report.doc")
    assert "No such file" in refused("report", book, "--out", folder / "none" / "report.pdf")
    assert "needs a definition" in refused("report", book, "--suite", "deal", "--out", folder / "report.pdf")
    assert "no tests in it" in refused("report", book, "--tape", tape, "--suite", "enhanced", "--out", folder / "r.pdf")
    assert "--tape" in refused("report", book, "--trustee", "trustee_a", "--out", folder / "r.pdf")
    assert "--as-of" in refused("report", book, "--tape", tape, "--as-of", "2026-03-31", "--out", folder / "r.pdf")
    assert "--out" in refused("report", book).lower()
    before = book.read_bytes()
    assert "made of" in refused("report", book, "--out", book)
    assert book.read_bytes() == before
    assert not list(folder.glob(".cushion-*"))


def test_a_link_stays_a_link(cushion: Cushion, folder: Path) -> None:
    """As /dev/stdout is one, which nobody wants replaced by a report."""
    (folder / "link.pdf").symlink_to(folder / "named.pdf")
    assert cushion("report", folder / "holdings.xlsx", "--out", folder / "link.pdf").returncode == 0
    assert (folder / "link.pdf").is_symlink()
    assert (folder / "named.pdf").read_bytes().startswith(b"%PDF-1.7")
