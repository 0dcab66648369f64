"""What the suite's frame does in one process: targets, turns, floors."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec.structs import replace

from bench.floors import fallen, record, shares
from bench.questions import OURS, YARDSTICK, Measured, Measuring, Prepared, Question, Work, timed_in_turn


def test_a_question_without_a_target_aims_at_its_peers() -> None:
    question = Question(name="q", prepare=_thread_count, peers=("slow",), bounds=("less",))
    assert question.ratio_targets == {"slow": 1.0}
    assert replace(question, seconds_most=1.0).ratio_targets == {}
    assert replace(question, ratio_least={"less": 0.5}).ratio_targets == {"less": 0.5}


def test_turns_alternate_and_a_slow_peer_has_fewer() -> None:
    answer: list[str] = []
    works = {name: Work(lambda name=name: answer.append(name), turns=turns) for name, turns in (("a", None), ("b", 1))}
    taken = timed_in_turn(works, repeats=3, warm=1, before=lambda: answer.append("-"))
    assert answer == ["-", "a", "-", "b", "a", "-", "a", "-", "a"]
    assert [len(times) for times in taken.values()] == [3, 1]


def test_floors_are_medians_of_the_last_runs(tmp_path: Path) -> None:
    def measured(ours: float, yardstick: float | None = None) -> Measured:
        samples = {OURS: [ours]} if yardstick else {OURS: [ours], "slow": [1.0]}
        return Measured(samples=samples, left_out={}, note="", facts={}, yardstick_seconds=yardstick)

    file = tmp_path / "floors.json"
    file.write_text("{}")
    for ours in (0.5, 0.25, 0.25, 0.125, 1.0, 1.0):
        record({"q": measured(ours), "alone": measured(ours, 1.0)}, file)
    runs = json.loads(file.read_bytes())
    assert runs == {"alone": {YARDSTICK: [4.0, 4.0, 8.0, 1.0, 1.0]}, "q": {"slow": [4.0, 4.0, 8.0, 1.0, 1.0]}}
    assert shares(runs, "q", measured(0.5)) == {"slow": 0.5}
    assert fallen(runs, "q", [measured(1.0), measured(0.4)]) == []
    assert fallen(runs, "q", [measured(1.0), measured(1.0)]) == ["slow"]  # on any processor
    assert fallen(runs, "unknown", [measured(9.0)]) == []


def test_a_question_is_measured_apart_with_its_environment() -> None:
    question = Question(name="q", prepare=_thread_count, environment={"POLARS_MAX_THREADS": "2"})
    assert Measuring().measure(question).note == "2"


def _thread_count() -> Prepared:
    return Prepared(works={OURS: [1.0]}, note=os.environ["POLARS_MAX_THREADS"])
