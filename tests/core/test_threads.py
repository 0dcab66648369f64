"""Threads: answers in order whatever their number, and what one of them raises."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core import threads as own_threads
from core.threads import by_threads, working


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_answers_come_in_the_order_of_what_was_asked(count: int) -> None:
    with working(count) as threads:
        assert threads.map(pow, range(7), [2] * 7) == [0, 1, 4, 9, 16, 25, 36]
        assert threads.map(pow, [], []) == []
        assert threads.both(pow, (2, 3), (3, 2)) == (8, 9)


def test_several_work_at_once() -> None:
    meeting = threading.Barrier(3, timeout=30)
    with working(3) as threads:
        threads.map(lambda _: meeting.wait(), range(3))


def test_one_is_the_caller() -> None:
    with working(1) as threads:
        assert set(threads.map(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}


@pytest.mark.parametrize("place", range(4))
def test_what_one_raises_is_raised(place: int) -> None:
    def work(at: int) -> None:
        if at == place:
            raise MemoryError(at)

    with working(2) as threads, pytest.raises(MemoryError):
        threads.map(work, range(4))


@pytest.mark.parametrize("count", range(6))
def test_shares_are_all_there_is(count: int) -> None:
    with working(3) as threads:
        firsts, lasts = threads.shares(count)
    assert [at for first, last in zip(firsts, lasts, strict=True) for at in range(first, last)] == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("threads", [1, 3])
def test_each_part_is_in_one_share(count: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_threads, "threads_for", lambda most: threads)
    parts: list[int] = []
    by_threads(lambda first, last: parts.extend(range(first, last)), count, threads)
    assert sorted(parts) == list(range(count))


def test_where_no_thread_is_to_be_had_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(own_threads, "threads_for", lambda most: 3)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    parts: list[int] = []
    by_threads(lambda first, last: parts.extend(range(first, last)), 6, 3)
    assert sorted(parts) == list(range(6))


def test_what_a_share_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(first: int, last: int) -> None:
        if last == 6:
            raise MemoryError

    monkeypatch.setattr(own_threads, "threads_for", lambda most: 3)
    with pytest.raises(MemoryError):
        by_threads(work, 6, 3)
