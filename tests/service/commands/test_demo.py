"""The demo: nothing of the service's log on the terminal, and at its end what to do next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from service.commands import cli, demo
from service.commands.cli import COMMANDS


def test_it_ends_with_what_to_do_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/cli.py"])
    first, *steps = demo.next_steps(None)
    assert first == "Next:"
    assert [line.split()[:2] for line in steps] == [
        ["cushion", word] for word in ("demo", "map", "compliance", "report", "serve", "--help")
    ]
    assert {line.split()[1] for line in steps} <= {*COMMANDS, "--help"}
    assert all(len(line) <= 100 for line in steps)
    own = demo.next_steps(Path("my deal.xlsx"))
    assert "  cushion compliance 'my deal.xlsx' " in own[2]
    assert not any("cushion demo" in line for line in own)


@pytest.mark.timeout(240)
def test_the_whole_way(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo"]) == 0
    out, said = capfd.readouterr()
    assert said == "", "the service's log stays in its file"
    lines = out.splitlines()
    assert lines[0].startswith("Cushion serves at http://127.0.0.1:")
    assert [line for line in lines if line.startswith(("15 tests: ", "25 tests: "))] != []
    assert "Next:" in lines


def test_a_service_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "python").write_text("#!/bin/sh\necho first >&2; echo 'no room left' >&2; exit 2\n")
    (tmp_path / "python").chmod(0o755)
    assert cli.run(["demo"]) == 2
    assert capsys.readouterr().err == "cushion: the service did not start: no room left\n"
