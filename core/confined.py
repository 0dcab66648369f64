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

T = TypeVar("T")

_ON_LINUX: Final = sys.platform == "linux"

_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
_PART_BYTES: Final = 1024 * 1024
_HEAD: Final = struct.Struct("<?Q")
"""In front of an order or an answer: whether more can follow it, and its length in bytes."""
_STEPS_TOLD: Final = 8
"""Of the calls that led to a fault."""
_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux' prctl that asks for a signal at the parent's death, as <linux/prctl.h> numbers it."""


class ChildFailed(Exception):
    """The child ended without an answer: it crashed, or was ended from outside. The text says how, for a log."""


class ChildOutOfMemory(ChildFailed):
    """The child needed more memory than it may have."""


class ChildOutOfTime(ChildFailed):
    """The child took longer than it may."""


def run_confined(
    module: str,
    arguments: Sequence[str],
    *,
    memory_bytes_max: int,
    seconds_max: float,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """The JSON object that a module answers when it is run with these arguments and, behind them, the limits of memory
    (bytes) and processor time (seconds) and this process's id. Setting `stop` from another thread ends it at once.

    The child's environment holds nothing of ours, so one that is hijacked finds no secret in it.

    Raises:
        ChildFailed: it crashed, or passed a limit (then the subclass tells which).
        OSError: the machine's fault, as the child met it.
        InterruptedError: `stop` was set.
    """
    limits = [str(memory_bytes_max), str(int(seconds_max) + 1), str(os.getpid())]
    child = _start(module, [*arguments, *limits], stdin=subprocess.DEVNULL)
    try:
        output = _wait(child, seconds_max, stop or threading.Event())
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return _answer(child.returncode, output)


def _start(module: str, arguments: Sequence[str], *, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module; paths are arguments, no shell
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[1],
        env={"PYTHONPATH": os.pathsep.join(part for part in sys.path if part), "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )


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
        raise ChildFailed(f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}")
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


class StandingChild:
    """A child that answers order after order, which spares each the start of a process; for one thread at a time.

    Its memory is limited to what it has when it is ready and `memory_bytes_max` on top. It is started by the thread
    whose end ends it too. Once `ended`, it is of no further use.
    """

    def __init__(self, module: str, arguments: Sequence[str] = (), *, memory_bytes_max: int) -> None:
        self._child = _start(module, [*arguments, str(memory_bytes_max), str(os.getpid())], stdin=subprocess.PIPE)
        self.ended = False

    def ask(self, order: bytes, seconds_max: float) -> bytes:
        """The answer to an order.

        Raises:
            ChildOutOfTime: it took longer, and was ended.
            ChildFailed: it crashed, or was ended from outside.
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
        except (OSError, ValueError) as error:  # ValueError: closed meanwhile, in another thread
            self.end()
            raise ChildFailed from error
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
                raise ChildFailed
            found += part
        return bytes(found)

    def is_alive(self) -> bool:
        """Whether the child can be asked."""
        return self._child.poll() is None

    def kill(self) -> None:
        """End the child at once, from whichever thread; an `ask` that waits for it fails."""
        if self._child.poll() is None:
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


def confine(work: Callable[[], dict[str, Any]], memory_bytes_max: str, seconds_max: str, parent: str) -> None:
    """Do the work under the limits and print its answer, or what the machine lacked for it."""
    _die_with(int(parent))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes_max), int(memory_bytes_max)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds_max), int(seconds_max)))
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


def serve(work: Callable[[bytes], tuple[bytes, bool]], memory_bytes_max: str, parent: str) -> None:
    """Answer the orders of a `StandingChild` until there are no more; `work` gives an answer, and whether to go on.

    What the child holds already, its libraries and its answers' channel, comes on top of the memory that it may have.
    """
    _die_with(int(parent))
    orders, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not speak for us
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _ON_LINUX else 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (held + int(memory_bytes_max),) * 2)
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
