"""The pause between attempts.

Four times as long after each, never the same for two that failed together.
"""

from __future__ import annotations

from service.platform.config import Settings
from service.platform.work.attempt import LONGEST_PAUSE_SECONDS, pause_seconds
from tests.rows import every


@every(
    "tries, seconds", [(1, 5), (2, 20), (3, 80), (6, 5_120), (7, LONGEST_PAUSE_SECONDS), (20, LONGEST_PAUSE_SECONDS)]
)
def test_pauses_grow_within_a_fifth(tries: int, seconds: float) -> None:
    pauses = [pause_seconds(Settings(), tries) for _ in range(200)]
    assert 0.8 * seconds <= min(pauses) < 0.9 * seconds
    assert 1.1 * seconds < max(pauses) <= 1.2 * seconds


def test_a_deployment_may_have_none() -> None:
    assert pause_seconds(Settings(webhook_backoff_seconds=0), 3) == 0
