"""evaluate --book and recalc over workbooks with loops.

Iterated where they say so, else never stale without a word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from service.commands.cli import run
from tests.hand_made import Cell, data_table, write_book

LOOP: dict[str, Cell] = {"A1": 1000.0, "B1": "=A1+C1", "C1": "=B1*0.05", "D1": "=B1*10"}
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Said:
    def answered(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return answered


def written(tmp_path: Path, cells: Mapping[str, Cell], calculation: str = "", *, has_values: bool = True) -> Path:
    return write_book(tmp_path / "book.xlsx", cells, calculation=calculation, has_values=has_values)


def test_a_change_is_iterated_to_the_end(run_command: Said, tmp_path: Path) -> None:
    path = written(tmp_path, LOOP, 'iterate="1" iterateDelta="1E-9"')
    code, out, err = run_command("evaluate", "--book", path, "--set", "S!A1=2000", "--cell", "S!B1")
    assert (code, err) == (0, "")
    assert float(out) == pytest.approx(2000 / 0.95)


def test_what_did_not_converge_is_given_with_a_warning(run_command: Said, tmp_path: Path) -> None:
    path = written(tmp_path, {"A1": "=A1+D1", "D1": 1.0}, 'iterate="1" iterateCount="7"')
    call = ("evaluate", "--book", path, "--set", "D1=2", "--cell", "A1")
    code, out, err = run_command(*call)
    assert (code, out) == (0, "14\n")
    assert err.startswith("warning: iterative calculation did not converge: after 7 iterations")
    code, out, err = run_command(*call, "--json")
    document = json.loads(out)
    assert (code, err, document["results"][0]["value"]) == (0, "", 14)
    assert [text.split(":")[0] for text in document["warnings"]] == ["iterative calculation did not converge"]
    code, out, err = run_command(*call, "--format", "csv")
    assert out.splitlines()[1].startswith("A1,'=A1+D1,14")
    assert err.startswith("warning: iterative calculation did not converge")
    code, out, _ = run_command("recalc", path)
    assert (code, out.splitlines()[0]) == (0, "not converged  after 7 iterations: S!A1")


def test_without_iteration_a_cell_of_a_cycle_has_no_value(run_command: Said, tmp_path: Path) -> None:
    path = written(tmp_path, LOOP)
    code, out, err = run_command("evaluate", "--book", path, "--set", "A1=2000", "--cell", "s!$B$1")
    assert (code, out) == (2, "")
    assert err.startswith("cushion: circular reference: S!B1, S!C1 need each other's results")
    code, out, _ = run_command("evaluate", "--book", path, "--set", "A1=2000", "--cell", "C1", "--cell", "A1", "--json")
    body = json.loads(out)
    assert code == 1
    assert [(result["value"], result["type"]) for result in body["results"]] == [(None, "error"), (2000, "number")]
    assert len(body["warnings"]) == 1
    code, out, err = run_command("evaluate", "--book", path, "--set", "A1=2000", "--cell", "D1")
    assert (code, err.startswith("warning: circular reference: ")) == (0, True)
    assert "nor what depends on them are current" in err


def test_a_cycle_that_came_without_values_is_told_too(run_command: Said, tmp_path: Path) -> None:
    path = written(tmp_path, LOOP, has_values=False)
    code, _, err = run_command("evaluate", "--book", path, "--cell", "D1")
    assert (code, err.startswith("warning: circular reference: ")) == (0, True)


def test_a_data_table_follows_what_is_set(run_command: Said, tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 2.0, "C1": 10.0, "B3": "=A1*C1", "A4": 5.0, "A5": 7.0,
        "B4": data_table("B4:B5", column_input="A1"), "B5": 0.0, "B7": "=SUM(B4:B5)",
    }  # fmt: skip
    path = written(tmp_path, cells)
    call = ("evaluate", "--book", path, "--set", "C1=20", "--cell", "B4", "--cell", "B5", "--cell", "B7", "--json")
    body = json.loads(run_command(*call)[1])
    assert [result["value"] for result in body["results"]] == [100, 140, 240]
    assert "warnings" not in body


def test_precision_as_displayed_holds_for_what_is_set(run_command: Said, tmp_path: Path) -> None:
    path = written(tmp_path, {"A1": (1.0, "0.0"), "B1": ("=A1/7", "0.00"), "C1": "=B1*100"}, 'fullPrecision="0"')
    code, out, _ = run_command("evaluate", "--book", path, "--set", "A1=2.26", "--cell", "C1")
    assert (code, out) == (0, "33\n")
