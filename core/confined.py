"""Work in a child process with limits of memory and time: whatever goes wrong there cannot take the caller down.

Both ends are here. For one long piece of work the caller runs a module as a program with `run_confined`; its main
begins with `confine` and ends with one JSON text on standard output. For many short ones it keeps a `StandingChild`,
whose main is `serve`. A child does not outlive its parent.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from core import sandbox

T = TypeVar("T")

_ON_LINUX: Final = sys.platform == "linux"

_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
_PART_BYTES: Final = 1024 * 1024
_HEAD: Final = struct.Struct("<?Q")
"""In front of an order or an answer: whether more can follow it, and its length in bytes."""
_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that no crash and no limit of ours sends."""
_ENDING_SECONDS: Final = 2.0
"""How long a child that closed its answers' channel may take to be gone."""
_CPU_GRACE_SECONDS: Final = 5
"""Between the two limits of processor time: at the lower one the kernel tells the child by a signal of its own
(SIGXCPU), at the upper one it kills, which would look as if somebody else had."""
_STEPS_TOLD: Final = 8
"""Of the calls that led to a fault."""
_NICE: Final = 5
"""How much less urgent a child is than whoever started it, who answers others meanwhile. Not more: beside one busy
thread of theirs on the same processor it still has a quarter of that."""
_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux' prctl that asks for a signal at the parent's death, as <linux/prctl.h> numbers it."""


class ChildFailed(Exception):
    """The child ended without an answer: it crashed. The text says how, for a log."""


class ChildOutOfMemory(ChildFailed):
    """The child needed more memory than it may have."""


class ChildOutOfTime(ChildFailed):
    """The child took longer than it may."""


class ChildKilled(OSError):
    """The child was ended from outside: by the kernel, short of memory, or by somebody; the work may do another time.

    What it worked on did nothing wrong, so this is the machine's fault, and none of the above.
    """


def run_confined(
    module: str,
    arguments: Sequence[str],
    *,
    reads: Sequence[str],
    writes: Sequence[str],
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """The JSON object that a module answers when it is run with these arguments and, behind them, the limits of memory
    (bytes) and processor time (seconds), this process's id, and the paths that it may read and those that it may
    write below. Setting `stop` from another thread ends it at once.

    The child's environment holds nothing of ours, and it sees no other files (`core.sandbox`), so one that is hijacked
    finds no secret.

    Raises:
        ChildFailed: it crashed, or passed a limit (then the subclass tells which).
        OSError: the machine's fault, as the child met it; `ChildKilled` where the child was ended from outside.
        InterruptedError: `stop` was set.
    """
    places = json.dumps([list(reads), list(writes)])
    limits = [str(memory_bytes_max), str(int(seconds_max) + 1), str(os.getpid()), places]
    child = _start(module, [*arguments, *limits], stdin=subprocess.DEVNULL)
    try:
        output = _wait(child, seconds_max, stop or threading.Event())
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return _answer(child.returncode, output)


def _start(module: str, arguments: Sequence[str], *, stdin: int) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and module; paths are arguments, no shell
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[1],
        env={"PYTHONPATH": os.pathsep.join(part for part in sys.path if part), "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    os.setpriority(os.PRIO_PROCESS, child.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)
    with suppress(OSError):  # Linux may schedule sessions as equals, whatever their processes' priorities
        Path(f"/proc/{child.pid}/autogroup").write_text(str(_NICE))
    return child


def _wait(child: subprocess.Popen[bytes], seconds: float, stop: threading.Event) -> bytes:
    """The child's output once it ends, looking up every tenth of a second for `stop`."""
    left = seconds
    while True:
        try:
            output, _ = child.communicate(timeout=min(0.1, left))
        except subprocess.TimeoutExpired:
            left -= 0.1
            if stop.is_set():
                raise InterruptedError("the work was stopped") from None
            if left <= 0:
                raise ChildOutOfTime from None
        else:
            return output


def _answer(code: int, output: bytes) -> dict[str, Any]:
    if code == -signal.SIGXCPU:
        raise ChildOutOfTime
    if code != 0:
        raise _ended(code)
    if len(output) > _ANSWER_BYTES_MAX:
        raise ChildFailed(f"an answer of more than {_ANSWER_BYTES_MAX} bytes")
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise ChildFailed("an answer that is not JSON") from error
    if not isinstance(answer, dict):
        raise ChildFailed("an answer that is no object")
    if "crashed" in answer:
        raise ChildFailed(answer["crashed"])
    if "memory" in answer:
        raise ChildOutOfMemory
    if "failed" in answer:
        raise OSError(*answer["failed"])
    return answer


def _ended(code: int) -> ChildFailed | ChildKilled:
    """What to say of a child that ended with this code, negative for a signal."""
    if code >= 0:
        return ChildFailed(f"ended with code {code}")
    told = f"ended by {signal.Signals(-code).name}"
    return ChildKilled(told) if -code in _FROM_OUTSIDE else ChildFailed(told)


class StandingChild:
    """A child that answers order after order, which spares each the start of a process; for one thread at a time.

    Its memory is limited to what it has when it is ready and `memory_bytes_max` on top; of files it may read `reads`.
    It is started by the thread whose end ends it too. Once `ended`, it is of no further use.
    """

    def __init__(
        self, module: str, arguments: Sequence[str] = (), *, memory_bytes_max: int, reads: Sequence[str] = ()
    ) -> None:
        limits = [str(memory_bytes_max), str(os.getpid()), json.dumps([list(reads), []])]
        self._child = _start(module, [*arguments, *limits], stdin=subprocess.PIPE)
        self._is_killed = False
        self.ended = False

    def ask(self, order: bytes, seconds_max: float) -> bytes:
        """The answer to an order.

        Raises:
            ChildOutOfTime: it took longer, and was ended.
            ChildFailed: it crashed, or was ended by `kill`.
            ChildKilled: somebody else ended it.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(_HEAD.pack(True, len(order)) + order)
            self._child.stdin.flush()
            with selectors.DefaultSelector() as waiting:
                waiting.register(self._child.stdout, selectors.EVENT_READ)
                end = time.monotonic() + seconds_max
                stays, size = _HEAD.unpack(self._read(_HEAD.size, waiting, end))
                if size > _ANSWER_BYTES_MAX:
                    raise ChildFailed
                answer = self._read(size, waiting, end)
        except (OSError, EOFError, ValueError) as error:  # ValueError: closed meanwhile, in another thread
            failure = self._failure()
            self.end()
            raise failure from error
        except ChildFailed:
            self.end()
            raise
        if not stays:
            self.end()
        return answer

    def _read(self, size: int, waiting: selectors.BaseSelector, end: float) -> bytes:
        assert self._child.stdout is not None
        found = bytearray()
        while len(found) < size:
            if not waiting.select(max(0.0, end - time.monotonic())):
                raise ChildOutOfTime
            part = os.read(self._child.stdout.fileno(), min(size - len(found), _PART_BYTES))
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def _failure(self) -> ChildFailed | ChildKilled:
        """Why the child does not answer any more."""
        try:
            code = self._child.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return ChildFailed("its channel is closed")
        return ChildFailed("ended by us") if self._is_killed else _ended(code)

    def is_alive(self) -> bool:
        """Whether the child can be asked."""
        return self._child.poll() is None

    def kill(self) -> None:
        """End the child at once, from whichever thread; an `ask` that waits for it fails."""
        if self._child.poll() is None:
            self._is_killed = True
            self._child.kill()

    def end(self) -> None:
        """End the child and take back what belongs to it."""
        self.ended = True
        self.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent to it before it ended
                pipe.close()


async def in_thread(function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
    """Run a function that takes `stop` in a thread; cancelling the task sets it and waits for the function's end."""
    stop = threading.Event()
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments, **keywords, stop=stop))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        work.exception()  # seen: the cancellation is what the caller hears of
        raise


# In the child ---------------------------------------------------------------------------------------------------------


def confine(
    work: Callable[[], dict[str, Any]], memory_bytes_max: str, seconds_max: str, parent: str, places: str
) -> None:
    """Do the work under the limits and print its answer, or what the machine lacked for it."""
    _die_with(int(parent))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes_max), int(memory_bytes_max)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds_max), int(seconds_max) + _CPU_GRACE_SECONDS))
    sandbox.enter(*json.loads(places))
    try:
        answer = work()
    except MemoryError:
        answer = {"memory": True}
    except OSError as failure:
        answer = {"failed": [failure.errno, failure.strerror]}
    except Exception as fault:
        answer = {"crashed": _place_of(fault)}
    sys.stdout.write(json.dumps(answer))


def _place_of(fault: Exception) -> str:
    """Where a fault happened, innermost first; not its message, which may quote a stranger's file."""
    steps = traceback.extract_tb(fault.__traceback__)[: -_STEPS_TOLD - 1 : -1]
    return " < ".join(
        [type(fault).__name__, *(f"{Path(step.filename).name}:{step.lineno} {step.name}" for step in steps)]
    )


def serve(work: Callable[[bytes], tuple[bytes, bool]], memory_bytes_max: str, parent: str, places: str) -> None:
    """Answer the orders of a `StandingChild` until there are no more; `work` gives an answer, and whether to go on.

    What the child holds already, its libraries and its answers' channel, comes on top of the memory that it may have.
    """
    _die_with(int(parent))
    orders, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not speak for us
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _ON_LINUX else 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (held + int(memory_bytes_max),) * 2)
    sandbox.enter(*json.loads(places))
    goes_on = True
    while goes_on and (head := orders.read(_HEAD.size)):
        _, size = _HEAD.unpack(head)
        answer, goes_on = work(orders.read(size))
        answers.write(_HEAD.pack(goes_on, len(answer)))
        answers.write(answer)
        answers.flush()


def _die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that happens; elsewhere than on Linux the limits
    of time must do.

    To the kernel the parent is the thread that started us; it waits for our answer, so it ends with its process only.
    """
    if _ON_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # A parent that ended before it was heard of sends no signal any more.
    if os.getppid() != parent:
        sys.exit("the process that asked for this work has ended")
