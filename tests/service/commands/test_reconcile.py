"""The reconcile command, run as a user runs it.

Real tapes, broken files, swapped files, pipes and a terminal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from core.generate import generate, generate_tape

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]

HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Spread", "Maturity Date")
ACME = ("037833100", "Acme Corp.", 1_000_000.0, 350.0, "2031-06-30")
BETA = ("594918104", "Beta LLC", 2_000_000.0, 400.0, "2030-12-31")


def written(path: Path, *rows: tuple[Any, ...], sheet: str = "Holdings") -> Path:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape with its holdings and answers, and two small workbooks."""
    path = tmp_path_factory.mktemp("tapes")
    tape = generate_tape(generate(200, 7), "trustee_a", 7)
    tape.write(path / "tape.xlsx")
    tape.deal.write(path / "holdings.xlsx")
    tape.write_answers(path / "answers.json")
    written(path / "small.xlsx", HEADER, ACME, BETA)
    written(path / "spread.xlsx", HEADER, ACME, (*BETA[:3], 425.0, BETA[4]))
    return path


def test_the_json_has_every_issue_that_the_answers_promise(cushion: Cushion, folder: Path) -> None:
    answer = cushion("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx", "--json", "--trustee", "trustee_a")
    assert (answer.returncode, answer.stderr) == (1, "")
    document = json.loads(answer.stdout)
    assert list(document) == [
        "tape", "holdings", "summary", "stages", "ambiguous", "warnings", "not_compared", "by_severity", "by_category",
        "issues",
    ]  # fmt: skip
    expected = Counter(
        (row["identifier"], row["field"], row["severity"])
        for row in json.loads((folder / "answers.json").read_text())
        if row["severity"] != "none"
    )
    issues = document["issues"]
    assert Counter((row["primary_identifier"], row["field_name"], row["severity"]) for row in issues) == expected
    assert document["by_severity"] == dict(Counter(row["severity"] for row in issues).most_common())
    assert sum(document["by_category"].values()) == document["summary"]["issues_found"] == len(issues)
    assert document["summary"]["total_loans_compared"] == 201
    assert (document["tape"], document["holdings"]) == (str(folder / "tape.xlsx"), str(folder / "holdings.xlsx"))


def test_the_tables_are_plain_in_a_pipe(cushion: Cushion, folder: Path) -> None:
    answer = cushion("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx", "--limit", "3")
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "\x1b" not in answer.stdout
    lines = [line.rstrip() for line in answer.stdout.splitlines()]
    assert max(len(line) for line in lines if not line.startswith("warning")) <= 100
    assert lines[0] == "tape.xlsx against holdings.xlsx"
    at = lines.index("201 loans: 197 matched, 1 only on the tape, 3 only in the holdings")
    assert lines[at + 1].startswith("matched by CUSIP ")
    assert sum(line.startswith("critical ") for line in lines) == 3
    issues = [row for row in json.loads((folder / "answers.json").read_text()) if row["severity"] != "none"]
    count = Counter(row["severity"] for row in issues)
    assert lines[-1] == f"{len(issues)} issues: " + ", ".join(
        f"{count[severity]} {severity}" for severity in ("critical", "error", "warning", "info")
    )
    assert f"... and {len(issues) - 3} more (--limit shows more of them, --json and --format csv all)" in lines


def test_equal_files_have_no_issue(cushion: Cushion, folder: Path) -> None:
    answer = cushion("reconcile", folder / "tape.xlsx", folder / "tape.xlsx")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.splitlines()[-1] == "0 issues: 0 critical, 0 error, 0 warning, 0 info"
    document = json.loads(cushion("reconcile", folder / "tape.xlsx", folder / "tape.xlsx", "--json").stdout)
    assert (document["issues"], document["by_severity"]) == ([], {})


def test_warnings_alone_are_no_failure(cushion: Cushion, folder: Path) -> None:
    answer = cushion("reconcile", folder / "spread.xlsx", folder / "small.xlsx")
    assert answer.returncode == 0, answer.stdout
    (line,) = (line for line in answer.stdout.splitlines() if line.startswith("warning  ") and "594918104" in line)
    assert line.split() == ["warning", "594918104", "Beta", "LLC", "spread", "425", "400"]
    assert answer.stdout.splitlines()[-1] == "1 issue: 0 critical, 0 error, 1 warning, 0 info"


@pytest.mark.parametrize("options", [["--tolerance", "spread=25"], ["--rules", "par_value,rating", "maturity_date"]])
def test_a_tolerance_or_fewer_rules_find_less(cushion: Cushion, folder: Path, options: list[str]) -> None:
    answer = cushion("reconcile", folder / "spread.xlsx", folder / "small.xlsx", *options)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1].startswith("0 issues: ")


def test_several_tolerances_are_taken(cushion: Cushion, folder: Path) -> None:
    options = ["--tolerance", "spread=24.5,par_value=5", "--tolerance", "price=1", "maturity_date=3"]
    answer = cushion("reconcile", folder / "spread.xlsx", folder / "small.xlsx", *options)
    assert answer.stdout.splitlines()[-1].startswith("1 issue: ")


def test_a_limit_of_none_prints_the_counts_alone(cushion: Cushion, folder: Path) -> None:
    answer = cushion("reconcile", folder / "spread.xlsx", folder / "small.xlsx", "--limit", "0")
    assert "594918104" not in answer.stdout
    assert "calculation" in answer.stdout


def test_a_missing_loan_tells_on_which_side(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    item = written(tmp_path / "one.xlsx", HEADER, ACME)
    answer = cushion("reconcile", item, folder / "small.xlsx")
    assert answer.returncode == 1
    assert "missing in trustee" in answer.stdout
    answer = cushion("reconcile", folder / "small.xlsx", item)
    assert answer.returncode == 1
    assert "missing in internal" in answer.stdout


def test_figures_have_their_thousands_apart(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    answer = cushion("reconcile", written(tmp_path / "one.xlsx", HEADER, ACME), folder / "small.xlsx")
    assert "2,000,000" in answer.stdout


def test_rows_that_were_left_out_are_told(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    gap = [(None,)] * 3
    path = written(tmp_path / "gap.xlsx", HEADER, ACME, *gap, BETA)
    answer = cushion("reconcile", path, folder / "small.xlsx")
    assert "warning  rows_after_end: tape: 1 row below the end of the table" in answer.stdout
    answer = cushion("reconcile", folder / "small.xlsx", path, "--json")
    by_code = {load["code"]: load["message"] for load in json.loads(answer.stdout)["warnings"]}
    assert by_code["rows_after_end"].startswith("holdings: 1 ")


def test_files_in_the_wrong_order_are_noticed(cushion: Cushion, folder: Path) -> None:
    remark = "is the tape really the first one?"
    assert remark in cushion("reconcile", folder / "holdings.xlsx", folder / "tape.xlsx").stdout
    assert remark not in cushion("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx").stdout
    document = json.loads(cushion("reconcile", folder / "holdings.xlsx", folder / "tape.xlsx", "--json").stdout)
    assert any(remark in warning["message"] for warning in document["warnings"])


def test_carried_values_of_formulas_are_compared(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "formulas.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("Holdings")
        page.write_row(0, 0, HEADER)
        for at, row in enumerate((ACME, BETA), 1):
            page.write_row(at, 0, row)
            page.write_formula(at, 2, f"={row[2] / 2}*2", None, row[2])
    answer = cushion("reconcile", path, folder / "small.xlsx")
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.splitlines()[-1].startswith("0 issues: ")


def test_loans_without_identifiers_match_by_name(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    nameless = written(tmp_path / "names.xlsx", HEADER[1:], ACME[1:], BETA[1:])
    answer = cushion("reconcile", nameless, folder / "small.xlsx")
    assert answer.returncode == 0, answer.stdout
    assert "matched by borrower and maturity 2" in answer.stdout


def test_text_from_a_file_cannot_steer_the_terminal(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    hostile = "Beta\u202e \u009b31m [red]LLC[/red]"
    path = written(tmp_path / "steer.xlsx", HEADER, ACME, (BETA[0], hostile, *BETA[2:]))
    answer = cushion("reconcile", path, folder / "small.xlsx")
    assert answer.returncode == 0, answer.stdout
    assert not {"\u202e", "\u009b", "\x1b"} & set(answer.stdout)
    assert "[red]" in answer.stdout
    text = cushion("reconcile", path, folder / "small.xlsx", "--json").stdout
    assert all(char.isprintable() or char == "\n" for char in text)
    assert [issue["trustee_value"] for issue in json.loads(text)["issues"]] == [hostile]


def test_files_that_cannot_be_read_are_one_line(refused: Refusal, folder: Path, tmp_path: Path) -> None:
    cases = {"renamed.xlsx": b"%PDF-1.7 not a workbook", "empty.xlsx": b"", "words.xlsx": b"a,b\n1,2\n"}
    cases["cut.xlsx"] = (folder / "tape.xlsx").read_bytes()[:5_000]
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        assert name in refused("reconcile", tmp_path / name, folder / "holdings.xlsx")
        assert name in refused("reconcile", folder / "tape.xlsx", tmp_path / name)
    assert "No such file" in refused("reconcile", tmp_path / "nothing.xlsx", folder / "holdings.xlsx")
    assert str(tmp_path) in refused("reconcile", tmp_path, folder / "holdings.xlsx")
    assert "HOLDINGS" in refused("reconcile", folder / "tape.xlsx")


def test_a_file_without_loans_is_refused_by_its_columns(refused: Refusal, folder: Path, tmp_path: Path) -> None:
    empty = written(tmp_path / "none.xlsx", HEADER, sheet="Loans")
    line = refused("reconcile", empty, folder / "small.xlsx")
    assert "none.xlsx: no loans on sheet 'Loans' below the columns 'Issuer Name', 'CUSIP', 'Maturity Date'" in line
    blank = written(tmp_path / "formulas.xlsx", HEADER, (*ACME[:2], '=""', *ACME[3:]))
    line = refused("reconcile", folder / "small.xlsx", blank)
    assert "formulas.xlsx: no loans on sheet 'Holdings'" in line
    assert "rows without par: 1" in line
    words = written(tmp_path / "words.xlsx", ("just", "some", "words"), sheet="Prose")
    line = refused("reconcile", folder / "small.xlsx", words)
    assert "words.xlsx: no loans: no sheet has a header" in line
    assert "'Prose'" in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rules", "par_value,colour"], "unknown rule(s) colour: choose from par_value"),
        (["--rules", "\x1b[31m"], "unknown rule(s)"),
        (["--tolerance", "spread"], "--tolerance takes rule=number, such as spread=10, not 'spread'"),
        (["--tolerance", "spread=wide"], "--tolerance takes rule=number"),
        (["--tolerance", "spread=nan"], "--tolerance takes rule=number"),
        (["--tolerance", "spread=-1"], "the tolerance of spread must be a number from 0 on"),
        (["--tolerance", "spread=1,price=2,spread=3"], "--tolerance names spread twice"),
        (["--rules", ","], "no rule is asked for: choose from par_value"),
        (["--tolerance", "spread=inf"], "--tolerance takes rule=number, such as spread=10, not 'spread=inf'"),
        (["--tolerance", "rating=1"], "no tolerance can be set for 'rating'"),
        (["--trustee", "trustee_d"], "trustee_d"),
        (["--limit", "-1"], "--limit must be between 0 and 10,000, not -1"),
        (["--limit", "10001"], "not 10,001"),
        (["--json", "--nonsense"], "--nonsense"),
    ],
)
def test_options_that_make_no_sense_are_one_line(
    refused: Refusal, folder: Path, options: list[str], words: str
) -> None:
    assert words in refused("reconcile", folder / "small.xlsx", folder / "spread.xlsx", *options)


def test_the_help_names_every_rule(cushion: Cushion) -> None:
    from core.reconciliation import RULES

    text = cushion("reconcile", "--help").stdout
    assert all(rule in text for rule in RULES)


def test_a_terminal_sees_progress_on_stderr_alone(
    on_a_terminal: Callable[..., tuple[str, str, int]], folder: Path
) -> None:
    out, seen, code = on_a_terminal("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx", "--limit", "1")
    assert code == 1
    assert "issues: " in out.splitlines()[-1]
    assert "Reading tape.xlsx" in seen


def test_a_reader_who_leaves_is_no_traceback(started: Callable[..., Popen[str]], folder: Path) -> None:
    process = started("reconcile", folder / "tape.xlsx", folder / "holdings.xlsx", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 2
    assert process.stderr.read() == ""
    process.stderr.close()
