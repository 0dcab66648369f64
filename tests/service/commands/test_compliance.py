"""The compliance command, run as a user runs it.

Real files, broken files, and a reader who leaves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import CompletedProcess, Popen

import openpyxl
import pytest

from core.generate import generate

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]
Starter = Callable[..., Popen[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean deal, one with a breach, and one without notes."""
    path = tmp_path_factory.mktemp("deals")
    generate().write(path / "clean.xlsx")
    generate(faults=["breach_ccc"]).write(path / "breach.xlsx")
    book = openpyxl.load_workbook(path / "clean.xlsx")
    del book["Tranches"]
    book.save(path / "no notes.xlsx")
    return path


def test_compliance_prints_a_plain_table_into_a_pipe(cushion: Cushion, folder: Path) -> None:
    answer = cushion("compliance", folder / "clean.xlsx", "--suite", "enhanced")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert "\x1b" not in answer.stdout
    assert max(len(line) for line in lines if not line.startswith(("warning", "doubt"))) <= 100
    assert lines[0] == "clean.xlsx, enhanced suite, as of 2026-03-31"
    assert lines[-1] == "25 tests: 25 passed, 0 warnings, 0 failed, 0 skipped"
    assert sum(line.endswith("PASS") for line in map(str.rstrip, lines)) == 25


def test_a_failing_test_is_a_result_not_an_error(cushion: Cushion, folder: Path) -> None:
    answer = cushion("compliance", folder / "breach.xlsx")
    assert answer.returncode == 0, answer.stderr
    (line,) = (line for line in answer.stdout.splitlines() if line.rstrip().endswith("FAIL"))
    assert line.startswith("CCC/Caa bucket")


def test_skipped_tests_tell_their_reason(cushion: Cushion, folder: Path) -> None:
    answer = cushion("compliance", folder / "no notes.xlsx")
    assert answer.returncode == 0, answer.stderr
    skipped = [line for line in answer.stdout.splitlines() if line.startswith("skipped")]
    assert len(skipped) == 3
    assert all("no tranche data: add a Tranches or Liabilities sheet" in line for line in skipped)
    assert answer.stdout.splitlines()[-1].endswith("0 failed, 3 skipped")


def test_json_is_one_document(cushion: Cushion, folder: Path) -> None:
    answer = cushion("compliance", folder / "no notes.xlsx", "--suite", "enhanced", "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    document = json.loads(answer.stdout)
    assert list(document) == [
        "file", "suite", "as_of", "as_of_source", "warnings", "interpretation", "summary", "results", "skipped",
    ]  # fmt: skip
    assert (document["as_of"], document["as_of_source"]) == ("2026-03-31", "file")
    assert document["file"] == str(folder / "no notes.xlsx")
    assert document["suite"] == "enhanced"
    assert document["summary"] == {
        "total": 25, "passed": 20, "failed": 0, "warnings": 0, "skipped": 5, "doubtful": 0,
    }  # fmt: skip
    assert len(document["results"]) == 20
    assert {test["test_id"] for test in document["skipped"]} == {
        "oc_ratio", "oc_ratio_senior", "ic_ratio", "ic_ratio_senior", "interest_diversion_ratio",
    }  # fmt: skip
    assert all(result["status"] == "pass" for result in document["results"])


def test_a_workbook_without_a_date_is_taken_as_of_the_day_of_its_file(
    cushion: Cushion, folder: Path, tmp_path: Path
) -> None:
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


def test_a_workbook_without_loans_is_refused_with_what_was_looked_for(refused: Refusal, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["just", "some", "words"])
    book.save(tmp_path / "words.xlsx")
    words = refused("compliance", tmp_path / "words.xlsx")
    assert "no loans" in words
    assert "names 3 fields of Standard CLO holdings" in words
    assert "'Sheet'" in words


def test_options_of_a_run(cushion: Cushion, refused: Refusal, folder: Path, tmp_path: Path) -> None:
    """The day and the limits are the caller's; the exit code says what he asks for."""
    file = folder / "clean.xlsx"
    answer = cushion(
        "compliance", file, "--as-of", "2026-04-30", "--threshold", "wal=5.5,was=9", "--mapping", "standard_clo",
        "--fail-on", "fail", "--json",
    )  # fmt: skip
    assert answer.returncode == 1, answer.stderr
    document = json.loads(answer.stdout)
    assert (document["as_of"], document["as_of_source"]) == ("2026-04-30", "request")
    held_to = {result["test_id"]: (result["threshold_value"], result["status"]) for result in document["results"]}
    assert held_to["wal"] == (5.5, "pass")
    assert held_to["was"] == (9.0, "fail")
    assert cushion("compliance", file, "--fail-on", "fail").returncode == 0
    near = document["results"][[*held_to].index("wal")]["current_value"] + 0.1
    assert cushion("compliance", file, "--threshold", f"wal={near}", "--fail-on", "fail").returncode == 0
    assert cushion("compliance", file, "--threshold", f"wal={near}", "--fail-on", "warning").returncode == 1
    (tmp_path / "deal.toml").write_text(
        '[[tests]]\nid = "all_of_it"\nname = "All loans"\ncategory = "portfolio"\n'
        'share = "=par_value>0"\nof = "par"\nmax = 50\n'
    )
    by_deal = cushion(
        "compliance", file, "--suite", "deal", "--deal", tmp_path / "deal.toml", "--fail-on", "fail", "--json"
    )
    assert by_deal.returncode == 1, by_deal.stderr
    assert [load["test_id"] for load in json.loads(by_deal.stdout)["results"]] == ["all_of_it"]
    (tmp_path / "wrong.toml").write_text("nonsense = 1")
    (tmp_path / "own.json").write_text('{"name": "x"}')
    for options, words in (
        (("--as-of", "31.4.2026"), "--as-of"),
        (("--threshold", "wal"), "id=number"),
        (("--threshold", "wal=nan"), "must be id=number"),
        (("--threshold", "none=1"), "Unknown test"),
        (("--mapping", tmp_path / "own.json"), "no mapping"),
        (("--suite", "deal"), "--deal"),
        (("--deal", tmp_path / "wrong.toml"), "no definition"),
        (("--mapping", tmp_path / "nothing.json"), "there is no such file"),
    ):
        assert words in refused("compliance", file, *options)


def test_what_makes_figures_doubtful_stands_above_them(cushion: Cushion, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    rows = [["Issuer Name", "Par Amount", "LoanX ID", "S&P Rating"], ["Acme", 1e6, "LX100001", "B"]]
    for row in [*rows, ["Bolt", 2e6, "LX100002", "NR"]]:
        book.active.append(row)
    notes = book.create_sheet("Tranches")
    for row in [["Class", "Current Balance"], ["A", 2_000.0], ["Sub", 500.0]]:
        notes.append(row)
    book.save(tmp_path / "doubtful.xlsx")
    for command in ("compliance", "map"):
        lines = cushion(command, tmp_path / "doubtful.xlsx").stdout.splitlines()
        actual_lines = [line for line in lines[:8] if line.startswith("warning")]
        assert any("par_scale" in line for line in actual_lines)
        assert any("no_rating" in line for line in actual_lines)
        document = json.loads(cushion(command, tmp_path / "doubtful.xlsx", "--json").stdout)
        assert {"par_scale", "no_rating"} <= {warning["code"] for warning in document["warnings"]}


def test_a_doubtful_test_ends_with_1_where_that_is_asked_for(cushion: Cushion, tmp_path: Path) -> None:
    """The file prints a fail where ours passes.

    A failing test counts for both, doubtful or not.
    """
    book = openpyxl.Workbook()
    for row in [["Issuer Name", "Par Amount", "LoanX ID", "Cov-Lite"], ["Acme", 1e6, "LX100001", "Yes"]]:
        book.active.append(row)
    book.active.append(["Bolt", 9e6, "LX100002", "No"])
    tests = book.create_sheet("Compliance Tests")
    tests.append(["Test", "Actual", "Trigger", "Result"])
    tests.append(["Cov-Lite Loans", 0.1, "<= 60.00%", "Fail"])
    tests.append(["Largest Obligor", 0.9, "<= 95.00%", "Pass"])
    for row in (2, 3):
        tests.cell(row, 2).number_format = "0.00%"
    book.save(tmp_path / "contradicted.xlsx")
    answer = cushion("compliance", tmp_path / "contradicted.xlsx", "--json")
    document = json.loads(answer.stdout)
    (lite,) = [result for result in document["results"] if result["test_id"] == "cov_lite_concentration"]
    assert (lite["status"], lite["doubtful"], lite["published"]["status"]) == ("pass", True, "fail")
    assert document["summary"]["doubtful"] >= 1

    def code(*options: str) -> int:
        limits = "single_obligor_concentration=99,top_5_concentration=101,non_senior_secured_concentration=101"
        return cushion("compliance", tmp_path / "contradicted.xlsx", "--threshold", limits, *options).returncode

    assert (code(), code("--fail-on", "fail"), code("--fail-on", "doubtful")) == (0, 0, 1)
    failing = ("--threshold", "cov_lite_concentration=1")
    assert code(*failing, "--fail-on", "doubtful") == 1


def test_files_that_cannot_be_read_are_one_line(refused: Refusal, folder: Path, tmp_path: Path) -> None:
    cases = {"renamed.xlsx": b"%PDF-1.7 not a workbook", "empty.xlsx": b"", "words.xlsx": b"no table\n"}
    cases["cut.xlsx"] = (folder / "clean.xlsx").read_bytes()[:5_000]
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        assert name in refused("compliance", tmp_path / name)
    assert "PDF" in refused("compliance", tmp_path / "renamed.xlsx")
    assert "No such file" in refused("compliance", tmp_path / "nothing.xlsx")
    assert str(tmp_path) in refused("compliance", tmp_path)
    assert "suite" in refused("compliance", folder / "clean.xlsx", "--suite", "none")


def test_a_reader_who_leaves_is_no_traceback(started: Starter, folder: Path) -> None:
    process = started("compliance", folder / "clean.xlsx", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 2
    assert process.stderr.read() == ""
    process.stderr.close()
