"""The simulate command, run as a user runs it.

Trades as words and as a table, what is refused, the exit codes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from core.generate import generate
from service.commands.cli import run

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]

TABLE = """trade_type,par_value,borrower_name,price,rating_agency_a,rating_agency_b,industry,Recovery Rate
buy,"2,000,000",Nova Inc,99,B2,B,High Tech Industries,45

buy,90000000,Nova Inc,99.5,B2,B,High Tech Industries,
"""


@pytest.fixture(scope="module")
def deal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean deal of 200 loans."""
    path = tmp_path_factory.mktemp("deals") / "clean.xlsx"
    generate(loans=200).write(path)
    (path.parent / "trades.csv").write_text(TABLE)
    (path.parent / "odd.csv").write_text("trade_type,par_value,colour\nbuy,1,red\n")
    return path


def test_a_table_shows_every_test_before_and_after(cushion: Cushion, deal: Path) -> None:
    answer = cushion("simulate", deal, "--trades", deal.parent / "trades.csv", "--fail-on-new")
    assert (answer.returncode, answer.stderr) == (1, "")
    lines = [line.rstrip() for line in answer.stdout.splitlines()]
    assert max(len(line) for line in lines[:-1] if not line.startswith("warning")) <= 100
    assert lines[0] == "clean.xlsx, enhanced suite, 2 trades, as of 2026-03-31"
    (largest,) = (line for line in lines if line.startswith("Largest obligor"))
    assert largest.endswith("PASS > FAIL")
    assert lines[-1].startswith("2 trades: ")
    assert "new failure" in lines[-1]


def test_json_has_all_of_it(cushion: Cushion, deal: Path) -> None:
    answer = cushion(
        "simulate", deal, "--trade", "buy 1000000 BORROWER Nova Inc at 99 rating_agency_a=B2 spread=375", "--trade",
        "sell 1,000,000 nova inc at 99.5", "--suite", "standard", "--json",
    )  # fmt: skip
    assert (answer.returncode, answer.stderr) == (0, "")
    body = json.loads(answer.stdout)
    assert body["total_tests"] == len(body["results"]) == 15 - len(body["skipped"])
    assert body["new_failures"] == 0
    assert [warning["code"] for warning in body["warnings"]][:1] == ["trade_fields"]
    moved = {row["test_id"]: row["impact_direction"] for row in body["results"]}
    assert moved["oc_ratio"] == "improve"  # half a point of a million is earned


@pytest.mark.parametrize("amount", ["2500000", "2,500,000", "2_500_000", "2.5mm", "2.5m", "2500k", "2.5 mm"])
def test_amounts_as_people_write_them(capsys: pytest.CaptureFixture[str], deal: Path, amount: str) -> None:
    """All the same trade."""
    answer = []
    for written in ("2500000", amount):
        line = ["simulate", str(deal), "--trade", f"buy {written} BORROWER Nova Inc at 99 rating_agency_a=B2", "--json"]
        assert run(line) == 0
        answer.append(capsys.readouterr().out)
    assert answer[0] == answer[1]


def test_the_change_is_a_column_and_the_last_line_counts_what_is_shown(
    capsys: pytest.CaptureFixture[str], deal: Path
) -> None:
    """A small trade moves nearly every figure a little.

    Those that look the same are not called better.
    """
    line = ["simulate", str(deal), "--trade", "buy 10k BORROWER Nova Inc at 99 rating_agency_a=B2"]
    assert run([*line, "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["impact_summary"]
    assert exact["improve"] + exact["worsen"] > 15
    assert run([*line, "--format", "csv"]) == 0
    rows = [row for row in csv.DictReader(io.StringIO(capsys.readouterr().out)) if row["cushion_after"]]
    for row in rows:
        change = float(row["cushion_after"]) - float(row["cushion_before"])
        assert float(row["cushion_change"]) == pytest.approx(change, abs=1e-6)
    seen = sum(abs(float(row["cushion_change"])) >= 0.005 for row in rows)
    assert run(line) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Change" in next(line for line in lines if line.startswith("Test "))
    counts = [int(count) for count in re.findall(r"(\d+) (?:tests? improve|worsen|stay)", lines[-1])]
    assert (sum(counts), counts[0] + counts[1]) == (len(rows), seen)
    assert "to the decimals shown" in lines[-1]
    assert any("<0.01" in line for line in lines)


def test_what_cannot_be_traded_is_refused(refused: Refusal, deal: Path) -> None:
    rows = (
        (("--trade", "sell 1 CUSIP 999999999"), "trade 1: sells CUSIP 999999999, of which nothing is held"),
        (("--trade", "sell nothing"), "a trade is: buy or sell"),
        (("--trade", "swap 1 CUSIP 9"), "a trade is a buy or a sell, not 'swap'"),
        (("--trade", "sell much CUSIP 9"), "par_value must be an amount such as 1000000, 1,000,000,"),
        (("--trade", "sell 1,00 CUSIP 9"), "2.5mm or 500k, not '1,00'"),
        (("--trade", "sell 2.5 mmm CUSIP 9"), "of which nothing is held"),
        (("--trade", "sell 1 CUSIP 9 at 1m"), "price must be a number, not '1m'"),
        (("--trade", "sell 1 CUSIP 9 at par"), "price must be a number, not 'par'"),
        (("--trade", "sell 1 CUSIP"), "nothing names its loan"),
        (("--trade", "sell 1 a=b"), "nothing names its loan"),
        (("--trade", "buy 1 Nova colour=red"), "no field of a trade is called 'colour'"),
        (("--trade", "buy 1 Nova spread=1 spread=2"), "spread is given twice"),
        (("--trade", "buy 1e400 Nova"), "par_value must be an amount"),
        (("--trades", deal.parent / "odd.csv"), "line 2: no field of a trade is called 'colour'"),
        (("--trades", deal), "no text in UTF-8"),
        (("--trades", deal.parent / "none.csv"), "No such file"),
        ((), "no trades"),
        (("--trade", "sell 1 x", "--suite", "deal"), "the suite deal needs a definition"),
    )
    for options, words in rows:
        assert words in refused("simulate", deal, *options), options
