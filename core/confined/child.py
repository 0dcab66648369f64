"""The program that a confined child runs.

`python -m core.confined.child NAME`, started by `core.confined.run` only. With SETTINGS and PARENT behind it
(`core.confined.kept`) each fork is such a child, for a pair of pipes that come through the standard input.

NAME is the dotted name of what does the work, and its module is all that is imported. A function takes an order, whose
type its parameter `order` states, and the folder that it may write, if there is one; it is called once. A class is made
with the settings, before any fork, and then called with the bytes of order after order; it gives those of the answer,
and whether another order can follow.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final, get_type_hints

import msgspec

from core.confined import here, sandbox
from core.confined.wire import ENDED, HEAD, ChildLimits, ChildOutcome, name_of, named

_ON_LINUX: Final = sys.platform == "linux"
_CPU_GRACE_SECONDS: Final = 5
"""Between the two limits of processor time: at the lower one the kernel tells the child by a signal of its own
(SIGXCPU), at the upper one it kills, which would look as if somebody else had."""
_STEPS_SHOWN: Final = 8
"""Of the calls that led to a fault."""
_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux' prctl that asks for a signal at the parent's death, as <linux/prctl.h> numbers it."""


def main(name: str, settings: str = "{}", parent: str | None = None) -> None:
    """Work under the limits until no more orders come."""
    here.confined = True
    if parent is not None:
        die_with(int(parent))
        work, stays = _load(name, msgspec.json.decode(settings))
        _fork_children()
    orders, answers = _channel()
    limits = msgspec.json.decode(orders.readline(), type=ChildLimits)
    if parent is None:
        die_with(limits.parent)
        work, stays = _load(name, limits.settings)
    _confine(limits)  # from here on only packages that are loaded already can be used
    goes_on = True
    while goes_on and (head := orders.read(HEAD.size)):
        order = orders.read(HEAD.unpack(head)[1])
        answer, goes_on = work(order) if stays else (_outcome(work, order, limits), False)
        answers.write(HEAD.pack(goes_on, len(answer)))
        answers.write(answer)
        answers.flush()
    os._exit(0)  # an orderly end of the interpreter takes 15 ms, and nothing is left to be saved


def _load(name: str, settings: dict[str, int]) -> tuple[Any, bool]:
    """Return what does the work, and whether it stays for order after order."""
    work = named(name)
    return (work(**settings), True) if isinstance(work, type) else (work, False)


def _fork_children() -> None:
    """Return in a fork for each pair of pipes that comes, one after another.

    A fork shares nothing that is open with the next one. This process reads no order. It kills its fork at a word of
    the caller's, and tells how it ended.
    """
    own, caller = os.getpid(), socket.socket(fileno=os.dup(0))
    ends, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while pipes := socket.recv_fds(caller, 1, 2)[1]:
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for channel in (caller, ends, wakes):
                channel.close()
            for place, pipe in enumerate(pipes):
                os.dup2(pipe, place)
                os.close(pipe)
            die_with(own)
            return
        for pipe in pipes:
            os.close(pipe)
        caller.sendall(ENDED.pack(_code_of(child, caller, ends)))
    os._exit(0)


def _code_of(child: int, caller: socket.socket, ends: socket.socket) -> int:
    """Wait for the end of a fork, and kill it at a word of the caller's.

    Args:
        ends: has something to read whenever a fork ended, stopped or went on.
    """
    while caller not in select.select([caller, ends], [], [])[0]:
        ends.recv(64)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _channel() -> tuple[BufferedReader, BinaryIO]:
    """Return where orders come from and answers go.

    What else is written to standard output is lost, so that a library that prints does not speak for us.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    assert isinstance(sys.stdin.buffer, BufferedReader)
    return sys.stdin.buffer, answers


def _outcome(work: Callable[..., Any], order: bytes, limits: ChildLimits) -> bytes:
    try:
        arguments: list[Any] = [msgspec.json.decode(order, type=get_type_hints(work)["order"])]
        if limits.writes is not None:
            arguments.append(Path(limits.writes))
        outcome = ChildOutcome(answer=msgspec.Raw(msgspec.json.encode(work(*arguments))))
    except MemoryError:
        outcome = ChildOutcome(lacked_memory=True)
    except OSError as failure:
        outcome = ChildOutcome(failed=(failure.errno, failure.strerror))
    except Exception as fault:
        if (refusal := name_of(type(fault))) in limits.refusals:
            outcome = ChildOutcome(refused=(refusal, str(fault)))
        else:
            outcome = ChildOutcome(crashed=place_of(fault))
    return msgspec.json.encode(outcome)


def place_of(fault: Exception) -> str:
    """Return where a fault happened, innermost first.

    Not its message, which may quote a stranger's file.
    """
    import traceback  # a crash alone needs it

    steps = traceback.extract_tb(fault.__traceback__)[: -_STEPS_SHOWN - 1 : -1]
    return " < ".join(
        [type(fault).__name__, *(f"{Path(step.filename).name}:{step.lineno} {step.name}" for step in steps)]
    )


def _confine(limits: ChildLimits) -> None:
    memory = limits.memory_bytes_max
    if limits.seconds_max is None:
        memory += int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _ON_LINUX else 0
    else:
        seconds = int(limits.seconds_max) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _CPU_GRACE_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    sandbox.enter(limits.reads, [] if limits.writes is None else [limits.writes])


def die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that happens.

    Elsewhere than on Linux the limits of time must do.

    To the kernel the parent is the thread that started us; it waits for our answer, so it ends with its process only.
    """
    if _ON_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # Where the parent ended before the request, no signal comes.
    if os.getppid() != parent:
        sys.exit("the process that asked for this work has ended")


if __name__ == "__main__":
    main(*sys.argv[1:])
