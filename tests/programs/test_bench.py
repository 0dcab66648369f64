"""The suite's frame, by runs of pytest on questions of its own.

What is replayed, what fails, the gate.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.floors import AGAIN
from bench.questions import OURS

ROOT = Path(__file__).parents[2]

HEAD = """
from bench.questions import *
from bench.rows import asked

def given():
    return Prepared(works={"cushion": [0.25, 0.5, 0.125], "slow": [1.0, 2.0, 4.0], "less": [0.125]}, note="told")
"""


def ran(folder: Path, body: str, *options: str, ci: bool = False) -> tuple[int, str, list[dict[str, Any]]]:
    """A run of pytest on a module of questions.

    Its exit code, what it printed, and its rows.
    """
    (folder / "bench_some.py").write_text(HEAD + body)
    (folder / "conftest.py").write_text("from bench.conftest import *\n")
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(folder), "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT),
         "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--benchmark-json={folder / 'run.json'}", *options],
        capture_output=True, text=True, cwd=ROOT, env=kept | ({"CI": "1"} if ci else {}),
    )  # fmt: skip
    file = folder / "run.json"
    rows = json.loads(file.read_bytes())["benchmarks"] if file.exists() and file.stat().st_size else []
    return done.returncode, done.stdout + done.stderr, rows


def test_rows_replay_what_was_timed_and_ours_compares(tmp_path: Path) -> None:
    code, out, rows = ran(tmp_path, """
bench_it = asked(
    Question(name="q", prepare=given, peers=("slow",), bounds=("less",), ratio_least={"slow": 9.0}, seconds_most=1.0)
)
""")  # fmt: skip
    assert code == 0, out
    assert [(row["group"], row["extra_info"]["contender"]) for row in rows] == [
        ("q", OURS),
        ("q", "slow"),
        ("q", "less"),
    ]
    assert rows[0]["stats"]["data"] == [0.25, 0.5, 0.125]
    assert rows[1]["stats"]["median"] == 2.0
    extra_info = rows[0]["extra_info"]
    assert (extra_info["best_peer"], extra_info["ratio"], extra_info["ratios"]) == (
        "slow",
        8.0,
        {"slow": 8.0, "less": 0.5},
    )
    assert (extra_info["met"], extra_info["note"], extra_info["seconds"]) == (False, "told", 0.25)
    assert (extra_info["target"], extra_info["missed"]) == (">= 9 x slow, <= 1.00 s", ">= 9 x slow")


def test_answers_that_differ_fail_every_row(tmp_path: Path) -> None:
    code, out, rows = ran(
        tmp_path,
        """
def differing():
    assert 1 == 2, "the answers differ"

bench_it = asked(Question(name="q", prepare=differing, peers=("slow",)))
""",
    )
    assert code == 1
    assert "2 failed" in out
    assert "the answers differ" in out
    assert rows == []


@pytest.mark.parametrize(("ci", "wanted_text"), [(False, "1 skipped"), (True, "1 failed")])
def test_an_absent_peer_is_told_and_is_an_error_in_ci(tmp_path: Path, *, ci: bool, wanted_text: str) -> None:
    _, out, rows = ran(tmp_path, """
def without():
    return Prepared(works={"cushion": [1.0], "slow": LeftOut("node is absent")})

bench_it = asked(Question(name="q", prepare=without, peers=("slow",)))
""", ci=ci)  # fmt: skip
    assert wanted_text in out
    assert "node is absent" in out
    assert [row["extra_info"]["contender"] for row in rows] == [OURS]
    assert rows[0]["extra_info"]["best_peer"] is None


def test_data_are_shared_by_neighbours_and_left_and_quick_ones_are_chosen(tmp_path: Path) -> None:
    body = """
from contextlib import contextmanager

def shared():
    print("made")
    yield [2.0]
    print("freed")

made = contextmanager(shared)

def taken(data):
    return Prepared(works={"cushion": data})

bench_it = asked(
    *(Question(name=name, data=made, prepare=taken, quick=name == "b") for name in "abc"),
    Question(name="d", prepare=given, peers=("slow",), bounds=("less",)),
)
"""
    code, out, rows = ran(tmp_path, body, "-s")
    assert code == 0, out
    assert (out.count("made"), out.count("freed"), len(rows)) == (1, 1, 6)
    code, out, rows = ran(tmp_path, body, "--quick")
    assert [row["group"] for row in rows] == ["b"]


def test_the_gate_asks_again_and_fails_what_fell_each_time(tmp_path: Path) -> None:
    body = """
import bench.floors, bench.rows
bench.rows.load = lambda: {"falls": {"slow": [8.0]}, "recovers": {"slow": [8.0]}}
from bench.bench_floors import bench_floors

turns = []

def falling():
    return Prepared(works={"cushion": [1.0], "slow": [2.0]})

def recovering():
    turns.append(1)
    return Prepared(works={"cushion": [1.0], "slow": [2.0 * len(turns)]})

bench_it = asked(*(Question(name=name, prepare=make, peers=("slow",)) for name, make in %s))
"""
    code, out, _ = ran(tmp_path, body % '(("falls", falling), ("recovers", recovering))')
    assert code == 1
    assert f"in {1 + AGAIN} runs: falls, against slow" in out
    assert "recovers, against" not in out
    code, out, _ = ran(tmp_path, body % '(("recovers", recovering),)')
    assert code == 0, out


def test_what_has_no_floor_is_not_recorded(tmp_path: Path) -> None:
    code, out, rows = ran(tmp_path, """
import bench.bench_floors
bench.bench_floors.record = lambda measured: print("recorded", list(measured))
from bench.bench_floors import bench_floors

bench_it = asked(
    *(
        Question(name=name, prepare=given, peers=("slow",), bounds=("less",), floor=name == "held")
        for name in ("held", "told")
    )
)
""", "-s", "--record")  # fmt: skip
    assert code == 0, out
    assert "recorded ['held']" in out
    assert len(rows) == 6
