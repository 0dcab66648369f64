"""The floors of the suite.

What each question came to in its last recorded runs, and which of a run's fell beneath.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

import msgspec

from bench.machine import cpu
from bench.questions import Measured

FILE = Path(__file__).with_name("floors.json")
PROCESSOR = "AMD EPYC"
"""On which the recorded runs ran."""
GATE, GATE_ELSEWHERE = 0.6, 0.35
"""A score under this share of its floor has fallen. On other processors ours and peers gain unequally."""
RUNS_KEPT = 5
"""A floor is the median of its last runs: one lucky run would be a gate that honest ones do not pass."""
AGAIN = 5
"""Further runs of a question that fell, after all others: what disturbed it may be over by then."""

Runs = dict[str, dict[str, list[float]]]
"""Scores by question and by what ours was held against, the last run last."""


def load(file: Path = FILE) -> Runs:
    """The recorded runs."""
    return msgspec.json.decode(file.read_bytes(), type=Runs)


def shares(runs: Runs, question: str, measured: Measured) -> dict[str, float]:
    """Each score of a question over its floor, where it has one."""
    kept = runs.get(question, {})
    return {name: score / median(kept[name]) for name, score in measured.scores.items() if name in kept}


def gate() -> float:
    """Return the gate of this processor."""
    return GATE if cpu() == PROCESSOR else GATE_ELSEWHERE


def fallen(runs: Runs, question: str, measurings: list[Measured]) -> list[str]:
    """What ours fell against in each of several runs."""
    least = gate()
    runs_shares = [shares(runs, question, measured) for measured in measurings]
    return [name for name in runs_shares[0] if all(share[name] < least for share in runs_shares if name in share)]


def record(measured: dict[str, Measured], file: Path = FILE) -> None:
    """Add a run's scores."""
    runs = load(file)
    for question, measurement in measured.items():
        kept = runs.setdefault(question, {})
        for name, score in measurement.scores.items():
            kept[name] = [*kept.get(name, []), float(f"{score:.4g}")][-RUNS_KEPT:]
    ordered = {question: dict(sorted(kept.items())) for question, kept in sorted(runs.items())}
    file.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=2) + b"\n")
