"""Signs of life: on a terminal with a rate, and a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.generate import generate
from service.commands import progress
from service.commands.progress import counting


def test_work_with_a_rate_says_now_and_then_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = iter([0.0, 10.0, 40.0, 50.0, 80.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(moments))
    with counting("Deals", 100, rate="a second") as advance:
        for _ in range(4):
            advance(20)
    assert capsys.readouterr().err.splitlines() == [
        "Deals: 40 of 100, 1.0 a second, 0:01:00 left",
        "Deals: 80 of 100, 1.0 a second, 0:00:20 left",
    ]


def test_other_work_says_nothing_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("Comparing", 2) as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar_with_the_rate(
    on_a_terminal: Callable[..., tuple[str, str, int]], tmp_path: Path
) -> None:
    for seed in range(3):
        generate(200, seed).write(tmp_path / f"{seed}.xlsx")
    answer, seen, code = on_a_terminal("batch", tmp_path, "--out", tmp_path / "out", "--format", "csv")
    assert code == 0, seen
    assert answer.splitlines()[-1].endswith("results.csv")
    assert "a second" in seen
    assert "3/3" in seen
