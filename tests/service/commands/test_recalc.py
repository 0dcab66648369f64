"""The recalc command, run as a user runs it.

What it prints, what it writes, how it ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import xlsxwriter
import xlwt

from tests.forks import cushion

ROOT = Path(__file__).parents[3]


def written(path: Path, *, wrong: bool = False) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("Loans")
        page.write_column("A1", [1, 2, 3])
        page.write_formula("B1", "=SUM(A1:A3)", None, 7 if wrong else 6)
        page.write_formula("B2", '="a"&A1', None, "a1")
        page.write_formula("B3", "=1/0", None, "#DIV/0!")
        page.write_formula("B4", "=A1=1", None, True)
        page.write_formula("B5", "=DATE(2024,1,1)", None, 45_292)
        page.write_array_formula("D1:D3", "{=A1:A3*2}", None, 2)
        page.write("D2", 4)
        page.write("D3", 6)
        page.write_dynamic_array_formula("E1:E2", "=_xlfn.SEQUENCE(2)", None, 1)
        page.write("E2", 2)
    return path


def test_every_formula_cell_is_a_row_of_the_json(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    answer = cushion("recalc", written(tmp_path / "book.xlsx"), "--check", "--json", "--out", out)
    assert (answer.returncode, answer.stdout) == (0, "")
    assert answer.stderr.startswith("book.xlsx: 10 formula cells in 1 sheet, ")
    assert answer.stderr.endswith(" 0 mismatches\n")
    rows = json.loads(out.read_text())
    assert all(list(row) == ["sheet", "cell", "formula", "value", "cached", "match"] for row in rows)
    assert {row["cell"]: (row["formula"], row["value"], row["cached"], row["match"]) for row in rows} == {
        "B1": ("=SUM(A1:A3)", 6.0, 6.0, True),
        "B2": ('="a"&A1', "a1", "a1", True),
        "B3": ("=1/0", "#DIV/0!", "#DIV/0!", True),
        "B4": ("=A1=1", True, True, True),
        "B5": ("=DATE(2024,1,1)", 45_292.0, 45_292.0, True),
        "D1": ("=A1:A3*2", 2.0, 2.0, True),
        "D2": ("=A1:A3*2", 4.0, 4.0, True),
        "D3": ("=A1:A3*2", 6.0, 6.0, True),
        "E1": ("=_xlfn.SEQUENCE(2)", 1.0, 1.0, True),
        "E2": ("=_xlfn.SEQUENCE(2)", 2.0, 2.0, True),
    }


def test_a_mismatch_is_printed_and_told_by_the_exit_code(tmp_path: Path) -> None:
    path = written(tmp_path / "book.xlsx", wrong=True)
    answer = cushion("recalc", path, "--check")
    assert answer.returncode == 1
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert lines[0] == ["Cell", "Formula", "Computed", "Carried"]
    assert lines[2] == ["Loans!B1", "=SUM(A1:A3)", "6.0", "7.0"]
    assert lines[-1][-2:] == ["1", "mismatch"]
    plain = cushion("recalc", path)
    assert plain.returncode == 0
    assert "mismatch" not in plain.stdout


def test_what_kept_cells_from_being_calculated_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "odd.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("S")
        page.write_column("A1", [f"=MYFUNCTION({row})" for row in range(8)])
        page.write_formula("B1", "=B2")
        page.write_formula("B2", "=B1")
        page.write_formula("C1", "=[1]Other!A1", None, 3)
        page.write_formula("D1", "=(1")
    lines = cushion("recalc", path).stdout.splitlines()
    assert lines[0] == "unsupported  MYFUNCTION: S!A1:A8" or lines[0].startswith("unsupported  MYFUNCTION: S!A1, ")
    assert lines[1] in ("cycle  S!B1, S!B2", "cycle  S!B2, S!B1")
    assert lines[2] == "other workbook  S!C1"
    assert lines[3].startswith("fault  ") and lines[3].endswith(": S!D1")  # noqa: PT018
    assert lines[4].startswith("odd.xlsx: 12 formula cells")


def test_a_book_without_formulas_has_nothing_to_check(tmp_path: Path) -> None:
    path, out = tmp_path / "plain.xlsx", tmp_path / "out.json"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("S").write("A1", 1)
    answer = cushion("recalc", path, "--check", "--json", "--out", out)
    assert answer.returncode == 0
    assert json.loads(out.read_text()) == []


@pytest.mark.parametrize("name", ["missing.xlsx", "notes.xlsx", "old.xls", "folder.xlsx"])
def test_a_file_that_cannot_be_recalculated_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "notes.xlsx":
        path.write_text("no spreadsheet")
    elif name == "folder.xlsx":
        path.mkdir()
    elif name == "old.xls":
        book = xlwt.Workbook()
        book.add_sheet("S").write(0, 0, xlwt.Formula("1+1"))
        book.save(str(path))
    answer = cushion("recalc", path, "--check")
    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    reason = {
        "missing.xlsx": "No such file or directory",
        "notes.xlsx": "plain text",
        "old.xls": "save it as .xlsx",
        "folder.xlsx": "a folder has no formulas",
    }[name]
    assert line.startswith(f"cushion: {path}: ")
    assert reason in line


def test_a_target_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "book.xlsx")
    answer = cushion("recalc", path, "--json", "--out", tmp_path / "no folder" / "out.json")
    assert answer.returncode == 2
    assert "No such file or directory" in answer.stderr
    assert [actual_path.name for actual_path in tmp_path.iterdir()] == ["book.xlsx"]
    command = [sys.executable, "-m", "service.commands.cli", "recalc", path, "--json", "--out", "/dev/stdout"]
    stdout = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120).stdout
    assert json.loads(stdout.rpartition("]")[0] + "]")


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    """As /dev/stdout is, where the output goes to a file."""
    (tmp_path / "out.json").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "out.json")
    assert cushion("recalc", written(tmp_path / "book.xlsx"), "--json", "--out", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "out.json").read_text())


def test_texts_are_read_by_the_locale_that_is_asked_for(tmp_path: Path) -> None:
    path, out = tmp_path / "book.xlsx", tmp_path / "out.json"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet().write_formula("A1", '="31.12.2024"+0', None, 45_657)
    answer = cushion("recalc", path, "--check", "--locale", "de-DE", "--json", "--out", out)
    assert (answer.returncode, json.loads(out.read_bytes())[0]["value"]) == (0, 45_657)
    assert "locale: de-DE" in answer.stderr
    assert cushion("recalc", path, "--check").returncode == 1
    answer = cushion("recalc", path, "--locale", "de")
    assert answer.returncode == 2
    assert "'de' is no locale that is known here; there are en-US" in " ".join(answer.stderr.split())


def test_a_copy_with_the_new_values_is_written_and_never_over_the_workbook_unasked(tmp_path: Path) -> None:
    path, out = written(tmp_path / "book.xlsx", wrong=True), tmp_path / "out.xlsx"
    assert cushion("recalc", path, "--out", out).returncode == 0
    assert cushion("recalc", out, "--check").returncode == 0
    answer = cushion("recalc", path, "--out", path)
    assert (answer.returncode, answer.stderr.count("\n")) == (2, 1)
    assert "is the file that the book was read from" in answer.stderr
    assert cushion("recalc", path, "--check").returncode == 1
    assert cushion("recalc", path, "--out", path, "--overwrite").returncode == 0
    assert path.read_bytes() == out.read_bytes()
