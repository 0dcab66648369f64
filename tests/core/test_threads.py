"""Threads: answers in order whatever their number, and what one of them raises."""

from __future__ import annotations

import threading

import pytest

from core.threads import working


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
