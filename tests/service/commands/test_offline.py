"""The offline commands, run as a user runs them: real files, broken files, pipes and a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path

import openpyxl
import pytest

import core
from core.generate import FAULTS, MESSY, generate

ROOT = Path(__file__).parents[3]


def cushion(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service.cli", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def refused(*arguments: str | Path) -> str:
    """The one line that a refused command says; nothing else is printed, and the exit code is 2."""
    answer = cushion(*arguments)
    assert answer.returncode == 2, answer
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("cushion: ")
    return line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean deal, one with a breach, and one without notes."""
    made = tmp_path_factory.mktemp("deals")
    generate().write(made / "clean.xlsx")
    generate(faults=["breach_ccc"]).write(made / "breach.xlsx")
    book = openpyxl.load_workbook(made / "clean.xlsx")
    del book["Tranches"]
    book.save(made / "no notes.xlsx")
    return made


def test_help_answers_without_the_heavy_libraries() -> None:
    script = """
import sys
from service.cli import run
run(["--help"])
print(sorted({"numpy", "core"} & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert "compliance" in answer.stdout
    assert "Exit codes" in answer.stdout
    assert answer.stdout.splitlines()[-1] == "[]"


def test_the_help_of_generate_names_every_fault_and_habit() -> None:
    text = cushion("generate", "--help").stdout
    for word in (*FAULTS, *MESSY):
        assert word in text, word


def test_generate_writes_where_it_says(tmp_path: Path) -> None:
    out = tmp_path / "new" / "deals"
    answer = cushion("generate", "--out", out, "--loans", "250", "--seed", "3")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == f"{out / 'clo-250-3.xlsx'}\n"
    assert [file.name for file in out.iterdir()] == ["clo-250-3.xlsx"]
    assert openpyxl.load_workbook(out / "clo-250-3.xlsx")["Holdings"].max_row == 251


def test_generate_takes_several_faults_and_habits(tmp_path: Path) -> None:
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
    ],
)
def test_generate_refuses_what_it_cannot_make(tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in refused("generate", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_generate_refuses_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    assert str(tmp_path / "file") in refused("generate", "--out", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "here first"


def test_the_version_is_the_librarys() -> None:
    assert cushion("--version").stdout == f"{core.__version__}\n"


def test_serve_refuses_what_its_processes_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSHION_BLOB_URL", "ftp://host/x")
    assert "CUSHION_BLOB_URL" in refused("serve", "--port", "0")


def test_a_missing_or_unknown_command_is_no_traceback() -> None:
    assert "nosuch" in refused("nosuch")
    assert "--out" in refused("generate")
    assert "FILE" in refused("compliance")


def test_compliance_prints_a_plain_table_into_a_pipe(folder: Path) -> None:
    answer = cushion("compliance", folder / "clean.xlsx", "--suite", "enhanced")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert "\x1b" not in answer.stdout
    assert max(map(len, lines)) <= 100
    assert lines[0] == "clean.xlsx, enhanced suite"
    assert lines[-1] == "25 tests: 25 passed, 0 warnings, 0 failed, 0 skipped"
    assert sum(line.endswith("PASS") for line in map(str.rstrip, lines)) == 25


def test_a_failing_test_is_a_result_not_an_error(folder: Path) -> None:
    answer = cushion("compliance", folder / "breach.xlsx")
    assert answer.returncode == 0, answer.stderr
    (line,) = (line for line in answer.stdout.splitlines() if line.rstrip().endswith("FAIL"))
    assert line.startswith("CCC/Caa bucket")


def test_skipped_tests_tell_their_reason(folder: Path) -> None:
    answer = cushion("compliance", folder / "no notes.xlsx")
    assert answer.returncode == 0, answer.stderr
    skipped = [line for line in answer.stdout.splitlines() if line.startswith("skipped")]
    assert len(skipped) == 3
    assert all("no tranche data: add a Tranches or Liabilities sheet" in line for line in skipped)
    assert answer.stdout.splitlines()[-1].endswith("0 failed, 3 skipped")


def test_json_is_one_document(folder: Path) -> None:
    answer = cushion("compliance", folder / "no notes.xlsx", "--suite", "enhanced", "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    document = json.loads(answer.stdout)
    assert set(document) == {"file", "suite", "summary", "results", "skipped"}
    assert document["file"] == str(folder / "no notes.xlsx")
    assert document["suite"] == "enhanced"
    assert document["summary"] == {"total": 25, "passed": 20, "failed": 0, "warnings": 0, "skipped": 5}
    assert len(document["results"]) == 20
    assert {test["test_id"] for test in document["skipped"]} == {
        "oc_ratio", "oc_ratio_senior", "ic_ratio", "ic_ratio_senior", "interest_diversion_ratio",
    }  # fmt: skip
    assert all(result["status"] == "pass" for result in document["results"])


def test_a_workbook_without_a_date_is_taken_as_of_the_day_of_its_file(folder: Path, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(folder / "clean.xlsx")
    del book["Deal"]
    book.save(tmp_path / "dateless.xlsx")

    def average_life(day: date) -> float:
        moment = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
        os.utime(tmp_path / "dateless.xlsx", (moment, moment))
        document = json.loads(cushion("compliance", tmp_path / "dateless.xlsx", "--json").stdout)
        (life,) = (result["current_value"] for result in document["results"] if result["test_id"] == "wal")
        return float(life)

    # Nothing of the book matures before June 2026, so three months more are three months off every life.
    later, sooner = average_life(date(2026, 4, 30)), average_life(date(2026, 1, 30))
    assert sooner - later == pytest.approx(90 / 365.25, abs=1e-6)


def test_a_workbook_without_holdings_skips_every_test(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["just", "some", "words"])
    book.save(tmp_path / "words.xlsx")
    answer = cushion("compliance", tmp_path / "words.xlsx")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "15 tests: 0 passed, 0 warnings, 0 failed, 15 skipped"


def test_files_that_cannot_be_read_are_one_line(folder: Path, tmp_path: Path) -> None:
    cases = {"renamed.xlsx": b"%PDF-1.7 not a workbook", "empty.xlsx": b"", "words.xlsx": b"a,b\n1,2\n"}
    cases["cut.xlsx"] = (folder / "clean.xlsx").read_bytes()[:5_000]
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        assert name in refused("compliance", tmp_path / name)
    assert "PDF" in refused("compliance", tmp_path / "renamed.xlsx")
    assert "No such file" in refused("compliance", tmp_path / "nothing.xlsx")
    assert str(tmp_path) in refused("compliance", tmp_path)
    assert "suite" in refused("compliance", folder / "clean.xlsx", "--suite", "none")


def test_a_reader_who_leaves_is_no_traceback(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "service.cli", "compliance", str(folder / "clean.xlsx"), "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 2
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "service.cli", "generate", "--out", str(tmp_path), "--loans", "100000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60.0
    while not any(tmp_path.glob(".cushion-*")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def on_a_terminal(arguments: list[str | Path], **environment: str) -> tuple[str, str]:
    """Stdout of a pipe, and what a terminal on stderr saw."""
    watcher, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "service.cli", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"} | environment,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    seen = bytearray()
    try:
        while block := os.read(watcher, 65_536):
            seen += block
    except OSError:  # how a pty says that its other end is closed
        pass
    os.close(watcher)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out, seen.decode()


def test_a_terminal_sees_progress_on_stderr_alone(tmp_path: Path) -> None:
    out, seen = on_a_terminal(["generate", "--out", tmp_path, "--loans", "6000"])
    assert out == f"{tmp_path / 'clo-6000-7.xlsx'}\n"
    assert "Writing" in seen
    assert "/6000" in seen
