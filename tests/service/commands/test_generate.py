"""The generate command, run as a user runs it.

What it writes, what it refuses, and that nothing is left half done.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import openpyxl
import pytest

from core.generate import FAULTS, MESSY, REPORTS, generate, generate_tape
from tests.conftest import wait_until

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]
Starter = Callable[..., Popen[str]]


def test_the_help_of_generate_names_every_fault_and_habit(cushion: Cushion) -> None:
    text = cushion("generate", "--help").stdout
    for word in (*FAULTS, *MESSY):
        assert word in text, word


def test_generate_writes_where_it_says(cushion: Cushion, tmp_path: Path) -> None:
    out = tmp_path / "new" / "deals"
    answer = cushion("generate", "--out", out, "--loans", "250", "--seed", "3")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == f"{out / 'clo-250-3.xlsx'}\n"
    assert [file.name for file in out.iterdir()] == ["clo-250-3.xlsx"]
    assert openpyxl.load_workbook(out / "clo-250-3.xlsx")["Holdings"].max_row == 251


def test_generate_takes_several_faults_and_habits(cushion: Cushion, tmp_path: Path) -> None:
    answer = cushion(
        "generate", "--out", tmp_path, "--fault", "breach_obligor", "warn_wal", "--messy", "title_rows,blanks",
        "--messy", "totals_row",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert Path(answer.stdout.strip()).name == "clo-300-7-breach_obligor-warn_wal-messy.xlsx"
    rows = list(openpyxl.load_workbook(answer.stdout.strip(), data_only=True)["Holdings"].values)
    assert rows[0][0] == "Sample CLO 7-300"
    assert rows[-1][3] == "Total"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loans", "199"], "loans must be between 200 and 999,999, not 199"),
        (["--loans", "1000000"], "loans must be between 200 and 999,999, not 1,000,000"),
        (["--loans", "many"], "--loans"),
        (["--seed", "-1"], "seed must be between 0 and"),
        (["--fault", "breach_all"], "unknown fault 'breach_all': choose from breach_obligor"),
        (["--messy", "title_rows,\x1b[31mred"], "unknown messy '\\x1b[31mred'"),
        (["--format", "csv"], "--format"),
        (["--nonsense"], "--nonsense"),
        (["--report", "pages", "--messy", "blanks"], "--report goes with neither --tape nor --messy"),
        (["--report", "flat", "--loans", "100001"], "a report has at most 100,000 loans"),
    ],
)
def test_generate_refuses_what_it_cannot_make(
    refused: Refusal, tmp_path: Path, arguments: list[str], words: str
) -> None:
    assert words in refused("generate", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_generate_refuses_a_folder_that_is_a_file(refused: Refusal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    assert str(tmp_path / "file") in refused("generate", "--out", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "here first"


@pytest.mark.parametrize("options", [[], ["--tape", "trustee_b"]], ids=["deal", "with its tape"])
def test_an_interrupted_run_leaves_nothing_behind(started: Starter, tmp_path: Path, options: list[str]) -> None:
    process = started("generate", "--out", tmp_path, "--loans", "100000", *options)
    wait_until(lambda: process.poll() is not None or any(tmp_path.glob(".cushion-*")), seconds=60, what="its folder")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_sees_progress_on_stderr_alone(
    on_a_terminal: Callable[..., tuple[str, str, int]], tmp_path: Path
) -> None:
    out, seen, code = on_a_terminal("generate", "--out", tmp_path, "--loans", "6000")
    assert (out, code) == (f"{tmp_path / 'clo-6000-7.xlsx'}\n", 0)
    assert "Writing" in seen
    assert "/6000" in seen


def test_a_tape_comes_with_its_holdings_and_answers(cushion: Cushion, tmp_path: Path) -> None:
    answer = cushion("generate", "--out", tmp_path, "--loans", "250", "--seed", "3", "--tape", "trustee_b")
    assert (answer.returncode, answer.stderr) == (0, "")
    names = ["clo-250-3-trustee_b-holdings.xlsx", "clo-250-3-trustee_b-tape.xlsx", "answers.json"]
    assert answer.stdout.splitlines() == [str(tmp_path / name) for name in names]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    expected = generate_tape(generate(250, 3), "trustee_b", 3)
    expected.deal.write(tmp_path / "again.xlsx")
    assert (tmp_path / "again.xlsx").read_bytes() == (tmp_path / names[0]).read_bytes()
    expected.write(tmp_path / "again.xlsx")
    assert (tmp_path / "again.xlsx").read_bytes() == (tmp_path / names[1]).read_bytes()
    expected.write_answers(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / names[2]).read_bytes()


@pytest.mark.parametrize("manner", REPORTS)
def test_a_report_comes_with_its_answers(cushion: Cushion, tmp_path: Path, manner: str) -> None:
    answer = cushion("generate", "--out", tmp_path, "--loans", "200", "--report", manner)
    name = f"clo-200-7-report-{manner}.{REPORTS[manner]}"
    assert answer.stdout.splitlines() == [str(tmp_path / name), str(tmp_path / "answers.json")]
    assert len(json.loads((tmp_path / "answers.json").read_text())["loans"]) == 200
    read = cushion("compliance", tmp_path / name)
    assert read.returncode == 0, read.stderr


def test_a_tape_takes_as_many_edits_as_asked(cushion: Cushion, tmp_path: Path) -> None:
    options = ["--tape", "trustee_a", "--edits", "4", "--fault", "breach_ccc", "--messy", "all"]
    answer = cushion("generate", "--out", tmp_path, *options)
    assert answer.returncode == 0, answer.stderr
    assert "clo-300-7-breach_ccc-messy-trustee_a-tape.xlsx" in answer.stdout
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert sum(row["edit"] == "spread_up_25" for row in answers) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tape", "trustee_d"], "trustee_d"),
        (["--tape", "trustee_a", "--edits", "-1"], "edits must be between 0 and 1,000, not -1"),
        (["--tape", "trustee_a", "--edits", "100"], "not enough for 100 edits of every kind"),
        (["--edits", "3"], "--edits needs --tape"),
    ],
)
def test_generate_refuses_a_tape_that_it_cannot_make(
    refused: Refusal, tmp_path: Path, arguments: list[str], words: str
) -> None:
    assert words in refused("generate", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()
