"""Children that are kept: each piece of work is a fork that knows nothing of the others."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.confined.kept import KEPT_MAX, keeping_children
from core.confined.run import run
from core.confined.table import ConfinedWork
from tests.conftest import wait_until
from tests.core.confined.conftest import WORKING, trying
from tests.processes import children_of, is_there


@pytest.fixture
def kept(module: Callable[[str], str]) -> Iterator[ConfinedWork[str, dict[str, Any]]]:
    """Work whose children are kept."""
    with keeping_children():
        yield trying(module(WORKING))


def done(work: ConfinedWork[str, dict[str, Any]], order: str = "process", reads: tuple[str, ...] = ()) -> Any:
    return run(work, order, reads=reads, memory_bytes_max=work.memory_bytes_max, seconds_max=work.seconds_max)


def forks(parent: int) -> list[int]:
    """The children of our children."""
    return [worker for child in children_of(parent) for worker in children_of(child)]


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


def test_it_works_beside_a_thousand_open_files(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert done(kept)["parent"] == done(kept)["parent"]
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_work_that_runs_at_the_end_is_done(module: Callable[[str], str]) -> None:
    work = trying(module(WORKING))
    with ThreadPoolExecutor(1) as pool:
        with keeping_children():
            done(work)
            answer = pool.submit(done, work, "pause")
            time.sleep(0.2)
        parent = answer.result()["parent"]
    wait_until(lambda: not is_there(parent), what="the end of the child")


def test_a_module_that_cannot_be_imported_is_the_works_fault(module: Callable[[str], str]) -> None:
    """As without keeping: no fault of the machine, for which callers would try again."""
    work = trying(module(WORKING + "\nif sys.argv[-1].isdigit(): raise ImportError\n"))
    with keeping_children(), pytest.raises(Exception, match=r"stopped before its end") as refused:
        done(work)
    assert str(refused.value.__cause__) == "ended with code 1"


def test_a_fork_that_stopped_and_went_on_delays_no_stop(kept: ConfinedWork[str, dict[str, Any]]) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(done, kept, "halt")
        worker = wait_until(lambda: [each for each in forks(os.getpid()) if is_there(each, "T")], what="the halt")[0]
        os.kill(worker, signal.SIGCONT)
        answer.result()
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(InterruptedError):
        run(kept, "sleep", reads=[], memory_bytes_max=kept.memory_bytes_max, seconds_max=20.0, stop=stop)
    assert time.monotonic() - began < 10
