"""Commits that wait for a replica that is away: known while they wait, and after their caller has gone.

On real servers: tests/faults/test_hosts.py.
"""

from __future__ import annotations

import asyncio

import pytest

from service.platform.base.problem import Unavailable
from service.platform.data import stalled_commits
from service.platform.data.stalled_commits import StalledCommits


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalled_commits, "STALLED_SECONDS", 0.02)
    monkeypatch.setattr(stalled_commits, "LOOK_SECONDS", 0.02)


async def commit(stalled: StalledCommits, backend: int, seconds: float) -> None:
    """Commit for so long, and fail."""
    async with stalled.watch(backend) as committing:
        committing()
        await asyncio.sleep(seconds)
        raise Unavailable


async def nobody_waits(backends: list[int]) -> int:
    return 0


def test_a_commit_that_takes_long_is_one() -> None:
    async def run() -> None:
        stalled = StalledCommits(nobody_waits)
        async with stalled.watch(1):  # statements may take long
            await asyncio.sleep(0.05)
            assert not stalled
        async with stalled.watch(1) as committing:
            committing()
            assert not stalled
            await asyncio.sleep(0.05)
            assert stalled
        assert not stalled

    asyncio.run(run())


def test_a_failure_that_comes_soon_is_none() -> None:
    async def run() -> None:
        stalled = StalledCommits(nobody_waits)
        with pytest.raises(Unavailable):
            await commit(stalled, 1, 0)
        await asyncio.sleep(0.05)
        assert not stalled

    asyncio.run(run())


def test_a_commit_that_was_given_up_is_one_until_the_server_is_done() -> None:
    """A server that does not answer has not said so."""
    answers: list[int | Unavailable] = [1, Unavailable(), 1, 0]
    asked = []

    async def count(backends: list[int]) -> int:
        asked.append(backends)
        answer = answers.pop(0)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    async def run() -> None:
        stalled = StalledCommits(count)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(commit(stalled, 7, 5), 0.05)
        while answers:
            assert stalled
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        assert not stalled
        stalled.close()

    asyncio.run(run())
    assert asked == [[7]] * 4
