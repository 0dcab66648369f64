"""Where tasks run: every result once, failures, an early end, and addresses where nothing answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from service.commands.batch.engines import AHEAD, LocalEngine, open_engine
from service.commands.refusal import Refused
from tests.conftest import free_port


def halved(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def test_every_task_has_its_result_once() -> None:
    engine = LocalEngine(3)
    assert sorted(engine.results(halved, range(0, 100, 2))) == [(at, at) for at in range(50)]
    assert list(engine.results(halved, [])) == []
    assert engine.on_each_host(lambda: 1) == {}
    engine.close()


def test_a_failure_is_raised_or_made_a_result() -> None:
    engine = LocalEngine(2)
    answers = dict(engine.results(halved, [2, 3, 4], lambda task, error: -task))
    assert answers == {0: 1, 1: -3, 2: 2}
    with pytest.raises(ValueError, match="3 is odd"):
        list(engine.results(halved, [3]))
    engine.close()


def test_only_a_few_tasks_wait_and_an_end_drops_them() -> None:
    stop, begun = threading.Event(), list[int]()

    def wait_for(number: int) -> int:
        begun.append(number)
        if number:
            assert stop.wait(20)
        return number

    engine = LocalEngine(2, stop.set)
    results = engine.results(wait_for, range(1000))
    assert next(results) == (0, 0)
    began = time.monotonic()
    engine.close()
    assert time.monotonic() - began < 10
    assert len(begun) <= 2 * AHEAD + 1


@pytest.mark.parametrize("address", ["dask://", "dask://host", "tcp://a:1", "dask://a:b", "localhost:8786"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(Refused, match=r"--engine is dask://HOST:PORT or ray://HOST:PORT, not "):
        open_engine(address, 1)


def test_what_does_not_answer_or_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.commands.batch.engines.CONNECT_SECONDS", 1)
    with pytest.raises(Refused, match=r"no dask scheduler answers at 127\.0\.0\.1:"):
        open_engine(f"dask://127.0.0.1:{free_port()}", 1)
    missing: Callable[[], object] = lambda: open_engine("ray://127.0.0.1:10001", 1)  # noqa: E731
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(Refused, match="pip install ray"):
        missing()
