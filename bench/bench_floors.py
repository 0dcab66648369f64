"""The gate, behind all questions: nothing may fall under its floor in every run."""

from __future__ import annotations

import pytest

from bench.floors import AGAIN, gate, record
from bench.rows import TIMEOUT_SECONDS, Suite


@pytest.mark.timeout(10 * TIMEOUT_SECONDS)
def bench_floors(suite: Suite, request: pytest.FixtureRequest) -> None:
    """What fell is measured again after all others, since machines are shared.

    With `--record` all become floors.
    """
    if request.config.getoption("--record"):
        record({question.name: measured for question, measured in suite.lines() if question.floor})
        return
    for _ in range(AGAIN):
        suite.again()
    lines = [f"{name}, against {', '.join(against)}" for name, against in suite.fallen().items()]
    assert not lines, f"under {gate():.0%} of their floors in {1 + AGAIN} runs: {'; '.join(lines)}"
