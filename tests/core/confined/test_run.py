"""Children with limits.

One that does a piece of work and ends, and one that stays and answers order after order.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from core.confined.kept import ChildParent, keeping_children
from core.confined.run import ERRORS_SHOWN, Child, ChildFailed, ChildKilled, ChildOutOfMemory, ChildOutOfTime, run
from core.confined.wire import ChildLimits
from tests.conftest import wait_until
from tests.core.confined.conftest import MEGABYTE, WORKING, trying
from tests.processes import is_there

ROOT = Path(__file__).parents[3]
STANDING = """
import os, signal, struct, threading, time
from contextlib import suppress

class Work:
    def __init__(self, *, turns):
        self.turns = turns

    def __call__(self, order):
        return work(order[::self.turns])

def work(order):
    order = order[::-1]
    match order.partition(b" "):
        case (b"memory", _, _):
            try:
                held = bytearray(2 * 1024**3)
            except MemoryError:
                return b"no memory", True
        case (b"sleep", _, _):
            time.sleep(60)
        case (b"crash", _, _):
            os.abort()
        case (b"killed", _, _):
            signal.raise_signal(signal.SIGKILL)
        case (b"last", _, _):
            return b"last", False
        case (b"twice", _, _):
            answer = struct.pack("<?Q", True, 4) + b"evil"
            for number in map(int, os.listdir("/proc/self/fd")):
                with suppress(OSError):
                    if number > 2 and os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                        threading.Timer(0.05, os.write, (number, answer)).start()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case (b"stay", _, _):
            os._exit = lambda code: time.sleep(60)
        case (b"print", _, _):
            print("a library that prints")
        case (b"errors", _, size):
            for _ in range(int(size)):
                with suppress(OSError):
                    os.write(2, b"x" * 1023 + b"\\n")
            with suppress(OSError):
                os.write(2, b"the end")
    return order[::-1], True
"""


@pytest.fixture(params=[nullcontext, keeping_children], ids=["new", "kept"])
def answer(request: pytest.FixtureRequest, module: Callable[[str], str]) -> Iterator[Callable[..., dict[str, Any]]]:
    """The answer of a child to an order; where there is none, what keeps it from one."""
    row = trying(module(WORKING))

    def ran(what: str, *, seconds_max: float = row.seconds_max, **more: Any) -> Any:
        try:
            return run(row, what, reads=[], memory_bytes_max=row.memory_bytes_max, seconds_max=seconds_max, **more)
        except OSError:
            raise
        except Exception as refusal:
            lines.append(str(refusal))
            raise refusal.__cause__ or refusal from None

    lines: list[str] = []
    vars(ran)["told"] = lines
    with request.param():
        yield ran


# One piece of work ----------------------------------------------------------------------------------------------------


def test_the_answer_comes_from_a_session_of_its_own_without_our_environment(
    answer: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUSHION_SECRET_KEY", "a secret")
    lines = answer("answer")
    assert set(lines["environment"]) <= {"PYTHONPATH", "OPENBLAS_NUM_THREADS", "LC_CTYPE"}
    assert lines["session"] != os.getsid(0)
    assert lines["session"] in lines["leaders"]
    assert lines["confined"] is True


@pytest.mark.parametrize(
    ("what", "raised"),
    [
        ("memory", ChildOutOfMemory),
        ("crash", ChildFailed),
        ("killed", ChildKilled),
        ("processor", ChildOutOfTime),
        ("missing", FileNotFoundError),
        ("list", ChildFailed),
    ],
)
def test_what_goes_wrong_in_the_child_is_told_by_class(
    answer: Callable[..., dict[str, Any]], what: str, raised: type[Exception]
) -> None:
    with pytest.raises(raised) as caught:
        answer(what)
    assert type(caught.value) is raised


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("fault", r"ValueError < confined_program\.py:\d+ work < child\.py:\d+ _outcome"),
        ("crash", "ended by SIGSEGV"),
        ("code", "ended with code 3"),
        ("list", "an answer of another kind"),
    ],
)
def test_a_failure_says_where_it_happened_and_quotes_nothing(
    answer: Callable[..., dict[str, Any]], what: str, message: str
) -> None:
    with pytest.raises(ChildFailed) as caught:
        answer(what)
    assert re.fullmatch(message, str(caught.value))


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("memory", "Trying needs more memory than the limit of 536,870,912 bytes."),
        ("spin", "Trying takes longer than the limit of 0.5 seconds."),
        ("crash", "Trying stopped before its end."),
        ("refuse", "not this one"),
    ],
)
def test_a_refusal_says_in_the_words_of_its_row_what_stopped_it(
    answer: Callable[..., dict[str, Any]], what: str, message: str
) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - its class is another test's
        answer(what, seconds_max=0.5 if what == "spin" else 20.0)
    assert vars(answer)["told"] == [message]


def test_what_a_library_prints_is_no_part_of_the_answer(answer: Callable[..., dict[str, Any]]) -> None:
    assert answer("print") == {}


@pytest.mark.parametrize("what", ["sleep", "spin"])
def test_a_child_that_takes_too_long_is_ended(answer: Callable[..., dict[str, Any]], what: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ChildOutOfTime):
        answer(what, seconds_max=0.5)
    assert time.monotonic() - begin < 30


def test_it_can_be_stopped_from_another_thread(answer: Callable[..., dict[str, Any]]) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(InterruptedError):
        answer("sleep", stop=stop)


# One that stays -------------------------------------------------------------------------------------------------------


@pytest.fixture
def child(module: Callable[[str], str]) -> Iterator[Child]:
    limits = ChildLimits(parent=os.getpid(), memory_bytes_max=256 * MEGABYTE, settings={"turns": -1})
    new_child = Child(f"{module(STANDING)}.Work", limits)
    yield new_child
    new_child.end()


def test_orders_are_answered_one_after_another(child: Child) -> None:
    large = os.urandom(3 * MEGABYTE)
    assert child.ask(b"abc", 20) == b"cba"
    assert child.ask(b"", 20) == b""
    assert child.ask(large, 20) == large[::-1]
    assert child.ask(b"print", 20) == b"tnirp"
    assert (child.is_alive(), child.ended) == (True, False)


@pytest.mark.parametrize(("keeps", "kilobytes", "ending"), [(True, 3, "the end"), (True, 1000, "x"), (False, 3, "")])
def test_what_a_child_writes_to_its_errors_is_kept_for_who_wants_it(
    module: Callable[[str], str], keeps: bool, kilobytes: int, ending: str
) -> None:
    """The last of it; a child that writes more than a pipe holds waits for nobody."""
    limits = ChildLimits(parent=os.getpid(), memory_bytes_max=256 * MEGABYTE, settings={"turns": 1})
    new_child = Child(f"{module(STANDING)}.Work", limits, keeps_errors=keeps)
    assert new_child.ask(f"errors {kilobytes}".encode()[::-1], 20)
    assert new_child.errors == ""
    new_child.end()
    assert new_child.errors.endswith(ending)
    assert len(new_child.errors) == (ERRORS_SHOWN if keeps else 0)
    new_child.end()


def test_an_order_past_the_memory_fails_alone(child: Child) -> None:
    assert child.ask(b"memory", 20) == b"no memory"
    assert child.ask(b"abc", 20) == b"cba"


def test_a_child_may_say_that_it_ends(child: Child) -> None:
    assert child.ask(b"last", 20) == b"last"
    assert (child.is_alive(), child.ended) == (False, True)


@pytest.fixture
def parent(module: Callable[[str], str]) -> Iterator[ChildParent]:
    new_parent = ChildParent(f"{module(STANDING)}.Work", {"turns": -1})
    yield new_parent
    new_parent.end()


@pytest.fixture
def fork(parent: ChildParent) -> Iterator[Callable[[], Child]]:
    """Makes the next fork of the parent."""

    def next_fork() -> Child:
        forks.append(parent.fork(ChildLimits(parent=os.getpid(), memory_bytes_max=256 * MEGABYTE)))
        return forks[-1]

    forks: list[Child] = []
    yield next_fork
    for child in forks:
        child.end()


def worker_of(parent: ChildParent) -> int:
    """The process that is the fork."""
    (worker,) = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    return int(worker)


def test_a_fresh_fork_follows_one_that_ends(parent: ChildParent, fork: Callable[[], Child]) -> None:
    child = fork()
    assert child.ask(b"abc", 20) == b"cba"
    first = worker_of(parent)
    assert child.ask(b"abcd", 20) == b"dcba"
    assert worker_of(parent) == first
    for _ in range(3):
        assert child.ask(b"last", 20) == b"last"
        child = fork()
        assert child.ask(b"memory", 20) == b"no memory", "each has its limits"
    second = worker_of(parent)
    assert second != first
    child.finish()
    assert (child.is_alive(), child.ended, child.is_done) == (False, True, True)
    assert not Path(f"/proc/{first}").exists()
    assert not Path(f"/proc/{second}").exists()
    child = fork()
    assert child.ask(b"abc", 20) == b"cba"
    assert (parent.is_alive(), child.is_alive(), child.ended) == (True, True, False)


@pytest.mark.parametrize(("order", "raised"), [(b"crash", ChildFailed), (b"killed", ChildKilled)])
def test_a_fork_that_dies_is_its_parents_end(
    parent: ChildParent, fork: Callable[[], Child], order: bytes, raised: type[Exception]
) -> None:
    assert fork().ask(b"last", 20) == b"last"
    child = fork()
    with pytest.raises(raised) as caught:
        child.ask(order, 20)
    assert type(caught.value) is raised
    assert child.ended
    assert not parent.is_alive()


def test_a_fork_cannot_answer_for_the_next(parent: ChildParent, fork: Callable[[], Child]) -> None:
    """What it wrote beside its answer is not read, and it cannot stay."""
    child = fork()
    assert child.ask(b"twice abc", 20) == b"cba eciwt"
    first = worker_of(parent)
    time.sleep(0.5)
    child.finish()
    assert not Path(f"/proc/{first}").exists()
    assert fork().ask(b"abc", 20) == b"cba"


def test_a_fork_that_does_not_end_is_ended_with_its_parent(parent: ChildParent, fork: Callable[[], Child]) -> None:
    child = fork()
    assert child.ask(b"stay", 20) == b"yats"
    worker = worker_of(parent)
    child.finish()
    assert (child.ended, child.is_done) == (True, False)
    assert not Path(f"/proc/{worker}").exists()
    assert not parent.is_alive()


def test_a_fork_ends_with_its_parent(parent: ChildParent, fork: Callable[[], Child]) -> None:
    assert fork().ask(b"abc", 20) == b"cba"
    worker = Path(f"/proc/{worker_of(parent)}")
    parent.kill()
    wait_until(lambda: not worker.exists() or " Z " in (worker / "stat").read_text(), what="the fork's end")


def test_an_order_that_takes_too_long_ends_the_child(child: Child) -> None:
    child.ask(b"ready", 20)
    begin = time.monotonic()
    with pytest.raises(ChildOutOfTime):
        child.ask(b"sleep", 0.3)
    assert time.monotonic() - begin < 30
    assert child.ended


def test_a_crash_is_a_failure(child: Child) -> None:
    with pytest.raises(ChildFailed) as caught:
        child.ask(b"crash", 20)
    assert type(caught.value) is ChildFailed
    assert child.ended


def test_one_that_somebody_else_ends_did_not_fail(child: Child) -> None:
    with pytest.raises(ChildKilled, match="SIGKILL"):
        child.ask(b"killed", 20)
    assert child.ended


def test_a_child_can_be_killed_while_it_works(child: Child) -> None:
    child.ask(b"ready", 20)
    threading.Timer(0.3, child.kill).start()
    with pytest.raises(ChildFailed):
        child.ask(b"sleep", 20)


def test_one_that_ended_while_nobody_looked_is_not_alive(child: Child) -> None:
    child.ask(b"ready", 20)
    child.kill()
    wait_until(lambda: not child.is_alive(), what="its end")
    with pytest.raises(ChildFailed):
        child.ask(b"abc", 20)


PARENT = """
import os
from core.confined.run import Child
from core.confined.wire import ChildLimits
from tests.conftest import wait_until
from tests.core.confined.conftest import MEGABYTE, WORKING, trying
limits = ChildLimits(parent=os.getpid(), memory_bytes_max=2**28, settings={"turns": -1})
child = Child("confined_program.Work", limits)
child.ask(b"ready", 20)
print(child._child.pid, flush=True)
child.ask(b"sleep", 60)
"""


def test_it_dies_with_its_parent(module: Callable[[str], str], tmp_path: Path) -> None:
    module(STANDING)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    with subprocess.Popen([sys.executable, "-c", PARENT], env=environment, cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        parent.kill()
    try:
        wait_until(lambda: not is_there(number), what="the child's end with its parent")
    finally:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
