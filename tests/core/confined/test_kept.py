"""Children that are kept: each piece of work is a fork that knows nothing of the others."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.confined.kept import KEPT_MAX, keeping_children
from core.confined.run import run
from core.confined.table import ConfinedWork
from tests.conftest import wait_until
from tests.core.confined.conftest import WORKING, trying


@pytest.fixture
def kept(module: Callable[[str], str]) -> Iterator[ConfinedWork[str, dict[str, Any]]]:
    """Work whose children are kept."""
    with keeping_children():
        yield trying(module(WORKING))


def done(work: ConfinedWork[str, dict[str, Any]], order: str = "process", reads: tuple[str, ...] = ()) -> Any:
    return run(work, order, reads=reads, memory_bytes_max=work.memory_bytes_max, seconds_max=work.seconds_max)


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_each_order_has_a_fork_that_has_seen_no_other(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    answers = [done(kept) for _ in range(3)]
    assert len({answer["parent"] for answer in answers}) == 1
    assert len({answer["own"] for answer in answers}) == 3
    assert len({answer["pipe"] for answer in answers}) == 3
    assert [answer["seen"] for answer in answers] == [1, 1, 1]
    assert not is_there(answers[0]["own"])


def test_each_order_has_limits_of_its_own(
    kept: ConfinedWork[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("elsewhere") / "a file"
    path.write_text("its text", encoding="utf-8")
    order = f"read {path}"
    assert done(kept, order, (str(path),)) == {"text": "its text"}
    with pytest.raises(PermissionError):
        done(kept, order)
    assert done(kept, order, (str(path),)) == {"text": "its text"}


@pytest.mark.parametrize("what", ["crash", "killed", "code", "fault", "refuse", "memory"])
def test_work_that_fails_is_followed_by_work_that_does_not(kept: ConfinedWork[str, dict[str, Any]], what: str) -> None:
    first = done(kept)
    with pytest.raises(Exception):  # noqa: B017, PT011 - its class is another test's
        done(kept, what)
    assert done(kept)["seen"] == 1
    wait_until(lambda: not is_there(first["own"]), what="the end of the first worker")


def test_a_worker_that_does_not_end_is_ended_and_followed_by_no_other(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    first = done(kept, "stay")
    assert not is_there(first["own"])
    assert not is_there(first["parent"])
    assert done(kept)["parent"] != first["parent"]


def test_work_that_is_stopped_is_gone(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    first, stop = done(kept), threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(InterruptedError):
        run(kept, "sleep", reads=[], memory_bytes_max=kept.memory_bytes_max, seconds_max=20.0, stop=stop)
    assert not is_there(first["parent"])


def test_a_kept_child_that_is_stopped_holds_nobody_up_for_long(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    first = done(kept)
    os.kill(first["parent"], signal.SIGSTOP)
    with pytest.raises(Exception, match="takes longer"):
        run(kept, "process", reads=[], memory_bytes_max=kept.memory_bytes_max, seconds_max=0.5)
    assert not is_there(first["parent"])
    assert done(kept)["parent"] != first["parent"]


def test_a_child_that_was_killed_meanwhile_is_replaced(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    first = done(kept)
    os.kill(first["parent"], signal.SIGKILL)
    wait_until(lambda: not is_there(first["parent"]), what="its end")
    assert done(kept)["parent"] != first["parent"]


def test_a_child_outlasts_the_thread_that_wanted_it(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    answers: list[Any] = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: answers.append(done(kept)))
        thread.start()
        thread.join()
    assert answers[0]["parent"] == answers[1]["parent"]


def test_pieces_of_work_at_once_have_children_each(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: done(kept, "pause"), range(3)))
    assert len({answer["parent"] for answer in answers}) == 3


def test_so_many_are_kept_and_all_end(module: Callable[[str], str]) -> None:
    name = module(WORKING + "".join(f"work_{number} = work\n" for number in range(KEPT_MAX + 1)))
    with keeping_children():
        parents = [done(trying(name, f"work_{number}"))["parent"] for number in range(KEPT_MAX + 1)]
        assert [is_there(parent) for parent in parents] == [False, *[True] * KEPT_MAX]
    assert not any(map(is_there, parents))
    assert done(trying(name))["parent"] == os.getpid()
