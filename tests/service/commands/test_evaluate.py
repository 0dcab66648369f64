"""The evaluate command.

Formulas over values that are typed, over a document, and over a workbook's cells.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import xlsxwriter

from service.commands.cli import run

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Said:
    def answered(*arguments: object) -> tuple[int, str, str]:
        code = run(["evaluate", *map(str, arguments)])
        return code, *capsys.readouterr()

    return answered


def test_one_formula_prints_its_value_alone(run_command: Said) -> None:
    rows = {
        ("=1/4",): "0.25",
        ("=2*3",): "6",
        ("=1/0",): "#DIV/0!",
        ('="a"&1',): "a1",
        ("=1=1",): "TRUE",
        ("={1,2;3,4}*2",): "2\t4\n6\t8",
        ("=SUM(A1:A3)*rate", "--set", "A1:A3=[1,2,3]", "--set", "rate=5%"): "0.3",
        ("=x", "--set", "x=1,234.5"): "1234.5",
        ("=x", "--set", "x=-1"): "-1",
        ("=LEN(x)", "--set", 'x="007"'): "3",
        ("=x", "--set", 'x="say ""no"""'): 'say "no"',
        ("=x&y", "--set", "x=a=b", "--set", "y="): "a=b",
        ("=NOT(x)", "--set", "x=true"): "FALSE",
        ("=d+1", "--set", "d=2026-03-31"): "2026-04-01",
        ("=d+1", "--set", "d=31.12.2024", "--locale", "de-DE"): "2025-01-01",
        ("=x*2", "--set", "x=1.234,5", "--locale", "de-DE"): "2469",
        ("=x", "--set", "x=\x1b[31mred"): "?[31mred",
        ("=x", "--set", 'x=" a  b"'): " a  b",
    }
    wrong = {
        arguments: answer
        for arguments, text in rows.items()
        if (answer := run_command(*arguments)) != (0, f"{text}\n", "")
    }
    assert not wrong


def test_several_are_rows_with_their_faults_in_their_places(run_command: Said) -> None:
    code, out, _ = run_command("=1+1", "=1+", "=A1", "--json")
    first, second, third = json.loads(out)["results"]
    assert (code, first) == (1, {"cell": None, "formula": "=1+1", "value": 2.0, "type": "number", "error": None})
    assert second["error"].startswith("a value is expected")
    assert third["error"] == "no value was given for A1: give it by --set A1=..."
    code, out, _ = run_command("=1+1", "=2+2", "--format", "csv")
    assert (code, out) == (0, "cell,formula,value,type,error\r\n,'=1+1,2,number,\r\n,'=2+2,4,number,\r\n")
    steps = json.loads(run_command("=SUM(1,2)*3", "--explain", "--json")[1])["results"][0]["trace"]
    assert [step["value"] for step in steps] == [3.0, 9.0]


def test_lists_and_documents_come_from_files_or_the_standard_input(
    run_command: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "formulas.txt").write_text("=A1*2\n\n  =A1&B1\r\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"A1": 3, "B1": "x"}')))
    code, out, _ = run_command(
        "--file", tmp_path / "formulas.txt", "--context", "-", "--set", "B1=y", "--format", "csv"
    )
    assert (code, out.splitlines()[1:]) == (0, [",'=A1*2,6,number,", ",'=A1&B1,3y,string,"])
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "latin.txt").write_bytes(b"\xff")
    refusals = {
        (): "no formula",
        ("=1", "--set", "x"): "NAME=VALUE",
        ("=x", "--set", "x=[1,"): "no JSON list",
        ("=x", "--set", "x=[[1,2],[3]]"): "equally long",
        ("=1", "--context", tmp_path / "list.json"): "JSON object",
        ("=1", "--context", tmp_path / "none.json"): "No such file",
        ("--file", tmp_path / "latin.txt"): "UTF-8",
        ("--file", "-", "--context", "-"): "standard input",
        ("=1", "--cell", "A1"): "--book",
        ("=1", "--locale", "xx"): "no locale",
        ("=SUMM(1)",): "did you mean",
        ("=1", "--book", tmp_path / "none.xlsx"): "No such file",
    }
    for arguments, reason in refusals.items():
        code, out, answer = run_command(*arguments)
        assert (code, out, answer.count("\n")) == (2, "", 1), arguments
        assert reason in answer, arguments


def test_a_workbooks_cells_are_read_changed_and_calculated_anew(run_command: Said, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        inputs, page = book.add_worksheet("In puts"), book.add_worksheet("S")
        inputs.write("A1", 5)
        page.write_formula("A1", "='In puts'!A1*2", None, 10)
        page.write_formula("A2", "=A1+1", None, 11)
    before = path.read_bytes()
    assert run_command("=A2*10", "--book", path, "--sheet", "S")[1] == "110\n"
    code, out, _ = run_command(
        "--book", path, "--cell", "S!A2", "--set", "'In puts'!A1=7", "=S!A1+x", "--set", "x=1", "--json"
    )
    results = json.loads(out)["results"]
    assert [(result["cell"], result["formula"], result["value"]) for result in results] == [
        ("S!A2", "=A1+1", 15.0), (None, "=S!A1+x", 15.0),
    ]  # fmt: skip
    assert (code, path.read_bytes()) == (0, before)
    assert run_command("--book", path, "--cell", "Nowhere!A1")[0] == 2
