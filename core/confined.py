"""Work in a child process with limits of memory and time: whatever goes wrong there cannot take the caller down.

Both ends are here. The caller runs a module as a program with `run_confined`; the module's main begins with `confine`
and ends with one JSON text on standard output. A child does not outlive its parent.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux' prctl that asks for a signal at the parent's death, as <linux/prctl.h> numbers it."""


class ChildFailed(Exception):
    """The child ended without an answer: it crashed, or was ended from outside."""


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
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and module; paths are arguments, no shell
        [sys.executable, "-m", module, *arguments, *limits],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[1],
        env={"PYTHONPATH": os.pathsep.join(part for part in sys.path if part), "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    try:
        output = _wait(child, seconds_max, stop or threading.Event())
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return _answer(child.returncode, output)


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
    if code != 0 or len(output) > _ANSWER_BYTES_MAX:
        raise ChildFailed
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise ChildFailed from error
    if not isinstance(answer, dict):
        raise ChildFailed
    if "memory" in answer:
        raise ChildOutOfMemory
    if "failed" in answer:
        raise OSError(*answer["failed"])
    return answer


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
    sys.stdout.write(json.dumps(answer))


def _die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that happens; elsewhere than on Linux the limits
    of time must do.

    To the kernel the parent is the thread that started us; it waits for our answer, so it ends with its process only.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # A parent that ended before it was heard of sends no signal any more.
    if os.getppid() != parent:
        sys.exit("the process that asked for this work has ended")
